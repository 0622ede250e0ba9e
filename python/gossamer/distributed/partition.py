# SPDX-License-Identifier: Apache-2.0
"""Partitions of a graph over ranks: ranges of vertices, METIS, KaHyPar, streaming, or a file.

A graph is loaded in ranges of vertices (``gossamer.distributed.shares``). A partition gives each vertex a rank. Rows
then move to their ranks, and vertices get numbers, consecutive on each rank and in the order of their indices there. A
row keeps its order, by the indices of its ends, so that sums over it are those of any other partition.
"""

from __future__ import annotations

import ctypes
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gossamer import native
from gossamer.distributed.shares import Outline, Share
from gossamer.distributed.transport import Array, Ranks
from gossamer.errors import InputError
from gossamer.graph import CSR
from gossamer.wording import counted

RANGES = "ranges"
METHODS = (RANGES, "metis", "kahypar", "stream")
"""ranges: consecutive vertices. metis, kahypar: by rank 0, which gets all edges. stream: all ranks together."""
_PASSES = 20
_UNEVEN = 1.03
"""Greatest work of a rank, relative to the mean, of a streaming partition."""
_BLOCK = 1 << 20


def check(how: str) -> None:
    """Raises InputError unless ``how`` names a method or a file. Installs what the method needs."""
    if how in ("metis", "kahypar"):
        from gossamer.mapper import split

        split.require(how)
    elif how not in METHODS and not Path(how).is_file():
        raise InputError(
            f"--partition: {how!r} is neither a file nor one of {', '.join(METHODS)}; give one of them, or a file with "
            "the rank of each vertex"
        )


def apply(ranks: Ranks, share: Share, how: str, *, keeps_targets: bool) -> Share:
    """The same graph in another partition. All ranks call it.

    ``keeps_targets``: whether the run needs the targets of out-edges. Raises InputError for a wrong file.
    """
    if how == RANGES:
        return share
    begun = time.perf_counter()
    parts = _parts(ranks, share, how)
    if not keeps_targets and share.out is not share.into:
        share = replace(share, out=CSR(share.out.offsets, np.empty(0, np.uint32)))
    moved = _moved(ranks, share, parts)
    moved.partition = "file" if how not in METHODS else how
    moved.partition_seconds = time.perf_counter() - begun
    return moved


def figures(ranks: Ranks, share: Share) -> dict[str, Any]:
    """Statistics of a share's partition. All ranks call it, before the run overwrites the targets."""
    own, there = np.uint32(len(share.into.offsets) - 1), 0
    for at in range(0, len(share.into.targets), _BLOCK):
        there += int(np.count_nonzero(share.into.targets[at : at + _BLOCK] >= own))
    (cut,) = ranks.sum([there])
    return {
        "rank_partition": share.partition,
        "rank_partition_seconds": round(max(ranks.gather(share.partition_seconds)), 6),
        "rank_cut_edges": cut,
        "rank_edges": ranks.gather(len(share.into.targets)),
    }


# ---- The rank of each vertex -----------------------------------------------------------


def _parts(ranks: Ranks, share: Share, how: str) -> Array:
    """The rank of each of this rank's vertices; uint32."""
    if how == "stream":
        parts = _streamed(ranks, share)
    elif how in METHODS:
        parts = _split(ranks, share, how)
    else:
        return _from_file(ranks, share, Path(how))
    return _populated(ranks, parts)


class _Stream(ctypes.Structure):
    """gs_stream of include/gossamer/distributed/partition.h."""

    _fields_ = [
        ("ranks", ctypes.c_void_p),
        ("cuts", ctypes.c_void_p),
        ("offsets", ctypes.c_void_p * 2),
        ("targets", ctypes.c_void_p * 2),
        ("passes", ctypes.c_uint32),
        ("uneven", ctypes.c_double),
    ]


def _streamed(ranks: Ranks, share: Share) -> Array:
    sides = [share.into] if share.out is share.into else [share.into, share.out]
    offsets = (ctypes.c_void_p * 2)(*(rows.offsets.ctypes.data for rows in sides))
    targets = (ctypes.c_void_p * 2)(*(rows.targets.ctypes.data for rows in sides))
    stream = _Stream(ranks.address, share.cuts.ctypes.data, offsets, targets, _PASSES, _UNEVEN)
    parts = np.empty(_own(ranks, share), np.uint32)
    native.check(native.lib().gs_partition_stream(ctypes.byref(stream), ctypes.c_void_p(parts.ctypes.data)))
    return parts


