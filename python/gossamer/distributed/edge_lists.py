# SPDX-License-Identifier: Apache-2.0
"""Edge lists of which each rank reads a part of the lines, and that name their vertices by numbers.

The numbers that occur are those of the vertices, whose indices are their ranks in ascending order; a rank knows only
those of its lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gossamer.distributed.transport import Array, Ranks
from gossamer.graph import CSR, _native
from gossamer.graph._graph import Labels

_MOST_VERTICES = 2**32 - 2
_NUMBERS = re.compile(rb"[ \t]*-?[0-9]+([ \t]*,[ \t]*|[ \t]+)-?[0-9]+(?=[ \t\r,]|$)")


def header(lines: Sequence[bytes]) -> bytes:
    """The comments and the first edge of an edge list; empty if the first edge is none between two numbers."""
    for at, line in enumerate(lines):
        stripped = line.strip(b" \t\r")
        if stripped and stripped[:1] not in b"#%":
            return b"".join(one + b"\n" for one in lines[: at + 1]) if _NUMBERS.match(line) else b""
    return b""


def doubtful(head: bytes, entries: int, vertices: int, announced: int, certain: bool) -> bool:
    """Whether the file may have other lines than edges, so that one parser must judge all of them.

    These are necessary conditions of the judgements of src/graph/number_list.cc, from the file's first edge, and the
    numbers of edges, of vertices, and of edges that a comment states. ``certain``: the user has named the format.
    """
    if vertices > _MOST_VERTICES or vertices == 0:
        return True
    if certain or announced == entries:
        return False
    words = re.split(rb"[ \t\r,]+", head.rstrip(b"\n").rsplit(b"\n", 1)[-1].strip())
    return (len(words) > 2 and entries == vertices) or words[-1] == str(entries - 1).encode()


@dataclass
class Numbering:
    """The vertices of a file."""

    vertices: int
    indices: Array
    """The index of each vertex of this rank's lines; uint32."""
    base: int
    labels: Array | None
    """On rank 0, the number of each vertex, unless it is its index and ``base``; int64."""


def numbered(ranks: Ranks, shape: _native.Shape, labels: Labels | None) -> Numbering:
    """Numbers the vertices of all ranks' lines. ``labels`` and ``shape`` are those of this rank's part."""
    mine = np.arange(shape.base, shape.base + int(shape.vertices), dtype=np.int64)
    if labels is not None:
        mine = np.asarray(labels, np.int64)
    whole = mine
    # Rank 0 gets the numbers of one rank at a time, twice: to find all, and to rank them.
    for rank in range(1, ranks.count):
        its = ranks.pass_to(0, mine, rank)
        if ranks.rank == 0:
            whole = np.union1d(whole, its)
    for rank in range(1, ranks.count):
        its = ranks.pass_to(0, mine, rank)
        answer = np.searchsorted(whole, its).astype(np.uint32) if ranks.rank == 0 else None
        got = ranks.pass_to(rank, answer, 0)
        if ranks.rank == rank:
            indices = got
    if ranks.rank == 0:
        indices = np.searchsorted(whole, mine).astype(np.uint32)
    about = (len(whole), int(whole[0]), int(whole[-1])) if len(whole) else (0, 0, 0)
    vertices, low, high = ranks.broadcast(about)
    dense = low in (0, 1) and high - low + 1 == vertices
    return Numbering(vertices, indices, low if dense else 0, None if dense or ranks.rank else whole)


def spread(rows: CSR, numbering: Numbering) -> CSR:
    """The rows of all vertices of the file, with indices, from those of a rank's lines."""
    offsets = np.zeros(numbering.vertices + 1, np.int64)
    offsets[1:][numbering.indices] = np.diff(rows.offsets.astype(np.int64))
    np.cumsum(offsets, out=offsets)
    targets = numbering.indices[rows.targets] if len(rows.targets) else rows.targets
    return CSR(offsets, targets, rows.weights)


__all__ = ["Numbering", "doubtful", "header", "numbered", "spread"]
