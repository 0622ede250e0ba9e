# SPDX-License-Identifier: Apache-2.0
"""The backend of NetworkX: results, order and errors are those of NetworkX's own functions, on random graphs."""

from __future__ import annotations

import itertools
import logging
import math
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from gossamer import networkx_backend
from gossamer.networkx_backend import _functions, _info, _interface
from gossamer_setup._commands import ENTRY_POINTS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
CLASSES = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
# Labels of several types at once; numbers that are equal to indices of other nodes; nodes that cannot be ordered.
LABELS: list[Callable[[int], Any]] = [
    lambda i: i,
    lambda i: 39 - i,
    lambda i: [f"n{i}", ("t", i), frozenset({i}), i, i + 0.5, None if i == 7 else -i - 1][i % 6],
]
VERSION = tuple(map(int, re.findall(r"\d+", nx.__version__)[:2]))
# Deprecated in NetworkX 3.7.
pytestmark = pytest.mark.filterwarnings(r"ignore:\s*bfs_predecessors is deprecated:DeprecationWarning")
WEIGHTS: list[Callable[[random.Random], Any]] = [
    lambda r: r.randint(1, 4),
    lambda r: r.choice([0, 0, 1, 2]),
    lambda r: r.uniform(0.1, 3),
    lambda r: r.choice([1, 2, 0.5]),
]


@pytest.fixture(autouse=True)
def silent() -> Iterator[None]:
    nx.config.warnings_to_ignore.add("cache")
    yield
    nx.config.warnings_to_ignore.discard("cache")


def made(seed: int, kind: Any, *, weight: int | None = 0, loops: bool = True, edges: int = 90) -> Any:
    """A random graph of 40 nodes, some isolated, with parallel edges and loops where the class permits them."""
    r = random.Random(seed)
    label = LABELS[seed % len(LABELS)]
    graph = kind()
    nodes = list(range(40))
    r.shuffle(nodes)
    graph.add_nodes_from(map(label, nodes))
    for _ in range(edges):
        a, b = r.randrange(34), r.randrange(34)
        if a == b and not loops:
            continue
        # Some edges have no attribute: NetworkX's default is 1.
        data = {"weight": WEIGHTS[weight](r)} if weight is not None and r.random() < 0.9 else {}
        graph.add_edge(label(a), label(b), **data)
    return graph


def both(function: str, graph: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """NetworkX's result and the backend's, or their errors as text; generators as lists."""
    found = []
    for backend in ("networkx", "gossamer"):
        try:
            with networkx_backend.recorded() as calls:
                one = getattr(nx, function)(graph, *args, backend=backend, **kwargs)
                one = list(one) if isinstance(one, Iterator) else one
            assert bool(calls) == (backend == "gossamer") and all(call.answered for call in calls)
        except (nx.NetworkXException, ValueError, KeyError, ZeroDivisionError, AttributeError) as error:
            one = (type(error), str(error))
        found.append(one)
    return found[0], found[1]


def ordered(value: Any) -> Any:
    """A value whose comparison includes the order of dictionaries."""
    if VERSION < (3, 6):
        return value  # paths were in another order than lengths
    return [(key, ordered(item)) for key, item in value.items()] if isinstance(value, dict) else value


def check(function: str, graph: Any, *args: Any, **kwargs: Any) -> Any:
    expected, got = both(function, graph, *args, **kwargs)
    assert ordered(got) == ordered(expected), (function, args, kwargs)
    return got


def near(function: str, graph: Any, *args: Any, **kwargs: Any) -> None:
    expected, got = both(function, graph, *args, **kwargs)
    if isinstance(expected, dict):
        assert list(got) == list(expected)
        assert got == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True), (function, kwargs)
    else:
        assert got == (pytest.approx(expected) if isinstance(expected, float) else expected), (function, kwargs)


# ---- Values and order ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", CLASSES)
def test_pagerank_is_that_of_networkx(kind: Any) -> None:
    for seed in range(6):
        graph = made(seed, kind, weight=seed % 4)
        some = {node: i % 3 for i, node in enumerate(graph) if i % 4}
        near("pagerank", graph)
        near("pagerank", graph, alpha=0.5, tol=1e-10)
        near("pagerank", graph, weight=None)
        near("pagerank", graph, personalization=some)
        near("pagerank", graph, personalization={next(iter(graph)): 2, "nowhere": 3}, weight=None)
        # NetworkX's last iteration is the same: so few iterations are far from the limit.
        for count in (0, 1, 2, 7, 8, 9, 10, 11, 12):
            near("pagerank", graph, max_iter=count, tol=1e-4)
        # So loose tolerances are met in the first iterations.
        for tolerance in (1, 0.05, 0.03, 0.02, 0.015, 0.01, 0.005, 0.002):
            near("pagerank", graph, tol=tolerance)
    near("pagerank", kind())


