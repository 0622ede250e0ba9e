# SPDX-License-Identifier: Apache-2.0
"""Figure 5 of SAF: every command in every state of the shell, with the status that docs/hardware/shell.md states, and
nothing changed when it is an error. Messages, and who owns a board."""

from __future__ import annotations

import hashlib
import struct
import time

import pytest
from scapy.packet import Packet
from shell import shell_scapy as scapy
from shell.shell_board import BLOCK, CHUNK, Board, Session, image_of
from shell.shell_scapy import (
    ABORT,
    ARM,
    ASK_REGISTER,
    ASK_RESULT,
    BEGIN,
    FINISH,
    LOAD,
    READ,
    REGISTERS,
    START,
    WRITE,
    Shell,
    seal,
)

BASE = 8192
SECRET = b"secret" * 5
OK, EARLY, NONE = scapy.OK, scapy.OUT_OF_ORDER, scapy.NO_ROLE
STATES = ("owned", "receiving first", "receiving", "verified", "ready", "armed", "running", "results")
NUMBERS = (
    scapy.OWNED, scapy.RECEIVING, scapy.RECEIVING, scapy.VERIFIED, scapy.READY, scapy.ARMED, scapy.RUNNING,
    scapy.RESULTS,
)  # fmt: skip
# The columns are STATES. `receiving first` is a board without a role; otherwise one with a role is receiving.
TABLE = {
    BEGIN: (OK, OK, OK, OK, OK, EARLY, EARLY, OK),
    LOAD: (EARLY, EARLY, EARLY, OK, EARLY, EARLY, EARLY, EARLY),
    ABORT: (EARLY, OK, OK, OK, EARLY, EARLY, EARLY, EARLY),
    WRITE: (NONE, NONE, OK, OK, OK, OK, EARLY, OK),
    READ: (OK, OK, OK, OK, OK, OK, OK, OK),
    REGISTERS: (NONE, NONE, EARLY, EARLY, OK, EARLY, EARLY, OK),
    ASK_REGISTER: (NONE, NONE, OK, OK, OK, OK, OK, OK),
    START: (NONE, NONE, EARLY, EARLY, OK, EARLY, EARLY, EARLY),
    ARM: (NONE, NONE, EARLY, EARLY, OK, OK, EARLY, EARLY),
    ASK_RESULT: (EARLY, EARLY, EARLY, EARLY, EARLY, EARLY, EARLY, OK),
    FINISH: (EARLY, EARLY, EARLY, EARLY, EARLY, EARLY, EARLY, OK),
}
RUN = 9


def command(session: Session, kind: int, binding: int) -> tuple[Packet | bytes, dict[str, int]]:
    """A valid payload and fields of a command."""
    digest = hashlib.blake2s(SECRET).digest()
    commands: dict[int, tuple[Packet | bytes, dict[str, int]]] = {
        BEGIN: (image_of(b"another role" * 300)[0], {}), LOAD: (b"", {"binding": binding}), ABORT: (b"", {}),
        WRITE: (b"new", {"offset": BASE}), READ: (scapy.ReadRequest(bytes=4), {"offset": BASE}),
        REGISTERS: (scapy.RegisterWrites(words=[16, 99]), {}), ASK_REGISTER: (b"", {"offset": 16}),
        START: (b"", {"offset": 3, "binding": RUN + 1}), ARM: (digest, {"offset": 3, "binding": RUN + 1}),
        ASK_RESULT: (scapy.ReadRequest(bytes=4), {"binding": RUN}), FINISH: (b"", {"binding": RUN}),
    }  # fmt: skip
    return commands[kind]


def enter(board: Board, state: str, role: bytes) -> tuple[Session, int]:
    """A session in a state, and the binding of the image that is received. The role is loaded before, if any."""
    session = Session(board, fresh=False)
    assert session.opened
    binding = 0
    if state not in ("owned", "receiving first"):
        session.load(role)
        assert session.do(WRITE, b"old!", offset=BASE) == OK
        assert session.do(REGISTERS, scapy.RegisterWrites(words=[0, BASE, 4, 4, 16, 7])) == OK
    if "receiving" in state:
        status, binding, chunks = session.begin(role)
        assert status == OK
        board.send(session.data(0, chunks[0], binding))
    elif state == "verified":
        assert session.configure(role, auto_load=False) == []
        binding = int.from_bytes(image_of(role)[0].root[:8], "big")
    elif state == "armed":
        assert session.do(ARM, hashlib.blake2s(SECRET).digest(), offset=3, binding=RUN) == OK
    elif state in ("running", "results"):
        assert session.do(START, offset=3 if state == "running" else 1, binding=RUN) == OK
        if state == "results":
            session.wait_finished(RUN)
    return session, binding


