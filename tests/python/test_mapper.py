# SPDX-License-Identifier: Apache-2.0
"""The mapper's tables, checked by a walker that reads their bytes and shares no code with the mapper."""

from __future__ import annotations

import ctypes
import dataclasses
import random
import re
import struct
from collections import Counter

import numpy as np
import pytest
from conftest import Size
from python.table_walker import BASE, LAYOUT, VALUED, WIDE, Walker, edges_of, problem

import gossamer_setup
from gossamer import config as configs
from gossamer import mapper
from gossamer.errors import InputError
from gossamer.mapper import pack
from gossamer.mapper.outcome import HEADER_BYTES
from gossamer.mapper.partition import mapped


@pytest.fixture(scope="module", autouse=True)
def partitioner() -> None:
    gossamer_setup.require("rtl")


@pytest.mark.parametrize("multicast", [False, True], ids=["threads", "tiles"])
@pytest.mark.parametrize("name, boards", [("tiny", 1), ("tiny", 3), ("quad", 1), ("de5", 1)])
def test_every_edge_is_reached_once(name: str, boards: int, multicast: bool, size: Size, seed: int) -> None:
    """With its value, for all methods, several pins, wide edges, and graphs with fewer vertices than threads."""
    source = random.Random(seed)
    config = configs.load(name)
    for _ in range(size.pick(2, 6, 40)):
        layout = source.choice([LAYOUT, VALUED, WIDE])
        vertices = source.choice([1, 5, 40, 200])
        given = problem(source, vertices, source.choice([0, 1, vertices, 8 * vertices]), source.randint(1, 3), layout)
        machine = mapper.Machine(config, boards)
        mapping = mapper.assign(
            vertices, *given.ends(), machine, method=source.choice(mapper.METHODS), seed=source.randrange(1000)
        )
        assert mapping.thread.min() >= 0 and mapping.thread.max() < machine.threads
        tables = mapper.Tables(given, mapping, machine, layout, base=BASE + 100, multicast=multicast)
        # What the check before the partitioner counts, every mapping needs.
        least = mapper.least_bytes(layout, vertices, given.edges, given.pins)
        assert least <= int(tables.bytes.sum()) + machine.memories * (machine.sram[1] - machine.sram[0])
        walker = Walker(tables, given, layout, multicast)
        assert walker.walk() == edges_of(given)
        # A list of one edge without a value is not written: its message names the vertex.
        thread = mapping.thread.tolist()
        lists = Counter((sender, pin, thread[target]) for sender, pin, target, _ in edges_of(given).elements())
        alone = sum(count == 1 and thread[sender] != to for (sender, _, to), count in lists.items())
        assert walker.named == (alone if layout is LAYOUT and not multicast else 0)


@pytest.mark.parametrize("multicast", [False, True], ids=["threads", "tiles"])
@pytest.mark.parametrize("name, boards", [("tiny", 1), ("tiny", 3), ("quad", 1)])
@pytest.mark.parametrize("changing", [False, True])
def test_message_along_an_edge_reaches_only_that_edge(
    name: str, boards: int, multicast: bool, changing: bool, size: Size, seed: int
) -> None:
    """Each vertex reads its edges in ascending order, and a message along an edge reaches only that edge."""
    source = random.Random(seed)
    config = configs.load(name)
    for _ in range(size.pick(1, 3, 30)):
        plain = source.choice([LAYOUT, VALUED, WIDE])
        layout = dataclasses.replace(plain, **source.choice([{"own": 2}, {"own": 3, "note": 8}, {"own": 3, "note": 2}]))
        vertices = source.choice([1, 5, 40, 200])
        given = problem(source, vertices, source.choice([0, 1, vertices, 8 * vertices]), source.randint(1, 3), layout)
        # Edges are sorted by the vertices' names, which may differ from their indices.
        names = np.array(source.sample(range(10 * vertices), vertices)) if changing else np.arange(vertices)
        given = dataclasses.replace(given, names=names if changing else None)
        machine = mapper.Machine(config, boards)
        mapping = mapper.assign(vertices, *given.ends(), machine, method="random", seed=source.randrange(1000))
        spare = mapper.Spare(arena=1 << 14) if changing else None
        tables = mapper.Tables(given, mapping, machine, layout, base=BASE, multicast=multicast, spare=spare)
        walker = Walker(tables, given, layout, multicast)
        assert walker.walk() == edges_of(given)
        wanted: list[list[tuple[int, bytes]]] = [[] for _ in range(vertices)]
        for (vertex, pin, target, value), count in edges_of(given).items():
            wanted[vertex] += [(target, value)] * count if pin == 0 else []
        for vertex, shown, edges, reached in walker.own_edges():
            assert shown == sorted(shown) == sorted(int(names[target]) for target, _ in wanted[vertex])
            assert sorted(reached) == sorted(wanted[vertex])
            assert [(int(names[target]), value) for target, value in reached] == edges
            assert tables.own_edges(int(mapping.thread[vertex]), int(mapping.local[vertex])) == len(shown)


