# SPDX-License-Identifier: Apache-2.0
"""Tables that the threads' softswitch reads: the bytes of each DRAM.

A DRAM contains a sequence of regions. A region contains one part per thread of the DRAM; parts that threads write begin
on a cache line of their own:

    headers | parameters | states | flags | queues | outs | own edges | keys | lists | lists of edges by address

Tables that may change (``patches``) have spare space: each thread has free vertex slots, and all its edge data is in
one contiguous piece, its arena, which also takes a share of the DRAM's remaining space.

States, flags and queues, which threads write, are in the DRAM's SRAM if they fit: they miss the cache most often, and a
DRAM is slow at scattered lines. The host does not initialize flags and queues.
``device/include/gossamer/softswitch.h`` describes each region.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer.mapper.layout import Bytes, Layout, Problem, Relation, up
from gossamer.mapper.lists import BoardLists, put
from gossamer.mapper.machine import Machine, Numbers
from gossamer.mapper.messages import EdgeLists, Messages, to_threads, to_tiles
from gossamer.mapper.multicast_tables import MulticastTables, Network, RemoteMessages
from gossamer.mapper.outcome import INPUT_WORDS, Outcome
from gossamer.mapper.own_edges import OwnEdges
from gossamer.mapper.partition import Mapping
from gossamer.mapper.regions import MemoryRegions

_NO_END = 0xFFFF_FFFF
"""Step limit of a run without a limit."""


class TooWide(Exception):
    """An offset or a length needs more bits than the softswitch was compiled for."""


@dataclass(frozen=True)
class Spare:
    """Spare space for the growth of a graph."""

    least: int = 4
    """Minimum number of free vertex slots per thread; a thread has a quarter of its vertex count if that is more."""
    arena: int = 1 << 40
    """Maximum bytes of a thread's arena; initial content always fits."""

    def slots(self, counts: Numbers) -> Numbers:
        """Vertex slots of each thread."""
        return counts + np.maximum(self.least, counts // 4)


@dataclass(frozen=True)
class _Entries:
    """The entries of all lists, sorted by slot."""

    order: Numbers
    """Of each entry its message: first those with routing keys, then those that are ``masked``."""
    slot: Numbers
    masked: Numbers
    entries_at: Numbers
    """Of each slot: bytes of its list before the first entry."""
    list_at: Numbers
    """Of each slot: bytes of the lists before its own; one more for the end."""
    bytes: int


class Tables:
    """All tables of a problem on a machine. Raises InputError if they do not fit into its memories.

    With ``multicast`` a message is sent to all threads of a tile that have receivers, else to one thread. With a
    ``network`` as well, the boards' multicast routers forward a message with receivers on several tiles of other
    boards, by a key.

    Tables of graphs that do not change are made board by board; ``by_board`` False makes all at once.
    ``progress`` receives the number of finished boards and of all boards.
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
        network: Network | None = None,
        spare: Spare | None = None,
        by_board: bool = True,
        progress: Callable[[int, int], object] = lambda done, total: None,
    ) -> None:
        self.machine, self.layout, self._mapping = machine, layout, mapping
        self._problem, self._spare, self._multicast = problem, spare, multicast
        self._memory_of = machine.memory_of(np.arange(machine.threads))
        counts = mapping.counts
        self.slots = counts if spare is None else spare.slots(counts)
        """Vertex slots of each thread."""
        self._pins = problem.pins
        slots = problem.vertices * problem.pins
        self._by_board: BoardLists | None = None
        if by_board and spare is None and not layout.own and slots < 1 << 32:
            self._by_board = BoardLists(problem, mapping, machine, layout, multicast, progress)
            sends, edges_of, own = self._by_board.sends, self._by_board.edges_of, self._by_board.own.astype(np.int64)
            longest = self._by_board.longest
        else:
            self.lists = lists = EdgeLists(problem, mapping, machine)
            if multicast:
                sends = to_tiles(lists, machine, layout)
            else:
                sends = to_threads(lists, machine, layout, changing=spare is not None)
            edges_of, longest = lists.edges_of, layout.edge * int(lists.sizes.max(initial=0))
            own = np.zeros(slots, np.int64)
            own[lists.slot[lists.own]] = layout.edge * lists.sizes[lists.own]
        self.sends = sends
        masked = np.arange(len(sends.slot))
        """Messages that are sent to their receivers without a routing key."""
        self.multicast_tables: MulticastTables | None = None
        if multicast and network is not None and machine.boards > 1:
            thread_of = mapping.thread[mapping.order]
            masked, self.multicast_tables = _by_key(sends, thread_of[sends.slot // problem.pins], machine, network)
        self.by_mask = np.zeros(len(sends.slot), bool)
        """For each message, whether it is sent without a routing key."""
        self.by_mask[masked] = True
        keyed = np.empty(0, np.int64) if self.multicast_tables is None else self.multicast_tables.sender
        sent = np.concatenate([keyed, sends.slot[masked]])
        self.message_count = len(sent)
        """Messages that threads send when every vertex sends once on every pin."""
        self.balance = float(edges_of.mean() / max(1, edges_of.max()))
        """Mean number of edges of a thread divided by the maximum."""

        # Lists of vertices, packed thread by thread: edges within the thread, then entries.
        entry_bytes = 16 if multicast else 8
        entries = np.bincount(sent, minlength=slots)
        entries_at = up(layout.list + own, layout.unit)
        list_at = np.concatenate([[0], np.cumsum(entries_at + entry_bytes * entries)])
        self._fits(np.append(layout.state * (counts - 1), longest))
        self._vertices_before = np.cumsum(counts) - counts
        lists_before = list_at[self._vertices_before * self._pins]
        lists_of = list_at[(self._vertices_before + counts) * self._pins] - lists_before

        regions = MemoryRegions(machine, base)
        self.headers = regions.region("headers", np.full(machine.threads, layout.header))
        self.params_at = regions.shared("parameters", len(problem.params))
        self.states_at = regions.region("states", layout.state * self.slots, fast=True)
        self.flags_at = regions.region("flags", layout.flags * self.slots, fast=True)
        self.queues_at = regions.region("queues", layout.offset * (self.slots + 1), fast=True)
        outs = self.slots * self._pins
        ends_apart = spare is not None or layout.own > 0
        """Whether each list's end is stored with its address."""
        own_words = 4 * layout.own * self.slots
        self.outs_at = regions.region("outs", 8 * outs + own_words if ends_apart else 4 * (outs + 1))
        self._own = OwnEdges(problem, mapping, layout, regions) if layout.own else None
        if spare is None:
            self._keys = regions.region("keys", sends.keys_of)
            self._lists = regions.region("lists", lists_of)
            self.edges_at = regions.region("edges", sends.edges_of)
        else:
            keys_of = up(sends.keys_of, layout.unit)
            used = keys_of + up(lists_of, layout.unit) + sends.edges_of
            self.arenas, self.arena_bytes = regions.arenas("lists", used, spare.arena)
            self._keys, self._lists = self.arenas, self.arenas + keys_of
            self.edges_at = self._lists + up(lists_of, layout.unit)
            self.arena_used = up(used, layout.unit)
            """Initially used bytes of each arena."""
        regions.check()
        self.outcome = Outcome(
            self._memory_of, self.headers, self.states_at, self.flags_at, self.slots,
            header_bytes=layout.header, state_bytes=layout.state, flag_bytes=layout.flags,
        )  # fmt: skip
        """Addresses of the data that the threads write."""
        self.bytes = regions.used()
        """Used bytes of each DRAM, without spare space."""
        if spare is not None:
            empty = np.bincount(self._memory_of, self.arena_bytes - self.arena_used, minlength=machine.memories)
            self.bytes -= empty.astype(np.int64)

        self._pieces = (
            (self._keys, sends.keys_of),
            (self._lists, lists_of),
            (self.edges_at, sends.edges_of),
        )
        order = np.argsort(sent, kind="stable")
        self._entries = _Entries(order, sent[order], masked, entries_at, list_at, entry_bytes)
        if self._by_board is None:
            self._fill(lists)
        thread_of_slot = np.repeat(mapping.thread[mapping.order], self._pins)
        address = (self._lists - lists_before)[thread_of_slot] + list_at[:-1]
        self.list_address, self._list_ends = address.astype("<u4"), (self._lists + lists_of).astype("<u4")
        self.list_bytes = np.diff(list_at)
        """Bytes of the list of each slot, which is at its ``list_address``."""
        if self._own is not None:
            away = ~lists.own
            edge_list_at = np.empty(len(lists.sizes), np.int64)
            edge_list_at[lists.own] = address[lists.slot[lists.own]]
            tables_at = self._keys if multicast else self.edges_at
            edge_list_at[away] = tables_at[lists.to[away]] + sends.place[sends.list]
            self._own.fill(lists, edge_list_at, tables_at if multicast else np.zeros_like(tables_at), machine)
        held = np.zeros((problem.vertices, layout.state), np.uint8)
        held[:, : problem.states.shape[1]] = problem.states[mapping.order]
        self._held = held

    def _fill(self, lists: EdgeLists) -> None:
        """Writes all edge data into one array: lists of vertices, then tables by key, then lists by address."""
        sends, layout, list_at = self.sends, self.layout, self._entries.list_at
        key_at = int(list_at[-1]) + np.cumsum(sends.keys_of) - sends.keys_of
        edge_at = int(list_at[-1] + sends.keys_of.sum()) + np.cumsum(sends.edges_of) - sends.edges_of
        self._data_at = (key_at, list_at[self._vertices_before * self._pins], edge_at)
        self._data = data = np.zeros(int(list_at[-1] + sends.keys_of.sum() + sends.edges_of.sum()), np.uint8)
        at = np.empty(len(lists.sizes), np.int64)
        at[lists.own] = list_at[lists.slot[lists.own]] + layout.list
        away = ~lists.own
        start = key_at if self._multicast else edge_at
        at[away] = start[lists.to[away]] + sends.place[sends.list] + layout.list
        written = np.ones(len(at), bool)
        written[np.flatnonzero(away)[sends.named]] = False
        self._place_edges(lists, at, written)
        put(data, at[written] - layout.list, self._offsets(layout.edge * lists.sizes[written]))
        self._put_entries(data, 0, len(list_at) - 1)

    def _put_entries(self, data: Bytes, first: int, end: int) -> None:
        """Writes the entries of the slots ``first`` to ``end`` - 1 into their lists; ``data`` begins with the first."""
        its, sends = self._entries, self.sends
        low, high = np.searchsorted(its.slot, (first, end))
        slot, number = its.slot[low:high].astype(np.int64), its.order[low:high]
        new = np.ones(len(slot), bool)
        new[1:] = slot[1:] != slot[:-1]
        within = np.arange(len(slot)) - np.repeat(
            np.flatnonzero(new), np.diff(np.append(np.flatnonzero(new), len(slot)))
        )
        keyed = 0 if self.multicast_tables is None else len(self.multicast_tables.sender)
        rows = np.zeros((len(slot), its.bytes // 4), "<u4")
        by_mask = number >= keyed
        which = its.masked[number[by_mask] - keyed]
        rows[by_mask, 0] = self._destination(which)
        if self._multicast:
            rows[by_mask, 1] = sends.place[which]
            rows[by_mask, 2] = sends.mask[which] & np.uint64(0xFFFF_FFFF)
            rows[by_mask, 3] = sends.mask[which] >> np.uint64(32)
        else:
            rows[by_mask, 1] = self._named_or_placed(which)
        if self.multicast_tables is not None:
            rows[~by_mask, 2] = self.multicast_tables.key[number[~by_mask]]
        at = its.list_at[slot] - its.list_at[first] + its.entries_at[slot] + its.bytes * within
        put(data, at, rows.view(np.uint8))

    def _destination(self, which: Numbers) -> Numbers:
        """The addresses of the tiles or threads that some messages are sent to."""
        if self._by_board is None:
            return self.sends.dest[which]
        to = self._by_board.to[which].astype(np.int64)
        return self.machine.tile_addresses(to) if self._multicast else self.machine.addresses(to)

    def _named_or_placed(self, which: Numbers) -> Numbers:
        """The keys of some messages to threads: the only vertex, or the address of the list."""
        sends = self.sends
        if self._by_board is not None:
            place = sends.place[which].astype(np.int64)
            return np.where(sends.named[which], place, self.edges_at[self._by_board.to[which]] + place)
        away = np.flatnonzero(~self.lists.own)[which]
        vertex = self.layout.state * self._mapping.local[self.lists.target[self.lists.heads[away]]]
        placed = self.edges_at[self.lists.to[away]] + sends.place[which]
        return np.where(sends.named[which], vertex + 1, placed)

    def _fits(self, numbers: Numbers) -> None:
        """Raises TooWide where an offset or length does not fit into its bytes."""
        if numbers.max(initial=0) >> 8 * self.layout.offset:
            raise TooWide

    def _offsets(self, values: Numbers) -> Bytes:
        """A row of bytes for each value."""
        size = self.layout.offset
        return values.astype(f"<u{size}").view(np.uint8).reshape(-1, size)

    def _place_edges(self, lists: EdgeLists, at: Numbers, written: NDArray[np.bool_]) -> None:
        """Writes the edges of all lists that are ``written``: the receiver's offset, and the value."""
        layout, problem = self.layout, self._problem
        within = np.arange(len(lists.target)) - np.repeat(lists.heads, lists.sizes)
        its = np.repeat(written, lists.sizes)
        edge_at = (np.repeat(at, lists.sizes) + layout.edge * within)[its]
        put(self._data, edge_at, self._offsets(layout.state * self._mapping.local[lists.target[its]]))
        size = min(layout.edge - layout.value, len(problem.unit))
        if size and its.any():
            values = [
                one.values[:, :size]
                if one.values is not None
                else np.broadcast_to(np.frombuffer(problem.unit, np.uint8)[:size], (len(one.targets), size))
                for one in problem.relations
            ]
            put(self._data, edge_at + layout.value, np.concatenate(values)[lists.order[its]])

    # ---- Initial memory content ----

    def images(self, most_steps: int = 0) -> Iterator[tuple[int, int, bytes]]:
        """For each DRAM and region its first address and its bytes."""
        for memory in range(self.machine.memories):
            threads = np.flatnonzero(self._memory_of == memory)
            yield memory, *_joined(self.headers, threads, [self._header(t, most_steps) for t in threads.tolist()])
            if self._problem.params:
                yield memory, self.params_at, self._problem.params
            yield memory, *_joined(self.states_at, threads, [self._states_of(t) for t in threads.tolist()])
            yield memory, *_joined(self.outs_at, threads, [self._outs_of(t) for t in threads.tolist()])
            if self._own is not None:
                at = np.cumsum(self._own.bytes) - self._own.bytes
                parts = [self._own.data[at[t] : at[t] + self._own.bytes[t]].tobytes() for t in threads.tolist()]
                yield memory, *_joined(self._own.at, threads, parts)
            if self._spare is not None:
                for thread in threads[self.arena_used[threads] > 0].tolist():
                    yield memory, int(self.arenas[thread]), self._arena(thread)
                continue
            for number, (starts, size) in enumerate(self._pieces):
                data, at = self._piece(number, threads)
                parts = [data[at[t] : at[t] + size[t]].tobytes() for t in threads.tolist()]
                yield memory, *_joined(starts, threads, parts)
        if self.multicast_tables is not None:
            for board, beats in self.multicast_tables.images():
                yield board * (self.machine.memories // self.machine.boards), self.multicast_tables.base, beats

    def _piece(self, number: int, threads: Numbers) -> tuple[Bytes, Numbers]:
        """Bytes that contain a piece of edge data of one DRAM's threads, and where each thread's part begins."""
        if self._by_board is None:
            return self._data, self._data_at[number]
        first, end = int(threads[0]), int(threads[-1]) + 1
        size = self._pieces[number][1][first:end]
        at = np.zeros(self.machine.threads, np.int64)
        if number != 1:
            board = self.machine.board_tiles * self.machine.tile_threads
            block = self._by_board.blocks[first // board]
            at[first:end] = block.starts[first % board : first % board + end - first]
            return block.data, at
        at[first:end] = np.cumsum(size) - size
        return self._lists_of(first, end), at

    def _lists_of(self, first: int, end: int) -> Bytes:
        """The lists of the vertices of the threads ``first`` to ``end`` - 1."""
        assert self._by_board is not None
        layout, its = self.layout, self._entries
        begins = np.append(self._vertices_before, len(self._held)) * self._pins
        low, high = int(begins[first]), int(begins[end])
        base = int(its.list_at[low])
        data = np.zeros(int(its.list_at[high]) - base, np.uint8)
        board = self.machine.board_tiles * self.machine.tile_threads
        block, before = self._by_board.blocks[first // board], int(begins[first // board * board])
        sizes = block.own[low - before : high - before].astype(np.int64)
        some = np.flatnonzero(sizes)
        at = its.list_at[low:high][some] - base
        put(data, at, self._offsets(sizes[some]))
        counts = sizes[some] // layout.edge
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        skipped = int(block.own[: low - before].sum(dtype=np.int64))
        edges = block.edges[skipped : skipped + int(sizes.sum())].reshape(-1, layout.edge)
        put(data, np.repeat(at + layout.list, counts) + layout.edge * within, edges)
        self._put_entries(data, low, high)
        return data

    def forget_edges(self) -> None:
        """Frees what only images() and blocks() need; they must not be called again."""
        if self._by_board is not None:
            self._by_board.blocks.clear()
            self._by_board.sends = self.sends = self._entries = None  # type: ignore[assignment]

    def flags(self, marks: Bytes) -> Iterator[tuple[int, int, bytes]]:
        """For each DRAM the address and content of its vertices' flags, with their marks, before a run resumes."""
        rows = np.zeros((len(marks), self.layout.flags), np.uint8)
        rows[:, 1] = marks[self._mapping.order]
        ends = self._vertices_before + self._mapping.counts
        for memory in range(self.machine.memories):
            threads = np.flatnonzero(self._memory_of == memory)
            parts = [rows[self._vertices_before[t] : ends[t]].tobytes() for t in threads.tolist()]
            yield memory, *_joined(self.flags_at, threads, parts)

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """For each DRAM the header addresses of its threads, by their number on the board."""
        number = self.machine.on_board(np.arange(self.machine.threads))
        for memory in range(self.machine.memories):
            words = np.zeros(self.machine.config.threads, "<u4")
            here = self._memory_of == memory
            words[number[here]] = self.headers[here]
            yield memory, words.tobytes()

    def _header(self, thread: int, most_steps: int) -> bytes:
        regions = (self.states_at, self.flags_at, self.outs_at, self.queues_at)
        places = (int(region[thread]) for region in regions)
        count, keys = int(self._mapping.counts[thread]), int(self._keys[thread])
        most = most_steps or _NO_END
        head = struct.pack(f"<{INPUT_WORDS}I", count, self._problem.vertices, *places, self.params_at, most, keys)
        return head + bytes(self.layout.header - len(head))

    def header_words(self) -> NDArray[np.uint32]:
        """The words of each thread's header that the host writes, without a limit of steps."""
        rows = [np.frombuffer(self._header(t, 0), "<u4", INPUT_WORDS) for t in range(self.machine.threads)]
        return np.array(rows, np.uint32)

    def _arena(self, thread: int) -> bytes:
        """The content of a thread's arena: pieces that share cache lines."""
        held = bytearray(int(self.arena_used[thread]))
        for (starts, size), at in zip(self._pieces, self._data_at, strict=True):
            begin = int(starts[thread] - self.arenas[thread])
            held[begin : begin + int(size[thread])] = self._data[at[thread] : at[thread] + size[thread]].tobytes()
        return bytes(held)

    def _states_of(self, thread: int) -> bytes:
        first = self._vertices_before[thread]
        return self._held[first : first + self._mapping.counts[thread]].tobytes()

    def _outs_of(self, thread: int) -> bytes:
        first, count = self._vertices_before[thread] * self._pins, self._mapping.counts[thread] * self._pins
        if self._spare is not None or self._own is not None:
            begins = self.list_address[first : first + count]
            ends = begins + self.list_bytes[first : first + count].astype("<u4")
            found = np.stack([begins, ends], axis=1)
            if self._own is None:
                return found.tobytes()
            begin, number = self._vertices_before[thread], self._mapping.counts[thread]
            own = self._own.records[begin : begin + number]
            return np.concatenate([found.reshape(number, 2 * self._pins), own], axis=1).tobytes()
        return np.append(self.list_address[first : first + count], self._list_ends[thread]).tobytes()

    def regions(self) -> Iterator[tuple[Numbers, Numbers]]:
        """Address and bytes, by thread: states, headers, addresses of lists, edges of received messages, targets of
        sent messages."""
        yield self.states_at, self.layout.state * self._mapping.counts
        yield self.headers, np.full_like(self.headers, self.layout.header)
        yield self.outs_at, np.array([len(self._outs_of(t)) for t in range(self.machine.threads)])
        (keys, keyed), (lists, listed), (edges, by_address) = self._pieces
        yield (keys, keyed) if self._multicast else (edges, by_address)
        yield lists, listed

    # ---- Results ----

    def own_edges(self, thread: int, local: int) -> int:
        """The number of edges that a vertex can read."""
        assert self._own is not None
        return int(self._own.records[self._vertices_before[thread] + local, 1])

    def states(self, read: Sequence[bytes]) -> Bytes:
        """The final state of each vertex as a row of bytes; ``read`` are the spans of outcome.spans()."""
        size, memories = self._problem.states.shape[1], self.machine.memories
        found = np.empty((self._problem.vertices, size), np.uint8)
        thread = self._mapping.thread
        local = self.states_at[thread] + self.layout.state * self._mapping.local
        for (memory, begin, _), data in list(zip(self.outcome.spans(), read, strict=True))[memories:]:
            here = np.flatnonzero(self._memory_of[thread] == memory)
            at = local[here] - begin
            found[here] = np.frombuffer(data, np.uint8)[at[:, None] + np.arange(size)]
        return found


def _by_key(sends: Messages, sender: Numbers, machine: Machine, network: Network) -> tuple[Numbers, MulticastTables]:
    """The messages without a routing key, and the tables for senders with several messages to other boards.

    ``sender`` is the thread of each message's slot.
    """
    board, its = np.divmod(sends.tile.astype(np.int64), machine.board_tiles)
    source = sender // (machine.board_tiles * machine.tile_threads)
    away = board != source
    many = away & (np.bincount(sends.slot, weights=away)[sends.slot] > 1)
    by = np.flatnonzero(many)
    width = machine.config.mesh.width
    remote = RemoteMessages(
        sender=sends.slot[by].astype(np.int64),
        source=source[by],
        board=board[by],
        column=its[by] % width,
        row=its[by] // width,
        mask=sends.mask[by],
        key=sends.place[by].astype(np.int64),
    )
    return np.flatnonzero(~many), MulticastTables(machine.config, network, remote)


def _joined(starts: Numbers, threads: Numbers, parts: Sequence[bytes]) -> tuple[int, bytes]:
    """The parts of threads as one piece; gaps between parts are zero."""
    begin = int(starts[threads[0]])
    data = bytearray(int(starts[threads[-1]]) - begin + len(parts[-1]))
    for thread, part in zip(threads, parts, strict=True):
        at = int(starts[thread]) - begin
        data[at : at + len(part)] = part
    return begin, bytes(data)


__all__ = ["Layout", "Problem", "Relation", "Tables", "TooWide"]
