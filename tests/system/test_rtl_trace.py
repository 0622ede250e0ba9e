# SPDX-License-Identifier: Apache-2.0
"""`--trace`: spans, messages and their arrows, compared with the output of programs; the bound of the file's size."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from conftest import ROOT, Command
from traces import Trace, read

import gossamer_setup

FIXTURES = ROOT / "tests" / "fixtures" / "watching"
TALK = FIXTURES / "talk.c"
FOUR = ROOT / "tests" / "fixtures" / "cluster" / "four.toml"
HOST = "hosts/host 0"


@pytest.fixture(scope="module", autouse=True)
def simulator() -> None:
    gossamer_setup.require("rtl")


def traced(command: Command, path: Path, program: Path, *options: str | Path) -> tuple[Trace, str, str]:
    done = command("run", program, "--engine", "rtl", "--trace", path, *options)
    assert done.returncode == 0, done.stderr
    return read(path), done.stdout, done.stderr


def heard(text: str) -> dict[int, list[int]]:
    """The senders of the messages of each thread, in order."""
    found: dict[int, list[int]] = {}
    for thread, sender in re.findall(r"^\[(\d+)[^\]]*\] from (\d+)$", text, re.MULTILINE):
        found.setdefault(int(thread), []).append(int(sender))
    return found


def orders(trace: Trace) -> dict[int, list[int]]:
    """The same, from the arrows."""
    found: dict[int, list[int]] = {}
    for send, receive in sorted(trace.arrows(), key=lambda pair: pair[1].begin):
        assert send.begin < receive.begin and receive.notes["from thread"] == send.thread
        assert receive.notes["cycles in flight"] == receive.begin - send.begin
        found.setdefault(receive.thread, []).append(send.thread)
    return found


def marks(trace: Trace, name: str) -> int:
    return sum(mark.name == name for mark in trace.marks)


def sound(trace: Trace, threads: int) -> None:
    """Properties of every trace: threads have their tracks, and their spans are contiguous."""
    assert len(set(trace.tracks)) == len(trace.tracks)
    tracks = [track for track in trace.tracks if "/thread " in track]
    assert len(tracks) == threads
    for track in tracks:
        mine = sorted((span.begin, span.end) for span in trace.spans if span.track == track)
        assert mine and all(begin < end for begin, end in mine)
        # There are no gaps: a thread runs or waits from its start to its end.
        assert all(a_end == b_begin for (_, a_end), (b_begin, _) in itertools.pairwise(mine))
        ends = [mark.begin for mark in trace.marks if mark.track == track and mark.name == "ends"]
        assert ends == [mine[-1][1]]


def test_every_message_of_a_board_has_an_arrow(command: Command, tmp_path: Path) -> None:
    """Threads print the senders of their messages in order; the arrows match."""
    longest = "t" * 247 + ".pftrace"  # the maximum length of a file name
    trace, text, errors = traced(command, tmp_path / longest, TALK, "--config", "tiny")
    assert errors == "" and len(trace.of("everything is shown")) == 1
    sound(trace, 32)
    assert {track for track in trace.tracks if track.count("/") == 1} == {"board 0/tile 0,0", "board 0/tile 1,0"}
    assert len(trace.of("send")) == len(trace.of("receive")) == len(trace.arrows()) == 32 * 31
    assert orders(trace) == heard(text)
    assert not any("sender" in mark.notes for mark in trace.marks)


@pytest.mark.tier("all", seconds=90, adds="traces of clusters, with lost frames and two workers; boards run by default")
def test_every_message_between_boards_has_an_arrow(command: Command, tmp_path: Path) -> None:
    """With frames that are lost and sent again, and with two workers."""
    options = ["--cluster", "pair", "--frame-loss", "0.02", "--workers", "2"]
    trace, text, _ = traced(command, tmp_path / "t.pftrace", TALK, *options)
    sound(trace, 64)
    assert [track for track in trace.tracks if "/" not in track][1:] == ["board 0", "board 1"]
    assert len(trace.arrows()) == 64 * 63
    assert orders(trace) == heard(text)
    one, _, _ = traced(command, tmp_path / "one.pftrace", TALK, *options[:-1], "1")
    assert (tmp_path / "one.pftrace").read_bytes() == (tmp_path / "t.pftrace").read_bytes() and one.marks == trace.marks


def test_identical_messages_are_marked_as_ambiguous(command: Command, tmp_path: Path) -> None:
    """The sender of an identical message is ambiguous; every message has an arrow, and none points back in time."""
    trace, _, _ = traced(command, tmp_path / "t.pftrace", FIXTURES / "hot.c", "-D", "EACH=4")
    arrows = trace.arrows()
    assert len(arrows) == 4 * 31 and all(send.begin < receive.begin for send, receive in arrows)
    assert Counter(send.thread for send, _ in arrows) == dict.fromkeys(range(1, 32), 4)
    assert {receive.thread for _, receive in arrows} == {0}
    marked = [receive for _, receive in arrows if "sender" in receive.notes]
    (about,) = trace.of("everything is shown")
    assert 0 < about.notes["received while others of the same contents were in flight"] <= len(marked)
    # Within a tile the order of the mailbox identifies the sender.
    assert all(receive.notes["from thread"] >= 16 for receive in marked)


def test_multicast_message_has_an_arrow_for_each_receiver(command: Command, tmp_path: Path) -> None:
    trace, _, _ = traced(command, tmp_path / "t.pftrace", FIXTURES / "masks.c")
    sends = trace.of("multicast")
    assert [len(mark.begins) for mark in sends] == [3, 3] and {mark.thread for mark in sends} == {0}
    assert sorted(receive.thread for _, receive in trace.arrows()) == [1, 3, 5, 17, 19, 21]
    assert all((receive.thread < 16) == (send is sends[0]) for send, receive in trace.arrows())


def test_host_messages_have_arrows_in_both_directions(command: Command, tmp_path: Path) -> None:
    """Three rounds of pings to all threads, each answered, and one ping that ends the thread."""
    program = ROOT / "tests" / "fixtures" / "hostlink" / "pingpong"
    trace, _, errors = traced(command, tmp_path / "t.pftrace", program, "--config", "tiny")
    assert errors == "" and [track for track in trace.tracks if "/" not in track][1:] == ["board 0", "hosts"]
    arrows = trace.arrows()
    assert all(send.begin < receive.begin and "sender" not in receive.notes for send, receive in arrows)
    pings = Counter(receive.thread for send, receive in arrows if send.track == HOST)
    answers = Counter(send.thread for send, receive in arrows if receive.track == HOST)
    assert pings == dict.fromkeys(range(32), 4) and answers == dict.fromkeys(range(32), 3)
    assert len(arrows) == 7 * 32 == marks(trace, "receive")


def cycles_of(stats: Path) -> int:
    return int(json.loads(stats.read_text())["cycles"])


@pytest.mark.tier("all", seconds=32, adds="arrows of keys and of host messages")
def test_multicast_keys_and_host_messages_have_arrows(command: Command, tmp_path: Path) -> None:
    """Copies by key on four boards, over links that lose frames and by an indirection; each is reported to the host."""
    files = [tmp_path / "one.pftrace", tmp_path / "two.pftrace"]
    stats = [tmp_path / "one.json", tmp_path / "two.json", tmp_path / "none.json"]
    words = ["--cluster", FOUR, "--frame-loss", "0.02"]
    trace, text, errors = traced(
        command, files[0], FIXTURES / "keys", *words, "--workers", "1", "--stats", stats[0], "--", "2", "2"
    )
    assert errors == "" and len(trace.of("everything is shown")) == 1
    told = [(int(thread), int(sender)) for thread, sender in (line.split() for line in text.splitlines())]
    # The first threads of both rows of boards do not report themselves, but each only sends along its row.
    told = [(thread, thread // 64 * 64 if sender == -2 else sender) for thread, sender in told]
    arrows = sorted(trace.arrows(), key=lambda pair: pair[1].begin)
    assert len(arrows) == marks(trace, "receive") and not any("sender" in mark.notes for mark in trace.marks)
    for send, receive in arrows:
        assert send.begin < receive.begin and receive.notes["cycles in flight"] == receive.begin - send.begin
        assert receive.notes.get("from thread", -1) == send.thread
        assert (send.track == HOST) == (receive.notes.get("from host") == 0)
    # The arrows match the messages by key that threads report, in order.
    keyed: dict[int, list[int]] = {}
    heard: dict[int, list[int]] = {}
    for send, receive in arrows:
        if send.name == "send by key":
            keyed.setdefault(receive.thread, []).append(send.thread)
    for thread, sender in told:
        heard.setdefault(thread, []).append(sender)
    assert keyed == heard and sum(1 for senders in heard.values() for sender in senders if sender == -1) == 4
    assert marks(trace, "send by key") == 2 * 128 + 1
    # Messages that the host receives, and those that it sends to each thread.
    assert [send.thread for send, receive in arrows if receive.track == HOST] == [thread for thread, _ in told]
    assert marks(trace, "send far") == len(told)
    begun = [(send, receive.thread) for send, receive in arrows if send.track == HOST and send.name == "send"]
    order = [thread for _, thread in sorted(begun, key=lambda pair: pair[0].begin)]
    assert order == [0, 64, *(thread for thread in range(128) if thread % 64)]
    # The number of workers does not change the trace, and the trace changes no cycle.
    again, _, _ = traced(
        command, files[1], FIXTURES / "keys", *words, "--workers", "2", "--stats", stats[1], "--", "2", "2"
    )
    assert files[0].read_bytes() == files[1].read_bytes() and again.marks == trace.marks
    done = command("run", FIXTURES / "keys", "--engine", "rtl", *words, "--stats", stats[2], "--", "2", "2")
    assert done.returncode == 0 and done.stdout == text
    assert cycles_of(stats[0]) == cycles_of(stats[1]) == cycles_of(stats[2])


def test_trace_of_one_tile_has_counters(command: Command, tmp_path: Path) -> None:
    stats = tmp_path / "s.json"
    trace, text, _ = traced(command, tmp_path / "t.pftrace", TALK, "--one-tile", "-D", "ROUNDS=3", "--stats", stats)
    sound(trace, 16)
    assert orders(trace) == heard(text)
    about = json.loads(stats.read_text())
    assert len(trace.arrows()) == about["mailbox"]["sent"] == 3 * 16 * 15
    (name,) = (track for track in trace.counters if track.endswith("instructions a cycle"))
    (waits,) = (track for track in trace.counters if track.endswith("threads that wait"))
    samples = trace.counters[name]
    steps = {b - a for (a, _), (b, _) in itertools.pairwise(samples)}
    assert steps == {1024} and all(0 <= value <= 2 for _, value in samples)
    told = sum(value * 1024 for _, value in samples)
    # Instructions before the first and after the last full kilocycle are not included.
    assert 0 <= about["instructions"] - told <= 2 * 2 * 1024
    assert all(0 <= value <= 16 for _, value in trace.counters[waits])


def of_threads(trace: Trace) -> set[tuple[str, str, int, int]]:
    """All waits."""
    waits = (span for span in trace.spans if span.name != "runs" and span.thread >= 0)
    return {(span.track, span.name, span.begin, span.end) for span in waits}


@pytest.mark.tier("all", seconds=19, adds="traces that exceed their bound")
def test_trace_size_is_bounded_by_thinning(command: Command, tmp_path: Path) -> None:
    """The file and the command report the thinning; the rest is complete and contains the longest waits."""
    small, large = tmp_path / "small.pftrace", tmp_path / "large.pftrace"
    options = ["--least-wait", "4", "-D", "ROUNDS=10", "-D", "ALIKE"]
    whole, _, errors = traced(command, large, TALK, *options)
    assert errors == ""
    trace, _, errors = traced(command, small, TALK, *options, "--trace-size", "1")
    assert large.stat().st_size > 1_500_000 and 500_000 < small.stat().st_size <= 1_000_000
    said = re.fullmatch(
        r"trace: thinned to 1 MB: ([\d,]+) waits shorter than up to ([\d,]+) cycles are shown as running, ([\d,]+) of "
        r"([\d,]+) messages are not shown\n",
        errors,
    )
    assert said, errors
    waits, limit, left_out, messages = (int(number.replace(",", "")) for number in said.groups())
    assert messages == 10 * 32 * 31 and len(trace.arrows()) == messages - left_out
    kept, all_waits = of_threads(trace), of_threads(whole)
    assert kept < all_waits and len(all_waits) - len(kept) == waits
    assert {wait for wait in all_waits if wait[3] - wait[2] > limit} <= kept
    sound(trace, 32)
    windows = trace.of("thinned here")
    assert sum(window.notes.get("waits shown as running", 0) for window in windows) == waits
    assert sum(window.notes.get("messages not shown", 0) for window in windows) == left_out


def test_trace_does_not_change_cycles(command: Command, tmp_path: Path) -> None:
    def cycles(*options: str | Path) -> str:
        done = command("run", TALK, "--engine", "rtl", "--stats", *options)
        return next(line for line in done.stdout.splitlines() if line.startswith("  cycles"))

    assert cycles() == cycles("--trace", tmp_path / "t.pftrace")


def test_invalid_options_are_reported_in_one_line(command: Command, tmp_path: Path) -> None:
    done = command("run", TALK, "--engine", "rtl", "--trace", tmp_path / "t", "--trace-size", "0")
    assert (done.returncode, done.stderr) == (2, "gossamer: error: --trace-size: '0' is no whole number from 1 up\n")
