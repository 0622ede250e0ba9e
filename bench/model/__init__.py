# SPDX-License-Identifier: Apache-2.0
"""The suite ``model``: predictions of the timing model compared with the simulated hardware (docs/model.md)."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import gossamer_setup
from gossamer import progress
from gossamer.apps import runner
from gossamer.bench import Context, Row
from gossamer.engines.model import Model
from gossamer.graph import read_graph

from . import _cluster, _fast
from ._points import COUNTERS, POINTS, SCALE8, Compared, compare

MEDIAN, WORST, LARGE, BLOCKS = "model.error.median", "model.error.worst", "model.error.scale8", "model.counters"
SPEED, SIZE = "model.edges-per-s", "model.gb"
FAST, CYCLES = "fast-tile.mhz", "fast-tile.cycle-error"
NAMES = (MEDIAN, WORST, LARGE, BLOCKS, SPEED, SIZE, FAST, CYCLES, *_fast.OTHERS)
_MOST = {MEDIAN: 0.08, WORST: 0.20, LARGE: 0.15, BLOCKS: 0.05, CYCLES: 0.10} | dict.fromkeys(_fast.OTHERS, 0.10)
_LEAST_EDGES, _MOST_GB = 40.0, 12.0
FAST_GRAPH = "gen:geometric:vertices=60000,fanout=60,radius=0.02,seed=1"
LATENCY = Path(__file__).parent / "latency.c"
"""The program that measures the constants of config/model/timing.toml."""


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for. Raises RunDied where results are not those of ``rtl``."""
    gossamer_setup.require("rtl")
    points = [
        point
        for point in POINTS
        if (point.place == SCALE8 and context.wants(LARGE))
        or (point.place != SCALE8 and any(context.wants(name) for name in (MEDIAN, WORST, BLOCKS)))
    ]
    done: list[Compared] = []
    with progress.steps("runs on rtl and model", len(points)) as bar:
        for point in points:
            done.append(compare(point))
            bar.update(1)
    yield from figures(context, done)
    if context.wants(SPEED):
        yield _speed(context)
    if any(context.wants(name) for name in (FAST, CYCLES, *_fast.OTHERS)):
        yield from _fast.rows(context, _row)
    yield from _cluster.rows(context, SIZE, _MOST_GB)


def figures(context: Context, done: Sequence[Compared]) -> Iterator[Row]:
    """The rows of errors from points that were run."""
    records = [one.as_record() for one in done]
    unseen = [one for one in done if not one.point.fitted and one.point.place != SCALE8]
    large = [one for one in done if one.point.place == SCALE8]
    errors = [abs(one.error) for one in unseen]
    each = {str(one.point): one.error for one in done}
    if unseen and context.wants(MEDIAN):
        value = statistics.median(errors)
        yield _row(context, MEDIAN, value, points=len(unseen), errors=each, records=records)
    if unseen and context.wants(WORST):
        worst = max(unseen, key=lambda one: abs(one.error))
        yield _row(context, WORST, abs(worst.error), points=len(unseen), worst=str(worst.point))
    if large and context.wants(LARGE):
        yield _row(
            context, LARGE, max(abs(one.error) for one in large), points=len(large), errors=each, records=records
        )
    if unseen and context.wants(BLOCKS):
        found: dict[str, float] = {}
        for name in COUNTERS:
            values = [abs(one.counters()[name]) for one in unseen if name in one.counters()]
            if values:
                found[name] = statistics.median(values)
        yield _row(context, BLOCKS, max(found.values()), medians=found)


def _row(context: Context, name: str, value: float, **config: Any) -> Row:
    most = _MOST[name]
    return context.row(
        name,
        value,
        "",
        reference={"what": "at most", "value": most, "unit": ""},
        ratio=most / value if value else None,
        **config,
    )


def _speed(context: Context) -> Row:
    engine = Model(config="de5", mapping="bfs")
    result = runner.run("pagerank", read_graph(FAST_GRAPH), engine=engine, iterations=3)
    rate = result.stats["deliveries"] / result.stats["simulation_seconds"] / 1e6
    return context.row(
        SPEED,
        rate,
        "M/s",
        reference={"what": "goal", "value": _LEAST_EDGES, "unit": "M/s"},
        ratio=rate / _LEAST_EDGES,
        app="pagerank",
        graph=FAST_GRAPH,
        configuration="de5",
        deliveries=result.stats["deliveries"],
        took_s=result.stats["simulation_seconds"],
    )
