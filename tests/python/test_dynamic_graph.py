# SPDX-License-Identifier: Apache-2.0
"""Runs that continue after changes of their graph, against SciPy and NumPy on a copy of the graph in the test."""

from __future__ import annotations

import pickle
import re
import runpy
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ROOT
from python.dynamic_graph_model import FAR, Model
from scipy.sparse import csgraph

import gossamer as gs
from gossamer.errors import HandlerDied

FIXTURES = ROOT / "tests" / "fixtures" / "descriptors"
ENGINES = [("cpu", 1), ("cpu", 2), ("cpu", 8), ("shuffle", 1)]


@pytest.mark.parametrize(("engine", "threads"), ENGINES)
@pytest.mark.parametrize("symmetric", [False, True])
def test_shortest_paths_continue_with_new_edges(engine: str, threads: int, symmetric: bool) -> None:
    model = Model(threads, 150, 300, symmetric=symmetric)
    run = gs.start("sssp64", model.graph(), engine=engine, threads=threads, source=7)
    assert run.go().values.tolist() == model.distances(7).tolist()
    for batch in (1, 40, 1, 500, 3, 60):
        model.add_vertices(run, batch % 7)
        model.add_edges(run, batch)
        found = run.go()
        assert found.values.tolist() == model.distances(7).tolist()
        assert found.stats["edges"] == len(model.edges)
    model.check_graph(run)
    assert gs.run("sssp64", run.graph, source=7).values.tolist() == model.distances(7).tolist()


@pytest.mark.parametrize(("engine", "threads"), ENGINES)
def test_shortest_paths_after_removed_edges(engine: str, threads: int) -> None:
    """Vertices reached over a removed edge are reset; the sources of their in-edges send their distances again."""
    model = Model(20 + threads, 120, 500)
    run = gs.start("sssp-paths", model.graph(), engine=engine, threads=threads, source=1)
    found = run.go()
    resets = 0
    for _ in range(12):
        lost = model.remove_edges(run, 25)
        before = found.columns["previous"].astype(np.int64)
        behind = {v for u, v in lost if before[v] == u}
        while more := {v for v in range(model.vertices) if before[v] in behind} - behind:
            behind |= more
        resets += len(behind)
        run.reset(sorted(behind))
        model.add_edges(run, 10)
        found = run.go()
        assert found.values.tolist() == model.distances(1).tolist()
        fresh = gs.run("sssp-paths", run.graph, source=1)
        assert all((found.columns[name] == fresh.columns[name]).all() for name in found.columns)
    assert resets > 20
    model.check_graph(run)


@pytest.mark.parametrize(("engine", "threads"), ENGINES)
@pytest.mark.parametrize("app", ["hashmin", "hashmin-sync"])
@pytest.mark.parametrize("symmetric", [False, True])
def test_components_continue_after_changes(engine: str, threads: int, app: str, symmetric: bool) -> None:
    model = Model(40 + threads, 200, 90, symmetric=symmetric)
    run = gs.start(app, model.graph(), engine=engine, threads=threads)
    found = run.go()
    for turn in range(8):
        assert found.values.tolist() == model.components().tolist()
        if turn % 2:
            lost = model.remove_edges(run, 8)
            apart = {found.values[v] for v in {v for pair in lost for v in pair}}
            run.reset(np.flatnonzero(np.isin(found.values, list(apart))))
        else:
            model.add_vertices(run, 2)
            model.add_edges(run, 15)
        found = run.go()
    model.check_graph(run)


@pytest.mark.parametrize(("engine", "threads"), ENGINES)
def test_pagerank_continues_after_all_kinds_of_changes(engine: str, threads: int) -> None:
    model = Model(60 + threads, 130, 600)
    run = gs.start("pagerank64", model.graph(), engine=engine, threads=threads, tolerance=1e-12)
    fresh = run.go().stats["steps"]
    for turn in range(6):
        model.add_vertices(run, 3)
        model.add_edges(run, 30 * (turn + 1))
        model.remove_edges(run, 20)
        if turn > 1:
            model.remove_vertices(run, [int(v) for v in model.random.choice(model.there(), turn, replace=False)])
        found = run.go()
        assert np.allclose(found.values, model.ranks(), rtol=1e-7, atol=1e-12)
        assert found.stats["vertices"] == len(model.there())
        assert found.stats["deliveries"] == len(model.edges) * found.stats["steps"]
    model.check_graph(run)
    model.add_edges(run, 1)
    assert run.go().stats["steps"] < fresh  # the stored scores are nearly right
    run.restart()
    assert np.allclose(run.go().values, model.ranks(), rtol=1e-7, atol=1e-12)


