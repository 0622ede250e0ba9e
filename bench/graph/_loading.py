# SPDX-License-Identifier: Apache-2.0
"""How fast text becomes a graph: megabytes of plain text a second of the processor's time, one thread parsing."""

from __future__ import annotations

import random
import statistics
import string
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from gossamer import Graph, progress, read_graph, write_graph
from gossamer.bench import Context, Row
from gossamer.errors import AnswerNo

from ._plan import LOADS

_LEAST = 100.0
_REPEAT = 3
_EDGES = 1 << 21


def loading(context: Context, scale: float) -> Iterator[Row]:
    """The rows of LOADS that are wanted: an RMAT graph, written in each form and read back."""
    wanted = [name for name in LOADS if context.wants(name)]
    if not wanted:
        return
    repeat = max(_REPEAT, context.repeat or 0)
    vertices = max(64, int(_EDGES * scale) // 16)
    spec = f"gen:rmat:scale={vertices.bit_length() - 1},seed=1"
    made = _Made(spec)
    for name in wanted:
        with tempfile.TemporaryDirectory(prefix="gossamer-bench-") as folder:
            file = Path(folder) / _FILES[name][0]
            graph = _FILES[name][1](made, file)
            size = file.stat().st_size
            seconds = []
            with progress.bar(repeat + 1, name) as bar:
                for turn in range(repeat + 1):
                    begun = time.process_time()
                    read = read_graph(file, threads=1)
                    took = time.process_time() - begun
                    if (read.edges, read.symmetric) != (graph.edges, graph.symmetric):
                        raise AnswerNo(f"{name}: {read.edges} edges came back of {graph.edges}")
                    if turn:  # the first one warms up
                        seconds.append(took)
                    bar.update(1)
        value = size / 1e6 / statistics.median(seconds)
        yield context.row(
            name,
            value,
            "MB/s",
            reference={"what": "at least", "value": _LEAST, "unit": "MB/s"},
            ratio=value / _LEAST,
            # A shrunken graph tests the suite and measures nothing.
            least_ratio=1.0 if scale == 1 else 0.0,
            graph=spec,
            edges=graph.edges,
            megabytes=size / 1e6,
            seconds_of_runs=[round(took, 6) for took in seconds],
            measured="processor's time of read_graph, rows sorted and labels in place, file in the page cache",
        )


class _Made:
    """The graph, in the variants that the forms hold."""

    def __init__(self, spec: str) -> None:
        self.plain = read_graph(spec)
        self.weighted = read_graph(f"{spec},weights=1:255")

    def symmetric(self) -> Graph:
        """Without loops and parallel edges, both ways."""
        return self.plain.symmetrised().simplified()

    def named(self) -> Graph:
        """With words of 4 to 13 letters for labels."""
        draw = random.Random(1)
        names: dict[str, None] = {}
        while len(names) < self.plain.vertices:
            names["".join(draw.choices(string.ascii_lowercase, k=draw.randint(4, 13)))] = None
        return Graph(out=self.plain.out, labels=list(names), name=self.plain.name)


def _written(graph: Graph, file: Path) -> Graph:
    write_graph(graph, file, drop_isolated=True)
    return graph


def _adjacency(made: _Made, file: Path) -> Graph:
    graph = made.named()
    labels = graph.labels
    assert labels is not None
    rows = graph.out
    with open(file, "w", encoding="utf-8") as out:
        out.write("# gossamer adjacency list\n")
        for vertex, label in enumerate(labels):
            targets = rows.targets[int(rows.offsets[vertex]) : int(rows.offsets[vertex + 1])]
            out.write(" ".join([str(label), *(str(labels[int(target)]) for target in targets)]) + "\n")
    return graph


_FILES: Final[dict[str, tuple[str, Callable[[_Made, Path], Graph]]]] = {
    "load.edges-mbs": ("a.el", lambda made, file: _written(made.plain, file)),
    "load.edges-weighted-mbs": ("a.el", lambda made, file: _written(made.weighted, file)),
    "load.words-mbs": ("a.el", lambda made, file: _written(made.named(), file)),
    "load.mtx-mbs": ("a.mtx", lambda made, file: _written(made.weighted, file)),
    "load.metis-mbs": ("a.graph", lambda made, file: _written(made.symmetric(), file)),
    "load.dimacs-mbs": ("a.gr", lambda made, file: _written(made.weighted, file)),
    "load.adjlist-mbs": ("a.adj", _adjacency),
}

__all__ = ["loading"]