def _split(ranks: Ranks, share: Share, how: str) -> Array:
    """By a partitioner that rank 0 calls with the whole graph."""
    from gossamer.mapper.levels import Undirected
    from gossamer.mapper.split import split

    rows = share.into
    sources = rows.targets + np.uint32(share.cuts[ranks.rank])
    counts: Array = np.diff(rows.offsets.astype(np.int64))
    pieces = ranks.exchange([(sources, counts) if to == 0 else None for to in range(ranks.count)])
    mine: list[Array | None] = [None] * ranks.count
    if ranks.rank == 0:
        sources = np.concatenate([piece[0] for piece in pieces])
        counts = np.concatenate([piece[1] for piece in pieces])
        targets = np.repeat(np.arange(share.whole.vertices, dtype=np.uint32), counts)
        graph = Undirected.from_edges(share.whole.vertices, sources, targets, 1)
        del pieces, sources, targets
        found = split(graph, ranks.count, how, 1).astype(np.uint32)
        mine = [found[int(share.cuts[to]) : int(share.cuts[to + 1])] for to in range(ranks.count)]
    parts: Array = ranks.exchange(mine)[0]
    return parts


def _populated(ranks: Ranks, parts: Array) -> Array:
    """The same with at least one vertex on every rank, which the engine needs: the first of the largest part that is on
    this rank moves to an empty one."""
    everywhere = ranks.gather(np.bincount(parts, minlength=ranks.count))
    counts = np.sum(everywhere, axis=0)
    for empty in np.flatnonzero(counts == 0):
        largest = int(np.argmax(counts))
        holder = next(rank for rank, its in enumerate(everywhere) if its[largest])
        if holder == ranks.rank:
            parts[np.flatnonzero(parts == largest)[0]] = empty
        for place, change in ((largest, -1), (int(empty), 1)):
            counts[place] += change
            everywhere[holder][place] += change
    return parts


def _from_file(ranks: Ranks, share: Share, path: Path) -> Array:
    """From a text file with the rank of each vertex, one a line, in the order of the vertices."""
    found, error = None, None
    if ranks.rank == 0:
        try:
            found = read_file(path, share.whole.vertices, ranks.count)
        except InputError as wrong:
            error = str(wrong)
    error = ranks.broadcast(error)
    if error is not None:
        raise InputError(error)
    cuts = share.cuts
    mine = [None if found is None else found[int(cuts[to]) : int(cuts[to + 1])] for to in range(ranks.count)]
    parts: Array = ranks.exchange(mine)[0]
    return parts


def read_file(path: Path, vertices: int, ranks: int) -> Array:
    """The rank of each vertex; uint32. Raises InputError for a file that is none of this graph and number of ranks."""
    try:
        words = path.read_bytes().split()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; check --partition") from None
    what = "give the file the rank of each vertex of this graph, one a line"
    if len(words) != vertices:
        has = f"{counted(len(words), 'rank', 'ranks')} for {counted(vertices, 'vertex', 'vertices')}"
        raise InputError(f"{path}: has {has}; {what}")
    # Written as whole lines, so that the position is the line.
    wrong = next((at for at, word in enumerate(words) if not word.isdigit() or len(word) > 9), None)
    if wrong is not None:
        raise InputError(
            f"{path}:{wrong + 1}: {words[wrong].decode(errors='replace')!r} is no number of a rank; {what}"
        )
    found = np.array(words).astype(np.uint32)
    beyond = np.flatnonzero(found >= ranks)
    if len(beyond):
        at = int(beyond[0])
        raise InputError(
            f"{path}:{at + 1}: rank {found[at]} does not exist, the run has the ranks 0 to {ranks - 1}; correct the "
            "file, or the number of ranks (-n)"
        )
    empty = np.flatnonzero(np.bincount(found, minlength=ranks) == 0)
    if len(empty):
        raise InputError(
            f"{path}: rank {empty[0]} has no vertex; every rank needs at least one, correct the file, or use fewer "
            "ranks (-n)"
        )
    return found


# ---- The move ------------------------------------------------------------------------


def _own(ranks: Ranks, share: Share) -> int:
    return int(share.cuts[ranks.rank + 1] - share.cuts[ranks.rank])


