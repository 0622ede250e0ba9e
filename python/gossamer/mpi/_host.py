# SPDX-License-Identifier: Apache-2.0
"""MPI programs on this machine: each rank is a process, and messages use shared memory."""

from __future__ import annotations

import contextlib
import mmap
import os
import resource
import select
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gossamer import builds, diagnostics
from gossamer.device import _sources
from gossamer.errors import AnswerNo, InputError, RunDied, signal_name
from gossamer.mpi import HEADERS, LIBRARY, MOST_RANKS, _lines
from gossamer.paths import INCLUDE
from gossamer_setup._signals import SIGNALS

_FLAGS = ("-O2", "-g", "-fPIC", "-pthread")
_OF_PROGRAMS = ("-gdwarf-4", "-fno-optimize-sibling-calls")
"""Flags for the user's sources: `_lines` reads the lines of MPI calls, and a call returns to the function it is in."""
_HEAD, _INBOX = 64, 192
"""Bytes before the inboxes of the ranks in shared memory, and size of an inbox: Shared and Inbox of shared.c."""
_AWAKE, _ASLEEP, _FINALIZED, _ENDED = range(4)
_GRACE = 2.0
"""Seconds that the other ranks have for their messages after one has ended the run."""
_MORE_FILES = 10
"""Open files of a run in addition to those of its ranks: shared memory, the poll, pipes for messages and for the start
of a rank."""
_LOOK = 100
"""Polling interval for calls of MPI_Init by others, after a rank has ended without one; in milliseconds."""


def build(
    sources: Sequence[str],
    *,
    defines: Sequence[str] = (),
    includes: Sequence[str] = (),
    packet_bytes: int | None = None,
) -> tuple[Path, tuple[str, ...]]:
    """Compiles and links an MPI program; returns its executable, and the compiler's warnings as lines.

    ``packet_bytes`` is the size of a packet between ranks, by default 1024; the overlay's is 64. InputError, one line,
    if that fails.
    """
    paths = _sources.collect(list(sources))
    for path in paths:
        if path.suffix == ".elf":
            raise InputError(f"{path}: is a program of the overlay; give the sources of an MPI program")
    folders = [*includes, *(one for one in sources if os.path.isdir(one))]
    flags = [*_FLAGS, *_OF_PROGRAMS, *_sources.search(folders), *builds.macros(defines), f"-I{HEADERS}"]
    library = _library(packet_bytes)
    own = [path for path in paths if path.suffix != _sources.OBJECT]
    targets = {path: f"{number}-{builds.plain(path.stem)}.o" for number, path in enumerate(own)}
    name = builds.plain(paths[0].resolve().stem) or "program"

    def steps(plan: builds.Plan) -> None:
        for path, target in targets.items():
            language, *standard = _sources.LANGUAGES[path.suffix]
            tool = builds.compiler() if language == "c++" else builds.c_compiler()
            warn = [*standard, "-Wall"] if standard else []
            plan.compile(path.resolve(), [*warn, *flags], target, tool=tool, keep_said=True)
        objects = [targets[path] if path in targets else path.resolve() for path in paths]
        # The C++ compiler links both languages.
        plan.link(name, [*objects, library], ["-pthread", "-lm"])

    def failed(said: str, log: Path) -> InputError:
        return InputError(diagnostics.first_error(said, diagnostics.whose(said, paths).resolve()))

    tag = builds.tag(*(str(path.resolve()) for path in paths), *flags, str(library), *_c_compiler())
    made = builds.kept(f"mpi/{name}-{tag}", steps, failed)
    warned = [one for target in targets.values() for one in _sources.warnings(builds.said(made, target))]
    return made / name, _sources.shown(warned, paths)


def _c_compiler() -> list[str]:
    """The identity of the C compiler; the name of the build folder already includes that of the C++ compiler."""
    command = builds.c_compiler()
    return [*command, builds.key_of(tuple(command))]


def _library(packet_bytes: int | None) -> Path:
    """The MPI library as an archive."""
    flags = ["-std=gnu17", *_FLAGS, "-Wall", "-Wextra", f"-I{HEADERS}", f"-I{INCLUDE}"]
    if packet_bytes is not None:
        flags.append(f"-DPACKET_BYTES={packet_bytes}")
    sources = sorted(LIBRARY.glob("*.c"))

    def steps(plan: builds.Plan) -> None:
        tool = builds.c_compiler()
        plan.archive("libgsmpi.a", [plan.compile(path, flags, tool=tool) for path in sources])

    def failed(said: str, log: Path) -> InputError:
        return InputError(f"building the MPI library failed: {diagnostics.complaint(said, LIBRARY, log)}")

    tag = builds.tag(*map(str, sources), *flags, *_c_compiler())
    return builds.kept(f"mpi/lib-{tag}", steps, failed) / "libgsmpi.a"


