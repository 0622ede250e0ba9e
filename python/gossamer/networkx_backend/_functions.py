# SPDX-License-Identifier: Apache-2.0
"""NetworkX's functions on converted graphs: the same signatures, results and errors.

A function raises NotImplementedError for input that only NetworkX can answer. ``CHECKS`` has, for functions that do not
answer all arguments, a function that returns the reason why they cannot answer a call, or an empty text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import networkx as nx
import numpy as np

from gossamer.errors import NoAnswer
from gossamer.networkx_backend import _search
from gossamer.networkx_backend._graph import Array, ConvertedGraph, Node
from gossamer.networkx_backend._search import Visit, depth, named, visit

ANSWERED: dict[str, Callable[..., Any]] = {}
CHECKS: dict[str, Callable[..., str]] = {}

_VERSION = tuple(map(int, re.findall(r"\d+", nx.__version__)[:2]))

Lengths = dict[Node, Any]
Paths = dict[Node, list[Node]]


def _answers(
    check: Callable[..., str] | None = None, *, also: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function under its name, which is NetworkX's, and ``also`` under a second one."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in (function.__name__, also):
            if name is not None:
                ANSWERED[name] = function
                if check is not None:
                    CHECKS[name] = check
        return function

    return register


def _directed(graph: Any) -> bool:
    return bool(graph.is_directed())


# ---- PageRank ----------------------------------------------------------------------------


def _check_pagerank(
    G: Any,
    alpha: float,
    personalization: Any,
    max_iter: float,
    tol: float,
    nstart: Any,
    weight: Any,
    dangling: Any,
) -> str:
    if nstart is not None:
        return "nstart is not supported"
    if dangling is not None:
        return "dangling is not supported"
    if not 0 <= alpha <= 0.9999:
        return "alpha is not from 0 to 0.9999"
    return ""


@_answers(_check_pagerank)
def pagerank(
    G: ConvertedGraph,
    alpha: float = 0.85,
    personalization: Mapping[Node, float] | None = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: Any = None,
    weight: str | None = "weight",
    dangling: Any = None,
) -> dict[Node, float]:
    if not len(G):
        return {}
    tolerance = len(G) * tol
    if not tolerance >= 1e-15:
        raise NotImplementedError("the tolerance of all nodes is below 1e-15")
    parameters: dict[str, Any] = {"damping": alpha, "tolerance": min(tolerance, 2.5), "raw": True}
    defines: tuple[str, ...] = ("PAGERANK_SETTLING",)
    if personalization is not None:
        restart = np.array([personalization.get(node, 0) for node in G.nodes], np.float64)
        if not np.isfinite(restart).all() or (restart < 0).any():
            raise NotImplementedError("a value of personalization is negative or not finite")
        if not restart.any():
            raise ZeroDivisionError
        defines += ("PAGERANK_PERSONAL",)
        parameters["source"] = {int(at): float(restart[at]) for at in np.flatnonzero(restart)}
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    graph = G.summed(weight)
    try:
        result = _search.run(
            "pagerank-weighted" if graph.weighted else "pagerank64",
            graph,
            defines,
            limit=min(math.ceil(max_iter), 10**9),
            **parameters,
        )
    except NoAnswer:
        raise nx.PowerIterationFailedConvergence(max_iter) from None
    return G.by_node(result.values)


# ---- Searches without weights ------------------------------------------------------------


def _find(G: ConvertedGraph, node: Node, text: str) -> int:
    """The index of a node. Raises NodeNotFound, with the text, if the graph does not have it."""
    at = G.index.get(node)
    if at is None:
        raise nx.NodeNotFound(text)
    return at


def _walk(G: ConvertedGraph, source: Node, text: str, cutoff: float | None = None) -> Visit:
    return visit(G, _find(G, source, text), None, depth(cutoff))


@_answers()
def single_source_shortest_path_length(G: ConvertedGraph, source: Node, cutoff: float | None = None) -> Lengths:
    return _walk(G, source, f"Source {source} is not in G", cutoff).lengths()


@_answers()
def single_source_shortest_path(G: ConvertedGraph, source: Node, cutoff: float | None = None) -> Paths:
    return _walk(G, source, f"Source {source} not in G", cutoff).paths()


def _check_target_lengths(G: Any, **_: Any) -> str:
    return "NetworkX before 3.5 returns an iterator" if _VERSION < (3, 5) else ""


@_answers(_check_target_lengths)
def single_target_shortest_path_length(G: ConvertedGraph, target: Node, cutoff: float | None = None) -> Lengths:
    return _walk(G.reversed, target, f"Target {target} is not in G", cutoff).lengths()


def _check_undirected(G: Any, **_: Any) -> str:
    return "the order of predecessors is not kept" if _directed(G) else ""


@_answers(_check_undirected)
def single_target_shortest_path(G: ConvertedGraph, target: Node, cutoff: float | None = None) -> Paths:
    paths = _walk(G, target, f"Target {target} not in G", cutoff).paths()
    return {node: path[::-1] for node, path in paths.items()}


@_answers()
def all_pairs_shortest_path_length(G: ConvertedGraph, cutoff: float | None = None) -> Iterator[tuple[Node, Lengths]]:
    for node in G:
        yield node, single_source_shortest_path_length(G, node, cutoff)


@_answers()
def all_pairs_shortest_path(G: ConvertedGraph, cutoff: float | None = None) -> Iterator[tuple[Node, Paths]]:
    for node in G:
        yield node, single_source_shortest_path(G, node, cutoff)


@_answers()
def predecessor(
    G: ConvertedGraph,
    source: Node,
    target: Node | None = None,
    cutoff: float | None = None,
    return_seen: bool | None = None,
) -> Any:
    # NetworkX treats 0 as no cutoff, and always completes the first level.
    found = _walk(G, source, f"Source {source} not in G", max(1, cutoff) if cutoff else None)
    before = found.predecessors(None)
    if target is not None:
        there = target in before
        some = before[target] if there else []
        return (some, int(found.distances[G.index[target]]) if there else -1) if return_seen else some
    return (before, found.lengths()) if return_seen else before


@_answers()
def has_path(G: ConvertedGraph, source: Node, target: Node) -> bool:
    start = _find(G, source, f"Source {source} is not in G")
    end = _find(G, target, f"Target {target} is not in G")
    return bool(_search.levels(G, start)[end] >= 0)


def _check_search(G: Any, reverse: bool = False, sort_neighbors: Any = None, **_: Any) -> str:
    if sort_neighbors is not None:
        return "sort_neighbors is not supported"
    return "the order of predecessors is not kept" if reverse and _directed(G) else ""


def _tree(G: ConvertedGraph, source: Node, depth_limit: float | None) -> Visit:
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the {'digraph' if G.is_directed() else 'graph'}.")
    return visit(G, G.index[source], None, depth(depth_limit))


@_answers(_check_search)
def bfs_edges(
    G: ConvertedGraph,
    source: Node,
    reverse: bool = False,
    depth_limit: int | None = None,
    sort_neighbors: Any = None,
) -> Iterator[tuple[Node, Node]]:
    yield from _tree(G, source, depth_limit).edges()


@_answers(_check_search)
def bfs_tree(
    G: ConvertedGraph,
    source: Node,
    reverse: bool = False,
    depth_limit: int | None = None,
    sort_neighbors: Any = None,
) -> Any:
    tree = nx.DiGraph()
    tree.add_node(source)
    tree.add_edges_from(_tree(G, source, depth_limit).edges())
    return tree


@_answers(_check_search)
def bfs_predecessors(
    G: ConvertedGraph, source: Node, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Node, Node]]:
    for parent, child in _tree(G, source, depth_limit).edges():
        yield child, parent


@_answers(_check_search)
def bfs_successors(
    G: ConvertedGraph, source: Node, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Node, list[Node]]]:
    parent, children = source, []
    for before, child in _tree(G, source, depth_limit).edges():
        if before == parent:
            children.append(child)
            continue
        yield parent, children
        parent, children = before, [child]
    yield parent, children


def _check_one_source(G: Any, sources: Any) -> str:
    return "" if sources in G else "a search from several nodes is not supported"


@_answers(_check_one_source)
def bfs_layers(G: ConvertedGraph, sources: Node) -> Iterator[list[Node]]:
    found = _tree(G, sources, None)
    steps = np.flatnonzero(np.diff(found.distances[found.order])) + 1
    for layer in np.split(found.order, steps):
        yield named(G, layer)


@_answers()
def descendants_at_distance(G: ConvertedGraph, source: Node, distance: int) -> set[Node]:
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    if distance < 0:
        return set()
    return set(named(G, np.flatnonzero(_search.levels(G, G.index[source]) == distance)))


# ---- Dijkstra ----------------------------------------------------------------------------


def _dijkstra(G: ConvertedGraph, source: Node, weight: str | None, cutoff: float | None = None) -> Visit:
    return visit(G, _find(G, source, f"Node {source} not found in graph"), weight, cutoff)


def _reached(G: ConvertedGraph, found: Visit, target: Node) -> int | None:
    """The index of a node that the search has reached; None for another."""
    at = G.index.get(target)
    return at if at is not None and found.reaches(at) else None


@_answers()
def single_source_dijkstra(
    G: ConvertedGraph,
    source: Node,
    target: Node | None = None,
    cutoff: float | None = None,
    weight: str | None = "weight",
) -> Any:
    return multi_source_dijkstra(G, {source}, target, cutoff, weight)


@_answers()
def single_source_dijkstra_path(
    G: ConvertedGraph, source: Node, cutoff: float | None = None, weight: str | None = "weight"
) -> Paths:
    return _dijkstra(G, source, weight, cutoff).paths()


@_answers()
def single_source_dijkstra_path_length(
    G: ConvertedGraph, source: Node, cutoff: float | None = None, weight: str | None = "weight"
) -> Lengths:
    return _dijkstra(G, source, weight, cutoff).lengths()


@_answers()
def dijkstra_path(G: ConvertedGraph, source: Node, target: Node, weight: str | None = "weight") -> list[Node]:
    path: list[Node] = single_source_dijkstra(G, source, target, None, weight)[1]
    return path


@_answers()
def dijkstra_path_length(G: ConvertedGraph, source: Node, target: Node, weight: str | None = "weight") -> Any:
    start = _find(G, source, f"Node {source} not found in graph")
    if source == target:
        return 0
    distances = _search.lengths(G, start, weight)
    end = G.index.get(target)
    if end is None or not 0 <= distances[end] < math.inf:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return distances[end].item()


def _check_sources(G: Any, sources: Any, **_: Any) -> str:
    try:
        several = len(sources) > 1
    except TypeError:
        several = True
    return "a search from several nodes is not supported" if several else ""


def _only(sources: Any) -> Node:
    if not sources:
        raise ValueError("sources must not be empty")
    (source,) = sources
    node: Node = source
    return node


@_answers(_check_sources)
def multi_source_dijkstra(
    G: ConvertedGraph,
    sources: Any,
    target: Node | None = None,
    cutoff: float | None = None,
    weight: str | None = "weight",
) -> Any:
    source = _only(sources)
    _find(G, source, f"Node {source} not found in graph")
    if target in sources:
        return 0, [target]
    found = _dijkstra(G, source, weight, cutoff)
    if target is None:
        return found.lengths(), found.paths()
    end = _reached(G, found, target)
    if end is None:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return found.distances[end].item(), found.path(end)


@_answers(_check_sources)
def multi_source_dijkstra_path(
    G: ConvertedGraph, sources: Any, cutoff: float | None = None, weight: str | None = "weight"
) -> Paths:
    return _dijkstra(G, _only(sources), weight, cutoff).paths()


@_answers(_check_sources)
def multi_source_dijkstra_path_length(
    G: ConvertedGraph, sources: Any, cutoff: float | None = None, weight: str | None = "weight"
) -> Lengths:
    return _dijkstra(G, _only(sources), weight, cutoff).lengths()


@_answers()
def dijkstra_predecessor_and_distance(
    G: ConvertedGraph, source: Node, cutoff: float | None = None, weight: str | None = "weight"
) -> tuple[dict[Node, list[Node]], Lengths]:
    start = _find(G, source, f"Node {source} is not found in the graph")
    found = visit(G, start, weight, cutoff)
    return found.predecessors(G.least_of(weight)), found.lengths()


@_answers()
def all_pairs_dijkstra(
    G: ConvertedGraph, cutoff: float | None = None, weight: str | None = "weight"
) -> Iterator[tuple[Node, tuple[Lengths, Paths]]]:
    for node in G:
        found = _dijkstra(G, node, weight, cutoff)
        yield node, (found.lengths(), found.paths())


@_answers()
def all_pairs_dijkstra_path_length(
    G: ConvertedGraph, cutoff: float | None = None, weight: str | None = "weight"
) -> Iterator[tuple[Node, Lengths]]:
    for node in G:
        yield node, _dijkstra(G, node, weight, cutoff).lengths()


@_answers()
def all_pairs_dijkstra_path(
    G: ConvertedGraph, cutoff: float | None = None, weight: str | None = "weight"
) -> Iterator[tuple[Node, Paths]]:
    for node in G:
        yield node, _dijkstra(G, node, weight, cutoff).paths()


# ---- Bellman-Ford ------------------------------------------------------------------------


class _Relaxed:
    """Shortest paths from one node, with weights of either sign."""

    def __init__(self, G: ConvertedGraph, source: Node, weight: str | None) -> None:
        self._graph = G
        self._source = source
        start = _find(G, source, f"Source {source} not in G")
        weights = G.least_of(weight)
        if weights is None:
            result = _search.run("bfs", G.plain, source=start)
        else:
            name = "bellman-ford-double" if weights.dtype.kind == "f" else "bellman-ford"
            try:
                result = _search.run(name, G.shortest(weight), source=start)
            except NoAnswer:
                raise nx.NetworkXUnbounded("Negative cycle detected.") from None
        first = result.app.columns[0]
        self._lengths = result.columns[first.name]
        self._previous = result.columns[result.app.columns[1].name]
        self._there = first.present(self._lengths)

    def lengths(self) -> Lengths:
        reached = np.flatnonzero(self._there)
        return dict(zip(named(self._graph, reached), self._lengths[reached].tolist(), strict=True))

    def reaches(self, target: Node) -> int | None:
        at = self._graph.index.get(target)
        return at if at is not None and self._there[at] else None

    def length(self, at: int) -> Any:
        return self._lengths[at].item()

    def path(self, at: int) -> list[Node]:
        return _search.path_to(self._graph, self._previous, at)

    def paths(self) -> Paths:
        nodes = self._graph.nodes
        return {nodes[at]: self.path(at) for at in np.flatnonzero(self._there).tolist()}


@_answers()
def single_source_bellman_ford_path_length(G: ConvertedGraph, source: Node, weight: str | None = "weight") -> Lengths:
    return _Relaxed(G, source, weight).lengths()


@_answers()
def single_source_bellman_ford_path(G: ConvertedGraph, source: Node, weight: str | None = "weight") -> Paths:
    return _Relaxed(G, source, weight).paths()


@_answers()
def single_source_bellman_ford(
    G: ConvertedGraph, source: Node, target: Node | None = None, weight: str | None = "weight"
) -> Any:
    if source == target:
        _find(G, source, f"Node {source} is not found in the graph")
        return 0, [source]
    found = _Relaxed(G, source, weight)
    if target is None:
        return found.lengths(), found.paths()
    end = found.reaches(target)
    if end is None:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    return found.length(end), found.path(end)


@_answers()
def bellman_ford_path(G: ConvertedGraph, source: Node, target: Node, weight: str | None = "weight") -> list[Node]:
    path: list[Node] = single_source_bellman_ford(G, source, target, weight)[1]
    return path


@_answers()
def bellman_ford_path_length(G: ConvertedGraph, source: Node, target: Node, weight: str | None = "weight") -> Any:
    if source == target:
        _find(G, source, f"Node {source} not found in graph")
        return 0
    found = _Relaxed(G, source, weight)
    end = found.reaches(target)
    if end is None:
        raise nx.NetworkXNoPath(f"node {target} not reachable from {source}")
    return found.length(end)


@_answers()
def all_pairs_bellman_ford_path_length(
    G: ConvertedGraph, weight: str | None = "weight"
) -> Iterator[tuple[Node, Lengths]]:
    for node in G:
        yield node, _Relaxed(G, node, weight).lengths()


@_answers()
def all_pairs_bellman_ford_path(G: ConvertedGraph, weight: str | None = "weight") -> Iterator[tuple[Node, Paths]]:
    for node in G:
        yield node, _Relaxed(G, node, weight).paths()


# ---- Paths of either kind ----------------------------------------------------------------


def _check_shortest_path(G: Any, source: Any, target: Any, weight: Any, method: str) -> str:
    if source is not None and target is not None and (weight is None or method == "dijkstra"):
        return "a path between two nodes is a bidirectional search"
    if source is None and target is not None and _directed(G):
        return "the order of predecessors is not kept"
    return ""


def _method(weight: str | None, method: str) -> str:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    return "unweighted" if weight is None else method


_PATHS: dict[str, Callable[..., Any]] = {
    "unweighted": single_source_shortest_path,
    "dijkstra": single_source_dijkstra_path,
    "bellman-ford": single_source_bellman_ford_path,
}
_LENGTHS: dict[str, Callable[..., Any]] = {
    "unweighted": single_source_shortest_path_length,
    "dijkstra": single_source_dijkstra_path_length,
    "bellman-ford": single_source_bellman_ford_path_length,
}


@_answers(_check_shortest_path)
def shortest_path(
    G: ConvertedGraph,
    source: Node | None = None,
    target: Node | None = None,
    weight: str | None = None,
    method: str = "dijkstra",
) -> Any:
    kind = _method(weight, method)
    paths, named_weight = _PATHS[kind], {} if weight is None else {"weight": weight}
    if source is None and target is None:
        return ((node, paths(G, node, **named_weight)) for node in G)
    if source is None:
        return {node: path[::-1] for node, path in paths(G, target, **named_weight).items()}
    if target is None:
        return paths(G, source, **named_weight)
    return bellman_ford_path(G, source, target, **named_weight)


def _check_shortest_path_length(G: Any, source: Any, target: Any, weight: Any, method: str) -> str:
    return "" if source is not None or target is None or not _directed(G) else "the graph would have to be reversed"


@_answers(_check_shortest_path_length)
def shortest_path_length(
    G: ConvertedGraph,
    source: Node | None = None,
    target: Node | None = None,
    weight: str | None = None,
    method: str = "dijkstra",
) -> Any:
    kind = _method(weight, method)
    lengths, named_weight = _LENGTHS[kind], {} if weight is None else {"weight": weight}
    if source is None and target is None:
        return ((node, lengths(G, node, **named_weight)) for node in G)
    if source is None:
        return lengths(G, target, **named_weight)
    if target is None:
        return lengths(G, source, **named_weight)
    if kind == "dijkstra":
        return dijkstra_path_length(G, source, target, **named_weight)
    if kind == "bellman-ford":
        return bellman_ford_path_length(G, source, target, **named_weight)
    start = _find(G, source, f"Source {source} is not in G")
    end = _find(G, target, f"Target {target} is not in G")
    length = int(_search.levels(G, start)[end])
    if length < 0:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return length


# ---- Components --------------------------------------------------------------------------


def _components(G: ConvertedGraph, app: str) -> Array:
    """For each node the first node of its component, as indices."""
    found = _search.run(app, G.plain).values if len(G) else np.empty(0, np.uint32)
    return found.astype(np.int64)


def _sets(G: ConvertedGraph, first: Array) -> Iterator[set[Node]]:
    order = np.argsort(first, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(first[order])) + 1):
        if len(part):
            yield set(named(G, part))


def _count(first: Array) -> int:
    return int(np.count_nonzero(first == np.arange(len(first))))


def _whole(G: ConvertedGraph, app: str, what: str) -> bool:
    if not len(G):
        raise nx.NetworkXPointlessConcept(f"{what} is undefined for the null graph.")
    return _count(_components(G, app)) == 1


@_answers(also="weakly_connected_components")
def connected_components(G: ConvertedGraph) -> Iterator[set[Node]]:
    yield from _sets(G, _components(G, "hashmin"))


@_answers(also="number_weakly_connected_components")
def number_connected_components(G: ConvertedGraph) -> int:
    return _count(_components(G, "hashmin"))


@_answers(also="is_weakly_connected")
def is_connected(G: ConvertedGraph) -> bool:
    return _whole(G, "hashmin", "Connectivity")


@_answers()
def node_connected_component(G: ConvertedGraph, n: Node) -> set[Node]:
    return set(named(G, np.flatnonzero(_search.levels(G, G.index[n]) >= 0)))


@_answers()
def strongly_connected_components(G: ConvertedGraph) -> Iterator[set[Node]]:
    yield from _sets(G, _components(G, "scc"))


@_answers()
def number_strongly_connected_components(G: ConvertedGraph) -> int:
    return _count(_components(G, "scc"))


@_answers()
def is_strongly_connected(G: ConvertedGraph) -> bool:
    return _whole(G, "scc", "Connectivity")


# ---- Cores, triangles, centrality --------------------------------------------------------


def _check_core_number(G: Any) -> str:
    return "NetworkX counts both directions of an edge" if _directed(G) else ""


@_answers(_check_core_number)
def core_number(G: ConvertedGraph) -> dict[Node, int]:
    if not len(G):
        return {}
    if G.has_loops:
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return G.by_node(_search.run("kcore", G.plain).values)


def _check_triangles(G: Any, nodes: Any) -> str:
    return "NetworkX rejects nodes of a multigraph" if nodes is not None and G.is_multigraph() else ""


def _chosen(G: ConvertedGraph, nodes: Any, values: dict[Node, Any]) -> Any:
    """The value of one node, or those of some nodes, as NetworkX selects them."""
    if nodes is None:
        return values
    if nodes in G:
        return values[nodes]
    try:
        iterator = iter(nodes)
    except TypeError:
        raise nx.NetworkXError(f"Node {nodes} is not in the graph.") from None
    return {node: values[node] for node in iterator if node in G}


@_answers(_check_triangles)
def triangles(G: ConvertedGraph, nodes: Any = None) -> Any:
    found = _search.run("clustering", G.plain).columns["triangles"] if len(G) else np.empty(0, np.uint64)
    return _chosen(G, nodes, G.by_node(found))


def _check_clustering(G: Any, weight: Any = None, **_: Any) -> str:
    if weight is not None:
        return "weights are not supported"
    return "NetworkX rejects a multigraph" if G.is_multigraph() else ""


def _clustering(G: ConvertedGraph) -> dict[Node, Any]:
    if not len(G):
        return {}
    if G.is_directed():
        return G.by_node(_search.run("clustering-directed", G.plain).columns["clustering"])
    double = 2 * _search.run("clustering", G.plain).columns["triangles"].astype(np.int64)
    pairs = G.degrees * (G.degrees - 1)
    return G.by_node(double / np.maximum(pairs, 1))


@_answers(_check_clustering)
def clustering(G: ConvertedGraph, nodes: Any = None, weight: None = None) -> Any:
    return _chosen(G, nodes, _clustering(G))


@_answers(_check_clustering)
def average_clustering(G: ConvertedGraph, nodes: Any = None, weight: None = None, count_zeros: bool = True) -> float:
    values = list(_chosen(G, nodes, _clustering(G)).values())
    if not count_zeros:
        values = [value for value in values if value]
    average: float = sum(values) / len(values)
    return average


def _check_transitivity(G: Any) -> str:
    if _directed(G):
        return "NetworkX counts only some triangles of a directed graph"
    return "NetworkX rejects a multigraph" if G.is_multigraph() else ""


@_answers(_check_transitivity)
def transitivity(G: ConvertedGraph) -> float:
    if not len(G):
        return 0
    double = 2 * int(_search.run("clustering", G.plain).columns["triangles"].sum())
    return double / int((G.degrees * (G.degrees - 1)).sum()) if double else 0


def _check_betweenness(G: Any, k: int | None, endpoints: bool, **_: Any) -> str:
    if k is not None and _VERSION < (3, 6):
        return "NetworkX before 3.6 scales a sample otherwise"
    return "endpoints are not supported" if endpoints else ""


@_answers(_check_betweenness)
def betweenness_centrality(
    G: ConvertedGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: str | None = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Node, float]:
    if not len(G):
        return {}
    count = len(G)
    sample = None if k is None or k == count else [G.index[node] for node in seed.sample(G.nodes, k)]
    parameters: dict[str, Any] = {"sources": count} if sample is None else {"source": sample}
    if sample == []:
        raise NotImplementedError("a sample of no nodes")
    if G.least_of(weight) is None:
        result = _search.run("betweenness", G.plain, **parameters)
    else:
        result = _search.run("betweenness-weighted", G.shortest(weight), **parameters)
    sums = result.values.astype(np.float64)
    others = count - 1
    if others < 2:
        return G.by_node(sums)
    correction = 1 if G.is_directed() else 2

    def scale(sources: int) -> float:
        if sources == 0:
            return math.nan  # a sample of one node says nothing of that node itself
        return 1 / (sources * (others - 1)) if normalized else others / (sources * correction)

    # Without a sample NetworkX counts the pairs of other nodes.
    if sample is None:
        return G.by_node(sums * scale(others))
    scales = np.full(count, scale(len(sample)))
    scales[sample] = scale(len(sample) - 1)
    return G.by_node(sums * scales)


__all__ = ["ANSWERED", "CHECKS"]
