# SPDX-License-Identifier: Apache-2.0
"""Runs of applications on converted graphs, and searches in the order of NetworkX's own."""

from __future__ import annotations

import ctypes
import functools
import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import networkx
import numpy as np

from gossamer import apps
from gossamer.apps import App, runner
from gossamer.apps.results import Result
from gossamer.errors import GraphWarning, InputError, NoAnswer
from gossamer.graph import Graph, _native
from gossamer.networkx_backend._graph import Array, ConvertedGraph, Node

_UNREACHED = -1
_NO_VERTEX = 0xFFFFFFFF
_LONGEST = 2**62


@functools.cache
def _load(name: str, defines: tuple[str, ...]) -> App:
    return apps.load(name, defines)


def run(name: str, graph: Graph, defines: tuple[str, ...] = (), **parameters: Any) -> Result:
    """Runs an application with the configured number of threads.

    Raises NotImplementedError, so that NetworkX may answer, if the application rejects the graph or its numbers
    overflow; NoAnswer if it did not converge.
    """
    threads = networkx.config.backends.gossamer.threads
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphWarning)
            return runner.run(_load(name, defines), graph, threads=threads or None, **parameters)
    except InputError as error:
        raise NotImplementedError(str(error)) from None
    except NoAnswer as error:
        if "did not converge" in str(error):
            raise
        raise NotImplementedError(str(error)) from None


def levels(graph: ConvertedGraph, source: int) -> Array:
    """Edges from the source to each node, int64; -1 if no path exists."""
    found = run("bfs", graph.plain, source=source).values
    distances: Array = found.astype(np.int64)
    distances[found == _NO_VERTEX] = _UNREACHED
    return distances


def lengths(graph: ConvertedGraph, source: int, weight: str | None) -> Array:
    """Lengths of shortest paths with weights of at least 0: int64 (-1: no path exists) or float64 (infinity)."""
    weights = graph.least_of(weight)
    if weights is None:
        return levels(graph, source)
    if weights.size and weights.min() < 0:
        raise NotImplementedError("a weight is negative")
    if weights.dtype.kind == "f":
        return run("sssp-double", graph.shortest(weight), source=source).values
    found = run("sssp64", graph.shortest(weight), source=source)
    there = found.app.columns[0].present(found.values)
    if (found.values[there] > _LONGEST).any():
        raise NotImplementedError("a shortest path exceeds signed 64 bits")
    return np.where(there, found.values, 0).astype(np.int64) - np.where(there, 0, 1)


@dataclass(frozen=True)
class Visit:
    """A search from one node: the visited nodes in order, and the tree."""

    graph: ConvertedGraph
    source: int
    order: Array
    """Indices of the reached nodes."""
    previous: Array
    """For each node the index of the predecessor; ``None`` of uint32 for the source and unreached nodes."""
    distances: Array
    """For each node; of unreached ones -1 or infinity."""

    def nodes(self) -> list[Node]:
        """The reached nodes, in order."""
        return named(self.graph, self.order)

    def lengths(self) -> dict[Node, Any]:
        """The distance of each reached node, in order."""
        return dict(zip(self.nodes(), self.distances[self.order].tolist(), strict=True))

    def edges(self) -> Iterator[tuple[Node, Node]]:
        """The edges of the tree, in the order in which their targets were found."""
        later = self.order[1:]
        return zip(named(self.graph, self.previous[later]), named(self.graph, later), strict=True)

    def paths(self) -> dict[Node, list[Node]]:
        """The path from the source to each reached node, in order."""
        start = self.graph.nodes[self.source]
        found = {start: [start]}
        for parent, child in self.edges():
            found[child] = [*found[parent], child]
        return found

    def path(self, target: int) -> list[Node]:
        """The path from the source to a reached node."""
        return path_to(self.graph, self.previous, target)

    def reaches(self, node: int) -> bool:
        """Whether a path leads to the node."""
        distance = self.distances[node]
        return bool(0 <= distance < math.inf)

    def predecessors(self, weights: Array | None) -> dict[Node, list[Node]]:
        """For each reached node, all predecessors on shortest paths, in the order in which they were visited."""
        graph, count = self.graph, len(self.graph)
        place = np.full(count, count, np.int64)
        place[self.order] = np.arange(len(self.order))
        sources, targets = graph.sources, graph.neighbours
        tight = (place[sources] < count) & (place[targets] < count)
        step = np.ones(len(targets), np.int64) if weights is None else weights
        tight &= self.distances[sources] + step == self.distances[targets]
        sources, targets = sources[tight], targets[tight]
        by_time = np.argsort(place[sources], kind="stable")
        found: dict[Node, list[Node]] = {node: [] for node in self.nodes()}
        pairs = zip(named(graph, targets[by_time]), named(graph, sources[by_time]), strict=True)
        for target, source in pairs:
            found[target].append(source)
        return found


def visit(graph: ConvertedGraph, source: int, weight: str | None, cutoff: float | None = None) -> Visit:
    """Dijkstra's algorithm with an attribute of the edges as weight, or a breadth-first search.

    ``cutoff``: paths up to this length; None: all.
    """
    distances = lengths(graph, source, weight)
    if cutoff is not None:
        far = distances > cutoff
        far[source] = False
        distances = distances.copy()
        distances[far] = math.inf if distances.dtype.kind == "f" else _UNREACHED
    order = np.empty(len(graph), np.uint32)
    previous = np.empty(len(graph), np.uint32)
    reached = ctypes.c_uint64()
    weights = graph.least_of(weight)
    distances = np.ascontiguousarray(distances)
    _native.call(
        "search_order",
        len(graph),
        *map(_native.pointer, (graph.offsets, graph.neighbours, weights)),
        _native.weight_type(distances),
        _native.pointer(distances),
        source,
        *map(_native.pointer, (order, previous)),
        ctypes.byref(reached),
    )
    return Visit(graph, source, order[: reached.value], previous, distances)


def depth(limit: float | None) -> float | None:
    """The greatest level of a breadth-first search that stops once ``level < limit`` is false."""
    return None if limit is None else max(0, math.ceil(limit)) if math.isfinite(limit) else limit


def path_to(graph: ConvertedGraph, previous: Array, target: int) -> list[Node]:
    """The path to a node along the predecessors."""
    path = [target]
    while previous[path[-1]] != _NO_VERTEX:
        path.append(int(previous[path[-1]]))
    return named(graph, path[::-1])


def named(graph: ConvertedGraph, indices: Array | Sequence[int]) -> list[Node]:
    """The nodes with these indices."""
    numbers = indices.tolist() if isinstance(indices, np.ndarray) else indices
    return list(map(graph.nodes.__getitem__, numbers))


__all__ = ["Visit", "depth", "lengths", "levels", "named", "path_to", "run", "visit"]
