# SPDX-License-Identifier: Apache-2.0
"""Whole boards on the `rtl` engine: programs across tiles, and equal cycles for every simulation mode."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import statistics_judge
from conftest import ROOT, Command, Size
from traces import read

import gossamer_setup
from gossamer import config as configs
from gossamer import device
from gossamer.config import Config
from gossamer.engines.rtl import ACCELERATOR, Run
from gossamer.engines.rtl_cluster import Cluster

FIXTURES = ROOT / "tests" / "fixtures" / "board"
TINY = configs.load("tiny")
HEAD = "#include <gossamer/device.h>\n#include <stdio.h>\n#include <tinsel.h>\n"


@pytest.fixture(scope="module", autouse=True)
def simulator() -> Path:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    return _rtl_build.cluster(TINY)


class Outcome:
    """A run and its output."""

    def __init__(self, run: Run, lines: list[tuple[int, str]], memory: list[int]) -> None:
        self.run, self.lines, self.memory = run, lines, memory

    def same(self, other: Outcome) -> None:
        """Compares everything except the wall-clock time."""
        names = ("reason", "cycles", "instructions", "counters", "tiles", "codes", "traps", "unfinished", "messages")
        for name in names:
            assert getattr(self.run, name) == getattr(other.run, name), name
        assert self.lines == other.lines and self.memory == other.memory


def go(
    program: str | Path,
    threads: int = 0,
    defines: Sequence[str] = (),
    config: Config = TINY,
    max_cycles: int = 5_000_000,
    **how: Any,
) -> Outcome:
    lines: list[tuple[int, str]] = []
    image = device.build(program, config, list(defines))
    with Cluster(config, **how) as board:
        board.load_image(image)
        run = board.run(
            threads or board.threads,
            max_cycles=max_cycles,
            on_line=lambda thread, line, _: lines.append((thread, line)),
        )
        memory = [int(word) for word in board.read(0x4000_0000, 64)] if run.reason == "done" else []
    return Outcome(run, lines, memory)


def well(outcome: Outcome, threads: int) -> None:
    assert outcome.run.reason == "done" and not outcome.run.traps
    assert outcome.run.codes == dict.fromkeys(range(threads), 0), outcome.lines
    assert sorted(thread for thread, _ in outcome.lines) == list(range(threads))


def test_every_thread_sends_to_every_other(size: Size) -> None:
    for threads in size.pick([32], [32, 20], [32, 20, 17, 3]):
        outcome = go(FIXTURES / "all.c", threads)
        well(outcome, threads)
        rounds, messages = 3, 3 * threads * (threads - 1)
        counters = outcome.run.counters
        assert counters["sent"] == counters["received"] == messages and counters["refused"] == 0
        for me, line in outcome.lines:
            wanted = sum((me + r) * (s + 1) for r in range(rounds) for s in range(threads) if s != me)
            assert line == f"heard {rounds * (threads - 1)} sum {wanted % 2**32} wrong 0"
        # Only messages to the other tile cross the mesh: three flits a message.
        there = min(threads, 16)
        beyond = threads - there
        assert [tile["flits_out"] for tile in outcome.run.tiles] == [3 * rounds * there * beyond] * 2


def test_barriers_and_votes_span_the_board() -> None:
    """A message travels around the board before each barrier, and all threads write memory."""
    for threads in (32, 19):
        well(go(FIXTURES / "barrier.c", threads), threads)


def test_masks_reach_every_tile() -> None:
    outcome = go(FIXTURES / "masks.c")
    well(outcome, 32)
    assert outcome.run.counters["sent"] == 2 * 32


def test_accelerators_and_the_host_are_reached_from_every_tile() -> None:
    outcome = go(FIXTURES / "sums.c")
    assert outcome.run.codes == dict.fromkeys(range(32), 0) and not outcome.run.traps
    found = {struct.unpack("<4I", message.data)[:2] for message in outcome.run.messages}
    assert found == {(t, sum((t + 1) * 1000003 + i * i for i in range(24)) % 2**32) for t in range(32)}


def test_activity_excludes_the_drain_after_the_last_thread() -> None:
    """After the last end the simulation continues until no packet is in flight; these cycles are not sampled."""
    run = go(FIXTURES / "masks.c").run
    assert run.snapshot is not None and run.snapshot.cycle == run.cycles
    for tile in run.snapshot.tiles:
        assert abs(tile.samples - run.cycles / 61) < 2


def test_multicast_key_without_records_reaches_no_thread(tmp_path: Path) -> None:
    """A router of the single board consumes the message, and the barrier does not wait for it."""
    source = tmp_path / "keys.c"
    body = """
    int main(void) {
      if (gossamerThread() == 17) tinselKeySend(0x4321, tinselSendSlot());
      return tinselIdle(1) == 2 ? 0 : 1;
    }
    """
    source.write_text(HEAD + body, encoding="utf-8")
    outcome = go(source)
    assert outcome.run.reason == "done" and outcome.run.codes == dict.fromkeys(range(32), 0) and not outcome.run.traps
    counters = outcome.run.counters
    assert (counters["sent"], counters["received"]) == (1, 0) and not outcome.run.messages and not outcome.run.events


@pytest.mark.tier("all", seconds=47, adds="equal cycles of the board as one model")
@pytest.mark.parametrize("program", ["all.c", "sums.c"])
def test_cycles_are_equal_for_every_simulation_mode(program: str, size: Size) -> None:
    """As separate tile models with one and two workers, as one model, and as one model built by Verilator."""
    from gossamer.engines import _rtl_build

    one = go(FIXTURES / program, 27, ["ROUNDS=2"], workers=1)
    one.same(go(FIXTURES / program, 27, ["ROUNDS=2"], workers=2))
    one.same(go(FIXTURES / program, 27, ["ROUNDS=2"], flat=True))
    if size.name == "large":
        one.same(go(FIXTURES / program, 27, ["ROUNDS=2"], simulator=_rtl_build.cluster(TINY, fast=False)))


def test_skipping_idle_tiles_does_not_change_results() -> None:
    """Cycles, counters and wake-ups match those of one model of the board, which simulates every tile."""
    one = go(FIXTURES / "idle_tiles.c", workers=1)
    assert one.run.reason == "done" and one.run.codes == dict.fromkeys(range(32), 0)
    assert one.run.snapshot is not None
    first, second = one.run.snapshot.tiles
    # Each of its waits exceeds 25,000 cycles, of which about 10,000 pass before the tile is found idle.
    assert first.skipped == 0 and second.skipped > 40_000
    one.same(go(FIXTURES / "idle_tiles.c", workers=2))
    one.same(go(FIXTURES / "idle_tiles.c", flat=True))


@pytest.mark.tier("all", seconds=26, adds="skipped cycles of idle tiles; the board is built for this test alone")
def test_skipped_cycles_are_reported_for_an_idle_tile() -> None:
    """The run ends during its first idle period."""
    how: dict[str, Any] = {"defines": ["PAUSE=1000000"], "max_cycles": 60_000}
    one = go(FIXTURES / "idle_tiles.c", workers=1, **how)
    assert one.run.reason == "max-cycles" and one.run.snapshot is not None
    first, second = one.run.snapshot.tiles
    assert first.skipped == 0 and 30_000 < second.skipped < 60_000
    one.same(go(FIXTURES / "idle_tiles.c", flat=True, **how))


def test_board_runs_two_programs_in_sequence(tmp_path: Path) -> None:
    """Barriers of the second run, as those of the first, do not open before all tiles have started."""
    image = device.build(FIXTURES / "barrier.c", TINY)
    with Cluster(TINY) as board:
        for _ in range(2):
            board.load_image(image)
            done = board.run(32, max_cycles=5_000_000)
            assert done.reason == "done" and done.codes == dict.fromkeys(range(32), 0)


def write(folder: Path, body: str) -> Path:
    source = folder / "prog.c"
    source.write_text(HEAD + body, encoding="utf-8")
    return source


def test_send_to_a_missing_board_traps(command: Command, tmp_path: Path) -> None:
    body = (
        "int main(void) {\n  if (gossamerThread() == 21) {\n"
        "    tinselSend(gossamerAddress(0) + TinselThreadsPerBoard, tinselSendSlot());\n  }\n  return 0;\n}"
    )
    done = command("run", write(tmp_path, body), "--engine", "rtl", "--config", "tiny")
    assert done.returncode == 4
    first, last = done.stderr.splitlines()
    said = r"^\[21\] trap: bad_destination: .* destination 0x00000020, in tinselSend at .* main at .*prog\.c:6 \(pc "
    assert re.search(said, first), first
    assert last.endswith("prog.c: thread 21 trapped")


def test_deadlock_names_threads_and_tiles(command: Command, tmp_path: Path) -> None:
    body = "int main(void) { if (gossamerThread() > 13) tinselWaitUntil(TINSEL_CAN_RECV); return 0; }"
    done = command("run", write(tmp_path, body), "--engine", "rtl", "--threads", "20")
    assert done.returncode == 4
    waiting = r"threads 14-19 \(tiles 0,0, 1,0\) wait for a message \(tinselWaitUntil\) in tinselWaitUntil at "
    assert re.match(waiting, done.stderr), done.stderr
    assert "deadlock: all threads that run (14-19) wait for messages, and none is in flight" in done.stderr


def test_accelerator_fault_names_its_tile(tmp_path: Path) -> None:
    body = (
        "int main(void) {\n  if (gossamerThread() != 3) return 0;\n  volatile uint32_t* out = tinselSendSlot();\n"
        "  out[0] = 0x20; out[1] = 1; out[2] = tinselId(); out[3] = 0;\n"
        "  tinselSend((int)tinselAccId(0, 0, 1, 0), out);\n  tinselWaitUntil(TINSEL_CAN_RECV);\n  return 0;\n}"
    )
    outcome = go(write(tmp_path, body))
    assert [(trap.thread, trap.who, trap.name) for trap in outcome.run.traps] == [
        (ACCELERATOR, "accelerator 1,0", "load_fault")
    ]


def test_thread_of_the_second_tile_reads_input_and_prints(tmp_path: Path) -> None:
    body = (
        "int main(void) {\n  if (gossamerThread() != 18) return 0;\n  unsigned c;\n"
        "  do { do c = tinselUartTryGet(); while (!c); putchar(c & 255); } while (c != 266);\n  return 0;\n}"
    )
    lines: list[tuple[int, str]] = []
    with Cluster(TINY) as board:
        board.load_image(device.build(write(tmp_path, body), TINY))
        done = board.run(32, inputs={18: b"Baa baa\n"}, on_line=lambda thread, line, _: lines.append((thread, line)))
    assert done.reason == "done" and lines == [(18, "Baa baa")]


def test_host_reads_back_written_memory() -> None:
    with Cluster(TINY) as board:
        data = bytes(range(256)) * 300
        board.write(0x4000_1010, data)
        board.write(0x1000_0000, data[::-1])
        found = board.read(0x4000_1010, len(data) // 4).tobytes()
        assert found == data and board.read(0x1000_0000, len(data) // 4).tobytes() == data[::-1]


def test_statistics_and_trace_cover_all_tiles(command: Command, tmp_path: Path) -> None:
    stats, trace = tmp_path / "s.json", tmp_path / "t.pftrace"
    program = ROOT / "programs" / "ring.c"
    done = command("run", program, "--engine", "rtl", "--config", "tiny", "--stats", stats, "--trace", trace)
    assert (done.returncode, done.stderr) == (0, "")
    about = statistics_judge.read(stats)
    assert (about["threads"], about["tiles"], about["cores"]) == (32, 2, 4)
    assert [tile["tile"] for tile in about["by_tile"]] == [[0, 0], [1, 0]]
    assert sum(tile["instructions"] for tile in about["by_tile"]) == about["instructions"]
    assert about["mailbox"]["sent"] == 32 * 8 and about["mailbox"]["flits_out"] == about["mailbox"]["flits_in"] == 16
    arrows = [(send.thread, receive.thread) for send, receive in read(trace).arrows()]
    assert arrows == [(thread, (thread + 1) % 32) for _ in range(8) for thread in range(32)]
    again = tmp_path / "again.json"
    command("run", program, "--engine", "rtl", "--config", "tiny", "--workers", "1", "--stats", again)
    drop = ("seconds", "kilohertz", "command", "date", "configuration")
    other = statistics_judge.read(again)
    assert {k: v for k, v in other.items() if k not in drop} == {k: v for k, v in about.items() if k not in drop}


def test_invalid_options_are_reported_in_one_line(command: Command, tmp_path: Path) -> None:
    program = ROOT / "programs" / "hello.c"
    for words, said in (
        (["--threads", "33"], "--threads 33: a board of tiny has 32 threads"),
        (["--one-tile", "--threads", "17"], "--threads 17: a tile of tiny has 16 threads"),
        (["--tile", "2,0"], "--tile 2,0: tiny has tiles from 0,0 to 1,0"),
        (["--workers", "0"], "--workers: '0' is no whole number from 1 up"),
    ):
        done = command("run", program, "--engine", "rtl", *words)
        assert (done.returncode, done.stderr) == (2, f"gossamer: error: {said}\n")


def test_one_tile_option_runs_a_single_tile(command: Command) -> None:
    done = command("run", ROOT / "programs" / "hello.c", "--engine", "rtl", "--one-tile")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 16
