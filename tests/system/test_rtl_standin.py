# SPDX-License-Identifier: Apache-2.0
"""The `rtl` engine on a stand-in for the tile, which can imitate a broken tile.

``standin/gs_sim_tile.sv`` executes an instruction a cycle from threads in round-robin order; it is not the hardware,
and a plusarg selects a fault.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT
from traces import read

import gossamer_setup
from gossamer import config as configs
from gossamer import device
from gossamer.engines.rtl import Run, Tile
from gossamer.errors import InputError, RunDied

STANDIN = Path(__file__).with_name("standin") / "gs_sim_tile.sv"
TINY = configs.load("tiny")
HEAD = "#include <stdio.h>\n#include <tinsel.h>\n"


@pytest.fixture(scope="module")
def simulator() -> Path:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build
    from gossamer.hdl.sources import Sources, package

    return _rtl_build.build(TINY, Sources((package(TINY), STANDIN), ()), fast=False, flags=["-Wno-fatal"])


class Runner:
    """Runs a program's text and keeps its output."""

    def __init__(self, simulator: Path, folder: Path) -> None:
        self.simulator, self.folder = simulator, folder
        self.said: list[str] = []
        self.broken: list[bool] = []
        self.image: device.Image | None = None

    def __call__(
        self,
        body: str,
        *,
        fault: int = 0,
        threads: int = 16,
        trace: Path | None = None,
        max_cycles: int | None = None,
        watchdog: int = 100_000,
        inputs: dict[int, bytes] | None = None,
        before: Callable[[Tile], object] = lambda tile: None,
        after: Callable[[Tile], object] = lambda tile: None,
    ) -> Run:
        source = self.folder / "prog.c"
        source.write_text(HEAD + body, encoding="utf-8")
        self.image = device.build(source, TINY)

        def line(thread: int, text: str, more: bool) -> None:
            self.said.append(f"[{thread}] {text}")
            self.broken.append(more)

        with Tile(TINY, simulator=self.simulator, plusargs=[f"+fault={fault}"], trace=trace) as tile:
            tile.load_image(self.image)
            before(tile)
            done = tile.run(
                threads,
                max_cycles=max_cycles,
                watchdog=watchdog,
                inputs=inputs,
                on_line=line,
                on_emit=lambda thread, word: self.said.append(f"[{thread}] emit {word}"),
            )
            after(tile)
        return done


@pytest.fixture
def runner(simulator: Path, tmp_path: Path) -> Runner:
    return Runner(simulator, tmp_path)


def test_every_thread_prints_its_own_line(runner: Runner) -> None:
    done = runner('int main(void) { printf("I am %u\\n", (unsigned)tinselId()); return 0; }')
    assert sorted(runner.said) == sorted(f"[{t}] I am {t}" for t in range(16))
    assert done.reason == "done" and done.codes == dict.fromkeys(range(16), 0) and not done.traps
    assert 0 < done.instructions <= done.cycles <= done.counters["cycles"]


def test_repeated_run_has_equal_cycles(runner: Runner) -> None:
    body = 'int main(void) { printf("%u\\n", (unsigned)tinselCycleCount()); return 0; }'
    first, second = runner(body), runner(body)
    assert (first.cycles, first.instructions) == (second.cycles, second.instructions)
    assert runner.said[:16] == runner.said[16:]


def test_initialized_data_is_loaded_and_read_back(runner: Runner) -> None:
    seen: list[int] = []

    def look(tile: Tile) -> None:
        assert runner.image is not None
        seen.extend(tile.read(runner.image.symbols["words"], 6).tolist())

    runner(
        "volatile int words[6] = {1, 2, 3}; volatile int zeros[4];\n"
        "int main(void) { words[3] = words[2] + zeros[1] + 40; words[4] = -1; return 0; }",
        threads=1,
        after=look,
    )
    assert seen == [1, 2, 3, 43, 0xFFFF_FFFF, 0]


def test_long_and_unterminated_lines_are_printed(runner: Runner) -> None:
    done = runner(
        'int main(void) { for (int i = 0; i < 1500; i++) putchar("ab"[i & 1]);\n'
        '  putchar(10); putchar(10); printf("no end"); return 0; }',
        threads=1,
    )
    assert runner.said == ["[0] " + "ab" * 512, "[0] " + "ab" * 238, "[0] ", "[0] no end"]
    assert runner.broken == [True, False, False, False] and done.reason == "done"


