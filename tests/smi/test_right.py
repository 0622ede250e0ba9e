# SPDX-License-Identifier: Apache-2.0
"""Correct programs that once were refused."""

from __future__ import annotations

import pytest
from conftest import ROOT, Command

FILE = ROOT / "tests" / "fixtures" / "smi" / "right.cc"


def printed(command: Command, case: str, ranks: int) -> str:
    done = command("smi", "run", FILE, "--ranks", str(ranks), "--", case)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("case", ["reduce", "gather", "scatter"])
def test_a_greater_degree_stated_late_wakes_who_gives(command: Command, case: str) -> None:
    assert printed(command, case, 2) == "2\n"


def test_a_copy_is_the_same_channel(command: Command) -> None:
    numbers = printed(command, "copies", 2).split()
    # The two ranks' words may come in any order of the ranks.
    assert sorted(numbers) == sorted(["2", "4", "6", *["20", "21", "22", "0", "1", "2", "10", "11", "12"] * 2])
