# SPDX-License-Identifier: Apache-2.0
"""Keys and records of multicast routers built by the mapper: every edge once, no link twice, acyclic dependencies."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import networkx as nx
import numpy as np
import pytest
from conftest import Size
from python.routes import network
from python.table_walker import BASE, LAYOUT, VALUED, WIDE, Walker, edges_of, problem

import gossamer_setup
from gossamer import mapper, routes
from gossamer.errors import InputError
from gossamer.mapper import multicast_tables
from gossamer.mapper.outcome import HEADER_BYTES
from gossamer.routes import KeyTables


@pytest.fixture(scope="module", autouse=True)
def partitioner() -> None:
    gossamer_setup.require("rtl")


def tables_of(
    given: mapper.Problem, topology: routes.Topology, made: routes.Tables, layout: mapper.Layout, **how: Any
) -> mapper.Tables:
    machine = mapper.Machine(topology.cluster.boards[0].config, len(topology.cluster.boards))
    mapping = mapper.assign(given.vertices, *given.ends(), machine, **how)
    # A simulator numbers only links with a cable; here both numberings are equal.
    cables = topology.cluster.cables
    plugged = {(one.a, one.a_link): one.a_link for one in cables} | {(one.b, one.b_link): one.b_link for one in cables}
    over = mapper.Network(topology, made, lambda board, link: plugged[board, link])
    return mapper.Tables(given, mapping, machine, layout, base=BASE + 100, multicast=True, network=over)


def beats_of(tables: mapper.Tables, boards: int) -> dict[int, dict[int, int]]:
    """Beats by board and number, from the bytes of the boards' first memories."""
    base = tables.multicast_tables.base if tables.multicast_tables else 0
    found: dict[int, dict[int, int]] = {board: {} for board in range(boards)}
    for memory, address, data in tables.images():
        if address == base:
            for at in range(0, len(data), 32):
                number = (address + at - 0x4000_0000) // 32
                found[memory // (tables.machine.memories // boards)][number] = int.from_bytes(
                    data[at : at + 32], "little"
                )
    return found


@pytest.mark.parametrize("text", ["mesh 2x2", "ring 5", "torus 4x4", "random", "random"])
def test_every_edge_is_reached_once_by_keys(text: str, size: Size, seed: int) -> None:
    """On any wiring; no message crosses a link twice, and channel dependencies with these keys are acyclic."""
    source = random.Random(seed)
    for _ in range(size.pick(1, 2, 20)):
        topology = network.random_wiring(source, 8) if text == "random" else network.grid(text)
        boards = len(topology.cluster.boards)
        made = routes.generate(topology).tables
        layout = source.choice([LAYOUT, VALUED, WIDE])
        vertices = source.choice([5, 60, 120])
        given = problem(source, vertices, source.choice([1, vertices, 8 * vertices]), source.randint(1, 2), layout)
        how = {"method": source.choice(mapper.METHODS), "seed": source.randrange(1000)}
        tables = tables_of(given, topology, made, layout, **how)
        walker = Walker(tables, given, layout, multicast=True, topology=topology)
        assert walker.walk() == edges_of(given)
        turns = routes.tree_turns(topology, made).pairs()
        keys = KeyTables(beats_of(tables, boards), tuple(sorted(walker.keys)), turns=turns)
        report = routes.check(topology, made, keys=keys)
        assert report.safe, report.fault
        assert walker.crossings == (tables.multicast_tables.crossings if tables.multicast_tables else 0)
        if vertices == 120 and boards > 2 and how["method"] == "random" and given.edges > 400:
            assert walker.keys and walker.kinds[4] and walker.kinds[5]


