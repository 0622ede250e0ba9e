# SPDX-License-Identifier: Apache-2.0
"""Virtual links in Scapy: binding, frames between boards in pieces, and frames that a board must drop: forged,
misdirected, late and malformed ones. A station of the test is the peer of the board."""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from shell import shell_scapy as scapy
from shell.shell_board import KINDS, Board, Session
from shell.shell_cluster import Cluster
from shell.shell_scapy import LinkBinding, Shell, seal

IDENTITY, OTHER = 0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210
MOST = 1400
FIRST, LAST = 1 << 15, 1 << 14


@pytest.fixture(params=["twin", "rtl"])
def board(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Board]:
    cluster = Cluster(tmp_path)
    try:
        board = Board(KINDS[request.param], cluster)
        yield board
        board.close()
    finally:
        cluster.end()


def pieces(*frames: bytes, most: int = MOST) -> list[bytes]:
    """Payloads of link frames that carry these frames, packed as the documentation says."""
    payloads = [b""]
    for one in frames:
        at = 0
        while at < len(one):
            if len(payloads[-1]) + 2 >= most:
                payloads.append(b"")
            part = one[at : at + most - len(payloads[-1]) - 2]
            flags = FIRST * (at == 0) | LAST * (at + len(part) == len(one))
            payloads[-1] += struct.pack(">H", flags | len(part)) + part
            at += len(part)
    return payloads


class Peer:
    """The other end of a link of the board: a station of the test."""

    def __init__(self, board: Board, wire: int, identity: int) -> None:
        self.board, self.wire, self.identity, self.seq, self.heard = board, wire, identity, 0, 0

    def make(self, payload: bytes, *, link: int = 0, **fields: int | str) -> bytes:
        self.seq += 1
        values = {"seq": self.seq, "offset": link, "binding": self.identity} | fields
        return seal(self.board.frame(scapy.LINK_FRAME, payload, self.wire, **values))

    def send(self, *frames: bytes) -> None:
        for payload in pieces(*frames):
            self.board.send(self.make(payload), self.wire)

    def received(self, link: int, count: int, timeout: float = 5.0) -> list[bytes]:
        """The next frames from the board, for this link of the station; fewer if no more arrive."""
        found: list[bytes] = []
        part = b""
        while len(found) < count and (packet := self.board.receive(self.wire, timeout)) is not None:
            head = packet[Shell]
            if head.kind != scapy.LINK_FRAME:
                continue
            self.heard += 1
            assert (head.offset, head.binding, head.seq, head.tag) == (link, self.identity, self.heard, 0)
            payload = scapy.payload_of(packet)
            assert len(payload) <= MOST
            while payload:
                (head_bits,) = struct.unpack_from(">H", payload)
                size = head_bits & 0x3FFF
                assert bool(head_bits & FIRST) == (part == b"") and size
                part, payload = part + payload[2 : 2 + size], payload[2 + size :]
                if head_bits & LAST:
                    found.append(part)
                    part = b""
        return found

    def is_silent(self) -> bool:
        return self.received(0, 1, 0.15) == []


def bind(session: Session, link: int, peer: Peer | None, peer_link: int = 5) -> int:
    address = session.board.address(peer.wire) if peer is not None else "00:00:00:00:00:00"
    binding = LinkBinding(peer=address, peer_link=peer_link, identity=peer.identity if peer is not None else 0)
    return session.do(scapy.BIND, binding, offset=link)


def reaches(board: Board, before: tuple[int, int, int, int], frames: int = 0, tags: int = 0, replays: int = 0) -> None:
    """The board's counters grow by these numbers. Frames of other stations may pass the switch after the question."""
    wanted = (before[0] + frames, before[1] + tags, before[2] + replays, before[3])
    end = time.monotonic() + 5
    while (found := board.counters()) != wanted and time.monotonic() < end:
        time.sleep(0.02)
    assert found == wanted


def test_links_are_bound_by_commands_of_the_session_alone(board: Board) -> None:
    peer = Peer(board, board.wire(), IDENTITY)
    session = Session(board)
    assert bind(session, 0, peer) == scapy.NO_ROLE
    session.load(board.kind.role())
    assert bind(session, 0, peer) == bind(session, 1, peer) == scapy.OK
    assert bind(session, 2, peer) == bind(session, 1 << 40, peer) == scapy.BAD_ADDRESS
    for length in (0, 15, 17):
        assert session.do(scapy.BIND, bytes(length), offset=0) == scapy.BAD_LENGTH
    assert session.do(scapy.START, offset=6, binding=1) == scapy.OK
    # A command without the session's tag binds nothing.
    forger = Peer(board, board.wire(), OTHER)
    binding = LinkBinding(peer=board.address(forger.wire), peer_link=0, identity=OTHER)
    before = board.counters()
    board.send(session.make(scapy.BIND, binding, key=bytes(32)))
    session.next -= 1
    reaches(board, before, tags=1)
    forger.send(b"not a peer")
    peer.send(b"a peer")
    assert peer.received(5, 1) == [b"reep a"] and forger.is_silent()


