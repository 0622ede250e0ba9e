# SPDX-License-Identifier: Apache-2.0
"""Partitioning one graph into parts of equal work with few edges between them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gossamer_setup
from gossamer.mapper.levels import Undirected

_ENTRIES = {"metis": 4_000_000, "kahypar": 1_000_000}
"""Adjacency entries of the largest graph that is passed to a partitioner; a larger graph is coarsened first."""
_UNEVEN = 1.03
"""Maximum work of a part, relative to the mean, for a partitioner."""
_REFINED = 1.01
"""The same for refinement, which moves vertices at finer levels."""
_CLUSTERS = 24
"""Minimum number of clusters per part, so that a partitioner has a choice."""


def require(method: str) -> None:
    """Installs the packages that a method needs."""
    gossamer_setup.require("kahypar" if method == "kahypar" else "rtl")


def split(graph: Undirected, parts: int, method: str, seed: int) -> NDArray[np.int64]:
    """The part of each vertex, with balanced work and few cut edges. ``method`` is one of ``SPLITTERS``."""
    if parts == 1 or graph.vertices == 0:
        return np.zeros(graph.vertices, np.int64)
    if graph.vertices <= parts:
        return np.arange(graph.vertices, dtype=np.int64)
    # Coarsen repeatedly, until the graph is small enough or hardly shrinks.
    levels: list[tuple[Undirected, NDArray[np.uint32]]] = []
    total = int(graph.work.sum())
    most = max(1, total // (parts * _CLUSTERS))
    while graph.entries > _ENTRIES[method] and graph.vertices > parts * _CLUSTERS:
        labels, count = graph.clusters(most)
        if count > 0.95 * graph.vertices:
            break
        levels.append((graph, labels))
        graph = graph.contract(labels, count)
    found = SPLITTERS[method](graph, parts, seed)
    for finer, labels in reversed(levels):
        found = found[labels]
        its = np.ascontiguousarray(found, np.uint32)
        finer.refine(its, parts, int(_REFINED * total / parts) + 1)
        found = its.astype(np.int64)
    return found


def on_threads(
    graph: Undirected, shape: tuple[int, int], method: str, seed: int, done: Callable[[], object] = lambda: None
) -> NDArray[np.int64]:
    """The thread of each vertex of a board's part of the graph; ``shape`` is tiles per board, threads per tile."""
    tiles, threads = shape
    its = split(graph, tiles, method, seed)
    found = np.empty(graph.vertices, np.int64)
    for tile in range(tiles):
        on_tile = np.flatnonzero(its == tile)
        found[on_tile] = tile * threads + split(graph.part(on_tile), threads, method, seed)
        done()
    return found


def _metis(graph: Undirected, parts: int, seed: int) -> NDArray[np.int64]:
    import pymetis

    with _silent():
        _, found = pymetis.part_graph(
            parts,
            pymetis.CSRAdjacency(graph.offsets.astype(np.int64), graph.neighbours.astype(np.int64)),
            vweights=graph.work.astype(np.int64),
            eweights=graph.weights.astype(np.int64),
            options=pymetis.Options(seed=seed),
        )
    return np.asarray(found, np.int64)


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Discards standard output, where METIS prints warnings about small graphs and the command prints results."""
    flush = ctypes.CDLL(None).fflush
    sys.stdout.flush()
    flush(None)
    kept = os.dup(1)
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
        yield
    finally:
        flush(None)
        os.dup2(kept, 1)
        os.close(kept)


_started: list[Any] = []
"""Mt-KaHyPar's thread pool, which a process can start only once."""


def _kahypar(graph: Undirected, parts: int, seed: int) -> NDArray[np.int64]:
    import mtkahypar

    if not _started:
        _started.append(mtkahypar.initialize(len(os.sched_getaffinity(0)), print_warnings=False))
    context = _started[0].context_from_preset(mtkahypar.PresetType.DETERMINISTIC)
    context.set_partitioning_parameters(parts, _UNEVEN - 1, mtkahypar.Objective.CUT)
    context.logging = False
    mtkahypar.set_seed(seed)
    rows = graph.rows()
    once = rows < graph.neighbours
    edges = list(zip(rows[once].tolist(), graph.neighbours[once].tolist(), strict=True))
    made = _started[0].create_graph(
        context, graph.vertices, len(edges), edges, graph.work.tolist(), graph.weights[once].tolist()
    )
    return np.asarray(made.partition(context).get_partition(), np.int64)


SPLITTERS: dict[str, Callable[[Undirected, int, int], NDArray[np.int64]]] = {"metis": _metis, "kahypar": _kahypar}

__all__ = ["SPLITTERS", "on_threads", "require", "split"]
