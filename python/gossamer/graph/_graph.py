# SPDX-License-Identifier: Apache-2.0
"""The graph in memory: compressed sparse rows in one or both directions, and the labels of the vertices."""

from __future__ import annotations

import ctypes
import difflib
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gossamer import optional
from gossamer.arguments import FLAG, LABEL, LABELS, TEXT, WHOLE, accepts, numeric, or_none
from gossamer.errors import InputError
from gossamer.graph import _native
from gossamer.graph._adjlist import LabelTable
from gossamer.graph._rows import (
    CSR,
    array_of,
    ascending,
    edge_without_reverse,
    from_edges,
    refuse_masked,
    simplify_in_place,
    transposed,
    weights_of,
)
from gossamer.native import check_mapped
from gossamer.wording import counted

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

Labels: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]] | Sequence[str]"

MOST_VERTICES = 2**32 - 2


class Graph:
    """A directed graph with labelled vertices; a graph equal to its transpose is ``symmetric``.

    Parallel edges and self-loops are ordinary edges. Arrays are in index order; ``label_of`` and
    ``index_of`` convert between an index and the label of the vertex in the file.
    """

    __slots__ = (
        "_index",
        "_into",
        "_out",
        "_weight_range",
        "base",
        "edges",
        "labels",
        "name",
        "notes",
        "symmetric",
        "vertices",
    )

    vertices: int
    """The number of vertices."""
    edges: int
    """Directed edges as stored: an edge of a symmetric graph counts once for each direction."""
    symmetric: bool
    """Whether every edge is stored in both directions."""
    labels: Labels | None
    """None (the label is index + base), int64 ascending, or a sequence of str."""
    base: int
    """The label of vertex 0 without ``labels``: 0 or 1."""
    name: str
    """For messages: the file, or text of the caller."""
    notes: tuple[str, ...]
    """Observations of a reader that may matter to the user, one line each."""

    def __init__(
        self,
        *,
        out: CSR | None = None,
        into: CSR | None = None,
        symmetric: bool = False,
        labels: Labels | None = None,
        base: int = 0,
        name: str = "",
        notes: tuple[str, ...] = (),
    ) -> None:
        """Uses rows without a check; ``from_csr`` checks and converts."""
        some = out if out is not None else into
        if some is None:
            raise ValueError("a graph needs rows in at least one direction")
        self._out = out
        self._into = into
        self.vertices = len(some.offsets) - 1
        self.edges = len(some.targets)
        self.symmetric = symmetric
        self.labels = labels
        self.base = base
        self.name = name
        self.notes = notes
        self._index: dict[str, int] | None = None
        self._weight_range: tuple[float, float] | None = None

    @classmethod
    @accepts(symmetric=FLAG, labels=or_none(LABELS), base=WHOLE, name=TEXT)
    def from_csr(
        cls,
        offsets: Any,
        targets: Any,
        weights: Any = None,
        *,
        into: CSR | None = None,
        symmetric: bool = False,
        labels: Labels | None = None,
        base: int = 0,
        name: str = "",
    ) -> Graph:
        """A graph from rows of out-edges. Arrays of the right type are used in place; unsorted rows are
        sorted in a copy. Raises InputError if the rows are invalid, or not symmetric despite
        ``symmetric``."""
        where = name or "graph"
        for what, array in (("offsets", offsets), ("targets", targets), ("weights", weights), ("labels", labels)):
            refuse_masked(f"{where}: {what}", array)
        starts = array_of(numeric(where, "offsets", offsets), np.int64)
        if starts.ndim != 1 or len(starts) < 2:
            raise InputError(f"{where}: offsets must have vertices + 1 elements, with at least one vertex")
        if len(starts) - 1 > MOST_VERTICES:
            raise InputError(f"{where}: {len(starts) - 1} vertices; the maximum is {MOST_VERTICES}")
        wide = np.asarray(targets)
        count = len(starts) - 1
        if wide.ndim != 1 or (wide.dtype.kind not in "iu" and wide.size):
            raise InputError(f"{where}: targets must be a one-dimensional array of integers")
        if wide.size and (int(wide.min()) < 0 or int(wide.max()) >= count):
            raise InputError(f"{where}: a target is outside 0 .. {count - 1}")
        ends = array_of(wide, np.uint32)
        if starts[0] != 0 or starts[-1] != len(ends) or bool((starts[1:] < starts[:-1]).any()):
            raise InputError(f"{where}: offsets must ascend from 0 to the number of edges, {len(ends)}")
        costs = None if weights is None else weights_of(weights)
        if costs is not None and costs.shape != ends.shape:
            raise InputError(
                f"{where}: {counted(costs.size, 'weight')} for {counted(len(ends), 'edge')}; give one for each edge"
            )
        if labels is not None and len(labels) != count:
            given = f"{counted(len(labels), 'label')} for {counted(count, 'vertex', 'vertices')}"
            raise InputError(f"{where}: {given}; give one for each vertex")
        if isinstance(labels, np.ndarray):
            labels = array_of(labels, np.int64)
            if bool((labels[1:] <= labels[:-1]).any()):
                raise InputError(f"{where}: integer labels must ascend; give other labels as str")
        out = ascending(CSR(starts, ends, costs))
        graph = cls(out=out, into=into, symmetric=symmetric, labels=labels, base=base, name=name)
        if symmetric and (edge := edge_without_reverse(out)) is not None:
            at, other = map(graph.label_of, edge)
            raise InputError(
                f"{where}: is not symmetric: the edge from {at} to {other} has no reverse"
                f"{'' if costs is None else ' of the same weight'}; omit symmetric, or use symmetrised()"
            )
        return graph

    @classmethod
    @accepts(vertices=or_none(WHOLE), undirected=FLAG, name=TEXT)
    def from_arrays(
        cls,
        sources: Any,
        targets: Any,
        weights: Any = None,
        *,
        vertices: int | None = None,
        undirected: bool = False,
        name: str = "",
    ) -> Graph:
        """A graph from two arrays, sources and targets of its edges, in any order; ``weights`` has one for each edge.

        Integers from 0 on are indices of ``vertices`` vertices, by default up to the greatest index. Text is labels,
        in the order of their first appearance (sources, then targets). ``undirected`` stores every edge in both
        directions, a self-loop once. Raises InputError if the arrays are invalid.
        """
        where = name or "graph"
        for what, array in (("sources", sources), ("targets", targets), ("weights", weights)):
            refuse_masked(f"{where}: {what}", array)
        ends = [np.asarray(sources), np.asarray(targets)]
        if ends[0].ndim != 1 or ends[0].shape != ends[1].shape:
            raise InputError(
                f"{where}: sources and targets must be two arrays of equal length, with one element for each edge"
            )
        if weights is not None and np.shape(weights) != ends[0].shape:
            given = f"{counted(np.size(weights), 'weight')} for {counted(len(ends[0]), 'edge')}"
            raise InputError(f"{where}: {given}; give one for each edge")
        labels: list[str] | None = None
        # NumPy would convert mixed signed and unsigned numbers to floating point, and numbers with text to text.
        kinds = {one.dtype.kind for one in ends}
        if kinds == {"i", "u"}:
            most = np.uint64(np.iinfo(np.int64).max)
            ends = [one if one.dtype.kind == "i" else np.minimum(one.astype(np.uint64), most) for one in ends]
            ends = [one.astype(np.int64) for one in ends]
        elif ends[0].size and kinds & {"O", "U"} and kinds - {"O", "U"}:
            raise InputError(f"{where}: ends of edges must be all integers or all text")
        both = np.concatenate(ends)
        if both.size and both.dtype.kind in "OU":
            if not all(isinstance(label, str) for label in both.tolist()):
                raise InputError(f"{where}: ends of edges must be integers or text")
            index: dict[str, int] = {}
            both = np.array([index.setdefault(label, len(index)) for label in both.tolist()], np.int64)
            labels = list(index)
            if vertices is not None and vertices != len(labels):
                raise InputError(
                    f"{where}: vertices is {vertices}, but the edges have {counted(len(labels), 'label')}; omit it"
                )
            vertices = len(labels)
        elif both.size and both.dtype.kind not in "iu":
            raise InputError(f"{where}: ends of edges must be integers or text, not {both.dtype}")
        greatest = int(both.max()) if both.size else -1
        count = greatest + 1 if vertices is None else vertices
        if both.size and (int(both.min()) < 0 or greatest >= count):
            wrong = int(both.min()) if int(both.min()) < 0 else greatest
            raise InputError(f"{where}: an edge has the vertex {wrong}, which is outside 0 .. {count - 1}")
        if not 1 <= count <= MOST_VERTICES:
            raise InputError(f"{where}: {count} vertices; a graph must have 1 to {MOST_VERTICES}")
        starts, stops = np.split(both.astype(np.int64), 2)
        rows = from_edges(count, starts, stops, weights)
        graph = cls(out=rows, labels=labels, name=name)
        return graph.symmetrised() if undirected else graph

    # Rows -------------------------------------------------------------------

    @property
    def out(self) -> CSR:
        """Edges by source. Arrays of a ``.gsg`` are the mapped file: raises RunDied if it has been truncated since."""
        check_mapped()
        if self._out is None:
            assert self._into is not None
            self._out = self._into if self.symmetric else transposed(self._into)
        return self._out

    @property
    def into(self) -> CSR:
        """Edges by destination; computed on first access. Raises RunDied as ``out`` does."""
        check_mapped()
        if self._into is None:
            assert self._out is not None
            self._into = self._out if self.symmetric else transposed(self._out)
        return self._into

    @property
    def has_out(self) -> bool:
        """Whether ``out`` is available without computation."""
        return self._out is not None or self.symmetric

    @property
    def has_into(self) -> bool:
        """Whether ``into`` is available without computation."""
        return self._into is not None or self.symmetric

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return self._any.weights is not None

    @property
    def weight_type(self) -> np.dtype[Any] | None:
        """The type of the weights; None without weights."""
        weights = self._any.weights
        return None if weights is None else weights.dtype

    @property
    def weight_range(self) -> tuple[float, float]:
        """The least and the greatest weight; (1, 1) without weights. Computed on first access."""
        if self._weight_range is None:
            weights = self._any.weights
            if weights is None or not weights.size:
                self._weight_range = (1.0, 1.0)
            else:
                self._weight_range = (float(weights.min()), float(weights.max()))
        return self._weight_range

    @property
    def _any(self) -> CSR:
        rows = self._out if self._out is not None else self._into
        assert rows is not None
        return rows

    def __repr__(self) -> str:
        dtype = self._any.weights.dtype if self._any.weights is not None else None
        parts = [f"{self.vertices} vertices", f"{self.edges} edges"]
        parts += ["symmetric"] if self.symmetric else []
        parts += [f"{dtype} weights"] if dtype is not None else []
        return f"<Graph {self.name!r}: {', '.join(parts)}>" if self.name else f"<Graph: {', '.join(parts)}>"

    # Labels -----------------------------------------------------------------

    def label_of(self, index: int) -> str | int:
        """The label of a vertex. Raises IndexError for an index outside the graph."""
        try:
            i = operator.index(index)
        except TypeError:
            raise InputError(f"Graph.label_of: index: {index!r} is not supported; give a whole number") from None
        if not 0 <= i < self.vertices:
            raise IndexError(f"vertex index {i} of {self.vertices}")
        if self.labels is None:
            return i + self.base
        label = self.labels[i]
        return label if isinstance(label, str) else int(label)

    def labels_at(self, indices: Any, there: Any = None) -> np.ndarray[Any, Any]:
        """The labels of many vertices: int64 or text. Where ``there`` is false, the result has a number
        below all labels (-1 if none is negative), or the empty text."""
        indices = numeric("Graph.labels_at", "indices", indices)
        if indices.ndim != 1:
            raise InputError("Graph.labels_at: indices: must be a one-dimensional array")
        kept = np.ones(len(indices), np.bool_) if there is None else np.asarray(there, np.bool_)
        if self.labels is not None and not isinstance(self.labels, np.ndarray):
            named = {int(i): str(self.labels[int(i)]) for i in np.unique(np.asarray(indices)[kept])}
            pairs = zip(np.asarray(indices).tolist(), kept.tolist(), strict=True)
            return np.array([named[i] if yes else "" for i, yes in pairs], np.str_)
        at = np.where(kept, indices, 0).astype(np.int64)
        if self.labels is None:
            return np.where(kept, at + self.base, -1)
        return np.where(kept, self.labels[at], min(-1, int(self.labels[0]) - 1))

    def index_of(self, label: str | int) -> int:
        """The index of the vertex with a label. Raises InputError if no vertex has it."""
        if not isinstance(label, LABEL.types):
            raise InputError(f"Graph.index_of: label: a {type(label).__name__} is not supported; give {LABEL.said}")
        where = f"graph {self.name}" if self.name else "the graph"
        if self.labels is not None and not isinstance(self.labels, np.ndarray):
            found = self._find(str(label))
            if found is not None:
                return found
            near = difflib.get_close_matches(str(label), self.labels, 1, 0.6)
            hint = (
                f"; did you mean {near[0]!r}?"
                if near
                else "; its labels look like " + ", ".join(repr(self.labels[i]) for i in range(min(3, self.vertices)))
            )
            raise InputError(f"{where} has no vertex {str(label)!r}{hint}")
        try:
            number = int(label)
        except ValueError:
            raise InputError(f"{where} has no vertex {label!r}; {self._range()}") from None
        if self.labels is None:
            if 0 <= number - self.base < self.vertices:
                return number - self.base
        elif -(2**63) <= number < 2**63:
            at = int(np.searchsorted(self.labels, number))
            if at < self.vertices and int(self.labels[at]) == number:
                return at
            if int(self.labels[0]) < number < int(self.labels[-1]):
                near_by = (
                    self.labels[at] if self.labels[at] - number < number - self.labels[at - 1] else self.labels[at - 1]
                )
                raise InputError(f"{where} has no vertex {number}; the nearest number is {near_by}")
        raise InputError(f"{where} has no vertex {number}; {self._range()}")

    def has(self, label: str | int) -> bool:
        """Whether a vertex has this label."""
        if self.labels is not None and not isinstance(self.labels, np.ndarray):
            return self._find(str(label)) is not None
        try:
            self.index_of(label)
        except InputError:
            return False
        return True

    def _find(self, label: str) -> int | None:
        if isinstance(self.labels, LabelTable):
            return self.labels.find(label)
        assert self.labels is not None
        if self._index is None:
            self._index = {str(text): i for i, text in enumerate(self.labels)}
        return self._index.get(label)

    def _range(self) -> str:
        return f"vertices are the numbers {self.label_of(0)} .. {self.label_of(self.vertices - 1)}"

    # Other forms ------------------------------------------------------------

    def census(self) -> dict[str, int]:
        """Counts self-loops, parallel edges and vertices of several kinds; checks the rows.

        Keys: loops, parallel (edges beyond the first with the same ends), isolated, sinks (no
        out-edge), sources (no in-edge), most_out and most_in (greatest degrees) and
        most_out_vertex and most_in_vertex (indices). Raises InputError for invalid rows.
        """
        census = _native.Census()
        rows = self._any
        try:
            _native.call(
                "count",
                self.vertices,
                self.edges,
                _native.pointer(rows.offsets),
                _native.pointer(rows.targets),
                ctypes.byref(census),
            )
        except InputError as error:
            raise InputError(f"{self.name or 'graph'}: {error}; the graph is corrupt, make it again") from None
        found = {name: int(getattr(census, name)) for name, *_ in census._fields_}
        if self._out is None and not self.symmetric:
            for a, b in (
                ("sinks", "sources"),
                ("most_out", "most_in"),
                ("most_out_vertex", "most_in_vertex"),
            ):
                found[a], found[b] = found[b], found[a]
        return found

    @accepts(parallel=FLAG, loops=FLAG)
    def simplified(self, *, parallel: bool = True, loops: bool = True) -> Graph:
        """The graph without parallel edges (the one of least weight remains) and without self-loops."""
        rows = self._any
        offsets, targets = rows.offsets.copy(), rows.targets.copy()
        weights = None if rows.weights is None else rows.weights.copy()
        folded = simplify_in_place(CSR(offsets, targets, weights), parallel=parallel, loops=loops)
        return self._with(folded, self.symmetric)

    def symmetrised(self) -> Graph:
        """The graph with every edge in both directions (a self-loop once); edges that exist in both directions become
        parallel, which ``notes`` reports."""
        if self.symmetric:
            return self
        rows = self._any
        loops = self.census()["loops"]
        count = 2 * self.edges - loops
        offsets = np.empty(self.vertices + 1, np.int64)
        targets = np.empty(count, np.uint32)
        weights = None if rows.weights is None else np.empty(count, rows.weights.dtype)
        _native.call(
            "symmetrise",
            self.vertices,
            self.edges,
            *map(_native.pointer, (rows.offsets, rows.targets, rows.weights)),
            _native.weight_type(rows.weights),
            0,
            *map(_native.pointer, (offsets, targets, weights)),
        )
        graph = self._with(CSR(offsets, targets, weights), True)
        graph.note_parallel()
        return graph

    def note_parallel(self, parallel: int | None = None) -> None:
        """For a graph made symmetric: adds the number of duplicate edges to ``notes``; counts them if it is None."""
        if parallel is None:
            parallel = self.census()["parallel"]
        if parallel:
            duplicates = f"{parallel:,} of {self.edges:,} edges, with both directions counted, are duplicates"
            self.notes += (f"{self.name or 'the graph'}: {duplicates}; dedupe removes them",)

    def with_weights(self, weights: Any) -> Graph:
        """The same edges with other weights, one for each element of ``out.targets``. A symmetric graph stays
        symmetric if every edge has the weight of its reverse."""
        rows = self.out
        graph = Graph.from_csr(rows.offsets, rows.targets, weights, base=self.base)
        graph.labels, graph.name, graph.notes = self.labels, self.name, self.notes
        graph.symmetric = self.symmetric and edge_without_reverse(graph.out) is None
        return graph

    def _with(self, rows: CSR, symmetric: bool) -> Graph:
        transposed_only = self._out is None and not symmetric
        return Graph(
            out=None if transposed_only else rows,
            into=rows if transposed_only else None,
            symmetric=symmetric,
            labels=self.labels,
            base=self.base,
            name=self.name,
            notes=self.notes,
        )

    @classmethod
    @accepts(symmetric=FLAG, weighted=FLAG, copy=FLAG, name=TEXT)
    def from_scipy(
        cls, matrix: Any, *, symmetric: bool = False, weighted: bool = True, copy: bool = False, name: str = ""
    ) -> Graph:
        """From a square SciPy sparse matrix or array: entry (i, j) is an edge from i to j.

        Explicit zeros are edges. Boolean matrices have no weights. Arrays of a CSR matrix whose types agree (indices of
        32 bits, indptr of 64 bits, data of int32, int64, float32 or float64) are not copied if rows are sorted and have
        no duplicates: later changes of the matrix change the graph, unless ``copy``. Raises InputError if the matrix is
        not symmetric despite ``symmetric``.
        """
        if not hasattr(matrix, "tocsr") or not hasattr(matrix, "shape"):
            raise InputError(
                f"{name or 'matrix'}: a {type(matrix).__name__} is not a sparse matrix; use scipy.sparse.csr_array"
            )
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"{name or 'matrix'}: shape {matrix.shape}; the matrix of a graph must be square")
        rows = matrix.tocsr(copy=copy)
        weights = rows.data if weighted and rows.data.dtype.kind != "b" else None
        return cls.from_csr(rows.indptr, rows.indices, weights, symmetric=symmetric, name=name)

    @accepts(copy=FLAG)
    def to_scipy(self, *, copy: bool = True) -> scipy.sparse.csr_array:
        """A SciPy CSR array; without weights every entry is 1. Parallel edges stay separate entries.

        Without ``copy`` its data and, of graphs with fewer than 2^31 vertices and edges, its indices are the graph's
        arrays: SciPy modifies arrays in place, for example to sum duplicate entries, and would change the graph.
        Raises InputError if SciPy is not installed.
        """
        sparse = optional.load("scipy.sparse", "Graph.to_scipy")
        out = self.out
        index = np.int32 if max(self.edges, self.vertices) < 2**31 else np.int64
        targets = array_of(out.targets, np.int32) if index is np.int32 else out.targets.astype(index)
        data = np.ones(self.edges) if out.weights is None else out.weights
        if copy:
            targets, data = targets.copy(), data.copy()
        check_mapped()
        matrix = sparse.csr_array((self.vertices, self.vertices), dtype=data.dtype)
        # The constructor would copy; an array of a mapped file is not writable, and SciPy accepts it.
        matrix.data, matrix.indices, matrix.indptr = data, targets, out.offsets.astype(index)
        return matrix

    @classmethod
    @accepts(weight=or_none(TEXT), name=TEXT)
    def from_networkx(cls, graph: networkx.Graph[Any], *, weight: str | None = "weight", name: str = "") -> Graph:
        """From a NetworkX graph of any class; ``weight`` is the attribute of the edges.

        If no edge has the attribute, the graph has no weights; if some have it, the others have the weight 1.
        Integer nodes are sorted; other nodes keep the order of ``graph.nodes`` and become str.
        """
        if not hasattr(graph, "nodes") or not hasattr(graph, "edges"):
            raise InputError(f"{name or 'graph'}: a {type(graph).__name__} is not a NetworkX graph")
        nodes = list(graph.nodes)
        if not nodes:
            raise InputError(f"{name or 'graph'}: the graph has no vertices")
        labels: Labels | None
        if all(type(node) is int and -(2**63) <= node < 2**63 for node in nodes):
            nodes.sort()
            dense = nodes[0] in (0, 1) and nodes[-1] - nodes[0] == len(nodes) - 1
            labels = None if dense else np.array(nodes, np.int64)
            base = nodes[0] if dense else 0
        else:
            labels, base = [str(node) for node in nodes], 0
            if len(set(labels)) != len(labels):
                raise InputError(f"{name or 'graph'}: two nodes have the same str; rename one")
        index = {node: i for i, node in enumerate(nodes)}
        directed = graph.is_directed()
        sources, targets, costs, any_cost = [], [], [], False
        for source, target, data in graph.edges(data=True):
            cost = data.get(weight) if weight is not None else None
            any_cost = any_cost or cost is not None
            directions = [(source, target)] if directed or source == target else [(source, target), (target, source)]
            for a, b in directions:
                sources.append(index[a])
                targets.append(index[b])
                if cost is not None and not isinstance(cost, (int, float, np.integer, np.floating)):
                    raise InputError(
                        f"{name or 'graph'}: the {weight} of the edge {source!r}, {target!r} is a "
                        f"{type(cost).__name__}; it must be an integer or a floating-point number"
                    )
                costs.append(1 if cost is None else cost)
        result = from_edges(len(nodes), sources, targets, costs if any_cost else None)
        return cls(out=result, symmetric=not directed, labels=labels, base=base, name=name)

    def to_networkx(self) -> networkx.Graph[Any]:
        """A NetworkX MultiDiGraph, or MultiGraph if symmetric; nodes are labels, weights are ``weight``.

        Raises InputError if NetworkX is not installed.
        """
        nx = optional.load("networkx", "Graph.to_networkx")
        result: networkx.Graph[Any] = nx.MultiGraph() if self.symmetric else nx.MultiDiGraph()
        names = (
            [self.label_of(i) for i in range(self.vertices)]
            if self.labels is None
            else (self.labels.tolist() if isinstance(self.labels, np.ndarray) else list(self.labels))
        )
        result.add_nodes_from(names)
        out = self.out
        sources = np.repeat(np.arange(self.vertices), out.degrees().astype(np.int64))
        kept = sources <= out.targets if self.symmetric else slice(None)
        pairs = zip(sources[kept].tolist(), out.targets[kept].tolist(), strict=True)
        if out.weights is None:
            result.add_edges_from((names[a], names[b]) for a, b in pairs)
        else:
            costs = out.weights[kept].tolist()
            result.add_edges_from((names[a], names[b], {"weight": w}) for (a, b), w in zip(pairs, costs, strict=True))
        check_mapped()
        return result


__all__ = ["Graph", "LabelTable"]
