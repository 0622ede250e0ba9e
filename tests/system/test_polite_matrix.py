# SPDX-License-Identifier: Apache-2.0
"""Every application of the papers on simulated boards: each kind of multicast, links that lose frames.

The references are NumPy, SciPy, a serial program for particles, and the engine ``cpu``. By default only the runs that
no other test has are made; ``--full`` makes all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import agreement
import numpy as np
import pytest
from algorithm_judges import smallest_of_component
from conftest import ROOT, current_size
from dpd_pairs import Box, simulate
from made_graphs import Edges, graph_of, lightest, matrix, random_edges
from scipy.sparse import csgraph
from step_models import heat, spikes

import gossamer as gs
import gossamer_setup
from gossamer import config as configs
from gossamer.apps import runner
from gossamer.engines.rtl_cluster import Plan
from gossamer.engines.rtl_vertices import MULTICAST, Hardware

FOUR = ROOT / "tests" / "fixtures" / "cluster" / "four.toml"
FAR = 0xFFFF_FFFF
APPS = (
    "pagerank",
    "pagerank-gals",
    "sssp",
    "sssp-sync",
    "mssp",
    "asp",
    "hashmin",
    "hashmin-sync",
    "heat",
    "heat-gals",
    "izhikevich",
    "izhikevich-gals",
    "dpd",
    "dpd-gals",
)
LOSS = (0.0, 0.02)
CHEAP = {
    ("sssp-sync", "full", 0.02),
    ("mssp", "none", 0.02),
    ("hashmin-sync", "full", 0.02),
}


@pytest.fixture(scope="module", autouse=True)
def simulators() -> None:
    gossamer_setup.require("rtl")


@dataclass
class Case:
    """A graph, the parameters of an application, and the expected columns."""

    graph: gs.Graph
    want: dict[str, Any]
    how: dict[str, Any] = field(default_factory=dict)
    within: float = 0
    """The maximum error of a value relative to the greatest of its column."""

    def judge(self, app: str, engine: Hardware) -> None:
        here, there = runner.run(app, self.graph, **self.how), runner.run(app, self.graph, engine=engine, **self.how)
        for name, values in self.want.items():
            got = np.asarray(there.columns[name], np.float64)
            most = self.within * np.abs(values).max()
            assert np.abs(got - np.asarray(values, np.float64)).max() <= most, name
        agreement.check(here, there)
        assert here.stats["steps"] == there.stats["steps"]


def ranks(vertices: int, edges: Edges, iterations: int) -> np.ndarray[Any, Any]:
    degree = np.bincount(edges[0], minlength=vertices)
    score = np.full(vertices, 1 / vertices)
    for _ in range(iterations):
        share = np.divide(0.85 * score, degree, out=np.zeros(vertices), where=degree > 0)
        score = 0.15 / vertices + np.bincount(edges[1], weights=share[edges[0]], minlength=vertices)
    return score


def of_graph(app: str, given: gs.Graph, vertices: int, edges: Edges, weights: Any, source: int) -> Case:
    """Applications that compute properties of a graph; ``source`` is a vertex's number."""

    def spread(count: int) -> list[int]:
        return [k * vertices // count for k in range(count)]

    if app == "pagerank":
        return Case(given, {"rank": ranks(vertices, edges, 4)}, {"iterations": 4, "raw": True}, within=1e-5)
    if app == "pagerank-gals":
        both = np.concatenate([edges[0], edges[1]]), np.concatenate([edges[1], edges[0]])
        return Case(given, {"rank": ranks(vertices, both, 6)}, {"iterations": 6, "raw": True}, within=1e-5)
    if app in ("sssp", "sssp-sync"):
        found = csgraph.dijkstra(lightest(vertices, edges, weights), indices=source)
        return Case(given, {"distance": np.where(np.isinf(found), FAR, found)}, {"source": given.label_of(source)})
    if app == "mssp":
        found = csgraph.dijkstra(lightest(vertices, edges, weights), indices=spread(8))
        there = np.isfinite(found)
        nearest = np.where(there.any(axis=0), found.min(axis=0), FAR)
        sums = np.where(there, found, 0).sum(axis=0)
        return Case(given, {"distance": nearest, "sum": sums, "sources": there.sum(axis=0)}, {"sources": 8})
    if app == "asp":
        found = csgraph.dijkstra(matrix(vertices, edges), unweighted=True, indices=spread(min(vertices, 64)))
        there = np.isfinite(found)
        return Case(given, {"sum": np.where(there, found, 0).sum(axis=0), "sources": there.sum(axis=0)})
    assert app in ("hashmin", "hashmin-sync")
    _, labels = csgraph.connected_components(matrix(vertices, edges), directed=False)
    return Case(given, {"component": smallest_of_component(labels)})


def in_steps(app: str, given: gs.Graph, vertices: int, edges: Edges, random: np.random.Generator) -> Case:
    """Applications that simulate a system in steps."""
    if app.startswith("heat"):
        hot = int(random.integers(vertices))
        want = heat(vertices, edges, 9, 0.5, hot)
        return Case(given, {"temperature": want}, {"hot": str(hot), "steps": 9, "rate": 0.5}, within=1e-5)
    noise = int(random.integers(1 << 32))
    fired, potential, _ = spikes(vertices, edges, 25, noise)
    assert fired.sum() > 0
    return Case(given, {"spikes": fired, "potential": potential}, {"steps": 25, "noise-seed": noise})


def particles() -> Case:
    """Particles in a box of 27 cells, compared bit for bit."""
    how = {"steps": 3, "density": 1.2, "temperature": 5.0, "dt": 0.1}
    found = simulate(Box((3, 3, 3), **how))
    assert found.crossings > 10
    given = gs.read_graph("gen:cube:width=3,height=3,depth=3,neighbours=26,around=yes")
    return Case(given, {"particles": found.particles, "digest": found.digest}, how)


def made(app: str, random: np.random.Generator) -> Case:
    """A case with a hub, loops, parallel edges and vertices without out-edges."""
    if app.startswith("dpd"):
        return particles()
    vertices = 40 if app.startswith("izhikevich") else 70
    edges = random_edges(random, vertices, 3 * vertices)
    weights = random.integers(1, 50, len(edges[0]))
    if app.startswith(("heat", "izhikevich")):
        return in_steps(app, graph_of(vertices, edges), vertices, edges, random)
    return of_graph(app, graph_of(vertices, edges, weights), vertices, edges, weights, int(random.integers(vertices)))


def boards(multicast: str, loss: float, mapping: str) -> Hardware:
    """Two boards, or four with multicast keys, so that copies take different paths."""
    plan = Plan(configs.load_cluster(FOUR if multicast == "full" else "pair"))
    return Hardware(plan=plan, multicast=multicast, mapping=mapping, settings={"frame_loss": loss})


def chosen() -> list[tuple[str, str, float]]:
    every = [(app, multicast, loss) for app in APPS for multicast in MULTICAST for loss in LOSS]
    assert set(every) >= CHEAP
    return every if current_size().name == "large" else [one for one in every if one in CHEAP]


@pytest.mark.default_cases("hashmin.*", seconds=37, adds="the other applications over lossy links")
@pytest.mark.parametrize("app, multicast, loss", chosen())
def test_applications_match_references_over_lossy_links(app: str, multicast: str, loss: float, seed: int) -> None:
    """Vertices are mapped at random, so that most messages leave their tile."""
    made(app, np.random.default_rng(seed)).judge(app, boards(multicast, loss, "random"))
