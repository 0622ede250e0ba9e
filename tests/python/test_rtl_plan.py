# SPDX-License-Identifier: Apache-2.0
"""How a simulated cluster is put together: the tree of a broadcast."""

from __future__ import annotations

import random

import pytest
from python.routes import network

from gossamer import config as configs
from gossamer.config import Cluster
from gossamer.engines._rtl_plan import Plan
from gossamer.errors import InputError


def reached(cluster: Cluster, plan: Plan) -> int:
    """Boards that a broadcast comes to once, over cables; the most children of a board."""
    cables = {frozenset((cable.a, cable.b)) for cable in cluster.cables}
    tree = plan.broadcast_tree(plan.hosts[0])
    assert tree.root == plan.hosts[0]
    found, new = [tree.root], [tree.root]
    while new:
        board = new.pop()
        for child in tree.children[board]:
            assert tree.parent[child] == board and frozenset((board, child)) in cables
            found.append(child)
            new.append(child)
    assert sorted(found) == list(range(len(cluster.boards)))
    return max(map(len, tree.children.values()))


@pytest.mark.parametrize("name", ["pair", "ring4", "quad4", "box", "duo12", "rack48", "torus8", "bus8"])
def test_a_broadcast_goes_along_a_row_of_boards(name: str) -> None:
    """Of the clusters that are there each has a way over all boards, from the host's on."""
    cluster = configs.load_cluster(name)
    assert reached(cluster, Plan(cluster)) == 1


def test_a_broadcast_reaches_all_boards_of_any_wiring(seed: int) -> None:
    rng = random.Random(seed)
    judged = 0
    while judged < 20:
        cluster = network.random_wiring(rng, 12).cluster
        hosts = [host.board for host in cluster.hosts]
        if len(set(hosts)) == len(hosts):  # a simulated board has a port for one
            assert 1 <= reached(cluster, Plan(cluster)) <= 8
            judged += 1


def test_a_large_torus_has_no_row_of_all_boards() -> None:
    """A thousand boards one behind the other take longer than copies for two."""
    cluster = network.grid("torus 20x20").cluster
    plan = Plan(cluster)
    assert reached(cluster, plan) == 2


def test_a_star_has_all_its_boards_as_children() -> None:
    cluster = network.wiring([(0, 1), (0, 2), (0, 3), (0, 4)], 5).cluster
    assert reached(cluster, Plan(cluster)) == 4 - (Plan(cluster).hosts[0] != 0)


@pytest.mark.parametrize("name", ["pair", "quad4", "torus8"])
def test_hosts_know_the_way_that_packets_take(name: str) -> None:
    """Each step of the ways is over a cable, on the channel that the tables in the boards have, and they arrive."""
    cluster = configs.load_cluster(name)
    plan = Plan(cluster)
    ways, count = list(plan.ways()), plan.boards
    for board in range(count):
        for to in range(count):
            here, hops = board, 0
            while here != to:
                number, channel, other = ways[here * count + to]
                cable = cluster.cables[plan.cable_at(here, number)]  # type: ignore[index]
                assert {cable.a, cable.b} == {here, other}
                entry = plan.tables.table(here)[to]  # a byte of the file: channel and link of the configuration
                assert entry >> 4 == channel and plan.link(here, entry & 0xF) == number
                here, hops = other, hops + 1
                assert hops <= count
            assert hops == plan.hops[board, to]


def test_no_board_and_host_share_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boards' entries stand at the start of a table, hosts' at its end."""
    monkeypatch.setattr("gossamer.engines._rtl_control.TABLE", 4)
    assert Plan(configs.load_cluster("pair")).boards == 2
    with pytest.raises(InputError, match="ring4: 4 boards and 1 host are more than the 4 entries of a switch's table"):
        Plan(configs.load_cluster("ring4"))
