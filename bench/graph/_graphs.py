# SPDX-License-Identifier: Apache-2.0
"""The graphs of the suite, always made in the same way, with both directions in memory."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gossamer.graph import CSR, Graph, generate, read_graph

WEIGHTS = (1, 255)
SOURCES = 64
SEARCHES = 8
"""Of them, those that a breadth-first search with parents starts from, one after the other."""
ENRON = "email-Enron.mtx.gz"
# Numbers of vertices that say nothing of their places: a locality that the generator knows,
# and a user's file need not have, shall help neither us nor a peer.
GEOMETRIC_ORDER = "random"


@dataclass(frozen=True)
class Case:
    """One graph with what is asked of it."""

    name: str
    graph: Graph
    source: int
    """Where shortest paths start: the first vertex of the greatest out-degree."""
    sources: tuple[int, ...]
    """Where the breadth-first searches start: spaced evenly, as the application ``asp`` does."""

    @functools.cached_property
    def simple(self) -> Graph:
        """Each pair of neighbours both ways, once, without weights and self-loops."""
        out = self.graph.out
        plain = Graph(out=CSR(out.offsets, out.targets), symmetric=self.graph.symmetric, name=self.graph.name)
        return plain.symmetrised().simplified()

    @property
    def about(self) -> dict[str, Any]:
        """What a row says of it."""
        return {"graph": self.graph.name, "vertices": self.graph.vertices, "edges": self.graph.edges}


def case(name: str, scale: float = 1.0, data: Path | None = None) -> Case:
    """Makes or reads a graph. ``scale`` below 1 shrinks it, to test the suite and not to measure."""
    graph = _graph(name, scale, data)
    n = graph.vertices
    # Rows of in-edges are made when first asked for, and that shall be in nobody's time.
    graph.into  # noqa: B018
    sources = tuple(k * n // SOURCES for k in range(SOURCES))
    return Case(name, graph, int(graph.out.degrees().argmax()), sources)


def _graph(name: str, scale: float, data: Path | None) -> Graph:
    if name in ("geoS", "geoL"):
        # A smaller square of the same density, so that neighbourhoods hold as many vertices.
        vertices = max(1000, round(200_000 * scale))
        radius = min(1.0, (0.02 if name == "geoS" else 0.2) * (200_000 / vertices) ** 0.5)
        return generate.geometric(vertices, 100, radius, order=GEOMETRIC_ORDER, weights=WEIGHTS)
    if name == "rmat18":
        # Without parallel edges and self-loops: matrices of the peers cannot hold the first, and
        # GAPBS drops both.
        return generate.rmat(max(8, round(18 + np.log2(scale))), simple=True, weights=WEIGHTS)
    if name == "grid400k":
        side = scale**0.5
        return generate.grid(max(16, round(640 * side)), max(16, round(625 * side)), weights=WEIGHTS)
    assert name == "email-Enron" and data is not None
    return _weighted(read_graph(data / ENRON).simplified())


def _weighted(graph: Graph) -> Graph:
    """With weights that hang on the two ends alone, and so are the same both ways."""
    out = graph.out
    ends = np.repeat(np.arange(graph.vertices, dtype=np.uint64), out.degrees().astype(np.int64))
    others = out.targets.astype(np.uint64)
    mixed = np.minimum(ends, others) * np.uint64(0x9E3779B97F4A7C15) + np.maximum(ends, others)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    low, high = WEIGHTS
    weights = (low + (mixed >> np.uint64(32)) % np.uint64(high - low + 1)).astype(np.int32)
    rows = CSR(out.offsets, out.targets, weights)
    name = f"{graph.name}, simple, weights={low}:{high}"
    return Graph(out=rows, symmetric=graph.symmetric, labels=graph.labels, base=graph.base, name=name)
