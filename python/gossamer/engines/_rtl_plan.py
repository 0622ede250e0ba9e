# SPDX-License-Identifier: Apache-2.0
"""The structure of a simulated cluster: links, routing tables and their updates, trees of boards, jobs.

Links that a cable uses are numbered without gaps in simulations, and few numbers of links are simulated; a host has its
own port on the switch of its board. A cluster without a host gets one at its first board.
"""

from __future__ import annotations

import contextlib
import functools
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer import device, routes
from gossamer.config import Cluster, Config, constants
from gossamer.engines import _rtl_build
from gossamer.engines._machine import NO_JOB
from gossamer.errors import InputError
from gossamer.routes._topology import link_name

_CHILDREN = 8
"""Maximum number of children of a board in a tree."""
_TABLE = 1 << constants.value("switch_table_bits")
"""Entries of a switch's table, of boards and of hosts."""

# Cycles in which a relay (gs_board_broadcast) receives a packet of 17 flits, and then sends each copy.
_RELAY_RECEIVE, _RELAY_COPY = 19, 18
_RELAY_HOP = 120
"""Cycles of a packet from one relay to the next, without the flight time: link, switch, the whole packet."""
_RELAY_PACKETS = 512
"""Size of the broadcast for which a tree is optimized: 128 KB."""


_LINK_PATIENCE = 200_000
"""Cycles within which a link must come up, in addition to eight flight times for the handshake."""
_DRAIN_PATIENCE = 100_000
"""Cycles within which packets in flight must arrive, in addition to eight flight times."""


@dataclass(frozen=True)
class Tree:
    """A tree of boards over cables."""

    root: int
    parent: dict[int, int]
    children: dict[int, list[int]]

    def boards(self) -> list[int]:
        """All boards, each after its parent."""
        found = [self.root]
        for board in found:
            found += self.children[board]
        return found


