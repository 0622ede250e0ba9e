# SPDX-License-Identifier: Apache-2.0
"""Writes that the shell's hardware executes by itself, mixed with frames that it must leave to the firmware.

Memory, answers and counters are those of a model in Python, which is written from docs/hardware/shell.md.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from models import shell_wire as wire
from shell import shell_frames as frames
from shell.shell_frames import Frame

WINDOW = 16
OK, BAD_ADDRESS, OUT_OF_ORDER = 0, 6, 12
READ, READ_DATA, CLOSE, CLOSED = 0x21, 0x29, 0x04, 0x05
ANSWER = 8
OTHER = bytes.fromhex("020000007702")
MEMORY = (1 << 16) - 8
LONGEST = 1436


@dataclass
class Model:
    """What the board must do."""

    memory: bytearray
    expected: int = 1
    running: bool = False
    stored: int = 0
    replays: int = 0
    rejected: int = 0
    bad_tags: int = 0
    bad_frames: int = 0
    answers: dict[int, tuple[int, int]] = field(default_factory=dict)
    out: list[tuple[int, int, int, int, bytes, int]] = field(default_factory=list)
    """Frames of the board: kind, status, number, acknowledgement, payload, of stored the last rejected write."""
    rejection: int = 0
    """Status and number of the session's last rejected write."""

    def say(self, kind: int, status: int, seq: int, payload: bytes = b"") -> None:
        named = self.rejection if kind == frames.STORED else 0
        self.out.append((kind, status, seq, self.expected, payload, named))

    def command(self, kind: int, seq: int, offset: int, payload: bytes, flags: int) -> None:
        age = (self.expected - seq) % 2**32
        if age == 0:
            self.expected += 1
        elif age < self.expected:
            self.replays += 1
            if age > WINDOW:
                return
            if kind != READ:
                self.say(*self.answers[seq], seq)
                return
        else:
            return
        if kind == frames.WRITE:
            status = OK
            if self.running:
                status = OUT_OF_ORDER
            elif offset + len(payload) > len(self.memory):
                status = BAD_ADDRESS
            else:
                self.memory[offset : offset + len(payload)] = payload
                self.stored += 1
            self.rejected += status != OK
            if status != OK:
                self.rejection = status << 32 | seq
            self.answers[seq] = (frames.STORED, status)
            if status != OK or flags & ANSWER:
                self.say(frames.STORED, status, seq)
        elif kind == READ:
            count = struct.unpack(">II", payload)[0]
            self.answers[seq] = (READ_DATA, OK)
            self.say(READ_DATA, OK, seq, bytes(self.memory[offset : offset + count]))
        elif kind == frames.START:
            self.running = True
            self.answers[seq] = (frames.DONE, OK)
            self.say(frames.DONE, OK, seq)


