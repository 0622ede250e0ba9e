# SPDX-License-Identifier: Apache-2.0
"""Starts ranks with an MPI: the launcher command, and the library with which each rank joins the others.

The engine ``distributed``, clusters' simulators on several ranks and the emulator of streams in several processes use
it. The programs themselves do not depend on MPI: the library (``src/distributed/mpi``) is compiled for the available
MPI, MPICH of the group ``mpi`` or, with ``GOSSAMER_MPIEXEC`` and ``GOSSAMER_MPICXX``, that of a site.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import gossamer_setup
from gossamer import builds, processes
from gossamer.errors import GossamerError, InputError, RunDied, signal_name
from gossamer.hdl import _run
from gossamer.hosts.machines import Machines
from gossamer.paths import INCLUDE, ROOT
from gossamer_setup._signals import SIGNALS

_SOURCES = ROOT / "src" / "distributed" / "mpi"
_START, _COMPILER = "GOSSAMER_MPIEXEC", "GOSSAMER_MPICXX"
_VERSION = "GOSSAMER_MPI"
"""The version of MPI that all ranks must have, in their environment (gs_ranks_join)."""
_REPORT = "gossamer: error: "
"""Begins the line of a process that could not join the others."""
_GRACE = 5.0
"""Seconds for ranks to end after their launcher."""


@dataclass(frozen=True)
class Launcher:
    """The launcher of an MPI, and the library built for that MPI."""

    words: tuple[str, ...]
    library: Path

    @cached_property
    def kind(self) -> str:
        """hydra (MPICH and its relatives), open-mpi, slurm, or unknown: it selects the syntax of options."""
        # A launcher waits for input if it does not know the option.
        done = processes.run([self.words[0], "--version"])
        text = (done.stdout + done.stderr).lower()
        for kind, marks in (
            ("open-mpi", ("open mpi", "open-mpi", "openrte", "prrte")),
            ("hydra", ("hydra", "intel(r) mpi")),
            ("slurm", ("slurm",)),
        ):
            if any(mark in text for mark in marks):
                return kind
        return "unknown"

    @cached_property
    def version(self) -> str:
        """Name and version of the MPI."""
        loaded = ctypes.CDLL(str(self.library), mode=ctypes.RTLD_GLOBAL)
        loaded.gs_ranks_mpi.restype = ctypes.c_char_p
        text: bytes = loaded.gs_ranks_mpi()
        return text.decode(errors="replace")

    def command(
        self,
        ranks: int,
        program: Sequence[str | Path],
        *,
        machines: Machines | None = None,
        folder: Path | None = None,
        exported: Sequence[str] = (),
    ) -> list[str]:
        """The command that starts ranks of a program; other machines get the environment variables ``exported``.

        The file of the machines for this launcher is written to ``folder``. InputError for machines that the launcher
        cannot be given.
        """
        options: list[str] = []
        if machines is not None:
            assert folder is not None
            options = self._on(machines, folder)
        if self.kind == "open-mpi":  # others pass the whole environment
            options += [word for name in exported for word in ("-x", name)]
        return [*self.words, *options, "-n", str(ranks), *map(str, program)]

    def _on(self, machines: Machines, folder: Path) -> list[str]:
        agent = machines.agent
        file = folder / "machines"
        if self.kind == "hydra":
            lines = [f"{one.name}:{one.slots}" for one in machines.all]
            # Of these two, "ssh" precedes the machine by options of ssh.
            shell = "ssh" if Path(agent).name == "ssh" else "rsh"
            options = ["-launcher", shell, "-launcher-exec", agent, "-f", str(file)]
        elif self.kind == "open-mpi":
            lines = [f"{one.name} slots={one.slots}" for one in machines.all]
            options = ["--mca", "plm", "rsh", "--mca", "plm_rsh_agent", agent, "--hostfile", str(file)]
        else:
            why = "Slurm selects the machines" if self.kind == "slurm" else "its options for machines are not known"
            raise InputError(f"--hosts: not with the launcher {self.words[0]}: {why}; omit --hosts")
        file.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
        return options


def launcher() -> Launcher:
    """The launcher of the available MPI and its library, built if necessary. InputError without an MPI."""
    start, compiler = _words(_START), _words(_COMPILER)
    if bool(start) != bool(compiler):
        raise InputError(f"an MPI of your own needs both {_START} (its launcher) and {_COMPILER} (its compiler)")
    if start:
        for name, words in ((_START, start), (_COMPILER, compiler)):
            if shutil.which(words[0]) is None:
                raise InputError(f"{name}: command {words[0]} not found")
        return Launcher(tuple(start), _library(compiler))
    gossamer_setup.require("mpi")
    prefix = Path(sys.executable).parent.parent
    own = prefix / "bin" / "mpiexec"
    if not own.exists():
        raise InputError(f"ranks: MPICH has builds for x86-64 only; name an MPI with {_START} and {_COMPILER}")
    compiler = [*builds.compiler(), f"-I{prefix}/include", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib", "-lmpi"]
    return Launcher((str(own),), _library(compiler))


def elsewhere() -> bool:
    """Whether ranks may run on other machines than this one."""
    return bool(_words(_START))


def _words(name: str) -> list[str]:
    """The arguments in an environment variable, split as by a shell. InputError for unbalanced quotes."""
    try:
        return shlex.split(os.environ.get(name, ""))
    except ValueError as error:
        raise InputError(f"{name}: {error}; write a command and its arguments in shell syntax") from None


def _library(compiler: Sequence[str]) -> Path:
    """The shared library, built with a compiler and its flags. InputError if that fails."""
    (main,) = _SOURCES.glob("*.cc")
    sources = [main, *_run.included([main], [INCLUDE])]
    key = hashlib.sha256("\0".join(compiler).encode() + b"".join(path.read_bytes() for path in sources))

    def make(made: Path) -> None:
        flags = ["-std=c++20", "-O2", "-shared", "-fPIC", "-pthread", f"-I{INCLUDE}", str(main)]
        libraries = [word for word in compiler if word.startswith("-l")]
        words = [*(word for word in compiler if word not in libraries), *flags, *libraries]
        log = made / "build.log"
        if _run.run([*words, "-o", str(made / "ranks.so")], log, made):
            raise InputError(f"building for MPI failed: {_run.first_error(log)} (all of it in {log})")

    return _run.kept("ranks", key.hexdigest()[:16], make) / "ranks.so"


# ---- Running a launcher --------------------------------------------------------------


def environment(start: Launcher, machines: Machines | None) -> dict[str, str]:
    """Variables with which ranks check that their MPI is that of the command; empty if all run on this machine."""
    return {_VERSION: start.version} if machines is not None or elsewhere() else {}


@contextlib.contextmanager
def started(
    command: Sequence[str], word: str, *, stdout: Any, stderr: Any, env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """The launcher's process. On exit it has ended, and with it the ranks on this machine.

    ``word`` is an argument or ``NAME=VALUE`` of the environment of each rank, and of no other process.
    """
    child: subprocess.Popen[bytes] | None = None
    try:
        # Only this command reacts to Ctrl-C: a launcher would kill ranks that still write their output.
        with SIGNALS.held():
            child = subprocess.Popen(
                command, env=env, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True
            )
        yield child
    finally:
        if child is not None:
            processes.end(child)
            processes.end_those_with(word, _GRACE)


def reported(lines: Sequence[str]) -> str | None:
    """Why a process could not join the others, as it reports on its standard error; None without such a line."""
    return next((line.partition(_REPORT)[2] for line in lines if _REPORT in line), None)


def failure(
    code: int, lines: Sequence[str], rank_of: Callable[[int], int | None] = lambda process: None
) -> GossamerError:
    """The error of ranks that ended without a report: from the messages of the launcher and its exit code.

    ``rank_of`` returns the rank with a process number, which the launcher knows.
    """
    problem = reported(lines)
    if problem is not None:
        return InputError(problem) if code == InputError.exit_code else RunDied(problem)
    text = "\n".join(lines)
    who = "a rank"
    if found_process := re.search(r"PID (\d+) RUNNING AT (\S+)", text):
        rank = rank_of(int(found_process[1]))
        who = f"{who if rank is None else f'rank {rank}'} on {found_process[2]}"
    elif found_process := re.search(r"process rank (\d+) with PID \d+ on node (\S+)", text):  # Open MPI
        who = f"rank {found_process[1]} on {found_process[2]}"
    if found_signal := re.search(r"KILLED BY SIGNAL: (\d+)|\(signal (\d+)\)|exited on signal (\d+)", text):
        number = int(next(group for group in found_signal.groups() if group))
        return RunDied(f"{who} was killed by {signal_name(number)}; there is no result")
    if found_code := re.search(r"EXIT CODE: (\d+)", text):
        return RunDied(f"{who} ended with exit code {found_code[1]}; there is no result")
    first = next((line.strip() for line in lines if line.strip(" =-")), f"exit code {code}")
    return RunDied(f"the ranks did not start, or ended without a report: {first}")


__all__ = ["Launcher", "elsewhere", "environment", "failure", "launcher", "reported", "started"]
