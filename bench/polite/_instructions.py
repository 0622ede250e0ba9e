# SPDX-License-Identifier: Apache-2.0
"""Rows of instructions: what an edge, a send and a step take of the softswitch with PageRank's handlers.

Counts are those of the simulated cores. Each is the difference of two runs that differ in one thing only: steps in
which nobody sends, or one more edge for each vertex, placed where the mapping ``direct`` makes it a new message, a new
receiver of the same message, or nothing but an edge.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gossamer.apps import runner
from gossamer.bench import Context, Reference, Row
from gossamer.engines.rtl_vertices import Hardware
from gossamer.graph import Graph, read_graph

EDGE, SEND, STEP = (f"softswitch.instr-per-{what}" for what in ("edge", "send", "step"))
NAMES = (EDGE, SEND, STEP)
LIMITS = {EDGE: 14, SEND: 40, STEP: 30}
GRAPH = "gen:geometric:vertices=2000,fanout=20,radius=0.085,seed=1"
"""As many vertices a thread of ``tiny`` as the geometric graph of 16,000 has on ``quad``."""
_APP = str(Path(__file__).parent / "quiet_pagerank.h")
_LOCAL = 16
"""Vertices of a thread in the small graphs."""
_STEPS = 5


def rows(context: Context) -> Iterator[Row]:
    """Those asked for."""
    wanted = [name for name in NAMES if context.wants(name)]
    if EDGE in wanted:
        graph = read_graph(GRAPH)
        few, many = _counts(graph, 1), _counts(graph, 1 + _STEPS)
        yield _row(context, EDGE, (many - few) / (_STEPS * graph.edges), graph=GRAPH, counted="all of a step")
    if SEND not in wanted and STEP not in wanted:
        return
    config = Hardware(config="tiny").machine
    vertices = _LOCAL * config.threads
    number = np.arange(vertices)
    other = (number + _LOCAL * config.tile_threads) % vertices  # the same place in the other tile
    beside = other ^ 1  # in the same thread
    next_thread = other ^ _LOCAL
    graphs = {
        "none": [],
        "one": [other],
        "edge": [other, beside],
        "receiver": [other, next_thread],
    }
    step = _per_vertex(vertices, [], quiet=True)
    a_step = {name: _per_vertex(vertices, targets) for name, targets in graphs.items()}
    edge = a_step["edge"] - a_step["one"]
    received = a_step["receiver"] - a_step["one"] - edge
    entry = a_step["one"] - a_step["none"] - received - edge
    if SEND in wanted:
        shown = {"edge": edge, "message_received": received, "message_sent": entry}
        yield _row(context, SEND, a_step["none"] - step + entry, counted="a call of send with one message", **shown)
    if STEP in wanted:
        yield _row(context, STEP, step, counted="a call of step")


def _row(context: Context, name: str, value: float, **config: Any) -> Row:
    limit = LIMITS[name]
    goal: Reference = {"what": "goal", "value": limit, "unit": "instructions"}
    return context.row(name, value, "instructions", reference=goal, ratio=limit / value, app="pagerank", **config)


def _per_vertex(vertices: int, targets: list[Any], *, quiet: bool = False) -> float:
    """Instructions of a vertex in a step, with one edge to each of these; or in one in which nobody sends."""
    ends = np.stack(targets, axis=1).ravel() if targets else np.empty(0, np.int64)
    graph = Graph.from_csr(np.arange(vertices + 1) * len(targets), ends.astype(np.uint32), name="made")
    steps = (1, 1) if quiet else (1, 1 + _STEPS)
    few, many = (_counts(graph, count, quiet=silent) for count, silent in zip(steps, (0, quiet * _STEPS), strict=True))
    return (many - few) / (_STEPS * vertices)


def _counts(graph: Graph, iterations: int, quiet: int = 0) -> int:
    """Instructions of a whole run."""
    hardware = Hardware(config="tiny", mapping="metis" if graph.name != "made" else "direct")
    given: dict[str, Any] = {"iterations": iterations, "quiet": quiet, "raw": True}  # without dangling mass
    return int(runner.run(_APP, graph, engine=hardware, **given).stats["instructions"])


__all__ = ["NAMES", "rows"]
