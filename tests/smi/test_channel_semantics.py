# SPDX-License-Identifier: Apache-2.0
"""Channels: a later opening may raise the degree, and copies of a channel object share the channel."""

from __future__ import annotations

import pytest
from conftest import ROOT, Command

FILE = ROOT / "tests" / "fixtures" / "smi" / "channel_semantics.cc"


def printed(command: Command, case: str, ranks: int) -> str:
    done = command("smi", "run", FILE, "--ranks", str(ranks), "--", case)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("case", ["reduce", "gather", "scatter"])
def test_greater_degree_of_a_later_opening_wakes_the_sender(command: Command, case: str) -> None:
    assert printed(command, case, 2) == "2\n"


def test_copies_share_the_channel(command: Command) -> None:
    numbers = printed(command, "copies", 2).split()
    # The output of the two ranks may be in any order.
    assert sorted(numbers) == sorted(["2", "4", "6", *["20", "21", "22", "0", "1", "2", "10", "11", "12"] * 2])
