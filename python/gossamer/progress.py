# SPDX-License-Identifier: Apache-2.0
"""Progress of long work on stderr: a bar on a terminal and in a notebook, a line every 10 seconds elsewhere.

``GOSSAMER_PROGRESS=off`` turns both off.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

INTERVAL = 10.0
"""Seconds between two lines where stderr is no terminal; shorter work prints nothing."""


class Bar(Protocol):
    """Returned by ``bar`` and ``steps``: `update` reports how many units were done since the last call."""

    def update(self, n: float) -> object: ...


class _Silent:
    def update(self, n: float) -> None:
        """Shows nothing."""


class _Lines:
    """Prints a line every `INTERVAL` seconds from a separate thread, so also during a long step."""

    def __init__(self, total: float | None, what: str, unit: str, *, estimates: bool) -> None:
        self._total, self._what, self._unit, self._estimates = total, what, unit, estimates
        self._done = 0.0
        self._begun = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._print, daemon=True)
        self._thread.start()

    def update(self, n: float) -> None:
        self._done += n

    def _print(self) -> None:
        while not self._ended.wait(INTERVAL):
            print(f"gossamer: {self._text()}", file=sys.stderr, flush=True)

    def _text(self) -> str:
        seconds = time.monotonic() - self._begun
        unit = self._unit.removesuffix("s") if self._done == 1 else self._unit
        share = f" {_short(self._done)}{unit} done," if self._done else ""
        if self._total:
            share = f" {_short(self._done)} of {_short(self._total)}{self._unit},"
        text = f"{self._what}:{share} {seconds:.0f} s"
        if self._estimates and self._total and 0 < self._done < self._total:
            text += f", about {seconds * (self._total - self._done) / self._done:.0f} s left"
        return text

    def close(self) -> None:
        self._ended.set()
        self._thread.join()


def _short(number: float) -> str:
    """A number with a prefix, in the format of bars."""
    for prefix in ("", "k", "M", "G"):
        if number < 1000:
            return f"{number:.3g}{prefix}"
        number /= 1000
    return f"{number:.3g}T"


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, whose output redraws a line after a carriage return."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


class Line:
    """One line on stderr that is redrawn, on a terminal or in a notebook; elsewhere nothing is shown."""

    def __init__(self) -> None:
        self._shows = not silent() and (sys.stderr.isatty() or in_notebook())
        self._width = 0

    def show(self, text: str) -> None:
        """Replaces the line."""
        if self._shows:
            # Blanks, because a notebook does not know the terminal's code that clears a line.
            print(f"\r{text:<{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(text)

    def clear(self) -> None:
        """Removes the line."""
        if self._width:
            print(f"\r{'':<{self._width}}\r", end="", file=sys.stderr, flush=True)
            self._width = 0


def silent() -> bool:
    """Whether GOSSAMER_PROGRESS turns progress off."""
    return os.environ.get("GOSSAMER_PROGRESS") == "off"


@contextmanager
def _shown(total: float | None, what: str, unit: str, *, scaled: bool) -> Iterator[Bar]:
    if silent():
        yield _Silent()
        return
    if not (sys.stderr.isatty() or in_notebook()):
        lines = _Lines(total, what, unit, estimates=True)
        try:
            yield lines
        finally:
            lines.close()
        return
    # Imported here, because most runs are too short for a bar, or have no terminal.
    from tqdm import tqdm

    with tqdm(
        total=total, desc=what, unit=unit or "it", unit_scale=scaled, leave=False, delay=0.5, dynamic_ncols=True
    ) as shown:
        if total is not None:
            yield shown
            return
        # Without a total the time is all that moves.
        ended = threading.Event()

        def tick() -> None:
            while not ended.wait(1.0):
                shown.refresh()

        thread = threading.Thread(target=tick, daemon=True)
        thread.start()
        try:
            yield shown
        finally:
            ended.set()
            thread.join()


@contextmanager
def bar(total: float | None, what: str, unit: str = "") -> Iterator[Bar]:
    """A bar for ``total`` units (None if unknown) of ``what``; it vanishes at the end.

    ``unit`` is printed after the numbers, which have the prefixes k, M and G. Nothing is drawn in the first half
    second.
    """
    with _shown(total, what, unit, scaled=True) as shown:
        yield shown


@contextmanager
def steps(what: str, total: int | None) -> Iterator[Bar]:
    """The same for a number of steps, such as the compilations of a build."""
    with _shown(total, what, " steps", scaled=False) as shown:
        yield shown


__all__ = ["INTERVAL", "Bar", "Line", "bar", "in_notebook", "silent", "steps"]
