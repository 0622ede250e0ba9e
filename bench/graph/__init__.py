# SPDX-License-Identifier: Apache-2.0
"""The suite ``graph``: applications on this machine's threads, compared with other graph libraries.

docs/benchmarks.md says what each row is and how it is measured.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gossamer_setup
from gossamer import progress
from gossamer.bench import Context, Row
from gossamer.errors import AnswerNo, ExitCode, GossamerError, InputError, RunDied

from . import _commands, _scaling
from ._loading import loading
from ._plan import COMPILE, FIRST, FROM_REGISTRY, GRAPHS, PEAK, START, TESTS, Beside, beside, bound, names

REPEAT = 5
SCALE = "GOSSAMER_BENCH_SCALE"
"""A number below 1 shrinks the made graphs: to test the suite, not to measure."""
_WORKER = Path(__file__).with_name("worker.py")
# The kernel then backs large blocks of everyone's memory with huge pages, ours and the peers' alike.
_MALLOC = "glibc.malloc.hugetlb=1"
_GRACE_SECONDS = 10.0
_ERRORS: dict[str, type[GossamerError]] = {
    error.__name__: error for error in (AnswerNo, GossamerError, InputError, RunDied)
}


def expand(context: Context) -> list[str]:
    """The names of all rows."""
    return names()


def rows(context: Context) -> Iterator[Row]:
    """Measures what is wanted: graph by graph, then what concerns the command."""
    scale = _scale()
    wanted = [row for row in beside() if context.wants(row.name)]
    unusable = _unusable(context, {row.peer for row in wanted})
    looks: _scaling.Looks = {}
    for graph in GRAPHS:
        possible = []
        for row in (row for row in wanted if row.graph == graph):
            why = unusable.get(row.peer)
            if graph == "email-Enron" and context.data_file(_commands.ENRON) is None:
                given = context.data
                where = f"it is not in {given}" if given else "name its folder with --data"
                why = f"{_commands.ENRON} cannot be shipped; {where}"
            if why is None:
                possible.append(row)
            else:
                yield context.skip(row.name, why, "s", **_bound(row.name))
        alone = _scaling.wanted(context, graph)
        if possible or any(alone.values()):
            yield from _measured(context, graph, possible, scale, alone, looks)
    yield from _scaling.work(context, looks, scale)
    yield from loading(context, scale)
    if context.wants(PEAK):
        yield _commands.peak(context, scale)
    if context.wants(START):
        yield _commands.start(context)
    if context.wants(COMPILE):
        yield _commands.compiling(context)
    if context.wants(FIRST):
        yield _commands.first_run(context)
    if context.wants(TESTS):
        yield _commands.tests(context)


def _scale() -> float:
    text = os.environ.get(SCALE, "1")
    try:
        scale = float(text)
    except ValueError:
        scale = 0.0
    if not 0 < scale <= 1:
        raise InputError(f"{SCALE}={text}: it must be a number above 0 and at most 1; unset it to measure")
    return scale


def _bound(name: str) -> dict[str, Any]:
    least = bound(name)
    return {} if least is None else {"bound": least}


def _unusable(context: Context, peers: set[str]) -> dict[str, str]:
    """Peers that cannot be had, and why."""
    reasons = {}
    if "gapbs" in peers and "gapbs" not in context.peers:
        reasons["gapbs"] = "no package has it; name its folder with --peer gapbs=DIR"
    lacking = [peer for peer in FROM_REGISTRY if peer in peers and importlib.util.find_spec(peer) is None]
    if lacking:
        try:
            gossamer_setup.require("core", "peers")
        except gossamer_setup.SetupError as error:
            reasons |= dict.fromkeys(lacking, f"not installed: {error}")
    return reasons


def _measured(
    context: Context,
    graph: str,
    wanted: list[Beside],
    scale: float,
    alone: dict[str, list[str]],
    looks: _scaling.Looks,
) -> Iterator[Row]:
    """Rows of one graph, from a worker. Its files are ours to remove: it may be killed."""
    with tempfile.TemporaryDirectory(prefix="gossamer-bench-") as scratch:
        task = {
            "graph": graph,
            "rows": [dataclasses.asdict(row) for row in wanted],
            **alone,
            "scale": scale,
            "scratch": scratch,
            "repeat": context.repeat or REPEAT,
            "data": str(context.data) if context.data else None,
            "gapbs": str(context.peers["gapbs"]) if "gapbs" in context.peers else None,
        }
        yield from _worked(context, task, looks)


def _worked(context: Context, task: dict[str, Any], looks: _scaling.Looks) -> Iterator[Row]:
    environment = dict(os.environ, GLIBC_TUNABLES=_MALLOC, OMP_NUM_THREADS="1")
    worker = subprocess.Popen(
        [sys.executable, "-I", str(_WORKER)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert worker.stdin is not None and worker.stdout is not None
    try:
        with contextlib.suppress(BrokenPipeError):
            worker.stdin.write(json.dumps(task))
            worker.stdin.close()
        yield from _reports(context, worker.stdout, task["scale"], looks)
        code = worker.wait()
        if code == ExitCode.INTERRUPTED:
            raise KeyboardInterrupt
        if code:
            raise RunDied(f"the measuring of {task['graph']} ended with {code}; what it said stands above")
    finally:
        # Also after Ctrl-C: the worker heard it too, but it may be deep inside a peer's library.
        worker.stdout.close()
        if worker.poll() is None:
            worker.terminate()
            try:
                worker.wait(_GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()


def _reports(context: Context, lines: Iterator[str], scale: float, looks: _scaling.Looks) -> Iterator[Row]:
    """Turns what the worker says into rows, and into a bar between them."""
    with contextlib.ExitStack() as stack:
        bar: progress.Bar | None = None
        for line in lines:
            told = json.loads(line)
            kind = told["kind"]
            if kind == "tick":
                if bar is not None:
                    bar.update(1)
                continue
            # A row is printed over a bar only when the bar has gone.
            stack.close()
            bar = None
            if kind == "begin":
                bar = stack.enter_context(progress.bar(told["total"], told["what"]))
            elif kind == "skip":
                yield context.skip(told["name"], told["why"], "s", **_bound(told["name"]))
            elif kind == "error":
                raise _ERRORS.get(told["type"], RunDied)(told["message"])
            elif kind == "scaling":
                yield _scaling.row(context, told, scale)
            elif kind == "work":
                looks.setdefault(told["app"], {})[told["graph"]] = told["looks"]
            else:
                yield _row(context, told, scale)


def _row(context: Context, told: dict[str, Any], scale: float) -> Row:
    name, ours, theirs = told["name"], told["value"], told["peer_value"]
    config = {**told["config"], **_bound(name)}
    if scale != 1:
        config["scale"] = scale
    peer = config["peer"]
    count = config["peer_threads"]
    what = f"{peer}, {count} thread{'s' if count > 1 else ''}"
    return context.row(
        name,
        ours,
        "s",
        reference={"what": what, "value": theirs, "unit": "s"},
        ratio=theirs / ours,
        # A shrunken graph tests the suite and measures nothing.
        least_ratio=bound(name) if scale == 1 else None,
        **config,
    )


__all__ = ["COMPILE", "FIRST", "PEAK", "START", "TESTS", "expand", "rows"]
