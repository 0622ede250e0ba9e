# SPDX-License-Identifier: Apache-2.0
"""Packets between a host and boards' control units (``config/constants/fabric.toml``, layouts ``control_*``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gossamer.config import constants
from gossamer.engines._rtl_network import Flits, side

ENTRIES = 12
"""Entries of a switch's table in one packet."""
CHILDREN = 8
ANSWERS = 12
"""Maximum number of packets in flight to one board, which can queue 16 answers."""
BOARD_UNIT = 31
"""Unit number of a board's own counters."""
NO_JOB = 31
"""Number of no job: that of tiles and streaming ports without a job."""
TABLE = 1 << constants.value("switch_table_bits")
"""Entries of a switch's table, of boards and of hosts."""
_OP = constants.enumeration("control_op")


@dataclass(frozen=True)
class Answer:
    """An answer of a control unit."""

    board: int
    asked: int
    unit: int
    counter: int
    rejection: int
    value: int
    cycle: int


@dataclass(frozen=True)
class Event:
    """An event that a board reported."""

    board: int
    what: str
    """Name of the event in ``board_event``."""
    unit: int
    value: int
    cycle: int

    @classmethod
    def of(cls, board: int, what: int, unit: int, value: int, cycle: int) -> Event:
        """The event with the number ``what``."""
        values = constants.enumeration("board_event").values
        name = next((name for name, number in values.items() if number == what), f"event {what}")
        return cls(board, name, unit, value, cycle)


def address(board: int) -> int:
    """Address of a board's control unit."""
    return constants.layout("address_control").pack(kind=constants.enumeration("endpoint")["control"], board=board)


def host(number: int) -> int:
    """Address of a host."""
    return constants.layout("address_host").pack(kind=constants.enumeration("endpoint")["host"], host=number)


def packet(board: int, op: str, *, of_job: int = 0, **fields: int) -> Flits:
    """A packet of one flit to a board's control unit; packets about idle detection carry the number of their job."""
    name = op if op.startswith("idle_") else f"control_{op}"
    packed = constants.layout(name).pack(op_code=_OP[op], **fields)
    flits = np.zeros((1, 6), np.uint32)
    flits[0, :4] = np.frombuffer(packed.to_bytes(16, "little"), np.uint32)
    flits[0, 4] = address(board)
    flits[0, 5] = side("body", last=True, vnet="control", job=of_job)
    return flits


def counter(board: int, name: str) -> Flits:
    """A packet that reads a board's own counter (``board_counter``)."""
    return packet(board, "read", unit=BOARD_UNIT, counter=constants.enumeration("board_counter")[name])


def children(boards: Sequence[int]) -> int:
    """The value of the field ``children``: up to eight boards."""
    assert len(boards) <= CHILDREN
    return sum((1 << 12 | board) << 13 * slot for slot, board in enumerate(boards))


def entry(port: int, vc: int) -> int:
    """An entry of a switch's table."""
    return constants.layout("switch_entry").pack(valid=1, vc=vc, port=port)


def table(board: int, first: int, entries: Sequence[int]) -> list[Flits]:
    """Packets that write entries of a switch's table."""
    found = []
    for at in range(0, len(entries), ENTRIES):
        part = entries[at : at + ENTRIES]
        packed = sum(one << 8 * slot for slot, one in enumerate(part))
        found.append(packet(board, "route", first=first + at, count=len(part), entries=packed))
    return found


def host_entry(number: int) -> int:
    """Index of a host's entry in a switch's table."""
    return TABLE - 1 - number


def decode(flits: Flits, cycle: int) -> Answer | Event | None:
    """Decodes an answer or an event; None for any other packet."""
    packed = int.from_bytes(flits[0, :4].tobytes(), "little")
    op = packed & 0xF
    if op == _OP["answer"]:
        known = constants.layout("control_answer").unpack(packed)
        return Answer(
            known["board"], known["asked"], known["unit"], known["counter"], known["rejection"], known["value"], cycle
        )
    if op == _OP["event"]:
        known = constants.layout("control_event").unpack(packed)
        values = constants.enumeration("board_event").values
        what = next((name for name, value in values.items() if value == known["what"]), f"event {known['what']}")
        return Event(known["board"], what, known["unit"], known["value"], cycle)
    return None


__all__ = [
    "ANSWERS", "BOARD_UNIT", "CHILDREN", "NO_JOB", "TABLE", "Answer", "Event", "address", "children", "counter",
    "decode", "entry", "host", "host_entry", "packet", "table",
]  # fmt: skip
