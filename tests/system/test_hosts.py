# SPDX-License-Identifier: Apache-2.0
"""Programs with a host of their own (PGraph): hosts that poll, and sends that come too late."""

from __future__ import annotations

import pytest
from conftest import ROOT, Command

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
