# SPDX-License-Identifier: Apache-2.0
"""Runs on ``rtl`` that the timing model is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gossamer import config as configs
from gossamer.apps import runner
from gossamer.apps.results import Result
from gossamer.engines.model import Model
from gossamer.engines.rtl_cluster import Plan
from gossamer.engines.rtl_vertices import Hardware
from gossamer.errors import RunDied
from gossamer.graph import read_graph

GEO = "gen:geometric:vertices=600,fanout=12,radius=0.1,seed=1"
GEO2 = "gen:geometric:vertices=1500,fanout=8,radius=0.06,seed=5"
RMAT = "gen:rmat:scale=9,edge_factor=8,seed=3"
GEO3 = "gen:geometric:vertices=256,fanout=5,radius=1.5,seed=1"
"""Without locality: receivers are in different tiles."""
GEO4 = "gen:geometric:vertices=20000,fanout=20,radius=0.03,seed=7"
GEO5 = "gen:geometric:vertices=60000,fanout=40,radius=0.05,seed=9"
"""59 vertices a thread of de5: bound by the memory."""
GEO6 = "gen:geometric:vertices=60000,fanout=4,radius=0.015,seed=9"
"""States without barriers do not fit into the caches, and few edges use them."""
GRID = "gen:grid:width=36,height=24"
GRID3 = "gen:cube:width=6,height=6,depth=6,neighbours=26,around=yes"
COUNTERS = ("instructions", "hits", "misses", "writebacks", "sent", "received", "flits_out", "flits_in", "fpu")
"""Counters that are compared."""
SCALE8 = "octet"


@dataclass(frozen=True)
class Point:
    """An application on a graph and a machine."""

    app: str
    graph: str
    place: str
    """A configuration or a cluster."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    multicast: str = "local"
    fitted: bool = False
    """Whether parameters of the model were fitted with it."""

    def run(self, engine: type[Hardware], **settings: Any) -> tuple[Result, Hardware]:
        """The result, and the engine with its counters."""
        if self.place in configs.names():
            where: dict[str, Any] = {"config": self.place}
        else:
            where = {"plan": Plan(configs.load_cluster(self.place))}
        its = engine(multicast=self.multicast, **where, **settings)
        return runner.run(self.app, read_graph(self.graph), engine=its, **self.parameters), its

    def __str__(self) -> str:
        return f"{self.app} of {self.graph} on {self.place}, {self.multicast}"


