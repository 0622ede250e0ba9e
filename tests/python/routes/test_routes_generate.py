# SPDX-License-Identifier: Apache-2.0
"""Routes are shortest paths by NetworkX, never deadlock in a simulator, and are deterministic."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from conftest import Size
from python.routes import network

from gossamer import config, routes
from gossamer.errors import InputError
from gossamer.routes import Routes, Topology

GRIDS = [
    "mesh 1x1", "mesh 4x3", "mesh 1x6", "torus 2x2", "torus 3x3", "torus 4x4", "torus 5x4", "torus 8x3", "torus 2x5",
    "torus 4x2 twist 2", "torus 5x3 twist 1", "torus 6x2 twist 3", "torus 6x3 twist 4", "torus 9x2 twist 2",
    "torus 7x7 twist 3", "torus 16x2 twist 2", "torus 6x6", "ring 1", "ring 2", "ring 3", "ring 8", "ring 9", "bus 7",
]  # fmt: skip


def judge(made: Routes) -> float:
    """Follows every route. Returns the share of shortest paths, by NetworkX."""
    topology, tables = made.topology, made.tables
    lengths = dict(nx.all_pairs_shortest_path_length(network.graph_of(topology)))
    shortest = total = 0
    for source, to in lengths.items():
        for dest, length in to.items():
            hops = len(network.path(topology, tables, source, dest))
            assert made.hops[source, dest] == hops
            assert made.shortest[source, dest] == length
            shortest += hops == length
            total += 1
    assert total == len(lengths) ** 2
    return shortest / total


@pytest.mark.parametrize("text", GRIDS)
@pytest.mark.parametrize("vcs", [2, 4])
def test_grids_have_shortest_routes_in_dimension_order(text: str, vcs: int, size: Size) -> None:
    topology = network.grid(text)
    made = routes.generate(topology, vcs=vcs)
    assert made.tables.method == "dimension"
    assert judge(made) == 1
    assert routes.check(topology, made.tables).safe
    assert not network.can_deadlock(topology, made.tables)
    if len(topology.cluster.boards) > 1:
        assert network.Fabric(topology, made.tables, random.Random(1)).run(size.pick(50, 150, 3000))


def test_dimension_order_routes_along_the_row_first() -> None:
    topology = network.grid("torus 6x5")
    made = routes.generate(topology)
    for source in range(30):
        for dest in range(30):
            rows = [board // 6 for board, _, _ in network.path(topology, made.tables, source, dest)]
            turned = [row != source // 6 for row in rows]
            assert turned == sorted(turned)


@pytest.mark.parametrize("text", ["torus 8x8", "torus 6x4", "ring 8", "torus 32x32"])
def test_even_tori_load_every_link_of_a_dimension_equally(text: str) -> None:
    topology = network.grid(text)
    figures = routes.measure(routes.generate(topology))
    names = [board.config.links.names for board in topology.cluster.boards]
    load = Counter()
    for number, cable in enumerate(topology.cluster.cables):
        load[names[cable.a][cable.a_link], "east"] += 0
        for way in (0, 1):
            load[cable.a_link in (0, 1), int(figures.load[number, way])] += 1
    rows = {count for (column, count), times in load.items() if column is False and times}
    columns = {count for (column, count), times in load.items() if column is True and times}
    assert len(rows) <= 1 and len(columns) <= 1


@pytest.mark.parametrize("name", config.cluster_names())
@pytest.mark.parametrize("method", ["auto", "general"])
@pytest.mark.parametrize("vcs", [1, 2])
def test_shipped_clusters_have_safe_shortest_routes(name: str, method: str, vcs: int) -> None:
    topology = routes.read_topology(name)
    made = routes.generate(topology, vcs=vcs, method=method)
    assert judge(made) == 1
    assert routes.check(topology, made.tables).safe


def test_random_wirings_have_safe_routes(seed: int, size: Size) -> None:
    """The check, NetworkX and the simulator find no deadlock; with two channels nearly all routes are shortest."""
    rng = random.Random(seed)
    shares = []
    for number in range(size.pick(20, 100, 400)):
        topology = network.random_wiring(rng)
        vcs = rng.choice((1, 2, 2, 3))
        made = routes.generate(topology, vcs=vcs, method=rng.choice(("auto", "general")))
        share = judge(made)
        if vcs > 1:
            shares.append(share)
        report = routes.check(topology, made.tables)
        assert report.safe, (number, report.fault)
        assert not network.can_deadlock(topology, made.tables), number
        fabric = network.Fabric(topology, made.tables, rng)
        assert fabric.run(size.pick(60, 150, 2000)), number
        assert sorted(fabric.delivered) == list(range(fabric.sent)), number
    assert np.mean(shares) > 0.99


@pytest.mark.parametrize(("degree", "boards", "least"), [(3, 64, 0.90), (4, 64, 0.97), (4, 150, 0.85), (7, 80, 0.98)])
def test_expanders_have_safe_and_nearly_shortest_routes(degree: int, boards: int, least: float) -> None:
    graph = nx.random_regular_graph(degree, boards, seed=5)
    topology = network.wiring(sorted(graph.edges()), boards)
    made = routes.generate(topology)
    assert routes.check(topology, made.tables).safe
    assert least <= judge(made)
    assert routes.measure(made).minimal >= least - 0.02


def test_one_virtual_channel_suffices_for_safe_routes() -> None:
    for seed in range(3):
        graph = nx.random_regular_graph(3, 30, seed=seed)
        topology = network.wiring(sorted(graph.edges()), 30)
        made = routes.generate(topology, vcs=1)
        assert judge(made) > 0.6
        assert routes.check(topology, made.tables).safe


def test_routes_avoid_boards_and_cables_that_are_down(seed: int, size: Size) -> None:
    rng = random.Random(seed)
    done = 0
    while done < size.pick(10, 30, 200):
        topology = rng.choice((network.grid("torus 5x4"), network.grid("mesh 4x4"), network.random_wiring(rng)))
        cluster = topology.cluster
        boards = [board.name for board in cluster.boards]
        cable = rng.choice(cluster.cables)
        name = f"{boards[cable.a]}:{cluster.boards[cable.a].config.links.names[cable.a_link]}"
        down = rng.choice(([name], [rng.choice(boards)], [name, rng.choice(boards)]))
        try:
            topology = routes.with_down(topology, down)
        except InputError as error:
            assert "cannot be reached" in str(error)
            continue
        made = routes.generate(topology)
        judge(made)  # NetworkX has only boards and cables that are up, so it cannot follow any other route
        assert routes.check(topology, made.tables).safe
        for board in topology.down_boards:
            assert (made.tables.port[board] == routes.NONE).all()
            assert (made.tables.port[:, board] == routes.NONE).all()
        assert network.Fabric(topology, made.tables, rng).run(60)
        done += 1


def test_large_torus_with_a_broken_cable_keeps_shortest_routes() -> None:
    topology = routes.with_down(network.grid("torus 12x12"), ["x3y3:east"])
    made = routes.generate(topology)
    assert judge(made) > 0.999
    assert routes.check(topology, made.tables).safe


def test_parallel_cables_are_used_evenly() -> None:
    topology = network.wiring([(0, 1)] * 3 + [(1, 2)] * 2 + [(2, 3), (3, 4), (4, 5), (5, 6)], 7)
    made = routes.generate(topology)
    load = routes.measure(made).load
    # The only destination towards board 0 uses one cable.
    # Five destinations, each of two boards, cannot be distributed evenly over two cables.
    for first, last, way, all_routes, apart in ((0, 3, 0, 6, 0), (3, 5, 0, 10, 2), (3, 5, 1, 10, 0)):
        loads = load[first:last, way]
        assert loads.sum() == all_routes
        assert loads.max() - loads.min() == apart, loads
    ring = network.grid("ring 2")
    assert (routes.measure(routes.generate(ring)).load.sum(axis=1) == 1).all()


def test_hosts_are_reached_over_their_boards() -> None:
    topology = network.wiring([(0, 1), (1, 2), (2, 3), (3, 0)], 4, hosts=[2, 0])
    tables = routes.generate(topology).tables
    for number, host in enumerate(topology.cluster.hosts):
        for board in range(4):
            if board == host.board:
                assert tables.host_port[board, number] == host.link
            else:
                assert (tables.host_port[board, number], tables.host_vc[board, number]) == tables.entry(
                    board, host.board
                )


@pytest.mark.parametrize("text", ["torus 6x5", "custom"])
def test_tables_are_deterministic(text: str) -> None:
    def make() -> Topology:
        return network.random_wiring(random.Random(3), 40) if text == "custom" else network.grid(text)

    first, second = (routes.generate(make(), method="general").tables for _ in range(2))
    assert first.same(second)


def test_measured_loads_match_walked_routes(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(10):
        topology = network.random_wiring(rng)
        made = routes.generate(topology)
        walked: Counter[tuple[int, int]] = Counter()
        boards = range(len(topology.cluster.boards))
        for source in boards:
            for dest in boards:
                walked.update((board, port) for board, port, _ in network.path(topology, made.tables, source, dest))
        figures = routes.measure(made)
        for number, cable in enumerate(topology.cluster.cables):
            assert figures.load[number, 0] == walked[cable.a, cable.a_link]
            assert figures.load[number, 1] == walked[cable.b, cable.b_link]
        assert figures.load_max == max(walked.values())
        assert sum(count for _, _, count in figures.load_histogram()) == 2 * len(topology.cluster.cables)


@pytest.mark.parametrize(
    ("text", "cables"),
    [("mesh 4x4", 4), ("torus 4x4", 8), ("ring 9", 2), ("bus 30", 1), ("mesh 6x8", 6), ("torus 8x8", 16),
     ("torus 32x32", 64)],
)  # fmt: skip
def test_bisection_matches_known_shapes(text: str, cables: int) -> None:
    assert routes.measure(routes.generate(network.grid(text))).bisection == cables


def test_invalid_numbers_of_virtual_channels_are_rejected() -> None:
    topology = network.grid("ring 4")
    for vcs in (0, 9):
        with pytest.raises(InputError, match="there must be 1 to 8"):
            routes.generate(topology, vcs=vcs)
    with pytest.raises(InputError, match="dimension order needs"):
        routes.generate(network.random_wiring(random.Random(1)), method="dimension")
    with pytest.raises(InputError, match="dimension order needs"):
        routes.generate(network.grid("ring 5"), method="dimension", vcs=1)


def test_shortcut_cables_are_used() -> None:
    """The generator leaves dimension order if an additional cable of the file shortens a path."""
    grid = network.grid("bus 6").cluster
    cables = (*grid.cables, config.Cable(0, 0, 5, 0))
    topology = Topology(dataclasses.replace(grid, cables=cables), {})
    made = routes.generate(topology)
    assert made.tables.method == "general"
    assert judge(made) == 1
