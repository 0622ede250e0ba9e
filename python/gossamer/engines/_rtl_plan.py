# SPDX-License-Identifier: Apache-2.0
"""The structure of a simulated cluster: links, routing tables and their updates, trees of boards, jobs.

Only links that a cable uses are simulated, numbered without gaps; a host has a port of its own on the switch of its
board. A cluster without a host gets one at its first board.
"""

from __future__ import annotations

import contextlib
import functools
import struct
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gossamer import device, routes
from gossamer.config import Cluster, Config
from gossamer.engines import _rtl_control
from gossamer.engines._rtl_network import Flits
from gossamer.errors import InputError
from gossamer.routes._topology import link_name

if TYPE_CHECKING:
    from gossamer.engines._rtl_control import Answer


# A relay (gs_board_broadcast) takes a packet of 17 flits, then sends its copies, a cycle between two.
_RELAY_TAKES, _RELAY_COPY = 19, 18
_RELAY_HOP = 120
"""Cycles of a packet from one relay to the next, without the wire's flight: link, switch, the whole packet."""
_RELAY_PACKETS = 512
"""What a tree is chosen for: 128 KB."""


@dataclass(frozen=True)
class Tree:
    """A tree of boards over cables."""

    root: int
    parent: dict[int, int]
    children: dict[int, list[int]]

    def boards(self) -> list[int]:
        """All boards, each behind its parent."""
        found = [self.root]
        for board in found:
            found += self.children[board]
        return found


