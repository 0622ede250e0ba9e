# SPDX-License-Identifier: Apache-2.0
"""Changes of a graph when it is loaded (``--undirected``, ``--dedupe``, ``--no-loops``), by each rank on its share."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gossamer.distributed.shares import Share
from gossamer.distributed.transport import Array, Ranks
from gossamer.graph import CSR, _native
from gossamer.graph._rows import simplify_in_place


@dataclass(frozen=True)
class Changes:
    """What to change; see ``gossamer.graph.read_graph``."""

    undirected: bool = False
    dedupe: bool = False
    drop_loops: bool = False

    def __bool__(self) -> bool:
        """Whether anything changes."""
        return self.undirected or self.dedupe or self.drop_loops


NONE = Changes()


def apply(ranks: Ranks, share: Share, changes: Changes) -> Share:
    """The changed share. All ranks call it; the share has the targets of out-edges. It must not be used any more."""
    whole = share.whole
    if changes.undirected and not whole.symmetric:
        rows = _both(share, int(share.cuts[ranks.rank]))
        share = replace(share, out=rows, into=rows)
        whole.symmetric = True
    if changes.dedupe or changes.drop_loops:
        into = simplify_in_place(share.into, parallel=changes.dedupe, loops=changes.drop_loops)
        out = into
        if share.out is not share.into:
            out = simplify_in_place(share.out, parallel=changes.dedupe, loops=changes.drop_loops)
        share = replace(share, out=out, into=into)
    whole.edges, parallel = ranks.sum([len(share.into.targets), _parallel(share.into)])
    if changes.undirected and not changes.dedupe:
        whole.note_parallel(int(parallel))
    weights = share.into.weights
    ranges = ranks.gather(
        (float(weights.min()), float(weights.max())) if weights is not None and len(weights) else None
    )
    there = [one for one in ranges if one is not None]
    whole.weigh(there)
    return share


def _both(share: Share, first: int) -> CSR:
    """The rows of each edge in both directions, self-loops once."""
    out, into = share.out, share.into
    rows = len(out.offsets) - 1
    degrees: Array = np.diff(into.offsets.astype(np.int64))
    receivers = np.repeat(np.arange(rows, dtype=np.uint32), degrees)
    kept = np.flatnonzero(into.targets != receivers)
    begins = out.offsets.astype(np.int64)
    lengths = np.bincount(receivers[kept], minlength=rows)
    offsets = begins.copy()
    offsets[1:] += np.cumsum(lengths)
    targets = np.empty(int(offsets[-1]), np.uint32)
    weights = None if out.weights is None else np.empty(len(targets), out.weights.dtype)
    # Out-edges first, then the others; rows are sorted afterwards.
    out_degrees: Array = np.diff(begins)
    of_out = np.arange(len(out.targets)) + np.repeat(offsets[:-1] - begins[:-1], out_degrees)
    ends = np.cumsum(lengths) - lengths
    of_in = np.arange(len(kept)) + np.repeat(offsets[1:] - lengths - ends, lengths)
    targets[of_out] = out.targets + np.uint32(first)
    targets[of_in] = into.targets[kept] + np.uint32(first)
    if weights is not None and out.weights is not None and into.weights is not None:
        weights[of_out] = out.weights
        weights[of_in] = into.weights[kept]
    offsets = offsets.astype(out.offsets.dtype)
    arrays = map(_native.pointer, (offsets, targets, weights))
    _native.call("sort", rows, *arrays, _native.weight_type(weights), 1)
    targets -= np.uint32(first)
    return CSR(offsets, targets, weights)


def _parallel(rows: CSR) -> int:
    """The number of edges with the same ends as the one before."""
    same = rows.targets[1:] == rows.targets[:-1]
    begins = rows.offsets[1:-1].astype(np.int64)
    begins = begins[(begins > 0) & (begins < len(rows.targets))]
    same[begins - 1] = False
    return int(np.count_nonzero(same))


__all__ = ["NONE", "Changes", "apply"]
