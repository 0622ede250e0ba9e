# SPDX-License-Identifier: Apache-2.0
"""The forms that a graph's file can have: the one list of them.

Reading, writing, the command's options and its help go by this list; docs/graphs.md and enum gs_graph_format are
compared with it by a test. docs/extending.md says how to add one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gossamer.graph import _native
from gossamer.graph._adjlist import FIRST_LINE
from gossamer.graph._gsg import MAGIC


@dataclass(frozen=True)
class Format:
    """One form."""

    name: str
    """As --format and read_graph take it."""
    title: str
    about: str
    """How it is known and what is in it, for the command's help."""
    number: int = 0
    """In enum gs_graph_format, of forms that the text parser reads."""
    begins: Callable[[bytes], bool] = lambda head: False
    """Whether a file that begins so has this form."""
    known_endings: tuple[str, ...] = ()
    """Endings that say so, whatever the file begins with."""
    written_endings: tuple[str, ...] = ()
    """Endings of files that are written in it."""


def _is_dimacs(head: bytes) -> bool:
    for line in head.split(b"\n"):
        words = line.split(None, 2)
        if words and words[0] != b"c":
            return words[0] == b"p" and len(words) > 1 and words[1] == b"sp"
    return False


FORMATS: Final = {
    form.name: form
    for form in (
        Format(
            "gsg",
            ".gsg",
            "our own: checked and mapped into memory, gigabytes a second",
            begins=lambda head: head.startswith(MAGIC),
            known_endings=(".gsg",),
            written_endings=(".gsg",),
        ),
        Format(
            "mtx",
            "Matrix Market",
            "coordinate; pattern, integer, real; general, symmetric, skew-symmetric",
            _native.MATRIX_MARKET,
            begins=lambda head: head[:14].lower() == b"%%matrixmarket",
            written_endings=(".mtx",),
        ),
        Format(
            "adjlist",
            "adjacency list",
            'first line "# gossamer adjacency list"; a vertex, then its targets',
            begins=lambda head: head.startswith(FIRST_LINE),
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
            "by its ending .graph or .metis",
            _native.METIS,
            known_endings=(".graph", ".metis"),
            written_endings=(".graph", ".metis"),
        ),
        Format(
            "edges",
            "edge list",
            "SNAP and others: source target [weight]; blanks, tabs or commas; # and % comments",
            _native.EDGE_LIST,
            written_endings=(".txt", ".el", ".wel", ".edges"),
        ),
    )
}
"""By name, in the order in which a file is tried; what nothing else is, is an edge list."""

NAMES: Final = ", ".join(list(FORMATS)[:-1]) + " or " + list(FORMATS)[-1]
"""For messages and help: "gsg, mtx, ... or edges"."""

WRITTEN: Final = {ending: form.name for form in FORMATS.values() for ending in form.written_endings}
"""The form that the ending of a name asks for."""


def recognised(head: bytes, suffix: str) -> str:
    """The form of a file that begins with `head` and whose name ends in `suffix`."""
    for form in FORMATS.values():
        if form.begins(head) or suffix in form.known_endings:
            return form.name
    return "edges"


__all__ = ["FORMATS", "NAMES", "WRITTEN", "Format", "recognised"]