def test_walker_detects_invalid_records(size: Size, seed: int) -> None:
    """After a bit flip in a record, a count or a key, an edge is lost or reached twice, or an address is empty."""
    source = random.Random(seed)
    topology = network.grid("mesh 2x2")
    made = routes.generate(topology).tables
    # Edges have values, so that no two lists are equal.
    given = problem(source, 40, 150, 1, VALUED)
    tables = tables_of(given, topology, made, VALUED, method="random")
    assert tables.multicast_tables is not None
    for _ in range(size.pick(3, 10, 200)):
        walker = Walker(tables, given, VALUED, multicast=True, topology=topology)
        memory = source.randrange(4)
        here = [at for at in walker.bytes[memory] if at >= tables.multicast_tables.base]
        beat = source.choice([at for at in here if at % 32 == 0])
        count = int.from_bytes(walker.raw(memory, beat, 2), "little")
        value = int.from_bytes(walker.raw(memory, beat, 32), "little")
        at, bits = 16, list(range(16))
        for _ in range(count):
            kind = value >> at + 45 & 7
            # All used bits of these kinds, except channels, which routes.check verifies.
            used = [*range(32), *range(41, 48)] if kind == 5 else [*range(32), *range(37, 48)]
            bits += [at + bit for bit in used] + ([at + bit for bit in range(48, 96)] if kind != 5 else [])
            at += 48 if kind == 5 else 96
        bit = source.choice(bits)
        walker.bytes[memory][beat + bit // 8] ^= 1 << bit % 8
        try:
            found = walker.walk()
        except (AssertionError, KeyError, IndexError, RecursionError):
            continue
        assert found != edges_of(given), f"bit {bit} of the beat at {beat:#x} of memory {memory}"


def test_keys_above_half_a_word_name_threads_one_by_one(seed: int) -> None:
    """The last lists of a tile with tables beyond 64 KB exceed the keys of a record to a tile."""
    source = random.Random(seed)
    topology = network.grid("mesh 3x1")
    made = routes.generate(topology).tables
    layout = mapper.Layout(
        state=8,
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
    # A hundred senders on each board, all of whose edges end at two threads of each other board.
    vertices = 3 * 32
    ends = sorted((source.randrange(vertices), 32 * source.randrange(3) + source.choice([3, 9])) for _ in range(32_000))
    offsets = np.searchsorted([a for a, _ in ends], np.arange(vertices + 1))
    values = np.frombuffer(source.randbytes(8 * len(ends)), np.uint8).reshape(-1, 8)
    states = np.frombuffer(source.randbytes(8 * vertices), np.uint8).reshape(vertices, 8)
    given = mapper.Problem(
        states, b"", bytes(8), [mapper.Relation(0, offsets, np.array([b for _, b in ends], np.int64), values)]
    )
    tables = tables_of(given, topology, made, layout, method="direct")
    walker = Walker(tables, given, layout, multicast=True, topology=topology)
    assert walker.walk() == edges_of(given)
    assert walker.kinds[2] > 10 and walker.kinds[4] > 10


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_long_lists_of_records_are_chained_by_indirection(most: int, seed: int) -> None:
    """The walker finds each tile of each sender once, with mask and key, also by indirection."""
    source = random.Random(seed)
    topology = network.grid("mesh 3x2")
    config = topology.cluster.boards[0].config
    made = routes.generate(topology).tables
    wanted = {}
    for sender in range(40):
        board = source.randrange(6)
        places = [(b, x) for b in range(6) if b != board for x in range(2) if source.random() < 0.7]
        for b, x in places:
            wanted[sender, b, x] = (
                board,
                source.randrange(1, 1 << 16),
                source.choice([4, 1 << 16]) * source.randrange(9),
            )
    names = sorted(wanted, key=lambda _: source.random())
    columns = [np.array(column, np.int64) for column in zip(*names, strict=True)]
    about = [wanted[name] for name in names]
    remote = multicast_tables.RemoteMessages(
        sender=columns[0],
        source=np.array([one for one, _, _ in about]),
        board=columns[1],
        column=columns[2],
        row=np.zeros_like(columns[2]),
        mask=np.array([mask for _, mask, _ in about], np.uint64),
        key=np.array([key for _, _, key in about]),
    )
    found = multicast_tables.MulticastTables(config, mapper.Network(topology, made), remote, most=most)
    walker = Walker.__new__(Walker)
    walker.config, walker.kinds, walker.far = config, Counter(), network.ends(topology)
    walker.bytes = [{} for _ in range(6)]
    for board, data in found.images():
        walker.bytes[board] = dict(enumerate(data, found.base))
    got: Counter[tuple[int, int, int, int, int]] = Counter()
    for sender, key in zip(found.sender.tolist(), found.key.tolist(), strict=True):
        board = next(one for (its, _, _), (one, _, _) in wanted.items() if its == sender)
        for there, first, mask, word in walker.expand(board, key, 0, set()):
            got.update((sender, there, first // 16, thread, word) for thread in range(16) if mask >> thread & 1)
    assert got == Counter(
        (sender, board, x, thread, key)
        for (sender, board, x), (_, mask, key) in wanted.items()
        for thread in range(16)
        if mask >> thread & 1
    )
    assert walker.kinds[6] or most == 7


def test_trees_have_fewer_links_than_routes_together(seed: int) -> None:
    """On a mesh: fewer links than the union of the x-first routes, and at least one per board to reach."""
    source = random.Random(seed)
    topology = network.grid("mesh 4x3")
    made = routes.generate(topology).tables
    given = problem(source, 300, 1500, 1, LAYOUT)
    tables = tables_of(given, topology, made, LAYOUT, method="random")
    machine = tables.machine
    where = mapper.assign(300, *given.ends(), machine, method="random").thread
    board = where // (machine.board_tiles * machine.tile_threads)
    most = least = 0
    for vertex in range(300):
        relations = [one.targets[one.offsets[vertex] : one.offsets[vertex + 1]] for one in given.relations]
        targets = np.concatenate(relations)
        tiles = {int(where[t]) // machine.tile_threads for t in targets if board[t] != board[vertex]}
        if len(tiles) < 2:
            continue
        tree = nx.DiGraph()
        x0, y0 = board[vertex] % 4, board[vertex] // 4
        for tile in tiles:
            x1, y1 = tile // machine.board_tiles % 4, tile // machine.board_tiles // 4
            xs = [(x, y0) for x in range(min(x0, x1), max(x0, x1) + 1)][:: 1 if x1 >= x0 else -1]
            ys = [(x1, y) for y in range(min(y0, y1), max(y0, y1) + 1)][:: 1 if y1 >= y0 else -1]
            nx.add_path(tree, xs)
            nx.add_path(tree, ys)
        most += tree.number_of_edges()
        least += len({tile // machine.board_tiles for tile in tiles})
    assert tables.multicast_tables is not None and least <= tables.multicast_tables.crossings < 0.95 * most


def test_tables_that_exceed_the_routers_memory_raise_an_error() -> None:
    topology = network.grid("mesh 2x2")
    made = routes.generate(topology).tables
    config = topology.cluster.boards[0].config
    count = config.router.table_bytes // 32 + 1
    sender = np.repeat(np.arange(count), 2)
    remote = multicast_tables.RemoteMessages(
        sender=sender,
        source=np.zeros_like(sender),
        board=np.ones_like(sender),
        column=np.tile([0, 1], count),
        row=np.zeros_like(sender),
        mask=np.ones(2 * count, np.uint64),
        key=np.zeros_like(sender),
    )
    with pytest.raises(
        InputError,
        match=r"tables hold 1,048,576 bytes, but board .* needs 1,048,608; use --multicast local",
    ):
        multicast_tables.MulticastTables(config, mapper.Network(topology, made), remote)
