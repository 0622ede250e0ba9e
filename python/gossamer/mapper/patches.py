# SPDX-License-Identifier: Apache-2.0
"""Tables that change in place: between two parts of a run edges and vertices come and go.

Tables are made with room (``tables.Spare``). From then on a row, that is a vertex and a pin, is compared with what it
is to be, and what differs is written: lists of edges at the receivers, entries at the sender. A list that outgrows its
place moves to one with twice the room that it needs; with a mask, all lists of a tile's message stand at one offset, so
they move together. Records of multicast routers stay as they are: a list that they lead to shrinks in place, and what
does not fit there is reached by a mask beside it.

Where there is no room, ``Full`` is raised, or ``TooWide``: then all tables are to be made anew.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gossamer.mapper.layout import Bytes
from gossamer.mapper.machine import Numbers
from gossamer.mapper.memory import Copy, Room, common
from gossamer.mapper.partition import Mapping as Placed
from gossamer.mapper.tables import Tables, TooWide

STAYS, BEGINS, CHANGED, GONE = 0, 2, 3, 4
"""Marks of vertices: Queued of the softswitch."""

Edge = tuple[int, bytes]
"""Target and value."""


class Full(Exception):
    """A thread has no room for more."""


@dataclass
class _Message:
    """A message of a row: its receivers' lists stand at one offset of their arenas."""

    place: int
    rooms: dict[int, int]
    """Bytes of the place, by thread."""


@dataclass
class _Row:
    """The messages of a vertex on a pin, and where its own list is in its thread's arena."""

    place: int
    room: int
    by_key: int
    """Key of the router that all messages in ``fixed`` go by; 0: there is none."""
    fixed: list[_Message]
    messages: dict[int, _Message]
    """By tile, or by thread where there are no masks."""
    counts: dict[int, int]
    """Edges by the thread that they lead to."""


