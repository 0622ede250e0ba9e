# SPDX-License-Identifier: Apache-2.0
"""Running programs in the emulator, and saying why a run came to nothing."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gossamer import diagnostics
from gossamer.errors import ExitCode, GossamerError, InputError, RunDied, signal_name
from gossamer.paths import INCLUDE
from gossamer.smi import _compile, _mpi, _rtl
from gossamer.smi._programs import Program, build
from gossamer.smi._ranks import Place, known, places
from gossamer_setup._signals import SIGNALS

_MOST_LINES = 24
_GRACE = 5.0
"""Seconds that an interrupted run has to end."""
ENGINES = ("emulator", "rtl")
_INT, _WORD = (1 << 31) - 1, (1 << 64) - 1
"""The greatest numbers that the emulator has for an option."""


@dataclass(frozen=True)
class Options:
    """How a run goes. The same options, programs and arguments give the same run."""

    slack: int = 16
    """Elements that a sender may be ahead on a channel that states no degree."""
    seed: int = 0
    """0: kernels take turns in order; others: a random order, drawn from the seed."""
    operations: int = 0
    """The run is broken off after so many pushes, pops and calls of collectives; 0: never."""
    timeout: float = 0
    """The same after so many seconds."""
    stack: int = 8
    """MB of each kernel."""
    ordered: bool = False
    """Every SMI_ADD adds in the order of ranks."""
    processes: int = 1
    """MPI's processes that share the ranks; each has neighbouring ones. Limits and the order are those of each."""
    engine: str = "emulator"
    """What carries channels: `emulator`, or `rtl`: the transport's boards, cycle by cycle."""

    def __post_init__(self) -> None:
        limits = (("slack", self.slack, _INT), ("seed", self.seed, _WORD), ("operations", self.operations, _WORD))
        for name, value, most in limits:
            if not 0 <= value <= most:
                raise InputError(f"--{name} {value}: give 0 or more, up to {most}")
        # What is no number is in no range.
        if not 0 <= self.timeout <= _INT:
            raise InputError(f"--timeout {self.timeout:g}: give 0 or more, up to {_INT} seconds")
        if self.processes < 1:
            raise InputError(f"--mpi {self.processes}: give 1 or more processes")
        if self.engine not in ENGINES:
            raise InputError(f"--engine {self.engine}: give {' or '.join(ENGINES)}")
        if self.engine == "rtl" and self.processes > 1:
            raise InputError("--engine rtl runs in one process; leave out --mpi")
        if not 1 <= self.stack <= 4096:
            raise InputError(f"--stack {self.stack}: give 1 to 4096 MB")


@dataclass(frozen=True)
class Result:
    """How a run went."""

    code: int
    """What the first main that did not return 0 returned, else 0."""
    ranks: int
    kernels: int
    operations: int
    """Pushes, pops and calls of collectives and of channels within a rank."""
    switches: int
    """How often another kernel went on."""
    cycles: int | None = None
    """Of the boards, from the kernels' start to the end of the last; None for the emulator, which has no time."""


def run(
    files: Sequence[str],
    *,
    ranks: int | None = None,
    topology: str | os.PathLike[str] | None = None,
    arguments: Sequence[str] = (),
    defines: Sequence[str] = (),
    options: Options | None = None,
    note: Callable[[str], None] = lambda line: print(line, file=sys.stderr),
) -> Result:
    """Builds programs and runs them, with the standard streams of this process.

    `note` gets lines that go before the error's. Raises InputError for what is wrong in the programs' use of channels,
    at both lines; RunDied for a deadlock or a rank that died.
    """
    options = options or Options()
    known(ranks, topology)  # before anything is built
    programs = build(files, defines)
    where = places(programs, ranks, topology)
    boards = []
    if options.engine == "rtl":
        boards = _rtl.plan(files, defines, len(where), topology, options.slack, options.ordered)
    result = _emulate(programs, where, arguments, options, boards, note)
    return result if boards else replace(result, cycles=None)


