# SPDX-License-Identifier: Apache-2.0
"""A real graph on a simulated board: seconds from the file to the judged answer."""

from __future__ import annotations

import time
from collections.abc import Iterator

from gossamer import config as configs
from gossamer.bench import Context, Row
from gossamer.bench.runs import run
from gossamer.graph import read_graph

HASHMIN = "rtl.hashmin-email-Enron-s"
NAMES = (HASHMIN,)
FILE = "email-Enron.mtx.gz"
MOST = 600
"""Seconds."""


def rows(context: Context) -> Iterator[Row]:
    """Those asked for. Raises RunDied where a label is not that of the engine ``cpu``."""
    if not context.wants(HASHMIN):
        return
    path = context.data_file(FILE)
    if path is None:
        yield context.skip(HASHMIN, f"{FILE} is not in the folder of --data")
        return
    config = configs.load("quad")
    begun = time.perf_counter()
    graph = read_graph(path)
    of = run("hashmin", graph, config)
    seconds = time.perf_counter() - begun
    yield context.row(
        HASHMIN, seconds, "s", reference={"what": "at most", "value": MOST, "unit": "s"}, ratio=MOST / seconds,
        app="hashmin", graph=FILE, vertices=graph.vertices, edges=graph.edges, configuration=config.name,
        cycles=of.cycles, instructions=of.instructions,
    )  # fmt: skip


__all__ = ["NAMES", "rows"]
