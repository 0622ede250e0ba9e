# SPDX-License-Identifier: Apache-2.0
"""The programs in programs/ on the rtl engine, run by the command and checked by their own verifiers."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
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
    """The output of the threads: each line begins with its thread."""
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


@pytest.mark.default_cases("(?!heat|sort).*", seconds=20, adds="long programs; heat runs as a host program by default")
@pytest.mark.parametrize("program", sorted(CHECKS))
def test_programs_print_the_expected_output(program: str, command: Command, size: Size, tmp_path: Path) -> None:
    for threads in size.pick([32], [32, 5], [32, 1, 2, 3, 5, 11, 21]):
        stats = tmp_path / "stats.json"
        CHECKS[program](run(command, ROOT / "programs" / program, threads, "--stats", stats), threads)
        assert json.loads(stats.read_text())


@pytest.mark.parametrize("startup", ["PAPER", "CODE"])
def test_both_startups_deliver_all_messages(startup: str, command: Command, size: Size) -> None:
    """The papers' tinselAlloc of slots that the hardware has already, and the code's tinselFree alone."""
    # Its mask is of one tile.
    for threads in size.pick([16], [16, 7], [16, 1, 2, 7, 13]):
        lines = run(command, FIXTURES / "startup.c", threads, "--one-tile", "-D", startup, "-D", "LENGTH=4")
        total = sum(4 * (t * 1000 + told * 10) + 6 for t in range(threads) for told in range(6))
        wanted = [(t, f"{t}: heard {6 * threads}, sum {total}, idle 2") for t in range(threads)]
        assert sorted(lines) == wanted


@pytest.mark.tier("quick", seconds=1, adds="simulator and compiler of the rtl engine")
def test_threads_start_in_the_documented_state(command: Command) -> None:
    done = command("run", FIXTURES / "threads.c", "--engine", "rtl", "--config", "tiny")
    assert done.returncode == 1  # the threads' exit codes are their numbers
    assert "assertion" not in done.stdout
    found = {thread: line.split()[2] for thread, line in lines_of(done.stdout)}
    assert found == {thread: str(17 + thread) for thread in range(32)}


def test_addresses_are_packed_as_in_tinsel(command: Command, size: Size) -> None:
    """Packed as programs for Tinsel expect: counted, unpacked, and used as destinations, singly and by mask."""
    for config, each, tiles in size.pick([("tiny", 16, 2)], [("tiny", 16, 2)], [("tiny", 16, 2), ("quad", 64, 4)]):
        done = command("run", FIXTURES / "addresses.c", "--engine", "rtl", "--config", config)
        assert (done.returncode, done.stderr) == (0, "")
        assert sorted(lines_of(done.stdout)) == [(t, f"{t} of {each} well") for t in range(tiles * each)]


def test_barrier_reductions_compute_correct_values(command: Command, size: Size) -> None:
    """Sum, minimum, maximum, or, and sums of floats, of all threads; messages end the wait early."""
    for threads in size.pick([16], [16, 5], [16, 1, 2, 5, 11]):
        lines = run(command, FIXTURES / "reduce.c", threads)
        assert sorted(lines) == [(t, f"{t}: heard 12, wrong 0") for t in range(threads)]


# ---------------------------------------------------------------------- pages of the programs

CYCLES = r"\b\d+(?= cycles)"
"""Times change with the hardware: a page may deviate by a fifth."""


def blocks(page: str) -> tuple[list[str], list[str]]:
    """The arguments of a page's command, and the lines of output that it shows."""
    shown = page.split("```")[1::2]
    assert len(shown) >= 2
    words = shlex.split(shown[0])
    assert words[:2] == ["./gossamer", "run"]
    return words[2:], shown[1].strip().splitlines()


def alike(sample: str, printed: str) -> bool:
    """Whether a line of a page was printed, except for times and the part omitted after three dots."""
    cut = sample.endswith(" ...")
    times = [(int(a), int(b)) for a, b in zip(re.findall(CYCLES, sample), re.findall(CYCLES, printed), strict=False)]
    sample, printed = (re.sub(CYCLES, "N", text) for text in (sample.removesuffix(" ..."), printed))
    same = printed.startswith(sample + " ") if cut else printed == sample
    return same and all(4 * b <= 5 * a + 20 <= 6 * b + 40 for a, b in times)


def missing(samples: list[str], printed: list[str]) -> list[str]:
    """Lines of a page that were not printed."""
    whole = samples[-1] != "..."
    wanted = [line for line in samples if line != "..."]
    lost = [line for line in wanted if not any(alike(line, other) for other in printed)]
    if whole and len(wanted) != len(printed):
        lost.append(f"{len(printed)} lines were printed, {len(wanted)} are shown")
    return lost


@pytest.mark.default_cases("(queens.cpp|hello.c)", seconds=16, adds="a long program")
@pytest.mark.parametrize("program", sorted(CHECKS))
def test_page_shows_the_output_of_the_program(program: str, command: Command) -> None:
    page = ROOT / "docs" / "programs" / f"{Path(program).stem}.md"
    words, samples = blocks(page.read_text())
    assert words[0] == f"programs/{program}"
    done = command("run", *words, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    printed = [line for line in done.stdout.splitlines() if line.startswith("[")]
    lost = missing(samples, printed)
    near = {line: [other for other in printed if other.split()[:2] == line.split()[:2]][:2] for line in lost}
    assert not lost, f"{page.name} shows what is not printed: {near}"


def test_stale_page_is_detected() -> None:
    printed = ["[0] 7 hops, sum 12, 100 cycles a hop", "[1] keys 1 2 3"]
    assert not missing(["[0] 7 hops, sum 12, 115 cycles a hop", "[1] keys 1 ..."], printed)
    assert not missing(["[1] keys 1 2 3", "..."], printed)
    for stale in ("[0] 7 hops, sum 13, 100 cycles a hop", "[0] 7 hops, sum 12, 135 cycles a hop", "[1] keys 1 3 ..."):
        assert missing([stale, "..."], printed) == [stale]
    assert missing(["[1] keys 1 2 3"], printed)
