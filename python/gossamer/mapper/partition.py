# SPDX-License-Identifier: Apache-2.0
"""A thread for each vertex: graph partitioning, level by level, so that most edges stay near.

First among boards, then each board's part among its tiles, then each tile's among its threads: an edge between boards
costs most, one within a thread nothing. A vertex weighs what it has to do: its own handlers, and one for each edge in
and out. Parts are given to boards so that those with many edges between them are near (``place``); a large graph is
made coarser first (``levels``), and boards' parts of it are mapped in several processes (``workers``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from gossamer.errors import InputError
from gossamer.mapper import placement, split, workers
from gossamer.mapper.levels import Undirected
from gossamer.mapper.machine import Machine, Numbers

METHODS = ("metis", "kahypar", "bfs", "random", "direct")
"""metis, kahypar: multilevel partitioning. bfs: breadth-first order, cut into equal parts. random: for comparison.
direct: vertices in their order, cut into equal parts."""
_OWN = 4
"""What a vertex without edges weighs, an edge being 1."""
_MANY = 4_000_000
"""Entries from which on boards are mapped in several processes."""


@dataclass(frozen=True)
class Mapping:
    """Which thread each vertex is on, and its place there."""

    thread: Numbers
    local: Numbers
    """Number of the vertex among those of its thread."""
    counts: Numbers
    """Vertices of each thread."""
    order: Numbers
    """Vertices in the order of threads, and within a thread of their numbers."""


@dataclass(frozen=True)
class Cut:
    """Where a mapping's edges lead, and how even its parts are."""

    boards: int
    """Edges from a board to another."""
    tiles: int
    """From a tile to another of the same board."""
    threads: int
    """From a thread to another of the same tile."""
    within: int
    """Between vertices of one thread."""
    hops: int
    """Links that edges between boards pass, all together."""
    board_balance: float
    """Work of the mean board, in that of the one with most; 1 is even."""
    tile_balance: float
    thread_balance: float


def assign(
    vertices: int,
    source: Numbers,
    target: Numbers,
    machine: Machine,
    *,
    method: str = "metis",
    seed: int = 1,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Mapping:
    """Maps vertices with edges from ``source`` to ``target`` to threads. Raises InputError for an unknown method.

    The same seed gives the same mapping, whatever the number of processors. ``progress`` is told of tiles that are
    done, of how many.
    """
    if method not in METHODS:
        raise InputError(f"there is no mapping {method!r}; there are: {', '.join(METHODS)}")
    if method in split.SPLITTERS:
        split.require(method)
        thread = _multilevel(Undirected.of(vertices, source, target, _OWN), machine, method, seed, progress)
    else:
        order = _order(vertices, source, target, method, seed)
        thread = np.empty(vertices, np.int64)
        thread[order] = np.arange(vertices) * machine.threads // max(vertices, 1)
    return mapped(thread, machine)


def cut(mapping: Mapping, source: Numbers, target: Numbers, machine: Machine) -> Cut:
    """What a mapping comes to."""
    a, b = mapping.thread[source], mapping.thread[target]
    board = machine.board_tiles * machine.tile_threads
    away = a // board != b // board
    other_tile, other = a // machine.tile_threads != b // machine.tile_threads, a != b
    near, tiles, threads = int(away.sum()), int(other_tile.sum()), int(other.sum())
    hops = near if machine.hops is None else int(machine.hops[a[away] // board, b[away] // board].sum())
    work = np.bincount(a, minlength=machine.threads) + np.bincount(b, minlength=machine.threads) + _OWN * mapping.counts

    def balance(each: int) -> float:
        sums = work.reshape(-1, each).sum(axis=1)
        return float(sums.mean() / max(1, sums.max()))

    return Cut(
        boards=near,
        tiles=tiles - near,
        threads=threads - tiles,
        within=len(a) - threads,
        hops=hops,
        board_balance=balance(board),
        tile_balance=balance(machine.tile_threads),
        thread_balance=balance(1),
    )


def _order(vertices: int, source: Numbers, target: Numbers, method: str, seed: int) -> Numbers:
    if method == "random":
        return np.random.default_rng(seed).permutation(vertices)
    if method == "bfs":
        return _breadth_first(Undirected.of(vertices, source, target, _OWN))
    return np.arange(vertices)


def mapped(thread: Numbers, machine: Machine) -> Mapping:
    """The mapping that puts each vertex on the thread that is named for it."""
    counts = np.bincount(thread, minlength=machine.threads).astype(np.int64)
    order = np.argsort(thread, kind="stable")
    local = np.empty(len(thread), np.int64)
    local[order] = np.arange(len(thread)) - np.repeat(np.cumsum(counts) - counts, counts)
    return Mapping(thread, local, counts, order)


def _multilevel(
    graph: Undirected, machine: Machine, method: str, seed: int, progress: Callable[[int, int], object]
) -> Numbers:
    boards = split.split(graph, machine.boards, method, seed)
    if machine.boards > 1 and machine.hops is not None:
        boards = placement.near(placement.traffic(graph, boards, machine.boards), machine.hops)[boards]
    thread = np.empty(graph.vertices, np.int64)
    done, total = 0, machine.boards * machine.board_tiles

    def tile_done() -> None:
        nonlocal done
        done += 1
        progress(done, total)

    parts = (np.flatnonzero(boards == board) for board in range(machine.boards))
    shape = (machine.board_tiles, machine.tile_threads)
    each: Iterable[tuple[Numbers, Numbers]]
    if machine.boards > 1 and graph.entries > _MANY:
        each = workers.on_boards(graph, parts, shape, method, seed, tile_done)
    elif machine.boards > 1:
        each = ((part, split.on_threads(graph.part(part), shape, method, seed, tile_done)) for part in parts)
    else:
        each = ((part, split.on_threads(graph, shape, method, seed, tile_done)) for part in parts)
    for board, (on_board, found) in enumerate(each):
        thread[on_board] = board * machine.board_tiles * machine.tile_threads + found
    return thread


def _breadth_first(graph: Undirected) -> Numbers:
    """Vertices in breadth-first order, component by component, each from its first vertex."""
    vertices = graph.vertices
    offsets = graph.offsets.astype(np.int64)
    seen = np.zeros(vertices, bool)
    order: list[Numbers] = []
    first = 0
    while first < vertices:
        if seen[first]:
            first += 1
            continue
        wave = np.array([first])
        seen[first] = True
        while len(wave):
            order.append(wave)
            counts = offsets[wave + 1] - offsets[wave]
            starts = np.repeat(offsets[wave] - (np.cumsum(counts) - counts), counts)
            ends = np.unique(graph.neighbours[starts + np.arange(len(starts))]).astype(np.int64)
            wave = ends[~seen[ends]]
            seen[wave] = True
    return np.concatenate(order) if order else np.empty(0, np.int64)


__all__ = ["METHODS", "Cut", "Mapping", "assign", "cut", "mapped"]