@pytest.mark.parametrize("kind", CLASSES)
def test_searches_without_weights_are_in_networkx_order(kind: Any) -> None:
    for seed in range(6):
        graph = made(seed, kind, weight=None)
        for source in list(graph)[:: 9 + seed]:
            for cutoff in (None, 0, 1, 2.5, -1):
                check("single_source_shortest_path_length", graph, source, cutoff=cutoff)
                check("single_source_shortest_path", graph, source, cutoff=cutoff)
                check("predecessor", graph, source, cutoff=cutoff)
                if not kind().is_directed():
                    check("single_target_shortest_path", graph, source, cutoff=cutoff)
                if VERSION >= (3, 5):
                    expected, got = both("single_target_shortest_path_length", graph, source, cutoff=cutoff)
                    assert got == expected
            for depth in (None, 0, 1, 3):
                for function in ("bfs_edges", "bfs_predecessors", "bfs_successors"):
                    check(function, graph, source, depth_limit=depth)
                expected, got = both("bfs_tree", graph, source, depth_limit=depth)
                assert list(got.nodes) == list(expected.nodes) and list(got.edges) == list(expected.edges)
            check("bfs_layers", graph, source)
            for distance in (-1, 0, 1, 3, 99):
                check("descendants_at_distance", graph, source, distance)
            for target in list(graph)[::7]:
                check("has_path", graph, source, target)
                check("shortest_path_length", graph, source, target)
                check("predecessor", graph, source, target=target, return_seen=True)
                check("predecessor", graph, source, target=target)
        check("all_pairs_shortest_path_length", graph, cutoff=2)
        check("all_pairs_shortest_path", graph)


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("weight", range(4))
def test_dijkstra_is_in_networkx_order(kind: Any, weight: int) -> None:
    for seed in range(3):
        graph = made(10 * weight + seed, kind, weight=weight)
        for source in list(graph)[:: 11 + seed]:
            for cutoff in (None, 0, 2, 3.5, -1):
                check("single_source_dijkstra", graph, source, cutoff=cutoff)
                check("single_source_dijkstra_path", graph, source, cutoff=cutoff)
                check("single_source_dijkstra_path_length", graph, source, cutoff=cutoff)
                expected, got = both("dijkstra_predecessor_and_distance", graph, source, cutoff=cutoff)
                assert got == expected and ordered(got[1]) == ordered(expected[1])
            for target in list(graph)[::7]:
                check("dijkstra_path", graph, source, target)
                check("dijkstra_path_length", graph, source, target)
                check("shortest_path_length", graph, source, target, weight="weight")
                check("multi_source_dijkstra", graph, [source], target=target)
            check("shortest_path", graph, source, weight="weight")
            check("single_source_dijkstra_path_length", graph, source, weight="no such attribute")
        check("all_pairs_dijkstra", graph)
        check("all_pairs_dijkstra_path", graph, cutoff=3)
        check("all_pairs_dijkstra_path_length", graph)


def length(graph: Any, path: list[Any]) -> Any:
    data = (graph.get_edge_data(a, b) for a, b in itertools.pairwise(path))
    if graph.is_multigraph():
        return sum(min(one.get("weight", 1) for one in keyed.values()) for keyed in data)
    return sum(one.get("weight", 1) for one in data)