def _moved(ranks: Ranks, share: Share, parts: Array) -> Share:
    """The share with the vertices whose part is this rank."""
    count, first = ranks.count, int(share.cuts[ranks.rank])
    counts = np.array(ranks.gather(np.bincount(parts, minlength=count)), np.int64)
    cuts = np.zeros(count + 1, np.uint64)
    cuts[1:] = np.cumsum(counts.sum(axis=0))
    starts = cuts[:-1].astype(np.int64) + counts[: ranks.rank].sum(axis=0)
    order = np.argsort(parts, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(counts[ranks.rank])])
    numbers = np.empty(len(parts), np.uint32)
    for part in range(count):
        its = order[bounds[part] : bounds[part + 1]]
        numbers[its] = np.arange(starts[part], starts[part] + len(its), dtype=np.uint32)
    members = [order[bounds[part] : bounds[part + 1]] for part in range(count)]
    far = _far_numbers(ranks, share, numbers)
    into = _rows(ranks, share, share.into, members, numbers, far, int(cuts[ranks.rank]))
    if share.out is share.into:
        out = into
    else:
        out = _rows(ranks, share, share.out, members, numbers, far, int(cuts[ranks.rank]))
    indices = np.concatenate(ranks.exchange([(its + first).astype(np.uint32) for its in members]))
    _move_labels(ranks, share.whole, indices)
    return replace(share, cuts=cuts, out=out, into=into, indices=indices)


def _far_numbers(ranks: Ranks, share: Share, numbers: Array) -> tuple[Array, Array]:
    """The vertices of other ranks in this one's rows, ascending, and their new numbers."""
    own, first = np.uint32(len(numbers)), np.uint32(share.cuts[ranks.rank])
    there = np.zeros(share.whole.vertices, bool)
    for rows in (share.into,) if share.out is share.into else (share.into, share.out):
        for at in range(0, len(rows.targets), _BLOCK):
            block = rows.targets[at : at + _BLOCK]
            there[block[block >= own] + first] = True
    far = np.flatnonzero(there).astype(np.uint32)
    bounds = np.searchsorted(far, share.cuts)
    asked = ranks.exchange([far[bounds[to] : bounds[to + 1]] for to in range(ranks.count)])
    return far, np.concatenate(ranks.exchange([numbers[its - first] for its in asked]))


def _rows(
    ranks: Ranks,
    share: Share,
    rows: CSR,
    members: list[Array],
    numbers: Array,
    far: tuple[Array, Array],
    new_first: int,
) -> CSR:
    """The rows of the vertices that this rank gets; each rank's are ``members``, by rank."""
    own, first = np.uint32(len(numbers)), np.uint32(share.cuts[ranks.rank])
    offsets = rows.offsets.astype(np.int64, copy=False)
    lengths = np.diff(offsets)
    targets = np.empty_like(rows.targets)
    for at in range(0, len(targets), _BLOCK):
        block = rows.targets[at : at + _BLOCK]
        here = block < own
        new = targets[at : at + _BLOCK]
        new[here] = numbers[block[here]]
        new[~here] = far[1][np.searchsorted(far[0], block[~here] + first)]

    has_targets = bool(ranks.sum([len(targets)])[0])

    def of(its: Array) -> list[Array]:
        its_lengths = lengths[its]
        if not has_targets:
            return [its_lengths]
        begins = np.cumsum(its_lengths) - its_lengths
        at = np.repeat(offsets[its] - begins, its_lengths)
        at += np.arange(len(at))
        return [its_lengths, targets[at], *([] if rows.weights is None else [rows.weights[at]])]

    pieces: list[list[Array]] = [[]] * ranks.count
    for distance in range(ranks.count):
        # One pair of ranks at a time, so that a rank has one copy of a part of its rows besides the new ones.
        to, source = (ranks.rank + distance) % ranks.count, (ranks.rank - distance) % ranks.count
        pieces[source] = ranks.swap(to, of(members[to]), source)
    all_lengths = np.concatenate([piece[0] for piece in pieces])
    new_offsets = np.zeros(len(all_lengths) + 1, rows.offsets.dtype)
    new_offsets[1:] = np.cumsum(all_lengths)
    if not has_targets:
        return CSR(new_offsets, np.empty(0, np.uint32))
    new_targets = np.concatenate([piece[1] for piece in pieces])
    new_targets -= np.uint32(new_first)
    weights = None
    if share.whole.weight_type is not None:
        # A rank without edges may have no weights.
        weights = np.concatenate(
            [np.empty(0, share.whole.weight_type), *(one for piece in pieces for one in piece[2:])]
        )
    return CSR(new_offsets, new_targets, weights)


def _move_labels(ranks: Ranks, whole: Outline, indices: Array) -> None:
    """Ranks other than 0, which has all labels, get those of their new vertices."""
    everywhere = ranks.exchange([indices if to == 0 and whole.labelled else None for to in range(ranks.count)])
    labels = whole.labels
    own: list[Any] = [None] * ranks.count
    if ranks.rank == 0 and labels is not None:
        own = [None if its is None else [labels[int(v)] for v in its] for its in everywhere]
    mine = ranks.exchange(own)[0]
    if ranks.rank:
        whole.labels, whole.indices, whole.own = mine, indices, len(indices)


__all__ = ["METHODS", "RANGES", "apply", "check", "figures", "read_file"]
