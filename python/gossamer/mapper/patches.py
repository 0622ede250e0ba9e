# SPDX-License-Identifier: Apache-2.0
"""Incremental updates of tables: edges and vertices are added and removed between two parts of a run.

Tables are built with spare space (``tables.Spare``). An update compares a row, the edges of a vertex on a pin, with its
new edges and writes the differences: lists of edges at the receivers, entries at the sender. A list that outgrows its
block moves to a block of twice the needed size; with a mask, all lists of a tile's message are at one offset, so they
move together. Records of multicast routers never change: a list that they lead to shrinks in place, and edges that no
longer fit there are reached by an additional message with a mask.

If the space does not suffice, a method raises ``OutOfSpace`` or ``TooWide``, and the caller must rebuild all tables.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gossamer.mapper.layout import Bytes
from gossamer.mapper.machine import Numbers
from gossamer.mapper.memory import FreeSpace, MemoryImage, common_offset
from gossamer.mapper.partition import Mapping as Placed
from gossamer.mapper.tables import Tables, TooWide

STAYS, BEGINS, CHANGED, GONE = 0, 2, 3, 4
"""Marks of vertices: Queued of the softswitch."""

Edge = tuple[int, bytes]
"""Target and value."""


class OutOfSpace(Exception):
    """A thread has no free vertex slot, or no free block of the needed size."""


@dataclass
class _Message:
    """A message of a row; its lists are at the same offset in the arenas of all receivers."""

    offset: int
    sizes: dict[int, int]
    """Bytes of the block, by thread."""


@dataclass
class _Row:
    """The messages of a vertex on a pin, and the block of its own list in its thread's arena."""

    offset: int
    size: int
    key: int
    """Routing key of all messages in ``fixed``; 0: none."""
    fixed: list[_Message]
    messages: dict[int, _Message]
    """By tile, or by thread if messages have no masks."""
    counts: dict[int, int]
    """Number of edges by target thread."""