class Plan:
    """The structure of a cluster for simulator and host. Raises InputError for a cluster that cannot be simulated."""

    numbers: tuple[int, ...] = ()
    """Numbers of the boards in addresses, if they are not those of the plan."""

    def __init__(self, where: Cluster | Config, tables: routes.Tables | None = None) -> None:
        """A configuration means a single board."""
        self.cluster = cluster = Cluster.alone(where) if isinstance(where, Config) else where
        self.config = self._one_config()
        self.boards = len(cluster.boards)
        self.hosts = [host.board for host in cluster.hosts] or [0]
        if self.boards + len(self.hosts) > _TABLE:
            raise InputError(
                f"cluster {cluster.name}: {self.boards} board{'' if self.boards == 1 else 's'} and {len(self.hosts)} "
                f"host{'' if len(self.hosts) == 1 else 's'} are more than the "
                f"{_TABLE} entries of a switch's table"
            )
        self.topology = routes.Topology(cluster, {})
        if tables is None:
            tables = routes.generate(self.topology, vcs=2).tables
        report = routes.check(self.topology, tables)
        if not report.safe:
            raise InputError(f"{cluster.name}: the routes can deadlock; ./gossamer routes {cluster.name} shows how")
        self.tables = tables
        gone = [board.name for board in cluster.boards if board.name in tables.down]
        if gone:
            raise InputError(f"cluster {cluster.name}: the tables avoid board {gone[0]}, and all boards are simulated")
        if len(set(self.hosts)) < len(self.hosts):
            raise InputError(f"cluster {cluster.name}: two hosts at one board; a simulated board has a port for one")
        used: list[set[int]] = [set() for _ in cluster.boards]
        for cable in cluster.cables:
            used[cable.a].add(cable.a_link)
            used[cable.b].add(cable.b_link)
        self._numbers = [{link: number for number, link in enumerate(sorted(its))} for its in used]
        self.links = next(links for links in _rtl_build.LINKS if links >= max(map(len, self._numbers)))
        """Number of simulated links of each board, with or without a cable."""

    def _one_config(self) -> Config:
        names = {board.config.name: board for board in self.cluster.boards}
        if len(names) > 1:
            raise InputError(
                f"cluster {self.cluster.name}: boards of {' and '.join(sorted(names))}; only boards of one "
                "configuration are simulated together"
            )
        return self.cluster.boards[0].config

    @property
    def shape(self) -> tuple[int, int]:
        """Columns and rows of boards, as programs see them; custom wirings are one row."""
        width, height = self.cluster.width, self.cluster.height
        return (width, height) if width and height else (self.boards, 1)

    # ---- Links ----

    def link(self, board: int, link: int) -> int:
        """The simulator's number of a link, given its number in the configuration."""
        return self._numbers[board][link]

    def links_of(self, board: int) -> dict[int, str]:
        """The simulated links of a board: name by simulator's number."""
        names = self.cluster.boards[board].config.links.names
        return {number: names[link] for link, number in self._numbers[board].items()}

    def cable_at(self, board: int, number: int) -> int | None:
        """The cluster's number of the cable at a simulated link; None if there is no cable."""
        for index, cable in enumerate(self.cluster.cables):
            ends = ((cable.a, cable.a_link), (cable.b, cable.b_link))
            if any(end == board and self._numbers[end].get(link) == number for end, link in ends):
                return index
        return None

    def cable_name(self, index: int) -> str:
        """``a:east - b:west``."""
        cable = self.cluster.cables[index]
        ends = (link_name(self.cluster, cable.a, cable.a_link), link_name(self.cluster, cable.b, cable.b_link))
        return " - ".join(ends)

    def avoided(self, index: int) -> bool:
        """Whether the tables were generated without a cable."""
        return self.cable_name(index) in self.tables.down

    def find_cable(self, text: str) -> int:
        """A cable by its name or by one of its ends. Raises InputError if it is unknown."""
        name = " - ".join(part.strip() for part in text.split(" - "))
        for index in range(len(self.cluster.cables)):
            first, second = self.cable_name(index).split(" - ")
            if name in (first, second, f"{first} - {second}", f"{second} - {first}"):
                return index
        raise InputError(
            f"{text}: cluster {self.cluster.name} has no such link; one is called "
            f"{self.cable_name(0) if self.cluster.cables else 'none, it has no cables'}"
        )

    def wires(self, cuts: dict[int, int]) -> Iterator[tuple[int, int, int, int, int]]:
        """Both directions of each cable: from board and link, to board and link, cycle of the cut (-1: never)."""
        for index, cable in enumerate(self.cluster.cables):
            a, b = self.link(cable.a, cable.a_link), self.link(cable.b, cable.b_link)
            cut = cuts.get(index, -1)
            yield cable.a, a, cable.b, b, cut
            yield cable.b, b, cable.a, a, cut

    # ---- Tables ----

    def _port(self, link: int) -> int:
        return self.config.router.mesh_ports + link

    @property
    def host_port(self) -> int:
        """The host's port of a switch."""
        return self._port(self.links) + constants.enumeration("board_port")["host"]

    def board_entries(self, board: int) -> list[int]:
        """A board's table entries for all boards; 0 for an unreachable board."""
        port, vc = self.tables.port, self.tables.vc
        return [
            0 if port[board, to] < 0 else _entry(self._port(self.link(board, int(port[board, to]))), int(vc[board, to]))
            for to in range(self.boards)
        ]

    def host_entry(self, board: int, host: int) -> int:
        """A board's entry for a host; on other boards the entry for the host's board."""
        at = self.hosts[host]
        if board == at:
            return _entry(self.host_port, 0)
        return self.board_entries(board)[at]

    def route(self, board: int, to: int) -> list[int]:
        """The boards on a route, both ends included."""
        found = [board]
        while found[-1] != to:
            here = found[-1]
            link = int(self.tables.port[here, to])
            found.append(next(other for own, other, _ in self.cluster.neighbours(here) if own == link))
        return found

    def next_hops(self) -> Iterator[tuple[int, int, int]]:
        """The next hop for each pair of boards: link in the simulator, virtual channel, next board.

        The next board is the board itself if there is no route.
        """
        for board in range(self.boards):
            far = {link: other for link, other, _ in self.cluster.neighbours(board)}
            for to in range(self.boards):
                port, channel = self.tables.entry(board, to)
                yield (self.link(board, port), channel, far[port]) if port >= 0 else (0, 0, board)

    @functools.cached_property
    def hops(self) -> NDArray[np.int64]:
        """[board, destination board]: number of links on the route."""
        boards = range(self.boards)
        return np.array([[len(self.route(board, to)) - 1 for to in boards] for board in boards], np.int64)

    def order(self) -> list[int]:
        """Boards from the first host outward: each after all boards on its routes from and to the host."""
        root = self.hosts[0]
        on_route = {b: {*self.route(root, b), *self.route(b, root)} - {b} for b in range(self.boards)}
        found: list[int] = []
        left = sorted(range(self.boards), key=lambda b: (len(on_route[b]), b))
        while left:
            ready = next((b for b in left if on_route[b] <= set(found)), None)
            if ready is None:
                raise InputError(f"cluster {self.cluster.name}: its routes cannot be set up from the host outward")
            found.append(ready)
            left.remove(ready)
        return found

    def facts(
        self,
        jobs: Sequence[Job] = (),
        *,
        drain: str = "",
        flight: int | None = None,
        streams: Mapping[int, tuple[int, int]] | None = None,
    ) -> str:
        """The plan for the machine library (src/machine/plan.h): everything that configures the boards.

        A single job has all boards if ``jobs`` are none. With ``drain`` the tables must not be in use together with the
        previous ones, for that reason. ``flight`` replaces the flight time of the configuration. ``streams`` has the
        first streaming port of a job, and their number, on each of its boards; on all boards if it has none.
        """
        config = self.config
        flight = int(config.links.flight_cycles) if flight is None else flight
        lines = _shape(config, config.tiles, config.mesh.width, config.memory.dram.count)
        lines.append(f"cluster {self.cluster.name}")
        lines += [f"board {board.name}" for board in self.cluster.boards]
        lines.append(f"hosts {_words(self.hosts)}")
        lines += [f"job {_words(job.boards)}" for job in jobs] or [f"job {_words(range(self.boards))}"]
        lines += [f"streams {job} {_words(span)}" for job, span in (streams or {}).items()]
        lines.append(f"patience {_LINK_PATIENCE + 8 * flight} {_DRAIN_PATIENCE + 8 * flight}")
        done: set[int] = set()
        for board in self.order():
            for own, other, _ in self.cluster.neighbours(board):
                cable = self.cable_at(board, self.link(board, own))
                if other in done and cable is not None and not self.avoided(cable):
                    one = self.cluster.cables[cable]
                    link = self.link(other, one.a_link if one.a == other else one.b_link)
                    lines.append(f"up {other} {link} {self.cable_name(cable)}")
            hosts = (self.host_entry(board, host) for host in range(len(self.hosts)))
            lines.append(f"routes {board} {_words([*self.board_entries(board), *hosts])}")
            done.add(board)
        relay, idle = self.broadcast_tree(self.hosts[0]), self.tree(self.middle())
        lines += [f"relay {board} {_words(relay.children[board])}" for board in range(self.boards)]
        lines += [
            f"idle {board} {idle.parent.get(board, board)} {_words(idle.children[board])}" for board in idle.boards()
        ]
        lines += [f"hops {_words(hop)}" for hop in self.next_hops()]
        lines += [f"drain {drain}"] if drain else []
        return "".join(f"{line}\n" for line in [*lines, "end"])

    # ---- Trees ----

    def broadcast_tree(self, root: int) -> Tree:
        """The tree with the shortest estimated time of a broadcast to all boards.

        A relay sends its copies one after the other, so fewer children per board mean more throughput but a deeper
        tree; the best tree depends on the size of the broadcast.
        """
        found = [self._deep_tree(root)]
        for most in range(2, _CHILDREN + 1):
            with contextlib.suppress(InputError):
                found.append(self.tree(root, most))
        return min(found, key=self._relay_cycles)

    def _relay_cycles(self, tree: Tree) -> int:
        """Estimated cycles of a broadcast over a tree."""
        most = max(map(len, tree.children.values())) + self.config.memory.dram.count
        depth = max(_depths(tree).values())
        return _RELAY_PACKETS * (_RELAY_RECEIVE + most * _RELAY_COPY) + depth * (
            _RELAY_HOP + int(self.config.links.flight_cycles)
        )

    def _deep_tree(self, root: int) -> Tree:
        """A depth-first tree that continues at the neighbour with the fewest unvisited neighbours."""
        parent: dict[int, int] = {}
        below: dict[int, list[int]] = {board: [] for board in range(self.boards)}
        seen, path = {root}, [root]
        while path:
            left = [other for _, other, _ in self._direct_neighbours(path[-1]) if other not in seen]
            if not left or len(below[path[-1]]) == _CHILDREN:
                path.pop()
                continue

            def unvisited(board: int) -> tuple[int, int]:
                return sum(other not in seen for _, other, _ in self._direct_neighbours(board)), board

            board = min(left, key=unvisited)
            seen.add(board)
            parent[board] = path[-1]
            below[path[-1]].append(board)
            path.append(board)
        return Tree(root, parent, below) if len(seen) == self.boards else self.tree(root)

    def _direct_neighbours(self, board: int) -> list[tuple[int, int, int]]:
        """Neighbours to which the route of the tables is a cable between the two boards."""
        return [one for one in self.cluster.neighbours(board) if self.route(board, one[1]) == [board, one[1]]]

    def tree(self, root: int, most: int = _CHILDREN) -> Tree:
        """A breadth-first tree with at most ``most`` children per board. InputError if it does not reach all boards."""
        parent: dict[int, int] = {}
        below: dict[int, list[int]] = {board: [] for board in range(self.boards)}
        seen, queue = {root}, deque([root])
        while queue:
            board = queue.popleft()
            for _, other, _ in self.cluster.neighbours(board):
                if other in seen or len(below[board]) == most:
                    continue
                seen.add(other)
                parent[other] = board
                below[board].append(other)
                queue.append(other)
        if len(seen) < self.boards:
            raise InputError(f"cluster {self.cluster.name}: no tree with {most} children per board reaches all boards")
        return Tree(root, parent, below)

    def middle(self) -> int:
        """The board with the smallest distance to its farthest board."""
        return min(range(self.boards), key=lambda board: (self._depth(board), board))

    def _depth(self, root: int) -> int:
        return max(_depths(self.tree(root)).values())


