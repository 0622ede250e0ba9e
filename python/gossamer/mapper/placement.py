# SPDX-License-Identifier: Apache-2.0
"""Placement of a graph's parts on boards: parts with many edges between them go to near boards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gossamer.mapper.levels import Undirected

_SWAPS = 4
"""Maximum number of swaps per board."""


def traffic(graph: Undirected, parts: NDArray[Any], count: int) -> NDArray[np.float64]:
    """Edges between each pair of parts, in both directions."""
    key = parts[graph.rows()].astype(np.int64) * count + parts[graph.neighbours]
    found = np.bincount(key, weights=graph.weights, minlength=count * count).astype(float).reshape(count, count)
    np.fill_diagonal(found, 0)
    return found


def assign_boards(between: NDArray[np.float64], hops: NDArray[Any]) -> NDArray[np.int64]:
    """A board for each part, with a small sum of traffic times hops.

    Local search from several starts: swaps the best pair of boards while a swap lowers the cost. ``between`` is
    symmetric; ``hops`` need not be.
    """
    distance = (hops + hops.T) / 2.0
    np.fill_diagonal(distance, 0)
    starts = (np.arange(len(distance)), _greedy(between, distance), _spectral(between, distance))
    return min(
        (_swapped(between, distance, start) for start in starts), key=lambda found: cost(between, distance, found)
    )


def cost(between: NDArray[np.float64], hops: NDArray[Any], board: NDArray[np.int64]) -> float:
    """The sum of traffic times hops over all pairs of parts."""
    return float((between * hops[np.ix_(board, board)]).sum())


def _greedy(between: NDArray[np.float64], distance: NDArray[np.float64]) -> NDArray[np.int64]:
    """Places the part with most traffic to placed parts on the cheapest free board, until all are placed."""
    count = len(distance)
    board = np.full(count, -1)
    free = np.ones(count, bool)
    part, at = int(between.sum(axis=0).argmax()), int(distance.sum(axis=0).argmin())
    waiting = np.ones(count, bool)
    # By part: traffic to placed parts. By board and part: cost of that placement.
    towards, costs = np.zeros(count), np.zeros((count, count))
    for _ in range(count):
        board[part], free[at], waiting[part] = at, False, False
        towards += between[part]
        costs += np.outer(distance[at], between[part])
        if not waiting.any():
            break
        part = int(np.where(waiting, towards, -1.0).argmax())
        at = int(np.where(free, costs[:, part], np.inf).argmin())
    return board


def _spectral(between: NDArray[np.float64], distance: NDArray[np.float64]) -> NDArray[np.int64]:
    """Matches parts and boards sorted by their Fiedler vectors: a chain of parts is placed on a chain of boards."""

    def order(weights: NDArray[np.float64]) -> NDArray[np.int64]:
        laplacian = np.diag(weights.sum(axis=0)) - weights
        return np.asarray(np.argsort(np.linalg.eigh(laplacian)[1][:, min(1, len(weights) - 1)], kind="stable"))

    board = np.empty(len(distance), np.int64)
    board[order(between)] = order((distance == 1.0).astype(float))
    return board


def _swapped(
    between: NDArray[np.float64], distance: NDArray[np.float64], board: NDArray[np.int64]
) -> NDArray[np.int64]:
    board = board.copy()
    count = len(board)
    hops = distance[np.ix_(board, board)]
    costs = between @ hops  # [part, part]: cost of the first at the second's board
    for _ in range(_SWAPS * count):
        own = np.diag(costs)
        change = costs + costs.T - own[:, None] - own[None, :] + 2 * between * hops
        one, other = divmod(int(change.argmin()), count)
        if change[one, other] >= -1e-9 * max(1.0, abs(own).sum()):
            break
        # The swap exchanges two rows of hops, then two columns.
        costs += np.outer(between[:, one] - between[:, other], hops[other] - hops[one])
        costs[:, [one, other]] = costs[:, [other, one]]
        board[[one, other]] = board[[other, one]]
        hops = distance[np.ix_(board, board)]
    return board


__all__ = ["assign_boards", "cost", "traffic"]
