# SPDX-License-Identifier: Apache-2.0
"""The suite ``project``: time to the first result of a fresh clone, and time of the test tiers.

Each row works in clones of this checkout's last commit, in a temporary folder, with HOME and the build cache in that
folder. Downloads count. docs/benchmarks.md says what each row is.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer.bench import Context, Reference, Row
from gossamer.errors import InputError
from gossamer.hdl import mutate
from gossamer.paths import ROOT

BLOCKS = ("mailbox", "switch")
BOUNDS = {
    "first-run.pagerank-s": (45.0, "s", 68.0),
    "first-run.rtl-tiny-cpu-s": (90.0, "s", 226.0),
    "test.quick-s": (180.0, "s", None),
    "test.default-min": (20.0, "min", 45.0),
    "test.default-cpu-min": (40.0, "min", 133.0),
    "test.second-clone-min": (12.0, "min", 45.0),
    "build.simulators": (6.0, "simulators", 15.0),
}
"""By row: the upper bound, its unit, and the value before the work on it."""
SIMULATORS = "build.simulators"
NAMES = (*BOUNDS, "mutation.default-over-all")
MUTANTS = 20


@dataclass(frozen=True)
class _Used:
    wall: float
    """Seconds."""
    processor: float
    """Seconds of user and system time, of all processes."""


class _Clone:
    """A clone in a folder, run with HOME and the build cache of another one."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.home = folder, home
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)

    def run(self, *arguments: str) -> _Used:
        """Runs ./gossamer; InputError with the end of its output if it fails."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("GOSSAMER_", "XDG_"))}
        environment["HOME"] = str(self.home)
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(
            [sys.executable, "gossamer", *arguments],
            cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise InputError(f"./gossamer {' '.join(arguments)} in a fresh clone failed: {done.stdout[-1000:]}")
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return _Used(time.monotonic() - begun, processor)


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for, each as it is measured."""
    with tempfile.TemporaryDirectory(prefix="gossamer-project-") as name:
        place = Path(name)
        yield from _first_runs(context, place)
        yield from _tests(context, place)
    if context.wants("mutation.default-over-all"):
        yield from _mutation(context)


def _row(context: Context, name: str, value: float, **config: Any) -> Row:
    most, unit, before = BOUNDS[name]
    reference: Reference = {"what": "upper bound", "value": most, "unit": unit}
    config |= {} if before is None else {"before": before}
    cores = len(os.sched_getaffinity(0))
    return context.row(
        name,
        round(value, 2),
        unit,
        reference=reference,
        ratio=most / value,
        most=most,
        processors=cores,
        **config,
    )


def _first_runs(context: Context, place: Path) -> Iterator[Row]:
    if context.wants("first-run.pagerank-s"):
        used = _Clone(place / "pagerank", place / "home-pagerank").run("run", "pagerank")
        yield _row(context, "first-run.pagerank-s", used.wall, processor_seconds=round(used.processor, 1))
    if context.wants("first-run.rtl-tiny-cpu-s"):
        clone = _Clone(place / "tiny", place / "home-tiny")
        used = clone.run("run", "programs/hello.c", "--engine", "rtl", "--config", "tiny")
        yield _row(context, "first-run.rtl-tiny-cpu-s", used.processor, wall_seconds=round(used.wall, 1))


def _tests(context: Context, place: Path) -> Iterator[Row]:
    of_tests = [name for name in BOUNDS if name.startswith("test.") or name == SIMULATORS]
    if not any(map(context.wants, of_tests)):
        return
    if not context.full:
        for name in of_tests:
            if context.wants(name):
                yield context.skip(name, "runs the tests in fresh clones; ask for it with --full")
        return
    home = place / "home-test"
    if any(map(context.wants, ("test.default-min", "test.default-cpu-min", SIMULATORS))):
        used = _Clone(place / "first", home).run("test")
        for name, value in (("test.default-min", used.wall), ("test.default-cpu-min", used.processor)):
            if context.wants(name):
                yield _row(context, name, value / 60)
        if context.wants(SIMULATORS):
            found = _simulators(place / "first")
            yield _row(context, SIMULATORS, float(len(found)), simulators=found)
    if context.wants("test.second-clone-min"):
        if not (place / "first").exists():
            _Clone(place / "first", home).run("test")
        used = _Clone(place / "second", home).run("test")
        yield _row(context, "test.second-clone-min", used.wall / 60, processor_minutes=round(used.processor / 60, 1))
    if context.wants("test.quick-s"):
        clone = _Clone(place / "quick", place / "home-quick")
        clone.run("setup", "core", "test", "rtl", "mpi", "golden", "synth", "smi")
        yield _row(context, "test.quick-s", clone.run("test", "--quick").wall)
    shutil.rmtree(place / "first", ignore_errors=True)


def _simulators(clone: Path) -> list[str]:
    """The simulators of boards and tiles that a clone has built: tops of `sim/`, each with its configuration's key."""
    return sorted(path.parent.name for path in clone.glob("build/*/hdl/model/gs_sim_*/complete"))


def _mutation(context: Context) -> Iterator[Row]:
    """Of the mutants that the tests of all tiers detect, the share that those of the default tier detect."""
    name = "mutation.default-over-all"
    if not context.full:
        yield context.skip(name, "takes an hour or more; ask for it with --full")
        return
    # A mutant that the default tier passes runs the tests of --all, which include those of the default tier.
    reports = [mutate.run(mutate.block(block), MUTANTS, seed=1, tell=_tell) for block in BLOCKS]
    caught = [verdict.size for report in reports for verdict in report.judged if verdict.caught]
    share = caught.count("default") / len(caught) if caught else 0.0
    bound: Reference = {"what": "lower bound", "value": 0.85, "unit": "share"}
    yield context.row(
        name, share, "share", reference=bound, ratio=share / 0.85, least=0.85, blocks=BLOCKS, mutants=MUTANTS, seed=1
    )


def _tell(line: str) -> None:
    """Progress: the rows alone are on stdout."""
    if sys.stderr.isatty():
        print(line[:120], file=sys.stderr, flush=True)


__all__ = ["NAMES", "rows"]
