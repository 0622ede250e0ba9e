# SPDX-License-Identifier: Apache-2.0
"""What a user waits for at the command itself, and the memory it takes."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gossamer import native, progress
from gossamer.bench import Context, Reference, Row
from gossamer.bench.memory import peak_bytes, tree
from gossamer.errors import RunDied
from gossamer.paths import APPS, ROOT

from ._plan import COMPILE, FIRST, PEAK, START, TESTS

ENRON = "email-Enron.mtx.gz"
_POLL_SECONDS = 0.005
_MOST_MB, _GAPBS_MB = 260.0, 160.0
_MOST_START, _MOST_COMPILE = 0.6, 4.0
_MOST_TESTS = 20.0
# Quick, so that one more call costs little: a bench must end.
_STARTS, _COMPILES, _PEAKS = 7, 3, 3


def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="gossamer-bench-")


def _command(*arguments: str | Path, root: Path = ROOT) -> list[str]:
    return [str(root / "gossamer"), *map(str, arguments)]


def _run(command: Sequence[str], **options: Any) -> tuple[float, subprocess.CompletedProcess[str]]:
    """Seconds that a command took, and what it said; RunDied if it failed."""
    begun = time.perf_counter()
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        **options,
    )
    seconds = time.perf_counter() - begun
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()
        why = last[-1] if last else "it said nothing"
        raise RunDied(f"{' '.join(command)}: ended with {done.returncode}: {why}")
    return seconds, done


def _bounded(context: Context, name: str, value: float, unit: str, bound: float, **config: Any) -> Row:
    reference: Reference = {"what": "bound", "value": bound, "unit": unit}
    return context.row(name, value, unit, reference=reference, ratio=bound / value, **config)


# Memory ---------------------------------------------------------------------------------------


def peak(context: Context, scale: float) -> Row:
    """The most memory of the whole process tree, at 20 million edges from the binary form."""
    vertices = max(1000, round(200_000 * scale))
    spec = f"gen:geo:vertices={vertices},fanout=100,radius={min(1.0, 0.02 / scale**0.5):g},order=random"
    with _folder() as folder, progress.bar(_PEAKS + 2, PEAK) as bar:
        file = Path(folder) / "graph.gsg"
        # In a process of its own: what the kernel tells of a child's memory starts with its parent's.
        make = "import sys, gossamer; graph = gossamer.read_graph(sys.argv[1]); graph.into; "
        make += "gossamer.write_graph(graph, sys.argv[2])"
        _run([sys.executable, "-I", "-c", make, spec, str(file)])
        bar.update(1)
        command = _command("run", "pagerank", file, "--iterations", "20", "--threads", "2")
        _run(command)
        bar.update(1)
        figures = []
        for _ in range(_PEAKS):
            figures.append(_tree_peak(command))
            bar.update(1)
    value = statistics.median(figures)
    return _bounded(
        context,
        PEAK,
        value,
        "MB",
        _MOST_MB,
        graph=spec,
        edges=100 * vertices,
        threads=2,
        of_runs=figures,
        gapbs_mb=_GAPBS_MB,
        measured="sum of VmHWM (peak resident set, mapped file included) over all processes of the tree",
    )


def _tree_peak(command: Sequence[str]) -> float:
    """Runs a command; the sum of the peaks of all processes it had, in MB (10**6 bytes)."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peaks: dict[int, int] = {}
    try:
        while True:
            for pid in tree(child.pid):
                # The last look, which is the greatest: but for the time before a new process became
                # another program, when the kernel tells its parent's figure for it.
                peaks[pid] = peak_bytes(str(pid)) or peaks.get(pid, 0)
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(_POLL_SECONDS)
    except BaseException:
        child.kill()
        child.wait()
        raise
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RunDied(f"{' '.join(command)}: ended with {child.returncode}")
    # The kernel's own figure covers what grew after the last look; it is of use only where it does
    # not come from ourselves, from before the child became another program.
    whole = usage.ru_maxrss * 1024
    if whole > peak_bytes("self"):
        peaks[child.pid] = max(peaks[child.pid], whole)
    return sum(peaks.values()) / 1e6


# Waiting --------------------------------------------------------------------------------------


def start(context: Context) -> Row:
    """From the command to the printed result, with everything compiled and the file in the page cache."""
    file = context.data_file(ENRON)
    if file is None:
        return context.skip(START, f"{ENRON} is not in the folder of --data", "s", bound=_MOST_START)
    command = _command("run", "pagerank", file)
    repeat = max(_STARTS, context.repeat or 0)
    with progress.bar(repeat + 1, START) as bar:
        _run(command)
        bar.update(1)
        seconds = []
        for _ in range(repeat):
            seconds.append(_run(command)[0])
            bar.update(1)
    value = statistics.median(seconds)
    return _bounded(context, START, value, "s", _MOST_START, repeat=repeat, of_runs=seconds)


