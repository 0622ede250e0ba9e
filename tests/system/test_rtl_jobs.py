# SPDX-License-Identifier: Apache-2.0
"""Several jobs on one cluster: separate programs, barriers and ends, and messages to tiles of other jobs."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest
import statistics_judge
from conftest import ROOT, Command

import gossamer_setup
from gossamer import config as configs
from gossamer import device
from gossamer.engines.rtl import Run
from gossamer.engines.rtl_cluster import Cluster, Plan, jobs

FOUR = ROOT / "tests" / "fixtures" / "cluster" / "four.toml"
ALL = ROOT / "tests" / "fixtures" / "cluster" / "all.c"
HEAD = "#include <gossamer/device.h>\n#include <stdio.h>\n#include <tinsel.h>\n"
PAIR = ("--engine", "rtl", "--cluster", "pair")
BARRIERS = "int main(void) { for (int i = 0; i < 20; ++i) while (!tinselIdle(0)) {}\n  return 0; }"


@pytest.fixture(scope="module", autouse=True)
def simulator() -> Path:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    return _rtl_build.cluster(configs.load("tiny"), jobs=2)


def write(folder: Path, name: str, body: str) -> Path:
    source = folder / name
    source.write_text(HEAD + body, encoding="utf-8")
    return source


def together(wanted: Sequence[tuple[Path, Sequence[str], Sequence[str]]]) -> tuple[Run, list[tuple[int, str]]]:
    """Runs programs with their macros on boards of a square of four; returns the run and the output."""
    plan = Plan(configs.load_cluster(FOUR))
    lines: list[tuple[int, str]] = []
    found = jobs(plan.cluster, [(path.name, boards) for path, _, boards in wanted])
    with Cluster(plan, jobs=found) as cluster:
        for number, (job, (path, defines, _)) in enumerate(zip(found, wanted, strict=True)):
            image = device.build(path, plan.config, list(defines), boards=job.part(plan.cluster))
            cluster.load_image(image, job=number)
        run = cluster.run(1, max_cycles=5_000_000, on_line=lambda thread, line, _: lines.append((thread, line)))
    return run, lines


def test_two_jobs_are_isolated() -> None:
    """Both send across the other's boards and reduce in barriers; each receives only its own messages and sums."""
    macros = {0: (2, 9, 5), 1: (5, 4, 11)}  # rounds, targets, step
    boards = {0: ("x0y0", "x1y1"), 1: ("x0y1", "x1y0")}
    numbers = {0: (0, 3), 1: (1, 2)}
    run, lines = together(
        [
            (ALL, [f"ROUNDS={rounds}", f"TARGETS={targets}", f"STEP={step}"], boards[job])
            for job, (rounds, targets, step) in macros.items()
        ]
    )
    assert run.reason == "done" and not run.traps and run.codes == dict.fromkeys(range(128), 0)
    messages = {job: [one for one in run.messages if one.job == job] for job in macros}
    ends = {}
    for job, (rounds, targets, step) in macros.items():
        heard = {}
        for me in range(64):
            senders = [(me - 1 - i * step) % 64 for i in range(targets)]
            heard[me] = sum((me + r) * (s + 1) for r in range(rounds) for s in senders) % 2**32
        told = sorted(struct.unpack("<4I", message.data) for message in messages[job])
        assert told == [(me, rounds * targets, heard[me], 0) for me in range(64)]
        threads = [32 * board + thread for board in numbers[job] for thread in range(32)]
        said = [line for thread, line in lines if thread in threads]
        assert said and all(line.startswith(f"heard {rounds * targets} ") for line in said)
        ends[job] = max(run.ends[thread] for thread in threads)
    assert run.counters["refused"] == 0 and ends[0] < ends[1] == run.cycles
    # The other job's barriers do not slow it down.
    alone, _ = together([(ALL, [f"{name}={value}" for name, value in zip(("ROUNDS", "TARGETS", "STEP"), macros[0],
                                                                       strict=True)], boards[0])])  # fmt: skip
    assert alone.reason == "done" and alone.threads == 64
    assert max(alone.ends.values()) > 0.8 * ends[0]