def test_unterminated_line_is_printed_when_its_thread_ends(runner: Runner) -> None:
    runner(
        'int main(void) { if (tinselId() == 0) { printf("no end"); return 0; }\n'
        '  for (volatile int i = 0; i < 3000; i++) {}\n  printf("late\\n"); return 0; }',
        threads=2,
    )
    assert runner.said == ["[0] no end", "[1] late"]


def test_exit_codes_and_emitted_words_are_reported(runner: Runner) -> None:
    done = runner("int main(void) { tinselEmit(7 + tinselId()); return tinselId() == 2 ? -1 : 0; }", threads=3)
    assert done.codes == {0: 0, 1: 0, 2: 0xFFFF_FFFF}
    assert sorted(runner.said) == ["[0] emit 7", "[1] emit 8", "[2] emit 9"]


@pytest.mark.parametrize("fault", [0, 4])
def test_trap_halts_only_its_thread(runner: Runner, fault: int) -> None:
    """With fault 4 the tile does not know the location, and the thread itself reports it."""
    done = runner(
        'int main(void) {\n  if (tinselId() == 3) return *(volatile int *)0x20;\n  printf("well\\n");\n  return 0;\n}',
        fault=fault,
    )
    (trap,) = done.traps
    assert (trap.thread, trap.name, trap.value) == (3, "load_fault", 0x20)
    assert runner.image is not None
    place = runner.image.where(trap.pc)
    assert (place.function, place.line) == ("main", 4)
    assert len(runner.said) == 15 and done.reason == "done"


def test_trap_without_a_pc_has_an_unknown_location(runner: Runner) -> None:
    (trap,) = runner("int main(void) { return *(volatile int *)0x20; }", fault=8, threads=1).traps
    assert trap.pc == 0xFFFF_FFFF and trap.words(str).endswith("location unknown")


def test_deadlock_is_detected_before_the_watchdog(runner: Runner) -> None:
    done = runner("int main(void) { if (tinselId()) tinselWaitUntil(TINSEL_CAN_RECV); return 0; }", watchdog=10**9)
    assert done.reason == "deadlock" and done.codes == {0: 0}
    assert sorted(one.thread for one in done.unfinished) == list(range(1, 16))
    assert all(one.waits_for_message for one in done.unfinished)
    assert done.cycles < 60_000


def test_wait_for_a_late_message_is_not_a_deadlock(runner: Runner) -> None:
    """One thread computes for longer than the watchdog's interval."""
    done = runner(
        "int main(void) {\n"
        "  if (tinselId() == 1) { tinselWaitUntil(TINSEL_CAN_RECV); return 0; }\n"
        "  for (volatile int i = 0; i < 3000; i++) {}\n"
        "  tinselSetLen(1); tinselSend(1, tinselSendSlot()); return 0; }",
        threads=2,
    )
    assert done.reason == "done" and done.counters["sent"] == 1 and done.cycles > 100_000


def test_max_cycles_ends_the_run(runner: Runner) -> None:
    spin = 'int main(void) { if (tinselId() == 1) for (;;) __asm__ volatile(""); return 0; }'
    done = runner(spin, max_cycles=30_000)
    assert done.reason == "max-cycles" and done.cycles == 30_000
    assert [(one.thread, one.words()) for one in done.unfinished] == [(1, "runs")]


def test_thread_starts_another_thread(runner: Runner) -> None:
    done = runner(
        "int main(void) {\n"
        "  if (tinselId() == 0) { tinselCreateThread(5); return 0; }\n"
        "  for (volatile int i = 0; i < 1000; i++) {}\n"
        '  printf("late\\n"); return 4; }',
        threads=1,
    )
    assert done.codes == {0: 0, 5: 4} and runner.said == ["[5] late"]


def test_each_thread_reads_its_own_input(runner: Runner) -> None:
    runner(
        "int main(void) { unsigned c;\n"
        "  do { do c = tinselUartTryGet(); while (!c); putchar(c & 255); } while (c != 266); return 0; }",
        threads=2,
        inputs={0: b"first\n", 1: b"second line\n"},
    )
    assert sorted(runner.said) == ["[0] first", "[1] second line"]


