# SPDX-License-Identifier: Apache-2.0
"""gs_shell_links between random peers and a random role. The model is written from docs/hardware/shell.md, "Links"."""

from __future__ import annotations

import logging
import os
import random
from collections import deque
from dataclasses import dataclass, field

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from shell.shell_frames import Frame, parse

LINKS = int(os.environ["LINKS_LINKS"])
COUNT = int(os.environ["LINKS_COUNT"])
MAC = bytes.fromhex("024653000007")
LINK_FRAME, MOST, RING = 0x48, 1400, 1024
INPUTS = (
    "run", "bound_set", "bound", "table_set", "table_at", "table_word", "ring_write", "ring_at", "ring_word",
    "ring_stall", "frame", "frame_start", "frame_bytes", "out", "place_stall", "tx_ready",
)  # fmt: skip


@dataclass
class Peer:
    """The other end of a link, as the board has it."""

    mac: bytes
    link: int
    identity: int
    sent: int = 0
    """Number of the peer's last link frame."""
    heard: int = 0
    """Number of the last link frame that the board accepted."""


@dataclass
class Reassembly:
    """What becomes of link frames at their receiver."""

    piece: bytearray = field(default_factory=bytearray)
    open: bool = False
    frames: list[bytes] = field(default_factory=list)

    def lost(self) -> None:
        self.open = False

    def payload(self, data: bytes) -> bool:
        """Whether all pieces are well-formed."""
        at = 0
        while at < len(data):
            head = int.from_bytes(data[at : at + 2], "big")
            first, last, length = head >> 15, head >> 14 & 1, head & 0x3FFF
            if len(data) - at < 2 or not length or length > len(data) - at - 2:
                self.open = False
                return False
            body = data[at + 2 : at + 2 + length]
            at += 2 + length
            if first:
                self.piece, self.open = bytearray(), True
            if not self.open:
                continue
            self.piece += body
            if last:
                self.frames.append(bytes(self.piece))
                self.open = False
        return True


