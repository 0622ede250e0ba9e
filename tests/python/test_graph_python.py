# SPDX-License-Identifier: Apache-2.0
"""Graphs and results in Python: what is no graph is refused by name, results can be pickled and print short."""

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
def test_every_form_of_sparse_matrix_is_taken(form: str) -> None:
    graph = gs.Graph.from_scipy(getattr(scipy.sparse, form)(DENSE))
    assert (graph.to_scipy().toarray() == DENSE).all()


@pytest.mark.parametrize("thing", [DENSE, np.matrix(DENSE), DENSE.tolist(), None, 3, nx.path_graph(3)])
def test_what_is_no_sparse_matrix_is_refused_by_name(thing: Any) -> None:
    with pytest.raises(gs.InputError, match=f"a {type(thing).__name__} is no sparse matrix"):
        gs.Graph.from_scipy(thing)


@pytest.mark.parametrize("thing", [None, {}, DENSE, "net.txt"])
def test_what_is_no_networkx_graph_is_refused_by_name(thing: Any) -> None:
    with pytest.raises(gs.InputError, match=f"a {type(thing).__name__} is no graph of NetworkX"):
        gs.Graph.from_networkx(thing)


@pytest.mark.parametrize("weight", ["heavy", decimal.Decimal(2), [1], 1j])
def test_a_weight_that_is_no_number_is_named_with_its_edge(weight: Any) -> None:
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=1)
    graph.add_edge("b", "c", weight=weight)
    with pytest.raises(gs.InputError, match=f"the weight of the edge 'b', 'c' is a {type(weight).__name__}"):
        gs.Graph.from_networkx(graph)


def test_paths_are_text_bytes_or_path(tmp_path: Path) -> None:
    path = tmp_path / "net.txt"
    path.write_text("0 1\n1 2\n")
    for one in (path, str(path), bytes(path)):
        assert gs.read_graph(one).edges == 2
    with path.open() as file:
        for thing in (None, 3, file, DENSE, nx.path_graph(3)):
            with pytest.raises(gs.InputError, match=f"a {type(thing).__name__} is no path"):
                gs.read_graph(thing)  # type: ignore[arg-type]


@pytest.mark.parametrize("thing", ["net.txt", 3, None, scipy.sparse.csr_array(DENSE), nx.path_graph(3)])
def test_a_run_wants_a_graph(thing: Any) -> None:
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
