# SPDX-License-Identifier: Apache-2.0
"""The peers that are Python packages, each as its own documentation would have it used.

A peer's form of the graph is made beforehand and is not counted, unless the call itself makes one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gossamer.graph import CSR

from ._answers import same_exactly, same_partition, same_ranks
from ._graphs import Case
from ._jobs import DAMPING, ITERATIONS, UNREACHED, Columns, Job

Array = np.ndarray[Any, Any]


def _inverse_degrees(case: Case) -> Array:
    """damping / out-degree, 0 where there are no out-edges; float32."""
    degrees = case.graph.out.degrees().astype(np.float64)
    shares: Array = np.divide(DAMPING, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    return shares.astype(np.float32)


# SciPy ----------------------------------------------------------------------------------------


class _Scipy(Job):
    def __init__(self) -> None:
        super().__init__()
        import scipy

        self.config = {"peer_version": scipy.__version__}


def _scipy_matrix(rows: CSR, values: Array) -> Any:
    import scipy.sparse

    n = len(rows.offsets) - 1
    parts = (values, rows.targets.astype(np.int32), rows.offsets.astype(np.int32))
    return scipy.sparse.csr_array(parts, shape=(n, n))


class ScipyPageRank(_Scipy):
    """The power method as products of a sparse matrix and a vector."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.config |= {"peer_precision": "float32", "peer_does": "20 products of a csr_array and a vector"}
        self.matrix = _scipy_matrix(case.graph.into, np.ones(case.graph.edges, np.float32))
        self.share = _inverse_degrees(case)
        self.n = case.graph.vertices

    def answer(self) -> Array:
        base = np.float32((1 - DAMPING) / self.n)
        rank = np.full(self.n, 1 / self.n, np.float32)
        for _ in range(ITERATIONS):
            rank = self.matrix @ (rank * self.share)
            rank += base
        return rank

    def compare(self, where: str, ours: Columns, answer: Any) -> str:
        return same_ranks(where, ours["rank"], answer)


class ScipyPaths(_Scipy):
    """Dijkstra's algorithm."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.config |= {"peer_precision": "float64", "peer_does": "csgraph.dijkstra"}
        weights = case.graph.out.weights
        assert weights is not None
        # In the type that the call would make of it otherwise.
        self.matrix = _scipy_matrix(case.graph.out, weights.astype(np.float64))
        self.source = case.source

    def answer(self) -> Array:
        from scipy.sparse import csgraph

        found: Array = csgraph.dijkstra(self.matrix, indices=self.source)
        return found

    def compare(self, where: str, ours: Columns, answer: Any) -> str:
        return same_exactly(where, ours["distance"], np.where(np.isinf(answer), UNREACHED, answer))


class ScipyComponents(_Scipy):
    """Weakly connected components."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.config |= {"peer_does": "csgraph.connected_components(directed=False)"}
        self.matrix = _scipy_matrix(case.graph.out, np.ones(case.graph.edges))

    def answer(self) -> Array:
        from scipy.sparse import csgraph

        labels: Array = csgraph.connected_components(self.matrix, directed=False)[1]
        return labels

    def compare(self, where: str, ours: Columns, answer: Any) -> str:
        return same_partition(where, ours["component"], answer)


# GraphBLAS ------------------------------------------------------------------------------------


class _GraphBlas(Job):
    def __init__(self) -> None:
        super().__init__()
        import graphblas

        self.gb = graphblas
        version = ".".join(map(str, graphblas.ss.about["library_version"]))
        self.config = {"peer_version": f"{graphblas.__version__}, SuiteSparse:GraphBLAS {version}"}

    def use(self, threads: int) -> int:
        self.gb.ss.config["nthreads"] = threads
        return threads

    def matrix(self, rows: CSR) -> Any:
        """A matrix by row that holds one value for all edges, its leanest form."""
        n = len(rows.offsets) - 1
        return self.gb.Matrix.ss.import_csr(
            nrows=n,
            ncols=n,
            indptr=rows.offsets.astype(np.uint64),
            col_indices=rows.targets.astype(np.uint64),
            values=np.ones(1, np.bool_),
            is_iso=True,
            sorted_cols=True,
        )


