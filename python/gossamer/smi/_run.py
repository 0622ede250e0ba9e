# SPDX-License-Identifier: Apache-2.0
"""Runs programs in the emulator and turns its report into a result or an error."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer.engines import _names
from gossamer.errors import ExitCode, GossamerError, InputError, RunDied, signal_name
from gossamer.files import check_writable, move_whole, temporary_sibling
from gossamer.smi import _activity, _compile, _deadlock, _mpi
from gossamer.smi._locations import with_locations
from gossamer.smi._programs import Program, build
from gossamer.smi._ranks import Place, known, places
from gossamer.watch import streams
from gossamer_setup._signals import SIGNALS

if TYPE_CHECKING:
    from gossamer.engines._rtl_plan import Plan
    from gossamer.smi import _rtl

_GRACE = 5.0
"""Seconds until an interrupted run is killed."""
ENGINES = ("emulator", "rtl", "board")
LEAST_WAIT = 24
"""Cycles of the shortest wait that a trace shows."""
TRACE_BYTES = 64_000_000
"""Maximum bytes of a trace."""
_INT, _WORD = (1 << 31) - 1, (1 << 64) - 1
"""The greatest values of the emulator's options."""


@dataclass(frozen=True)
class Options:
    """Options of a run. The same options, programs and arguments produce the same run."""

    slack: int = 16
    """Asynchronicity degree of channels that state none: elements that a sender may be ahead."""
    seed: int = 0
    """0: kernels run round-robin; other values: in a random order from this seed."""
    operations: int = 0
    """Maximum number of pushes, pops and calls of collectives, after which the run aborts; 0: unlimited."""
    timeout: float = 0
    """Maximum time in seconds, after which the run aborts; 0: unlimited."""
    stack: int = 8
    """Stack of each kernel in MB."""
    ordered: bool = False
    """Whether every SMI_ADD adds in the order of ranks."""
    processes: int = 1
    """MPI processes; each runs a range of consecutive ranks, with its own limits and kernel order."""
    engine: str = "emulator"
    """Transport of the channels: `emulator`, `rtl`: cycle-accurate boards, `board`: boards with Ethernet shells."""
    config: str | None = None
    """With boards: the configuration of all of them, in place of the cluster's."""
    frame_loss: float = 0.0
    """With `rtl`: the share of frames that links lose, and the share that they damage; `seed` selects them."""
    port: str | None = None
    """With `board`: the network interface of the boards; None: those of the simulated cluster."""
    keys: str | None = None
    """With `port`: the file of the boards' keys."""
    trace: Path | None = None
    """With boards: the file of a trace, in Perfetto's format."""
    least_wait: int = LEAST_WAIT
    trace_bytes: int = TRACE_BYTES
    """Cycles of the shortest wait that the trace shows, and its greatest size."""

    def __post_init__(self) -> None:
        limits = (("slack", self.slack, _INT), ("seed", self.seed, _WORD), ("operations", self.operations, _WORD))
        for name, value, most in limits:
            if not 0 <= value <= most:
                raise InputError(f"--{name} {value}: give 0 or more, up to {most}")
        # NaN fails every comparison, so it is outside the range.
        if not 0 <= self.timeout <= _INT:
            raise InputError(f"--timeout {self.timeout:g}: give 0 or more, up to {_INT} seconds")
        if self.processes < 1:
            raise InputError(f"--mpi {self.processes}: give 1 or more processes")
        if self.engine not in (*ENGINES, _names.GUEST):
            raise InputError(f"--engine {self.engine}: give {', '.join(ENGINES[:-1])} or {ENGINES[-1]}")
        if self.engine != "emulator" and self.processes > 1:
            raise InputError(f"--engine {self.engine} runs in one process; leave out --mpi")
        if self.engine != "rtl" and self.frame_loss:
            raise InputError("--frame-loss: give --engine rtl with it")
        if self.engine not in ("rtl", _names.BOARD) and self.config is not None:
            raise InputError("--config: give --engine rtl or board with it")
        if self.engine != _names.BOARD and (self.port is not None or self.keys is not None):
            raise InputError(f"--{'keys' if self.port is None else 'port'}: give --engine board with it")
        if self.engine == "emulator" and self.trace is not None:
            raise InputError("--trace: give --engine rtl or board with it; the emulator has no cycles")
        if not 0 <= self.least_wait <= _INT:
            raise InputError(f"--least-wait {self.least_wait}: give 0 or more cycles")
        if not 50_000 <= self.trace_bytes <= 1_000_000 * _INT:
            raise InputError(f"--trace-size {self.trace_bytes / 1e6:g}: give 1 or more MB")
        if not 0.0 <= self.frame_loss < 1.0:
            raise InputError(f"--frame-loss {self.frame_loss:g}: must be 0 or more, and less than 1")
        if not 1 <= self.stack <= 4096:
            raise InputError(f"--stack {self.stack}: give 1 to 4096 MB")


