# SPDX-License-Identifier: Apache-2.0
"""A progress bar for set-up, which runs before anything is installed."""

from __future__ import annotations

import shutil
import sys
import time


class Meter:
    """One line on stderr that moves if it is a terminal; plain lines at start and end otherwise."""

    def __init__(self, title: str, total: int) -> None:
        self.title = title
        self.total = max(total, 1)
        self.done = 0
        self._terminal = sys.stderr.isatty()
        self._started = time.monotonic()
        if self._terminal:
            self.show("")
        else:
            self.line(f"{title} ...")

    @staticmethod
    def note(text: str) -> None:
        """A line that belongs to no bar."""
        sys.stderr.write(f"gossamer: {text}\n")
        sys.stderr.flush()

    def line(self, text: str) -> None:
        """A whole line, above the bar."""
        if self._terminal:
            sys.stderr.write("\r\x1b[K")
        sys.stderr.write(f"gossamer: {text}\n")
        sys.stderr.flush()

    def show(self, detail: str) -> None:
        """Draws the bar, with a short description of the present step."""
        if not self._terminal:
            return
        width = 24
        full = min(width, width * self.done // self.total)
        text = f"{self.title} [{'#' * full}{'.' * (width - full)}] {self.done}/{self.total} {detail}"
        sys.stderr.write("\r" + text[: shutil.get_terminal_size().columns - 1] + "\x1b[K")
        sys.stderr.flush()

    def close(self, result: str) -> None:
        """Ends the bar with a line that reports the result."""
        self.line(f"{self.title}: {result}, {time.monotonic() - self._started:.0f} s")

    def abort(self) -> None:
        """Clears the terminal's line."""
        if self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
