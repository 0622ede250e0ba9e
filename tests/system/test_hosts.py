# SPDX-License-Identifier: Apache-2.0
"""Programs with a host of their own (PGraph): hosts that poll, and sends that come too late."""

from __future__ import annotations

import pytest
from conftest import ROOT, Command
from system.changing_hosts import CHANGES, REFUSED, check

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
    check(done.stdout)


def test_a_change_that_cannot_be_is_an_error_and_changes_nothing(command: Command) -> None:
    done = command("run", CHANGES, "wrong", timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == REFUSED


def test_parts_call_the_same_handlers_on_both_engines(command: Command) -> None:
    runs = [command("run", "--engine", engine, CHANGES, "mixed", "1", timeout=300) for engine in ("cpu", "shuffle")]
    for done in runs:
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == runs[0].stdout
