# SPDX-License-Identifier: Apache-2.0
"""Clusters on the `rtl` engine: messages, barriers and the host over links; lost frames, cut and miswired links."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

import pytest
import statistics_judge
from conftest import ROOT, Command, Size
from system.cluster_runs import Outcome, go

import gossamer_setup
from gossamer import config as configs
from gossamer import device
from gossamer.config import constants
from gossamer.engines.rtl_cluster import Cluster, Plan
from gossamer.errors import RunDied

ALL = ROOT / "tests" / "fixtures" / "cluster" / "all.c"
FEW = ROOT / "tests" / "fixtures" / "cluster" / "few.c"
CONTROL = ROOT / "tests" / "fixtures" / "cluster" / "control.c"
REST = ROOT / "tests" / "fixtures" / "board" / "idle_tiles.c"
FEW_MESSAGES = ("-D", "TARGETS=2", "-D", "STEP=31")
HEAD = "#include <gossamer/device.h>\n#include <stdio.h>\n#include <tinsel.h>\n"


@pytest.fixture(scope="module", autouse=True)
def simulator() -> Path:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    return _rtl_build.cluster(configs.load("tiny"))


def well(outcome: Outcome, threads: int, *, rounds: int, targets: int, step: int) -> None:
    """All messages arrived once, unchanged and in their round, at threads and at the host."""
    assert outcome.run.reason == "done" and not outcome.run.traps
    assert outcome.run.codes == dict.fromkeys(range(threads), 0), outcome.lines
    heard = {}
    for me in range(threads):
        senders = [(me - 1 - i * step) % threads for i in range(targets)]
        heard[me] = sum((me + r) * (s + 1) for r in range(rounds) for s in senders) % 2**32
    said = dict(outcome.lines)
    for thread, line in said.items():
        assert line == f"heard {rounds * targets} sum {heard[thread]} wrong 0"
    assert {thread % 16 for thread in said} == {5}
    messages = sorted(struct.unpack("<4I", message.data) for message in outcome.run.messages)
    assert messages == [(me, rounds * targets, heard[me], 0) for me in range(threads)]
    counters = outcome.run.counters
    assert counters["received"] == rounds * targets * threads and counters["refused"] == 0
    assert counters["sent"] == (rounds * targets + 1) * threads


def test_every_thread_sends_to_every_other() -> None:
    """Also barriers with words and votes over both boards, and a message of each thread to the host."""
    outcome = go(ALL)
    well(outcome, 64, rounds=2, targets=63, step=1)
    # Half of the pairs are on two boards; the other board's messages to the host cross in the other direction.
    there, back = (outcome.run.links[0, link] for link in (0, 1)), (outcome.run.links[1, link] for link in (0, 1))
    assert sum(link["tx_packets"] for link in there) >= 2 * 32 * 32
    assert sum(link["tx_packets"] for link in back) >= 2 * 32 * 32 + 32
    assert outcome.run.boards[0]["host_received"] == 64 and outcome.run.boards[1]["host_received"] == 0


def test_lost_and_damaged_frames_lose_no_message() -> None:
    how: dict[str, Any] = {"frame_loss": 0.02, "defines": ["ROUNDS=2", "TARGETS=15", "STEP=17"]}
    outcome = go(ALL, seed=5, **how)
    well(outcome, 64, rounds=2, targets=15, step=17)
    assert sum(link["resends"] for link in outcome.run.links.values()) > 4
    assert sum(link["damaged"] for link in outcome.run.links.values()) > 4
    other = go(ALL, seed=6, **how)
    assert other.run.cycles != outcome.run.cycles, "another seed loses other frames"
    outcome.same(go(ALL, seed=5, **how))


def test_cycles_are_equal_for_every_simulation_mode(size: Size) -> None:
    """With one and two workers, and with models built by Verilator."""
    from gossamer.engines import _rtl_build

    how: dict[str, Any] = {"threads": 61, "defines": ["TARGETS=7", "STEP=9", "BOARD_THREADS=32"], "frame_loss": 0.01}
    program = FEW
    one = go(program, workers=1, **how)
    assert one.run.reason == "done"
    one.same(go(program, workers=2, **how))
    if size.name == "large":
        plan = Plan(configs.load_cluster("pair"))
        one.same(go(program, workers=2, simulator=_rtl_build.cluster(plan.config, plan.links, fast=False), **how))


@pytest.mark.tier("all", seconds=4, adds="clusters with and without the skip of idle cycles")
def test_skipping_idle_tiles_does_not_change_results() -> None:
    """A message or a barrier release wakes idle tiles; their counters match those of simulated tiles."""
    one = go(REST)
    assert one.run.reason == "done" and one.run.codes == dict.fromkeys(range(64), 0)
    assert one.run.snapshot is not None
    skipped = [tile.skipped for tile in one.run.snapshot.tiles]
    assert skipped[0] == 0 and min(skipped[1:]) > 40_000
    # Reset ends for all tiles in one cycle, and counters are read one after the other in a fixed order.
    cycles = [tile["cycles"] for tile in one.run.tiles]
    assert max(cycles) - min(cycles) < 100, cycles
    for _, line in one.lines:
        woken = re.fullmatch(r"woken: cycle 0 (\d+), idle (\d+), misses \d+", line)
        assert woken and 0 < int(woken[1]) - int(woken[2]) < 30_000, line
    one.same(go(REST, workers=2))


def test_send_to_a_control_unit_traps() -> None:
    """The sending thread traps, or its accelerator's answer is dropped. All other threads continue."""
    outcome = go(CONTROL)
    cause = constants.enumeration("trap")["bad_destination"]
    assert outcome.run.reason == "done" and outcome.run.codes == {t: 0 for t in range(64) if t % 32 >= 5}
    assert sorted(trap.thread for trap in outcome.run.traps) == [t for t in range(64) if t % 32 < 5]
    assert {trap.cause for trap in outcome.run.traps} == {cause}
    assert {trap.value >> 29 for trap in outcome.run.traps} == {constants.enumeration("endpoint")["control"]}
    assert not outcome.run.events and all(board["refused"] == 0 for board in outcome.run.boards)