@pytest.mark.parametrize("kind", CLASSES)
def test_bellman_ford_has_shortest_paths(kind: Any) -> None:
    for seed in range(4):
        graph = made(seed, kind, weight=seed)
        if graph.is_directed():
            # Potentials make some weights negative and no cycle.
            height = {node: i % 5 for i, node in enumerate(graph)}
            for a, b, data in graph.edges(data=True):
                data["weight"] = data.get("weight", 1) + height[a] - height[b]
        for source in list(graph)[::13]:
            expected, got = both("single_source_bellman_ford", graph, source)
            assert got[0] == pytest.approx(expected[0]) and set(got[1]) == set(expected[1])
            for node, path in got[1].items():
                assert path[0] == source and path[-1] == node and length(graph, path) == pytest.approx(got[0][node])
            expected, got = both("single_source_bellman_ford_path_length", graph, source)
            assert got == pytest.approx(expected)
            for target in list(graph)[::9]:
                expected, got = both("bellman_ford_path_length", graph, source, target)
                assert got == (pytest.approx(expected) if isinstance(expected, float) else expected)
        edge = next(iter(graph.edges(data=True)))
        edge[2]["weight"] = -100
        graph.__networkx_cache__.clear()
        expected, got = both("single_source_bellman_ford_path_length", graph, edge[0])
        if not graph.is_directed() or edge[0] == edge[1]:
            assert got == expected == (nx.NetworkXUnbounded, "Negative cycle detected.")


@pytest.mark.parametrize("kind", CLASSES)
def test_components_are_those_of_networkx(kind: Any) -> None:
    for seed in range(8):
        graph = made(seed, kind, weight=None, edges=20 + 10 * seed)
        if graph.is_directed():
            for name in ("strongly", "weakly"):
                expected, got = both(f"{name}_connected_components", graph)
                assert sorted(map(hash, map(frozenset, got))) == sorted(map(hash, map(frozenset, expected)))
                check(f"number_{name}_connected_components", graph)
                check(f"is_{name}_connected", graph)
            check("weakly_connected_components", graph)
        else:
            check("connected_components", graph)
            check("number_connected_components", graph)
            check("is_connected", graph)
            for node in list(graph)[::10]:
                check("node_connected_component", graph, node)
    empty = kind()
    for name in ("strongly_", "weakly_") if empty.is_directed() else ("",):
        check(f"{name}connected_components", empty)
        check(f"number_{name}connected_components", empty)
    connected = nx.cycle_graph(5, create_using=kind())
    for name in ("strongly_", "weakly_") if connected.is_directed() else ("",):
        assert check(f"is_{name}connected", connected) is True


@pytest.mark.parametrize("kind", CLASSES)
def test_cores_and_triangles_are_those_of_networkx(kind: Any) -> None:
    for seed in range(6):
        graph = made(seed, kind, weight=0, edges=200)
        if not graph.is_multigraph():
            near("clustering", graph)
            near("clustering", graph, list(graph)[3:9])
            near("clustering", graph, next(iter(graph)))
            near("average_clustering", graph)
            near("average_clustering", graph, count_zeros=False)
        if graph.is_directed():
            continue
        check("triangles", graph)
        if not graph.is_multigraph():
            check("triangles", graph, list(graph)[3:9])
            check("triangles", graph, next(iter(graph)))
            check("transitivity", graph)
            check("core_number", graph)
            check("core_number", made(seed, kind, loops=False, edges=200))


@pytest.mark.parametrize("kind", CLASSES)
def test_betweenness_is_that_of_networkx(kind: Any) -> None:
    for seed in range(3):
        graph = made(seed, kind, weight=0)
        for weight in ("weight", None):  # the second call gets the graph with weights from the cache
            for normalized in (False, True):
                near("betweenness_centrality", graph, weight=weight, normalized=normalized)
                if VERSION >= (3, 6):
                    near("betweenness_centrality", graph, weight=weight, normalized=normalized, k=7, seed=seed)
                    near("betweenness_centrality", graph, weight=weight, normalized=normalized, k=1, seed=seed)
    for count in range(4):
        near("betweenness_centrality", nx.path_graph(count, create_using=kind()))


# ---- Errors, and calls that NetworkX must answer -----------------------------------------


def test_errors_are_those_of_networkx() -> None:
    graph = nx.Graph([("a", "b")])
    graph.add_node("c")
    for function in sorted(_info.FUNCTIONS):
        if function == "single_target_shortest_path_length" and VERSION < (3, 5):
            continue
        if function.startswith(("single_", "bfs_", "predecessor", "descendants")) and function != "bfs_layers":
            expected, got = both(function, graph, "x", *([1] if function.startswith("descendants") else []))
            assert got == expected and issubclass(got[0], nx.NetworkXException), function
        if function.endswith(("dijkstra_path", "dijkstra_path_length", "ford_path", "ford_path_length", "has_path")):
            for pair in (("a", "x"), ("x", "a"), ("x", "x"), ("a", "c")) if "_pairs" not in function else ():
                if not function.startswith(("single_", "multi_")) and function != "bellman_ford_path":
                    expected, got = both(function, graph, *pair)
                    assert got == expected, (function, pair)
    check("multi_source_dijkstra", graph, [])
    check("shortest_path", graph, "a", "b", weight="weight", method="bellman-ford")
    for name in ("is_connected",):
        check(name, nx.Graph())


