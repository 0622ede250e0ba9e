# SPDX-License-Identifier: Apache-2.0
"""Jobs that share a simulated cluster: each has boards of its own, a program, and idle detection over its threads.

Every job has a place on every board, with tiles on its own alone: so its messages are counted wherever they pass, also
those that tiles of other jobs refuse, and no barrier waits for one that is gone. Jobs are numbered from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gossamer import device
from gossamer.config import Cluster
from gossamer.errors import InputError

NO_JOB = 31
"""The number that tiles of no job have."""
MOST = 16
"""Places for jobs of a board."""


@dataclass(frozen=True)
class Job:
    """Some boards of a cluster, for a program of their own."""

    name: str
    """As messages call it."""
    boards: tuple[int, ...]
    """By number, rising."""

    def part(self, cluster: Cluster) -> device.Part:
        """What its program is told of its boards: a rectangle of a mesh as one, others as a row."""
        width = cluster.width
        if width and cluster.height:
            columns = sorted({board % width for board in self.boards})
            rows = sorted({board // width for board in self.boards})
            dense = columns[-1] - columns[0] == len(columns) - 1 and rows[-1] - rows[0] == len(rows) - 1
            if dense and len(columns) * len(rows) == len(self.boards):
                return device.Part(len(columns), len(rows), self.boards)
        return device.Part(len(self.boards), 1, self.boards)


def jobs(cluster: Cluster, wanted: Sequence[tuple[str, Sequence[str]]]) -> list[Job]:
    """Jobs by name and names of boards; InputError for a board that is not there, or is given twice."""
    found: list[Job] = []
    taken: dict[int, str] = {}
    for name, boards in wanted:
        numbers = []
        for board in boards:
            number = cluster.board(board).index
            if number in taken:
                raise InputError(f"{name}: board {board} of cluster {cluster.name} runs {taken[number]} already")
            taken[number] = name
            numbers.append(number)
        found.append(Job(name, tuple(sorted(numbers))))
    if len(found) > MOST:
        raise InputError(f"cluster {cluster.name}: {len(found)} jobs; its boards have places for {MOST}")
    return found


__all__ = ["MOST", "NO_JOB", "Job", "jobs"]
