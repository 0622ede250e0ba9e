# SPDX-License-Identifier: Apache-2.0
"""The programs in programs/ on the rtl engine, through the command, judged by their own verifiers."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Command, Size

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "device"


def _checks() -> Any:
    name = "program_checks"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "tests" / "python" / f"{name}.py")
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


CHECKS = _checks().CHECKS


def lines_of(output: str) -> list[tuple[int, str]]:
    """What the threads wrote: each line has its thread in front."""
    found = []
    for line in output.splitlines():
        match = re.fullmatch(r"\[(\d+)\] (.*)", line)
        if match:
            found.append((int(match[1]), match[2]))
    return found


def run(command: Command, program: Path, threads: int, *options: str | Path) -> list[tuple[int, str]]:
    done = command("run", program, "--engine", "rtl", "--config", "tiny", "--threads", str(threads), *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return lines_of(done.stdout)


@pytest.mark.parametrize("program", sorted(CHECKS))
def test_program_on_the_rtl(program: str, command: Command, size: Size, tmp_path: Path) -> None:
    for threads in size.pick([16], [16, 5], [16, 1, 2, 3, 5, 11]):
        stats = tmp_path / "stats.json"
        CHECKS[program](run(command, ROOT / "programs" / program, threads, "--stats", stats), threads)
        assert json.loads(stats.read_text())


@pytest.mark.parametrize("startup", ["PAPER", "CODE"])
def test_both_startups_on_the_rtl(startup: str, command: Command, size: Size) -> None:
    """The papers' tinselAlloc of slots that the hardware has already, and the code's tinselFree alone."""
    for threads in size.pick([16], [16, 7], [16, 1, 2, 7, 13]):
        lines = run(command, FIXTURES / "startup.c", threads, "-D", startup, "-D", "LENGTH=4")
        total = sum(4 * (t * 1000 + told * 10) + 6 for t in range(threads) for told in range(6))
        wanted = [(t, f"{t}: heard {6 * threads}, sum {total}, idle 2") for t in range(threads)]
        assert sorted(lines) == wanted


def test_what_a_thread_starts_with_on_the_rtl(command: Command) -> None:
    done = command("run", FIXTURES / "threads.c", "--engine", "rtl", "--config", "tiny")
    assert done.returncode == 1  # the threads' exit codes are their numbers
    assert "assertion" not in done.stdout
    found = {thread: line.split()[2] for thread, line in lines_of(done.stdout)}
    assert found == {thread: str(17 + thread) for thread in range(16)}
