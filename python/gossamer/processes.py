# SPDX-License-Identifier: Apache-2.0
"""Child processes: none outlives this process when a signal ends it.

``run`` is for tools (compilers, build systems, converters), which have their own process group: a terminal's
Ctrl-C reaches only this process, which ends the whole group. ``run_attended`` is for a user's program, which shares
the terminal.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import IO, Any

from gossamer_setup._signals import SIGNALS, Stopped

_GRACE = 5.0
"""Seconds between SIGTERM and SIGKILL."""
_PR_SET_PDEATHSIG = 1
_PATIENCE = 0.5
"""Seconds after which a user's program that still runs has not received the Ctrl-C, or ignores it."""


def run(
    command: Sequence[str | Path],
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    input: str | None = None,
    output: IO[bytes] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a tool to its end. Its output is returned as text, or both streams are written to ``output``.

    If Ctrl-C, SIGTERM or an exception ends the wait, the tool and all processes that it has started are ended first.
    """
    child: subprocess.Popen[str] | None = None
    try:
        # An interrupt between the start of the child and the assignment would leave the child running.
        with SIGNALS.held():
            child = subprocess.Popen(
                [str(word) for word in command],
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
                stdout=subprocess.PIPE if output is None else output,
                stderr=subprocess.PIPE if output is None else subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        said, complaints = child.communicate(input)
        return subprocess.CompletedProcess(child.args, child.returncode, said or "", complaints or "")
    except BaseException:
        if child is not None and child.returncode is not None:
            # The tool has ended; the wait was for processes that it has started.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
        raise
    finally:
        if child is not None:
            end(child)


def run_lines(
    command: Sequence[str | Path],
    line: Callable[[str], object],
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
) -> int:
    """Runs a tool to its end, as `run` does; ``line`` gets each line of both its streams as it is printed.

    Returns the exit code.
    """
    child: subprocess.Popen[str] | None = None
    try:
        with SIGNALS.held():
            child = subprocess.Popen(
                [str(word) for word in command],
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        assert child.stdout is not None
        for text in child.stdout:
            line(text.rstrip("\n"))
        return child.wait()
    finally:
        if child is not None:
            end(child)


def end(child: subprocess.Popen[Any]) -> None:
    """Ends the child, which leads a process group, and all processes that it has started."""
    if child.returncode is None:
        with SIGNALS.held():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGTERM)
            _ends_within(child, _GRACE)
            # Processes of the group may ignore SIGTERM. Until the child is waited for, the system does not reuse the
            # group's number.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream is not None:
            stream.close()


def _ends_within(child: subprocess.Popen[Any], seconds: float) -> None:
    """Waits at most so many seconds for the end of a child, without reaping it."""
    handle = os.pidfd_open(child.pid)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.poll(seconds * 1000)
    finally:
        os.close(handle)


def end_those_with(word: str, seconds: float) -> None:
    """Waits until no process of this machine has this word, an argument or ``NAME=VALUE`` of its environment.

    Kills those that are left after so many seconds. An MPI launcher does not wait for the processes that it kills, and
    they are no children of this one.
    """
    until = time.monotonic() + seconds
    while _with(word) and time.monotonic() < until:
        time.sleep(0.01)
    for pid in _with(word):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _with(word: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        for file in ("cmdline", "environ"):
            # A zombie has neither; those of other users cannot be read.
            with contextlib.suppress(OSError):
                if word.encode() in (path / file).read_bytes().split(b"\0") and int(path.name) != os.getpid():
                    found.append(int(path.name))
    return found


def end_with_parent(parent: int) -> None:
    """Makes the kernel kill this process when its parent ends, for any reason.

    ``parent`` is the parent's number, because the parent may have ended before this call.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


class _Asked:
    """Records SIGINT, SIGTERM and SIGHUP with their times, instead of their default actions; wakes ``wait``."""

    def __init__(self) -> None:
        self.signals: list[tuple[float, int]] = []
        self._before: dict[int, Any] = {}
        self._wake, self._wakes = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._files = [self._wake, self._wakes]
        self._poll = select.poll()
        self._poll.register(self._wake, select.POLLIN)
        self._wakes_before: int | None = None
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                self._before[number] = signal.signal(number, self._note)
        # Python calls the handler between two bytecodes, so a signal just before a wait would be handled after it. The
        # byte that Python's own handler writes to the pipe ends the wait.
        self._wakes_before = signal.set_wakeup_fd(self._wakes, warn_on_full_buffer=False)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.signals.append((time.monotonic(), number))

    def follow(self, child: subprocess.Popen[bytes]) -> None:
        """Makes the end of this child wake ``wait`` too."""
        handle = os.pidfd_open(child.pid)
        self._files.append(handle)
        self._poll.register(handle, select.POLLIN)

    def wait(self, seconds: float | None) -> None:
        """Waits until the child has ended, a signal is received, or that many seconds have passed."""
        self._poll.poll(None if seconds is None else seconds * 1000)
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake, 4096)

    def close(self) -> None:
        if self._wakes_before is not None:
            signal.set_wakeup_fd(self._wakes_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        for file in self._files:
            os.close(file)


def run_attended(
    command: Sequence[str | Path],
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
    look: Callable[[], object] = lambda: None,
    every: float | None = None,
) -> int:
    """Starts a user's program and waits for it; returns its exit code, less than 0 for a signal.

    A terminal's Ctrl-C reaches the program too, which ends first. Signals that reach only this process are forwarded:
    SIGTERM and SIGHUP at once, SIGINT half a second later. The program is killed on a second signal, or ``_GRACE``
    seconds after SIGTERM. Raises KeyboardInterrupt or Stopped if a forwarded signal has ended the program. An exception
    that ends the wait also ends the program.

    ``pass_fds`` are open files that the program inherits under their numbers. ``look`` is called every so many seconds.
    """
    # Signals are recorded before the program starts: it may run, and be signalled, before Popen has returned.
    watch = _Asked()
    try:
        child = subprocess.Popen([str(word) for word in command], cwd=cwd, env=env, pass_fds=pass_fds)
        try:
            watch.follow(child)
            return _attend(child, watch, look, every)
        finally:
            child.kill()
            child.wait()
    finally:
        watch.close()


def _attend(child: subprocess.Popen[bytes], watch: _Asked, look: Callable[[], object], every: float | None) -> int:
    passed = 0
    killed = False
    asked = watch.signals
    while (code := child.poll()) is None:
        watch.wait(0.1 if asked else every)
        look()
        now = time.monotonic()
        for at, number in asked[passed:]:
            if passed:
                killed = True
                child.kill()
            elif number == signal.SIGINT and now - at < _PATIENCE and len(asked) == 1:
                break
            else:
                child.send_signal(number)
            passed += 1
        if passed and not killed and asked[0][1] != signal.SIGINT and now - asked[0][0] > _GRACE:
            killed = True
            child.kill()
    if asked and (killed or code == -asked[0][1]):
        if asked[0][1] == signal.SIGINT:
            raise KeyboardInterrupt
        raise Stopped(128 + asked[0][1])
    return code


def processor_seconds() -> float:
    """Processor time of this process and of its children that have ended, in seconds."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


__all__ = ["end", "end_those_with", "end_with_parent", "processor_seconds", "run", "run_attended", "run_lines"]
