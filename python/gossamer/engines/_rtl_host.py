# SPDX-License-Identifier: Apache-2.0
"""Runs a host program together with a simulator: passes settings, polls its progress, reads its report.

The program communicates with the simulator directly (``host/src/simulator.cc``); no message passes through this module.
The program reads how to connect from a settings file; it writes its progress to a status file, and its outcome to a
report file.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import struct
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gossamer import processes
from gossamer.engines._machine import Event
from gossamer.engines._rtl_diagnostics import ACCELERATOR, UNKNOWN_PC, Held, Trap, UnfinishedThread
from gossamer.engines._rtl_plan import Plan, TableUpdate
from gossamer.engines.rtl import WATCHDOG, Run, functions
from gossamer.engines.rtl_cluster import Cluster
from gossamer.errors import RunDied
from gossamer.hosts.hostlink import Program

_STATUS = struct.Struct("<6Q")
_NO_FIGURES = ("", "failed", "stopped", "gone")
"""Reasons after which the simulator answers no request, or nothing ran."""
_DRAINED = ("done", "deadlock", "ended", "idle")
"""Reasons after which no packet moves, so that the counters of the network can be read."""
_POLL = 0.25
"""Seconds between two polls of the status file."""


@dataclass(frozen=True)
class Status:
    """The progress of a program."""

    calls: int
    """Calls so far during which simulated time advanced."""
    first: int
    """Cycle in which the first threads were started; 0 if none were."""
    cycle: int
    instructions: int
    threads: int
    """Number of started threads."""
    computes: bool
    """Whether the host computes while simulated time is stopped."""


@dataclass
class Report:
    """The outcome of a run: done, or the reason why it aborted."""

    reason: str = ""
    call: str = ""
    cycles: int = 0
    queued: int = 0
    failed: str = ""
    traps: list[Trap] = field(default_factory=list)
    unfinished: list[UnfinishedThread] = field(default_factory=list)
    output: dict[int, bytes] = field(default_factory=dict)
    """Output of threads that the host had not read."""
    events: list[Event] = field(default_factory=list)
    """Events that boards reported."""
    queues: list[Held] = field(default_factory=list)
    """Non-empty queues, if the run was blocked."""
    retired: int | None = None
    """Instructions retired by threads with vertices in all runs of graphs; None without such a run."""
    images: list[tuple[int, int | None, str]] = field(default_factory=list)
    """First thread, number of threads (None: all), and the file with their code, in the order of loading."""

    def image(self, thread: int) -> str:
        """The file with a thread's code."""
        found = [name for first, count, name in self.images if count is None or first <= thread < first + count]
        return found[-1] if found else ""


@dataclass
class HostResult:
    """The result of a host program."""

    code: int
    """Its exit code; less than 0 for a signal."""
    report: Report | None
    """None if the program crashed, or never opened a board."""
    run: Run | None
    """Counters from the start of the first threads to the program's last call; None if the boards do not answer. If the
    threads may block the debug bus, the counters are 0."""
    timeout: RunDied | None = None
    """Set if the program made no call for too long."""


def run(
    machine: Cluster,
    program: Program,
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    most_cycles: int = 0,
    watchdog: int = WATCHDOG,
    timeout: float | None = None,
    on_status: Callable[[Status], object] = lambda status: None,
    changes: Sequence[TableUpdate] = (),
) -> HostResult:
    """Runs a program to its end on boards that have not run anything since reset.

    ``environment`` extends the environment of this process. ``most_cycles`` 0 means no limit. ``on_status`` is called
    with the progress a few times a second. ``changes`` are the updates of ``HostLink::loadRoutes``, in order. Raises
    KeyboardInterrupt after Ctrl-C, which the program receives as well. A program that makes no call for ``timeout``
    seconds is ended.
    """
    if len(images := {image.elf: image for image in program.images.values()}) == 1:
        machine.load((), (), functions(*images.values()))
    counters, network = machine._counters(), machine._network_counters()
    machine.link.call("send_queued")
    ends = machine._simulator.ends()
    with tempfile.TemporaryDirectory(prefix="gossamer-host-") as name:
        report_file, status_file, settings, plan = (
            Path(name) / part for part in ("report", "status", "settings", "plan")
        )
        given = {
            "requests": ends[0],
            "records": ends[1],
            "report": report_file,
            "status": status_file,
            "most_cycles": most_cycles,
            "watchdog": watchdog,
            "plan": plan,
        }
        plan.write_text(machine._facts())
        _pickle_plan(plan, machine.plan)
        lines = [f"{key} {value}\n" for key, value in given.items()]
        for number, change in enumerate(changes):
            tables = Path(name) / f"tables-{number}"
            tables.write_text(change.plan.facts(drain=change.fault))
            _pickle_plan(tables, change.plan)
            lines.append(f"tables {tables}\n")
        settings.write_bytes(os.fsencode("".join(lines)))
        begun = time.perf_counter()
        given_here = {"GOSSAMER_HOSTLINK": str(settings), "GOSSAMER_ENGINE": "rtl"}
        whole = {**os.environ, **(environment or {}), **given_here}
        command = [str(program.binary), *arguments]
        code, too_long = 0, None
        try:
            code = _wait(command, program.folder, ends, whole, status_file, timeout, on_status)
        except RunDied as error:
            too_long = error
        seconds = time.perf_counter() - begun
        report, status = _report(report_file), _status(status_file)
    if report is not None and report.reason == "gone":
        report.failed = str(machine._simulator.exit_error())
    reason = report.reason if report is not None else "timeout" if too_long else "crashed" if code < 0 else ""
    # A program that was ended in a call has left an unanswered request.
    answers = report is not None or (status is not None and status.computes)
    if status is None or reason in _NO_FIGURES or not answers:
        return HostResult(code, report, None, too_long)
    machine._ran = True
    late = machine._counters() if reason != "stuck" else counters
    links, boards = machine._network_counters(network) if reason in _DRAINED else ({}, [])
    tiles = [{key: after[key] - before[key] for key in after} for before, after in zip(counters, late, strict=True)]
    done = Run(
        reason=reason,
        threads=status.threads,
        cycles=status.cycle - (status.first or status.cycle),
        instructions=status.instructions,
        counters={key: tiles[0][key] if key == "cycles" else sum(tile[key] for tile in tiles) for key in tiles[0]},
        codes={},
        traps=report.traps if report is not None else [],
        unfinished=report.unfinished if report is not None else [],
        messages=[],
        seconds=seconds,
        tiles=tiles,
        events=report.events if report is not None else [],
        links=links,
        boards=boards,
        snapshot=machine.watched(),
        retired=report.retired if report is not None else None,
    )
    return HostResult(code, report, done, too_long)