def _emulate(
    programs: Sequence[Program],
    where: Sequence[Place],
    arguments: Sequence[str],
    options: Options,
    boards: Sequence[str],
    note: Callable[[str], None],
) -> Result:
    if options.processes > len(where):
        raise InputError(f"--mpi {options.processes}: each process has a rank at least; give {len(where)} or fewer")
    emulator = _compile.emulator()
    lines = [f"program {program.binary}" for program in programs]
    lines += [f"rank {place.program} {programs[place.program].name}" for place in where]
    lines += [f"option slack {options.slack}", f"option seed {options.seed}", f"option stack {options.stack << 20}"]
    lines += [f"option operations {options.operations}", f"option timeout {options.timeout}"]
    lines += ["option ordered 1"] if options.ordered else []
    lines += boards
    if options.processes > 1:
        report = _of_all(options.processes, len(where), "\n".join(lines) + "\n", emulator, arguments)
        return _judged(report, report["code"], programs, where, note)
    with tempfile.TemporaryDirectory(prefix="gossamer-smi-") as folder:
        plan = Path(folder) / "plan"
        plan.write_text("\n".join(lines) + "\n")
        code, text = _process([str(emulator), str(plan)], arguments)
    if code == -signal.SIGINT:
        raise KeyboardInterrupt
    if not text.strip():
        if code < 0:
            raise RunDied(f"the run died of {signal_name(-code)}")
        if code == ExitCode.BUG:
            raise GossamerError("the emulator failed, and did not say why")
        # Every other way out tells the command.
        raise RunDied(f"a rank ended the process of all ranks, by _exit({code}) or the like; return from main")
    # A destructor that runs after the run may fail: the last word counts.
    return _judged(json.loads(text.splitlines()[-1]), code, programs, where, note)


