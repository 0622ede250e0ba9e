# SPDX-License-Identifier: Apache-2.0
"""``./gossamer run GUESTS.toml``: several programs of different kinds on one simulated cluster."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from gossamer import files, guests
from gossamer.errors import AnswerNo, ExitCode, InputError, RunDied

_OPTIONS = ("--workers", "--stats", "--report", "--engine", "-e")
_USAGE = "./gossamer run GUESTS.toml [--workers N] [--stats FILE] [--report FILE]"


def is_one(words: Sequence[str]) -> bool:
    """Whether the words of the command name a file of guests."""
    return _file_at(words) is not None


def _file_at(words: Sequence[str]) -> int | None:
    """The index of the file of guests after the command's own options, or None."""
    at = 0
    while at < len(words) and words[at].partition("=")[0] in _OPTIONS:
        at += 1 if "=" in words[at] else 2
    return at if at < len(words) and guests.is_file(words[at]) else None


def run(words: Sequence[str]) -> None:
    """Runs all guests of a file. Raises an error if one of them fails; the gravest kind counts."""
    at = _file_at(words) or 0
    path, workers = Path(words[at]), None
    written: dict[str, Path] = {}
    rest = [*words[:at], *words[at + 1 :]]
    while rest:
        option, _, value = rest.pop(0).partition("=")
        if option in ("-h", "--help"):
            click.echo(
                f"Usage: {_USAGE}\n\nRuns several programs on one simulated cluster at once; see docs/guests.md."
            )
            return
        if option not in _OPTIONS:
            raise InputError(f"{option}: is not for a file of guests; usage: {_USAGE}")
        if not value:
            if not rest:
                raise InputError(f"{option}: needs a value; usage: {_USAGE}")
            value = rest.pop(0)
        if option == "--workers":
            if not value.isdecimal() or not int(value):
                raise InputError(f"--workers {value}: give 1 or more")
            workers = int(value)
        elif option in ("--stats", "--report"):
            written[option] = Path(value)
        elif value != "rtl":
            raise InputError(f"--engine {value}: guests run on rtl")
    files.check_outputs(written.items(), [path])
    found = guests.read(path)

    import gossamer_setup

    gossamer_setup.require("rtl")
    from gossamer.guests import _host

    with _host.Host(found, workers=workers, show=_show, note=_note) as host:
        outcomes = host.run()
        events, links, cycles = host.events, host.link_bytes, host.cycles
    if written:
        about = {
            "cluster": found.cluster,
            "config": found.plan.config.name,
            "frame_loss": found.frame_loss,
            "guests": [dataclasses.asdict(one) for one in outcomes],
            "cycles": cycles,
            "link_bytes": links,
            "events": [dataclasses.asdict(event) for event in events],
        }
        from gossamer.watch import report, statistics

        configuration: dict[str, int | float | str | bool | None] = {
            "engine": "rtl",
            "config": found.plan.config.name,
            "cluster": found.cluster,
            "frame_loss": found.frame_loss,
            "guests": len(outcomes),
        }
        made = statistics.document(
            "guests", "rtl", path.name, about, command=statistics.command(), configuration=configuration
        )
        report.write(made, written.get("--stats"), written.get("--report"))
    code, why = _host.describe_failures(outcomes)
    if code:
        kinds = {ExitCode.NO: AnswerNo, ExitCode.INPUT: InputError}
        raise kinds.get(ExitCode(code) if code in (1, 2) else ExitCode.DIED, RunDied)(f"{path}: {why}")


def _show(name: str, line: bytes, is_error: bool) -> None:
    """A line of a guest, after its name."""
    stream = sys.stderr if is_error else sys.stdout
    stream.flush()
    stream.buffer.write(f"[{name}] ".encode() + line + b"\n")
    stream.buffer.flush()


def _note(line: str) -> None:
    click.echo(line, err=True)


__all__ = ["is_one", "run"]
