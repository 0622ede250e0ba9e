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
from typing import TYPE_CHECKING

from gossamer.engines import guest
from gossamer.errors import InputError
from gossamer.files import check_writable, write_whole

if TYPE_CHECKING:
    from gossamer.smi import Options, Result

_ENDINGS = {"trace": (".pftrace", ".perfetto-trace"), "report": (".html", ".htm")}


def check_files(files: Mapping[str, Path | None]) -> None:
    """Checks output files by the names of their options, before the run. Raises InputError."""
    taken: dict[str, str] = {}
    for name, path in files.items():
        if path is None:
            continue
        endings = _ENDINGS.get(name)
        # A device or a pipe may have any name.
        if endings is not None and (path.is_file() or not path.exists()) and path.suffix not in endings:
            raise InputError(f"--{name} {path}: unknown ending; write a file that ends in {' or '.join(endings)}")
        check_writable(path)
        other = taken.setdefault(os.path.realpath(path), name)
        if other != name:
            raise InputError(f"--{other} and --{name} name the same file, {path}; write two files")


def write(result: Result, options: Options, files: Sequence[str], stats: Path | None, report: Path | None) -> None:
    """Writes statistics and the report of a run."""
    if stats is not None:
        about = {"engine": options.engine, "program": files[0], "command": command(options.engine), **result.as_json()}
        write_whole(stats, (json.dumps(about, indent=1) + "\n").encode())
    if report is not None:
        write_whole(report, _page(result, options, files[0]).encode())


def command(engine: str) -> str:
    """The command that repeats this run, in the same folder; of a guest the line of its file."""
    if engine != guest.NAME:
        return shlex.join(["./gossamer", *sys.argv[1:]])
    at = sys.argv.index("--engine")
    return f"run = {json.dumps(shlex.join([*sys.argv[1:at], *sys.argv[at + 2 :]]))}"


def _page(result: Result, options: Options, program: str) -> str:
    from gossamer.watch import cables, stream_report

    boards = result.boards
    assert boards is not None and result.cycles is not None
    plan, activity = boards.plan, boards.activity
    config = plan.config
    counters = {(link.board, link.link): {**link.counters, "state": int(link.up)} for link in activity.links}
    names = {}
    for board, link, far, far_link, _ in plan.wires({}):
        ends = [plan.cluster.boards[board].name, plan.links_of(board)[link]]
        ends += [plan.cluster.boards[far].name, plan.links_of(far)[far_link]]
        rate = config.links.rate_mbps / 8 / config.board.clock_mhz
        names[board, link] = "{}:{} to {}:{}".format(*ends), rate
    clock = config.board.clock_mhz
    loss = f"{options.frame_loss:g} lost, {options.frame_loss:g} damaged" if options.frame_loss else "none lost"
    figures = [
        ("engine", options.engine, ""),
        ("cluster", plan.cluster.name, f"{plan.boards} board{'' if plan.boards == 1 else 's'} of {config.name}"),
        ("end", result.end, f"exit code {result.code}"),
        ("cycles", f"{result.cycles:,}", f"{result.cycles / clock:,.1f} us at {clock:g} MHz"),
        ("ranks, kernels", f"{result.ranks:,}, {result.kernels:,}", ""),
        ("operations", f"{result.operations:,}", "pushes, pops, calls of collectives and of channels within a rank"),
        ("slack, seed", f"{options.slack}, {options.seed}", "degree of channels that state none; order of kernels"),
        *([("frames", loss, "share on each link")] if options.engine == "rtl" else []),
        ("simulated in", f"{boards.seconds:,.2f} s", "with the configuration of the boards"),
    ]
    return stream_report.page(
        stream_report.Page(
            title=f"{Path(program).name} on cluster {plan.cluster.name}",
            command=command(options.engine),
            figures=figures,
            activity=activity,
            # Boards on Ethernet report counters before and after the run, whose cycles those of the kernels are not.
            wiring=replace(cables.Wiring.of(plan, counters, result.cycles), timed=options.engine == "rtl"),
            links=names,
            notes=[note for note in (boards.note, _end_note(result)) if note],
        )
    )


def _end_note(result: Result) -> str:
    return "The run is deadlocked: the last waits of its kernels do not end." if result.end == "deadlock" else ""


__all__ = ["check_files", "command", "write"]
