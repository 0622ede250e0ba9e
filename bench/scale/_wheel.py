# SPDX-License-Identifier: Apache-2.0
"""The wheel: its size, and the time from ``pip install`` to the first result in an empty environment."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gossamer import apps, prebuilt, wheel
from gossamer.apps import runner
from gossamer.bench import Context, Row
from gossamer.errors import RunDied
from gossamer.graph import read_graph
from gossamer.paths import DATA

FIRST, SIZE = "wheel.first-result-s", "wheel.size-mb"
NAMES = (FIRST, SIZE)

_GRAPH = DATA / "debian12.adj.gz"
_MOST_SECONDS = 15
_MOST_MEGABYTES = 40
_REPEAT = 3
_PATIENCE = 600


def rows(context: Context) -> Iterator[Row]:
    """The rows asked for."""
    if not any(context.wants(name) for name in NAMES):
        return
    with tempfile.TemporaryDirectory(prefix="gossamer-wheel-") as folder:
        # Applications that are not compiled yet take minutes.
        made, _ = wheel.build(Path(folder) / "dist", list(prebuilt.LEVELS), apps.names())
        size = made.stat().st_size / 1e6
        if context.wants(SIZE):
            yield context.row(SIZE, size, "MB", wheel=made.name, levels=len(prebuilt.LEVELS), most=_MOST_MEGABYTES)
        if context.wants(FIRST):
            found = [_first_result(made, Path(folder) / f"env-{at}") for at in range(context.repeat or _REPEAT)]
            installed, seconds = (statistics.median(pair[at] for pair in found) for at in (0, 1))
            yield context.row(
                FIRST, seconds, "s", wheel=made.name, megabytes=size, install_s=installed, most=_MOST_SECONDS
            )


def _first_result(made: Path, folder: Path) -> tuple[float, float]:
    """Seconds of pip alone, and until pagerank has written its result; only the environment is on the path."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=_PATIENCE)
    output = folder / "ranks.npz"
    environment = {**os.environ, "PATH": str(folder / "bin")}
    environment.pop("CXX", None)
    begun = time.perf_counter()
    pip = [str(folder / "bin" / "pip"), "install", "-q", "--disable-pip-version-check", str(made)]
    _run(pip, environment, "pip install")
    installed = time.perf_counter() - begun
    command = [str(folder / "bin" / "gossamer"), "run", "pagerank", str(_GRAPH), "--output", str(output)]
    _run(command, environment, "gossamer run")
    seconds = time.perf_counter() - begun
    ours = runner.run("pagerank", read_graph(str(_GRAPH))).values
    with np.load(output) as theirs:
        if not np.allclose(theirs["rank"], ours, rtol=apps.load("pagerank").tolerance, atol=0):
            raise RunDied(f"{FIRST}: the installed package has another result than the checkout")
    return installed, seconds


def _run(command: list[str], environment: dict[str, str], what: str) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_PATIENCE)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise RunDied(f"{FIRST}: {what} failed: {last}")
