# SPDX-License-Identifier: Apache-2.0
"""Drives both ends of a link in cocotb tests, and checks them against queues as the model."""

from __future__ import annotations

import os
import random
from collections import deque
from collections.abc import Callable

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge, ReadOnly
from rtl.link import frames

CYCLES = int(os.environ.get("LINK_CYCLES", "6000"))
FRAME_BYTES = int(os.environ.get("LINK_FRAME_BYTES", "1500"))
CHANNELS = 8
BITS = frames.FLIT.bits
LAST = 1 << sum(field.bits for field in frames.FLIT.fields[2:])
COUNTERS = (
    "tx_frames", "tx_bytes", "tx_packets", "resends", "rx_frames", "rx_bytes", "rx_packets", "damaged", "dropped",
    "stalls", "lost", "restarts",
)  # fmt: skip
UP, SILENT, RESTARTED, MISMATCH = 8, 4, 2, 1
MILLION = 1 << 20
LONGEST = 32
BUFFER = int(os.environ.get("LINK_BUFFER", "512"))  # flits of a channel that a receiver can buffer
# Every frame that may be in flight finds a buffer.
ALL_BUFFERED = os.environ.get("LINK_ALL_BUFFERED", "0") == "1"
BEATS = 8 // int(os.environ.get("LINK_BYTES", "8"))  # cycles in which a link sends or receives a word


def packet(channel: int, most: int = LONGEST) -> list[int]:
    """A random packet of a channel, of every form, and packets that only the form `whole` can encode."""
    vnet, vc = divmod(channel, 2)
    del vc
    other = (random.getrandbits(5), random.getrandbits(2), random.getrandbits(1))
    job, epoch, wave = random.choice([(3, 1, 0)] * 6 + [other])
    board = random.choice([5, 5, 5, random.getrandbits(12)])
    count = random.choice([1, 1, 2, 4, random.randint(1, most)])
    count = min(count, most)
    body = [(frames.FLIT_KIND["body"], random.getrandbits(128)) for _ in range(count)]
    low = random.getrandbits(14)
    kinds = {
        0: ["thread"] * 4 + ["tile", "key", "odd"],
        1: ["stream", "match", "accelerator", "odd"],
        2: ["host", "odd"],
        3: ["control", "odd"],
    }[vnet]
    kind = random.choice(kinds)
    head: list[tuple[int, int]] = []
    dest = frames.ENDPOINT.get(kind, 0) << 29 | board << 14
    if kind in ("thread", "accelerator", "control"):
        dest |= low
    elif kind == "tile":
        dest |= low & ~63
        head = [(frames.FLIT_KIND["mask"], random.getrandbits(64))]
    elif kind == "key":
        head = [(frames.FLIT_KIND["key"], random.getrandbits(32))]
    elif kind == "stream":
        header = random.getrandbits(32)
        dest |= header >> 8 & 0xFF
        head = [(frames.FLIT_KIND["header"], header)]
    elif kind == "match":
        dest |= low
        head = [(frames.FLIT_KIND["header"], random.getrandbits(64))]
    elif kind == "odd":
        # Nearly one of the forms, except for a bit that the form cannot encode.
        dest = random.getrandbits(32) if random.random() < 0.5 else random.randrange(8) << 29 | board << 14
        if random.random() < 0.6:
            wide = random.choice([0, 1 << random.randrange(32, 128), random.getrandbits(128)])
            head = [(random.randrange(4), random.getrandbits(32) | wide)]
            if random.random() < 0.3 or count == most:
                body = [] if most > 1 else body
                head = head if body == [] else []
    flits = head + body
    return [
        frames.flit(kind_, at == len(flits) - 1, vnet, job, epoch, wave, dest, payload)
        for at, (kind_, payload) in enumerate(flits)
    ]


def alike(count: int) -> list[list[int]]:
    """Short messages to threads of one board, one job, epoch and wave. If a frame begins while several of them wait, it
    accepts them all, and each but its first has the form `again`, provided that all are of one channel."""
    dest = frames.ENDPOINT["thread"] << 29 | 5 << 14
    return [[frames.flit(0, True, 0, 1, 0, 0, dest | at, at + 1)] for at in range(count)]


def drop_packet(queue: deque[int]) -> None:
    while queue and not queue.popleft() & LAST:
        pass


