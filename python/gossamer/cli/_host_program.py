# SPDX-License-Identifier: Apache-2.0
"""``./gossamer run FOLDER --engine rtl``: builds both parts of a program with a host, and runs it with a simulator."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli import _program_arguments, _program_output
from gossamer.cli._program_arguments import GRAPH_OPTIONS
from gossamer.cli._program_output import Progress, show_warnings, visible
from gossamer.engines._rtl_diagnostics import ACCELERATOR, UnfinishedThread
from gossamer.errors import ExitCode, InputError, RunDied, signal_name

if TYPE_CHECKING:
    from gossamer.cli._program_arguments import Request
    from gossamer.engines import rtl_cluster
    from gossamer.engines._rtl_host import Report, Status
    from gossamer.hosts.hostlink import Program
    from gossamer.polite import Staged

_WITHOUT_HOST_OPTIONS = {
    "threads": "a host starts its threads itself",
    "input": "a host sends bytes with DebugLink",
}
_CLUSTER_OPTIONS = ("routes", "next-routes", "frame-loss", "cut", "ranks")
_MAX_LINES = 20
_NOTE_SECONDS = 30.0
"""Seconds without a call of the host after which a note is printed."""


def run(request: Request, arguments: Sequence[str]) -> int:
    """Builds and runs a program. Returns the host's exit code. Raises RunDied if the run aborts."""
    from gossamer import mapper, polite
    from gossamer.engines import _rtl_host, guest, rtl, rtl_cluster, rtl_vertices
    from gossamer.hosts import hostlink, pgraph

    place = request.place(request.one("engine") or rtl.NAME)
    if isinstance(place, guest.Place):
        raise InputError(f"{request.program}: has a host of its own, which would configure the boards of all guests")
    for name, why in _WITHOUT_HOST_OPTIONS.items():
        if request.one(name) is not None:
            raise InputError(f"--{name}: not for a program with a host; {why}")
    if request.one_tile:
        raise InputError("--one-tile: not for a program with a host; it runs on a board")
    config, cluster = request.hardware()
    waves, trace, report_file = request.outputs()
    views = request.views(waves, trace)
    shown = request.tile(config, cluster)
    for name in _CLUSTER_OPTIONS:
        if name in request.options and cluster is None:
            raise InputError(f"--{name}: needs a cluster; name one with --cluster")
    tables = request.one("routes")
    plan = rtl_cluster.Plan(cluster or config, rtl_cluster.read_tables(cluster, tables) if cluster and tables else None)
    changes = _program_arguments.host_updates(request, plan)
    placement = polite.Placement(
        plan,
        request.one_of("multicast", rtl_vertices.MULTICAST),
        request.one_of("mapping", mapper.METHODS) if "mapping" in request.options else None,
        request.number("max-steps", 1) or 0,
    )
    workers, seed = request.number("workers", 1), request.number("seed", 0)
    watchdog, timeout = request.number("watchdog", 0), request.number("timeout", 1)
    most_cycles = request.number("max-cycles", 1)
    shape = plan.shape
    defines, includes = request.options.get("define", []), request.options.get("include", [])
    if pgraph.is_one(request.program):
        program = pgraph.build(request.program, config, defines, boards=shape, sends=placement.sends)
    else:
        program = hostlink.build(
            request.programs, config, defines, includes=includes, boards=shape, sends=placement.sends
        )
    for name, what in GRAPH_OPTIONS.items():
        if name in request.options and program.recipe is None:
            raise InputError(f"--{name}: {what}, and {program.name} has none (PGraph)")
    show_warnings(program.warnings)
    console = _Console(Path(program.name).name)
    if place is not None:
        from gossamer.engines import board

        machine: rtl_cluster.Cluster = board.Boards(plan, place)
    else:
        machine = rtl_cluster.Cluster(
            plan,
            frame_loss=request.share("frame-loss"),
            cut=request.options.get("cut", []),
            seed=1 if seed is None else seed,
            workers=workers,
            ranks=request.number("ranks", 1) or 1,
            tile=shown,
            **views,
        )
    many = machine if cluster is not None else None
    with contextlib.ExitStack() as stack:
        stack.enter_context(machine)
        stage = stack.enter_context(polite.staged(program, placement))
        program = stage.program
        try:
            ended = _rtl_host.run(
                machine,
                program,
                [hostlink.argument(one, program.folder) for one in arguments],
                environment=stage.environment,
                most_cycles=most_cycles or 0,
                watchdog=rtl.WATCHDOG if watchdog is None else watchdog,
                timeout=timeout,
                on_status=console.status,
                changes=changes,
            )
        finally:
            console.clear()
            for note in machine.notes:
                click.echo(note, err=True)
        report, vertices = ended.report, _NO_VERTICES
        if program.recipe is not None:
            program = stage.images()
            vertices = _vertices(machine, report, stage, placement.most_steps)
        aborted = ended.timeout is not None or ended.code < 0 or (report is not None and report.reason != "done")
        stage.ended_well = not aborted and (report is not None or ended.code not in (ExitCode.INPUT, ExitCode.DIED))
    for event in report.events if report is not None else []:
        if event.what != "link_up" and many is not None:
            click.echo(visible(many.describe_event(event)), err=True)
    if ended.run is not None:
        # The threads may have reached the maximum of steps, which only the mapper's data shows.
        figures = ended.run if report is None else dataclasses.replace(ended.run, reason=report.reason)
        _program_output.write_figures(request, config, figures, many, report_file)
        for line in _program_output.rejected_messages(figures, many, config):
            click.echo(line, err=True)
    if ended.timeout is not None:
        raise ended.timeout
    if report is not None and report.reason != "done":
        _raise_aborted(program, report, machine, many, vertices)
    if ended.code < 0:
        raise RunDied(f"{program.name}: the host program was killed by {signal_name(-ended.code)}")
    return ended.code


