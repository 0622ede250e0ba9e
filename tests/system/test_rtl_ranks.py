# SPDX-License-Identifier: Apache-2.0
"""A cluster partitioned among MPI ranks: the same cycles, output and counters as in one process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import statistics_judge
from conftest import ROOT, Command
from system.cluster_runs import go

import gossamer_setup
from gossamer import config as configs

ALL = ROOT / "tests" / "fixtures" / "cluster" / "all.c"
SORT = ROOT / "tests" / "fixtures" / "hostlink" / "sort"
FOUR = """description = "four tiny boards in a square"
config = "tiny"
topology = "mesh 2x2"
hosts = ["host - x1y1:east"]
"""


@pytest.fixture(scope="module", autouse=True)
def simulator() -> None:
    gossamer_setup.require("rtl", "mpi")
    from gossamer.engines import _rtl_build

    _rtl_build.cluster(configs.load("tiny"))


@pytest.fixture
def four(tmp_path: Path) -> Path:
    """Four boards, the host not on the first rank's."""
    path = tmp_path / "four.toml"
    path.write_text(FOUR, encoding="utf-8")
    return path


@pytest.mark.default_cases("2", seconds=10, adds="a cluster on three processes")
@pytest.mark.parametrize("ranks", [2, 3])
def test_cycles_are_independent_of_the_number_of_ranks(four: Path, ranks: int) -> None:
    """Messages of all threads to others and to the host, barriers with words, lost frames; an uneven partition."""
    defines = ["ROUNDS=1", "TARGETS=5", "STEP=37"]
    one = go(ALL, four, frame_loss=0.02, seed=3, workers=2, defines=defines)
    assert one.run.reason == "done" and not any(one.run.codes.values()) and len(one.run.codes) == 128
    many = go(ALL, four, frame_loss=0.02, seed=3, ranks=ranks, defines=defines)
    one.same(many)
    assert one.run.snapshot is not None and many.run.snapshot is not None
    assert one.run.snapshot.tiles == many.run.snapshot.tiles and one.run.snapshot.links == many.run.snapshot.links


def test_program_with_a_host_is_independent_of_the_number_of_ranks(command: Command, tmp_path: Path) -> None:
    found = []
    for ranks in ("1", "2"):
        stats = tmp_path / "stats.json"
        words = ("--engine", "rtl", "--cluster", "pair", "--frame-loss", "0.02", "--ranks", ranks, f"--stats={stats}")
        done = command("run", SORT, *words, "--", "3")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "768 words of 2 boards: sorted; lines say 768, 0 are missing\n"
        about = statistics_judge.read(stats)
        # Only these say how the program was run.
        drop = ("seconds", "kilohertz", "command", "date", "configuration")
        found.append({key: value for key, value in about.items() if key not in drop})
    assert found[0] == found[1]


def test_deadlock_text_is_independent_of_the_number_of_ranks(command: Command) -> None:
    """The text names threads, queues, links and events of boards of both ranks."""
    words = ("run", ALL, "--engine", "rtl", "--cluster", "pair", "-D", "TARGETS=2", "-D", "STEP=31", "-D", "ROUNDS=99")
    words = (*words, "--cut", "a:north@3000", "--cut", "b:west@3000")
    one, many = command(*words), command(*words, "--ranks", "2")
    assert (one.returncode, one.stdout, one.stderr) == (many.returncode, many.stdout, many.stderr)
    assert many.returncode == 4 and "link_down" in many.stderr and "deadlock" in many.stderr


