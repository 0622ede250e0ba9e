# SPDX-License-Identifier: Apache-2.0
"""The check and a simulator agree: safe tables never deadlock, and each reported cycle does."""

from __future__ import annotations

import ast
import dataclasses
import random

import networkx as nx
import numpy as np
import pytest
from conftest import ROOT, Size
from python.routes import network

from gossamer import routes
from gossamer.errors import InputError
from gossamer.routes import Tables, Topology


def tables_of(topology: Topology, port: list[list[int]], vc: list[list[int]], vcs: int) -> Tables:
    """Tables with these entries; routes to hosts are those to their boards."""
    ports, channels = np.array(port, dtype=np.int8), np.array(vc, dtype=np.int8)
    at = [host.board for host in topology.cluster.hosts]
    host_port, host_vc = ports[:, at], channels[:, at]
    for number, host in enumerate(topology.cluster.hosts):
        host_port[host.board, number], host_vc[host.board, number] = host.link, 0
    return Tables(topology.hash, vcs, "by hand", (), ports, channels, host_port, host_vc)


def random_tables(topology: Topology, rng: random.Random, vcs: int) -> Tables:
    """Shortest paths with random ports and channels, which may be safe or not."""
    graph = network.graph_of(topology)
    far = network.ends(topology)
    count = len(graph)
    length = dict(nx.all_pairs_shortest_path_length(graph))
    port = [[routes.HOME] * count for _ in range(count)]
    vc = [[0] * count for _ in range(count)]
    for board in range(count):
        links = [(link, ahead) for (at, link), ahead in sorted(far.items()) if at == board]
        for dest in range(count):
            if dest != board:
                nearer = [link for link, ahead in links if length[ahead][dest] == length[board][dest] - 1]
                port[board][dest] = rng.choice(nearer)
                vc[board][dest] = rng.randrange(vcs)
    return tables_of(topology, port, vc, vcs)


def fill(topology: Topology, tables: Tables, report: routes.Report) -> network.Fabric:
    """The fabric with a packet in every channel of the reported cycle, each waiting for the next."""
    fabric = network.Fabric(topology, tables, random.Random(1))
    for number, (board, port, vc, dest) in enumerate(report.witnesses):
        fabric.buffers[board, port, vc] = network.Packet(dest, number)
    return fabric


def clockwise(boards: int, vcs: int) -> tuple[Topology, Tables]:
    """A ring in which all packets travel in the same direction, on channel 0."""
    topology = network.wiring([(board, (board + 1) % boards) for board in range(boards)], boards)
    out = {board: link for (board, link), ahead in network.ends(topology).items() if ahead == (board + 1) % boards}
    port = [[routes.HOME if dest == board else out[board] for dest in range(boards)] for board in range(boards)]
    return topology, tables_of(topology, port, [[0] * boards for _ in range(boards)], vcs)


def test_ring_without_virtual_channels_deadlocks() -> None:
    topology, tables = clockwise(6, 1)
    report = routes.check(topology, tables)
    assert report.fault is not None and len(report.ring) == 6
    assert all("channel 0" in name for name in report.ring)
    assert not network.Fabric(topology, tables, random.Random(2)).run(2000)
    assert not fill(topology, tables, report).drain()


def test_dateline_removes_the_deadlock() -> None:
    """A single destination without a dateline closes the cycle again."""
    boards = 6
    topology, tables = clockwise(boards, 2)
    vc = np.array([[int(dest > board) for dest in range(boards)] for board in range(boards)], dtype=np.int8)
    dated = dataclasses.replace(tables, vc=vc)
    assert routes.check(topology, dated).safe
    assert network.Fabric(topology, dated, random.Random(2)).run(500)
    wrong = vc.copy()
    wrong[:, 3] = 0
    undone = dataclasses.replace(tables, vc=wrong)
    report = routes.check(topology, undone)
    assert not report.safe
    assert not fill(topology, undone, report).drain()


def test_check_and_simulator_agree_on_random_tables(seed: int, size: Size) -> None:
    rng = random.Random(seed)
    safe = rings = 0
    while safe + rings < size.pick(60, 200, 2000) or min(safe, rings) <= 5:
        topology = network.random_wiring(rng, 9)
        tables = random_tables(topology, rng, rng.choice((1, 2)))
        report = routes.check(topology, tables)
        assert report.safe != network.can_deadlock(topology, tables)
        if report.safe:
            safe += 1
            assert network.Fabric(topology, tables, rng).run(size.pick(40, 100, 1000))
        else:
            rings += 1
            assert report.witnesses
            assert not fill(topology, tables, report).drain(), report.ring


def test_check_of_old_and_new_tables_together_matches_networkx(seed: int, size: Size) -> None:
    """Each table is safe by itself; the check of both together agrees with NetworkX."""
    rng = random.Random(seed)
    together = []
    for _ in range(size.pick(60, 200, 1000)):
        topology = network.random_wiring(rng, 8)
        old, new = (random_tables(topology, rng, 2) for _ in range(2))
        if all(routes.check(topology, one).safe for one in (old, new)):
            safe = routes.check(topology, old, new).safe
            assert safe != network.can_deadlock(topology, old, new)
            together.append(safe)
    assert True in together and False in together