def _shape(config: Config, tiles: int, width: int, drams: int) -> list[str]:
    """The first lines of a plan: the configuration, and the shape of a board."""
    line = config.cache.line_bytes
    shape = (tiles, width, config.threads_per_tile, config.core.threads_per_core, line, drams)
    return [f"config {config.name}", f"shape {_words(shape)}"]


def tile_facts(config: Config) -> str:
    """The plan of a single tile without a board."""
    return "".join(f"{line}\n" for line in [*_shape(config, 1, 1, 1), "tile", "end"])


def guest_facts(plan: Plan, number: int, streams: tuple[int, int], boards: Sequence[int]) -> str:
    """The plan of a job on boards that another host configures; ``number`` is the job's, ``streams`` its first
    streaming port and their number. Without ``boards`` it is a plan for streaming ports only.
    """
    config = plan.config
    lines = _shape(config, config.tiles, config.mesh.width, config.memory.dram.count)
    lines.append(f"cluster {plan.cluster.name}")
    lines += [f"board {plan.cluster.boards[board].name}" for board in boards]
    lines += [f"hosts {plan.hosts[0]}", f"job {_words(range(len(boards)))}"]
    lines.append(f"streams 0 {_words(streams)}")
    lines.append(f"guest {number} {_words(boards)}")
    return "".join(f"{line}\n" for line in [*lines, "end"])


