# SPDX-License-Identifier: Apache-2.0
"""Each rank's share of a graph: a range of vertices, and the edges from and to them.

Most generated graphs are generated in place: each rank generates a part, and edges move to the ranks of their ends
(src/distributed/shares.cc). Matrix Market, DIMACS and METIS files, and edge lists with numbers, are read in the same
way, each rank a part of the lines.
Other graphs are read by rank 0. Ranges have about equal numbers of edges; those of ``geo`` and ``grid`` have equal
numbers of vertices.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gossamer import native
from gossamer.distributed import binary, edge_lists
from gossamer.distributed.transport import Array, Ranks
from gossamer.errors import InputError
from gossamer.graph import CSR, Graph, _gsg, _native
from gossamer.graph._formats import FORMATS, recognised
from gossamer.graph._graph import Labels
from gossamer.graph._read import notes_on, read_part
from gossamer.graph._stream import Source, bare_suffix
from gossamer.graph.generate import Parts
from gossamer.wording import counted


class Outline(Graph):
    """A graph without its edges: numbers, name, and the labels of the vertices.

    Ranks other than 0 have only the labels of their own vertices: ``first`` and following, or those in ``indices``.
    """

    __slots__ = ("_dtype", "first", "indices", "labelled", "own")

    def __init__(
        self,
        *,
        vertices: int,
        edges: int,
        symmetric: bool,
        weight_type: Any,
        weight_range: tuple[float, float],
        labels: Labels | None,
        base: int,
        name: str,
        notes: tuple[str, ...],
    ) -> None:
        self.vertices, self.edges, self.symmetric = vertices, edges, symmetric
        self.labels, self.base, self.name, self.notes = labels, base, name, notes
        self.first, self.own = 0, vertices
        self.indices: Array | None = None
        self.labelled = labels is not None
        """Whether vertices have labels, here or on other ranks."""
        self._dtype = None if weight_type is None else np.dtype(weight_type)
        self._weight_range = weight_range
        self._index: dict[str, int] | None = None
        self._out = self._into = None

    @staticmethod
    def plan(graph: Graph) -> dict[str, Any]:
        """The arguments of the constructor for a graph's outline, without its labels."""
        return {
            "vertices": graph.vertices,
            "edges": graph.edges,
            "symmetric": graph.symmetric,
            "weight_type": None if graph.weight_type is None else graph.weight_type.str,
            "weight_range": graph.weight_range,
            "labels": None,
            "base": graph.base,
            "name": graph.name,
            "notes": graph.notes,
        }

    @property
    def weighted(self) -> bool:
        """See Graph.weighted."""
        return self._dtype is not None

    @property
    def weight_type(self) -> np.dtype[Any] | None:
        """See Graph.weight_type."""
        return self._dtype

    @property
    def weight_range(self) -> tuple[float, float]:
        """See Graph.weight_range."""
        assert self._weight_range is not None
        return self._weight_range

    def weigh(self, ranges: list[tuple[float, float]]) -> None:
        """Sets the range of the weights from those of parts of the edges."""
        self._weight_range = (1.0, 1.0)
        if ranges:
            self._weight_range = (min(low for low, _ in ranges), max(high for _, high in ranges))

    def label_of(self, index: int) -> str | int:
        """See Graph.label_of. The label of another rank's vertex may be unknown here: then its index."""
        if self.labels is None or self.own == self.vertices:
            return super().label_of(index)
        at = int(index) - self.first
        if self.indices is not None:
            at = int(np.searchsorted(self.indices, index))
            if at == self.own or self.indices[at] != index:
                at = -1
        if not 0 <= at < self.own:
            return f"of index {index}"
        label = self.labels[at]
        return label if isinstance(label, str) else int(label)