class Bench:
    """Both ends: offered packets, expected flits, and received flits."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.waiting = [[deque[list[int]]() for _ in range(CHANNELS)] for _ in range(2)]
        self.current: list[list[deque[int]]] = [[deque() for _ in range(CHANNELS)] for _ in range(2)]
        self.expected = [[deque[int]() for _ in range(CHANNELS)] for _ in range(2)]
        self.rr = [0, 0]
        self.sends: Callable[[int], bool] = lambda end: True
        self.accepts: Callable[[int, int], bool] = lambda end, channel: True
        self.arrived = [0, 0]
        self.by_channel = [[0] * CHANNELS, [0] * CHANNELS]
        self.arrival = [0, 0]
        self.entry = [0, 0]
        self.events: list[tuple[int, int, int]] = []
        self.now = 0
        self.may_miss: set[int] = set()
        self.inside = [[False] * CHANNELS, [False] * CHANNELS]
        self.frames: list[deque[bytes]] = [deque(), deque()]
        self.record = False
        self._bytes = [bytearray(), bytearray()]

    async def begin(self, loss: float = 0, damage: float = 0) -> None:
        self.dut.rst_ni.value = 0
        self.dut.end_rst_ni.value = 3
        self.dut.tx_valid_i.value = 0
        self.dut.tx_flit_i.value = 0
        self.dut.rx_ready_i.value = 0
        self.dut.cut_i.value = 0
        self.dut.forged_i.value = 0
        self.dut.forged_valid_i.value = 0
        self.faults(loss, damage)
        cocotb.start_soon(Clock(self.dut.clk_i, 10, unit="ns").start())
        for _ in range(4):
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1

    def faults(self, loss: float, damage: float) -> None:
        self.dut.loss_i.value = int(loss * MILLION)
        self.dut.damage_i.value = int(damage * MILLION)

    def forget(self, end: int) -> None:
        """Forgets the recorded frames of an end, and the beginning of one that its reset has cut."""
        self.frames[end].clear()
        self._bytes[end].clear()

    def offer(self, end: int, channel: int, flits: list[int]) -> None:
        self.waiting[end][channel].append(flits)

    def pending(self) -> int:
        return sum(len(queue) for part in (self.waiting, self.current, self.expected) for end in part for queue in end)

    def counters(self, end: int) -> dict[str, int]:
        bits = int(self.dut.counters_o.value) >> 384 * end
        return {name: bits >> 32 * (11 - at) & 0xFFFFFFFF for at, name in enumerate(COUNTERS)}

    async def step(self) -> None:
        """One cycle: sets the inputs at the falling edge, samples the outputs as the rising edge does."""
        dut = self.dut
        tx_ready = int(dut.tx_ready_o.value)
        valid = flits = ready = 0
        chosen: list[int | None] = [None, None]
        for end in range(2):
            for channel in range(CHANNELS):
                if self.accepts(end, channel):
                    ready |= 1 << 8 * end + channel
            if not self.sends(end):
                continue
            # Packets of several channels are offered round robin, so that their flits are interleaved.
            for step in range(CHANNELS):
                channel = (self.rr[end] + step) % CHANNELS
                if not self.current[end][channel] and self.waiting[end][channel]:
                    self.current[end][channel].extend(self.waiting[end][channel].popleft())
                if self.current[end][channel] and tx_ready >> 8 * end + channel & 1:
                    chosen[end] = channel
                    valid |= 1 << 8 * end + channel
                    flits |= self.current[end][channel][0] << BITS * end
                    self.rr[end] = channel if random.random() < 0.9 else channel + 1
                    break
        dut.tx_valid_i.value = valid
        dut.tx_flit_i.value = flits
        dut.rx_ready_i.value = ready
        await ReadOnly()
        for end, channel in enumerate(chosen):
            if channel is not None:
                self.expected[1 - end][channel].append(self.current[end][channel].popleft())
                self.entry[end] = self.now
        rx_valid = int(dut.rx_valid_o.value)
        if rx_valid:
            received = int(dut.rx_flit_o.value)
            assert rx_valid & ~ready == 0, "a flit for a channel that is not ready"
            for end in range(2):
                valid = rx_valid >> 8 * end & 0xFF
                assert valid & valid - 1 == 0, "two channels at once"
                if valid:
                    self.deliver(end, valid.bit_length() - 1, received >> BITS * end & (1 << BITS) - 1)
        events = int(dut.events_o.value)
        if events:
            self.events += [(self.now, end, events >> 4 * end & 15) for end in range(2) if events >> 4 * end & 15]
        if self.record:
            self.record_frames()
        self.now += 1
        await FallingEdge(dut.clk_i)

    def deliver(self, end: int, channel: int, flit: int) -> None:
        queue = self.expected[end][channel]
        if end in self.may_miss and not self.inside[end][channel]:
            # After an end restarts, whole packets may be missing, but none is duplicated or out of order.
            while queue and queue[0] != flit:
                drop_packet(queue)
        self.inside[end][channel] = not flit & LAST
        assert queue, f"end {end}, channel {channel}: unexpected flit {flit:#x}"
        wanted = queue.popleft()
        assert flit == wanted, f"end {end}, channel {channel}: {flit:#x} instead of {wanted:#x}"
        self.arrived[end] += 1
        self.by_channel[end][channel] += 1
        self.arrival[end] = self.now

    def record_frames(self) -> None:
        valid = int(self.dut.mac_valid_o.value)
        if not valid:
            return
        data, keep, last = (int(getattr(self.dut, f"mac_{name}_o").value) for name in ("data", "keep", "last"))
        for end in range(2):
            if valid >> end & 1:
                word = (data >> 64 * end & 2**64 - 1).to_bytes(8, "little")
                kept = keep >> 8 * end & 0xFF
                assert kept == (0x0F if last >> end & 1 else 0xFF), "only the checksum may have fewer than 8 bytes"
                self._bytes[end] += word[: kept.bit_length()]
                if last >> end & 1:
                    self.frames[end].append(bytes(self._bytes[end]))
                    self._bytes[end].clear()

    async def forge(self, end: int, frame: bytes, *, error: bool = False, keep: int = 0x0F) -> None:
        """An end receives this frame, whose last word has the bytes ``keep``, in place of those of the other end."""
        dut = self.dut
        dut.forged_i.value = 1 << end
        words = [frame[at : at + 8].ljust(8, b"\0") for at in range(0, len(frame), 8)]
        for at, word in enumerate(words):
            last = at == len(words) - 1
            dut.forged_data_i.value = int.from_bytes(word, "little")
            dut.forged_keep_i.value = keep if last else 0xFF
            dut.forged_last_i.value = int(last)
            dut.forged_error_i.value = int(last and error)
            dut.forged_valid_i.value = 1
            await self.step()
            dut.forged_valid_i.value = 0
            for _ in range(BEATS - 1):
                await self.step()

    async def up(self) -> None:
        for _ in range(20_000):
            await self.step()
            if int(self.dut.up_o.value) == 3:
                return
        raise AssertionError("the link did not come up")

    async def finish(self, cycles: int = 60_000) -> None:
        """Runs until all packets are delivered."""
        self.sends = lambda end: True
        self.accepts = lambda end, channel: True
        for _ in range(cycles):
            if not self.pending() and (self.may_miss or int(self.dut.idle_o.value) == 3):
                return
            await self.step()
        raise AssertionError(
            f"{self.pending()} flits or packets are not delivered or acknowledged after {cycles} cycles"
        )

    async def traffic(self, cycles: int, most: int = LONGEST, backlog: int = 4) -> None:
        """Offers random packets on random channels in both directions for ``cycles`` cycles."""
        for _ in range(cycles):
            for end in range(2):
                channel = random.randrange(CHANNELS)
                if len(self.waiting[end][channel]) < backlog:
                    self.offer(end, channel, packet(channel, most))
            await self.step()


def phases(bench: Bench) -> None:
    """Varies the rates of senders and receivers in phases, from full rate to a full stop."""
    odds = {"send": [1.0, 1.0], "accept": [[1.0] * CHANNELS, [1.0] * CHANNELS]}
    state = {"left": 0}

    def sends(end: int) -> bool:
        if state["left"] == 0:
            state["left"] = random.randrange(20, 900)
            odds["send"] = [random.choice([0.0, 0.02, 0.3, 1.0]) for _ in range(2)]
            odds["accept"] = [[random.choice([0.0, 0.1, 0.5, 1.0, 1.0]) for _ in range(CHANNELS)] for _ in range(2)]
        state["left"] -= 1
        return random.random() < odds["send"][end]

    bench.sends = sends
    bench.accepts = lambda end, channel: random.random() < odds["accept"][end][channel]
