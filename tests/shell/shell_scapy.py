# SPDX-License-Identifier: Apache-2.0
"""Scapy layers of the shell's frames, written from docs/hardware/shell.md and its tables alone; CRC-32 by zlib, tags by
hashlib. They share no code with the product."""

from __future__ import annotations

import hashlib
import struct
import zlib
from typing import ClassVar

from scapy.fields import (
    BitField,
    ByteField,
    FieldListField,
    IntField,
    MACField,
    ShortField,
    StrFixedLenField,
    StrLenField,
    XByteField,
    XIntField,
    XLongField,
    XShortField,
)
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw, bind_layers

TYPES = (0x80EF, 0x80AA, 0x80AB, 0x80DD, 0x80DB, 0x80CC, 0x80CB, 0x88B5, 0x88B6)
HEADER = 64
"""Bytes of Ethernet header and shell header."""
BROADCAST = "ff:ff:ff:ff:ff:ff"

ANNOUNCE, SOLICIT, OPEN, OPENED, CLOSE, CLOSED, HEARTBEAT, ASK_STATUS, STATUS, ERROR, REKEY, REKEYED = range(0x0C)
BEGIN, DATA, REPAIR, QUERY, LOAD, ABORT, REPORT, LOADED, BEGUN = *range(0x10, 0x16), 0x18, 0x19, 0x1A
WRITE, READ, STORED, READ_DATA = 0x20, 0x21, 0x28, 0x29
REGISTERS, ASK_REGISTER, START, ARM, FIRE, ASK_RESULT, FINISH, BIND = range(0x30, 0x38)
DONE, REGISTER, RESULT_DATA, FINISHED = range(0x38, 0x3C)
PACKET, CREDIT, LINK_FRAME = 0x40, 0x41, 0x48
KINDS = (
    *range(0x0C), *range(0x10, 0x16), *range(0x18, 0x1B), 0x20, 0x21, 0x28, 0x29, *range(0x30, 0x38),
    *range(0x38, 0x3C), 0x40, 0x41, 0x48,
)  # fmt: skip
UNTAGGED = (ANNOUNCE, SOLICIT, ASK_STATUS, STATUS, ERROR, DATA, REPAIR, QUERY, FIRE, LINK_FRAME)
"""Kinds without a tag."""
ANSWERS = {
    CLOSE: CLOSED, BEGIN: BEGUN, LOAD: BEGUN, ABORT: BEGUN, WRITE: STORED, READ: READ_DATA, REGISTERS: DONE,
    ASK_REGISTER: REGISTER, START: DONE, ARM: DONE, ASK_RESULT: RESULT_DATA, FINISH: DONE, BIND: DONE,
    REKEY: REKEYED,
}  # fmt: skip
"""The kind that answers a command."""

OK, BAD_VERSION, BAD_LENGTH, BAD_CHECK, BAD_TAG, UNKNOWN_KIND, BAD_ADDRESS, BAD_IMAGE, BUSY = range(9)
NOT_OWNER, TIMED_OUT, NO_CREDIT, OUT_OF_ORDER, OUT_OF_SEQUENCE, NO_ROLE, ROLE_FAILED, CONFIG_FAILED = range(9, 17)
FREE, OWNED, RECEIVING, VERIFIED, LOADING, READY, ARMED, RUNNING, RESULTS = range(9)


def type_of(kind: int) -> int:
    """The EtherType of a kind."""
    return {0: TYPES[0]}.get(kind >> 4, TYPES[min((kind >> 3) - 1, 8)])


class Announce(Packet):
    """Payload of announce."""

    name = "announce"
    fields_desc: ClassVar = [
        MACField("mac0", None), MACField("mac1", None), ShortField("vendor", 0), ShortField("product", 0),
        IntField("board_type", 0), XLongField("serial", 0), MACField("owner", None), ByteField("state", 0),
        ByteField("reserved", 0), ShortField("mtu", 0), ShortField("credits", 0), IntField("sink_rate", 0),
        IntField("image_max", 0), StrFixedLenField("role", b"", 16), XLongField("memory_bytes", 0), IntField("boot", 0),
        ShortField("streams", 0), ShortField("reserved2", 0),
    ]  # fmt: skip


class Open(Packet):
    """Payload of open."""

    name = "open"
    fields_desc: ClassVar = [XLongField("nonce", 1), IntField("lease", 60_000), IntField("reserved", 0)]


class StatusReport(Packet):
    """Payload of opened, heartbeat and status."""

    name = "status"
    fields_desc: ClassVar = [
        ByteField("state", 0), StrFixedLenField("reserved", bytes(3), 3), XShortField("temperature", 0xFFFF),
        XShortField("power", 0xFFFF), XLongField("uptime", 0), XLongField("frames_received", 0),
        XLongField("frames_sent", 0), IntField("bad_frames", 0), IntField("bad_tags", 0), IntField("replays", 0),
        IntField("rejected", 0), IntField("role_resets", 0), IntField("memory_frames", 0), IntField("messages", 0),
        IntField("overruns", 0),
    ]  # fmt: skip


