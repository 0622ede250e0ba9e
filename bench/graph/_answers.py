# SPDX-License-Identifier: Apache-2.0
"""Whether two answers are the same. No figure is printed for a pair of answers that are not."""

from __future__ import annotations

from typing import Any

import numpy as np

from gossamer.errors import AnswerNo

Array = np.ndarray[Any, Any]
RANK_TOLERANCE = 1e-4
"""Of each rank; both sides add up single-precision numbers in orders of their own."""


def same_ranks(where: str, ours: Array, theirs: Array) -> str:
    """Each rank within the tolerance of its own size; says how far they are apart."""
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    _same_length(where, a, b)
    apart = np.abs(a - b) / np.maximum(np.maximum(np.abs(a), np.abs(b)), np.finfo(np.float64).tiny)
    worst = int(apart.argmax())
    # Written so that a rank that is no number does not pass.
    if not apart[worst] <= RANK_TOLERANCE:
        raise AnswerNo(f"{where}: vertex {worst} has rank {a[worst]:.9g} here and {b[worst]:.9g} there")
    return f"every rank within {apart[worst]:.1e}"


def same_exactly(where: str, ours: Array, theirs: Array) -> str:
    """Element for element."""
    _same_length(where, ours, theirs)
    wrong = np.flatnonzero(ours != theirs)
    if len(wrong):
        at = int(wrong[0])
        raise AnswerNo(f"{where}: vertex {at} has {ours[at]} here and {theirs[at]} there; {len(wrong)} vertices differ")
    return "equal"


def same_partition(where: str, ours: Array, theirs: Array) -> str:
    """The same components, whatever they are called: each is called by its least vertex."""
    _same_length(where, ours, theirs)
    _, first, member = np.unique(theirs, return_index=True, return_inverse=True)
    return same_exactly(where, ours, first[member])


def same_count(where: str, what: str, ours: int, theirs: int) -> str:
    """One number, where a peer tells no more."""
    if ours != theirs:
        raise AnswerNo(f"{where}: {ours} {what} here and {theirs} there")
    return f"{theirs} {what}"


def _same_length(where: str, ours: Array, theirs: Array) -> None:
    if ours.shape != theirs.shape:
        raise AnswerNo(f"{where}: {ours.size} values here and {theirs.size} there")
