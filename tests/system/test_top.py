# SPDX-License-Identifier: Apache-2.0
"""`./gossamer top` during a simulation, and `--report` after its end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import statistics_judge
from conftest import ROOT, Command

import gossamer_setup

TALK = ROOT / "tests" / "fixtures" / "watching" / "talk.c"
COMMAND = [sys.executable, str(ROOT / "gossamer")]

# Pages that are printed until all threads have run for a whole page.
_PAGES = 20


@pytest.fixture(scope="module", autouse=True)
def simulator() -> None:
    gossamer_setup.require("rtl")


@pytest.fixture
def running(tmp_path: Path) -> dict[str, str]:
    """Environment in which simulations register in a separate folder."""
    return {"GOSSAMER_RUNNING": str(tmp_path / "running")}


@contextlib.contextmanager
def simulation(folder: Path, environment: dict[str, str], *options: str) -> Iterator[subprocess.Popen[str]]:
    """A program that never ends, while it runs."""
    source = folder / "endless.c"
    source.write_text(
        "#include <gossamer/device.h>\n#include <stdio.h>\nint main(void) {\n"
        '  if (!gossamerThread()) printf("begin\\n");\n  for (;;) __asm__ volatile("");\n}\n'
    )
    child = subprocess.Popen(
        [*COMMAND, "run", str(source), "--engine", "rtl", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        start_new_session=True,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline().endswith("begin\n")
        yield child
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGINT)
        child.communicate(timeout=60)


def test_once_prints_one_page(command: Command, tmp_path: Path, running: dict[str, str]) -> None:
    with simulation(tmp_path, running, "--config", "tiny"):
        # A page covers the time between two snapshots. The first one may include the start of the threads.
        for _ in range(_PAGES):
            done = command("top", "--once", env={**running, "COLUMNS": "100"})
            assert (done.returncode, done.stderr) == (0, "")
            lines = done.stdout.splitlines()
            if "32.0 run" in lines[2]:
                break
        assert re.fullmatch(r"endless\.c on tiny \(2 tiles\), process \d+, runs", lines[0])
        assert re.fullmatch(r"cycle [\d,]+ = [\d.,]+ ms at 250 MHz, [\d.,]+ kHz", lines[1])
        rate = re.fullmatch(
            r"threads 32 started, 32\.0 run, 0\.0 wait; ([\d.]+) instructions a cycle of 4 cores", lines[2]
        )
        # A loop of a jump: each thread issues every few cycles, so the cores are busy.
        assert rate, lines[2]
        assert 1 < float(rate[1]) <= 4
        assert [line.split()[0] for line in lines[4:]] == ["tile", "0,0", "1,0"]
        narrow = command("top", "--once", env={**running, "COLUMNS": "30"})
        assert narrow.returncode == 0 and all(len(line) <= 30 for line in narrow.stdout.splitlines())
    assert not list((tmp_path / "running").iterdir())


def test_page_of_a_cluster_lists_its_links(command: Command, tmp_path: Path, running: dict[str, str]) -> None:
    with simulation(tmp_path, running, "--cluster", "pair"):
        done = command("top", "--once", env={**running, "COLUMNS": "120"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "on pair (2 boards, 4 tiles)" in done.stdout and "threads 64 started" in done.stdout
    starts = [line.split()[:2] for line in done.stdout.splitlines()]
    assert [start for start in starts if start and start[0] in ("a", "b") and "," not in start[1]]
    assert {tuple(start) for start in starts} >= {("a", "east"), ("a", "north"), ("b", "west"), ("b", "south")}
    assert " DOWN " not in done.stdout


def test_several_simulations_are_listed_and_one_is_selected(
    command: Command, tmp_path: Path, running: dict[str, str]
) -> None:
    with simulation(tmp_path, running, "--one-tile"), simulation(tmp_path, running, "--config", "tiny"):
        done = command("top", env=running)
        assert (done.returncode, done.stderr) == (0, "")
        *listed, hint = done.stdout.splitlines()
        assert len(listed) == 3 and "several simulations run" in hint
        pids = [int(line.split()[0]) for line in listed[1:]]
        shown = command("top", str(pids[0]), "--once", env=running)
        assert shown.returncode == 0 and f"process {pids[0]}, runs" in shown.stdout and "1 tile)" in shown.stdout
        wrong = command("top", "1", env=running)
        assert (wrong.returncode, len(wrong.stderr.splitlines())) == (
            2,
            1,
        ) and "process 1 is not a simulation" in wrong.stderr


def test_no_running_simulation_is_an_error(command: Command, tmp_path: Path, running: dict[str, str]) -> None:
    """Files of a killed simulation, or of one whose process id was reused, are removed."""
    folder = tmp_path / "running"
    folder.mkdir()
    for name in (f"{os.getpid()}.json", "4194304.json", "4194304.json.part", "x.json"):
        (folder / name).write_text("{}")
    done = command("top", "--once", env=running)
    said = "gossamer: error: no simulation runs in this checkout; start one with ./gossamer run PROGRAM --engine rtl\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    assert not list(folder.iterdir())
    done = command("top", "--every", "0", env=running)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1


def test_file_of_a_killed_simulation_is_removed(command: Command, tmp_path: Path, running: dict[str, str]) -> None:
    with simulation(tmp_path, running, "--one-tile") as child:
        (file,) = (tmp_path / "running").glob("*.json")
        os.kill(int(file.stem), signal.SIGKILL)
        child.wait(60)
        assert file.exists()
        assert command("top", env=running).returncode == 2 and not file.exists()


class Terminal:
    """A terminal of 70 columns and 12 lines with a command in it."""

    def __init__(self, words: list[str], environment: dict[str, str]) -> None:
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.execve(words[0], words, {**os.environ, **environment})
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 70, 0, 0))

    def until(self, pattern: str, seconds: float = 60) -> str:
        """The output when it matches, or at the end."""
        text, limit = "", time.monotonic() + seconds
        while not re.search(pattern, text, re.DOTALL):
            assert time.monotonic() < limit, text
            try:
                text += os.read(self.end, 65536).decode()
            except OSError:
                break
        return text

    def close(self) -> int:
        """Its exit code."""
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.end)
        return code


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_terminal_is_redrawn_and_restored(tmp_path: Path, running: dict[str, str]) -> None:
    """Pages are redrawn on the alternate screen, which Ctrl-C leaves."""
    with simulation(tmp_path, running, "--config", "tiny"):
        terminal = Terminal([*COMMAND, "top", "--every", "0.3"], {**running, "TERM": "xterm"})
        text = terminal.until(r"\x1b\[H.*\x1b\[H.*\x1b\[H.*\x1b\[J")
        assert text.startswith("\x1b[?1049h\x1b[?25l")
        pages = text.split("\x1b[H")[1:-1]
        cycles = [int(re.search(r"cycle ([\d,]+)", page)[1].replace(",", "")) for page in pages]  # type: ignore[index]
        assert cycles == sorted(set(cycles)) and len(cycles) >= 2
        for page in pages:
            lines = page.removesuffix("\x1b[J").split("\r\n")
            assert len(lines) <= 12 and all(len(line.removesuffix("\x1b[K")) <= 70 for line in lines)
        os.write(terminal.end, b"\x03")
        text = terminal.until("never")
        assert "\x1b[?25h\x1b[?1049l" in text and terminal.close() == 130
        dumb = Terminal([*COMMAND, "top", "--every", "0.3"], {**running, "TERM": "dumb"})
        text = dumb.until(r"tile .*tile .*1,0")
        assert "\x1b" not in text
    # The simulation has ended meanwhile, so the command that displays it ends, too.
    text = dumb.until("has ended")
    assert "has ended" in text and dumb.close() == 0


def test_report_of_a_board_matches_the_statistics(command: Command, tmp_path: Path) -> None:
    page, stats = tmp_path / "r.html", tmp_path / "s.json"
    done = command("run", TALK, "--engine", "rtl", "--report", page, "--stats", stats, "-D", "ALIKE", "-D", "ROUNDS=4")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    text, about = page.read_text(), statistics_judge.read(stats)
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr><td>[01],0</td>.*?</tr>", text)]
    assert len(rows) == 2
    for row, tile in zip(rows, about["by_tile"], strict=True):
        per_core = tile["instructions"] / about["cycles"] / (about["cores"] / about["tiles"])
        assert float(row[1]) == pytest.approx(per_core, abs=1e-3)
        # Threads run or wait from their start to their end.
        assert 10 < sum(map(float, row[2:9])) <= 16
        assert [int(cell.replace(",", "")) for cell in row[9:11]] == [tile["sent"], tile["received"]]
    north, south, east, west = ([int(row[11 + d].replace(",", "")) for row in rows] for d in range(4))
    # Messages to the other tile, and nothing else, cross the mesh between tiles while the program runs.
    assert east == [about["by_tile"][0]["flits_out"], 0] and west == [0, about["by_tile"][1]["flits_out"]]
    assert sum(east) == 4 * 16 * 16 and south == [0, 0] == north
    assert f"{about['cycles']:,}" in text


def test_report_of_a_cluster_matches_the_statistics(command: Command, tmp_path: Path) -> None:
    page, stats = tmp_path / "r.html", tmp_path / "s.json"
    options = ["--cluster", "pair", "--frame-loss", "0.05", "-D", "ALIKE"]
    done = command("run", TALK, "--engine", "rtl", "--report", page, "--stats", stats, *options)
    assert (done.returncode, done.stdout) == (0, "")
    text, about = page.read_text(), statistics_judge.read(stats)
    links = {
        (one["board"], one["link"]): (one["tx_packets"], one["tx_bytes"], one["resends"]) for one in about["by_link"]
    }
    shown = {}
    for row in re.findall(r"<tr><td>(\w+):(\w+) to .*?</td>(.*?)</tr>", text):
        cells = re.findall(r"<td>(.*?)</td>", row[2])
        assert cells[0] == "up" and 0 <= float(cells[1].removesuffix("%")) <= 100
        shown[row[:2]] = tuple(int(cell.replace(",", "")) for cell in cells[2:5])
    assert shown == links and sum(resent for _, _, resent in links.values()) > 0


def test_unwritable_report_is_rejected(command: Command, tmp_path: Path) -> None:
    done = command("run", TALK, "--engine", "rtl", "--report", tmp_path / "no" / "r.html")
    assert done.returncode == 2 and "there is no folder" in done.stderr
