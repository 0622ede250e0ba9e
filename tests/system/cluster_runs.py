# SPDX-License-Identifier: Apache-2.0
"""Runs a program on a simulated cluster and keeps its output and counters, for tests of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gossamer import config as configs
from gossamer import device
from gossamer.engines.rtl import Run
from gossamer.engines.rtl_cluster import Cluster, Plan


class Outcome:
    """A run and its output."""

    def __init__(self, run: Run, lines: list[tuple[int, str]], memory: list[int]) -> None:
        self.run, self.lines, self.memory = run, lines, memory

    def same(self, other: Outcome) -> None:
        """Compares everything except the wall-clock time."""
        names = ("reason", "cycles", "instructions", "counters", "tiles", "codes", "traps", "unfinished", "messages")
        for name in (*names, "links", "boards", "events"):
            assert getattr(self.run, name) == getattr(other.run, name), name
        assert self.lines == other.lines and self.memory == other.memory


def go(
    program: Path,
    cluster: str | Path = "pair",
    threads: int = 0,
    defines: Sequence[str] = (),
    max_cycles: int = 5_000_000,
    **how: Any,
) -> Outcome:
    """Runs a program on all threads of a cluster, or on ``threads`` of them; ``how`` is passed to ``Cluster``."""
    lines: list[tuple[int, str]] = []
    plan = Plan(configs.load_cluster(cluster))
    image = device.build(program, plan.config, list(defines), boards=plan.shape)
    with Cluster(plan, **how) as simulated:
        simulated.load_image(image)
        run = simulated.run(
            threads or simulated.threads,
            max_cycles=max_cycles,
            on_line=lambda thread, line, _: lines.append((thread, line)),
        )
        memory = []
        if run.reason == "done":
            memory = [int(word) for word in simulated.read(0x4000_0000, 64, board=plan.boards - 1)]
    return Outcome(run, lines, memory)