class Image(Packet):
    """Payload of begin."""

    name = "image"
    fields_desc: ClassVar = [
        XLongField("body_bytes", 0), IntField("board_type", 1), ShortField("chunk_bytes", 1344),
        ByteField("auto_load", 1), ByteField("reserved", 0), IntField("chunks", 0), IntField("manifest_bytes", 0),
        StrFixedLenField("root", b"", 32), XLongField("reserved2", 0),
    ]  # fmt: skip


class Report(Packet):
    """Payload of report: progress and a bitmap."""

    name = "report"
    fields_desc: ClassVar = [
        ByteField("state", 0), StrFixedLenField("reserved", bytes(3), 3), IntField("missing", 0), IntField("base", 0),
        IntField("blocks", 0), StrLenField("bitmap", b""),
    ]  # fmt: skip


class ReadRequest(Packet):
    """Payload of read and ask_result."""

    name = "read request"
    fields_desc: ClassVar = [IntField("bytes", 0), IntField("reserved", 0)]


class RegisterWrites(Packet):
    """Payload of registers: pairs of address and value."""

    name = "register writes"
    fields_desc: ClassVar = [FieldListField("words", [], IntField("", 0))]


class LinkBinding(Packet):
    """Payload of bind."""

    name = "link binding"
    fields_desc: ClassVar = [MACField("peer", None), ShortField("peer_link", 0), XLongField("identity", 0)]


class Repair(Packet):
    """Payload of repair: 24 chunk numbers and the XOR of the chunks."""

    name = "repair"
    fields_desc: ClassVar = [
        FieldListField("numbers", [0xFFFFFFFF] * 24, XIntField("", 0), count_from=lambda _: 24),
        StrLenField("sum", b""),
    ]


class Run(Packet):
    """Payload of finished."""

    name = "run"
    fields_desc: ClassVar = [XLongField("cycles", 0), XLongField("result_address", 0), XLongField("result_bytes", 0)]


PAYLOADS = {
    ANNOUNCE: Announce, OPEN: Open, OPENED: StatusReport, HEARTBEAT: StatusReport, STATUS: StatusReport, BEGIN: Image,
    REPAIR: Repair, REPORT: Report, READ: ReadRequest, ASK_RESULT: ReadRequest, REGISTERS: RegisterWrites,
    FINISHED: Run, BIND: LinkBinding,
}  # fmt: skip


class Shell(Packet):
    """The header of every shell frame. ``seal`` sets check and tag, which cover the Ethernet header too."""

    name = "shell"
    fields_desc: ClassVar = [
        BitField("version", 2, 4), BitField("wants_answer", 0, 1), BitField("first", 0, 1), BitField("last", 0, 1),
        BitField("take_over", 0, 1), ByteField("reserved", 0), XByteField("kind", 0), ByteField("status", 0),
        ShortField("length", None), IntField("seq", 0), XLongField("session", 0), XLongField("offset", 0),
        XLongField("binding", 0), IntField("acknowledge", 0), XIntField("check", 0), XLongField("tag", 0),
    ]  # fmt: skip

    def post_build(self, pkt: bytes, pay: bytes) -> bytes:
        if self.length is None:
            pkt = pkt[:4] + struct.pack(">H", len(pay)) + pkt[6:]
        return pkt + pay

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes]:
        return s[: self.length], s[self.length :]

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        return PAYLOADS.get(self.kind, Raw) if payload else Raw


for _type in TYPES:
    bind_layers(Ether, Shell, type=_type)


def frame(to: str, source: str, kind: int, payload: Packet | bytes = b"", **fields: int) -> Packet:
    """An unsealed frame; ``type`` replaces the EtherType of its kind."""
    body = Raw(payload) if isinstance(payload, bytes) else payload
    made = Ether(dst=to, src=source, type=fields.pop("type", type_of(kind))) / Shell(kind=kind, **fields)
    return made / body if payload != b"" else made


def check_of(data: bytes) -> int:
    length = struct.unpack_from(">H", data, 18)[0]
    return zlib.crc32(data[:52] + bytes(4) + data[56 : HEADER + length])


def tag_of(data: bytes, key: bytes) -> bytes:
    length = struct.unpack_from(">H", data, 18)[0]
    return hashlib.blake2s(data[:52] + bytes(12) + data[HEADER : HEADER + length], key=key).digest()[:8]


def seal(packet: Packet | bytes, key: bytes | None = None, damage: int = 0) -> bytes:
    """A frame as bytes, with its tag if there is a key, and its check, whose bits in ``damage`` are wrong."""
    data = bytes(packet)
    data = data[:52] + bytes(12) + data[HEADER:]
    if key is not None:
        data = data[:56] + tag_of(data, key) + data[HEADER:]
    return data[:52] + struct.pack(">I", check_of(data) ^ damage) + data[56:]


def read(data: bytes) -> Packet:
    """A frame of a board; its length, check, EtherType and reserved bits must be right."""
    packet = Ether(data)
    assert Shell in packet, data.hex()
    head = packet[Shell]
    assert len(data) >= HEADER + head.length and head.version == 2 and head.reserved == 0, packet.show(dump=True)
    assert head.check == check_of(data) and packet.type == type_of(head.kind), packet.show(dump=True)
    return packet


def payload_of(packet: Packet) -> bytes:
    return bytes(packet[Shell].payload)[: packet[Shell].length]
