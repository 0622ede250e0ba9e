# SPDX-License-Identifier: Apache-2.0
"""The error text of a deadlock: what each kernel waits for, and a cycle of ranks that wait for each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gossamer.smi._locations import with_locations
from gossamer.smi._programs import Program
from gossamer.smi._ranks import Place
from gossamer.wording import counted

_MOST_LINES = 24


def describe(
    report: dict[str, Any], programs: Sequence[Program], where: Sequence[Place], note: Callable[[str], None]
) -> str:
    """Passes one line for each waiting kernel to `note`; returns the line that names the cycle, or the end of a chain.

    `report` is the emulator's.
    """
    waits = report["waits"]
    shown = waits[:_MOST_LINES]
    texts = with_locations([(wait["what"], [wait["place"]]) for wait in shown], programs)
    for wait, what in zip(shown, texts, strict=True):
        name = "" if wait["kernel"] == "main" else f", {wait['kernel']},"
        board = where[wait["rank"]].name
        note(f"rank {wait['rank']}{'' if board.startswith('rank') else f' ({board})'}{name} waits {what}")
    if len(waits) > _MOST_LINES:
        note(f"and {counted(len(waits) - _MOST_LINES, 'more kernel')}")
    needs: dict[int, list[int]] = {}
    for wait in waits:
        if not wait["daemon"]:
            needs.setdefault(wait["rank"], []).extend(one for one in wait["for"])
    return f"deadlock: {_chain(needs, set(report['ended']))}"


def _chain(needs: dict[int, list[int]], ended: set[int]) -> str:
    """A shortest cycle of ranks that wait for each other; without one, a rank that waits for one that has ended.

    A rank whose kernels wait for each other waits for itself; that is reported only without another cause.
    """
    others_of = {rank: [other for other in others if other != rank] for rank, others in needs.items()}
    cycles = [cycle for cycle in (_cycle(others_of, rank) for rank in others_of) if cycle]
    if cycles:
        cycle = min(cycles, key=len)
        rest = ", which waits for ".join(f"rank {rank}" for rank in (*cycle[1:], cycle[0]))
        return f"rank {cycle[0]} waits for {rest}"
    for rank, others in needs.items():
        for other in others:
            if other in ended:
                return f"rank {rank} waits for rank {other}, which has ended"
    for rank, others in needs.items():
        if rank in others:
            return f"rank {rank} waits for itself"
    return f"rank {next(iter(needs))} waits, and no kernel can proceed"


def _cycle(needs: dict[int, list[int]], start: int) -> list[int]:
    """The shortest cycle through `start`, or an empty list."""
    before: dict[int, int] = {}
    queue = [start]
    for rank in queue:
        for other in needs.get(rank, []):
            if other == start:
                cycle = [rank]
                while cycle[-1] != start:
                    cycle.append(before[cycle[-1]])
                return cycle[::-1]
            if other not in before:
                before[other] = rank
                queue.append(other)
    return []
