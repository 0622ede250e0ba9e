# SPDX-License-Identifier: Apache-2.0
"""Our applications beside themselves at more threads: the time at two, and the work at many."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from typing import Any

from gossamer.bench import Context, Row

from ._plan import LEAST_SCALING, MANY, MOST_WORK, SCALED, SCALING_GRAPHS, scaling_name, work_name

Looks = dict[str, dict[str, dict[str, dict[str, int]]]]
"""By application, graph and number of threads: how often vertices and edges were looked at."""


def wanted(context: Context, graph: str) -> dict[str, list[str]]:
    """The applications to time and to count on a graph, by kind."""
    apps = SCALED if graph in SCALING_GRAPHS else ()
    return {
        "scaling": [app for app in apps if context.wants(scaling_name(app, graph))],
        "work": [app for app in apps if context.wants(work_name(app))],
    }


def row(context: Context, told: Mapping[str, Any], scale: float) -> Row:
    """Time at one thread over time at two."""
    times = told["times"]
    one, two = (statistics.median(times[threads]) for threads in ("1", "2"))
    return context.row(
        told["name"],
        one / two,
        "x",
        reference={"what": "at least", "value": LEAST_SCALING, "unit": "x"},
        ratio=one / two / LEAST_SCALING,
        # A shrunken graph tests the suite and measures nothing.
        least_ratio=1.0 if scale == 1 else 0.0,
        **told["config"],
        seconds_of_runs={threads: [round(second, 6) for second in seconds] for threads, seconds in times.items()},
        **({} if scale == 1 else {"scale": scale}),
    )


def work(context: Context, looks: Looks, scale: float) -> Iterator[Row]:
    """What many threads look at over what one does: the worst graph counts."""
    for app in SCALED:
        if not context.wants(work_name(app)):
            continue
        ratios = {}
        for graph, counted in looks[app].items():
            one, many = (sum(counted[str(threads)].values()) for threads in (1, MANY))
            ratios[graph] = many / one
        value = max(ratios.values())
        yield context.row(
            work_name(app),
            value,
            "x",
            reference={"what": "at most", "value": MOST_WORK, "unit": "x"},
            ratio=MOST_WORK / value,
            least_ratio=1.0,
            by_graph=ratios,
            looks=looks[app],
            measured="vertices (or words of 64) and edges looked at by all threads, as the engine counts",
            **({} if scale == 1 else {"scale": scale}),
        )


__all__ = ["Looks", "row", "wanted", "work"]
