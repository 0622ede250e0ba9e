# SPDX-License-Identifier: Apache-2.0
"""How fast the `rtl` engine is: one tile of 64 threads, everything in it, all of them at work."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from gossamer import config as configs
from gossamer import device
from gossamer.bench import Context, Row
from gossamer.engines.rtl import Tile
from gossamer.errors import RunDied
from gossamer.paths import ROOT

KHZ = "simspeed.tile-khz"
NAMES = (KHZ,)
CONFIG = "quad"
PROGRAM = "programs/heat.c"
LEAST_CYCLES = 300_000
"""A shorter run says more about the start than about the speed."""
REPEAT = 3
BARE_CORES_KHZ = 1500.0
"""16 cores of a bare barrel design, without memory, FPU or mailbox, in the same simulator on such a machine."""


def measure(context: Context) -> Iterator[Row]:
    """The median of a few runs, loading not counted."""
    if not context.wants(KHZ):
        return
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
    yield context.row(
        KHZ,
        value,
        "kHz",
        reference={"what": "16 bare cores", "value": BARE_CORES_KHZ, "unit": "kHz"},
        ratio=value / BARE_CORES_KHZ,
        configuration=CONFIG,
        program=PROGRAM,
        threads=config.threads_per_tile,
        cycles=cycles,
        least=1000.0,
    )


__all__ = ["NAMES", "measure"]