def test_message_to_another_job_is_rejected_and_reported(command: Command, tmp_path: Path) -> None:
    """Sent by threads and to an accelerator; tiles of no job reject it, too. It blocks no barrier."""
    stray = write(tmp_path, "stray.c", """int main(void) {
  const uint32_t me = gossamerThread(), other = gossamerAddressOn(GOSSAMER_BOARDS, me);
  if (me == 5 || me == 20) tinselSend((int)other, tinselSendSlot());
  if (me == 7) tinselSend((int)tinselAccId(1, 0, 1, 0), tinselSendSlot());
  while (!tinselIdle(0)) {}
  if (!me) printf("through\\n");
  return 0;
}
""")  # fmt: skip
    for words in ((f"{stray}@a", f"{write(tmp_path, 'barriers.c', BARRIERS)}@b"), (f"{stray}@a",)):
        done = command("run", *words, *PAIR, "--max-cycles", "300000")
        assert (done.returncode, done.stdout) == (0, "[0 a 0,0.0] through\n"), done.stderr
        lines = done.stderr.splitlines()
        told = r"board b: tile_dropped: tile [01],0 dropped a message of job 0: wrong job; (\d) dropped on this "
        counts = [int(match[1]) for line in lines if (match := re.match(told, line))]
        assert len(counts) >= 2 and set(counts) <= {1, 2, 3}
        ends = [line for line in lines if "tile_dropped" not in line]
        assert ends == ["board b, tile 0,0 rejected 1 message", "board b, tile 1,0 rejected 2 messages"]


def test_jobs_end_independently(command: Command, tmp_path: Path) -> None:
    """One job deadlocks and one traps: their lines name their own threads, boards and sources."""
    waits = write(tmp_path, "waits.c", "int main(void) {\n  tinselWaitUntil(TINSEL_CAN_RECV);\n  return 0;\n}")
    traps = write(tmp_path, "traps.c", "int main(void) {\n  if (gossamerThread() == 3) *(volatile int*)8 = 1;\n"
                  "  return gossamerBoard();\n}")  # fmt: skip
    stats = tmp_path / "s.json"
    done = command("run", f"{traps}@x1y0,x0y0", f"{waits}@x1y1", "--engine", "rtl", "--cluster", FOUR, "--stats", stats)
    assert done.returncode == 4
    trapped = [line for line in done.stderr.splitlines() if "trap:" in line]
    assert [line.split("]")[0] for line in sorted(trapped)] == ["[3 x0y0 0,0.3", "[35 x1y0 0,0.3"]
    assert all("traps.c:5" in line for line in trapped), trapped
    assert "threads 96-127 (board x1y1, tiles 0,0, 1,0) wait for a message" in done.stderr
    last = done.stderr.splitlines()[-1]
    assert f"{waits} on x1y1: deadlock: all threads that run (96-127) wait for messages" in last
    assert f"{traps} on x1y0, x0y0: threads 3, 35 trapped" in last
    about = statistics_judge.read(stats)["jobs"]
    ends = [(job["boards"], job["threads"], job["end"]) for job in about]
    assert ends == [([0, 1], 64, "done"), ([3], 32, "deadlock")]
    assert about[0]["exit_codes"] == {str(thread): thread // 32 for thread in range(64) if thread % 32 != 3}
    done = command("run", f"{write(tmp_path, 'one.c', 'int main(void) { return 1; }')}@b", f"{ALL}@a", *PAIR,
                   "-D", "TARGETS=2", "-D", "STEP=3", "-D", "ROUNDS=1", "--stats")  # fmt: skip
    assert done.returncode == 1 and "one.c on b: threads 32-63 with 1 ended, not with 0" in done.stderr
    assert re.search(r"^  job 0, .*one.c: 32 threads, [\d,]+ cycles$", done.stdout, re.M)


def test_invalid_input_is_reported_in_one_line(command: Command, tmp_path: Path) -> None:
    hello = ROOT / "programs" / "hello.c"
    for words, said in (
        ((f"{hello}@a", f"{hello}@a", *PAIR), f"{hello} on a: board a of cluster pair runs {hello} on a already"),
        ((f"{hello}@c", *PAIR), "cluster pair has no board c"),
        ((f"{hello}@", *PAIR), f"{hello}@: write PROGRAM@BOARD or PROGRAM@BOARD,BOARD,..."),
        ((f"{hello}@a,", *PAIR), f"{hello}@a,: write PROGRAM@BOARD or"),
        ((f"{hello}@a", hello, *PAIR), f"{hello}: needs boards, as the other programs; write {hello}@BOARD,..."),
        ((f"{hello}@a", "--engine", "rtl"), f"{hello}@a: names boards of a cluster; name the cluster with --cluster"),
        ((f"{hello}@a", *PAIR, "--threads", "3"), "--threads: not with several programs"),
        ((f"{tmp_path}/none.c@a", *PAIR), f"{tmp_path}/none.c"),
    ):
        done = command("run", *words)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
        assert done.stderr.startswith(f"gossamer: error: {said}"), done.stderr
