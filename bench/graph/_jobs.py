# SPDX-License-Identifier: Apache-2.0
"""What is timed: a measure by one party, with the party's own form of the graph already in memory."""

from __future__ import annotations

import abc
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gossamer import apps
from gossamer.apps import runner
from gossamer.apps.results import Result
from gossamer.graph import CSR, Graph

from ._answers import same_ranks
from ._graphs import SEARCHES, SOURCES, Case

ITERATIONS = 20
DAMPING = 0.85
UNREACHED = 0xFFFFFFFF

Columns = Mapping[str, np.ndarray[Any, Any]]
"""Our answer: the columns of the application's result."""


class Job(abc.ABC):
    """One measure by one party."""

    def __init__(self) -> None:
        self.config: dict[str, Any] = {}
        """What a row says of the party."""

    def use(self, threads: int) -> int:
        """Sets how many threads the next calls use; gives how many they will really use."""
        return 1

    def measure(self) -> tuple[float, Any]:
        """Seconds from the graph to the answer, and the answer in the party's own form."""
        begun = time.perf_counter()
        answer = self.answer()
        return time.perf_counter() - begun, answer

    @abc.abstractmethod
    def answer(self) -> Any:
        """What is timed."""

    @abc.abstractmethod
    def compare(self, where: str, ours: Columns, answer: Any) -> str:
        """Says how the answer was found to be ours; raises AnswerNo if it is not."""


class Ours(Job):
    """An application of ours on the ``cpu`` engine."""

    def __init__(self, case: Case, app: str, **parameters: Any) -> None:
        super().__init__()
        self.app = apps.load(app)
        self.parameters = parameters
        self.threads = 1
        self.config = {"app": app, **parameters}
        graph = case.graph
        self.out, self.into = graph.out, graph.into
        self.symmetric, self.labels = graph.symmetric, graph.labels
        self.base, self.name = graph.base, graph.name

    def use(self, threads: int) -> int:
        self.threads = threads
        return threads

    def answer(self) -> Columns:
        return self._run().columns

    def looks(self, threads: int) -> dict[str, int]:
        """How often vertices and edges are looked at by all threads together, as the engine counts."""
        self.use(threads)
        stats = self._run().stats
        return {"vertices": stats["vertex_looks"], "edges": stats["edge_looks"]}

    def _run(self) -> Result:
        # A new graph around the same rows: nothing that an earlier run found out is left to help.
        graph = Graph(
            out=_plain(self.out),
            into=None if self.symmetric else _plain(self.into),
            symmetric=self.symmetric,
            labels=self.labels,
            base=self.base,
            name=self.name,
        )
        return runner.run(self.app, graph, threads=self.threads, **self.parameters)

    def compare(self, where: str, ours: Columns, answer: Any) -> str:
        # Only PageRank in double precision is ever held against another of ours.
        return same_ranks(where, ours["rank"], answer["rank"])


class Searches(Ours):
    """Breadth-first searches from some vertices, one after the other."""

    def __init__(self, case: Case) -> None:
        super().__init__(case, "bfs")
        self.starts = [case.graph.label_of(v) for v in case.sources[:: SOURCES // SEARCHES]]
        self.config["searches"] = len(self.starts)

    def answer(self) -> Columns:
        reached = np.zeros(1, np.int64)
        for source in self.starts:
            self.parameters = {"source": source}
            reached += int((super().answer()["level"] != UNREACHED).sum())
        return {"reached": reached}


class Triangles(Ours):
    """On the simple graph, both ways: what GAPBS asks for."""

    def __init__(self, case: Case) -> None:
        super().__init__(replace(case, graph=case.simple), "triangles")

    def answer(self) -> Columns:
        return {"triangles": super().answer()["counted"].sum(keepdims=True)}


def _plain(rows: CSR) -> CSR:
    return CSR(rows.offsets, rows.targets, rows.weights)


def ours(measure: str, case: Case, *, double: bool = False) -> Ours:
    """Our side of a measure."""
    if measure == "pagerank":
        app = "pagerank64" if double else "pagerank"
        return Ours(case, app, iterations=ITERATIONS, damping=DAMPING, raw=True)
    if measure == "sssp":
        return Ours(case, "sssp", source=case.graph.label_of(case.source))
    if measure == "asp64":
        return Ours(case, "asp", sources=len(case.sources))
    if measure == "bfs":
        return Searches(case)
    if measure == "triangles":
        return Triangles(case)
    assert measure == "hashmin"
    return Ours(case, "hashmin")