def _entry(port: int, vc: int) -> int:
    """An entry of a switch's table."""
    return constants.layout("switch_entry").pack(valid=1, vc=vc, port=port)


def _words(numbers: Iterable[int]) -> str:
    return " ".join(map(str, numbers))


def _depths(tree: Tree) -> dict[int, int]:
    """The depth of each board in a tree."""
    depth = {tree.root: 0}
    for board, above in tree.parent.items():  # in the order in which they were found
        depth[board] = depth[above] + 1
    return depth


def read_tables(cluster: Cluster, path: str) -> routes.Tables:
    """Reads tables from a file. Raises InputError if it is damaged or for another topology."""
    return routes.read_tables(path, routes.Topology(cluster, {}))


def cuts(plan: Plan, texts: Sequence[str]) -> dict[int, int]:
    """Parses --cut options: ``LINK@CYCLE``, or ``LINK`` for a link that never becomes active."""
    found = {}
    for text in texts:
        name, at, cycle = text.rpartition("@")
        if at and not cycle.isdecimal():
            raise InputError(f"--cut {text}: write LINK@CYCLE, for instance a:east@1000; {cycle!r} is not a cycle")
        found[plan.find_cable(name if at else text)] = int(cycle) if at else -2
    return found


@dataclass(frozen=True)
class TableUpdate:
    """A replacement of the routing tables of running boards.

    Boards receive their tables one after the other, from the first host outward along the new routes, so that requests
    to a board and its answers pass only boards that have the new table. Packets in flight follow the old table at one
    board and the new table at the next, so both are checked together for deadlock; if they fail, the fabric must be
    drained first.
    """

    plan: Plan
    """The plan of the cluster with the new tables."""
    fault: str
    """Why new and old tables must not be in use at once; empty if they may."""

    @classmethod
    def of(cls, plan: Plan, tables: routes.Tables) -> TableUpdate:
        """An update from the tables of a plan. Raises InputError if these tables alone can deadlock."""
        after = Plan(plan.cluster, tables)
        report = routes.check(plan.topology, plan.tables, tables)
        return cls(after, report.fault or "")