def test_removed_vertices_take_no_part_in_steps() -> None:
    header = FIXTURES / "dynamic-graph-count.h"
    for engine, threads in ENGINES:
        run = gs.start(header, gs.Graph.from_arrays([0, 1, 2], [1, 2, 3]), engine=engine, threads=threads)
        assert run.go().totals == {"there": 4}
        run.remove_vertices([1, 3])
        run.add_vertices(1)
        found = run.go()
        assert found.totals == {"there": 3}
        assert found.values.tolist() == [3, 0, 3, 0, 3]
        assert found.columns["begun"].tolist() == [1, 0, 1, 0, 1]
        assert found.columns["resumed"].tolist() == [1, 0, 1, 0, 0]
        assert found.columns["changed"].tolist() == [1, 0, 1, 0, 0]


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_many_changes_at_once_on_all_threads(threads: int) -> None:
    random = np.random.default_rng(threads)
    n = 20_000
    u, v = random.integers(0, n, (2, 150_000))
    w = random.integers(1, 1000, 150_000)
    run = gs.start("sssp64", gs.Graph.from_arrays(u, v, w, vertices=n), threads=threads, source=0)
    ranks = gs.start("pagerank64", gs.Graph.from_arrays(u, v, vertices=n), threads=threads)
    for one in (run, ranks):
        one.go()
    for _ in range(3):
        a, b = random.integers(0, n, (2, 20_000))
        c = random.integers(1, 1000, 20_000)
        u, v, w = np.append(u, a), np.append(v, b), np.append(w, c)
        run.add_edges(a, b, c)
        ranks.add_edges(a, b)
    best = np.lexsort((w, v, u))
    u, v, w = u[best], v[best], w[best]
    first = np.append(True, (np.diff(u) != 0) | (np.diff(v) != 0))
    matrix = sp.csr_array((w[first], (u[first], v[first])), shape=(n, n))
    far = csgraph.dijkstra(matrix, indices=0)
    assert run.go().values.tolist() == [FAR if np.isinf(d) else int(d) for d in far]

    found = ranks.go()
    assert found.stats["pull_rounds"] > 3
    share = 1 / np.maximum(1, np.bincount(u, minlength=n))
    links = sp.csr_array((share[u], (v, u)), shape=(n, n))
    dangling = np.bincount(u, minlength=n) == 0
    score = np.full(n, 1 / n)
    for _ in range(200):
        score = 0.15 / n + 0.85 * (links @ score + score[dangling].sum() / n)
    assert np.allclose(found.values, score, rtol=1e-7)


def test_work_of_a_part_depends_on_the_change_not_on_the_graph() -> None:
    """A path of vertices with a short cut near its end: the vertices before it are not read."""
    looks = {}
    for n in (20_000, 80_000):
        run = gs.start("sssp64", gs.Graph.from_arrays(np.arange(n - 1), np.arange(1, n), np.full(n - 1, 5)), source=0)
        run.go()
        run.add_edges([n - 12], [n - 2], [1])
        found = run.go()
        assert found.values[-3:].tolist() == [5 * (n - 3), 5 * (n - 12) + 1, 5 * (n - 12) + 6]
        assert (found.stats["sends"], found.stats["deliveries"]) == (3, 3)  # one repeats on its old edge
        assert found.stats["edge_looks"] < 20
        looks[n] = found.stats["vertex_looks"]
        # The bitmap of ready vertices is read by words of 64, some five times.
        assert looks[n] < 40 + 6 * n // 64
        run.add_edges([n - 12], [n - 2], [1])
        assert run.go().stats["edge_looks"] < 20


