# SPDX-License-Identifier: Apache-2.0
"""Algorithms on the ``rtl`` engine: two pins, simple graphs and doubles."""

from __future__ import annotations

from typing import Any

import agreement
import networkx as nx
import numpy as np
import pytest
from made_graphs import graph_of, random_edges

import gossamer as gs
from gossamer.engines.rtl_vertices import Hardware

FAR = 0xFFFFFFFF


def test_algorithms_match_networkx(seed: int) -> None:
    random = np.random.default_rng(seed)
    vertices = 40
    edges = random_edges(random, vertices, 100)
    weights = random.integers(1, 9, size=len(edges[0]))
    graph = graph_of(vertices, edges, weights)
    simple, judge, lightest = nx.Graph(), nx.DiGraph(), nx.MultiDiGraph()
    for it in (simple, judge, lightest):
        it.add_nodes_from(range(vertices))
    for a, b, w in zip(*map(np.ndarray.tolist, (*edges, weights)), strict=True):
        judge.add_edge(a, b)
        lightest.add_edge(a, b, weight=w)
        if a != b:
            simple.add_edge(a, b)

    cores = gs.run("kcore", graph, engine=Hardware(config="tiny"))
    assert cores.values.tolist() == [nx.core_number(simple)[v] for v in range(vertices)]
    strong = {v: min(c) for c in nx.strongly_connected_components(judge) for v in c}
    assert gs.run("scc", graph, engine=Hardware(config="tiny")).values.tolist() == [strong[v] for v in range(vertices)]
    level = nx.single_source_shortest_path_length(judge, vertices - 1)
    search = gs.run("bfs", graph, engine=Hardware(config="tiny", multicast="none"), source=vertices - 1)
    assert search.columns["level"].tolist() == [level.get(v, FAR) for v in range(vertices)]
    length = nx.single_source_dijkstra_path_length(lightest, vertices - 1)
    paths = gs.run("sssp-paths", graph, engine=Hardware(config="tiny"), source=vertices - 1)
    assert paths.columns["distance"].tolist() == [length.get(v, 2**64 - 1) for v in range(vertices)]


def test_betweenness_runs_sources_in_several_batches(seed: int) -> None:
    """Nine sources need two batches; the second clears the lanes of the first."""
    random = np.random.default_rng(seed)
    vertices = 9
    judge = nx.gnp_random_graph(vertices, 0.3, seed=int(random.integers(2**31)), directed=True)
    judge.add_edges_from((v, v + 1) for v in range(vertices - 1))
    graph = graph_of(vertices, tuple(np.array(list(judge.edges())).T))
    expected = nx.betweenness_centrality(judge, normalized=False)
    values = gs.run("betweenness", graph, engine=Hardware(config="tiny"), sources=vertices).values
    np.testing.assert_allclose(values, [expected[v] for v in range(vertices)], rtol=1e-9, atol=1e-12)


@pytest.mark.tier("all", seconds=60, adds="the algorithms with several messages a step, on boards")
def test_algorithms_on_boards_match_the_cpu(seed: int) -> None:
    """Lists along both pins, single edges, 64-bit numbers and doubles."""
    random = np.random.default_rng(seed)
    vertices = 40
    edges = random_edges(random, vertices, 100)
    graph = graph_of(vertices, edges, random.integers(1, 9, size=len(edges[0])))
    cases: dict[str, dict[str, Any]] = {
        "betweenness-weighted": {"sources": 3},
        "bellman-ford": {},
        "bellman-ford-double": {},
        "closeness": {},
        "clustering-directed": {},
        "ktruss": {},
        "mst": {},
        "pagerank": {"iterations": 5},
        "pagerank-gals": {"iterations": 4},
        "pagerank-personal": {"iterations": 3, "source": {3: 1.5, 7: 1}},
        "pagerank-weighted": {"iterations": 3},
    }
    for app, given in cases.items():
        found = gs.run(app, graph, engine=Hardware(config="tiny"), **given)
        judge = gs.run(app, graph, **given)
        agreement.check(judge, found)
        assert found.totals == pytest.approx(judge.totals), app