def _pickle_plan(path: Path, plan: Plan) -> None:
    """Writes a plan for the check of trees (gossamer.polite.trees)."""
    path.with_name(f"{path.name}.pickle").write_bytes(pickle.dumps(plan))


def _wait(
    command: Sequence[str],
    folder: Path,
    ends: tuple[int, int],
    environment: Mapping[str, str],
    status: Path,
    timeout: float | None,
    on_status: Callable[[Status], object],
) -> int:
    """Waits for the host process, and reports its progress."""
    calls, since = -1, time.monotonic()

    def poll() -> None:
        nonlocal calls, since
        now = time.monotonic()
        shown = _status(status)
        if shown is None:
            return
        on_status(shown)
        if shown.calls != calls or not shown.computes:
            calls, since = shown.calls, now
        elif timeout is not None and now - since > timeout:
            raise RunDied(
                f"the host has computed for {timeout:g} s without a call to HostLink (--timeout); "
                f"simulated time was stopped at cycle {shown.cycle:,}"
            )

    return processes.run_attended(command, cwd=folder, env=environment, pass_fds=ends, look=poll, every=_POLL)


def _status(path: Path) -> Status | None:
    try:
        calls, first, cycle, instructions, threads, computes = _STATUS.unpack(path.read_bytes())
    except (OSError, struct.error):
        return None
    return Status(calls, first, cycle, instructions, threads, bool(computes))


def _words(path: Path) -> Iterator[tuple[str, str]]:
    with contextlib.suppress(OSError):
        for line in path.read_text(errors="replace").splitlines():
            key, _, rest = line.partition(" ")
            yield key, rest


def _report(path: Path) -> Report | None:
    if not path.exists():
        return None
    report = Report()
    for key, rest in _words(path):
        words = rest.split()
        if key in ("reason", "call", "failed"):
            setattr(report, key, rest)
        elif key in ("cycles", "queued"):
            setattr(report, key, int(rest))
        elif key == "retired":
            report.retired = (report.retired or 0) + int(rest)
        elif key == "trap":
            thread, cycle, cause, pc, value = map(int, words)
            report.traps.append(Trap(thread, cycle, cause, pc, value))
        elif key == "fault":
            cause, address, sender, cycle = map(int, words)
            place = f"{sender >> 6 & 0xF},{sender >> 10 & 0xF}"
            report.traps.append(Trap(ACCELERATOR, cycle, cause, UNKNOWN_PC, address, place))
        elif key == "still":
            report.unfinished.append(UnfinishedThread(*map(int, words)))
        elif key == "held":
            report.queues.append(Held(*map(int, words)))
        elif key == "event":
            cycle, board, what, unit, value = map(int, words)
            report.events.append(Event.of(board, what, unit, value, cycle))
        elif key == "said":
            thread, byte = map(int, words)
            report.output[thread] = report.output.get(thread, b"") + bytes([byte])
        elif key == "image":
            parts = rest.split(" ", 2)
            if len(parts) == 3 and parts[0].isdecimal() and parts[1].isdecimal():
                report.images.append((int(parts[0]), int(parts[1]), parts[2]))
            else:
                report.images.append((0, None, rest))
    return report


__all__ = ["HostResult", "Report", "Status", "run"]
