# SPDX-License-Identifier: Apache-2.0
"""The output of a run on simulated hardware: lines of threads, traps, progress, the verdict at its end, its figures."""

from __future__ import annotations

import struct
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer.errors import AnswerNo, RunDied

if TYPE_CHECKING:
    from gossamer.cli._program_arguments import Request
    from gossamer.config import Config
    from gossamer.device import Image
    from gossamer.engines._rtl_diagnostics import Held, Tiles
    from gossamer.engines.rtl import Event, Message, Run, Trap
    from gossamer.engines.rtl_cluster import Cluster as SimulatedCluster


# ---- Console ----


_MOST_WARNINGS = 20


def visible(text: str) -> str:
    """Text with control characters other than tabs replaced by escapes, so that a terminal does not interpret them."""
    return "".join(_ESCAPES.get(c, c) for c in text)


_ESCAPES = {chr(code): f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}
_ESCAPES |= {chr(code): f"\\u{code:04x}" for code in (*range(0x2028, 0x202F), *range(0x2066, 0x206A))}
_ESCAPES |= {"\r": "\\r"}
del _ESCAPES["\t"]
"""Control characters of ASCII and Latin-1, line separators, and controls of text direction."""


def show_warnings(warnings: Sequence[str]) -> None:
    """Prints the first warnings of a compiler, and the number of further ones."""
    for warning in warnings[:_MOST_WARNINGS]:
        click.echo(visible(warning), err=True)
    if len(warnings) > _MOST_WARNINGS:
        click.echo(f"and {len(warnings) - _MOST_WARNINGS} more warnings", err=True)


class Progress:
    """The progress line of a run on a terminal."""

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
        """Erases the line."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False


class Console:
    """Prints a running program's output on stdout, traps and progress on stderr."""

    def __init__(self, name: str, image_of: Callable[[int], Image], raw: bool = False) -> None:
        """``image_of`` maps a thread to its program."""
        self._raw = raw
        self._image_of = image_of
        self._progress = Progress(name)
        self.progress, self.clear = self._progress.show, self._progress.clear
        self.cluster: SimulatedCluster | None = None
        """The cluster, whose board and tile names follow the numbers of threads."""

    def _label(self, thread: int) -> str:
        return str(thread) if self.cluster is None else f"{thread} {self.cluster.place(thread)}"

    def line(self, thread: int, text: str, more: bool) -> None:
        """Prints a line of a thread; a part of a longer line ends with a backslash."""
        self.clear()
        text = text if self._raw else visible(text)
        sys.stdout.write(f"[{self._label(thread)}] {text}{chr(92) if more else ''}\n")
        sys.stdout.flush()

    def message(self, message: Message) -> None:
        """Prints a message to the host as words."""
        self.clear()
        words = struct.unpack(f"<{len(message.data) // 4}I", message.data)
        sys.stdout.write(f"[host] message {' '.join(f'{word:08x}' for word in words)}\n")
        sys.stdout.flush()

    def emit(self, thread: int, word: int) -> None:
        """Prints a word that a thread wrote to ``emit``."""
        self.clear()
        sys.stdout.write(f"[{self._label(thread)}] emit {word:#010x}\n")
        sys.stdout.flush()

    def trap(self, trap: Trap) -> None:
        self.clear()
        image = self._image_of(trap.thread)
        text = trap.words(image.where, image.instruction)
        who = trap.who if trap.thread < 0 else self._label(trap.thread)
        click.echo(f"[{who}] trap: {visible(text)}", err=True)

    def event(self, event: Event) -> None:
        """Prints an event of a board, except a link that came up."""
        if self.cluster is None or event.what == "link_up":
            return
        self.clear()
        click.echo(visible(self.cluster.describe_event(event)), err=True)


# ---- Verdict ----


_MAX_CODES = 8


