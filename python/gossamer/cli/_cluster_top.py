# SPDX-License-Identifier: Apache-2.0
"""``./gossamer cluster top``: the boards and jobs of a manager, in the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import click

from gossamer.cli import _cluster_common as common
from gossamer.cli._cluster_jobs import row_of
from gossamer.errors import InputError

_JOBS = 8
_LOG = 6


@click.command()
@common.STATE
@click.option("--every", type=common.Between(0.1, 3600), default=1.0, show_default=True, metavar="SECONDS",
              help="Interval between two pages.")  # fmt: skip
@click.option("--once", is_flag=True, help="Print one page and exit.")
def top(state: str | None, every: float, once: bool) -> None:
    """Show boards, links, memory, temperatures and jobs of the running manager, until q or Ctrl-C.

    When the output is no terminal, one page is printed.
    """
    from gossamer.cli._screen import Screen, size

    with common.opened(state) as store:
        if once or not sys.stdout.isatty():
            click.echo("\n".join(page(common.published(store), store.jobs(), store.log(_LOG), size()[0], 0)))
            return
        common.published(store)
        screen = Screen(keys=True)
        try:
            while True:
                columns, lines = size()
                try:
                    screen.draw(page(common.published(store), store.jobs(), store.log(_LOG), columns, lines))
                except InputError as error:
                    screen.draw([str(error)[:columns]])
                if screen.wait(every):
                    return
        finally:
            screen.close()


def _bar(share: float, width: int = 10) -> str:
    full = round(min(max(share, 0.0), 1.0) * width)
    return f"[{'#' * full}{'.' * (width - full)}] {share:4.0%}"


def _bytes(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def _sensor(value: float | None, unit: str) -> str:
    return "-" if value is None else f"{value:.0f} {unit}"


def page(
    snapshot: Mapping[str, Any], jobs: Sequence[Mapping[str, Any]], log: Sequence[Mapping[str, Any]], columns: int,
    lines: int,
) -> list[str]:  # fmt: skip
    """The lines of a page of at most ``columns`` x ``lines`` characters; 0 lines: as many as it takes."""
    boards = snapshot["boards"]
    states: dict[str, int] = {}
    for one in boards:
        states[one["state"]] = states.get(one["state"], 0) + 1
    parts = [f"{count} {state}" for state, count in sorted(states.items())]
    head = [
        f"{len(boards)} boards at {snapshot['port']}: {', '.join(parts) or 'none has answered'}; "
        f"the manager has run for {common.duration(time.time() - snapshot['began'])}",
        "",
    ]
    rows: list[Sequence[str]] = [
        ("BOARD", "STATE", "ROLE", "TASK", "DONE", "LINK", "MEMORY", "TEMP", "POWER", "FAN", "LEASE")
    ]
    for one in boards:
        rows.append((
            one["mac"], one["state"], one["role"] or "-", one["task"] or "-", str(one["tasks"]),
            f"{_bar(one['link'])} {_bytes(max(one['sent_rate'], one['received_rate']))}/s",
            f"{_bar(one['memory'])} {_bytes(one['memory_used'])}",
            _sensor(one["temperature"], "C"), _sensor(one["power"], "W"), _sensor(one["fan"], "rpm"),
            one["lease"] or "-",
        ))  # fmt: skip
    shown = common.table(rows) if boards else []
    active = [one for one in jobs if one["state"] in ("waiting", "running")]
    listed = (active + [one for one in jobs if one not in active])[:_JOBS]
    tail = [f"board {mac} {why}" for mac, why in snapshot["unreadable"].items()]
    if listed:
        tail += ["", *common.table([("JOB", "OWNER", "STATE", "DONE", "FAILED", "TASKS"), *map(row_of, listed)])]
    tail += ["", *(time.strftime("%H:%M:%S ", time.localtime(one["time"])) + one["text"] for one in log)]
    if lines:
        room = max(2, lines - len(head) - len(tail))
        if len(shown) > room:
            shown = [*shown[: room - 1], f"... {len(shown) - room + 1} more boards: ./gossamer cluster list"]
    whole = [*head, *shown, *tail]
    return [line[:columns] for line in (whole[:lines] if lines else whole)]


COMMANDS = (top,)

__all__ = ["COMMANDS", "page"]
