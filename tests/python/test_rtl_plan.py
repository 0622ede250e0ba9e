# SPDX-License-Identifier: Apache-2.0
"""The plan of a simulated cluster: broadcast trees, next hops, table entries."""

from __future__ import annotations

import random

import pytest
from python.routes import network

from gossamer import config as configs
from gossamer.config import Cluster
from gossamer.engines._rtl_plan import Plan
from gossamer.errors import InputError


def reached(cluster: Cluster, plan: Plan) -> int:
    """Checks that a broadcast reaches every board once, over cables. Returns the maximum number of children."""
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
def test_broadcast_tree_of_shipped_clusters_is_a_path(name: str) -> None:
    """Each shipped cluster has a path over all boards that begins at the host's board."""
    cluster = configs.load_cluster(name)
    assert reached(cluster, Plan(cluster)) == 1


def test_broadcast_reaches_all_boards_of_any_wiring(seed: int) -> None:
    rng = random.Random(seed)
    judged = 0
    while judged < 20:
        cluster = network.random_wiring(rng, 12).cluster
        hosts = [host.board for host in cluster.hosts]
        if len(set(hosts)) == len(hosts):  # a simulated board has a port for one
            assert 1 <= reached(cluster, Plan(cluster)) <= 8
            judged += 1


def test_broadcast_tree_of_a_large_torus_branches() -> None:
    """A row of a thousand boards takes longer than a tree with two children per board."""
    cluster = network.grid("torus 20x20").cluster
    plan = Plan(cluster)
    assert reached(cluster, plan) == 2


def test_broadcast_tree_of_a_star_has_all_boards_as_children() -> None:
    cluster = network.wiring([(0, 1), (0, 2), (0, 3), (0, 4)], 5).cluster
    assert reached(cluster, Plan(cluster)) == 4 - (Plan(cluster).hosts[0] != 0)


def test_single_board_is_a_cluster_of_one() -> None:
    """Its host is at the port after the exits of the mesh, the links without cables, and the control unit."""
    for name in ("tiny", "quad", "de5"):
        config = configs.load(name)
        plan = Plan(config)
        assert (plan.boards, plan.hosts, plan.shape) == (1, [0], (1, 1)) and plan.hops.tolist() == [[0]]
        assert plan.cluster.is_alone and plan.cluster.name == plan.cluster.boards[0].name == name
        assert plan.links == 2 and plan.host_port == config.router.mesh_ports + 2 + 1
        assert plan.board_entries(0) == [0] and plan.host_entry(0, 0) & 0x1F == plan.host_port
        assert (plan.order(), plan.middle(), plan.broadcast_tree(0).children) == ([0], 0, {0: []})
    assert not configs.load_cluster("pair").is_alone


def test_few_numbers_of_links_are_simulated() -> None:
    """All shipped clusters share three simulators of each configuration."""
    found = {name: Plan(configs.load_cluster(name)).links for name in ("pair", "ring4", "quad4", "torus8", "duo12")}
    for name, links in found.items():
        cluster = configs.load_cluster(name)
        most = max(len(cluster.neighbours(board.index)) for board in cluster.boards)
        assert links in (2, 4, 8) and most <= links < max(3, 2 * most), name


@pytest.mark.parametrize("name", ["pair", "quad4", "torus8"])
def test_next_hops_equal_the_routes_of_the_tables(name: str) -> None:
    """Each hop is over a cable, on the channel in the boards' tables, and the packets arrive."""
    cluster = configs.load_cluster(name)
    plan = Plan(cluster)
    hops_of, count = list(plan.next_hops()), plan.boards
    for board in range(count):
        for to in range(count):
            here, hops = board, 0
            while here != to:
                number, channel, other = hops_of[here * count + to]
                cable = cluster.cables[plan.cable_at(here, number)]  # type: ignore[index]
                assert {cable.a, cable.b} == {here, other}
                entry = plan.tables.table(here)[to]  # a byte of the file: channel and link of the configuration
                assert entry >> 4 == channel and plan.link(here, entry & 0xF) == number
                here, hops = other, hops + 1
                assert hops <= count
            assert hops == plan.hops[board, to]


def test_boards_and_hosts_share_no_table_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries of boards are at the start of a table, entries of hosts at its end."""
    monkeypatch.setattr("gossamer.engines._rtl_plan._TABLE", 4)
    assert Plan(configs.load_cluster("pair")).boards == 2
    with pytest.raises(InputError, match="ring4: 4 boards and 1 host are more than the 4 entries of a switch's table"):
        Plan(configs.load_cluster("ring4"))