@pytest.mark.parametrize("state", STATES)
def test_every_command_has_its_status_in_every_state(board: Board, state: str) -> None:
    role = board.kind.role()
    column = STATES.index(state)
    for kind, statuses in TABLE.items():
        if column < 2 and board.announced is not None and board.announced[scapy.Announce].role != bytes(16):
            pytest.fail("a board without a role is needed")
        session, binding = enter(board, state, role)
        board.collect()
        assert board.status.state == NUMBERS[column], (state, kind)
        before = board.counters()
        payload, fields = command(session, kind, binding)
        board.send(session.make(kind, payload, **fields))
        if kind == LOAD:
            board.settle()
        answers = board.collect()
        # An image that is loaded is confirmed too.
        kinds = [scapy.ANSWERS[kind]] + [scapy.LOADED] * (kind == LOAD and statuses[column] == OK)
        assert [one[Shell].kind for one in answers] == kinds and all(session.signed(one) for one in answers)
        assert answers[0][Shell].status == statuses[column], (state, hex(kind))
        board.collect()
        rejected = statuses[column] != OK
        assert board.counters()[3] == before[3] + rejected, (state, hex(kind))
        if rejected:
            assert board.status.state == NUMBERS[column], (state, hex(kind))
            if column > 1:
                assert session.read(BASE, 4) == b"old!" and session.register(16) == 7
            if state == "armed":
                board.send(seal(board.frame(scapy.FIRE, SECRET, to=scapy.BROADCAST)))
                board.collect()
                assert board.status.state == scapy.RUNNING
            if "receiving" in state:
                # The transfer continues where it was.
                for number, chunk in enumerate(image_of(role)[1]):
                    board.send(session.data(number, chunk, binding))
                board.settle()
                assert [one[Shell].kind for one in board.collect()] == [scapy.LOADED]
        assert session.do(scapy.CLOSE) == OK
        while board.announced is None or board.announced[Shell].session == session.challenge:
            assert board.receive() is not None
        if column < 2 and board.announced[scapy.Announce].role != bytes(16):
            # This board has a role now; the next command needs one without.
            board.kind.reset(board.cluster)
            time.sleep(0.05)
            board.announced = None
            board.announcement()


def test_armed_board_starts_with_the_right_secret_only(board: Board) -> None:
    session, _ = enter(board, "armed", board.kind.role())
    before = board.counters()
    for wrong in (b"", SECRET[:-1], SECRET + b"x", bytes(30), hashlib.blake2s(SECRET).digest()):
        board.send(seal(board.frame(scapy.FIRE, wrong, to=scapy.BROADCAST)))
    assert board.counters()[1] == before[1] + 5 and board.status.state == scapy.ARMED
    # All bytes of the hash count.
    digest = hashlib.blake2s(SECRET).digest()
    for at in range(32):
        wrong = digest[:at] + bytes([digest[at] ^ 1 << at % 8]) + digest[at + 1 :]
        assert session.do(ARM, wrong, offset=3, binding=RUN) == OK
        board.send(seal(board.frame(scapy.FIRE, SECRET, to=scapy.BROADCAST)))
    assert board.counters()[1] == before[1] + 37 and board.status.state == scapy.ARMED
    assert session.do(ARM, digest, offset=3, binding=RUN) == OK
    before = (before[0], before[1] + 32, *before[2:])
    for _ in range(3):  # repeated broadcasts start nothing else
        board.send(seal(board.frame(scapy.FIRE, SECRET, to=scapy.BROADCAST)))
    assert board.counters()[1] == before[1] + 5 and board.status.state == scapy.RUNNING
    assert session.do(scapy.CLOSE) == OK


