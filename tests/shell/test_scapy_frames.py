# SPDX-License-Identifier: Apache-2.0
"""Frames that a board must drop, and frames that it must take, in Scapy: malformed, truncated, oversized, padded,
duplicated, reordered, replayed, forged; lengths; bursts; storms. Counters are compared with what was sent."""

from __future__ import annotations

import os
import random
import struct
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import pytest
from conftest import ROOT
from scapy.packet import Packet
from shell import shell_scapy as scapy
from shell.shell_board import Board, Session
from shell.shell_scapy import Shell, seal

BASE = 8192


@pytest.fixture
def loaded(board: Board) -> Session:
    """A session with a board that has a role."""
    return ready(board)


def ready(board: Board) -> Session:
    session = Session(board)
    session.load(board.kind.role())
    return session


def test_bad_frames_are_dropped_and_counted(board: Board) -> None:
    """A wrong version, length, check or kind; the command that they resemble is still the next."""
    board.compared = False  # errors are limited in time
    session = ready(board)
    good = session.make(scapy.WRITE, b"x" * 64, offset=BASE)
    fields = {"session": session.nonce, "seq": session.next - 1, "offset": BASE}
    whole = len(good)

    def sealed(kind: int = scapy.WRITE, **changed: int) -> bytes:
        return seal(
            board.frame(kind, b"y" * 64, **({"type": scapy.type_of(scapy.WRITE)} | fields | changed)), session.key
        )

    bad: list[bytes] = [seal(good, session.key, damage=1 << bit) for bit in range(32)]
    bad += [sealed(version=version) for version in range(16) if version != 2]
    bad += [sealed(kind=kind, type=scapy.TYPES[0]) for kind in range(256) if kind >> 4 or kind not in scapy.KINDS]
    bad += [sealed(type=other) for other in scapy.TYPES if other != scapy.type_of(scapy.WRITE)]
    bad += [sealed(length=length) for length in (65, 66, 128, 1436, 1437, 9000, 32768, 65535)]
    bad += [good[:size] for size in range(14, whole)]
    # One damaged bit in each byte that the check covers; some of the type's make it a foreign one.
    for at in (*range(12), *range(14, whole)):
        bad.append(good[:at] + bytes([good[at] ^ 1 << at % 8]) + good[at + 1 :])
    before = board.counters()
    for number, data in enumerate(bad, 1):
        board.send(data)
        if number % 16 == 0:
            board.collect()
    # The bits of the destination make some of them frames for another station, which the switch still delivers.
    after = board.counters()
    assert after[0] - before[0] == len(bad) and after[1:] == before[1:]
    assert session.answer(good)[Shell].status == scapy.OK and session.read(BASE, 64) == b"x" * 64


def test_frames_of_other_ethertypes_are_not_the_boards(board: Board) -> None:
    """They are neither answered nor counted, whatever their length."""
    session = ready(board)
    board.collect()
    before = int(board.status.frames_received), board.status.bad_frames
    for type_ in (0x0000, 0x0040, 0x0800, 0x0806, 0x86DD, 0x80EE, 0x80F0, 0x88B4, 0x88B7, 0xFFFF):
        for size in (14, 42, 60, 63, 64, 200, 1514):
            data = bytes(board.frame(scapy.SOLICIT, type=type_))
            assert board.ask((data + bytes(1500))[:size]) == []
    # Each exchange has one frame of its own: the request of the status.
    assert int(board.status.frames_received) - before[0] == 70 and board.status.bad_frames == before[1]
    assert session.register(0) == 0


