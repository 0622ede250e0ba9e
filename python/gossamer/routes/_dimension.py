# SPDX-License-Identifier: Apache-2.0
"""Dimension-order routes for meshes, tori (also twisted), rings and buses: first along the row, then along the column.

A displacement in a torus has many representatives (x, y). The generator uses a shortest one, among these one with the
least |x|; if east and west (north and south) are equally far, boards alternate. A step along x never makes another
representative shorter, so a route turns once.

A ring of boards has a dateline. A packet that will cross it uses channel 0 before the dateline and channel 1 after it.
A packet on channel 1 never crosses the dateline, so channels form no cycle. Packets that share no link with a crossed
packet use channel 0 too. Further pairs of channels are copies of the first pair, selected by destination.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from gossamer.config import Cluster

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Grid:
    """The declared shape of a cluster."""

    kind: str
    width: int
    height: int
    twist: int

    @property
    def around(self) -> bool:
        """Whether rows and columns wrap around."""
        return self.kind in ("torus", "ring")


def shape(cluster: Cluster) -> Grid | None:
    """The grid of a generated cluster; None for a custom wiring."""
    found = re.fullmatch(r"(mesh|torus|ring|bus) (\d+)(?:x(\d+)(?: twist (\d+))?)?", cluster.topology)
    return Grid(found[1], int(found[2]), int(found[3] or 1), int(found[4] or 0)) if found else None


def route(grid: Grid, vcs: int) -> tuple[Ints, Ints]:
    """([board, destination] -> next board, [board, destination] -> virtual channel).

    On the diagonal the next board is the board itself. Rows or columns that wrap around need two channels; with one
    channel, all channels are 0 and their dependencies may form a cycle, which the caller must check.
    """
    boards = grid.width * grid.height
    index = np.arange(boards)
    x, y = index % grid.width, index // grid.width
    ax, ay, tie_x, tie_y = _displacements(grid)
    step_x, step_y = x[None, :] - x[:, None], y[None, :] - y[:, None]
    if grid.around:
        below = step_y < 0
        step_x = (step_x - grid.twist * below) % grid.width
        step_y = step_y + grid.height * below
        go_x, go_y = ax[step_y, step_x], ay[step_y, step_x]
        go_x = np.where(tie_x[step_y, step_x] & ((x[:, None] + y[None, :]) % 2 == 1), -go_x, go_x)
        other_y = tie_y[step_y, step_x]
        go_y = np.where((other_y != 0) & ((y[:, None] + x[None, :]) % 2 == 1), other_y, go_y)
    else:
        go_x, go_y = step_x, step_y
    move_x = np.sign(go_x)
    move_y = np.where(move_x == 0, np.sign(go_y), 0)
    line_x, line_y = _rows(grid), _columns(grid)
    following = np.broadcast_to(index[:, None], (boards, boards)).copy()
    for line, move in ((line_x, move_x), (line_y, move_y)):
        for sign in (1, -1):
            target = line.after if sign == 1 else line.before
            following = np.where(move == sign, target[:, None], following)
    channel = np.where(move_x != 0, _channel(line_x, go_x), np.where(move_y != 0, _channel(line_y, go_y), 0))
    copies = index[None, :] % (vcs // 2 if grid.around else vcs) if vcs > 1 else np.zeros((1, boards), dtype=np.int64)
    if not grid.around or vcs == 1:
        channel = np.zeros_like(channel)
    return following, channel + copies * (2 if grid.around else 1)


def _displacements(grid: Grid) -> tuple[Ints, Ints, NDArray[np.bool_], Ints]:
    """By [row, column] of a displacement: steps in x and y, whether west is as short as east, other y (or 0)."""
    width, height = grid.width, grid.height
    best = np.full((height, width), np.iinfo(np.int64).max)
    go_x, go_y, other = (np.zeros((height, width), dtype=np.int64) for _ in range(3))
    if grid.around:
        turns = range(-(width // height) - 2, width // height + 3) if grid.twist else range(2)
        rows, columns = np.mgrid[0:height, 0:width]
        for turn in turns:
            here_y = rows - height * turn
            here_x = (columns + grid.twist * turn) % width
            here_x = np.where(here_x > width // 2, here_x - width, here_x)
            if height == 1 and turn:
                continue
            # Length has priority over |x|; both are combined in one number.
            cost = (np.abs(here_x) + np.abs(here_y)) * (4 * width) + np.abs(here_x)
            better, equal = cost < best, cost == best
            other = np.where(better, 0, np.where(equal & (here_y == -go_y), here_y, other))
            go_x, go_y = np.where(better, here_x, go_x), np.where(better, here_y, go_y)
            best = np.minimum(best, cost)
    tie_x = (2 * np.abs(go_x) == width) & (width > 1)
    return go_x, go_y, tie_x, other


@dataclass(frozen=True)
class _Lines:
    """Boards along one dimension: rings, each with a dateline between its last and its first position."""

    after: Ints
    before: Ints
    place: Ints
    length: int


def _rows(grid: Grid) -> _Lines:
    index = np.arange(grid.width * grid.height)
    x, row = index % grid.width, index - index % grid.width
    return _Lines(row + (x + 1) % grid.width, row + (x - 1) % grid.width, x, grid.width)


def _columns(grid: Grid) -> _Lines:
    """Columns; with a twist, several columns form one ring."""
    width, height = grid.width, grid.height
    index = np.arange(width * height)
    after = np.where(index // width + 1 < height, index + width, (index % width + grid.twist) % width)
    before = np.empty_like(after)
    before[after] = index
    rings = gcd(width, grid.twist) if grid.twist else width
    place = np.empty_like(index)
    length = width * height // rings
    board = index[:rings].copy()
    for step in range(length):
        place[board] = step
        board = after[board]
    return _Lines(after, before, place, length)


def _channel(line: _Lines, go: Ints) -> Ints:
    """1 after a dateline, on links that crossed packets use; else 0."""
    target = line.place[:, None] + go
    reach = int(np.abs(go).max(initial=0))
    crosses = (target < 0) | (target >= line.length)
    met = np.where(go > 0, target < reach, target >= line.length - reach)
    return np.where(~crosses & met, 1, 0)
