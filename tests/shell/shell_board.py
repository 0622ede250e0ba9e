# SPDX-License-Identifier: Apache-2.0
"""A board under test, whatever it is made of, with wires to it and a transcript of all frames.

A kind of board is an entry of ``KINDS``. ``twin`` is the software twin at a simulated switch, ``jumbo`` the same with
frames of 9,000 bytes, ``rtl`` the simulation
of the shell's RTL. ``port`` is any other
board, at the socket of a switch or at an interface: GOSSAMER_SHELL_PORT, GOSSAMER_SHELL_MAC and GOSSAMER_SHELL_KEY
(64 hexadecimal digits) select it, GOSSAMER_SHELL_RESET is a command that resets it, so that it has no role and its
counters are 0, GOSSAMER_SHELL_ROLE is a file with the kernels of tests/fixtures/shell/loopback.c for
it, and GOSSAMER_SHELL_SLOWER says by what factor it is slower than a twin.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scapy.packet import Packet
from shell import shell_scapy as scapy
from shell.shell_cluster import KEY, Cluster, mac_bytes, role_file
from shell.shell_frames import Wire, session_key
from shell.shell_scapy import Shell, frame, seal

UNSOLICITED = (scapy.HEARTBEAT, scapy.ANNOUNCE, scapy.FINISHED, scapy.PACKET, scapy.CREDIT, scapy.LINK_FRAME)
"""Kinds that a board sends when a timer of its own says so."""
COMPLAINTS = 0.012
"""Seconds from one `error` to the next: a board limits them to one in 10 ms."""
CHUNK = 1344
BLOCK = 65536


class InterfaceWire:
    """The same as `Wire` for a network interface."""

    def __init__(self, name: str, mac: bytes) -> None:
        self.mac = mac
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        request = fcntl.ioctl(self.socket, 0x8921, struct.pack("16si20x", name.encode(), 0))  # SIOCGIFMTU
        self.mtu = int(struct.unpack_from("i", request, 16)[0])
        self.socket.bind((name, 0))
        # PACKET_ADD_MEMBERSHIP of PACKET_MR_PROMISC: frames for addresses that the interface does not have.
        request = struct.pack("=iHH8s", socket.if_nametoindex(name), 1, 0, bytes(8))
        self.socket.setsockopt(263, 1, request)
        self.socket.setsockopt(263, 23, 1)  # PACKET_IGNORE_OUTGOING

    def close(self) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        if len(data) <= self.mtu + 14:
            self.socket.send(data)

    def receive(self, timeout: float = 1.0) -> bytes | None:
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                data = self.socket.recv(65536)
            except TimeoutError:
                return None
            if struct.unpack_from(">H", data, 12)[0] in scapy.TYPES and data[6:12] != self.mac:
                return data
        return None


@dataclass(frozen=True)
class Kind:
    """A kind of boards; ``start`` attaches one to a cluster's switch, and returns where hosts connect."""

    start: Callable[[Cluster], str]
    reset: Callable[[Cluster], None]
    """Resets a board that was started."""
    mac: bytes = mac_bytes(1)
    key: bytes = KEY
    slower: int = 1
    """The factor by which the board is slower than a twin: counts are divided and waits multiplied by it."""
    role: Callable[[], bytes] = role_file


def _twin(cluster: Cluster) -> str:
    cluster.start_switch()
    cluster.start_board(1)
    return cluster.socket


def _jumbo(cluster: Cluster) -> str:
    cluster.start_switch("--mtu", "9000")
    cluster.start_board(1)
    return cluster.socket


def _reset_twin(cluster: Cluster) -> None:
    cluster.kill_board(1)
    cluster.start_board(1)


def _rtl(cluster: Cluster) -> str:
    cluster.start_switch()
    cluster.start_rtl(1)
    return cluster.socket


def _reset_rtl(cluster: Cluster) -> None:
    cluster.kill_board(1)
    cluster.start_rtl(1)


