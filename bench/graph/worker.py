# SPDX-License-Identifier: Apache-2.0
"""Measures the rows of one graph, in a process of its own.

The peers are imported here alone, and the environment of this process is set for all parties
alike. What to do arrives as JSON on standard input; what came of it leaves as JSON, a line each.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import statistics
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # Started as a file by an isolated Python: the suite's folder is not on its path.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    importlib.import_module(f"{Path(__file__).resolve().parent.name}.worker").main()
    sys.exit()

from gossamer.errors import GossamerError

from . import _jobs
from ._gapbs import Gapbs
from ._graphs import Case, case
from ._jobs import Columns, Job
from ._plan import MANY, Beside, scaling_name

# After a parallel region the threads of OpenMP wait in a loop for the next: long enough for this to end.
_QUIET_SECONDS = 0.02
# Applications by the measure that they stand for, where the names differ.
_MEASURES = {"asp": "asp64"}
_PACKAGES = {"scipy": "scipy", "graphblas": "graphblas", "networkit": "networkit"}


class _Report:
    """Says what happens, to who started us."""

    def __init__(self) -> None:
        # Nothing that a library prints may get between our lines.
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def __call__(self, kind: str, **content: Any) -> None:
        try:
            print(json.dumps({"kind": kind, **content}), file=self._out, flush=True)
        except BrokenPipeError:
            # Who started us has gone, so nobody is left to measure for.
            os._exit(1)


def main() -> None:
    """Does what standard input asks for."""
    # Told to end, it ends what it started, as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    task = json.load(sys.stdin)
    report = _Report()
    try:
        _work(task, report)
    except KeyboardInterrupt:
        os._exit(130)
    except GossamerError as error:
        report("error", type=type(error).__name__, message=str(error))


def _work(task: Mapping[str, Any], report: _Report) -> None:
    data = Path(task["data"]) if task["data"] else None
    rows = [Beside(**row) for row in task["rows"]]
    peers = {row.peer for row in rows} & set(_PACKAGES)
    missing = {peer: why for peer in peers if (why := _missing(peer))}
    for row in rows:
        if row.peer in missing:
            report("skip", name=row.name, why=missing[row.peer])
    rows = [row for row in rows if row.peer not in missing]
    if not (rows or task["scaling"] or task["work"]):
        return
    report("begin", total=1, what=f"making {task['graph']}")
    it = case(task["graph"], task["scale"], data)
    for measure in dict.fromkeys(row.measure for row in rows):
        _measure(measure, it, [r for r in rows if r.measure == measure], task, Path(task["scratch"]), report)
    for app in task["scaling"]:
        _scale(app, it, int(task["repeat"]), report)
    for app in task["work"]:
        report("begin", total=2, what=f"{app}.{it.name}: counting")
        looks = {}
        for threads in (1, MANY):
            looks[str(threads)] = _jobs.ours(_MEASURES.get(app, app), it).looks(threads)
            report("tick")
        report("work", app=app, graph=it.name, looks=looks)


def _scale(app: str, it: Case, repeat: int, report: _Report) -> None:
    """One application at one thread and at two, in turn."""
    parties: dict[str, Job] = {name: _jobs.ours(_MEASURES.get(app, app), it) for name in ("1", "2")}
    used = {name: job.use(int(name)) for name, job in parties.items()}
    report("begin", total=(repeat + 1) * len(parties), what=scaling_name(app, it.name))
    for name, job in parties.items():  # warms up
        job.use(used[name])
        job.measure()
        report("tick")
    times = _session(parties, used, repeat, report)
    report("scaling", name=scaling_name(app, it.name), times=times, config=it.about)


def _missing(peer: str) -> str | None:
    try:
        importlib.import_module(_PACKAGES[peer])
    except ImportError as error:
        return f"{peer} cannot be imported: {error}; ./gossamer setup peers installs it"
    return None


def _job(row: Beside, it: Case, task: Mapping[str, Any], scratch: Path) -> Job:
    if row.peer == "gapbs":
        return Gapbs(row.measure, it, Path(task["gapbs"]), scratch)
    from ._peers import JOBS

    job = JOBS[row.measure, row.peer](it)
    assert isinstance(job, Job)
    return job


def _measure(
    measure: str, it: Case, rows: list[Beside], task: Mapping[str, Any], scratch: Path, report: _Report
) -> None:
    """One measure on one graph: all parties in one session, at each number of threads."""
    report("begin", total=1, what=f"{measure}.{it.name}: loading")
    parties: dict[str, Job] = {"ours": _jobs.ours(measure, it)}
    if measure == "pagerank" and any(row.peer == "networkit" for row in rows):
        parties["double"] = _jobs.ours(measure, it, double=True)
    for row in rows:
        if row.peer not in parties:
            parties[row.peer] = _job(row, it, task, scratch)
    for threads in dict.fromkeys(row.threads for row in rows):
        now = [row for row in rows if row.threads == threads]
        wanted = {row.peer for row in now}
        session = {name: job for name, job in parties.items() if name in {"ours", "double"} or name in wanted}
        repeat = int(task["repeat"])
        where = f"{measure}.{it.name}.t{threads}"
        report("begin", total=(repeat + 1) * len(session), what=where)
        used = {name: job.use(threads) for name, job in session.items()}
        same = _compared(where, session, used, report)
        times = _session(session, used, repeat, report)
        middle = {name: statistics.median(seconds) for name, seconds in times.items()}
        for row in now:
            # Who computes in double precision stands beside our double.
            double = "double" in middle and parties[row.peer].config.get("peer_precision") == "float64"
            mine = "double" if double else "ours"
            config: dict[str, Any] = {
                **it.about,
                "threads": threads,
                "repeat": repeat,
                **parties[mine].config,
                "seconds_of_runs": [round(seconds, 6) for seconds in times[mine]],
                "peer": row.peer,
                "peer_threads": used[row.peer],
                **parties[row.peer].config,
                "peer_seconds_of_runs": [round(seconds, 6) for seconds in times[row.peer]],
                "answers": same[row.peer],
                "malloc": os.environ.get("GLIBC_TUNABLES", ""),
            }
            if measure == "pagerank":
                config["precision"] = "float64" if double else "float32"
            if double:
                config["float32_seconds"] = middle["ours"]
                config["float32_ratio"] = middle[row.peer] / middle["ours"]
            report("row", name=row.name, value=middle[mine], peer_value=middle[row.peer], config=config)


def _compared(where: str, session: Mapping[str, Job], used: Mapping[str, int], report: _Report) -> dict[str, str]:
    """Runs everyone once, which warms up, and holds the answers against ours."""
    mine: Columns = {}
    same = {}
    for name, job in session.items():
        job.use(used[name])
        _, answer = job.checked() if isinstance(job, Gapbs) else job.measure()
        if name == "ours":
            mine = answer
        else:
            same[name] = job.compare(f"{where}, beside {name}", mine, answer)
        report("tick")
    return same


def _session(
    session: Mapping[str, Job], used: Mapping[str, int], repeat: int, report: _Report
) -> dict[str, list[float]]:
    """Times everyone in turn, again and again; every other round the other way round."""
    times: dict[str, list[float]] = {name: [] for name in session}
    for turn in range(repeat):
        for name in list(session)[:: -1 if turn % 2 else 1]:
            gc.collect()
            session[name].use(used[name])
            time.sleep(_QUIET_SECONDS)
            gc.disable()
            try:
                seconds, _ = session[name].measure()
            finally:
                gc.enable()
            times[name].append(seconds)
            report("tick")
    return times


__all__ = ["main"]