_NUMBERS = ("code", "ranks", "kernels", "operations", "switches")


@dataclass(frozen=True)
class OnBoards:
    """What the boards of a run did."""

    plan: Plan
    activity: streams.Activity
    seconds: float
    """Of the whole simulation, with the configuration of the boards."""
    note: str = ""
    """What the trace does not show."""

    def as_json(self) -> dict[str, Any]:
        """The statistics, for JSON; links and boards by their names."""
        found = self.activity.as_json()
        boards = self.plan.cluster.boards
        for link in found["links"]:
            link["link"] = self.plan.links_of(link["board"])[link["link"]]
            link["board"] = boards[link["board"]].name
        about = {"config": self.plan.config.name, "cluster": self.plan.cluster.name, "seconds": self.seconds}
        return about | {"by_kernel" if name == "kernels" else name: value for name, value in found.items()}


@dataclass(frozen=True)
class Result:
    """The outcome of a run."""

    code: int
    """The first non-zero return value of a main, in the order of ranks; else 0."""
    ranks: int
    kernels: int
    operations: int
    """Pushes, pops and calls of collectives and of channels within a rank."""
    switches: int
    """Switches between kernels."""
    cycles: int | None = None
    """Clock cycles of the boards until the last kernel ended; None for the emulator, which has no clock."""
    end: str = "done"
    """done, exit (a program has called exit) or deadlock."""
    boards: OnBoards | None = field(default=None, compare=False)
    """With boards: what they did."""

    def as_json(self) -> dict[str, Any]:
        """The statistics, for JSON."""
        about = {name: getattr(self, name) for name in _NUMBERS} | {"cycles": self.cycles, "end": self.end}
        return about | (self.boards.as_json() if self.boards else {})


def run(
    files: Sequence[str],
    *,
    ranks: int | None = None,
    topology: str | os.PathLike[str] | None = None,
    arguments: Sequence[str] = (),
    defines: Sequence[str] = (),
    includes: Sequence[str] = (),
    options: Options | None = None,
    note: Callable[[str], None] = lambda line: print(line, file=sys.stderr),
    on_end: Callable[[Result], object] = lambda _: None,
) -> Result:
    """Builds programs and runs them, with the standard streams of this process.

    ``includes`` are folders of headers. Kernels without a host get their arguments by name (docs/streams.md). `note`
    receives the lines that precede an error. `on_end` receives the result of a run that has ended or is deadlocked,
    before an error is raised. Raises InputError for invalid arguments or use of channels, with the lines of both ends;
    RunDied for a deadlock or an aborted rank.
    """
    options = options or Options()
    if options.trace is not None:
        check_writable(options.trace)
    known(ranks, topology)  # reports errors before the build
    programs = build(files, defines, includes)
    where = places(programs, ranks, topology)
    if options.processes > len(where):
        raise InputError(f"--mpi {options.processes}: more processes than ranks; give {len(where)} or fewer")
    words = _words(programs, where, arguments)
    asked = files, defines, len(where)
    how = options.slack, options.ordered, includes
    with contextlib.ExitStack() as stack:
        boards: _rtl.Boards | None = None
        if options.engine != ENGINES[0]:
            from gossamer.engines import board, guest
            from gossamer.smi import _rtl

            if options.engine == "rtl":
                boards = _rtl.plan(
                    *asked, topology, *how, config=options.config, frame_loss=options.frame_loss, seed=options.seed
                )
            elif options.engine == guest.NAME:
                boards = _rtl.plan_of_guest(guest.Place.here(), *asked, *how)
            else:
                place = board.Place(options.port, options.keys)
                boards = stack.enter_context(_rtl.on_boards(place, *asked, topology, *how, config=options.config))
        return _emulate(programs, where, arguments, options, words, boards, note, on_end)


