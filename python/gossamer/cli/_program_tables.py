# SPDX-License-Identifier: Apache-2.0
"""Routing tables that follow others while a program runs: ``--next-routes``."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gossamer.errors import InputError

if TYPE_CHECKING:
    from gossamer.cli._program_arguments import Request
    from gossamer.engines.rtl import RecordHandler
    from gossamer.engines.rtl_cluster import Cluster, Plan, TableUpdate


@dataclass
class Timed:
    """Tables that are loaded in a cycle of the run."""

    file: str
    cycle: int
    change: TableUpdate
    loaded: bool = False


def changes(plan: Plan, files: Sequence[str]) -> list[TableUpdate]:
    """What each of the files makes of the one before, the first of the tables in use."""
    from gossamer.engines import rtl_cluster

    found: list[TableUpdate] = []
    for file in files:
        found.append(rtl_cluster.TableUpdate.of(plan, rtl_cluster.read_tables(plan.cluster, file)))
        plan = found[-1].plan
    return found


def timed(request: Request, plan: Plan) -> list[Timed]:
    """What the words ask for; InputError for tables that must not meet those before them."""
    wanted = []
    for text in request.options.get("next-routes", []):
        file, at, cycle = text.rpartition("@")
        if not (at and file and cycle.isdecimal()):
            raise InputError(f"--next-routes {text}: write FILE@CYCLE, for instance new.routes@20000")
        wanted.append((int(cycle), file))
    wanted.sort(key=lambda one: one[0])
    made = changes(plan, [file for _, file in wanted])
    for (_, file), change in zip(wanted, made, strict=True):
        if change.fault:
            raise InputError(
                f"{file}: {change.fault}; such tables can only be loaded when nothing is under way: by a host, with "
                "HostLink::loadRoutes"
            )
    return [Timed(file, cycle, change) for (cycle, file), change in zip(wanted, made, strict=True)]


def untimed(request: Request, plan: Plan) -> list[TableUpdate]:
    """What the words ask for where a host loads it."""
    files = request.options.get("next-routes", [])
    for file in files:
        _, at, cycle = file.rpartition("@")
        if at and cycle.isdecimal() and not os.path.exists(file):
            raise InputError(f"--next-routes {file}: the host says when, with HostLink::loadRoutes; leave out @{cycle}")
    return changes(plan, files)


def pauses(cluster: Cluster, wanted: Sequence[Timed]) -> list[tuple[int, Callable[[RecordHandler], object]]]:
    """When a run pauses, and what is done then."""

    def action(one: Timed) -> Callable[[RecordHandler], object]:
        def load(on_record: RecordHandler) -> None:
            cluster.replace_tables(one.change, on_record=on_record)
            one.loaded = True

        return load

    return [(one.cycle, action(one)) for one in wanted]


def too_late(wanted: Sequence[Timed]) -> list[str]:
    """Tables that were not loaded, a line each."""
    return [
        f"note: the run ended before cycle {one.cycle:,}: {one.file} was not loaded" for one in wanted if not one.loaded
    ]


__all__ = ["Timed", "changes", "pauses", "timed", "too_late", "untimed"]
