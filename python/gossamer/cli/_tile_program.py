# SPDX-License-Identifier: Apache-2.0
"""``./gossamer run prog.c --engine rtl``: a program on threads of a simulated cluster, board, or tile."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer import files, progress
from gossamer.cli import _program_jobs, _program_report, _program_tables, _program_verdict
from gossamer.cli._host_program import OF_GRAPHS
from gossamer.cli._program_arguments import HELP, Request, is_one
from gossamer.cli._program_console import Console, show_warnings
from gossamer.errors import InputError

if TYPE_CHECKING:
    from gossamer.device import Image
    from gossamer.engines.rtl import Tile


def run(words: Sequence[str], arguments: Sequence[str] = ()) -> None:
    """Does what the words ask for. Raises AnswerNo or RunDied where a thread says no, traps or never ends."""
    request = Request.of(words)
    if request.help:
        click.echo(HELP.rstrip())
        return
    engine = request.one("engine") or "rtl"
    if engine != "rtl":
        raise InputError(f"{request.program}: a program for threads of a tile runs on engine rtl, not on {engine!r}")
    wanted = _program_jobs.asked(request)
    if request.programs and not wanted and request.has_host():
        from gossamer.cli import _host_program

        sys.exit(_host_program.run(request, arguments))
    for name, what in OF_GRAPHS.items():
        if name in request.options:
            raise InputError(f"--{name}: {what}, and {request.program} has none")
    if arguments:
        raise InputError(f"{request.program}: has no host that arguments behind -- would be for")
    waves, trace, report = request.file("waves"), request.file("trace"), request.file("report")
    if request.stats_file is not None:
        files.check_writable(request.stats_file)
    if waves is not None and waves.suffix != ".fst":
        raise InputError(f"{waves}: waves are written as FST; give a name that ends with .fst")
    views = request.views(waves, trace)
    max_cycles = request.number("max-cycles", 1)
    watchdog = request.number("watchdog", 0)
    threads = request.number("threads", 1)
    workers = request.number("workers", 1)
    seed = request.number("seed", 0)
    ranks = request.number("ranks", 1) or 1
    for name in ("routes", "next-routes", "frame-loss", "cut", "seed", "ranks"):
        if name in request.options and "cluster" not in request.options:
            raise InputError(f"--{name}: is for clusters; name one with --cluster")
    inputs = {0: _bytes(Path(given))} if (given := request.one("input")) is not None else {}

    from gossamer import device
    from gossamer.engines import rtl, rtl_cluster

    if waves is not None:
        from gossamer.hdl import verilate

        verilate.require_waves()
    config, cluster = request.hardware()
    one_tile = cluster is None and (request.one_tile or config.tiles == 1)
    there = config.threads_per_tile if one_tile else config.threads * (len(cluster.boards) if cluster else 1)
    if threads is not None and threads > there:
        what = "a tile" if one_tile else "a board"
        named = f"cluster {cluster.name}" if cluster else f"{what} of {config.name}"
        raise InputError(f"--threads {threads}: {named} has {there} threads")
    shown = request.tile(config, cluster)
    if cluster is not None:
        tables = request.one("routes")
        plan = rtl_cluster.Plan(cluster, rtl_cluster.read_tables(cluster, tables) if tables else None)
        cut = request.options.get("cut", [])
        rtl_cluster.cuts(plan, cut)
        changes = _program_tables.timed(request, plan)
    shares = _program_jobs.shares(request, plan, wanted) if wanted else []
    if shares:
        images = [share.image for share in shares]
    else:
        boards = plan.shape if cluster is not None else device.ALONE
        defines, includes = request.options.get("define", []), request.options.get("include", [])
        images = [device.build(request.programs, config, defines, includes=includes, boards=boards)]
    for image in images:
        show_warnings(image.warnings)

    def image_of(thread: int) -> Image:
        return _program_jobs.image_of(shares, thread) if shares else images[0]

    console = Console(Path(request.program).name, image_of, request.raw)
    tile: Tile
    if cluster is not None:
        many = rtl_cluster.Cluster(
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
        console.cluster, tile = many, many
    elif one_tile:
        tile = rtl.Tile(config, **views)
    else:
        tile = rtl.Board(config, workers=workers, tile=shown, **views)
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
                pauses=_program_tables.pauses(many, changes) if cluster is not None else (),
            )
        finally:
            console.clear()
            for note in tile.notes:
                click.echo(note, err=True)
    for line in _program_tables.too_late(changes) if cluster is not None else ():
        click.echo(line, err=True)
    jobs = _program_jobs.statistics(shares, done)
    _program_report.write(request, config, done, console.cluster, report, jobs)
    for line in _program_verdict.refused(done, console.cluster, config):
        click.echo(line, err=True)

    def tiles(threads: Iterable[int]) -> str:
        if console.cluster is not None:
            return console.cluster.on_boards(threads)
        return "" if one_tile else rtl.on_tiles(threads, config.threads_per_tile, config.mesh.width)

    down = _program_verdict.links_down(done.events, console.cluster)
    held = _program_verdict.held(done.queues, console.cluster, config, tiles)
    if shares:
        _program_jobs.judge(shares, done, tiles, down, held)
    else:
        _program_verdict.judge(request.program, images[0], done, tiles, down, held)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _load(tile: Tile, image: Image, **how: Any) -> None:
    """Loads a program, with a bar where that takes long."""
    with progress.bar(sum(part.size for part in image.segments) + 4 * len(image.instructions), "loading", "B") as bar:
        done = 0

        def show(now: int, _: int) -> None:
            nonlocal done
            bar.update(now - done)
            done = now

        tile.load_image(image, on_progress=show, **how)


__all__ = ["is_one", "run"]