def judge_run(
    program: str, image: Image, run: Run, tiles: Tiles = lambda threads: "", down: str = "", held: Sequence[str] = ()
) -> None:
    """Raises RunDied or AnswerNo if a run failed. ``tiles`` names the tiles of threads, ``held`` has a line for each
    queue that blocks messages.
    """
    from gossamer.engines.rtl import describe_unfinished, ranges

    for line in describe_unfinished(run.unfinished, image.where, tiles):
        click.echo(visible(line), err=True)
    for line in held:
        click.echo(line, err=True)
    trapped = {trap.thread for trap in run.traps}
    failed = {thread: code for thread, code in sorted(run.codes.items()) if code}
    waiting = {one.thread for one in run.unfinished}
    ended = [f"{_named(trapped)} trapped"] if trapped else []
    ended += [_failed(failed)] if failed else []
    also = "".join(f"; {what}" for what in ended) + down
    if run.reason == "max-cycles":
        count = f"{len(run.unfinished)} of {run.threads} threads"
        raise RunDied(f"{program}: {count} had not ended after {run.cycles:,} cycles{also}")
    if run.reason == "deadlock":
        raise RunDied(f"{program}: deadlock: all threads that run ({ranges(waiting)}) {describe_deadlock(held)}{also}")
    if run.reason == "stuck":
        who = f"{_named(waiting)} had not ended" if waiting else "all threads had ended, but not all had reported it"
        raise RunDied(
            f"{program}: stuck: no instruction and no output for a long time, after {run.cycles:,} cycles; {who}{also}"
        )
    if trapped:
        raise RunDied(f"{program}: {'; '.join(ended)}")
    if failed:
        raise AnswerNo(f"{program}: {_failed(failed)}")


def describe_queues(
    queues: Sequence[Held], machine: SimulatedCluster | None, config: Config, tiles: Tiles
) -> list[str]:
    """A line for each queue that blocks messages; none if no message was in flight. A tile has no ``machine``."""
    from gossamer.engines import _rtl_diagnostics

    board = machine.switch_port if machine is not None else _rtl_diagnostics.no_board
    return _rtl_diagnostics.describe_queues(queues, config, tiles, board)


def rejected_messages(run: Run, cluster: SimulatedCluster | None, config: Config) -> list[str]:
    """A line for each tile that rejected messages in a run."""
    lines = []
    for number, counters in enumerate(run.tiles):
        if count := counters["refused"]:
            board, tile = divmod(number, config.tiles)
            on = f"board {cluster.plan.cluster.boards[board].name}, " if cluster is not None else ""
            position = f"{tile % config.mesh.width},{tile // config.mesh.width}"
            lines.append(f"{on}tile {position} rejected {count:,} message{'s' if count > 1 else ''}")
    return lines


def describe_deadlock(held: Sequence[str]) -> str:
    """What the threads of a deadlock wait for, as the end of a sentence."""
    return "wait for each other: messages are blocked" if held else "wait for messages, and none is in flight"


def describe_links_down(events: Sequence[Event], cluster: SimulatedCluster | None) -> str:
    """The links that are down, as the end of a sentence."""
    state: dict[str, bool] = {}
    for event in events:
        if cluster is not None and event.what in ("link_up", "link_down", "link_restarted"):
            cable = cluster.plan.cable_at(event.board, event.unit)
            if cable is not None:
                state[cluster.plan.cable_name(cable)] = event.what == "link_down"
    down = sorted(name for name, is_down in state.items() if is_down)
    return f"; link {', '.join(down)} {'is' if len(down) == 1 else 'are'} down" if down else ""


def _failed(codes: Mapping[int, int]) -> str:
    """Threads that ended with a code other than 0, and their codes."""
    from gossamer.engines.rtl import ranges

    listed = [f"{thread} with {_signed(code)}" for thread, code in list(codes.items())[:_MAX_CODES]]
    more = f" and {len(codes) - _MAX_CODES} more" if len(codes) > _MAX_CODES else ""
    if len(set(codes.values())) == 1:
        listed, more = [f"{ranges(codes)} with {_signed(next(iter(codes.values())))}"], ""
    return f"thread{'s' if len(codes) > 1 else ''} {', '.join(listed)}{more} ended, not with 0"


def _named(numbers: set[int]) -> str:
    from gossamer.engines.rtl import ACCELERATOR, ranges

    accelerator, threads = ACCELERATOR in numbers, numbers - {ACCELERATOR}
    named = [f"thread{'s' if len(threads) > 1 else ''} {ranges(threads)}"] if threads else []
    return " and ".join(named + ["the accelerator"] * accelerator)


def _signed(code: int) -> int:
    return code - (1 << 32) if code >> 31 else code


# ---- Figures ----


