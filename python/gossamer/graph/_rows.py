# SPDX-License-Identifier: Apache-2.0
"""Compressed sparse rows in memory, and library functions on them: sort, transpose, simplify, compare."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from gossamer.errors import InputError
from gossamer.graph import _native

Offsets: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Targets: TypeAlias = "np.ndarray[Any, np.dtype[np.uint32]]"
Weights: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

_NO_VERTEX = 2**64 - 1


@dataclass(frozen=True, slots=True)
class CSR:
    """Compressed sparse rows: the neighbours of vertex v are ``targets[offsets[v]:offsets[v + 1]]``."""

    offsets: Offsets
    """vertices + 1, int64"""
    targets: Targets
    """uint32, one for each edge, ascending within a row"""
    weights: Weights | None = None
    """one for each edge in the same order: int32, int64, float32 or float64"""

    def __post_init__(self) -> None:
        # The library's offsets are unsigned; NumPy's indexing and repetition want signed ones.
        if self.offsets.dtype != np.int64:
            object.__setattr__(self, "offsets", self.offsets.view(np.int64))

    def degrees(self) -> Offsets:
        """The length of every row, int64; ``np.repeat(np.arange(vertices), rows.degrees())`` are the edges' sources."""
        return self.offsets[1:] - self.offsets[:-1]


def refuse_masked(where: str, values: Any) -> None:
    """Raises InputError for a masked array, whose mask NumPy's conversions ignore."""
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(f"{where}: a masked array is not supported; give an array without mask (.compressed())")


def array_of(values: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """Values as a contiguous array of a type, without a copy if they are one.

    Integers of the same width and the other sign are not copied either: the caller checks their range.
    """
    array, wanted = np.asarray(values), np.dtype(dtype)
    same_bits = array.dtype.kind in "iu" and wanted.kind in "iu" and array.dtype.itemsize == wanted.itemsize
    if same_bits and array.dtype.isnative and array.flags.c_contiguous and array.flags.aligned:
        return array.view(wanted)
    return np.ascontiguousarray(array, dtype=wanted)


def weights_of(values: Any) -> Weights:
    """Weights in the smallest type of the library that holds them."""
    array = np.ascontiguousarray(values)
    if array.dtype in _native.WEIGHT_TYPES.values() and array.dtype.isnative:
        return array
    if array.dtype.kind == "b" or (array.dtype.kind in "iu" and array.dtype.itemsize <= 2):
        return array.astype(np.int32)
    if array.dtype.kind in "iu":
        if array.size and array.dtype.kind == "u" and int(array.max()) >= 2**63:
            raise InputError("a weight exceeds signed 64 bits; scale the weights down")
        return array.astype(np.int64)
    if array.dtype.kind == "f":
        return array.astype(np.float32 if array.dtype.itemsize <= 4 else np.float64)
    raise InputError(f"weights have the type {array.dtype}; they must be integers or floating-point numbers")


def from_edges(vertices: int, sources: Any, targets: Any, weights: Any = None) -> CSR:
    """Rows from the sources and targets of edges, in any order."""
    starts, ends = np.asarray(sources, np.int64), np.asarray(targets, np.int64)
    order = np.argsort(starts, kind="stable")
    offsets = np.zeros(vertices + 1, np.int64)
    np.cumsum(np.bincount(starts, minlength=vertices), out=offsets[1:])
    costs = None if weights is None else weights_of(np.asarray(weights))[order]
    return ascending(CSR(offsets, ends[order].astype(np.uint32), costs))


def ascending(rows: CSR) -> CSR:
    """Rows sorted by (target, weight); a copy unless they are sorted already."""
    # With weights, the order of parallel edges matters too.
    unsorted = np.less if rows.weights is None else np.less_equal
    steps = unsorted(rows.targets[1:], rows.targets[:-1])
    inner = rows.offsets[1:-1]
    steps[inner[(inner > 0) & (inner < len(rows.targets))] - 1] = False
    if not steps.any():
        return rows
    targets = rows.targets.copy()
    weights = None if rows.weights is None else rows.weights.copy()
    _native.call(
        "sort",
        len(rows.offsets) - 1,
        *map(_native.pointer, (rows.offsets, targets, weights)),
        _native.weight_type(weights),
        0,
    )
    return CSR(rows.offsets, targets, weights)


def edge_without_reverse(rows: CSR) -> tuple[int, int] | None:
    """An edge without a reverse of the same weight; None in a symmetric graph."""
    vertex, other = ctypes.c_uint64(_NO_VERTEX), ctypes.c_uint64()
    try:
        _native.call(
            "check_symmetric",
            len(rows.offsets) - 1,
            *map(_native.pointer, (rows.offsets, rows.targets, rows.weights)),
            _native.weight_type(rows.weights),
            0,
            ctypes.byref(vertex),
            ctypes.byref(other),
        )
    except InputError:
        if vertex.value == _NO_VERTEX:
            raise
        return vertex.value, other.value
    return None


def transposed(rows: CSR, threads: int = 0) -> CSR:
    """The transpose. Rows ascend; parallel edges keep the order of their weights."""
    vertices, edges = len(rows.offsets) - 1, len(rows.targets)
    offsets = np.empty(vertices + 1, np.int64)
    targets = np.empty(edges, np.uint32)
    weights = None if rows.weights is None else np.empty(edges, rows.weights.dtype)
    _native.call(
        "transpose",
        vertices,
        edges,
        *map(_native.pointer, (rows.offsets, rows.targets, rows.weights)),
        _native.weight_type(rows.weights),
        threads,
        *map(_native.pointer, (offsets, targets, weights)),
    )
    return CSR(offsets, targets, weights)


def simplify_in_place(rows: CSR, *, parallel: bool, loops: bool) -> CSR:
    """Removes parallel edges and loops in place; the arrays must own their memory, and shrink."""
    count = ctypes.c_uint64()
    what = (_native.SIMPLIFY_PARALLEL if parallel else 0) | (_native.SIMPLIFY_LOOPS if loops else 0)
    _native.call(
        "simplify",
        len(rows.offsets) - 1,
        *map(_native.pointer, (rows.offsets, rows.targets, rows.weights)),
        _native.weight_type(rows.weights),
        what,
        ctypes.byref(count),
    )
    rows.targets.resize(count.value, refcheck=False)
    if rows.weights is not None:
        rows.weights.resize(count.value, refcheck=False)
    return rows


__all__ = [
    "CSR",
    "Weights",
    "array_of",
    "ascending",
    "edge_without_reverse",
    "from_edges",
    "refuse_masked",
    "simplify_in_place",
    "transposed",
    "weights_of",
]
