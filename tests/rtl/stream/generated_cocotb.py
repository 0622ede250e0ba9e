# SPDX-License-Identifier: Apache-2.0
"""Kernels at generated boards connected by wires: data from the ranks' ports must arrive at the right ports.

Reads nothing of the generator but the names of the ports: boot words, ranks and scenario are in a file. The model is
NumPy's.
"""

from __future__ import annotations

import json
import os
import random
from collections import deque
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge, ReadOnly
from rtl.stream.generated_plan import beats, elements, opening, plan


class Source:
    """Drives an AXI4-Stream with pauses; an offered beat stays valid."""

    def __init__(self, dut: HierarchyObject, name: str, busy: float) -> None:
        self.valid, self.ready = getattr(dut, f"{name}_tvalid"), getattr(dut, f"{name}_tready")
        self.data = getattr(dut, f"{name}_tdata", None)
        self.beats: deque[int] = deque()
        self.busy, self.offered, self.was = busy, False, 0
        self.valid.value = 0

    def drive(self) -> None:
        offers = bool(self.beats) and (self.offered or random.random() < self.busy)
        if offers and not self.offered and self.data is not None:
            self.data.value = self.beats[0]
        if offers != self.was:
            self.valid.value = self.was = offers
        self.offered = offers

    def sample(self) -> None:
        if self.offered and int(self.ready.value):
            self.beats.popleft()
            self.offered = False


class Sink:
    """Accepts beats of an AXI4-Stream with pauses; collects data as one byte string per message."""

    def __init__(self, dut: HierarchyObject, name: str, busy: float) -> None:
        self.valid, self.ready = getattr(dut, f"{name}_tvalid"), getattr(dut, f"{name}_tready")
        self.data = getattr(dut, f"{name}_tdata", None)
        self.keep, self.last = getattr(dut, f"{name}_tkeep", None), getattr(dut, f"{name}_tlast", None)
        self.busy, self.takes = busy, 0
        self.messages: list[bytes] = [b""]
        self.ready.value = 0

    def drive(self) -> None:
        takes = random.random() < self.busy
        if takes != self.takes:
            self.ready.value = self.takes = takes

    def sample(self) -> None:
        if not (self.takes and int(self.valid.value)):
            return
        if self.data is not None and self.keep is None:
            self.messages.append(int(self.data.value).to_bytes(4, "little"))
            return
        if self.data is not None:
            keep = int(self.keep.value)
            count = keep.bit_length()
            assert keep == (1 << count) - 1, f"tkeep has gaps: {keep:b}"
            self.messages[-1] += (int(self.data.value) & (1 << 8 * count) - 1).to_bytes(count, "little")
        if self.last is None or int(self.last.value):
            self.messages.append(b"")


