# SPDX-License-Identifier: Apache-2.0
"""MPI programs on this machine: a rank is a process, and messages go through memory that all share."""

from __future__ import annotations

import mmap
import os
import resource
import select
import struct
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from gossamer import builds, diagnostics
from gossamer.device import _sources
from gossamer.errors import AnswerNo, InputError, RunDied, signal_name
from gossamer.mpi import HEADERS, LIBRARY, MOST_RANKS
from gossamer.paths import INCLUDE
from gossamer_setup._signals import SIGNALS

_FLAGS = ("-O2", "-g", "-fPIC", "-pthread")
_HEAD, _INBOX = 64, 192
"""Bytes before the ranks' inboxes in shared memory, and of an inbox: Shared and Inbox of shared.c."""
_AWAKE, _ASLEEP, _FINALIZED, _ENDED = range(4)
_GRACE = 2.0
"""Seconds that the others have to say what they wait for, when one has ended."""
_MORE_FILES = 8
"""Open files of a run but those of its ranks: shared memory, the poll, and pipes while a rank is started."""
_LOOK = 100
"""Milliseconds from one look at who has called MPI_Init to the next, when a rank has ended that has not."""


def build(
    sources: Sequence[str],
    *,
    defines: Sequence[str] = (),
    includes: Sequence[str] = (),
    packet_bytes: int | None = None,
) -> tuple[Path, tuple[str, ...]]:
    """Compiles and links an MPI program: its executable, kept, and the compiler's warnings, a line each.

    ``packet_bytes`` are those of a packet between ranks, 1024 if left out; the overlay has 64. InputError, one line,
    where it cannot be done.
    """
    paths = _sources.collect(list(sources))
    for path in paths:
        if path.suffix == ".elf":
            raise InputError(f"{path}: is for threads of the overlay; give the sources of an MPI program")
    folders = [*includes, *(one for one in sources if os.path.isdir(one))]
    flags = [*_FLAGS, *_sources.search(folders), *_sources.macros(defines), f"-I{HEADERS}"]
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
    """What changes with the C compiler; that of C++ is in the name of all builds' folder."""
    words = builds.c_compiler()
    return [*words, builds.key_of(tuple(words))]


def _library(packet_bytes: int | None) -> Path:
    """The library as an archive."""
    flags = ["-std=gnu17", *_FLAGS, "-Wall", "-Wextra", f"-I{HEADERS}", f"-I{INCLUDE}"]
    if packet_bytes is not None:
        flags.append(f"-DPACKET_BYTES={packet_bytes}")
    sources = sorted(LIBRARY.glob("*.c"))

    def steps(plan: builds.Plan) -> None:
        tool = builds.c_compiler()
        plan.archive("libgsmpi.a", [plan.compile(path, flags, tool=tool) for path in sources])

    def failed(said: str, log: Path) -> InputError:
        return InputError(f"building the library of MPI failed: {diagnostics.complaint(said, LIBRARY, log)}")

    tag = builds.tag(*map(str, sources), *flags, *_c_compiler())
    return builds.kept(f"mpi/lib-{tag}", steps, failed) / "libgsmpi.a"


