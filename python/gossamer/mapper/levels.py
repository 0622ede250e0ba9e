# SPDX-License-Identifier: Apache-2.0
"""Undirected graphs for partitioning, and their coarsening (``include/gossamer/mapper/levels.h``)."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer import native

Arrays = tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint64]]
_ROUNDS = 4
"""Rounds of moves at one level."""


class _GraphAbi(ctypes.Structure):
    _fields_ = [
        ("vertices", ctypes.c_uint64),
        ("offsets", ctypes.c_void_p),
        ("neighbours", ctypes.c_void_p),
        ("weights", ctypes.c_void_p),
        ("work", ctypes.c_void_p),
    ]


class Undirected:
    """A symmetric adjacency in rows, without loops; the ``weights`` of an entry count the edges that it represents.

    ``work`` is the weight of a vertex: a constant, plus one for each edge in and out. The arrays are read-only.
    """

    def __init__(self, abi: _GraphAbi, arrays: Arrays) -> None:
        self._abi = abi
        self.offsets, self.neighbours, self.weights, self.work = arrays
        self.vertices = len(self.work)
        self.entries = len(self.neighbours)

    @classmethod
    def from_arrays(cls, *arrays: NDArray[Any]) -> Undirected:
        """A graph from the result of another graph's arrays()."""
        kinds = (np.uint64, np.uint32, np.uint32, np.uint64)
        own = tuple(np.ascontiguousarray(array, kind) for array, kind in zip(arrays, kinds, strict=True))
        offsets, neighbours, weights, work = own
        return cls(_GraphAbi(len(work), *(array.ctypes.data for array in own)), (offsets, neighbours, weights, work))

    def arrays(self) -> Arrays:
        """Offsets, neighbours, weights, work."""
        return self.offsets, self.neighbours, self.weights, self.work

    @classmethod
    def from_edges(cls, vertices: int, source: NDArray[Any], target: NDArray[Any], own: int) -> Undirected:
        """A graph from directed edges; ``own`` is the weight of a vertex without edges."""
        ends = [np.ascontiguousarray(end, np.uint32) for end in (source, target)]
        return cls._made_by(
            "gs_map_undirected",
            ctypes.c_uint64(vertices),
            ctypes.c_uint64(len(ends[0])),
            *map(_address, ends),
            ctypes.c_uint64(own),
            0,
        )

    def rows(self) -> NDArray[np.int64]:
        """The vertex of each entry."""
        ends = self.offsets.astype(np.int64)
        return np.repeat(np.arange(self.vertices), ends[1:] - ends[:-1])

    @property
    def _handle(self) -> Any:
        return ctypes.byref(self._abi)

    def part(self, members: NDArray[Any]) -> Undirected:
        """The subgraph of some vertices, in their order."""
        its = np.ascontiguousarray(members, np.uint32)
        return self._made_by("gs_map_part", self._handle, _address(its), ctypes.c_uint64(len(its)), 0)

    def contract(self, labels: NDArray[np.uint32], count: int) -> Undirected:
        """The graph whose vertices are the labels, 0 to count - 1."""
        return self._made_by("gs_map_contract", self._handle, _address(labels), ctypes.c_uint64(count), 0)

    def clusters(self, most: int) -> tuple[NDArray[np.uint32], int]:
        """The cluster of each vertex, and their number. Clusters of several vertices weigh at most ``most``."""
        labels, count = np.empty(self.vertices, np.uint32), ctypes.c_uint64()
        native.check(
            native.lib().gs_map_cluster(
                self._handle, ctypes.c_uint64(most), _ROUNDS, 0, _address(labels), ctypes.byref(count)
            )
        )
        return labels, int(count.value)

    def refine(self, labels: NDArray[np.uint32], parts: int, most: int) -> None:
        """Moves vertices between parts, in place, to cut fewer edges; no part becomes heavier than ``most``."""
        native.check(
            native.lib().gs_map_refine(
                self._handle, ctypes.c_uint64(parts), ctypes.c_uint64(most), _ROUNDS, 0, _address(labels)
            )
        )

    @classmethod
    def _made_by(cls, function: str, *arguments: Any) -> Undirected:
        made = ctypes.POINTER(_GraphAbi)()
        native.check(getattr(native.lib(), function)(*arguments, ctypes.byref(made)))
        abi = made.contents
        vertices = int(abi.vertices)
        offsets = _view(abi.offsets, vertices + 1, np.uint64)
        entries = int(offsets[-1])
        graph = cls(
            abi,
            (
                offsets,
                _view(abi.neighbours, entries, np.uint32),
                _view(abi.weights, entries, np.uint32),
                _view(abi.work, vertices, np.uint64),
            ),
        )
        weakref.finalize(graph, native.lib().gs_map_free, made)
        return graph


def _address(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _view(address: int | None, count: int, kind: type[Any]) -> NDArray[Any]:
    if not count or not address:
        return np.empty(0, kind)
    size = np.dtype(kind).itemsize
    return np.ctypeslib.as_array((ctypes.c_uint8 * (count * size)).from_address(address)).view(kind)


__all__ = ["Undirected"]
