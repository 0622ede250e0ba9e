# SPDX-License-Identifier: Apache-2.0
"""MPI programs on four boards, with messages over links, match this machine."""

from __future__ import annotations

import pytest
from conftest import ROOT, Command, Size

PROGRAMS = ROOT / "examples" / "mpi"
FIXTURES = ROOT / "tests" / "fixtures" / "mpi"
ALL = ("unstructured", "halo3d", "sort", "rate", "halo2d", "cg", "pingpong")


@pytest.mark.default_cases(
    "(halo2d|sort)-match4", seconds=145, adds="the other programs, and matching in software over links"
)
@pytest.mark.parametrize("cluster", ["match4", "mpi4"])
@pytest.mark.parametrize("name", ALL)
def test_programs_match_this_machine(name: str, cluster: str, command: Command, size: Size) -> None:
    """With match engines, and with matching in software; 16 ranks, four a board."""
    if (name, cluster) != ("unstructured", "match4") and size.pick(True, True, False):
        pytest.skip("only in --full")
    here = command("mpi", "run", PROGRAMS / f"{name}.c", "-n", "16")
    there = command("mpi", "run", PROGRAMS / f"{name}.c", "-n", "16", "--engine", "rtl", "--cluster", cluster)
    assert (here.returncode, there.returncode) == (0, 0), here.stderr + there.stderr
    assert sorted(there.stdout.splitlines()) == sorted(here.stdout.splitlines()) != []


@pytest.mark.tier("all", seconds=34, adds="a transfer that takes longer than the deadlock time-out")
def test_long_transfer_is_not_a_deadlock(command: Command) -> None:
    """No thread runs while DMA engines copy between boards, for much longer than the deadlock time-out."""
    here = command("mpi", "run", FIXTURES / "long_latency_link.c", "-n", "2")
    there = command("mpi", "run", FIXTURES / "long_latency_link.c", "-n", "2", "--engine", "rtl", "--cluster", "match4")
    assert (here.returncode, there.returncode) == (0, 0), here.stderr + there.stderr
    assert sorted(there.stdout.splitlines()) == sorted(here.stdout.splitlines()) != []
