# SPDX-License-Identifier: Apache-2.0
"""The other end of a machine library: a model of boards that executes what requests contain (sim/host/records.h).

It shares no code with the library: packets are decoded by the layouts of config/constants.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from models import fabric_packets as packets

from gossamer.config import constants
from gossamer.engines._machine import Link
from gossamer.errors import RunDied

DONE, END, PACKET, REPLY, FAILED, LINE = 6, 7, 10, 5, 8, 1
ENDPOINT = constants.enumeration("endpoint")
OP = constants.enumeration("control_op")
LOAD = constants.enumeration("load_op")
SIDEBAND = 160


def sideband(flit: bytes, name: str) -> int:
    """A sideband field of a flit."""
    field_of = constants.layout("flit").field(name)
    return int.from_bytes(flit, "little") >> field_of.lsb & (1 << field_of.bits) - 1


def flit_of(fields: int, dest: int, kind: str, last: bool, vnet: str, job: int = 0) -> bytes:
    """A flit with a payload of 128 bits."""
    return struct.pack("<16sII", fields.to_bytes(16, "little"), dest, packets.side(kind, last=last, vnet=vnet, job=job))


@dataclass
class Peer:
    """Boards with memories of whole lines; tiles of a board share its DRAMs in equal parts."""

    boards: int
    tiles: int
    width: int
    drams: int
    root: int = 0
    """The board of the first host, where broadcasts begin."""
    line: int = 32
    limit: int = 1 << 32
    """Addresses from here on have no memory."""
    memories: dict[tuple[int, int], dict[int, bytes]] = field(default_factory=dict)
    """Lines by board and DRAM."""
    code: dict[tuple[int, int], dict[int, bytes]] = field(default_factory=dict)
    """Instruction memory by board and tile: 16 bytes by address."""
    control: list[tuple[int, int, str, Mapping[str, int]]] = field(default_factory=list)
    """Packets to control units: board, job, operation, fields."""
    jobs: Sequence[Sequence[int]] = ()
    requests: list[tuple[str, bytes]] = field(default_factory=list)
    value: Callable[[Mapping[str, int], int], int] = lambda fields, board: 0
    """The value of a counter."""
    reject: Callable[[str], int] = lambda op: 0
    extra: list[bytes] = field(default_factory=list)
    """Records that precede the next Done."""
    each: list[bytes] = field(default_factory=list)
    """Reports of the first tile, of which one follows each request for packets."""
    reports: Callable[[int, bytes], list[bytes]] = lambda tile, commands: []
    others: Callable[[Peer, str, bytes], None] = lambda peer, kind, payload: None
    silent: set[int] = field(default_factory=set)
    """Boards after reset: they answer nothing before `cluster` has named a host."""
    cycle: int = 100
    """Of the next record; each one takes seven cycles."""
    _thread: threading.Thread | None = None

    def link(self, plan: str) -> Link:
        """A machine whose requests this model serves."""
        ours, theirs = socket.socketpair()
        self._ours, self._theirs = ours, theirs
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return Link((theirs.fileno(), theirs.fileno()), plan, lambda: RunDied("gone"))

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is None:
            return
        for end in (self._ours, self._theirs):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._ours.close()
        self._theirs.close()

    def hang_up(self) -> None:
        """Ends the connection."""
        self._ours.shutdown(socket.SHUT_RDWR)

    def record(self, kind: int, payload: bytes = b"", thread: int = 0, flags: int = 0) -> bytes:
        self.cycle += 7
        return struct.pack("<BBHIIIQ", kind, flags, 0, thread, len(payload), 0, self.cycle) + payload

    def send(self, *records: bytes) -> None:
        # Pieces of any size, as a pipe delivers them.
        data = b"".join(records)
        for at in range(0, len(data), 1000):
            self._ours.sendall(data[at : at + 1000])

    def _serve(self) -> None:
        try:
            with self._ours.makefile("rb") as data, contextlib.suppress(OSError):
                self._handle(data)
        finally:
            # A request that the model rejects ends the connection, and so the test.
            with contextlib.suppress(OSError):
                self._ours.shutdown(socket.SHUT_RDWR)

    def _handle(self, data: BinaryIO) -> None:
        while len(head := data.read(8)) == 8:
            kind, length = struct.unpack("<II", head)
            payload = data.read(length)
            self.requests.append((chr(kind), payload))
            if kind == ord("N"):
                self._packets(int.from_bytes(payload[:4], "little"), payload[4:])
            elif kind == ord("Q"):
                replies, to = struct.unpack("<II", payload[:8])
                threads = 64
                found = []
                for tile in range(self.boards * self.tiles) if to == 0xFFFF_FFFF else [to]:
                    reports = self.reports(tile, payload[8:])
                    assert len(reports) == replies
                    found += [self.record(REPLY, report, tile * threads) for report in reports]
                self.send(*found, *self._extra(), self.record(DONE))
            else:
                self.others(self, chr(kind), payload)

    def _extra(self) -> list[bytes]:
        found, self.extra = self.extra, []
        return found

    def _packets(self, wanted: int, data: bytes) -> None:
        answers: list[bytes] = []
        sent: dict[int, int] = {}
        at = 0
        while at < len(data):
            flit, body = data[at : at + 24], b""
            at += 24
            last = sideband(flit, "last")
            while not last:
                body += data[at : at + 16]
                last = sideband(data[at : at + 24], "last")
                assert sideband(data[at : at + 24], "kind") == 0
                at += 24
            if sideband(flit, "vnet") == constants.enumeration("vnet")["control"]:
                board = sideband(flit, "dest") >> 14 & 0xFFF
                sent[board] = sent.get(board, 0) + 1
                answers += self._controlled(flit, board)
            else:
                answers += self._loaded(flit, body)
        assert max(sent.values(), default=0) <= 16, "a control unit queues 16 answers"
        if self.each:
            self.extra.append(self.record(REPLY, self.each.pop(0)))
        assert wanted == len(answers)
        self.send(*answers, *self._extra(), self.record(DONE))

    def _controlled(self, flit: bytes, board: int) -> list[bytes]:
        packed = int.from_bytes(flit[:16], "little")
        op = next(name for name, value in OP.values.items() if value == packed & 0xF)
        fields = constants.layout(op if op.startswith("idle_") else f"control_{op}").unpack(packed)
        self.control.append((board, sideband(flit, "job"), op, fields))
        self.silent -= {board} if op == "cluster" else set()
        if board in self.silent:
            return []
        answer = constants.layout("control_answer").pack(
            op_code=OP["answer"],
            board=board,
            asked=OP[op],
            rejection=self.reject(op),
            value=self.value(fields, board) if op == "read" else 0,
            **({"unit": fields["unit"], "counter": fields["counter"]} if op == "read" else {}),
        )
        return [self.record(PACKET, flit_of(answer, packets.HOST, "header", True, "reply"))]

    def _loaded(self, flit: bytes, body: bytes) -> list[bytes]:
        head = constants.layout("load_header").unpack(int.from_bytes(flit[:16], "little"))
        dest, op = sideband(flit, "dest"), head["op"]
        job = sideband(flit, "job")
        places: list[tuple[int, int]] = []
        if dest >> 29 == ENDPOINT["control"]:
            assert dest >> 14 & 0xFFF == self.root
            step = 1 if op == LOAD["write_instr"] else self.tiles // self.drams
            places = [(board, tile) for board in self.jobs[job] for tile in range(0, self.tiles, step)]
        else:
            assert dest >> 29 == ENDPOINT["tile"]
            board, y, x = dest >> 14 & 0xFFF, dest >> 10 & 0xF, dest >> 6 & 0xF
            its = [number for number, boards in enumerate(self.jobs) if board in boards]
            assert job == (its[0] if its else 31)
            places = [(board, y * self.width + x)]
        found = []
        for board, tile in places:
            found += self._accessed(head, op, board, tile, body)
        return found

    def _accessed(self, head: Mapping[str, int], op: int, board: int, tile: int, body: bytes) -> list[bytes]:
        address, length, line = head["address"], head["length"], self.line
        memory = self.memories.setdefault((board, tile // (self.tiles // self.drams)), {})
        status, parts = 0, [b""]
        if op in (LOAD["write_instr"], LOAD["read_instr"]):
            store = self.code.setdefault((board, tile), {})
            if op == LOAD["write_instr"]:
                store.update((address + at, body[at : at + 16]) for at in range(0, length, 16))
            else:
                parts = [b"".join(store.get(address + at, bytes(16)) for at in range(0, length, 16))]
        elif address % line or length % line or address + length > self.limit:
            status = constants.enumeration("rejection")["address"]
        elif op == LOAD["write"]:
            assert len(body) == length <= 256
            memory.update((address + at, body[at : at + line]) for at in range(0, length, line))
        elif op == LOAD["fill"]:
            for at in range(0, length, line):
                memory.pop(address + at, None)
        else:
            data = b"".join(memory.get(address + at, bytes(line)) for at in range(0, length, line))
            parts = [data[at : at + 256] for at in range(0, length, 256)]
        if not head["reply"]:
            return []
        assert head["reply"] == packets.HOST
        records = []
        for number, part in enumerate(parts):
            fields = {**head, "status": status, "address": address + 256 * number, "length": len(part), "reply": 0}
            flits = [flit_of(constants.layout("load_header").pack(**fields), packets.HOST, "header", not part, "reply")]
            for at in range(0, len(part), 16):
                word = int.from_bytes(part[at : at + 16], "little")
                flits.append(flit_of(word, packets.HOST, "body", at + 16 == len(part), "reply"))
            records.append(self.record(PACKET, b"".join(flits)))
        return records
