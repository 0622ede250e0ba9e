# SPDX-License-Identifier: Apache-2.0
"""Edges by receiver, and the messages that refer to them, made board by board (``include/gossamer/mapper/lists.h``).

The lists are those of ``messages``, byte for byte. They take the memory of the tables and of one board's edges, where
those of ``messages`` take 150 bytes per edge of the whole graph; but only graphs that never change can use them,
because no index from an edge to its place is kept.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer import native
from gossamer.mapper.layout import Bytes, Layout, Problem
from gossamer.mapper.machine import Machine, Numbers
from gossamer.mapper.messages import Messages
from gossamer.mapper.partition import Mapping


class _Relation(ctypes.Structure):
    _fields_ = [
        ("offsets", ctypes.c_void_p),
        ("targets", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
        ("value_bytes", ctypes.c_uint64),
        ("pin", ctypes.c_uint32),
    ]


class _Mapped(ctypes.Structure):
    _fields_ = [
        ("vertices", ctypes.c_uint64),
        *((name, ctypes.c_void_p) for name in ("order", "begins", "thread", "local")),
        ("relations", ctypes.POINTER(_Relation)),
        *(
            (name, ctypes.c_uint32)
            for name in (
                "relation_count", "pins", "threads", "tile_threads", "state", "offset", "edge", "value", "list",
                "unit", "copied",
            )
        ),
        ("none", ctypes.c_void_p),
        ("multicast", ctypes.c_uint32),
        ("names", ctypes.c_uint32),
    ]  # fmt: skip


class _Lists(ctypes.Structure):
    _fields_ = [
        ("messages", ctypes.c_uint64),
        *(
            (name, ctypes.c_void_p)
            for name in ("slot", "to", "place", "mask", "starts", "data", "own", "edges", "received")
        ),
        ("longest", ctypes.c_uint64),
        ("owned", ctypes.c_uint64),
    ]


class Mapped:
    """A mapped problem as the functions of lists.h read it."""

    def __init__(
        self, problem: Problem, mapping: Mapping, machine: Machine, layout: Layout | None = None, multicast: bool = True
    ) -> None:
        begins = np.concatenate([[0], np.cumsum(mapping.counts)])
        kept: list[NDArray[Any]] = [
            np.ascontiguousarray(array, kind)
            for array, kind in (
                (mapping.order, np.uint32), (begins, np.uint64), (mapping.thread, np.uint32),
                (mapping.local, np.uint32),
            )
        ]  # fmt: skip
        relations = (_Relation * max(1, len(problem.relations)))()
        for slot, one in zip(relations, problem.relations, strict=False):
            offsets, targets = (
                np.ascontiguousarray(one.offsets, np.uint64),
                np.ascontiguousarray(one.targets, np.uint32),
            )
            values = None if one.values is None or not one.values.size else np.ascontiguousarray(one.values)
            kept += [offsets, targets]
            slot.offsets, slot.targets, slot.pin = offsets.ctypes.data, targets.ctypes.data, one.pin
            if values is not None:
                kept.append(values)
                slot.values, slot.value_bytes = values.ctypes.data, values.shape[1]
        none = np.frombuffer(problem.unit + bytes(8), np.uint8)
        self._kept = (kept, none)
        self.struct = _Mapped(
            problem.vertices,
            *(array.ctypes.data for array in kept[:4]),
            relations,
            relation_count=len(problem.relations),
            pins=problem.pins,
            threads=machine.threads,
            tile_threads=machine.tile_threads,
            none=none.ctypes.data,
            multicast=int(multicast),
        )
        if layout is not None:
            for name in ("state", "offset", "edge", "value", "list", "unit"):
                setattr(self.struct, name, getattr(layout, name))
            self.struct.copied = min(layout.edge - layout.value, len(problem.unit))
            self.struct.names = int(layout.names_vertices)


@dataclass
class Block:
    """The lists of one board's threads."""

    starts: Numbers
    """Of each thread, its first byte in ``data``; one more for the end."""
    data: Bytes
    own: NDArray[np.uint32]
    """Of each slot: bytes of the edges to vertices of its own thread."""
    edges: Bytes
    """These edges, one slot after the other."""


