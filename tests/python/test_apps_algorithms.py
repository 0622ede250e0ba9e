# SPDX-License-Identifier: Apache-2.0
"""Algorithms on graphs of many shapes, compared with NetworkX, SciPy and plain loops."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
import pytest
from algorithm_judges import propagated, walked
from conftest import ROOT, Size
from made_graphs import Edges, graph_of, random_edges

import gossamer as gs

NONE = 0xFFFFFFFF
ENGINES: tuple[dict[str, Any], ...] = (
    {"threads": 1},
    {"threads": 2},
    {"threads": 5},
    {"engine": "shuffle", "seed": 11},
)


def pairs(*edges: tuple[int, int]) -> Edges:
    flat = np.array(edges, np.int64).reshape(-1, 2)
    return flat[:, 0], flat[:, 1]


def shapes(random: np.random.Generator, size: Size) -> Iterator[tuple[int, Edges]]:
    """Corner cases: one vertex, loops, parallel edges, paths in both directions, stars, cycles; then random graphs."""
    yield 1, pairs()
    yield 1, pairs((0, 0), (0, 0))
    yield 2, pairs((1, 0), (1, 0))
    yield 5, pairs()
    yield 70, pairs(*((k, k + 1) for k in range(69)))
    yield 70, pairs(*((k + 1, k) for k in range(69)))
    yield 66, pairs(*((k, (k + 1) % 66) for k in range(66)))
    yield 40, pairs(*((0, k) for k in range(1, 40)), *((k, 0) for k in range(1, 40, 2)))
    yield 20, pairs(*itertools.permutations(range(20), 2))
    yield 12, pairs(*((a, b) for a in range(6) for b in range(6)), *((a, b) for a in range(6, 9) for b in range(6, 9)))
    for _ in range(size.pick(2, 4, 60)):
        vertices = int(random.integers(2, 250))
        yield vertices, random_edges(random, vertices, int(random.integers(0, 900)))
    vertices = size.pick(500, 1500, 3000)
    yield vertices, random_edges(random, vertices, 8 * vertices)


@pytest.fixture
def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def simple(vertices: int, edges: Edges) -> Any:
    judge = nx.Graph()
    judge.add_nodes_from(range(vertices))
    judge.add_edges_from((a, b) for a, b in zip(*map(np.ndarray.tolist, edges), strict=True) if a != b)
    return judge


def directed(vertices: int, edges: Edges, *, parallel: bool = False) -> Any:
    judge = nx.MultiDiGraph() if parallel else nx.DiGraph()
    judge.add_nodes_from(range(vertices))
    judge.add_edges_from(zip(*map(np.ndarray.tolist, edges), strict=True))
    return judge


def as_given(vertices: int, edges: Edges) -> Iterator[gs.Graph]:
    """The edges as a directed graph, and in both directions as a symmetric one."""
    yield graph_of(vertices, edges)
    other = edges[0] != edges[1]
    both = np.concatenate((edges[0], edges[1][other])), np.concatenate((edges[1], edges[0][other]))
    yield graph_of(vertices, both, symmetric=True)


def levels_and_parents(judge: Any, source: int) -> tuple[list[int], list[int]]:
    """Levels by a queue; the parent is the smallest in-neighbour on the previous level."""
    level = {source: 0}
    waiting = deque([source])
    while waiting:
        at = waiting.popleft()
        for to in judge[at]:
            if to not in level:
                level[to] = level[at] + 1
                waiting.append(to)
    parent = [
        min((u for u in judge.predecessors(v) if level.get(u, -9) == level[v] - 1), default=NONE)
        if v in level
        else NONE
        for v in range(len(judge))
    ]
    return [level.get(v, NONE) for v in range(len(judge))], parent


def test_bfs_matches_a_queue(size: Size, random: np.random.Generator) -> None:
    for vertices, edges in shapes(random, size):
        for graph in as_given(vertices, edges):
            source = int(random.integers(vertices))
            out = graph.out
            sources = np.repeat(np.arange(vertices), out.degrees().astype(np.int64))
            level, parent = levels_and_parents(directed(vertices, (sources, out.targets.astype(np.int64))), source)
            for how in ENGINES:
                result = gs.run("bfs", graph, source=source, **how)
                assert result.columns["level"].tolist() == level
                assert result.columns["parent"].tolist() == parent


def test_bfs_pull_phase_gives_the_same_tree(random: np.random.Generator) -> None:
    """If most of a graph is one level, the search pulls, and its tree equals that of pushing."""
    vertices = 20000
    edges = random_edges(random, vertices, 400000)
    graph = graph_of(vertices, edges)
    _ = graph.into
    judge = directed(vertices, edges)
    source = vertices - 1  # no hub, but it points to many
    level, parent = levels_and_parents(judge, source)
    for threads in (1, 2, 3):
        result = gs.run("bfs", graph, source=source, threads=threads)
        assert result.stats["pull_rounds"] > 0
        assert result.columns["level"].tolist() == level
        assert result.columns["parent"].tolist() == parent


def test_core_numbers_match_networkx(size: Size, random: np.random.Generator) -> None:
    for vertices, edges in shapes(random, size):
        expected = nx.core_number(simple(vertices, edges))
        for graph in as_given(vertices, edges):
            for how in ENGINES:
                result = gs.run("kcore", graph, **how)
                assert result.values.tolist() == [expected[v] for v in range(vertices)]
                assert result.totals["degeneracy"] == max(expected.values())


def test_triangles_match_networkx(size: Size, random: np.random.Generator) -> None:
    for vertices, edges in shapes(random, size):
        judge = simple(vertices, edges)
        expected = nx.triangles(judge)
        share = nx.clustering(judge)
        for graph in as_given(vertices, edges):
            for how in ENGINES:
                total = sum(expected.values()) // 3
                counted = gs.run("triangles", graph, **how)
                assert counted.totals["triangles"] == total == counted.values.sum()
                each = gs.run("clustering", graph, **how)
                assert each.columns["triangles"].tolist() == [expected[v] for v in range(vertices)]
                np.testing.assert_allclose(each.columns["clustering"], [share[v] for v in range(vertices)], rtol=1e-12)
                assert each.totals["triangles"] == total


def test_label_propagation_matches_graphalytics(size: Size, random: np.random.Generator) -> None:
    for vertices, edges in shapes(random, size):
        judge = simple(vertices, edges)
        for steps in (1, 2, 10):
            expected = propagated(judge, steps)
            for graph, how in itertools.product(as_given(vertices, edges), ENGINES):
                result = gs.run("label-propagation", graph, iterations=steps, **how)
                assert result.values.tolist() == expected
                assert result.stats["steps"] <= steps + 1


def test_strong_components_match_networkx(size: Size, random: np.random.Generator) -> None:
    def sparse() -> Iterator[tuple[int, Edges]]:
        """About as many edges as vertices: components of all sizes."""
        for _ in range(size.pick(3, 10, 100)):
            vertices = int(random.integers(2, 400))
            a, b = random.integers(vertices, size=(2, int(vertices * random.uniform(0.8, 2.5))))
            yield vertices, (a, b)

    for vertices, edges in itertools.chain(shapes(random, size), sparse()):
        expected = [0] * vertices
        for component in nx.strongly_connected_components(directed(vertices, edges)):
            for v in component:
                expected[v] = min(component)
        for how in ENGINES:
            assert gs.run("scc", graph_of(vertices, edges), **how).values.tolist() == expected
        weak = {v: min(c) for c in nx.connected_components(simple(vertices, edges)) for v in c}
        *_, symmetric = as_given(vertices, edges)
        assert gs.run("scc", symmetric).values.tolist() == [weak[v] for v in range(vertices)]


def dependencies(judge: Any, sources: list[int]) -> np.ndarray[Any, Any]:
    """Counts paths for each pair: the share of the shortest paths from s to t that contain v."""
    count = len(judge)
    length = np.full((count, count), -1)
    paths = np.zeros((count, count))
    for s in range(count):
        for level in nx.bfs_layers(judge, s):
            for v in level:
                length[s, v] = 0 if v == s else length[s, v]
        for v, d in nx.single_source_shortest_path_length(judge, s).items():
            length[s, v] = d
        paths[s, s] = 1
        for v in sorted(range(count), key=lambda v: length[s, v]):
            if length[s, v] > 0:
                before = judge.predecessors(v)
                paths[s, v] = sum(paths[s, u] for u in before if length[s, u] == length[s, v] - 1)
    through = np.zeros(count)
    for s, t, v in itertools.product(sources, range(count), range(count)):
        if v in (s, t) or s == t or min(length[s, v], length[v, t], length[s, t]) < 0:
            continue
        if length[s, v] + length[v, t] == length[s, t]:
            through[v] += paths[s, v] * paths[v, t] / paths[s, t]
    return through


def test_betweenness_matches_counted_shortest_paths(size: Size, random: np.random.Generator) -> None:
    for vertices, edges in shapes(random, size):
        if vertices > 100:
            continue
        judge = directed(vertices, edges, parallel=True)
        for wanted in (1, 7, 8, vertices):
            number = min(wanted, vertices)
            through = dependencies(judge, [k * vertices // number for k in range(number)])
            for how in ENGINES:
                values = gs.run("betweenness", graph_of(vertices, edges), sources=wanted, **how).values
                np.testing.assert_allclose(values, through * vertices / number, rtol=1e-9, atol=1e-12)


def test_betweenness_matches_networkx(size: Size, random: np.random.Generator) -> None:
    vertices = size.pick(150, 300, 1000)
    edges = random_edges(random, vertices, 3 * vertices)
    expected = nx.betweenness_centrality(directed(vertices, edges, parallel=True), normalized=False)
    for how in ENGINES[:3]:
        values = gs.run("betweenness", graph_of(vertices, edges), sources=vertices, **how).values
        np.testing.assert_allclose(values, [expected[v] for v in range(vertices)], rtol=1e-9, atol=1e-12)


@pytest.mark.tier("all", seconds=6, adds="counts of paths above the type")
def test_overflow_of_path_counts_raises_no_answer() -> None:
    """A chain of 1,100 pairs that are connected crosswise has 2^1100 shortest paths."""
    rows = np.arange(1100)
    ways = [(2 * rows + i, 2 * rows + 2 + j) for i in (0, 1) for j in (0, 1)]
    edges = np.concatenate([a for a, _ in ways]), np.concatenate([b for _, b in ways])
    with pytest.raises(gs.NoAnswer, match="the number of shortest paths overflows double precision"):
        gs.run("betweenness", graph_of(2202, edges), sources=1)
    # 1,024 diamonds in a row: 2^1024 paths lead only to the last vertex.
    rows = 3 * np.arange(1024)
    edges = np.concatenate([rows, rows, rows + 1, rows + 2]), np.concatenate([rows + 1, rows + 2, rows + 3, rows + 3])
    with pytest.raises(gs.NoAnswer, match="vertex 3072"):
        gs.run("betweenness", graph_of(3073, edges), sources=1)


@pytest.mark.parametrize("tail", [0, 2000])
@pytest.mark.parametrize("threads", [1, 2])
def test_settled_vertex_that_has_sent_receives_no_message(threads: int, tail: int) -> None:
    """A search costs work only for unreached vertices. With a long path the triangle's messages are sent one by one."""
    edges = [*itertools.permutations(range(3), 2), *((k, k + 1) for k in range(3, 3 + tail))]
    result = gs.run(ROOT / "tests/fixtures/vertices/settles.h", graph_of(4 + tail, pairs(*edges)), threads=threads)
    assert result.columns["level"][:3].tolist() == [0, 1, 1]
    assert result.columns["heard"][:3].tolist() == [0, 1, 1]


