# SPDX-License-Identifier: Apache-2.0
"""One rank of a job: loads its share, runs the application, and collects the result on rank 0."""

from __future__ import annotations

import ctypes
import resource
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gossamer import apps, native
from gossamer.apps import App, Numbers, runner
from gossamer.apps.results import Result
from gossamer.distributed import changes, checkpoints, partition, shares
from gossamer.distributed.transport import Ranks
from gossamer.engines import _abi
from gossamer.errors import GossamerError, HandlerDied, InputError
from gossamer.graph import CSR, Graph, generate
from gossamer.watch.timeline import Timeline


def load(
    ranks: Ranks,
    app: App,
    read: Callable[[], Graph],
    spec: str | None = None,
    file: tuple[str, str | None] | None = None,
    how: str = partition.RANGES,
    changed: changes.Changes = changes.NONE,
    columns: str | None = None,
) -> shares.Share:
    """This rank's share of the graph that ``read`` reads, in the partition ``how``.

    ``spec`` specifies a graph that may be generated in parts, ``file`` is the path and the format (None: unknown) of
    one that may be read in parts, with ``columns`` as for read_graph; ranks then make the changes ``changed``, which
    ``read`` makes itself. ``app`` is compiled for this engine. Raises InputError for a wrong file of ``how``.
    """
    needs_targets = bool(app.library.gs_app_needs_targets())
    every_end = needs_targets or how == "stream" or bool(changed)
    share, in_parts = _in_ranges(ranks, read, spec, file, every_end, columns)
    if changed and in_parts:
        share = changes.apply(ranks, share, changed)
    if every_end and not needs_targets and how == partition.RANGES and share.out is not share.into:
        share = replace(share, out=CSR(share.out.offsets, np.empty(0, np.uint32)))
    if how == partition.RANGES:
        return share
    fingerprint = checkpoints.fingerprint(ranks, share)
    return replace(partition.apply(ranks, share, how, keeps_targets=needs_targets), fingerprint=fingerprint)


def _in_ranges(
    ranks: Ranks,
    read: Callable[[], Graph],
    spec: str | None,
    file: tuple[str, str | None] | None,
    needs_targets: bool,
    columns: str | None,
) -> tuple[shares.Share, bool]:
    """The share in ranges of vertices, and whether each rank has read a part."""
    parts = None if spec is None else generate.parts_of_spec(spec)
    if parts is not None:
        return shares.generated(ranks, parts, needs_targets), True
    if file is not None:
        share = None if columns else shares.mapped(ranks, *file, needs_targets)
        share = share or shares.parsed(ranks, *file, needs_targets, columns)
        if share is not None:
            return share, True
    return shares.scattered(ranks, read, needs_targets), False


def run(
    ranks: Ranks,
    app: App,
    share: shares.Share,
    parameters: Callable[[Graph], Numbers],
    threads: int,
    settings: checkpoints.Settings | None = None,
    timeline: Timeline | None = None,
) -> Result:
    """Runs the application on all ranks. The result is rank 0's; others get the statistics only.

    ``parameters`` are checked on rank 0, which has all labels. ``settings`` are those of checkpoints. ``timeline``
    records what this rank does. Raises the errors of ``Engine.run``.
    """
    whole = share.whole
    about = partition.figures(ranks, share)
    numbers = ranks.broadcast(parameters(whole) if ranks.rank == 0 else None)
    begun = time.perf_counter()
    saves: checkpoints.Checkpoints | None = None
    if settings is not None and (settings.folder or settings.restart):
        saves = checkpoints.Checkpoints(ranks, settings, app, share, numbers)
    table = None if saves is None else saves.table
    recorder = None if timeline is None else timeline.address
    arguments = _abi.ShareArgs(
        app, ranks.address, share, numbers, threads=threads, checkpoints=table, timeline=recorder
    )
    handle = ctypes.c_void_p()
    try:
        native.check(
            app.library.gs_app_run_share(
                ctypes.byref(arguments.share),
                ctypes.byref(arguments.options),
                ctypes.byref(handle),
                ctypes.byref(arguments.figures),
            )
        )
    except GossamerError as error:
        if saves is not None and saves.failure is not None:
            raise saves.failure from None
        raise _explained(error, app, whole) from None
    try:
        stats = _abi.statistics(app, handle) | _figures(ranks, arguments.figures) | about
        if ranks.rank == 0:
            _abi.judge(app, whole, handle)
        columns: dict[str, Any] = {}
        for index, column in enumerate(app.columns):
            values = np.empty(whole.vertices, column.dtype) if ranks.rank == 0 else None
            native.check(app.library.gs_app_column(handle, index, None if values is None else values.ctypes.data))
            columns[column.name] = values
        totals = _abi.totals(app, handle)
    finally:
        app.library.gs_app_free(handle)
    return Result(
        app=app, graph=whole, columns=columns, totals=totals, stats=stats, seconds=time.perf_counter() - begun
    )


def _explained(error: GossamerError, app: App, whole: Graph) -> GossamerError:
    """The same error with labels of vertices."""
    if isinstance(error, HandlerDied):
        return _abi.explained(error, app, whole)
    return InputError(_abi.labelled(str(error), whole.label_of)) if isinstance(error, InputError) else error


def _figures(ranks: Ranks, mine: _abi.RankFigures) -> dict[str, Any]:
    """Statistics of the communication; sums over the ranks, but waits and the peak of memory of each."""
    pairs, sent, messages = ranks.sum([mine.pairs, mine.bytes, mine.messages])
    return {
        "ranks": ranks.count,
        "rank_pairs": pairs,
        "rank_bytes": sent,
        "rank_messages": messages,
        "rank_rounds": int(mine.rounds),
        "rank_wait_seconds": [round(wait, 6) for wait in ranks.gather(float(mine.wait))],
        "rank_peak_bytes": ranks.gather(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024),
    }


def compiled(app: App) -> App:
    """The application, compiled for this engine."""
    return apps.distributed(app)


def check(app: App, given: dict[str, Any]) -> Callable[[Graph], Numbers]:
    """The function that checks parameters with the vertices of a graph."""

    def numbers(graph: Graph) -> Numbers:
        several = {
            name: runner.shares_of(graph, value) if app.parameter(name).kind == "shares" else value
            for name, value in given.items()
        }
        return runner.check(app, graph, several)

    return numbers


__all__ = ["check", "compiled", "load", "run"]
