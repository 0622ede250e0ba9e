# SPDX-License-Identifier: Apache-2.0
"""PageRank on the cluster of FPL 2019, at the size of its case study: predicted time and counters (its Figure 12)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gossamer import config as configs
from gossamer.apps import runner
from gossamer.bench import Context, Row
from gossamer.bench.memory import peak_bytes
from gossamer.bench.rows import Reference
from gossamer.engines.model import Model
from gossamer.engines.rtl_cluster import Plan
from gossamer.graph import read_graph

CLUSTER = "duo12"
GRAPH = "gen:geo:vertices=2000000,fanout=100,radius=0.0063,seed=1"
"""The paper does not name its radius: here 250 vertices are within it."""
ITERATIONS = 5
_GOAL_SECONDS = 0.33
_PREFIX = "pagerank.de5x12"
_APPS = {"pagerank": "", "pagerank-gals": "-gals"}
_PAPER = {
    "pagerank": {"s": 0.49, "hit-rate": 91.5, "memory": 125.8, "cpu": 56.4, "noc": 32.2, "links": 7.3},
    "pagerank-gals": {"s": 0.59, "hit-rate": 93.9, "memory": 127.7, "cpu": 71.3, "noc": 27.2, "links": 6.1},
}
_UNITS = {"hit-rate": "%", "memory": "GB/s", "cpu": "%", "noc": "GB/s", "links": "GB/s"}


def _names(app: str) -> list[str]:
    return [f"{_PREFIX}{_APPS[app]}-s", *(f"{_PREFIX}{_APPS[app]}.{name}" for name in _UNITS)]


NAMES = tuple(name for app in _APPS for name in _names(app))


def rows(context: Context, size: str, most_gb: float) -> Iterator[Row]:
    """The rows of both applications, and the memory of the first one's run as the row ``size``."""
    for app in _APPS:
        wanted = [name for name in (*_names(app), *([size] if app == "pagerank" else [])) if context.wants(name)]
        if wanted and not context.full:
            for name in wanted:
                yield context.skip(name, "2 M vertices and 200 M edges take long; --full runs them")
        elif wanted:
            yield from _measured(context, app, size, most_gb, wanted)


def _measured(context: Context, app: str, size: str, most_gb: float, wanted: list[str]) -> Iterator[Row]:
    engine = Model(plan=Plan(configs.load_cluster(CLUSTER)), mapping="direct")
    result = runner.run(app, read_graph(GRAPH), engine=engine, iterations=ITERATIONS)
    about: dict[str, Any] = {"app": app, "graph": GRAPH, "cluster": CLUSTER, "mapping": "direct"}
    found, paper = figures(engine, result.stats), _PAPER[app]
    for name, row in zip(["s", *_UNITS], _names(app), strict=True):
        if row not in wanted:
            continue
        value = found[name]
        if name == "s":
            reference: Reference = {"what": "goal", "value": _GOAL_SECONDS, "unit": "s"}
            more = {"paper_s": paper[name], "simulated_s": result.stats["simulation_seconds"]}
            yield context.row(row, value, "s", reference=reference, ratio=_GOAL_SECONDS / value, **about, **more)
        else:
            reference = {"what": "paper", "value": paper[name], "unit": _UNITS[name]}
            yield context.row(row, value, _UNITS[name], reference=reference, **about)
    if size in wanted:
        gigabytes = peak_bytes("self") / 1e9
        yield context.row(
            size,
            gigabytes,
            "GB",
            reference={"what": "at most", "value": most_gb, "unit": "GB"},
            ratio=most_gb / gigabytes,
            simulated_s=result.stats["simulation_seconds"],
            **about,
        )


def figures(engine: Model, stats: dict[str, Any]) -> dict[str, float]:
    """The counters of a run in the units of the paper's Figure 12.

    A transfer between caches and memories is a line that is read or written back. Messages on the network are those
    that leave a tile; between boards a message counts once for each link that it crosses.
    """
    machine, run = engine.machine, engine.done
    assert run is not None
    config = machine.config
    seconds, counters = stats["seconds"], stats["counters"]
    lines = counters["misses"] + counters["writebacks"]
    cores = machine.threads // config.core.threads_per_core
    crossed = sum(one["message_flits"] for one in run.links.values())
    return {
        "s": seconds,
        "hit-rate": 100 * counters["hits"] / (counters["hits"] + counters["misses"]),
        "memory": lines * config.cache.line_bytes / seconds / 1e9,
        "cpu": 100 * counters["instructions"] / (cores * counters["cycles"]),
        "noc": counters["flits_out"] * config.mailbox.flit_bytes / seconds / 1e9,
        "links": crossed * config.mailbox.flit_bytes / seconds / 1e9,
    }


__all__ = ["CLUSTER", "GRAPH", "ITERATIONS", "NAMES", "figures", "rows"]
