# SPDX-License-Identifier: Apache-2.0
"""Expected output of tests/fixtures/hosts/dynamic_graph, a host that changes its graph between parts of a run."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from conftest import ROOT
from scipy.sparse import csgraph

CHANGES = ROOT / "tests" / "fixtures" / "hosts" / "dynamic_graph" / "host.cpp"
REFUSED = [
    "addEdge: the run is not over; wait() for its end",
    "addEdge: there is no vertex 3; the graph has 3",
    "addEdge: pin 253 is above the last, 252",
    "removeEdge: there is no edge from vertex 0 to vertex 2 on pin 0",
    "removeEdge: there is no edge from vertex 0 to vertex 1 on pin 1",
    "wake: there is no vertex 7; the graph has 3",
    "addEdge: vertex 1 was removed",
    "removeVertex: vertex 1 was removed",
    "0 7",
    "send: vertex 1 was removed",
    "0 1",
    "removeVertex: no vertex would be left",
]
"""Output for the argument ``wrong``."""


def check(text: str) -> None:
    """The states of each part are the shortest paths of the graph that was printed before it."""
    best: tuple[dict[tuple[int, int], int], ...] = ({}, {})
    lines = text.splitlines()
    parts = 0
    while lines:
        while lines and lines[0].startswith("edge"):
            start, end, weight, pin = (int(word) for word in lines.pop(0).split()[1:])
            best[pin][start, end] = min(weight, best[pin].get((start, end), weight))
        assert lines.pop(0) == "part 1"  # the one message to the host, of vertex 0
        found = []
        while lines and lines[0][0].isdigit():
            found.append([int(word) for word in lines.pop(0).split()])
        n = len(found)
        for pin in (0, 1):
            ends = np.array(list(best[pin])).reshape(-1, 2)
            matrix = sp.csr_array((list(best[pin].values()), (ends[:, 0], ends[:, 1])), shape=(n, n))
            far = csgraph.dijkstra(matrix.astype(float), indices=0)
            assert [row[pin] for row in found] == [2**32 - 1 if np.isinf(d) else int(d) for d in far]
        parts += 1
    assert parts == 6
