# SPDX-License-Identifier: Apache-2.0
"""``./gossamer run APP GRAPH --engine distributed``: starts the ranks, or is one of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer.cli._run_arguments import Request
from gossamer.errors import GraphWarning, InputError

if TYPE_CHECKING:
    from gossamer.apps import App
    from gossamer.apps.results import Result
    from gossamer.distributed.checkpoints import Settings
    from gossamer.distributed.transport import Ranks
    from gossamer.graph import Graph

MOST_RANKS = 65536


def run(
    request: Request,
    app: App,
    words: Sequence[str],
    read: Callable[[], Graph],
    finish: Callable[..., None],
    *,
    watched: bool = False,
) -> int:
    """Runs the checked request. ``read`` reads the graph, ``finish(result, read_seconds, recorded)`` outputs rank 0's
    result. ``watched``: ranks record what they do over time."""
    from gossamer.distributed import job, partition, rank

    if "shuffle" in request.options:
        raise InputError("--shuffle: runs in one process; check the order of messages with --engine cpu")
    count = request.number("ranks", 0, 1, MOST_RANKS) or None
    hosts = request.one("hosts")
    how = request.one("partition", partition.RANGES)
    assert how is not None
    if not job.is_rank(count):
        settings = _checkpoints(request)
        partition.check(how)
        rank.compiled(app)
        return job.start(count, words, hosts, settings.folder or settings.restart)
    ranks: Ranks | None = None
    try:
        settings = _checkpoints(request)
        partition.check(how)
        ranks = job.join(count)
        job.note_process(ranks)
        _run(request, ranks, rank.compiled(app), read, finish, watched, settings, how)
        ranks.leave()
    except (Exception, KeyboardInterrupt) as error:
        job.fail(ranks, error)
    return 0


def _checkpoints(request: Request) -> Settings:
    """The options of checkpoints. Raises InputError for folders that cannot be used."""
    from gossamer.distributed.checkpoints import INTERVAL, Settings

    folder, restart = request.one("checkpoint"), request.one("restart")
    if folder is None and "checkpoint-every" in request.options:
        raise InputError("--checkpoint-every: is for checkpoints; add --checkpoint DIR")
    settings = Settings(
        None if folder is None else Path(folder).resolve(),
        request.number("checkpoint-every", INTERVAL, 1),
        None if restart is None else Path(restart).resolve(),
    )
    settings.check()
    return settings


def _run(
    request: Request,
    ranks: Ranks,
    app: App,
    read: Callable[[], Graph],
    finish: Callable[..., None],
    watched: bool,
    settings: Settings,
    how: str,
) -> None:
    import time

    from gossamer.apps import runner
    from gossamer.distributed import changes, rank
    from gossamer.watch import timeline

    begun = time.perf_counter()
    changed = changes.Changes(*(flag in request.flags for flag in ("undirected", "dedupe", "no-loops")))
    graph, columns = request.graph, request.one("columns")
    generated = graph is not None and graph.startswith("gen:")
    spec = graph[4:] if graph and generated and not {"format", "columns"} & request.options.keys() else None
    file = (graph, request.one("format")) if graph and not generated else None
    share = rank.load(ranks, app, read, spec, file, how, changed, columns)
    read_seconds = time.perf_counter() - begun
    if ranks.rank == 0:
        for note in (*share.whole.notes, *runner.weight_notes(app, share.whole)):
            click.echo(f"note: {note}", err=True)
    warnings.simplefilter("ignore", GraphWarning)
    threads = request.number("threads", 1, 1, runner.MOST_THREADS)
    given: dict[str, Any] = dict(request.parameters)
    recorder = timeline.Timeline() if watched else None
    result: Result = rank.run(ranks, app, share, rank.check(app, given), threads, settings, recorder)
    recorded = timeline.aligned(ranks.gather(recorder.recorded(threads))) if recorder is not None else ()
    if ranks.rank == 0:
        finish(result, read_seconds, recorded)


__all__ = ["run"]
