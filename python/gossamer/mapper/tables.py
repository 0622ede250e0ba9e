# SPDX-License-Identifier: Apache-2.0
"""What the threads' softswitch reads: for each DRAM the bytes that its threads' blocks are made of.

A DRAM holds region after region, and in each the parts of its threads one after the other, each from a line of its
own where threads write:

    headers | parameters | states | flags | queues | outs | tables by key | lists | lists of edges by address

States, flags and queues, which threads write, are in the SRAM beside it where they fit: they leave the cache and come
back most often, and a DRAM is slow at lines here and there. Flags and queues are not written beforehand.
``device/include/gossamer/softswitch.h`` says what each is made of.
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
_RESULTS = ("status", "steps", "sends", "delivered", "host_messages", "wrong_pin", "wrong")
"""Words of a header that the thread writes, behind those that are written for it."""
_GIVEN = 9
"""How many those are."""


class TooWide(Exception):
    """An offset or a length needs more bits than the softswitch was compiled with."""


@dataclass(frozen=True)
class Layout:
    """Sizes and offsets in bytes, as the compiler has laid out the softswitch's structs (gossamer_polite_layout)."""

    state: int
    """From state to state."""
    flags: int
    offset: int
    """Bytes of an offset or a length: 2 or 4."""
    edge: int
    value: int
    align: int
    """Of an edge."""
    list: int
    """Bytes before the first edge of a list."""
    header: int
    SIZE = 32

    @classmethod
    def read(cls, data: bytes) -> Layout:
        """From the program's constant."""
        return cls(*struct.unpack("<8I", data))

    @property
    def unit(self) -> int:
        """What lists are aligned to, so that their edges are."""
        return max(4, self.align)


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
        counts = mapping.counts
        lists = _EdgeLists(problem, mapping, machine)
        sends = (_to_tiles if multicast else _to_threads)(lists, machine, layout)
        self.messages = len(sends.slot)
        """Messages that threads exchange when every vertex sends once on every pin."""
        self.balance = float(lists.edges_of.mean() / max(1, lists.edges_of.max()))
        """Edges of the mean thread, in those of the one with most."""

        # The lists of vertices: edges of the thread itself, then entries. They are packed thread by thread.
        self._pins = problem.pins
        slots = problem.vertices * problem.pins
        entry_bytes = 16 if multicast else 8
        entries = np.bincount(sends.slot, minlength=slots)
        own = np.zeros(slots, np.int64)
        own[lists.slot[lists.own]] = layout.edge * lists.sizes[lists.own]
        entries_at = _up(layout.list + own, layout.unit)
        list_at = np.concatenate([[0], np.cumsum(entries_at + entry_bytes * entries)])
        self._fits(np.concatenate([layout.state * (counts - 1), layout.edge * lists.sizes]))
        self._vertices_before = np.cumsum(counts) - counts
        lists_before = list_at[self._vertices_before * self._pins]
        lists_of = list_at[(self._vertices_before + counts) * self._pins] - lists_before

        places = _Places(machine, base)
        self.headers = places.region("headers", np.full(machine.threads, layout.header))
        self._params = places.shared("parameters", len(problem.params))
        self.states_at = places.region("states", layout.state * counts, fast=True)
        self._flags = places.region("flags", layout.flags * counts, fast=True)
        self._queues = places.region("queues", layout.offset * np.maximum(counts, 1), fast=True)
        self._outs = places.region("outs", 4 * (self._pins * counts + 1))
        self._keys = places.region("keys", sends.keys_of)
        self._lists = places.region("lists", lists_of)
        self._edges = places.region("edges", sends.edges_of)
        self.bytes = places.used()
        """Of each DRAM."""

        # Whatever holds edges is one piece of bytes: lists of vertices, then tables by key, then lists by address.
        key_at = int(list_at[-1]) + np.cumsum(sends.keys_of) - sends.keys_of
        edge_at = int(list_at[-1] + sends.keys_of.sum()) + np.cumsum(sends.edges_of) - sends.edges_of
        self._pieces = (
            (self._keys, key_at, sends.keys_of),
            (self._lists, lists_before, lists_of),
            (self._edges, edge_at, sends.edges_of),
        )
        self._data = data = np.zeros(int(list_at[-1] + sends.keys_of.sum() + sends.edges_of.sum()), np.uint8)
        at = np.empty(len(lists.sizes), np.int64)
        at[lists.own] = list_at[lists.slot[lists.own]] + layout.list
        away = ~lists.own
        start = key_at if multicast else edge_at
        at[away] = start[lists.to[away]] + sends.place[sends.list] + layout.list
        self._place_edges(lists, at)
        _put(data, at - layout.list, self._offsets(layout.edge * lists.sizes))

        order = np.argsort(sends.slot, kind="stable")
        slot = sends.slot[order]
        within = np.arange(len(order)) - (np.cumsum(entries) - entries)[slot]
        words = [sends.dest, sends.place if multicast else self._edges[lists.to[away]] + sends.place]
        if multicast:
            words += [sends.mask & np.uint64(0xFFFF_FFFF), sends.mask >> np.uint64(32)]
        rows = np.concatenate([_words(word[order]) for word in words], axis=1)
        _put(data, list_at[slot] + entries_at[slot] + entry_bytes * within, rows)

        thread_of_slot = np.repeat(mapping.thread[mapping.order], self._pins)
        address = (self._lists - lists_before)[thread_of_slot] + list_at[:-1]
        self._list_address, self._list_ends = address.astype("<u4"), (self._lists + lists_of).astype("<u4")
        held = np.zeros((problem.vertices, layout.state), np.uint8)
        held[:, : problem.states.shape[1]] = problem.states[mapping.order]
        self._held = held

    def _fits(self, numbers: Numbers) -> None:
        """Raises TooWide where an offset or length does not fit into its bytes."""
        if numbers.max(initial=0) >> 8 * self.layout.offset:
            raise TooWide

    def _offsets(self, values: Numbers) -> Bytes:
        """A row of bytes for each value."""
        size = self.layout.offset
        return values.astype(f"<u{size}").view(np.uint8).reshape(-1, size)

    def _place_edges(self, lists: _EdgeLists, at: Numbers) -> None:
        """Writes the edges of all lists: the receiver's offset, and the value."""
        layout, problem = self.layout, self._problem
        within = np.arange(len(lists.target)) - np.repeat(lists.heads, lists.sizes)
        edge_at = np.repeat(at, lists.sizes) + layout.edge * within
        _put(self._data, edge_at, self._offsets(layout.state * self._mapping.local[lists.target]))
        size = min(layout.edge - layout.value, len(problem.unit))
        if size and len(lists.target):
            values = [
                one.values[:, :size]
                if one.values is not None
                else np.broadcast_to(np.frombuffer(problem.unit, np.uint8)[:size], (len(one.targets), size))
                for one in problem.relations
            ]
            _put(self._data, edge_at + layout.value, np.concatenate(values)[lists.order])

    # ---- What is written ----

    def images(self, most_steps: int = 0) -> Iterator[tuple[int, int, bytes]]:
        """For each DRAM and region its first address and its bytes."""
        for memory in range(self.machine.memories):
            threads = np.flatnonzero(self._memory_of == memory)
            yield memory, *_joined(self.headers, threads, [self._header(t, most_steps) for t in threads.tolist()])
            if self._problem.params:
                yield memory, self._params, self._problem.params
            yield memory, *_joined(self.states_at, threads, [self._states_of(t) for t in threads.tolist()])
            yield memory, *_joined(self._outs, threads, [self._outs_of(t) for t in threads.tolist()])
            for starts, at, size in self._pieces:
                parts = [self._data[at[t] : at[t] + size[t]].tobytes() for t in threads.tolist()]
                yield memory, *_joined(starts, threads, parts)

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """For each DRAM the addresses of the headers of its board's threads, by their number on the board."""
        number = self.machine.on_board(np.arange(self.machine.threads))
        for memory in range(self.machine.memories):
            words = np.zeros(self.machine.config.threads, "<u4")
            here = self._memory_of == memory
            words[number[here]] = self.headers[here]
            yield memory, words.tobytes()

    def _header(self, thread: int, most_steps: int) -> bytes:
        regions = (self.states_at, self._flags, self._outs, self._queues)
        places = (int(region[thread]) for region in regions)
        count, keys = int(self._mapping.counts[thread]), int(self._keys[thread])
        head = struct.pack("<9I", count, self._problem.vertices, *places, self._params, most_steps, keys)
        return head + bytes(self.layout.header - len(head))

    def _states_of(self, thread: int) -> bytes:
        first = self._vertices_before[thread]
        return self._held[first : first + self._mapping.counts[thread]].tobytes()

    def _outs_of(self, thread: int) -> bytes:
        first, count = self._vertices_before[thread] * self._pins, self._mapping.counts[thread] * self._pins
        return np.append(self._list_address[first : first + count], self._list_ends[thread]).tobytes()

    # ---- What is read ----

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """What results() and states() are made of: memory, address, bytes."""
        last = [np.flatnonzero(self._memory_of == memory)[[0, -1]] for memory in range(self.machine.memories)]
        states_of = self.layout.state * self._mapping.counts
        for starts, sizes in ((self.headers, np.full_like(states_of, self.layout.header)), (self.states_at, states_of)):
            for memory, (one, other) in enumerate(last):
                yield memory, int(starts[one]), int(starts[other] + sizes[other] - starts[one])

    def results(self, read: Sequence[bytes]) -> dict[str, Numbers]:
        """What the threads have written into their headers, by name, one for each thread; from what spans() names."""
        found = {name: np.zeros(self.machine.threads, np.int64) for name in _RESULTS}
        begins = [begin for _, begin, _ in self.spans()]
        for thread, memory in enumerate(self._memory_of.tolist()):
            at = int(self.headers[thread]) - begins[memory] + 4 * _GIVEN
            for name, word in zip(_RESULTS, struct.unpack_from("<7I", read[memory], at), strict=True):
                found[name][thread] = word
        return found

    def aggregates(self, read: Sequence[bytes]) -> tuple[int, ...]:
        """The words that the last step's aggregates have come to, the same for all threads; from what spans() names."""
        begin = 4 * (_GIVEN + len(_RESULTS))
        words = read[0][begin : self.layout.header]
        return struct.unpack(f"<{len(words) // 8}q", words)

    def states(self, read: Sequence[bytes]) -> Bytes:
        """The final state of each vertex, a row of bytes each; from what spans() names."""
        size, memories = self._problem.states.shape[1], self.machine.memories
        found = np.empty((self._problem.vertices, size), np.uint8)
        thread = self._mapping.thread
        local = self.states_at[thread] + self.layout.state * self._mapping.local
        for (memory, begin, _), data in list(zip(self.spans(), read, strict=True))[memories:]:
            here = np.flatnonzero(self._memory_of[thread] == memory)
            at = local[here] - begin
            found[here] = np.frombuffer(data, np.uint8)[at[:, None] + np.arange(size)]
        return found