def write_figures(
    request: Request,
    config: Config,
    run: Run,
    cluster: SimulatedCluster | None,
    page: Path | None,
    jobs: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Prints or writes the figures that the arguments request, and the page if ``page`` names a file."""
    if not request.stats and page is None:
        return
    from gossamer.cli import _statistics
    from gossamer.watch import report

    options = {name: " ".join(values) for name, values in request.options.items() if name in _CONFIGURATION}
    plan = None if cluster is None else cluster.plan
    about = _statistics.program(request.program, config, run, plan, jobs, options)
    if request.stats and request.stats_file is None:
        click.echo("\n".join([_table(config, run, cluster, about), *map(_job, jobs)]))
    report.write(about, request.stats_file, page)


_CONFIGURATION = ("define", "routes", "frame-loss", "cut", "seed", "multicast", "mapping", "ranks", "workers", "input")
"""Options that a report shows."""


def _rows(config: Config, run: Run, about: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The main figures: name, value, note."""
    cache, mailbox = about["cache"], about["mailbox"]
    hit_share = "-" if cache["hit_share"] is None else f"{cache['hit_share']:.3f}"
    # Programs without vertices do not count retired instructions.
    retired = [] if run.retired is None else [("instructions retired", f"{run.retired:,}", "by threads with vertices")]
    micros = run.cycles / config.board.clock_mhz
    return [
        ("cycles", f"{run.cycles:,}", f"{micros:,.1f} us at {config.board.clock_mhz:g} MHz"),
        ("instructions", f"{run.instructions:,}", "issued by all cores"),
        *retired,
        ("instructions a cycle", f"{about['instructions_per_cycle']:.3f}", f"{about['cores']} cores"),
        ("utilisation", f"{about['utilisation']:.3f}", "share of the cycles of all cores that issued an instruction"),
        ("cache hits", f"{cache['hits']:,}", f"{hit_share} of all accesses"),
        ("cache misses", f"{cache['misses']:,}", ""),
        ("lines written back", f"{cache['writebacks']:,}", ""),
        ("messages sent", f"{mailbox['sent']:,}", ""),
        ("messages delivered", f"{mailbox['received']:,}", "once for all receiving threads of a tile"),
        ("flits out, in", f"{mailbox['flits_out']:,}, {mailbox['flits_in']:,}", "to and from other tiles"),
        ("floating-point operations", f"{about['fpu_operations']:,}", ""),
        ("simulated at", f"{about['kilohertz']:,.0f} kHz", f"{run.seconds:.3f} s"),
    ]


def _table(config: Config, run: Run, cluster: SimulatedCluster | None, about: Mapping[str, Any]) -> str:
    rows = _rows(config, run, about)
    width = max(len(value) for _, value, _ in rows)
    tiles = f"{about['tiles']} tile{'' if about['tiles'] == 1 else 's'}"
    what = f"a board of {config.name}, {tiles}" if about["tiles"] > 1 else f"one tile of {config.name}"
    if cluster is not None:
        boards = f"{cluster.plan.boards} board{'' if cluster.plan.boards == 1 else 's'}"
        what = f"cluster {about['cluster']}, {boards} of {config.name}, {tiles}"
    lines = [f"{run.engine} engine, {what}: {run.threads} thread{'' if run.threads == 1 else 's'}"]
    lines += [f"  {name:<26} {value:>{width}}  {note}".rstrip() for name, value, note in rows]
    if cluster is not None and run.links:
        lines.append(f"  {'link':<20} {'packets out':>12} {'in':>10} {'bytes out':>12} {'resent':>8} {'damaged':>8}")
        for one in about["by_link"]:
            name = f"{one['board']}:{one['link']}"
            numbers = [one[key] for key in ("tx_packets", "rx_packets", "tx_bytes", "resends", "damaged")]
            widths = (12, 10, 12, 8, 8)
            lines.append(f"  {name:<20} " + " ".join(f"{n:>{w},}" for n, w in zip(numbers, widths, strict=True)))
    return "\n".join(lines)


def _job(job: Mapping[str, Any]) -> str:
    """The line of a job."""
    end = "" if job["end"] == "done" else f", {job['end']}"
    return f"  job {job['job']}, {job['program']}: {job['threads']:,} threads, {job['cycles']:,} cycles{end}"


__all__ = [
    "Console",
    "Progress",
    "describe_deadlock",
    "describe_links_down",
    "describe_queues",
    "judge_run",
    "rejected_messages",
    "show_warnings",
    "visible",
    "write_figures",
]
