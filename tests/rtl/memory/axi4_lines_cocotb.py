# SPDX-License-Identifier: Apache-2.0
"""cocotb test of gs_axi4_lines: a memory of bytes behind it, of any pace and clock, and a master of any order."""

from __future__ import annotations

import os
import random
from collections import deque

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge, Timer
from models.clocks import ticking

COUNT = int(os.environ["AXI4_LINES_COUNT"])
LINE, BASE, BYTES = 32, 0x400000, 1 << 16
PERIODS = ((8000, 16667), (8000, 8000), (12000, 8001), (16667, 5000))


class Memory:
    """The stream's other end. A write is acknowledged when its last beat has arrived; lines are read in order."""

    def __init__(self, dut, draw: random.Random) -> None:
        self.dut, self.draw = dut, draw
        self.bytes = bytearray(draw.randbytes(BYTES))
        self.pending: deque[tuple[int, list[tuple[int, int, int]]]] = deque()
        self.lines_written = 0

    async def requests(self) -> None:
        dut = self.dut
        beats: list[tuple[int, int]] = []
        now, pace = 0, 0.5
        while True:
            if now % 500 == 0:
                pace = self.draw.choice((0.1, 0.5, 1.0))
            dut.req_ready_i.value = self.draw.random() < pace
            await ReadOnly()
            taken = dut.mem_rst_ni.value == 1 and dut.req_valid_o.value == 1 and dut.req_ready_i.value == 1
            beat = tuple(int(getattr(dut, f"req_{name}_o").value) for name in ("write", "last", "addr", "data", "strb"))
            await RisingEdge(dut.mem_clk_i)
            now += 1
            if not taken:
                continue
            write, last, address, data, strobe = beat
            at = address - BASE
            assert 0 <= at < BYTES and at % LINE == 0
            due = now + self.draw.choice((0, 3, 40))
            if not write:
                assert last and not beats
                words = [self.bytes[at + 4 * word : at + 4 * word + 4] for word in range(LINE // 4)]
                numbers = [int.from_bytes(word, "little") for word in words]
                self.pending.append((due, [(0, word == LINE // 4 - 1, numbers[word]) for word in range(LINE // 4)]))
                continue
            beats.append((data, strobe))
            assert bool(last) == (len(beats) == LINE // 4)
            if last:
                for word, (value, mask) in enumerate(beats):
                    for byte in range(4):
                        if mask >> byte & 1:
                            self.bytes[at + 4 * word + byte] = value >> 8 * byte & 255
                beats.clear()
                self.lines_written += 1
                self.pending.append((due, [(1, 1, self.draw.getrandbits(32))]))

    async def responses(self) -> None:
        dut = self.dut
        now = 0
        while True:
            beats = []
            if self.pending and self.pending[0][0] <= now:
                beats = self.pending.popleft()[1]
            for ack, last, data in beats:
                while self.draw.random() < 0.2:
                    await RisingEdge(dut.mem_clk_i)
                    now += 1
                dut.rsp_valid_i.value, dut.rsp_ack_i.value, dut.rsp_last_i.value = 1, ack, last
                dut.rsp_data_i.value = data
                while True:
                    await ReadOnly()
                    taken = dut.rsp_ready_o.value == 1
                    await RisingEdge(dut.mem_clk_i)
                    now += 1
                    if taken:
                        break
                dut.rsp_valid_i.value = 0
            if not beats:
                await RisingEdge(dut.mem_clk_i)
                now += 1


class Master:
    """Writes of one beat and read bursts. No burst reads what a write without a response may change."""

    def __init__(self, dut, draw: random.Random, expected: bytearray) -> None:
        self.dut, self.draw, self.expected = dut, draw, expected
        self.unanswered: deque[int] = deque()
        self.written = self.read = 0
        self.near = 0

    async def writes(self, count: int) -> None:
        dut, draw = self.dut, self.draw
        for _ in range(count):
            # Often the next beat, and sometimes the same one, of which the parts of both writes must remain.
            step = draw.choice((0, 8, 8, 8, draw.randrange(BYTES)))
            self.near = (self.near + step) % BYTES & ~7
            while len(self.unanswered) >= 16 or any(self.near in span for span in self.busy):
                await RisingEdge(dut.clk_i)
            data, strobe = draw.getrandbits(64), draw.choice((255, 255, draw.getrandbits(8)))
            for byte in range(8):
                if strobe >> byte & 1:
                    self.expected[self.near + byte] = data >> 8 * byte & 255
            self.unanswered.append(self.near)
            # The two channels in any order
            late = [draw.randrange(3), draw.randrange(3)]
            dut.aw_addr_i.value, dut.w_data_i.value, dut.w_strb_i.value = self.near, data, strobe
            open_channels = {0, 1}
            for cycle in range(10_000):
                dut.aw_valid_i.value = 0 in open_channels and cycle >= late[0]
                dut.w_valid_i.value = 1 in open_channels and cycle >= late[1]
                await ReadOnly()
                done = set()
                if dut.aw_valid_i.value == 1 and dut.aw_ready_o.value == 1:
                    done.add(0)
                if dut.w_valid_i.value == 1 and dut.w_ready_o.value == 1:
                    done.add(1)
                await RisingEdge(dut.clk_i)
                open_channels -= done
                if not open_channels:
                    break
            assert not open_channels, "a write is not accepted"
            dut.aw_valid_i.value = dut.w_valid_i.value = 0
            if draw.random() < 0.1:
                for _ in range(draw.randrange(40)):
                    await RisingEdge(dut.clk_i)

    busy: tuple[range, ...] = ()

    async def answers(self) -> None:
        dut = self.dut
        while True:
            await ReadOnly()
            if dut.rst_ni.value == 1 and dut.b_valid_o.value == 1:
                assert self.unanswered, "a response without a write"
                self.unanswered.popleft()
                self.written += 1
            await RisingEdge(dut.clk_i)

    async def reads(self, count: int) -> None:
        dut, draw = self.dut, self.draw
        for _ in range(count):
            length = draw.choice((1, 8, draw.randrange(1, 33)))
            address = draw.randrange(0, BYTES - 8 * length, 8)
            if draw.random() < 0.5:
                address = max(0, min(self.near - 8 * length, BYTES - 8 * length))
            span = range(address, address + 8 * length)
            while any(at in span for at in self.unanswered):
                await RisingEdge(dut.clk_i)
            self.busy = (span,)
            wanted = bytes(self.expected[address : address + 8 * length])
            dut.ar_valid_i.value, dut.ar_addr_i.value, dut.ar_len_i.value = 1, address, length - 1
            while True:
                await ReadOnly()
                taken = dut.ar_ready_o.value == 1
                await RisingEdge(dut.clk_i)
                if taken:
                    break
            dut.ar_valid_i.value = 0
            got = b""
            while len(got) < 8 * length:
                dut.r_ready_i.value = draw.random() < 0.6
                await ReadOnly()
                if dut.r_valid_o.value == 1 and dut.r_ready_i.value == 1:
                    got += int(dut.r_data_o.value).to_bytes(8, "little")
                await RisingEdge(dut.clk_i)
            dut.r_ready_i.value = 0
            assert got == wanted, f"{length} beats at {address:#x}"
            self.busy = ()
            self.read += 1


@cocotb.test()
async def reads_see_writes_with_a_response(dut) -> None:
    """Random writes, gathered by line, and random bursts, with four pairs of clocks; then a reset of both sides."""
    draw = random.Random(int(os.environ["COCOTB_RANDOM_SEED"]))
    for name in ("rst_ni", "mem_rst_ni", "aw_valid_i", "w_valid_i", "ar_valid_i", "r_ready_i", "rsp_valid_i"):
        getattr(dut, name).value = 0
    dut.req_ready_i.value = 0
    for here, there in PERIODS:
        clocks = [
            cocotb.start_soon(ticking(clock, period, draw.random() < 0.5))
            for clock, period in ((dut.clk_i, here), (dut.mem_clk_i, there))
        ]
        dut.rst_ni.value = dut.mem_rst_ni.value = 0
        await Timer(12 * max(here, there), "ps")
        await RisingEdge(dut.mem_clk_i)
        dut.mem_rst_ni.value = 1
        await RisingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        memory = Memory(dut, draw)
        master = Master(dut, draw, bytearray(memory.bytes))
        running = [cocotb.start_soon(task) for task in (memory.requests(), memory.responses(), master.answers())]
        writes = cocotb.start_soon(master.writes(COUNT))
        await master.reads(COUNT // 8)
        await writes
        for _ in range(600):
            await RisingEdge(dut.clk_i)
        assert master.written == COUNT and not master.unanswered
        assert memory.bytes == master.expected
        # Most writes follow the one before, so they share lines.
        assert memory.lines_written < 0.7 * COUNT
        for task in running:
            task.cancel()
        dut.rsp_valid_i.value = dut.req_ready_i.value = 0
        for clock in clocks:
            clock.cancel()