MAX_JOBS = 16
"""Job slots of a board."""


@dataclass(frozen=True)
class Job:
    """A program on some boards of a cluster, with idle detection over its own threads. Jobs are numbered from 0.

    Every job has a slot on every board, but tiles only on its own boards. So messages of a job are counted on every
    board, also those that tiles of other jobs reject, and no barrier waits for a rejected message.
    """

    name: str
    """The name in messages."""
    boards: tuple[int, ...]
    """Numbers of boards in ascending order."""

    def part(self, cluster: Cluster) -> device.Part:
        """The shape of the job's boards for its program: a rectangle of a mesh, else a row."""
        width = cluster.width
        if width and cluster.height:
            columns = sorted({board % width for board in self.boards})
            rows = sorted({board // width for board in self.boards})
            dense = columns[-1] - columns[0] == len(columns) - 1 and rows[-1] - rows[0] == len(rows) - 1
            if dense and len(columns) * len(rows) == len(self.boards):
                return device.Part(len(columns), len(rows), self.boards)
        return device.Part(len(self.boards), 1, self.boards)


def jobs(cluster: Cluster, wanted: Sequence[tuple[str, Sequence[str]]]) -> list[Job]:
    """Jobs from names and names of boards. Raises InputError for an unknown board, or one that is given twice."""
    found: list[Job] = []
    taken: dict[int, str] = {}
    for name, boards in wanted:
        numbers = []
        for board in boards:
            number = cluster.board(board).index
            if number in taken:
                raise InputError(f"{name}: board {board} of cluster {cluster.name} runs {taken[number]} already")
            taken[number] = name
            numbers.append(number)
        found.append(Job(name, tuple(sorted(numbers))))
    if len(found) > MAX_JOBS:
        raise InputError(f"cluster {cluster.name}: {len(found)} jobs; its boards have {MAX_JOBS} job slots")
    return found


__all__ = [
    "MAX_JOBS",
    "NO_JOB",
    "Job",
    "Plan",
    "TableUpdate",
    "Tree",
    "cuts",
    "guest_facts",
    "jobs",
    "read_tables",
    "tile_facts",
]