def test_every_message_arrives_on_quad4(size: Size) -> None:
    if size.name == "small":
        pytest.skip("a minute")
    outcome = go(ALL, "quad4", defines=["ROUNDS=1", "TARGETS=5", "STEP=205"])
    well(outcome, 1024, rounds=1, targets=5, step=205)


@pytest.mark.tier("all", seconds=90, adds="boards with a shared switch and links of two bytes a cycle")
def test_boards_with_the_smallest_fabric_lose_no_message(tmp_path: Path) -> None:
    two = tmp_path / "two.toml"
    two.write_text(
        'description = "two"\ntopology = "custom"\nboards = { a = "ecp5-1g", b = "ecp5-1g" }\n'
        'cables = ["a:east - b:west"]\nhosts = ["host - a:west"]\n',
        encoding="utf-8",
    )
    outcome = go(ALL, two, frame_loss=0.02, seed=5, defines=["ROUNDS=1", "TARGETS=15", "STEP=17"])
    well(outcome, 128, rounds=1, targets=15, step=17)
    assert sum(link["resends"] for link in outcome.run.links.values()) > 0


def write(folder: Path, body: str) -> Path:
    source = folder / "prog.c"
    source.write_text(HEAD + body, encoding="utf-8")
    return source


@pytest.mark.tier("all", seconds=15, adds="cut cables of a cluster; a link that does not come up is named by default")
def test_cut_links_are_reported_by_name(command: Command, tmp_path: Path) -> None:
    """The links are reported within 10,000 cycles, then the waiting threads with their boards and tiles."""
    stats = tmp_path / "s.json"
    words = ("--engine", "rtl", "--cluster", "pair", *FEW_MESSAGES, "-D", "ROUNDS=99", "--stats", stats)
    words = (*words, "--cut", "a:north@3000", "--cut", "b:west@3000")
    down = "board a: link_down: a link receives no frames; link"
    reports = {f"{down} a:north - b:south", f"{down} a:east - b:west"}
    soon = command("run", ALL, *words, "--max-cycles", 3000 + 10_000)
    assert reports <= set(soon.stderr.splitlines())
    done = command("run", ALL, *words)
    assert done.returncode == 4
    lines = done.stderr.splitlines()
    assert reports <= set(lines)
    assert any(re.match(r"threads? .* \(board [ab], .*tile.*\) wait", line) for line in lines), lines
    assert "deadlock: " in lines[-1] and lines[-1].endswith("; link a:east - b:west, a:north - b:south are down")
    about = statistics_judge.read(stats)
    assert about["end"] == "deadlock" and about["cycles"] < 3000 + 12_000


