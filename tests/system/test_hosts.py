# SPDX-License-Identifier: Apache-2.0
"""Programs with a host of their own (PGraph): hosts that poll, and sends that come too late."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ROOT, Command
from scipy.sparse import csgraph

CHANGES = ROOT / "tests" / "fixtures" / "hosts" / "changes.cpp"
HOST = ROOT / "tests" / "fixtures" / "hosts" / "polls.cpp"
FANS = f"fans {2 * 300_000 * 100_000}"


@pytest.mark.parametrize("engine", ["cpu", "shuffle"])
def test_a_host_that_only_polls_comes_to_the_end(engine: str, command: Command) -> None:
    done = command("run", "--engine", engine, HOST, "polls", timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    # Its answer to each report is in the next one: steps wait for a host that polls as for one that waits.
    assert done.stdout.splitlines() == [FANS, *(str(1000 * time + time) for time in range(6)), "5"]


@pytest.mark.parametrize("when, why", [("closed", "the host has closed its end"), ("over", "the run is over")])
def test_a_send_after_the_end_is_an_error(when: str, why: str, command: Command) -> None:
    done = command("run", HOST, when, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1].startswith(f"error: send: {why}"), done.stdout


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("engine", ["cpu", "shuffle"])
def test_a_graph_that_changes_between_parts_of_a_run(engine: str, seed: int, command: Command) -> None:
    done = command("run", "--engine", engine, CHANGES, str(seed), timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    best: tuple[dict[tuple[int, int], int], ...] = ({}, {})
    lines = done.stdout.splitlines()
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


def test_a_change_that_cannot_be_is_an_error_and_changes_nothing(command: Command) -> None:
    done = command("run", CHANGES, "wrong", timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
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
