# SPDX-License-Identifier: Apache-2.0
"""Numbers where arithmetic or the graph's shape is extreme: hubs, wide ranges of weights, self-loops, parallel edges,
vertices without out-edges; and the parameters and arrays that describe them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from conftest import Command
from made_graphs import Edges, graph_of, random_edges

import gossamer as gs
from gossamer.apps.runner import shares_of

ENGINES: tuple[dict[str, Any], ...] = ({"threads": 1}, {"threads": 3}, {"engine": "shuffle", "seed": 5})
NO_EDGES: Edges = (np.empty(0, int), np.empty(0, int))


@pytest.fixture
def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def judge_of(vertices: int, edges: Edges, weights: Any = None) -> Any:
    judge = nx.MultiDiGraph()
    judge.add_nodes_from(range(vertices))
    ones = np.ones(len(edges[0])) if weights is None else np.asarray(weights)
    judge.add_weighted_edges_from(zip(*map(np.ndarray.tolist, (*edges, ones)), strict=True))
    return judge


def both_ways(edges: Edges) -> Edges:
    other = edges[0] != edges[1]
    return np.concatenate((edges[0], edges[1][other])), np.concatenate((edges[1], edges[0][other]))


def star(leaves: int) -> Edges:
    """Edges from all leaves to vertex 0."""
    return np.arange(1, leaves + 1), np.zeros(leaves, int)


# Hubs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("app", ["pagerank", "pagerank64", "pagerank-gals"])
def test_pagerank_is_exact_at_a_hub_of_many_leaves(app: str) -> None:
    leaves, damping = 1_500_000, 0.85
    edges = star(leaves)
    given = {"iterations": 2} if app == "pagerank-gals" else {}
    found = gs.run(app, graph_of(leaves + 1, edges), threads=2, **given).values[0]
    if app == "pagerank-gals":
        n = leaves + 1
        first = (1 - damping) / n + damping * leaves / n  # each leaf has one neighbour
        leaf = (1 - damping) / n + damping / n / leaves
        assert found == pytest.approx((1 - damping) / n + damping * leaves * leaf, rel=2e-6)
        assert first == pytest.approx(0.85, rel=1e-3)
    else:
        hub, leaf = 1 + damping * leaves, 1.0
        assert found == pytest.approx(hub / (hub + leaves * leaf), rel=2e-6)


@pytest.mark.parametrize("app", ["heat", "heat-gals"])
def test_heat_is_exact_at_a_hub_of_many_leaves(app: str) -> None:
    leaves = 400_000
    found = gs.run(app, graph_of(leaves + 1, star(leaves)), steps=3, rate=1 / 3, hot=1, threads=2).values
    # Leaves other than the fixed one have one temperature, the hub another.
    hub = leaf = 0.0
    for _ in range(3):
        hub, leaf = hub + ((1 + (leaves - 1) * leaf) / leaves - hub) / 3, leaf + (hub - leaf) / 3
    assert found[0] == pytest.approx(hub, rel=1e-5)
    assert found[2] == pytest.approx(leaf, rel=1e-5)


@pytest.mark.parametrize("app", ["clustering", "clustering-directed", "ktruss"])
def test_work_at_a_hub_is_linear_in_its_edges(app: str) -> None:
    """A wheel: a hub with as many triangles as neighbours."""
    rim = 30_000
    around = np.arange(1, rim + 1)
    edges = np.concatenate((around, around)), np.concatenate((np.zeros(rim, int), np.roll(around, 1)))
    result = gs.run(app, graph_of(rim + 1, edges), threads=1)
    assert result.stats["deliveries"] < 12 * len(edges[0])
    if app == "clustering":
        assert result.columns["triangles"][:2].tolist() == [rim, 2]
    elif app == "ktruss":
        assert set(result.values.tolist()) == {3}
    else:
        assert result.columns["clustering"][1] == pytest.approx(2 / 6)


# Weights ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("greatest", [1.7e308, 1e300, 1e-300, 4e-323])
def test_weighted_pagerank_does_not_depend_on_the_unit_of_weights(greatest: float, random: np.random.Generator) -> None:
    edges = random_edges(random, 120, 600)
    weights = random.integers(0, 9, size=len(edges[0])) / 8 * greatest
    plain = weights / greatest  # of denormal numbers, those that are left
    expected = nx.pagerank(judge_of(120, edges, plain), tol=1e-16, max_iter=5000)
    for how in ENGINES:
        values = gs.run("pagerank-weighted", graph_of(120, edges, weights), tolerance=1e-13, **how).values
        np.testing.assert_allclose(values, [expected[v] for v in range(120)], rtol=1e-9)


def test_weights_of_too_wide_a_range_are_no_answer() -> None:
    edges = np.array([0, 1, 2, 2]), np.array([1, 2, 0, 1])
    weights = np.array([1e308, 1e-323, 1.0, 0.0])
    with pytest.raises(gs.NoAnswer, match=r"too small for double precision, .*vertex 1\)"):
        gs.run("pagerank-weighted", graph_of(3, edges, weights))
    # Small weights do not matter where the same vertex has larger ones.
    values = gs.run("pagerank-weighted", graph_of(3, (edges[0], edges[1]), np.array([1e-300, 1.0, 1.0, 1e-310]))).values
    assert values == pytest.approx([1 / 3] * 3, rel=1e-3)


def test_unit_of_weights_is_kept_when_the_graph_changes() -> None:
    graph = graph_of(3, (np.array([0, 1, 2]), np.array([1, 2, 0])), np.array([2e300, 1e300, 1e300]))
    run = gs.start("pagerank-weighted", graph, tolerance=1e-12)
    run.go()
    run.add_edges([0], [2], [6e300])
    expected = nx.pagerank(judge_of(3, (np.array([0, 1, 2, 0]), np.array([1, 2, 0, 2])), [2, 1, 1, 6]), tol=1e-15)
    np.testing.assert_allclose(run.go().values, [expected[v] for v in range(3)], rtol=1e-9)


# Iterations and restarts ------------------------------------------------------------------------


@pytest.mark.parametrize("app", ["pagerank", "pagerank64", "pagerank-weighted", "pagerank-gals", "pagerank-personal"])
def test_iterations_are_those_of_networkx(app: str, random: np.random.Generator) -> None:
    """After k iterations, the mass of vertices without out-edges is distributed as NetworkX and Graphalytics do."""
    vertices = 90
    edges = random_edges(random, vertices, 200)
    given: dict[str, Any] = {}
    if app == "pagerank-gals":
        edges = both_ways(edges)
        vertices += 9  # vertices without edges
    weights = random.integers(1, 9, size=len(edges[0])) if app == "pagerank-weighted" else None
    if app == "pagerank-personal":
        given = {"source": {3: 0.5, 40: 2, 41: 0}}
    graph = graph_of(vertices, edges, weights, symmetric=app == "pagerank-gals")
    step = nx.google_matrix(judge_of(vertices, edges, weights), 0.8, personalization=given.get("source"))
    scores = np.full(vertices, 1 / vertices)
    for k in range(1, 6):
        scores = np.asarray(scores @ step).ravel()
        for how in ENGINES:
            found = gs.run(app, graph, iterations=k, damping=0.8, **how, **given)
            single = found.values.dtype == np.float32
            np.testing.assert_allclose(found.values, scores, rtol=2e-6 if single else 1e-12)


def test_iterations_continue_on_a_changed_graph(random: np.random.Generator) -> None:
    vertices = 40
    edges = random_edges(random, vertices, 60)
    run = gs.start("pagerank64", graph_of(vertices, edges), iterations=2)
    scores = run.go().values
    run.add_edges([1], [2])
    more = np.append(edges[0], 1), np.append(edges[1], 2)
    step = nx.google_matrix(judge_of(vertices, more))
    np.testing.assert_allclose(run.go().values, np.asarray(scores @ step @ step).ravel(), rtol=1e-12)


def test_personalization_has_weights(random: np.random.Generator) -> None:
    edges = random_edges(random, 60, 300)
    graph = graph_of(60, edges)
    for weights in ({7: 3, 20: 1}, {7: 1e-320, 20: 2e-320}, {7: 1.7e308, 20: 1.7e308, 30: 0}):
        scaled = {v: w / max(weights.values()) for v, w in weights.items()}
        expected = nx.pagerank(judge_of(60, edges), personalization=scaled, tol=1e-16, max_iter=5000)
        values = gs.run("pagerank-personal", graph, source=weights, tolerance=1e-13).values
        np.testing.assert_allclose(values, [expected[v] for v in range(60)], rtol=1e-8, atol=1e-13)


def test_command_accepts_weights_of_sources(tmp_path: Any, command: Command) -> None:
    file = tmp_path / "named.txt"
    file.write_text("a=1 b\nb c\nc a=1\nc b\n")
    graph = gs.read_graph(file)
    expected = gs.run("pagerank-personal", graph, source={"a=1": 1, "b": 3}).values
    out = tmp_path / "ranks.npy"
    done = command("run", "pagerank-personal", str(file), "--source", "a=1", "--source", "b=3", "-o", str(out))
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(out), expected)
    done = command("run", "pagerank-personal", str(file), "--source", "b=-1")
    assert done.returncode == 2 and "at least 0" in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert shares_of(graph, ["a=1", "b=2", "c"]) == {"a=1": 1.0, "b": "2", "c": 1.0}
    with pytest.raises(gs.InputError, match="no vertex 'z'"):
        gs.run("pagerank-personal", graph, source=shares_of(graph, ["z=1"]))
    with pytest.raises(gs.InputError, match="two weights"):
        shares_of(graph, ["b=1", "b=2"])


# Self-loops and parallel edges ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("app", "given"),
    [
        ("heat", {"steps": 9}),
        ("heat-gals", {"steps": 9}),
        ("pagerank-gals", {"iterations": 5}),
        ("hashmin", {}),
        ("hashmin-sync", {}),
    ],
)
def test_self_loop_counts_once_in_directed_and_symmetric_graphs(
    app: str, given: dict[str, Any], random: np.random.Generator
) -> None:
    edges = random_edges(random, 50, 150)
    both = both_ways(edges)
    for how in ENGINES:
        directed = gs.run(app, graph_of(50, edges), **given, **how)
        symmetric = gs.run(app, graph_of(50, both, symmetric=True), **given, **how)
        np.testing.assert_allclose(directed.values, symmetric.values, rtol=1e-5)
        assert directed.stats["deliveries"] >= symmetric.stats["deliveries"] > 0 or "gals" not in app
        if app not in ("hashmin", "hashmin-sync"):  # whose messages depend on their order
            assert directed.stats["deliveries"] == symmetric.stats["deliveries"]


def test_self_loop_counts_once_after_changes() -> None:
    """One message of each vertex: its edges in both directions, a self-loop once."""
    graph = graph_of(4, (np.array([0, 1]), np.array([1, 2])))
    run = gs.start("hashmin", graph, engine="shuffle")

    def deliveries() -> Any:
        run.restart()
        return gs.run("heat", run.graph, steps=1).stats["deliveries"], run.go()

    changes: list[tuple[Callable[[], None], int]] = [
        (lambda: run.add_edges([2], [2]), 5),
        (lambda: run.add_edges([3, 1], [3, 3]), 8),
        (lambda: run.remove_edges([2], [2]), 7),
        (lambda: run.remove_vertices([3]), 4),
    ]
    for change, expected in changes:
        change()
        count, result = deliveries()
        assert count == expected
        # With one component, vertex 0 sends first in index order: each edge carries at least one message.
        assert result.values[:3].tolist() == [0, 0, 0]


def test_betweenness_ignores_parallel_edges_and_loops(random: np.random.Generator) -> None:
    edges = random_edges(random, 60, 150)
    edges = np.concatenate((edges[0], edges[0][:80])), np.concatenate((edges[1], edges[1][:80]))
    expected = nx.betweenness_centrality(judge_of(60, edges), normalized=False)
    for how in ENGINES:
        values = gs.run("betweenness", graph_of(60, edges), sources=60, **how).values
        np.testing.assert_allclose(values, [expected[v] for v in range(60)], rtol=1e-9, atol=1e-12)


# Sources by name --------------------------------------------------------------------------------


def test_sources_are_named(random: np.random.Generator) -> None:
    edges = random_edges(random, 50, 200)
    names = [f"v{k}" for k in range(50)]
    graph = graph_of(50, edges, labels=names)
    judge = nx.DiGraph(judge_of(50, edges))
    chosen = [31, 4, 17]
    source = [names[v] for v in (*chosen, 4)]
    hops = [nx.single_source_shortest_path_length(judge, v) for v in chosen]
    total = [sum(h.get(v, 0) for h in hops) for v in range(50)]
    reached = [sum(v in h for h in hops) for v in range(50)]
    for app in ("asp", "mssp"):
        result = gs.run(app, graph, source=source)
        assert result.columns["sum"].tolist() == total
        assert result.columns["sources"].tolist() == reached
    subset = nx.betweenness_centrality_subset(judge, chosen, list(range(50)))
    for app in ("betweenness", "betweenness-weighted"):
        np.testing.assert_allclose(gs.run(app, graph, source=source).values, [subset[v] for v in range(50)], atol=1e-12)
    # A sample of sources estimates closeness: of those that reach the vertex, and their share.
    found = gs.run("closeness", graph, source=source).values
    for v in range(50):
        others = [h[v] for u, h in zip(chosen, hops, strict=True) if v in h and v != u]
        count = 3 - (v in chosen)
        assert found[v] == pytest.approx(len(others) ** 2 / sum(others) / count if others else 0)
    one = gs.run("asp", graph, source="v8").columns["sources"]
    assert one.sum() == len(nx.descendants(judge, 8)) + 1


def test_wrong_sources_are_rejected() -> None:
    graph = graph_of(70, star(69))
    for app, most in (("mssp", 8), ("asp", 64)):
        with pytest.raises(gs.InputError, match=f"{app}: {most + 1} sources are named; at most {most}"):
            gs.run(app, graph, source=list(range(most + 1)))
    for app in ("mssp", "asp", "betweenness", "betweenness-weighted", "closeness"):
        with pytest.raises(gs.InputError, match=f"{app}: give either sources"):
            gs.run(app, graph, source=1, sources=3)
        with pytest.raises(gs.InputError, match="no vertex 70"):
            gs.run(app, graph, source=[1, 70])
        with pytest.raises(gs.InputError, match=f"{app}: source: a dict of weights is not supported"):
            gs.run(app, graph, source={1: 2.0})
    with pytest.raises(gs.InputError, match="a dict of weights is not supported; give one value"):
        gs.run("sssp", graph, source={1: 2.0})
    for weights, text in (
        ({1: -1}, "at least 0"),
        ({1: np.inf}, "at least 0"),
        ({1: np.nan}, "at least 0"),
        ({1: "much"}, "no number"),
        ({1: 0}, "above 0"),
        ({}, "above 0"),
        ({1: 1, "1": 2}, "two weights"),
        ({99: 1}, "no vertex 99"),
    ):
        with pytest.raises(gs.InputError, match=text):
            gs.run("pagerank-personal", graph, source=weights)


# Arrays and changes -----------------------------------------------------------------------------


def test_masked_arrays_are_rejected() -> None:
    masked = np.ma.array([0, 1, 1], mask=[False, True, False])
    plain = np.array([1, 0, 1])
    graph = graph_of(3, (plain, plain), plain)
    run = gs.start("sssp", graph)
    calls: list[Callable[[], Any]] = [
        lambda: gs.Graph.from_arrays(masked, plain),
        lambda: gs.Graph.from_arrays(plain, masked),
        lambda: gs.Graph.from_arrays(plain, plain, masked),
        lambda: gs.Graph.from_csr([0, 1, 2, 3], masked),
        lambda: gs.Graph.from_csr([0, 1, 2, 3], plain, masked),
        lambda: gs.Graph.from_csr(np.ma.array([0, 1, 2, 3]), plain),
        lambda: gs.Graph.from_csr([0, 1, 2, 3], plain, labels=np.ma.array([4, 5, 6])),
        lambda: gs.run("asp", graph, source=masked),
        lambda: gs.run("sssp", graph, source=np.ma.masked),
        lambda: run.add_edges(masked, plain, plain),
        lambda: run.add_edges(plain, masked, plain),
        lambda: run.add_edges(plain, plain, masked),
        lambda: run.remove_vertices(masked),
        lambda: run.add_vertices(np.ma.array([1])),
    ]
    for call in calls:
        with pytest.raises(gs.InputError, match=r"masked array is not supported"):
            call()


@pytest.mark.parametrize("how", ENGINES)
def test_run_on_a_graph_without_edges_continues(how: dict[str, Any]) -> None:
    for app in ("hashmin", "hashmin-sync", "sssp", "pagerank"):
        weighted = np.empty(0, np.int32) if app == "sssp" else None
        run = gs.start(app, graph_of(3, NO_EDGES, weighted), **how)
        first = run.go().values.tolist()
        assert run.go().values.tolist() == first
        run.add_edges([0], [1], [4] if weighted is not None else None)
        assert run.go().values.tolist() != first
        run.remove_edges([0], [1])
        run.restart()
        assert run.go().values.tolist() == first
        assert run.go().values.tolist() == first