class Bench:
    """All boards, a clock cycle at a time."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.about = json.loads(Path(os.environ["GENERATED_SCENARIO"]).read_text(encoding="utf-8"))
        self.sources: list[Source] = []
        self.sinks: list[Sink] = []
        self.now = 0

    def source(self, rank: int, name: str) -> Source:
        self.sources.append(Source(self.dut, self.signal(rank, name), random.choice([0.3, 1.0, 1.0])))
        return self.sources[-1]

    def sink(self, rank: int, name: str) -> Sink:
        self.sinks.append(Sink(self.dut, self.signal(rank, name), random.choice([0.3, 1.0, 1.0])))
        return self.sinks[-1]

    def signal(self, rank: int, name: str) -> str:
        here = self.about["ranks"][rank]
        return f"b{here['board']}_{here['prefix']}{name}"

    async def step(self) -> None:
        for one in (*self.sources, *self.sinks):
            one.drive()
        await ReadOnly()
        for one in (*self.sources, *self.sinks):
            one.sample()
        self.now += 1
        await FallingEdge(self.dut.clk_i)

    async def write(self, board: int, address: int, word: int) -> None:
        bus = f"b{board}_s_axil_"
        for name, value in (("awaddr", address), ("wdata", word), ("wstrb", 15), ("awvalid", 1), ("wvalid", 1)):
            getattr(self.dut, bus + name).value = value
        getattr(self.dut, bus + "bready").value = 1
        await ReadOnly()
        assert int(getattr(self.dut, bus + "awready").value) and int(getattr(self.dut, bus + "wready").value)
        await FallingEdge(self.dut.clk_i)
        getattr(self.dut, bus + "awvalid").value = getattr(self.dut, bus + "wvalid").value = 0
        await ReadOnly()
        assert int(getattr(self.dut, bus + "bvalid").value)
        assert int(getattr(self.dut, bus + "bresp").value) == 0, f"{address:#x} is rejected"
        await FallingEdge(self.dut.clk_i)

    async def read(self, board: int, address: int) -> tuple[int, int]:
        """A word, and the response."""
        bus = f"b{board}_s_axil_"
        for name, value in (("araddr", address), ("arvalid", 1), ("rready", 1)):
            getattr(self.dut, bus + name).value = value
        await FallingEdge(self.dut.clk_i)
        getattr(self.dut, bus + "arvalid").value = 0
        await ReadOnly()
        assert int(getattr(self.dut, bus + "rvalid").value)
        found = int(getattr(self.dut, bus + "rdata").value), int(getattr(self.dut, bus + "rresp").value)
        await FallingEdge(self.dut.clk_i)
        return found

    async def boot(self) -> None:
        self.dut.rst_ni.value = 0
        for board in range(self.about["boards"]):
            for name in ("awvalid", "wvalid", "arvalid", "bready", "rready"):
                getattr(self.dut, f"b{board}_s_axil_{name}").value = 0
        cocotb.start_soon(Clock(self.dut.clk_i, 10, unit="ns").start())
        for _ in range(6):
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1
        for board, words in enumerate(self.about["words"]):
            while not (await self.read(board, 8))[0] & 1:
                pass
            assert await self.read(board, 0) == (0x47535331, 0)
            assert await self.read(board, 4) == (self.about["number"], 0)
            for address, word in words:
                await self.write(board, address, word)
        wanted = self.about["up"]
        for _ in range(400):
            if all([(await self.read(board, 8))[0] >> 16 == up for board, up in enumerate(wanted)]):
                return
        raise AssertionError("links do not come up")

    async def until(self, done: Any, limit: int) -> None:
        begun = self.now
        while not done():
            assert self.now - begun < limit, "sent data do not arrive"
            await self.step()

    async def no_fault(self) -> None:
        for board in range(self.about["boards"]):
            assert (await self.read(board, 8))[0] & 0b11110 == 0, f"board {board} reports a fault"


@cocotb.test()
async def channels_and_collectives(dut: HierarchyObject) -> None:
    """All ports at once, with pauses: channels from each rank that sends to each that receives, collectives with any
    root, one after another on each port."""
    bench = Bench(dut)
    ranks = [{one["port"]: one for one in here["endpoints"]} for here in bench.about["ranks"]]
    made = plan(ranks, int(os.environ.get("GENERATED_ROUNDS", "4")))
    for (rank, name), words in made.gives.items():
        bench.source(rank, name).beats += words
    sinks = [(bench.sink(rank, name), right, f"{name} of rank {rank}") for (rank, name), right in made.takes.items()]
    await bench.boot()
    await bench.until(
        lambda: (
            all(len(sink.messages) > len(right) for sink, right, _ in sinks)
            and not any(one.beats for one in bench.sources)
        ),
        100_000,
    )
    for _ in range(300):
        await bench.step()
    for sink, right, what in sinks:
        assert sink.messages == [*right, b""], f"{what}: another {len(sink.messages) - 1} messages than {len(right)}"
    await bench.no_fault()
    print(f"{bench.now} cycles, {sum(len(right) for _, right, _ in sinks)} messages")


@cocotb.test()
async def queued_messages_overtake_waiting_ones(dut: HierarchyObject) -> None:
    """A rank sends the others and itself as many elements on a port as its degree says, in messages of any length. The
    ranks take theirs in the opposite order, each only when the one before has all; one has opened its first channel,
    and takes nothing of it before its turn."""
    bench = Bench(dut)
    ranks = range(len(bench.about["ranks"]))
    about = {one["port"]: one for one in bench.about["ranks"][0]["endpoints"]}
    names = [f"port{port}_{way}" for port in about for way in ("send_open", "send", "receive_open")]
    feeds = {(rank, name): bench.source(rank, name) for rank in ranks for name in names}
    taken = {(rank, port): bench.sink(rank, f"port{port}_receive") for rank in ranks for port in about}
    await bench.boot()
    for _ in range(int(os.environ["GENERATED_ROUNDS"])):
        for port, degree in ((0, 16), (1, 200)):
            source, waits = random.choice(ranks), random.choice([0, 1])
            order = random.sample(ranks, len(ranks))
            opened: dict[int, list[int]] = {}
            right: dict[int, list[bytes]] = {}
            for to in order:
                left = degree
                opened[to], right[to], taken[to, port].messages = [], [], [b""]
                # Often as many messages as elements.
                longest = random.choice([1, 1, 4, degree])
                while left:
                    count = random.randint(1, min(left, longest))
                    left -= count
                    data = elements(about[port]["type"], count)
                    feeds[source, f"port{port}_send_open"].beats.append(opening(to, count))
                    feeds[source, f"port{port}_send"].beats += beats(data, about[port]["bytes"])
                    opened[to].append(opening(source, count))
                    right[to].append(data.tobytes())
                taken[to, port].busy = 0.0
            if waits:
                feeds[order[0], f"port{port}_receive_open"].beats.append(opened[order[0]].pop(0))
            for to in reversed(order):
                feeds[to, f"port{port}_receive_open"].beats += opened[to]
                taken[to, port].busy = random.choice([0.3, 1.0])
                await bench.until(lambda: len(taken[to, port].messages) > len(right[to]), 20_000)  # noqa: B023
                assert taken[to, port].messages == [*right[to], b""], f"rank {to} from {source}, port {port}"
            assert not any(one.beats for one in bench.sources)
    await bench.no_fault()


@cocotb.test()
async def faults_are_reported(dut: HierarchyObject) -> None:
    """Ends that disagree about a count, and continue once their ports are bound again; a rank without a location;
    undefined registers."""
    bench = Bench(dut)
    ranks = [{one["port"]: one for one in here["endpoints"]} for here in bench.about["ranks"]]
    channel = next(
        port
        for port, one in sorted(ranks[0].items())
        if one["operation"] == "channel" and one["sends"] and ranks[1].get(port, {}).get("receives")
    )
    opens = bench.source(0, f"port{channel}_send_open")
    gives = bench.source(0, f"port{channel}_send")
    opened = bench.source(1, f"port{channel}_receive_open")
    taken = bench.sink(1, f"port{channel}_receive")
    await bench.boot()
    board = [here["board"] for here in bench.about["ranks"]]
    assert (await bench.read(board[1], 0x40))[1] == 2, "a report without a fault"
    assert (await bench.read(board[1], 0x3C))[1] == 2, "an undefined register"
    # Ranks and boards beyond the design's limits, with the low bits of those that are used below.
    for number in range(bench.about["boards"]):
        for rank in range(2):
            await bench.write(number, 0x18, 99 << 11 | 7 << 8 | 16 + rank)
        for to in range(bench.about["boards"]):
            await bench.write(number, 0x14, (64 + to) << 8)
    opens.beats.append(opening(1, 7))
    opened.beats.append(opening(0, 9))
    for _ in range(2000):
        await bench.step()
    assert (await bench.read(board[1], 8))[0] & 2
    words = [(await bench.read(board[1], 0x40 + 4 * at))[0] for at in range(6)]
    one = ranks[1][channel]
    stride, slot = bench.about["stride"], bench.about["ranks"][1]["slot"]
    assert words[0] == 1 << 16 | stride * slot + one["index"], f"{words[0]:#x}: rank and port"
    assert words[1] & 0xFF == 0 and words[1] >> 10 & 7 == 2, f"{words[1]:#x}: the other rank, the fault"
    assert words[2:4] == [9, 7]
    assert (await bench.read(board[1], 8))[0] & 2 == 0, "the report was removed"
    # The sender waits for credits, the receiver is halted. Both halves of both ranks ask, with another account.
    for rank, number in enumerate(board):
        port = stride * bench.about["ranks"][rank]["slot"] + one["index"]
        for half in range(2):
            await bench.write(number, 0x34, 5 << 11 | half << 8 | port)
    data = elements(one["type"], 3)
    opens.beats.append(opening(1, 3))
    gives.beats += beats(data, one["bytes"])
    opened.beats.append(opening(0, 3))
    await bench.until(lambda: len(taken.messages) > 1, 2000)
    assert taken.messages == [data.tobytes(), b""] and not any(source.beats for source in bench.sources)
    # Rank 13 has no location.
    assert (await bench.read(board[0], 8))[0] & 4 == 0
    opens.beats.append(opening(13, 1))
    for _ in range(20):
        await bench.step()
    assert opens.beats, "the channel was opened"
    assert (await bench.read(board[0], 8))[0] & 4


@cocotb.test()
async def gesummv(dut: HierarchyObject) -> None:
    """Two ranks' kernels in hardware: matrices by blocks of eight rows, column by column. One problem after another, at
    full speed and then with pauses."""
    bench = Bench(dut)
    problems = json.loads(Path(os.environ["GENERATED_PROBLEMS"]).read_text(encoding="utf-8"))
    feeds = {
        name: Source(dut, name, 1.0) for rank in range(2) for name in (f"k{rank}_{s}" for s in ("start", "x", "a"))
    }
    taken = Sink(dut, "y", 1.0)
    bench.sources, bench.sinks = list(feeds.values()), [taken]
    await bench.boot()
    for busy in (1.0, 0.5):
        for one in (*bench.sources, taken):
            one.busy = busy
        for about in problems:
            n = about["n"]
            for rank, (matrix, scale) in enumerate((("A", "alpha"), ("B", "beta"))):
                factor = int(np.float32(about[scale]).view(np.uint32))
                feeds[f"k{rank}_start"].beats.append(factor << 48 | n << 32 | n)
                feeds[f"k{rank}_x"].beats += np.fromfile(about["x"], np.uint32).tolist()
                elements = np.fromfile(about[matrix], np.uint32).reshape(n, n)
                for row in range(0, n, 8):
                    feeds[f"k{rank}_a"].beats += elements[row : row + 8].T.ravel().tolist()
            begun, right = bench.now, Path(about["y"]).read_bytes()
            taken.messages = []
            await bench.until(lambda: len(taken.messages) == n, 100 * n * n + 20_000)  # noqa: B023
            cycles = bench.now - begun
            assert b"".join(taken.messages) == right
            with Path(os.environ["GENERATED_RESULTS"]).open("a", encoding="utf-8") as results:
                print(f"GESUMMV of {n} x {n} on two ranks, streams busy {busy}: {cycles} cycles", file=results)
            # One element of each matrix per cycle, plus the vector, the pipelines and the path to the other rank.
            assert busy < 1.0 or cycles < -(-n // 8) * 8 * n + n + 700, f"{cycles} cycles"
    await bench.no_fault()


@cocotb.test()
async def gemv(dut: HierarchyObject) -> None:
    """The pipeline alone, any shape: with few columns results are produced faster than they are accepted."""
    bench = Bench.__new__(Bench)
    bench.dut, bench.now = dut, 0
    feeds = {name: Source(dut, name, 1.0) for name in ("start", "x", "a")}
    taken = Sink(dut, "y", 1.0)
    bench.sources, bench.sinks = list(feeds.values()), [taken]
    dut.rst_ni.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for rows, columns in [(100, 1), (1, 1), (70, 2), (8, 64), (33, 7), (9, 3)]:
        a = elements("float", rows * columns).reshape(rows, columns) / np.float32(7)
        x, alpha = elements("float", columns) / np.float32(3), np.float32(-1.1)
        sums = np.zeros(rows, np.float32)
        for column in range(columns):
            sums += a[:, column] * x[column]
        feeds["start"].beats.append(int(alpha.view(np.uint32)) << 48 | columns << 32 | rows)
        feeds["x"].beats += x.view(np.uint32).tolist()
        for row in range(0, rows, 8):
            feeds["a"].beats += a[row : row + 8].T.ravel().view(np.uint32).tolist()
        taken.messages = []
        taken.busy = 0.0
        for _ in range(300):
            await bench.step()
        taken.busy = 0.7
        await bench.until(lambda: len(taken.messages) == rows, 20_000)  # noqa: B023
        assert b"".join(taken.messages) == (alpha * sums).tobytes(), f"{rows} x {columns}"
