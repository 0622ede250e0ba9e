# SPDX-License-Identifier: Apache-2.0
"""What a program of channels comes to, told without the emulator: a machine that tries every kernel until none moves.

A program is a list of calls for each kernel. Whatever the order in which kernels run, the same calls are done in the
end: a channel has one sender and one receiver, or one call at a time of each rank. So the first order will do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Values = list[int | float]


@dataclass
class Channel:
    """A message or a collective. `rank` in its methods is a member's."""

    kind: str
    count: int
    type: int
    port: int
    root: int
    """The sender's rank, for a message."""
    op: int
    slack: int
    stated: bool
    ranks: int
    receiver: int = 0
    done: dict[int, int] = field(default_factory=dict)
    """Calls that a member has come through."""
    given: dict[int, Values] = field(default_factory=dict)
    """Elements that a member has handed over to another. Messages from one rank to one port of another share them, and
    `taken`, because the slack is theirs together."""
    taken: dict[tuple[int, int], int] = field(default_factory=dict)
    """Elements that the second has of the first."""
    combine: Callable[[int, int, Values, int], int | float] | None = None

    def calls(self, rank: int) -> int:
        """How many calls of this channel a rank makes."""
        if self.kind == "message":
            return self.count if rank in (self.root, self.receiver) else 0
        if self.kind == "allgather" or (self.kind in ("scatter", "gather") and rank == self.root):
            return self.count * self.ranks
        return self.count

    def readers(self, rank: int, call: int) -> list[int]:
        """Who gets what the rank gives in this call (the rank itself left out); nobody if it gives nothing."""
        others = [one for one in range(self.ranks) if one != rank]
        turn = call // self.count
        return {
            "message": [self.receiver] if rank == self.root else [],
            "bcast": others if rank == self.root else [],
            "reduce": [self.root] if rank != self.root else [],
            "scatter": [turn] if rank == self.root and turn != rank else [],
            "gather": [self.root] if rank != self.root else [],
            "allgather": others if turn == rank else [],
            "allreduce": others,
            "barrier": others,
        }[self.kind]

    def writers(self, rank: int, call: int) -> list[int]:
        """Whose elements the rank needs in this call, itself left out."""
        others = [one for one in range(self.ranks) if one != rank]
        turn = call // self.count
        return {
            "message": [self.root] if rank == self.receiver else [],
            "bcast": [self.root] if rank != self.root else [],
            "reduce": others if rank == self.root else [],
            "scatter": [self.root] if rank != self.root else [],
            "gather": [turn] if rank == self.root and turn != rank else [],
            "allgather": [turn] if turn != rank else [],
            "allreduce": others,
            "barrier": others,
        }[self.kind]

    def ahead(self, rank: int, reader: int) -> int:
        """Elements that a member has given and another has not taken."""
        key = (rank, reader)
        lane = self.given_to(rank, reader)
        return len(lane) - self.taken.get(key, 0)

    def given_to(self, rank: int, reader: int) -> Values:
        return self.given.get(rank * 1000 + reader, [])

    def give(self, rank: int, reader: int, value: int | float) -> None:
        self.given.setdefault(rank * 1000 + reader, []).append(value)


@dataclass
class Call:
    channel: Channel
    value: int | float


class Kernel:
    """A kernel and how far it is."""

    def __init__(self, rank: int, number: int, calls: list[Call]) -> None:
        self.rank, self.number, self.todo = rank, number, calls
        self.at = 0
        self.gave = False
        self.results: list[int | float | None] = []

    def step(self) -> bool:
        """Does what can be done of the next call; whether anything could."""
        if self.at == len(self.todo):
            return False
        call = self.todo[self.at]
        c, me = call.channel, self.rank
        number = c.done.get(me, 0)
        moved = False
        readers, writers = c.readers(me, number), c.writers(me, number)
        together = c.kind in ("allreduce", "barrier")
        if readers and not self.gave:
            # All readers of a broadcast have to keep up.
            if not together and any(c.ahead(me, one) >= max(c.slack, 1) for one in readers):
                return False
            for one in readers:
                c.give(me, one, call.value)
            self.gave = moved = True
        if any(not c.ahead(one, me) for one in writers):
            return moved
        if self.gave and not together and c.slack == 0 and any(c.ahead(me, one) for one in readers):
            return moved
        values = {me: call.value}
        for one in writers:
            key = (one, me)
            values[one] = c.given_to(one, me)[c.taken.get(key, 0)]
            c.taken[key] = c.taken.get(key, 0) + 1
        self.results.append(self.result(c, values, number))
        c.done[me] = number + 1
        self.gave = False
        self.at += 1
        return True

    def result(self, c: Channel, values: dict[int, int | float], number: int) -> int | float | None:
        me, turn = self.rank, number // c.count
        assert c.combine is not None
        if c.kind == "message":
            return values[c.root] if me == c.receiver and me != c.root else None
        if c.kind == "bcast":
            return values[c.root]
        if c.kind == "scatter":
            return values[c.root] if me != c.root or turn == me else None
        if c.kind in ("gather", "allgather"):
            return values[turn] if me == c.root or c.kind == "allgather" else None
        if c.kind == "allreduce" or (c.kind == "reduce" and me == c.root):
            return c.combine(c.type, c.op, [values[one] for one in range(c.ranks)], c.root)
        return None


def run(kernels: list[Kernel]) -> bool:
    """Runs all kernels as far as they come; whether all ended."""
    while sum(kernel.step() for kernel in kernels):
        pass
    return all(kernel.at == len(kernel.todo) for kernel in kernels)