@dataclass
class Share:
    """One rank's share."""

    whole: Outline
    cuts: Array
    """The first vertex of each rank, and the number of vertices; uint64."""
    out: CSR
    """Rows of the rank's vertices; a target is less the rank's first vertex, modulo 2^32."""
    into: CSR
    """The same by destination; the same object in a symmetric graph."""
    indices: Array | None = None
    """The index of each of the rank's vertices, ascending, where a partition has given them other numbers; uint32."""
    fingerprint: str | None = None
    """The hash of the edges for checkpoints, where it was computed before the partition."""
    partition: str = "ranges"
    partition_seconds: float = 0.0


def cuts_by_edges(weights: Callable[[int], int], vertices: int, ranks: int) -> Array:
    """The ranges of vertices; ``weights(v)`` is the ascending sum of the work of all vertices before v.

    Each range has at least one vertex. Raises InputError for fewer vertices than ranks.
    """
    if vertices < ranks:
        raise InputError(
            f"{ranks} ranks for {counted(vertices, 'vertex', 'vertices')}; every rank needs at least one vertex, use "
            "fewer ranks (-n)"
        )
    cuts = np.zeros(ranks + 1, np.int64)
    cuts[ranks] = vertices
    total = weights(vertices)
    for rank in range(1, ranks):
        low, high = 0, vertices
        while low < high:
            middle = (low + high) // 2
            if weights(middle) * ranks < total * rank:
                low = middle + 1
            else:
                high = middle
        cuts[rank] = min(max(low, int(cuts[rank - 1]) + 1), vertices - (ranks - rank))
    return cuts


# ---- Graphs that are generated in place ------------------------------------------------


class _Move(ctypes.Structure):
    """gs_edge_move of include/gossamer/distributed/shares.h."""

    _fields_ = [
        ("ranks", ctypes.c_void_p),
        ("cuts", ctypes.c_void_p),
        ("edges", ctypes.c_uint64),
        ("first", ctypes.c_uint64),
        ("offsets", ctypes.c_void_p),
        ("targets", ctypes.c_void_p),
        ("weights", ctypes.c_void_p),
        ("weight_type", ctypes.c_int32),
        ("by_target", ctypes.c_int32),
        ("draw", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
    ]


_Draw = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p
)


def generated(ranks: Ranks, parts: Parts, needs_targets: bool) -> Share:
    """The shares of a graph of which each rank generates a part."""
    if parts.draw is not None:
        out, into, cuts = _drawn(ranks, parts, parts.draw, needs_targets)
    else:
        assert parts.rows is not None
        cuts = cuts_by_edges(lambda v: v, parts.vertices, ranks.count)
        first, last = int(cuts[ranks.rank]), int(cuts[ranks.rank + 1])
        out = parts.rows(first, last - first)
        into = out if parts.symmetric else _moved(ranks, cuts, out, by_target=True)
        if not needs_targets and out is not into:
            out = CSR(out.offsets, np.empty(0, np.uint32))
    first = int(cuts[ranks.rank])
    shared = out is into
    into = CSR(into.offsets, into.targets, parts.weights_of(first, into.offsets, into.targets, True))
    if shared:
        out = into
    elif len(out.targets):
        out = CSR(out.offsets, out.targets, parts.weights_of(first, out.offsets, out.targets, False))
    (edges,) = ranks.sum([len(into.targets)])
    return _finished(
        ranks,
        cuts,
        out,
        into,
        {
            "vertices": parts.vertices,
            "edges": edges,
            "symmetric": parts.symmetric,
            "weight_type": None if parts.weights is None else "<i4",
            "base": 0,
            "name": parts.full_name,
        },
    )


def _finished(ranks: Ranks, cuts: Array, out: CSR, into: CSR, about: dict[str, Any]) -> Share:
    """The share with these rows, whose targets are indices of the whole graph until now."""
    weights = into.weights if into.weights is not None and len(into.weights) else None
    ranges = ranks.gather(None if weights is None else (float(weights.min()), float(weights.max())))
    there = [one for one in ranges if one is not None]
    weight_range = (min(low for low, _ in there), max(high for _, high in there)) if there else (1.0, 1.0)
    whole = Outline(weight_range=weight_range, labels=None, notes=(), **about)
    for rows in (into,) if out is into else (into, out):
        np.subtract(rows.targets, np.uint32(cuts[ranks.rank]), out=rows.targets)
    return Share(whole, cuts, out, into)


