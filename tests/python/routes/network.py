# SPDX-License-Identifier: Apache-2.0
"""Independent models for routes: random wirings, a flit simulator, and checks by NetworkX."""

from __future__ import annotations

import functools
import random
import tempfile
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import networkx as nx

from gossamer import config
from gossamer.config import Board, Cable, Cluster, Config, Host
from gossamer.routes import Tables, Topology

LINKS = 8


@functools.cache
def board_config(links: int = LINKS) -> Config:
    """A tiny board with links p0, p1, ..."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.toml"
        names = ", ".join(f'"p{number}"' for number in range(links))
        path.write_text(f'base = "tiny"\ndescription = "many links"\n[links]\nnames = [{names}]\n')
        return config.load(path)


def wiring(edges: Iterable[tuple[int, int]], boards: int, hosts: Sequence[int] = ()) -> Topology:
    """Boards with a cable for each edge, and hosts, at the next free links."""
    free = [0] * boards

    def link(board: int) -> int:
        free[board] += 1
        assert free[board] <= LINKS
        return free[board] - 1

    cables = tuple(Cable(a, link(a), b, link(b)) for a, b in edges)
    at = tuple(Host(f"h{number}", board, link(board)) for number, board in enumerate(hosts))
    made = tuple(Board(number, f"n{number}", board_config()) for number in range(boards))
    return Topology(Cluster("wiring", "for tests", "custom", made, cables, at), {})


def random_wiring(rng: random.Random, most: int = 20) -> Topology:
    """A random tree with further cables, also parallel ones, and one or two hosts."""
    boards = rng.randrange(2, most + 1)
    degree = [0] * boards
    edges = []

    def join(a: int, b: int) -> None:
        if a != b and max(degree[a], degree[b]) < LINKS - 2:
            edges.append((a, b))
            degree[a] += 1
            degree[b] += 1

    for board in range(1, boards):
        near = [other for other in range(board) if degree[other] < LINKS - 3]
        join(board, rng.choice(near))
    for _ in range(rng.randrange(0, 2 * boards)):
        join(rng.randrange(boards), rng.randrange(boards))
    if edges and rng.random() < 0.3:
        join(*rng.choice(edges))
    return wiring(edges, boards, [rng.randrange(boards) for _ in range(rng.randrange(0, 3))])


def grid(text: str, configuration: str = "tiny") -> Topology:
    """A generated cluster: ``torus 4x2 twist 2``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "grid.toml"
        path.write_text(f'description = "x"\nconfig = "{configuration}"\ntopology = "{text}"\n')
        return Topology(config.load_cluster(path), {})


def graph_of(topology: Topology) -> Any:
    """The boards and cables that are up, as a NetworkX graph."""
    cluster = topology.cluster
    graph: Any = nx.MultiGraph()
    graph.add_nodes_from(board.index for board in cluster.boards if board.index not in topology.down_boards)
    for number, cable in enumerate(cluster.cables):
        if number not in topology.down_cables and cable.a in graph and cable.b in graph:
            graph.add_edge(cable.a, cable.b)
    return graph


Channel = tuple[int, int, int]
"""Board, link, virtual channel."""


def ends(topology: Topology) -> dict[tuple[int, int], int]:
    """(board, link) -> the board at the other end, of cables that are up."""
    cluster = topology.cluster
    found = {}
    for number, cable in enumerate(cluster.cables):
        if number not in topology.down_cables and not {cable.a, cable.b} & topology.down_boards:
            found[cable.a, cable.a_link] = cable.b
            found[cable.b, cable.b_link] = cable.a
    return found


def path(topology: Topology, tables: Tables, source: int, destination: int) -> list[Channel]:
    """The channels of a route, found by walking it."""
    far = ends(topology)
    found = []
    board = source
    while board != destination:
        port, vc = tables.entry(board, destination)
        found.append((board, port, vc))
        board = far[board, port]
        assert len(found) <= len(topology.cluster.boards), "a route has a cycle"
    return found


