# SPDX-License-Identifier: Apache-2.0
"""Mutated frames: the board neither ends nor hangs, and frames without a right tag change nothing.

``--all`` and ``--full`` run a twin that is compiled with the address and undefined-behaviour sanitizers.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Size
from shell import shell_scapy as scapy
from shell.shell_board import KINDS, Board, Kind, Session, image_of
from shell.shell_cluster import Cluster
from shell.shell_scapy import Shell, seal

from gossamer import builds
from gossamer.errors import InputError
from gossamer.paths import INCLUDE
from gossamer.shell import _build

BASE = 8192
LENGTHS = (0, 1, 2, 16, 24, 63, 64, 80, 96, 128, 1024, 1344, 1436, 1437, 1450, 9000, 32767, 32768, 65535)
NUMBERS = (0, 1, 2, 3, 4, 15, 16, 17, 63, 64, 4096, 8192, (1 << 26) - 1, 1 << 26, 1 << 31, 1 << 32, 1 << 40, 1 << 63)


def sanitized() -> Path:
    """The twin with the address and undefined-behaviour sanitizers."""
    flags = ["-std=c++20", "-O1", "-g", "-pthread", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    flags += [f"-I{_build.constants()}", f"-I{INCLUDE}", f"-I{_build.SOURCES.parent}"]
    sources = [path for path in sorted(_build.SOURCES.glob("*.cc")) if path.stem not in ("host", "api")]
    sources += [_build.SIMULATION / f"{name}.cc" for name in ("board", "board_options", "role_host", "twin")]

    def steps(plan: builds.Plan) -> None:
        objects = [plan.compile(path, flags) for path in sources]
        plan.link("shell_twin", objects, ["-pthread", "-ldl", "-fsanitize=address,undefined"])

    def failed(said: str, log: Path) -> InputError:
        return InputError(f"the sanitized twin: {said[-500:]} ({log})")

    tag = builds.tag(*flags, *(path.name for path in sources))
    return builds.kept(f"tests/shell-sanitized-{tag}", steps, failed, title="building the sanitized twin")


class Sanitized(Cluster):
    """Boards are twins with sanitizers."""

    def start_board(self, number: int, *options: str) -> None:
        ordinary, self.programs = self.programs, sanitized()
        super().start_board(number, *options)
        self.programs = ordinary


_MARKS = {"rtl": pytest.mark.tier("all", seconds=60, adds="the shell's RTL")}


@pytest.fixture(params=[pytest.param(kind, marks=_MARKS.get(kind, ())) for kind in KINDS])
def fuzzed(request: pytest.FixtureRequest, tmp_path: Path, size: Size) -> Iterator[Board]:
    kind: Kind = KINDS[request.param]
    cluster = Cluster(tmp_path) if size.name == "small" or request.param == "rtl" else Sanitized(tmp_path)
    try:
        board = Board(kind, cluster)
        yield board
        board.close()
    finally:
        cluster.end()


def sealed(data: bytes, key: bytes | None) -> bytes:
    """With a right check, and a right tag if there is a key; as far as the length permits."""
    # An answer to `ask_status` marks the end of other answers, so none of these frames may cause one.
    if len(data) < scapy.HEADER or data[16] == scapy.ASK_STATUS:
        return data
    if key is not None:
        data = data[:56] + scapy.tag_of(data, key) + data[64:]
    length = struct.unpack_from(">H", data, 18)[0]
    return data[:52] + struct.pack(">I", zlib.crc32(data[:52] + bytes(4) + data[56 : 64 + length])) + data[56:]


class Mutator:
    """Valid frames of all kinds, with mutations. Fields get values at which comparisons change."""

    def __init__(self, board: Board, session: Session, draw: random.Random) -> None:
        self.draw, self.session, self.most = draw, session, board.mtu + 14
        image, chunks = image_of(board.kind.role() + b"fuzz" * 30_000)
        self.binding = int.from_bytes(image.root[:8], "big")
        payloads: dict[int, bytes] = {
            scapy.OPEN: bytes(scapy.Open(nonce=7)), scapy.BEGIN: bytes(image), scapy.DATA: chunks[3],
            scapy.REPAIR: bytes(96) + chunks[2], scapy.READ: bytes(scapy.ReadRequest(bytes=64)),
            scapy.ASK_RESULT: bytes(scapy.ReadRequest(bytes=4)), scapy.WRITE: bytes(64), scapy.FIRE: bytes(32),
            scapy.REGISTERS: bytes(scapy.RegisterWrites(words=[0, 1, 4, 2])), scapy.ARM: bytes(32),
            scapy.PACKET: b"packet", scapy.ANNOUNCE: bytes(80), scapy.STATUS: bytes(64), scapy.LINK_FRAME: bytes(100),
        }  # fmt: skip
        self.frames = [
            bytes(board.frame(kind, payloads.get(kind, b""), to=to, session=session.nonce, binding=self.binding))
            for kind in scapy.KINDS
            for to in (board.mac, scapy.BROADCAST)
        ]

    def frame(self) -> bytes:
        """A frame without check and tag."""
        draw = self.draw
        data = bytearray(draw.choice(self.frames))
        for _ in range(draw.randrange(4)):
            what = draw.randrange(10)
            if what == 0:
                data[draw.randrange(12, len(data))] ^= 1 << draw.randrange(8)
            elif what == 1:
                data[16] = draw.choice(scapy.KINDS) if draw.random() < 0.8 else draw.randrange(256)
                if draw.random() < 0.8 and data[16] in scapy.KINDS:
                    data[12:14] = struct.pack(">H", scapy.type_of(data[16]))
            elif what == 2:
                struct.pack_into(">H", data, 18, draw.choice(LENGTHS))
            elif what == 3:
                at = draw.choice((20, 48))
                struct.pack_into(">I", data, at, draw.choice((0, 1, self.session.next, draw.getrandbits(32))))
            elif what == 4:
                struct.pack_into(">Q", data, 32, (draw.choice(NUMBERS) + draw.randrange(-2, 3)) % 2**64)
            elif what == 5:
                struct.pack_into(">Q", data, 40, draw.choice((0, 1, self.binding, draw.getrandbits(64))))
            elif what == 6:
                struct.pack_into(">Q", data, 24, draw.choice((0, self.session.nonce, self.session.challenge)))
            elif what == 7 and len(data) >= 72:
                at = draw.randrange(64, len(data) - 3)
                struct.pack_into(">I", data, at, (draw.choice(NUMBERS) + draw.randrange(-2, 3)) % 2**32)
            elif what == 8:
                del data[draw.randrange(14, len(data) + 1) :]
            else:
                data += draw.randbytes(draw.choice(LENGTHS))
            del data[self.most :]
            if len(data) < scapy.HEADER:
                break
        if len(data) >= scapy.HEADER and draw.random() < 0.7:
            # A length that fits the frame, so that checks after that of the length are reached.
            struct.pack_into(">H", data, 18, len(data) - scapy.HEADER)
        return bytes(data)


@pytest.mark.timeout(7200)
def test_mutated_frames_without_a_right_tag_change_nothing(fuzzed: Board, size: Size, seed: int) -> None:
    board, draw = fuzzed, random.Random(seed)
    session = Session(board, lease=7_200_000)
    role = board.kind.role()
    session.load(role)
    memory = draw.randbytes(4096)
    for at in range(0, 4096, 1024):
        assert session.do(scapy.WRITE, memory[at : at + 1024], offset=BASE + at) == scapy.OK
    words = [word for n in range(64) for word in (4 * n, draw.getrandbits(32))]
    assert session.do(scapy.REGISTERS, scapy.RegisterWrites(words=words)) == scapy.OK
    mutator = Mutator(board, session, draw)
    wire = board.wires[0]
    count = board.count(size.pick(4_000, 100_000, 500_000))
    # The whole of a state in which data is accepted is part of it: an image that never becomes complete.
    before = session.next
    for number in range(count):
        data = mutator.frame()
        how = number % 4
        if how == 1:
            data = sealed(data, None)
        elif how == 2:
            data = sealed(data, bytes(32))
        elif how == 3 and data[16:17] not in {bytes([kind]) for kind in (scapy.OPEN,)}:
            data = sealed(data[:56] + draw.randbytes(8) + data[64:] if len(data) >= 64 else data, None)
        wire.send(data)
        if number % 64 == 63:
            board.collect()
    board.collect()
    assert board.status.state == scapy.READY and session.next == before
    for at in range(0, 4096, 1024):
        assert session.read(BASE + at, 1024) == memory[at : at + 1024]
    assert [session.register(4 * n) for n in range(64)] == words[1::2]
    assert board.announcement()[scapy.Announce].role == image_of(role)[0].root[:16]
    assert session.do(scapy.START, offset=3, binding=1) == scapy.OK


@pytest.mark.timeout(7200)
def test_mutated_frames_with_a_right_tag_leave_a_board_that_works(fuzzed: Board, size: Size, seed: int) -> None:
    """An owner that sends anything, with numbers that are often the next. Sessions are opened again when they end."""
    board, draw = fuzzed, random.Random(seed)
    session = Session(board, lease=7_200_000)
    role = board.kind.role()
    session.load(role)
    mutator = Mutator(board, session, draw)
    wire = board.wires[0]
    count = board.count(size.pick(4_000, 100_000, 500_000))
    for number in range(count):
        data = mutator.frame()
        if len(data) >= scapy.HEADER:
            kind = data[16]
            if kind == scapy.CLOSE and draw.random() < 0.98:
                continue
            if draw.random() < 0.9 and kind not in scapy.UNTAGGED:
                data = data[:20] + struct.pack(">IQ", session.next, session.nonce) + data[32:]
            data = sealed(data, board.kind.key if kind == scapy.OPEN else session.key)
        wire.send(data)
        if number % 16 == 15:
            board.collect()
            # The next number is that of the answers; a heartbeat has it too.
            wire.send(seal(board.frame(scapy.WRITE, session=session.nonce, seq=session.next), session.key))
            found = board.collect()
            session.next = max([session.next, *(one[Shell].acknowledge for one in found)])
            if board.status.state == scapy.FREE or any(one[Shell].status == scapy.BAD_TAG for one in found):
                session = Session(board, take_over=1)
                assert session.opened
                mutator.session = session
    session = Session(board, take_over=1)
    assert session.opened and board.announcement()[scapy.Announce].role == image_of(role)[0].root[:16]
    session.load(role + b"after")
    assert session.do(scapy.WRITE, struct.pack("<II", 5, 6), offset=BASE) == scapy.OK
    assert session.do(scapy.REGISTERS, scapy.RegisterWrites(words=[0, BASE, 4, 8])) == scapy.OK
    assert session.do(scapy.START, offset=1, binding=3) == scapy.OK
    session.wait_finished(3)
    found = session.answer(session.make(scapy.ASK_RESULT, scapy.ReadRequest(bytes=4), binding=3))
    assert scapy.payload_of(found) == struct.pack("<I", 11)
