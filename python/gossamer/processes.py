# SPDX-License-Identifier: Apache-2.0
"""Other programs that we start: none outlives us when a signal ends us.

``run`` is for tools (compilers, build systems, converters), which have a process group of their own: a terminal's
Ctrl-C reaches us alone, and we end the whole group. ``run_attended`` is for a user's program, which shares our
terminal.
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
"""Seconds for what was asked to end; then it is killed."""
_PR_SET_PDEATHSIG = 1
_PATIENCE = 0.5
"""Seconds after which a user's program that goes on has not met the Ctrl-C, or does not mind it."""


def run(
    command: Sequence[str | Path],
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    input: str | None = None,
    output: IO[bytes] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a tool to its end; what it writes is text, or goes to ``output``, both streams in one.

    Whatever ends the wait (Ctrl-C, SIGTERM, an exception) ends the tool first, with all that it has started.
    """
    child: subprocess.Popen[str] | None = None
    try:
        # Interrupted between the start of the child and our knowing it, we would leave it behind.
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
            # The tool has ended, and what we still waited for is of its own.
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

    Gives the exit code.
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


def end(child: subprocess.Popen[str]) -> None:
    """The child, which leads a process group, and all that it started is gone after this."""
    if child.returncode is None:
        with SIGNALS.held():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGTERM)
            _ends_within(child, _GRACE)
            # It may have left some of its own behind, who mind no SIGTERM. Until it is waited for, the group's number
            # is not given to another.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream is not None:
            stream.close()


def _ends_within(child: subprocess.Popen[str], seconds: float) -> None:
    """Gives a child so many seconds to end, and leaves it to be waited for."""
    handle = os.pidfd_open(child.pid)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.poll(seconds * 1000)
    finally:
        os.close(handle)


def end_with_parent(parent: int) -> None:
    """Has the kernel end this process when the one that started it ends, however that comes.

    ``parent`` is the number of that one: it may have ended before this call.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


class _Asked:
    """Notes SIGINT, SIGTERM and SIGHUP, with the time, instead of what they do else; wakes ``wait``."""

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
        # Python calls our handler between two steps of its own: a signal just before a wait would be heard of when that
        # ends. What Python's own handler writes ends the wait.
        self._wakes_before = signal.set_wakeup_fd(self._wakes, warn_on_full_buffer=False)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.signals.append((time.monotonic(), number))

    def follow(self, child: subprocess.Popen[bytes]) -> None:
        """The end of this child wakes ``wait`` too."""
        handle = os.pidfd_open(child.pid)
        self._files.append(handle)
        self._poll.register(handle, select.POLLIN)

    def wait(self, seconds: float | None) -> None:
        """Until the child has ended, a signal came, or that many seconds have passed."""
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
    """Starts a user's program and waits for it; gives its exit code, less than 0 for a signal.

    Ctrl-C of a terminal reaches it too, and it is for it to end, and then for us. What reached us alone is passed on:
    SIGTERM and SIGHUP at once, SIGINT half a second later. Asked a second time, or not gone in ``_GRACE`` seconds
    behind SIGTERM, it is killed. KeyboardInterrupt or Stopped if it has ended by what we were asked. Whatever else ends
    the wait ends the program.

    ``pass_fds`` are open files that it gets under their numbers. ``look`` is called every so many seconds.
    """
    # Signals are noted before the program stands: it may be at work, and be asked to end, before Popen has returned.
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


__all__ = ["end", "end_with_parent", "processor_seconds", "run", "run_attended", "run_lines"]