class Traffic:
    """Random frames to a board and its model."""

    def __init__(self, draw: random.Random, stalls: int) -> None:
        self.draw = draw
        self.board = wire.Board(MEMORY, draw.randrange(4, 60), stalls, draw.randrange(1, 1000))
        self.model = Model(bytearray(MEMORY), expected=2, answers={1: (frames.BEGUN, OK)})
        self.backlog = 0  # cycles for which the firmware is busy at most
        self.burst = 0
        self.got: list[tuple[int, int, int, int, bytes, int]] = []
        self.bad_frames = 0
        self.counts: list[tuple[int, ...]] = []
        """Counters that the answers to `ask_status` must have: those after all frames before it."""

    def send(self, data: bytes, busy: int = 0) -> None:
        """Frames often follow each other without a pause, as long as the ring has space for those that wait."""
        self.backlog += busy
        gap = wire.OVERHEAD if self.draw.random() < 0.9 else self.draw.randrange(wire.OVERHEAD, 600)
        if self.backlog > 3000 and (self.backlog > 7000 or self.draw.random() < 0.3):
            gap += self.backlog + 500
        self.backlog = max(0, self.backlog - self.board.add(data, gap))
        self.burst += 1
        if self.burst % 500 == 0:
            self.run()

    def run(self) -> wire.Run:
        found = self.board.run(20_000)
        self.backlog = 0
        assert found.lost == 0
        for _, data in found.out:
            one = frames.parse(data)
            assert one.source == wire.BOARD
            if one.kind == frames.STATUS:
                values = struct.unpack(">B3xHHQQQ8I", one.payload)[6:]
                self.bad_frames, bad_tags, replays, rejected, _, stored, _, _ = values
                assert (bad_tags, replays, rejected, stored) == self.counts.pop(0)
            if one.kind not in (frames.ERROR, frames.STATUS, frames.ANNOUNCE, frames.OPENED, CLOSED):
                assert one.to == wire.HOST and one.session == self.board.session
                assert frames.tag_is_right(data, self.board.key)
                named = one.binding if one.kind == frames.STORED else 0
                self.got.append((one.kind, one.status, one.sequence, one.acknowledge, one.payload, named))
        assert self.got == self.model.out and not self.counts
        self.got.clear()
        self.model.out.clear()
        return found

    # ---- Frames

    def payload(self) -> bytes:
        draw = self.draw
        length = draw.choice([0, 1, draw.randrange(2, 9), draw.randrange(65), draw.randrange(300), LONGEST])
        return draw.randbytes(length)

    def place(self, length: int) -> int:
        draw = self.draw
        end = MEMORY - length
        return draw.choice([draw.randrange(end + 1), draw.randrange(end + 1), end, 8 * draw.randrange(end // 8 + 1)])

    def write(self, **fields: int) -> None:
        payload = self.payload()
        offset = fields.pop("offset", self.place(len(payload)))
        flags = self.draw.choice([0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 7, ANSWER, ANSWER | 7])
        seq = fields.setdefault("sequence", self.model.expected)
        self.board.seq = self.model.expected
        data = self.board.command(
            frames.WRITE, payload, offset=offset, flags=flags, binding=self.draw.choice([0, 77]), **fields
        )
        self.model.command(frames.WRITE, seq, offset, payload, flags)
        self.send(data, 1500 if flags & ANSWER or (self.model.out and self.model.out[-1][2] == seq) else 0)

    def outside(self) -> None:
        high = self.draw.choice([1, 1 << 31, (1 << 32) - 1, self.draw.randrange(1, 1 << 32)]) << 32
        offset = self.draw.choice(
            [MEMORY + 1, MEMORY + 8, (1 << 32) - 1, (1 << 32) - 4, high, high | 64, (1 << 64) - 1, (1 << 64) - 700]
        )
        self.write(offset=offset)

    def barely(self) -> None:
        """The last byte is in the memory, or one byte is not."""
        over = self.draw.randrange(2)
        payload = self.draw.randbytes(self.draw.randrange(1, 100))
        offset, seq = MEMORY - len(payload) + over, self.model.expected
        self.board.seq = seq
        data = self.board.command(frames.WRITE, payload, offset=offset)
        self.model.command(frames.WRITE, seq, offset, payload, 0)
        self.send(data, 1500 * over)

    def again(self) -> None:
        self.write(sequence=max(1, self.model.expected - self.draw.randrange(1, WINDOW + 1)))

    def out_of_sequence(self) -> None:
        self.write(sequence=self.model.expected + self.draw.choice([1, 2, 16, 1 << 16, 1 << 31]))
        self.backlog += 1500

    def read(self) -> None:
        count = self.draw.randrange(1, 500)
        offset, seq = self.place(count), self.model.expected
        self.board.seq = seq
        request = struct.pack(">II", count, 0)
        self.model.command(READ, seq, offset, request, 0)
        self.send(self.board.command(READ, request, offset=offset), 2500)

    def _like_next(self, **fields: object) -> tuple[dict[str, object], bytes]:
        about: dict[str, object] = {
            "to": wire.BOARD, "source": wire.HOST, "kind": frames.WRITE, "sequence": self.model.expected,
            "session": self.board.session, "offset": self.place(LONGEST), "payload": self.payload(),
        }  # fmt: skip
        return about | fields, self.board.key

    def forged(self) -> None:
        """The next write but for one thing; a later write has its number."""
        draw = self.draw
        bit = 1 << draw.randrange(64)
        wrong: dict[str, object] = draw.choice([
            {"session": self.board.session ^ bit}, {"source": OTHER}, {"source": b"\2\0\0\0\x76\1"},
            {"source": b"\3\0\0\0\x77\1"},
        ])  # fmt: skip
        about, key = self._like_next(**wrong)
        data = bytearray(Frame(**about).bytes(key))  # type: ignore[arg-type]
        self.model.bad_tags += 1
        self.send(bytes(data), 1500)

    def wrong_tag(self) -> None:
        key = bytes([*self.board.key[:31], self.board.key[31] ^ 1])
        about, _ = self._like_next()
        self.model.bad_tags += 1
        self.send(Frame(**about).bytes(self.draw.choice([key, None])), 1500)  # type: ignore[arg-type]

    def tag_in_one_half(self) -> None:
        """Half of the tag is right, and the checksum is that of the damaged frame."""
        about, key = self._like_next()
        right = Frame(**about).bytes(key)  # type: ignore[arg-type]
        at = 56 + self.draw.randrange(8)
        data = bytearray(right)
        data[at] ^= 1 << self.draw.randrange(8)
        data[52:56] = bytes(4)
        data[52:56] = struct.pack(">I", zlib.crc32(bytes(data)))
        self.model.bad_tags += 1
        self.send(bytes(data), 1500)

    def dropped(self) -> None:
        """Damaged, of another version, or with the EtherType of another kind: counted."""
        about, key = self._like_next(**self.draw.choice([{"version": 3}, {"version": 1}, {"ethertype": 0x80CC}]))
        if self.draw.random() < 0.3:
            about, key = self._like_next()
            self.send(Frame(**about).bytes(key, damage=1 << self.draw.randrange(32)))  # type: ignore[arg-type]
        else:
            self.send(Frame(**about).bytes(key), 1500)  # type: ignore[arg-type]
        self.model.bad_frames += 1

    def for_others(self) -> None:
        to = self.draw.choice([frames.BROADCAST, b"\1" + wire.BOARD[1:], b"\2\0\0\0\1\2"])
        about, key = self._like_next(to=to)
        self.send(Frame(**about).bytes(key), 800)  # type: ignore[arg-type]

    def status(self) -> None:
        model = self.model
        self.counts.append((model.bad_tags, model.replays, model.rejected, model.stored))
        self.send(Frame(wire.BOARD, wire.HOST, frames.ASK_STATUS).bytes(), 2500)

    def check(self) -> None:
        """Memory and counters."""
        self.status()
        self.run()
        # Damaged frames are counted when they arrive, before the frames that wait.
        assert self.bad_frames == self.model.bad_frames
        assert self.board.read(0, MEMORY) == bytes(self.model.memory)

    # ---- Sessions

    def renew(self) -> None:
        """A kernel starts, the session ends and another one begins, each with writes right after it."""
        seq = self.model.expected
        self.board.seq = seq
        data = self.board.command(frames.START)
        self.model.command(frames.START, seq, 0, b"", 0)
        self.send(data, 3000)
        for _ in range(5):
            self.write()
        self.run()
        self.board.seq = self.model.expected
        close = self.board.command(CLOSE)
        self.send(close, 3000)
        for _ in range(5):
            about, key = self._like_next(sequence=self.model.expected + 1)
            self.send(Frame(**about).bytes(key), 1500)  # type: ignore[arg-type]
            self.model.bad_tags += 1
        out = [frames.parse(data) for _, data in self.run().out]
        (challenge,) = {one.session for one in out if one.kind == frames.ANNOUNCE}
        self.board.session ^= 1 << self.draw.randrange(64)
        self.board.open(challenge)
        self.model.expected, self.model.running = 1, False
        self.model.answers.clear()
        self.model.rejection = 0


@pytest.fixture
def traffic(request: pytest.FixtureRequest) -> Iterator[Traffic]:
    seed, stalls = request.param
    made = Traffic(random.Random(seed), stalls)
    yield made
    made.board.close()


def _random(traffic: Traffic, sessions: int, count: int) -> None:
    kinds = {
        traffic.write: 60, traffic.outside: 2, traffic.barely: 3, traffic.again: 2, traffic.out_of_sequence: 2,
        traffic.read: 4, traffic.forged: 3, traffic.wrong_tag: 2, traffic.tag_in_one_half: 2, traffic.dropped: 3,
        traffic.for_others: 3, traffic.status: 3,
    }  # fmt: skip
    for number in range(sessions):
        traffic.write()
        for _ in range(count):
            traffic.draw.choices(list(kinds), list(kinds.values()))[0]()
        traffic.check()
        if number + 1 < sessions:
            traffic.renew()
            traffic.check()


@pytest.mark.parametrize("traffic", [(1, 0)], indirect=True, ids=["seed 1"])
def test_writes_in_hardware_do_what_the_protocol_says(traffic: Traffic) -> None:
    _random(traffic, 2, 300)


@pytest.mark.parametrize("traffic", [(1, 0)], indirect=True, ids=["seed 1"])
def test_answers_of_a_session_are_not_repeated_in_the_next(traffic: Traffic) -> None:
    """Commands 2 to 8 are rejected; in the next session hardware executes writes of these numbers, which are repeated
    then. The firmware has no answers to such writes."""
    for _ in range(2):
        traffic.outside()
    traffic.renew()
    for _ in range(10):
        traffic.write()
    for number in range(1, 10):
        traffic.write(sequence=number)
    traffic.check()


@pytest.mark.tier("all", seconds=60, adds="long random traffic with stalls of the memory")
@pytest.mark.parametrize("traffic", [(seed, 3 * (seed % 5)) for seed in range(2, 12)], indirect=True)
def test_writes_in_hardware_with_memory_stalls(traffic: Traffic) -> None:
    _random(traffic, 5, 1500)


def test_writes_without_a_pause_are_all_executed() -> None:
    """A byte a cycle on the wire with the MAC's overhead; one write in 16 is answered, as the window demands."""
    board = wire.Board()
    for length in (0, 1, 8, 64, LONGEST):
        share, run = wire.burst(board, length, 160, WINDOW)
        assert (share, run.lost, run.paused) == (1.0, 0, 0), length
    board.close()


def test_chunks_of_an_image_without_a_pause_are_all_taken() -> None:
    """Three blocks, one of which is short, in chunks of the size that hosts use, while blocks before are hashed."""
    board = wire.Board()
    share, run = wire.image_burst(board, 130 * 1024, 1344)
    board.close()
    assert (share, run.lost, run.paused) == (1.0, 0, 0)


def test_full_ring_keeps_the_frames_that_wait_and_counts_the_others() -> None:
    """The firmware verifies the tags of `open`, which takes a while, and writes fill the ring until frames are lost."""
    board = wire.Board()
    payload = struct.pack(">QII", board.session, 60_000, 0)
    opens, writes, before = 30, 60, board.seq
    for _ in range(opens):
        board.add(Frame(wire.BOARD, wire.HOST, frames.OPEN, payload, session=1).bytes(wire.KEY))
    for n in range(writes):
        board.add(board.command(frames.WRITE, bytes([n + 1]) * LONGEST, offset=n * LONGEST))
    run = board.run(100_000)
    kinds = [frames.parse(data).kind for _, data in run.out]
    assert run.lost > 0 and kinds.count(frames.OPENED) == opens
    board.add(Frame(wire.BOARD, wire.HOST, frames.OPEN, payload, session=1).bytes(wire.KEY))
    ((_, last),) = board.run(100_000).out
    board.add(Frame(wire.BOARD, wire.HOST, frames.ASK_STATUS).bytes())
    ((_, status),) = board.run(100_000).out
    assert struct.unpack_from(">I", frames.parse(status).payload, 60) == (run.lost,)
    done = frames.parse(last).acknowledge - before
    found = board.read(0, writes * LONGEST)
    board.close()
    stored = b"".join(bytes([n + 1]) * LONGEST for n in range(done))
    assert 0 < done < writes and found == stored.ljust(writes * LONGEST, b"\0")
