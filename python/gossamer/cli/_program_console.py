# SPDX-License-Identifier: Apache-2.0
"""What is shown while a program runs on simulated hardware: its output on stdout, traps and progress on stderr."""

from __future__ import annotations

import struct
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from gossamer.device import Image
    from gossamer.engines.rtl import Event, Message, Trap
    from gossamer.engines.rtl_cluster import Cluster as SimulatedCluster

_MOST_WARNINGS = 20


def visible(text: str) -> str:
    """Text without what a terminal would obey: control characters other than tabs, as escapes."""
    return "".join(_ESCAPES.get(c, c) for c in text)


_ESCAPES = {chr(code): f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}
_ESCAPES |= {chr(code): f"\\u{code:04x}" for code in (*range(0x2028, 0x202F), *range(0x2066, 0x206A))}
_ESCAPES |= {"\r": "\\r"}
del _ESCAPES["\t"]
"""The controls of ASCII and Latin-1, line separators, and what turns the direction of text."""


def show_warnings(warnings: Sequence[str]) -> None:
    """The warnings of a compiler, and how many more there are."""
    for warning in warnings[:_MOST_WARNINGS]:
        click.echo(visible(warning), err=True)
    if len(warnings) > _MOST_WARNINGS:
        click.echo(f"and {len(warnings) - _MOST_WARNINGS} more warnings", err=True)


class Progress:
    """The line on a terminal that says how far a run has come."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._shown = False
        self._last = (time.monotonic(), 0)

    def show(self, cycle: int, instructions: int) -> None:
        if not sys.stderr.isatty():
            return
        now = time.monotonic()
        speed = (cycle - self._last[1]) / max(1e-3, now - self._last[0]) / 1e3
        self._last = (now, cycle)
        sys.stderr.write(f"\r{self._name}: {cycle:,} cycles, {instructions:,} instructions, {speed:,.0f} kHz \x1b[K")
        sys.stderr.flush()
        self._shown = True

    def clear(self) -> None:
        """Takes the line off the screen."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False


class Console:
    """What is shown while a program runs: its output on stdout, traps and progress on stderr."""

    def __init__(self, name: str, image_of: Callable[[int], Image], raw: bool = False) -> None:
        """``image_of`` gives the program that a thread runs."""
        self._raw = raw
        self._image_of = image_of
        self._progress = Progress(name)
        self.progress, self.clear = self._progress.show, self._progress.clear
        self.cluster: SimulatedCluster | None = None
        """Whose threads have a place to be named beside their numbers."""

    def _who(self, thread: int) -> str:
        return str(thread) if self.cluster is None else f"{thread} {self.cluster.place(thread)}"

    def line(self, thread: int, text: str, more: bool) -> None:
        """A line of a thread; one that is too long is broken, and says so with a backslash."""
        self.clear()
        text = text if self._raw else visible(text)
        sys.stdout.write(f"[{self._who(thread)}] {text}{chr(92) if more else ''}\n")
        sys.stdout.flush()

    def message(self, message: Message) -> None:
        """A message to the host, as words."""
        self.clear()
        words = struct.unpack(f"<{len(message.data) // 4}I", message.data)
        sys.stdout.write(f"[host] message {' '.join(f'{word:08x}' for word in words)}\n")
        sys.stdout.flush()

    def emit(self, thread: int, word: int) -> None:
        """A word that a thread wrote to ``emit``."""
        self.clear()
        sys.stdout.write(f"[{self._who(thread)}] emit {word:#010x}\n")
        sys.stdout.flush()

    def trap(self, trap: Trap) -> None:
        self.clear()
        image = self._image_of(trap.thread)
        said = trap.words(image.where, image.instruction)
        who = trap.who if trap.thread < 0 else self._who(trap.thread)
        click.echo(f"[{who}] trap: {visible(said)}", err=True)

    def event(self, event: Event) -> None:
        """What a board told by itself, but for links that come up."""
        if self.cluster is None or event.what == "link_up":
            return
        self.clear()
        click.echo(visible(self.cluster.describe_event(event)), err=True)


__all__ = ["Console", "Progress", "show_warnings", "visible"]