@dataclass(frozen=True)
class _Vertices:
    """Texts about a graph's vertices in a run that aborted."""

    senders: str = ""
    """The vertices that still want to send."""
    trapped: Mapping[int, str] = field(default_factory=dict)
    """By thread, the vertex at which it trapped."""
    most_steps: int = 0


_NO_VERTICES = _Vertices()


def _vertices(machine: rtl_cluster.Cluster, report: Report | None, stage: Staged, most_steps: int) -> _Vertices:
    """Inspects the boards after the host has ended; sets the reason max-steps if threads reached that limit."""
    from gossamer.polite.post_mortem import PostMortem

    placed = stage.placed()
    if report is None or placed is None or report.reason in ("failed", "stopped", "gone", "idle"):
        return _NO_VERTICES
    assert stage.program.recipe is not None
    names = ("vertex", "vertices") if stage.program.recipe.late else ("device", "devices")
    seen = PostMortem(machine, *placed, *names)
    if report.reason == "trap":
        return _Vertices(
            trapped={t.thread: seen.pointed_vertex(t.thread) for t in report.traps if t.thread != ACCELERATOR}
        )
    if report.reason in ("max-cycles", "deadlock", "stuck"):
        return _Vertices(seen.describe_senders(ended=False))
    if most_steps and seen.gave_up():
        report.reason = "max-steps"
        return _Vertices(seen.describe_senders(ended=True), most_steps=most_steps)
    return _NO_VERTICES