def test_unused_cut_link_is_reported(command: Command) -> None:
    done = command("run", ALL, "--engine", "rtl", "--cluster", "pair", *FEW_MESSAGES, "-D", "ROUNDS=20",
                   "--cut", "a:east - b:west@10")  # fmt: skip
    assert "board a: link_down: a link receives no frames; link a:east - b:west" in done.stderr


def test_link_that_does_not_come_up_is_named(command: Command) -> None:
    done = command("run", ALL, "--engine", "rtl", "--cluster", "pair", "--cut", "a:north")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "gossamer: error: cluster pair: link a:north - b:south did not come up\n"


def test_deadlock_names_the_boards(command: Command, tmp_path: Path) -> None:
    body = (
        "int main(void) { if (gossamerBoard() && gossamerThread() > 29) tinselWaitUntil(TINSEL_CAN_RECV); return 0; }"
    )
    stats = tmp_path / "s.json"
    done = command("run", write(tmp_path, body), "--engine", "rtl", "--cluster", "pair", "--stats", stats)
    assert done.returncode == 4
    waiting = r"threads 62-63 \(board b, tile 1,0\) wait for a message \(tinselWaitUntil\) in tinselWaitUntil at "
    assert re.match(waiting, done.stderr), done.stderr
    assert "deadlock: all threads that run (62-63) wait for messages, and none is in flight" in done.stderr
    assert statistics_judge.read(stats)["cycles"] < 20_000


def test_output_lines_name_board_tile_and_thread(command: Command, tmp_path: Path) -> None:
    body = (
        "int main(void) {\n  uint32_t x, y, tx, ty, c, t;\n  tinselFromAddr(tinselId(), &x, &y, &tx, &ty, &c, &t);\n"
        '  if (t + 8 * c == 9) printf("%u %u %u %u\\n", (unsigned)x, (unsigned)y, (unsigned)tx, (unsigned)ty);\n'
        "  return tinselToAddr(x, y, tx, ty, c, t) != tinselId();\n}"
    )
    done = command("run", write(tmp_path, body), "--engine", "rtl", "--cluster", "pair")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == [
        "[25 a 1,0.9] 0 0 1 0", "[41 b 0,0.9] 1 0 0 0", "[57 b 1,0.9] 1 0 1 0", "[9 a 0,0.9] 0 0 0 0",
    ]  # fmt: skip


def test_send_beyond_the_cluster_traps(command: Command, tmp_path: Path) -> None:
    body = (
        "int main(void) {\n  if (gossamerBoard() == 1 && gossamerThread() == 3) {\n"
        "    tinselSend((int)gossamerAddressOn(2, 0), tinselSendSlot());\n  }\n  return 0;\n}"
    )
    done = command("run", write(tmp_path, body), "--engine", "rtl", "--cluster", "pair")
    assert done.returncode == 4
    assert re.match(r"\[35 b 0,0\.3\] trap: bad_destination: ", done.stderr), done.stderr


def test_cluster_runs_two_programs_in_sequence() -> None:
    """Barriers of the second run, as those of the first, do not open before all boards have started."""
    plan = Plan(configs.load_cluster("pair"))
    image = device.build(ALL, plan.config, ["TARGETS=3", "STEP=21"], boards=plan.shape)
    with Cluster(plan) as simulated:
        for _ in range(2):
            simulated.load_image(image)
            done = simulated.run(64, max_cycles=5_000_000)
            assert done.reason == "done" and done.codes == dict.fromkeys(range(64), 0)
            assert len(done.messages) == 64


