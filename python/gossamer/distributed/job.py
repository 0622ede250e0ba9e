# SPDX-License-Identifier: Apache-2.0
"""A job of ranks: starts them with the launcher of the installed MPI, or finds that this process is one of them.

Each rank is the same command. The command that starts the job creates a folder, in which a rank that fails writes the
reason. Launchers add messages of their own to the output of ranks that fail. So a rank marks its lines on the standard
error, and the command prints only those; and it prints the standard output, rank 0's result, after a good end only.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

from gossamer import processes
from gossamer.distributed.checkpoints import last
from gossamer.distributed.transport import Ranks
from gossamer.errors import ExitCode, GossamerError, InputError, NoAnswer, RunDied, signal_name
from gossamer.hosts import mpi_launcher
from gossamer.paths import ROOT
from gossamer_setup._signals import SIGNALS

_SOURCES = ROOT / "src" / "distributed" / "mpi"
_GRACE = 5.0
"""Seconds for ranks to end after their launcher."""
_FOLDER = "GOSSAMER_JOB"
"""The job's folder, in the environment of ranks that a command has started."""
_MARK = "\x01"
_STARTED = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID")
"""Variables by which a launcher tells a process that it is a rank."""
_SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
_NUMBERS = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")


def is_rank() -> bool:
    """Whether a launcher has started this process as one of several, or as the only one of an MPI job."""
    return any(name in os.environ for name in _STARTED) or _number("SLURM_STEP_NUM_TASKS") > 1


def _number(name: str) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdecimal() else 0


def prepare() -> Path:
    """The library of the installed MPI, built if necessary. Raises InputError without an MPI."""
    return mpi_launcher.launcher(_SOURCES)[1]


# ---- The ranks ---------------------------------------------------------------------


def join(wanted: int | None) -> Ranks:
    """Joins the job. Raises InputError if the launcher belongs to another MPI, or has not ``wanted`` ranks."""
    if os.environ.get(_FOLDER):
        sys.stderr = _Marked()
    # A rank that waits in MPI runs no handler of Python. Output files are replaced whole, so any end is clean.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    ranks = Ranks(prepare())
    tasks = max(_number(name) for name in _SIZES)
    if ranks.count == 1 and tasks > 1:
        text = f"a launcher has started {tasks} processes, but each is the only rank of its own MPI job; "
        if _number("SLURM_STEP_NUM_TASKS") > 1:
            text += "start them with srun --mpi=pmi2, or with ./gossamer run ... -n RANKS"
        else:
            text += (
                "use the launcher of the MPI that Gossamer is built with: ./gossamer run ... -n RANKS, or set "
                "GOSSAMER_MPIEXEC and GOSSAMER_MPICXX to those of one MPI"
            )
        raise InputError(text)
    if wanted is not None and wanted != ranks.count:
        raise InputError(f"--ranks: {wanted} ranks, but the launcher has started {ranks.count}; omit the option")
    return ranks