def _raise_aborted(
    program: Program,
    report: Report,
    machine: rtl_cluster.Cluster,
    cluster: rtl_cluster.Cluster | None,
    vertices: _Vertices,
) -> None:
    """Prints the state of a run that aborted, and raises RunDied with the reason."""
    from gossamer.engines.rtl import describe_unfinished, ranges

    lines = [
        (thread, line)
        for thread, text in sorted(report.output.items())
        for line in text.decode(errors="backslashreplace").splitlines()
    ]
    for thread, line in lines[-_MAX_LINES:]:
        click.echo(f"[{thread}] {visible(line)}", err=True)
    for trap in report.traps:
        code = _Code(program, report, trap.thread)
        place = f" {cluster.place(trap.thread)}" if cluster is not None and trap.thread != ACCELERATOR else ""
        at = vertices.trapped.get(trap.thread, "")
        click.echo(f"[{trap.who}{place}{at}] trap: {visible(trap.words(code.where, code.instruction))}", err=True)
    by_code: dict[str, list[UnfinishedThread]] = {}
    if report.reason in ("deadlock", "stuck", "max-cycles"):
        for one in report.unfinished:
            by_code.setdefault(report.image(one.thread), []).append(one)
    for group in by_code.values():
        for line in describe_unfinished(group, _Code(program, report, group[0].thread).where, machine.on_boards):
            click.echo(visible(line), err=True)
    held = _program_output.describe_queues(report.queues, machine, machine.config, machine.on_boards)
    for line in held:
        click.echo(line, err=True)
    down = _program_output.describe_links_down(report.events, cluster)
    waiting = ranges(one.thread for one in report.unfinished)
    threads = {trap.thread for trap in report.traps if trap.thread != ACCELERATOR}
    who = f"thread{'s' if len(threads) > 1 else ''} {ranges(threads)} trapped" if threads else "an accelerator failed"
    host = f"the host waits in {report.call}"
    reasons = {
        "trap": f"{who}; {host}",
        "deadlock": f"deadlock: {host}, all threads that run ({waiting}) "
        f"{_program_output.describe_deadlock(held)}{down}{vertices.senders}",
        "ended": f"{host}, but all threads have ended",
        "idle": f"{host}, but no thread was started (HostLink::go)",
        "stuck": f"stuck: no instruction and no output for a long time, after {report.cycles:,} cycles; {host}"
        f"{vertices.senders}",
        "max-cycles": f"did not end within {report.cycles:,} cycles; {host}{vertices.senders}",
        "max-steps": f"did not end within {vertices.most_steps:,} step{'s' if vertices.most_steps > 1 else ''}"
        f"{vertices.senders}",
        "failed": f"{report.failed}; in {report.call}",
        "stopped": f"the simulation was stopped; {host}",
        "gone": f"{report.failed}; in {report.call}",
    }
    many, verb = ("", "waits") if report.queued == 1 else ("s", "wait")
    queued = f"; {report.queued} flit{many} of the host {verb} to enter the network" if report.queued else ""
    raise RunDied(f"{program.name}: {reasons.get(report.reason, report.reason)}{queued}")


class _Code:
    """The code of a thread."""

    def __init__(self, program: Program, report: Report, thread: int) -> None:
        self._image = program.images.get(report.image(thread))

    def where(self, pc: int) -> object:
        return self._image.where(pc) if self._image else f"an unknown program (pc {pc:#x})"

    def instruction(self, pc: int) -> int | None:
        return self._image.instruction(pc) if self._image else None


class _Console:
    """Progress and notes on the terminal while a program runs."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._progress = Progress(name)
        self.clear = self._progress.clear
        self._calls = -1
        self._since = time.monotonic()

    def status(self, status: Status) -> None:
        now = time.monotonic()
        if status.calls != self._calls or not status.computes:
            self._calls, self._since = status.calls, now
        elif now - self._since > _NOTE_SECONDS:
            self._since = now + 1e9
            self.clear()
            click.echo(
                f"note: {self._name} has not called HostLink for {_NOTE_SECONDS:g} s; simulated time is stopped at "
                f"cycle {status.cycle:,} until it does",
                err=True,
            )
        # The host prints to the terminal directly, and its output would interrupt this line.
        if not sys.stdout.isatty():
            self._progress.show(status.cycle, status.instructions)