class Patches:
    """Tables, and what has become of them.

    ``there`` are the vertices, ascending, that the tables' problem numbers from 0; ``most`` as of ``Tables.images``.
    """

    def __init__(
        self, tables: Tables, placed: Placed, there: Numbers, *, multicast: bool, pins: int, most: int = 0
    ) -> None:
        self.tables, self._pins, self._multicast = tables, pins, multicast
        self.layout, self.machine = tables.layout, tables.machine
        self.memory_of = self.machine.memory_of(np.arange(self.machine.threads)).tolist()
        self.copy = Copy(self.machine.memories, self.machine.config.cache.line_bytes)
        for memory, address, data in tables.images(most):
            self.copy.put(memory, address, data)
        size = int(there[-1]) + 1 if len(there) else 0
        self.thread, self.local = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
        """Of each vertex; -1: it is not there."""
        self.thread[there], self.local[there] = placed.thread, placed.local
        order = there[placed.order]
        ends = np.cumsum(placed.counts)
        self.vertices = [order[end - count : end].tolist() for end, count in zip(ends, placed.counts, strict=True)]
        """Of each thread, in their places; -1 where one is empty."""
        self._marked = set[int]()
        self._load = (tables.lists.edges_of + placed.counts).tolist()
        self.edges = int(tables.lists.edges_of.sum())
        """In all rows."""
        self.rooms = [Room(int(used), tables.arena_bytes) for used in tables.arena_used]
        self._rows: dict[tuple[int, int], _Row] = {}
        self._first = _First(tables, placed, there, pins, multicast)

    # ---- Vertices ----

    def count(self) -> int:
        """Vertices that are there."""
        return int((self.thread >= 0).sum())

    def drop(self, vertex: int) -> None:
        """Removes a vertex; the rows of others that lead to it change with them."""
        if vertex >= len(self.thread) or self.thread[vertex] < 0:
            return
        for pin in range(self._pins):
            self.change(vertex, pin, ())
            row = self._row(vertex, pin)
            self.rooms[self.thread[vertex]].give(row.place, row.room)
            for message in row.fixed:  # nobody sends that key any more
                self._free(message)
            del self._rows[vertex, pin]
        thread, local = int(self.thread[vertex]), int(self.local[vertex])
        self.vertices[thread][local] = -1
        self._flag(thread, local, GONE)
        self._load[thread] -= 1
        self.thread[vertex] = self.local[vertex] = -1
        self._marked.discard(vertex)

    def add(self, vertex: int, neighbours: Iterable[int]) -> None:
        """Puts a new vertex on the thread of its neighbours that has the least to do, or else on the one of all."""
        if vertex >= len(self.thread):
            more = np.full(max(vertex + 1, 2 * len(self.thread)) - len(self.thread), -1, np.int64)
            self.thread, self.local = np.append(self.thread, more), np.append(self.local, more)
        near = {int(self.thread[v]) for v in neighbours if v < len(self.thread)} - {-1}
        for threads in (near, range(self.machine.threads)):
            free = [t for t in threads if -1 in self.vertices[t] or len(self.vertices[t]) < self.tables.places[t]]
            if free:
                break
        else:
            raise Full
        thread = min(free, key=lambda t: (self._load[t], t))
        its = self.vertices[thread]
        local = its.index(-1) if -1 in its else len(its)
        if self.layout.state * local >> 8 * self.layout.offset:
            raise TooWide
        if local == len(its):
            its.append(vertex)
            self.copy.poke(self.memory_of[thread], int(self.tables.headers[thread]), len(its).to_bytes(4, "little"))
        its[local] = vertex
        self.thread[vertex], self.local[vertex] = thread, local
        self._load[thread] += 1
        for pin in range(self._pins):
            size = -(-self.layout.list // self.layout.unit) * self.layout.unit
            row = _Row(self._take(thread, size), size, 0, [], {}, {})
            self._rows[vertex, pin] = row
            self._write_row(vertex, pin, row, b"", b"")

    def clear(self) -> None:
        """Says that the flags of all places are to be written: their memory has anything."""
        for thread, memory in enumerate(self.memory_of):
            size = self.layout.flags * int(self.tables.places[thread])
            self.copy.miss(memory, int(self.tables.flags_at[thread]), size)

    def begin(self, vertices: int, params: bytes, marks: Mapping[int, int]) -> None:
        """What all threads see of the next part, and what it begins with at these vertices."""
        for thread, memory in enumerate(self.memory_of):
            self.copy.poke(memory, int(self.tables.headers[thread]) + 4, vertices.to_bytes(4, "little"))
        for memory in range(self.machine.memories if params else 0):
            self.copy.poke(memory, self.tables.params_at, params)
        for vertex, mark in marks.items():
            self._flag(int(self.thread[vertex]), int(self.local[vertex]), mark)
        self._marked |= marks.keys()

    def _flag(self, thread: int, local: int, mark: int) -> None:
        at = int(self.tables.flags_at[thread]) + self.layout.flags * local
        self.copy.poke(self.memory_of[thread], at, bytes([0, mark]))

    # ---- States ----

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """What is read when a part has ended: memory, address, bytes."""
        return self.tables.outcome.spans()

    def ended(self, read: Sequence[bytes]) -> None:
        """Takes in what threads have written, and that no vertex is marked any more."""
        for (memory, begin, _), data in zip(self.spans(), read, strict=True):
            self.copy.put(memory, begin, data)
        for vertex in self._marked:
            thread, local = int(self.thread[vertex]), int(self.local[vertex])
            at = int(self.tables.flags_at[thread]) + self.layout.flags * local
            self.copy.put(self.memory_of[thread], at, bytes(2))
        self._marked.clear()

    def states(self, size: int) -> tuple[Numbers, Bytes]:
        """The vertices that are there, and a row of bytes for each."""
        there, rows = [], []
        for thread, its in enumerate(self.vertices):
            stride = self.layout.state
            data = self.copy.get(self.memory_of[thread], int(self.tables.states_at[thread]), stride * len(its))
            held = np.frombuffer(data, np.uint8).reshape(len(its), stride)
            vertices = np.array(its, np.int64)
            there.append(vertices[vertices >= 0])
            rows.append(held[vertices >= 0, :size])
        return np.concatenate(there), np.concatenate(rows)

    def set_state(self, vertex: int, state: bytes) -> None:
        """Writes the state that a vertex begins with."""
        thread = int(self.thread[vertex])
        at = int(self.tables.states_at[thread]) + self.layout.state * int(self.local[vertex])
        self.copy.poke(self.memory_of[thread], at, state)

    # ---- Edges ----

    def change(self, vertex: int, pin: int, edges: Sequence[Edge]) -> None:
        """Makes these the edges of a row."""
        thread, row = int(self.thread[vertex]), self._row(vertex, pin)
        wanted = self._lists(edges)
        self._count(row, wanted)
        own = wanted.pop(thread, b"")
        fixed = b""
        for message in row.fixed:
            for to, room in message.rooms.items():
                fits = (room - self.layout.list) // self.layout.edge * self.layout.edge
                data = wanted.pop(to, b"")
                self._write_list(to, message.place, data[:fits])
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
                self._write_list(to, message.place, data)
        entries = [_words(0, 0, row.by_key, 0)] if fixed else []
        entries += [self._entry(group, message) for group, message in sorted(row.messages.items())]
        self._write_row(vertex, pin, row, own, b"".join(entries))

    def _lists(self, edges: Sequence[Edge]) -> dict[int, bytes]:
        """The edges of each thread, as they stand in a list."""
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
        """Gives the lists of a message a place that they have in common: the old one, if that will do."""
        for to in [one for one in message.rooms if one not in lists]:
            self.rooms[to].give(message.place, message.rooms.pop(to))
        new = {to: self._size(len(data)) for to, data in lists.items() if to not in message.rooms}
        stays = bool(message.rooms) and all(self._size(len(lists[to])) <= room for to, room in message.rooms.items())
        if stays and all(self.rooms[to].first(message.place, size) == message.place for to, size in new.items()):
            for to, size in new.items():
                self.rooms[to].take(message.place, size)
            message.rooms |= new
            return
        self._free(message)
        message.rooms = {to: self._size(2 * len(data)) for to, data in lists.items()}
        place = common([(self.rooms[to], size) for to, size in message.rooms.items()])
        if place is None:
            message.rooms = {}
            raise Full
        for to, size in message.rooms.items():
            self.rooms[to].take(place, size)
        message.place = place

    def _free(self, message: _Message) -> None:
        for to, size in message.rooms.items():
            self.rooms[to].give(message.place, size)
        message.rooms = {}

    def _size(self, edges: int) -> int:
        """What a list of so many bytes of edges takes."""
        return -(-(self.layout.list + edges) // self.layout.unit) * self.layout.unit

    def _group(self, thread: int) -> int:
        return thread // self.machine.tile_threads if self._multicast else thread

    def _take(self, thread: int, size: int) -> int:
        place = self.rooms[thread].first(0, size)
        if place is None:
            raise Full
        self.rooms[thread].take(place, size)
        return place

    def _entry(self, group: int, message: _Message) -> bytes:
        one = np.array([group])
        if not self._multicast:
            address = int(self.tables.arenas[group]) + message.place
            return _words(int(self.machine.addresses(one)[0]), address)
        mask = sum(1 << to % self.machine.tile_threads for to in message.rooms)
        return _words(int(self.machine.tile_addresses(one)[0]), message.place, mask & 0xFFFF_FFFF, mask >> 32)

    def _write_list(self, thread: int, place: int, edges: bytes) -> None:
        at = int(self.tables.arenas[thread]) + place
        self.copy.poke(self.memory_of[thread], at, len(edges).to_bytes(self.layout.offset, "little"))
        self.copy.poke(self.memory_of[thread], at + self.layout.list, edges)

    def _write_row(self, vertex: int, pin: int, row: _Row, own: bytes, entries: bytes) -> None:
        """Writes a row's own list: the edges within its thread, then the entries."""
        thread = int(self.thread[vertex])
        head = self._size(len(own))
        size = head + len(entries)
        if size > row.room:
            self.rooms[thread].give(row.place, row.room)
            unit = self.layout.unit
            row.room = -(-2 * size // unit) * unit
            row.place = self._take(thread, row.room)
        self._write_list(thread, row.place, own)
        memory, at = self.memory_of[thread], int(self.tables.arenas[thread]) + row.place
        self.copy.poke(memory, at + head, entries)
        slot = int(self.local[vertex]) * self._pins + pin
        self.copy.poke(memory, int(self.tables.outs_at[thread]) + 8 * slot, _words(at, at + size))

    def _count(self, row: _Row, lists: Mapping[int, bytes]) -> None:
        """Keeps the number of edges of all, and of each thread."""
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
    """Rows as the tables were made."""

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
        """The row of a vertex that was there."""
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
            assert tables.records is not None
            row.by_key = int(tables.records.key[np.searchsorted(tables.records.sender, slot)])
        return row


def _words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


__all__ = ["BEGINS", "CHANGED", "GONE", "STAYS", "Edge", "Full", "Patches"]