class _Marked:
    """A standard error whose lines are marked as this program's."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self._line = ""

    def write(self, text: str) -> int:
        """Writes whole lines; keeps the rest."""
        *lines, self._line = (self._line + text).split("\n")
        if lines:
            os.write(2, "".join(f"{_MARK}{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
        return len(text)

    def flush(self) -> None:
        """Lines are written at once."""

    def isatty(self) -> bool:
        """No terminal: progress is for the command."""
        return False

    def fileno(self) -> int:
        """The descriptor of the standard error."""
        return 2


def first_to_report() -> bool:
    """Whether this process reports errors that all ranks find before they have joined the job."""
    return all(_number(name) == 0 for name in _NUMBERS)


def fail(ranks: Ranks | None, error: BaseException) -> NoReturn:
    """Reports the failure of this rank, and ends all. A process that has not joined reports if it is the first."""
    code = int(error.exit_code) if isinstance(error, GossamerError) else int(ExitCode.BUG)
    text = " ".join(str(error).split())
    if isinstance(error, RunDied) and not isinstance(error, NoAnswer) and ranks is not None:
        text = f"rank {ranks.rank}: {text}"
    folder = os.environ.get(_FOLDER)
    if folder:
        partial = Path(folder) / f"failure.{os.getpid()}"
        with contextlib.suppress(OSError):
            partial.write_text(json.dumps({"code": code, "text": text}), encoding="utf-8")
            os.link(partial, Path(folder) / "failure")  # the first failure is reported
    elif ranks is None:
        if first_to_report():
            raise error
        sys.exit(code)
    else:
        # Ranks that find the same error leave the report to rank 0, which ends them meanwhile.
        time.sleep(0.5 if ranks.rank else 0)
        os.write(2, f"gossamer: error: {text}\n".encode("utf-8", "surrogateescape"))
    if ranks is None:
        sys.exit(code)
    ranks.abort(code)
    os._exit(code)


# ---- The command that starts them ----------------------------------------------------


def start(ranks: int, words: Sequence[str], checkpoints: Path | None = None) -> int:
    """Runs ``./gossamer run WORDS`` on that many ranks. Returns 0; raises the error of the rank that failed first.

    The error of a rank that died names the last checkpoint in a folder.
    """
    launcher, _ = mpi_launcher.launcher(_SOURCES)
    rank = [sys.executable, "-I", *(["-B"] if sys.dont_write_bytecode else []), "-m", "gossamer", "run", *words]
    with tempfile.TemporaryDirectory(prefix="gossamer-job-") as folder, tempfile.TemporaryFile() as output:
        environment = {**os.environ, _FOLDER: folder}
        said: deque[str] = deque(maxlen=60)
        child: subprocess.Popen[str] | None = None
        sys.stdout.flush()
        try:
            with SIGNALS.held():
                child = subprocess.Popen(
                    [*launcher, "-n", str(ranks), *rank],
                    env=environment,
                    stdout=output,
                    stderr=subprocess.PIPE,
                    text=True,
                    errors="surrogateescape",
                    start_new_session=True,
                )
            assert child.stderr is not None
            _forward(child.stderr, said)
            code = child.wait()
        finally:
            if child is not None:
                processes.end(child)
                processes.end_those_with(f"{_FOLDER}={folder}", _GRACE)
        failure = Path(folder) / "failure"
        if failure.exists():
            raise _error(json.loads(failure.read_text(encoding="utf-8")), checkpoints)
        output.seek(0)
        if code:
            said.extend(line.decode(errors="replace").rstrip("\n") for line in output)
            raise RunDied(_ended(code, Path(folder), said) + _continue_from(checkpoints))
        shutil.copyfileobj(output, sys.stdout.buffer)
    return 0


def _forward(stream: IO[str], said: deque[str]) -> None:
    for line in stream:
        mark, found, text = line.partition(_MARK)
        if found:
            sys.stderr.write(text)
            sys.stderr.flush()
            line = mark
        if line.strip():
            said.append(line.rstrip("\n"))


def _continue_from(checkpoints: Path | None) -> str:
    """The end of a message: how to continue from the last checkpoint."""
    there = None if checkpoints is None else last(checkpoints)
    return "" if there is None else f"; the last checkpoint is {there}, continue with --restart {there.parent}"


def _error(failure: dict[str, Any], checkpoints: Path | None) -> BaseException:
    """The exception for a failure that a rank has reported."""
    code, text = int(failure["code"]), str(failure["text"])
    if code == RunDied.exit_code:
        text += _continue_from(checkpoints)
    for kind in (InputError, RunDied):
        if code == kind.exit_code:
            return kind(text)
    return KeyboardInterrupt() if code == ExitCode.INTERRUPTED else GossamerError(text)


def note_process(ranks: Ranks) -> None:
    """Records which process is this rank, for the report of a rank that a signal ends."""
    folder = os.environ.get(_FOLDER)
    if folder:
        with contextlib.suppress(OSError):
            (Path(folder) / f"process.{os.getpid()}").write_text(str(ranks.rank), encoding="ascii")


def _ended(code: int, folder: Path, said: deque[str]) -> str:
    """The report of a job that ended without one of its own, from the messages of the launcher."""
    text = "\n".join(said)
    rank, machine = "a rank", ""
    if found := re.search(r"PID (\d+) RUNNING AT (\S+)", text):
        machine = f" on {found[2]}"
        with contextlib.suppress(OSError):
            rank = f"rank {(folder / f'process.{found[1]}').read_text(encoding='ascii')}"
    if found := re.search(r"KILLED BY SIGNAL: (\d+)|\(signal (\d+)\)", text):
        return f"{rank}{machine} was killed by {signal_name(int(found[1] or found[2]))}; there is no result"
    if found := re.search(r"EXIT CODE: (\d+)", text):
        return f"{rank}{machine} ended with exit code {found[1]}; there is no result"
    first = next((line.strip() for line in said if line.strip(" =")), f"exit code {code}")
    return f"the ranks did not start, or ended without a report: {first}"


__all__ = ["fail", "first_to_report", "is_rank", "join", "note_process", "prepare", "start"]
