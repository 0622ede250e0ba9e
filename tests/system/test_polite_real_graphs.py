# SPDX-License-Identifier: Apache-2.0
"""Real graphs on small boards over links that lose frames, with each kind of multicast (``--full``).

The test parses the files itself, and SciPy computes the reference.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import agreement
import numpy as np
import pytest
from algorithm_judges import smallest_of_component
from conftest import ROOT, Size
from made_graphs import Edges, matrix
from scipy.sparse import csgraph

import gossamer as gs
import gossamer_setup
from gossamer import config as configs
from gossamer.apps import runner
from gossamer.engines.rtl_cluster import Plan
from gossamer.engines.rtl_vertices import MULTICAST, Hardware

DATA = ROOT.parent / "shared" / "data"
FOUR = ROOT / "tests" / "fixtures" / "cluster" / "four.toml"
FAR = 0xFFFF_FFFF


def data(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path


def airfoil() -> tuple[int, Edges]:
    """Vertices and edges of METIS's format: a line of neighbours for each vertex, counted from 1."""
    with gzip.open(data("airfoil1.graph.gz"), "rt") as file:
        vertices, _ = map(int, file.readline().split())
        rows = [np.array(line.split(), int) - 1 for line in file]
    return vertices, (np.repeat(np.arange(vertices), [len(row) for row in rows]), np.concatenate(rows))


def votes() -> Edges:
    """Labels of both ends of each edge."""
    with gzip.open(data("wiki-Vote.txt.gz"), "rt") as file:
        found = np.loadtxt(file, int, comments="#")
    return found[:, 0], found[:, 1]


def run(app: str, name: str, multicast: str, **how: Any) -> tuple[gs.Graph, np.ndarray[Any, Any]]:
    """The graph as it is read, and the result's first column; four boards where messages have keys."""
    graph = gs.read_graph(data(name))
    plan = Plan(configs.load_cluster(FOUR if multicast == "full" else "pair"))
    engine = Hardware(plan=plan, multicast=multicast, settings={"frame_loss": 0.02})
    found = runner.run(app, graph, engine=engine, **how)
    agreement.check(runner.run(app, graph, **how), found)
    assert engine.done is not None
    print(f"{app} of {name}: {engine.done.cycles:,} cycles, {engine.done.retired:,} instructions retired")
    links = engine.done.links.values()
    assert sum(link["resends"] for link in links) > 0
    return graph, np.asarray(next(iter(found.columns.values())))


@pytest.fixture(autouse=True)
def simulators(size: Size) -> None:
    if size.name != "large":
        pytest.skip("a minute each: --full")
    gossamer_setup.require("rtl")


@pytest.mark.parametrize("multicast", MULTICAST)
def test_components_of_a_mesh_match_scipy(multicast: str) -> None:
    vertices, edges = airfoil()
    graph, found = run("hashmin", "airfoil1.graph.gz", multicast)
    assert graph.vertices == vertices
    _, labels = csgraph.connected_components(matrix(vertices, edges), directed=False)
    assert np.array_equal(found, smallest_of_component(labels))


@pytest.mark.parametrize("multicast", MULTICAST)
def test_distances_in_a_social_graph_match_scipy(multicast: str) -> None:
    """The graph has hubs and unreachable vertices."""
    edges = votes()
    labels, (sources, targets) = np.unique(edges[0]), edges
    names, dense = np.unique(np.concatenate(edges), return_inverse=True)
    sources, targets = dense[: len(edges[0])], dense[len(edges[0]) :]
    first = int(np.bincount(sources).argmax())
    assert names[first] in labels
    want = csgraph.dijkstra(matrix(len(names), (sources, targets)), unweighted=True, indices=first)
    graph, found = run("sssp-sync", "wiki-Vote.txt.gz", multicast, source=int(names[first]))
    at = np.searchsorted(names, [int(graph.label_of(v)) for v in range(graph.vertices)])
    assert len(np.unique(at)) == len(names)
    assert np.array_equal(found, np.where(np.isinf(want[at]), FAR, want[at]))
