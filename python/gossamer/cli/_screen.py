# SPDX-License-Identifier: Apache-2.0
"""A terminal that shows a page again and again."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import termios
import time
import tty
from typing import Any


def size() -> tuple[int, int]:
    """Columns and lines of the terminal; 80 columns without a terminal."""
    try:
        found = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        columns = os.environ.get("COLUMNS", "")
        return (int(columns) if columns.isdecimal() and int(columns) else 80), 0
    return found.columns or 80, max(4, (found.lines or 24) - 1)


class Screen:
    """A terminal: redraws the page on its alternate screen if it has one, else prints page after page.

    ``keys``: `wait` reads keys.
    """

    def __init__(self, *, keys: bool = False) -> None:
        self._has_alternate_screen = os.environ.get("TERM", "dumb") not in ("", "dumb")
        self._mode: list[Any] | None = None
        if keys and sys.stdin.isatty():
            with contextlib.suppress(termios.error):
                self._mode = termios.tcgetattr(sys.stdin)
                tty.setcbreak(sys.stdin)
        if self._has_alternate_screen:
            sys.stdout.write("\x1b[?1049h\x1b[?25l")

    def draw(self, lines: list[str]) -> None:
        """Replaces the page."""
        if self._has_alternate_screen:
            sys.stdout.write("\x1b[H" + "".join(f"{line}\x1b[K\n" for line in lines) + "\x1b[J")
        else:
            sys.stdout.write("\n".join(lines) + "\n\n")
        sys.stdout.flush()

    def wait(self, seconds: float) -> bool:
        """Waits, and returns whether the key q was pressed meanwhile."""
        if self._mode is None:
            time.sleep(seconds)
            return False
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if select.select([sys.stdin], [], [], left)[0]:
                pressed = os.read(sys.stdin.fileno(), 64)
                if not pressed:
                    time.sleep(left)
                if b"q" in pressed.lower():
                    return True
        return False

    def close(self) -> None:
        """Restores the terminal."""
        if self._mode is not None:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._mode)
        if self._has_alternate_screen:
            sys.stdout.write("\x1b[?25h\x1b[?1049l")
            sys.stdout.flush()


__all__ = ["Screen", "size"]
