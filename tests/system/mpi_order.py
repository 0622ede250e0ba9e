# SPDX-License-Identifier: Apache-2.0
"""Checks the output of tests/fixtures/mpi/order.c against MPI's rules of matching order.

Messages of a sender do not overtake each other: a receive that matches two of them takes the one sent first, unless an
earlier receive has taken it. Of two receives that match a message, the one posted first takes it, unless that receive
has taken an earlier message of the same sender, or a message of another sender.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_GOT = re.compile(
    r"got (\d+) comm (\d) source (-?\d+) tag (-?\d+): comm (\d) source (\d+) number (\d+) tag (\d+), "
    r"status (\d+) (\d+), (\d+) of (\d+)"
)
_OPEN = re.compile(r"open (\d+) comm (\d) source (-?\d+) tag (-?\d+)")


@dataclass(frozen=True)
class Receive:
    index: int
    comm: int
    source: int
    tag: int

    def fits(self, message: Message) -> bool:
        return self.comm == message.comm and self.source in (-1, message.source) and self.tag in (-1, message.tag)


@dataclass(frozen=True)
class Message:
    comm: int
    source: int
    number: int
    tag: int


def judge(text: str, ranks: int, each: int) -> list[str]:
    """The violations in the output of a run, one line each."""
    wrong = []
    pairs: list[tuple[Receive, Message]] = []
    for line in text.splitlines():
        if found := _GOT.fullmatch(line):
            v = [int(one) for one in found.groups()]
            receive, message = Receive(*v[:4]), Message(*v[4:8])
            pairs.append((receive, message))
            if not receive.fits(message):
                wrong.append(f"does not fit: {line}")
            if (v[8], v[9]) != (message.source, message.tag) or v[10] != v[11]:
                wrong.append(f"status: {line}")
    still = [Receive(*map(int, one)) for one in _OPEN.findall(text)]
    if len({message for _, message in pairs}) != len(pairs) or len(pairs) != each * (ranks - 1):
        wrong.append(f"{len(pairs)} messages of {each * (ranks - 1)}, or one of them twice")
    if len({receive.index for receive, _ in pairs}) != len(pairs):
        wrong.append("a receive has got two messages")
    for receive, message in pairs:
        for other, earlier in pairs:
            overtaken = earlier.source == message.source and earlier.number < message.number
            if overtaken and receive.fits(earlier) and other.index > receive.index:
                wrong.append(f"{message} in receive {receive.index} has overtaken {earlier} in {other.index}")
            if other.index < receive.index and other.fits(message):
                # The earlier receive was open for this message, unless it had taken another message before.
                before = earlier.source != message.source or earlier.number < message.number
                if not before:
                    wrong.append(f"receive {receive.index} has got {message}, and {other.index} fits it and is earlier")
        for one in still:
            if one.index < receive.index and one.fits(message):
                wrong.append(f"receive {receive.index} has got {message}, and {one.index} fits it and is still open")
    return wrong


__all__ = ["judge"]
