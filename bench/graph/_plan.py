# SPDX-License-Identifier: Apache-2.0
"""What the suite measures: its rows by name, and what each must reach."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

GRAPHS: Final = ("geoS", "geoL", "rmat18", "grid400k", "email-Enron")
THREADS: Final = (1, 2)
PEERS: Final = {
    "pagerank": ("graphblas", "networkit", "scipy", "gapbs"),
    "sssp": ("scipy", "gapbs"),
    "asp64": ("graphblas", "gapbs"),
    "hashmin": ("scipy", "networkit"),
    "bfs": ("gapbs",),
    "triangles": ("gapbs",),
}
"""The measures, and whom each is compared with."""
FROM_REGISTRY: Final = ("scipy", "graphblas", "networkit")
"""Peers that the command installs itself."""
PEAK: Final = "pagerank.peak-mb"
START: Final = "start-to-result.email-Enron"
COMPILE: Final = "compile.vertex-s"
FIRST: Final = "first-run-s"
TESTS: Final = "test.default-min"
LOADS: Final = tuple(
    f"load.{form}-mbs" for form in ("edges", "edges-weighted", "words", "mtx", "metis", "dimacs", "adjlist")
)
SCALED: Final = ("pagerank", "sssp", "asp", "hashmin")
"""Applications whose work and time at more threads stand beside their own at one."""
SCALING_GRAPHS: Final = ("geoL", "rmat18")
MANY: Final = 64
"""Threads whose work is counted; how many processors there are does not matter to that."""
MOST_WORK: Final = 1.15
LEAST_SCALING: Final = 1.6


def scaling_name(app: str, graph: str) -> str:
    """The row of an application's time at one thread over that at two."""
    return f"scaling.{app}.{graph}"


def work_name(app: str) -> str:
    """The row of what many threads look at, over what one does."""
    return f"work.{app}.t{MANY}-vs-t1"


@dataclass(frozen=True)
class Beside:
    """One row that stands beside a peer."""

    measure: str
    peer: str
    graph: str
    threads: int

    @property
    def name(self) -> str:
        """As the user types and reads it."""
        return f"{self.measure}.vs-{self.peer}.{self.graph}.t{self.threads}"


def beside() -> list[Beside]:
    """Every row that stands beside a peer, in the order of the table."""
    return [
        Beside(measure, peer, graph, threads)
        for measure, peers in PEERS.items()
        for peer in peers
        for graph in GRAPHS
        for threads in THREADS
    ]


def names() -> list[str]:
    """Every row of the suite."""
    scaling = [scaling_name(app, graph) for app in SCALED for graph in SCALING_GRAPHS]
    work = [work_name(app) for app in SCALED]
    return [row.name for row in beside()] + scaling + work + [*LOADS, PEAK, START, COMPILE, FIRST, TESTS]


_BOUNDS: Final = (
    (r"pagerank\.vs-gapbs\.grid", 1.0),
    (r"pagerank\.vs-gapbs\.", 1.15),
    (r"pagerank\.vs-graphblas\.geo", 1.4),
    (r"pagerank\.vs-graphblas\.rmat", 1.3),
    (r"pagerank\.vs-graphblas\.", 1.1),
    (r"pagerank\.vs-networkit\.", 2.0),
    (r"sssp\.vs-gapbs\.", 0.9),
    (r"sssp\.vs-scipy\.", 2.0),
    (r"asp64\.vs-graphblas\.", 10.0),
    (r"asp64\.vs-gapbs\.grid", 1.0),
    (r"asp64\.vs-gapbs\.", 3.5),
    (r"hashmin\.vs-scipy\.", 1.0),
    (r"hashmin\.vs-networkit\.", 1.1),
    (r"bfs\.vs-gapbs\.", 0.7),
    (r"triangles\.vs-gapbs\.", 0.7),
)


def bound(name: str) -> float | None:
    """The ratio that a row must reach; None where it is only printed."""
    return next((least for pattern, least in _BOUNDS if re.match(pattern, name)), None)