def compiling(context: Context) -> Row:
    """The first use of a vertex header of the user's own, less the same run when it is compiled."""
    repeat = max(_COMPILES, context.repeat or 0)
    graph = "gen:ring:vertices=1000"
    differences = []
    text = (APPS / "pagerank" / "pagerank.h").read_text(encoding="utf-8")
    with _folder() as folder, progress.bar(repeat + 1, COMPILE) as bar:
        # The library and the headers' precompiled form are there from any earlier run.
        _run(_command("run", "pagerank", graph))
        bar.update(1)
        for turn in range(repeat):
            header = Path(folder) / f"bench-{os.getpid()}-{turn}.h"
            changed = text.replace("damping = 0.85", f"damping = 0.8{turn % 10}1")
            if changed == text:
                raise RunDied(f"{COMPILE}: pagerank.h has no damping to change; the bench no longer fits it")
            header.write_text(changed, encoding="utf-8")
            command = _command("run", header, graph)
            try:
                first, _ = _run(command)
                warm = statistics.median(_run(command)[0] for _ in range(3))
            finally:
                for made in (native.build_dir() / "apps").glob(f"{header.stem}-*"):
                    shutil.rmtree(made, ignore_errors=True)
            differences.append(first - warm)
            bar.update(1)
    value = statistics.median(differences)
    config: dict[str, Any] = {"repeat": repeat, "of_runs": differences, "header": "pagerank.h, changed"}
    return _bounded(context, COMPILE, value, "s", _MOST_COMPILE, **config)


def _cloned(folder: str) -> tuple[Path, str, float]:
    """A fresh clone of this checkout, its commit, and the seconds that took. RunDied where none can be made."""
    git = shutil.which("git")
    if git is None:
        raise RunDied("there is no git to make a fresh clone with")
    head = subprocess.run([git, "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if head.returncode or not (ROOT / ".git").exists():
        raise RunDied("this is no clone with a commit, so there is nothing to clone afresh")
    clone = Path(folder) / "clone"
    seconds, _ = _run([git, "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)])
    return clone, head.stdout.strip(), seconds


def tests(context: Context) -> Row:
    """``./gossamer test`` in a fresh clone, with all that is built for it; tools are there already."""
    if not context.full:
        return context.skip(TESTS, "runs all tests: with --full", "min", bound=_MOST_TESTS)
    with _folder() as folder, progress.bar(2, TESTS) as bar:
        try:
            clone, commit, _ = _cloned(folder)
        except RunDied as error:
            return context.skip(TESTS, str(error), "min", bound=_MOST_TESTS)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GOSSAMER_TEST")}
        _run(_command("setup", "all", root=clone), env=environment)
        bar.update(1)
        seconds, done = _run(_command("test", root=clone), env=environment)
        bar.update(1)
    last = done.stdout.strip().splitlines()[-1:]
    return _bounded(
        context,
        TESTS,
        seconds / 60,
        "min",
        _MOST_TESTS,
        least_ratio=1.0,
        commit=commit,
        processors=len(os.sched_getaffinity(0)),
        said=last[0] if last else "",
    )


def first_run(context: Context) -> Row:
    """From a fresh clone to the first result, with all that has to be downloaded and built for it."""
    with _folder() as folder, progress.bar(2, FIRST) as bar:
        try:
            clone, commit, cloning = _cloned(folder)
        except RunDied as error:
            return context.skip(FIRST, str(error), "s")
        bar.update(1)
        try:
            running, done = _run(_command("run", "pagerank", root=clone), env=_fresh(os.environ))
        except RunDied as error:
            return context.skip(FIRST, f"the first run did not succeed: {error}", "s")
    downloaded = [float(number) for number in re.findall(r"([\d.]+) MB downloaded", done.stderr)]
    config: dict[str, Any] = {"commit": commit, "clone_seconds": cloning, "run_seconds": running}
    config["download_mb"] = sum(downloaded) if downloaded else None
    return context.row(FIRST, cloning + running, "s", **config)


def _fresh(environment: Mapping[str, str]) -> dict[str, str]:
    """Without what this process's own Python left, and without what pip kept from earlier downloads."""
    foreign = ("PYTHON", "VIRTUAL_ENV")
    kept = {name: value for name, value in environment.items() if not name.startswith(foreign)}
    return {**kept, "PIP_NO_CACHE_DIR": "1"}


__all__ = ["compiling", "first_run", "peak", "start", "tests"]