def test_trace_has_spans_and_marks_of_started_threads(runner: Runner, tmp_path: Path) -> None:
    trace = tmp_path / "trace.pftrace"
    done = runner(
        "int main(void) {\n"
        "  if (tinselId() == 1) { tinselWaitUntil(TINSEL_CAN_RECV); tinselFree((void *)tinselRecv()); return 0; }\n"
        "  for (volatile int i = 0; i < 100; i++) {}\n"
        "  tinselSetLen(1); tinselSend(1, tinselSendSlot()); return *(volatile int *)0; }",
        threads=2,
        trace=trace,
    )
    assert done.reason == "done" and len(done.traps) == 1
    # The stand-in has no mailbox, so the trace does not contain the message.
    seen = read(trace)
    assert {(0, "trap"), (1, "receive"), (1, "ends")} <= {(mark.thread, mark.name) for mark in seen.marks}
    (wait,) = seen.of("waits for a message")
    assert wait.thread == 1 and wait.notes["function"] == "main" and wait.end - wait.begin > 1000
    # Spans of a thread do not overlap.
    for thread in (0, 1):
        mine = sorted((span.begin, span.end) for span in seen.spans if span.thread == thread)
        assert len(mine) >= 1
        assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(mine))
    # Threads that were never started have no tracks.
    assert [track for track in seen.tracks if "/thread " in track] == [
        f"board 0/tile 0,0/thread {thread} (core 0)" for thread in range(2)
    ]
    assert not list(tmp_path.glob(".*.part"))


# ---- A broken tile -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (1, "is not of configuration tiny"),
        (2, "accepts no more bytes"),
        (5, "packet of an unknown kind"),
        (7, "has had enough"),
        (9, "loader does not answer"),
    ],
)
def test_broken_tile_is_reported_in_one_line(runner: Runner, fault: int, says: str) -> None:
    with pytest.raises(RunDied, match=says) as raised:
        runner("int main(void) { for (;;) {} }", fault=fault)
    assert "\n" not in str(raised.value)


def test_loader_rejection_is_an_input_error(runner: Runner) -> None:
    with pytest.raises(InputError, match=r"no memory at 0x00000000, or not all of it \(address\)"):
        runner("int main(void) { return 0; }", fault=10)


def test_watchdog_detects_lost_threads(runner: Runner) -> None:
    done = runner('int main(void) { for (;;) __asm__ volatile(""); }', fault=3, watchdog=50_000)
    assert done.reason == "stuck" and len(done.unfinished) == 16
    assert {one.words() for one in done.unfinished} == {"has no state: it was started and never ran"}


def test_watchdog_detects_a_memory_that_never_responds(runner: Runner) -> None:
    done = runner("volatile int x; int main(void) { return x; }", fault=6, watchdog=50_000, threads=2)
    assert done.reason == "stuck"
    assert all(one.words().startswith("waits for a load from 0x4") for one in done.unfinished)


# ---- Ctrl-C --------------------------------------------------------------------------

_LOOP = """
import sys
from pathlib import Path
sys.path.insert(0, {python!r})
from gossamer import config, device
from gossamer.engines.rtl import Tile
tiny = config.load("tiny")
with Tile(tiny, simulator=Path({simulator!r}), trace=Path({trace!r})) as tile:
    tile.load_image(device.build({source!r}, tiny))
    tile.run(16, on_line=lambda *_: print("runs", flush=True))
"""


def test_interrupt_leaves_a_valid_trace_and_no_process(simulator: Path, tmp_path: Path) -> None:
    source, trace = tmp_path / "spin.c", tmp_path / "trace.pftrace"
    source.write_text(HEAD + 'int main(void) { printf("x\\n"); for (;;) __asm__ volatile(""); }', encoding="utf-8")
    script = _LOOP.format(python=str(ROOT / "python"), simulator=str(simulator), trace=str(trace), source=str(source))
    child = subprocess.Popen(
        [sys.executable, "-I", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert child.stdout is not None and child.stderr is not None
    assert child.stdout.readline()
    os.killpg(child.pid, signal.SIGINT)
    killer = threading.Timer(30, child.kill)
    killer.start()
    said = child.stderr.read().decode()
    child.wait()
    killer.cancel()
    assert "KeyboardInterrupt" in said and child.returncode != 0
    child.stdout.close()
    child.stderr.close()
    read(trace)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["spin.c", "trace.pftrace"]
    assert _session(child.pid) == []


def _session(session: int) -> list[str]:
    """Processes of a session that still exist after a moment."""
    for _ in range(50):
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(folder.name)
        if not found:
            return []
        time.sleep(0.1)
    return found