def _of_all(processes: int, ranks: int, plan: str, emulator: Path, arguments: Sequence[str]) -> dict[str, Any]:
    """The report of several processes, as one would have given it."""
    found = _mpi.run(emulator, processes, plan, arguments)
    first = found[0]
    if len(found) == 1 and first is not None:
        if first["outcome"] != "gone":
            return first
        own = [rank for rank in range(ranks) if rank * processes // ranks == first["process"]]
        who = f"ranks {own[0]} to {own[-1]}" if len(own) > 1 else f"rank {own[0]}"
        raise RunDied(f"the process of {who} ended by a signal, or by _exit() or the like; return from main")
    reports = [one for one in found if one is not None]
    if len(reports) < processes:
        raise RunDied(f"{processes - len(reports)} of {processes} processes ended, and did not say why")
    total: dict[str, Any] = {"outcome": "done", "ranks": ranks, "code": 0}
    for name in ("operations", "switches", "kernels"):
        total[name] = sum(one[name] for one in reports)
    for one in reports:
        if one["outcome"] == "deadlock":
            total["outcome"] = "deadlock"
            for name in ("waits", "ended"):
                total[name] = total.get(name, []) + one[name]
        else:
            # Ranks are dealt out in order: the first code is that of the first rank.
            total["code"] = total["code"] or one["code"]
    return total


def _judged(
    report: dict[str, Any],
    code: int,
    programs: Sequence[Program],
    where: Sequence[Place],
    note: Callable[[str], None],
) -> Result:
    """The result that a report tells of, or its error; ``code`` is that of the process."""
    if report["outcome"] in ("done", "exit"):
        names = ("code", "ranks", "kernels", "operations", "switches")
        return Result(**{name: report[name] for name in names}, cycles=report.get("cycles"))
    if report["outcome"] == "deadlock":
        raise RunDied(_deadlock(report, programs, where, note))
    if ExitCode.INTERRUPTED in (report["code"], code):
        raise KeyboardInterrupt
    (message,) = _with_places([(report["message"], report["places"])], programs)
    kinds: dict[int, type[GossamerError]] = {ExitCode.INPUT: InputError, ExitCode.DIED: RunDied}
    raise kinds.get(report["code"], GossamerError)(message)


def _process(command: Sequence[str], arguments: Sequence[str]) -> tuple[int, str]:
    """Exit code and report of the emulator, which has our standard streams."""
    sys.stdout.flush()
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8", errors="replace") as report:
        child: subprocess.Popen[bytes] | None = None
        try:
            try:
                # Interrupted between the start of the child and our knowing it, we would leave it behind.
                with SIGNALS.held():
                    child = subprocess.Popen([*command, str(writing), *arguments], pass_fds=[writing])
            finally:
                os.close(writing)
            text = report.read()
            return child.wait(), text
        except BaseException:
            if child is None:
                raise
            # From a terminal the child has its own Ctrl-C; a second one does no harm.
            with contextlib.suppress(ProcessLookupError):
                child.send_signal(signal.SIGINT)
            try:
                child.wait(_GRACE)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            raise


def _with_places(messages: Sequence[tuple[str, Sequence[Sequence[int]]]], programs: Sequence[Program]) -> list[str]:
    """Messages with ``file:line`` for each ``{}``; their places are pairs of a program and an offset in its file."""
    wanted: dict[int, list[int]] = {}
    for _, found in messages:
        for program, offset in found:
            if program >= 0:
                wanted.setdefault(program, []).append(offset)
    lines = {
        (program, offset): line
        for program, offsets in wanted.items()
        for offset, line in _source_lines(programs[program], sorted(set(offsets))).items()
    }
    texts = []
    for message, found in messages:
        rest = iter([lines.get((program, offset), "?") for program, offset in found])
        texts.append(re.sub(r"\{\}", lambda _, rest=rest: next(rest, "?"), message))  # type: ignore[misc]
    return texts


def _source_lines(program: Program, offsets: Sequence[int]) -> dict[int, str]:
    command = ["addr2line", "-a", "-i", "-e", str(program.binary), *map(hex, offsets)]
    lines = dict.fromkeys(offsets, program.name)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return lines
    own = str(INCLUDE)
    at: int | None = None
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            at = int(line, 16)
            continue
        file, _, number = line.split(" ", 1)[0].rpartition(":")
        # A call from one of our headers was inlined into the user's code, which is on the next line.
        if at is not None and file not in ("", "??") and not os.path.realpath(file).startswith(own):
            lines[at] = f"{diagnostics.relative(Path(file))}:{number}"
            at = None
    return lines


def _deadlock(
    report: dict[str, Any], programs: Sequence[Program], where: Sequence[Place], note: Callable[[str], None]
) -> str:
    """Notes who waits for what; gives the line that names the ring, or the end of the chain."""
    waits = report["waits"]
    shown = waits[:_MOST_LINES]
    texts = _with_places([(wait["what"], [wait["place"]]) for wait in shown], programs)
    for wait, what in zip(shown, texts, strict=True):
        name = "" if wait["kernel"] == "main" else f", {wait['kernel']},"
        board = where[wait["rank"]].name
        note(f"rank {wait['rank']}{'' if board.startswith('rank') else f' ({board})'}{name} waits {what}")
    if len(waits) > _MOST_LINES:
        note(f"and {len(waits) - _MOST_LINES} kernels more")
    needs: dict[int, list[int]] = {}
    for wait in waits:
        if not wait["daemon"]:
            needs.setdefault(wait["rank"], []).extend(one for one in wait["for"])
    return f"deadlock: {_chain(needs, set(report['ended']))}"


def _chain(needs: dict[int, list[int]], ended: set[int]) -> str:
    """A shortest ring of ranks that wait for each other; else a rank that waits for one that has ended.

    A rank waits for itself, too, where one of its kernels waits for another: that is the cause if there is no other.
    """
    apart = {rank: [other for other in others if other != rank] for rank, others in needs.items()}
    rings = [ring for ring in (_ring(apart, rank) for rank in apart) if ring]
    if rings:
        ring = min(rings, key=len)
        rest = ", which waits for ".join(f"rank {rank}" for rank in (*ring[1:], ring[0]))
        return f"rank {ring[0]} waits for {rest}"
    for rank, others in needs.items():
        for other in others:
            if other in ended:
                return f"rank {rank} waits for rank {other}, which has ended"
    for rank, others in needs.items():
        if rank in others:
            return f"rank {rank} waits for itself"
    return f"rank {next(iter(needs))} waits, and nothing moves any more"


def _ring(needs: dict[int, list[int]], start: int) -> list[int]:
    """The shortest way from a rank back to it."""
    before: dict[int, int] = {}
    queue = [start]
    for rank in queue:
        for other in needs.get(rank, []):
            if other == start:
                ring = [rank]
                while ring[-1] != start:
                    ring.append(before[ring[-1]])
                return ring[::-1]
            if other not in before:
                before[other] = rank
                queue.append(other)
    return []
