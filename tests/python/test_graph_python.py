# SPDX-License-Identifier: Apache-2.0
"""Graphs and results in Python: errors name the type of an invalid argument, results can be pickled and print short."""

from __future__ import annotations

import decimal
import pickle
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

import gossamer as gs
from gossamer.paths import DATA

DENSE = np.array([[0, 1, 0], [0, 0, 2], [0, 0, 0]])
FORMS = ("csr_array", "csr_matrix", "csc_array", "coo_array", "dok_array", "lil_array", "dia_array", "bsr_array")


@pytest.mark.parametrize("form", FORMS)
def test_every_format_of_sparse_matrix_is_accepted(form: str) -> None:
    graph = gs.Graph.from_scipy(getattr(scipy.sparse, form)(DENSE))
    assert (graph.to_scipy().toarray() == DENSE).all()


@pytest.mark.parametrize("thing", [DENSE, np.matrix(DENSE), DENSE.tolist(), None, 3, nx.path_graph(3)])
def test_from_scipy_names_the_type_of_an_invalid_argument(thing: Any) -> None:
    with pytest.raises(gs.InputError, match=f"a {type(thing).__name__} is not a sparse matrix"):
        gs.Graph.from_scipy(thing)


@pytest.mark.parametrize("thing", [None, {}, DENSE, "net.txt"])
def test_from_networkx_names_the_type_of_an_invalid_argument(thing: Any) -> None:
    with pytest.raises(gs.InputError, match=f"a {type(thing).__name__} is not a NetworkX graph"):
        gs.Graph.from_networkx(thing)


@pytest.mark.parametrize("weight", ["heavy", decimal.Decimal(2), [1], 1j])
def test_invalid_weight_is_reported_with_its_edge(weight: Any) -> None:
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=1)
    graph.add_edge("b", "c", weight=weight)
    with pytest.raises(gs.InputError, match=f"the weight of the edge 'b', 'c' is a {type(weight).__name__}"):
        gs.Graph.from_networkx(graph)


def test_read_graph_accepts_text_bytes_and_paths(tmp_path: Path) -> None:
    path = tmp_path / "net.txt"
    path.write_text("0 1\n1 2\n")
    for one in (path, str(path), bytes(path)):
        assert gs.read_graph(one).edges == 2
    with path.open() as file:
        for thing in (None, 3, file, DENSE, nx.path_graph(3)):
            with pytest.raises(gs.InputError, match=f"a {type(thing).__name__} is not a path"):
                gs.read_graph(thing)  # type: ignore[arg-type]


@pytest.mark.parametrize("thing", ["net.txt", 3, None, scipy.sparse.csr_array(DENSE), nx.path_graph(3)])
def test_run_names_the_type_of_an_invalid_graph(thing: Any) -> None:
    with pytest.raises(gs.InputError, match=f"a {type(thing).__name__} is no Graph"):
        gs.run("hashmin", thing)


def test_results_can_be_pickled_and_print_short() -> None:
    graph = gs.read_graph(DATA / "debian12.adj.gz")
    result = gs.run("hashmin", graph)
    for text in (repr(result), repr(result.app), repr(graph)):
        assert len(text) < 200 and "\n" not in text
    assert "hashmin" in repr(result) and f"{graph.vertices} vertices" in repr(result)
    again = pickle.loads(pickle.dumps(result))
    assert again.app == result.app and again.stats == result.stats and again.totals == result.totals
    assert all((again.columns[name] == result.columns[name]).all() for name in result.columns)
    assert [again.graph.label_of(v) for v in (0, 9, 777)] == [graph.label_of(v) for v in (0, 9, 777)]
    assert (again.graph.out.targets == graph.out.targets).all()
    assert (gs.run("hashmin", again.graph).values == result.values).all()


# Symmetry ------------------------------------------------------------------------------------------

TALL = np.array([[0, 3, 0], [3, 0, 5], [0, 5, 1]])


