# SPDX-License-Identifier: Apache-2.0
"""Reference model of programs of channels: runs each kernel as far as possible until none can proceed.

A program is a list of calls for each kernel. The calls that complete do not depend on the order of kernels, because a
channel has one sender and one receiver, or one call of each rank at a time. So the model runs one order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Values = list[int | float]


@dataclass
class Channel:
    """A message or a collective. `rank` is a member in all methods."""

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
    """Completed calls of each member."""
    given: dict[int, Values] = field(default_factory=dict)
    """Elements sent by a member to a reader. Messages from one rank to one port of another share this and `taken`,
    because they share the slack."""
    taken: dict[tuple[int, int], int] = field(default_factory=dict)
    """Number of elements that a reader, the second, has received from a member, the first."""
    combine: Callable[[int, int, Values, int], int | float] | None = None

    def calls(self, rank: int) -> int:
        """Number of calls of this channel by a rank."""
        if self.kind == "message":
            return self.count if rank in (self.root, self.receiver) else 0
        if self.kind == "allgather" or (self.kind in ("scatter", "gather") and rank == self.root):
            return self.count * self.ranks
        return self.count

    def readers(self, rank: int, call: int) -> list[int]:
        """The other ranks that receive the rank's element of this call."""
        others = [one for one in range(self.ranks) if one != rank]
        peer = call // self.count
        return {
            "message": [self.receiver] if rank == self.root else [],
            "bcast": others if rank == self.root else [],
            "reduce": [self.root] if rank != self.root else [],
            "scatter": [peer] if rank == self.root and peer != rank else [],
            "gather": [self.root] if rank != self.root else [],
            "allgather": others if peer == rank else [],
            "allreduce": others,
            "barrier": others,
        }[self.kind]

    def writers(self, rank: int, call: int) -> list[int]:
        """The other ranks whose elements the rank needs in this call."""
        others = [one for one in range(self.ranks) if one != rank]
        peer = call // self.count
        return {
            "message": [self.root] if rank == self.receiver else [],
            "bcast": [self.root] if rank != self.root else [],
            "reduce": others if rank == self.root else [],
            "scatter": [self.root] if rank != self.root else [],
            "gather": [peer] if rank == self.root and peer != rank else [],
            "allgather": [peer] if peer != rank else [],
            "allreduce": others,
            "barrier": others,
        }[self.kind]

    def ahead(self, rank: int, reader: int) -> int:
        """Elements in flight from a member to a reader."""
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
    """A kernel and its progress."""

    def __init__(self, rank: int, number: int, calls: list[Call]) -> None:
        self.rank, self.number, self.todo = rank, number, calls
        self.at = 0
        self.gave = False
        self.results: list[int | float | None] = []

    def step(self) -> bool:
        """Advances the next call as far as possible; returns whether it made progress."""
        if self.at == len(self.todo):
            return False
        call = self.todo[self.at]
        c, me = call.channel, self.rank
        number = c.done.get(me, 0)
        progress = False
        readers, writers = c.readers(me, number), c.writers(me, number)
        together = c.kind in ("allreduce", "barrier")
        if readers and not self.gave:
            # The slowest reader of a broadcast limits the sender.
            if not together and any(c.ahead(me, one) >= max(c.slack, 1) for one in readers):
                return False
            for one in readers:
                c.give(me, one, call.value)
            self.gave = progress = True
        if any(not c.ahead(one, me) for one in writers):
            return progress
        if self.gave and not together and c.slack == 0 and any(c.ahead(me, one) for one in readers):
            return progress
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
        me, peer = self.rank, number // c.count
        assert c.combine is not None
        if c.kind == "message":
            return values[c.root] if me == c.receiver and me != c.root else None
        if c.kind == "bcast":
            return values[c.root]
        if c.kind == "scatter":
            return values[c.root] if me != c.root or peer == me else None
        if c.kind in ("gather", "allgather"):
            return values[peer] if me == c.root or c.kind == "allgather" else None
        if c.kind == "allreduce" or (c.kind == "reduce" and me == c.root):
            return c.combine(c.type, c.op, [values[one] for one in range(c.ranks)], c.root)
        return None


def run(kernels: list[Kernel]) -> bool:
    """Runs all kernels as far as possible; returns whether all ended."""
    while sum(kernel.step() for kernel in kernels):
        pass
    return all(kernel.at == len(kernel.todo) for kernel in kernels)
