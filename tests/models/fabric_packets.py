# SPDX-License-Identifier: Apache-2.0
"""Packets between a host and boards, valid and invalid ones, made without the machine library (src/machine).

A flit is six 32-bit words: four of payload, the destination, and one of sideband fields
(``config/constants/fabric.toml``, layouts ``flit``, ``load_header`` and ``control_*``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gossamer.config import constants

FLIT_BYTES = 24
PAYLOAD = 16
PACKET = 256
"""Maximum bytes of data in one packet of the loader."""
ALL_GROUPS = 0xF
BOARD_UNIT = 31
"""Unit number of a board's own counters."""
_ENDPOINT = constants.enumeration("endpoint")
_FLIT = constants.layout("flit")
_SIDEBAND = 160
"""First bit of the sideband fields in a flit."""
TILE = _ENDPOINT["tile"] << 29
"""The tile at the origin of board 0."""
EVERY_TILE = TILE | (1 << 26) - (1 << 6)
"""Address of all tiles that the packet passes."""
HOST = _ENDPOINT["host"] << 29

Flits = NDArray[np.uint32]
"""One row per flit."""


def side(kind: str, *, last: bool, vnet: str, job: int = 0, epoch: int = 0) -> int:
    """The sideband word of a flit."""
    network, number = constants.enumeration("vnet")[vnet], constants.enumeration("flit_kind")[kind]
    values = {"kind": number, "last": int(last), "vnet": network, "job": job, "epoch": epoch}
    return sum(value << _FLIT.field(name).lsb - _SIDEBAND for name, value in values.items())


def packet(head: Flits, data: bytes = b"", *, dest: int = TILE, job: int = 0, vnet: str = "request") -> Flits:
    """A packet of a head flit and data flits."""
    rows = len(data) // PAYLOAD
    flits = np.zeros((1 + rows, 6), np.uint32)
    flits[0, :4] = head
    if rows:
        flits[1:, :4] = np.frombuffer(data, np.uint32).reshape(rows, 4)
        flits[1:, 5] = side("body", last=False, vnet=vnet, job=job)
    flits[:, 4] = dest
    flits[0, 5] = side("header", last=False, vnet=vnet, job=job)
    flits[-1, 5] |= 1 << _FLIT.field("last").lsb - _SIDEBAND
    return flits


def header(op: str, address: int, length: int, *, reply: int = 0, tag: int = 0, group: int = 0) -> Flits:
    """Payload of a loader request's head flit."""
    number = constants.enumeration("load_op")[op]
    return np.array([number | group << 4 | tag << 8, address, length, reply], np.uint32)


def writes(address: int, data: bytes, *, op: str = "write", group: int = 0, dest: int = TILE, job: int = 0) -> Flits:
    """Packets that write data; the last one requests a reply."""
    parts = []
    for at in range(0, len(data), PACKET):
        part = data[at : at + PACKET]
        reply = HOST if at + PACKET >= len(data) else 0
        head = header(op, address + at, len(part), reply=reply, group=group)
        parts.append(packet(head, part, dest=dest, job=job))
    return np.concatenate(parts)


def request(
    op: str, address: int, length: int, *, group: int = 0, dest: int = TILE, tag: int = 0, job: int = 0
) -> Flits:
    """A packet without data that requests a reply."""
    return packet(header(op, address, length, reply=HOST, group=group, tag=tag), dest=dest, job=job)


def control(board: int, op: str, *, of_job: int = 0, **fields: int) -> Flits:
    """A packet of one flit to a board's control unit; packets about idle detection carry the number of their job."""
    name = op if op.startswith("idle_") else f"control_{op}"
    packed = constants.layout(name).pack(op_code=constants.enumeration("control_op")[op], **fields)
    flits = np.zeros((1, 6), np.uint32)
    flits[0, :4] = np.frombuffer(packed.to_bytes(16, "little"), np.uint32)
    flits[0, 4] = constants.layout("address_control").pack(kind=_ENDPOINT["control"], board=board)
    flits[0, 5] = side("body", last=True, vnet="control", job=of_job)
    return flits


def counter(board: int, name: str) -> Flits:
    """A packet that reads a board's own counter (``board_counter``)."""
    return control(board, "read", unit=BOARD_UNIT, counter=constants.enumeration("board_counter")[name])


def table(board: int, first: int, entries: Sequence[int]) -> list[Flits]:
    """Packets that write entries of a switch's table, up to twelve each."""
    parts = [(first + at, entries[at : at + 12]) for at in range(0, len(entries), 12)]
    return [
        control(board, "route", first=at, count=len(part), entries=sum(one << 8 * i for i, one in enumerate(part)))
        for at, part in parts
    ]


def entry(port: int, vc: int) -> int:
    """An entry of a switch's table."""
    return constants.layout("switch_entry").pack(valid=1, vc=vc, port=port)


def host_entry(number: int) -> int:
    """Index of a host's entry in a switch's table."""
    return (1 << constants.value("switch_table_bits")) - 1 - number


def answer(flit: bytes) -> Mapping[str, int] | None:
    """The fields of a control unit's answer; None for any other flit."""
    packed = int.from_bytes(flit[:PAYLOAD], "little")
    if packed & 0xF != constants.enumeration("control_op")["answer"]:
        return None
    return constants.layout("control_answer").unpack(packed)