def test_frames_of_links_arrive_whole_and_in_order_in_pieces_of_any_length(board: Board) -> None:
    peer = Peer(board, board.wire(), IDENTITY)
    session = Session(board)
    session.load(board.kind.role())
    assert bind(session, 0, peer) == scapy.OK and session.do(scapy.START, offset=6, binding=7) == scapy.OK
    source = random.Random(3)
    frames = [source.randbytes(size) for size in (1, 60, 1397, 1398, 1399, 5000, 2, 9000, 64, *([72] * 40))]
    peer.send(*frames)
    assert peer.received(5, len(frames)) == [one[::-1] for one in frames]
    # The middle of the second frame is lost: it is not delivered, the others are.
    lost = [source.randbytes(size) for size in (100, 4000, 1500)]
    for number, payload in enumerate(pieces(*lost)):
        data = peer.make(payload)
        if number != 1:
            board.send(data, peer.wire)
    assert peer.received(5, 2) == [lost[0][::-1], lost[2][::-1]]


def test_forged_misdirected_and_late_link_frames_change_nothing(board: Board) -> None:
    peer, stranger = Peer(board, board.wire(), IDENTITY), Peer(board, board.wire(), IDENTITY)
    session = Session(board)
    session.load(board.kind.role())
    assert bind(session, 0, peer) == scapy.OK and session.do(scapy.START, offset=6, binding=9) == scapy.OK
    (good,) = pieces(b"genuine")
    board.send(peer.make(good), peer.wire)
    assert peer.received(5, 1) == [b"eniuneg"]
    bad = board.counters()
    forged = [
        (stranger, stranger.make(good, seq=100)),  # the identity alone does not suffice
        (stranger, stranger.make(good, seq=100, binding=OTHER)),
        (peer, peer.make(good, seq=100, binding=OTHER)),
        (peer, peer.make(good, seq=100, binding=0)),
        (peer, peer.make(good, seq=100, link=1)),  # not bound
        (peer, peer.make(good, seq=100, link=2)),  # not there
        (peer, peer.make(good, seq=100, link=1 << 63)),
    ]
    for station, data in forged:
        board.send(data, station.wire)
    reaches(board, bad, tags=len(forged))
    # A broadcast is no frame of a link, and counts as one of others.
    board.send(peer.make(good, seq=100, to=scapy.BROADCAST), peer.wire)
    reaches(board, bad, tags=len(forged))
    for seq in (1, 0, 0xFFFF_FFFF, 1 + (1 << 31)):
        board.send(peer.make(good, seq=seq), peer.wire)
    reaches(board, bad, tags=len(forged), replays=4)
    malformed = [
        b"\x80", struct.pack(">H", FIRST | LAST), struct.pack(">H", FIRST | LAST | 9) + b"12345678",
        struct.pack(">H", FIRST | LAST | 1) + b"a" + b"\xff",
    ]  # fmt: skip
    peer.seq = 1
    for payload in malformed:
        board.send(peer.make(payload), peer.wire)
    reaches(board, bad, frames=len(malformed), tags=len(forged), replays=4)
    # The good frame before the malformed piece is delivered; a piece without its begin is not.
    assert peer.received(5, 1) == [b"a"]
    board.send(peer.make(struct.pack(">H", LAST | 3) + b"end"), peer.wire)
    board.send(peer.make(good), peer.wire)
    assert peer.received(5, 2, 0.3) == [b"eniuneg"] and stranger.is_silent()


def test_links_are_rebound_while_the_kernel_runs_and_unbound_with_the_session(board: Board) -> None:
    old, new = Peer(board, board.wire(), IDENTITY), Peer(board, board.wire(), OTHER)
    session = Session(board)
    session.load(board.kind.role())
    assert bind(session, 1, old, 3) == scapy.OK and session.do(scapy.START, offset=6, binding=2) == scapy.OK
    (good,) = pieces(b"abc")
    board.send(old.make(good, link=1), old.wire)
    assert old.received(3, 1) == [b"cba"]
    assert bind(session, 1, new, 8) == scapy.OK
    before = board.counters()
    board.send(old.make(good, link=1), old.wire)
    reaches(board, before, tags=1)
    board.send(new.make(good, link=1), new.wire)
    assert new.received(8, 1) == [b"cba"] and old.is_silent()
    assert bind(session, 1, None) == scapy.OK
    board.send(new.make(good, link=1), new.wire)
    reaches(board, before, tags=2)
    assert new.is_silent()
    assert bind(session, 1, new, 8) == scapy.OK
    assert session.do(scapy.CLOSE) == scapy.OK
    session = Session(board)
    assert session.do(scapy.START, offset=6, binding=3) == scapy.OK
    before = board.counters()
    board.send(new.make(good, link=1), new.wire)
    reaches(board, before, tags=1)
    assert new.is_silent()


@pytest.mark.parametrize("fails", [True, False], ids=["fails", "loads"])
def test_links_stay_bound_only_if_the_next_role_does_not_load(board: Board, fails: bool) -> None:
    peer = Peer(board, board.wire(), IDENTITY)
    session = Session(board)
    session.load(board.kind.role())
    assert bind(session, 0, peer) == scapy.OK
    (loaded,) = session.configure(b"no role" * 3000 if fails else board.kind.role())
    assert (loaded[Shell].kind, loaded[Shell].status) == (scapy.LOADED, scapy.CONFIG_FAILED if fails else scapy.OK)
    # A role that failed leaves the old one, with its links.
    assert session.do(scapy.START, offset=6, binding=1) == scapy.OK
    before = board.counters()
    peer.send(b"after")
    assert peer.received(5, 1, 5.0 if fails else 0.15) == ([b"retfa"] if fails else [])
    reaches(board, before, tags=0 if fails else 1)