def test_check_of_old_tables_with_a_down_board_matches_networkx() -> None:
    topology = network.grid("torus 4x4")
    old = routes.generate(topology).tables
    new = routes.generate(routes.with_down(topology, ["x1y1"])).tables
    report = routes.check(topology, old, new)
    assert report.safe != network.can_deadlock(topology, old, new)


def test_opposite_routing_tables_are_unsafe_together() -> None:
    """A packet that follows old tables at one board and new ones at the next can travel back and forth without end."""
    topology, tables = clockwise(4, 2)
    vc = np.array([[int(dest > board) for dest in range(4)] for board in range(4)], dtype=np.int8)
    one = dataclasses.replace(tables, vc=vc)
    far = network.ends(topology)
    port = np.array(one.port)
    for board in range(4):
        back = next(link for (at, link), ahead in far.items() if at == board and ahead == (board - 1) % 4)
        port[board, np.arange(4) != board] = back
    other = dataclasses.replace(one, port=port, vc=1 - vc)
    assert routes.check(topology, one).safe and routes.check(topology, other).safe
    assert not routes.check(topology, one, other).safe


WRONG = {
    "no port": (lambda port, vc: port.__setitem__((0, 2), routes.NONE), "board x0y0 has no port for x2y0"),
    "no cable": (lambda port, vc: port.__setitem__((0, 2), 1), "to x0y0:south, where no cable is up"),
    "no link": (lambda port, vc: port.__setitem__((0, 2), 15), "board x0y0 has no port for x2y0"),
    "channel": (lambda port, vc: vc.__setitem__((0, 2), 2), "on virtual channel 2, there are 2"),
    "round": (lambda port, vc: port.__setitem__((1, 2), 3), "packets from board x0y0 to x2y0 loop"),
}


@pytest.mark.parametrize("case", WRONG)
def test_tables_without_a_valid_route_are_reported(case: str) -> None:
    topology = network.grid("mesh 3x2")
    tables = routes.generate(topology).tables
    port, vc = tables.port.copy(), tables.vc.copy()
    change, says = WRONG[case]
    change(port, vc)  # type: ignore[no-untyped-call]
    report = routes.check(topology, dataclasses.replace(tables, port=port, vc=vc))
    assert report.fault is not None and says in report.fault


def test_unreachable_host_is_reported() -> None:
    topology = network.wiring([(0, 1), (1, 2)], 3, hosts=[2])
    tables = routes.generate(topology).tables
    port = tables.host_port.copy()
    port[2, 0] = 0
    report = routes.check(topology, dataclasses.replace(tables, host_port=port))
    assert report.fault == "packets from board n0 to host h0 do not arrive"


def test_tables_of_another_topology_raise_an_error() -> None:
    tables = routes.generate(network.grid("ring 4")).tables
    with pytest.raises(InputError, match="for another topology"):
        routes.check(network.grid("ring 5"), tables)


def test_dependency_graph_covers_the_whole_fabric() -> None:
    """The mesh of a board: x first, then y; in through the top row, out through the nearest exit."""
    from gossamer.routes import deadlock

    part = deadlock._board(4, 3, 2)
    graph = nx.DiGraph()
    graph.add_edges_from((part.names[a], part.names[b]) for a, b in part.edges.T)
    assert nx.is_directed_acyclic_graph(graph)
    assert {name for name in part.names if name.startswith("rim")} == {
        f"rim {way} at tile ({column},2)" for way in ("in", "out") for column in (1, 3)
    }
    assert graph.has_edge("rim in at tile (1,2)", "west at tile (1,2)")
    assert graph.has_edge("rim in at tile (1,2)", "south at tile (1,2)")
    assert graph.has_edge("east at tile (0,0)", "north at tile (1,0)")
    assert not graph.has_edge("north at tile (1,0)", "east at tile (1,1)")
    # Tile (2,0) is equally far from both exits, and uses the lower one.
    reached = nx.descendants(graph, "inject at tile (2,0)")
    assert "rim out at tile (1,2)" in reached
    assert not graph.has_edge("north at tile (2,1)", "rim out at tile (3,2)")
    topology = network.grid("ring 4", "quad")
    report = routes.check(topology, routes.generate(topology).tables)
    assert report.networks == 4
    boards, tiles = 4, 4
    mesh = 8 + 2 * tiles + 2 * 2 + 2
    links = len(topology.cluster.boards[0].config.links.names)
    assert report.channels == 4 * boards * (mesh + 2 * links)


def test_check_shares_no_code_with_the_generator() -> None:
    folder = ROOT / "python" / "gossamer" / "routes"
    allowed = {"gossamer.config", "gossamer.config._source", "gossamer.errors", "gossamer.routes.multicast_keys"}
    for name in ("deadlock.py", "multicast_keys.py"):
        for node in ast.walk(ast.parse((folder / name).read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gossamer"):
                assert node.module in allowed, f"{name} imports {node.module}"
            if isinstance(node, ast.Import):
                assert not any(alias.name.startswith("gossamer") for alias in node.names)
    for path in folder.glob("_*.py"):
        if path.name != "__init__.py":
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom):
                    names = {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
                    assert not names & {"gossamer.routes.deadlock", "gossamer.routes.multicast_keys"}, path.name
