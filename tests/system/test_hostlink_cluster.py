# SPDX-License-Identifier: Apache-2.0
"""Programs with a host on a cluster: boards by their columns, the same cycles again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT, Command

import gossamer_setup
from gossamer import config as configs

FIXTURES = ROOT / "tests" / "fixtures" / "hostlink"
PAIR = ("--engine", "rtl", "--cluster", "pair")
TINY = configs.load("tiny")


@pytest.fixture(scope="module", autouse=True)
def simulator() -> Path:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build
    from gossamer.engines.rtl_cluster import Plan

    return _rtl_build.cluster(TINY, Plan(configs.load_cluster("pair")).links)


def said() -> list[str]:
    """Boards, tiles and threads of a tile of those that are told something."""
    last = TINY.core.threads_per_core * (TINY.mailbox.cores_per_mailbox - 1)
    return [f"{told}: {x} 1 {last + told}" for told in (1, 2, 3) for x in (0, 1)]


def test_a_ring_over_all_boards(command: Command, tmp_path: Path) -> None:
    found = []
    for workers in ("1", "2"):
        stats = tmp_path / "stats.json"
        words = ("--workers", workers, "--frame-loss", "0.02", f"--stats={stats}", "--", "1000")
        done = command("run", FIXTURES / "ring", *PAIR, *words)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"2 boards: {1000 + 2 * TINY.threads} from board 1,0 core 3 thread 7\n"
        about = json.loads(stats.read_text())
        found.append({key: about[key] for key in ("cycles", "instructions", "by_tile", "by_link", "by_board")})
    assert found[0] == found[1]


def test_boards_by_their_columns_and_lines(command: Command) -> None:
    done = command("run", FIXTURES / "boards", *PAIR, "--", "key")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["key: 0 1 5 77", *said(), f"bye: {TINY.threads} {TINY.threads}"]


def test_a_trap_and_a_deadlock_name_their_boards(command: Command) -> None:
    done = command("run", FIXTURES / "boards", *PAIR, "-D", "FAULTY", timeout=200)
    assert done.returncode == 4
    trapped = 2 * TINY.threads - TINY.core.threads_per_core + 2
    first, last = done.stderr.splitlines()
    assert first.startswith(f"[{trapped} b 1,0.10] trap: store_fault: ")
    assert last.endswith(f"Run.cpp: thread {trapped} trapped; the host waits in HostLink::recv")
    done = command("run", FIXTURES / "boards", *PAIR, "--", "wait", timeout=200)
    assert done.returncode == 4
    first, last = done.stderr.splitlines()
    assert first.startswith("threads 0-63 (board a, tiles 0,0, 1,0; board b, tiles 0,0, 1,0) wait for a message")
    assert last.endswith("all threads that run (0-63) wait for messages, and none is on its way")
