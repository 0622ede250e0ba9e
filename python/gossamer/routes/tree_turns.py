# SPDX-License-Identifier: Apache-2.0
"""The turns that multicast trees may take, so that no set of trees and routes can deadlock.

All channels of the links have an order. Copies in trees, and packets on routes, move only from a channel to one of
higher order, so channel dependencies are acyclic for any set of trees. On a mesh with two virtual channels the order
permits nearly all turns:

* in the first channel west is lowest, followed by the other directions from west to east, column by column: a copy that
  travels east, north or south may turn freely between these;
* the second channel is above the first, mirrored: east is lowest, followed by west, north and south.

On other wirings the order is a topological order of the routes' own channel dependencies, which permits some turns more
than the routes take.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer.routes import _dimension, deadlock
from gossamer.routes._tables import Tables
from gossamer.routes._topology import Topology
from gossamer.routes.multicast_keys import KeyTables

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TreeTurns:
    """An order of channels, and the connections of boards."""

    far: Ints
    """[board, link]: the board at the other end; -1 if no cable is up."""
    order: Ints
    """[board, link, virtual channel]."""

    def pairs(self) -> tuple[tuple[int, int, int, int, int], ...]:
        """All permitted turns: (board, link and channel of arrival, link and channel of departure)."""
        found = []
        vcs = self.order.shape[2]
        for board, link in np.argwhere(self.far >= 0).tolist():
            there = int(self.far[board, link])
            onward = np.flatnonzero((self.far[there] >= 0) & (self.far[there] != board)).tolist()
            for vc in range(vcs):
                for out in onward:
                    for lane in range(vcs):
                        if self.order[there, out, lane] > self.order[board, link, vc]:
                            found.append((board, link, vc, out, lane))
        return tuple(found)


def tree_turns(topology: Topology, tables: Tables) -> TreeTurns:
    """The turns that trees may take together with these routes, verified by the deadlock check."""
    fabric = deadlock.Fabric(topology.cluster, tables.vcs, tables.down)
    for order in (_mesh(topology, fabric), _of_routes(fabric, tables)):
        if order is None:
            continue
        turns = TreeTurns(fabric.far, order)
        keys = KeyTables({}, (), turns=turns.pairs())
        entries = [(tables.port, tables.vc, tables.host_port, tables.host_vc)]
        if deadlock.check(topology.cluster, entries, tables.vcs, down=[tables.down], keys=keys).safe:
            return turns
    raise AssertionError("the routes can deadlock")


def _mesh(topology: Topology, fabric: deadlock.Fabric) -> Ints | None:
    """The order for a mesh; None for other wirings."""
    grid = _dimension.shape(topology.cluster)
    if grid is None or grid.kind not in ("mesh", "bus") or grid.width * grid.height != len(topology.cluster.boards):
        return None
    boards, links = fabric.far.shape
    x, y = np.arange(boards) % grid.width, np.arange(boards) // grid.width
    step_x, step_y = x[fabric.far] - x[:, None], y[fabric.far] - y[:, None]
    if (np.abs(step_x) + np.abs(step_y))[fabric.far >= 0].max(initial=0) > 1:
        return None
    # By column, in the direction of travel; within a column by rows, in the direction of travel.
    row = np.where(step_y > 0, y[:, None], grid.height - y[:, None])
    order = np.empty((boards, links, fabric.vcs), np.int64)
    size = (2 * grid.width + 2) * (grid.height + 1)
    for vc in range(fabric.vcs):
        direction = 1 if vc % 2 == 0 else -1
        column = (x if direction == 1 else grid.width - 1 - x)[:, None] * 2 + (step_x == direction)
        first = step_x == -direction
        other = (grid.width + column) * (grid.height + 1) + np.where(step_x == 0, row, 0)
        order[:, :, vc] = vc * 4 * size + np.where(first, grid.width - column // 2, size + other)
    return order


def _of_routes(fabric: deadlock.Fabric, tables: Tables) -> Ints:
    """A topological order of the routes' channel dependencies."""
    boards, links = fabric.far.shape
    total = boards * links * fabric.vcs
    pairs = deadlock.dependencies(fabric, [(tables.port, tables.vc, tables.host_port, tables.host_vc)])
    waits = np.bincount(pairs[1], minlength=total)
    order = np.full(total, -1, np.int64)
    by_source = pairs[1][np.argsort(pairs[0], kind="stable")]
    first = np.searchsorted(np.sort(pairs[0]), np.arange(total + 1))
    queue = np.flatnonzero(waits == 0).tolist()
    for place, node in enumerate(queue):
        order[node] = place
        for ahead in by_source[first[node] : first[node + 1]].tolist():
            waits[ahead] -= 1
            if waits[ahead] == 0:
                queue.append(ahead)
    return order.reshape(boards, links, fabric.vcs)


__all__ = ["TreeTurns", "tree_turns"]
