# SPDX-License-Identifier: Apache-2.0
"""``./gossamer top``: the activity of a running simulation, in the terminal."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from gossamer.cli._screen import Screen, size
from gossamer.errors import InputError
from gossamer.watch import dashboard, snapshots

_EVERY = 1.0
_POLL = 0.1
_PATIENCE = 3.0
"""Seconds after which the page is drawn even without a new snapshot."""


@click.command()
@click.argument("which", nargs=-1, metavar="[PID | RECORDING...]")
@click.option("--once", is_flag=True, help="Print one page and exit.")
@click.option("--every", default=_EVERY, show_default=True, metavar="SECONDS", help="Interval between two pages.")
def command(which: tuple[str, ...], once: bool, every: float) -> None:
    """Show the activity of a running simulation.

    For each board, tile and link: utilization, running threads, waiting threads by cause, flits per cycle to each
    neighbour; of streaming programs kernels and what they wait for, channels and collectives; and the speed of the
    simulation. The figures cover the time since the last page.

    Run it in another terminal while ./gossamer run ... --engine rtl, or smi run, runs in this checkout. If several
    simulations run, it lists them; PID selects one by its process number. Ctrl-C, or the end of the simulation, ends
    the command.

    With files that hosts of generated boards record (./gossamer smi generate --counters), it shows the packets and
    waits of their streaming ports, until all recordings have ended.

    \b
    Examples:
      ./gossamer top
      ./gossamer top --once
      ./gossamer top 4711 --every 5
      ./gossamer top b0.jsonl b1.jsonl
    """
    if not 0.1 <= every <= 3600:
        raise InputError(f"--every {every:g}: must be from 0.1 to 3600 seconds")
    if which and not (len(which) == 1 and which[0].isdecimal()):
        _show_recordings([Path(name) for name in which], once, every)
        return
    pid = int(which[0]) if which else None
    if pid is None:
        simulations = snapshots.running()
        if not simulations:
            raise InputError("no simulation runs in this checkout; start one with ./gossamer run PROGRAM --engine rtl")
        if len(simulations) > 1:
            click.echo("\n".join(dashboard.listing(simulations)))
            click.echo("several simulations run: ./gossamer top PID shows one")
            return
        pid = simulations[-1].pid
    elif all(seen.pid != pid for seen in snapshots.running()):
        raise InputError(
            f"process {pid} is not a simulation of this checkout; ./gossamer top lists running simulations"
        )
    _show(pid, once, every)


def _show(pid: int, once: bool, every: float) -> None:
    early = snapshots.read(pid)
    screen = Screen() if sys.stdout.isatty() and not once else None
    try:
        while early is not None:
            late = _next(pid, early, every if not once else 0.5)
            if late is None:
                break
            shown = dashboard.Size(*size()) if screen else dashboard.Size(size()[0])
            lines = dashboard.page(late, snapshots.between(early, late), shown)
            if screen:
                screen.draw(lines)
            else:
                click.echo("\n".join(lines))
                if once:
                    return
                click.echo("")
            early = late
    finally:
        if screen:
            screen.close()
    click.echo(f"the simulation of process {pid} has ended")


def _show_recordings(paths: list[Path], once: bool, every: float) -> None:
    """Pages of recordings that grow, until they have ended."""
    from gossamer.watch import recordings

    screen = Screen() if sys.stdout.isatty() and not once else None
    since: dict[str, recordings.Sample | None] = {}
    try:
        while True:
            found = [recordings.read(path) for path in paths]
            recordings.check(found)
            shown = dashboard.Size(*size()) if screen else dashboard.Size(size()[0])
            lines = dashboard.recorded(found, since, shown)
            if screen:
                screen.draw(lines)
            else:
                click.echo("\n".join(lines))
            ended = all(one.ended for one in found)
            if once or ended:
                break
            if not screen:
                click.echo("")
            since = {one.board: one.samples[-1] for one in found}
            time.sleep(every)
    finally:
        if screen:
            screen.close()
    if ended and not once:
        click.echo("the recordings have ended")


def _next(pid: int, early: snapshots.Snapshot, seconds: float) -> snapshots.Snapshot | None:
    """The first new snapshot after ``seconds``, or any after the patience; None if the simulation has ended."""
    begun = time.monotonic()
    while True:
        time.sleep(min(_POLL, seconds))
        late = snapshots.read(pid)
        waited = time.monotonic() - begun
        if late is None or (waited >= seconds and late.cycle > early.cycle) or waited >= max(seconds, _PATIENCE):
            return late
