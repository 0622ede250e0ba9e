# SPDX-License-Identifier: Apache-2.0
"""NetworkX graphs in Gossamer's form: nodes as indices in NetworkX's order, and the order of neighbours kept."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from gossamer.graph import CSR, Graph
from gossamer.graph._rows import ascending, transposed

Node = Hashable
Array = np.ndarray[Any, np.dtype[Any]]

_EXACT = 2**53
"""Integers up to here are exact in double precision."""


class ConvertedGraph:
    """A NetworkX graph of any class, converted; it does not follow later changes.

    Parallel edges of a multigraph are one edge. It has no attributes of nodes and at most one of edges.
    """

    __networkx_backend__ = "gossamer"

    def __init__(
        self,
        nodes: list[Node],
        offsets: Array,
        neighbours: Array,
        *,
        directed: bool,
        multigraph: bool,
        weight: str | None,
        least: Array | None,
        total: Array | None,
        parallel: Array | None,
        graph: dict[str, Any],
    ) -> None:
        self._nodes = nodes
        self.offsets = offsets
        """int64, nodes + 1: the neighbours of node i are ``neighbours[offsets[i]:offsets[i + 1]]``."""
        self.neighbours = neighbours
        """uint32: each distinct successor, in the order of NetworkX's adjacency."""
        self.weight = weight
        """The edge attribute that the weights are; None if there are no weights."""
        self.least = least
        """int64 or float64, for each neighbour: the weight, of parallel edges the least. None: all 1."""
        self.total = total
        """The same, of parallel edges the sum. None: equal to ``least``."""
        self.parallel = parallel
        """int64, for each neighbour: the number of parallel edges. None: all 1."""
        self.graph = graph
        self._directed = directed
        self._multigraph = multigraph
        # Applications and conversions see each structure once.
        self._forms: dict[str, Graph] = {}

    # What NetworkX asks a graph of a backend -----------------------------------

    def is_directed(self) -> bool:
        """Whether the graph is directed."""
        return self._directed

    def is_multigraph(self) -> bool:
        """Whether the graph's class permits parallel edges."""
        return self._multigraph

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self._nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.index
        except TypeError:
            return False

    def __repr__(self) -> str:
        kind = "directed" if self._directed else "undirected"
        return f"<ConvertedGraph: {kind}, {len(self)} nodes, {len(self.neighbours)} adjacencies>"

    @property
    def nodes(self) -> list[Node]:
        """The nodes, in NetworkX's order: node i of the arrays is ``nodes[i]``."""
        return self._nodes

    def number_of_nodes(self) -> int:
        """The number of nodes."""
        return len(self._nodes)

    order = number_of_nodes

    # What the functions need ------------------------------------------------------

    @functools.cached_property
    def index(self) -> dict[Node, int]:
        """The index of each node."""
        return {node: i for i, node in enumerate(self._nodes)}

    @functools.cached_property
    def has_loops(self) -> bool:
        """Whether an edge connects a node with itself."""
        return bool((self.sources == self.neighbours).any())

    @functools.cached_property
    def sources(self) -> Array:
        """The source of each adjacency."""
        return np.repeat(np.arange(len(self), dtype=np.uint32), self._lengths)

    @functools.cached_property
    def degrees(self) -> Array:
        """The number of distinct neighbours other than itself, for each node of an undirected graph: int64."""
        loops = self.neighbours[self.sources == self.neighbours]
        degrees = self._lengths
        degrees[loops] -= 1
        return degrees

    @property
    def _lengths(self) -> Array:
        return self.offsets[1:] - self.offsets[:-1]

    def least_of(self, weight: str | None) -> Array | None:
        """The weights of edges for shortest paths by an attribute; None: all 1.

        NetworkX's cache may pass a graph with weights to a call without.
        """
        return self.least if weight is not None and weight == self.weight else None

    @functools.cached_property
    def _empty(self) -> dict[Node, Any]:
        return dict.fromkeys(self._nodes)

    def by_node(self, values: Array) -> dict[Node, Any]:
        """A dictionary from each node to its value."""
        # Copying a dictionary and replacing its values takes half of the time of inserting new keys. A view creates a
        # number when it is stored. A list of all numbers would take a sixth more.
        found = self._empty.copy()
        found.update(zip(self._nodes, values.data, strict=True))
        return found

    @property
    def plain(self) -> Graph:
        """Each distinct edge once, without weights."""
        return self._form("plain", None)

    def shortest(self, weight: str | None) -> Graph:
        """Each distinct edge once, with the least weight."""
        weights = self.least_of(weight)
        return self.plain if weights is None else self._form("least", weights)

    def summed(self, weight: str | None) -> Graph:
        """Each distinct edge once, with the sum of the weights of its parallel edges: without weights, their number."""
        if weight is None or weight != self.weight:
            return self.plain if self.parallel is None else self._form("parallel", self.parallel)
        return self.shortest(weight) if self.total is None else self._form("total", self.total)

    def _form(self, name: str, weights: Array | None) -> Graph:
        if name not in self._forms:
            rows = ascending(CSR(self.offsets, self.neighbours, weights))
            self._forms[name] = Graph(out=rows, symmetric=not self._directed)
        return self._forms[name]

    @functools.cached_property
    def reversed(self) -> ConvertedGraph:
        """The graph with every edge reversed and without weights; an undirected graph is itself.

        For lengths of paths: NetworkX's order of predecessors is not kept.
        """
        if not self._directed:
            return self
        rows = transposed(CSR(self.offsets, self.neighbours))
        return ConvertedGraph(
            self._nodes,
            rows.offsets,
            rows.targets,
            directed=True,
            multigraph=self._multigraph,
            weight=None,
            least=None,
            total=None,
            parallel=None,
            graph=self.graph,
        )

    def to_networkx(self) -> Any:
        """A NetworkX graph with the same nodes and edges; edges have the converted attribute.

        Raises NotImplementedError for a multigraph, whose parallel edges are merged.
        """
        import networkx

        if self._multigraph:
            raise NotImplementedError("parallel edges are merged in the conversion; use the original graph")
        result: Any = networkx.DiGraph() if self._directed else networkx.Graph()
        result.graph.update(self.graph)
        result.add_nodes_from(self._nodes)
        names = self._nodes
        pairs = zip(self.sources.tolist(), self.neighbours.tolist(), strict=True)
        if self.least is None:
            result.add_edges_from((names[a], names[b]) for a, b in pairs)
        else:
            weights = self.least.tolist()
            result.add_edges_from(
                (names[a], names[b], {self.weight: w}) for (a, b), w in zip(pairs, weights, strict=True)
            )
        return result


