# SPDX-License-Identifier: Apache-2.0
"""The engine distributed, compiled with the sanitizers of addresses and of undefined behaviour: no rank violates them,
and results are those of cpu."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from python.distributed_jobs import FIXTURES, compare, run_comparison

import gossamer_setup
from gossamer.builds import compiler

SANITIZER_EXIT = 66


def environment() -> dict[str, str]:
    """The runtime library of the sanitizers must precede all libraries of Python."""
    found = subprocess.run([*compiler(), "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    # Python does not free all its memory at the end.
    options = f"exitcode={SANITIZER_EXIT}:detect_leaks=0"
    return {"LD_PRELOAD": found.stdout.strip(), "ASAN_OPTIONS": options, "UBSAN_OPTIONS": "print_stacktrace=1"}


@pytest.mark.tier("all", seconds=90, adds="invalid accesses and undefined behaviour of ranks")
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", ["pagerank", "sssp", "bfs", "hashmin", "heat"])
def test_sanitizers_report_nothing_on_three_ranks(name: str, seed: int) -> None:
    gossamer_setup.require("mpi")
    compare(3, seed, 12, name, "--sanitized", environment=environment())


@pytest.mark.tier("all", seconds=15, adds="an invalid access of a rank is reported")
@pytest.mark.timeout(900)
def test_an_invalid_access_of_a_rank_is_reported(tmp_path: Path, seed: int) -> None:
    gossamer_setup.require("mpi")
    text = (FIXTURES / "features.h").read_text(encoding="utf-8")
    wrong = "const auto* few = new volatile uint32_t[2 + s->index % 2]();\n    s->sum += few[3];\n    delete[] few;\n"
    vertex = tmp_path / "vertex.h"
    vertex.write_text(text.replace("    mine.sum.give(s->sum);\n", wrong), encoding="utf-8")
    done = run_comparison(3, seed, 4, vertex, "--sanitized", environment=environment())
    assert done.returncode != 0
    assert "heap-buffer-overflow" in done.stdout + done.stderr
