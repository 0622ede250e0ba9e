# SPDX-License-Identifier: Apache-2.0
"""``./gossamer run FOLDER --engine rtl`` for a program with a host: both parts built, and run beside the simulator."""

from __future__ import annotations

import functools
import json
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli import _files
from gossamer.engines._rtl_words import ACCELERATOR, Still
from gossamer.errors import InputError, RunDied

if TYPE_CHECKING:
    from gossamer.cli._tile_program import _Request
    from gossamer.engines import rtl, rtl_cluster
    from gossamer.engines._rtl_host import Report, Status
    from gossamer.hostprograms import Program

_CONFIG = "tiny"
_NOT_HERE = {
    "threads": "a host starts its threads itself",
    "input": "a host sends bytes with DebugLink",
}
_MOST_LINES = 20
_LONG = 30.0
"""Seconds without a call of the host after which that is told."""


def run(request: _Request, arguments: Sequence[str]) -> int:
    """Builds and runs a program; gives the host's exit code. Raises RunDied where the run cannot go on."""
    from gossamer import config as configs
    from gossamer import device, hostprograms
    from gossamer.cli import _tile_program
    from gossamer.engines import _rtl_host, rtl, rtl_cluster

    for name, why in _NOT_HERE.items():
        if request.one(name) is not None:
            raise InputError(f"--{name}: not for a program with a host; {why}")
    if request.one_tile:
        raise InputError("--one-tile: not for a program with a host; it runs on a board")
    cluster = _tile_program._cluster(request)
    config = cluster.boards[0].config if cluster is not None else configs.load(request.one("config") or _CONFIG)
    waves, trace, report_file = request.file("waves"), request.file("trace"), request.file("report")
    views = _tile_program._views(request, waves, trace)
    if request.stats_file is not None:
        _files.check_writable(request.stats_file)
    shown = _tile_program._tile(request.one("tile"), config, cluster)
    plan = rtl_cluster.Plan(cluster) if cluster is not None else None
    workers, seed = request.number("workers", 1), request.number("seed", 0)
    watchdog, timeout = request.number("watchdog", 0), request.number("timeout", 1)
    most_cycles = request.number("max-cycles", 1)
    program = hostprograms.build(
        request.programs,
        config,
        request.options.get("define", []),
        includes=request.options.get("include", []),
        boards=plan.shape if plan is not None else device.ALONE,
    )
    for warning in program.warnings[:_MOST_LINES]:
        click.echo(_tile_program.visible(warning), err=True)
    console = _Console(Path(program.name).name)
    machine: rtl.Board
    if plan is not None:
        machine = many = rtl_cluster.Cluster(
            plan,
            frame_loss=request.share("frame-loss"),
            cut=request.options.get("cut", []),
            seed=1 if seed is None else seed,
            workers=workers,
            tile=shown,
            **views,
        )
    else:
        machine, many = rtl.Board(config, workers=workers, tile=shown, **views), None
    with machine:
        try:
            ended = _rtl_host.run(
                machine,
                program,
                [_argument(one, program.folder) for one in arguments],
                most_cycles=most_cycles or 0,
                watchdog=rtl.WATCHDOG if watchdog is None else watchdog,
                timeout=timeout,
                on_status=console.status,
            )
        finally:
            console.clear()
            for note in machine.notes:
                click.echo(note, err=True)
    report = ended.report
    for event in report.events if report is not None else []:
        if event.what != "link_up" and many is not None:
            click.echo(_tile_program.visible(many.event_words(event)), err=True)
    if report is not None and report.reason != "done":
        _died(program, report, machine, many)
    if ended.code < 0:
        raise RunDied(f"{program.name}: the host program died of {signal.Signals(-ended.code).name}")
    if request.stats and ended.run is not None:
        _statistics(request, ended.run, machine, many)
    if report_file is not None and ended.run is not None:
        page = _tile_program._report(request.program, config, ended.run, many)
        _files.whole(report_file, lambda file: file.write(page.encode()))
    return ended.code


def _argument(word: str, folder: Path) -> str:
    """An argument for the host, which runs in another folder: a file is named in full."""
    path = Path(word)
    if path.is_absolute() or not path.exists() or (folder / path).exists():
        return word
    return str(path.resolve())


