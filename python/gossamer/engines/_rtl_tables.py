# SPDX-License-Identifier: Apache-2.0
"""Other routing tables for boards that run: checked together with those in use, or loaded into a fabric that is empty.

Boards get theirs one after the other, from the first host outward along the new routes: so what is asked of a board
passes boards that have the new table, and comes back over them. Packets under way follow the old table at one board
and the new one at the next; that is why both are checked together.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gossamer import routes
from gossamer.engines import _rtl_control
from gossamer.engines._rtl_network import Flits
from gossamer.engines._rtl_plan import Plan
from gossamer.errors import InputError

if TYPE_CHECKING:
    from gossamer.engines._rtl_control import Answer

Ask = Callable[[list[Flits]], "list[Answer]"]
"""Sends packets to control units and gives their answers."""


@dataclass(frozen=True)
class Change:
    """Tables that follow others."""

    plan: Plan
    """What a cluster is with the new ones."""
    fault: str
    """Why they must not meet the old ones; empty if both may be in use at once."""

    @classmethod
    def of(cls, plan: Plan, tables: routes.Tables) -> Change:
        """A change from the tables of a plan; InputError for tables that are not safe by themselves."""
        after = Plan(plan.cluster, tables)
        report = routes.check(plan.topology, plan.tables, tables)
        return cls(after, report.fault or "")

    def packets(self, board: int) -> list[Flits]:
        """What gives a board its table."""
        plan = self.plan
        hosts = [plan.host_entry(board, host) for host in range(len(plan.hosts))]
        # Hosts' entries stand from the end of the table on, the first one's last.
        last = _rtl_control.host_entry(len(hosts) - 1)
        return [
            *_rtl_control.table(board, 0, plan.board_entries(board)),
            *_rtl_control.table(board, last, hosts[::-1]),
        ]

    def load(self, ask: Ask) -> None:
        """Gives all boards their tables, each when the one before has answered."""
        for board in self.plan.order():
            ask(self.packets(board))

    def bytes(self) -> bytes:
        """The same for a host program (host/src/board.cc): whether the fabric must be empty, and packets in groups.

        Each group is answered before the next is sent.
        """
        groups = []
        for board in self.plan.order():
            packets = self.packets(board)
            groups += [packets[at : at + _rtl_control.ANSWERS] for at in range(0, len(packets), _rtl_control.ANSWERS)]
        head = struct.pack("<II", bool(self.fault), len(groups))
        return head + b"".join(
            struct.pack("<I", len(group)) + b"".join(packet.tobytes() for packet in group) for group in groups
        )


def drained(plan: Plan, ask: Ask) -> bool:
    """Whether no packet is under way: two rounds over all boards have found none, and none that entered between them.

    Boards are asked one by one, so that no question or answer is under way when another board looks.
    """
    before: list[int] = []
    for _ in range(2):
        busy, entered = 0, []
        for board in range(plan.boards):
            for name in ("in_flight", "entered"):
                (answer,) = ask([_rtl_control.counter(board, name)])
                if name == "entered":
                    entered.append(answer.value)
                else:
                    busy |= answer.value
        if busy or (before and entered != before):
            return False
        before = entered
    return True


def wait_until_drained(plan: Plan, ask: Ask, patience: int) -> None:
    """Asks until nothing is under way; InputError if that is not so after so many cycles."""
    begun = None
    while not drained(plan, ask):
        (answer,) = ask([_rtl_control.counter(plan.hosts[0], "entered")])
        begun = answer.cycle if begun is None else begun
        if answer.cycle - begun > patience:
            raise InputError(
                f"cluster {plan.cluster.name}: packets are under way all the time, so tables that must not meet the "
                "old ones cannot be loaded; load them when all threads wait or have ended"
            )


__all__ = ["Change", "drained", "wait_until_drained"]