class Plan:
    """All that a simulator and a host must know of a cluster. InputError where it cannot be simulated."""

    def __init__(self, cluster: Cluster, tables: routes.Tables | None = None) -> None:
        self.cluster = cluster
        self.config = self._one_config()
        self.boards = len(cluster.boards)
        self.hosts = [host.board for host in cluster.hosts] or [0]
        if self.boards + len(self.hosts) > _rtl_control.TABLE:
            raise InputError(
                f"cluster {cluster.name}: {self.boards} boards and {len(self.hosts)} hosts are more than the "
                f"{_rtl_control.TABLE} entries of a switch's table"
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
        self.links = max(1, *map(len, self._numbers))
        """Links of each board that are simulated."""

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
        """Columns and rows of boards, as programs are told; custom wirings are one row."""
        width, height = self.cluster.width, self.cluster.height
        return (width, height) if width and height else (self.boards, 1)

    # ---- Links ----

    def link(self, board: int, link: int) -> int:
        """The number in the simulator of a link by its number in the configuration."""
        return self._numbers[board][link]

    def links_of(self, board: int) -> dict[int, str]:
        """Links of a board that are simulated: its name by its number there."""
        names = self.cluster.boards[board].config.links.names
        return {number: names[link] for link, number in self._numbers[board].items()}

    def cable_at(self, board: int, number: int) -> int | None:
        """The cable at a simulated link, by its number in the cluster."""
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
        """Whether the tables have been made without a cable."""
        return self.cable_name(index) in self.tables.down

    def find_cable(self, text: str) -> int:
        """A cable by its name or by one of its ends; InputError if there is none."""
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
        """Both directions of each cable: from board, link, to board, link, and when it is cut (-1: never)."""
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
        """Of a switch: behind exits, links and the control unit."""
        return self._port(self.links) + 1

    def board_entries(self, board: int) -> list[int]:
        """A board's table for boards; 0 where there is nothing."""
        port, vc = self.tables.port, self.tables.vc
        return [
            0
            if port[board, to] < 0
            else _rtl_control.entry(self._port(self.link(board, int(port[board, to]))), int(vc[board, to]))
            for to in range(self.boards)
        ]

    def host_entry(self, board: int, host: int) -> int:
        """A board's entry for a host: as for the host's board."""
        at = self.hosts[host]
        if board == at:
            return _rtl_control.entry(self.host_port, 0)
        return self.board_entries(board)[at]

    def route(self, board: int, to: int) -> list[int]:
        """Boards that packets pass through, both ends included."""
        found = [board]
        while found[-1] != to:
            here = found[-1]
            link = int(self.tables.port[here, to])
            found.append(next(other for own, other, _ in self.cluster.neighbours(here) if own == link))
        return found

    def ways(self) -> Iterator[tuple[int, int, int]]:
        """How each board reaches each other one: link in the simulator, virtual channel, the board behind the link.

        That is the board itself where nothing leads there.
        """
        for board in range(self.boards):
            behind = {link: other for link, other, _ in self.cluster.neighbours(board)}
            for to in range(self.boards):
                port, channel = self.tables.entry(board, to)
                yield (self.link(board, port), channel, behind[port]) if port >= 0 else (0, 0, board)

    @functools.cached_property
    def hops(self) -> NDArray[np.int64]:
        """[board, destination board]: links that the route passes."""
        boards = range(self.boards)
        return np.array([[len(self.route(board, to)) - 1 for to in boards] for board in boards], np.int64)

    def order(self) -> list[int]:
        """Boards from the first host outward: whatever leads to one and back comes before it."""
        root = self.hosts[0]
        on_way = {b: {*self.route(root, b), *self.route(b, root)} - {b} for b in range(self.boards)}
        found: list[int] = []
        left = sorted(range(self.boards), key=lambda b: (len(on_way[b]), b))
        while left:
            ready = next((b for b in left if on_way[b] <= set(found)), None)
            if ready is None:
                raise InputError(f"cluster {self.cluster.name}: its routes cannot be set up from the host outward")
            found.append(ready)
            left.remove(ready)
        return found

    # ---- Trees ----

    def broadcast_tree(self, root: int) -> Tree:
        """The tree over which broadcasts reach all boards soonest.

        A relay sends one copy after the other, so boards with few children pass more packets on, and trees of such
        boards are deep: which is best depends on how much there is to send.
        """
        found = [self._deep_tree(root)]
        for most in range(2, _rtl_control.CHILDREN + 1):
            with contextlib.suppress(InputError):
                found.append(self.tree(root, most))
        return min(found, key=self._relay_cycles)

    def _relay_cycles(self, tree: Tree) -> int:
        """About how long a broadcast over a tree takes."""
        most = max(map(len, tree.children.values())) + self.config.memory.dram.count
        depth = max(_depths(tree).values())
        return _RELAY_PACKETS * (_RELAY_TAKES + most * _RELAY_COPY) + depth * (
            _RELAY_HOP + int(self.config.links.flight_cycles)
        )

    def _deep_tree(self, root: int) -> Tree:
        """As deep as it goes: from each board on to the neighbour that has fewest others left to go to."""
        parent: dict[int, int] = {}
        below: dict[int, list[int]] = {board: [] for board in range(self.boards)}
        seen, way = {root}, [root]
        while way:
            left = [other for _, other, _ in self._next_to(way[-1]) if other not in seen]
            if not left or len(below[way[-1]]) == _rtl_control.CHILDREN:
                way.pop()
                continue
            board = min(left, key=lambda one: (sum(other not in seen for _, other, _ in self._next_to(one)), one))
            seen.add(board)
            parent[board] = way[-1]
            below[way[-1]].append(board)
            way.append(board)
        return Tree(root, parent, below) if len(seen) == self.boards else self.tree(root)

    def _next_to(self, board: int) -> list[tuple[int, int, int]]:
        """Neighbours, those aside to which the tables go another way than over a cable between the two."""
        return [one for one in self.cluster.neighbours(board) if self.route(board, one[1]) == [board, one[1]]]

    def tree(self, root: int, most: int = _rtl_control.CHILDREN) -> Tree:
        """Boards by their distance from a root, with so many children each; InputError if it does not reach all."""
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
            raise InputError(f"cluster {self.cluster.name}: no tree with {most} children a board reaches all boards")
        return Tree(root, parent, below)

    def middle(self) -> int:
        """The board from which the farthest one is nearest."""
        return min(range(self.boards), key=lambda board: (self._depth(board), board))

    def _depth(self, root: int) -> int:
        return max(_depths(self.tree(root)).values())


def _depths(tree: Tree) -> dict[int, int]:
    """How far each board is from the root."""
    depth = {tree.root: 0}
    for board, above in tree.parent.items():  # in the order in which they were found
        depth[board] = depth[above] + 1
    return depth


def read_tables(cluster: Cluster, path: str) -> routes.Tables:
    """Tables out of a file; InputError for one that is damaged or for another topology."""
    return routes.read_tables(path, routes.Topology(cluster, {}))


def cuts(plan: Plan, texts: Sequence[str]) -> dict[int, int]:
    """Cuts as the command line has them, ``LINK@CYCLE`` or ``LINK`` for one that never comes up."""
    found = {}
    for text in texts:
        name, at, cycle = text.rpartition("@")
        if at and not cycle.isdecimal():
            raise InputError(f"--cut {text}: write LINK@CYCLE, for instance a:east@1000; {cycle!r} is no cycle")
        found[plan.find_cable(name if at else text)] = int(cycle) if at else -2
    return found


Ask = Callable[[list[Flits]], "list[Answer]"]
"""Sends packets to control units and gives their answers."""


@dataclass(frozen=True)
class TableUpdate:
    """Tables that follow others."""

    plan: Plan
    """What a cluster is with the new ones."""
    fault: str
    """Why they must not meet the old ones; empty if both may be in use at once."""

    @classmethod
    def of(cls, plan: Plan, tables: routes.Tables) -> TableUpdate:
        """A change from the tables of a plan; InputError for tables that are not safe by themselves."""
        after = Plan(plan.cluster, tables)
        report = routes.check(plan.topology, plan.tables, tables)
        return cls(after, report.fault or "")

    def packets(self, board: int) -> list[Flits]:
        """What gives a board its table."""
        plan = self.plan
        hosts = [plan.host_entry(board, host) for host in range(len(plan.hosts))]
        # Hosts' entries stand from the end of the table on, the first one's last.
        last = _rtl_control.host_entry(len(hosts) - 1)
        return [
            *_rtl_control.table(board, 0, plan.board_entries(board)),
            *_rtl_control.table(board, last, hosts[::-1]),
        ]

    def load(self, ask: Ask) -> None:
        """Gives all boards their tables, each when the one before has answered."""
        for board in self.plan.order():
            ask(self.packets(board))

    def bytes(self) -> bytes:
        """The same for a host program (host/src/board.cc): whether the fabric must be empty, and packets in groups.

        Each group is answered before the next is sent.
        """
        groups = []
        for board in self.plan.order():
            packets = self.packets(board)
            groups += [packets[at : at + _rtl_control.ANSWERS] for at in range(0, len(packets), _rtl_control.ANSWERS)]
        head = struct.pack("<II", bool(self.fault), len(groups))
        return head + b"".join(
            struct.pack("<I", len(group)) + b"".join(packet.tobytes() for packet in group) for group in groups
        )


def drained(plan: Plan, ask: Ask) -> bool:
    """Whether no packet is under way: two rounds over all boards have found none, and none that entered between them.

    Boards are asked one by one, so that no question or answer is under way when another board looks.
    """
    before: list[int] = []
    for _ in range(2):
        busy, entered = 0, []
        for board in range(plan.boards):
            for name in ("in_flight", "entered"):
                (answer,) = ask([_rtl_control.counter(board, name)])
                if name == "entered":
                    entered.append(answer.value)
                else:
                    busy |= answer.value
        if busy or (before and entered != before):
            return False
        before = entered
    return True


def wait_until_drained(plan: Plan, ask: Ask, patience: int) -> None:
    """Asks until nothing is under way; InputError if that is not so after so many cycles."""
    begun = None
    while not drained(plan, ask):
        (answer,) = ask([_rtl_control.counter(plan.hosts[0], "entered")])
        begun = answer.cycle if begun is None else begun
        if answer.cycle - begun > patience:
            raise InputError(
                f"cluster {plan.cluster.name}: packets are under way all the time, so tables that must not meet the "
                "old ones cannot be loaded; load them when all threads wait or have ended"
            )


NO_JOB = 31
"""The number that tiles of no job have."""
MAX_JOBS = 16
"""Places for jobs of a board."""


@dataclass(frozen=True)
class Job:
    """Some boards of a cluster, for a program of their own."""

    name: str
    """As messages call it."""
    boards: tuple[int, ...]
    """By number, rising."""

    def part(self, cluster: Cluster) -> device.Part:
        """What its program is told of its boards: a rectangle of a mesh as one, others as a row."""
        width = cluster.width
        if width and cluster.height:
            columns = sorted({board % width for board in self.boards})
            rows = sorted({board // width for board in self.boards})
            dense = columns[-1] - columns[0] == len(columns) - 1 and rows[-1] - rows[0] == len(rows) - 1
            if dense and len(columns) * len(rows) == len(self.boards):
                return device.Part(len(columns), len(rows), self.boards)
        return device.Part(len(self.boards), 1, self.boards)


def jobs(cluster: Cluster, wanted: Sequence[tuple[str, Sequence[str]]]) -> list[Job]:
    """Jobs by name and names of boards; InputError for a board that is not there, or is given twice."""
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
        raise InputError(f"cluster {cluster.name}: {len(found)} jobs; its boards have places for {MAX_JOBS}")
    return found


__all__ = [
    "MAX_JOBS",
    "NO_JOB",
    "Job",
    "Plan",
    "TableUpdate",
    "Tree",
    "cuts",
    "drained",
    "jobs",
    "read_tables",
    "wait_until_drained",
]