@pytest.mark.parametrize("symmetric", [False, True])
def test_rows_are_compacted_without_losing_edges(symmetric: bool) -> None:
    """Moved rows leave holes, which are closed when most edges are removed; no edge is lost, then or later."""
    model = Model(3, 60, 100, symmetric=symmetric)
    run = gs.start("sssp64", model.graph(), source=0)
    for _ in range(4):
        model.add_edges(run, 4000)
        model.remove_edges(run, len(model.edges) * 9 // 10)
        for _ in range(3):
            model.add_edges(run, 20)
            run.restart()
            found = run.go()
            assert found.values.tolist() == model.distances(0).tolist()
            assert found.stats["edges"] == len(model.edges)
    model.check_graph(run)


def test_weights_stay_with_their_edges_in_both_directions() -> None:
    """PageRank by weights pulls over edges by their targets."""
    model = Model(5, 80, 400)
    run = gs.start("pagerank-weighted", model.graph(), tolerance=1e-6)
    for _ in range(3):
        found = run.go()
        assert found.stats["pull_rounds"] > 0
        assert np.allclose(found.values, model.ranks(weighted=True), rtol=1e-3, atol=1e-6)
        model.add_vertices(run, 2)
        model.add_edges(run, 60)
        model.remove_edges(run, 30)
        model.remove_vertices(run, [int(model.there()[5])])


def test_reset_wakes_neighbours_in_both_directions() -> None:
    run = gs.start("hashmin", gs.Graph.from_arrays([1, 2], [0, 1]))
    assert run.go().values.tolist() == [0, 0, 0]
    for vertex in (1, 2):  # the repeated message arrives against the direction of its edge
        run.reset(vertex)
        assert run.go().values.tolist() == [0, 0, 0]


def test_labels_of_new_and_removed_vertices() -> None:
    text = gs.Graph.from_arrays(["oak", "ash"], ["ash", "yew"], weights=[3, 4])
    run = gs.start("sssp-paths", text, source="oak")
    run.go()
    assert run.add_vertices(["fir", "elm"]) == ["fir", "elm"]
    run.add_edges(["oak", "fir"], ["fir", "elm"], [1, 1])
    assert run.go().path("elm") == ["oak", "fir", "elm"]
    run.remove_vertices("ash")
    run.reset("yew")
    found = run.go()
    assert found.columns["distance"].tolist() == [0, FAR, FAR, 1, 2]
    with pytest.raises(gs.InputError, match=r"^add_edges: vertex ash was removed$"):
        run.add_edges("ash", "elm", 1)
    with pytest.raises(gs.InputError, match=r"^add_vertices: the vertex 'elm' already exists$"):
        run.add_vertices(["elm"])
    with pytest.raises(gs.InputError, match=r"^add_vertices: the graph's vertices have labels; give one"):
        run.add_vertices(1)
    with pytest.raises(gs.InputError, match=r"^remove_edges: there is no edge from vertex fir to vertex oak$"):
        run.remove_edges(["oak", "fir"], ["fir", "oak"])
    assert run.graph.edges == 2  # none of that has had an effect
    again = pickle.loads(pickle.dumps(run.graph))
    assert again.label_of(4) == "elm"
    assert again.out.targets.tolist() == [3, 4]

    numbers = gs.Graph.from_csr([0, 1, 1], [1], labels=np.array([10, 30]))
    run = gs.start("hashmin", numbers)
    run.go()
    assert run.add_vertices([31, 40]) == [31, 40]
    run.add_edges(40, 30)
    assert run.go().named("component").tolist() == [10, 10, 31, 10]
    with pytest.raises(gs.InputError, match=r"^add_vertices: the label 35 is not above the last one, 40$"):
        run.add_vertices([35])
    with pytest.raises(gs.InputError, match=r"^wake: there is no vertex 32$"):
        run.wake(32)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda r: r.add_edges(0, 9, 1), "add_edges: there is no vertex 9; vertices are the numbers 0 .. 3"),
        (lambda r: r.add_edges(-1, 0, 1), "add_edges: there is no vertex -1; vertices are the numbers 0 .. 3"),
        (
            lambda r: r.add_edges([0.5], 0, 1),
            "add_edges: sources: vertices are named by integers or by text, one or a list",
        ),
        (lambda r: r.add_edges(0, [[1], [2, 3]], 1), "add_edges: targets: vertices are named by integers or by text"),
        (lambda r: r.add_edges([None], 0, 1), "add_edges: there is no vertex None; vertices are numbers"),
        (lambda r: r.add_edges([2**70], 0, 1), "add_edges: there is no vertex 1180591620717411303424"),
        (lambda r: r.add_edges(0, 1, [[1], [2, 3]]), "add_edges: weights must be numbers, one for each edge"),
        (lambda r: r.add_edges(0.5, 0, 1), "Run.add_edges: sources: a value of type float is not supported; give the "),
        (lambda r: r.add_edges(0, {1}, 1), "Run.add_edges: targets: a value of type set is not supported; give the "),
        (lambda r: r.add_edges(0, 1, object()), "Run.add_edges: weights: a value of type object is not supported; giv"),
        (lambda r: r.remove_edges(targets=1, sources=None), "Run.remove_edges: sources: None is not supported; give "),
        (lambda r: r.remove_vertices({}), "Run.remove_vertices: vertices: a value of type dict is not supported; giv"),
        (lambda r: r.wake(None), "Run.wake: vertices: None is not supported; give the label of a vertex, or a list or"),
        (lambda r: r.reset(int), "Run.reset: vertices: a value of type type is not supported; give the"),
        (lambda r: r.add_vertices(2.0), "Run.add_vertices: new: a value of type float is not supported; give the numb"),
        (lambda r: r.add_edges("x", 0, 1), "add_edges: there is no vertex 'x'; vertices are numbers"),
        (lambda r: r.add_edges([0, 1], [2], [1, 1]), "add_edges: numbers of sources and targets differ (2 and 1)"),
        (lambda r: r.add_edges(0, 1), "add_edges: the graph has weights; give one for each edge"),
        (lambda r: r.add_edges(0, 1, [1, 2]), "add_edges: weights must be numbers, one for each edge"),
        (
            lambda r: r.add_edges(0, 1, 1.5),
            "add_edges: the weight 1.5 does not fit the type of the graph's weights, int64",
        ),
        (lambda r: r.add_edges(0, 1, -2), "sssp: the graph has a negative weight; weights must be at least 0"),
        (lambda r: r.add_edges(0, 1, 2**40), "sssp: the weight 1099511627776 is not an integer from -2147483648 to"),
        (lambda r: r.remove_edges(1, 0), "remove_edges: there is no edge from vertex 1 to vertex 0"),
        (lambda r: r.remove_edges([0, 3], [1, 3]), "remove_edges: there is no edge from vertex 3 to vertex 3"),
        (lambda r: r.add_vertices(-1), "add_vertices: -1 vertices cannot be added"),
        (lambda r: r.add_vertices(2**32), "add_vertices: a graph has at most 4294967294 vertices"),
        (lambda r: r.add_vertices("abc"), "add_vertices: new: give the number of new vertices"),
        (lambda r: r.remove_vertices([0, 1, 2, 3]), "remove_vertices: no vertex would be left"),
        (lambda r: r.reset(17), "reset: there is no vertex 17; vertices are the numbers 0 .. 3"),
        (lambda r: r.wake([[1]]), "wake: vertices: vertices are named by integers or by text, one or a list"),
    ],
)
def test_rejected_change_has_no_effect(call: object, said: str) -> None:
    run = gs.start("sssp", gs.Graph.from_arrays([0, 1, 2], [1, 2, 3], weights=[1, 2, 3]), source=0)
    run.go()
    with pytest.raises(gs.InputError, match="^" + re.escape(said)):
        call(run)  # type: ignore[operator]
    assert run.go().values.tolist() == [0, 1, 3, 6]
    assert run.graph.out.targets.tolist() == [1, 2, 3]
    assert run.there.all()