def test_board_confirms_no_image_that_it_has_not_loaded(board: Board) -> None:
    """`query` for binding 0, for foreign bindings, for an image of the session before, for one that was aborted."""
    role = board.kind.role()
    session = Session(board)
    session.load(role)
    binding = int.from_bytes(image_of(role)[0].root[:8], "big")

    def asked(number: int) -> tuple[int, int]:
        (found,) = board.ask(seal(board.frame(scapy.QUERY, binding=number, seq=5)))
        assert session.signed(found) and found[Shell].binding == number
        # It acknowledges the commands so far, so that an older confirmation is recognized.
        assert found[Shell].acknowledge == session.next
        return found[Shell].kind, found[Shell].status

    assert asked(binding) == (scapy.LOADED, OK)
    assert session.do(scapy.CLOSE) == OK
    session = Session(board, fresh=False)
    assert session.opened
    for number in (0, 1, binding, 2**64 - 1):
        assert asked(number) == (scapy.LOADED, scapy.OUT_OF_ORDER), number
    status, other, _ = session.begin(role + b"more")
    assert status == OK and session.do(ABORT) == OK and asked(other) == (scapy.LOADED, scapy.OUT_OF_ORDER)
    # Without a session there is no answer.
    assert session.do(scapy.CLOSE) == OK and board.ask(seal(board.frame(scapy.QUERY, binding=binding))) == []


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"board_type": 2}, scapy.BAD_IMAGE), ({"body_bytes": 0}, scapy.BAD_IMAGE),
        ({"body_bytes": 2**64 - 1}, scapy.BAD_IMAGE), ({"body_bytes": 1 << 40}, scapy.BAD_IMAGE),
        ({"chunk_bytes": 0}, scapy.BAD_LENGTH), ({"chunk_bytes": 100}, scapy.BAD_LENGTH),
        ({"chunk_bytes": 65472}, scapy.BAD_LENGTH), ({"chunks": 0}, scapy.BAD_IMAGE),
        ({"chunks": 2**32 - 1}, scapy.BAD_IMAGE), ({"manifest_bytes": 0}, scapy.BAD_IMAGE),
        ({"manifest_bytes": 2**32 - 1}, scapy.BAD_IMAGE),
    ],
    ids=lambda one: "-".join(map(str, one)) if isinstance(one, dict) else "",
)  # fmt: skip
def test_begin_rejects_images_that_cannot_be(board: Board, changed: dict[str, int], status: int) -> None:
    session = Session(board)
    assert session.begin(board.kind.role(), **changed)[0] == status
    board.collect()
    assert board.status.state == scapy.OWNED


def test_images_with_a_wrong_root_or_wrong_bytes_are_never_loaded(board: Board) -> None:
    """All chunks arrive, in any order, twice; the board goes on missing what does not agree, and keeps its role."""
    board.compared = board.kind.slower == 1  # hardware hashes while it answers frames
    role, other = board.kind.role(), board.kind.role() + b"other" * 2000
    session = Session(board)
    session.load(role)
    for wrong in ("root", "manifest", "body"):
        image, chunks = image_of(other)
        root = bytes(32) if wrong == "root" else image.root
        binding = int.from_bytes(root[:8], "big")
        if wrong != "root":
            at = 0 if wrong == "manifest" else 3
            chunks[at] = bytes([chunks[at][0] ^ 1]) + chunks[at][1:]
        image.root = root
        before = board.counters()
        assert session.do(BEGIN, image, binding=binding) == OK
        for number, chunk in [*reversed(list(enumerate(chunks))), *enumerate(chunks)]:
            board.send(session.data(number, chunk, binding))
        board.settle()
        found = board.ask(seal(board.frame(scapy.QUERY, binding=binding, seq=5)))
        assert {one[Shell].kind for one in found} == {scapy.REPORT}, wrong
        assert found[0][scapy.Report].missing > 0 and board.counters()[1] > before[1], wrong
        assert session.do(LOAD, binding=binding) == EARLY
        assert board.announcement()[scapy.Announce].role == image_of(role)[0].root[:16]
    assert session.do(ABORT) == OK and session.do(START, offset=3, binding=1) == OK


def test_every_byte_of_a_hash_counts(board: Board) -> None:
    """Of the root, and of a block's hash in the manifest; the board has all chunks, and goes on missing some."""
    board.compared = board.kind.slower == 1  # hardware hashes while it answers frames
    role = board.kind.role()
    session = Session(board)
    step = 1 if board.kind.slower == 1 else 9

    def flipped(data: bytes, at: int) -> bytes:
        return data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]

    for at in [*range(0, 32, step), *range(-16, 0, step)]:
        image, chunks = image_of(role)
        if at < 0:
            chunks[0] = flipped(chunks[0], 16 + at)
            image.root = hashlib.blake2s(chunks[0][: image.manifest_bytes]).digest()
        else:
            image.root = flipped(image.root, at)
        binding = int.from_bytes(image.root[:8], "big")
        assert image.manifest_bytes == 16 and session.do(BEGIN, image, binding=binding) == OK
        for number, chunk in enumerate(chunks):
            board.send(session.data(number, chunk, binding))
        board.settle()
        found = board.ask(seal(board.frame(scapy.QUERY, binding=binding, seq=5)))
        assert [one[Shell].kind for one in found] == [scapy.REPORT] and found[0][scapy.Report].missing > 0, at
    assert board.announcement()[scapy.Announce].role == bytes(16)


