# SPDX-License-Identifier: Apache-2.0
"""The cluster as arrays for the generator: neighbours, arcs, distances.

An arc is a direction between two connected boards; parallel cables are one arc until routes are assigned to cables.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer.routes._topology import Topology, up_cables

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Wiring:
    """Arcs of the boards that are up."""

    boards: int
    up: NDArray[np.bool_]
    """[board]."""
    head: Ints
    """[arc]: its target board."""
    tail: Ints
    """[arc]: its source board."""
    first: Ints
    """[board]: its first arc; its arcs end at the first arc of the next board (boards + 1 entries)."""
    slots: Ints
    """[board, slot]: arcs of a board; -1 in unused slots."""
    ports: list[list[int]]
    """[arc]: links of its tail whose cables belong to this arc."""
    distance: NDArray[np.int16]
    """[from, to]: hops; -1 if a board is down."""

    @property
    def arcs(self) -> int:
        """Number of arcs."""
        return len(self.head)

    def arc(self, tail: int, head: int) -> int:
        """The arc between two boards; -1 if they are not neighbours."""
        for arc in range(int(self.first[tail]), int(self.first[tail + 1])):
            if self.head[arc] == head:
                return arc
        return -1


def wiring(topology: Topology) -> Wiring:
    """Arcs sorted by tail, then head."""
    cluster = topology.cluster
    boards = len(cluster.boards)
    links: dict[tuple[int, int], list[int]] = {}
    for number in up_cables(topology):
        cable = cluster.cables[number]
        links.setdefault((cable.a, cable.b), []).append(cable.a_link)
        links.setdefault((cable.b, cable.a), []).append(cable.b_link)
    pairs = sorted(links)
    tail = np.array([pair[0] for pair in pairs], dtype=np.int64)
    head = np.array([pair[1] for pair in pairs], dtype=np.int64)
    first = np.searchsorted(tail, np.arange(boards + 1))
    degree = np.diff(first)
    slots = np.full((boards, max(1, int(degree.max(initial=0)))), -1, dtype=np.int64)
    slots[tail, np.arange(len(pairs)) - first[tail]] = np.arange(len(pairs))
    up = np.ones(boards, dtype=np.bool_)
    up[list(topology.down_boards)] = False
    ports = [sorted(links[pair]) for pair in pairs]
    return Wiring(boards, up, head, tail, first, slots, ports, _distances(slots, head, up))


def _distances(slots: Ints, head: Ints, up: NDArray[np.bool_]) -> NDArray[np.int16]:
    """Hops between all pairs: a breadth-first search from all boards at once, with one bit per pair."""
    boards = len(slots)
    distance = np.full((boards, boards), -1, dtype=np.int16)
    seen = np.packbits(np.diag(up), axis=1)
    distance[np.arange(boards)[up], np.arange(boards)[up]] = 0
    columns = [(np.flatnonzero(slots[:, slot] >= 0), slot) for slot in range(slots.shape[1])]
    hops, front = 0, seen
    while front.any():
        hops += 1
        found = np.zeros_like(seen)
        for rows, slot in columns:
            found[rows] |= front[head[slots[rows, slot]]]
        front = found & ~seen
        seen = seen | front
        distance[np.unpackbits(front, axis=1, count=boards).astype(np.bool_)] = hops
    return distance
