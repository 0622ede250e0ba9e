# SPDX-License-Identifier: Apache-2.0
"""Incremental updates of tables: after every change the walker reaches every edge of the graph exactly once.

It reads only the bytes that a host would have written: the lines that ``MemoryImage.take_dirty`` returned.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from conftest import Size
from python.routes import network
from python.table_walker import BASE, LAYOUT, VALUED, WIDE, Edge, Walker, edges_of, problem

import gossamer_setup
from gossamer import config as configs
from gossamer import mapper, routes
from gossamer.mapper import patches
from gossamer.mapper.memory import FreeSpace, MemoryImage, common_offset


@pytest.fixture(scope="module", autouse=True)
def partitioner() -> None:
    gossamer_setup.require("rtl")


class Changing:
    """A random graph, its tables, and the memories that a host has written."""

    def __init__(
        self,
        source: random.Random,
        machine: mapper.Machine,
        layout: mapper.Layout,
        multicast: bool,
        wiring: routes.Topology | None = None,
        spare: mapper.Spare | None = None,
        vertices: int = 60,
    ) -> None:
        self.source, self.layout = source, layout
        given = problem(source, vertices, 4 * vertices, source.randint(1, 2), layout)
        self.pins = given.pins
        # A pin may have two relations, which are one row for the walker.
        self.edges = list(edges_of(given).elements())
        self.there = list(range(vertices))
        self.next = vertices
        over = None
        if wiring is not None:
            cables = wiring.cluster.cables
            plugged = {(c.a, c.a_link): c.a_link for c in cables} | {(c.b, c.b_link): c.b_link for c in cables}
            made = routes.generate(wiring).tables
            over = mapper.Network(wiring, made, lambda board, link: plugged[board, link])
        placed = mapper.assign(vertices, *given.ends(), machine, method="random", seed=source.randrange(1000))
        spare = spare or mapper.Spare()
        self.tables = mapper.Tables(
            given, placed, machine, layout, base=BASE + 100, multicast=multicast, network=over, spare=spare
        )
        self.walker = Walker(self.tables, given, layout, multicast, wiring, changing=True)
        there = np.arange(vertices)
        self.patches = mapper.Patches(self.tables, placed, there, multicast=multicast, pins=self.pins, most=77)
        self.patches.clear()
        self.patches.begin(vertices, b"params!!", dict.fromkeys(self.there, patches.BEGINS))
        self.moved = set[int]()
        self.gaps: list[int] = []

    def add_edges(self, count: int) -> None:
        size = self.layout.edge - self.layout.value if self.layout.value else 0
        hub = self.there[0]
        for _ in range(count):
            start = hub if self.source.random() < 0.3 else self.source.choice(self.there)
            edge = start, self.source.randrange(self.pins), self.source.choice(self.there), self.source.randbytes(size)
            self.edges.append(edge)
            self.moved |= {edge[0], edge[2]}

    def remove_edges(self, share: float) -> None:
        gone = [edge for edge in self.edges if self.source.random() < share]
        self.edges = list((Counter(self.edges) - Counter(gone)).elements())
        self.moved |= {vertex for edge in gone for vertex in (edge[0], edge[2])}

    def add_vertices(self, count: int) -> list[int]:
        new = list(range(self.next, self.next + count))
        self.next += count
        self.there += new
        return new

    def remove_vertices(self, count: int) -> list[int]:
        gone = self.source.sample(self.there[1:], min(count, len(self.there) - 2))
        self.there = [v for v in self.there if v not in gone]
        lost = [edge for edge in self.edges if edge[0] in gone or edge[2] in gone]
        self.edges = [edge for edge in self.edges if edge[0] not in gone and edge[2] not in gone]
        self.moved |= {vertex for edge in lost for vertex in (edge[0], edge[2])}
        return gone

    def follow(self, new: list[int], gone: list[int]) -> int:
        """Updates the tables. Returns the number of bytes written."""
        for vertex in gone:
            self.patches.drop(vertex)
        new = [vertex for vertex in new if vertex in self.there]
        for vertex in new:
            near = [end for edge in self.edges if vertex in (edge[0], edge[2]) for end in (edge[0], edge[2])]
            self.patches.add(vertex, near)
        concerned = sorted((self.moved | set(new)) & set(self.there))
        for vertex in concerned:
            for pin in range(self.pins):
                its = [(target, value) for start, way, target, value in self.edges if (start, way) == (vertex, pin)]
                self.patches.change(vertex, pin, its)
        self.patches.begin(len(self.there), b"params!!", dict.fromkeys(concerned, patches.CHANGED))
        self.walker.names = {state: v for state, v in self.walker.names.items() if v not in gone}
        for vertex in new:
            state = self.source.randbytes(8)
            self.patches.set_state(vertex, state)
            self.walker.names[state] = vertex
        self.moved = set()
        return self.written()

    def written(self) -> int:
        count = 0
        line = self.tables.machine.config.cache.line_bytes
        for memory, address, data in self.patches.memory.take_dirty():
            assert address % line == 0 and len(data) % line == 0
            self.walker.write(memory, address, data)
            count += len(data)
        return count

    def check(self) -> None:
        assert self.walker.walk() == Counter[Edge](self.edges)
        assert self.patches.edges == len(self.edges)
        assert self.patches.count() == len(self.there)
        self.allocations_are_disjoint()

    def allocations_are_disjoint(self) -> None:
        """No two reachable lists overlap, and every unreachable block is free."""
        held: list[list[tuple[int, int]]] = [[] for _ in range(self.tables.machine.threads)]
        for vertex in self.there:
            for pin in range(self.pins):
                row = self.patches._row(vertex, pin)
                held[self.patches.thread[vertex]].append((row.offset, row.offset + row.size))
                for message in (*row.fixed, *row.messages.values()):
                    for to, size in message.sizes.items():
                        held[to].append((message.offset, message.offset + size))
        gaps = []
        for thread, its in enumerate(held):
            its += self.patches.free[thread]._free
            its.sort()
            assert all(one[1] <= other[0] for one, other in itertools.pairwise(its))
            gaps.append(self.tables.arena_bytes - sum(end - begin for begin, end in its))
        self.gaps = self.gaps or gaps  # the initial gaps that keys leave between lists
        assert gaps == self.gaps


def change(graph: Changing, turn: int) -> int:
    """A round of random changes; every third round removes most edges."""
    graph.remove_edges(0.8 if turn % 3 == 2 else 0.1)
    gone = graph.remove_vertices(graph.source.choice([0, 1, 9]))
    new = graph.add_vertices(graph.source.choice([0, 1, 12]))
    graph.add_edges(graph.source.choice([1, 20, 150]))
    return graph.follow(new, gone)


@pytest.mark.parametrize("multicast", [False, True], ids=["threads", "tiles"])
@pytest.mark.parametrize("name, boards", [("tiny", 1), ("tiny", 3), ("quad", 1)])
def test_every_edge_is_reached_once_after_changes(
    name: str, boards: int, multicast: bool, size: Size, seed: int
) -> None:
    source = random.Random(seed)
    for layout in (LAYOUT, VALUED, WIDE):
        machine = mapper.Machine(configs.load(name), boards)
        graph = Changing(source, machine, layout, multicast)
        graph.written()
        graph.check()
        for turn in range(size.pick(3, 7, 60)):
            try:
                change(graph, turn)
            except patches.OutOfSpace:
                break  # no free vertex slots: all threads are full
            graph.check()


@pytest.mark.parametrize("text", ["mesh 2x2", "torus 4x4"])
def test_every_edge_is_reached_once_with_fixed_router_records(text: str, size: Size, seed: int) -> None:
    """Messages with a routing key keep their tree; edges that it no longer reaches are sent with a mask."""
    source = random.Random(seed)
    for layout in (LAYOUT, VALUED):
        wiring = network.grid(text)
        machine = mapper.Machine(wiring.cluster.boards[0].config, len(wiring.cluster.boards))
        graph = Changing(source, machine, layout, True, wiring, vertices=90)
        graph.written()
        graph.check()
        assert graph.walker.keys
        for turn in range(size.pick(2, 5, 30)):
            change(graph, turn)
            graph.check()


@pytest.mark.parametrize("multicast", [False, True], ids=["threads", "tiles"])
def test_change_of_one_edge_writes_few_bytes(multicast: bool, seed: int) -> None:
    """The same number in a large graph as in a small one: lists, an entry, the marks of both ends."""
    source = random.Random(seed)
    machine = mapper.Machine(configs.load("quad"))
    line = machine.config.cache.line_bytes
    for vertices in (300, 3000):
        graph = Changing(source, machine, VALUED, multicast, vertices=vertices)
        graph.written()
        for _ in range(20):
            graph.add_edges(1)
            start, *_ = graph.edges[-1]
            receivers = len({int(graph.patches.thread[e[2]]) for e in graph.edges if e[0] == start})
            degree = sum(1 for e in graph.edges if e[0] == start)
            written = graph.follow([], [])
            # The row may move, and with a mask all lists of a tile.
            entries = (24 + 16 * receivers + 8 * degree) // line + 2
            assert written <= line * (6 + entries + 2 * receivers)
            if degree < 8:
                assert written <= 20 * line
            graph.patches.ended(
                [bytes(graph.walker.bytes[m].get(a + i, 0) for i in range(n)) for m, a, n in graph.patches.spans()]
                if vertices == 300
                else [graph.patches.memory.read(m, a, n) for m, a, n in graph.patches.spans()]
            )


def test_full_tables_raise_out_of_space(seed: int) -> None:
    """Afterwards rebuilt tables hold the whole graph."""
    source = random.Random(seed)
    machine = mapper.Machine(configs.load("tiny"))
    graph = Changing(source, machine, LAYOUT, True, spare=mapper.Spare(arena=2048))
    with pytest.raises(patches.OutOfSpace):
        for _ in range(100):
            graph.add_edges(400)
            graph.follow([], [])
    graph = Changing(source, machine, LAYOUT, True)
    with pytest.raises(patches.OutOfSpace):
        graph.follow(graph.add_vertices(machine.threads * 20), [])
    graph = Changing(source, machine, LAYOUT, False)
    with pytest.raises(mapper.TooWide):
        for _ in range(20):
            graph.edges += [(0, 0, 1, b"")] * 4000
            graph.moved |= {0}
            graph.follow([], [])


@pytest.mark.parametrize("multicast", [False, True], ids=["threads", "tiles"])
def test_graph_may_begin_without_vertices(multicast: bool) -> None:
    machine = mapper.Machine(configs.load("tiny"))
    nobody, none = np.empty(0, np.int64), np.empty((0, 8), np.uint8)
    given = mapper.Problem(none, b"params!!", b"", [mapper.Relation(0, np.zeros(1, np.int64), nobody, None)])
    placed = mapper.assign(0, nobody, nobody, machine, method="direct")
    tables = mapper.Tables(given, placed, machine, LAYOUT, base=BASE + 100, multicast=multicast, spare=mapper.Spare())
    tables_now = mapper.Patches(tables, placed, nobody, multicast=multicast, pins=1)
    tables_now.begin(0, b"params!!", {})
    assert tables_now.count() == 0 and all(len(some) == 0 for some in tables_now.states(8))
    tables_now.add(0, [])
    tables_now.add(1, [0])
    tables_now.change(0, 0, [(1, b"")])
    assert tables_now.count() == 2 and tables_now.edges == 1


def test_free_space_reuses_released_blocks(seed: int) -> None:
    """Compared with a set of free bytes."""
    source = random.Random(seed)
    spaces = [FreeSpace(8, 400), FreeSpace(40, 300), FreeSpace(0, 0)]
    free = [set(range(8, 400)), set(range(40, 300)), set[int]()]
    taken: list[tuple[int, int, int]] = []
    for _ in range(3000):
        if taken and source.random() < 0.48:
            which, at, count = taken.pop(source.randrange(len(taken)))
            spaces[which].release(at, count)
            free[which] |= set(range(at, at + count))
        some = source.sample(range(3), source.choice([1, 1, 2]))
        sizes = [source.choice([4, 8, 24]) for _ in some]
        found = common_offset([(spaces[one], count) for one, count in zip(some, sizes, strict=True)])
        fits = (
            at
            for at in range(400)
            if all(set(range(at, at + n)) <= free[one] for one, n in zip(some, sizes, strict=True))
        )
        assert found == next(fits, None)
        if found is not None and source.random() < 0.9:
            for one, count in zip(some, sizes, strict=True):
                spaces[one].allocate(found, count)
                free[one] -= set(range(found, found + count))
                taken.append((one, found, count))


def test_memory_image_reports_changed_lines() -> None:
    memory = MemoryImage(2, 32)
    memory.load(0, 4000, bytes(range(200)))
    assert list(memory.take_dirty()) == []
    memory.write(0, 4090, bytes(range(90, 100)))
    assert list(memory.take_dirty()) == []
    memory.write(1, 32, bytes(4))  # the previous content is unknown
    assert list(memory.take_dirty()) == [(1, 32, bytes(32))]
    memory.write(0, 4090, b"abcdefghij")  # across the end of a page and of a line
    memory.write(1, 64, b"x")
    found = list(memory.take_dirty())
    assert [(memory, address, len(data)) for memory, address, data in found] == [(0, 4064, 64), (1, 64, 32)]
    assert found[0][2][26:36] == b"abcdefghij" and found[0][2][:26] == bytes(range(64, 90))
    assert list(memory.take_dirty()) == []
