# SPDX-License-Identifier: Apache-2.0
"""A test's own copy of a changing graph, with reference results by SciPy and NumPy."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph

import gossamer as gs

FAR = 2**64 - 1


class Model:
    """A graph as a plain list of edges, changed together with a run."""

    def __init__(self, seed: int, vertices: int, edges: int, *, symmetric: bool = False) -> None:
        self.random = np.random.default_rng(seed)
        self.vertices, self.symmetric, self.gone = vertices, symmetric, set[int]()
        self.edges: list[tuple[int, int, int]] = []
        for _ in range(edges):
            self._put(*self._pair(), int(self.random.integers(1, 100)))

    def _pair(self) -> tuple[int, int]:
        """Half of all edges touch one of three hubs, so that rows outgrow their space."""
        there = self.there()
        u, v = (int(x) for x in self.random.choice(there, 2))
        if self.random.random() < 0.5:
            u = int(there[self.random.integers(3)])
        return (u, v) if self.random.random() < 0.5 else (v, u)

    def _put(self, u: int, v: int, w: int) -> None:
        self.edges.append((u, v, w))
        if self.symmetric and u != v:
            self.edges.append((v, u, w))

    def there(self) -> np.ndarray:
        return np.array([v for v in range(self.vertices) if v not in self.gone])

    def graph(self) -> gs.Graph:
        u, v, w = (np.array(part) for part in zip(*self.edges, strict=True))
        graph = gs.Graph.from_arrays(u, v, w, vertices=self.vertices)
        return gs.Graph.from_csr(graph.out.offsets, graph.out.targets, graph.out.weights, symmetric=self.symmetric)

    def add_edges(self, run: gs.Run, count: int) -> None:
        some = [(*self._pair(), int(self.random.integers(1, 100))) for _ in range(count)]
        run.add_edges(*(list(part) for part in zip(*some, strict=True)))
        for edge in some:
            self._put(*edge)

    def remove_edges(self, run: gs.Run, count: int) -> list[tuple[int, int]]:
        picked = self.random.choice(len(self.edges), min(count, len(self.edges)), replace=False)
        pairs = sorted({self.edges[int(i)][:2] for i in picked})
        run.remove_edges([u for u, _ in pairs], [v for _, v in pairs])
        lost = set(pairs) | ({(v, u) for u, v in pairs} if self.symmetric else set())
        self.edges = [edge for edge in self.edges if edge[:2] not in lost]
        return sorted(lost)

    def add_vertices(self, run: gs.Run, count: int) -> None:
        assert run.add_vertices(count) == list(range(self.vertices, self.vertices + count))
        self.vertices += count

    def remove_vertices(self, run: gs.Run, some: list[int]) -> None:
        run.remove_vertices(some)
        self.gone |= set(some)
        self.edges = [edge for edge in self.edges if edge[0] not in self.gone and edge[1] not in self.gone]

    def least(self) -> sp.csr_array:
        """The minimum weight of each pair's edges: SciPy would sum them."""
        best: dict[tuple[int, int], int] = {}
        for u, v, w in self.edges:
            best[u, v] = min(w, best.get((u, v), w))
        rows, columns = ([p[i] for p in best] for i in (0, 1))
        return sp.csr_array((list(best.values()), (rows, columns)), shape=(self.vertices, self.vertices))

    def distances(self, source: int) -> np.ndarray:
        found = csgraph.dijkstra(self.least(), indices=source)
        return np.array([FAR if np.isinf(d) else int(d) for d in found], np.uint64)

    def components(self) -> np.ndarray:
        """The first vertex of each vertex's weakly connected component."""
        _, names = csgraph.connected_components(self.least(), directed=True, connection="weak")
        first: dict[int, int] = {}
        return np.array([first.setdefault(int(name), v) for v, name in enumerate(names)])

    def ranks(self, *, weighted: bool = False) -> np.ndarray:
        """PageRank as the solution of the linear equations, on the existing vertices only."""
        there = self.there()
        place = {int(v): i for i, v in enumerate(there)}
        matrix = np.zeros((len(there), len(there)))
        for u, v, w in self.edges:
            matrix[place[v], place[u]] += w if weighted else 1
        out = matrix.sum(axis=0)
        matrix = np.where(out > 0, matrix / np.where(out > 0, out, 1), 1 / len(there))
        solved = np.linalg.solve(np.eye(len(there)) - 0.85 * matrix, np.full(len(there), 0.15 / len(there)))
        ranks = np.zeros(self.vertices)
        ranks[there] = solved / solved.sum()
        return ranks

    def check_graph(self, run: gs.Run) -> None:
        out = run.graph.out
        sources = np.repeat(np.arange(self.vertices), out.degrees().astype(np.int64))
        assert out.weights is not None
        found = sorted(zip(sources.tolist(), out.targets.tolist(), out.weights.tolist(), strict=True))
        assert found == sorted(self.edges)
        assert run.there.tolist() == [v not in self.gone for v in range(self.vertices)]
