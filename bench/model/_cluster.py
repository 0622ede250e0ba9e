# SPDX-License-Identifier: Apache-2.0
"""Memory of a prediction at the size of the case study of FPL 2019: 12 boards, 2 M vertices and 200 M edges."""

from __future__ import annotations

from collections.abc import Iterator

from gossamer import config as configs
from gossamer.apps import runner
from gossamer.bench import Context, Row
from gossamer.bench.memory import peak_bytes
from gossamer.engines.model import Model
from gossamer.engines.rtl_cluster import Plan
from gossamer.graph import read_graph

CLUSTER = "duo12"
GRAPH = "gen:geometric:vertices=2000000,fanout=50,radius=0.00631,seed=1"
"""With each edge in both directions, the graph of the rows ``pagerank.de5x12`` of the suite polite."""
ITERATIONS = 5


def rows(context: Context, name: str, most_gb: float) -> Iterator[Row]:
    """The row of the peak memory of this process, in GB."""
    if not context.wants(name):
        return
    if not context.full:
        yield context.skip(name, "2 M vertices and 200 M edges take long; --full runs them")
        return
    engine = Model(plan=Plan(configs.load_cluster(CLUSTER)), mapping="direct")
    result = runner.run("pagerank", read_graph(GRAPH).symmetrised(), engine=engine, iterations=ITERATIONS)
    gigabytes = peak_bytes("self") / 1e9
    yield context.row(
        name, gigabytes, "GB", reference={"what": "at most", "value": most_gb, "unit": "GB"},
        ratio=most_gb / gigabytes, app="pagerank", graph=GRAPH, symmetric=True, cluster=CLUSTER, mapping="direct",
        simulated_s=result.stats["simulation_seconds"], deliveries=result.stats["deliveries"],
    )  # fmt: skip


__all__ = ["CLUSTER", "GRAPH", "ITERATIONS", "rows"]