def run(
    program: str,
    executable: Path,
    ranks: int,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    sources: Sequence[Path] = (),
    visible: Callable[[str], str] = str,
) -> None:
    """Starts all ranks and waits for them to end. Messages name ``sources`` as they are given here; ``visible``
    replaces control characters in them.

    Raises AnswerNo if ranks end with a code other than 0. If a rank is killed, aborts the run or ends without
    MPI_Finalize, ends all other ranks and raises RunDied.
    """
    if not 1 <= ranks <= MOST_RANKS:
        raise InputError(f"-n {ranks}: give 1 to {MOST_RANKS} ranks")
    _raise_file_limit(ranks)
    memory = os.memfd_create("gossamer-mpi")
    messages, writer = os.pipe()
    os.set_blocking(messages, False)
    started: list[subprocess.Popen[bytes]] = []
    console = _Messages(messages, executable, sources, visible)
    try:
        os.ftruncate(memory, (_HEAD + ranks * _INBOX + 4095) // 4096 * 4096)
        common = {**os.environ, **environment, "GSMPI_SIZE": str(ranks), "GSMPI_FD": str(memory)}
        common["GSMPI_MESSAGES"] = str(writer)
        for rank in range(ranks):
            own = {**common, "GSMPI_RANK": str(rank)}
            stdin = None if rank == 0 else subprocess.DEVNULL
            command = [str(executable), *arguments]
            # An interrupt between the start of a rank and the append would leave the rank running.
            with SIGNALS.held():
                started.append(subprocess.Popen(command, env=own, pass_fds=[memory, writer], stdin=stdin))
        with mmap.mmap(memory, _HEAD + ranks * _INBOX, prot=mmap.PROT_READ) as shown:
            _wait(program, started, shown, console)
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
        for process in started:
            process.wait()
        console.show()
        for handle in (memory, messages, writer):
            os.close(handle)


class _Messages:
    """The library's messages about the ranks' calls: prints them on stderr with file and line of the call."""

    def __init__(self, handle: int, executable: Path, sources: Sequence[Path], visible: Callable[[str], str]) -> None:
        self.handle, self._visible = handle, visible
        self._executable, self._sources = executable, sources
        self._read = b""
        self._lines: _lines.Lines | None = None

    def show(self) -> None:
        """Prints what has been written so far."""
        with contextlib.suppress(BlockingIOError):
            while part := os.read(self.handle, 1 << 16):
                self._read += part
        *whole, self._read = self._read.split(b"\n")
        for line in whole:
            place, _, text = line.decode(errors="replace").partition(" ")
            sys.stderr.write(f"mpi: {self._place(int(place[1:], 16))}{self._visible(text)}\n")
        sys.stderr.flush()

    def _place(self, offset: int) -> str:
        """File and line of the call that returns to an address, as the start of a message; empty if it is unknown."""
        if not offset:
            return ""
        if self._lines is None:
            self._lines = _lines.Lines(self._executable, self._sources)
        found = self._lines.place(offset - 1)
        return f"{found[0]}:{found[1]}: " if found else ""


def _raise_file_limit(ranks: int) -> None:
    """Raises the limit of open files to that of a run. InputError if the hard limit is too low."""
    needed = len(os.listdir("/proc/self/fd")) + ranks + _MORE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise InputError(
            f"-n {ranks}: needs {needed} open files, but the hard limit is {hard}; start fewer ranks, or raise the "
            "hard limit (ulimit -Hn)"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _wait(program: str, started: Sequence[subprocess.Popen[bytes]], shown: mmap.mmap, console: _Messages) -> None:
    """Waits for all ranks, or for the first failure."""
    poll = select.poll()
    poll.register(console.handle, select.POLLIN)
    handles = {}
    try:
        for rank, process in enumerate(started):
            handle = os.pidfd_open(process.pid)
            handles[handle] = rank
            poll.register(handle, select.POLLIN)
        codes: dict[int, int] = {}
        unjoined: list[int] = []
        left = len(started)
        while left:
            # A rank ended without MPI_Init; a rank that calls MPI_Init later would wait for it forever.
            for handle, _ in poll.poll(_LOOK if unjoined else None):
                if handle == console.handle:
                    console.show()
                    continue
                poll.unregister(handle)
                rank = handles[handle]
                left -= 1
                code = codes[rank] = started[rank].wait()
                state, joined = struct.unpack_from("<II", shown, _HEAD + rank * _INBOX)
                failure = _failure(rank, code, state, joined)
                if failure is not None:
                    # Ranks that detected the same failure print it before they end.
                    if state == _ENDED:
                        _await_messages(started, console)
                    raise RunDied(f"{program}: {failure}; all ranks are ended")
                if not joined:
                    unjoined.append(rank)
            if unjoined and any(_has_joined(shown, rank) for rank in range(len(started))):
                rank = unjoined[0]
                raise RunDied(
                    f"{program}: rank {rank} ended without MPI_Init, which other ranks have called, with exit code "
                    f"{codes[rank]}; all ranks are ended"
                )
    finally:
        for handle in handles:
            os.close(handle)
    failed = [rank for rank, code in sorted(codes.items()) if code]
    if failed:
        listed = ", ".join(f"rank {rank} with {codes[rank]}" for rank in failed[:4])
        more = f", and {len(failed) - 4} more" if len(failed) > 4 else ""
        raise AnswerNo(f"{program}: ended with a code other than 0: {listed}{more}")


def _has_joined(shown: mmap.mmap, rank: int) -> bool:
    """Whether a rank has called MPI_Init; a rank that ends the run prints the reason itself."""
    state, joined = struct.unpack_from("<II", shown, _HEAD + rank * _INBOX)
    return bool(joined) and state != _ENDED


def _failure(rank: int, code: int, state: int, joined: int) -> str | None:
    if code < 0:
        return f"rank {rank} was killed by {signal_name(-code)}"
    if state == _ENDED:
        return f"rank {rank} ended the run"
    if joined and state != _FINALIZED:
        return f"rank {rank} ended without MPI_Finalize, with exit code {code}"
    return None


def _await_messages(started: Sequence[subprocess.Popen[bytes]], console: _Messages) -> None:
    """Waits while ranks end without a signal, as all ranks do in a deadlock."""
    import time

    deadline = time.monotonic() + _GRACE
    last = sum(process.poll() is None for process in started)
    changed = time.monotonic()
    while last and time.monotonic() < deadline and time.monotonic() - changed < 0.2:
        time.sleep(0.01)
        console.show()  # a rank that writes to a full pipe would wait
        now = sum(process.poll() is None for process in started)
        if now != last:
            last, changed = now, time.monotonic()


__all__ = ["build", "run"]
