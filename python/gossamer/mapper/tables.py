# SPDX-License-Identifier: Apache-2.0
"""What the threads' softswitch reads: for each DRAM the bytes that its threads' blocks are made of.

A DRAM holds region after region, and in each the parts of its threads one after the other, each from a line of its
own where threads write:

    headers | parameters | vertices | queues | tables by key | lists of pins, and lists | edges

Only the queues are not written beforehand. ``device/include/gossamer/softswitch.h`` says what each is made of.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import InputError
from gossamer.mapper import pack
from gossamer.mapper.machine import Machine, Numbers
from gossamer.mapper.partition import Mapping

Bytes = NDArray[np.uint8]
_LIST = 8
"""Bytes of a vertex's list before its entries."""
_RESULTS = ("status", "steps", "sends", "delivered", "host_messages", "wrong_pin", "wrong")
"""Words of a header that the thread writes, behind the seven that are written for it."""


@dataclass(frozen=True)
class Layout:
    """Sizes and offsets in bytes, as the compiler has laid out the softswitch's structs (gossamer_polite_layout)."""

    vertex: int
    state: int
    out: int
    edge: int
    value: int
    list: int
    header: int
    SIZE = 28

    @classmethod
    def read(cls, data: bytes) -> Layout:
        """From the program's constant."""
        return cls(*struct.unpack("<7I", data))


@dataclass(frozen=True)
class Relation:
    """The edges of a pin by source: ``offsets`` has vertices + 1 elements, ``values`` a row of bytes for each edge."""

    pin: int
    offsets: Numbers
    targets: Numbers
    values: Bytes | None


@dataclass(frozen=True)
class Problem:
    """States and wiring. ``states`` has a row of bytes a vertex, ``unit`` is an edge's value where there is none."""

    states: Bytes
    params: bytes
    unit: bytes
    relations: Sequence[Relation]

    @property
    def vertices(self) -> int:
        """In the whole graph."""
        return len(self.states)

    @property
    def pins(self) -> int:
        """At least one."""
        return max([relation.pin + 1 for relation in self.relations], default=1)

    @property
    def edges(self) -> int:
        """Of all pins."""
        return sum(len(relation.targets) for relation in self.relations)

    def ends(self) -> tuple[Numbers, Numbers]:
        """Source and target of every edge, relation by relation."""
        sources = [np.repeat(np.arange(self.vertices), np.diff(one.offsets)) for one in self.relations]
        empty = np.empty(0, np.int64)
        return (
            np.concatenate([empty, *sources]),
            np.concatenate([empty, *(one.targets for one in self.relations)]),
        )


