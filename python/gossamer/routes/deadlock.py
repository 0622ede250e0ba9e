# SPDX-License-Identifier: Apache-2.0
"""The independent check of routing tables: all packets arrive, and channel dependencies are acyclic.

This module shares no code with the generator. From the cluster, the tables and, if given, the tables of the multicast
routers it builds the graph of all channels of the fabric in all virtual networks, with an edge from each channel to
every channel that a packet in it may wait for, and searches for a cycle. Channels are

* on each board, in each virtual network: the mesh's channels between routers, each tile's injection and ejection, the
  rim's input and output at each exit column, and the endpoints of the switch (streams, match engines, control). Packets
  travel along x, then y; outgoing packets travel to the nearest exit column and north; incoming packets travel along
  the top row, then south. Every tile may send to every tile and to every board;
* the links: one channel per direction of a cable, virtual network and virtual channel. A packet that arrived over a
  link waits for the channel in its board's table entry for its destination, for the rim if the destination is on this
  board, or for the host;
* in the mailbox network: the multicast router's expanders (one queue for each input channel of the board, or as
  `shared` selects), once per level of indirection. A packet in an expander waits for the rim and for the links of its
  records;
* endpoints: the receiver of a request waits to send a reply; mailboxes, replies, control and hosts always drain.

If the graph is acyclic, no set of full buffers can wait for each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gossamer.config import Cluster, constants
from gossamer.routes.multicast_keys import Branch, KeyTables, branches

Ints = NDArray[np.int64]
Table = NDArray[np.int8]
SHARED = ("channel", "port", "board")
"""Scope of an expander queue of the multicast router."""


@dataclass(frozen=True)
class Report:
    """The result of the check. `fault` is a sentence, or None if the tables are safe."""

    channels: int
    dependencies: int
    networks: int
    """Number of virtual networks."""
    keys: int
    """Number of checked keys of multicast routers, counted once per channel of arrival."""
    fault: str | None = None
    ring: tuple[str, ...] = ()
    """The channels of a cycle: each waits for the next, and the last for the first."""
    witnesses: tuple[tuple[int, int, int, int], ...] = field(default=(), repr=False)
    """For a cycle of links only: (board, port, virtual channel, destination that waits for the next channel)."""

    @property
    def safe(self) -> bool:
        """Whether the tables are safe."""
        return self.fault is None


class Fabric:
    """The usable cables of a cluster. Tables are [board, destination] arrays of link and virtual channel."""

    def __init__(self, cluster: Cluster, vcs: int, down: Sequence[str] = ()) -> None:
        self.cluster, self.vcs = cluster, vcs
        boards = cluster.boards
        self.links = max((len(board.config.links.names) for board in boards), default=0)
        self.far = np.full((len(boards), max(1, self.links)), -1, dtype=np.int64)
        """[board, link]: the board at the other end; -1 if there is no cable, or it is down."""
        self.far_link = np.full_like(self.far, -1)
        self.host_at = {(host.board, host.link): number for number, host in enumerate(cluster.hosts)}
        marked = set(down)
        for cable in cluster.cables:
            ends = [self.link_name(cable.a, cable.a_link), self.link_name(cable.b, cable.b_link)]
            names = {boards[cable.a].name, boards[cable.b].name, " - ".join(ends)}
            if not names & marked:
                self.far[cable.a, cable.a_link], self.far_link[cable.a, cable.a_link] = cable.b, cable.b_link
                self.far[cable.b, cable.b_link], self.far_link[cable.b, cable.b_link] = cable.a, cable.a_link
        self.up = np.array([board.name not in marked for board in boards], dtype=np.bool_)

    def link_name(self, board: int, link: int) -> str:
        """``x0y0:east``."""
        one = self.cluster.boards[board]
        names = one.config.links.names
        return f"{one.name}:{names[link]}" if 0 <= link < len(names) else f"{one.name}: link {link}"


def check(
    cluster: Cluster,
    tables: Sequence[tuple[Table, Table, Table, Table]],
    vcs: int,
    *,
    down: Sequence[Sequence[str]] = (),
    keys: KeyTables | None = None,
    shared: str = "channel",
) -> Report:
    """Checks tables, each (port, vc, host port, host vc) by [board, destination].

    With two tables (old and new), every packet may follow either table at every board, as during an update. `down` has
    a list of names of failed boards and cables for each table. Entries below 0 have no route.
    """
    marks = [tuple(names) for names in down] or [()] * len(tables)
    fabrics = [Fabric(cluster, vcs, names) for names in marks]
    whole = Fabric(cluster, vcs, sorted(set.intersection(*(set(names) for names in marks))))
    for fabric, (port, vc, host_port, host_vc) in zip(fabrics, tables, strict=True):
        fault = _arrives(fabric, port, vc) or _hosts_arrive(fabric, port, host_port, host_vc)
        if fault:
            return Report(0, 0, 0, 0, fault)
    graph = _Graph(whole, shared)
    links, witness = _link_dependencies(whole, tables)
    if keys is not None and keys.turns:
        fault = _no_turn(whole, keys)
        if fault:
            return Report(0, 0, 0, 0, fault)
        links = np.concatenate([links, _declared(whole, keys)], axis=1)
    for port, vc, host_port, host_vc in tables:
        graph.table(port, vc)
        graph.table(host_port, host_vc, hosts=True)
    graph.links(links)
    followed = 0
    if keys is not None:
        found = branches(whole.cluster, keys, vcs)
        followed = len(found)
        graph.multicast(found)
        fault = _turns(whole, found, links)
        if fault:
            return Report(graph.channels, graph.edges, graph.networks, followed, fault)
    ring = graph.ring()
    if ring:
        names = tuple(graph.name(node) for node in ring)
        what = "old and new tables together" if len(tables) > 1 else "the routes"
        fault = f"{what} can deadlock: {' waits for '.join((*names[:8], *(['...'] if len(names) > 8 else [])))}"
        return Report(
            graph.channels, graph.edges, graph.networks, followed, fault, names, graph.witnesses(ring, witness)
        )
    return Report(graph.channels, graph.edges, graph.networks, followed)


# ------------------------------------------------------------------ arrival


def _arrives(fabric: Fabric, port: Table, vc: Table) -> str | None:
    """A sentence unless every board that is up reaches every other one over existing cables; else None."""
    cluster = fabric.cluster
    count = len(cluster.boards)
    if port.shape != (count, count) or vc.shape != port.shape:
        return f"tables have {port.shape[0]} rows of {port.shape[1]} boards, the cluster has {count} boards"
    name = [board.name for board in cluster.boards]
    wanted = fabric.up[:, None] & fabric.up[None, :] & ~np.eye(count, dtype=np.bool_)
    rows, columns = np.nonzero(wanted)
    ports, lanes = port[rows, columns].astype(np.int64), vc[rows, columns]
    wrong = (ports < 0) | (ports >= fabric.far.shape[1])
    if wrong.any():
        at = int(np.argmax(wrong))
        return f"board {name[rows[at]]} has no port for {name[columns[at]]}"
    ahead = fabric.far[rows, ports]
    if (ahead < 0).any():
        at = int(np.argmax(ahead < 0))
        where = fabric.link_name(int(rows[at]), int(ports[at]))
        return f"board {name[rows[at]]} sends packets for {name[columns[at]]} to {where}, where no cable is up"
    wrong = (lanes < 0) | (lanes >= fabric.vcs)
    if wrong.any():
        at = int(np.argmax(wrong))
        return (
            f"board {name[rows[at]]} sends packets for {name[columns[at]]} on virtual channel {lanes[at]}, "
            f"there are {fabric.vcs}"
        )
    following = np.tile(np.arange(count), (count, 1)).T
    following[rows, columns] = ahead
    for _ in range(max(1, count.bit_length())):
        following = following[following, np.arange(count)[None, :]]
    lost = wanted & (following != np.arange(count)[None, :])
    if lost.any():
        row, column = (int(side[0]) for side in np.nonzero(lost))
        return f"packets from board {name[row]} to {name[column]} loop and never arrive"
    return None


def _hosts_arrive(fabric: Fabric, port: Table, host_port: Table, host_vc: Table) -> str | None:
    """A sentence unless every route to a host ends at its board and its own link; else None."""
    cluster = fabric.cluster
    if host_port.shape != (len(cluster.boards), len(cluster.hosts)):
        return f"tables have {host_port.shape[1]} hosts, the cluster has {len(cluster.hosts)}"
    if ((host_vc < 0) | (host_vc >= fabric.vcs)).any():
        return f"a route to a host has a virtual channel beyond {fabric.vcs - 1}"
    for number, host in enumerate(cluster.hosts):
        for board in np.flatnonzero(fabric.up) if fabric.up[host.board] else ():
            at, seen = int(board), 0
            while at != host.board and seen <= len(cluster.boards):
                link = int(host_port[at, number])
                at = int(fabric.far[at, link]) if 0 <= link < fabric.far.shape[1] else -1
                seen += 1
                if at < 0:
                    break
            if at != host.board or int(host_port[at, number]) != host.link:
                return f"packets from board {cluster.boards[board].name} to host {host.name} do not arrive"
    return None


# ------------------------------------------------------- links among themselves


def _link_dependencies(
    fabric: Fabric, tables: Sequence[tuple[Table, Table, Table, Table]]
) -> tuple[Ints, dict[tuple[int, int], int]]:
    """Pairs of link channels, each (board, link, vc) as one number, of which the first may wait for the second.

    Tables may be mixed: a packet may follow one table at a board and another one at the next.
    """
    most = fabric.far.shape[1] * fabric.vcs
    count = len(fabric.cluster.boards)
    total = count * most
    pairs, dests = [], []
    for port, vc, host_port, host_vc in tables:
        for next_port, next_vc, next_host_port, next_host_vc in tables:
            for first, first_vc, second, second_vc in (
                (port, vc, next_port, next_vc),
                (host_port, host_vc, next_host_port, next_host_vc),
            ):
                rows, columns = np.nonzero(first >= 0)
                out = first[rows, columns].astype(np.int64)
                ahead = fabric.far[rows, out]
                source = rows * most + out * fabric.vcs + first_vc[rows, columns]
                there = (ahead >= 0) & (second[ahead, columns] >= 0)
                source, ahead, columns = source[there], ahead[there], columns[there]
                lane = second[ahead, columns].astype(np.int64) * fabric.vcs + second_vc[ahead, columns]
                target = ahead * most + lane
                pairs.append(source * total + target)
                dests.append(columns)
    every = np.concatenate(pairs)
    unique, first_at = np.unique(every, return_index=True)
    dest = np.concatenate(dests)[first_at]
    both = np.stack([unique // total, unique % total])
    return both, _Witness(unique, dest, total)


class _Witness(dict[tuple[int, int], int]):
    """A destination for each dependency between links, looked up on demand."""

    def __init__(self, pairs: Ints, dests: Ints, total: int) -> None:
        super().__init__()
        self.pairs, self.dests, self.total = pairs, dests, total

    def __missing__(self, key: tuple[int, int]) -> int:
        pair = key[0] * self.total + key[1]
        at = int(np.searchsorted(self.pairs, pair))
        if at == len(self.pairs) or self.pairs[at] != pair:
            return -1  # a turn of trees only
        return int(self.dests[at])


def dependencies(fabric: Fabric, tables: Sequence[tuple[Table, Table, Table, Table]]) -> Ints:
    """[2, pair]: channels (board * links + link) * vcs + vc of links, of which the first may wait for the second."""
    return _link_dependencies(fabric, tables)[0]


def _no_turn(fabric: Fabric, keys: KeyTables) -> str | None:
    """A sentence unless all declared turns are between existing channels; else None."""
    boards, links = fabric.far.shape
    for board, link, vc, onward, lane in keys.turns:
        there = int(fabric.far[board, link]) if 0 <= board < boards and 0 <= link < links else -1
        if there < 0 or not 0 <= onward < links or fabric.far[there, onward] < 0:
            turn = f"a turn from link {link} of board {fabric.cluster.boards[board].name} to link {onward} of the next"
            return f"{keys.path}: {turn}, where no cable is up"
        if not (0 <= vc < fabric.vcs and 0 <= lane < fabric.vcs):
            return f"{keys.path}: a turn names virtual channel {max(vc, lane)}, there are {fabric.vcs}"
    return None


def _declared(fabric: Fabric, keys: KeyTables) -> Ints:
    """The declared turns of the tables of keys, as pairs of link channels."""
    board, link, vc, onward, lane = np.array(keys.turns, dtype=np.int64).reshape(-1, 5).T
    links, vcs = fabric.far.shape[1], fabric.vcs
    there = fabric.far[board, link]
    return np.stack([(board * links + link) * vcs + vc, (there * links + onward) * vcs + lane])


def _turns(fabric: Fabric, found: Sequence[Branch], links: Ints) -> str | None:
    """A sentence if a tree takes a turn that no route takes and that is not declared; else None.

    The check covers all these turns together, so any set of trees that takes only such turns is safe.
    """
    most = fabric.far.shape[1] * fabric.vcs
    total = len(fabric.cluster.boards) * most
    permitted = set((links[0] * total + links[1]).tolist())
    for branch in found:
        for link, vc in branch.links:
            if fabric.far[branch.board, link] < 0:
                return f"{branch.where}: a record sends to {fabric.link_name(branch.board, link)}, where no cable is up"
            if branch.came is not None:
                board, came_link, came_vc = branch.came
                source = board * most + came_link * fabric.vcs + came_vc
                target = branch.board * most + link * fabric.vcs + vc
                if source * total + target not in permitted:
                    return (
                        f"{branch.where}: a record turns from {fabric.link_name(board, came_link)} channel {came_vc} "
                        f"to {fabric.link_name(branch.board, link)} channel {vc}, a turn that no route takes"
                    )
    return None


# ---------------------------------------------------------------- the graph


@dataclass(frozen=True, eq=False)
class _Board:
    """Channels of one board in one virtual network, and the edges between them; the same for all boards of a shape."""

    names: list[str]
    edges: Ints
    """[2, edge]."""
    enter: Ints
    """Channels that receive packets from links: the rim's input of each exit column, and the switch's endpoints."""
    leave: Ints
    """Channels that send packets to links: the rim's output, and the same endpoints."""
    rim_in: Ints
    """[exit]."""
    rim_out: Ints
    asked: Ints
    """Channels in which requests end: tiles, then the switch's endpoints."""
    answers: Ints
    """Channels in which their replies begin, in the same order."""


