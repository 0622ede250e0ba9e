# SPDX-License-Identifier: Apache-2.0
"""Which turns multicast trees may take, so that no set of trees and routes can deadlock.

All channels of the links stand in an order. A copy goes on from a channel to one of higher order alone, and so do
packets of the routes: whatever trees there are, no ring of channels can wait for itself. On a mesh with two virtual
channels the order leaves a tree nearly all turns:

* in the first channel west comes first, and then from west to east what is left, column by column: a copy that goes
  east, north or south may turn between these as it likes;
* behind all of them comes the second channel, the same the other way round: east first, then west, north and south.

On other wirings the order is one that the routes themselves have (a topological order of what their channels wait for),
which permits some turns more than they take.
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
    """An order of channels, and how boards are joined."""

    far: Ints
    """[board, link]: the board at the other end; -1 where no cable is up."""
    order: Ints
    """[board, link, virtual channel]."""

    def pairs(self) -> tuple[tuple[int, int, int, int, int], ...]:
        """Every turn: (board, link and channel that a copy came over, link and channel that it goes on by)."""
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
    """The turns that trees beside these routes may take. The check for deadlock has agreed to them."""
    fabric = deadlock.Fabric(topology.cluster, tables.vcs, tables.down)
    for order in (_mesh(topology, fabric), _of_routes(fabric, tables)):
        if order is None:
            continue
        turns = TreeTurns(fabric.far, order)
        keys = KeyTables({}, (), turns=turns.pairs())
        entries = [(tables.port, tables.vc, tables.host_port, tables.host_vc)]
        if deadlock.check(topology.cluster, entries, tables.vcs, down=[tables.down], keys=keys).safe:
            return turns
    raise AssertionError("routes that deadlock")


def _mesh(topology: Topology, fabric: deadlock.Fabric) -> Ints | None:
    """The order for a mesh, None on other wirings."""
    grid = _dimension.shape(topology.cluster)
    if grid is None or grid.kind not in ("mesh", "bus") or grid.width * grid.height != len(topology.cluster.boards):
        return None
    boards, links = fabric.far.shape
    x, y = np.arange(boards) % grid.width, np.arange(boards) // grid.width
    step_x, step_y = x[fabric.far] - x[:, None], y[fabric.far] - y[:, None]
    if (np.abs(step_x) + np.abs(step_y))[fabric.far >= 0].max(initial=0) > 1:
        return None
    # By column, from the one that copies leave to the one that they reach; in a column by rows, on the way.
    row = np.where(step_y > 0, y[:, None], grid.height - y[:, None])
    order = np.empty((boards, links, fabric.vcs), np.int64)
    size = (2 * grid.width + 2) * (grid.height + 1)
    for vc in range(fabric.vcs):
        way = 1 if vc % 2 == 0 else -1
        column = (x if way == 1 else grid.width - 1 - x)[:, None] * 2 + (step_x == way)
        first = step_x == -way
        freely = (grid.width + column) * (grid.height + 1) + np.where(step_x == 0, row, 0)
        order[:, :, vc] = vc * 4 * size + np.where(first, grid.width - column // 2, size + freely)
    return order


def _of_routes(fabric: deadlock.Fabric, tables: Tables) -> Ints:
    """A topological order of what the routes' channels wait for."""
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