class _EdgeLists:
    """The lists of edges: one for each slot and thread with receivers, sorted by both.

    A slot is a sender, a vertex and a pin; slots are numbered thread by thread in the order in which vertices stand
    there, which is the one in which they mostly send. By edge: ``target``, and ``order``, its number in the problem.
    By list: ``heads``, its first edge; ``sizes``, edges; ``slot``; ``sender``, the thread of the slot; ``to``, the
    thread; ``own``, whether both are the same. By thread: ``edges_of``, how many edges end there.
    """

    def __init__(self, problem: Problem, mapping: Mapping, machine: Machine) -> None:
        pins = problem.pins
        source, target = problem.ends()
        pin = np.concatenate(
            [np.empty(0, np.int64), *(np.full(len(one.targets), one.pin) for one in problem.relations)]
        )
        position = np.empty(problem.vertices, np.int64)
        position[mapping.order] = np.arange(problem.vertices)
        to, slot = mapping.thread[target], position[source] * pins + pin
        self.order = np.lexsort((mapping.local[target], slot, to))
        to, slot = to[self.order], slot[self.order]
        self.target = target[self.order]
        first = np.ones(len(to), bool)
        first[1:] = (to[1:] != to[:-1]) | (slot[1:] != slot[:-1])
        self.heads = np.flatnonzero(first)
        self.slot, self.to = slot[self.heads], to[self.heads]
        self.sizes = np.diff(np.append(self.heads, len(to)))
        self.sender = mapping.thread[mapping.order[self.slot // pins]]
        self.own = self.sender == self.to
        self.edges_of = np.bincount(to, minlength=machine.threads)

    def bytes(self, layout: Layout, which: Numbers) -> Numbers:
        """What these lists take at their receivers, aligned."""
        return _up(layout.list + layout.edge * self.sizes[which], layout.unit)


@dataclass(frozen=True)
class _Sends:
    """Messages between threads."""

    slot: Numbers
    """Sender of each."""
    dest: Numbers
    """Address of the thread, or of the tile."""
    list: Numbers
    """For each list that is reached from elsewhere, its message."""
    place: Numbers
    """Where each finds its lists: in the tables by key, or among the receiver's lists."""
    keys_of: Numbers
    """Bytes of each thread's table by key."""
    edges_of: Numbers
    """Bytes of each thread's lists by address."""
    mask: NDArray[np.uint64]


def _to_threads(lists: _EdgeLists, machine: Machine, layout: Layout) -> _Sends:
    away = np.flatnonzero(~lists.own)
    slot, to = lists.slot[away], lists.to[away]
    sizes = lists.bytes(layout, away)
    edges_of = np.bincount(to, weights=sizes, minlength=machine.threads).astype(np.int64)
    place = np.cumsum(sizes) - sizes - (np.cumsum(edges_of) - edges_of)[to]
    none = np.zeros(machine.threads, np.int64)
    return _Sends(slot, machine.addresses(to), np.arange(len(away)), place, none, edges_of, np.empty(0, np.uint64))


def _to_tiles(lists: _EdgeLists, machine: Machine, layout: Layout) -> _Sends:
    away = np.flatnonzero(~lists.own)
    slot, to = lists.slot[away], lists.to[away]
    tile, thread = to // machine.tile_threads, to % machine.tile_threads
    sizes = lists.bytes(layout, away)
    order = np.lexsort((slot, tile))
    first = np.ones(len(order), bool)
    first[1:] = (tile[order][1:] != tile[order][:-1]) | (slot[order][1:] != slot[order][:-1])
    message = np.empty(len(order), np.int64)
    message[order] = np.cumsum(first) - 1
    starts = np.flatnonzero(first)
    heads = order[starts]
    mask = np.zeros(len(heads), np.uint64)
    np.bitwise_or.at(mask, message, np.uint64(1) << thread.astype(np.uint64))
    # Keys are those of a tile; messages are sorted by tile, and their lists with them.
    place = np.empty(len(heads), np.int64)
    tiles, lists_at = tile[heads], np.append(starts, len(order))
    bounds = np.searchsorted(tiles, np.arange(machine.boards * machine.board_tiles + 1))
    for begin, end in itertools.pairwise(bounds):
        its = order[lists_at[begin] : lists_at[end]]
        place[begin:end] = layout.unit * pack.places(
            lists_at[begin : end + 1] - lists_at[begin],
            lists.sender[away[heads[begin:end]]],
            thread[its],
            sizes[its] // layout.unit,
        )
    keys_of = np.zeros(machine.threads, np.int64)
    np.maximum.at(keys_of, to, place[message] + sizes)
    return _Sends(slot[heads], machine.tile_addresses(tiles), message, place, keys_of, np.zeros_like(keys_of), mask)


def _up(sizes: Numbers, unit: int) -> Numbers:
    """Rounded up to whole units."""
    return -(-sizes // unit) * unit


def _words(values: Numbers) -> Bytes:
    """A row of four bytes for each value."""
    return values.astype("<u4").view(np.uint8).reshape(-1, 4)


def _put(data: Bytes, at: Numbers, rows: Bytes) -> None:
    """Writes rows of bytes at places."""
    data[at[:, None] + np.arange(rows.shape[1])] = rows


class _Places:
    """Addresses in all DRAMs and the SRAMs beside them, given out region by region."""

    def __init__(self, machine: Machine, base: int) -> None:
        self._machine = machine
        self._line = machine.config.cache.line_bytes
        self._base = -(-base // self._line) * self._line
        self._next = np.full(machine.memories, self._base, np.int64)
        sram, self._sram_end = machine.sram
        self._sram = np.full(machine.memories, sram, np.int64)
        self._memory = machine.memory_of(np.arange(machine.threads))
        self._sizes: dict[str, Numbers] = {}

    def region(self, name: str, sizes: Numbers, *, fast: bool = False) -> Numbers:
        """The address of each thread's part; parts begin with a line. Fast ones are in SRAM if it has room."""
        sizes = _up(sizes, self._line)
        if fast:
            starts, grown = self._starts(self._sram, sizes)
            if grown.max() <= self._sram_end:
                self._sram = grown
                return starts
        starts, grown = self._starts(self._next, sizes)
        self._grow(name, grown)
        return starts

    def _starts(self, begins: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
        """Threads' parts behind each other from where each memory begins, and where they end there."""
        starts, grown = np.empty(len(sizes), np.int64), begins.copy()
        for memory in range(self._machine.memories):
            here = np.flatnonzero(self._memory == memory)
            starts[here] = begins[memory] + np.cumsum(sizes[here]) - sizes[here]
            grown[memory] += int(sizes[here].sum())
        return starts, grown

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


__all__ = ["Layout", "Problem", "Relation", "Tables", "TooWide"]
