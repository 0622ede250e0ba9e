# SPDX-License-Identifier: Apache-2.0
"""What the end of a program's run comes to: nothing, an answer that is no, or a run that died."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from gossamer.cli._program_console import visible
from gossamer.errors import AnswerNo, RunDied

if TYPE_CHECKING:
    from gossamer.config import Config
    from gossamer.device import Image
    from gossamer.engines._rtl_control import Event
    from gossamer.engines._rtl_diagnostics import Held, Tiles
    from gossamer.engines.rtl import Run
    from gossamer.engines.rtl_cluster import Cluster as SimulatedCluster

_MOST_CODES = 8


def judge(
    program: str, image: Image, run: Run, tiles: Tiles = lambda threads: "", down: str = "", held: Sequence[str] = ()
) -> None:
    """Raises what the end of the run comes to; nothing if all is well. ``tiles`` says where threads are, ``held`` what
    holds messages up, a line each.
    """
    from gossamer.engines.rtl import describe_unfinished, ranges

    for line in describe_unfinished(run.unfinished, image.where, tiles):
        click.echo(visible(line), err=True)
    for line in held:
        click.echo(line, err=True)
    trapped = {trap.thread for trap in run.traps}
    failed = {thread: code for thread, code in sorted(run.codes.items()) if code}
    waiting = {one.thread for one in run.unfinished}
    ended = [f"{_named(trapped)} trapped"] if trapped else []
    ended += [_failed(failed)] if failed else []
    also = "".join(f"; {what}" for what in ended) + down
    if run.reason == "max-cycles":
        count = f"{len(run.unfinished)} of {run.threads} threads"
        raise RunDied(f"{program}: {count} had not ended after {run.cycles:,} cycles{also}")
    if run.reason == "deadlock":
        raise RunDied(f"{program}: deadlock: all threads that run ({ranges(waiting)}) {why_they_wait(held)}{also}")
    if run.reason == "stuck":
        who = f"{_named(waiting)} had not ended" if waiting else "all threads had ended, but not all had said so"
        raise RunDied(
            f"{program}: stuck: no instruction and no output for long, after {run.cycles:,} cycles; {who}{also}"
        )
    if trapped:
        raise RunDied(f"{program}: {'; '.join(ended)}")
    if failed:
        raise AnswerNo(f"{program}: {_failed(failed)}")


def held(queues: Sequence[Held], cluster: SimulatedCluster | None, config: Config, tiles: Tiles) -> list[str]:
    """What holds messages up, a line each; nothing if none was under way."""
    from gossamer.engines import _rtl_diagnostics

    board = cluster.switch_port if cluster is not None else _rtl_diagnostics.no_board
    return _rtl_diagnostics.describe_queues(queues, config, tiles, board)


def refused(run: Run, cluster: SimulatedCluster | None, config: Config) -> list[str]:
    """The tiles that refused messages in a run, and how many, a line each."""
    lines = []
    for number, counters in enumerate(run.tiles):
        if count := counters["refused"]:
            board, tile = divmod(number, config.tiles)
            on = f"board {cluster.plan.cluster.boards[board].name}, " if cluster is not None else ""
            place = f"{tile % config.mesh.width},{tile // config.mesh.width}"
            lines.append(f"{on}tile {place} refused {count:,} message{'s' if count > 1 else ''}")
    return lines


def why_they_wait(held: Sequence[str]) -> str:
    """What all threads of a deadlock do, as the end of a sentence."""
    return "wait behind each other: messages do not move" if held else "wait for messages, and none is on its way"


def links_down(events: Sequence[Event], cluster: SimulatedCluster | None) -> str:
    """The links that went down and did not come up again, as the end of a sentence."""
    state: dict[str, bool] = {}
    for event in events:
        if cluster is not None and event.what in ("link_up", "link_down", "link_restarted"):
            cable = cluster.plan.cable_at(event.board, event.unit)
            if cable is not None:
                state[cluster.plan.cable_name(cable)] = event.what == "link_down"
    down = sorted(name for name, is_down in state.items() if is_down)
    return f"; link {', '.join(down)} {'is' if len(down) == 1 else 'are'} down" if down else ""


def _failed(codes: Mapping[int, int]) -> str:
    """Threads that ended with another code than 0, with their codes."""
    from gossamer.engines.rtl import ranges

    told = [f"{thread} with {_signed(code)}" for thread, code in list(codes.items())[:_MOST_CODES]]
    more = f" and {len(codes) - _MOST_CODES} more" if len(codes) > _MOST_CODES else ""
    if len(set(codes.values())) == 1:
        told, more = [f"{ranges(codes)} with {_signed(next(iter(codes.values())))}"], ""
    return f"thread{'s' if len(codes) > 1 else ''} {', '.join(told)}{more} ended, not with 0"


def _named(numbers: set[int]) -> str:
    from gossamer.engines.rtl import ACCELERATOR, ranges

    accelerator, threads = ACCELERATOR in numbers, numbers - {ACCELERATOR}
    named = [f"thread{'s' if len(threads) > 1 else ''} {ranges(threads)}"] if threads else []
    return " and ".join(named + ["the accelerator"] * accelerator)


def _signed(code: int) -> int:
    return code - (1 << 32) if code >> 31 else code


__all__ = ["held", "judge", "links_down", "refused", "why_they_wait"]
