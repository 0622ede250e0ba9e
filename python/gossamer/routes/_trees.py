# SPDX-License-Identifier: Apache-2.0
"""Multicast trees that turn only as routes do: what a mapper puts into the records of multicast routers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gossamer.errors import InputError
from gossamer.routes._tables import Tables
from gossamer.routes._topology import Topology

Place = tuple[int, tuple[int, int, int] | None]
"""A board, and the (board, link, virtual channel) that a copy came over; None where it starts."""


@dataclass(frozen=True)
class MulticastTree:
    """Where a message is copied on its way from a board to several others, and where it arrives."""

    branches: dict[Place, list[tuple[int, int, int]]]
    """For every place of the tree its branches, each (link, virtual channel, board at the other end), sorted."""
    ends: dict[int, Place]
    """By destination, the place at which it gets its copy."""


def multicast_tree(topology: Topology, tables: Tables, source: int, destinations: Iterable[int]) -> MulticastTree:
    """The routes from a board to several others, as one message takes them that is copied where they part.

    Places are told apart by the channel that a copy came over, and each turn from channel to channel is one of some
    route. Routes that use a link in different virtual channels share a copy in one of them where such turns allow it:
    in a ring always, in a torus not where one route turns off before a dateline that the other crosses.
    """
    far: dict[tuple[int, int], int] = {}
    for cable in topology.cluster.cables:
        far[cable.a, cable.a_link] = cable.b
        far[cable.b, cable.b_link] = cable.a
    tree: dict[Place, set[tuple[int, int, int]]] = {(source, None): set()}
    ends: dict[int, Place] = {}
    # Long routes first: a copy may arrive on its way anywhere, but cannot go on everywhere.
    for destination in sorted(destinations, key=lambda one: -_hops(tables, far, source, one)):
        places = _cheapest(tables, far, tree, source, destination)
        for place, ahead in pairwise(places):
            channel = ahead[1]
            assert channel is not None
            tree[place].add((channel[1], channel[2], ahead[0]))
            tree[ahead] = set()
        ends[destination] = places[-1]
    return MulticastTree({place: sorted(branches) for place, branches in tree.items()}, ends)


def _hops(tables: Tables, far: dict[tuple[int, int], int], source: int, destination: int) -> int:
    """The length of a route."""
    board, hops = source, 0
    while board != destination:
        link, _ = tables.entry(board, destination)
        if link < 0:
            raise InputError(f"there is no route from board {source} to board {destination}")
        board, hops = far[board, link], hops + 1
    return hops


def _cheapest(
    tables: Tables, far: dict[tuple[int, int], int], tree: dict[Place, set[tuple[int, int, int]]], source: int,
    destination: int,
) -> list[Place]:  # fmt: skip
    """The places from one that has a copy already to the destination: as few new ones as there can be.

    They lie on the boards of the destination's own route; what is chosen are the virtual channels of its links.
    """
    # For each place of the present board: new places up to it, whether a channel is not the route's own, the places.
    ways: dict[Place, tuple[int, int, list[Place]]] = {(source, None): (0, 0, [(source, None)])}
    board = source
    while board != destination:
        link, own = tables.entry(board, destination)
        ahead: dict[Place, tuple[int, int, list[Place]]] = {}
        for vc in range(tables.vcs):
            place: Place = (far[board, link], (board, link, vc))
            if place in tree:
                # It has a copy: a second one there would come to all behind it once more.
                ahead[place] = (0, 0, [place])
                continue
            turns = [
                (new + 1, other + (vc != own), [*way, place])
                for before, (new, other, way) in ways.items()
                if _some_route_turns(tables, before, (link, vc))
            ]
            if turns:
                ahead[place] = min(turns, key=lambda turn: turn[:2])
        ways, board = ahead, far[board, link]
    return min(ways.values(), key=lambda way: way[:2])[2]


def _some_route_turns(tables: Tables, place: Place, hop: tuple[int, int]) -> bool:
    """Whether some route goes on from a place over that link and virtual channel."""
    board, came = place
    found = (tables.port[board] == hop[0]) & (tables.vc[board] == hop[1])
    if came is not None:
        found &= (tables.port[came[0]] == came[1]) & (tables.vc[came[0]] == came[2])
    return bool(np.any(found))
