# SPDX-License-Identifier: Apache-2.0
"""Jobs of the engine distributed, for its tests."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "distributed"


def launcher() -> str:
    return str(Path(sys.executable).parent / "mpiexec")


def run_comparison(
    ranks: int, seed: int, count: int, *names: str | Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs tests/fixtures/distributed/compare.py on ranks, with more variables in the environment."""
    command = [launcher(), "-n", str(ranks), sys.executable, "-I", str(FIXTURES / "compare.py")]
    return subprocess.run(
        [*command, str(seed % 2**31), str(count), *map(str, names)],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=3000,  # the ranks compile applications that have not been compiled yet
        check=False,
    )


def compare(ranks: int, seed: int, count: int, *names: str | Path, environment: dict[str, str] | None = None) -> None:
    """Compares results of all named applications with those of cpu, on random graphs and ranges."""
    done = run_comparison(ranks, seed, count, *names, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("compared "), done.stdout + done.stderr
    # Some random graphs are rejected by some applications.
    applications = [name for name in names if not str(name).startswith("--")]
    compared, moved = (int(done.stdout.split()[at]) for at in (1, -4))
    assert compared >= len(applications) * count / 3, done.stderr
    # Two thirds of the partitions are no ranges.
    assert moved >= compared / 3 or compared < 12, done.stdout


def job_processes(folder: Path) -> list[int]:
    """The processes of the ranks of a job whose temporary files are in a folder."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes()
            variables = (process / "environ").read_bytes()
        except OSError:
            continue
        ours = f"GOSSAMER_JOB={folder}".encode() in variables and b"\0-m\0gossamer\0run\0" in words
        if ours and b"mpiexec" not in words and b"hydra" not in words:
            found.append(int(process.name))
    return found


def wait_for_ranks(folder: Path, ranks: int) -> None:
    """Waits until all ranks of the job whose temporary files are in a folder have joined it."""
    deadline = time.monotonic() + 120
    while len(list(folder.glob("gossamer-job-*/process.*"))) < ranks:
        assert time.monotonic() < deadline
        time.sleep(0.02)
