# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of the engine distributed: a killed job continues from its last one with the same result, on any number
of ranks; checkpoints of other runs, and damaged ones, are rejected."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import Command, Size
from python.distributed_jobs import FIXTURES, ROOT, compare, job_processes, wait_for_ranks

import gossamer_setup
from gossamer.distributed.checkpoints import last

GRAPH = "gen:grid:width=40,height=30,weights=0:9"
STEPS = "60"


@pytest.fixture(scope="module", autouse=True)
def _mpi() -> None:
    gossamer_setup.require("mpi")


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_run_that_continues_has_the_result_of_cpu(ranks: int, seed: int) -> None:
    compare(ranks, seed, 6, FIXTURES / "stepped.h", FIXTURES / "features.h", "hashmin-sync", "--checkpoints")


@pytest.mark.tier("all", seconds=60, adds="checkpoints of all applications")
def test_every_application_continues_from_a_checkpoint(seed: int) -> None:
    from gossamer import apps

    compare(3, seed, 4, *apps.names(), "--checkpoints")


def run_of(*options: str | Path) -> list[str]:
    program = [FIXTURES / "stepped.h", GRAPH, "--steps", STEPS, "--engine", "distributed"]
    return [sys.executable, str(ROOT / "gossamer"), "run", *map(str, (*program, *options))]


def result_of_cpu(command: Command, folder: Path) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    done = command("run", FIXTURES / "stepped.h", GRAPH, "--steps", STEPS, "-o", folder / "cpu.npy")
    assert done.returncode == 0, done.stderr
    return np.load(folder / "cpu.npy")


def test_a_job_killed_at_a_random_moment_continues(command: Command, tmp_path: Path, seed: int, size: Size) -> None:
    numbers = random.Random(seed)
    expected = result_of_cpu(command, tmp_path)
    killed_with_checkpoint = 0
    for case in range(size.pick(3, 6, 50)):
        folder = tmp_path / f"job-{case}"
        saves, result, temporary = folder / "saves", folder / "ranks.npy", folder / "tmp"
        temporary.mkdir(parents=True)
        environment = {**os.environ, "TMPDIR": str(temporary)}
        restart: list[str | Path] = []
        for attempt in range(20):
            ranks = numbers.choice([2, 3])
            options = ["-n", str(ranks), "--checkpoint", saves, "--checkpoint-every", "7", "-o", result, *restart]
            child = subprocess.Popen(
                run_of(*options), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            try:
                if attempt == 0:
                    wait_for_ranks(temporary, ranks)
                    time.sleep(numbers.random())
                    there = job_processes(temporary)
                    if there:
                        os.kill(numbers.choice(there), signal.SIGKILL)
                begun = time.monotonic()
                _, errors = child.communicate(timeout=120)
            finally:
                child.kill()
                child.wait()
            if child.returncode == 0:
                break
            assert time.monotonic() - begun < 10
            assert child.returncode == 4, errors
            assert errors.startswith("gossamer: error: rank "), errors
            assert "was killed by SIGKILL" in errors
            assert errors.count("\n") == 1
            # A rank that dies after all have finished, while it leaves the job: the result is there, and whole.
            if result.exists():
                assert (np.load(result) == expected).all()
                result.unlink()
            newest = last(saves)
            if newest is not None:
                assert f"the last checkpoint is {newest}, continue with --restart {saves}" in errors
                restart = ["--restart", saves]
                killed_with_checkpoint += 1
        assert (np.load(result) == expected).all()
        assert [one.name for one in saves.iterdir()] == [f"step-{int(STEPS) // 7 * 7:012}"]
    assert killed_with_checkpoint or size.name == "small"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a checkpoint."""
    folder = tmp_path_factory.mktemp("saves") / "there"
    done = subprocess.run(
        run_of("-n", "2", "--checkpoint", folder, "--checkpoint-every", "25"),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(
            [FIXTURES / "stepped.h", GRAPH, "--steps", "61"], "other arguments (steps 60, here 61)", id="arguments"
        ),
        pytest.param(
            [FIXTURES / "stepped.h", GRAPH + ",seed=5", "--steps", STEPS], "another graph: its edges", id="weights"
        ),
        pytest.param(
            [FIXTURES / "stepped.h", "gen:grid:width=40,height=31,weights=0:9", "--steps", STEPS],
            "another graph: its number of vertices differs (1200, here 1240)",
            id="graph",
        ),
        pytest.param(["sssp", GRAPH], "another application (stepped, here sssp)", id="application"),
    ],
)
def test_a_checkpoint_of_another_run_is_rejected(
    command: Command, saved: Path, arguments: list[str | Path], expected: str
) -> None:
    done = command("run", *arguments, "--engine", "distributed", "-n", "3", "--restart", saved)
    assert done.returncode == 2, done.stderr
    line = done.stderr.splitlines()[-1]
    assert line.startswith(f"gossamer: error: {saved / 'step-000000000050'}: is a checkpoint of "), done.stderr
    assert expected in line
    assert not done.stdout


@pytest.mark.parametrize("what", ["rank-0", "rank-1", "checkpoint.json", "short", "missing"])
def test_a_damaged_checkpoint_is_rejected(saved: Path, tmp_path: Path, what: str, seed: int) -> None:
    folder = tmp_path / "there"
    shutil.copytree(saved, folder)
    file = next(folder.iterdir()) / (what if what[0] != "s" and what != "missing" else "rank-1")
    if what == "missing":
        file.unlink()
    else:
        data = bytearray(file.read_bytes())
        if what == "short":
            del data[-1]
        else:
            data[random.Random(seed).randrange(len(data))] ^= 1
        file.write_bytes(data)
    done = subprocess.run(
        run_of("-n", "3", "--restart", folder), capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"gossamer: error: {file}: "), done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param(["--restart", "no-such"], "no-such: no such folder; give --restart", id="no-folder"),
        pytest.param(["--restart", "."], "has no checkpoint; give --restart", id="no-checkpoint"),
        pytest.param(["--checkpoint", "SAVED"], "of an earlier run; continue it with --restart", id="occupied"),
        pytest.param(["--checkpoint", "/dev/null/x"], "cannot be created: Not a directory", id="no-place"),
        pytest.param(["--checkpoint-every", "5"], "add --checkpoint DIR", id="interval-only"),
        pytest.param(["--checkpoint", "x", "--checkpoint-every", "0"], "no whole number from 1", id="interval"),
    ],
)
def test_wrong_options_are_one_line(saved: Path, tmp_path: Path, options: list[str], expected: str) -> None:
    words = [str(saved) if word == "SAVED" else word for word in options]
    done = subprocess.run(
        run_of("-n", "2", *words), capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path
    )
    assert done.returncode == 2, done.stderr
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1


def test_checkpoints_need_the_engine(command: Command) -> None:
    for option in ("--checkpoint", "--checkpoint-every", "--restart"):
        done = command("run", "pagerank", "gen:grid:width=9,height=3", option, "1")
        assert done.returncode == 2
        assert done.stderr == f"gossamer: error: {option}: is for --engine distributed\n"
