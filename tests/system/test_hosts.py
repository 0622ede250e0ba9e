# SPDX-License-Identifier: Apache-2.0
"""Programs with their own host (PGraph): polling hosts, late sends, changes of the graph, failures."""

from __future__ import annotations

import pytest
from conftest import ROOT, Command
from system.dynamic_graph_hosts import CHANGES, REFUSED, check

HOST = ROOT / "tests" / "fixtures" / "hosts" / "polls.cpp"
FANS = f"fans {2 * 300_000 * 100_000}"


@pytest.mark.parametrize("engine", ["cpu", "shuffle"])
def test_polling_host_completes_its_run(engine: str, command: Command) -> None:
    done = command("run", "--engine", engine, HOST, "polls", timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    # The next report has its answer to each: steps wait for a polling host as for a waiting one.
    assert done.stdout.splitlines() == [FANS, *(str(1000 * time + time) for time in range(6)), "5"]


CLOSED = "the host has closed its end"


@pytest.mark.parametrize("when, why", [("closed", CLOSED), ("waited", CLOSED), ("over", "the run is over")])
def test_send_after_close_is_an_error(when: str, why: str, command: Command) -> None:
    done = command("run", HOST, when, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1].startswith(f"error: send: {why}"), done.stdout


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("engine", ["cpu", "shuffle"])
def test_changed_graph_has_shortest_paths_in_each_part(engine: str, seed: int, command: Command) -> None:
    done = command("run", "--engine", engine, CHANGES, str(seed), timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    check(done.stdout)


def test_invalid_changes_are_errors_and_have_no_effect(command: Command) -> None:
    done = command("run", CHANGES, "wrong", timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == REFUSED


def test_parts_call_the_same_handlers_on_cpu_and_shuffle(command: Command) -> None:
    runs = [command("run", "--engine", engine, CHANGES, "mixed", "1", timeout=300) for engine in ("cpu", "shuffle")]
    for done in runs:
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == runs[0].stdout


DIES = ROOT / "tests" / "fixtures" / "hosts" / "dies"


def line_of(way: str) -> int:
    """The number of the vertex's line that ends in a comment with that word."""
    lines = (DIES / "vertex.h").read_text().splitlines()
    return next(at for at, text in enumerate(lines, 1) if text.endswith(f"// {way}"))


ENDS = [
    ("1", 4, "recv of vertex 17 throws: I have had enough; there is no answer"),
    ("2", 4, "recv of vertex 17 accesses an invalid address (SIGSEGV), at {touches}; there is no answer"),
    ("3", 4, "recv of vertex 17 aborts (SIGABRT), at {aborts}; there is no answer"),
    ("4", 2, "vertex 17 sends on pin 3, but the graph has 1 pin"),
    ("edge", 2, "addEdge: there is no vertex 99; the graph has 30"),
    ("thread", 4, "start: the system cannot create a thread for the run; "),
]


@pytest.mark.parametrize("engine", ["cpu", "shuffle"])
@pytest.mark.parametrize(("what", "code", "said"), ENDS)
def test_failed_run_ends_its_host_with_one_line(what: str, code: int, said: str, engine: str, command: Command) -> None:
    """The line names vertex, handler and source line as for an application; earlier output is kept."""
    where = {way: f"tests/fixtures/hosts/dies/vertex.h:{line_of(way)}" for way in ("touches", "aborts")}
    said = said.format(**where)
    host = DIES / "host.cpp"
    done = command("run", "--engine", engine, "--threads", "2", host, what, cwd=ROOT)
    assert done.returncode == code
    assert done.stderr.startswith(f"gossamer: error: {host}: {said}") and done.stderr.count("\n") == 1, done.stderr
    assert done.stdout == ("" if what == "edge" else "before\n")
    if what in ("edge", "thread"):
        return
    caught = command("run", "--engine", engine, "--threads", "2", host, what, "catch", cwd=ROOT)
    assert (caught.returncode, caught.stderr) == (0, "")
    assert caught.stdout.startswith(f"before\n{int(code == 4)}: {said}"), caught.stdout


def test_foreign_exception_aborts_the_host(command: Command) -> None:
    done = command("run", DIES / "host.cpp", "other")
    assert done.returncode == 4 and "of the host's own" in done.stderr
    assert done.stderr.splitlines()[-1].endswith("host.cpp: the program was killed by SIGABRT")