def _board(width: int, height: int, exits: int) -> _Board:
    """The mesh of tiles of a board with its rim."""
    names: list[str] = []
    index: dict[tuple[str, int, int], int] = {}
    edges: set[tuple[int, int]] = set()

    def node(kind: str, x: int, y: int) -> int:
        if (kind, x, y) not in index:
            index[kind, x, y] = len(names)
            names.append(f"{kind} at tile ({x},{y})")
        return index[kind, x, y]

    columns = [(2 * number + 1) * width // (2 * exits) for number in range(exits)]
    step = {"east": (1, 0), "west": (-1, 0), "north": (0, 1), "south": (0, -1)}

    def walk(start: int, x: int, y: int, to_x: int, to_y: int, last: tuple[str, int, int]) -> None:
        """Adds the edges of a route within the mesh: x first, then y."""
        before = start
        while (x, y) != (to_x, to_y):
            if x != to_x:
                direction = "east" if to_x > x else "west"
            else:
                direction = "north" if to_y > y else "south"
            here = node(direction, x, y)
            edges.add((before, here))
            before = here
            x, y = x + step[direction][0], y + step[direction][1]
        edges.add((before, node(*last)))

    tiles = [(x, y) for y in range(height) for x in range(width)]
    for x, y in tiles:
        for to_x, to_y in tiles:
            walk(node("inject", x, y), x, y, to_x, to_y, ("eject", to_x, to_y))
        exit_at = min(columns, key=lambda column: (abs(column - x), column))
        walk(node("inject", x, y), x, y, exit_at, height - 1, ("rim out", exit_at, height - 1))
    for column in columns:
        for to_x, to_y in tiles:
            walk(node("rim in", column, height - 1), column, height - 1, to_x, to_y, ("eject", to_x, to_y))
        node("rim out", column, height - 1)
    rim_in = [index["rim in", column, height - 1] for column in columns]
    rim_out = [index["rim out", column, height - 1] for column in columns]
    # Streams, match engines, control share no channels in hardware, so one node represents all.
    names += ["to the endpoints of the switch", "from the endpoints of the switch"]
    taken, sent = len(names) - 2, len(names) - 1
    edges |= {(rim, taken) for rim in rim_out} | {(sent, rim) for rim in rim_in}
    return _Board(
        names,
        np.array(sorted(edges), dtype=np.int64).T,
        enter=np.array([*rim_in, taken]),
        leave=np.array([*rim_out, sent]),
        rim_in=np.array(rim_in),
        rim_out=np.array(rim_out),
        asked=np.array([*(index["eject", x, y] for x, y in tiles), taken]),
        answers=np.array([*(index["inject", x, y] for x, y in tiles), sent]),
    )


class _Graph:
    """The dependency graph of all channels of all boards and links in all virtual networks."""

    def __init__(self, fabric: Fabric, shared: str) -> None:
        if shared not in SHARED:
            raise ValueError(f"expanders are shared by {', '.join(SHARED)}, not {shared}")
        self.fabric, self.shared = fabric, shared
        vnets = constants.enumeration("vnet").values
        self.vnets = list(vnets)
        self.networks = len(self.vnets)
        boards = fabric.cluster.boards
        shapes: dict[tuple[int, int, int], _Board] = {}
        self.parts: list[_Board] = []
        for board in boards:
            mesh, ports = board.config.mesh, board.config.router.mesh_ports
            key = mesh.width, mesh.height, min(ports, mesh.width)
            if key not in shapes:
                shapes[key] = _board(*key)
            self.parts.append(shapes[key])
        # In a network: the boards' own channels, then those of links, including links to hosts.
        sizes = np.array([len(part.names) for part in self.parts], dtype=np.int64)
        self.start = np.concatenate([[0], np.cumsum(sizes)])
        self.lanes = fabric.far.shape[1] * fabric.vcs
        self.link_base = int(self.start[-1])
        self.size = self.link_base + len(boards) * self.lanes
        self.pieces: list[Ints] = []
        """Edges within a network, equal for all networks."""
        self.extra: list[Ints] = []
        """Further edges, between nodes of the whole graph."""
        self.expanders: dict[tuple[object, ...], int] = {}
        self.expander_names: list[str] = []
        self._within(shapes)

    @property
    def channels(self) -> int:
        """Number of channels."""
        return self.size * self.networks + len(self.expander_names)

    @property
    def edges(self) -> int:
        """Number of edges, possibly with duplicates."""
        one = sum(int(piece.shape[1]) for piece in self.pieces)
        return one * self.networks + sum(int(piece.shape[1]) for piece in self.extra)

    def _within(self, shapes: dict[tuple[int, int, int], _Board]) -> None:
        """Adds the edges of meshes, and those from requests to replies."""
        request, reply = self.vnets.index("request"), self.vnets.index("reply")
        for part in shapes.values():
            at = np.array([start for start, own in zip(self.start, self.parts, strict=False) if own is part])
            self.pieces.append((part.edges[:, None, :] + at[None, :, None]).reshape(2, -1))
            asks = (part.asked[None, :] + at[:, None]).ravel() + request * self.size
            answers = (part.answers[None, :] + at[:, None]).ravel() + reply * self.size
            self.extra.append(np.stack([asks, answers]))

    def link_node(self, board: Ints | int, link: Ints | int, vc: Ints | int) -> Ints | int:
        """The channel of a board's outgoing link within a network."""
        return self.link_base + board * self.lanes + link * self.fabric.vcs + vc

    def table(self, port: Table, vc: Table, *, hosts: bool = False) -> None:
        """Adds edges from a board's outgoing channels to the table's links, and from these to the next board's rim."""
        fabric = self.fabric
        rows, columns = np.nonzero(port >= 0)
        lane = port[rows, columns].astype(np.int64) * fabric.vcs + vc[rows, columns]
        used = np.unique(rows * self.lanes + lane)
        for board in np.unique(used // self.lanes).tolist():
            outs = used[(used >= board * self.lanes) & (used < (board + 1) * self.lanes)] + self.link_base
            self._all_to_all(self.parts[board].leave + self.start[board], outs)
        if hosts:
            return
        arrived = fabric.far[used // self.lanes, used % self.lanes // fabric.vcs]
        nodes = used[arrived >= 0] + self.link_base
        arrived = arrived[arrived >= 0]
        for board in np.unique(arrived).tolist():
            self._all_to_all(nodes[arrived == board], self.parts[board].enter + self.start[board])

    def _all_to_all(self, sources: Ints, targets: Ints) -> None:
        self.pieces.append(np.stack([np.repeat(sources, len(targets)), np.tile(targets, len(sources))]))

    def links(self, pairs: Ints) -> None:
        """Adds edges between links."""
        self.pieces.append(pairs + self.link_base)

    def multicast(self, found: Sequence[Branch]) -> None:
        """Adds the expanders of the mailbox network that keys reach."""
        base = self.vnets.index("mailbox") * self.size
        edges: set[tuple[int, int]] = set()
        for branch in found:
            board = branch.board
            queue = self._expander(branch, branch.depth)
            if branch.depth == 0:
                if branch.came is None:
                    for rim in self.parts[board].rim_out:
                        edges.add((base + int(rim + self.start[board]), queue))
                else:
                    edges.add((base + int(self.link_node(*branch.came)), queue))
            if branch.local:
                edges |= {(queue, base + int(rim + self.start[board])) for rim in self.parts[board].rim_in}
            edges |= {(queue, base + int(self.link_node(board, link, vc))) for link, vc in branch.links}
            if branch.indirect:
                edges.add((queue, self._expander(branch, branch.depth + 1)))
        if edges:
            self.extra.append(np.array(sorted(edges), dtype=np.int64).T)

    def _expander(self, branch: Branch, depth: int) -> int:
        """The expander queue of a packet with a key."""
        fabric = self.fabric
        name = fabric.cluster.boards[branch.board].name
        key: tuple[object, ...] = branch.board, depth
        if self.shared != "board":
            if branch.came is None:
                key, name = (*key, "rim"), f"{name} for the rim"
            else:
                board, link, vc = branch.came
                port = int(fabric.far_link[board, link])
                key, name = (*key, port), f"{name} for {fabric.link_name(branch.board, port)}"
                if self.shared == "channel":
                    key, name = (*key, vc), f"{name} channel {vc}"
        if key not in self.expanders:
            self.expanders[key] = self.size * self.networks + len(self.expander_names)
            self.expander_names.append(f"the expander of {name}" + (f", indirection {depth}" if depth else ""))
        return self.expanders[key]

    # ------------------------------------------------------------- searching

    def ring(self) -> list[int]:
        """A cycle of channels, each waiting for the next; empty if the graph is acyclic."""
        one = np.concatenate(self.pieces, axis=1)
        many = [one + network * self.size for network in range(self.networks)]
        source, target = np.concatenate([*many, *self.extra], axis=1)
        left = self._unordered(source, target)
        if not left.any():
            return []
        # Every remaining channel has a remaining successor, so following successors ends in a cycle.
        inside = left[source] & left[target]
        following: dict[int, int] = dict(zip(source[inside].tolist(), target[inside].tolist(), strict=True))
        node = next(iter(following))
        seen: dict[int, int] = {}
        path: list[int] = []
        while node not in seen:
            seen[node] = len(path)
            path.append(node)
            node = following[node]
        return path[seen[node] :]

    def _unordered(self, source: Ints, target: Ints) -> NDArray[np.bool_]:
        """[channel]: whether it waits, directly or indirectly, for a cycle. Removes channels that do not."""
        waits = np.bincount(source, minlength=self.channels)
        by_target = np.argsort(target, kind="stable")
        starts = np.searchsorted(target[by_target], np.arange(self.channels + 1))
        back = source[by_target]
        left = np.ones(self.channels, dtype=np.bool_)
        free = np.flatnonzero(waits == 0)
        while len(free):
            left[free] = False
            counts = starts[free + 1] - starts[free]
            first = np.repeat(starts[free] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
            before = back[first + np.arange(len(first))]
            np.subtract.at(waits, before, 1)
            free = np.unique(before)
            free = free[waits[free] == 0]
        return left

    def name(self, node: int) -> str:
        """The description of a channel."""
        if node >= self.size * self.networks:
            return self.expander_names[node - self.size * self.networks]
        vnet = self.vnets[node // self.size]
        place = node % self.size
        if place < self.link_base:
            board = int(np.searchsorted(self.start, place, side="right")) - 1
            name = self.fabric.cluster.boards[board].name
            return f"{name} {self.parts[board].names[place - int(self.start[board])]} ({vnet})"
        board, lane = divmod(place - self.link_base, self.lanes)
        link, vc = divmod(lane, self.fabric.vcs)
        return f"{self.fabric.link_name(board, link)} channel {vc} ({vnet})"

    def witnesses(
        self, ring: Sequence[int], dests: dict[tuple[int, int], int]
    ) -> tuple[tuple[int, int, int, int], ...]:
        """See `Report.witnesses`."""
        places = [node % self.size - self.link_base for node in ring]
        if any(node >= self.size * self.networks or place < 0 for node, place in zip(ring, places, strict=True)):
            return ()
        found = []
        for place, after in zip(places, [*places[1:], places[0]], strict=True):
            board, lane = divmod(place, self.lanes)
            found.append((board, lane // self.fabric.vcs, lane % self.fabric.vcs, dests[place, after]))
        return tuple(found) if all(one[3] >= 0 for one in found) else ()
