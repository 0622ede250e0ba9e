# SPDX-License-Identifier: Apache-2.0
"""Topologies: a cluster, its boards and cables that are down, and the hash that identifies it in tables."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gossamer.config import Cluster, load_cluster
from gossamer.config._source import near
from gossamer.errors import InputError
from gossamer.routes import _smi


@dataclass(frozen=True)
class Topology:
    """A cluster, and the cables and boards of it that routes must avoid."""

    cluster: Cluster
    programs: dict[int, str]
    """For SMI, the program of each rank."""
    down_boards: frozenset[int] = frozenset()
    down_cables: frozenset[int] = frozenset()
    """Numbers of cables in `cluster.cables`, except cables of boards that are down."""
    down: tuple[str, ...] = ()
    """Sorted names of boards and cables that are down: ``x0y0``, ``x0y0:east - x1y0:west``."""

    @property
    def hash(self) -> str:
        """SHA-256 of boards, links, cables and hosts in 64 hex digits; independent of failed links."""
        return topology_hash(self.cluster)


def read(name_or_path: str | os.PathLike[str], *, config: str | None = None) -> Topology:
    """Reads a cluster: a name in ``config/clusters/``, a TOML file, or SMI's JSON (a file that ends with .json).

    `config` is the boards' configuration for JSON, which names none. Raises InputError with file and line.
    """
    if os.fspath(name_or_path).endswith(".json"):
        return Topology(*_smi.read(Path(name_or_path), config))
    if config is not None:
        raise InputError(f"--config is for SMI's JSON; {os.fspath(name_or_path)} names its own configurations")
    return Topology(load_cluster(name_or_path), {})


def topology_hash(cluster: Cluster) -> str:
    """See `Topology.hash`. Independent of the order of cables and hosts in the file."""
    lines = [f"board {board.index} {board.name} {' '.join(board.config.links.names)}" for board in cluster.boards]
    ends = [sorted(((cable.a, cable.a_link), (cable.b, cable.b_link))) for cable in cluster.cables]
    lines += [f"cable {a} {a_link} {b} {b_link}" for (a, a_link), (b, b_link) in sorted(ends)]
    lines += [f"host {host.name} {host.board} {host.link}" for host in cluster.hosts]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def link_name(cluster: Cluster, board: int, link: int) -> str:
    """``x0y0:east``."""
    one = cluster.boards[board]
    return f"{one.name}:{one.config.links.names[link]}"


def with_down(topology: Topology, down: Iterable[str]) -> Topology:
    """The topology with boards and cables marked as down; a cable is given by its name or one of its ends.

    Raises InputError for an unknown name, and if a remaining board can no longer be reached.
    """
    cluster = topology.cluster
    names = {board.name: board.index for board in cluster.boards}
    ends = {}
    for number, cable in enumerate(cluster.cables):
        ends[link_name(cluster, cable.a, cable.a_link)] = number
        ends[link_name(cluster, cable.b, cable.b_link)] = number
    boards, cables = set(topology.down_boards), set(topology.down_cables)
    for text in down:
        left, dash, right = (part.strip() for part in text.partition(" - "))
        if not dash and text in names:
            boards.add(names[text])
        elif left in ends and (not dash or ends.get(right) == ends[left]):
            cables.add(ends[left])
        else:
            known = [*names, *ends]
            raise InputError(
                f"--down {text}: {cluster.name} has no such board or cable{near(left, known)}; "
                "write x0y0 for a board, x0y0:east for the cable at one of its links"
            )
    left_over = {number for number in cables if not {cluster.cables[number].a, cluster.cables[number].b} & boards}
    texts = [cluster.boards[board].name for board in boards]
    for number in left_over:
        cable = cluster.cables[number]
        texts.append(f"{link_name(cluster, cable.a, cable.a_link)} - {link_name(cluster, cable.b, cable.b_link)}")
    made = Topology(cluster, topology.programs, frozenset(boards), frozenset(left_over), tuple(sorted(texts)))
    _check_reached(made)
    return made


def up_cables(topology: Topology) -> list[int]:
    """Numbers of the usable cables."""
    return [
        number
        for number, cable in enumerate(topology.cluster.cables)
        if number not in topology.down_cables and not {cable.a, cable.b} & topology.down_boards
    ]


def _check_reached(topology: Topology) -> None:
    """Raises InputError unless every board that is up can reach every other one."""
    cluster = topology.cluster
    alive = [board.index for board in cluster.boards if board.index not in topology.down_boards]
    if not alive:
        raise InputError(f"--down: all boards of {cluster.name} are down")
    neighbours: dict[int, list[int]] = {board: [] for board in alive}
    for number in up_cables(topology):
        cable = cluster.cables[number]
        neighbours[cable.a].append(cable.b)
        neighbours[cable.b].append(cable.a)
    seen, queue = {alive[0]}, [alive[0]]
    while queue:
        for other in neighbours[queue.pop()]:
            if other not in seen:
                seen.add(other)
                queue.append(other)
    for board in alive:
        if board not in seen:
            first = cluster.boards[alive[0]].name
            raise InputError(
                f"--down {', '.join(topology.down)}: board {cluster.boards[board].name} cannot be reached from {first} "
                "any more; mark it as down as well, or leave it a cable"
            )