def test_a_graph_that_no_mapping_fits_is_rejected_at_once() -> None:
    machine = mapper.Machine(configs.load("tiny"))
    mapper.check_least(machine, LAYOUT, BASE, 100_000, 500_000, 1)
    with pytest.raises(
        InputError, match=r"tiny: a graph of 9,000,000 vertices .* needs at least .*; it fits on a board"
    ):
        mapper.check_least(machine, LAYOUT, BASE, 9_000_000, 36_000_000, 1)


def test_partitioners_print_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """METIS prints a warning for a graph with hardly more vertices than parts."""
    offsets = np.arange(33) * 2
    pairs = np.stack([np.arange(32) ^ 1, np.arange(32) ^ 2], axis=1).ravel()
    for vertices in range(33, 60):
        source, target = np.repeat(np.arange(vertices), 2), np.zeros(2 * vertices, np.int64)
        source[: len(pairs)], target[: len(pairs)] = np.repeat(np.arange(32), np.diff(offsets)), pairs
        mapper.assign(vertices, source, target, mapper.Machine(configs.load("tiny")))
    ctypes.CDLL(None).fflush(None)
    assert capfd.readouterr() == ("", "")


def test_outcome_locates_states_and_results_of_threads(seed: int) -> None:
    """States are returned by vertex, results by thread."""
    source = random.Random(seed)
    config = configs.load("tiny")
    given = problem(source, 90, 300, 1, LAYOUT)
    machine = mapper.Machine(config, 2)
    mapping = mapper.assign(90, *given.ends(), machine, method="random", seed=3)
    tables = mapper.Tables(given, mapping, machine, LAYOUT, base=BASE)
    spans = list(tables.outcome.spans())
    read = [bytearray(size) for *_, size in spans]
    for memory, address, data in tables.images():
        for (there, begin, size), held in zip(spans, read, strict=True):
            if there == memory and begin <= address < begin + size:
                held[address - begin :] = data[: size - (address - begin)]
    assert (tables.states([bytes(m) for m in read]) == given.states).all()
    for thread in range(machine.threads):
        memory = thread // (config.threads)
        at = int(tables.headers[thread]) - spans[memory][1] + 36
        struct.pack_into("<8I", read[memory], at, 1, 5, 1000 + thread, thread, 7, 0, 0, 3 * thread)
    results = tables.outcome.results([bytes(m) for m in read])
    assert (results["sends"] == 1000 + np.arange(machine.threads)).all()
    assert (results["delivered"] == np.arange(machine.threads)).all() and (results["steps"] == 5).all()
    assert (results["retired"] == 3 * np.arange(machine.threads)).all()


def packed(messages: list[dict[int, int]], senders: list[int]) -> list[int]:
    """The offset of each message, given the units that it takes at each thread."""
    first = np.concatenate([[0], np.cumsum([len(one) for one in messages])])
    threads = np.array([thread for one in messages for thread in one])
    units = np.array([one[thread] for one in messages for thread in one])
    return pack.offsets(first, np.array(senders), threads, units).tolist()