@pytest.mark.parametrize(("engine", "threads"), ENGINES)
def test_changed_edge_values_persist(engine: str, threads: int) -> None:
    """A recv that counts on its edges: the counts move with a row."""
    header = FIXTURES / "dynamic-graph-edges.h"
    run = gs.start(header, gs.Graph.from_arrays([0, 1, 0], [1, 2, 2], [10, 20, 30]), engine=engine, threads=threads)
    assert run.app.writes_edges
    assert run.go().values.tolist() == [0, 11, 21 + 31]
    run.add_edges(0, 1, 100)
    assert run.go().values.tolist() == [0, 11 + 12 + 101, 21 + 31 + 22 + 32]


def test_edge_limit_applies_to_edges_without_weights() -> None:
    """An application whose edges have values checks the number of edges of an unweighted graph."""
    run = gs.start(FIXTURES / "dynamic-graph-edges.h", gs.Graph.from_arrays([0, 1, 0], [1, 2, 2]))
    run.add_edges([0, 0], [1, 1])
    run.add_edges(1, 0)
    with pytest.raises(gs.InputError, match=r"^tallies: more than 6 edges$"):
        run.add_edges(2, 0)
    assert run.graph.edges == 6 and run.go().stats["edges"] == 6


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("weight", [float("nan"), float("inf"), 1e300, -np.inf])
def test_new_weights_are_finite(kind: type, weight: float) -> None:
    run = gs.start("sssp-double", gs.Graph.from_arrays([0], [1], np.array([1], kind)))
    if weight == 1e300 and kind is np.float64:
        return run.add_edges(0, 1, weight)
    finite = np.isfinite(weight) and np.dtype(kind).kind == "i"
    said = "does not fit the type of the graph's weights" if finite else "is not a finite number of the graph's type"
    with pytest.raises(gs.InputError, match=f"^add_edges: .*{said}"):
        run.add_edges([0, 1], [1, 0], [1, weight])
    return None


