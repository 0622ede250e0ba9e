# SPDX-License-Identifier: Apache-2.0
"""Frames of the shell, written from docs/hardware/shell.md alone, with zlib's CRC-32 and hashlib's BLAKE2s. It shares
no code with the product."""

from __future__ import annotations

import hashlib
import socket
import struct
import zlib
from dataclasses import dataclass, replace

TYPES = {0: 0x80EF, 1: 0x80EF, 2: 0x80AA, 3: 0x80AB, 4: 0x80DD, 5: 0x80DB, 6: 0x80CC, 7: 0x80CB, 8: 0x88B5, 9: 0x88B6}
HEADER = 64
BROADCAST = b"\xff" * 6
ANNOUNCE, SOLICIT, OPEN, OPENED, ASK_STATUS, STATUS, ERROR = 0x00, 0x01, 0x02, 0x03, 0x07, 0x08, 0x09
BEGIN, DATA, QUERY, REPORT, LOADED, BEGUN = 0x10, 0x11, 0x13, 0x18, 0x19, 0x1A
WRITE, STORED, START, DONE = 0x20, 0x28, 0x32, 0x38
FINISH, FINISHED, PACKET, CREDIT = 0x36, 0x3B, 0x40, 0x41


@dataclass(frozen=True)
class Frame:
    to: bytes
    source: bytes
    kind: int
    payload: bytes = b""
    version: int = 2
    flags: int = 0
    status: int = 0
    sequence: int = 0
    session: int = 0
    offset: int = 0
    binding: int = 0
    acknowledge: int = 0
    length: int | None = None
    ethertype: int | None = None

    def _head(self, check: int, tag: bytes) -> bytes:
        kind = TYPES.get(self.kind >> 3, 0x80EF) if self.ethertype is None else self.ethertype
        length = len(self.payload) if self.length is None else self.length
        return (
            self.to + self.source + struct.pack(">HHBBH", kind, self.version << 12 | self.flags << 8, self.kind,
                                                self.status, length)
            + struct.pack(">IQQQII", self.sequence, self.session, self.offset, self.binding, self.acknowledge, check)
            + tag
        )  # fmt: skip

    def bytes(self, key: bytes | None = None, damage: int = 0) -> bytes:
        covered = self._head(0, bytes(8)) + self.payload
        tag = hashlib.blake2s(covered, key=key).digest()[:8] if key else bytes(8)
        check = zlib.crc32(self._head(0, tag) + self.payload)
        return self._head(check ^ damage, tag) + self.payload


def parse(data: bytes) -> Frame:
    """Checks length and checksum."""
    kind, first, number, status, length = struct.unpack_from(">HHBBH", data, 12)
    sequence, session, offset, binding, acknowledge, check = struct.unpack_from(">IQQQII", data, 20)
    payload = data[64 : 64 + length]
    assert len(data) >= 64 and len(payload) == length
    assert zlib.crc32(data[:52] + bytes(4) + data[56:64] + payload) == check
    assert kind == TYPES[number >> 3]
    return Frame(
        data[:6], data[6:12], number, payload, first >> 12, first >> 8 & 15, status, sequence, session, offset,
        binding, acknowledge,
    )  # fmt: skip


def tag_is_right(data: bytes, key: bytes) -> bool:
    length = struct.unpack_from(">H", data, 18)[0]
    covered = data[:52] + bytes(12) + data[64 : 64 + length]
    return hashlib.blake2s(covered, key=key).digest()[:8] == data[56:64]


def session_key(board_key: bytes, board: bytes, host: bytes, challenge: int, nonce: int) -> bytes:
    return hashlib.blake2s(board + host + struct.pack(">QQ", challenge, nonce), key=board_key).digest()


class Wire:
    """A client of the simulated switch."""

    def __init__(self, path: str, mac: bytes) -> None:
        self.mac = mac
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(path)
        self.socket.send(struct.pack("=II6s2x32s", 0x53574731, 0, mac, b"test"))
        magic, self.mtu = struct.unpack_from("=II", self.socket.recv(256))
        assert magic == 0x53574731

    def close(self) -> None:
        self.socket.close()

    def send(self, frame: bytes) -> None:
        self.socket.send(frame)

    def receive(self, timeout: float = 1.0) -> bytes | None:
        self.socket.settimeout(timeout)
        try:
            return self.socket.recv(65536)
        except TimeoutError:
            return None

    def wait_for(self, kind: int, timeout: float = 3.0) -> tuple[Frame, bytes]:
        """The next frame of a kind."""
        import time

        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            data = self.receive(left)
            if data is not None and (frame := parse(data)).kind == kind:
                return frame, data
        raise AssertionError(f"no frame of kind {kind:#x}")


class Session:
    """A session with a board, for commands made by hand."""

    def __init__(self, wire: Wire, board: bytes, key: bytes, nonce: int = 0x1122334455667788) -> None:
        self.wire, self.board, self.nonce, self.next = wire, board, nonce, 1
        wire.send(Frame(board, wire.mac, SOLICIT).bytes())
        announce, _ = wire.wait_for(ANNOUNCE)
        self.challenge = announce.session
        opened = Frame(board, wire.mac, OPEN, struct.pack(">QII", nonce, 5000, 0), session=self.challenge)
        self.key = session_key(key, board, wire.mac, self.challenge, nonce)
        self.open_frame = opened.bytes(key)
        wire.send(self.open_frame)
        answer, data = wire.wait_for(OPENED)
        assert answer.status == 0 and tag_is_right(data, self.key)

    def command(self, kind: int, payload: bytes = b"", **fields: int) -> Frame:
        """A command with the next number; it is not sent."""
        frame = Frame(self.board, self.wire.mac, kind, payload, session=self.nonce, sequence=self.next, flags=8)
        self.next += 1
        return replace(frame, **fields)  # type: ignore[arg-type]

    def ask(self, frame: Frame, answer: int) -> Frame:
        self.wire.send(frame.bytes(self.key))
        found, data = self.wire.wait_for(answer)
        assert tag_is_right(data, self.key) and found.sequence == frame.sequence
        return found


__all__ = ["Frame", "Session", "Wire", "parse", "session_key", "tag_is_right"]