def test_every_length_is_stored_and_read_back(board: Board) -> None:
    """Writes of 0 bytes to those of the longest frame; then one byte more than any frame of this Ethernet has."""
    board.compared = False  # it takes a while
    session = ready(board)
    most = board.mtu - 50
    draw = random.Random(1)
    lengths = [*range(0, most, 61 if board.kind.slower > 1 else 7 if most > 2000 else 1), most - 1, most]
    for at in range(0, len(lengths), 8):
        # Eight places with bytes before and after each, which keep their values.
        some = [(BASE + 16384 * n, length, draw.randbytes(length)) for n, length in enumerate(lengths[at : at + 8])]
        commands = []
        for place, length, data in some:
            border = b"\xa5" * min(length + 8, most)
            commands.append(session.make(scapy.WRITE, border, offset=place - 4))
            commands.append(session.make(scapy.WRITE, data, offset=place))
        assert {one[Shell].status for one in session.do_all(commands)} == {scapy.OK}
        asked = [
            session.make(scapy.READ, scapy.ReadRequest(bytes=min(length + 8, most)), offset=place - 4)
            for place, length, _ in some
        ]
        for (_, length, data), found in zip(some, session.do_all(asked), strict=True):
            border = b"\xa5" * 4
            expected = border + data + border if length + 8 <= most else (border + data + border)[:most]
            assert scapy.payload_of(found)[: 4 + length] == expected[: 4 + length], length
            if length + 8 <= most:
                assert scapy.payload_of(found) == expected, length
    before = session.next
    assert board.ask(session.make(scapy.WRITE, b"z" * (most + 1), offset=BASE)) == []
    session.next = before
    assert session.read(place, most) == data
    for count, status in ((most + 1, scapy.BAD_LENGTH), (65535, scapy.BAD_LENGTH), (2**32 - 1, scapy.BAD_LENGTH)):
        assert session.do(scapy.READ, scapy.ReadRequest(bytes=count), offset=BASE) == status


def test_length_decides_where_a_padded_payload_ends(board: Board) -> None:
    """Bytes after the payload are padding: neither stored nor part of check and tag."""
    session = ready(board)
    assert session.do(scapy.WRITE, bytes(256), offset=BASE) == scapy.OK
    for length in (0, 1, 2, 7, 45, 46, 47, 60, 63, 64):
        for padding in (1, 60, board.mtu - 50 - length):
            data = session.make(scapy.WRITE, b"p" * length, offset=BASE) + b"\xee" * padding
            assert session.answer(data)[Shell].status == scapy.OK
            assert session.read(BASE, 66) == b"p" * length + bytes(66 - length)
        assert session.do(scapy.WRITE, bytes(66), offset=BASE) == scapy.OK
    padded = seal(board.frame(scapy.ASK_STATUS)) + b"\xee" * 100
    board.wires[0].send(padded)
    while (packet := board.receive()) is not None and packet[Shell].kind != scapy.STATUS:
        pass
    assert packet is not None


