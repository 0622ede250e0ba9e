# SPDX-License-Identifier: Apache-2.0
"""Writes graphs to files; the extension selects format and compression."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gossamer import native
from gossamer.arguments import FLAG, PATH, Kind, accepts
from gossamer.errors import InputError
from gossamer.files import whole_file
from gossamer.graph import _gsg, _native
from gossamer.graph._formats import WRITTEN
from gossamer.graph._graph import Graph
from gossamer.graph._stream import SUFFIXES, bare_suffix, compressed
from gossamer.wording import counted

_BUFFER = 1 << 20


def format_of(name: str) -> str:
    """The format for the extension of a name. Raises InputError for an unknown extension."""
    form = WRITTEN.get(bare_suffix(name))
    if form is None:
        endings = " ".join(WRITTEN)
        packed = " ".join(SUFFIXES)
        raise InputError(f"{name}: unknown extension; it must be one of {endings}, text also with {packed}")
    if form == "gsg" and Path(name).suffix.lower() in SUFFIXES:
        raise InputError(f"{name}: a compressed .gsg cannot be mapped; omit {Path(name).suffix}")
    return form


@accepts(graph=Kind((Graph,), "a Graph"), path=PATH, both=FLAG, drop_isolated=FLAG)
def write_graph(
    graph: Graph, path: str | os.PathLike[str], *, both: bool = True, drop_isolated: bool = False
) -> tuple[str, ...]:
    """Writes .gsg, .mtx, .txt/.el (edge list), .graph (METIS) or .gr (DIMACS), text also with .gz,
    .zst, .xz or .bz2. The write is atomic. Returns notes about information that the format lacks.

    ``both``: a .gsg also contains the edges by destination. ``drop_isolated`` lets an edge list
    omit vertices without edges. Raises InputError if the format cannot represent the graph.
    """
    name = os.fspath(path)
    form = format_of(name)
    suffix = Path(name).suffix.lower()
    if form == "gsg":
        _gsg.write(graph, name, both=both)
        return ()
    head, flags, notes = _plan(graph, form, name, drop_isolated)
    with whole_file(name) as file, compressed(file, suffix) as put:
        put(head.encode())
        declared = _declared(graph) if _is_text_list(graph, form) else None
        if declared is not None and declared[0]:
            _declare(graph, declared[1], put)
        for block in _text(graph, form, flags):
            put(block)
        if declared is not None and not declared[0]:
            _declare(graph, declared[1], put)
        native.check_mapped()
    return notes


def _plan(graph: Graph, form: str, name: str, drop_isolated: bool) -> tuple[str, int, tuple[str, ...]]:
    """Header, flags of gs_graph_format, and notes."""
    rows = graph.out
    notes = []
    if rows.weights is not None and rows.weights.dtype.kind == "f" and not bool(np.isfinite(rows.weights).all()):
        raise InputError(f"{name}: a weight is not a finite number, which text formats cannot contain; write .gsg")
    if graph.labels is not None and form != "edges":
        notes.append(f"{name}: this format numbers vertices from 1 and has no labels")
    if form == "mtx":
        kind = "pattern" if rows.weights is None else "integer" if rows.weights.dtype.kind in "iu" else "real"
        entries = graph.edges
        if graph.symmetric:
            entries = (graph.edges + graph.census()["loops"]) // 2
        symmetry = "symmetric" if graph.symmetric else "general"
        head = f"%%MatrixMarket matrix coordinate {kind} {symmetry}\n"
        head += f"{graph.vertices} {graph.vertices} {entries}\n"
        return head, _native.TEXT_LOWER if graph.symmetric else 0, tuple(notes)
    if form == "dimacs":
        if rows.weights is None:
            notes.append(f"{name}: this format requires weights; every edge has the weight 1")
        return f"p sp {graph.vertices} {graph.edges}\n", _native.TEXT_ARC, tuple(notes)
    census = graph.census()
    if form == "metis":
        if not graph.symmetric:
            raise InputError(f"{name}: a METIS graph is undirected, this one is directed; use --undirected")
        if census["loops"]:
            raise InputError(f"{name}: a METIS graph has no self-loops, this one has {census['loops']}; use --no-loops")
        weighted = " 001" if rows.weights is not None else ""
        return f"{graph.vertices} {graph.edges // 2}{weighted}\n", _native.TEXT_ROWS, tuple(notes)
    text_labels = _is_text_list(graph, form)
    least = 0
    if text_labels:
        assert graph.labels is not None
        for label in graph.labels:
            text = str(label)
            if not text or text[0] in "#%" or any(c in " \t\r,\x7f" or c < " " for c in text):
                raise InputError(f"{name}: an edge list cannot contain the label {text!r}; write .gsg")
    elif census["isolated"]:
        if not drop_isolated:
            raise InputError(
                f"{name}: an edge list would omit {counted(census['isolated'], 'vertex', 'vertices')} without edges; "
                "write .mtx or .gsg, or allow it with --drop-isolated"
            )
        if not graph.edges:
            raise InputError(f"{name}: an edge list of a graph without edges has nothing to read; write .mtx or .gsg")
        notes.append(f"{name}: omits {counted(census['isolated'], 'vertex', 'vertices')} without edges")
    if isinstance(graph.labels, np.ndarray) and (least := int(graph.labels[0])) < -(2**63) + 1:
        raise InputError(f"{name}: an edge list cannot contain the label {least}; write .gsg")
    if graph.symmetric:
        notes.append(f"{name}: has both directions of every edge, because an edge list is directed")
    count = graph.vertices if text_labels else graph.vertices - census["isolated"]
    more = " Labels: words" if text_labels else f" Least: {least}" if least < 0 else ""
    return f"# Nodes: {count} Edges: {graph.edges}{more}\n", 0, tuple(notes)


def _is_text_list(graph: Graph, form: str) -> bool:
    """Whether the file is an edge list of words."""
    return form == "edges" and graph.labels is not None and not isinstance(graph.labels, np.ndarray)


def _text(graph: Graph, form: str, flags: int) -> Iterator[memoryview]:
    rows = graph.out
    numbers = graph.labels if isinstance(graph.labels, np.ndarray) and form == "edges" else None
    starts: np.ndarray[Any, Any] | None = None
    label_text: np.ndarray[Any, Any] | None = None
    if form == "edges" and graph.labels is not None and not isinstance(graph.labels, np.ndarray):
        starts, block = _gsg.label_block(graph.labels)
        label_text = np.frombuffer(block, np.uint8)
    text = _native.Text(
        graph.vertices,
        *map(_native.pointer, (rows.offsets, rows.targets, rows.weights, numbers, starts, label_text)),
        _native.weight_type(rows.weights),
        graph.base if form == "edges" else 1,
        flags,
    )
    buffer = np.empty(_BUFFER, np.uint8)
    row, edge, used = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_size_t()
    while row.value < graph.vertices:
        arguments = (ctypes.byref(row), ctypes.byref(edge), _native.pointer(buffer), _BUFFER)
        _native.call("format", ctypes.byref(text), *arguments, ctypes.byref(used))
        yield buffer.data[: used.value]


def _declared(graph: Graph) -> tuple[bool, np.ndarray[Any, Any]]:
    """The vertices that an edge list of text labels declares, each on a line of its own, and whether before the edges.

    A reader numbers vertices in the order of their first appearance. If that differs from their order in the graph, all
    are declared first; else those without edges are declared last.
    """
    rows = graph.out
    ends = np.empty(2 * graph.edges, np.int64)
    ends[0::2] = np.repeat(np.arange(graph.vertices), rows.degrees().astype(np.int64))
    ends[1::2] = rows.targets
    first = np.full(graph.vertices, len(ends))
    first[ends[::-1]] = np.arange(len(ends))[::-1]
    if bool((first[1:] < first[:-1]).any()):
        return True, np.arange(graph.vertices)
    return False, np.flatnonzero(first == len(ends))


def _declare(graph: Graph, vertices: np.ndarray[Any, Any], put: Callable[[bytes], object]) -> None:
    for index in vertices:
        put(f"{graph.label_of(int(index))}\n".encode())
