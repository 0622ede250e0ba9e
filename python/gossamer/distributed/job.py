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
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

from gossamer.distributed.checkpoints import last
from gossamer.distributed.transport import Ranks
from gossamer.errors import ExitCode, GossamerError, HandlerDied, InputError, NoAnswer, RunDied
from gossamer.hosts import machines, mpi_launcher
from gossamer.hosts.machines import Machines
from gossamer.paths import ROOT
from gossamer.wording import counted

_FOLDER = "GOSSAMER_JOB"
"""The job's folder, in the environment of ranks that a command has started."""
_MARK = "\x01"
_STARTED = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID")
"""Variables by which a launcher tells a process that it is a rank."""
_OF_A_RANK = ("PMI_", "PMIX_", "OMPI_COMM_WORLD_")
"""Beginnings of such variables, which a launcher's ranks must not inherit from a shell that is one process of Slurm."""
_ALLOCATIONS = {"SLURM_JOB_ID", "PBS_NODEFILE"}
"""Variables of allocations, whose launchers may start ranks on several machines."""
MOST_PER_PROCESSOR = 32
"""Ranks on this machine alone, for each of its processors: each takes about 40 MB before it reads the graph."""
_NUMBERS = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")


def is_rank(wanted: int | None) -> bool:
    """Whether a launcher has started this process as one of several, or as the only one of an MPI job.

    A shell in an allocation of Slurm is the only process of its step; a command in it that has the number of ranks,
    ``wanted``, starts them.
    """
    tasks = _number("SLURM_STEP_NUM_TASKS")
    if wanted is not None and tasks == 1 and _number("PMI_SIZE") <= 1:
        return False
    return any(name in os.environ for name in _STARTED) or tasks > 1


def _number(name: str) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdecimal() else 0


# ---- The ranks ---------------------------------------------------------------------


def join(wanted: int | None) -> Ranks:
    """Joins the job. Raises InputError if the launcher belongs to another MPI, or has not started ``wanted`` ranks."""
    if os.environ.get(_FOLDER):
        sys.stderr = _Marked()
    # A rank that waits in MPI runs no handler of Python. Output files are replaced whole, so any end is clean.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    ranks = Ranks(mpi_launcher.launcher().library)
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
            report = {
                "code": code,
                "text": text,
                "kind": type(error).__name__,
                "vertex": getattr(error, "vertex", None),
            }
            partial.write_text(json.dumps(report), encoding="utf-8")
            os.link(partial, Path(folder) / "failure")  # the first failure is reported
    elif ranks is None:
        if first_to_report():
            raise error
        # A launcher ends all ranks when one exits, so the first gets time for its report; srun ends none.
        time.sleep(1 if "SLURM_PROCID" in os.environ else 10)
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


def start(ranks: int | None, words: Sequence[str], hosts: str | None = None, checkpoints: Path | None = None) -> int:
    """Runs ``./gossamer run WORDS`` on that many ranks, or on one for each slot of the machines in the file ``hosts``.

    Returns 0; raises the error of the rank that failed first, or InputError if the ranks cannot be started. The error
    of a rank that died names the last checkpoint in a folder.
    """
    with launch(ranks, lambda _: ["gossamer", "run", *words], hosts, checkpoints) as (_, output):
        shutil.copyfileobj(output, sys.stdout.buffer)
    return 0


@contextlib.contextmanager
def launch(
    ranks: int | None,
    program: Callable[[Path], Sequence[str]],
    hosts: str | None = None,
    checkpoints: Path | None = None,
) -> Iterator[tuple[Path, IO[bytes]]]:
    """Runs ``python -m PROGRAM``, with the arguments that ``program(folder)`` returns, on ranks to their end.

    Yields the folder of the job, which all ranks see, and the standard output of the ranks. Arguments and errors as of
    ``start``.
    """
    machines = None if hosts is None else _machines(hosts, ranks)
    count = ranks if machines is None or ranks is not None else machines.slots
    if count is None:
        raise InputError(
            "--engine distributed: needs the number of ranks, as in -n 4 (or start the command with mpiexec, srun)"
        )
    processors = len(os.sched_getaffinity(0))
    alone = machines is None and not mpi_launcher.elsewhere() and not os.environ.keys() & _ALLOCATIONS
    if alone and count > processors * MOST_PER_PROCESSOR:
        raise InputError(
            f"-n {count}: this machine has {counted(processors, 'processor')}, for at most "
            f"{processors * MOST_PER_PROCESSOR} ranks; lower -n, or name more machines with --hosts"
        )
    launcher = mpi_launcher.launcher()
    # Ranks on other machines see the checkout, but not this machine's temporary files.
    shared = None
    if machines is not None or mpi_launcher.elsewhere():
        shared = ROOT / "build" / "jobs"
        shared.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gossamer-job-", dir=shared) as name, tempfile.TemporaryFile() as output:
        folder = Path(name)
        rank = [sys.executable, "-I", *(["-B"] if sys.dont_write_bytecode else []), "-m", *program(folder)]
        more = {_FOLDER: name, **mpi_launcher.environment(launcher, machines)}
        command = launcher.command(count, rank, machines=machines, folder=folder, exported=list(more))
        said: deque[str] = deque(maxlen=60)
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(_OF_A_RANK)}
        if _number("SLURM_STEP_NUM_TASKS"):
            inherited["SLURM_OVERLAP"] = "1"  # the launcher's srun would wait for the processors of this shell's step
        sys.stdout.flush()
        with mpi_launcher.started(
            command, f"{_FOLDER}={name}", stdout=output, stderr=subprocess.PIPE, env=inherited | more
        ) as child:
            assert child.stderr is not None
            _forward(child.stderr, said)
            code = child.wait()
        failure = folder / "failure"
        if failure.exists():
            raise _error(json.loads(failure.read_text(encoding="utf-8")), checkpoints)
        output.seek(0)
        if code:
            said.extend(line.decode(errors="replace").rstrip("\n") for line in output)
            error = mpi_launcher.failure(code, said, lambda process: _rank_of(folder, process))
            raise RunDied(str(error) + _continue_from(checkpoints)) if isinstance(error, RunDied) else error
        yield folder, output


def _machines(hosts: str, ranks: int | None) -> Machines:
    """The machines in a file, each of which can be reached. Raises InputError."""
    found = machines.read(hosts)
    if ranks is not None and ranks > found.slots:
        raise InputError(f"--hosts {hosts}: has {found.slots} slots for {ranks} ranks; lower -n, or write HOST:SLOTS")
    found.check()
    return found


def _rank_of(folder: Path, process: int) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return int((folder / f"process.{process}").read_text(encoding="ascii"))
    return None


def _forward(stream: IO[bytes], said: deque[str]) -> None:
    for raw in stream:
        line = raw.decode(errors="surrogateescape")
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
    if failure["kind"] == HandlerDied.__name__:
        return HandlerDied(text, failure["vertex"])
    if failure["kind"] == NoAnswer.__name__:
        return NoAnswer(text)
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


__all__ = ["fail", "first_to_report", "is_rank", "join", "launch", "note_process", "start"]
