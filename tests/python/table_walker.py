# SPDX-License-Identifier: Apache-2.0
"""A walker over the mapper's tables, which reads them as bytes and shares no code with the mapper.

It does what threads and multicast routers would: from each vertex's list to the messages, from each routing key to the
records on every board that the message comes to, from each message's key to the edges at every receiver. Every edge of
the graph must be reached exactly once, with its own value.
"""

from __future__ import annotations

import random
import struct
from collections import Counter
from collections.abc import Iterator

import numpy as np

from gossamer import mapper, routes
from gossamer.mapper.outcome import HEADER_BYTES

Edge = tuple[int, int, int, bytes]
"""Source, pin, target, value."""
BASE = 0x4000_0000
LAYOUT = mapper.Layout(
    state=8,
    flags=2,
    offset=2,
    edge=2,
    value=0,
    align=2,
    list=2,
    header=HEADER_BYTES,
    label=0,
    label_align=1,
    message=4,
    own=0,
    note=0,
)
VALUED = mapper.Layout(
    state=12,
    flags=3,
    offset=2,
    edge=8,
    value=4,
    align=4,
    list=4,
    header=HEADER_BYTES,
    label=4,
    label_align=4,
    message=4,
    own=0,
    note=0,
)
WIDE = mapper.Layout(
    state=16,
    flags=2,
    offset=4,
    edge=16,
    value=8,
    align=8,
    list=8,
    header=HEADER_BYTES,
    label=8,
    label_align=8,
    message=4,
    own=0,
    note=0,
)


def problem(source: random.Random, vertices: int, edges: int, pins: int, layout: mapper.Layout) -> mapper.Problem:
    """Random edges with hubs, each with its own value, on several pins; a pin may have two relations."""
    size = layout.edge - layout.value if layout.value else 0
    hubs = [source.randrange(vertices) for _ in range(3)]

    def relation(pin: int) -> mapper.Relation:
        ends = sorted(
            (source.choice(hubs) if source.random() < 0.2 else source.randrange(vertices), source.randrange(vertices))
            for _ in range(edges)
        )
        offsets = np.searchsorted([a for a, _ in ends], np.arange(vertices + 1))
        values = np.frombuffer(source.randbytes(len(ends) * size), np.uint8).reshape(len(ends), size) if size else None
        return mapper.Relation(pin, offsets, np.array([b for _, b in ends], np.int64), values)

    relations = [relation(pin) for pin in range(pins)] + ([] if layout.own else [relation(0)])
    states = np.frombuffer(source.randbytes(8 * vertices), np.uint8).reshape(vertices, 8)
    return mapper.Problem(states=states, params=b"params!!", unit=bytes(size), relations=relations)


def edges_of(given: mapper.Problem) -> Counter[Edge]:
    found: Counter[Edge] = Counter()
    for relation in given.relations:
        for vertex in range(given.vertices):
            for edge in range(relation.offsets[vertex], relation.offsets[vertex + 1]):
                value = b"" if relation.values is None else relation.values[edge].tobytes()
                found[vertex, relation.pin, int(relation.targets[edge]), value] += 1
    return found