def test_forged_frames_change_nothing_and_are_counted(board: Board) -> None:
    """Another key, no tag, wrong bits of the tag, another session, another sender; frames of the session before."""
    old = ready(board)
    recorded = old.make(scapy.WRITE, b"old", offset=BASE)
    assert old.answer(recorded)[Shell].status == scapy.OK
    assert old.do(scapy.CLOSE) == scapy.OK
    session = Session(board, fresh=False)
    assert session.opened and session.challenge != old.challenge
    session.load(board.kind.role())
    other = board.wire()
    next_ = session.next
    good = session.make(scapy.WRITE, b"good", offset=BASE)
    tag = good[56:64]

    def tagged(value: bytes) -> bytes:
        data = good[:56] + value + good[64:]
        return data[:52] + struct.pack(">I", scapy.check_of(data)) + data[56:]

    forged = [
        *(tagged((int.from_bytes(tag, "big") ^ 1 << bit).to_bytes(8, "big")) for bit in range(64)),
        tagged(bytes(8)),
        tagged(b"\xff" * 8),
        session.make(scapy.WRITE, b"bad", offset=BASE, key=bytes(32)),
        session.make(scapy.WRITE, b"bad", offset=BASE, key=board.kind.key),
        session.make(scapy.WRITE, b"bad", offset=BASE, key=old.key),
        session.make(scapy.WRITE, b"bad", offset=BASE, session=session.nonce ^ 1),
        session.make(scapy.WRITE, b"bad", offset=BASE, session=session.challenge),
        session.make(scapy.WRITE, b"bad", offset=BASE, session=0),
        session.make(scapy.WRITE, b"bad", offset=BASE, source=board.address(other)),
        old.open_frame,
        recorded,
    ]
    # Every kind that is not for hosts without a session, without a tag.
    forged += [
        seal(board.frame(kind, bytes(64), session=session.nonce, seq=next_))
        for kind in scapy.KINDS
        if kind not in scapy.UNTAGGED and kind != scapy.OPEN
    ]
    before = board.counters()
    for count, data in enumerate(forged, 1):
        answers = board.ask(data)
        assert all(one[Shell].kind == scapy.ERROR and one[Shell].status == scapy.BAD_TAG for one in answers), data.hex()
        assert board.status.bad_tags - before[1] == count, data.hex()
    assert board.counters() == (before[0], before[1] + len(forged), before[2], before[3])
    session.next = next_
    assert session.answer(good)[Shell].status == scapy.OK and session.read(BASE, 4) == b"good"
    # What an `open` is rejected for is counted too, and opens nothing.
    board.compared = False  # errors are limited in time
    for nonce, key, challenge in (
        (7, bytes(32), board.announcement()[Shell].session),
        (7, board.kind.key, session.challenge),
        (0, board.kind.key, board.announcement()[Shell].session),
    ):
        asked = board.frame(scapy.OPEN, scapy.Open(nonce=nonce), other, session=challenge, take_over=1)
        before = board.counters()
        assert all(one[Shell].status == scapy.BAD_TAG for one in board.ask(seal(asked, key), other))
        assert board.counters()[1] == before[1] + 1
    # All bits of the tag of an `open` count.
    asked = board.frame(
        scapy.OPEN, scapy.Open(nonce=7), other, session=board.announcement()[Shell].session, take_over=1
    )
    data = bytes(seal(asked, board.kind.key))
    before = board.counters()
    for bit in range(64):
        forged_tag = (int.from_bytes(data[56:64], "big") ^ 1 << bit).to_bytes(8, "big")
        changed = data[:56] + forged_tag + data[64:]
        changed = changed[:52] + struct.pack(">I", scapy.check_of(changed)) + changed[56:]
        assert all(one[Shell].status == scapy.BAD_TAG for one in board.ask(changed, other)), bit
    assert board.counters()[1] == before[1] + 64
    assert session.read(BASE, 4) == b"good"


def test_broadcast_commands_and_commands_for_others_are_not_executed(board: Board) -> None:
    session = ready(board)
    assert session.do(scapy.WRITE, b"kept", offset=BASE) == scapy.OK
    for to in (scapy.BROADCAST, "01:00:5e:00:00:01", "02:00:00:00:00:99"):
        next_ = session.next
        assert board.ask(session.make(scapy.WRITE, b"gone", offset=BASE, to=to)) == []
        session.next = next_
    assert session.read(BASE, 4) == b"kept"


