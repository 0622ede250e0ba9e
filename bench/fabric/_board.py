# SPDX-License-Identifier: Apache-2.0
"""Raw device programs on a whole board: how fast tiles exchange messages, and how long a barrier takes.

The programs are in ``programs/``. Each thread checks what it got and ends with 0 if all of it was right, so a figure
stands only for a run in which nothing was lost, doubled or changed. Cycles are exact: the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gossamer import config as configs
from gossamer.bench import Context, Row

from ._run import run

NEIGHBOURS, BARRIER, SUM = "noc.neighbour-gbs", "barrier.1x1", "barrier.sum.1x1"
ALL_TO_ALL, HOT_SPOT, FAN_OUT = "noc.alltoall-gbs", "noc.hotspot-cycles", "noc.fanout-gbs"
NAMES = (NEIGHBOURS, BARRIER, SUM, ALL_TO_ALL, HOT_SPOT, FAN_OUT)
GROUPS = ("test", "rtl")
CONFIG = "de5"
COUNT = 256
"""Messages that each thread sends to its neighbour, and receives."""
ROUNDS = 256
"""Barriers of a run."""
HOT_COUNT, FAN_COUNT = 2, 32


def measure(context: Context) -> Iterator[Row]:
    """A minute once the simulator of the board is there, which takes some minutes to build."""
    config = configs.load(CONFIG)
    about: dict[str, Any] = {"configuration": CONFIG, "threads": config.threads, "tiles": config.tiles}
    flit, gbs = config.mailbox.flit_bytes, config.clock_hz / 1e9
    # A flit into each tile in every cycle.
    bound = config.tiles * flit * gbs
    if context.wants(NEIGHBOURS):
        cycles = run(config, "neighbours.c", [f"COUNT={COUNT}"]).value
        flits = config.threads * COUNT * config.mailbox.max_flits
        rate = flits * flit / cycles * gbs
        yield context.row(
            NEIGHBOURS,
            rate,
            "GB/s",
            reference={"what": "Tinsel's neighbour exchange on 16 tiles", "value": 14.4, "unit": "GB/s"},
            ratio=rate / 14.4,
            least=28.0,
            message_flits=config.mailbox.max_flits,
            messages=config.threads * COUNT,
            flits_a_cycle_and_tile=round(flits / cycles / config.tiles, 3),
            bound=bound,
            **about,
        )
    barriers: dict[str, tuple[list[str], dict[str, Any]]] = {BARRIER: ([], {"most": 130.0}), SUM: (["SUM"], {})}
    for name, (defines, bounds) in barriers.items():
        if context.wants(name):
            cycles = run(config, "barrier.c", [f"ROUNDS={ROUNDS}", *defines]).value
            yield context.row(name, cycles / ROUNDS, "cycles", rounds=ROUNDS, **bounds, **about)
    if context.wants(ALL_TO_ALL):
        length = config.mailbox.max_flits
        cycles = run(config, "alltoall.c", [f"FLITS={length}"]).value
        messages = config.threads * (config.tiles - 1)
        rate = messages * length * flit / cycles * gbs
        yield context.row(ALL_TO_ALL, rate, "GB/s", messages=messages, message_flits=length, bound=bound, **about)
    if context.wants(HOT_SPOT):
        cycles = run(config, "hotspot.c", [f"COUNT={HOT_COUNT}"]).value
        messages = (config.threads - 1) * HOT_COUNT
        yield context.row(HOT_SPOT, cycles / messages, "cycles a message", messages=messages, **about)
    if context.wants(FAN_OUT):
        length = config.mailbox.max_flits
        cycles = run(config, "fanout.c", [f"FLITS={length}", f"COUNT={FAN_COUNT}"]).value
        # What threads receive: each message to a tile is for all of its threads.
        rate = config.threads * FAN_COUNT * length * flit / cycles * gbs
        yield context.row(
            FAN_OUT,
            rate,
            "GB/s",
            messages=FAN_COUNT * config.tiles,
            message_flits=length,
            copies=config.threads,
            **about,
        )


__all__ = ["GROUPS", "NAMES", "measure"]