def convert(graph: Any, weight: str | None, default: Any) -> ConvertedGraph:
    """Converts a NetworkX graph with one attribute of edges as weight, or without weights.

    Raises NotImplementedError, which makes NetworkX try the next backend, for weights that are no numbers of at most 64
    bits.
    """
    nodes = list(graph)
    # A subclass may compute its neighbours, which only the public view shows.
    views = graph._adj if type(graph).__module__.startswith("networkx.classes.") else graph.adj
    rows = [views[node] for node in nodes]
    # The length of a filtered row may count neighbours that its iteration omits.
    adjacency: list[Mapping[Node, Any]] = [row if type(row) is dict else dict(row.items()) for row in rows]
    offsets = np.zeros(len(nodes) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, adjacency), np.int64, len(nodes)), out=offsets[1:])
    count = int(offsets[-1])
    ends = itertools.chain.from_iterable(adjacency)
    # type(), because a bool or a float that is equal to an index would be taken for it.
    if all(type(node) is int and node == i for i, node in enumerate(nodes)):
        neighbours = np.fromiter(ends, np.uint32, count)
    else:
        index = {node: i for i, node in enumerate(nodes)}
        neighbours = np.fromiter(map(index.__getitem__, ends), np.uint32, count)
    multigraph = graph.is_multigraph()
    least: Array | None = None
    total: Array | None = None
    parallel: Array | None = None
    every = itertools.chain.from_iterable(neighbour.values() for neighbour in adjacency)
    if multigraph:
        groups = [list(keyed.values()) for keyed in every]
        parallel = np.fromiter(map(len, groups), np.int64, count)
        if weight is not None:
            flat = _numbers([data.get(weight, default) for group in groups for data in group], weight)
            least, total = _merged(flat, parallel)
    elif weight is not None:
        least = _numbers([data.get(weight, default) for data in every], weight)
    if parallel is not None and (parallel == 1).all():
        total = parallel = None
    if least is not None and total is None and (least == 1).all():
        least = None
    return ConvertedGraph(
        nodes,
        offsets,
        neighbours,
        directed=graph.is_directed(),
        multigraph=multigraph,
        weight=weight,
        least=least,
        total=total,
        parallel=parallel,
        graph=dict(graph.graph),
    )


def _numbers(values: list[Any], weight: str) -> Array:
    """Weights as int64 or float64."""
    kinds = set(map(type, values))
    if kinds <= {int, bool}:
        if values and max(map(abs, values)) >= 2**62:
            raise NotImplementedError(f"a {weight!r} has more than 62 bits")
        return np.array(values, np.int64)
    if not all(issubclass(kind, (int, float, np.integer, np.floating)) for kind in kinds):
        other = next(kind for kind in kinds if not issubclass(kind, (int, float, np.integer, np.floating)))
        raise NotImplementedError(f"a {weight!r} is a {other.__name__}")
    if np.longdouble in kinds:
        raise NotImplementedError(f"a {weight!r} is a {np.longdouble.__name__}")
    if any(issubclass(kind, (int, np.integer)) for kind in kinds) and any(
        isinstance(value, (int, np.integer)) and abs(int(value)) > _EXACT for value in values
    ):
        raise NotImplementedError(f"a {weight!r} is not exact in double precision")
    numbers = np.array(values, np.float64)
    if not np.isfinite(numbers).all():
        raise NotImplementedError(f"a {weight!r} is not finite")
    return numbers


def _merged(flat: Array, counts: Array) -> tuple[Array, Array]:
    """The least and the sum of each group of parallel edges; every group has at least one."""
    if not len(counts):
        return flat, flat
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    if flat.dtype.kind == "i" and len(flat) and max(int(flat.max()), -int(flat.min())) * int(counts.max()) >= 2**63:
        raise NotImplementedError("the weights of parallel edges exceed signed 64 bits")
    return np.minimum.reduceat(flat, starts), np.add.reduceat(flat, starts)


__all__ = ["Array", "ConvertedGraph", "Node", "convert"]
