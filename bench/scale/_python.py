# SPDX-License-Identifier: Apache-2.0
"""What a call from Python costs beyond the engine, conversions from SciPy, and calls through NetworkX's dispatch."""

from __future__ import annotations

import ctypes
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gossamer_setup
from gossamer import apps, native
from gossamer.apps import runner
from gossamer.bench import Context, Row
from gossamer.engines._abi import RunArgs
from gossamer.errors import RunDied
from gossamer.graph import Graph, read_graph

OVERHEAD, FROM_SCIPY, SECOND = "python.overhead-ms", "python.from-scipy-s", "nx.second-call"
NAMES = (OVERHEAD, FROM_SCIPY, SECOND)

_SMALL = "gen:rmat:scale=10,seed=1"
_LARGE = "gen:rmat:scale=17,seed=1"
_CALLS = 400
_REPEAT = 7
_MOST_OVERHEAD_MS = 0.3
_MOST_SECOND = 1.1


def rows(context: Context) -> Iterator[Row]:
    """The rows asked for."""
    gossamer_setup.require("core", "peers")
    for name, measure in ((OVERHEAD, _overhead), (FROM_SCIPY, _from_scipy), (SECOND, _second_call)):
        if context.wants(name):
            yield measure(context)


def _seconds(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - begun
    del result  # after the measurement
    return seconds


def _overhead(context: Context) -> Row:
    """``gs.run`` less the calls of the C interface that it makes: the run, its statistics, verdict and columns."""
    app, graph = apps.load("bfs"), read_graph(_SMALL)
    numbers = runner.check(app, graph, {"source": 0})
    values = {column.name: np.empty(graph.vertices, column.dtype) for column in app.columns}

    def engine_alone() -> None:
        handle = ctypes.c_void_p()
        native.check(
            app.library.gs_app_run(ctypes.byref(arguments.graph), ctypes.byref(arguments.options), ctypes.byref(handle))
        )
        for index, one in enumerate(values.values()):
            native.check(app.library.gs_app_column(handle, index, one.ctypes.data))
        app.library.gs_app_free(handle)

    arguments = RunArgs(app, graph, numbers, engine="cpu", threads=1, seed=0)
    whole, engine = [], []
    # In turns, so that a change of the machine's clock meets both.
    for _ in range(context.repeat or _CALLS):
        whole.append(_seconds(lambda: runner.run("bfs", graph, threads=1, source=0)))
        engine.append(_seconds(engine_alone))
    if not (values["level"] == runner.run("bfs", graph, threads=1, source=0).values).all():
        raise RunDied(f"{OVERHEAD}: the two calls have different results")
    overhead = (statistics.median(whole) - statistics.median(engine)) * 1e3
    return context.row(
        OVERHEAD, overhead, "ms", graph=_SMALL, calls=len(whole), call_ms=statistics.median(whole) * 1e3,
        engine_ms=statistics.median(engine) * 1e3, most=_MOST_OVERHEAD_MS,
    )  # fmt: skip


def _from_scipy(context: Context) -> Row:
    """A weighted matrix of 4 million entries with indices of 32 bits."""
    import scipy.sparse

    random = np.random.default_rng(1)
    size, entries = 250_000, 4_000_000
    ends = (random.integers(size, size=entries), random.integers(size, size=entries))
    matrix = scipy.sparse.csr_array((random.random(entries), ends), shape=(size, size))
    matrix.sum_duplicates()
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    found = [_seconds(lambda: Graph.from_scipy(matrix)) for _ in range(context.repeat or _REPEAT)]
    graph = Graph.from_scipy(matrix)
    shared = np.shares_memory(graph.out.targets, matrix.indices) and np.shares_memory(graph.out.weights, matrix.data)
    return context.row(FROM_SCIPY, statistics.median(found), "s", entries=int(matrix.nnz), shared=bool(shared))


def _second_call(context: Context) -> Row:
    """``nx.pagerank(backend="gossamer")`` on a converted graph over ``gs.run`` with the same parameters."""
    import networkx as nx

    from gossamer import networkx_backend

    edges = read_graph(_LARGE).simplified()
    graph = nx.DiGraph()
    graph.add_nodes_from(range(edges.vertices))
    sources = np.repeat(np.arange(edges.vertices), edges.out.degrees())
    graph.add_edges_from(zip(sources.tolist(), edges.out.targets.tolist(), strict=True))
    usual, strict = 1e-6, 1e-12  # the sum of all changes per node: NetworkX's default, and one that settles the ranks
    app = apps.load("pagerank64", ("PAGERANK_SETTLING",))
    with warnings.catch_warnings(), networkx_backend.recorded() as calls:
        warnings.simplefilter("ignore")

        def through_networkx(tolerance: float) -> Any:
            return nx.pagerank(graph, tol=tolerance, backend="gossamer")

        def native_call(tolerance: float) -> Any:
            return runner.run(app, edges, tolerance=tolerance * edges.vertices, limit=100, raw=True)

        def seconds(tolerance: float) -> tuple[float, float]:
            """Medians of both, measured in turns."""
            native_call(tolerance)
            pairs = [
                (_seconds(lambda: through_networkx(tolerance)), _seconds(lambda: native_call(tolerance)))
                for _ in range(context.repeat or _REPEAT)
            ]
            return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)

        first = _seconds(lambda: through_networkx(usual))
        second, alone = seconds(usual)
        settled = seconds(strict)
        through, values = through_networkx(strict), native_call(strict).values
        steps = [native_call(tolerance).stats["steps"] for tolerance in (usual, strict)]
    if not all(call.answered for call in calls) or not np.allclose(list(through.values()), values, rtol=1e-9, atol=0):
        raise RunDied(f"{SECOND}: the two calls have different results")
    return context.row(
        SECOND, second / alone, "", graph=_LARGE, edges=edges.edges, first_s=first, second_s=second, native_s=alone,
        steps=steps[0], settled_ratio=settled[0] / settled[1], settled_steps=steps[1], most=_MOST_SECOND,
    )  # fmt: skip