class Walker:
    """The boards' memories, and a walk over all lists."""

    def __init__(
        self,
        tables: mapper.Tables,
        given: mapper.Problem,
        layout: mapper.Layout,
        multicast: bool,
        topology: routes.Topology | None = None,
        *,
        changing: bool = False,
    ) -> None:
        self.changing = changing
        """The tables are those of a changing graph: lists have their own end, and slots may be empty."""
        self.names = {given.states[v].tobytes(): v for v in range(given.vertices)}
        """Vertices by their states, which are random."""
        self.layout, self.multicast, self.pins = layout, multicast, given.pins
        self.keys: set[tuple[int, int]] = set()
        """Board and routing key of every message that threads send by key."""
        self.crossings = 0
        """Links that copies by key have crossed."""
        self.named = 0
        """Messages whose key is a vertex."""
        self.kinds: Counter[int] = Counter()
        """Records that were followed, by kind."""
        self.far: dict[tuple[int, int], int] = {}
        for cable in topology.cluster.cables if topology else ():
            self.far |= {(cable.a, cable.a_link): cable.b, (cable.b, cable.b_link): cable.a}
        self.config, self.tiles = tables.machine.config, tables.machine.board_tiles
        self.memory: list[dict[int, bytes]] = [{} for _ in range(tables.machine.memories)]
        self.bytes: list[dict[int, int]] = [{} for _ in self.memory]
        for memory, address, data in tables.images(77):
            data += bytes(-len(data) % self.config.cache.line_bytes if changing else 0)  # a host writes whole lines
            for at, byte in enumerate(data, address):
                assert at not in self.bytes[memory], "written twice"
                self.bytes[memory][at] = byte
        self.headers = {}
        words = self.config.threads
        for memory, data in tables.blocks():
            for number, address in enumerate(struct.unpack(f"<{words}I", data)):
                if address:
                    board = memory // self.drams
                    self.headers[board, number] = (memory, address)

    def write(self, memory: int, address: int, data: bytes) -> None:
        """Applies a later write of the host."""
        self.bytes[memory].update(enumerate(data, address))

    @property
    def drams(self) -> int:
        return self.config.memory.dram.count

    def words(self, memory: int, address: int, count: int) -> tuple[int, ...]:
        return struct.unpack(f"<{count}I", self.raw(memory, address, 4 * count))

    def raw(self, memory: int, address: int, size: int) -> bytes:
        return bytes(self.bytes[memory][address + i] for i in range(size))

    def vertices(self) -> Iterator[tuple[int, int, int, int]]:
        """Board, thread, memory and address of every vertex."""
        for (board, number), (memory, header) in self.headers.items():
            count, total, first, flags, _outs, _queue, _params, most, _keys = self.words(memory, header, 9)
            assert total == len(self.names) and most == 77
            for local in range(count):
                if self.changing and self.raw(memory, flags + local * self.layout.flags + 1, 1) == b"\4":
                    continue
                yield board, number, memory, first + local * self.layout.state

    def name(self, memory: int, address: int) -> int:
        """The vertex whose state is at this address."""
        return self.names[self.raw(memory, address, 8)]

    def walk(self) -> Counter[Edge]:
        """Every edge that is reached."""
        # Only the mapping's order assigns vertices to addresses; states are random, so they identify the vertex.
        name_at = {}
        for board, number, memory, address in self.vertices():
            first = self.words(memory, self.headers[board, number][1] + 8, 1)[0]
            name_at[board, number, address - first] = self.name(memory, address)
        assert sorted(name_at.values()) == sorted(self.names.values())
        found: Counter[Edge] = Counter()
        pins, entry_bytes = self.pins, 16 if self.multicast else 8
        for (board, number, offset), sender in name_at.items():
            memory, header = self.headers[board, number]
            (outs,) = self.words(memory, header + 16, 1)
            for pin in range(pins):
                number_of = offset // self.layout.state * pins + pin
                apart = self.changing or self.layout.own > 0
                before = offset // self.layout.state * 4 * self.layout.own
                at, end = self.words(memory, outs + (8 if apart else 4) * number_of + before, 2)
                own = self.number(memory, at)
                reached: list[tuple[int, int, int, int]] = [(board, number, memory, at)] if own else []
                at += self.layout.list + own
                at += -at % max(4, self.layout.align)
                assert at <= end and (end - at) % entry_bytes == 0
                for entry in range(at, end, entry_bytes):
                    reached += self.entry(board, number, memory, entry)
                for there, its, memory_there, edges in reached:
                    for target, value in self.edges(memory_there, edges):
                        found[sender, pin, name_at[there, its, target], value] += 1
        return found

    def own_edges(self) -> Iterator[tuple[int, list[int], list[tuple[int, bytes]], list[tuple[int, bytes]]]]:
        """Each vertex, the targets that its edges name, with values, and the targets that messages reach."""
        name_at = {}
        for board, number, memory, address in self.vertices():
            first = self.words(memory, self.headers[board, number][1] + 8, 1)[0]
            name_at[board, number, address - first] = self.name(memory, address)
        layout, size = self.layout, self.layout.label
        room: dict[tuple[int, int], int] = {}
        """For notes: which vertex has each byte."""
        for (board, number, offset), vertex in name_at.items():
            memory, header = self.headers[board, number]
            (outs,) = self.words(memory, header + 16, 1)
            at = outs + offset // layout.state * 4 * (2 * self.pins + layout.own) + 8 * self.pins
            row, count, *notes = self.words(memory, at, layout.own)
            assert row % 8 == 0
            for note in notes:
                assert note % max(1, layout.note) == 0
                for byte in range(note, note + count * layout.note):
                    assert room.setdefault((memory, byte), vertex) == vertex and byte not in self.bytes[memory]
            shown = [self.words(memory, row + 4 * k, 1)[0] for k in range(count)]
            values = row + 12 * count
            values += -values % layout.label_align
            reached = []
            for k in range(count):
                dest, key = self.words(memory, row + 4 * count + 8 * k, 2)
                there, its = self.thread_of(dest)
                assert key & 1
                base, head = self.headers[there, its]
                keys = self.words(base, head + 32, 1)[0] if self.multicast and (there, its) != (board, number) else 0
                edge = keys + key - 1
                reached.append(
                    (name_at[there, its, self.number(base, edge)], self.raw(base, edge + layout.value, size))
                )
            yield vertex, shown, [(w, self.raw(memory, values + size * k, size)) for k, w in enumerate(shown)], reached

    def thread_of(self, dest: int) -> tuple[int, int]:
        """Board and number there of the thread with an address."""
        config = self.config
        thread_bits, x_bits, y_bits = config.log2_threads_per_tile, config.log2_mesh_width, config.log2_mesh_height
        x = dest >> thread_bits & ((1 << x_bits) - 1)
        y = dest >> (thread_bits + x_bits) & ((1 << y_bits) - 1)
        first = (y * config.mesh.width + x) * config.threads_per_tile
        return dest >> (thread_bits + x_bits + y_bits) & 0xFFF, first + (dest & ((1 << thread_bits) - 1))

    def number(self, memory: int, at: int) -> int:
        """An offset or a length."""
        return int.from_bytes(self.raw(memory, at, self.layout.offset), "little")

    def entry(self, board: int, number: int, memory: int, at: int) -> Iterator[tuple[int, int, int, int]]:
        """Board, thread, memory and list of edges at each receiver of a message."""
        dest, key = self.words(memory, at, 2)
        there, first = self.thread_of(dest)
        if not self.multicast:
            assert dest >> 29 == 0 and (there, first) != (board, number)
            yield there, first, self.headers[there, first][0], key
            return
        low, high = self.words(memory, at + 8, 2)
        if dest == 0:
            assert self.far and high == 0
            self.keys.add((board, low))
            came: set[tuple[int, int, int]] = set()
            for there, first, mask, word in self.expand(board, low, key, came):
                yield from self.masked(there, first, mask, word)
            self.crossings += len(came)
            return
        assert dest >> 29 == 1 and first % self.config.threads_per_tile == 0
        for receiver in self.masked(there, first, high << 32 | low, key):
            assert receiver[:2] != (board, number)
            yield receiver

    def masked(self, board: int, first: int, mask: int, key: int) -> Iterator[tuple[int, int, int, int]]:
        """The receivers of a message to threads of a tile, whose first number is given."""
        assert mask and mask < 1 << self.config.threads_per_tile
        for one in range(self.config.threads_per_tile):
            if mask >> one & 1:
                its, header = self.headers[board, first + one]
                yield board, first + one, its, self.words(its, header + 32, 1)[0] + key

    def expand(
        self, board: int, routing: int, word: int, came: set[tuple[int, int, int]]
    ) -> Iterator[tuple[int, int, int, int]]:
        """Board, first thread of a tile, mask and first word of every copy that threads receive.

        Bits are those of rtl/multicast: a beat is a count of 16 bits and five places of 48, a record's kind its top 3.
        """
        config = self.config
        assert routing & 31, "a key of no beats is to nobody"
        again = None
        for beat in range(routing >> 5, (routing >> 5) + (routing & 31)):
            value = int.from_bytes(self.raw(board * self.drams, 0x4000_0000 + 32 * beat, 32), "little")
            count, places = value & 0xFFFF, [value >> 16 + 48 * place & (1 << 48) - 1 for place in range(5)]
            assert 1 <= count <= 5
            for _ in range(count):
                assert again is None, "records behind an indirection are left out"
                record = places.pop(0)
                kind, y, x = record >> 45, record >> 41 & 15, record >> 37 & 15
                self.kinds[kind] += 1
                first = (y * config.mesh.width + x) * config.threads_per_tile
                if kind == 2:
                    yield board, first, 1 << (record >> 31 & 63), places.pop(0) & 0xFFFF_FFFF
                elif kind == 4:
                    mask = places.pop(0) << 16 | record >> 16 & 0xFFFF
                    yield board, first, mask, word & 0xFFFF_0000 | record & 0xFFFF
                elif kind == 5:
                    hop = board, record >> 41 & 15, record >> 39 & 3
                    assert hop not in came, "a link that one message crosses twice"
                    came.add(hop)
                    yield from self.expand(self.far[hop[:2]], record & 0xFFFF_FFFF, word, came)
                else:
                    assert kind == 6
                    again = record & 0xFFFF_FFFF
        if again is not None:
            yield from self.expand(board, again, word, came)

    def edges(self, memory: int, at: int) -> Iterator[tuple[int, bytes]]:
        if at & 1:
            assert not self.multicast and self.layout.edge == self.layout.offset and not self.layout.own
            assert not self.changing, "a single edge may not be the only one for long"
            self.named += 1
            yield at - 1, b""
            return
        assert at % max(4, self.layout.align) == 0, "lists are read by words"
        edge = at + self.layout.list
        end = edge + self.number(memory, at)
        assert (edge <= end if self.changing else edge < end) and (end - edge) % self.layout.edge == 0
        while edge != end:
            size = self.layout.edge - self.layout.value if self.layout.value else 0
            yield self.number(memory, edge), self.raw(memory, edge + self.layout.value, size) if size else b""
            edge += self.layout.edge
