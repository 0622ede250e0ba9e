# SPDX-License-Identifier: Apache-2.0
"""Millions of messages over lossy links: none is lost, duplicated or changed."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from conftest import ROOT, Size
from system.cluster_runs import Outcome, go

import gossamer_setup
from gossamer import config as configs

FLOOD = ROOT / "tests" / "fixtures" / "cluster" / "flood.c"
FOUR = ROOT / "tests" / "fixtures" / "cluster" / "four.toml"
TARGETS = 3
# Links that messages from each board to the 1st, 2nd and 3rd board after it cross, summed over all boards, in a
# mesh of 2 x 2 (boards 0, 1 above 2, 3): 0-1, 1-2, 2-3, 3-0 are 1, 2, 1, 2 links, and so on.
CROSSED = {1: 6, 2: 4, 3: 6}


@pytest.fixture(scope="module", autouse=True)
def simulators(size: Size) -> None:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    _rtl_build.cluster(configs.load("tiny"))
    if size.name != "small":
        _rtl_build.cluster(configs.load("quad"))


def found(outcome: Outcome) -> dict[int, tuple[int, int, int, int]]:
    """The report of each thread: messages, the sum of their words, duplicates and corrupted ones."""
    words = [struct.unpack("<4I", message.data) for message in outcome.run.messages]
    answers = {me: (heard, total, bad >> 16, bad & 0xFFFF) for me, heard, total, bad in words}
    assert len(answers) == len(words)
    return answers


def sums(threads: int, boards: int, count: int) -> list[int]:
    """The expected sum of third words of each thread, computed from the definition in unbounded arithmetic."""
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
def test_messages_are_not_lost_duplicated_or_changed(size: Size, seed: int) -> None:
    """10,002,432 messages over `quad4` with --full: each crosses a link or two, one frame in a hundred is lost."""
    count = size.pick(40, 40, 3256)
    # The boards of `tiny` have a simulator that other tests use too.
    cluster, threads = size.pick((str(FOUR), 128), ("quad4", 1024), ("quad4", 1024))
    how = {"frame_loss": 0.01, "seed": seed % 2**31, "max_cycles": 40_000_000}
    outcome = go(FLOOD, cluster, defines=[f"COUNT={count}"], **how)
    assert outcome.run.reason == "done" and not outcome.run.traps and not outcome.run.events
    answers = found(outcome)
    wanted = sums(threads, 4, count)
    for thread in range(threads):
        assert answers[thread] == (TARGETS * count, wanted[thread], 0, 0), f"thread {thread}"
    sent = threads * TARGETS * count
    counters, links = outcome.run.counters, list(outcome.run.links.values())
    assert counters["received"] == sent and counters["sent"] == sent + threads and counters["refused"] == 0
    totals = {name: sum(link[name] for link in links) for name in links[0]}
    print(outcome.run.cycles, "cycles", outcome.run.instructions, "instructions", totals)
    crossings = sum(threads // 4 * count * CROSSED[away] for away in (1, 2, 3))
    assert crossings <= totals["tx_packets"] < crossings * 1.02 + 10_000
    # As many frames are damaged as are lost; at least the lost frames are sent again.
    resent = size.pick(0.005, 0.015, 0.015)  # of all frames; few of a short run have packets
    assert totals["damaged"] > 0.008 * totals["tx_frames"] - 40
    assert totals["resends"] > resent * totals["tx_frames"] - 80
    assert totals["damaged"] > 0 and totals["lost"] == totals["restarts"] == 0
    assert np.min([link["tx_packets"] for link in links]) > 0.9 * crossings / len(links), "links are unequally busy"


HARMS = {"lost": (1, -1, 0, 0), "twice": (2, 0, 1, 0), "sender": (3, -1, 0, 1), "number": (4, -1, 0, 1),
         "third word": (5, -1, 0, 1), "fourth word": (6, -1, 0, 1)}  # fmt: skip


@pytest.mark.parametrize("harm", HARMS)
def test_flood_program_detects_each_injected_fault(harm: str) -> None:
    kind, missing, twice, wrong = HARMS[harm]
    count = 16
    outcome = go(FLOOD, defines=[f"COUNT={count}", f"HARM={kind}"], frame_loss=0.01)
    receiver = 32 + (11 + 2 * 37) % 32
    answers, wanted = found(outcome), sums(64, 2, count)
    assert outcome.run.codes == {thread: int(thread == receiver) for thread in range(64)}
    for thread in range(64):
        heard, total, again, bad = answers[thread]
        if thread == receiver:
            assert (heard - TARGETS * count, again, bad) == (missing, twice, wrong)
            assert (total != wanted[thread]) == (harm in ("lost", "twice", "third word"))
        else:
            assert (heard, total, again, bad) == (TARGETS * count, wanted[thread], 0, 0)
