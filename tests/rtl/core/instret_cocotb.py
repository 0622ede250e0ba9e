# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of gs_instret: cores finish instructions at the maximum rate, while counts are requested."""

from __future__ import annotations

import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge, ReadOnly

from gossamer.config import constants

CYCLES = int(os.environ.get("INSTRET_CYCLES", "4000"))
CORES = int(os.environ.get("INSTRET_CORES", "4"))
THREADS = int(os.environ.get("INSTRET_THREADS", "16"))
STAGES = constants.value("core_pipeline_stages")
TID_BITS = (THREADS - 1).bit_length()


class Core:
    """Finishes at most one instruction a cycle, and at most one of a thread in eight cycles."""

    def __init__(self) -> None:
        self.ready = [0] * THREADS
        # First all threads at full speed, so that each count passes the wrap that it starts below.
        self.left = 30 * max(THREADS, STAGES)
        self.odds = 1.0
        self.who = list(range(THREADS))

    def pick(self, now: int, sleeping: set[int]) -> int | None:
        if self.left == 0:
            # Phases of full speed of a few or of all threads, and idle phases.
            self.left = random.randrange(1, 400)
            self.odds = random.choice([0.0, 0.3, 1.0, 1.0])
            self.who = random.sample(range(THREADS), random.choice([1, min(STAGES, THREADS), THREADS]))
        self.left -= 1
        able = [tid for tid in self.who if self.ready[tid] <= now and tid not in sleeping]
        if not able or random.random() >= self.odds:
            return None
        tid = min(able, key=lambda one: self.ready[one])
        self.ready[tid] = now + STAGES
        return tid


@cocotb.test()
async def requested_counts_are_exact(dut: HierarchyObject) -> None:
    """Every response is the number of instructions before it, also across wraps of both words."""
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    dut.rst_ni.value = 0
    dut.retire_i.value = 0
    dut.ask_i.value = 0
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    counts = []
    for thread in range(CORES * THREADS):
        count = random.choice([0, 2**31, 2**33 + 2**31, 2**64] if thread else [2**32]) - random.randrange(1, 20)
        count %= 2**64
        counts.append(count)
        dut.u_sums.mem[2 * thread].value = (count & 0xFFFFFFFF) << 4
        dut.u_sums.mem[2 * thread + 1].value = count >> 32 << 4 | count >> 31 & 1
    before = list(counts)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    cores = [Core() for _ in range(CORES)]
    asked: int | None = None
    pause = high = waited = answers = idle = 0
    for now in range(CYCLES):
        valid = tids = 0
        for number, core in enumerate(cores):
            sleeping = {asked % THREADS} if asked is not None and asked // THREADS == number else set()
            tid = core.pick(now, sleeping)
            if tid is not None:
                valid |= 1 << number
                tids |= tid << number * TID_BITS
                counts[number * THREADS + tid] += 1
        dut.retire_i.value = valid
        dut.retire_tid_i.value = tids
        if asked is None and pause > 0:
            pause -= 1
        elif asked is None:
            asked, high, waited = random.randrange(CORES * THREADS), random.getrandbits(1), -2
        # A thread's last instruction has been counted before its request.
        dut.ask_i.value = int(asked is not None and waited >= 0)
        dut.hold_i.value = int(asked is not None and waited >= 0)
        dut.ask_thread_i.value = asked or 0
        dut.ask_high_i.value = high
        await ReadOnly()
        if asked is None:
            assert idle < 2 or int(dut.value_o.value) == 0
            idle += 1
        elif waited >= 0 and int(dut.valid_o.value):
            idle = 0
            want = counts[asked] >> 32 & 0xFFFFFFFF if high else counts[asked] & 0xFFFFFFFF
            assert int(dut.value_o.value) == want, f"thread {asked}, high {high}: {int(dut.value_o.value)}, not {want}"
            asked, answers = None, answers + 1
            pause = random.choice([0, 0, random.randrange(100)])
        waited += 1
        assert asked is None or waited < 16
        await FallingEdge(dut.clk_i)
    assert answers > CYCLES / 80
    assert any(old < 2**32 <= new for old, new in zip(before, counts, strict=True))