def test_registers_of_links_are_read_and_written_in_band() -> None:
    """A link's registers are its counters; the host cuts and connects it. Only packets without a job may."""
    counters, cut = constants.enumeration("link_counter"), constants.enumeration("link_register")["cut"]
    with Cluster(configs.load_cluster("pair")) as cluster:
        link = cluster.link
        for _ in range(2):
            read = {name: link.read_register(1, "link", 0, number) for name, number in counters.values.items()}
            assert read["state"] == 1 and read["tx_packets"] > 0 and read["rx_packets"] > 0
            assert link.counters([(1, 0, counters["rx_frames"])])[0] - read["rx_frames"] < 100
        assert link.read_register(0, "link", 1, cut) == 0
        link.write_register(0, "link", 1, cut, 1)
        assert link.read_register(0, "link", 1, cut) == 1 and link.read_register(1, "link", 1, cut) == 0
        link.write_register(0, "link", 1, cut, 0)
        assert link.read_register(0, "link", 1, cut) == 0
        with pytest.raises(RunDied, match=r"^board a: its control unit rejected a packet \(register, job\)$"):
            link.write_register(0, "link", 0, cut, 1, job=0)
        with pytest.raises(RunDied, match=r"^board b: its control unit rejected a packet \(register, place\)$"):
            link.read_register(1, "stream", 0, 0)
        with pytest.raises(RunDied, match=r"\(register, address\)$"):
            link.write_register(0, "link", 0, counters["state"], 0)
        cluster.load_image(device.build(REST, cluster.config, boards=cluster.shape))
        assert cluster.run(cluster.threads).reason == "done"


def test_host_messages_arrive_after_the_last_thread_ended(tmp_path: Path) -> None:
    """Messages of the far board still wait for the link when all threads have ended."""
    body = (
        "int main(void) {\n  if (!gossamerBoard()) return 0;\n  tinselSetLen(4);\n"
        "  for (uint32_t i = 0; i < 12; ++i) {\n    tinselWaitUntil(TINSEL_CAN_SEND);\n"
        "    volatile uint32_t* out = tinselSendSlot();\n    out[0] = gossamerThread() * 100 + i;\n"
        "    tinselSend((int)tinselHostId(), out);\n  }\n  return 0;\n}"
    )
    run = go(write(tmp_path, body)).run
    found = sorted(struct.unpack_from("<I", message.data)[0] for message in run.messages)
    assert run.reason == "done" and found == [thread * 100 + i for thread in range(32) for i in range(12)]


def test_statistics_list_boards_and_links(command: Command, tmp_path: Path) -> None:
    stats = tmp_path / "s.json"
    words = ("--engine", "rtl", "--cluster", "pair", "-D", "TARGETS=1", "-D", "STEP=1")
    done = command("run", ALL, *words, "--stats", stats)
    assert (done.returncode, done.stderr) == (0, "")
    about = statistics_judge.read(stats)
    assert (about["cluster"], about["threads"], about["tiles"]) == ("pair", 64, 4)
    assert [(tile["board"], tile["tile"]) for tile in about["by_tile"]] == [
        ("a", [0, 0]), ("a", [1, 0]), ("b", [0, 0]), ("b", [1, 0])
    ]  # fmt: skip
    assert [board["board"] for board in about["by_board"]] == ["a", "b"]
    links = {f"{link['board']}:{link['link']}": link for link in about["by_link"]}
    assert set(links) == {"a:north", "a:east", "b:south", "b:west"}
    for one, other in (("a:north", "b:south"), ("a:east", "b:west")):
        # Counters read later are greater.
        assert 0 <= links[other]["rx_packets"] - links[one]["tx_packets"] < 40
    table = command("run", ALL, *words, "--stats")
    assert "cluster pair, 2 boards of tiny, 4 tiles: 64 threads" in table.stdout
    assert re.search(r"^  a:north +\d", table.stdout, re.M)


