# SPDX-License-Identifier: Apache-2.0
"""How fast the `rtl` engine simulates a board of `quad` and a cluster of four, with the traffic of PageRank."""

from __future__ import annotations

import resource
import statistics
from collections.abc import Iterator
from pathlib import Path

from gossamer import config as configs
from gossamer import device
from gossamer.bench import Context, Row
from gossamer.config import Config
from gossamer.engines.rtl import Board, Run
from gossamer.errors import RunDied

from . import _run as programs

QUAD_KHZ, QUAD4_KHZ = "simspeed.quad-khz", "simspeed.quad4-khz"
NAMES = (QUAD_KHZ, QUAD4_KHZ)
GROUPS = ("test", "rtl")
CONFIG = "quad"
PROGRAM = Path(__file__).parent / "pagerank.c"
WORKERS = 2
REPEAT = 3
LEAST_CYCLES = 100_000
"""A shorter run says more about the start than about the speed."""
LEAST_KHZ = 150.0
CLUSTER, CLUSTER_STEPS, LEAST_CLUSTER_CYCLES, LEAST_CLUSTER_KHZ = "quad4", 12, 30_000, 45.0


def measure(context: Context) -> Iterator[Row]:
    """The median of a few runs, loading not counted."""
    if context.wants(QUAD_KHZ):
        yield _board(context)
    if context.wants(QUAD4_KHZ):
        yield _cluster(context)


def _board(context: Context) -> Row:
    config = configs.load(CONFIG)
    image = device.build(PROGRAM, config, ["STEPS=40"])
    runs = [run(config, image, WORKERS) for _ in range(context.repeat or REPEAT)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    alone = run(config, image, 1)
    processor = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if any(one.cycles != alone.cycles or one.counters != alone.counters for one in runs):
        raise RunDied(f"{PROGRAM.name} did not run alike on {WORKERS} threads of the host and on one")
    messages = alone.counters["sent"]
    return context.row(
        QUAD_KHZ,
        statistics.median(one.cycles / one.seconds / 1e3 for one in runs),
        "kHz",
        configuration=CONFIG,
        program=PROGRAM.name,
        threads=config.threads,
        workers=WORKERS,
        cycles=alone.cycles,
        messages_a_cycle=round(messages / alone.cycles, 4),
        instructions_a_cycle=round(alone.instructions / alone.cycles, 3),
        one_worker_khz=round(alone.cycles / alone.seconds / 1e3, 1),
        # Of the processor's time, loading included: what one worker would reach on a quiet machine.
        one_worker_processor_khz=round(alone.cycles / processor / 1e3, 1),
        least=LEAST_KHZ,
    )


def _cluster(context: Context) -> Row:
    cluster = configs.load_cluster(CLUSTER)
    defines = [f"STEPS={CLUSTER_STEPS}"]
    runs = [programs.run(cluster, PROGRAM, defines, workers=WORKERS).run for _ in range(context.repeat or REPEAT)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    alone = programs.run(cluster, PROGRAM, defines, workers=1).run
    processor = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if any(one.cycles != alone.cycles or one.counters != alone.counters for one in runs):
        raise RunDied(f"{PROGRAM.name} did not run alike on {WORKERS} threads of the host and on one")
    if alone.cycles < LEAST_CLUSTER_CYCLES:
        raise RunDied(f"{PROGRAM.name} takes {alone.cycles} cycles, too few to measure a speed")
    return context.row(
        QUAD4_KHZ,
        statistics.median(one.cycles / one.seconds / 1e3 for one in runs),
        "kHz",
        cluster=CLUSTER,
        configuration=cluster.boards[0].config.name,
        program=PROGRAM.name,
        threads=cluster.threads,
        workers=WORKERS,
        cycles=alone.cycles,
        messages_a_cycle=round(alone.counters["sent"] / alone.cycles, 4),
        instructions_a_cycle=round(alone.instructions / alone.cycles, 3),
        one_worker_khz=round(alone.cycles / alone.seconds / 1e3, 1),
        # Of the processor's time, loading included: what one worker would reach on a quiet machine.
        one_worker_processor_khz=round(alone.cycles / processor / 1e3, 1),
        least=LEAST_CLUSTER_KHZ,
    )


def run(config: Config, image: device.Image, workers: int) -> Run:
    """One run, to its end."""
    with Board(config, workers=workers) as board:
        board.load_image(image)
        done = board.run(board.threads)
    if done.reason != "done" or done.traps or any(done.codes.values()):
        raise RunDied(f"{PROGRAM.name} did not end well on {config.name}: {done.reason}")
    if done.cycles < LEAST_CYCLES:
        raise RunDied(f"{PROGRAM.name} takes {done.cycles} cycles, too few to measure a speed")
    return done


__all__ = ["NAMES", "measure"]