class Tables:
    """All tables of a problem on a machine. Raises InputError where they do not fit into its memories.

    With ``multicast`` a message goes to all threads of a tile that have receivers, else to one thread.
    """

    def __init__(
        self,
        problem: Problem,
        mapping: Mapping,
        machine: Machine,
        layout: Layout,
        *,
        base: int,
        multicast: bool = False,
    ) -> None:
        self.machine, self.layout, self._mapping = machine, layout, mapping
        self._problem = problem
        self._memory_of = machine.memory_of(np.arange(machine.threads))
        threads, pins = machine.threads, problem.pins
        lists = _EdgeLists(problem, mapping, machine)
        sends = (_to_tiles if multicast else _to_threads)(lists, machine)
        self.messages = len(sends.slot)
        """Messages that threads exchange when every vertex sends once on every pin."""

        position = np.empty(problem.vertices, np.int64)
        position[mapping.order] = np.arange(problem.vertices)
        slots = problem.vertices * pins

        def slot_of(sender: Numbers) -> Numbers:
            return position[sender // pins] * pins + sender % pins

        entry_bytes = 16 if multicast else 8
        slot = slot_of(sends.slot)
        entries = np.bincount(slot, minlength=slots)
        list_at = np.concatenate([[0], np.cumsum(_LIST + entry_bytes * entries)])
        self._vertices_before = np.cumsum(mapping.counts) - mapping.counts
        lists_before = list_at[self._vertices_before * pins]
        lists_of = list_at[(self._vertices_before + mapping.counts) * pins] - lists_before
        own_table = 4 * pins * mapping.counts if pins > 1 else np.zeros(threads, np.int64)

        places = _Places(machine, base)
        self.headers = places.region("headers", np.full(threads, layout.header))
        self._params = places.shared("parameters", len(problem.params))
        self.vertices = places.region("vertices", layout.vertex * mapping.counts)
        self._queues = places.region("queues", 4 * np.maximum(mapping.counts, 1))
        self._keys = places.region("keys", machine.config.cache.line_bytes * sends.keys_of)
        self._lists = places.region("lists", own_table + lists_of)
        # A list of edges stands in the table by key if it fits there, else behind the others.
        record = machine.config.cache.line_bytes
        sizes = layout.list + layout.edge * lists.sizes
        keyed = np.zeros(len(sizes), bool)
        if multicast:
            keyed = ~lists.own
            key_at = record * sends.key[sends.list]
        inside = keyed & (sizes <= record)
        here = np.flatnonzero(~inside)
        self._edges_size = np.bincount(lists.to[here], weights=sizes[here], minlength=threads).astype(np.int64)
        self._edges = places.region("edges", self._edges_size)
        self.bytes = places.used()
        """Of each DRAM."""
        self._edges_at = np.cumsum(self._edges_size) - self._edges_size
        self._keys_size = record * sends.keys_of
        self._keys_at = np.cumsum(self._keys_size) - self._keys_size + int(self._edges_size.sum())

        # Both in one piece of bytes: lists behind each other, then the tables by key.
        at = np.empty(len(sizes), np.int64)
        at[here] = np.cumsum(sizes[here]) - sizes[here]
        edges_address = np.empty(len(sizes), np.int64)
        edges_address[here] = (self._edges - self._edges_at)[lists.to[here]] + at[here]
        self._edge_bytes = np.zeros(int(self._edges_size.sum() + self._keys_size.sum()), np.uint8)
        if multicast:
            table = self._keys_at[lists.to[keyed]] + key_at
            at[inside] = table[inside[keyed]]
            edges_address[inside] = self._keys[lists.to[inside]] + key_at[inside[keyed]]
            beyond = keyed & ~inside
            _put(self._edge_bytes, table[~inside[keyed]], _words(edges_address[beyond] | 1))
        self._place_edges(lists, at, edges_address)

        # Lists of vertices: two words, then entries.
        words = np.zeros(int(list_at[-1]) // 4, np.uint32)
        here = lists.own
        words[list_at[slot_of(lists.sender[here])] // 4] = edges_address[here]
        words[list_at[:-1] // 4 + 1] = entries
        order = np.argsort(slot, kind="stable")
        before = np.cumsum(entries) - entries
        at = (list_at[slot[order]] + _LIST) // 4 + entry_bytes // 4 * (np.arange(len(order)) - before[slot[order]])
        words[at] = sends.dest[order]
        if multicast:
            words[at + 1] = record * sends.key[order]
            words[at + 2] = sends.mask[order] & np.uint64(0xFFFF_FFFF)
            words[at + 3] = sends.mask[order] >> np.uint64(32)
        else:
            words[at + 1] = edges_address[sends.list[order]]
        self._list_words, self._list_at, self._pins = words, list_at, pins

        # Vertices: state, no pin, the address of their lists.
        thread_of_slot = np.repeat(mapping.thread[mapping.order], pins)
        address = (self._lists + own_table)[thread_of_slot] + list_at[:-1] - lists_before[thread_of_slot]
        self._list_address = address.astype("<u4")
        table = self._lists[mapping.thread] + 4 * pins * mapping.local
        out = address[position] if pins == 1 else table
        held = np.zeros((problem.vertices, layout.vertex), np.uint8)
        size = problem.states.shape[1]
        held[:, layout.state : layout.state + size] = problem.states[mapping.order]
        held[:, layout.out : layout.out + 4] = _words(out[mapping.order])
        self._held = held
        self.balance = float(lists.edges_of.mean() / max(1, lists.edges_of.max()))
        """Edges of the mean thread, in those of the one with most."""

    def _place_edges(self, lists: _EdgeLists, at: Numbers, edges_address: Numbers) -> None:
        """Writes all lists of edges to their places: where each ends, then address and value of each edge."""
        layout, problem, mapping = self.layout, self._problem, self._mapping
        data = self._edge_bytes
        _put(data, at, _words(edges_address + layout.list + layout.edge * lists.sizes))
        within = np.arange(len(lists.target)) - np.repeat(lists.heads, lists.sizes)
        edge_at = np.repeat(at, lists.sizes) + layout.list + layout.edge * within
        local = self.vertices[mapping.thread] + layout.vertex * mapping.local
        _put(data, edge_at, _words(local[lists.target]))
        size = min(layout.edge - layout.value, len(problem.unit))
        if size and len(lists.target):
            values = [
                one.values[:, :size]
                if one.values is not None
                else np.broadcast_to(np.frombuffer(problem.unit, np.uint8)[:size], (len(one.targets), size))
                for one in problem.relations
            ]
            _put(data, edge_at + layout.value, np.concatenate(values)[lists.order])

    # ---- What is written ----

    def images(self, most_steps: int = 0) -> Iterator[tuple[int, int, bytes]]:
        """For each DRAM and region its first address and its bytes."""
        for memory in range(self.machine.memories):
            threads = np.flatnonzero(self._memory_of == memory)
            yield memory, *_joined(self.headers, threads, [self._header(t, most_steps) for t in threads.tolist()])
            if self._problem.params:
                yield memory, self._params, self._problem.params
            for starts, part in (
                (self.vertices, self._vertices_of),
                (self._keys, self._keys_part),
                (self._lists, self._lists_of),
                (self._edges, self._edges_part),
            ):
                yield memory, *_joined(starts, threads, [part(t) for t in threads.tolist()])

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """For each DRAM the addresses of the headers of its board's threads, by their number on the board."""
        number = self.machine.on_board(np.arange(self.machine.threads))
        for memory in range(self.machine.memories):
            words = np.zeros(self.machine.config.threads, "<u4")
            here = self._memory_of == memory
            words[number[here]] = self.headers[here]
            yield memory, words.tobytes()

    def _header(self, thread: int, most_steps: int) -> bytes:
        words = (self._mapping.counts[thread], self._problem.vertices, self.vertices[thread], self._queues[thread])
        head = struct.pack("<7I", *(int(word) for word in words), self._params, most_steps, int(self._keys[thread]))
        return head + bytes(self.layout.header - len(head))

    def _vertices_of(self, thread: int) -> bytes:
        first = self._vertices_before[thread]
        return self._held[first : first + self._mapping.counts[thread]].tobytes()

    def _lists_of(self, thread: int) -> bytes:
        first, count = self._vertices_before[thread] * self._pins, self._mapping.counts[thread] * self._pins
        begin, end = self._list_at[first] // 4, self._list_at[first + count] // 4
        table = self._list_address[first : first + count].tobytes() if self._pins > 1 else b""
        return table + self._list_words[begin:end].tobytes()

    def _edges_part(self, thread: int) -> bytes:
        return self._edge_bytes[self._edges_at[thread] :][: self._edges_size[thread]].tobytes()

    def _keys_part(self, thread: int) -> bytes:
        return self._edge_bytes[self._keys_at[thread] :][: self._keys_size[thread]].tobytes()

    # ---- What is read ----

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """For each DRAM where headers and vertices begin and end: memory, address, bytes."""
        for memory in range(self.machine.memories):
            threads = np.flatnonzero(self._memory_of == memory)
            begin = int(self.headers[threads[0]])
            end = int(self.vertices[threads[-1]] + self.layout.vertex * self._mapping.counts[threads[-1]])
            yield memory, begin, end - begin

    def results(self, memories: Sequence[bytes]) -> dict[str, Numbers]:
        """What the threads have written into their headers, by name, one for each thread."""
        found = {name: np.zeros(self.machine.threads, np.int64) for name in _RESULTS}
        begins = {memory: begin for memory, begin, _ in self.spans()}
        for thread, memory in enumerate(self._memory_of):
            at = int(self.headers[thread]) - begins[int(memory)] + 28
            for name, word in zip(_RESULTS, struct.unpack_from("<7I", memories[int(memory)], at), strict=True):
                found[name][thread] = word
        return found

    def states(self, memories: Sequence[bytes]) -> Bytes:
        """The final state of each vertex, a row of bytes each."""
        size = self._problem.states.shape[1]
        found = np.empty((self._problem.vertices, size), np.uint8)
        mapping, layout = self._mapping, self.layout
        of_vertex = self._memory_of[mapping.thread]
        local = self.vertices[mapping.thread] + layout.vertex * mapping.local
        for memory, begin, _ in self.spans():
            here = np.flatnonzero(of_vertex == memory)
            data = np.frombuffer(memories[memory], np.uint8)
            at = local[here] - begin + layout.state
            found[here] = data[at[:, None] + np.arange(size)]
        return found


class _EdgeLists:
    """The lists of edges: one for each sender (vertex and pin) and thread with receivers, sorted by thread and sender.

    By edge: ``target``, and ``order``, its number in the problem. By list: ``heads``, its first edge; ``sizes``, edges;
    ``sender``, vertex * pins + pin; ``to``, the thread; ``own``, whether the sender is on that thread too. By thread:
    ``edges_of``, how many edges end there.
    """

    def __init__(self, problem: Problem, mapping: Mapping, machine: Machine) -> None:
        pins = problem.pins
        source, target = problem.ends()
        pin = np.concatenate(
            [np.empty(0, np.int64), *(np.full(len(one.targets), one.pin) for one in problem.relations)]
        )
        to, sender = mapping.thread[target], source * pins + pin
        self.order = np.lexsort((target, sender, to))
        to, sender = to[self.order], sender[self.order]
        self.target = target[self.order]
        first = np.ones(len(to), bool)
        first[1:] = (to[1:] != to[:-1]) | (sender[1:] != sender[:-1])
        self.heads = np.flatnonzero(first)
        self.sender, self.to = sender[self.heads], to[self.heads]
        self.sizes = np.diff(np.append(self.heads, len(to)))
        self.own = mapping.thread[self.sender // pins] == self.to
        self.edges_of = np.bincount(to, minlength=machine.threads)


@dataclass(frozen=True)
class _Sends:
    """Messages between threads."""

    slot: Numbers
    """Sender of each: vertex * pins + pin."""
    dest: Numbers
    """Address of the thread, or of the tile."""
    list: Numbers
    """To threads: the list of edges of each. To tiles: for each list that is reached from elsewhere, its message."""
    keys_of: Numbers
    """Length of each thread's table by key."""
    key: Numbers
    mask: NDArray[np.uint64]


def _to_threads(lists: _EdgeLists, machine: Machine) -> _Sends:
    away = np.flatnonzero(~lists.own)
    none = np.zeros(machine.threads, np.int64)
    empty = np.empty(0, np.int64)
    return _Sends(lists.sender[away], machine.addresses(lists.to[away]), away, none, empty, empty.astype(np.uint64))


def _to_tiles(lists: _EdgeLists, machine: Machine) -> _Sends:
    away = np.flatnonzero(~lists.own)
    sender, to = lists.sender[away], lists.to[away]
    tile, thread = to // machine.tile_threads, to % machine.tile_threads
    order = np.lexsort((sender, tile))
    first = np.ones(len(order), bool)
    first[1:] = (tile[order][1:] != tile[order][:-1]) | (sender[order][1:] != sender[order][:-1])
    message = np.empty(len(order), np.int64)
    message[order] = np.cumsum(first) - 1
    heads = order[first]
    mask = np.zeros(len(heads), np.uint64)
    np.bitwise_or.at(mask, message, np.uint64(1) << thread.astype(np.uint64))
    # Keys are those of a tile; messages are sorted by tile.
    key = np.empty(len(heads), np.int64)
    tiles = tile[heads]
    bounds = np.searchsorted(tiles, np.arange(machine.boards * machine.board_tiles + 1))
    for begin, end in itertools.pairwise(bounds):
        key[begin:end] = pack.keys(mask[begin:end])
    keys_of = np.zeros(machine.threads, np.int64)
    np.maximum.at(keys_of, to, key[message] + 1)
    return _Sends(sender[heads], machine.tile_addresses(tiles), message, keys_of, key, mask)


def _words(values: Numbers) -> Bytes:
    """A row of four bytes for each value."""
    return values.astype("<u4").view(np.uint8).reshape(-1, 4)


def _put(data: Bytes, at: Numbers, rows: Bytes) -> None:
    """Writes rows of bytes at places."""
    data[at[:, None] + np.arange(rows.shape[1])] = rows


class _Places:
    """Addresses in all DRAMs, given out region by region."""

    def __init__(self, machine: Machine, base: int) -> None:
        self._machine = machine
        self._line = machine.config.cache.line_bytes
        self._base = -(-base // self._line) * self._line
        self._next = np.full(machine.memories, self._base, np.int64)
        self._memory = machine.memory_of(np.arange(machine.threads))
        self._sizes: dict[str, Numbers] = {}

    def region(self, name: str, sizes: Numbers) -> Numbers:
        """The address of each thread's part; parts begin with a line."""
        sizes = -(-sizes // self._line) * self._line
        starts = np.empty(len(sizes), np.int64)
        grown = self._next.copy()
        for memory in range(self._machine.memories):
            here = np.flatnonzero(self._memory == memory)
            starts[here] = self._next[memory] + np.cumsum(sizes[here]) - sizes[here]
            grown[memory] += int(sizes[here].sum())
        self._grow(name, grown)
        return starts

    def shared(self, name: str, size: int) -> int:
        """The address of a part that all threads read, the same in every DRAM."""
        start = int(self._next.max())
        self._grow(name, np.full_like(self._next, start + -(-size // self._line) * self._line))
        return start

    def _grow(self, name: str, grown: Numbers) -> None:
        self._sizes[name] = grown - self._next
        self._next = grown
        end = self._machine.memory_end
        if grown.max() > end:
            config = self._machine.config
            room = end - self._base
            sizes = ", ".join(f"{region} {int(size.max()):,}" for region, size in self._sizes.items())
            raise InputError(
                f"{config.name}: a DRAM has room for {room:,} bytes of the graph, but the {name} end at "
                f"{int(grown.max()) - self._base:,} ({sizes}); take a configuration with more memory, or more boards"
            )

    def used(self) -> Numbers:
        """Bytes of each DRAM."""
        return self._next - self._base


def _joined(starts: Numbers, threads: Numbers, parts: Sequence[bytes]) -> tuple[int, bytes]:
    """The parts of threads as one piece, with what lies between them."""
    begin = int(starts[threads[0]])
    data = bytearray(int(starts[threads[-1]]) - begin + len(parts[-1]))
    for thread, part in zip(threads, parts, strict=True):
        at = int(starts[thread]) - begin
        data[at : at + len(part)] = part
    return begin, bytes(data)


__all__ = ["Layout", "Problem", "Relation", "Tables"]