def test_invalid_input_is_reported_in_one_line(command: Command, tmp_path: Path) -> None:
    program = ROOT / "programs" / "hello.c"

    def cluster(text: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text('description = "mine"\ntopology = "custom"\n' + text, encoding="utf-8")
        return path

    two = 'boards = { a = "tiny", b = "tiny" }\n'
    for words, said in (
        (["--cluster", "pare"], "no cluster named pare"),
        (["--cluster", "pair", "--config", "tiny"], "--config: cluster pair names the configuration of its boards"),
        (["--cluster", "pair", "--threads", "65"], "--threads 65: cluster pair has 64 threads"),
        (["--cluster", "pair", "--frame-loss", "1"], "--frame-loss: '1' is no number from 0 up to 1"),
        (["--cluster", "pair", "--cut", "a:west@5"], "a:west: cluster pair has no such link"),
        (["--cluster", "pair", "--cut", "a:east@soon"], "--cut a:east@soon: write LINK@CYCLE"),
        (["--frame-loss", "0.1"], "--frame-loss: needs a cluster"),
        (["--cluster", "pair", "--tile", "c:0,0"], "cluster pair has no board c"),
    ):
        done = command("run", program, "--engine", "rtl", *words)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
        assert done.stderr.startswith(f"gossamer: error: {said}"), done.stderr
    for text, said in (
        (two + 'cables = ["a:east"]', 'is "a:east", must be "board:link - board:link"'),
        (two + 'cables = ["a:east - b:west", "a:east - b:east"]', "a:east has two connections"),
        (two + 'cables = ["a:east - c:west"]', "no board is named c"),
        (two, "no path of cables connects a to this board"),
        ('boards = { a = "tiny", b = "quad" }\ncables = ["a:east - b:west"]', "boards of quad and tiny"),
    ):
        done = command("run", program, "--engine", "rtl", "--cluster", cluster(text))
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
        assert said in done.stderr and "mine" in done.stderr


def test_routing_tables_are_loaded_from_a_file(command: Command, tmp_path: Path) -> None:
    """Tables that avoid a cable which never comes up; tables for another topology are rejected."""
    mine, other = tmp_path / "mine.routes", tmp_path / "other.routes"
    assert command("routes", "pair", "--down", "a:north", "--tables", mine).returncode == 0
    assert command("routes", "ring4", "--tables", other).returncode == 0
    stats = tmp_path / "s.json"
    words = (ALL, "--engine", "rtl", "--cluster", "pair", *FEW_MESSAGES, "--routes")
    done = command("run", *words, mine, "--stats", stats, "--cut", "a:north")
    assert (done.returncode, done.stderr) == (0, "")
    used = {f"{one['board']}:{one['link']}": one["tx_packets"] for one in statistics_judge.read(stats)["by_link"]}
    assert used["a:east"] > 64 and used["b:west"] > 64 and used["a:north"] == used["b:south"] == 0
    done = command("run", *words, other)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert "routing tables for another topology" in done.stderr


def test_host_defaults_to_the_first_board(tmp_path: Path) -> None:
    path = tmp_path / "alone.toml"
    path.write_text(
        'description = "no host"\ntopology = "custom"\nboards = { a = "tiny", b = "tiny" }\n'
        'cables = ["b:north - a:south", "a:north - b:south"]\n',
        encoding="utf-8",
    )
    well(go(ALL, path, defines=["TARGETS=4", "STEP=13"]), 64, rounds=2, targets=4, step=13)


PING_AND_LAST_WORDS = """
int main(void) {
  const uint32_t me = gossamerThread(), here = gossamerBoard();
  tinselSetLen(1);
  for (uint32_t turn = 0; turn < 2 && !me; ++turn) {
    if (here == turn) tinselSend((int)gossamerAddressOn(!here, 0), tinselSendSlot());
    if (here == turn) continue;
    tinselWaitUntil(TINSEL_CAN_RECV);
    tinselFree(tinselRecv());
  }
  tinselWaitUntil(TINSEL_CAN_SEND);
  volatile uint32_t* out = tinselSendSlot();
  out[0] = here * 100 + me;
  tinselSend((int)tinselHostId(), out);
  return 0;
}
"""


@pytest.mark.tier("all", seconds=20, adds="links with latencies above the deadlock window")
@pytest.mark.parametrize("flight", [9_000, 65_536])
def test_long_link_latency_is_not_a_deadlock(flight: int, size: Size, tmp_path: Path) -> None:
    """Frames in flight for longer than any time-out are neither lost at the end of a run nor taken for a deadlock."""
    if flight > 9_000 and size.name != "large":
        pytest.skip("minutes")
    run = go(write(tmp_path, PING_AND_LAST_WORDS), flight=flight, frame_loss=0.15, seed=3).run
    found = sorted(struct.unpack_from("<I", message.data)[0] for message in run.messages)
    assert run.reason == "done" and not run.traps
    assert found == [100 * board + thread for board in range(2) for thread in range(32)]
    assert max(message.cycle for message in run.messages) - min(message.cycle for message in run.messages) > flight
    assert run.cycles > 3 * flight, "with this seed no frame of a message is lost"