def test_paths_are_shortest_with_the_fewest_edges(size: Size, random: np.random.Generator) -> None:
    for vertices, edges in shapes(random, size):
        # Zero and few other weights: many paths have the same length.
        weights = random.integers(0, 4, size=len(edges[0])) * int(random.choice([1, 2**40]))
        source = int(random.integers(vertices))
        judge = nx.MultiDiGraph()
        judge.add_nodes_from(range(vertices))
        # Lengths and numbers of edges in one exact Python integer.
        for a, b, w in zip(*map(np.ndarray.tolist, (*edges, weights)), strict=True):
            judge.add_edge(a, b, weight=w * 2**20 + 1)
        best = nx.single_source_dijkstra_path_length(judge, source)
        before = [
            min(
                (
                    u
                    for u in judge.predecessors(v)
                    if u in best and any(best[u] + e["weight"] == best[v] for e in judge[u][v].values())
                ),
                default=NONE,
            )
            if v in best and v != source
            else NONE
            for v in range(vertices)
        ]
        graph = graph_of(vertices, edges, weights)
        for how in ENGINES:
            result = gs.run("sssp-paths", graph, source=source, **how)
            assert result.columns["distance"].tolist() == [
                best[v] // 2**20 if v in best else 2**64 - 1 for v in range(vertices)
            ]
            assert result.columns["hops"].tolist() == [best[v] % 2**20 if v in best else NONE for v in range(vertices)]
            assert result.columns["previous"].tolist() == before
        for v in range(0, vertices, 1 + vertices // 20):
            if v not in best:
                with pytest.raises(gs.InputError, match=f"no path leads to vertex {v}"):
                    result.path(v)
                continue
            path = result.path(v)
            assert (path[0], path[-1], len(path)) == (source, v, best[v] % 2**20 + 1)
            steps = (min(e["weight"] for e in judge[a][b].values()) for a, b in itertools.pairwise(path))
            assert sum(steps) == best[v]


def test_path_is_returned_as_labels() -> None:
    graph = graph_of(4, pairs((0, 1), (1, 2)), labels=["ash", "birch", "cedar", "date palm"])
    assert gs.run("bfs", graph).path("cedar") == ["ash", "birch", "cedar"]
    assert gs.run("bfs", graph).path("ash") == ["ash"]
    with pytest.raises(gs.InputError, match="no path leads to vertex date palm"):
        gs.run("sssp-paths", graph).path("date palm")
    with pytest.raises(gs.InputError, match="hashmin has no paths"):
        gs.run("hashmin", graph).path("ash")


def test_overflow_of_path_lengths_raises_no_answer() -> None:
    graph = graph_of(5, pairs((0, 1), (1, 2), (2, 3), (3, 4)), np.array([2**63 - 1] * 3 + [0]))
    with pytest.raises(gs.NoAnswer, match=r"longer than 18446744073709551613 .*vertex 2\)"):
        gs.run("sssp-paths", graph)
    with pytest.raises(gs.InputError, match="negative weight"):
        gs.run("sssp-paths", graph_of(2, pairs((0, 1)), np.array([-1])))


def test_weighted_pagerank_matches_networkx(size: Size, random: np.random.Generator) -> None:
    for vertices, edges in shapes(random, size):
        weights = random.integers(0, 5, size=len(edges[0])) / 4
        judge = nx.MultiDiGraph()
        judge.add_nodes_from(range(vertices))
        judge.add_weighted_edges_from(zip(*map(np.ndarray.tolist, (*edges, weights)), strict=True))
        expected = nx.pagerank(judge, tol=1e-14 / vertices, max_iter=5000)
        for how in ENGINES:
            values = gs.run("pagerank-weighted", graph_of(vertices, edges, weights), tolerance=1e-13, **how).values
            np.testing.assert_allclose(values, [expected[v] for v in range(vertices)], rtol=1e-9)
    with pytest.raises(gs.InputError, match="pagerank-weighted: the graph has a negative weight"):
        gs.run("pagerank-weighted", graph_of(2, pairs((0, 1)), np.array([-1.0])))


def test_personalized_pagerank_matches_networkx(size: Size, random: np.random.Generator) -> None:
    for vertices, edges in shapes(random, size):
        several = random.integers(vertices, size=int(random.integers(1, 5))).tolist()
        source = several if len(several) > 1 else several[0]
        judge = directed(vertices, edges, parallel=True)
        expected = nx.pagerank(
            judge, personalization=dict.fromkeys(several, 1), tol=1e-14 / vertices, max_iter=5000, weight=None
        )
        for how in ENGINES:
            values = gs.run(
                "pagerank-personal", graph_of(vertices, edges), source=source, tolerance=1e-13, **how
            ).values
            np.testing.assert_allclose(values, [expected[v] for v in range(vertices)], rtol=1e-8, atol=1e-13)


def test_each_walker_follows_one_edge_per_step(size: Size, random: np.random.Generator) -> None:
    for vertices, edges in shapes(random, size):
        graph = graph_of(vertices, edges)
        walkers, seed = int(random.integers(1, 9)), int(random.integers(2**32))
        expected = walked(graph, walkers, 7, seed)
        for how in ENGINES:
            result = gs.run(ROOT / "examples/walks/walks.h", graph, walkers=walkers, steps=7, walk=seed, **how)
            assert result.values.tolist() == expected


def lightest_pairs(vertices: int, edges: Edges, weights: Any) -> Any:
    """An undirected judge with the lightest edge of each pair."""
    judge = nx.Graph()
    judge.add_nodes_from(range(vertices))
    for a, b, w in sorted(zip(*map(np.ndarray.tolist, (*edges, weights)), strict=True), key=lambda e: -e[2]):
        if a != b:
            judge.add_edge(a, b, weight=w)
    return judge


def test_spanning_forest_matches_networkx(size: Size, random: np.random.Generator) -> None:
    for vertices, edges in shapes(random, size):
        weights = random.integers(-4, 6, size=len(edges[0])) / 2
        judge = lightest_pairs(vertices, edges, weights)
        expected = nx.minimum_spanning_tree(judge)
        root = {v: min(part) for part in nx.connected_components(judge) for v in part}
        for how in ENGINES:
            result = gs.run("mst", graph_of(vertices, edges, weights), **how)
            assert result.totals["weight"] == expected.size(weight="weight")
            assert result.totals["edges"] == expected.number_of_edges()
            assert result.columns["component"].tolist() == [root[v] for v in range(vertices)]
            forest = nx.Graph()
            forest.add_nodes_from(range(vertices))
            for v, parent in enumerate(result.columns["parent"].tolist()):
                assert (parent == NONE) == (root[v] == v)
                if parent != NONE:
                    assert judge[v][parent]["weight"] == result.columns["weight"][v]
                    forest.add_edge(v, parent)
            assert nx.is_forest(forest) and forest.number_of_edges() == expected.number_of_edges()


def test_truss_numbers_match_networkx(size: Size, random: np.random.Generator) -> None:
    for vertices, edges in shapes(random, size):
        judge = simple(vertices, edges)
        expected = [0] * vertices
        k = 2
        while inside := [v for v, degree in nx.k_truss(judge, k).degree() if degree]:
            for v in inside:
                expected[v] = k
            k += 1
        for graph, how in itertools.product(as_given(vertices, edges), ENGINES):
            result = gs.run("ktruss", graph, **how)
            assert result.values.tolist() == expected
            assert result.totals["truss"] == max(expected)


def test_directed_clustering_matches_networkx(size: Size, random: np.random.Generator) -> None:
    for vertices, edges in shapes(random, size):
        share = nx.clustering(directed(vertices, edges))
        for how in ENGINES:
            values = gs.run("clustering-directed", graph_of(vertices, edges), **how).values
            np.testing.assert_allclose(values, [share[v] for v in range(vertices)], rtol=1e-12)
        *_, symmetric = as_given(vertices, edges)
        plain = nx.clustering(simple(vertices, edges))
        values = gs.run("clustering-directed", symmetric).values
        np.testing.assert_allclose(values, [plain[v] for v in range(vertices)], rtol=1e-12)


def test_closeness_matches_networkx(size: Size, random: np.random.Generator) -> None:
    """More vertices than a batch of sources has."""
    for vertices, edges in itertools.chain(shapes(random, size), [(460, random_edges(random, 460, 1500))]):
        if vertices > 600:
            continue
        judge = directed(vertices, edges)
        closeness, harmonic = nx.closeness_centrality(judge), nx.harmonic_centrality(judge)
        for how in ENGINES:
            result = gs.run("closeness", graph_of(vertices, edges), **how)
            np.testing.assert_allclose(result.values, [closeness[v] for v in range(vertices)], rtol=1e-12)
            np.testing.assert_allclose(result.columns["harmonic"], [harmonic[v] for v in range(vertices)], rtol=1e-12)


def test_weighted_betweenness_matches_networkx(size: Size, random: np.random.Generator) -> None:
    for vertices, edges in shapes(random, size):
        if vertices > 150:
            continue
        # Few weights, so that many paths have one length.
        weights = random.integers(1, 4, size=len(edges[0])) / 2
        judge = nx.MultiDiGraph()
        judge.add_nodes_from(range(vertices))
        judge.add_weighted_edges_from(zip(*map(np.ndarray.tolist, (*edges, weights)), strict=True))
        expected = nx.betweenness_centrality(judge, normalized=False, weight="weight")
        for how in ENGINES:
            result = gs.run("betweenness-weighted", graph_of(vertices, edges, weights), sources=vertices, **how)
            np.testing.assert_allclose(result.values, [expected[v] for v in range(vertices)], rtol=1e-9, atol=1e-12)


def test_weighted_betweenness_rejects_what_it_cannot_count() -> None:
    path = pairs((0, 1), (1, 2), (2, 3))
    for weight in (0, -1):
        with pytest.raises(gs.InputError, match="a weight that is not above 0"):
            gs.run("betweenness-weighted", graph_of(4, path, np.array([1.0, weight, 1.0])))
    with pytest.raises(gs.NoAnswer, match=r"length of a path overflows .*vertex 2\)"):
        gs.run("betweenness-weighted", graph_of(4, path, np.array([1e308] * 3)), source=0)
    with pytest.raises(gs.NoAnswer, match=r"lost in that of a path.*vertex 2\)"):
        gs.run("betweenness-weighted", graph_of(4, path, np.array([1e300, 1.0, 1e300])), source=0)
    rows = 3 * np.arange(1024)  # 2^1024 paths
    edges = np.concatenate([rows, rows, rows + 1, rows + 2]), np.concatenate([rows + 1, rows + 2, rows + 3, rows + 3])
    with pytest.raises(gs.NoAnswer, match="number of shortest paths overflows"):
        gs.run("betweenness-weighted", graph_of(3073, edges), source=0)


@pytest.mark.parametrize("app", ["bellman-ford", "bellman-ford-double"])
def test_negative_weights_match_networkx(app: str, size: Size, random: np.random.Generator) -> None:
    far = 2**63 - 1 if app == "bellman-ford" else np.inf
    cycles = 0
    for vertices, edges in shapes(random, size):
        source = int(random.integers(vertices))
        # Potentials of the vertices give negative weights without a negative cycle.
        potential = random.integers(0, 50, size=vertices)
        safe = random.integers(0, 9, size=len(edges[0])) + potential[edges[1]] - potential[edges[0]]
        for weights in (safe, safe - random.integers(0, 2, size=len(safe)) * 3):
            judge = nx.MultiDiGraph()
            judge.add_nodes_from(range(vertices))
            judge.add_weighted_edges_from(zip(*map(np.ndarray.tolist, (*edges, weights)), strict=True))
            graph = graph_of(vertices, edges, weights)
            try:
                expected = nx.single_source_bellman_ford_path_length(judge, source)
            except nx.NetworkXUnbounded:
                cycles += 1
                for how in ENGINES:
                    with pytest.raises(gs.NoAnswer, match="a cycle of negative length can be reached"):
                        gs.run(app, graph, source=source, **how)
                continue
            first = None
            for how in ENGINES:
                result = gs.run(app, graph, source=source, **how)
                assert result.values.tolist() == [expected.get(v, far) for v in range(vertices)]
                previous = result.columns["previous"].tolist()
                assert first is None or previous == first
                first = previous
            for v in expected:
                path = result.path(v)
                assert (path[0], path[-1], len(path)) == (source, v, result.columns["hops"][v] + 1)
                steps = (min(e["weight"] for e in judge[a][b].values()) for a, b in itertools.pairwise(path))
                assert sum(steps) == expected[v]
    assert cycles


@pytest.mark.parametrize("app", ["bellman-ford", "bellman-ford-double"])
def test_negative_cycle_is_found_soon_in_a_large_graph(app: str) -> None:
    """A long path follows the cycle, so that paths with all vertices would take 20,000 steps."""
    vertices = 20000
    edges = np.append(np.arange(vertices - 1), 9), np.append(np.arange(1, vertices), 0)
    weights = np.append(np.full(vertices - 1, 1), -10)
    with pytest.raises(gs.NoAnswer, match="a cycle of negative length"):
        gs.run(app, graph_of(vertices, edges, weights), threads=1)
    weights[-1] = -9  # a cycle of length 0 is none
    assert gs.run(app, graph_of(vertices, edges, weights), threads=1).values[-1] == vertices - 1


def test_lengths_of_negative_paths_that_overflow_are_no_answer() -> None:
    least, most = -(2**63), 2**63 - 1
    path = pairs((0, 1), (1, 2), (0, 2))
    with pytest.raises(gs.NoAnswer, match="does not fit 64 bits"):
        gs.run("bellman-ford", graph_of(3, pairs((0, 1), (1, 2)), np.array([least, -1])))
    with pytest.raises(gs.NoAnswer, match="does not fit 64 bits"):
        gs.run("bellman-ford", graph_of(3, pairs((0, 1), (1, 2)), np.array([most - 1, 1])))
    # A path that is too long does not matter if there is a shorter one.
    found = gs.run("bellman-ford", graph_of(3, path, np.array([most - 1, 1, -7])))
    assert found.values.tolist() == [0, most - 1, -7]
    with pytest.raises(gs.InputError, match=r"use bellman-ford-double"):
        gs.run("bellman-ford", graph_of(3, pairs((0, 1)), np.array([-0.5])))
    with pytest.raises(gs.NoAnswer, match="overflows double precision"):
        gs.run("bellman-ford-double", graph_of(3, pairs((0, 1), (1, 2)), np.array([-1.5e308, -1.5e308])))
