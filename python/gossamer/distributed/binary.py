# SPDX-License-Identifier: Apache-2.0
"""Reads a ``.gsg`` file on all ranks: each rank only the rows of its vertices, and its part of the checksums."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gossamer.distributed.transport import Array, Ranks
from gossamer.errors import InputError
from gossamer.graph import CSR, _gsg, _native
from gossamer.graph._adjlist import LabelTable
from gossamer.graph._graph import Labels

_PIECE = 1 << 24
_POLYNOMIAL = 0xEDB88320


class File:
    """A ``.gsg`` file of which ranks read parts."""

    def __init__(self, path: str) -> None:
        """Opens the file. Raises InputError for a wrong header, OSError if it cannot be read."""

        def bad(what: str) -> InputError:
            return InputError(f"{path}: {what}")

        if sys.byteorder != "little":
            raise bad("needs a little-endian machine")
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            head = file.read(_gsg.HEADER_BYTES)
        self.layout = _gsg.layout(head, size, bad)
        self._file = os.open(path, os.O_RDONLY)

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)

    def has(self, kind: int) -> bool:
        """Whether there is a section."""
        return kind in self.layout.positions

    def read(self, kind: int, dtype: Any, first: int, count: int) -> Array:
        """Elements of a section."""
        begin, end = self.layout.positions[kind]
        width = np.dtype(dtype).itemsize
        if begin + (first + count) * width > end:
            raise InputError("a section is too short")
        array = np.empty(count, dtype)
        view = memoryview(array.view(np.uint8).data)
        at = 0
        while at < len(view):
            piece = view[at : at + _PIECE]
            read = os.preadv(self._file, [piece], begin + first * width + at)
            if read <= 0:
                raise InputError("the file is truncated")
            at += read
        return array

    def rows(self, kind: int, first: int, last: int, *, targets: bool) -> CSR:
        """The rows first .. last - 1; targets are indices of the whole graph. Raises InputError if they are invalid."""
        offsets = self.read(kind, np.int64, first, last - first + 1)
        low, high = int(offsets[0]), int(offsets[-1])
        if not 0 <= low <= high <= self.layout.edges or (np.diff(offsets) < 0).any():
            raise InputError("offsets do not ascend")
        offsets -= low
        if not targets:
            return CSR(offsets, np.empty(0, np.uint32))
        ends = self.read(kind + 1, np.uint32, low, high - low)
        begins = np.zeros(len(ends) + 1, bool)
        begins[offsets] = True
        if len(ends) and (
            int(ends.max()) >= self.layout.vertices or not ((ends[1:] >= ends[:-1]) | begins[1:-1]).all()
        ):
            raise InputError("rows are invalid")
        weights = None
        if self.layout.weight_type:
            weights = self.read(kind + 2, _native.WEIGHT_TYPES[self.layout.weight_type], low, high - low)
        return CSR(offsets, ends, weights)

    def offset(self, kind: int, vertex: int) -> int:
        """Where the row of a vertex begins."""
        return int(self.read(kind, np.int64, vertex, 1)[0])

    def labels(self, first: int, last: int) -> Labels | None:
        """The labels of vertices."""
        if self.has(_gsg.NUMBERS):
            return self.read(_gsg.NUMBERS, np.int64, first, last - first)
        if not self.has(_gsg.STARTS):
            return None
        starts = self.read(_gsg.STARTS, np.uint64, first, last - first + 1)
        begin = int(starts[0]) - 1
        text = self.read(_gsg.TEXT, np.uint8, begin, int(starts[-1]) - begin)
        return LabelTable(bytearray(text.tobytes()), starts - np.uint64(begin))

    def name(self) -> str:
        """The name of the graph; empty if it has none."""
        if not self.has(_gsg.NAME):
            return ""
        begin, end = self.layout.positions[_gsg.NAME]
        return os.fsdecode(self.read(_gsg.NAME, np.uint8, 0, end - begin).tobytes())

    def checksums(self, rank: int, ranks: int) -> list[tuple[int, int]]:
        """The CRC-32 and the length of a rank's part of each section."""
        found = []
        for kind, _, begin, end in self.layout.sections:
            low, high = ((end - begin) * part // ranks for part in (rank, rank + 1))
            crc = 0
            for at in range(low, high, _PIECE):
                crc = zlib.crc32(self.read(kind, np.uint8, at, min(_PIECE, high - at)).data, crc)
            found.append((crc, high - low))
        return found

    def intact(self, parts: Sequence[Sequence[tuple[int, int]]]) -> bool:
        """Whether all checksums are right, from those of all ranks' parts."""
        whole = [0] * len(self.layout.sections)
        for part in parts:
            whole = [combined(before, crc, length) for before, (crc, length) in zip(whole, part, strict=True)]
        return whole == [crc for _, crc, _, _ in self.layout.sections]


def combined(first: int, second: int, length: int) -> int:
    """The CRC-32 of two byte strings together, from their own; ``length`` is that of the second.

    The bytes of the second string shift the first's remainder; a shift by one zero bit is a matrix over GF(2), squared
    for each bit of the length (as zlib's crc32_combine).
    """

    def times(matrix: list[int], vector: int) -> int:
        total = 0
        for row in matrix:
            if vector & 1:
                total ^= row
            vector >>= 1
        return total

    matrix = [_POLYNOMIAL, *(1 << bit for bit in range(31))]
    bits = 8 * length
    while bits:
        if bits & 1:
            first = times(matrix, first)
        bits >>= 1
        matrix = [times(matrix, row) for row in matrix]
    return first ^ second


def together(ranks: Ranks, work: Callable[[], Any]) -> tuple[bool, Any]:
    """Whether ``work`` succeeded on all ranks, and its result here."""
    result, fine = None, True
    try:
        result = work()
    except (InputError, OSError, MemoryError, ValueError):
        fine = False
    return all(ranks.gather(fine)), result


__all__ = ["File", "combined", "together"]