def _moved(ranks: Ranks, cuts: Array, rows: CSR, *, by_target: bool) -> CSR:
    """The rows of this rank's vertices by target, from the rows by source of each rank."""
    move = _Move(
        ranks.address,
        cuts.ctypes.data,
        len(rows.targets),
        int(cuts[ranks.rank]),
        rows.offsets.ctypes.data,
        rows.targets.ctypes.data,
        None,
        0,
        int(by_target),
        None,
        None,
    )
    offsets = _counted(ranks, cuts, move)
    return _filled(offsets, move)


def _counted(ranks: Ranks, cuts: Array, move: _Move) -> Array:
    offsets = np.empty(int(cuts[ranks.rank + 1] - cuts[ranks.rank]) + 1, np.int64)
    native.check(native.lib().gs_edges_count(ctypes.byref(move), ctypes.c_void_p(offsets.ctypes.data)))
    return offsets


def _filled(offsets: Array, move: _Move, weight_type: np.dtype[Any] | None = None) -> CSR:
    targets = np.empty(int(offsets[-1]), np.uint32)
    weights = None if weight_type is None else np.empty(len(targets), weight_type)
    pointers = [None if array is None else array.ctypes.data for array in (offsets, targets, weights)]
    native.check(native.lib().gs_edges_fill(ctypes.byref(move), *map(ctypes.c_void_p, pointers)))
    return CSR(offsets, targets, weights)


_BLOCK = 1 << 20
_RANGES = 1 << 16
"""Ranges of vertices whose edges are counted, to cut a graph."""


