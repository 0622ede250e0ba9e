# SPDX-License-Identifier: Apache-2.0
"""A board with the right key whose answers are nonsense, made of the tests' own frames."""

from __future__ import annotations

import struct
import threading
from dataclasses import dataclass, field
from typing import Any

from shell import shell_frames as frames
from shell import shell_scapy as scapy
from shell.shell_cluster import KEY, Cluster, mac_bytes
from shell.shell_frames import Frame, Wire, parse, session_key

CHALLENGE = 0x1234_5678_9ABC_DEF1


@dataclass
class Answers:
    """What the board says; the defaults are those of a board that works."""

    announce: dict[str, Any] = field(default_factory=dict)
    state: int = scapy.OWNED
    """In its reports."""
    run: tuple[int, int, int] = (3, 8192, 4)
    """Cycles, address and bytes of the result."""
    status: dict[int, int] = field(default_factory=dict)
    """The status of the answers of a kind."""
    payload: dict[int, bytes] = field(default_factory=dict)
    """The payload of the answers of a kind."""


class NonsenseBoard(threading.Thread):
    """Answers until ``end``; every command is accepted, and a queried image is loaded."""

    def __init__(self, cluster: Cluster, number: int, answers: Answers) -> None:
        super().__init__(daemon=True)
        self.answers, self.mac = answers, mac_bytes(number)
        self.wire = Wire(cluster.socket, self.mac)
        self.ended = threading.Event()
        self.key, self.host, self.session, self.next, self.run_number = b"", b"", 0, 1, 0
        self.start()

    def end(self) -> None:
        self.ended.set()
        self.join(10)
        self.wire.close()

    def run(self) -> None:
        while not self.ended.is_set():
            data = self.wire.receive(0.05)
            if data is not None and data[:6] in (self.mac, frames.BROADCAST) and data[6:12] != self.mac:
                self._handle(parse(data))

    def _send(self, to: bytes, kind: int, payload: bytes = b"", **fields: Any) -> None:
        said = self.answers
        values = {"status": said.status.get(kind, 0), "acknowledge": self.next, "session": self.session} | fields
        frame = Frame(to, self.mac, kind, said.payload.get(kind, payload), **values)
        self.wire.send(frame.bytes(self.key if kind not in scapy.UNTAGGED else None))

    def _report(self) -> bytes:
        return bytes([self.answers.state]) + bytes(63)

    def _handle(self, frame: Frame) -> None:
        if frame.kind == scapy.SOLICIT:
            none = "00:00:00:00:00:00"
            values = {
                "board_type": 1, "mtu": 1500, "credits": 64, "sink_rate": 1000, "image_max": 65536,
                "memory_bytes": 1 << 26, "mac0": self.mac.hex(":"), "mac1": none, "owner": none,
            }  # fmt: skip
            about = scapy.Announce(**(values | self.answers.announce))
            self._send(frame.source, scapy.ANNOUNCE, bytes(about), session=CHALLENGE)
        elif frame.kind == scapy.OPEN:
            self.session = int.from_bytes(frame.payload[:8], "big")
            self.key = session_key(KEY, self.mac, frame.source, CHALLENGE, self.session)
            self.host, self.next = frame.source, 1
            self._send(frame.source, scapy.OPENED, self._report())
        elif frame.kind == scapy.QUERY:
            self._send(frame.source, scapy.LOADED, binding=frame.binding)
        elif frame.kind == scapy.FIRE and self.host:
            self._send(self.host, scapy.FINISHED, struct.pack(">3Q", *self.answers.run), binding=self.run_number)
        elif frame.kind in scapy.ANSWERS and frame.session == self.session:
            self.next = max(self.next, frame.sequence + 1)
            if frame.kind in (scapy.ARM, scapy.START):
                self.run_number = frame.binding
            payload = bytes(4) if frame.kind == scapy.ASK_RESULT else b""
            self._send(frame.source, scapy.ANSWERS[frame.kind], payload, sequence=frame.sequence)
            if frame.kind == scapy.START:
                self._send(self.host, scapy.FINISHED, struct.pack(">3Q", *self.answers.run), binding=self.run_number)
        if self.key and frame.kind not in (scapy.FIRE, scapy.QUERY, scapy.SOLICIT):
            self._send(self.host, scapy.HEARTBEAT, self._report())


__all__ = ["Answers", "NonsenseBoard"]