def test_forged_chunk_of_two_blocks_does_not_change_the_one_that_is_verified(board: Board) -> None:
    """A forged chunk makes the second block miss all of its chunks, and the one that it shares with the first block
    arrives again with other bytes of the first."""
    board.compared = board.kind.slower == 1  # hardware hashes while it answers frames
    role = board.kind.role() + bytes(range(256)) * 500
    session = Session(board)
    status, binding, chunks = session.begin(role)
    assert status == OK
    shared = 1 + BLOCK // CHUNK
    assert BLOCK % CHUNK and len(role) > 2 * BLOCK - CHUNK
    head = BLOCK % CHUNK

    def missing(numbers: list[int], **other: bytes) -> int | None:
        """What the board misses after some chunks; None if it has loaded the image."""
        for number in numbers:
            board.send(session.data(number, other.get(f"chunk{number}", chunks[number]), binding))
            if number % 16 == 15:
                board.collect()
        board.settle()
        found = board.ask(seal(board.frame(scapy.QUERY, binding=binding, seq=5)))
        if any(one[Shell].kind == scapy.LOADED for one in found):
            return None
        return int(found[-1][scapy.Report].missing)

    second = list(range(shared + 1, len(chunks)))
    # The manifest and the first block: what is missing is the second one.
    assert missing(list(range(shared + 1))) == len(second)
    assert missing(second, **{f"chunk{shared + 5}": bytes(CHUNK)}) != 0
    forged = bytes([chunks[shared][0] ^ 1]) + chunks[shared][1:]
    assert forged[head:] == chunks[shared][head:]
    left = missing([shared, *second], **{f"chunk{shared}": forged})
    # A twin stores the chunk and finds the wrong hash; hardware does not write bytes of a verified block.
    assert left != 0 and (left is not None or board.kind.slower > 1)
    if left is not None:
        assert missing(list(range(len(chunks)))) is None
    assert board.announcement()[scapy.Announce].role == image_of(role)[0].root[:16]


def test_board_has_one_owner_until_its_lease_ends_or_another_takes_over(board: Board) -> None:
    board.compared = False  # the lease ends by the clock
    first = Session(board, lease=1500)
    other = board.wire()
    second = Session(board, wire=other)
    (found,) = second.answers
    assert (found[Shell].kind, found[Shell].status) == (scapy.OPENED, scapy.NOT_OWNER)
    assert found[Shell].binding == int.from_bytes(board.wires[0].mac, "big")
    assert bytes(found)[56:64] == scapy.tag_of(bytes(found), board.kind.key)
    assert first.do(READ, scapy.ReadRequest(bytes=4)) == OK
    # A repeated `open` is answered again and neither ends the session nor begins its numbers again.
    (again,) = board.ask(first.open_frame)
    assert (again[Shell].kind, again[Shell].status, again[Shell].acknowledge) == (scapy.OPENED, OK, 2)
    third = Session(board, wire=other, take_over=1)
    assert third.opened
    answers = board.ask(first.make(READ, scapy.ReadRequest(bytes=4)))
    assert [one[Shell].status for one in answers] == [scapy.BAD_TAG]
    assert third.do(scapy.CLOSE) == OK
    assert Session(board, lease=300).opened
    end = time.monotonic() + 0.6 * board.kind.slower
    while time.monotonic() < end:
        board.receive(timeout=0.05)
    assert Session(board, wire=other).opened


def test_packets_of_a_stream_are_delivered_once_in_order(board: Board) -> None:
    """Lost, repeated, early, late ones, and those of an earlier run; the loopback role reverses the bytes of each."""
    board.compared = False  # packets are sent by timers
    session = Session(board)
    session.load(board.kind.role())
    recorded: list[bytes] = []
    before = board.status.messages
    for run in (1, 2):
        assert session.do(START, offset=0, binding=run) == OK
        board.streamed.clear()
        for old in recorded:
            board.send(old)
        packets = [struct.pack(">II", run, n) for n in range(1, 41)]
        sealed = [
            seal(board.frame(scapy.PACKET, data, session=session.nonce, seq=n, binding=run), session.key)
            for n, data in enumerate(packets, 1)
        ]
        received: dict[int, bytes] = {}
        expected, begun = 1, time.monotonic()
        while len(received) < len(packets):
            assert time.monotonic() - begun < 20 * board.kind.slower, received
            # The window backwards and twice, so that every packet is early, late and repeated.
            window = sealed[expected - 1 : expected + 3]
            for data in [*reversed(window), *window]:
                board.send(data)
            board.collect()
            for packet in board.streamed:
                assert session.signed(packet) and packet[Shell].binding == run
                expected = max(expected, packet[Shell].acknowledge)
                if packet[Shell].kind == scapy.PACKET and packet[Shell].seq == len(received) + 1:
                    received[packet[Shell].seq] = scapy.payload_of(packet)
            board.streamed.clear()
            acknowledged = board.frame(
                scapy.CREDIT, session=session.nonce, seq=1000, binding=run, acknowledge=len(received) + 1
            )
            board.send(seal(acknowledged, session.key))
        assert list(received.values()) == [data[::-1] for data in packets]
        recorded += sealed
        empty = board.frame(scapy.PACKET, session=session.nonce, seq=len(packets) + 1, binding=run)
        board.send(seal(empty, session.key))
        session.wait_finished(run)
        assert session.do(FINISH, binding=run) == OK
    assert board.status.messages == before + 82