def _drawn(ranks: Ranks, parts: Parts, draw: Callable[..., None], needs_targets: bool) -> tuple[CSR, CSR, Array]:
    """Rows by source and by target of edges that each rank draws, and the ranges."""
    begin = parts.edges * ranks.rank // ranks.count
    count = parts.edges * (ranks.rank + 1) // ranks.count - begin
    width = -(-parts.vertices // _RANGES)
    work = np.zeros(-(-parts.vertices // width), np.int64)
    ends = np.empty((2, _BLOCK), np.uint32)
    for at in range(0, count, _BLOCK):
        size = min(_BLOCK, count - at)
        draw(begin + at, size, ends[0].ctypes.data, ends[1].ctypes.data)
        work += np.bincount(ends[:, :size].ravel() // np.uint32(width), minlength=len(work))
    cuts = _cuts(ranks, parts.vertices, width, work)

    def block(_: Any, first: int, size: int, sources: int, targets: int) -> int:
        draw(begin + first, size, sources, targets)
        return 0

    function = _Draw(block)

    def move(by_target: bool) -> _Move:
        pointer = ctypes.cast(function, ctypes.c_void_p)
        return _Move(ranks.address, cuts.ctypes.data, count, 0, None, None, None, 0, int(by_target), pointer, None)

    counted = _counted(ranks, cuts, move(False))
    out = _filled(counted, move(False)) if needs_targets else CSR(counted, np.empty(0, np.uint32))
    into = _filled(_counted(ranks, cuts, move(True)), move(True))
    return out, into, cuts


def _cuts(ranks: Ranks, vertices: int, width: int, work: Array) -> Array:
    """Ranges of vertices of about equal work, from this rank's part of the work of each ``width`` vertices."""
    until = np.concatenate([[0], np.cumsum(ranks.sum(work.tolist()))])

    def weight(vertex: int) -> int:
        at, rest = divmod(vertex, width)
        more = int(until[at + 1] - until[at]) * rest // width if rest else 0
        return int(until[at]) + more + vertex

    return cuts_by_edges(weight, vertices, ranks.count)


# ---- Files of which each rank reads a part -------------------------------------------

SMALL = 1 << 22
"""Below this many bytes, rank 0 reads a file alone."""
_HEAD = 1 << 20
_PEEK = 1 << 16
"""Bytes from which a format is recognised."""
_READ = 1 << 20


def parsed(
    ranks: Ranks, path: str, format: str | None, needs_targets: bool, columns: str | None = None
) -> Share | None:
    """The shares of a file of which each rank reads a part of the lines.

    A compressed file cannot be read from its middle: each rank decompresses all of it, and parses some of its lines.
    None if the file is small, has another format, or is wrong: rank 0 then reads it, and reports the error.
    """
    header, kind, compressed = ranks.broadcast(_header(path, format, columns) if ranks.rank == 0 else None)
    if not header:
        return None
    found: tuple[CSR, _native.Shape, Labels | None] | None = None
    about: tuple[int, int, int, int, int, int] | None = None
    try:
        lines = (_dealt if compressed else _lines)(path, len(header), ranks)
        found = read_part(path, kind, header, lines, columns=columns, rest=kind == "edges" and ranks.rank > 0)
        shape = found[1]
        if shape.label_kind != _native.LABELS_STRING:
            about = (
                *(shape.vertices, shape.entries, shape.announced_edges, shape.weight_type, shape.flags),
                shape.announced_vertices,
            )
    except (InputError, OSError, MemoryError):
        pass
    everywhere = ranks.gather(about)
    if found is None or any(one is None for one in everywhere):
        return None
    rows, shape, _ = found
    vertices, _, announced, _, flags, _ = everywhere[0]
    entries = sum(one[1] for one in everywhere)
    labels: Array | None = None
    base, notes = 1, ()
    if kind == "edges":
        numbering = edge_lists.numbered(ranks, shape, found[2])
        vertices = numbering.vertices
        certain = format is not None or columns is not None
        if edge_lists.doubtful(header, entries, vertices, shape.announced_edges, certain):
            return None
        if vertices < ranks.count:
            return None
        rows = edge_lists.spread(rows, numbering)
        shape.vertices, shape.entries = vertices, entries
        labels, base, notes = numbering.labels, numbering.base, ranks.broadcast(notes_on(path, shape))
    elif entries != announced:
        return None
    elif kind == "metis":
        counts = [one[5] for one in everywhere]
        moved = None if sum(counts) < vertices else _shifted(rows, sum(counts[: ranks.rank]), counts[ranks.rank])
        if not all(ranks.gather(moved is not None)):
            return None
        assert moved is not None
        rows = moved
    # The lines of one rank may have integers only, those of another also other numbers.
    kind_of_weights = max(one[3] for one in everywhere)
    dtype = _native.WEIGHT_TYPES[kind_of_weights] if kind_of_weights else None
    if dtype is not None:
        weights = np.empty(0, dtype) if rows.weights is None else rows.weights.astype(dtype, copy=False)
        rows = CSR(rows.offsets, rows.targets, weights)
    width = -(-vertices // _RANGES)
    starts = np.minimum(np.arange(0, vertices + width, width), vertices)
    work = np.diff(rows.offsets[starts].astype(np.int64))
    for at in range(0, len(rows.targets), _BLOCK):
        work += np.bincount(rows.targets[at : at + _BLOCK] // np.uint32(width), minlength=len(work))
    cuts = _cuts(ranks, vertices, width, work)
    symmetric = bool(flags & _native.SYMMETRIC)

    def move(by_target: bool) -> _Move:
        arrays = (rows.offsets, rows.targets, rows.weights)
        pointers = [None if array is None else array.ctypes.data for array in arrays]
        count = len(rows.targets)
        return _Move(ranks.address, cuts.ctypes.data, count, 0, *pointers, kind_of_weights, int(by_target), None, None)

    into = _filled(_counted(ranks, cuts, move(True)), move(True), dtype)
    out = into
    if kind == "metis":
        # Every edge must be listed at both ends.
        listed = _filled(_counted(ranks, cuts, move(False)), move(False), dtype)
        if not all(ranks.gather(_same(listed, into))):
            return None
        del listed
    if not symmetric:
        counted = _counted(ranks, cuts, move(False))
        out = _filled(counted, move(False), dtype) if needs_targets else CSR(counted, np.empty(0, np.uint32))
    (edges,) = ranks.sum([len(into.targets)])
    share = _finished(
        ranks,
        cuts,
        out,
        into,
        {
            "vertices": vertices,
            "edges": edges,
            "symmetric": symmetric,
            "weight_type": None if dtype is None else dtype.str,
            "base": base,
            "name": path,
        },
    )
    share.whole.notes = notes
    if ranks.broadcast(labels is not None):
        first = cuts[ranks.rank]
        pieces = [None if labels is None else labels[int(cuts[to]) : int(cuts[to + 1])] for to in range(ranks.count)]
        mine = ranks.exchange(pieces)[0]
        share.whole.labelled, share.whole.labels = True, mine if labels is None else labels
        if ranks.rank:
            share.whole.first, share.whole.own = int(first), len(mine)
    return share


def _shifted(rows: CSR, first: int, count: int) -> CSR | None:
    """The rows of a METIS file's lines with their vertices, from ``count`` rows that are counted from 0.

    None if a line after that of the last vertex is not blank.
    """
    vertices = len(rows.offsets) - 1
    end = rows.offsets[-1]
    last = min(first + count, vertices)
    if last <= first:
        return rows if end == 0 else None
    if rows.offsets[last - first] != end:
        return None
    offsets = np.empty(vertices + 1, np.int64)
    offsets[:first] = 0
    offsets[first : last + 1] = rows.offsets[: last - first + 1]
    offsets[last + 1 :] = end
    return CSR(offsets, rows.targets, rows.weights)


def _same(a: CSR, b: CSR) -> bool:
    """Whether the rows are equal."""
    if not (np.array_equal(a.offsets, b.offsets) and np.array_equal(a.targets, b.targets)):
        return False
    return a.weights is None or b.weights is None or np.array_equal(a.weights, b.weights)


def _header(path: str, format: str | None, columns: str | None) -> tuple[bytes, str, bool]:
    """The header of a large file with a format of which ranks can read parts, and the format's name; else nothing.

    Also whether the file is compressed.
    """
    nothing = (b"", "", False)
    if path == "-":
        return nothing
    try:
        with Source(path) as source:
            if source.size is None or source.size < SMALL:
                return nothing
            compressed = source.compression is not None
            head = b""
            for block in source.blocks():
                head += block
                if len(head) >= _HEAD:
                    break
    except (InputError, OSError):
        return nothing
    lines = head.split(b"\n")[:-1]
    kind = format
    if kind is None:
        kind = next((name for name in ("mtx", "dimacs") if FORMATS[name].begins(head)), None)
    if kind is None or columns is not None:
        try:
            kind = recognised(head[:_PEEK], bare_suffix(path), path, columns=columns is not None)
        except InputError:
            return nothing
    if kind == "edges":
        return edge_lists.header(lines), kind, compressed
    first = lines[0].lower().split() if lines else []
    if columns is not None or kind not in _COMMENTS or (kind == "mtx" and first[2:3] != [b"coordinate"]):
        return nothing
    if kind == "metis" and compressed:
        return nothing  # lines have the vertices of their numbers
    size = 0
    for number, line in enumerate(lines):
        size += len(line) + 1
        words = line.split()
        if words and not (_COMMENTS[kind](words[0]) or (kind == "mtx" and number == 0)):
            return head[:size], kind, compressed
    return nothing


_COMMENTS: dict[str, Callable[[bytes], bool]] = {
    "mtx": lambda word: word.startswith(b"%"),
    "dimacs": lambda word: word == b"c",
    "metis": lambda word: word.startswith(b"%"),
}
"""For formats whose header ends with the first line that is no comment: whether a line with this first word is one."""


def _lines(path: str, begin: int, ranks: Ranks) -> Iterator[bytes]:
    """The lines that begin in this rank's part of a file after its header."""
    size = os.path.getsize(path)
    first, last = (begin + (size - begin) * rank // ranks.count for rank in (ranks.rank, ranks.rank + 1))
    with open(path, "rb") as file:
        at = first
        if first > begin:
            # The line that contains the byte before belongs to the rank before.
            file.seek(first - 1)
            at = first - 1 + len(file.readline())
        else:
            file.seek(first)
        while at < last:
            block = file.read(min(_READ, last - at))
            if not block:
                return
            at += len(block)
            if at >= last and not block.endswith(b"\n"):
                block += file.readline()
            yield block


def _dealt(path: str, begin: int, ranks: Ranks) -> Iterator[bytes]:
    """The lines that begin in this rank's blocks of a compressed file's text after its header.

    Blocks have at least _READ bytes, and are assigned to the ranks in rotation.
    """
    with Source(path) as source:
        rest = bytearray()
        skipped = 0
        number = 0
        for text in source.blocks():
            drop = min(begin - skipped, len(text))
            skipped += drop
            rest += memoryview(text)[drop:]
            while len(rest) >= _READ and (end := rest.find(b"\n", _READ - 1) + 1):
                if number % ranks.count == ranks.rank:
                    yield bytes(rest[:end])
                number += 1
                del rest[:end]
        if rest and number % ranks.count == ranks.rank:
            yield bytes(rest)


def mapped(ranks: Ranks, path: str, format: str | None, needs_targets: bool) -> Share | None:
    """The shares of a ``.gsg`` file of which each rank reads its rows.

    None if the file has another format, or is wrong: rank 0 then reads it, and reports the error.
    """

    def is_one() -> bool:
        if path == "-" or format not in (None, "gsg"):
            return False
        with open(path, "rb") as head:
            return head.read(len(_gsg.MAGIC)) == _gsg.MAGIC

    fine, one = binary.together(ranks, is_one)
    if not fine or not all(ranks.gather(one)):
        return None
    fine, file = binary.together(ranks, lambda: binary.File(path))
    try:
        return _rows_of(ranks, file, path, needs_targets) if fine else None
    finally:
        if file is not None:
            file.close()


def _rows_of(ranks: Ranks, file: binary.File, path: str, needs_targets: bool) -> Share | None:
    about = file.layout
    both = about.symmetric or file.has(_gsg.INTO)
    into_kind = _gsg.OUT if about.symmetric or not both else _gsg.INTO

    def work(vertex: int) -> int:
        return file.offset(_gsg.OUT, vertex) + file.offset(into_kind, vertex) + vertex

    if about.vertices < ranks.count:
        return None
    fine, sums = binary.together(ranks, lambda: file.checksums(ranks.rank, ranks.count))
    if not fine or not file.intact(ranks.gather(sums)):
        return None
    fine, cuts = binary.together(
        ranks, lambda: None if ranks.rank else cuts_by_edges(work, about.vertices, ranks.count)
    )
    if not fine:
        return None
    cuts = np.ascontiguousarray(ranks.broadcast(cuts))
    first, last = int(cuts[ranks.rank]), int(cuts[ranks.rank + 1])
    needs_out = needs_targets or not both

    def rows() -> tuple[CSR, CSR | None, Labels | None]:
        out = file.rows(_gsg.OUT, first, last, targets=needs_out or about.symmetric)
        into = None if not both else out if about.symmetric else file.rows(_gsg.INTO, first, last, targets=True)
        # Rank 0 prints all labels.
        return out, into, file.labels(*((first, last) if ranks.rank else (0, about.vertices)))

    fine, found = binary.together(ranks, rows)
    if not fine:
        return None
    out, into, labels = found
    if into is None:
        pointers = [None if array is None else array.ctypes.data for array in (out.offsets, out.targets, out.weights)]
        move = _Move(
            ranks.address, cuts.ctypes.data, len(out.targets), first, *pointers, about.weight_type, 1, None, None
        )
        into = _filled(_counted(ranks, cuts, move), move, None if out.weights is None else out.weights.dtype)
        if not needs_targets:
            out = CSR(out.offsets, np.empty(0, np.uint32))
    share = _finished(
        ranks,
        cuts,
        out,
        into,
        {
            "vertices": about.vertices,
            "edges": about.edges,
            "symmetric": about.symmetric,
            "weight_type": _native.WEIGHT_TYPES[about.weight_type].str if about.weight_type else None,
            "base": about.base,
            "name": file.name() or path,
        },
    )
    share.whole.labels, share.whole.labelled = labels, labels is not None
    if ranks.rank:
        share.whole.first, share.whole.own = first, last - first
    return share


# ---- Graphs that rank 0 reads --------------------------------------------------------


def scattered(ranks: Ranks, read: Callable[[], Graph], needs_targets: bool) -> Share:
    """The shares of a graph that rank 0 reads as a whole."""
    graph: Graph | None = None
    plan: Any = None
    if ranks.rank == 0:
        graph = read()
        out, into = graph.out, graph.into

        def work(vertex: int) -> int:
            return int(out.offsets[vertex]) + int(into.offsets[vertex]) + vertex

        cuts = cuts_by_edges(work, graph.vertices, ranks.count)
        plan = Outline.plan(graph) | {"labelled": graph.labels is not None, "cuts": cuts}
    plan = ranks.broadcast(plan)
    cuts, labelled = plan.pop("cuts"), plan.pop("labelled")
    whole = Outline(**plan)
    first, last = int(cuts[ranks.rank]), int(cuts[ranks.rank + 1])
    whole.first, whole.own, whole.labelled = first, last - first, labelled
    if graph is None:
        share = _received(ranks, whole, cuts, needs_targets)
        if labelled:
            whole.labels = ranks.broadcast(None)[ranks.rank]
        return share
    for rank in range(1, ranks.count):
        begin, end = int(cuts[rank]), int(cuts[rank + 1])
        ranks.send(rank, _parts(graph.into, begin, end, True))
        if not graph.symmetric:
            ranks.send(rank, _parts(graph.out, begin, end, needs_targets))
    if labelled:
        assert graph.labels is not None
        pieces = [graph.labels[int(cuts[rank]) : int(cuts[rank + 1])] for rank in range(ranks.count)]
        ranks.broadcast([piece if isinstance(piece, np.ndarray) else list(piece) for piece in pieces])
        whole.labels, whole.first, whole.own = graph.labels, 0, graph.vertices
    into = _rows(_parts(graph.into, first, last, True), first)
    out = into if graph.symmetric else _rows(_parts(graph.out, first, last, needs_targets), first)
    return Share(whole, cuts, out, into)


def _parts(rows: CSR, begin: int, end: int, targets: bool) -> list[Array]:
    """The rows begin .. end - 1: offsets, targets (if asked for) and weights."""
    low, high = int(rows.offsets[begin]), int(rows.offsets[end])
    parts: list[Array] = [rows.offsets[begin : end + 1] - np.int64(low)]
    if targets:
        parts.append(rows.targets[low:high])
        if rows.weights is not None:
            parts.append(rows.weights[low:high])
    return parts


def _rows(parts: list[Array], first: int) -> CSR:
    """Rows with targets less ``first``; without targets an empty array."""
    targets = parts[1] - np.uint32(first) if len(parts) > 1 else np.empty(0, np.uint32)
    return CSR(parts[0], targets, np.array(parts[2]) if len(parts) > 2 else None)


def _received(ranks: Ranks, whole: Outline, cuts: Array, needs_targets: bool) -> Share:
    def rows(targets: bool) -> CSR:
        types: list[Any] = [np.int64]
        if targets:
            types += [np.uint32] + ([whole.weight_type] if whole.weighted else [])
        return _rows([ranks.receive(0, dtype) for dtype in types], whole.first)

    into = rows(True)
    return Share(whole, cuts, into if whole.symmetric else rows(needs_targets), into)


__all__ = ["Outline", "Share", "cuts_by_edges", "generated", "mapped", "parsed", "scattered"]
