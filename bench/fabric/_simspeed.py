# SPDX-License-Identifier: Apache-2.0
"""How fast the `rtl` engine simulates a board of `quad` and a cluster of four, with the traffic of PageRank."""

from __future__ import annotations

import resource
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gossamer import config as configs
from gossamer.bench import Context, Row
from gossamer.config import Cluster, Config
from gossamer.errors import RunDied

from . import _run as programs

QUAD_KHZ, QUAD4_KHZ = "simspeed.quad-khz", "simspeed.quad4-khz"
NAMES = (QUAD_KHZ, QUAD4_KHZ)
GROUPS = ("test", "rtl")
PROGRAM = Path(__file__).parent / "pagerank.c"
WORKERS = 2
REPEAT = 3
BOARD, BOARD_STEPS, LEAST_CYCLES, LEAST_KHZ = "quad", 40, 100_000, 150.0
"""The configuration, steps of the program, cycles below which a run says more about the start than about the speed."""
CLUSTER, CLUSTER_STEPS, LEAST_CLUSTER_CYCLES, LEAST_CLUSTER_KHZ = "quad4", 12, 30_000, 45.0


def measure(context: Context) -> Iterator[Row]:
    """The median of a few runs, loading not counted."""
    if context.wants(QUAD_KHZ):
        where = configs.load(BOARD)
        yield _row(context, QUAD_KHZ, where, BOARD_STEPS, LEAST_CYCLES, least=LEAST_KHZ, configuration=BOARD)
    if context.wants(QUAD4_KHZ):
        cluster = configs.load_cluster(CLUSTER)
        yield _row(
            context,
            QUAD4_KHZ,
            cluster,
            CLUSTER_STEPS,
            LEAST_CLUSTER_CYCLES,
            least=LEAST_CLUSTER_KHZ,
            cluster=CLUSTER,
            configuration=cluster.boards[0].config.name,
        )


def _row(context: Context, name: str, where: Config | Cluster, steps: int, least_cycles: int, **about: Any) -> Row:
    """The row of a board or a cluster, which all workers together and one alone must run alike."""
    defines = [f"STEPS={steps}"]
    runs = [programs.run(where, PROGRAM, defines, workers=WORKERS).run for _ in range(context.repeat or REPEAT)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    alone = programs.run(where, PROGRAM, defines, workers=1).run
    processor = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if any(one.cycles != alone.cycles or one.counters != alone.counters for one in runs):
        raise RunDied(f"{PROGRAM.name} did not run alike on {WORKERS} threads of the host and on one")
    if alone.cycles < least_cycles:
        raise RunDied(f"{PROGRAM.name} takes {alone.cycles} cycles, too few to measure a speed")
    return context.row(
        name,
        statistics.median(one.cycles / one.seconds / 1e3 for one in runs),
        "kHz",
        program=PROGRAM.name,
        threads=where.threads,
        workers=WORKERS,
        cycles=alone.cycles,
        messages_a_cycle=round(alone.counters["sent"] / alone.cycles, 4),
        instructions_a_cycle=round(alone.instructions / alone.cycles, 3),
        one_worker_khz=round(alone.cycles / alone.seconds / 1e3, 1),
        # Of the processor's time, loading included: what one worker would reach on a quiet machine.
        one_worker_processor_khz=round(alone.cycles / processor / 1e3, 1),
        **about,
    )


__all__ = ["NAMES", "measure"]
