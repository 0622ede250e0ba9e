# SPDX-License-Identifier: Apache-2.0
"""A thread for each vertex: graph partitioning, level by level, so that most edges stay near.

First among boards, then each board's part among its tiles, then each tile's among its threads: an edge between boards
costs most, one within a thread nothing. A vertex weighs what it has to do: its own handlers, and one for each edge in
and out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import InputError
from gossamer.mapper.machine import Machine, Numbers

METHODS = ("metis", "bfs", "random", "direct")
"""metis: multilevel partitioning. bfs: breadth-first order, cut into equal parts. random: for comparison. direct:
vertices in their order, cut into equal parts."""
_OWN = 4
"""What a vertex without edges weighs, an edge being 1."""


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

    ``progress`` is told of parts of boards that are done, of how many.
    """
    if method not in METHODS:
        raise InputError(f"there is no mapping {method!r}; there are: {', '.join(METHODS)}")
    if method == "metis":
        thread = _multilevel(vertices, source, target, machine, seed, progress)
    else:
        order = _order(vertices, source, target, method, seed)
        thread = np.empty(vertices, np.int64)
        thread[order] = np.arange(vertices) * machine.threads // max(vertices, 1)
    return mapped(thread, machine)


def _order(vertices: int, source: Numbers, target: Numbers, method: str, seed: int) -> Numbers:
    if method == "random":
        return np.random.default_rng(seed).permutation(vertices)
    if method == "bfs":
        return _breadth_first(_Graph.of(vertices, source, target))
    return np.arange(vertices)


def mapped(thread: Numbers, machine: Machine) -> Mapping:
    """The mapping that puts each vertex on the thread that is named for it."""
    counts = np.bincount(thread, minlength=machine.threads).astype(np.int64)
    order = np.argsort(thread, kind="stable")
    local = np.empty(len(thread), np.int64)
    local[order] = np.arange(len(thread)) - np.repeat(np.cumsum(counts) - counts, counts)
    return Mapping(thread, local, counts, order)


@dataclass(frozen=True)
class _Graph:
    """Neighbours both ways, without loops; ``weight`` of an edge is how many edges it stands for."""

    offsets: Numbers
    neighbours: Numbers
    weight: Numbers
    work: Numbers

    @classmethod
    def of(cls, vertices: int, source: Numbers, target: Numbers) -> _Graph:
        work = np.bincount(source, minlength=vertices) + np.bincount(target, minlength=vertices) + _OWN
        apart = source != target
        a, b = source[apart], target[apart]
        keys, weight = np.unique(np.concatenate([a * vertices + b, b * vertices + a]), return_counts=True)
        counts = np.bincount(keys // max(vertices, 1), minlength=vertices)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        return cls(offsets, keys % max(vertices, 1), weight, work)

    def part(self, members: Numbers) -> _Graph:
        """The graph among some of the vertices, in their order."""
        number = np.full(len(self.work), -1, np.int64)
        number[members] = np.arange(len(members))
        counts = self.offsets[members + 1] - self.offsets[members]
        starts = np.repeat(self.offsets[members] - (np.cumsum(counts) - counts), counts)
        edges = starts + np.arange(len(starts))
        ends = number[self.neighbours[edges]]
        inside = ends >= 0
        kept = np.bincount(np.repeat(np.arange(len(members)), counts)[inside], minlength=len(members))
        offsets = np.concatenate([[0], np.cumsum(kept)])
        return _Graph(offsets, ends[inside], self.weight[edges][inside], self.work[members])

    def split(self, parts: int, seed: int) -> NDArray[np.int64]:
        """The part of each vertex: equal work, few edges cut."""
        vertices = len(self.work)
        if parts == 1 or vertices == 0:
            return np.zeros(vertices, np.int64)
        if vertices <= parts:
            return np.arange(vertices, dtype=np.int64)
        import pymetis

        _, found = pymetis.part_graph(
            parts,
            pymetis.CSRAdjacency(self.offsets, self.neighbours),
            vweights=self.work,
            eweights=self.weight,
            options=pymetis.Options(seed=seed),
        )
        return np.asarray(found, np.int64)


def _multilevel(
    vertices: int,
    source: Numbers,
    target: Numbers,
    machine: Machine,
    seed: int,
    progress: Callable[[int, int], object],
) -> Numbers:
    graph = _Graph.of(vertices, source, target)
    thread = np.zeros(vertices, np.int64)
    boards = graph.split(machine.boards, seed)
    done, total = 0, machine.boards * machine.board_tiles
    for board in range(machine.boards):
        on_board = np.flatnonzero(boards == board)
        its = graph if machine.boards == 1 else graph.part(on_board)
        tiles = its.split(machine.board_tiles, seed)
        for tile in range(machine.board_tiles):
            on_tile = np.flatnonzero(tiles == tile)
            threads = its.part(on_tile).split(machine.tile_threads, seed)
            first = (board * machine.board_tiles + tile) * machine.tile_threads
            thread[on_board[on_tile]] = first + threads
            done += 1
            progress(done, total)
    return thread


def _breadth_first(graph: _Graph) -> Numbers:
    """Vertices in breadth-first order, component by component, each from its first vertex."""
    vertices = len(graph.work)
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
            counts = graph.offsets[wave + 1] - graph.offsets[wave]
            starts = np.repeat(graph.offsets[wave] - (np.cumsum(counts) - counts), counts)
            ends = np.unique(graph.neighbours[starts + np.arange(len(starts))])
            wave = ends[~seen[ends]]
            seen[wave] = True
    return np.concatenate(order) if order else np.empty(0, np.int64)


__all__ = ["METHODS", "Mapping", "assign", "mapped"]
