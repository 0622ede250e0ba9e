# SPDX-License-Identifier: Apache-2.0
"""Every application on random and real graphs, compared with NetworkX, SciPy and NumPy."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import agreement
import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from algorithm_judges import smallest_of_component
from conftest import Size
from made_graphs import Edges, graph_of, lightest, matrix, random_edges
from scipy.sparse import csgraph

import gossamer as gs
from gossamer import apps
from gossamer.apps.runner import difference

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
FAR = np.uint32(0xFFFFFFFF)


def both_ways(edges: Edges) -> Edges:
    """Each edge and its reverse; a self-loop is its own reverse."""
    other = edges[0] != edges[1]
    return (
        np.concatenate((edges[0], edges[1][other])),
        np.concatenate((edges[1], edges[0][other])),
    )


def multigraph(vertices: int, edges: Edges) -> Any:
    judge = nx.MultiDiGraph()
    judge.add_nodes_from(range(vertices))
    judge.add_edges_from(zip(edges[0].tolist(), edges[1].tolist(), strict=True))
    return judge


def ranks_of(judge: Any, damping: float = 0.85) -> np.ndarray[Any, Any]:
    # NetworkX stops when all changes sum to less than vertices * tol: near to rounding, but above it.
    ranks = nx.pagerank(judge, alpha=damping, tol=1e-14 / len(judge), max_iter=5000, weight=None)
    return np.array([ranks[v] for v in range(len(ranks))])


def close(values: Any, judge: Any, tolerance: float) -> None:
    """Within a tolerance relative to the value, or to the mean value where it is less than that."""
    error = np.abs(np.asarray(values, np.float64) - judge) / np.maximum(judge, 1 / len(judge))
    worst = error.argmax()
    assert error[worst] < tolerance, f"vertex {worst}: {values[worst]}, {judge[worst]}"


def settled(ranks: Any, judge: Any, tolerance: float, damping: float = 0.85) -> None:
    """All ranks together are no further from the fixed point than a last step within the tolerance leaves them.

    What later steps add is at most damping / (1 - damping) of the last one's change; making the sum 1 doubles it.
    """
    assert np.abs(np.asarray(ranks, np.float64) - judge).sum() <= 2 * tolerance * damping / (1 - damping)


def hops(a: Any, sources: Any) -> np.ndarray[Any, Any]:
    return csgraph.shortest_path(a, method="D", unweighted=True, indices=sources)


@pytest.fixture
def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def cases(size: Size, random: np.random.Generator) -> list[tuple[int, int]]:
    """Vertices and edges: tiny graphs for corner cases, and some that use all threads."""
    tiny = [(1, 0), (1, 2), (2, 1), (3, 0), (64, 100), (65, 70)]
    count = size.pick(3, 6, 100)
    some = [(int(random.integers(2, 300)), int(random.integers(0, 1500))) for _ in range(count)]
    return [*tiny, *some, (3000, size.pick(30000, 60000, 60000))]


# PageRank ---------------------------------------------------------------------------------------


@pytest.mark.tier("quick", seconds=2, adds="PageRank compared with NetworkX")
def test_pagerank_matches_networkx(size: Size, random: np.random.Generator) -> None:
    for vertices, count in cases(size, random):
        directed = random_edges(random, vertices, count)
        for symmetric in (False, True):
            edges = both_ways(directed) if symmetric else directed
            judge = ranks_of(multigraph(vertices, edges))
            graph = graph_of(vertices, edges, symmetric=symmetric)
            for threads in (1, 2, 3):
                exact = gs.run("pagerank64", graph, threads=threads, tolerance=1e-13)
                assert exact.values.dtype == np.float64
                close(exact.values, judge, 1e-9)
                assert exact.values.sum() == pytest.approx(1)
                single = gs.run("pagerank", graph, threads=threads, iterations=100)
                assert single.values.dtype == np.float32
                close(single.values, judge, apps.load("pagerank").tolerance)
                settled(gs.run("pagerank", graph, threads=threads).values, judge, 1e-4)
                settled(gs.run("pagerank64", graph, threads=threads).values, judge, 1e-10)


@pytest.mark.parametrize("dangling", [False, True])
def test_pagerank_ends_by_the_total_change(dangling: bool, random: np.random.Generator) -> None:
    """The last step is the one after the first whose total change is at most the tolerance."""
    vertices, damping = 400, 0.8
    edges = random_edges(random, vertices, 1500, dangling=dangling)
    a = matrix(vertices, edges)
    degrees = np.bincount(edges[0], minlength=vertices)
    score = np.full(vertices, 1 / vertices)
    moves = []
    for _ in range(100):
        share = np.divide(score, degrees, out=np.zeros(vertices), where=degrees > 0)
        last, score = score, (1 - damping) / vertices + damping * (a.T @ share)
        moves.append(np.abs(score - last).sum() / score.sum())
    for tolerance in (1e-2, 1e-5, 1e-9):
        expected = 2 + next(k for k, moved in enumerate(moves) if moved <= tolerance)
        for options in ({"threads": 1}, {"threads": 3}, {"engine": "shuffle", "seed": 3}):
            result = gs.run("pagerank64", graph_of(vertices, edges), damping=damping, tolerance=tolerance, **options)
            assert result.stats["steps"] == expected
            assert result.totals["change"] == pytest.approx(moves[expected - 1], rel=1e-6)
            assert result.stats["sends"] == expected * vertices


def test_pagerank_counts_changes_below_the_last_bit_of_its_sums() -> None:
    """Tiny changes of many vertices prevent convergence."""
    vertices, damping, iterations = 1 << 17, 0.5, 38
    random = np.random.default_rng(1)
    edges = random_edges(random, vertices, 8 * vertices)
    a = matrix(vertices, edges).T.tocsr()
    degrees = np.bincount(edges[0], minlength=vertices)
    score = np.full(vertices, 1 / vertices)
    for _ in range(iterations):
        share = np.divide(score, degrees, out=np.zeros(vertices), where=degrees > 0)
        last, score = score, (1 - damping) / vertices + damping * (a @ share)
    moved = np.abs(score - last).sum() / score.sum()
    assert 0 < moved < vertices * 2.0**-59
    result = gs.run("pagerank64", graph_of(vertices, edges), damping=damping, iterations=iterations)
    assert 0.99 * moved <= result.totals["change"] <= moved + 2 * vertices * 2.0**-61


def test_pagerank_stops_at_tolerances_near_rounding() -> None:
    """Due to rounding, the step after the one within the tolerance may change slightly more."""
    random = np.random.default_rng(2)
    for _ in range(12):
        graph = graph_of(50, random_edges(random, 50, 300))
        for tolerance in np.geomspace(5e-9, 2e-7, 30):
            assert gs.run("pagerank", graph, tolerance=float(tolerance), threads=1).stats["steps"] < 1000


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_pagerank_accepts_networkx_graphs(kind: type[Any], random: np.random.Generator) -> None:
    judge = kind()
    judge.add_nodes_from(range(40))
    edges = random_edges(random, 40, 120)
    judge.add_edges_from(zip(edges[0].tolist(), edges[1].tolist(), strict=True))
    result = gs.run("pagerank64", gs.Graph.from_networkx(judge), tolerance=1e-13, damping=0.7)
    close(result.values, ranks_of(judge, 0.7), 1e-9)


def test_pagerank_iterations_match_the_power_method(random: np.random.Generator) -> None:
    vertices, iterations, damping = 500, 7, 0.6
    edges = random_edges(random, vertices, 4000)
    a = matrix(vertices, edges)
    degrees = np.bincount(edges[0], minlength=vertices)
    score = np.full(vertices, 1 / vertices)
    for _ in range(iterations):
        share = np.divide(score, degrees, out=np.zeros(vertices), where=degrees > 0)
        score = (1 - damping) / vertices + damping * (a.T @ share)
    graph = graph_of(vertices, edges)
    for threads in (1, 2):
        given = {"iterations": iterations, "damping": damping}
        raw = gs.run("pagerank64", graph, threads=threads, raw=True, **given)
        np.testing.assert_allclose(raw.values, score, rtol=1e-12)
        assert raw.stats["sends"] == iterations * vertices
        assert raw.stats["deliveries"] == iterations * len(edges[0])
        assert raw.stats["steps"] == len(raw.stats["step_seconds"]) == iterations
        assert raw.stats["threads"] == threads
        assert 0 < sum(raw.stats["step_seconds"]) <= raw.seconds


# Shortest paths -----------------------------------------------------------------------------------


@pytest.mark.tier("quick", seconds=1, adds="shortest paths compared with SciPy")
def test_sssp_matches_dijkstra(size: Size, random: np.random.Generator) -> None:
    for vertices, count in cases(size, random):
        edges = random_edges(random, vertices, count)
        heaviest = int(random.choice([1, 3, 200, 2**20]))
        weights = random.integers(1, heaviest + 1, size=len(edges[0]))
        source = int(random.integers(vertices))
        judge = csgraph.dijkstra(lightest(vertices, edges, weights), indices=source)
        expected = np.where(np.isinf(judge), float(FAR), judge).astype(np.uint32)
        for kind in (np.int32, np.int64, np.float32, np.float64):
            graph = graph_of(vertices, edges, weights.astype(kind))
            for threads in (1, 2, 3):
                result = gs.run("sssp", graph, threads=threads, source=source)
                np.testing.assert_array_equal(result.values, expected)


def test_sssp_supports_zero_weights(random: np.random.Generator) -> None:
    edges = random_edges(random, 200, 600)
    weights = random.integers(0, 3, size=len(edges[0]))
    judge = nx.MultiDiGraph()
    judge.add_nodes_from(range(200))
    judge.add_weighted_edges_from(zip(*(x.tolist() for x in (*edges, weights)), strict=True))
    lengths = nx.single_source_dijkstra_path_length(judge, 199)
    expected = [lengths.get(v, int(FAR)) for v in range(200)]
    graph = graph_of(200, edges, weights)
    for threads in (1, 2):
        assert gs.run("sssp", graph, threads=threads, source=199).values.tolist() == expected


def test_sssp_without_weights_counts_edges(random: np.random.Generator) -> None:
    edges = random_edges(random, 400, 900)
    judge = hops(matrix(400, edges), 399)
    expected = np.where(np.isinf(judge), float(FAR), judge).astype(np.uint32)
    np.testing.assert_array_equal(gs.run("sssp", graph_of(400, edges), source=399).values, expected)


def test_source_is_selected_by_its_label() -> None:
    edges = np.array([0, 1, 2]), np.array([1, 2, 3])
    expected = [int(FAR), 0, 1, 2]
    assert gs.run("sssp", graph_of(4, edges), source=1).values.tolist() == expected
    assert gs.run("sssp", graph_of(4, edges, base=1), source=2).values.tolist() == expected
    assert gs.run("sssp", graph_of(4, edges, base=1), source="2").values.tolist() == expected
    gaps = graph_of(4, edges, labels=np.array([5, 70, 800, 9000]))
    assert gs.run("sssp", gaps, source=70).values.tolist() == expected
    named = graph_of(4, edges, labels=["ash", "birch", "cedar", "date palm"])
    assert gs.run("sssp", named, source="birch").values.tolist() == expected
    assert gs.run("sssp", named).values.tolist() == [0, 1, 2, 3]  # from the first vertex


# Components ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("app", ["hashmin", "hashmin-sync"])
def test_hashmin_matches_connected_components(app: str, size: Size, random: np.random.Generator) -> None:
    for vertices, count in [*cases(size, random), (5000, 3000)]:
        edges = random_edges(random, vertices, count)
        _, labels = csgraph.connected_components(matrix(vertices, edges), connection="weak")
        expected = smallest_of_component(labels)
        for graph in (graph_of(vertices, edges), graph_of(vertices, both_ways(edges), symmetric=True)):
            for threads in (1, 2, 3):
                result = gs.run(app, graph, threads=threads)
                np.testing.assert_array_equal(result.values, expected)


# Hops from many sources -----------------------------------------------------------------------------


def test_asp_matches_breadth_first_search(size: Size, random: np.random.Generator) -> None:
    for vertices, count in cases(size, random):
        edges = random_edges(random, vertices, count)
        wanted = int(random.integers(1, 65))
        number = min(wanted, vertices)
        sources = [k * vertices // number for k in range(number)]
        distance = hops(matrix(vertices, edges), sources)
        there = np.isfinite(distance)
        for threads in (1, 2, 3):
            result = gs.run("asp", graph_of(vertices, edges), threads=threads, sources=wanted)
            np.testing.assert_array_equal(result.columns["sources"], there.sum(axis=0))
            np.testing.assert_array_equal(result.columns["sum"], np.where(there, distance, 0).sum(axis=0))
            assert result.values is result.columns["sum"]


# Engines ------------------------------------------------------------------------------------------


ANY_GRAPH = [app for app in apps.names() if app not in ("dpd", "dpd-gals")]
"""dpd and dpd-gals need a box; test_apps_dpd.py tests them."""


@pytest.mark.default_cases(
    "(?!pagerank-personal|pagerank-weighted|sssp-float).*", seconds=27, adds="variants of one application"
)
@pytest.mark.parametrize("app", ANY_GRAPH)
def test_engines_agree(app: str, size: Size, random: np.random.Generator) -> None:
    for _ in range(size.pick(3, 8, 60)):
        vertices = int(random.integers(1, 400))
        edges = random_edges(random, vertices, int(random.integers(0, 2000)))
        graph = graph_of(vertices, edges, random.integers(1, 9, size=len(edges[0])))
        first = gs.run(app, graph, threads=1)
        again = gs.run(app, graph, threads=1)
        for name, values in first.columns.items():
            np.testing.assert_array_equal(again.columns[name], values)  # to the last bit
        for threads in (2, 3, 8):
            assert difference(first, gs.run(app, graph, threads=threads)) is None
        shuffled = gs.run(app, graph, engine="shuffle", seed=int(random.integers(2**63)))
        agreement.check(first, shuffled)
        assert shuffled.stats["engine"] == "shuffle"


def test_comparison_detects_a_difference() -> None:
    path = np.array([0, 1]), np.array([1, 2])
    graph = graph_of(3, path)
    for app in ("sssp", "pagerank"):
        first, second = gs.run(app, graph), gs.run(app, graph)
        assert difference(first, second) is None
        second.values[1] += 1
        found = difference(first, second)
        assert found is not None
        assert (found.vertex, found.count) == (1, 1)
        assert found.first == first.values[1]
        assert found.second == second.values[1]
    # Results within the tolerance are equal, others are not.
    second.values[1] = first.values[1] * np.float32(1 + 5e-4)
    assert difference(first, second) is None
    second.values[1] = first.values[1] * np.float32(1 + 3e-3)
    assert difference(first, second) is not None
    # An infinite value does not make the tolerance of the others infinite, nor does the mark of a missing one.
    missing = replace(first.app.columns[0], absent=float(np.float32(3e38)))
    app = replace(first.app, columns=(missing,))
    for mark in (np.inf, np.nan, 3e38):
        a, b = (np.array([0.5, wrong, mark], np.float32) for wrong in (0.25, 0.75))
        first, second = (replace(first, app=app, columns={"rank": values}) for values in (a, b))
        assert difference(first, second) is not None and agreement.differences(first, second)
        agreement.check(first, replace(second, columns={"rank": a.copy()}))


def test_graph_with_rows_by_destination_runs(random: np.random.Generator) -> None:
    edges = random_edges(random, 300, 3000)
    weights = random.integers(1, 9, size=len(edges[0]))
    there = graph_of(300, edges, weights)
    back = gs.Graph(into=there.into)
    for app in ANY_GRAPH:
        for threads in (1, 2):
            assert difference(gs.run(app, there), gs.run(app, back, threads=threads)) is None


# Real graphs ----------------------------------------------------------------------------------------


def by_scipy(path: Path) -> tuple[int, Edges]:
    a = scipy.sparse.coo_array(scipy.io.mmread(path))
    return a.shape[0], (a.row.astype(np.int64), a.col.astype(np.int64))


def by_numpy(path: Path) -> tuple[int, Edges]:
    pairs = np.loadtxt(path, dtype=np.int64, comments="#")
    labels, ends = np.unique(pairs, return_inverse=True)
    ends = ends.reshape(pairs.shape)
    return len(labels), (ends[:, 0], ends[:, 1])


def by_hand(path: Path) -> tuple[int, Edges]:
    """METIS: line k lists the neighbours of vertex k."""
    with gzip.open(path, "rt") as file:
        lines = [line for line in file if not line.startswith("%")]
    rows = [[int(word) - 1 for word in line.split()] for line in lines[1:]]
    vertices = int(lines[0].split()[0])
    sources = np.repeat(np.arange(vertices), [len(row) for row in rows[:vertices]])
    return vertices, (sources, np.array([v for row in rows for v in row]))


REAL: list[tuple[str, Callable[[Path], tuple[int, Edges]], bool]] = [
    ("wiki-Vote.txt.gz", by_numpy, True),
    ("airfoil1.graph.gz", by_hand, True),
    ("ca-CondMat.mtx.gz", by_scipy, False),
    ("cit-HepTh.mtx.gz", by_scipy, False),
    ("email-Enron.mtx.gz", by_scipy, False),
]


@pytest.mark.parametrize(("name", "reader", "quick"), REAL, ids=[name for name, *_ in REAL])
def test_real_graphs_match_references(
    name: str, reader: Callable[[Path], tuple[int, Edges]], quick: bool, size: Size, seed: int
) -> None:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    if not quick and size.name == "small":
        pytest.skip("not in the quick size")
    vertices, edges = reader(path)
    graph = gs.read_graph(path)
    assert (graph.vertices, graph.edges) == (vertices, len(edges[0]))
    a = matrix(vertices, edges)

    judge = ranks_of(nx.from_scipy_sparse_array(a.astype(int), create_using=nx.DiGraph))
    _, components = csgraph.connected_components(a, connection="weak")
    sources = [k * vertices // 64 for k in range(64)]
    distance = hops(a, sources)
    there = np.isfinite(distance)
    source = int(np.random.default_rng(seed).integers(vertices))
    path_lengths = hops(a, source)
    for threads in (1, 2):
        close(gs.run("pagerank64", graph, threads=threads, tolerance=1e-12).values, judge, 1e-8)
        close(gs.run("pagerank", graph, threads=threads, iterations=100).values, judge, 1e-4)
        settled(gs.run("pagerank", graph, threads=threads).values, judge, 1e-4)
        for app in ("hashmin", "hashmin-sync"):
            values = gs.run(app, graph, threads=threads).values
            np.testing.assert_array_equal(values, smallest_of_component(components))
        result = gs.run("asp", graph, threads=threads)
        np.testing.assert_array_equal(result.columns["sources"], there.sum(axis=0))
        np.testing.assert_array_equal(result.columns["sum"], np.where(there, distance, 0).sum(axis=0))
        if not graph.weighted:
            lengths = gs.run("sssp", graph, threads=threads, source=graph.label_of(source)).values
            expected = np.where(np.isinf(path_lengths), float(FAR), path_lengths).astype(np.uint32)
            np.testing.assert_array_equal(lengths, expected)


# Bad input ----------------------------------------------------------------------------------------


def refusal(app: str, graph: gs.Graph, **given: Any) -> str:
    with pytest.raises(gs.InputError) as caught:
        gs.run(app, graph, **given)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_name_selects_one_header_of_its_family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A header whose name does not begin with its folder's name is not an application."""
    for path in ("walk/walk.h", "walk/walk-fast.h", "walk/tables.h", "walk-fast/walk-fast.h"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
    monkeypatch.setattr("gossamer.paths.APPS", tmp_path)
    assert apps.names() == ["walk", "walk-fast"]
    assert apps.find("walk") == tmp_path / "walk/walk.h"
    with pytest.raises(gs.InputError, match=r"'walk-fast' is ambiguous: .*walk/walk-fast\.h"):
        apps.find("walk-fast")
    with pytest.raises(gs.InputError, match="no such application: 'tables'"):
        apps.find("tables")


def test_invalid_parameters_are_rejected() -> None:
    graph = graph_of(3, (np.array([0, 1]), np.array([1, 2])))
    assert "nothing" in refusal("sssp", graph, source="nothing")
    assert "3" in refusal("sssp", graph, source=3)
    assert "-1" in refusal("sssp", graph, source=-1)
    assert "damping" in refusal("pagerank", graph, damping=2)
    assert "damping" in refusal("pagerank", graph, damping=-0.1)
    assert "damping" in refusal("pagerank", graph, damping=float("nan"))
    assert "damping" in refusal("pagerank", graph, damping="much")
    assert "tolerance" in refusal("pagerank", graph, tolerance=0)
    assert "iterations" in refusal("pagerank", graph, iterations=2.5)
    assert "iterations" in refusal("pagerank", graph, iterations=-1)
    assert "raw" in refusal("pagerank", graph, raw="perhaps")
    assert "sources" in refusal("asp", graph, sources=65)
    assert "sources" in refusal("asp", graph, sources=0)
    text = refusal("pagerank", graph, dumping=0.5)
    assert "dumping" in text and "damping" in text  # what was wrong, and what there is
    assert "none" in refusal("hashmin", graph, source=1)
    assert "shuffel" in refusal("sssp", graph, engine="shuffel")
    assert "pagerank" in refusal("pagerunk", graph)
    assert "such file" in refusal("no/such/vertex.h", graph)


def test_invalid_weights_are_rejected() -> None:
    edges = np.array([0, 1]), np.array([1, 2])
    assert "negative" in refusal("sssp", graph_of(3, edges, np.array([1, -4])))
    assert "negative" in refusal("sssp", graph_of(3, edges, np.array([1.0, -4.0])))
    assert "0.5" in refusal("sssp", graph_of(3, edges, np.array([1, 0.5])))
    assert str(2**31) in refusal("sssp", graph_of(3, edges, np.array([1, 2**31])))
    assert "nan" in refusal("sssp", graph_of(3, edges, np.array([1, np.nan]))).lower()
    # Applications that do not use weights accept them.
    assert gs.run("hashmin", graph_of(3, edges, np.array([1, -0.5]))).values.tolist() == [0, 0, 0]


def test_graph_without_vertices_is_rejected() -> None:
    with pytest.raises(gs.InputError):
        gs.run("pagerank", gs.Graph.from_csr([0], []))
    with pytest.raises(gs.InputError):
        gs.run("pagerank", gs.Graph.from_networkx(nx.DiGraph()))


def test_result_has_columns_values_and_statistics() -> None:
    graph = graph_of(3, (np.array([0, 1]), np.array([1, 2])), labels=["a", "b", "c"])
    result = gs.run("sssp", graph, source="a", threads=1)
    assert list(result.columns) == ["distance"]
    assert result.values is result.columns["distance"]
    assert result.values.dtype == np.uint32
    assert list(result.labels) == ["a", "b", "c"]
    assert result.graph is graph
    assert result.app.name == "sssp"
    assert result.seconds > 0
    assert {"sends", "deliveries", "steps", "step_calls", "step_seconds", "threads"} <= result.stats.keys()
    assert (result.stats["sends"], result.stats["deliveries"], result.stats["host_messages"]) == (3, 2, 3)


def test_pagerank_ends_despite_rounding_oscillation() -> None:
    """Single precision cannot meet such a tolerance at a vertex with many in-edges."""
    graph = gs.read_graph("gen:rmat:scale=10,seed=3")
    result = gs.run("pagerank", graph, tolerance=1e-15, raw=True)
    assert result.stats["steps"] <= 1000
    exact = gs.run("pagerank64", graph, iterations=300, raw=True)
    assert np.allclose(result.values, exact.values, rtol=1e-3)
