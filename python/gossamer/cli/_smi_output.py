# SPDX-License-Identifier: Apache-2.0
"""The output of ``./gossamer smi run``: its files are checked before the run, and written at its end."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer.engines import _names
from gossamer.errors import InputError
from gossamer.files import check_outputs

if TYPE_CHECKING:
    from gossamer.smi import Options, Result
    from gossamer.smi._run import OnBoards

_ENDINGS = {"trace": (".pftrace", ".perfetto-trace"), "report": (".html", ".htm")}


def check_files(files: Mapping[str, Path | None], read: Sequence[str | os.PathLike[str]] = ()) -> None:
    """Checks output files by the names of their options, before the run; ``read`` are the files of the programs.

    Raises InputError.
    """
    for name, path in files.items():
        endings = _ENDINGS.get(name)
        # A device or a pipe may have any name.
        if path is None or endings is None or (path.exists() and not path.is_file()):
            continue
        if path.suffix not in endings:
            raise InputError(f"--{name} {path}: unknown ending; write a file that ends in {' or '.join(endings)}")
    check_outputs(((f"--{name}", path) for name, path in files.items()), read)


def write(result: Result, options: Options, files: Sequence[str], stats: Path | None, report: Path | None) -> None:
    """Writes statistics and the report of a run."""
    if stats is None and report is None:
        return
    from gossamer.watch import report as page

    page.write(_statistics(result, options, files[0]), stats, report)


def command(engine: str) -> str:
    """The command that repeats this run, in the same folder; of a guest the line of its file."""
    if engine != _names.GUEST:
        return shlex.join(["./gossamer", *sys.argv[1:]])
    at = sys.argv.index("--engine")
    return f"run = {json.dumps(shlex.join([*sys.argv[1:at], *sys.argv[at + 2 :]]))}"


def _statistics(result: Result, options: Options, program: str) -> dict[str, Any]:
    """The statistics of a run, in the schema of ``gossamer.watch.statistics``."""
    from gossamer.watch import statistics

    values: dict[str, Any] = {"program": program, **result.as_json()}
    configuration: dict[str, Any] = {
        "engine": options.engine,
        "ranks": result.ranks,
        "slack": options.slack,
        "seed": options.seed,
        "processes": options.processes if options.processes > 1 else None,
        "frame_loss": options.frame_loss if options.engine == "rtl" else None,
    }
    if result.boards is not None:
        values |= _of_boards(result.boards, result, options)
        config = result.boards.plan.config
        configuration |= {
            "config": config.name,
            "cluster": values["cluster"],
            "boards": result.boards.plan.boards,
            "clock_mhz": config.board.clock_mhz,
        }
    name = Path(program).name
    return statistics.document(
        "streams", options.engine, name, values, command=command(options.engine), configuration=configuration
    )


def _of_boards(boards: OnBoards, result: Result, options: Options) -> dict[str, Any]:
    """Where the boards are, which links they have, and what happened over time."""
    from gossamer.watch import cables, streams

    plan, activity, cycles = boards.plan, boards.activity, result.cycles or 0
    counters = {(link.board, link.link): {**link.counters, "state": int(link.up)} for link in activity.links}
    # Boards on Ethernet report counters before and after the run, whose cycles those of the kernels are not.
    timed = options.engine == "rtl"
    wiring = replace(cables.Wiring.of(plan, counters, cycles), timed=timed)
    links = [
        {
            "board": wiring.boards[one.board], "link": one.link, "to": wiring.boards[one.to], "to_link": one.to_link,
            **({"used": cables.share(wiring, one)} if timed else {}), **one.counters,
        }
        for one in wiring.cables
    ]  # fmt: skip
    rates = {
        (one.board, one.link): (
            f"{wiring.boards[one.board]}:{one.link} to {wiring.boards[one.to]}:{one.to_link}",
            one.bytes_a_cycle,
        )
        for one in wiring.cables
    }
    names = {
        (link.board, link.link): rates[link.board, plan.links_of(link.board)[link.link]]
        for link in activity.links
        if (link.board, plan.links_of(link.board)[link.link]) in rates
    }
    return {
        "clock_mhz": plan.config.board.clock_mhz,
        "board_places": [
            {"name": name, "x": x, "y": y} for name, (x, y) in zip(wiring.boards, wiring.places, strict=True)
        ],
        "by_link": links,
        "timeline": streams.over_time(activity, cycles, wiring.boards, names),
        "notes": [note for note in (boards.note, _end_note(result)) if note] or None,
    }


def _end_note(result: Result) -> str:
    return "The run is deadlocked: the last waits of its kernels do not end." if result.end == "deadlock" else ""


__all__ = ["check_files", "command", "write"]