def _kinds() -> Iterator[tuple[str, Kind]]:
    yield "twin", Kind(_twin, _reset_twin)
    yield "jumbo", Kind(_jumbo, _reset_twin)
    yield "rtl", Kind(_rtl, _reset_rtl, slower=10)
    if port := os.environ.get("GOSSAMER_SHELL_PORT"):
        given = os.environ
        mac, key = bytes.fromhex(given["GOSSAMER_SHELL_MAC"].replace(":", "")), given["GOSSAMER_SHELL_KEY"]
        file = given.get("GOSSAMER_SHELL_ROLE")
        slower = int(given.get("GOSSAMER_SHELL_SLOWER", "1"))
        role = (lambda: Path(file).read_bytes()) if file else role_file

        def reset(_: Cluster) -> None:
            subprocess.run(given["GOSSAMER_SHELL_RESET"], shell=True, check=True)

        def start(cluster: Cluster) -> str:
            reset(cluster)
            return port

        yield "port", Kind(start, reset, mac, bytes.fromhex(key), slower, role)


KINDS = dict(_kinds())


def image_of(role: bytes, auto_load: bool = True, **fields: Any) -> tuple[scapy.Image, list[bytes]]:
    """The payload of `begin` for a role file, and its chunks; hashes by hashlib."""
    blocks = [hashlib.blake2s(role[at : at + BLOCK]).digest()[:16] for at in range(0, len(role), BLOCK)]
    manifest = b"".join(blocks)
    padded = manifest + bytes(-len(manifest) % CHUNK)
    chunks = [part[at : at + CHUNK] for part in (padded, role) for at in range(0, len(part), CHUNK)]
    about = {
        "body_bytes": len(role), "chunk_bytes": CHUNK, "auto_load": int(auto_load), "chunks": len(chunks),
        "manifest_bytes": len(manifest), "root": hashlib.blake2s(manifest).digest(),
    }  # fmt: skip
    return scapy.Image(**(about | fields)), chunks


