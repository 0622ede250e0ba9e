# SPDX-License-Identifier: Apache-2.0
"""Signals that end the command: they unwind the stack like Ctrl-C, so that all work in progress is cleaned up."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType


class Stopped(SystemExit):
    """A signal ends the command; the exit code is that of a shell, 128 plus the signal's number."""


class Signals:
    """Makes SIGTERM and SIGHUP unwind the stack like Ctrl-C, and defers all three in critical sections."""

    _NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    _SOON = 0.01
    """Seconds after which a dropped signal is raised again."""

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
        """Raises a signal again that arrived while Python collected an object: Python drops exceptions there."""
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
        """Handles signals during a command. A signal that the caller ignores (nohup) remains ignored."""
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
        """Defers signals to the end of the block; outside of a command, only Ctrl-C."""
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
            # Also after an error: a signal that stays pending would end the next block.
            pending, self._pending = self._pending, None
            if pending is not None:
                raise pending


SIGNALS = Signals()
