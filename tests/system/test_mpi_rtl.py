# SPDX-License-Identifier: Apache-2.0
"""MPI programs on threads of a simulated board match this machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT, Command, Size
from system import mpi_order

PROGRAMS = ROOT / "examples" / "mpi"
FIXTURES = ROOT / "tests" / "fixtures" / "mpi"
RTL = ("--engine", "rtl")
_LONG = ("sort", "rate", "halo2d", "cg", "pingpong")


def lines(text: str) -> list[str]:
    return sorted(text.splitlines())


@pytest.mark.default_cases("unstructured", seconds=90, adds="the other example programs")
@pytest.mark.parametrize("name", ["halo3d", "sort", "unstructured", "rate", "halo2d", "cg", "pingpong"])
def test_programs_match_this_machine(name: str, command: Command, size: Size) -> None:
    """Messages of one packet and of many, vectors, persistent requests, MPI_ANY_SOURCE, variables of each rank."""
    if name in size.pick(_LONG, _LONG, ()):
        pytest.skip("only in --full")
    ranks = str(size.pick(3, 5, 16))
    here = command("mpi", "run", PROGRAMS / f"{name}.c", "-n", ranks)
    there = command("mpi", "run", PROGRAMS / f"{name}.c", "-n", ranks, *RTL)
    assert (here.returncode, there.returncode) == (0, 0), here.stderr + there.stderr
    assert lines(there.stdout) == lines(here.stdout) != []


@pytest.mark.tier("all", seconds=13, adds="random receives without the match engine; with it they run by default")
def test_random_receives_match_in_mpi_order(command: Command, seed: int, size: Size) -> None:
    for number in range(size.pick(1, 1, 50)):
        one = (seed + number) % (1 << 30)
        done = command("mpi", "run", FIXTURES / "order.c", "-n", "4", *RTL, "--", str(one), "8")
        assert done.returncode == 0, done.stderr
        assert mpi_order.judge(done.stdout, 4, 8) == [], f"seed {one}\n{done.stdout}"


@pytest.mark.parametrize(
    ("what", "code", "said"),
    [
        ("deadlock", 4, [f"rank {rank}: deadlock: waits in MPI_Recv" for rank in range(3)]),
        ("other-tag", 4, ["rank 0: deadlock: waits in MPI_Recv for a message from rank 1 with tag 7 in MPI_COMM_WORLD; "
                          "a message from rank 1 with tag 8 waits for a receive"]),
        ("leave", 4, ["rank 1: main: ends with code 3 without MPI_Finalize"]),
        ("exit", 4, ["rank 1: exit: ends with code 3 without MPI_Finalize"]),
        ("mismatch", 4, ["all must call the same", "MPI_Barrier"]),
        ("code", 1, ["rank 1 with 5"]),
    ],
)  # fmt: skip
def test_errors_name_rank_call_and_cause(what: str, code: int, said: list[str], command: Command) -> None:
    done = command("mpi", "run", FIXTURES / "wrong.c", "-n", "3", *RTL, "--", what)
    assert done.returncode == code, done.stderr
    for text in said:
        assert text in done.stderr


def test_streams_and_library_functions_match_this_machine(command: Command) -> None:
    """stdout and stderr, flushes, text, numbers, memory, time, and the host's name."""
    here = command("mpi", "run", FIXTURES / "streams.c", "-n", "2")
    there = command("mpi", "run", FIXTURES / "streams.c", "-n", "2", *RTL)
    assert (here.returncode, there.returncode) == (0, 0), here.stderr + there.stderr
    assert lines(there.stdout) == lines(here.stdout) != []
    assert lines(there.stderr) == lines(here.stderr)
    assert "rank 1: between, formatted" in there.stderr.splitlines()


def test_errors_and_deadlocks_name_file_and_line(command: Command) -> None:
    text = (FIXTURES / "wrong.c").read_text().splitlines()
    done = command("mpi", "run", FIXTURES / "wrong.c", "-n", "3", *RTL, "--", "mismatch")
    found = re.findall(r"^mpi: \S*wrong\.c:(\d+): rank \d: (MPI_\w+)", done.stderr, re.MULTILINE)
    assert done.returncode == 4 and found, done.stderr
    for line, call in found:
        assert f"{call}(" in text[int(line) - 1], done.stderr


@pytest.mark.tier("all", seconds=30, adds="communicators without a fast path on the overlay")
def test_more_communicators_than_the_fast_path_accepts(command: Command) -> None:
    done = command("mpi", "run", FIXTURES / "many_comms.c", "-n", "2", *RTL, "--", "120")
    assert lines(done.stdout) == [f"rank {rank}: 120 made, more are possible, 0 are wrong" for rank in range(2)]


def test_invalid_programs_and_options_are_rejected(command: Command, tmp_path: Path) -> None:
    program = FIXTURES / "wrong.c"
    done = command("mpi", "run", program, "-n", "33", *RTL)
    assert (done.returncode, "-n 33" in done.stderr and "32 threads" in done.stderr) == (2, True), done.stderr
    done = command("mpi", "run", program, *RTL, "--config", "tiny")
    assert (done.returncode, "bytes" in done.stderr) == (2, True), done.stderr
    pointer = tmp_path / "pointer.c"
    pointer.write_text("#include <mpi.h>\nint x;\nint* volatile p = &x;\nint main(void) { return *p; }\n")
    done = command("mpi", "run", pointer, *RTL)
    assert (done.returncode, "p is initialized with the address of x" in done.stderr) == (2, True), done.stderr
