# SPDX-License-Identifier: Apache-2.0
"""Packets between the host and the role's streams, which the shell's hardware moves by itself.

What the role gets and the host gets is compared with a model in Python, which is written from docs/hardware/shell.md:
numbers, acknowledgements and credits of each stream, and the frames that must change nothing.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from models import shell_wire as wire
from shell import shell_frames as frames
from shell.shell_frames import Frame

SLOTS = 32
STREAMS = 4
LONGEST = 1436
CREDIT_WAIT = 2048


@dataclass
class Stream:
    """Both directions of a stream: of the host's packets, and of the role's."""

    accepted: list[bytes] = field(default_factory=list)
    got: int = 0
    """Accepted packets that the role has got."""
    said: list[bytes] = field(default_factory=list)
    received: int = 0
    """Packets of the role that the host has received in order."""
    acknowledged: int = 0
    wanted: bool = True


class Traffic:
    """Random packets to a board and of its role, and the streams that they make."""

    def __init__(self, draw: random.Random, stalls: int) -> None:
        self.draw = draw
        self.board = wire.Board(1 << 16, draw.randrange(4, 60), stalls, draw.randrange(1, 1000))
        self.run_number = 0
        self.streams: list[Stream] = []
        self.owed: list[Frame] = []
        self.messages = self.bad_tags = self.bad_frames = 0

    def payload(self) -> bytes:
        draw = self.draw
        return draw.randbytes(
            draw.choice([0, 1, draw.randrange(2, 9), draw.randrange(65), draw.randrange(300), LONGEST])
        )

    def begin(self) -> None:
        self.run_number += self.draw.choice([1, 7, 1 << 32])
        self.streams = [Stream() for _ in range(STREAMS)]
        self.board.role(STREAMS)
        self.board.add(self.board.command(frames.START, binding=self.run_number), gap=5000)
        self.run()

    def finish(self) -> None:
        self.board.end_kernel()
        kinds = [frames.parse(data).kind for _, data in self.board.run(60_000).out]
        assert frames.FINISHED in kinds, kinds
        self.board.add(self.board.command(frames.FINISH, binding=self.run_number))
        out = [frames.parse(data) for _, data in self.board.run(60_000).out]
        assert (frames.DONE, 0) in [(one.kind, one.status) for one in out]

    # ---- The host's frames

    def _frame(self, stream: int, seq: int, payload: bytes, **fields: int) -> bytes:
        one = self.streams[stream % STREAMS]
        fields.setdefault("acknowledge", one.acknowledged + 1)
        fields.setdefault("run", self.run_number)
        return self.board.packet(stream, seq, payload, **fields)

    def _gap(self) -> int:
        return wire.OVERHEAD if self.draw.random() < 0.9 else self.draw.randrange(wire.OVERHEAD, 3000)

    def packet(self) -> None:
        """The next packet, if the role has taken enough of those before it for sure."""
        number = self.draw.randrange(STREAMS)
        stream, payload = self.streams[number], self.payload()
        room = len(stream.accepted) - stream.got < SLOTS
        flags = self.draw.choice([0, 0, 0, 8, 15])
        self._acknowledge(stream)
        self.board.add(self._frame(number, len(stream.accepted) + 1, payload, flags=flags), self._gap())
        if room or stream.wanted:
            stream.accepted.append(payload)
            self.messages += 1

    def repeated(self) -> None:
        """A packet again, or one that is too early: neither is accepted."""
        number = self.draw.randrange(STREAMS)
        next_ = len(self.streams[number].accepted) + 1
        other = self.draw.choice([next_ - 1, next_ - 2, next_ - SLOTS, next_ + 1, next_ + SLOTS, next_ + (1 << 31)])
        self.board.add(self._frame(number, other % 2**32, self.payload()), self._gap())

    def credit(self) -> None:
        """It acknowledges what the host has received, and carries a payload, which is ignored."""
        number = self.draw.randrange(STREAMS)
        stream = self.streams[number]
        self._acknowledge(stream)
        seq = self.draw.choice([0, len(stream.accepted) + 1, 1000])
        data = self._frame(number, seq, self.draw.choice([b"", b"ignored"]), kind=frames.CREDIT)
        self.board.add(data, self._gap())

    def _acknowledge(self, stream: Stream) -> None:
        stream.acknowledged = self.draw.choice([stream.received, stream.acknowledged])

    def foreign(self) -> None:
        """The next packet but for one thing."""
        draw, number = self.draw, self.draw.randrange(STREAMS)
        seq, payload = len(self.streams[number].accepted) + 1, self.payload()
        wrong: dict[str, int] = draw.choice([
            {"run": self.run_number ^ 1 << draw.randrange(64)},
            {"session": self.board.session ^ 1 << draw.randrange(64)},
            {"version": 3}, {"ethertype": 0x80DD}, {"stream": draw.choice([4, 5, 1 << 32, 1 << 63])},
            {"acknowledge": self.streams[number].acknowledged + 1 + draw.choice([SLOTS + 1, 64, 1 << 31, -1])},
        ])  # fmt: skip
        self.bad_tags += "session" in wrong
        self.bad_frames += "version" in wrong or "ethertype" in wrong
        fields = dict(wrong)
        stream = fields.pop("stream", number)
        if "acknowledge" in wrong:
            # It is a packet all the same, which was accepted already.
            seq -= 1
            fields["acknowledge"] %= 2**32
        self.board.add(self._frame(stream, seq, payload, **fields), 3000)

    def forged(self) -> None:
        """The next packet with a wrong tag."""
        number = self.draw.randrange(STREAMS)
        data = bytearray(self._frame(number, len(self.streams[number].accepted) + 1, self.payload()))
        stream = frames.parse(bytes(data))
        wrong = bytes([*self.board.key[:31], self.board.key[31] ^ 1])
        self.bad_tags += 1
        self.board.add(stream.bytes(self.draw.choice([wrong, None])), 3000)

    # ---- The role's packets

    def say(self) -> None:
        number = self.draw.randrange(STREAMS)
        stream, payload = self.streams[number], self.payload()
        # A stream without slots holds up the others, so the role is not let into that.
        if len(stream.said) - stream.acknowledged < SLOTS - 2:
            self.board.send(number, payload)
            stream.said.append(payload)

    def say_nonsense(self) -> None:
        """To a stream that is none, or longer than a frame: dropped."""
        if self.draw.random() < 0.5:
            self.board.send(self.draw.choice([STREAMS, 7, 255]), self.payload())
        else:
            self.board.send(self.draw.randrange(STREAMS), bytes(LONGEST + 1 + self.draw.randrange(60)))

    # ---- Comparison

    def run(self, quiet: int = 6000) -> None:
        found = self.board.run(quiet)
        assert found.lost == 0
        for _, number, packet in found.delivered:
            stream = self.streams[number]
            assert stream.wanted and packet == stream.accepted[stream.got], (number, stream.got)
            stream.got += 1
        for _, data in found.out:
            one = frames.parse(data)
            if one.kind not in (frames.PACKET, frames.CREDIT):
                continue
            assert frames.tag_is_right(data, self.board.key)
            assert (one.to, one.source, one.session) == (wire.HOST, wire.BOARD, self.board.session)
            assert (one.binding, one.flags, one.status) == (self.run_number, 0, 0)
            stream = self.streams[one.offset]
            assert one.acknowledge <= len(stream.accepted) + 1
            if one.kind == frames.PACKET:
                assert one.payload == stream.said[one.sequence - 1]
                if one.sequence == stream.received + 1:
                    stream.received += 1
            else:
                assert one.payload == b"" and one.acknowledge <= one.sequence <= one.acknowledge + SLOTS
        credits: dict[int, list[int]] = {}
        for at, data in found.out:
            if data[16] == frames.CREDIT:
                credits.setdefault(0, []).append(at)
        times = credits.get(0, [])
        # As often as the hasher can afford; the frames before a credit may delay it.
        assert len(times) <= 2 + (times[-1] - times[0] + 4000) // CREDIT_WAIT if times else True

    def settle(self) -> None:
        """All that was accepted is with the role, and all that it said with the host, who may have to ask again."""
        for stream in self.streams:
            stream.wanted = True
        self.board.role(STREAMS)
        for _ in range(8):
            for number, stream in enumerate(self.streams):
                stream.acknowledged = stream.received
                self.board.add(self._frame(number, 0, b"", kind=frames.CREDIT), 200)
            self.run(8000)
        for stream in self.streams:
            assert stream.got == len(stream.accepted) and stream.received == len(stream.said)

    def counters(self) -> None:
        self.board.add(Frame(wire.BOARD, wire.HOST, frames.ASK_STATUS).bytes(), 3000)
        (status,) = [one for _, one in self.board.run(30_000).out if one[16] == frames.STATUS]
        values = struct.unpack(">B3xHHQQQ8I", frames.parse(status).payload)
        bad_frames, bad_tags, _, _, _, _, messages, overruns = values[6:]
        assert (bad_frames, bad_tags, messages, overruns) == (self.bad_frames, self.bad_tags, self.messages, 0)


@pytest.fixture
def traffic(request: pytest.FixtureRequest) -> Iterator[Traffic]:
    seed, stalls = request.param
    made = Traffic(random.Random(seed), stalls)
    yield made
    made.board.close()


def _random(traffic: Traffic, runs: int, bursts: int) -> None:
    kinds = {
        traffic.packet: 30, traffic.repeated: 3, traffic.credit: 8, traffic.foreign: 3, traffic.forged: 2,
        traffic.say: 30, traffic.say_nonsense: 1,
    }  # fmt: skip
    for _ in range(runs):
        traffic.begin()
        for _ in range(bursts):
            for _ in range(traffic.draw.randrange(1, 24)):
                traffic.draw.choices(list(kinds), list(kinds.values()))[0]()
            traffic.run(8000)
        traffic.settle()
        traffic.counters()
        traffic.finish()


@pytest.mark.parametrize("traffic", [(1, 0)], indirect=True, ids=["seed 1"])
def test_packets_arrive_once_and_in_order(traffic: Traffic) -> None:
    _random(traffic, 2, 30)


@pytest.mark.tier("all", seconds=60, adds="long random traffic with stalls of the memory")
@pytest.mark.parametrize("traffic", [(seed, 3 * (seed % 5)) for seed in range(2, 12)], indirect=True)
def test_packets_arrive_with_stalls(traffic: Traffic) -> None:
    _random(traffic, 4, 150)


def test_messages_take_a_byte_a_cycle() -> None:
    """Of the host at any length; of the role, while the host acknowledges half of a window at once."""
    board = wire.Board()
    for run, length in enumerate((0, 1, 64, LONGEST), 1):
        share, found = wire.message_burst(board, length, 100, 2 * run)
        assert (share, found.lost, found.paused) == (1.0, 0, 0), length
        share, _ = wire.packet_burst(board, length, 100, 2 * run + 1)
        assert share >= 1.0, length
    board.close()


def test_stream_that_the_role_leaves_alone_stops_only_itself() -> None:
    """Its slots fill up, the credit ends there, and packets of the other streams pass."""
    board = wire.Board()
    board.role(4, wanted=0b1101)
    board.add(board.command(frames.START, binding=1), gap=5000)
    board.run()
    for seq in range(1, SLOTS + 9):
        board.add(board.packet(1, seq, bytes([seq])), 200)
        board.add(board.packet(2, seq, bytes([seq, 2])), 200)
    found = board.run(8000)
    assert [(stream, data) for _, stream, data in found.delivered] == [(2, bytes([n, 2])) for n in range(1, SLOTS + 9)]
    last = {one.offset: one for one in (frames.parse(data) for _, data in found.out) if one.kind == frames.CREDIT}
    assert (last[1].acknowledge, last[1].sequence) == (SLOTS + 1, SLOTS + 1)
    assert (last[2].acknowledge, last[2].sequence) == (SLOTS + 9, 2 * SLOTS + 9)
    board.role(4)
    for seq in range(SLOTS + 1, SLOTS + 9):
        board.add(board.packet(1, seq, bytes([seq])), 2000)
    found = board.run(8000)
    board.close()
    assert [data for _, stream, data in found.delivered if stream == 1] == [bytes([n]) for n in range(1, SLOTS + 9)]


def test_packets_without_an_acknowledgement_are_sent_again() -> None:
    """All of them, in order, after 20 ms, then after longer times; an acknowledgement ends that."""
    board = wire.Board()
    ms = 4_000
    board.milliseconds(ms)
    board.role(2)
    board.add(board.command(frames.START, binding=1), gap=5000)
    board.run()
    said = [bytes([n]) * n for n in range(5)]
    for packet in said:
        board.send(1, packet)
    found = [(at, frames.parse(data)) for at, data in board.run(50 * ms).out if data[16] == frames.PACKET]
    assert [one.sequence for _, one in found] == [1, 2, 3, 4, 5] * (len(found) // 5)
    assert [one.payload for _, one in found[5:10]] == said
    assert 20 * ms <= found[5][0] - found[4][0] <= 24 * ms
    assert 40 * ms <= found[10][0] - found[9][0] <= 44 * ms
    board.add(board.packet(1, 1, b"", acknowledge=4, kind=frames.CREDIT), 200)
    found = [(at, frames.parse(data)) for at, data in board.run(30 * ms).out if data[16] == frames.PACKET]
    assert {one.sequence for _, one in found} == {4, 5}
    board.add(board.packet(1, 1, b"", acknowledge=6, kind=frames.CREDIT), 200)
    assert [data for _, data in board.run(200 * ms).out if data[16] == frames.PACKET] == []
    board.close()


def test_run_that_begins_again_begins_with_empty_streams() -> None:
    """Packets that were not delivered, or not acknowledged, belong to the run before."""
    board = wire.Board()
    for run in (1, 2, 3):
        board.role(2, wanted=0 if run < 3 else 3)
        board.add(board.command(frames.START, binding=run), gap=5000)
        board.run()
        for n in range(1, 6):
            board.add(board.packet(0, n, bytes([run, n]), run))
            board.send(1, bytes([run, n, n]))
        found = board.run(50_000)
        said = [frames.parse(data) for _, data in found.out if data[16] == frames.PACKET]
        assert [(one.sequence, one.payload) for one in said] == [(n, bytes([run, n, n])) for n in range(1, 6)]
        assert [data for _, _, data in found.delivered] == ([bytes([3, n]) for n in range(1, 6)] if run == 3 else [])
        wire.end_run(board, run)
    board.close()


def test_packet_may_arrive_in_any_cycle_of_a_credit() -> None:
    """The look at a slot for a credit met the write of the next packet there: the model stopped at an assertion."""
    board = wire.Board()
    board.role(1)
    board.add(board.command(frames.START, binding=1), gap=5000)
    board.run()
    gaps = range(wire.OVERHEAD, 400)
    for at, gap in enumerate(gaps):
        board.add(board.packet(0, 2 * at + 1, b"a"), gap)
        board.add(board.packet(0, 2 * at + 2, b"b"), CREDIT_WAIT + 500)
    found = board.run(8000)
    assert [data for _, _, data in found.delivered] == [b"a", b"b"] * len(gaps)
    board.close()
