# SPDX-License-Identifier: Apache-2.0
"""Generates routing tables: selects the method, distributes routes over parallel cables, adds the hosts."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import InputError
from gossamer.routes import _dimension, _general
from gossamer.routes._tables import HOME, MOST_VCS, NONE, Tables
from gossamer.routes._topology import Topology, topology_hash
from gossamer.routes._wiring import Wiring, wiring

Ints = NDArray[np.int64]
METHODS = ("auto", "dimension", "general")


@dataclass(frozen=True, eq=False)
class Routes:
    """Tables, with the lengths of their routes."""

    topology: Topology
    tables: Tables
    hops: NDArray[np.int16]
    """[board, destination board]: hops of the route; -1 if a board is down."""
    shortest: NDArray[np.int16]
    """[board, destination board]: hops of the shortest path."""


def generate(topology: Topology, *, vcs: int = 2, method: str = "auto") -> Routes:
    """Routes for a topology. The same input gives the same tables.

    `vcs` is the number of virtual channels per virtual network (LinkVcs). `method`: "dimension" for dimension order
    (grids with nothing down), "general" for any wiring, "auto" for the first of these with shortest routes only.
    Raises InputError.
    """
    if not 1 <= vcs <= MOST_VCS:
        raise InputError(f"{vcs} virtual channels; there must be 1 to {MOST_VCS}")
    if method not in METHODS:
        raise InputError(f"no such method: {method!r}; choose one of {', '.join(METHODS)}")
    net = wiring(topology)
    seed = _dimension_seed(topology, vcs)
    if method != "general":
        made = _dimension_order(topology, net, vcs, seed)
        if made is not None:
            return _finish(topology, net, vcs, "dimension", *made)
        if method == "dimension":
            raise InputError(
                f"{topology.cluster.name}: dimension order needs a mesh, torus, ring or bus with nothing down, without "
                "shortcuts, and two virtual channels if it wraps around; omit --method dimension"
            )
    plan = _general.plan(net, vcs, seed)
    name = "general, with up*/down* as the escape" if plan.fallbacks else "general"
    return _finish(topology, net, vcs, name, plan.arc, plan.vc)


def _dimension_seed(topology: Topology, vcs: int) -> tuple[Ints, Ints] | None:
    """Next board and channel in dimension order, if the cluster is a grid and these routes are deadlock-free."""
    grid = _dimension.shape(topology.cluster)
    if grid is None or grid.width * grid.height != len(topology.cluster.boards):
        return None
    if vcs == 1 and grid.around and (grid.width > 3 or grid.height > 3 or grid.twist):
        # Rings of up to three boards have routes of one hop. Longer rings can deadlock without a second channel.
        return None
    return _dimension.route(grid, vcs)


def _dimension_order(
    topology: Topology, net: Wiring, vcs: int, seed: tuple[Ints, Ints] | None
) -> tuple[Ints, Ints] | None:
    """(arc, channel) in dimension order, if all its routes are shortest and no cable is down."""
    if seed is None or topology.down:
        return None
    following, vc = seed
    boards = np.arange(net.boards)
    arc_of = np.full((net.boards, net.boards), -1, dtype=np.int64)
    arc_of[net.tail, net.head] = np.arange(net.arcs)
    arc = arc_of[boards[:, None], following]
    # A cable that the file adds to the grid may be a shortcut.
    nearer = net.distance[following, boards[None, :]] == net.distance - 1
    if not (nearer | np.eye(net.boards, dtype=np.bool_)).all():
        return None
    return arc, vc


def _finish(topology: Topology, net: Wiring, vcs: int, method: str, arc: Ints, vc: Ints) -> Routes:
    cluster = topology.cluster
    # An extra head, since a single board has no arcs.
    following = np.where(arc >= 0, np.append(net.head, 0)[arc], np.arange(net.boards)[:, None])
    hops, through = _follow(net, following)
    port = np.full((net.boards, net.boards), NONE, dtype=np.int8)
    first = np.array([ports[0] for ports in net.ports] or [0], dtype=np.int64)
    port[arc >= 0] = first[arc[arc >= 0]]
    _share_cables(net, arc, through, port)
    up = np.flatnonzero(net.up)
    port[up, up] = HOME
    host_port = np.full((net.boards, len(cluster.hosts)), NONE, dtype=np.int8)
    host_vc = np.zeros((net.boards, len(cluster.hosts)), dtype=np.int8)
    for number, host in enumerate(cluster.hosts):
        if net.up[host.board]:
            host_port[:, number] = port[:, host.board]
            host_vc[:, number] = vc[:, host.board]
            host_port[host.board, number] = host.link
            host_vc[host.board, number] = 0
    tables = Tables(
        topology=topology_hash(cluster),
        vcs=vcs,
        method=method,
        down=topology.down,
        port=port,
        vc=np.where(port >= 0, vc, 0).astype(np.int8),
        host_port=host_port,
        host_vc=host_vc,
    )
    return Routes(topology, tables, hops, net.distance)


def _follow(net: Wiring, following: Ints) -> tuple[NDArray[np.int16], Ints]:
    """Hops of every route, and by [board, destination] the number of routes that pass a board, its own included."""
    boards = np.arange(net.boards)
    hops = np.where(net.up[:, None] & net.up[None, :], 0, -1).astype(np.int16)
    # Doubling: after k rounds `reach` is 2**k hops ahead, and `hops` counts the hops up to there.
    reach = following.copy()
    hops[(following != boards[:, None]) & (hops >= 0)] = 1
    columns = boards[None, :]
    while True:
        more = hops[reach, columns]
        step = np.where((hops >= 0) & (reach != columns), more, 0)
        if not step.any():
            break
        hops = np.where(hops >= 0, hops + step, hops).astype(np.int16)
        reach = reach[reach, columns]
        if int(hops.max()) > net.boards:
            raise RuntimeError("routes contain a cycle")
    through = (hops >= 0).astype(np.int64)
    flat, target = through.ravel(), (following * net.boards + columns).ravel()
    by_hops = np.argsort(hops, axis=None, kind="stable")
    edges = np.searchsorted(hops.ravel()[by_hops], np.arange(1, int(hops.max(initial=0)) + 2))
    for start, end in reversed(list(itertools.pairwise(edges))):
        pairs = by_hops[start:end]
        np.add.at(flat, target[pairs], flat[pairs])
    return hops, through


def _share_cables(net: Wiring, arc: Ints, through: Ints, port: NDArray[np.int8]) -> None:
    """Distributes the destinations of an arc over its parallel cables: busiest first, each to the least busy cable."""
    for number, ports in enumerate(net.ports):
        if len(ports) == 1:
            continue
        board = int(net.tail[number])
        dests = np.flatnonzero(arc[board] == number)
        weight = through[board, dests]
        heap = [(0, link) for link in ports]
        for place in np.argsort(-weight, kind="stable"):
            busy, link = heapq.heappop(heap)
            port[board, dests[place]] = link
            heapq.heappush(heap, (busy + int(weight[place]), link))
