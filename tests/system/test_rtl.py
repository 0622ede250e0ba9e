# SPDX-License-Identifier: Apache-2.0
"""The `rtl` engine on the hardware: exit codes, traps, waits, counters and files as the user sees them."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import statistics_judge
from conftest import ROOT, Command
from traces import read

import gossamer_setup
from gossamer import builds, device
from gossamer import config as configs
from gossamer.engines.rtl import Tile

TINY = configs.load("tiny")
HEAD = "#include <stdio.h>\n#include <tinsel.h>\n"


@pytest.fixture(scope="module", autouse=True)
def simulator() -> Path:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    return _rtl_build.cluster(TINY)


def write(folder: Path, body: str) -> Path:
    source = folder / "prog.c"
    source.write_text(HEAD + body, encoding="utf-8")
    return source


def lines(text: str) -> dict[int, list[str]]:
    """The output of each thread."""
    said: dict[int, list[str]] = {}
    for line in text.splitlines():
        found = re.fullmatch(r"\[(\d+)\] (.*)", line)
        assert found, line
        said.setdefault(int(found[1]), []).append(found[2])
    return said


def test_output_and_counters_cover_all_threads(command: Command, tmp_path: Path) -> None:
    source = write(tmp_path, 'int main(void) { printf("thread %u\\nof many\\n", (unsigned)tinselId()); return 0; }')
    stats = tmp_path / "stats.json"
    done = command("run", source, "--engine", "rtl", "--config", "tiny", "--stats", stats)
    assert (done.returncode, done.stderr) == (0, "")
    assert lines(done.stdout) == {t: [f"thread {t}", "of many"] for t in range(32)}
    about = statistics_judge.read(stats)
    assert about["end"] == "done" and about["exit_codes"] == {str(t): 0 for t in range(32)}
    assert 0 < about["instructions"] <= about["cycles"] * about["cores"]
    assert about["utilisation"] == pytest.approx(about["instructions"] / about["cycles"] / 4)
    assert about["cache"]["hits"] > 0 and about["cache"]["misses"] > 0 and about["mailbox"]["sent"] == 0
    again = tmp_path / "again.json"
    command("run", source, "--engine", "rtl", f"--stats={again}")
    drop = ("seconds", "kilohertz", "command", "date", "configuration")
    repeated = statistics_judge.read(again)
    assert {k: v for k, v in repeated.items() if k not in drop} == {k: v for k, v in about.items() if k not in drop}


def test_nonzero_exit_code_of_a_thread_is_reported(command: Command, tmp_path: Path) -> None:
    done = command("run", write(tmp_path, "int main(void) { return tinselId() == 2 ? -7 : 0; }"), "--stats")
    assert done.returncode == 1 and "thread 2 with -7 ended, not with 0" in done.stderr
    assert "instructions a cycle" in done.stdout


@pytest.mark.parametrize(
    ("bad", "cause", "value"),
    [
        ("*(volatile int *)0x20;", "load_fault", "address 0x00000020"),
        ("(*(volatile int *)0x20 = 1);", "store_fault", "address 0x00000020"),
        ("*(volatile int *)0x40000002;", "load_misaligned", "address 0x40000002"),
        ('({ __asm__ volatile(".word 0xffffffff"); 0; });', "illegal_instruction", "instruction 0xffffffff"),
        ('({ __asm__ volatile("ebreak"); 0; });', "breakpoint", ""),
        ("*(volatile int *)tinselRecv();", "nothing_to_receive", ""),
    ],
)
def test_trap_names_cause_and_line(command: Command, tmp_path: Path, bad: str, cause: str, value: str) -> None:
    """The core detects the trap, or for memory and mailbox a later unit; the other threads continue."""
    source = write(
        tmp_path,
        f'int main(void) {{\n  if (tinselId() == 9) {{\n    return {bad}\n  }}\n  printf("well\\n");\n  return 0;\n}}',
    )
    done = command("run", source, "--engine", "rtl")
    assert done.returncode == 4
    assert lines(done.stdout) == {t: ["well"] for t in range(32) if t != 9}
    first, last = done.stderr.splitlines()
    assert first.startswith(f"[9] trap: {cause}: ") and value in first
    function = "tinselRecv" if "tinsel" in bad else "main"
    assert re.search(rf"in {function} at .*prog\.c:5 \(pc 0x[0-9a-f]+\)$", first), first
    assert last.endswith("prog.c: thread 9 trapped")


def test_deadlock_names_the_waiting_threads(command: Command, tmp_path: Path) -> None:
    source = write(tmp_path, "int main(void) { if (tinselId()) tinselWaitUntil(TINSEL_CAN_RECV); return 0; }")
    done = command("run", source, "--engine", "rtl", "--threads", "4")
    assert done.returncode == 4 and "deadlock" in done.stderr
    waiting = r"threads 1-3 \(tile 0,0\) wait for a message \(tinselWaitUntil\) in tinselWaitUntil at .*prog\.c:3\n"
    assert re.match(waiting, done.stderr), done.stderr


def test_max_cycles_names_the_unfinished_threads(command: Command, tmp_path: Path) -> None:
    # The loop makes no request to the tile, so the thread runs whenever it is halted.
    body = 'int main(void) { printf("x"); if (tinselId() == 3) for (;;) __asm__ volatile(""); return 0; }'
    source = write(tmp_path, body)
    done = command("run", source, "--engine", "rtl", "--max-cycles", "20000", "--threads", "5")
    assert done.returncode == 4
    assert lines(done.stdout) == {t: ["x"] for t in range(5)}
    assert re.match(r"thread 3 \(tile 0,0\) runs in \w+ at .*prog\.c:3\n", done.stderr)
    assert "1 of 5 threads had not ended after 20,000 cycles" in done.stderr


def test_messages_are_counted_and_traced(command: Command, tmp_path: Path) -> None:
    source = write(
        tmp_path,
        "int main(void) {\n"
        "  tinselSetLen(1);\n"
        "  if (tinselId() == 0) {\n"
        "    for (volatile int i = 0; i < 500; i++) {}\n"
        "    for (int t = 1; t < 8; t++) { tinselWaitUntil(TINSEL_CAN_SEND); tinselSend(t, tinselSendSlot()); }\n"
        "  } else {\n"
        "    tinselWaitUntil(TINSEL_CAN_RECV);\n"
        "    tinselFree(tinselRecv());\n"
        "  }\n"
        "  return 0;\n"
        "}",
    )
    stats, trace = tmp_path / "s.json", tmp_path / "t.pftrace"
    done = command("run", source, "--engine", "rtl", "--threads", "8", "--stats", stats, "--trace", trace)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    mailbox = statistics_judge.read(stats)["mailbox"]
    assert mailbox["sent"] == 7 and mailbox["received"] == 7 and mailbox["flits_out"] == 0
    seen = read(trace)
    marks = [(mark.thread, mark.name) for mark in seen.marks]
    assert marks.count((0, "send")) == 7
    assert sorted(t for t, name in marks if name == "receive") == list(range(1, 8))
    assert sorted(t for t, name in marks if name == "ends") == list(range(8))
    assert [(send.thread, receive.thread) for send, receive in seen.arrows()] == [(0, t) for t in range(1, 8)]
    assert {span.thread for span in seen.of("waits for a message") if span.end - span.begin > 1000} == set(range(1, 8))
    for thread in range(8):
        mine = sorted((span.begin, span.end) for span in seen.spans if span.thread == thread)
        assert mine and all(end <= begin for (_, end), (begin, _) in itertools.pairwise(mine))


def test_memory_is_readable_after_all_threads_have_ended(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        "volatile unsigned results[16 * 16] __attribute__((aligned(64))); volatile int last = 5;\n"
        "int main(void) { results[tinselId() * 16] = tinselId() * 100 + last; return 0; }",
    )
    image = device.build(source, TINY)
    with Tile(TINY) as tile:
        tile.load_image(image)
        done = tile.run(16)
        found = tile.read(image.symbols["results"], 256)
    assert done.reason == "done" and not done.traps
    assert found[::16].tolist() == [100 * t + 5 for t in range(16)]


def test_input_is_echoed(command: Command, tmp_path: Path) -> None:
    source = write(
        tmp_path,
        "int main(void) {\n"
        "  unsigned c;\n"
        "  do { do c = tinselUartTryGet(); while (!c); putchar(c & 255); } while (c != 266);\n"
        "  return 0;\n"
        "}",
    )
    text = tmp_path / "in.txt"
    text.write_text("Three blind mice\nand one more")
    done = command("run", source, "--engine", "rtl", "--threads", "1", "--input", text)
    assert (done.returncode, done.stdout) == (0, "[0] Three blind mice\n")


def test_interrupt_ends_the_run_with_a_valid_trace(tmp_path: Path) -> None:
    source = write(tmp_path, 'int main(void) { printf("begin\\n"); for (;;) __asm__ volatile(""); }')
    child = subprocess.Popen(
        [sys.executable, str(ROOT / "gossamer"), "run", str(source), "--engine", "rtl", "--trace", "t.pftrace"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline().endswith("begin\n")
    os.killpg(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert (child.returncode, said) == (130, "gossamer: interrupted\n")
    seen = read(tmp_path / "t.pftrace")
    assert {span.thread for span in seen.of("runs")} == set(range(32)) and not seen.of("ends")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["prog.c", "t.pftrace"]


def test_waveform_is_written_or_missing_headers_are_reported(command: Command, tmp_path: Path) -> None:
    """Without the libraries' headers the error names the command that installs them."""

    probe = [*builds.compiler(), "-fsyntax-only", "-x", "c++", "-"]
    include = "#include <lz4.h>\n#include <zlib.h>\n"
    there = subprocess.run(probe, input=include, text=True, capture_output=True, check=False).returncode == 0
    waves = tmp_path / "run.fst"
    source = write(tmp_path, "int main(void) { return 0; }")
    done = command("run", source, "--engine", "rtl", "--threads", "2", "--max-cycles", "3000", "--waves", waves)
    if not there:
        assert done.returncode == 2 and "apt-get install liblz4-dev zlib1g-dev" in done.stderr
        assert done.stderr.count("\n") == 1
        return
    assert (done.returncode, done.stderr) == (0, "")
    data = waves.read_bytes()
    # Block 0 is the header of 329 bytes; its first and last time follow, with two time units a cycle.
    assert data[:9] == bytes([0]) + (329).to_bytes(8, "big")
    first, last = (int.from_bytes(data[at : at + 8], "big") for at in (9, 17))
    assert first > 0 and 100 < (last - first) / 2 <= 3000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["prog.c", "run.fst"]
