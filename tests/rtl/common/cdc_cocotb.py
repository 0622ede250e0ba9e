# SPDX-License-Identifier: Apache-2.0
"""Crossings between clocks of random ratio, phase and jitter: items and pulses arrive once, in order."""

from __future__ import annotations

import random

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge, Timer


async def jittering(clock, period: int) -> None:
    """A clock whose half periods vary by a quarter, so that its edges meet those of the other in every order."""
    await Timer(random.randrange(1, period), "ps")
    while True:
        for level in (1, 0):
            clock.value = level
            await Timer(random.randrange(3 * period // 8, 5 * period // 8), "ps")


async def crossing(dut, write_period: int, read_period: int, items: int) -> None:
    clocks = [
        cocotb.start_soon(jittering(dut.wclk_i, write_period)),
        cocotb.start_soon(jittering(dut.rclk_i, read_period)),
    ]
    for name in ("in_valid_i", "in_data_i", "pulse_i", "out_ready_i", "wrst_ni", "rrst_ni"):
        getattr(dut, name).value = 0
    await Timer(20 * (write_period + read_period), "ps")
    await RisingEdge(dut.wclk_i)
    dut.wrst_ni.value = 1
    await RisingEdge(dut.rclk_i)
    dut.rrst_ni.value = 1
    sent: list[int] = []
    received: list[int] = []
    pulses = {"sent": 0, "received": 0}
    # Phases in which each side is always ready, and in which it seldom is: the queue is full and empty many times.
    busy = {"write": 1.0, "read": 1.0}

    async def writer() -> None:
        waiting: int | None = None
        while len(sent) < items or waiting is not None:
            if waiting is None and len(sent) < items and random.random() < busy["write"]:
                waiting = random.getrandbits(32)
            dut.in_valid_i.value = int(waiting is not None)
            if waiting is not None:
                dut.in_data_i.value = waiting
            await ReadOnly()
            full, ready = int(dut.full_o.value), int(dut.in_ready_o.value)
            await RisingEdge(dut.wclk_i)
            if waiting is not None and ready:
                sent.append(waiting)
                waiting = None
            fire = not full and random.random() < busy["write"]
            dut.pulse_i.value = int(fire)
            pulses["sent"] += fire
            if random.random() < 0.02:
                busy["write"] = random.choice([0.1, 0.5, 1.0])
        dut.in_valid_i.value = 0
        await RisingEdge(dut.wclk_i)
        dut.pulse_i.value = 0

    async def reader() -> None:
        while True:
            dut.out_ready_i.value = int(random.random() < busy["read"])
            await ReadOnly()
            if int(dut.out_valid_o.value) and int(dut.out_ready_i.value):
                received.append(int(dut.out_data_o.value))
            pulses["received"] += int(dut.pulse_o.value)
            await RisingEdge(dut.rclk_i)
            if random.random() < 0.02:
                busy["read"] = random.choice([0.1, 0.5, 1.0])

    reading = cocotb.start_soon(reader())
    await writer()
    await Timer(400 * (write_period + read_period), "ps")
    assert received == sent
    assert pulses["received"] == pulses["sent"] > 0
    for task in (*clocks, reading):
        task.cancel()
    await Timer(1, "ps")


@cocotb.test()
async def items_and_pulses_cross_once_and_in_order(dut) -> None:
    for write_period, read_period in (
        (8000, 8000),
        (4000, 9001),
        (9001, 4000),
        (1000, 20000),
        (20000, 1000),
        (6400, 8000),
    ):
        await crossing(dut, write_period, read_period, 400)
