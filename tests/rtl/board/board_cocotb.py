# SPDX-License-Identifier: Apache-2.0
"""cocotb test of a board's idle detection: tiles that send each other messages, wait, and are released."""

from __future__ import annotations

import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge

TILES = int(os.environ["BOARD_TILES"])
CYCLES = int(os.environ["BOARD_CYCLES"])
SEEN = 3
"""Cycles after a release in which tiles still look idle: the latency to the root and back."""
DROPS = 20
"""Bits of idle_status_t that report messages dropped by the tile."""
BOUND = 24
"""Cycles within which a release occurs once all work is done: three round trips through the registers."""


class Board:
    """The tiles, without their output registers: attributes are the state of one cycle."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.now = 0
        self.idle = [True] * TILES
        self.vote = [True] * TILES
        self.started = [False] * TILES
        self.sent = [random.getrandbits(32) for _ in range(TILES)]
        self.received = list(self.sent)
        self.host_sent = self.host_received = 0
        self.waits = False  # a message of the host waits
        self.counts: list[int] = []  # cycles in which messages that have entered are counted
        self.releases = 0
        self.in_flight: list[tuple[int, int, int]] = []  # cycle, receiver, epoch
        self.starts: dict[int, int] = {}
        self.busy = 0.03
        self.sends = 0.2

    def show(self) -> None:
        dut = self.dut
        all_states = 0
        for t in range(TILES):
            # idle_status_t: no words are contributed.
            status = int(self.idle[t]) << 83 | int(self.vote[t]) << 82 | int(self.started[t]) << 81
            status |= random.getrandbits(2) << 79
            status |= (self.sent[t] & 0xFFFF_FFFF) << 47 | (self.received[t] & 0xFFFF_FFFF) << 15
            all_states |= (status << DROPS | random.getrandbits(DROPS)) << (84 + DROPS) * t
        dut.status_i.value = all_states
        dut.started_i.value = sum(started << t for t, started in enumerate(self.started))
        dut.host_sent_i.value = self.host_sent & 0xFFFF_FFFF
        dut.host_hold_i.value = self.waits
        dut.host_received_i.value = self.host_received & 0xFFFF_FFFF

    def run_tiles(self) -> None:
        """Simulates one cycle of all tiles."""
        here = self.releases % 4
        for when, to, epoch in [due for due in self.in_flight if due[0] <= self.now and due[2] == here]:
            self.in_flight.remove((when, to, epoch))
            if to == TILES:
                self.host_received += 1
                continue
            self.received[to] += 1
            if self.started[to]:
                self.idle[to] = False
        for t, when in list(self.starts.items()):
            if when <= self.now:
                self.started[t], self.idle[t] = True, False
                del self.starts[t]
        for t in range(TILES):
            if self.idle[t]:
                continue
            if random.random() < self.sends:
                to = random.randrange(TILES + 1)
                self.in_flight.append((self.now + random.randrange(1, 40), to, here))
                self.sent[t] += 1
            # A tile may begin to wait in the cycle in which it sends.
            if random.random() < self.busy:
                self.idle[t], self.vote[t] = True, random.random() < 0.8

    def host(self) -> None:
        """Simulates one cycle of the host, which sends at any time, also when all tiles wait."""
        if self.counts and self.counts[0] <= self.now:
            self.counts.pop(0)
            self.host_sent += 1
        if self.waits and int(self.dut.host_open_o.value):
            # It enters in this cycle, with the epoch of idle detection, and is counted as late as a tile's message.
            self.waits = False
            self.counts.append(self.now + 1)
            epoch = int(self.dut.host_epoch_o.value)
            assert epoch in (self.releases % 4, (self.releases + 1) % 4), "the epoch of a message of the host"
            self.in_flight.append((self.now + random.randrange(3, 40), random.randrange(TILES), epoch))
        elif not self.waits and random.random() < 0.02:
            self.waits = True

    def all_wait(self) -> bool:
        here = [epoch for _, _, epoch in self.in_flight if epoch == self.releases % 4]
        return all(self.idle) and not here and not self.starts and any(self.started)

    def release_due(self) -> bool:
        """Whether nothing delays a release."""
        return self.all_wait() and not self.waits and not self.counts


@cocotb.test()
async def release_occurs_only_when_all_wait(dut: HierarchyObject) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    board = Board(dut)
    dut.rst_ni.value, dut.expected_i.value = 0, 0
    board.show()
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    releases, since, woken = 0, 0, -1
    ending = False
    for cycle in range(CYCLES):
        board.now = cycle
        if cycle % 2000 == 999:
            # One cycle between two runs suffices: tiles that began in the last run do not count as begun.
            dut.expected_i.value = 0
        if cycle % 2000 == 1000:
            # A new run: of some tiles, which start at very different times.
            tiles = random.sample(range(TILES), random.randrange(1, TILES + 1))
            dut.expected_i.value = sum(1 << t for t in tiles)
            board.starts = {t: cycle + random.randrange(2, 60) for t in tiles}
            board.sends = random.choice([0.0, 0.05, 0.3])
        ending = ending or cycle % 2000 == 900
        if ending and not board.all_wait() and woken < 0:
            # The end of the last run, with no release in flight.
            ending = False
            board.starts = {}
            board.started, board.idle = [False] * TILES, [True] * TILES
        board.show()
        await FallingEdge(dut.clk_i)
        command = int(dut.command_o.value)
        if command >> 17 & 1:
            assert board.all_wait(), f"a release in cycle {cycle}: {board.idle}, {board.in_flight}, {board.starts}"
            assert woken < 0, "two releases for one"
            assert command >> 16 & 1 == int(all(board.vote)), "wrong vote"
            releases += 1
            board.releases += 1
            woken = cycle + SEEN
        if woken == cycle:
            board.idle = [not started for started in board.started]
            board.vote = [True] * TILES
            woken = -1
        elif woken < 0:
            board.run_tiles()
        board.host()
        since = since + 1 if board.release_due() and woken < 0 else 0
        assert since <= BOUND, f"no release up to cycle {cycle}"
    assert releases > CYCLES // 5000, f"{releases} releases"
