# SPDX-License-Identifier: Apache-2.0
"""Signals that ask us to end: they unwind like Ctrl-C does, so that all that is under way is cleaned up."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType


class Stopped(SystemExit):
    """A signal asked us to end; the exit code is that of a shell, 128 and the signal's number."""


class Signals:
    """Lets SIGTERM and SIGHUP unwind like Ctrl-C does, and holds all of them back where that would harm."""

    _NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    _SOON = 0.01
    """Seconds after which a signal that was dropped is told again."""

    def __init__(self) -> None:
        self._handling = False
        self._held = False
        self._pending: BaseException | None = None
        self._dropped: BaseException | None = None

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        error = KeyboardInterrupt() if number == signal.SIGINT else Stopped(128 + number)
        self._tell(error)

    def _tell(self, error: BaseException) -> None:
        if not self._held:
            raise error
        self._pending = error

    def _again(self, _number: int, _frame: FrameType | None) -> None:
        error, self._dropped = self._dropped, None
        if error is not None:
            self._tell(error)

    @contextlib.contextmanager
    def _not_dropped(self) -> Iterator[None]:
        """Python drops what is raised while it collects an object: a signal that comes just then is told again."""
        before, alarm = sys.unraisablehook, signal.getsignal(signal.SIGALRM)

        def hook(what: sys.UnraisableHookArgs) -> None:
            if isinstance(what.exc_value, KeyboardInterrupt | Stopped):
                self._dropped = what.exc_value
                signal.setitimer(signal.ITIMER_REAL, self._SOON)
            else:
                before(what)

        sys.unraisablehook = hook
        signal.signal(signal.SIGALRM, self._again)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            if alarm is not None:  # it is Python's
                signal.signal(signal.SIGALRM, alarm)
            sys.unraisablehook = before

    @contextlib.contextmanager
    def handled(self) -> Iterator[None]:
        """For all of a command. A signal that our caller ignores (nohup) stays ignored."""
        if self._handling or threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {}
        self._handling = True
        for number in self._NUMBERS:
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, self._stop)
        try:
            with self._not_dropped():
                yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            self._handling = False

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """A signal that comes in here takes effect at the end; in a program that is not ours, Ctrl-C alone."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = None
        if not self._handling and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            before = signal.signal(signal.SIGINT, self._stop)
        self._held = True
        try:
            yield
        finally:
            self._held = False
            if before is not None:
                signal.signal(signal.SIGINT, before)
            # Even if something has failed meanwhile: kept, it would end whatever is held next.
            pending, self._pending = self._pending, None
            if pending is not None:
                raise pending


SIGNALS = Signals()
