# SPDX-License-Identifier: Apache-2.0
"""Clocks for designs with several of them."""

from __future__ import annotations

import random

from cocotb.triggers import Timer


async def ticking(clock, period: int, jitter: bool) -> None:
    """A clock of random phase; with jitter, its half periods vary by a quarter, so that edges meet in every order."""
    await Timer(random.randrange(1, period), "ps")
    while True:
        for level in (1, 0):
            clock.value = level
            half = random.randrange(3 * period // 8, 5 * period // 8) if jitter else (period + level) // 2
            await Timer(half, "ps")
