# SPDX-License-Identifier: Apache-2.0
"""The Tinsel paper's studies on simulated boards: its table of counters, strong scaling, steps against no steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gossamer import config as configs
from gossamer.bench import Context, Row
from gossamer.bench.runs import FLIT_BYTES, Measured, run
from gossamer.engines.rtl_cluster import Plan
from gossamer.graph import read_graph
from gossamer.paths import BUILD

from . import _studies_page

CLUSTERS = {2: "quad2", 4: "quad4"}
SCALED: dict[str, dict[str, Any]] = {
    "pagerank": {"iterations": 4},
    "sssp-sync": {"source": 0},
    "mssp": {"sources": 8},
    "hashmin-sync": {},
}
"""The paper's four applications, and what they are given."""
SCALING = {f"scaling.{app}.b{boards}": (app, boards) for app in SCALED for boards in CLUSTERS}
GRAPH = "gen:geometric:vertices=12000,fanout=20,radius=0.035,weights=1:100,seed=1"
COUNTERS = {"counters.sync": "pagerank", "counters.gals": "pagerank-gals"}
COUNTED_GRAPH = "gen:geometric:vertices=12000,fanout=10,radius=0.035,seed=1"
FEW, MANY = 2, 6
"""Iterations of two runs, whose difference knows no start and no end."""
PAPER: dict[str, dict[str, float]] = {
    "counters.sync": {
        "hit_rate": 0.915, "memory_gbs": 125.8, "processors": 0.564, "mesh_gbs": 32.2, "links_gbs": 7.3,
    },
    "counters.gals": {
        "hit_rate": 0.939, "memory_gbs": 127.7, "processors": 0.713, "mesh_gbs": 27.2, "links_gbs": 6.1,
    },
}  # fmt: skip
"""Fig. 12 of the Tinsel paper: twelve boards of DE5-Net, 2 M vertices and 200 M edges."""
GALS: dict[str, tuple[str, dict[str, Any]]] = {
    "heat": ("gen:grid:width=64,height=64", {"steps": 12}),
    "izhikevich": ("gen:geometric:vertices=2048,fanout=25,radius=0.1,seed=1", {"steps": 20}),
    "dpd": ("gen:cube:width=8,height=8,depth=8,neighbours=26,around=yes", {"steps": 3, "density": 1.2}),
}
AGAINST = {f"gals.{app}": app for app in (*GALS, "pagerank")}
NAMES = (*COUNTERS, *SCALING, *AGAINST)
PAGE = BUILD / "bench" / "polite.html"
"""Where the figures are drawn."""


def rows(context: Context) -> Iterator[Row]:
    """Those asked for. Raises RunDied where results are not those of the engine ``cpu``."""
    shown: list[Row] = []
    found: dict[str, Measured] = {}
    for name, app in COUNTERS.items():
        if context.wants(name) or context.wants("gals.pagerank"):
            found[name] = _steps(app)
        if context.wants(name):
            shown.append(_counters(context, name, app, found[name]))
            yield shown[-1]
    for row in _scaling(context):
        shown.append(row)
        yield row
    for name, app in AGAINST.items():
        if not context.wants(name):
            continue
        if app == "pagerank":
            with_steps, without = (found[one].cycles for one in COUNTERS)
            graph = COUNTED_GRAPH
        else:
            graph, how = GALS[app]
            given = read_graph(graph)
            with_steps, without = (
                run(one, given, _cluster(4), **({"multicast": "local"} | how)).cycles for one in (app, f"{app}-gals")
            )
        shown.append(
            context.row(
                name, with_steps / without, "times as fast", app=f"{app}-gals", graph=graph, cluster=CLUSTERS[4],
                cycles={app: with_steps, f"{app}-gals": without},
            )
        )  # fmt: skip
        yield shown[-1]
    if shown:
        _studies_page.draw(PAGE, shown, PAPER)


def _cluster(boards: int) -> Plan | configs.Config:
    return configs.load("quad") if boards == 1 else Plan(configs.load_cluster(CLUSTERS[boards]))


def _steps(app: str) -> Measured:
    """What the later iterations took. Edges go both ways, as the one without barriers needs them."""
    graph = read_graph(COUNTED_GRAPH).symmetrised()
    few, many = (run(app, graph, _cluster(4), iterations=count, multicast="full") for count in (FEW, MANY))
    return many - few


def _counters(context: Context, name: str, app: str, of: Measured) -> Row:
    config = configs.load("quad")
    boards = 4
    cores = boards * config.threads // config.core.threads_per_core
    seconds = of.counted / config.clock_hz
    rates: dict[str, Any] = {
        "hit_rate": of.hits / (of.hits + of.misses),
        "memory_gbs": (of.misses + of.writebacks) * config.cache.line_bytes / seconds / 1e9,
        "processors": of.instructions / (of.counted * cores),
        "mesh_gbs": of.mesh_flits * FLIT_BYTES / seconds / 1e9,
        "links_gbs": of.link_bytes / seconds / 1e9,
    }
    return context.row(
        name, of.cycles / (MANY - FEW), "cycles/iteration", app=app, graph=COUNTED_GRAPH, cluster=CLUSTERS[4],
        boards=boards, clock_mhz=config.clock_hz / 1e6, **rates, paper=PAPER[name],
    )  # fmt: skip


def _scaling(context: Context) -> Iterator[Row]:
    for app, how in SCALED.items():
        wanted = [boards for boards in CLUSTERS if context.wants(f"scaling.{app}.b{boards}")]
        if not wanted:
            continue
        graph = read_graph(GRAPH)
        cycles = {boards: run(app, graph, _cluster(boards), **how).cycles for boards in (1, *wanted)}
        for boards in wanted:
            yield context.row(
                f"scaling.{app}.b{boards}", cycles[1] / cycles[boards], "times as fast",
                reference={"what": "boards", "value": boards, "unit": "times"},
                ratio=cycles[1] / cycles[boards] / boards, app=app, graph=GRAPH, cluster=CLUSTERS[boards],
                cycles={"1": cycles[1], str(boards): cycles[boards]},
            )  # fmt: skip


__all__ = ["NAMES", "rows"]
