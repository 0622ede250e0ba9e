# SPDX-License-Identifier: Apache-2.0
"""Crossings between clocks of random ratio, phase and jitter: items and pulses arrive once, in order."""

from __future__ import annotations

import os
import random

import cocotb
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge, Timer
from models.clocks import ticking

ITEMS = int(os.environ["CDC_ITEMS"])
RESET_BY_READER = os.environ["CDC_RESET_BY_READER"] == "1"
# Periods of writer and reader in ps: equal, 125 ppm apart, of near and of far ratios.
PERIODS = ((8000, 8000), (8000, 8001), (4000, 9001), (9001, 4000), (1000, 20000), (20000, 1000), (6400, 8000))
FULL_RATE = ((8000, 8000), (8000, 8001), (8001, 8000), (8000, 4000))


class Crossing:
    """Clocks, a reset, and what was sent and received since the last one."""

    def __init__(self, dut, write_period: int, read_period: int, jitter: bool = True) -> None:
        self.dut = dut
        self.tasks = [
            cocotb.start_soon(ticking(dut.wclk_i, write_period, jitter)),
            cocotb.start_soon(ticking(dut.rclk_i, read_period, jitter)),
        ]
        self.both = write_period + read_period
        self.reset_clock = dut.rclk_i if RESET_BY_READER else dut.wclk_i
        self.sent: list[int] = []
        self.received: list[int] = []
        self.pulses = {"sent": 0, "received": 0}
        # Phases in which each side is always ready, and in which it seldom is: the queue is full and empty many times.
        self.busy = {"write": 1.0, "read": 1.0}
        self.varying = True

    async def begin(self) -> None:
        dut = self.dut
        for name in ("in_valid_i", "in_data_i", "pulse_i", "out_ready_i", "rst_ni"):
            getattr(dut, name).value = 0
        await Timer(8 * self.both, "ps")
        await self.release()
        self.tasks += [cocotb.start_soon(self.reader())]

    async def release(self) -> None:
        await RisingEdge(self.reset_clock)
        self.dut.rst_ni.value = 1
        await Timer(20 * self.both, "ps")
        assert int(self.dut.wrst_no.value) and int(self.dut.rrst_no.value)

    def change(self, side: str) -> None:
        if self.varying and random.random() < 0.02:
            self.busy[side] = random.choice([0.1, 0.5, 1.0])

    async def write(self, items: int, first: int = 0) -> None:
        """Sends items with increasing numbers."""
        dut = self.dut
        numbers = iter(range(first, first + items))
        waiting = next(numbers, None)
        while waiting is not None:
            valid = random.random() < self.busy["write"] or bool(int(dut.in_valid_i.value))
            dut.in_valid_i.value = int(valid)
            dut.in_data_i.value = waiting
            await ReadOnly()
            full, ready = int(dut.full_o.value), int(dut.in_ready_o.value)
            await RisingEdge(dut.wclk_i)
            if valid and ready:
                self.sent.append(waiting)
                waiting = next(numbers, None)
                dut.in_valid_i.value = 0
            fire = not full and random.random() < self.busy["write"]
            dut.pulse_i.value = int(fire)
            self.pulses["sent"] += fire
            self.change("write")
        await RisingEdge(dut.wclk_i)
        dut.pulse_i.value = 0

    async def reader(self) -> None:
        dut = self.dut
        while True:
            dut.out_ready_i.value = int(random.random() < self.busy["read"])
            await ReadOnly()
            if int(dut.rrst_no.value):
                if int(dut.out_valid_o.value) and int(dut.out_ready_i.value):
                    self.received.append(int(dut.out_data_o.value))
                self.pulses["received"] += int(dut.pulse_o.value)
            await RisingEdge(dut.rclk_i)
            self.change("read")

    async def drain(self) -> None:
        self.busy["read"], self.varying = 1.0, False
        await Timer(50 * self.both, "ps")
        self.varying = True

    async def end(self) -> None:
        for task in self.tasks:
            task.cancel()
        await Timer(1, "ps")