class Bench:
    def __init__(self, dut) -> None:
        logging.getLogger("cocotb").setLevel(logging.WARNING)
        self.dut, self.draw = dut, random.Random(cocotb.RANDOM_SEED)
        self.peers: list[Peer | None] = [None] * LINKS
        self.bound = 0
        self.stall = self.place_stall = self.tx_pause = 0.0
        # Of the role: frames that came, the one that comes on each link; those to send
        self.came: list[list[bytes]] = [[] for _ in range(LINKS)]
        self.coming = [bytearray() for _ in range(LINKS)]
        self.errors = [0] * LINKS
        self.sending: deque[tuple[int, bytes]] = deque()
        self.sent_at = 0
        self.role_pause = 0.0
        self.wire, self.moved = bytearray(), 0
        self.frames: deque[bytes] = deque()
        self.done = self.reads_table = False
        self.driven: dict[str, int] = {}

    async def begin(self) -> None:
        dut = self.dut
        Clock(dut.clk_i, 10, unit="ns").start()
        for name in INPUTS:
            self.drive(name, 0)
        dut.rst_n.value = 0
        await ClockCycles(dut.clk_i, 4)
        dut.rst_n.value = 1
        self.edge = RisingEdge(dut.clk_i)
        await self.edge

    def drive(self, name: str, value: int) -> None:
        if self.driven.get(name) != value:
            self.driven[name] = value
            getattr(self.dut, name).value = value

    async def cycle(self) -> None:
        """One clock, with the role and the wire."""
        dut, draw = self.dut, self.draw
        offered = 0
        if self.sending and draw.random() >= self.role_pause:
            link, data = self.sending[0]
            offered = data[self.sent_at] | link << 8 | 1 << 10 | (self.sent_at == len(data) - 1) << 11
        ready = int(not self.tx_pause or draw.random() >= self.tx_pause)
        self.drive("out", offered)
        self.drive("ring_stall", int(self.stall and draw.random() < self.stall))
        self.drive("place_stall", int(self.place_stall and draw.random() < self.place_stall))
        self.drive("tx_ready", ready)
        await self.edge
        seen = int(dut.seen.value)
        if offered and seen >> 23 & 1:
            self.sent_at += 1
            if self.sent_at == len(self.sending[0][1]):
                self.sending.popleft()
                self.sent_at = 0
        self.done, self.reads_table = bool(seen >> 24 & 1), bool(seen >> 25)
        beat = seen >> 10 & 0x1FFF
        if beat >> 10 & 1:
            link, last, error = beat >> 8 & 3, beat >> 11 & 1, beat >> 12
            if not error:
                self.coming[link].append(beat & 0xFF)
            if last:
                if error:
                    self.errors[link] += 1
                else:
                    self.came[link].append(bytes(self.coming[link]))
                self.coming[link].clear()
        if ready and seen >> 8 & 1:
            self.wire.append(seen & 0xFF)
            self.moved += 1
            if seen >> 9 & 1:
                self.frames.append(bytes(self.wire))
                self.wire.clear()

    async def set(self, **values: int) -> None:
        for name, value in values.items():
            self.drive(name, value)
        await self.cycle()

    async def bind(self, link: int, peer: Peer | None) -> None:
        """As the firmware does it."""
        self.peers[link] = peer
        self.bound &= ~(1 << link)
        await self.set(bound_set=1, bound=self.bound)
        await self.set(bound_set=0)
        if peer is None:
            return
        while self.reads_table:
            await self.cycle()
        words = (peer.link << 16 | int.from_bytes(peer.mac[:2], "big"), int.from_bytes(peer.mac[2:], "big"),
                 peer.identity >> 32, peer.identity & 0xFFFFFFFF)  # fmt: skip
        for at, word in enumerate(words):
            await self.set(table_set=1, table_at=4 * link + at, table_word=word)
        self.bound |= 1 << link
        await self.set(table_set=0, bound_set=1, bound=self.bound)
        await self.set(bound_set=0)

    def peer(self) -> Peer:
        draw = self.draw
        mac = bytes([draw.getrandbits(8) & 0xFE, *draw.randbytes(5)])
        return Peer(mac, draw.getrandbits(16), draw.getrandbits(64))

    async def give(self, data: bytes) -> None:
        """A frame in the ring, until the block is done with it."""
        start = self.draw.randrange(RING)
        for at in range(0, len(data), 4):
            await self.set(ring_write=1, ring_at=(start + at // 4) % RING,
                           ring_word=int.from_bytes(data[at : at + 4].ljust(4, b"\0"), "little"))  # fmt: skip
        length = int.from_bytes(data[18:20], "big")
        await self.set(ring_write=0, frame=1, frame_start=start, frame_bytes=length)
        while not self.done:
            await self.cycle()
        await self.set(frame=0)

    def counts(self) -> list[int]:
        value = int(self.dut.counts.value)
        return [value >> 32 * i & 0xFFFFFFFF for i in range(4)]


def pieces(draw: random.Random, data: bytes, cut: bool) -> list[bytes]:
    """A frame of a role as pieces with their heads, in order."""
    out, at = [], 0
    while at < len(data):
        most = len(data) - at
        length = min(most, MOST - 2, draw.randrange(1, most + 1) if cut else MOST)
        head = (at == 0) << 15 | (at + length == len(data)) << 14 | length
        out.append(head.to_bytes(2, "big") + data[at : at + length])
        at += length
    return out


@cocotb.test()
async def received_frames_are_those_of_the_peer_in_order(dut) -> None:
    """Losses, late frames, other stations, other identities, unbound links, malformed payloads, new peers."""
    bench = Bench(dut)
    await bench.begin()
    draw = bench.draw
    models = [Reassembly() for _ in range(LINKS)]
    wrong = late = malformed = errors = 0
    running = 1
    await bench.set(run=1)
    for link in range(LINKS):
        await bench.bind(link, bench.peer())
    queued: list[deque[bytes]] = [deque() for _ in range(LINKS)]
    others = ["late"] * 4 + ["malformed", "rebound", "stopped"] * 2
    others += ["lost", "group", "station", "source", "identity", "number", "upper", "unbound"]
    deck: list[str] = []
    same: int | None = None
    for _ in range(COUNT * 8):
        if not deck:
            deck = ["good"] * 30 + others
            draw.shuffle(deck)
        kind = deck.pop()
        bench.stall = draw.choice((0.0, 0.0, 0.3, 0.8))
        link, same = draw.randrange(LINKS) if same is None else same, None
        if kind == "rebound":
            link = next((one for one in range(LINKS) if models[one].open), link)
        if kind == "unbound" or (kind != "rebound" and not bench.peers[link]):
            await bench.bind(link, None if kind == "unbound" else bench.peer())
            queued[link].clear()
        peer, queue = bench.peers[link], queued[link]
        if kind == "rebound":
            await bench.bind(link, bench.peer())
            # The new peer begins with the rest of a frame: it continues none of the peer before.
            if not models[link].open:
                queue.clear()
            deck.append("good")
            same = link
            continue
        if kind == "stopped":
            running ^= 1
            for one in range(LINKS):
                models[one].lost()
                bench.coming[one].clear()
            await bench.set(run=running)
            continue
        while len(queue) < 4:
            cut = draw.random() < 0.4
            size = draw.choice((1, 2, 5, 9, draw.randrange(1, 40), draw.randrange(1, 100), 3000 if cut else 400))
            queue.extend(pieces(draw, draw.randbytes(size), cut or size > MOST - 2))
        payload = b""
        while queue and len(payload) + len(queue[0]) <= MOST and (not payload or draw.random() < 0.7):
            payload += queue.popleft()
        bound = peer if peer is not None else bench.peer()
        if kind == "lost":
            bound.sent += 1
            continue
        to, source, identity, offset = MAC, bound.mac, bound.identity, link
        bit = 1 << draw.randrange(48)
        if kind == "group":
            to = b"\xff" * 6
        elif kind == "station":
            to = (int.from_bytes(MAC, "big") ^ bit).to_bytes(6, "big")
        elif kind == "source":
            source = (int.from_bytes(source, "big") ^ bit).to_bytes(6, "big")
        elif kind == "identity":
            identity ^= 1 << draw.randrange(64)
        elif kind == "number":
            offset = LINKS + draw.randrange(4) if draw.random() < 0.5 else offset | 1 << draw.randrange(3, 32)
        elif kind == "upper":
            offset |= 1 << draw.randrange(32, 64)
        elif kind == "malformed":
            damaged = bytearray(payload)
            if draw.random() < 0.5:
                damaged = damaged[: draw.randrange(1, len(damaged) + 1)] + bytes(draw.randrange(1, 3))
            else:
                damaged[draw.randrange(2)] ^= 1 << draw.randrange(6)
            payload = bytes(damaged)[:MOST]
        if kind in ("good", "malformed"):
            bound.sent += 1
        number = bound.sent if kind != "late" else max(0, bound.heard - draw.randrange(3))
        data = Frame(to, source, LINK_FRAME, payload, sequence=number, offset=offset, binding=identity,
                     session=draw.getrandbits(64), acknowledge=draw.getrandbits(32)).bytes()  # fmt: skip
        if kind in ("source", "identity", "number", "upper", "unbound"):
            wrong += 1
        elif kind == "late":
            late += 1
        elif kind in ("good", "malformed"):
            gap = number != bound.heard + 1 or number == 1
            bound.heard = number
            if running:
                if gap:
                    models[link].lost()
                malformed += not models[link].payload(payload)
        await bench.give(data)
    bench.stall = 0.0
    await ClockCycles(dut.clk_i, 4)
    for link in range(LINKS):
        errors += bench.errors[link]
        assert bench.came[link] == models[link].frames, (link, len(bench.came[link]), len(models[link].frames))
    assert errors
    assert bench.counts() == [0, wrong, late, malformed]


@cocotb.test()
async def frames_of_the_role_reach_the_peer_of_their_link(dut) -> None:
    """All, in order, packed; those of links without a peer are dropped. The line pauses, others use the place."""
    bench = Bench(dut)
    await bench.begin()
    draw = bench.draw
    await bench.set(run=1)
    unbound = draw.randrange(LINKS) if LINKS > 1 else None
    for link in range(LINKS):
        if link != unbound:
            await bench.bind(link, bench.peer())
    offered: list[list[bytes]] = [[] for _ in range(LINKS)]
    received = [Reassembly() for _ in range(LINKS)]
    total = 0

    def check(data: bytes) -> None:
        nonlocal total
        frame = parse(data)
        link = next(i for i, peer in enumerate(bench.peers) if peer and peer.mac == frame.to)
        peer = bench.peers[link]
        assert peer is not None
        peer.sent += 1
        total += 1
        right = Frame(peer.mac, MAC, LINK_FRAME, frame.payload, sequence=peer.sent, offset=peer.link,
                      binding=peer.identity)  # fmt: skip
        assert data == right.bytes(), (data[:64].hex(), right.bytes()[:64].hex())
        assert len(frame.payload) <= MOST
        assert received[link].payload(frame.payload)

    for _ in range(COUNT):
        bench.place_stall = draw.choice((0.0, 0.0, 0.2, 0.7))
        bench.tx_pause = draw.choice((0.0, 0.0, 0.3, 0.9))
        bench.role_pause = draw.choice((0.0, 0.0, 0.5, 0.95))
        for _ in range(draw.randrange(1, 6)):
            link = draw.randrange(LINKS)
            size = draw.choice((1, 2, draw.randrange(1, 20), draw.randrange(20, 300), 1398, 1399, 2048,
                                draw.randrange(1300, 1500), draw.randrange(1, 9000)))  # fmt: skip
            data = draw.randbytes(size)
            bench.sending.append((link, data))
            if link != unbound:
                offered[link].append(data)
        for _ in range(draw.randrange(1, 3000)):
            await bench.cycle()
        while bench.frames:
            check(bench.frames.popleft())
    bench.place_stall = bench.tx_pause = bench.role_pause = 0.0
    idle = 0
    while bench.sending or idle < 6000:
        await bench.cycle()
        idle = 0 if bench.sending else idle + 1
        while bench.frames:
            check(bench.frames.popleft())
    for link in range(LINKS):
        assert received[link].frames == offered[link], (link, len(received[link].frames), len(offered[link]))
        assert not received[link].open
    assert bench.counts() == [total, 0, 0, 0]


@cocotb.test()
async def a_busy_role_fills_link_frames(dut) -> None:
    """Short frames without a pause: the line is never idle, and link frames are full."""
    bench = Bench(dut)
    await bench.begin()
    await bench.set(run=1)
    for link in range(LINKS):
        await bench.bind(link, bench.peer())
    for at in range(400):
        bench.sending.append((at % LINKS, bench.draw.randbytes(100)))
    # The line pauses until the queues are full.
    bench.tx_pause = 1.0
    for _ in range(11_000):
        await bench.cycle()
    bench.tx_pause = 0.0
    while len(bench.frames) < 5:
        await bench.cycle()
    bench.frames.clear()
    bench.moved = 0
    for _ in range(16_000):
        await bench.cycle()
    sizes = [len(parse(data).payload) for data in bench.frames]
    # 13 frames of 102 bytes are the most that a link frame holds.
    assert sum(sizes) / len(sizes) > 0.8 * 13 * 102, sizes
    busy = bench.moved + 24 * len(bench.frames)
    assert busy > 0.97 * 16_000, busy


@cocotb.test()
async def new_peers_and_new_runs_get_whole_frames(dut) -> None:
    """A link that gets another peer, or a run that ends, in the middle of frames: no peer gets a part of one."""
    bench = Bench(dut)
    await bench.begin()
    draw = bench.draw
    await bench.set(run=1)
    history: dict[bytes, tuple[int, Peer, Reassembly]] = {}
    offered: list[list[bytes]] = [[] for _ in range(LINKS)]
    next_frame: list[int] = [0] * LINKS
    run = 1
    for _ in range(2 * COUNT):
        bench.role_pause = draw.choice((0.0, 0.5))
        bench.tx_pause = draw.choice((0.0, 0.5))
        for _ in range(4):
            link = draw.randrange(LINKS)
            data = draw.randbytes(draw.choice((draw.randrange(8, 60), draw.randrange(8, 200), draw.randrange(8, 4000))))
            bench.sending.append((link, data))
            offered[link].append(data)
        for _ in range(draw.randrange(1, 1500)):
            await bench.cycle()
        link = draw.randrange(LINKS)
        if not run or draw.random() < 0.1:
            # The role is reset between two runs.
            bench.sending.clear()
            bench.sent_at = 0
            run ^= 1
            await bench.set(run=run)
        elif draw.random() < 0.4 or not bench.bound >> link & 1:
            peer = bench.peer()
            history[peer.mac] = (link, peer, Reassembly())
            await bench.bind(link, peer)
        elif draw.random() < 0.2:
            await bench.bind(link, None)
    for _ in range(8000):
        await bench.cycle()
    got = 0
    for data in bench.frames:
        frame = parse(data)
        link, peer, model = history[frame.to]
        peer.sent += 1
        right = Frame(peer.mac, MAC, LINK_FRAME, frame.payload, sequence=peer.sent, offset=peer.link,
                      binding=peer.identity)  # fmt: skip
        assert data == right.bytes()
        assert model.payload(frame.payload)
    for link, _, model in history.values():
        for one in model.frames:
            # Frames are lost, but none is damaged, repeated or overtaken.
            next_frame[link] = offered[link].index(one, next_frame[link]) + 1
            got += 1
    assert got > COUNT // 4, got