class BoardLists:
    """The lists of all boards.

    ``blocks`` has one element per board, ``edges_of`` the number of edges that end at each thread, ``longest`` the
    bytes of the edges of the longest list, ``sends`` the messages, of which ``list`` and ``dest`` are empty; ``to`` is
    the tile or thread that receives each.
    """

    def __init__(
        self,
        problem: Problem,
        mapping: Mapping,
        machine: Machine,
        layout: Layout,
        multicast: bool,
        progress: Callable[[int, int], object] = lambda done, total: None,
    ) -> None:
        mapped = Mapped(problem, mapping, machine, layout, multicast)
        count = machine.board_tiles * machine.tile_threads
        self.blocks: list[Block] = []
        self.longest = 0
        columns: list[list[NDArray[Any]]] = [[], [], [], []]
        received, sizes = [], []
        make, free = native.lib().gs_map_lists_make, native.lib().gs_map_lists_free
        begins = np.concatenate([[0], np.cumsum(mapping.counts)])
        for board in range(machine.boards):
            made = ctypes.POINTER(_Lists)()
            first = board * count
            native.check(make(ctypes.byref(mapped.struct), first, count, 0, ctypes.byref(made)))
            its = made.contents
            slots = int(begins[first + count] - begins[first]) * problem.pins
            starts = _copy(its.starts, count + 1, np.uint64).astype(np.int64)
            self.blocks.append(
                Block(
                    starts,
                    _copy(its.data, int(starts[-1]), np.uint8),
                    _copy(its.own, slots, np.uint32),
                    _copy(its.edges, its.owned, np.uint8),
                )
            )
            for column, address, kind in zip(
                columns, (its.slot, its.to, its.place, its.mask), (np.uint32,) * 3 + (np.uint64,), strict=True
            ):
                column.append(_copy(address, its.messages, kind))
            received.append(_copy(its.received, count, np.uint64).astype(np.int64))
            sizes.append(np.diff(starts))
            self.longest = max(self.longest, int(its.longest))
            free(made)
            progress(board + 1, machine.boards)
        slot, to, place, mask = (np.concatenate(column) for column in columns)
        self.to = to
        self.edges_of = np.concatenate(received)
        bytes_of, none = np.concatenate(sizes), np.zeros(machine.threads, np.int64)
        self.sends = Messages(
            slot=slot,
            dest=none[:0],
            list=none[:0],
            named=np.zeros(0, bool) if multicast else mask.astype(bool),
            place=place,
            keys_of=bytes_of if multicast else none,
            edges_of=none if multicast else bytes_of,
            mask=mask,
            sender=none[:0],
            tile=to if multicast else none[:0],
        )

    @property
    def own(self) -> NDArray[np.uint32]:
        """Of each slot: bytes of the edges to vertices of its own thread."""
        return np.concatenate([block.own for block in self.blocks])


def put(data: Bytes, at: Numbers, rows: Bytes) -> None:
    """Writes rows of bytes at the positions ``at``."""
    width = rows.shape[1]
    at, rows = np.ascontiguousarray(at, np.int64), np.ascontiguousarray(rows)
    assert data.flags.c_contiguous
    assert not len(at) or (int(at.min()) >= 0 and int(at.max()) + width <= len(data))
    native.lib().gs_map_put(
        ctypes.c_void_p(data.ctypes.data),
        ctypes.c_uint64(len(at)),
        ctypes.c_uint64(width),
        ctypes.c_void_p(at.ctypes.data),
        ctypes.c_void_p(rows.ctypes.data),
    )


def _copy(address: int | None, count: int, kind: type[Any]) -> NDArray[Any]:
    if not count or not address:
        return np.zeros(count, kind)
    held = (ctypes.c_uint8 * (count * np.dtype(kind).itemsize)).from_address(address)
    found: NDArray[Any] = np.ctypeslib.as_array(held).view(kind).copy()
    return found


__all__ = ["Block", "BoardLists", "Mapped", "put"]