PAGERANK = {"iterations": 3}
HUB = {"source": "497"}
"""The vertex of RMAT with most edges; the first vertex has none."""
POINTS = (
    # Fits: one and two boards.
    Point("pagerank", GEO, "tiny", {"iterations": 1}, fitted=True),
    Point("pagerank", GEO, "tiny", {"iterations": 4}, fitted=True),
    Point("pagerank", GEO, "tiny", {"iterations": 4}, "none", fitted=True),
    Point("hashmin-sync", GRID, "tiny", fitted=True),
    Point("pagerank", GEO, "pair", {"iterations": 4}, fitted=True),
    Point("pagerank", GEO, "pair", {"iterations": 4}, "none", fitted=True),
    Point("hashmin", GRID, "tiny", fitted=True),
    Point("hashmin", GRID, "pair", fitted=True),
    # Four applications, two graphs, two machines that no fit has seen.
    *(
        Point(app, graph, place, HUB if app == "sssp-sync" and graph == RMAT else parameters)
        for app, parameters in (("pagerank", PAGERANK), ("hashmin-sync", {}), ("sssp-sync", {}), ("asp", {}))
        for graph in (RMAT, GEO2)
        for place in ("tiny", "pair")
    ),
    # Without barriers between messages: what is sent depends on the times.
    *(
        Point(app, graph, place, HUB if app in ("sssp", "bfs") and graph == RMAT else {})
        for app in ("hashmin", "sssp", "kcore", "bfs")
        for graph in (RMAT, GEO2)
        for place in ("tiny", "pair")
    ),
    # Eight boards: a scale that no fit has seen.
    *(
        Point(app, graph, SCALE8, HUB if app == "sssp-sync" and graph == RMAT else parameters)
        for app, parameters in (("pagerank", PAGERANK), ("sssp-sync", {}))
        for graph in (RMAT, GEO2)
    ),
    # Larger boards, whose caches, cores and meshes differ from those of the fits: the second one is the papers'.
    *(
        Point(app, graph, place, HUB if app == "sssp-sync" and graph == RMAT else parameters)
        for place in ("quad", "de5")
        for app, parameters in (("pagerank", PAGERANK), ("hashmin-sync", {}), ("sssp-sync", {}), ("asp", {}))
        for graph in (RMAT, GEO2)
    ),
    *(Point("pagerank", graph, "de5", {"iterations": 1}) for graph in (GEO4, GEO5)),
    # Messages of three flits, without barriers.
    *(Point("mssp", GEO2, place) for place in ("pair", "quad", "de5")),
    # Without barriers, and states of which a message accesses one of two parts.
    *(Point("pagerank-gals", GEO2, place, PAGERANK) for place in ("tiny", "pair")),
    Point("pagerank-gals", GEO6, "de5", {"iterations": 1}),
    *(Point("pagerank", GEO3, SCALE8, PAGERANK, multicast) for multicast in ("none", "local", "full")),
    # Particles: large states, and handlers whose paths depend on the data.
    *(Point("dpd-gals", GRID3, SCALE8, {"steps": 2, "density": 1.2}, multicast) for multicast in ("none", "local")),
    # Multicast routers, which no parameter was fitted with.
    Point("pagerank", GEO3, SCALE8, {"iterations": 6}, "full"),
    Point("sssp-sync", RMAT, SCALE8, HUB, "full"),
    *(Point("pagerank", graph, SCALE8, PAGERANK, "full") for graph in (RMAT, GEO2)),
)


@dataclass(frozen=True)
class Compared:
    """A point on both engines."""

    point: Point
    rtl: Mapping[str, Any]
    model: Mapping[str, Any]

    @property
    def error(self) -> float:
        """Predicted cycles relative to those of ``rtl``, less one."""
        return float(self.model["cycles"] / self.rtl["cycles"] - 1)

    def counters(self) -> dict[str, float]:
        """The same for each counter that ``rtl`` has counted."""
        known, its = self.rtl["counters"], self.model["counters"]
        return {name: its[name] / known[name] - 1 for name in COUNTERS if known[name]}

    def as_record(self) -> dict[str, Any]:
        """For the table of validated points."""
        return {
            "app": self.point.app,
            "graph": self.point.graph,
            "place": self.point.place,
            "config": self.rtl["config"],
            "boards": self.rtl["boards"],
            "multicast": self.point.multicast,
            "edges": self.rtl["edges"],
            "steps": self.rtl["steps"],
            "cycles": self.rtl["cycles"],
            "predicted": self.model["cycles"],
            "fitted": self.point.fitted,
        }


def compare(point: Point) -> Compared:
    """Runs a point on ``rtl`` and on ``model``. Raises RunDied if their results or numbers of steps differ."""
    real, _ = point.run(Hardware)
    predicted, _ = point.run(Model)
    wrong = runner.difference(real, predicted)
    if wrong is not None:
        raise RunDied(
            f"{point}: {wrong.column} of vertex {wrong.vertex} is {wrong.second:g}, and {wrong.first:g} on rtl"
        )
    if real.stats["steps"] != predicted.stats["steps"]:
        raise RunDied(f"{point}: {predicted.stats['steps']} steps, and {real.stats['steps']} on rtl")
    return Compared(point, real.stats, predicted.stats)


__all__ = ["COUNTERS", "POINTS", "SCALE8", "Compared", "Point", "compare"]
