# SPDX-License-Identifier: Apache-2.0
"""How a simulated cluster is put together: which links are simulated, what tables say, trees of boards, the order.

Boards have only those links that a cable uses, numbered without gaps; a host is at a port of its own of its board's
switch. A cluster without a host gets one at its first board.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gossamer import routes
from gossamer.config import Cluster, Config
from gossamer.engines import _rtl_control
from gossamer.errors import InputError
from gossamer.routes._topology import link_name


@dataclass(frozen=True)
class Tree:
    """A tree of boards over cables."""

    root: int
    parent: dict[int, int]
    children: dict[int, list[int]]


class Plan:
    """All that a simulator and a host must know of a cluster. InputError where it cannot be simulated."""

    def __init__(self, cluster: Cluster, tables: routes.Tables | None = None) -> None:
        self.cluster = cluster
        self.config = self._one_config()
        self.boards = len(cluster.boards)
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
        self.hosts = [host.board for host in cluster.hosts] or [0]
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

    def tree(self, root: int) -> Tree:
        """Boards by their distance from a root; each has eight children at most."""
        parent: dict[int, int] = {}
        below: dict[int, list[int]] = {board: [] for board in range(self.boards)}
        seen, queue = {root}, deque([root])
        while queue:
            board = queue.popleft()
            for _, other, _ in self.cluster.neighbours(board):
                if other in seen or len(below[board]) == _rtl_control.CHILDREN:
                    continue
                seen.add(other)
                parent[other] = board
                below[board].append(other)
                queue.append(other)
        return Tree(root, parent, below)

    def middle(self) -> int:
        """The board from which the farthest one is nearest."""
        return min(range(self.boards), key=lambda board: (self._depth(board), board))

    def _depth(self, root: int) -> int:
        tree = self.tree(root)
        depth = {root: 0}
        for board, above in tree.parent.items():  # in the order in which they were found
            depth[board] = depth[above] + 1
        return max(depth.values())


def tables(cluster: Cluster, path: str) -> routes.Tables:
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


__all__ = ["Plan", "Tree", "cuts", "tables"]
