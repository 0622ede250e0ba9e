# SPDX-License-Identifier: Apache-2.0
"""Errors that reach the user: one clear line each, and the design's exit code.

The command prints ``str(error)`` on one line and exits with ``error.exit_code``.
Anything that is not a GossamerError is our own bug (exit code 70).
"""

from __future__ import annotations

import enum
import signal

from gossamer_setup._installed import spoken


class ExitCode(enum.IntEnum):
    """What the command's exit status means."""

    DONE = 0
    NO = 1
    INPUT = 2
    DIED = 4
    BUG = 70
    INTERRUPTED = 130


class GossamerError(Exception):
    """Base of every error meant for the user. ``exit_code`` says which kind."""

    exit_code: ExitCode = ExitCode.BUG

    def __str__(self) -> str:
        # An installed package has another command than a checkout.
        return spoken(super().__str__())


class AnswerNo(GossamerError):
    """The question was understood and the answer is no (a difference, a failed bound)."""

    exit_code = ExitCode.NO


class InputError(GossamerError):
    """The input or the environment is wrong: says what, where, and what to do."""

    exit_code = ExitCode.INPUT


class RunDied(GossamerError):
    """The run died: a rank, a board, a watchdog."""

    exit_code = ExitCode.DIED


class HandlerDied(RunDied):
    """A handler of a vertex ended a run: it threw, crashed or did not return."""

    def __init__(self, text: str, vertex: int | None = None, places: list[str] | None = None) -> None:
        super().__init__(text)
        self.vertex = vertex
        """The index of the vertex, if it is known."""
        self.places = places or []
        """Addresses of code, OBJECT+0x12ab, the innermost first; none where it threw."""


class NoAnswer(RunDied):
    """The run ended, and what it came to is no answer: it had not converged, or a value overflowed."""


class GraphWarning(UserWarning):
    """What an application makes of a graph that may surprise; the command prints it as a note."""


def signal_name(number: int) -> str:
    """What a signal is called in a message. Of the real-time ones only the first and the last have names."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
