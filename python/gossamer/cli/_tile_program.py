# SPDX-License-Identifier: Apache-2.0
"""``./gossamer run prog.c --engine rtl``: a program on threads of a simulated cluster, board or tile; with ``--engine
board`` on boards behind Ethernet shells.

Several programs share a cluster as jobs: ``./gossamer run heat.c@x0y0,x1y0 ring.c@x0y1 --engine rtl --cluster quad4``.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer import progress
from gossamer.cli import _program_arguments, _program_output, _run_arguments
from gossamer.cli._program_arguments import GRAPH_OPTIONS, HELP, Request, is_one
from gossamer.cli._program_output import Console, show_warnings
from gossamer.errors import AnswerNo, InputError, RunDied

if TYPE_CHECKING:
    from gossamer.cli._program_arguments import Request
    from gossamer.device import Image
    from gossamer.engines._rtl_diagnostics import Tiles
    from gossamer.engines._rtl_plan import Job
    from gossamer.engines.rtl import Run, Tile
    from gossamer.engines.rtl_cluster import Plan


def run(words: Sequence[str], arguments: Sequence[str] = ()) -> None:
    """Runs a program. Raises AnswerNo if a thread returns another code than 0, RunDied if one traps or never ends."""
    request = Request.of(words)
    if request.help:
        click.echo(HELP.rstrip())
        return
    engine = request.one("engine") or "rtl"
    if engine not in _run_arguments.ON_HARDWARE:
        raise InputError(
            f"{request.program}: a program for threads of a tile runs on engine rtl, fast or board, not on {engine!r}"
        )
    place = request.place(engine)
    if engine == "fast":
        request.check_fast()
    wanted = parse_jobs(request)
    if request.programs and not wanted and request.has_host():
        from gossamer.cli import _host_program

        sys.exit(_host_program.run(request, arguments))
    for name, what in GRAPH_OPTIONS.items():
        if name in request.options:
            raise InputError(f"--{name}: {what}, and {request.program} has none")
    if arguments:
        raise InputError(f"{request.program}: has no host that could receive the arguments after --")
    waves, trace, report = request.outputs()
    if waves is not None and waves.suffix != ".fst":
        raise InputError(f"{waves}: waves are written as FST; use a name that ends with .fst")
    views = request.views(waves, trace)
    max_cycles = request.number("max-cycles", 1)
    watchdog = request.number("watchdog", 0)
    threads = request.number("threads", 1)
    workers = request.number("workers", 1)
    seed = request.number("seed", 0)
    ranks = request.number("ranks", 1) or 1
    for name in ("routes", "next-routes", "frame-loss", "cut", "seed", "ranks"):
        if name in request.options and "cluster" not in request.options:
            raise InputError(f"--{name}: needs a cluster; name one with --cluster")
    inputs = {0: _bytes(Path(given))} if (given := request.one("input")) is not None else {}

    from gossamer import device
    from gossamer.engines import fast, guest, rtl, rtl_cluster

    if wanted and isinstance(place, guest.Place):
        raise InputError(f"{request.program}: a guest has one program; write a guest for each")
    if waves is not None:
        from gossamer.hdl import verilate

        verilate.require_waves()
    config, cluster = request.hardware(place)
    there = config.threads_per_tile if request.one_tile else config.threads * (len(cluster.boards) if cluster else 1)
    if threads is not None and threads > there:
        what = "a tile" if request.one_tile else "a board"
        named = f"cluster {cluster.name}" if cluster else f"{what} of {config.name}"
        raise InputError(f"--threads {threads}: {named} has {there} thread{'' if there == 1 else 's'}")
    shown = request.tile(config, cluster)
    tables, cut = request.one("routes"), request.options.get("cut", [])
    if isinstance(place, guest.Place):
        plan: Plan = place.plan
    else:
        read = rtl_cluster.read_tables(cluster, tables) if cluster and tables else None
        plan = rtl_cluster.Plan(cluster or config, read)
    rtl_cluster.cuts(plan, cut)
    changes = _program_arguments.timed_updates(request, plan)
    shares = build_jobs(request, plan, wanted) if wanted else []
    if shares:
        images = [share.image for share in shares]
    else:
        defines, includes = request.options.get("define", []), request.options.get("include", [])
        images = [device.build(request.programs, config, defines, includes=includes, boards=plan.shape)]
    for image in images:
        show_warnings(image.warnings)

    def image_of(thread: int) -> Image:
        return program_of(shares, thread) if shares else images[0]

    console = Console(Path(request.program).name, image_of, request.raw)
    tile: Tile
    many: rtl_cluster.Cluster | None = None
    if engine == fast.NAME:
        tile = many = fast.Fast(plan, jobs=[share.job for share in shares])
        console.cluster = many if cluster is not None else None
    elif request.one_tile:
        tile = rtl.Tile(config, **views)
    elif place is not None:
        tile = many = place.open(plan, jobs=[share.job for share in shares])
        console.cluster = many if cluster is not None else None
    else:
        tile = many = rtl_cluster.Cluster(
            plan,
            frame_loss=request.share("frame-loss"),
            cut=cut,
            seed=1 if seed is None else seed,
            workers=workers,
            ranks=ranks,
            tile=shown,
            jobs=[share.job for share in shares],
            **views,
        )
        console.cluster = many if cluster is not None else None
    with tile:
        for job, image in enumerate(images):
            _load(tile, image, **({"job": job} if shares else {}))
        try:
            done = tile.run(
                threads or tile.threads,
                max_cycles=max_cycles,
                watchdog=rtl.WATCHDOG if watchdog is None else watchdog,
                inputs=inputs,
                on_line=console.line,
                on_emit=console.emit,
                on_trap=console.trap,
                on_message=console.message,
                on_progress=console.progress,
                on_event=console.event,
                pauses=_program_arguments.update_pauses(many, changes) if many is not None else (),
            )
        finally:
            console.clear()
            for note in tile.notes:
                click.echo(note, err=True)
    for line in _program_arguments.missed_updates(changes):
        click.echo(line, err=True)
    jobs = job_statistics(shares, done)
    _program_output.write_figures(request, config, done, console.cluster, report, jobs)
    for line in _program_output.rejected_messages(done, console.cluster, config):
        click.echo(line, err=True)

    def tiles(threads: Iterable[int]) -> str:
        return many.on_boards(threads) if many is not None else ""

    down = _program_output.describe_links_down(done.events, console.cluster)
    held = _program_output.describe_queues(done.queues, many, config, tiles)
    if shares:
        judge_jobs(shares, done, tiles, down, held)
    else:
        _program_output.judge_run(request.program, images[0], done, tiles, down, held)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _load(tile: Tile, image: Image, **how: Any) -> None:
    """Loads a program, with a progress bar if that takes long."""
    with progress.bar(sum(part.size for part in image.segments) + 4 * len(image.instructions), "loading", "B") as bar:
        done = 0

        def show(now: int, _: int) -> None:
            nonlocal done
            bar.update(now - done)
            done = now

        tile.load_image(image, on_progress=show, **how)


# ---- Jobs ----


_SINGLE_PROGRAM_OPTIONS = ("threads", "input")
"""Options that apply to a single program only."""


@dataclass(frozen=True)
class JobProgram:
    """The program of a job on its boards."""

    job: Job
    image: Image
    threads: int
    """Threads of a board."""

    def has(self, thread: int) -> bool:
        """Whether a thread, by its number in the cluster, belongs to the job."""
        return thread // self.threads in self.job.boards

    def of(self, run: Run) -> Run:
        """The part of a run that concerns this job."""
        unfinished = [one for one in run.unfinished if self.has(one.thread)]
        ends = {thread: cycle for thread, cycle in run.ends.items() if self.has(thread)}
        return dataclasses.replace(
            run,
            # A job is done when its threads have ended, even if other jobs have not.
            reason=run.reason if unfinished else "done",
            threads=self.threads * len(self.job.boards),
            cycles=run.cycles if unfinished else max(ends.values(), default=0),
            codes={thread: code for thread, code in run.codes.items() if self.has(thread)},
            traps=[trap for trap in run.traps if trap.thread >= 0 and self.has(trap.thread)],
            unfinished=unfinished,
            ends=ends,
        )


def parse_jobs(request: Request) -> list[tuple[str, list[str]]]:
    """Programs and their boards; empty if the arguments name no boards."""
    found = []
    for word in request.programs:
        program, at, boards = word.rpartition("@")
        if at and not os.path.exists(word):
            names = [name.strip() for name in boards.split(",")]
            if not program or not all(names):
                raise InputError(f"{word}: write PROGRAM@BOARD or PROGRAM@BOARD,BOARD,... for a program on some boards")
            found.append((program, names))
    if found and len(found) < len(request.programs):
        other = next(word for word in request.programs if "@" not in word)
        raise InputError(f"{other}: needs boards, as the other programs; write {other}@BOARD,...")
    if found and "cluster" not in request.options:
        raise InputError(f"{request.program}: names boards of a cluster; name the cluster with --cluster")
    for name in _SINGLE_PROGRAM_OPTIONS:
        if found and name in request.options:
            raise InputError(f"--{name}: not with several programs; each runs on all threads of its boards")
    return found


def build_jobs(request: Request, plan: Plan, wanted: Sequence[tuple[str, list[str]]]) -> list[JobProgram]:
    """The programs, built for their boards."""
    from gossamer import device
    from gossamer.engines import rtl_cluster
    from gossamer.hosts import hostlink

    found = []
    includes, defines = request.options.get("include", []), request.options.get("define", [])
    names = [f"{program} on {', '.join(boards)}" for program, boards in wanted]
    jobs = rtl_cluster.jobs(plan.cluster, [(name, boards) for name, (_, boards) in zip(names, wanted, strict=True)])
    for job, (program, _) in zip(jobs, wanted, strict=True):
        if hostlink.is_one([program], includes):
            raise InputError(f"{program}: has a host of its own, but a cluster has one host; run it alone")
        image = device.build(program, plan.config, defines, includes=includes, boards=job.part(plan.cluster))
        found.append(JobProgram(job, image, plan.config.threads))
    return found


def program_of(all_shares: Sequence[JobProgram], thread: int) -> Image:
    """The program of a thread."""
    return next((one.image for one in all_shares if one.has(thread)), all_shares[0].image)


def judge_jobs(all_shares: Sequence[JobProgram], run: Run, tiles: Tiles, down: str, held: Iterable[str]) -> None:
    """Raises one RunDied or AnswerNo for all jobs that failed."""
    aborted, failed = [], []
    held = list(held)
    for share in all_shares:
        try:
            _program_output.judge_run(share.job.name, share.image, share.of(run), tiles, down, held)
        except RunDied as error:
            aborted.append(str(error))
            held = []  # printed once
        except AnswerNo as error:
            failed.append(str(error))
    if aborted:
        raise RunDied("; ".join([*aborted, *failed]))
    if failed:
        raise AnswerNo("; ".join(failed))


def job_statistics(all_shares: Sequence[JobProgram], run: Run) -> list[dict[str, Any]]:
    """The statistics of each job."""
    found = []
    for number, share in enumerate(all_shares):
        its = share.of(run)
        found.append(
            {
                "job": number,
                "program": share.image.name,
                "boards": list(share.job.boards),
                "threads": its.threads,
                "end": its.reason,
                "cycles": its.cycles,
                "exit_codes": {str(thread): code for thread, code in sorted(its.codes.items())},
            }
        )
    return found


__all__ = ["JobProgram", "build_jobs", "is_one", "job_statistics", "judge_jobs", "parse_jobs", "program_of", "run"]