class GraphBlasPageRank(_GraphBlas):
    """The power method over (+, second), in LAGraph's way: no product ever looks at an edge's value."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.config |= {"peer_precision": "float32", "peer_does": "20 x mxv over plus_second, FP32"}
        self.transposed = self.matrix(case.graph.into)
        self.n = case.graph.vertices
        # Full, so that the product takes its fastest way; nobody pulls from a vertex without out-edges.
        self.share = self.gb.Vector.from_dense(_inverse_degrees(case), dtype="FP32")

    def answer(self) -> Any:
        gb, n = self.gb, self.n
        rank, shared = gb.Vector("FP32", n), gb.Vector("FP32", n)
        rank << 1 / n
        for _ in range(ITERATIONS):
            shared << rank.ewise_mult(self.share, gb.binary.times["FP32"])
            rank << (1 - DAMPING) / n
            rank(gb.binary.plus["FP32"]) << self.transposed.mxv(shared, gb.semiring.plus_second["FP32"])
        rank.wait()
        return rank

    def compare(self, where: str, ours: Columns, answer: Any) -> str:
        return same_ranks(where, ours["rank"], answer.to_dense())


class GraphBlasPaths(_GraphBlas):
    """Breadth-first search from all sources in one matrix, a row a source.

    Each level is one product over (any, pair), masked with what was reached. It is taken along
    out-edges or, against the transposed matrix, along in-edges of what was not reached yet: by
    which has fewer edges to look at, where the latter stops at the first that is in the wave.
    """

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.config |= {"peer_does": "one batched traversal, any_pair, push or pull by level"}
        graph = case.graph
        self.out = self.matrix(graph.out)
        self.transposed = self.out if graph.symmetric else self.matrix(graph.into)
        self.n, self.sources = graph.vertices, case.sources
        self.degree = graph.edges / graph.vertices

    def answer(self) -> Any:
        gb, n, k = self.gb, self.n, len(self.sources)
        any_pair, plus = gb.semiring.any_pair["BOOL"], gb.monoid.plus["INT32"]
        wave = gb.Matrix.from_coo(np.arange(k), self.sources, True, nrows=k, ncols=n, dtype="BOOL")
        seen = gb.Matrix("BOOL", k, n)
        seen.ss.config["sparsity_control"] = "bitmap"
        seen(wave.S) << True
        sums = gb.Vector("INT32", n)
        sums << 0
        reached = waiting = k
        level = 0
        while True:
            level += 1
            ahead = waiting * self.degree
            behind = (k * n - reached) * min(self.degree, k * n / waiting)
            if behind < ahead:
                wave.ss.config["sparsity_control"] = "bitmap"
                wave(~seen.S, replace=True) << wave.mxm(self.transposed.T, any_pair)
            else:
                wave.ss.config["sparsity_control"] = "sparse"
                wave(~seen.S, replace=True) << wave.mxm(self.out, any_pair)
            waiting = wave.nvals
            if not waiting:
                break
            reached += waiting
            seen(wave.S) << True
            hops = wave.apply(gb.unary.one["INT32"]).new().reduce_columnwise(plus).new()
            sums(plus) << hops.apply(gb.binary.times["INT32"], right=level)
        sums.wait()
        return sums

    def compare(self, where: str, ours: Columns, answer: Any) -> str:
        return same_exactly(where, ours["sum"], answer.to_dense(fill_value=0))


# NetworKit ------------------------------------------------------------------------------------


class _NetworKit(Job):
    def __init__(self, case: Case) -> None:
        super().__init__()
        import networkit

        self.nk = networkit
        self.config = {"peer_version": networkit.__version__}
        graph = case.graph
        out = graph.out
        ends = np.repeat(np.arange(graph.vertices, dtype=np.uint64), out.degrees().astype(np.int64))
        others = out.targets.astype(np.uint64)
        if graph.symmetric:
            once = ends <= others
            ends, others = ends[once], others[once]
        self.graph = networkit.GraphFromCoo((ends, others), n=graph.vertices, directed=not graph.symmetric)
        self.symmetric = graph.symmetric

    def use(self, threads: int) -> int:
        self.nk.setNumberOfThreads(threads)
        return threads


class NetworKitPageRank(_NetworKit):
    """Its own PageRank, stopped after as many iterations. It makes the ranks sum to 1 in the end."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self.config |= {"peer_precision": "float64", "peer_does": "centrality.PageRank, ranks then sum to 1"}

    def answer(self) -> Any:
        pagerank = self.nk.centrality.PageRank(self.graph, damp=DAMPING, tol=1e-300)
        pagerank.maxIterations = ITERATIONS
        pagerank.run()
        return pagerank

    def compare(self, where: str, ours: Columns, answer: Any) -> str:
        done = answer.numberOfIterations()
        assert done == ITERATIONS, f"{where}: {done} iterations"
        ranks = ours["rank"].astype(np.float64)
        return same_ranks(where, ranks / ranks.sum(), np.asarray(answer.scores()))


class NetworKitComponents(_NetworKit):
    """Weakly connected components; in parallel where it can."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        kind = "ParallelConnectedComponents" if self.symmetric else "WeaklyConnectedComponents"
        self.components = getattr(self.nk.components, kind)
        self.config |= {"peer_does": f"components.{kind}"}

    def use(self, threads: int) -> int:
        return super().use(threads) if self.symmetric else 1

    def answer(self) -> Any:
        found = self.components(self.graph)
        found.run()
        return found

    def compare(self, where: str, ours: Columns, answer: Any) -> str:
        labels = np.empty(len(ours["component"]), np.int64)
        for number, members in enumerate(answer.getComponents()):
            labels[members] = number
        return same_partition(where, ours["component"], labels)


JOBS: dict[tuple[str, str], type[Any]] = {
    ("pagerank", "scipy"): ScipyPageRank,
    ("sssp", "scipy"): ScipyPaths,
    ("hashmin", "scipy"): ScipyComponents,
    ("pagerank", "graphblas"): GraphBlasPageRank,
    ("asp64", "graphblas"): GraphBlasPaths,
    ("pagerank", "networkit"): NetworKitPageRank,
    ("hashmin", "networkit"): NetworKitComponents,
}