@cocotb.test()
async def items_and_pulses_cross_once_and_in_order(dut) -> None:
    for write_period, read_period in PERIODS:
        crossing = Crossing(dut, write_period, read_period)
        await crossing.begin()
        await crossing.write(ITEMS)
        await crossing.drain()
        assert crossing.received == crossing.sent == list(range(ITEMS))
        assert crossing.pulses["received"] == crossing.pulses["sent"] > 0
        await crossing.end()


@cocotb.test()
async def an_item_crosses_in_each_cycle(dut) -> None:
    """With a reader that is not slower, or slower by 125 ppm, the writer waits at most once in 1000 cycles."""
    if len(dut.u_fifo.wptr_q) < 5:
        return
    for write_period, read_period in FULL_RATE:
        crossing = Crossing(dut, write_period, read_period, jitter=False)
        crossing.varying = False
        await crossing.begin()
        waits = 0
        await RisingEdge(dut.wclk_i)
        dut.in_valid_i.value = 1
        for number in range(1000):
            dut.in_data_i.value = number
            await ReadOnly()
            waits += 1 - int(dut.in_ready_o.value)
            await RisingEdge(dut.wclk_i)
        dut.in_valid_i.value = 0
        await crossing.drain()
        assert waits <= 1 and len(crossing.received) == 1000 - waits
        await crossing.end()


@cocotb.test()
async def after_a_reset_only_later_items_cross(dut) -> None:
    """Resets of one cycle and more, also within the handshake of an earlier one, while items and pulses cross."""
    for write_period, read_period in PERIODS:
        crossing = Crossing(dut, write_period, read_period)
        await crossing.begin()
        for epoch in range(ITEMS // 20):
            writing = cocotb.start_soon(crossing.write(1000, first=10_000 * epoch))
            await Timer(random.randrange(1, 40) * crossing.both, "ps")
            writing.cancel()
            await RisingEdge(crossing.reset_clock)
            dut.rst_ni.value = 0
            dut.in_valid_i.value = dut.pulse_i.value = 0
            await ClockCycles(crossing.reset_clock, random.choice([1, 1, 2, 3, 10]))
            for _ in range(random.choice([0, 0, 1, 2])):
                dut.rst_ni.value = 1
                await ClockCycles(crossing.reset_clock, random.randrange(1, 20))
                dut.rst_ni.value = 0
                await ClockCycles(crossing.reset_clock, 1)
            await crossing.release()
            # What crossed before is a prefix of what was sent; the last item may be in the cycle of the reset.
            first, count = 10_000 * epoch, len(crossing.received)
            assert crossing.received == list(range(first, first + count)) and count <= len(crossing.sent) + 1
            crossing.sent.clear()
            crossing.received.clear()
            crossing.pulses.update(sent=0, received=0)
            await crossing.write(20, first=10_000 * epoch + 5000)
            await crossing.drain()
            assert crossing.received == list(range(10_000 * epoch + 5000, 10_000 * epoch + 5020))
            assert crossing.pulses["received"] == crossing.pulses["sent"]
            crossing.sent.clear()
            crossing.received.clear()
        await crossing.end()


@cocotb.test()
async def a_side_stays_in_reset_while_the_other_clock_stands(dut) -> None:
    """The clock of a PHY may stop: the side of the reset waits, and both begin together when it runs again."""
    crossing = Crossing(dut, 8000, 5000)
    await crossing.begin()
    # The first task is the clock of the writer.
    stopped = crossing.tasks[int(not RESET_BY_READER)]
    side = dut.rrst_no if RESET_BY_READER else dut.wrst_no
    await crossing.write(10)
    stopped.cancel()
    await RisingEdge(crossing.reset_clock)
    dut.rst_ni.value = 0
    await ClockCycles(crossing.reset_clock, 2)
    dut.rst_ni.value = 1
    for _ in range(200):
        await RisingEdge(crossing.reset_clock)
        await ReadOnly()
        assert int(side.value) == 0
    clock = dut.wclk_i if RESET_BY_READER else dut.rclk_i
    crossing.tasks.append(cocotb.start_soon(ticking(clock, 7000, True)))
    await Timer(20 * crossing.both, "ps")
    crossing.sent.clear()
    crossing.received.clear()
    await crossing.write(30, first=100)
    await crossing.drain()
    assert crossing.received == list(range(100, 130))
    await crossing.end()