def test_lists_of_a_thread_do_not_overlap(seed: int) -> None:
    """For any sharing of threads; tables stay short, and messages of a sender are contiguous where possible."""
    source = random.Random(seed)
    messages = [
        {thread: source.randint(1, 5) for thread in source.sample(range(64), source.choice([1, 1, 2, 3, 12]))}
        for _ in range(3000)
    ]
    places = packed(messages, [i // 40 for i in range(3000)])
    used: set[tuple[int, int]] = set()
    for message, place in zip(messages, places, strict=True):
        taken = {(thread, place + unit) for thread, units in message.items() for unit in range(units)}
        assert not used & taken
        used |= taken
    busiest = max(sum(message.get(thread, 0) for message in messages) for thread in range(64))
    assert busiest <= 1 + max(place for _, place in used) <= 3 * busiest
    # Far more messages to all threads than the search window, so that tables could grow like a staircase.
    assert packed([{0: 2, 1: 1}] * 10_000, [0] * 10_000) == list(range(0, 20_000, 2))
    stairs = [{at % 63: 1, at % 63 + 1: 1} for at in range(63) for _ in range(10)]
    assert max(packed(stairs, [at // 10 for at in range(630)])) < 40
    # The gap before it is large enough for the second sender's second message, but not contiguously.
    assert packed([{0: 4}, {0: 1, 1: 1}, {1: 4}, {1: 3}], [0, 0, 1, 1]) == [0, 4, 0, 5]
    assert packed([{0: 9}, {1: 2}, {1: 2}, {1: 2}], [0, 1, 1, 1]) == [0, 0, 2, 4]


def test_tables_of_neighbours_that_exchange_many_messages_are_dense() -> None:
    """Each of 64 threads sends 200 messages of 10 slots to itself and both neighbours: three times that is needed."""
    each, units = 200, 10
    messages = [dict.fromkeys(range(max(0, one - 1), min(63, one + 1) + 1), units) for one in range(64)]
    places = packed([one for one in messages for _ in range(each)], [at // each for at in range(64 * each)])
    used: set[tuple[int, int]] = set()
    for number, place in enumerate(places):
        taken = {(thread, place + unit) for thread in messages[number // each] for unit in range(units)}
        assert not used & taken
        used |= taken
    assert 1 + max(slot for _, slot in used) == 3 * each * units


def test_tables_beyond_64_kb_need_wide_offsets(seed: int) -> None:
    """States beyond 64 KB, or a longer list, and no smaller tables."""
    machine = mapper.Machine(configs.load("tiny"))

    def tables(vertices: int, ends: int, state: int) -> mapper.Tables:
        layout = mapper.Layout(
            state=state,
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
        relation = mapper.Relation(0, np.array([0] + [ends] * vertices), np.zeros(ends, np.int64), None)
        given = mapper.Problem(np.zeros((vertices, state), np.uint8), b"", b"", [relation])
        return mapper.Tables(given, mapped(np.zeros(vertices, np.int64), machine), machine, layout, base=BASE)

    tables(65536 // 256, 32767, 256)
    for vertices, ends in [(65536 // 256 + 1, 0), (1, 32768)]:
        with pytest.raises(mapper.TooWide):
            tables(vertices, ends, 256)


def test_metis_cuts_fewer_edges_than_random_and_balances_work(seed: int) -> None:
    """On a grid neighbours stay together, and a hub's thread has few other vertices."""
    side = 24
    number = np.arange(side * side).reshape(side, side)
    pairs = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
    a = np.concatenate([x.ravel() for x, _ in pairs])
    b = np.concatenate([y.ravel() for _, y in pairs])
    machine = mapper.Machine(configs.load("tiny"), 4)

    def cut(method: str) -> int:
        mapping = mapper.assign(side * side, a, b, machine, method=method, seed=seed % 1000)
        tile = mapping.thread // machine.tile_threads
        assert mapping.counts.max() <= 2 * mapping.counts.mean() + 1
        return int((tile[a] != tile[b]).sum())

    cuts = {method: cut(method) for method in mapper.METHODS}
    assert cuts["metis"] < 0.5 * cuts["random"] and cuts["metis"] < cuts["direct"] and cuts["bfs"] < cuts["random"]
    hub = mapper.assign(200, np.zeros(199, np.int64), np.arange(1, 200), machine, seed=1)
    assert hub.counts[hub.thread[0]] <= 2


def test_tables_that_do_not_fit_raise_an_error_with_suggestions() -> None:
    config = configs.load("tiny")
    vertices = 3000
    states = np.zeros((vertices, 20_000), np.uint8)
    layout = mapper.Layout(
        state=20_000,
        flags=5,
        offset=4,
        edge=4,
        value=0,
        align=4,
        list=4,
        header=HEADER_BYTES,
        label=0,
        label_align=1,
        message=4,
        own=0,
        note=0,
    )
    given = mapper.Problem(
        states, b"", b"", [mapper.Relation(0, np.zeros(vertices + 1, np.int64), np.empty(0, np.int64), None)]
    )
    mapping = mapped(np.arange(vertices) % 32, mapper.Machine(config))
    with pytest.raises(InputError, match=r"tiny: a DRAM holds .* bytes of the graph, but the states end") as told:
        mapper.Tables(given, mapping, mapper.Machine(config), layout, base=BASE)
    # The named machines are large enough, and a cluster with one board less is not.
    found = re.search(r"it fits on a board of (.*), or on (\d+) boards of tiny$", str(told.value))
    assert found is not None
    machines = [mapper.Machine(configs.load(name)) for name in found[1].split(", ")]
    for machine in (*machines, mapper.Machine(config, int(found[2]))):
        mapping = mapped(np.arange(vertices) % machine.threads, machine)
        mapper.Tables(given, mapping, machine, layout, base=BASE)
    machine = mapper.Machine(config, int(found[2]) - 1)
    with pytest.raises(InputError, match="a DRAM holds"):
        mapper.Tables(given, mapped(np.arange(vertices) % machine.threads, machine), machine, layout, base=BASE)
    with pytest.raises(InputError, match="no such mapping: 'best'; choose one of metis"):
        mapper.assign(3, np.array([0]), np.array([1]), mapper.Machine(config), method="best")
