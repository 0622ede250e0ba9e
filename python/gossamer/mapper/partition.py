# SPDX-License-Identifier: Apache-2.0
"""Assigns a thread to each vertex by hierarchical graph partitioning, so that most edges are short.

The graph is partitioned among boards, then each board's part among its tiles, then each tile's part among its threads:
an edge between boards costs most, an edge within a thread nothing. The weight of a vertex is its work: its own
handlers, plus one for each edge in and out. Parts with many edges between them are placed on near boards
(``placement``); a large graph is coarsened first (``levels``), and several processes map the boards' parts
(``workers``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from gossamer.errors import InputError
from gossamer.mapper import placement, split, workers
from gossamer.mapper.layout import Problem
from gossamer.mapper.levels import Undirected
from gossamer.mapper.machine import Machine, Numbers

METHODS = ("metis", "kahypar", "bfs", "random", "direct")
"""metis, kahypar: multilevel partitioning. bfs: breadth-first order, cut into equal parts. random: for comparison.
direct: index order, cut into equal parts."""
_BLIND = ("random", "direct")
"""Methods that do not look at edges."""
OWN = 4
"""Weight of a vertex without edges; an edge weighs 1."""
_MANY = 4_000_000
"""Adjacency entries above which several processes map the boards' parts."""


@dataclass(frozen=True)
class Mapping:
    """The thread of each vertex, and its slot there."""

    thread: Numbers
    local: Numbers
    """Slot of each vertex in its thread."""
    counts: Numbers
    """Number of vertices of each thread."""
    order: Numbers
    """Vertices sorted by thread, then by number."""


@dataclass(frozen=True)
class Cut:
    """The edges of a mapping by distance, and the balance of its parts."""

    boards: int
    """Edges between boards."""
    tiles: int
    """Edges between tiles of the same board."""
    threads: int
    """Edges between threads of the same tile."""
    within: int
    """Edges between vertices of one thread."""
    hops: int
    """Links that all edges between boards cross, in total."""
    board_balance: float
    """Mean work of a board divided by the maximum; 1 is balanced."""
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

    The same seed gives the same mapping on any number of processors. ``progress`` receives the number of finished tiles
    and of all tiles.
    """
    if method not in METHODS:
        raise InputError(f"no such mapping: {method!r}; choose one of {', '.join(METHODS)}")
    if method in split.SPLITTERS:
        split.require(method)
        thread = _multilevel(Undirected.from_edges(vertices, source, target, OWN), machine, method, seed, progress)
    else:
        order = _order(vertices, source, target, method, seed)
        thread = np.empty(vertices, np.int64)
        thread[order] = np.arange(vertices) * machine.threads // max(vertices, 1)
    return mapped(thread, machine)


def place(
    problem: Problem,
    machine: Machine,
    *,
    method: str = "metis",
    seed: int = 1,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Mapping:
    """Maps a problem: see assign(). Methods that do not look at edges take no memory for them."""
    no_ends = np.empty(0, np.int64)
    source, target = (no_ends, no_ends) if method in _BLIND else problem.ends()
    return assign(problem.vertices, source, target, machine, method=method, seed=seed, progress=progress)


def cut(mapping: Mapping, source: Numbers, target: Numbers, machine: Machine) -> Cut:
    """The cut of a mapping."""
    a, b = mapping.thread[source], mapping.thread[target]
    board = machine.board_tiles * machine.tile_threads
    away = a // board != b // board
    other_tile, other = a // machine.tile_threads != b // machine.tile_threads, a != b
    near, tiles, threads = int(away.sum()), int(other_tile.sum()), int(other.sum())
    hops = near if machine.hops is None else int(machine.hops[a[away] // board, b[away] // board].sum())
    work = np.bincount(a, minlength=machine.threads) + np.bincount(b, minlength=machine.threads) + OWN * mapping.counts
    return cut_with(machine, near, tiles - near, threads - tiles, len(a) - threads, hops, work)


def cut_with(machine: Machine, boards: int, tiles: int, threads: int, within: int, hops: int, work: Numbers) -> Cut:
    """Of edges between boards, tiles of a board and threads of a tile, and within threads; ``work`` by thread."""

    def balance(each: int) -> float:
        sums = work.reshape(-1, each).sum(axis=1)
        return float(sums.mean() / max(1, sums.max()))

    return Cut(
        boards=boards,
        tiles=tiles,
        threads=threads,
        within=within,
        hops=hops,
        board_balance=balance(machine.board_tiles * machine.tile_threads),
        tile_balance=balance(machine.tile_threads),
        thread_balance=balance(1),
    )


def _order(vertices: int, source: Numbers, target: Numbers, method: str, seed: int) -> Numbers:
    if method == "random":
        return np.random.default_rng(seed).permutation(vertices)
    if method == "bfs":
        return _breadth_first(Undirected.from_edges(vertices, source, target, OWN))
    return np.arange(vertices)


def mapped(thread: Numbers, machine: Machine) -> Mapping:
    """The mapping for a given thread of each vertex."""
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
        boards = placement.assign_boards(placement.traffic(graph, boards, machine.boards), machine.hops)[boards]
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


__all__ = ["METHODS", "Cut", "Mapping", "assign", "cut", "cut_with", "mapped", "place"]