def _words(programs: Sequence[Program], where: Sequence[Place], arguments: Sequence[str]) -> list[str]:
    """Lines of the plan with the arguments of ranks whose program is an OpenCL file."""
    if not any(program.kernels for program in programs):
        return []
    from gossamer.smi import _arguments

    resolved = _arguments.resolve(programs, where, arguments)
    return [f"argument {rank} {word}" for rank, words in enumerate(resolved) for word in words]


def _emulate(
    programs: Sequence[Program],
    where: Sequence[Place],
    arguments: Sequence[str],
    options: Options,
    more: Sequence[str],
    boards: _rtl.Boards | None,
    note: Callable[[str], None],
    on_end: Callable[[Result], object],
) -> Result:
    """``more`` are further lines of the plan."""
    emulator = _compile.emulator()
    lines = [f"program {program.binary}" for program in programs]
    lines += [f"rank {place.program} {programs[place.program].name}" for place in where]
    lines += [f"option slack {options.slack}", f"option seed {options.seed}", f"option stack {options.stack << 20}"]
    lines += [f"option operations {options.operations}", f"option timeout {options.timeout}"]
    lines += ["option ordered 1"] if options.ordered else []
    lines += more
    if options.processes > 1:
        report = _of_all(options.processes, len(where), "\n".join(lines) + "\n", emulator, arguments)
        return _judged(report, report["code"], programs, where, note, on_end)
    trace = None
    if boards is not None:
        lines += [*boards.lines, *_activity.lines(boards.plan, programs[0].file.name)]
        if options.trace is not None:
            trace = temporary_sibling(options.trace)
            lines += [f"option trace {trace.absolute()}", f"option least-wait {options.least_wait}"]
            lines.append(f"option trace-bytes {options.trace_bytes}")
    begun = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory(prefix="gossamer-smi-") as folder:
            plan = Path(folder) / "plan"
            plan.write_bytes(os.fsencode("\n".join(lines) + "\n"))
            code, text = _process([str(emulator), str(plan)], arguments)
        seconds = time.perf_counter() - begun
        if options.trace is not None and _recorded(text).get("trace") is False:
            raise InputError(f"{options.trace}: cannot be written: free space, or choose another place")
    finally:
        # Also after an interrupt, if it is complete.
        if trace is not None and options.trace is not None:
            if trace.exists():
                move_whole(trace, options.trace)
            trace.with_name(trace.name + ".tmp").unlink(missing_ok=True)
    if code == -signal.SIGINT:
        raise KeyboardInterrupt
    if not text.strip():
        if code < 0:
            raise RunDied(f"the run was killed by {signal_name(-code)}")
        if code == ExitCode.BUG:
            raise GossamerError("the emulator failed without a report")
        # The emulator reports every other kind of exit.
        raise RunDied(f"a rank ended the process of all ranks, by _exit({code}) or similar; return from main instead")
    # A destructor may fail after the first report, so the last report counts.
    last = json.loads(text.splitlines()[-1])
    found = _on_boards(text, boards, programs, seconds)
    if found is not None and found.note:
        note(found.note)
    return _judged(last, code, programs, where, note, on_end, found)


def _recorded(text: str) -> dict[str, Any]:
    """The report that has what was recorded: the first one."""
    for line in text.splitlines():
        # A killed emulator may have written a part of a report.
        with contextlib.suppress(ValueError):
            report: dict[str, Any] = json.loads(line)
            if "activity" in report:
                return report
    return {}


