# SPDX-License-Identifier: Apache-2.0
"""Reads a sparse matrix that ``scipy.sparse.save_npz`` wrote: csr, csc, coo, bsr or dia. NumPy reads the arrays.

An entry (i, j) is an edge from i to j, also an explicit zero except in dia, whose zeros are padding. Entries with the
same place stay parallel edges. A Boolean matrix has no weights.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Any, NoReturn

import numpy as np

from gossamer.errors import InputError
from gossamer.files import reason
from gossamer.graph._graph import MOST_VERTICES, Graph
from gossamer.graph._interchange import narrowed
from gossamer.graph._rows import from_edges

_ARRAYS = {
    "csr": ("indptr", "indices"), "csc": ("indptr", "indices"), "bsr": ("indptr", "indices"),
    "coo": (), "dia": ("offsets",),
}  # fmt: skip
Array = np.ndarray[Any, Any]


def read(data: bytes, name: str) -> Graph:
    """The graph of a sparse matrix. Raises InputError("file: what; what to do")."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except (OSError, ValueError, EOFError, KeyError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{name}: the archive is corrupt ({reason(error)[:200]}); fetch the file again") from None
    except MemoryError:
        raise InputError(f"{name}: not enough memory for the arrays in the archive") from None
    return _Matrix(arrays, name).graph()


class _Matrix:
    def __init__(self, arrays: dict[str, Array], name: str) -> None:
        self.arrays = arrays
        self.name = name

    def _fail(self, what: str) -> NoReturn:
        raise InputError(f"{self.name}: {what}")

    def graph(self) -> Graph:
        """The graph of the arrays."""
        found = ", ".join(sorted(self.arrays)[:8]) or "no arrays"
        given = self.arrays.get("format")
        if given is None or given.shape != () or given.dtype.kind not in "SU" or "shape" not in self.arrays:
            self._fail(f"not a sparse matrix: the archive has {found}; write it with scipy.sparse.save_npz")
        form = given.item()
        form = form.decode(errors="replace") if isinstance(form, bytes) else str(form)
        if form not in _ARRAYS:
            self._fail(f"a sparse matrix in the format {form!r}; convert it with .tocsr() before save_npz")
        shape = self._integers("shape")
        if len(shape) != 2 or shape[0] != shape[1]:
            self._fail(f"shape {tuple(shape.tolist())}; the matrix of a graph is square")
        count = int(shape[0])
        if not 1 <= count <= MOST_VERTICES:
            self._fail(f"{count} vertices; a graph has 1 to {MOST_VERTICES}")
        data = self._array("data")
        if data.dtype.kind not in "biuf":
            self._fail(f"values of the type {data.dtype}; they must be integers or real numbers")
        sources, targets, weights = getattr(self, f"_{form}")(data, count)
        for ends in (sources, targets):
            if ends.size and (int(ends.min()) < 0 or int(ends.max()) >= count):
                self._fail(f"an index outside 0 .. {count - 1}; the file is damaged")
        if weights.dtype.kind == "f" and not bool(np.isfinite(weights).all()):
            self._fail("a value is not a finite number")
        costs = None if weights.dtype.kind == "b" else narrowed(weights)
        try:
            return Graph(out=from_edges(count, sources, targets, costs), name=self.name)
        except InputError as error:
            self._fail(str(error))

    def _array(self, key: str) -> Array:
        if key not in self.arrays:
            self._fail(f"a sparse matrix without the array {key!r}; the file is damaged")
        return self.arrays[key]

    def _integers(self, key: str) -> Array:
        array = self._array(key)
        if array.ndim != 1 or array.dtype.kind not in "iu" or (array.size and int(array.max()) >= 2**63):
            self._fail(f"{key!r} is not an array of integers; the file is damaged")
        return array.astype(np.int64)

    def _counts(self, rows: int, entries: int) -> Array:
        """The lengths of the rows."""
        starts = self._integers("indptr")
        fine = len(starts) == rows + 1 and starts[0] == 0 and starts[-1] == entries
        if not fine or bool((starts[1:] < starts[:-1]).any()):
            self._fail(f"'indptr' does not ascend from 0 to {entries} in {rows} steps; the file is damaged")
        return np.diff(starts)

    def _same(self, key: str, array: Array, size: int) -> None:
        if array.ndim != 1 or len(array) != size:
            self._fail(f"{array.size} elements in {key!r} instead of {size}; the file is damaged")

    def _csr(self, data: Array, count: int) -> tuple[Array, Array, Array]:
        inner = self._integers("indices")
        self._same("data", data, len(inner))
        return np.repeat(np.arange(count), self._counts(count, len(inner))), inner, data

    def _csc(self, data: Array, count: int) -> tuple[Array, Array, Array]:
        targets, sources, weights = self._csr(data, count)
        return sources, targets, weights

    def _coo(self, data: Array, count: int) -> tuple[Array, Array, Array]:
        if "coords" in self.arrays:
            coords = self._array("coords")
            if coords.ndim != 2 or len(coords) != 2 or coords.dtype.kind not in "iu":
                self._fail("'coords' is not an array of two rows of integers; the file is damaged")
            sources, targets = coords.astype(np.int64)
        else:
            sources, targets = self._integers("row"), self._integers("col")
        self._same("row", sources, data.size)
        self._same("col", targets, data.size)
        self._same("data", data, data.size)
        return sources, targets, data

    def _bsr(self, data: Array, count: int) -> tuple[Array, Array, Array]:
        inner = self._integers("indices")
        if data.ndim != 3 or len(data) != len(inner) or 0 in data.shape[1:] or count % data.shape[1]:
            self._fail("'data' is not an array of one block for each index; the file is damaged")
        _, height, width = data.shape
        block_rows = np.repeat(np.arange(count // height), self._counts(count // height, len(inner)))
        sources = block_rows[:, None, None] * height + np.arange(height)[None, :, None]
        targets = inner[:, None, None] * width + np.arange(width)[None, None, :]
        sources, targets = np.broadcast_arrays(sources, targets)
        return sources.ravel(), targets.ravel(), data.ravel()

    def _dia(self, data: Array, count: int) -> tuple[Array, Array, Array]:
        offsets = self._integers("offsets")
        if data.ndim != 2 or len(data) != len(offsets):
            self._fail("'data' is not an array of one row for each offset; the file is damaged")
        columns = np.arange(min(data.shape[1], count))
        sources = columns[None, :] - offsets[:, None]
        kept = (sources >= 0) & (sources < count) & (data[:, : len(columns)] != 0)
        targets = np.broadcast_to(columns, kept.shape)
        return sources[kept], targets[kept], data[:, : len(columns)][kept]


__all__ = ["read"]
