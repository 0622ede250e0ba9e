# SPDX-License-Identifier: Apache-2.0
"""Packets between a host and tiles: flits, requests to a tile's loader and its replies, messages of threads.

A flit is six 32-bit words: four of payload, the destination, and one of sideband fields
(``config/constants/fabric.toml``, layouts ``flit`` and ``load_header``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer.config import constants

FLIT_BYTES = 24
PAYLOAD = 16
PACKET = 256
"""Maximum bytes of data in one packet of the loader."""
_ENDPOINT = constants.enumeration("endpoint")
_KIND = constants.enumeration("flit_kind")
_OP = constants.enumeration("load_op")
TILE = _ENDPOINT["tile"] << 29
"""The tile at the origin of board 0."""
EVERY_TILE = TILE | (1 << 26) - (1 << 6)
"""Address of all tiles that the packet passes."""
HOST = _ENDPOINT["host"] << 29
_FLIT = constants.layout("flit")
_SIDEBAND = 160
"""First bit of the sideband fields in a flit."""
_TILE = constants.layout("address_tile")
ALL_GROUPS = 0xF

Flits = NDArray[np.uint32]
"""One row per flit."""


@dataclass(frozen=True)
class Reply:
    """A reply of a loader, or a fault of an accelerator."""

    op: int
    tag: int
    status: int
    address: int
    length: int
    sender: int
    """For a fault, the accelerator's address; else 0."""
    data: bytes
    cycle: int
    """Cycle of arrival."""

    @property
    def rejection(self) -> str:
        """The reason of a rejection, by its name in config/; empty if the request was accepted."""
        values = constants.enumeration("rejection").values
        return next((name for name, value in values.items() if value == self.status), "")


@dataclass(frozen=True)
class Message:
    """A message of a thread or an accelerator to the host."""

    cycle: int
    host: int
    job: int
    epoch: int
    data: bytes


def tile(x: int, y: int, board: int = 0) -> int:
    """Address of a tile."""
    return TILE | board << _TILE.field("board").lsb | y << _TILE.field("tile_y").lsb | x << _TILE.field("tile_x").lsb


def place(address: int) -> tuple[int, int]:
    """Column and row of a tile's address."""
    return address >> _TILE.field("tile_x").lsb & 0xF, address >> _TILE.field("tile_y").lsb & 0xF


def side(kind: str, *, last: bool, vnet: str, job: int = 0, epoch: int = 0) -> int:
    """The sideband word of a flit."""
    network = constants.enumeration("vnet")[vnet]
    values = {"kind": _KIND[kind], "last": int(last), "vnet": network, "job": job, "epoch": epoch}
    return sum(value << _FLIT.field(name).lsb - _SIDEBAND for name, value in values.items())


def _sideband_field(flits: Flits, name: str) -> int:
    """A sideband field of the first flit."""
    field = _FLIT.field(name)
    return int(flits[0, _SIDEBAND // 32]) >> field.lsb - _SIDEBAND & (1 << field.bits) - 1


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
    return np.array([_OP[op] | group << 4 | tag << 8, address, length, reply], np.uint32)


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


def is_header(flits: Flits) -> bool:
    """Whether a packet from a tile is a loader's reply or a fault, not a message."""
    return _sideband_field(flits, "kind") == _KIND["header"]


def reply(flits: Flits, cycle: int) -> Reply:
    """Decodes such a packet."""
    first, address, length, sender = (int(word) for word in flits[0, :4])
    return Reply(
        op=first & 0xF,
        tag=first >> 8 & 0xFF,
        status=first >> 16 & 0xF,
        address=address,
        length=length,
        sender=sender,
        data=flits[1:, :4].tobytes(),
        cycle=cycle,
    )


def message(flits: Flits, cycle: int) -> Message:
    """Decodes a message to the host."""
    return Message(
        cycle=cycle,
        host=int(flits[0, 4]) >> 14 & 0xFFF,
        job=_sideband_field(flits, "job"),
        epoch=_sideband_field(flits, "epoch"),
        data=flits[:, :4].tobytes(),
    )


def flits(payload: bytes) -> Flits:
    """The flits of a record."""
    return np.frombuffer(payload, np.uint32).reshape(-1, 6)


__all__ = [
    "ALL_GROUPS", "EVERY_TILE", "FLIT_BYTES", "HOST", "PACKET", "PAYLOAD", "TILE", "Flits", "Message", "Reply",
    "flits", "header", "is_header", "message", "packet", "place", "reply", "request", "side", "tile", "writes",
]  # fmt: skip
