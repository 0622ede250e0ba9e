# SPDX-License-Identifier: Apache-2.0
"""The packets that every board of a cluster gets after reset: routes and sizes, whatever runs there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gossamer.engines import _rtl_control
from gossamer.engines._rtl_control import ANSWERS
from gossamer.engines._rtl_network import Flits
from gossamer.engines._rtl_plan import Plan

_BURST = 8
"""Maximum number of flits for which a switch input keeps its grant of an output."""


def first_route(plan: Plan, board: int) -> list[Flits]:
    """The route to the first host. It is not answered: the board does not know the host's address yet."""
    return _rtl_control.table(board, _rtl_control.host_entry(0), [plan.host_entry(board, 0)])


def settings(plan: Plan, board: int) -> list[Flits]:
    """All other routes and the sizes of the cluster, after ``first_route``. Each packet is answered."""
    return [
        sizes(plan, board),
        *_rtl_control.table(board, 0, plan.board_entries(board)),
        *(
            part
            for host in range(1, len(plan.hosts))
            for part in _rtl_control.table(board, _rtl_control.host_entry(host), [plan.host_entry(board, host)])
        ),
    ]


def sizes(plan: Plan, board: int, *, flush: bool = False) -> Flits:
    """The packet that sets a board's cluster parameters; with ``flush`` the board invalidates its record caches."""
    return _rtl_control.packet(
        board,
        "cluster",
        burst=_BURST,
        boards=plan.boards,
        hosts=len(plan.hosts),
        host=_rtl_control.host(0),
        flush=int(flush),
    )


def batches(packets: Sequence[Flits]) -> Iterator[list[Flits]]:
    """Packets in batches whose answers fit into each board's answer queue; keeps the order of packets to each board."""
    found: list[list[Flits]] = []
    sent: dict[int, int] = {}
    for packet in packets:
        board = int(packet[0, 4])
        batch = sent.get(board, 0) // ANSWERS
        sent[board] = sent.get(board, 0) + 1
        if batch == len(found):
            found.append([])
        found[batch].append(packet)
    yield from found


__all__ = ["batches", "first_route", "settings", "sizes"]
