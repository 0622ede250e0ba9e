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
from gossamer.engines import rtl
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


def one(configuration: str, program: str, repeat: int) -> tuple[list[float], int]:
    """Speeds of as many runs of a program on a tile, in kHz; cycles of a run."""
    config = configs.load(configuration)
    image = device.build(ROOT / program, config)
    speeds: list[float] = []
    cycles = 0
    for _ in range(repeat):
        with Tile(config) as tile:
            tile.load_image(image)
            run = tile.run(tile.threads)
        if run.reason != "done" or run.traps or any(run.codes.values()):
            raise RunDied(f"{program} did not end well on {configuration}: {run.reason}")
        cycles = run.cycles
        speeds.append(run.cycles / run.seconds / 1e3)
    return speeds, cycles


def many(configuration: str, program: str, repeat: int, tiles: int, most: int) -> tuple[list[float], int, float]:
    """Speeds of as many runs of a program on so many tiles, which start one after the other, in kHz times tiles; cycles
    of a run; the speed of tiles in step.
    """
    config = configs.load(configuration)
    image = device.build(ROOT / program, config)
    runs = [rtl.run_many_tiles(config, image, tiles, stagger=STAGGER, most=most) for _ in range(repeat)]
    if any(run.cycles < most // 2 or run.tiles != runs[0].tiles for run in runs):
        raise RunDied(f"{program} did not run alike, or long enough, on {tiles} tiles of {configuration}")
    in_step = rtl.run_many_tiles(config, image, tiles, stagger=0, most=most)
    speeds = [tiles * run.cycles / run.seconds / 1e3 for run in runs]
    return speeds, runs[0].cycles, tiles * in_step.cycles / in_step.seconds / 1e3


def _one(context: Context) -> Row:
    speeds, cycles = one(CONFIG, PROGRAM, context.repeat or REPEAT)
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
        threads=configs.load(CONFIG).threads_per_tile,
        cycles=cycles,
        least=450.0,
    )


def _many(context: Context) -> Row:
    speeds, cycles, in_step = many(CONFIG, PROGRAM, context.repeat or REPEAT, TILES, TILES_CYCLES)
    return context.row(
        TILES_KHZ,
        statistics.median(speeds),
        "kHz",
        configuration=CONFIG,
        program=PROGRAM,
        tiles=TILES,
        cycles=cycles,
        stagger=STAGGER,
        in_step_khz=in_step,
        least=450.0,
    )


__all__ = ["NAMES", "many", "measure", "one"]
