# SPDX-License-Identifier: Apache-2.0
"""Decodes frames of a link by their documented layouts; shares no code with the hardware."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gossamer.config import constants

FORMS = {code: name for name, code in constants.enumeration("link_form").values.items()}
KINDS = {code: name for name, code in constants.enumeration("link_frame_kind").values.items()}
ENDPOINT = constants.enumeration("endpoint").values
VNET = constants.enumeration("vnet").values
FLIT_KIND = constants.enumeration("flit_kind").values
FLIT = constants.layout("flit")


def crc32c(data: bytes) -> int:
    """CRC-32C bit by bit, from its polynomial 0x1EDC6F41, reflected: low bits first, as on the wire."""
    polynomial = int(f"{0x1EDC6F41:032b}"[::-1], 2)
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (polynomial if state & 1 else 0)
    return state ^ 0xFFFFFFFF


def fields(name: str, data: bytes) -> tuple[dict[str, int], bytes]:
    """The fields of a layout at the beginning of ``data``, and the remaining bytes."""
    size = constants.layout(name).bytes
    digits = "".join(f"{byte:08b}" for byte in data[:size])
    assert len(digits) == 8 * size, f"{name} is cut short"
    values, at = {}, 0
    for field in constants.layout(name).fields:
        values[field.name] = int(digits[at : at + field.bits], 2)
        at += field.bits
    return values, data[size:]


def layout(name: str, values: Mapping[str, int]) -> bytes:
    """The bytes of a layout with these fields; the others are 0."""
    assert set(values) <= {field.name for field in constants.layout(name).fields}
    digits = "".join(f"{values.get(field.name, 0):0{field.bits}b}" for field in constants.layout(name).fields)
    return int(digits, 2).to_bytes(constants.layout(name).bytes, "big")


def frame(head: Mapping[str, int], rest: bytes, least: int = 60) -> bytes:
    """A frame with the right checksum."""
    data = layout("link_frame", head) + rest
    data = data.ljust(max(least - 4, -(-len(data) // 8) * 8), b"\0")
    return data + crc32c(data).to_bytes(4, "little")


def body(frame: bytes) -> tuple[dict[str, int], bytes]:
    """Head and body of a frame; checks its checksum."""
    assert crc32c(frame[:-4]) == int.from_bytes(frame[-4:], "little"), "the checksum is wrong"
    head, rest = fields("link_frame", frame[:-4])
    if head["selective"]:
        rest = rest[8:]
    return head, rest


def packets(data: bytes) -> Iterator[tuple[str, int, list[int], int]]:
    """Form, channel, flits, and bytes of each packet of a frame's body."""
    before: dict[str, int] = {}
    while data and FORMS[data[0] >> 4] != "none":
        start = len(data)
        form = FORMS[data[0] >> 4]
        header, data = fields(f"link_{form}", data)
        if form == "again":
            header = {**before, **header}
        payloads = []
        for _ in range(header["flits"] + 1):
            assert len(data) >= 16, "a packet is cut short"
            payloads.append((FLIT_KIND["body"], int.from_bytes(data[:16], "little")))
            data = data[16:]
        vnet, board = VNET["mailbox"], header.get("board", 0)
        if form in ("thread", "again"):
            before = {name: header[name] for name in ("job", "epoch", "wave", "vc", "board")}
            dest = ENDPOINT["thread"] << 29 | board << 14
            dest |= header["tile_y"] << 10 | header["tile_x"] << 6 | header["thread"]
        elif form == "tile":
            dest = ENDPOINT["tile"] << 29 | board << 14 | header["tile_y"] << 10 | header["tile_x"] << 6
            payloads.insert(0, (FLIT_KIND["mask"], header["mask"]))
        elif form == "key":
            dest = ENDPOINT["key"] << 29 | board << 14
            payloads.insert(0, (FLIT_KIND["key"], header["key"]))
        elif form == "stream":
            vnet = VNET["request"]
            dest = ENDPOINT["stream"] << 29 | board << 14 | (header["header"] >> 8 & 0xFF)
            payloads.insert(0, (FLIT_KIND["header"], header["header"]))
        elif form == "match":
            vnet = VNET["request"]
            dest = ENDPOINT["match"] << 29 | board << 14 | header["rank"]
            payloads.insert(0, (FLIT_KIND["header"], header["envelope"]))
        elif form == "host":
            vnet = VNET["reply"]
            dest = ENDPOINT["host"] << 29 | header["host"] << 14
        else:
            vnet, dest = header["vnet"], header["dest"]
            payloads[0] = (header["kind"], payloads[0][1])
        flits = [
            flit(kind, at == len(payloads) - 1, vnet, header["job"], header["epoch"], header["wave"], dest, payload)
            for at, (kind, payload) in enumerate(payloads)
        ]
        yield form, vnet * 2 + header["vc"], flits, start - len(data)


def flit(kind: int, last: bool, vnet: int, job: int, epoch: int, wave: int, dest: int, payload: int) -> int:
    """A flit as an integer, with its fields at the positions of the layout."""
    values = {
        "kind": kind, "last": int(last), "vnet": vnet, "job": job, "epoch": epoch, "wave": wave, "dest": dest,
        "payload": payload,
    }  # fmt: skip
    return int("".join(f"{values[field.name]:0{field.bits}b}" for field in FLIT.fields), 2)
