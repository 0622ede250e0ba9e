# SPDX-License-Identifier: Apache-2.0
"""Multicast trees that turn only as routes do: what a mapper puts into the records of multicast routers."""

from __future__ import annotations

from collections.abc import Iterable

from gossamer.errors import InputError
from gossamer.routes._tables import Tables
from gossamer.routes._topology import Topology

Place = tuple[int, tuple[int, int, int] | None]
"""A board, and the (board, link, virtual channel) that a copy came over; None where it starts."""


def multicast_tree(
    topology: Topology, tables: Tables, source: int, destinations: Iterable[int]
) -> dict[Place, list[tuple[int, int, int]]]:
    """The union of the routes from a board to several others, as one message takes them that is copied where they part.

    For every place of the tree: its branches, each (link, virtual channel, board at the other end), sorted. Places
    are told apart by the channel that a copy came over, so that each turn is one of some route.
    """
    far: dict[tuple[int, int], int] = {}
    for cable in topology.cluster.cables:
        far[cable.a, cable.a_link] = cable.b
        far[cable.b, cable.b_link] = cable.a
    tree: dict[Place, set[tuple[int, int, int]]] = {(source, None): set()}
    for destination in destinations:
        places: list[Place] = [(source, None)]
        hops: list[tuple[int, int, int]] = []
        while (board := places[-1][0]) != destination:
            port, vc = tables.entry(board, destination)
            if port < 0:
                raise InputError(f"there is no route from board {source} to board {destination}")
            hops.append((port, vc, far[board, port]))
            places.append((far[board, port], (board, port, vc)))
        # Routes that part may meet again. The last place that has a copy already is where this one leaves it: a second
        # copy there would come to all behind it once more.
        meets = max(number for number, place in enumerate(places) if place in tree)
        for place, hop, ahead in zip(places[meets:], hops[meets:], places[meets + 1 :], strict=False):
            tree[place].add(hop)
            tree[ahead] = set()
    return {place: sorted(branches) for place, branches in tree.items()}