def test_application_without_handlers_for_changes_is_rejected() -> None:
    graph = gs.Graph.from_arrays([0, 1], [1, 2])
    with pytest.raises(gs.InputError, match=r"^scc: its vertices have no handler changed\(\) or resume\(\)"):
        gs.start("scc", graph)
    with pytest.raises(gs.InputError, match=r"^a list is no Graph"):
        gs.start("hashmin", [1, 2])  # type: ignore[arg-type]
    run = gs.start("hashmin", graph)
    with pytest.raises(gs.InputError, match=r"^add_edges: the graph has no weights, so new edges cannot have weights$"):
        run.add_edges(0, 2, 1)


def test_descriptor_initialises_each_vertex_once(tmp_path: Path) -> None:
    """Including one removed before the first part or before a restart; one removed later is initialised again."""
    header = tmp_path / "begun.h"
    text = (FIXTURES / "dynamic-graph-count.h").read_text()
    once = "void init(const gossamer::VertexInfo&, State& s) { s = {}; }"
    assert once in text
    counting = "uint32_t calls = 0;\n  void init(const gossamer::VertexInfo&, State& s) { s = {++calls, 0, 0, 0}; }"
    names = text.replace(once, counting).replace("s->n = numVertices;", "")
    header.write_text(names)
    run = gs.start(header, gs.Graph.from_arrays([0, 1, 2], [1, 2, 3]))
    run.remove_vertices(1)
    assert run.go().columns["n"].tolist() == [1, 2, 3, 4]
    assert run.go().columns["n"].tolist() == [1, 2, 3, 4]
    run.remove_vertices(2)
    assert run.go().columns["n"].tolist() == [1, 2, 5, 4]
    run.remove_vertices(3)
    run.restart()
    for _ in range(2):
        assert run.go().columns["n"].tolist() == [6, 7, 8, 9]


def test_calls_during_a_run_and_after_an_aborted_one_are_rejected() -> None:
    header = FIXTURES / "dynamic-graph-crash.h"
    run = gs.start(header, gs.Graph.from_arrays([0, 1, 2], [1, 2, 3]))
    run.go()
    run.wake(1)
    other = threading.Thread(target=run.go)
    other.start()
    refused = ""
    while other.is_alive() and not refused:
        try:
            run.wake(0)
        except gs.InputError as error:
            refused = str(error)
    other.join()
    assert refused == "wake: the run is in progress; wait until go() has returned"
    run.go()
    run.wake(2)
    with pytest.raises(HandlerDied, match=r"^crash: changed of vertex 2 "):
        run.go()
    with pytest.raises(gs.InputError, match=r"^crash: its last run did not reach its end, .*call restart\(\)$"):
        run.go()
    run.restart()
    assert run.go().values.tolist() == [0, 1, 2, 3]


def test_roadworks_example_finds_the_same_paths(capsys: pytest.CaptureFixture[str]) -> None:
    main = runpy.run_path(str(ROOT / "examples" / "roadworks" / "roadworks.py"))["main"]
    assert main(30, 5) == 0
    assert capsys.readouterr().out.count("\n") == 7