COMMANDS: dict[str, Callable[[Session, int], tuple[int, Packet | bytes, dict[str, int]]]] = {
    "write": lambda _, n: (scapy.WRITE, struct.pack(">I", n), {"offset": BASE + 4 * n}),
    "registers": lambda _, n: (scapy.REGISTERS, scapy.RegisterWrites(words=[8, n]), {}),
    "start": lambda _, n: (scapy.START, b"", {"offset": 1, "binding": n}),
    "rejected write": lambda _, n: (scapy.WRITE, b"x", {"offset": 1 << 60}),
    "unknown finish": lambda _, n: (scapy.FINISH, b"", {"binding": 1 << 50}),
    "load": lambda _, n: (scapy.LOAD, b"", {"binding": 5}),
    "abort": lambda _, n: (scapy.ABORT, b"", {}),
    "begin": lambda _, n: (scapy.BEGIN, b"", {}),
    "arm": lambda _, n: (scapy.ARM, b"short", {}),
    "result": lambda _, n: (scapy.ASK_RESULT, scapy.ReadRequest(bytes=4), {}),
    "read": lambda _, n: (scapy.READ, scapy.ReadRequest(bytes=4), {"offset": BASE}),
    "register": lambda _, n: (scapy.ASK_REGISTER, b"", {"offset": 8}),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_repeated_command_is_answered_again_and_executed_once(board: Board, name: str) -> None:
    """The same frame at once, again, and after other commands; the answer is the same, and only `replays` counts."""
    session = ready(board)
    kind, payload, fields = COMMANDS[name](session, 1)
    command = session.make(kind, payload, **fields)
    first = session.answer(command)
    if kind == scapy.START:
        session.wait_finished(1)
    if kind in (scapy.WRITE, scapy.REGISTERS):
        # What the command has changed is changed again; a second execution would undo that.
        assert session.do(scapy.WRITE, b"new!", offset=BASE + 4) == scapy.OK
        assert session.do(scapy.REGISTERS, scapy.RegisterWrites(words=[8, 77])) == scapy.OK
    before = board.counters()
    for _ in range(3):
        again = session.answer(command)
        assert again[Shell].status == first[Shell].status and again[Shell].acknowledge == session.next
    reads = kind in (scapy.READ, scapy.ASK_REGISTER, scapy.ASK_RESULT)
    rejected = 3 * (first[Shell].status != scapy.OK and reads)
    assert board.counters() == (*before[:2], before[2] + 3, before[3] + rejected)
    if kind in (scapy.WRITE, scapy.REGISTERS):
        assert session.read(BASE + 4, 4) == b"new!" and session.register(8) == 77
    if kind == scapy.START:
        assert board.status.state == scapy.RESULTS and session.do(scapy.FINISH, binding=1) == scapy.OK
        assert session.answer(command)[Shell].status == scapy.OK and board.status.state == scapy.READY


def test_command_window_is_sixteen(board: Board) -> None:
    """Of the last 16 commands each is answered again; older ones and those after a gap get `out_of_sequence`."""
    session = ready(board)
    sent = [session.make(scapy.WRITE, bytes([n]), offset=BASE + n) for n in range(40)]
    for data in sent:
        assert session.answer(data)[Shell].status == scapy.OK
    for age, data in enumerate(reversed(sent), 1):
        board.rest()
        (found,) = board.ask(data)
        assert (found[Shell].kind == scapy.STORED) == (age <= 16), age
        if age > 16:
            assert (found[Shell].kind, found[Shell].status) == (scapy.ERROR, scapy.OUT_OF_SEQUENCE)
            assert found[Shell].acknowledge == session.next
    next_ = session.next
    for gap in (1, 2, 15, 16, 17, 1000, 2**31 - 1, 2**31, 2**32 - next_ - 17, 2**32 - next_ - 1, 2**32 - next_):
        board.rest()
        seq = (next_ + gap) % 2**32
        answers = board.ask(session.make(scapy.WRITE, b"gap", offset=BASE, seq=seq))
        assert [(one[Shell].kind, one[Shell].status) for one in answers] == [(scapy.ERROR, scapy.OUT_OF_SEQUENCE)], gap
    session.next = next_
    assert session.read(BASE, 40) == bytes(range(40))


@pytest.mark.parametrize("kind", [scapy.WRITE, scapy.READ, scapy.START], ids=["write", "read", "start"])
def test_numbers_before_the_first_command_are_not_executed(board: Board, kind: int) -> None:
    """Commands are numbered from 1: 0 and the numbers below 2^32 are not repetitions of a command."""
    session = ready(board)
    assert session.do(scapy.CLOSE) == scapy.OK
    session = Session(board, fresh=False)
    payload = scapy.ReadRequest(bytes=4) if kind == scapy.READ else b"seq0"
    before = board.counters()
    for seq in (0, 2**32 - 1, 2**32 - 15, 2**32 - 16):
        board.rest()
        answers = board.ask(session.make(kind, payload, offset=BASE, seq=seq))
        assert [(one[Shell].kind, one[Shell].status) for one in answers] == [(scapy.ERROR, scapy.OUT_OF_SEQUENCE)], seq
    session.next = 1
    assert board.counters()[3] == before[3] and session.read(BASE, 4) == bytes(4)
    assert board.status.state == scapy.READY


def test_reordered_duplicated_and_lost_commands_are_executed_once_in_order(board: Board) -> None:
    """200 appending commands in a random order of the window, each some times, until all are acknowledged."""
    board.compared = False  # errors are limited in time
    session = ready(board)
    draw = random.Random(2)
    count = board.count(200)
    # Each command overwrites the same bytes and adds its own mark, so that order and number of executions show.
    commands = [session.make(scapy.WRITE, struct.pack(">I", n), offset=BASE) for n in range(count)]
    marks = [session.make(scapy.WRITE, b"m", offset=BASE + 64 + n) for n in range(count)]
    done, first = 0, session.next - 2 * count
    board.collect()
    before = board.status.memory_frames
    both = commands + marks
    while done < 2 * count:
        window = both[done : done + 16]
        for data in draw.choices(window, k=24):
            board.send(data)
        board.send(window[0])
        for one in board.collect():
            if one[Shell].kind == scapy.STORED:
                done = max(done, one[Shell].acknowledge - first)
    assert session.read(BASE, 4) == struct.pack(">I", count - 1) and session.read(BASE + 64, count) == b"m" * count
    assert board.status.memory_frames == before + 2 * count


def test_back_to_back_frames_are_all_handled(board: Board) -> None:
    """Bursts of the largest and of the smallest frames, without a pause, answered at their end."""
    board.compared = board.kind.slower == 1  # a slower board gets fewer frames
    session = ready(board)
    for length in (0, 1, board.mtu - 50):
        payloads = [bytes([n % 251]) * length for n in range(board.count(256))]
        for n, payload in enumerate(payloads):
            last = n == len(payloads) - 1
            board.send(session.make(scapy.WRITE, payload, offset=BASE + n * length, wants_answer=int(last)))
        (found,) = board.collect()
        assert found[Shell].status == scapy.OK and found[Shell].acknowledge == session.next
        for n in range(0, len(payloads), 37):
            assert session.read(BASE + n * length, length) == payloads[n]
    asked = [session.make(scapy.READ, scapy.ReadRequest(bytes=board.mtu - 50), offset=BASE) for _ in range(16)]
    for data in asked:
        board.send(data)
    assert len(board.collect()) == 16


STORM = """
import sys, time
sys.path.insert(0, sys.argv[1])
from shell.shell_frames import Wire
wire = Wire(sys.argv[2], bytes.fromhex(sys.argv[3]))
pause = float(sys.argv[4])
frames = [bytes.fromhex(line) for line in sys.stdin]
while True:
    for data in frames:
        wire.send(data)
        if pause:
            time.sleep(pause)
"""


def storm(board: Board, number: int) -> subprocess.Popen[str]:
    """A station that sends all that needs no key as fast as the switch takes it.

    To a slower board it sends 1,000 frames a second, several times what the board's line carries in simulated time.
    """
    address = b"\x02\0\0\0\x66" + bytes([number])
    kinds: tuple[tuple[int, bytes], ...] = (
        (scapy.SOLICIT, b""), (scapy.DATA, bytes(1344)), (scapy.QUERY, b""), (scapy.FIRE, bytes(32)),
        (scapy.REPAIR, bytes(1440)), (scapy.WRITE, bytes(64)), (scapy.OPEN, bytes(16)), (scapy.ANNOUNCE, bytes(80)),
    )  # fmt: skip
    frames = [
        seal(scapy.frame(to, address.hex(":"), kind, payload, seq=1, binding=7, session=9))
        for to in (scapy.BROADCAST, board.mac)
        for kind, payload in kinds
    ]
    frames.append(frames[0][:40])
    command = [sys.executable, "-I", "-c", STORM, str(ROOT / "tests"), board.port, address.hex()]
    command.append("0.001" if board.kind.slower > 1 else "0")
    process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
    assert process.stdin is not None
    process.stdin.write("\n".join(data.hex() for data in frames))
    process.stdin.close()
    return process


@pytest.mark.skipif("GOSSAMER_SHELL_PORT" in os.environ, reason="storms are for simulated switches")
def test_storm_does_not_stop_the_commands_of_a_session(board: Board) -> None:
    """Two stations broadcast without a pause; commands may be lost in the switch, and are sent again."""
    board.compared = False
    session = ready(board)
    storms = [storm(board, number) for number in range(2)]
    try:
        seen: set[bytes] = set()
        begun = time.monotonic()
        while len(seen) < len(storms):
            assert time.monotonic() - begun < 60 * board.kind.slower
            if (data := board.wires[0].receive(1.0)) is not None and data[6:11] == b"\x02\0\0\0\x66":
                seen.add(data[6:12])
        begun = time.monotonic()
        for n in range(board.count(100)):
            data = session.make(scapy.WRITE, struct.pack(">I", n), offset=BASE + 4 * n)
            done = False
            while not done:
                assert time.monotonic() - begun < 60 * board.kind.slower
                board.send(data)
                until = time.monotonic() + 0.05
                while not done and (left := until - time.monotonic()) > 0:
                    found = board.receive(timeout=left)
                    done = found is not None and found[Shell].kind == scapy.STORED and session.signed(found)
    finally:
        for one in storms:
            one.kill()
            one.wait()
    time.sleep(0.2)
    while board.receive(timeout=0.2) is not None:
        pass
    count = board.count(100)
    assert session.read(BASE, 4 * count) == b"".join(struct.pack(">I", n) for n in range(count))
    assert board.status.memory_frames == count and board.status.bad_frames > 0


def places(process: int, value: int) -> set[int]:
    """Addresses of a 32-bit number in a process's writable memory."""
    found: set[int] = set()
    with open(f"/proc/{process}/maps", encoding="ascii") as maps, open(f"/proc/{process}/mem", "rb", 0) as memory:
        for line in maps:
            begin, end = (int(one, 16) for one in line.split()[0].split("-"))
            if " rw" not in line or end - begin > 16 << 20 or "[v" in line:
                continue
            memory.seek(begin)
            words = np.frombuffer(memory.read(end - begin), "<u4")
            found |= {begin + 4 * int(at) for at in np.flatnonzero(words == value)}
    return found


def test_numbers_of_commands_end_before_they_repeat(board: Board) -> None:
    """A twin's next number is set close to 2^32, since nothing can send so many commands; the protocol has no wrap."""
    board.compared = False
    process = board.cluster.processes.get("board 1")
    if process is None:
        pytest.skip("only the memory of a twin can be changed")
    session = ready(board)
    found: set[int] | None = None
    for count in (1, 40, 3, 17):
        for _ in range(count):
            assert session.do(scapy.WRITE, b"x", offset=BASE) == scapy.OK
        now = places(process.pid, session.next)
        found = now if found is None else found & now
    assert found
    with open(f"/proc/{process.pid}/mem", "wb", 0) as memory:
        for place in found:
            memory.seek(place)
            memory.write(struct.pack("<I", 2**32 - 16))
    session.next = 2**32 - 16
    sent = [session.make(scapy.WRITE, bytes([n]), offset=BASE + n) for n in range(15)]
    for data in sent:
        assert session.answer(data)[Shell].status == scapy.OK
    for seq in (2**32 - 1, 0, 1, 2):
        board.rest()
        answers = board.ask(session.make(scapy.WRITE, b"wrap", offset=BASE, seq=seq))
        assert [(one[Shell].kind, one[Shell].status) for one in answers] == [(scapy.ERROR, scapy.OUT_OF_SEQUENCE)], seq
    assert session.answer(sent[-1])[Shell].acknowledge == 2**32 - 1
    session = Session(board, take_over=1)
    assert session.opened and session.read(BASE, 15) == bytes(range(15))