class Patches:
    """Tables and their updates.

    ``there`` are the present vertices in ascending order, which the tables' problem numbers from 0; ``most`` is the
    step limit of ``Tables.images``.
    """

    def __init__(
        self, tables: Tables, placed: Placed, there: Numbers, *, multicast: bool, pins: int, most: int = 0
    ) -> None:
        self.tables, self._pins, self._multicast = tables, pins, multicast
        self.layout, self.machine = tables.layout, tables.machine
        self.memory_of = self.machine.memory_of(np.arange(self.machine.threads)).tolist()
        self.memory = MemoryImage(self.machine.memories, self.machine.config.cache.line_bytes)
        for memory, address, data in tables.images(most):
            self.memory.load(memory, address, data)
        size = int(there[-1]) + 1 if len(there) else 0
        self.thread, self.local = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
        """Thread and slot of each vertex; -1 if the vertex is not present."""
        self.thread[there], self.local[there] = placed.thread, placed.local
        order = there[placed.order]
        ends = np.cumsum(placed.counts)
        self.vertices = [order[end - count : end].tolist() for end, count in zip(ends, placed.counts, strict=True)]
        """The vertex in each slot of each thread; -1 for an empty slot."""
        self._marked = set[int]()
        self._load = (tables.lists.edges_of + placed.counts).tolist()
        self.edges = int(tables.lists.edges_of.sum())
        """Number of edges in all rows."""
        self.free = [FreeSpace(int(used), tables.arena_bytes) for used in tables.arena_used]
        self._rows: dict[tuple[int, int], _Row] = {}
        self._first = _First(tables, placed, there, pins, multicast)

    # ---- Vertices ----

    def count(self) -> int:
        """Number of present vertices."""
        return int((self.thread >= 0).sum())

    def drop(self, vertex: int) -> None:
        """Removes a vertex. The caller changes the rows of other vertices that have edges to it."""
        if vertex >= len(self.thread) or self.thread[vertex] < 0:
            return
        for pin in range(self._pins):
            self.change(vertex, pin, ())
            row = self._row(vertex, pin)
            self.free[self.thread[vertex]].release(row.offset, row.size)
            for message in row.fixed:  # no vertex sends that key any more
                self._free(message)
            del self._rows[vertex, pin]
        thread, local = int(self.thread[vertex]), int(self.local[vertex])
        self.vertices[thread][local] = -1
        self._flag(thread, local, GONE)
        self._load[thread] -= 1
        self.thread[vertex] = self.local[vertex] = -1
        self._marked.discard(vertex)

    def add(self, vertex: int, neighbours: Iterable[int]) -> None:
        """Adds a vertex to the least loaded thread of its neighbours that has a free slot, else of all threads."""
        if vertex >= len(self.thread):
            more = np.full(max(vertex + 1, 2 * len(self.thread)) - len(self.thread), -1, np.int64)
            self.thread, self.local = np.append(self.thread, more), np.append(self.local, more)
        near = {int(self.thread[v]) for v in neighbours if v < len(self.thread)} - {-1}
        for threads in (near, range(self.machine.threads)):
            free = [t for t in threads if -1 in self.vertices[t] or len(self.vertices[t]) < self.tables.slots[t]]
            if free:
                break
        else:
            raise OutOfSpace
        thread = min(free, key=lambda t: (self._load[t], t))
        its = self.vertices[thread]
        local = its.index(-1) if -1 in its else len(its)
        if self.layout.state * local >> 8 * self.layout.offset:
            raise TooWide
        if local == len(its):
            its.append(vertex)
            self.memory.write(self.memory_of[thread], int(self.tables.headers[thread]), len(its).to_bytes(4, "little"))
        its[local] = vertex
        self.thread[vertex], self.local[vertex] = thread, local
        self._load[thread] += 1
        for pin in range(self._pins):
            size = -(-self.layout.list // self.layout.unit) * self.layout.unit
            row = _Row(self._take(thread, size), size, 0, [], {}, {})
            self._rows[vertex, pin] = row
            self._write_row(vertex, pin, row, b"", b"")

    def clear(self) -> None:
        """Marks the flags of all slots as dirty: their memory is uninitialized."""
        for thread, memory in enumerate(self.memory_of):
            size = self.layout.flags * int(self.tables.slots[thread])
            self.memory.mark_dirty(memory, int(self.tables.flags_at[thread]), size)

    def begin(self, vertices: int, params: bytes, marks: Mapping[int, int]) -> None:
        """Sets the vertex count and parameters of the next part, and the marks of vertices."""
        for thread, memory in enumerate(self.memory_of):
            self.memory.write(memory, int(self.tables.headers[thread]) + 4, vertices.to_bytes(4, "little"))
        for memory in range(self.machine.memories if params else 0):
            self.memory.write(memory, self.tables.params_at, params)
        for vertex, mark in marks.items():
            self._flag(int(self.thread[vertex]), int(self.local[vertex]), mark)
        self._marked |= marks.keys()

    def _flag(self, thread: int, local: int, mark: int) -> None:
        at = int(self.tables.flags_at[thread]) + self.layout.flags * local
        self.memory.write(self.memory_of[thread], at, bytes([0, mark]))

    # ---- States ----

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """Spans to read after a part: memory, address, bytes."""
        return self.tables.outcome.spans()

    def ended(self, read: Sequence[bytes]) -> None:
        """Records what threads have written during a part, and clears all marks."""
        for (memory, begin, _), data in zip(self.spans(), read, strict=True):
            self.memory.load(memory, begin, data)
        for vertex in self._marked:
            thread, local = int(self.thread[vertex]), int(self.local[vertex])
            at = int(self.tables.flags_at[thread]) + self.layout.flags * local
            self.memory.load(self.memory_of[thread], at, bytes(2))
        self._marked.clear()

    def states(self, size: int) -> tuple[Numbers, Bytes]:
        """The present vertices, and the state of each as a row of bytes."""
        there, rows = [], []
        for thread, its in enumerate(self.vertices):
            stride = self.layout.state
            data = self.memory.read(self.memory_of[thread], int(self.tables.states_at[thread]), stride * len(its))
            held = np.frombuffer(data, np.uint8).reshape(len(its), stride)
            vertices = np.array(its, np.int64)
            there.append(vertices[vertices >= 0])
            rows.append(held[vertices >= 0, :size])
        return np.concatenate(there), np.concatenate(rows)

    def set_state(self, vertex: int, state: bytes) -> None:
        """Writes the initial state of a vertex."""
        thread = int(self.thread[vertex])
        at = int(self.tables.states_at[thread]) + self.layout.state * int(self.local[vertex])
        self.memory.write(self.memory_of[thread], at, state)

    # ---- Edges ----

    def change(self, vertex: int, pin: int, edges: Sequence[Edge]) -> None:
        """Sets the edges of a row."""
        thread, row = int(self.thread[vertex]), self._row(vertex, pin)
        wanted = self._lists(edges)
        self._count(row, wanted)
        own = wanted.pop(thread, b"")
        fixed = b""
        for message in row.fixed:
            for to, size in message.sizes.items():
                fits = (size - self.layout.list) // self.layout.edge * self.layout.edge
                data = wanted.pop(to, b"")
                self._write_list(to, message.offset, data[:fits])
                fixed = fixed or data
                if data[fits:]:
                    wanted[to] = data[fits:]
        grouped: dict[int, dict[int, bytes]] = {}
        for to, data in wanted.items():
            grouped.setdefault(self._group(to), {})[to] = data
        for group in [one for one in row.messages if one not in grouped]:
            self._free(row.messages.pop(group))
        for group, lists in grouped.items():
            message = row.messages.setdefault(group, _Message(0, {}))
            self._fit(message, lists)
            for to, data in lists.items():
                self._write_list(to, message.offset, data)
        entries = [_words(0, 0, row.key, 0)] if fixed else []
        entries += [self._entry(group, message) for group, message in sorted(row.messages.items())]
        self._write_row(vertex, pin, row, own, b"".join(entries))

    def _lists(self, edges: Sequence[Edge]) -> dict[int, bytes]:
        """The encoded list of edges for each target thread."""
        layout = self.layout
        by_thread: dict[int, list[tuple[int, bytes]]] = {}
        for target, value in edges:
            by_thread.setdefault(int(self.thread[target]), []).append((int(self.local[target]), value))
        found = {}
        for to, its in by_thread.items():
            its.sort(key=lambda edge: edge[0])
            if layout.edge * len(its) >> 8 * layout.offset:
                raise TooWide
            data = bytearray(layout.edge * len(its))
            for number, (local, value) in enumerate(its):
                at = layout.edge * number
                data[at : at + layout.offset] = (layout.state * local).to_bytes(layout.offset, "little")
                size = min(layout.edge - layout.value, len(value))
                if size:
                    data[at + layout.value : at + layout.value + size] = value[:size]
            found[to] = bytes(data)
        return found

    def _fit(self, message: _Message, lists: Mapping[int, bytes]) -> None:
        """Allocates blocks at a common offset for the lists of a message; keeps the old offset if the lists fit."""
        for to in [one for one in message.sizes if one not in lists]:
            self.free[to].release(message.offset, message.sizes.pop(to))
        new = {to: self._size(len(data)) for to, data in lists.items() if to not in message.sizes}
        stays = bool(message.sizes) and all(self._size(len(lists[to])) <= size for to, size in message.sizes.items())
        if stays and all(self.free[to].first_fit(message.offset, size) == message.offset for to, size in new.items()):
            for to, size in new.items():
                self.free[to].allocate(message.offset, size)
            message.sizes |= new
            return
        self._free(message)
        message.sizes = {to: self._size(2 * len(data)) for to, data in lists.items()}
        place = common_offset([(self.free[to], size) for to, size in message.sizes.items()])
        if place is None:
            message.sizes = {}
            raise OutOfSpace
        for to, size in message.sizes.items():
            self.free[to].allocate(place, size)
        message.offset = place

    def _free(self, message: _Message) -> None:
        for to, size in message.sizes.items():
            self.free[to].release(message.offset, size)
        message.sizes = {}

    def _size(self, edges: int) -> int:
        """Bytes of a list with ``edges`` bytes of edges."""
        return -(-(self.layout.list + edges) // self.layout.unit) * self.layout.unit

    def _group(self, thread: int) -> int:
        return thread // self.machine.tile_threads if self._multicast else thread

    def _take(self, thread: int, size: int) -> int:
        place = self.free[thread].first_fit(0, size)
        if place is None:
            raise OutOfSpace
        self.free[thread].allocate(place, size)
        return place

    def _entry(self, group: int, message: _Message) -> bytes:
        one = np.array([group])
        if not self._multicast:
            address = int(self.tables.arenas[group]) + message.offset
            return _words(int(self.machine.addresses(one)[0]), address)
        mask = sum(1 << to % self.machine.tile_threads for to in message.sizes)
        return _words(int(self.machine.tile_addresses(one)[0]), message.offset, mask & 0xFFFF_FFFF, mask >> 32)

    def _write_list(self, thread: int, place: int, edges: bytes) -> None:
        at = int(self.tables.arenas[thread]) + place
        self.memory.write(self.memory_of[thread], at, len(edges).to_bytes(self.layout.offset, "little"))
        self.memory.write(self.memory_of[thread], at + self.layout.list, edges)

    def _write_row(self, vertex: int, pin: int, row: _Row, own: bytes, entries: bytes) -> None:
        """Writes a row's own list, with the edges within its thread, followed by its entries."""
        thread = int(self.thread[vertex])
        head = self._size(len(own))
        size = head + len(entries)
        if size > row.size:
            self.free[thread].release(row.offset, row.size)
            unit = self.layout.unit
            row.size = -(-2 * size // unit) * unit
            row.offset = self._take(thread, row.size)
        self._write_list(thread, row.offset, own)
        memory, at = self.memory_of[thread], int(self.tables.arenas[thread]) + row.offset
        self.memory.write(memory, at + head, entries)
        slot = int(self.local[vertex]) * self._pins + pin
        self.memory.write(memory, int(self.tables.outs_at[thread]) + 8 * slot, _words(at, at + size))

    def _count(self, row: _Row, lists: Mapping[int, bytes]) -> None:
        """Updates the number of edges in total and per thread."""
        counts = {to: len(data) // self.layout.edge for to, data in lists.items()}
        for sign, some in ((-1, row.counts), (1, counts)):
            self.edges += sign * sum(some.values())
            for to, count in some.items():
                self._load[to] += sign * count
        row.counts = counts

    def _row(self, vertex: int, pin: int) -> _Row:
        row = self._rows.get((vertex, pin))
        if row is None:
            row = self._rows[vertex, pin] = self._first.row(vertex, pin)
        return row


class _First:
    """The rows of tables as they were built."""

    def __init__(self, tables: Tables, placed: Placed, there: Numbers, pins: int, multicast: bool) -> None:
        sends, lists = tables.sends, tables.lists
        self._tables, self._there, self._pins, self._multicast = tables, there, pins, multicast
        self._position = np.empty(len(there), np.int64)
        self._position[placed.order] = np.arange(len(there))
        self._of_slot = np.argsort(sends.slot, kind="stable")  # messages
        self._slots = sends.slot[self._of_slot]
        away = np.flatnonzero(~lists.own)
        self._of_message = away[np.argsort(sends.list, kind="stable")]  # lists
        self._messages = np.sort(sends.list)
        by_slot = np.argsort(lists.slot, kind="stable")
        self._lists_of_slot, self._slots_of_lists = by_slot, lists.slot[by_slot]
        self._thread = placed.thread

    def row(self, vertex: int, pin: int) -> _Row:
        """The row of a vertex that was present when the tables were built."""
        tables, lists = self._tables, self._tables.lists
        number = int(np.searchsorted(self._there, vertex))
        slot = int(self._position[number]) * self._pins + pin
        thread = int(self._thread[number])
        place = int(tables.list_address[slot]) - int(tables.arenas[thread])
        row = _Row(place, int(tables.list_bytes[slot]), 0, [], {}, {})
        for one in self._lists_of_slot[slice(*np.searchsorted(self._slots_of_lists, (slot, slot + 1)))].tolist():
            row.counts[int(lists.to[one])] = int(lists.sizes[one])
        for message in self._of_slot[slice(*np.searchsorted(self._slots, (slot, slot + 1)))].tolist():
            its = self._of_message[slice(*np.searchsorted(self._messages, (message, message + 1)))]
            threads = lists.to[its].tolist()
            base = 0 if self._multicast else int(tables.edges_at[threads[0]] - tables.arenas[threads[0]])
            rooms = dict(zip(threads, lists.bytes(tables.layout, its).tolist(), strict=True))
            found = _Message(base + int(tables.sends.place[message]), rooms)
            if tables.by_mask[message]:
                group = threads[0] // tables.machine.tile_threads if self._multicast else threads[0]
                row.messages[group] = found
            else:
                row.fixed.append(found)
        if row.fixed:
            assert tables.multicast_tables is not None
            row.key = int(tables.multicast_tables.key[np.searchsorted(tables.multicast_tables.sender, slot)])
        return row


def _words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


__all__ = ["BEGINS", "CHANGED", "GONE", "STAYS", "Edge", "OutOfSpace", "Patches"]
