# SPDX-License-Identifier: Apache-2.0
"""Communication between ranks: ``gs_ranks`` of include/gossamer/distributed/transport.h."""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gossamer import native
from gossamer.errors import InputError

_TAG = 4
"""kRows of include/gossamer/distributed/ranks.h."""

Array = np.ndarray[Any, np.dtype[Any]]


class _Word(ctypes.Structure):
    _fields_ = [("how", ctypes.c_int64), ("word", ctypes.c_int64)]


_u64 = ctypes.c_uint64


class _Table(ctypes.Structure):
    _fields_ = [
        ("rank", ctypes.c_int32),
        ("count", ctypes.c_int32),
        ("send", ctypes.CFUNCTYPE(_u64, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, _u64)),
        ("sent", ctypes.CFUNCTYPE(ctypes.c_int, _u64)),
        ("probe", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.POINTER(_u64))),
        ("probe_any", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(_u64))),
        ("receive", ctypes.CFUNCTYPE(None, ctypes.c_void_p, _u64)),
        ("reduce", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Word), _u64)),
        ("reduced", ctypes.CFUNCTYPE(ctypes.c_int)),
        ("broadcast", ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, _u64)),
        ("abort", ctypes.CFUNCTYPE(None, ctypes.c_int)),
        ("leave", ctypes.CFUNCTYPE(None)),
        ("send_matched", ctypes.CFUNCTYPE(_u64, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, _u64)),
    ]


class Ranks:
    """The ranks of this job. All methods but ``send``, ``receive`` and ``abort`` are called by all ranks together."""

    def __init__(self, library: Path) -> None:
        """Joins the other ranks. Raises InputError if this process cannot: the launcher belongs to another MPI, ..."""
        loaded = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
        loaded.gs_ranks_join.restype = ctypes.POINTER(_Table)
        table = loaded.gs_ranks_join()
        if not table:
            loaded.gs_ranks_problem.restype = ctypes.c_char_p
            problem: bytes = loaded.gs_ranks_problem()
            raise InputError(problem.decode(errors="replace"))
        self.address = ctypes.cast(table, ctypes.c_void_p)
        self._table = table.contents
        self.rank = int(self._table.rank)
        self.count = int(self._table.count)

    def broadcast(self, value: Any, root: int = 0) -> Any:
        """The value of the rank ``root``, which other ranks pass as anything."""
        if self.count == 1:
            return value
        data = np.frombuffer(pickle.dumps(value), np.uint8) if self.rank == root else np.empty(0, np.uint8)
        size = np.array([len(data)], np.uint64)
        self._table.broadcast(root, size.ctypes.data, 8)
        if self.rank != root:
            data = np.empty(int(size[0]), np.uint8)
        self._table.broadcast(root, data.ctypes.data, len(data))
        return value if self.rank == root else pickle.loads(data.tobytes())

    def gather(self, value: Any) -> list[Any]:
        """The values of all ranks, on every rank."""
        return [self.broadcast(value, root) for root in range(self.count)]

    def send(self, to: int, arrays: Sequence[Array]) -> None:
        """Sends arrays, which the receiver must know to expect, and waits until they have left."""
        for array in arrays:
            whole = np.ascontiguousarray(array)
            request = self._table.send(to, _TAG, whole.ctypes.data, whole.nbytes)
            native.lib().gs_ranks_wait_sent(self.address, _u64(request))

    def receive(self, source: int, dtype: Any) -> Array:
        """The next array that a rank has sent to this one."""
        size = _u64()
        native.lib().gs_ranks_wait_message(self.address, source, _TAG, ctypes.byref(size))
        array = np.empty(size.value // np.dtype(dtype).itemsize, dtype)
        self._table.receive(array.ctypes.data, size.value)
        return array

    def exchange(self, values: Sequence[Any]) -> list[Any]:
        """Passes a value to each rank, in their order; returns what each rank has passed to this one."""
        found: list[Any] = [None] * self.count
        for distance in range(self.count):
            to, source = (self.rank + distance) % self.count, (self.rank - distance) % self.count
            found[source] = self.swap(to, values[to], source)
        return found

    def swap(self, to: int, value: Any, source: int) -> Any:
        """Passes a value to one rank, and returns the value that another one passes to this one at the same time."""
        if to == self.rank:
            return value
        data = np.frombuffer(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), np.uint8)
        request = self._table.send(to, _TAG, data.ctypes.data, data.nbytes)
        got = self.receive(source, np.uint8)
        native.lib().gs_ranks_wait_sent(self.address, _u64(request))
        return pickle.loads(got.data)

    def pass_to(self, to: int, value: Any, source: int) -> Any:
        """Passes a value of one rank to another, which returns it; the others do nothing."""
        if self.rank == source != to:
            data = np.frombuffer(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), np.uint8)
            self.send(to, [data])
        if self.rank != to:
            return None
        return value if source == to else pickle.loads(self.receive(source, np.uint8).data)

    def sum(self, values: Sequence[int]) -> list[int]:
        """The sums of the ranks' numbers."""
        words = (_Word * len(values))(*(_Word(0, value) for value in values))
        self._table.reduce(words, len(values))
        native.lib().gs_ranks_wait_reduced(self.address)
        return [int(word.word) for word in words]

    def abort(self, code: int) -> None:
        """Ends all ranks."""
        self._table.abort(code)

    def leave(self) -> None:
        """Leaves the job, after which no rank may communicate."""
        self._table.leave()


__all__ = ["Ranks"]
