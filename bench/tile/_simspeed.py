# SPDX-License-Identifier: Apache-2.0
"""How fast the `rtl` engine is: tiles of 64 threads, everything in them, all threads at work.

One tile as users run it, and 16 tiles on one thread of the host, instances of one model that are evaluated together.
These run the same program but start one after the other: tiles in step would spare the host its mispredictions.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from gossamer import config as configs
from gossamer import device
from gossamer.bench import Context, Row
from gossamer.engines import _rtl_many
from gossamer.engines.rtl import Tile
from gossamer.errors import RunDied
from gossamer.paths import ROOT

KHZ = "simspeed.tile-khz"
TILES_KHZ = "simspeed.tiles16-tile-khz"
NAMES = (KHZ, TILES_KHZ)
CONFIG = "quad"
PROGRAM = "programs/heat.c"
LEAST_CYCLES = 300_000
"""A shorter run says more about the start than about the speed."""
REPEAT = 3
TILES = 16
TILES_CYCLES = 200_000
STAGGER = 1357
"""Cycles between the starts of two tiles."""
BARE_CORES_KHZ = 1500.0
"""16 cores of a bare barrel design, without memory, FPU or mailbox, in the same simulator on such a machine."""


def measure(context: Context) -> Iterator[Row]:
    """The median of a few runs, loading not counted."""
    if context.wants(KHZ):
        yield _one(context)
    if context.wants(TILES_KHZ):
        yield _many(context)


def _one(context: Context) -> Row:
    config = configs.load(CONFIG)
    image = device.build(ROOT / PROGRAM, config)
    speeds: list[float] = []
    cycles = 0
    for _ in range(context.repeat or REPEAT):
        with Tile(config) as tile:
            tile.load_image(image)
            run = tile.run(tile.threads)
        if run.reason != "done" or run.traps or any(run.codes.values()):
            raise RunDied(f"{PROGRAM} did not end well on {CONFIG}: {run.reason}")
        cycles = run.cycles
        speeds.append(run.cycles / run.seconds / 1e3)
    if cycles < LEAST_CYCLES:
        raise RunDied(f"{PROGRAM} takes {cycles} cycles, too few to measure a speed")
    value = statistics.median(speeds)
    return context.row(
        KHZ,
        value,
        "kHz",
        reference={"what": "16 bare cores", "value": BARE_CORES_KHZ, "unit": "kHz"},
        ratio=value / BARE_CORES_KHZ,
        configuration=CONFIG,
        program=PROGRAM,
        threads=config.threads_per_tile,
        cycles=cycles,
        least=450.0,
    )


def _many(context: Context) -> Row:
    config = configs.load(CONFIG)
    image = device.build(ROOT / PROGRAM, config)
    runs = [
        _rtl_many.run(config, image, TILES, stagger=STAGGER, most=TILES_CYCLES) for _ in range(context.repeat or REPEAT)
    ]
    if any(run.cycles < TILES_CYCLES // 2 or run.tiles != runs[0].tiles for run in runs):
        raise RunDied(f"{PROGRAM} did not run alike, or long enough, on {TILES} tiles of {CONFIG}")
    in_step = _rtl_many.run(config, image, TILES, stagger=0, most=TILES_CYCLES)
    return context.row(
        TILES_KHZ,
        statistics.median(TILES * run.cycles / run.seconds / 1e3 for run in runs),
        "kHz",
        configuration=CONFIG,
        program=PROGRAM,
        tiles=TILES,
        cycles=runs[0].cycles,
        stagger=STAGGER,
        in_step_khz=TILES * in_step.cycles / in_step.seconds / 1e3,
        least=450.0,
    )


__all__ = ["NAMES", "measure"]
