# SPDX-License-Identifier: Apache-2.0
"""What the threads' softswitch reads: for each DRAM the bytes that its threads' blocks are made of.

A DRAM holds region after region, and in each the parts of its threads one after the other, each from a line of its
own where threads write:

    headers | parameters | vertices | queues | lists of pins, and lists | edges

Only the queues are not written beforehand. ``device/include/gossamer/softswitch.h`` says what each is made of.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import InputError
from gossamer.mapper.machine import Machine, Numbers
from gossamer.mapper.partition import Mapping

Bytes = NDArray[np.uint8]
_LIST, _ENTRY = 8, 8
"""Bytes of a list's head, and of an entry."""
_LAST = 1
_RESULTS = ("status", "steps", "sends", "deliveries", "host_messages", "wrong_pin", "wrong")
"""Words of a header that the thread writes, behind the six that are written for it."""


@dataclass(frozen=True)
class Layout:
    """Sizes and offsets in bytes, as the compiler has laid out the softswitch's structs (gossamer_polite_layout)."""

    vertex: int
    state: int
    out: int
    edge: int
    value: int
    header: int

    @classmethod
    def read(cls, data: bytes) -> Layout:
        """From the program's constant."""
        return cls(*struct.unpack("<6I", data))


@dataclass(frozen=True)
class Relation:
    """The edges of a pin, sorted by source: ``offsets`` has vertices + 1 elements, ``values`` a row of bytes an edge."""

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
    """All tables of a problem on a machine. Raises InputError where they do not fit into its memories."""

    def __init__(self, problem: Problem, mapping: Mapping, machine: Machine, layout: Layout, *, base: int) -> None:
        self.machine, self.layout, self._mapping = machine, layout, mapping
        self._problem = problem
        threads = machine.threads
        source, target = problem.ends()
        pin = np.concatenate(
            [np.empty(0, np.int64), *(np.full(len(one.targets), one.pin) for one in problem.relations)]
        )
        # A message for each vertex, pin and thread that has receivers; edges in the order of who receives them.
        pins = problem.pins
        to = mapping.thread[target]
        sender = source * pins + pin
        order = np.lexsort((target, sender, to))
        to, sender, target = to[order], sender[order], target[order]
        first = np.ones(len(order), bool)
        first[1:] = (to[1:] != to[:-1]) | (sender[1:] != sender[:-1])
        heads = np.flatnonzero(first)
        self.messages = len(heads)
        """Messages of one send by every vertex on every pin, those to vertices of the same thread included."""
        ends = np.bincount(to, minlength=threads)
        edges_before = np.cumsum(ends) - ends

        position = np.empty(problem.vertices, np.int64)
        position[mapping.order] = np.arange(problem.vertices)
        slot = position[sender[heads] // pins] * pins + sender[heads] % pins
        to_self = mapping.thread[sender[heads] // pins] == to[heads]
        away = np.bincount(slot[~to_self], minlength=problem.vertices * pins)
        list_bytes = _LIST + _ENTRY * away
        vertices_before = np.cumsum(mapping.counts) - mapping.counts
        list_at = np.concatenate([[0], np.cumsum(list_bytes)])
        lists_before = list_at[vertices_before * pins]
        lists_of = list_at[(vertices_before + mapping.counts) * pins] - lists_before
        own_table = 4 * pins * mapping.counts if pins > 1 else np.zeros(threads, np.int64)

        places = _Places(machine, base)
        self.headers = places.region("headers", np.full(threads, layout.header))
        self._params = places.shared("parameters", len(problem.params))
        self.vertices = places.region("vertices", layout.vertex * mapping.counts)
        queues = places.region("queues", 4 * np.maximum(mapping.counts, 1))
        self._lists = places.region("lists", own_table + lists_of)
        self._edges = places.region("edges", layout.edge * ends)
        self.bytes = places.used()

        # Addresses: of vertices, of lists by vertex and pin, and of the edges that each message is for.
        local = self.vertices[mapping.thread] + layout.vertex * mapping.local
        thread_of_slot = np.repeat(mapping.thread[mapping.order], pins)
        list_address = (self._lists + own_table)[thread_of_slot] + list_at[:-1] - lists_before[thread_of_slot]
        edges_address = self._edges[to[heads]] + layout.edge * (heads - edges_before[to[heads]])

        # Lists: two words, then an entry for each message that leaves the thread, by receiver.
        words = np.zeros(int(list_at[-1]) // 4, np.uint32)
        words[list_at[slot[to_self]] // 4] = edges_address[to_self]
        words[list_at[:-1] // 4 + 1] = away
        leaving = np.flatnonzero(~to_self)
        leaving = leaving[np.argsort(slot[leaving], kind="stable")]
        entries_before = np.cumsum(away) - away
        at = (list_at[slot[leaving]] + _LIST) // 4 + 2 * (np.arange(len(leaving)) - entries_before[slot[leaving]])
        words[at] = machine.addresses(to[heads[leaving]])
        words[at + 1] = edges_address[leaving]
        self._list_words, self._list_at, self._lists_before = words, list_at, lists_before
        self._own_table, self._pins = own_table, pins

        # Edges: the receiver's address, the last of a message marked, and the value.
        last = np.ones(len(order), np.int64)
        last[:-1] = first[1:]
        rows = np.zeros((len(order), layout.edge), np.uint8)
        rows[:, :4] = (local[target] | last * _LAST).astype("<u4").view(np.uint8).reshape(-1, 4)
        room = layout.edge - layout.value
        if room > 0 and len(order):
            size = min(room, len(problem.unit))
            values = [
                one.values[:, :size]
                if one.values is not None
                else np.broadcast_to(np.frombuffer(problem.unit, np.uint8)[:size], (len(one.targets), size))
                for one in problem.relations
            ]
            rows[:, layout.value : layout.value + size] = np.concatenate(values)[order]
        self._edge_rows, self._edges_before, self._ends = rows, edges_before, ends

        # Vertices: state, no pin, the address of their lists.
        held = np.zeros((problem.vertices, layout.vertex), np.uint8)
        size = problem.states.shape[1]
        held[:, layout.state : layout.state + size] = problem.states[mapping.order]
        table = self._lists[mapping.thread] + 4 * pins * mapping.local
        out = list_address[position] if pins == 1 else table
        held[:, layout.out : layout.out + 4] = out[mapping.order].astype("<u4").view(np.uint8).reshape(-1, 4)
        self._held, self._vertices_before = held, vertices_before
        self._list_address, self._queues = list_address.astype("<u4"), queues
        self._places = places

    # ---- What is written ----

    def images(self, most_steps: int = 0) -> Iterator[tuple[int, int, bytes]]:
        """For each DRAM and region its first address and its bytes."""
        by_memory = self.machine.memory_of(np.arange(self.machine.threads))
        for memory in range(self.machine.memories):
            threads = np.flatnonzero(by_memory == memory)
            yield memory, *_joined(self.headers, threads, [self._header(t, most_steps) for t in threads])
            if self._problem.params:
                yield memory, self._params, self._problem.params
            for starts, part in (
                (self.vertices, self._vertices_of),
                (self._lists, self._lists_of),
                (self._edges, self._edges_of),
            ):
                yield memory, *_joined(starts, threads, [part(t) for t in threads])

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """For each DRAM the addresses of the headers of its board's threads, by their number on the board."""
        everyone = np.arange(self.machine.threads)
        by_memory = self.machine.memory_of(everyone)
        number = self.machine.on_board(everyone)
        for memory in range(self.machine.memories):
            words = np.zeros(self.machine.config.threads, "<u4")
            here = by_memory == memory
            words[number[here]] = self.headers[here]
            yield memory, words.tobytes()

    def _header(self, thread: int, most_steps: int) -> bytes:
        words = (self._mapping.counts[thread], self._problem.vertices, self.vertices[thread], self._queues[thread])
        head = struct.pack("<6I", *(int(word) for word in words), self._params, most_steps)
        return head + bytes(self.layout.header - len(head))

    def _vertices_of(self, thread: int) -> bytes:
        first = self._vertices_before[thread]
        return self._held[first : first + self._mapping.counts[thread]].tobytes()

    def _lists_of(self, thread: int) -> bytes:
        first, count = self._vertices_before[thread] * self._pins, self._mapping.counts[thread] * self._pins
        begin, end = self._list_at[first] // 4, self._list_at[first + count] // 4
        table = self._list_address[first : first + count].tobytes() if self._pins > 1 else b""
        return table + self._list_words[begin:end].tobytes()

    def _edges_of(self, thread: int) -> bytes:
        first = self._edges_before[thread]
        return self._edge_rows[first : first + self._ends[thread]].tobytes()

    # ---- What is read ----

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """For each DRAM where headers and vertices begin and end: memory, address, bytes."""
        by_memory = self.machine.memory_of(np.arange(self.machine.threads))
        for memory in range(self.machine.memories):
            threads = np.flatnonzero(by_memory == memory)
            begin = int(self.headers[threads[0]])
            end = int(self.vertices[threads[-1]] + self.layout.vertex * self._mapping.counts[threads[-1]])
            yield memory, begin, end - begin

    def results(self, memories: Sequence[bytes]) -> dict[str, Numbers]:
        """What the threads have written into their headers, by name, one for each thread."""
        found = {name: np.zeros(self.machine.threads, np.int64) for name in _RESULTS}
        by_memory = self.machine.memory_of(np.arange(self.machine.threads))
        begins = {memory: begin for memory, begin, _ in self.spans()}
        for thread, memory in enumerate(by_memory):
            at = int(self.headers[thread]) - begins[int(memory)] + 24
            for name, word in zip(_RESULTS, struct.unpack_from("<7I", memories[int(memory)], at), strict=True):
                found[name][thread] = word
        return found

    def states(self, memories: Sequence[bytes]) -> Bytes:
        """The final state of each vertex, a row of bytes each."""
        size = self._problem.states.shape[1]
        found = np.empty((self._problem.vertices, size), np.uint8)
        mapping, layout = self._mapping, self.layout
        by_memory = self.machine.memory_of(mapping.thread)
        local = self.vertices[mapping.thread] + layout.vertex * mapping.local
        for memory, begin, _ in self.spans():
            here = np.flatnonzero(by_memory == memory)
            data = np.frombuffer(memories[memory], np.uint8)
            at = local[here] - begin + layout.state
            found[here] = data[at[:, None] + np.arange(size)]
        return found


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