@dataclass
class Board:
    """The board of a test. Wire 0 is its host's; `wire` connects other stations."""

    kind: Kind
    cluster: Cluster
    transcript: list[dict[str, Any]] = field(default_factory=list)
    early: dict[int, list[Packet]] = field(default_factory=dict)
    """Frames by station that have come before they were asked for."""
    compared: bool = True
    """Whether another board must leave the same transcript; a test with random or concurrent frames clears it."""
    wires: list[Any] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    """Names of random numbers in the transcript: challenges and nonces."""
    keys: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.port = self.kind.start(self.cluster)
        self.mac = self.kind.mac.hex(":")
        self.keys["board"] = self.kind.key
        self.nonces = 0
        self.finished: Packet | None = None
        self.streamed: list[Packet] = []
        self.announced: Packet | None = None
        self.wire()
        self.announcement()
        self.transcript.clear()

    def close(self) -> None:
        for wire in self.wires:
            wire.close()

    def wire(self) -> int:
        """Connects another station; its number."""
        address = b"\x02\0\0\0\x77" + bytes([len(self.wires) + 1])
        self.wires.append(Wire(self.port, address) if "/" in self.port else InterfaceWire(self.port, address))
        return len(self.wires) - 1

    def address(self, wire: int = 0) -> str:
        return str(self.wires[wire].mac.hex(":"))

    @property
    def mtu(self) -> int:
        return int(self.wires[0].mtu)

    def count(self, usual: int) -> int:
        """A count for this kind of board."""
        return max(usual // self.kind.slower, 4)

    def rest(self) -> None:
        """Waits until the board may report an error again."""
        time.sleep(COMPLAINTS * min(self.kind.slower, 20))

    # ---- Frames

    def send(self, data: bytes, wire: int = 0) -> None:
        self._record("send", wire, data)
        self.wires[wire].send(data)

    def receive(self, wire: int = 0, timeout: float = 5.0) -> Packet | None:
        """The next frame, if it is the board's and for this station or all."""
        end = time.monotonic() + timeout * min(self.kind.slower, 20)
        while True:
            data = self.wires[wire].receive(max(end - time.monotonic(), 0.001))
            if data is None:
                return None
            if data[6:12] == self.kind.mac and data[:6] in (self.wires[wire].mac, b"\xff" * 6):
                break
        packet = scapy.read(data)
        kind = packet[Shell].kind
        if kind == scapy.ANNOUNCE:
            self.announced = packet
            self.names.setdefault(packet[Shell].session, f"challenge {len(self.names) - self.nonces}")
        elif kind == scapy.FINISHED:
            self.finished = packet
        elif kind in (scapy.PACKET, scapy.CREDIT):
            self.streamed.append(packet)
        return packet

    def frame(self, kind: int, payload: Packet | bytes = b"", wire: int = 0, **fields: Any) -> Packet:
        """An unsealed frame from a station to the board, or to ``to``."""
        return frame(fields.pop("to", self.mac), fields.pop("source", self.address(wire)), kind, payload, **fields)

    def collect(self, wire: int = 0) -> list[Packet]:
        """The frames that the board has sent to a station since it was last asked, without those of its timers.

        The answer to `ask_status` marks the end: a board handles frames in their order.
        """
        self.wires[wire].send(seal(self.frame(scapy.ASK_STATUS, wire=wire)))
        found = self.early.pop(wire, [])
        for packet in found:
            self._record("receive", wire, bytes(packet))
        end = time.monotonic() + 10 * min(self.kind.slower, 20)
        while True:
            packet = self.receive(wire)
            assert packet is not None and time.monotonic() < end, "the board does not answer"
            if packet[Shell].kind == scapy.STATUS:
                self.status = packet[scapy.StatusReport]
                self._record("status", wire, bytes(packet))
                return found
            if packet[Shell].kind not in UNSOLICITED:
                self._record("receive", wire, bytes(packet))
                found.append(packet)

    def settle(self, wire: int = 0) -> None:
        """Waits until the board has hashed and loaded what it has, which hardware does while it answers frames.

        What it sends meanwhile is the beginning of what the next `collect` returns.
        """
        end = time.monotonic() + 0.1 * min(self.kind.slower, 20)
        while self.kind.slower > 1 and time.monotonic() < end:
            self.wires[wire].send(seal(self.frame(scapy.ASK_STATUS, wire=wire)))
            state = None
            while state is None:
                packet = self.receive(wire)
                assert packet is not None, "the board does not answer"
                if packet[Shell].kind == scapy.STATUS:
                    state = packet[scapy.StatusReport].state
                elif packet[Shell].kind not in UNSOLICITED:
                    self.early.setdefault(wire, []).append(packet)
            if state not in (2, 4):  # receiving, loading
                return

    def ask(self, data: bytes, wire: int = 0) -> list[Packet]:
        """Sends a frame; the board's answers to it."""
        self.send(data, wire)
        return self.collect(wire)

    def counters(self) -> tuple[int, int, int, int]:
        """Frames that were bad, wrong tags, replays, rejected commands."""
        self.collect()
        return self.status.bad_frames, self.status.bad_tags, self.status.replays, self.status.rejected

    def announcement(self, wire: int = 0) -> Packet:
        """What the board announces when it is asked to. A board that has just been connected misses the request."""
        end = time.monotonic() + 20 * min(self.kind.slower, 20)
        while time.monotonic() < end:
            self.wires[wire].send(seal(self.frame(scapy.SOLICIT, wire=wire)))
            until = time.monotonic() + 0.3 * min(self.kind.slower, 20)
            while (left := until - time.monotonic()) > 0:
                packet = self.receive(wire, left)
                if packet is not None and packet[Shell].kind == scapy.ANNOUNCE and packet.dst == self.address(wire):
                    self._record("receive", wire, bytes(packet))
                    return packet
        raise AssertionError("the board does not announce itself")

    # ---- The transcript

    def _record(self, what: str, wire: int, data: bytes) -> None:
        self.transcript.append({"what": what, "station": wire} | self._masked(data))

    def _station(self, address: bytes) -> str:
        if address == self.kind.mac:
            return "board"
        known = [f"station {n}" for n, wire in enumerate(self.wires) if wire.mac == address]
        return known[0] if known else address.hex(":")

    def _masked(self, data: bytes) -> dict[str, Any]:
        """A frame without what differs from board to board: challenges and what follows from them, times, devices."""
        if len(data) < scapy.HEADER:
            return {"bytes": len(data), "type": data[12:14].hex()}
        kind, first, number, status, length = struct.unpack_from(">HHBBH", data, 12)
        seq, session, offset, binding, acknowledge, check = struct.unpack_from(">IQQQII", data, 20)
        whole = len(data) >= scapy.HEADER + length
        tag = "none" if data[56:64] == bytes(8) else "wrong"
        if whole:
            tag = next((name for name, key in self.keys.items() if data[56:64] == scapy.tag_of(data, key)), tag)
        stations = {int.from_bytes(wire.mac, "big"): f"station {n}" for n, wire in enumerate(self.wires)}
        return {
            "to": self._station(data[:6]), "from": self._station(data[6:12]), "type": hex(kind), "flags": hex(first),
            "kind": hex(number), "status": status, "length": length, "seq": seq,
            "session": self.names.get(session, "other" if session else "none"), "offset": offset,
            "binding": stations.get(binding, hex(binding)), "acknowledge": acknowledge,
            "check": whole and check == scapy.check_of(data), "tag": tag,
            "payload": self._payload(number, data[64 : 64 + length]), "padding": max(0, len(data) - 64 - length),
        }  # fmt: skip

    @staticmethod
    def _payload(kind: int, payload: bytes) -> Any:
        if kind == scapy.ANNOUNCE and len(payload) == 80:
            one = scapy.Announce(payload)
            return [one.state, one.role.hex(), one.owner != "00:00:00:00:00:00", one.streams]
        if kind == scapy.OPEN and len(payload) == 16:
            return scapy.Open(payload).lease
        if kind in (scapy.OPENED, scapy.STATUS) and len(payload) == 64:
            two = scapy.StatusReport(payload)
            names = ("bad_frames", "bad_tags", "replays", "rejected", "role_resets", "memory_frames")
            # A kernel ends when it ends.
            state = scapy.RUNNING if two.state == scapy.RESULTS else two.state
            return [state, *(getattr(two, name) for name in names), two.messages]
        return payload.hex() if len(payload) <= 32 else hashlib.blake2s(payload).hexdigest()[:16]


class Session:
    """A session with the board under test, for commands made by hand."""

    def __init__(
        self, board: Board, wire: int = 0, lease: int = 60_000, take_over: int = 0, fresh: bool = True
    ) -> None:
        self.board, self.wire, self.next = board, wire, 1
        announced = board.announcement(wire) if fresh or board.announced is None else board.announced
        self.challenge = announced[Shell].session
        board.nonces += 1
        self.nonce = secrets.randbits(64) | 2
        board.names[self.nonce] = f"nonce {board.nonces}"
        asked = board.frame(
            scapy.OPEN, scapy.Open(nonce=self.nonce, lease=lease), wire, session=self.challenge, take_over=take_over
        )
        self.key = session_key(board.kind.key, board.kind.mac, board.wires[wire].mac, self.challenge, self.nonce)
        board.keys[f"session {board.nonces}"] = self.key
        self.open_frame = seal(asked, board.kind.key)
        board.finished = None
        self.answers = board.ask(self.open_frame, wire)

    @property
    def opened(self) -> bool:
        """Whether the board has opened the session, with the right tag."""
        return any(
            one[Shell].kind == scapy.OPENED and one[Shell].status == 0 and self.signed(one) for one in self.answers
        )

    def signed(self, packet: Packet) -> bool:
        """Whether the tag of a frame is that of the session's key."""
        data = bytes(packet)
        return bool(data[56:64] == scapy.tag_of(data, self.key))

    def make(self, kind: int, payload: Packet | bytes = b"", **fields: Any) -> bytes:
        """The next command, sealed."""
        values = {"session": self.nonce, "seq": self.next, "wants_answer": 1} | fields
        self.next = (values["seq"] + 1) & 0xFFFFFFFF
        key = values.pop("key", self.key)
        return seal(self.board.frame(kind, payload, self.wire, **values), key)

    def answer(self, data: bytes) -> Packet:
        """Sends a command; its one answer, with the right tag, number and acknowledgement."""
        (found,) = self.board.ask(data, self.wire)
        kind, seq = data[16], struct.unpack_from(">I", data, 20)[0]
        assert found[Shell].kind == scapy.ANSWERS.get(kind, scapy.DONE) and self.signed(found), found.show(dump=True)
        assert found[Shell].seq == seq and found[Shell].session == self.nonce
        return found

    def do(self, kind: int, payload: Packet | bytes = b"", **fields: Any) -> int:
        """Sends the next command; the status of its answer."""
        return int(self.answer(self.make(kind, payload, **fields))[Shell].status)

    def do_all(self, commands: list[bytes]) -> list[Packet]:
        """Sends commands in windows; their answers, one to each, in order."""
        found: list[Packet] = []
        for at in range(0, len(commands), 16):
            for data in commands[at : at + 16]:
                self.board.send(data, self.wire)
            found += self.board.collect(self.wire)
        seqs = [struct.unpack_from(">I", data, 20)[0] for data in commands]
        assert [one[Shell].seq for one in found] == seqs and all(self.signed(one) for one in found)
        return found

    def read(self, address: int, count: int) -> bytes:
        found = self.answer(self.make(scapy.READ, scapy.ReadRequest(bytes=count), offset=address))
        assert found[Shell].status == scapy.OK
        return scapy.payload_of(found)

    def register(self, address: int) -> int:
        found = self.answer(self.make(scapy.ASK_REGISTER, offset=address))
        assert found[Shell].status == scapy.OK
        return int.from_bytes(scapy.payload_of(found), "big")

    def data(self, chunk: int, payload: bytes, binding: int, **fields: Any) -> bytes:
        to = fields.pop("to", scapy.BROADCAST)
        return seal(self.board.frame(scapy.DATA, payload, self.wire, to=to, offset=chunk, binding=binding, **fields))

    def begin(self, role: bytes, auto_load: bool = True, **fields: Any) -> tuple[int, int, list[bytes]]:
        """Sends `begin`: the status, the binding and the chunks."""
        image, chunks = image_of(role, auto_load, **fields)
        binding = int.from_bytes(image.root[:8], "big")
        return self.do(scapy.BEGIN, image, binding=binding), binding, chunks

    def configure(self, role: bytes, auto_load: bool = True) -> list[Packet]:
        """Sends an image; the board's frames to its last chunk."""
        status, binding, chunks = self.begin(role, auto_load)
        assert status == scapy.OK
        found: list[Packet] = []
        for number, chunk in enumerate(chunks):
            self.board.send(self.data(number, chunk, binding), self.wire)
            if number % 32 == 31:
                found += self.board.collect(self.wire)
        self.board.settle(self.wire)
        return found + self.board.collect(self.wire)

    def load(self, role: bytes) -> None:
        """Configures the board; it must report success."""
        (loaded,) = self.configure(role)
        assert (loaded[Shell].kind, loaded[Shell].status) == (scapy.LOADED, scapy.OK) and self.signed(loaded)

    def wait_finished(self, run: int) -> Packet:
        """The end of a run."""
        while self.board.finished is None or self.board.finished[Shell].binding != run:
            assert self.board.receive(self.wire) is not None, "the run does not end"
        assert self.signed(self.board.finished)
        return self.board.finished
