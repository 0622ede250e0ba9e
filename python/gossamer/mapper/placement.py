# SPDX-License-Identifier: Apache-2.0
"""Which board gets which part of a graph: parts with many edges between them on boards that are near each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gossamer.mapper.levels import Undirected

_SWAPS = 4
"""Swaps for each board, at most."""


def traffic(graph: Undirected, parts: NDArray[Any], count: int) -> NDArray[np.float64]:
    """Edges between each two parts, both ways."""
    key = parts[graph.rows()].astype(np.int64) * count + parts[graph.neighbours]
    found = np.bincount(key, weights=graph.weights, minlength=count * count).astype(float).reshape(count, count)
    np.fill_diagonal(found, 0)
    return found


def near(between: NDArray[np.float64], hops: NDArray[Any]) -> NDArray[np.int64]:
    """A board for each part, so that the sum of traffic times hops is small.

    From several starts, the best swap of two boards is made as long as one brings anything. ``between`` is symmetric;
    ``hops`` need not be.
    """
    apart = (hops + hops.T) / 2.0
    np.fill_diagonal(apart, 0)
    starts = (np.arange(len(apart)), _greedy(between, apart), _spectral(between, apart))
    return min((_swapped(between, apart, start) for start in starts), key=lambda found: cost(between, apart, found))


def cost(between: NDArray[np.float64], hops: NDArray[Any], board: NDArray[np.int64]) -> float:
    """Traffic times hops, of all pairs of parts."""
    return float((between * hops[np.ix_(board, board)]).sum())


def _greedy(between: NDArray[np.float64], apart: NDArray[np.float64]) -> NDArray[np.int64]:
    """The part with most traffic to those that are placed, at the free board where that costs least."""
    count = len(apart)
    board = np.full(count, -1)
    free = np.ones(count, bool)
    part, at = int(between.sum(axis=0).argmax()), int(apart.sum(axis=0).argmin())
    waiting = np.ones(count, bool)
    # By part: traffic to those placed. By board and part: what it costs there.
    towards, costs = np.zeros(count), np.zeros((count, count))
    for _ in range(count):
        board[part], free[at], waiting[part] = at, False, False
        towards += between[part]
        costs += np.outer(apart[at], between[part])
        if not waiting.any():
            break
        part = int(np.where(waiting, towards, -1.0).argmax())
        at = int(np.where(free, costs[:, part], np.inf).argmin())
    return board


def _spectral(between: NDArray[np.float64], apart: NDArray[np.float64]) -> NDArray[np.int64]:
    """Parts and boards each in the order of their slowest oscillation: chains come out as chains."""

    def order(weights: NDArray[np.float64]) -> NDArray[np.int64]:
        laplacian = np.diag(weights.sum(axis=0)) - weights
        return np.asarray(np.argsort(np.linalg.eigh(laplacian)[1][:, min(1, len(weights) - 1)], kind="stable"))

    board = np.empty(len(apart), np.int64)
    board[order(between)] = order((apart == 1.0).astype(float))
    return board


def _swapped(between: NDArray[np.float64], apart: NDArray[np.float64], board: NDArray[np.int64]) -> NDArray[np.int64]:
    board = board.copy()
    count = len(board)
    hops = apart[np.ix_(board, board)]
    costs = between @ hops  # what each part would cost at each part's board
    for _ in range(_SWAPS * count):
        own = np.diag(costs)
        change = costs + costs.T - own[:, None] - own[None, :] + 2 * between * hops
        one, other = divmod(int(change.argmin()), count)
        if change[one, other] >= -1e-9 * max(1.0, abs(own).sum()):
            break
        # Two rows of hops change places, then two columns.
        costs += np.outer(between[:, one] - between[:, other], hops[other] - hops[one])
        costs[:, [one, other]] = costs[:, [other, one]]
        board[[one, other]] = board[[other, one]]
        hops = apart[np.ix_(board, board)]
    return board


__all__ = ["cost", "near", "traffic"]