def can_deadlock(topology: Topology, *tables: Tables) -> bool:
    """Whether link dependencies of all tables together have a cycle, by NetworkX."""
    far = ends(topology)
    graph: Any = nx.DiGraph()
    boards = range(len(topology.cluster.boards))
    for one in tables:
        for other in tables:
            for board in boards:
                for dest in boards:
                    if one.port[board, dest] >= 0:
                        port, vc = one.entry(board, dest)
                        ahead = far[board, port]
                        if other.port[ahead, dest] >= 0:
                            graph.add_edge((board, port, vc), (ahead, *other.entry(ahead, dest)))
    return not nx.is_directed_acyclic_graph(graph)


@dataclass
class Packet:
    """A packet to a board, or a multicast packet that follows a tree."""

    dest: int
    number: int


@dataclass
class Fabric:
    """Boards that store whole packets and links that carry a flit a cycle; a buffer holds one packet a channel.

    Every board injects as fast as it can to random destinations. Arrived packets are consumed at once.
    """

    topology: Topology
    tables: Tables
    rng: random.Random
    flits: int = 3
    buffers: dict[Channel, Packet] = field(default_factory=dict)
    """Packets that wait at the far end of each channel."""
    moving: dict[tuple[int, int], tuple[int, Channel, Packet]] = field(default_factory=dict)
    """Flits left, channel and packet on a direction of a cable."""
    waiting: dict[int, deque[Packet]] = field(default_factory=dict)
    """Packets that boards want to send."""
    delivered: list[int] = field(default_factory=list)
    sent: int = 0

    def __post_init__(self) -> None:
        self.far = ends(self.topology)
        self.boards = [b.index for b in self.topology.cluster.boards if b.index not in self.topology.down_boards]
        self.waiting = {board: deque() for board in self.boards}
        self.into: dict[int, list[Channel]] = {board: [] for board in self.boards}
        for (board, link), ahead in sorted(self.far.items()):
            self.into[ahead] += [(board, link, vc) for vc in range(self.tables.vcs)]

    def inject(self) -> None:
        """Refills the packets that boards want to send."""
        for board in self.boards:
            while len(self.waiting[board]) < 2:
                dest = self.rng.choice(self.boards)
                if dest == board:
                    continue
                self.waiting[board].append(Packet(dest, self.sent))
                self.sent += 1

    def step(self) -> bool:
        """Simulates a cycle. Returns whether a flit moved."""
        moved = False
        for direction, (left, channel, packet) in list(self.moving.items()):
            moved = True
            if left > 1:
                self.moving[direction] = left - 1, channel, packet
            else:
                del self.moving[direction]
                self.buffers[channel] = packet
        for board in self.boards:
            for channel in self.into[board]:
                held = self.buffers.get(channel)
                if held is not None and held.dest == board:
                    del self.buffers[channel]
                    self.delivered.append(held.number)
                    moved = True
            sources: list[Channel | None] = [channel for channel in self.into[board] if channel in self.buffers]
            if self.waiting[board]:
                sources.append(None)
            self.rng.shuffle(sources)
            for source in sources:
                packet = self.waiting[board][0] if source is None else self.buffers[source]
                port, vc = self.tables.entry(board, packet.dest)
                target = board, port, vc
                taken = target in self.buffers or any(to == target for _, to, _ in self.moving.values())
                if taken or (board, port) in self.moving:
                    continue
                self.moving[board, port] = self.flits, target, packet
                moved = True
                if source is None:
                    self.waiting[board].popleft()
                else:
                    del self.buffers[source]
        return moved

    def run(self, cycles: int) -> bool:
        """Saturates the fabric, then drains it. Returns False if it deadlocks."""
        if len(self.boards) < 2:
            return True  # a single board has no destination
        for _ in range(cycles):
            self.inject()
            if not self.step():
                return False
        return self.drain()

    def drain(self) -> bool:
        """Drains the fabric. Returns False if it deadlocks."""
        while self.buffers or self.moving or any(self.waiting.values()):
            if not self.step():
                return False
        return True
