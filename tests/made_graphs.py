# SPDX-License-Identifier: Apache-2.0
"""Graphs for tests of applications, as gossamer graphs and as SciPy matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

import gossamer as gs

Edges = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def graph_of(
    vertices: int,
    edges: Edges,
    weights: Any = None,
    *,
    symmetric: bool = False,
    labels: Any = None,
    base: int = 0,
) -> gs.Graph:
    """A graph of exactly these edges, with parallel edges and self-loops."""
    order = np.lexsort((edges[1], edges[0]))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(edges[0], minlength=vertices))))
    kept = None if weights is None else np.asarray(weights)[order]
    return gs.Graph.from_csr(offsets, edges[1][order], kept, symmetric=symmetric, labels=labels, base=base, name="test")


def random_edges(random: np.random.Generator, vertices: int, count: int, *, dangling: bool = True) -> Edges:
    """Edges with a hub, parallel edges, self-loops and, if `dangling`, vertices without out-edges."""
    sources = random.integers(vertices, size=count)
    targets = random.integers(vertices, size=count)
    hub = random.integers(vertices)
    targets[::17] = hub
    sources[::23] = hub
    targets[::31] = sources[::31]
    if dangling and vertices > 3:
        sources[sources < vertices // 5] = vertices - 1
    return np.concatenate((sources, sources[::10])), np.concatenate((targets, targets[::10]))


def lightest(vertices: int, edges: Edges, weights: Any) -> Any:
    """A SciPy matrix with only the lightest of parallel edges."""
    order = np.lexsort((weights, edges[1], edges[0]))
    s, t, w = edges[0][order], edges[1][order], np.asarray(weights)[order]
    first = np.ones(len(s), bool)
    first[1:] = (s[1:] != s[:-1]) | (t[1:] != t[:-1])
    return scipy.sparse.csr_array((w[first], (s[first], t[first])), shape=(vertices, vertices))


def matrix(vertices: int, edges: Edges) -> Any:
    """A SciPy matrix in which parallel edges are summed."""
    ones = np.ones(len(edges[0]))
    return scipy.sparse.csr_array(scipy.sparse.coo_array((ones, edges), shape=(vertices, vertices)))
