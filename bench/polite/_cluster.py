# SPDX-License-Identifier: Apache-2.0
"""Rows of clusters: the same graph on four boards and on one; what of a step is idle detection.

Cycles of steps are differences of two runs, which know no start and no end.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gossamer import config as configs
from gossamer.apps import runner
from gossamer.bench import Context, Row
from gossamer.engines.rtl_cluster import Plan
from gossamer.engines.rtl_vertices import Hardware
from gossamer.errors import RunDied
from gossamer.graph import Graph, read_graph

SCALING, OVERHEAD = "polite.scaling.4", "polite.sync-overhead"
NAMES = (SCALING, OVERHEAD)
CLUSTER = "quad4"
GRAPH = "gen:geometric:vertices=100000,fanout=20,radius=0.012,seed=1"
GRID = "gen:grid:width=64,height=64"
"""Four vertices for each of the 1,024 threads of the cluster."""
LEAST, MOST = 3.2, 0.15
_QUIET = str(Path(__file__).parent / "quiet.h")


def rows(context: Context, *, cluster: str = CLUSTER, graph: str = GRAPH, grid: str = GRID) -> Iterator[Row]:
    """Those asked for. Raises RunDied where results are not those of the engine ``cpu``."""
    plan = Plan(configs.load_cluster(cluster))
    if context.wants(SCALING):
        yield _scaling(context, plan, graph)
    if context.wants(OVERHEAD):
        yield _overhead(context, plan, grid)


def _scaling(context: Context, plan: Plan, text: str) -> Row:
    graph = read_graph(text)
    one = _step("pagerank", graph, "iterations", (1, 2), config=plan.config)
    all_of_them = _step("pagerank", graph, "iterations", (1, 2), plan=plan)
    faster = one / all_of_them
    return context.row(
        SCALING,
        faster,
        "times as fast",
        reference={"what": "goal", "value": LEAST, "unit": "times as fast"},
        ratio=faster / LEAST,
        app="pagerank",
        graph=text,
        cluster=plan.cluster.name,
        configuration=plan.config.name,
        boards=plan.boards,
        cycles_a_step={"1": one, str(plan.boards): all_of_them},
    )


def _overhead(context: Context, plan: Plan, text: str) -> Row:
    step = _step("heat", read_graph(text), "steps", (4, 12), plan=plan)
    # A step of one vertex, which does not send: a barrier and nothing else.
    alone = Graph.from_csr(np.zeros(2, np.int64), np.empty(0, np.uint32), name="alone")
    few, many = (_run(_QUIET, alone, plan=plan, steps=steps) for steps in (1, 33))
    barrier = (many - few) / 32
    return context.row(
        OVERHEAD,
        barrier / step,
        "of a step",
        reference={"what": "at most", "value": MOST, "unit": "of a step"},
        ratio=MOST * step / barrier,
        app="heat",
        graph=text,
        cluster=plan.cluster.name,
        cycles_a_step=step,
        cycles_a_barrier=barrier,
    )


def _step(app: str, graph: Graph, name: str, steps: tuple[int, int], **where: Any) -> float:
    """Cycles of a step: of two runs with so many, by the steps that one has more."""
    few, many = (_run(app, graph, **{**where, name: count}) for count in steps)
    return (many - few) / (steps[1] - steps[0])


def _run(app: str, graph: Graph, plan: Plan | None = None, config: Any = None, **parameters: Any) -> int:
    """Cycles of a run."""
    hardware = Hardware(plan=plan) if plan is not None else Hardware(config=config)
    got = runner.run(app, graph, engine=hardware, **parameters)
    wrong = runner.difference(runner.run(app, graph, **parameters), got)
    if wrong is not None:
        raise RunDied(f"{app}: {wrong.second:g} at vertex {wrong.vertex} instead of {wrong.first:g}")
    return int(got.stats["cycles"])


__all__ = ["NAMES", "rows"]