def _statistics(request: _Request, run: rtl.Run, machine: rtl.Board, cluster: rtl_cluster.Cluster | None) -> None:
    from gossamer.cli import _tile_program

    if request.stats_file is None:
        click.echo(_tile_program._table(machine.config, run, cluster))
        return
    about = _tile_program._statistics(request.program, machine.config, run, cluster)
    text = (json.dumps(about, indent=1) + "\n").encode()
    _files.whole(request.stats_file, lambda file: file.write(text))


def _died(program: Program, report: Report, machine: rtl.Board, cluster: rtl_cluster.Cluster | None) -> None:
    """Says why a run could not go on."""
    from gossamer.cli._tile_program import visible
    from gossamer.engines.rtl import on_tiles, ranges, who_waits

    lines = [
        (thread, line)
        for thread, text in sorted(report.said.items())
        for line in text.decode(errors="backslashreplace").splitlines()
    ]
    for thread, line in lines[-_MOST_LINES:]:
        click.echo(f"[{thread}] {visible(line)}", err=True)
    for trap in report.traps:
        code = _Code(program, report, trap.thread)
        place = f" {cluster.place(trap.thread)}" if cluster is not None and trap.thread != ACCELERATOR else ""
        click.echo(f"[{trap.who}{place}] trap: {visible(trap.words(code.where, code.instruction))}", err=True)
    by_code: dict[str, list[Still]] = {}
    if report.reason in ("deadlock", "stuck", "max-cycles"):
        for one in report.still:
            by_code.setdefault(report.image(one.thread), []).append(one)
    config = machine.config
    one_board = functools.partial(on_tiles, per_tile=config.threads_per_tile, width=config.mesh.width)
    places = cluster.on_boards if cluster is not None else one_board
    for group in by_code.values():
        for line in who_waits(group, _Code(program, report, group[0].thread).where, places):
            click.echo(visible(line), err=True)
    waiting = ranges(one.thread for one in report.still)
    threads = {trap.thread for trap in report.traps if trap.thread != ACCELERATOR}
    who = f"thread{'s' if len(threads) > 1 else ''} {ranges(threads)} trapped" if threads else "an accelerator failed"
    host = f"the host waits in {report.call}"
    told = {
        "trap": f"{who}; {host}",
        "deadlock": f"deadlock: {host}, all threads that run ({waiting}) wait for messages, and none is on its way",
        "ended": f"{host}, but all threads have ended",
        "idle": f"{host}, but no thread was started (HostLink::go)",
        "stuck": f"stuck: no instruction and no output for long, after {report.cycles:,} cycles; {host}",
        "max-cycles": f"not at its end after {report.cycles:,} cycles; {host}",
        "failed": f"{report.failed}; in {report.call}",
        "stopped": f"the simulation was stopped; {host}",
        "gone": f"{report.failed}; in {report.call}",
    }
    queued = f"; {report.queued} flits of the host wait to enter the network" if report.queued else ""
    raise RunDied(f"{program.name}: {told.get(report.reason, report.reason)}{queued}")


class _Code:
    """The program that a thread runs."""

    def __init__(self, program: Program, report: Report, thread: int) -> None:
        self._image = program.images.get(report.image(thread))

    def where(self, pc: int) -> object:
        return self._image.where(pc) if self._image else f"a program that is not known here (pc {pc:#x})"

    def instruction(self, pc: int) -> int | None:
        return self._image.instruction(pc) if self._image else None


class _Console:
    """What is shown on a terminal while a program runs."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._shown = False
        self._calls = -1
        self._since = time.monotonic()
        self._last = (time.monotonic(), 0)

    def status(self, status: Status) -> None:
        now = time.monotonic()
        if status.calls != self._calls or not status.computes:
            self._calls, self._since = status.calls, now
        elif now - self._since > _LONG:
            self._since = now + 1e9
            self.clear()
            click.echo(
                f"note: {self._name} has made no call to HostLink for {_LONG:g} s; simulated time stands still at "
                f"cycle {status.cycle:,} until it does",
                err=True,
            )
        if not sys.stderr.isatty() or sys.stdout.isatty():
            return
        speed = (status.cycle - self._last[1]) / max(1e-3, now - self._last[0]) / 1e3
        self._last = (now, status.cycle)
        text = f"{self._name}: {status.cycle:,} cycles, {status.instructions:,} instructions, {speed:,.0f} kHz"
        sys.stderr.write(f"\r{text} \x1b[K")
        sys.stderr.flush()
        self._shown = True

    def clear(self) -> None:
        """Takes the progress off the screen."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
