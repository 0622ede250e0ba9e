# SPDX-License-Identifier: Apache-2.0
"""cocotb test of a board's reports: messages enter in any cycle, of any colour, of this epoch and the next.

The model keeps every message that has entered, and applies the rule of docs/hardware/idle.md to each report. Counts,
votes and started threads change together and alone: the last report of an idle board always has the present ones.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge, ReadOnly

EPOCHS = int(os.environ["LATE_EPOCHS"])
SETTLES = 16
"""Cycles after which a board that stays idle has reported every change."""


@dataclass(frozen=True)
class Entered:
    """A message, and the state of the board when it entered."""

    epoch: int
    colour: int
    at: tuple[int, int]
    """Epoch and wave."""
    flipped: bool
    """The board had already changed the colour of its own messages for this wave."""


def late(entered: list[Entered], epoch: int, wave: int) -> bool:
    """Whether a report of that epoch and wave must be marked late."""
    for one in entered:
        if one.at == (epoch, wave) and one.epoch == epoch and one.colour != wave % 2:
            return True  # sent after its sender's report in this wave
        if one.at == (epoch, wave - 1) and one.epoch == epoch and one.colour != wave % 2 and one.flipped:
            return True  # maybe sent after its sender's report in this wave: colours repeat after two waves
        if wave == 0 and one.at[0] == epoch - 1 and one.epoch == epoch and one.colour == 1:
            return True  # arrived before this board's release, sent after its sender's first report in this epoch
    return False


class Board:
    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.entered: list[Entered] = []
        self.epoch = self.wave = self.sent = self.received = 0
        self.vote = self.started = 1
        self.odds = 0.0
        self.new = False
        self.found = {"late": 0, "next": 0, "epoch": 0, "punctual": 0}

    async def cycle(self, *, idle: bool, again: bool = False, release: bool = False) -> None:
        """One cycle with these inputs and random messages; checks a report that appears in it."""
        dut = self.dut
        await FallingEdge(dut.clk_i)
        if int(dut.epoch_o.value) != self.epoch % 4:
            self.epoch, self.wave = self.epoch + 1, 0
            assert int(dut.epoch_o.value) == self.epoch % 4
        dut.idle_i.value, dut.again_i.value, dut.release_i.value = int(idle), int(again), int(release)
        dut.sent_i.value, dut.received_i.value = self.sent % 256, self.received % 256
        dut.vote_i.value, dut.started_i.value = self.vote, self.started
        entering = [random.random() < self.odds for _ in range(2)]
        ahead = [random.random() < 0.3 for _ in range(2)]
        colours = [random.randrange(2) for _ in range(2)]
        epochs = [self.epoch + int(one) for one in ahead]
        dut.entry_valid_i.value = entering[0] | entering[1] << 1
        dut.entry_epoch_0_i.value, dut.entry_epoch_1_i.value = (epoch % 4 for epoch in epochs)
        dut.entry_wave_i.value = colours[0] | colours[1] << 1
        await ReadOnly()
        if int(dut.report_new_o.value):
            wanted = late(self.entered, self.epoch, self.wave)
            assert int(dut.late_o.value) == wanted, f"epoch {self.epoch}, wave {self.wave}: late should be {wanted}"
        flipped = int(dut.wave_o.value) != self.wave % 2
        for here, epoch, colour in zip(entering, epochs, colours, strict=True):
            if here:
                self.entered.append(Entered(epoch, colour, (self.epoch, self.wave), flipped))
        if again:
            self.wave += 1

    async def settle(self) -> None:
        """Stays idle, without messages, until the board has reported: the last report must be correct."""
        self.odds = 0.0
        for _ in range(SETTLES):
            await self.cycle(idle=True)
        dut = self.dut
        assert int(dut.report_valid_o.value)
        found = tuple(int(one.value) for one in (dut.count_o, dut.reported_vote_o, dut.reported_started_o))
        wanted_report = ((self.sent - self.received) % 256, self.vote, self.started)
        assert found == wanted_report, f"epoch {self.epoch}, wave {self.wave}: {found} is not {wanted_report}"
        wanted = late(self.entered, self.epoch, self.wave)
        assert int(self.dut.late_o.value) == wanted, f"epoch {self.epoch}, wave {self.wave}: late should be {wanted}"
        self.note(wanted)

    async def change(self) -> None:
        """A short run of threads that changes one thing alone, or nothing; the next report must have it."""
        what = random.choice(("vote", "started", "sent", "received", "none", "both"))
        for _ in range(random.choice((0, 1, 3))):
            await self.cycle(idle=False)
        if what in ("vote", "started"):
            setattr(self, what, 1 - getattr(self, what))
        # A message that is received and answered leaves the count as it was, and may change the vote.
        for name in ("sent", "received"):
            if what in (name, "both"):
                setattr(self, name, getattr(self, name) + 1)
        if what == "both":
            self.vote = random.randrange(2)
        await self.settle()

    def note(self, wanted: bool) -> None:
        """Counts the reports that only one kind of lateness decides."""
        now = [one for one in self.entered if one.at == (self.epoch, self.wave)]
        if not wanted:
            self.found["punctual"] += 1
        elif late(now, self.epoch, self.wave):
            self.found["late"] += 1
        else:
            self.found["next" if self.wave else "epoch"] += 1


@cocotb.test()
async def reports_mark_late_messages(dut: HierarchyObject) -> None:
    for handle in dut:
        if handle._name.endswith("_i") and handle._name != "clk_i":
            handle.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    board = Board(dut)
    for _ in range(EPOCHS):
        for wave in range(1, 5):
            board.odds = random.choice((0.0, 0.02, 0.1))
            for _ in range(random.randrange(12)):
                board.sent += random.randrange(2)
                await board.cycle(idle=random.random() < 0.5)
            for _ in range(random.randrange(20)):
                await board.cycle(idle=True)
            await board.settle()
            for _ in range(random.randrange(3)):
                await board.change()
            board.odds = random.choice((0.0, 0.0, 0.1, 0.3))
            for _ in range(random.randrange(8)):
                await board.cycle(idle=True)
            if wave == 4 or random.random() < 0.4:
                break
            await board.cycle(idle=True, again=True)
        # A verdict follows when all boards have reported; a message that enters in the same cycle counts as well.
        await board.cycle(idle=True, release=True)
        for _ in range(2):
            await board.cycle(idle=True)
        board.entered = [one for one in board.entered if one.at[0] >= board.epoch - 1]
    assert min(board.found.values()) > EPOCHS // 40, board.found