@pytest.mark.parametrize(("where", "weighted"), [((2, 1), True), ((2, 1), False), ((1, 0), True)])
def test_symmetric_option_is_verified(where: tuple[int, int], weighted: bool) -> None:
    matrix = scipy.sparse.csr_array(TALL)
    graph = gs.Graph.from_scipy(matrix, symmetric=True, weighted=weighted)
    assert graph.symmetric and graph.into is graph.out
    wrong = TALL.copy()
    wrong[where] = 4
    message = f"net: is not symmetric: the edge from {where[1]} to {where[0]} has no reverse of the same weight"
    parts = scipy.sparse.csr_array(wrong)
    if weighted:
        with pytest.raises(gs.InputError, match=f"^{message}; omit symmetric, or use symmetrised"):
            gs.Graph.from_scipy(parts, symmetric=True, name="net")
    else:
        assert gs.Graph.from_scipy(parts, symmetric=True, weighted=False).symmetric
    wrong[where] = 0
    parts = scipy.sparse.csr_array(wrong)
    for weights in (parts.data, None):
        with pytest.raises(gs.InputError, match=f"^net: is not symmetric: the edge from {where[1]} to {where[0]} has"):
            gs.Graph.from_csr(parts.indptr, parts.indices, weights, symmetric=True, name="net")


def test_edge_without_reverse_is_reported_by_labels() -> None:
    with pytest.raises(gs.InputError, match=r"^graph: is not symmetric: the edge from ash to yew has no reverse; "):
        gs.Graph.from_csr([0, 1, 1], [1], symmetric=True, labels=["ash", "yew"])


def test_with_weights_keeps_symmetry_only_for_symmetric_weights() -> None:
    """A pulling application reads the weight of the edge itself, not of its reverse."""
    ring = gs.read_graph("gen:ring:vertices=300").symmetrised()
    random = np.random.default_rng(3)
    assert ring.with_weights(np.full(ring.edges, 7)).symmetric
    weights = random.integers(1, 9, ring.edges)
    graph = ring.with_weights(weights)
    assert not graph.symmetric
    plain = gs.Graph.from_csr(ring.out.offsets, ring.out.targets, weights)
    assert (graph.into.weights == plain.into.weights).all()
    got, expected = (gs.run("pagerank-weighted", g, iterations=10, threads=1).values for g in (graph, plain))
    assert (got == expected).all()


# Notes and warnings --------------------------------------------------------------------------------


def test_duplicate_edges_of_a_symmetrised_graph_are_noted() -> None:
    both = gs.Graph.from_arrays([0, 1, 1], [1, 0, 2], undirected=True, name="net")
    note = "net: 2 of 6 edges, with both directions counted, are duplicates; dedupe removes them"
    assert both.notes == (note,)
    assert gs.Graph.from_arrays([0, 1], [1, 2]).symmetrised().notes == ()
    assert gs.Graph.from_arrays([0, 1, 1], [1, 0, 2], name="net").symmetrised().notes == (note,)


def test_duplicate_edges_of_a_file_are_noted_once(tmp_path: Path) -> None:
    path = tmp_path / "net.txt"
    path.write_text("a b\nb a\nb c\n")
    for name in (str(path), str(tmp_path / "net.gsg")):
        assert len(gs.read_graph(name, undirected=True).notes) == 1
        assert gs.read_graph(name, undirected=True, dedupe=True).notes == ()
        gs.write_graph(gs.read_graph(path), tmp_path / "net.gsg")


def test_unused_and_missing_weights_cause_a_warning() -> None:
    graph = gs.Graph.from_arrays([0, 1], [1, 0], weights=[3, 4])
    with pytest.warns(gs.GraphWarning, match=r"^pagerank does not use weights; those of the graph are ignored$"):
        gs.run("pagerank", graph)
    with pytest.warns(
        gs.GraphWarning, match=r"^the graph has no weights; sssp uses the weight 1 for every edge$"
    ) as all_:
        gs.start("sssp", gs.Graph.from_arrays([0, 1], [1, 0]))
    assert all_[0].filename == __file__


# Results by label ---------------------------------------------------------------------------------


def test_values_are_accessible_by_label() -> None:
    graph = gs.Graph.from_arrays(["oak", "ash", "fir"], ["ash", "yew", "fir"], weights=[3, 4, 1])
    result = gs.run("sssp-paths", graph, source="oak")
    assert [result.at(name) for name in ("oak", "ash", "yew")] == [0, 3, 7]
    assert type(result.at("ash")) is int and type(result.at("ash", "distance")) is int
    assert [result.at(name, "previous") for name in ("yew", "ash", "oak", "fir")] == ["ash", "oak", None, None]
    with pytest.raises(gs.InputError, match=r"^the graph has no vertex 'elm'"):
        result.at("elm")
    with pytest.raises(gs.InputError, match=r"^sssp-paths has no column 'length'; it has: distance, previous, hops$"):
        result.at("oak", "length")
    numbers = gs.Graph.from_arrays([0, 1], [1, 2])
    assert [gs.run("hashmin", numbers).at(v) for v in (0, 2)] == [0, 0]