def _on_boards(text: str, boards: _rtl.Boards | None, programs: Sequence[Program], seconds: float) -> OnBoards | None:
    """What the boards of a run did, from its reports."""
    recorded = _recorded(text)
    activity = _activity.parse(recorded, programs)
    if boards is None or activity is None:
        return None
    if boards.counters is not None and recorded["outcome"] in ("done", "exit", "deadlock"):
        links, ports = boards.counters()
        activity = replace(activity, links=tuple(links), ports=tuple(ports))
    return OnBoards(boards.plan, activity, seconds, recorded.get("note", ""))


def _of_all(processes: int, ranks: int, plan: str, emulator: Path, arguments: Sequence[str]) -> dict[str, Any]:
    """The reports of several processes, merged into the form of one process."""
    found = _mpi.run(emulator, processes, plan, arguments)
    first = found[0]
    if len(found) == 1 and first is not None:
        if first["outcome"] != "gone":
            return first
        own = [rank for rank in range(ranks) if rank * processes // ranks == first["process"]]
        who = f"ranks {own[0]} to {own[-1]}" if len(own) > 1 else f"rank {own[0]}"
        raise RunDied(f"the process of {who} ended by a signal, by _exit() or similar; return from main instead")
    reports = [one for one in found if one is not None]
    if len(reports) < processes:
        raise RunDied(f"{processes - len(reports)} of {processes} processes ended without a report")
    total: dict[str, Any] = {"outcome": "done", "ranks": ranks, "code": 0}
    for name in ("operations", "switches", "kernels"):
        total[name] = sum(one[name] for one in reports)
    for one in reports:
        if one["outcome"] == "deadlock":
            total["outcome"] = "deadlock"
            for name in ("waits", "ended"):
                total[name] = total.get(name, []) + one[name]
        else:
            # Processes run ranks in ascending order, so the first code is that of the lowest rank.
            total["code"] = total["code"] or one["code"]
    return total


def _judged(
    report: dict[str, Any],
    code: int,
    programs: Sequence[Program],
    where: Sequence[Place],
    note: Callable[[str], None],
    on_end: Callable[[Result], object],
    boards: OnBoards | None = None,
) -> Result:
    """The result in a report, or its error; ``code`` is the exit code of the process."""
    if report["outcome"] in ("done", "exit"):
        result = _result(report, report["code"], boards)
        on_end(result)
        return result
    if report["outcome"] == "deadlock":
        if boards is not None:
            on_end(_result(report, ExitCode.DIED, boards))
        raise RunDied(_deadlock.describe(report, programs, where, note))
    if ExitCode.INTERRUPTED in (report["code"], code):
        raise KeyboardInterrupt
    (message,) = with_locations([(report["message"], report["places"])], programs)
    kinds: dict[int, type[GossamerError]] = {ExitCode.INPUT: InputError, ExitCode.DIED: RunDied}
    raise kinds.get(report["code"], GossamerError)(message)


def _result(report: Mapping[str, Any], code: int, boards: OnBoards | None) -> Result:
    numbers = {name: report[name] for name in _NUMBERS if name != "code"}
    cycles = report["cycles"] if boards is not None else None
    return Result(code, **numbers, cycles=cycles, end=report["outcome"], boards=boards)


def _process(command: Sequence[str], arguments: Sequence[str]) -> tuple[int, str]:
    """Exit code and report of the emulator, which inherits the standard streams."""
    sys.stdout.flush()
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8", errors="replace") as report:
        child: subprocess.Popen[bytes] | None = None
        try:
            try:
                # An interrupt between the start of the child and the assignment would leave the child running.
                with SIGNALS.held():
                    child = subprocess.Popen([*command, str(writing), *arguments], pass_fds=[writing])
            finally:
                os.close(writing)
            text = report.read()
            return child.wait(), text
        except BaseException:
            if child is None:
                raise
            # The terminal also sends Ctrl-C to the child; the child ignores a second one.
            with contextlib.suppress(ProcessLookupError):
                child.send_signal(signal.SIGINT)
            try:
                child.wait(_GRACE)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            raise