def rejected(function: str, graph: Any, *args: Any, **kwargs: Any) -> str:
    with networkx_backend.recorded() as calls, pytest.raises(NotImplementedError):
        getattr(nx, function)(graph, *args, backend="gossamer", **kwargs)
    assert not calls or not calls[-1].answered
    return calls[-1].why if calls else ""


def test_calls_that_it_cannot_answer_are_rejected_with_a_reason() -> None:
    graph = nx.Graph([(0, 1), (1, 2)])
    assert rejected("pagerank", graph, nstart={0: 1}) == "nstart is not supported"
    assert rejected("pagerank", graph, alpha=1) == "alpha is not from 0 to 0.9999"
    assert rejected("pagerank", graph, tol=0) == "the tolerance of all nodes is below 1e-15"
    assert rejected("pagerank", graph, personalization={0: -1, 1: 2}).startswith("a value of personalization is neg")
    assert rejected("single_source_dijkstra", graph, 0, weight=lambda a, b, d: 1) == "the weight is a function"
    assert rejected("shortest_path", graph, 0, 1) == "a path between two nodes is a bidirectional search"
    assert rejected("multi_source_dijkstra", graph, [0, 1]) == "a search from several nodes is not supported"
    assert rejected("bfs_edges", graph, 0, sort_neighbors=sorted) == "sort_neighbors is not supported"
    assert rejected("clustering", graph, weight="weight") == "weights are not supported"
    assert rejected("betweenness_centrality", graph, endpoints=True) == "endpoints are not supported"
    assert rejected("transitivity", graph.to_directed()).startswith("NetworkX counts only some")
    graph.add_edge(0, 2, weight=-1)
    assert rejected("single_source_dijkstra", graph, 0) == "a weight is negative"
    for wrong in ("heavy", 2**63, math.nan, math.inf, None, 1j):
        graph.add_edge(0, 2, weight=wrong)
        rejected("single_source_dijkstra", graph, 0)
    # NetworkX itself hides an edge whose weight is None, also if the backend has the first word.
    graph.add_edge(0, 2, weight=None)
    with nx.config.backend_priority(algos=["gossamer"]):
        assert nx.single_source_dijkstra_path_length(graph, 0) == {0: 0, 1: 1, 2: 2}


# ---- How NetworkX uses it ----------------------------------------------------------------


def test_conversion_is_cached_until_the_graph_changes() -> None:
    graph = made(0, nx.Graph)
    nx.pagerank(graph, backend="gossamer")
    nx.single_source_dijkstra_path_length(graph, next(iter(graph)), backend="gossamer")
    cached = graph.__networkx_cache__["backends"]["gossamer"]
    (first,) = cached.values()
    check("pagerank", graph, max_iter=0)
    assert list(cached.values()) == [first]
    graph.add_edge("new", next(iter(graph)), weight=9)
    assert not graph.__networkx_cache__
    near("pagerank", graph)


def test_automatic_use_needs_a_priority_and_a_large_graph(caplog: pytest.LogCaptureFixture) -> None:
    small, large = nx.path_graph(50), nx.path_graph(_interface.SMALL)
    with networkx_backend.recorded() as calls:
        nx.connected_components(large)
        list(nx.connected_components(large))
    assert calls == []
    with (
        caplog.at_level(logging.DEBUG, "gossamer.networkx"),
        nx.config.backend_priority(algos=["gossamer"]),
        networkx_backend.recorded() as calls,
    ):
        assert nx.number_connected_components(small) == nx.number_connected_components(large) == 1
        nx.pagerank(large, nstart={0: 1})
        nx.edge_betweenness_centrality(small)
    answered = [(call.function, call.answered) for call in calls]
    assert answered == [
        ("number_connected_components", False),
        ("connected_components", False),  # NetworkX's own function calls it
        ("number_connected_components", True),
        ("pagerank", False),
    ]
    assert [record.message for record in caplog.records] == list(map(str, calls))
    assert (
        str(calls[0]) == f"number_connected_components: not gossamer: the graph has fewer than {_interface.SMALL} nodes"
    )
    assert re.fullmatch(r"number_connected_components: gossamer, \S+ s", str(calls[2]))


