# SPDX-License-Identifier: Apache-2.0
"""Distributes simulators and emulators over MPI ranks: the launcher command, and the library that each rank loads.

The programs themselves do not depend on MPI: a library (``sim/ranks`` for a cluster's simulator, ``src/smi/mpi`` for
the emulator of streams) is compiled for the available MPI, MPICH of the group ``mpi`` or, with ``GOSSAMER_MPIEXEC``
and ``GOSSAMER_MPICXX``, that of a site.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import gossamer_setup
from gossamer import builds
from gossamer.errors import InputError
from gossamer.hdl import _run
from gossamer.paths import INCLUDE, ROOT

_SOURCES = ROOT / "sim" / "ranks"
_START, _COMPILER = "GOSSAMER_MPIEXEC", "GOSSAMER_MPICXX"


def command(ranks: int, simulator: Sequence[str | Path], socket: Path) -> list[str]:
    """The command that starts a simulator's ranks; rank 0 communicates over a socket. InputError without an MPI."""
    start, library = launcher(_SOURCES)
    return [*start, "-n", str(ranks), *map(str, simulator), "--ranks", str(library), "--socket", str(socket)]


def elsewhere() -> bool:
    """Whether ranks may run on other machines than this one."""
    return bool(_words(_START))


def launcher(sources: Path) -> tuple[list[str], Path]:
    """The launcher command, and the library built from the single C++ file of a folder. InputError without an MPI."""
    start, compiler = _words(_START), _words(_COMPILER)
    if bool(start) != bool(compiler):
        raise InputError(f"an MPI of your own needs both {_START} (its launcher) and {_COMPILER} (its compiler)")
    if not start:
        gossamer_setup.require("mpi")
        prefix = Path(sys.executable).parent.parent
        start = [str(prefix / "bin" / "mpiexec")]
        if not Path(start[0]).exists():
            raise InputError(f"ranks: MPICH has builds for x86-64 only; name an MPI with {_START} and {_COMPILER}")
        compiler = [*builds.compiler(), f"-I{prefix}/include", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib"]
        library = _library(sources, [*compiler, "-lmpi"])
    else:
        for name, words in ((_START, start), (_COMPILER, compiler)):
            if shutil.which(words[0]) is None:
                raise InputError(f"{name}: command {words[0]} not found")
        library = _library(sources, compiler)
    return start, library


def _words(name: str) -> list[str]:
    """The arguments in an environment variable, split as by a shell. InputError for unbalanced quotes."""
    try:
        return shlex.split(os.environ.get(name, ""))
    except ValueError as error:
        raise InputError(f"{name}: {error}; write a command and its arguments in shell syntax") from None


def _library(folder: Path, compiler: Sequence[str]) -> Path:
    """The shared library of a folder's MPI functions, built with a compiler and its flags. InputError if that fails."""
    (main,) = folder.glob("*.cc")
    sources = [main, *_run.included([main], [INCLUDE])]
    key = hashlib.sha256("\0".join(compiler).encode() + b"".join(path.read_bytes() for path in sources))

    def make(made: Path) -> None:
        flags = ["-std=c++20", "-O2", "-shared", "-fPIC", f"-I{INCLUDE}", str(main)]
        libraries = [word for word in compiler if word.startswith("-l")]
        words = [*(word for word in compiler if word not in libraries), *flags, *libraries]
        log = made / "build.log"
        if _run.run([*words, "-o", str(made / "ranks.so")], log, made):
            raise InputError(f"building for MPI failed: {_run.first_error(log)} (all of it in {log})")

    return _run.kept("ranks", key.hexdigest()[:16], make) / "ranks.so"


__all__ = ["command", "elsewhere", "launcher"]