def run(program: str, executable: Path, ranks: int, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Starts all ranks and waits for their ends.

    Raises AnswerNo where ranks end with another code than 0, RunDied where one dies, gives up or leaves without
    MPI_Finalize, and then all others are ended.
    """
    if not 1 <= ranks <= MOST_RANKS:
        raise InputError(f"-n {ranks}: is no number of ranks from 1 to {MOST_RANKS}")
    _let_open(ranks)
    memory = os.memfd_create("gossamer-mpi")
    started: list[subprocess.Popen[bytes]] = []
    try:
        os.ftruncate(memory, (_HEAD + ranks * _INBOX + 4095) // 4096 * 4096)
        common = {**os.environ, **environment, "GSMPI_SIZE": str(ranks), "GSMPI_FD": str(memory)}
        for rank in range(ranks):
            own = {**common, "GSMPI_RANK": str(rank)}
            stdin = None if rank == 0 else subprocess.DEVNULL
            words = [str(executable), *arguments]
            # Interrupted between the start of a rank and our knowing it, we would leave it behind.
            with SIGNALS.held():
                started.append(subprocess.Popen(words, env=own, pass_fds=[memory], stdin=stdin))
        with mmap.mmap(memory, _HEAD + ranks * _INBOX, prot=mmap.PROT_READ) as shown:
            _wait(program, started, shown)
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
        for process in started:
            process.wait()
        os.close(memory)


def _let_open(ranks: int) -> None:
    """Room for the files of a run, one for each rank and some more. InputError where this machine has less."""
    needed = len(os.listdir("/proc/self/fd")) + ranks + _MORE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise InputError(
            f"-n {ranks}: needs {needed} open files, and {hard} are allowed; start fewer ranks, or raise the "
            "hard limit (ulimit -Hn)"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _wait(program: str, started: Sequence[subprocess.Popen[bytes]], shown: mmap.mmap) -> None:
    """Waits for all ranks, or for the first that ends as it should not."""
    poll = select.poll()
    handles = {}
    try:
        for rank, process in enumerate(started):
            handle = os.pidfd_open(process.pid)
            handles[handle] = rank
            poll.register(handle, select.POLLIN)
        codes: dict[int, int] = {}
        strangers: list[int] = []
        left = len(started)
        while left:
            # Others may join when one has ended that never will: their first wait for it would last for ever.
            for handle, _ in poll.poll(_LOOK if strangers else None):
                poll.unregister(handle)
                rank = handles[handle]
                left -= 1
                code = codes[rank] = started[rank].wait()
                state, joined = struct.unpack_from("<II", shown, _HEAD + rank * _INBOX)
                said = _what_is_wrong(rank, code, state, joined)
                if said is not None:
                    # Others that have found the same out say so before they end.
                    if state == _ENDED:
                        _let_speak(started)
                    raise RunDied(f"{program}: {said}; all ranks are ended")
                if not joined:
                    strangers.append(rank)
            if strangers and any(_has_joined(shown, rank) for rank in range(len(started))):
                rank = strangers[0]
                raise RunDied(
                    f"{program}: rank {rank} has left without MPI_Init, which others have called, with exit code "
                    f"{codes[rank]}; all ranks are ended"
                )
    finally:
        for handle in handles:
            os.close(handle)
    wrong = [rank for rank, code in sorted(codes.items()) if code]
    if wrong:
        listed = ", ".join(f"rank {rank} with {codes[rank]}" for rank in wrong[:4])
        more = f", and {len(wrong) - 4} more" if len(wrong) > 4 else ""
        raise AnswerNo(f"{program}: ended with another code than 0: {listed}{more}")


def _has_joined(shown: mmap.mmap, rank: int) -> bool:
    """Whether a rank takes part in the run, by MPI_Init; one that ends the run says why by itself."""
    state, joined = struct.unpack_from("<II", shown, _HEAD + rank * _INBOX)
    return bool(joined) and state != _ENDED


def _what_is_wrong(rank: int, code: int, state: int, joined: int) -> str | None:
    if code < 0:
        return f"rank {rank} was killed by {signal_name(-code)}"
    if state == _ENDED:
        return f"rank {rank} ended the run"
    if joined and state != _FINALIZED:
        return f"rank {rank} has left without MPI_Finalize, with exit code {code}"
    return None


def _let_speak(started: Sequence[subprocess.Popen[bytes]]) -> None:
    """Gives ranks that end by themselves the time for it, as in a deadlock, where all do."""
    import time

    until = time.monotonic() + _GRACE
    last = sum(process.poll() is None for process in started)
    quiet = time.monotonic()
    while last and time.monotonic() < until and time.monotonic() - quiet < 0.2:
        time.sleep(0.01)
        now = sum(process.poll() is None for process in started)
        if now != last:
            last, quiet = now, time.monotonic()


__all__ = ["build", "run"]
