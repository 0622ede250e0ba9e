# SPDX-License-Identifier: Apache-2.0
"""Reads graph files of any format, recognized by content, compressed or not."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gossamer.arguments import FLAG, TEXT, WHOLE, Kind, accepts, or_none
from gossamer.errors import InputError
from gossamer.graph import _gsg, _native
from gossamer.graph._adjlist import LabelTable, read_adjlist
from gossamer.graph._formats import FORMATS, recognised
from gossamer.graph._graph import Graph, Labels
from gossamer.graph._recognition import is_networkx_adjlist
from gossamer.graph._rows import CSR, simplify_in_place
from gossamer.graph._stream import Source, bare_suffix

_LONG = 24 << 20
"""File size in bytes from which reading may take longer than a second."""
_PEEK = 1 << 16


_COLUMNS = Kind((str, Sequence), "names or numbers of columns")


@accepts(
    format=or_none(TEXT), columns=or_none(_COLUMNS), undirected=FLAG, dedupe=FLAG, drop_loops=FLAG,
    threads=or_none(WHOLE),
)  # fmt: skip
def read_graph(
    path: str | bytes | os.PathLike[str],
    *,
    format: str | None = None,
    columns: str | Sequence[str | int] | None = None,
    undirected: bool = False,
    dedupe: bool = False,
    drop_loops: bool = False,
    threads: int | None = None,
) -> Graph:
    """Reads a graph file or standard input ("-"), or generates a graph from "gen:KIND:KEY=VALUE,...".

    Formats: Matrix Market, SNAP and plain edge lists, adjacency lists, METIS, DIMACS .gr, GML, GraphML, Pajek,
    node-link JSON, SciPy .npz; plain or compressed with gzip, zstd, xz or bzip2; and .gsg, which is mapped into
    memory. ``format`` (a key of FORMATS) overrides the recognition. ``columns`` chooses the source, the target and
    perhaps the weight in an edge list, by number from 1 or by their names in the first line. ``undirected``
    stores every edge in both directions.
    ``dedupe`` keeps the parallel edge of least weight; ``drop_loops`` drops self-loops; by default all
    edges are kept. Raises InputError("path:line: what; what to do").
    """
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise InputError(
            f"read_graph: a {type(path).__name__} is not a path; use Graph.from_scipy for a matrix, "
            "Graph.from_networkx for a NetworkX graph"
        )
    name = os.fsdecode(path)
    if format is not None and format not in FORMATS:
        raise InputError(f"no graph format {format!r}; the formats are {', '.join(FORMATS)}")
    chosen = None if columns is None else _column_list(columns)
    if name.startswith("gen:"):
        if chosen is not None:
            raise InputError(f"{name}: columns are for edge lists; a generated graph has none")
        from gossamer.graph import generate

        graph = generate.from_spec(name[4:])
        fresh = True
    else:
        graph, fresh = _read(name, format, chosen, undirected, threads or 0)
    notes = graph.notes
    if undirected and not graph.symmetric:
        graph, fresh = graph.symmetrised(), True
        graph.notes = notes  # parallel edges are counted below, after the removal of duplicates
    if dedupe or drop_loops:
        if fresh and graph.has_out:
            rows = simplify_in_place(graph.out, parallel=dedupe, loops=drop_loops)
            graph = Graph(
                out=rows, symmetric=graph.symmetric, labels=graph.labels, base=graph.base,
                name=graph.name, notes=graph.notes,
            )  # fmt: skip
        else:
            graph = graph.simplified(parallel=dedupe, loops=drop_loops)
    if undirected and not dedupe:
        graph.note_parallel()
    return graph


def _column_list(columns: str | Sequence[str | int]) -> str:
    """The columns for the library: SOURCE,TARGET[,WEIGHT]. Raises InputError unless they are two or three."""
    given = columns.split(",") if isinstance(columns, str) else [str(column) for column in columns]
    names = [name.strip() for name in given]
    wrong = any(not name or "," in name or "\0" in name or name == "0" or name.startswith("-") for name in names)
    if not 2 <= len(names) <= 3 or wrong or len(set(names)) != len(names):
        raise InputError(
            f"columns {','.join(given)!r}: name two or three different columns, by number from 1 or by their names in "
            "the first line: SOURCE,TARGET[,WEIGHT]"
        )
    return ",".join(names)


def _read(path: str, format: str | None, columns: str | None, undirected: bool, threads: int) -> tuple[Graph, bool]:
    """The graph, and whether it owns its arrays (not mapped)."""
    with Source(path) as source:
        blocks = source.blocks()
        head = b""
        for block in blocks:
            head += block
            if len(head) >= _PEEK:
                break
        kind = format or _kind(source, head, columns is not None)
        if columns and kind != "edges":
            raise InputError(f"{source.name}: columns are for edge lists; {FORMATS[kind].title} has none to choose")
        if kind == "gsg":
            if source.compression:
                raise InputError(f"{source.name}: a compressed .gsg cannot be mapped; decompress it first")
            if path == "-":
                raise InputError("a .gsg is mapped into memory, which a pipe does not support; name the file")
            return _gsg.read(path), False
        if head.startswith(b"\xef\xbb\xbf"):
            head = head[3:]
        with _progress(source) as blocks_seen:
            text = blocks_seen(head, blocks)
            if kind == "adjlist":
                return _from_adjlist(source, text, head, undirected), True
            if FORMATS[kind].module:
                module = importlib.import_module(f"gossamer.graph.{FORMATS[kind].module}")
                graph: Graph = module.read(b"".join(text), source.name)
                return graph, True
            flags = (_native.READ_UNDIRECTED if undirected else 0) | (_native.READ_CERTAIN if format else 0)
            return _parse(source, FORMATS[kind].number, text, columns, flags, threads), True


@contextlib.contextmanager
def _progress(source: Source) -> Iterator[Any]:
    """A function that passes blocks through, with a progress bar for large files."""

    def quiet(head: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
        yield head
        yield from blocks

    weight = 4 if source.compression else 1
    if source.size is None or source.size * weight < _LONG:
        yield quiet
        return
    from gossamer import progress

    with progress.bar(source.size, f"reading {os.path.basename(source.name)}", "B") as bar:

        def counted(head: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
            before = 0
            for block in quiet(head, blocks):
                yield block
                bar.update(source.taken - before)
                before = source.taken

        yield counted


def _kind(source: Source, head: bytes, columns: bool) -> str:
    """The format of a file from its first bytes; METIS has no signature and is recognized by its extension."""
    suffix = bare_suffix(source.path)
    if not head and suffix != ".gsg":
        raise InputError(f"{source.name}: the file is empty; give a file with a graph")
    if head[257:262] == b"ustar":
        raise InputError(f"{source.name}: a tar archive; unpack it first and name the graph's file")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{source.name}:1: text in UTF-16; convert it first: iconv -f UTF-16 -t UTF-8")
    return recognised(head.removeprefix(b"\xef\xbb\xbf")[:_PEEK], suffix, source.name, columns=columns)


def read_part(
    path: str, kind: str, header: bytes, text: Iterable[bytes], *, columns: str | None = None, rest: bool = False
) -> tuple[CSR, _native.Shape, Labels | None]:
    """The rows of some lines of a file, what the parser knows, and the labels of the vertices.

    The vertices are all of the file if its header states their number, else those of the lines. ``text`` are whole
    lines after the header; their number is not compared with that in the header. The header of an edge list ends with
    its first edge, which is no edge of this part if ``rest``. Raises InputError for a line that is wrong, with a wrong
    line number.
    """
    parser = ctypes.c_void_p()
    name = os.fsencode(path)
    _native.call(
        "parser_open",
        name,
        FORMATS[kind].number,
        _native.READ_PART | (_native.READ_REST if rest else 0),
        1,
        ctypes.byref(parser),
    )
    try:
        if columns:
            _native.call("parser_columns", parser, columns.encode(errors="surrogateescape"))
        for block in (header, *text):
            _native.call("parser_feed", parser, block, len(block))
        shape = _native.Shape()
        _native.call("parser_finish", parser, ctypes.byref(shape))
        rows, labels = _build(path, parser, shape)
    finally:
        _native.close(parser)
    return rows, shape, labels


def _parse(source: Source, kind: int, text: Iterator[bytes], columns: str | None, flags: int, threads: int) -> Graph:
    parser = ctypes.c_void_p()
    name = source.name.encode(errors="surrogateescape")
    _native.call("parser_open", name, kind, flags, threads, ctypes.byref(parser))
    try:
        if columns:
            _native.call("parser_columns", parser, columns.encode(errors="surrogateescape"))
        for block in text:
            _native.call("parser_feed", parser, block, len(block))
        shape = _native.Shape()
        _native.call("parser_finish", parser, ctypes.byref(shape))
        rows, labels = _build(source.name, parser, shape)
    finally:
        _native.close(parser)
    return Graph(
        out=rows,
        symmetric=bool(shape.flags & _native.SYMMETRIC),
        labels=labels,
        base=shape.base,
        name=source.name,
        notes=notes_on(source.name, shape),
    )


def _build(name: str, parser: ctypes.c_void_p, shape: _native.Shape) -> tuple[CSR, Labels | None]:
    n, m = int(shape.vertices), int(shape.edges)
    numbers: np.ndarray[Any, np.dtype[np.int64]] | None = None
    starts: np.ndarray[Any, np.dtype[np.uint64]] | None = None
    text: bytearray | None = None
    try:
        offsets = np.empty(n + 1, np.int64)
        targets = np.empty(m, np.uint32)
        weights = np.empty(m, _native.WEIGHT_TYPES[shape.weight_type]) if shape.weight_type else None
        if shape.label_kind == _native.LABELS_NUMBER:
            numbers = np.empty(n, np.int64)
        elif shape.label_kind == _native.LABELS_STRING:
            starts = np.empty(n + 1, np.uint64)
            text = bytearray(int(shape.label_bytes))
    except MemoryError:
        raise InputError(f"{name}: not enough memory for {n} vertices and {m} edges") from None
    buffer = None if text is None else np.frombuffer(text, np.uint8)
    _native.call("parser_build", parser, *map(_native.pointer, (offsets, targets, weights, numbers, starts, buffer)))
    labels: Labels | None = numbers
    if starts is not None and text is not None:
        labels = LabelTable(text, starts)
    return CSR(offsets, targets, weights), labels


def notes_on(name: str, shape: _native.Shape) -> tuple[str, ...]:
    """Notes about a doubtful first line, and about counts in a SNAP file's comment that are not those of the file."""
    notes = [
        f"{name}:{shape.first_line}: {what}"
        for bit, what in (
            (
                _native.NOTE_HEADING,
                "the words of this line are on no other line; if they are column headings, name two or three of them "
                "with --columns",
            ),
            (
                _native.NOTE_COUNTS,
                "this line may state the numbers of vertices and edges; if it does, put a '#' before it",
            ),
            (_native.NOTE_UNDIRECTED, "a comment states that the graph is undirected (sym); read it with --undirected"),
        )
        if shape.notes & bit
    ]
    for what, announced, found in (
        ("vertices", shape.announced_vertices, shape.vertices),
        ("edges", shape.announced_edges, shape.entries),
    ):
        if announced and announced != found:
            notes.append(
                f"{name}:{shape.announced_line}: the comment states {announced} {what}, "
                f"the file has {found}; is it truncated?"
            )
    return tuple(notes)


def _from_adjlist(source: Source, text: Iterator[bytes], head: bytes, undirected: bool) -> Graph:
    found = read_adjlist(b"".join(text), source.name)
    notes: tuple[str, ...] = ()
    if not undirected and is_networkx_adjlist(head[:_PEEK]):
        notes = (f"{source.name}: NetworkX's list does not say whether it is directed; if not, add --undirected",)
    return Graph(
        out=CSR(found.offsets.view(np.int64), found.targets), labels=found.labels, name=source.name, notes=notes
    )


__all__ = ["FORMATS", "notes_on", "read_graph", "read_part"]