def test_converted_graphs_are_accepted_and_converted_back() -> None:
    for kind in (nx.Graph, nx.DiGraph):
        graph = made(1, kind)
        converted = networkx_backend.backend.convert_from_nx(graph, edge_attrs={"weight": 1})
        assert nx.pagerank(converted) == nx.pagerank(graph, backend="gossamer")
        again = networkx_backend.backend.convert_to_nx(converted)
        assert list(again) == list(graph) and set(again.edges) == set(graph.edges)
        assert nx.pagerank(again) == pytest.approx(nx.pagerank(graph))
        assert len(converted) == converted.number_of_nodes() == 40 and repr(converted).count("40 nodes") == 1
    with pytest.raises(NotImplementedError, match="attributes of nodes are not converted"):
        networkx_backend.backend.convert_from_nx(graph, node_attrs={"color": 1})


def test_views_and_subclasses_are_converted_as_their_methods_show_them() -> None:
    class Complement(nx.Graph):
        """Neighbours are all other nodes that are none in the dictionaries."""

        @property
        def adj(self) -> Any:
            return {a: {b: {} for b in self._node if b != a and b not in self._adj[a]} for a in self._node}

    whole = Complement(nx.path_graph(6))
    assert nx.number_connected_components(whole, backend="gossamer") == 1
    assert nx.triangles(whole, backend="gossamer") == nx.triangles(nx.complement(nx.path_graph(6)))
    for kind in CLASSES:
        graph = made(4, kind)
        shown = nx.subgraph_view(
            graph, filter_node=lambda n: hash(n) % 3 != 0, filter_edge=lambda a, b, *key: (hash(a) + hash(b)) % 3 != 0
        )
        for view in (shown, graph.to_directed(as_view=True), graph.subgraph(list(graph)[5:30])):
            check("single_source_dijkstra", view, next(iter(view)))
            near("pagerank", view)
            if view.is_directed():
                check("weakly_connected_components", graph.reverse(copy=False) if graph.is_directed() else view)


def test_the_declared_functions_are_the_answered_ones() -> None:
    assert sorted(_functions.ANSWERED) == sorted(_info.FUNCTIONS)
    assert set(_functions.CHECKS) <= set(_info.FUNCTIONS)
    page = (ROOT / "docs" / "networkx.md").read_text(encoding="utf-8")
    assert not [name for name in _info.FUNCTIONS if f"`{name}`" not in page]


def test_entry_points_of_checkout_and_wheel_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {group: names for group, names in project["entry-points"].items() if group.startswith("networkx")}
    assert declared == ENTRY_POINTS
    for names in ENTRY_POINTS.values():
        module, _, name = names["gossamer"].partition(":")
        assert hasattr(sys.modules[module], name)


def test_import_of_networkx_does_not_load_the_backend() -> None:
    script = "import networkx, sys; print('gossamer' in networkx.utils.backends.backend_info, *sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    known, *loaded = done.stdout.split()
    assert known == "True" and "gossamer.networkx_backend._info" in loaded
    assert not {"gossamer.native", "gossamer.apps", "gossamer.networkx_backend._interface"} & set(loaded)


def suite(tmp_path: Path, *modules: str, fallback: bool) -> None:
    environment = {**os.environ, "NETWORKX_TEST_BACKEND": "gossamer"} | (
        {"NETWORKX_FALLBACK_TO_NX": "1"} if fallback else {}
    )
    command = [sys.executable, "-I", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", *modules]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    last = done.stdout.strip().splitlines()[-1]
    assert done.returncode == 0 and re.search(r"\d+ passed", last), done.stdout[-3000:]


def test_networkx_own_tests_pass_with_the_backend(tmp_path: Path) -> None:
    of = "networkx.algorithms."
    parts = (f"{of}link_analysis.tests.test_pagerank", f"{of}traversal.tests.test_bfs", f"{of}shortest_paths.tests")
    suite(tmp_path, *parts, fallback=True)


@pytest.mark.tier("all", seconds=600, adds="all tests of NetworkX, without and with functions that it lacks")
@pytest.mark.parametrize("fallback", [False, True])
def test_all_of_networkx_own_tests_pass_with_the_backend(tmp_path: Path, fallback: bool) -> None:
    suite(tmp_path, "networkx", fallback=fallback)
