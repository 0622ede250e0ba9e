# SPDX-License-Identifier: Apache-2.0
"""The graph file formats, in one list.

Reading, writing, the command's options and its help use this list; a test compares docs/graphs.md and enum
gs_graph_format with it. docs/extending.md explains how to add a format.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gossamer.graph import _native, _recognition
from gossamer.graph._adjlist import FIRST_LINE
from gossamer.graph._gsg import MAGIC


@dataclass(frozen=True)
class Format:
    """A file format."""

    name: str
    """Its name for --format and read_graph."""
    title: str
    about: str
    """How it is recognized and what it contains, for the command's help."""
    number: int = 0
    """Its value in enum gs_graph_format, for formats of the text parser."""
    module: str = ""
    """The module of this package whose function ``read`` reads the whole file, for formats of other programs."""
    begins: Callable[[bytes], bool] = lambda head: False
    """Whether a file with these first bytes has this format."""
    known_endings: tuple[str, ...] = ()
    """Extensions that imply the format, whatever the first bytes are."""
    written_endings: tuple[str, ...] = ()
    """Extensions for which files are written in this format."""


def _is_dimacs(head: bytes) -> bool:
    for line in head.split(b"\n"):
        fields = line.split(None, 2)
        if fields and fields[0] != b"c":
            return fields[0] == b"p" and len(fields) > 1 and fields[1] == b"sp"
    return False


FORMATS: Final = {
    form.name: form
    for form in (
        Format(
            "gsg",
            ".gsg",
            "Gossamer's binary format: checked and mapped into memory, gigabytes a second",
            begins=lambda head: head.startswith(MAGIC),
            known_endings=(".gsg",),
            written_endings=(".gsg",),
        ),
        Format(
            "mtx",
            "Matrix Market",
            "coordinate or array; pattern, integer, real; general, symmetric, skew-symmetric",
            _native.MATRIX_MARKET,
            begins=lambda head: head[:14].lower() == b"%%matrixmarket",
            written_endings=(".mtx",),
        ),
        Format(
            "adjlist",
            "adjacency list",
            'first line "# gossamer adjacency list", NetworkX\'s, or .adjlist; a vertex, then its targets',
            begins=lambda head: head.startswith(FIRST_LINE) or _recognition.is_networkx_adjlist(head),
            known_endings=(".adjlist", ".adj"),
        ),
        Format(
            "gml",
            "GML",
            "graph [ node [ id 1 ] edge [ source 1 target 2 ] ]; weights: weight or value",
            module="_gml",
            begins=_recognition.is_gml,
            known_endings=(".gml",),
        ),
        Format(
            "graphml",
            "GraphML",
            "XML of Gephi, yEd, igraph, NetworkX; weights: data with the name weight or value",
            module="_graphml",
            begins=_recognition.is_graphml,
            known_endings=(".graphml",),
        ),
        Format(
            "pajek",
            "Pajek",
            "*Vertices, *Arcs, *Edges, *Arcslist, *Edgeslist, *Matrix",
            module="_pajek",
            begins=_recognition.is_pajek,
            known_endings=(".net", ".paj"),
        ),
        Format(
            "json",
            "node-link JSON",
            "NetworkX's and D3's: objects nodes and links (or edges)",
            module="_node_link",
            begins=_recognition.is_json,
            known_endings=(".json",),
        ),
        Format(
            "npz",
            "SciPy .npz",
            "a sparse matrix of scipy.sparse.save_npz; entry (i, j) is an edge",
            module="_npz",
            begins=_recognition.is_npz,
            known_endings=(".npz",),
        ),
        Format(
            "dimacs",
            "DIMACS",
            "p sp VERTICES EDGES, then a SOURCE TARGET WEIGHT",
            _native.DIMACS,
            begins=_is_dimacs,
            known_endings=(".gr",),
            written_endings=(".gr",),
        ),
        Format(
            "metis",
            "METIS",
            "recognized by the extension .graph or .metis",
            _native.METIS,
            known_endings=(".graph", ".metis"),
            written_endings=(".graph", ".metis"),
        ),
        Format(
            "edges",
            "edge list",
            "SNAP and others: source target [weight]; blanks, tabs or commas, also quoted; # and % comments; "
            "--columns chooses others",
            _native.EDGE_LIST,
            written_endings=(".txt", ".el", ".wel", ".edges"),
        ),
    )
}
"""By name, in the order of recognition; a file of no other format is an edge list."""

NAMES: Final = ", ".join(list(FORMATS)[:-1]) + " or " + list(FORMATS)[-1]
"""For messages and help: "gsg, mtx, ... or edges"."""

WRITTEN: Final = {ending: form.name for form in FORMATS.values() for ending in form.written_endings}
"""The format for the extension of a file to write."""


def recognised(head: bytes, suffix: str, name: str, *, columns: bool = False) -> str:
    """The format of a file with the first bytes `head` and the extension `suffix`. Raises InputError for a known format
    that is not read; `name` is the file's name in the message. `columns`: the user has chosen columns of a list."""
    if _recognition.is_own_list(head):
        return "edges"
    for form in FORMATS.values():
        if form.begins(head):
            return form.name
    _recognition.reject_content(head, name)
    for form in FORMATS.values():
        if suffix in form.known_endings:
            return form.name
    if suffix == ".mtx":
        _recognition.reject_mtx(head, name)
    _recognition.reject_ending(suffix, name)
    if not columns:
        _recognition.reject_list(head, name)
    return "edges"


__all__ = ["FORMATS", "NAMES", "WRITTEN", "Format", "recognised"]