@pytest.mark.parametrize(
    "words,said",
    [
        (["--cluster", "pair", "--ranks", "3"], "cluster pair has 2 boards, and each rank simulates at least one"),
        (["--cluster", "pair", "--ranks", "2", "--trace", "t.pftrace"], "--trace: not with --ranks"),
        (["--cluster", "pair", "--ranks", "2", "--workers", "2"], "--workers: not with --ranks"),
        (["--cluster", "pair", "--ranks", "0"], "no whole number from 1 up"),
        (["--config", "tiny", "--ranks", "2"], "--ranks: needs a cluster"),
    ],
)
def test_invalid_options_are_reported_in_one_line(
    command: Command, tmp_path: Path, words: list[str], said: str
) -> None:
    done = command("run", ROOT / "programs" / "hello.c", "--engine", "rtl", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "environment,said",
    [
        ({"GOSSAMER_MPIEXEC": "mpiexec"}, "needs both GOSSAMER_MPIEXEC"),
        ({"GOSSAMER_MPIEXEC": 'mpiexec "', "GOSSAMER_MPICXX": "c++"}, "GOSSAMER_MPIEXEC: No closing quotation"),
        ({"GOSSAMER_MPIEXEC": "no-such-start", "GOSSAMER_MPICXX": "c++"}, "command no-such-start not found"),
        ({"GOSSAMER_MPIEXEC": "true", "GOSSAMER_MPICXX": "false"}, "building for MPI failed"),
    ],
)
def test_invalid_mpi_commands_are_reported_in_one_line(
    command: Command, environment: dict[str, str], said: str
) -> None:
    words = ("run", ROOT / "programs" / "hello.c", "--engine", "rtl", "--cluster", "pair", "--ranks", "2")
    done = command(*words, env=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_tmpdir_too_long_for_a_socket_is_reported(command: Command, tmp_path: Path) -> None:
    deep = tmp_path / ("deep" * 25)
    deep.mkdir()
    words = ("run", ROOT / "programs" / "hello.c", "--engine", "rtl", "--cluster", "pair", "--ranks", "2")
    done = command(*words, env={"TMPDIR": str(deep)})
    assert (done.returncode, done.stdout) == (2, "")
    assert "TMPDIR" in done.stderr and done.stderr.count("\n") == 1


def test_mpi_commands_of_the_environment_are_used(command: Command) -> None:
    """The MPI of the environment, named as at a site with its own MPI."""
    prefix = Path(sys.executable).parent
    own = {"GOSSAMER_MPIEXEC": f"{prefix}/mpiexec", "GOSSAMER_MPICXX": f"{prefix}/mpicxx -Wl,-rpath,{prefix}/../lib"}
    words = ("run", ROOT / "programs" / "hello.c", "--engine", "rtl", "--cluster", "pair", "--threads", "2")
    done = command(*words, "--ranks", "2", env=own)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.count("hello from") == 2


def ranks_of(parent: int) -> list[int]:
    """Simulators below a process."""
    found, below = [], [parent]
    while below:
        known = subprocess.run(
            ["ps", "-o", "pid=,comm=", "--ppid", ",".join(map(str, below))], capture_output=True, text=True, check=False
        )
        children = [line.split(maxsplit=1) for line in known.stdout.splitlines()]
        found += [int(pid) for pid, name in children if name.startswith("simulator")]
        below = [int(pid) for pid, _ in children]
    return found


def gone(pids: list[int]) -> bool:
    """Whether processes end within some seconds."""
    import time

    for _ in range(100):
        if not any(Path(f"/proc/{pid}/stat").exists() for pid in pids):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("who", ["us", "a rank"])
def test_interrupted_run_leaves_no_rank(tmp_path: Path, who: str) -> None:
    import time

    source = tmp_path / "spin.c"
    source.write_text('int main(void) { for (;;) __asm__ volatile(""); }\n', encoding="utf-8")
    words = ["run", str(source), "--engine", "rtl", "--cluster", "pair", "--ranks", "2"]
    with subprocess.Popen(
        [sys.executable, str(ROOT / "gossamer"), *words], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as child:
        for _ in range(600):
            time.sleep(0.1)
            if len(pids := ranks_of(child.pid)) == 2:
                break
        assert len(pids) == 2
        time.sleep(2)
        os.kill(pids[1] if who == "a rank" else child.pid, signal.SIGKILL if who == "a rank" else signal.SIGINT)
        _, said = child.communicate(timeout=60)
    if who == "us":
        assert (child.returncode, said) == (130, "gossamer: interrupted\n")
    else:
        assert child.returncode == 4 and said.startswith("gossamer: error: the simulator ended"), said
        assert said.count("\n") == 1
    assert gone(pids)
