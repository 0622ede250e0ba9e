# SPDX-License-Identifier: Apache-2.0
"""Messages without number over lossy links: none lost, none twice, none changed."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from conftest import ROOT, Size
from system.cluster_runs import Told, go

import gossamer_setup
from gossamer import config as configs

FLOOD = ROOT / "tests" / "fixtures" / "cluster" / "flood.c"
TARGETS = 3
# Links that a message from a board to the 1st, 2nd and 3rd board behind it crosses, all boards taken together, in a
# mesh of 2 x 2 (between boards 0, 1 above 2, 3): 0-1, 1-2, 2-3, 3-0 are 1, 2, 1, 2 links, and so on.
CROSSED = {1: 6, 2: 4, 3: 6}


@pytest.fixture(scope="module", autouse=True)
def simulators(size: Size) -> None:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    _rtl_build.cluster(configs.load("tiny"), 2)
    _rtl_build.cluster(configs.load("quad"), 2)


def found(told: Told) -> dict[int, tuple[int, int, int, int]]:
    """What each thread has told the host: messages, the sum of their words, how many came twice and how many wrong."""
    words = [struct.unpack("<4I", message.data) for message in told.run.messages]
    answers = {me: (heard, total, bad >> 16, bad & 0xFFFF) for me, heard, total, bad in words}
    assert len(answers) == len(words)
    return answers


def sums(threads: int, boards: int, count: int) -> list[int]:
    """The sum of the third words that each thread must have got, from the definition, in other arithmetic."""
    here = threads // boards
    totals = [0] * threads
    numbers = count * (count - 1) // 2
    for sender in range(threads):
        board, thread = divmod(sender, here)
        for place in range(TARGETS):
            to = (board + 1 + place % (boards - 1)) % boards * here + (thread + 37 * place) % here
            name = 8 * sender + place
            totals[to] += count * name * 2_654_435_761 + numbers * (2 * name * 40_503 + 1)
    return [total % 2**32 for total in totals]


@pytest.mark.timeout(3600)
def test_no_message_is_lost_twice_or_changed(size: Size, seed: int) -> None:
    """10,002,432 messages over `quad4` with --full: each crosses a link or two, one frame in a hundred is lost."""
    count = size.pick(8, 40, 3256)
    how = {"frame_loss": 0.01, "seed": seed % 2**31, "max_cycles": 40_000_000}
    told = go(FLOOD, "quad4", defines=[f"COUNT={count}"], **how)
    assert told.run.reason == "done" and not told.run.traps and not told.run.events
    answers = found(told)
    wanted = sums(1024, 4, count)
    for thread in range(1024):
        assert answers[thread] == (TARGETS * count, wanted[thread], 0, 0), f"thread {thread}"
    sent = 1024 * TARGETS * count
    counters, links = told.run.counters, list(told.run.links.values())
    assert counters["received"] == sent and counters["sent"] == sent + 1024 and counters["refused"] == 0
    totals = {name: sum(link[name] for link in links) for name in links[0]}
    print(told.run.cycles, "cycles", told.run.instructions, "instructions", totals)
    crossings = sum(256 * count * CROSSED[away] for away in (1, 2, 3))
    assert crossings <= totals["tx_packets"] < crossings * 1.02 + 10_000
    # As many frames are damaged as are lost; what is sent again is at least what was lost.
    assert totals["damaged"] > 0.008 * totals["tx_frames"] - 40 and totals["resends"] > 0.015 * totals["tx_frames"] - 80
    assert totals["damaged"] > 0 and totals["lost"] == totals["restarts"] == 0
    assert np.min([link["tx_packets"] for link in links]) > 0.9 * crossings / len(links), "links are unequally busy"


HARMS = {"lost": (1, -1, 0, 0), "twice": (2, 0, 1, 0), "sender": (3, -1, 0, 1), "number": (4, -1, 0, 1),
         "third word": (5, -1, 0, 1), "fourth word": (6, -1, 0, 1)}  # fmt: skip


@pytest.mark.parametrize("harm", HARMS)
def test_the_flood_finds_what_a_fabric_at_fault_would_do(harm: str) -> None:
    kind, missing, twice, wrong = HARMS[harm]
    count = 16
    told = go(FLOOD, defines=[f"COUNT={count}", f"HARM={kind}"], frame_loss=0.01)
    receiver = 32 + (11 + 2 * 37) % 32
    answers, wanted = found(told), sums(64, 2, count)
    assert told.run.codes == {thread: int(thread == receiver) for thread in range(64)}
    for thread in range(64):
        heard, total, again, bad = answers[thread]
        if thread == receiver:
            assert (heard - TARGETS * count, again, bad) == (missing, twice, wrong)
            assert (total != wanted[thread]) == (harm in ("lost", "twice", "third word"))
        else:
            assert (heard, total, again, bad) == (TARGETS * count, wanted[thread], 0, 0)
