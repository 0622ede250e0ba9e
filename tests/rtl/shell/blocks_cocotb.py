# SPDX-License-Identifier: Apache-2.0
"""Each block of the Ethernet shell alone: frames as the protocol's document has them, zlib, hashlib, cocotbext-axi."""

from __future__ import annotations

import hashlib
import logging
import os
import random
import zlib
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiBus, AxiSlave
from rtl.shell.blake2s_cocotb import IV, compressed, packed
from shell.shell_frames import Frame

COUNT = int(os.environ.get("BLOCKS_COUNT", "1"))
MAC, HOST = bytes.fromhex("024653000007"), bytes.fromhex("020000000001")
TYPES = {0x80EF, 0x80AA, 0x80AB, 0x80DD, 0x80DB, 0x80CC, 0x80CB, 0x88B5, 0x88B6}
UNTAGGED = {0x00, 0x01, 0x02, 0x07, 0x08, 0x09, 0x11, 0x12, 0x13, 0x34, 0x48}
WRITE, DATA = 0x20, 0x11
RING = 1024
"""Words of the test's ring."""
MTU = 1500
INPUTS = (
    "rx", "rx_tail", "ring_stall", "session", "session_h", "pop", "tx_write", "tx_addr", "tx_word", "tx_send",
    "tx_length", "tx_seal", "tx_ready", "hash_valid", "hash_word", "hash_first", "hash_start", "hash_count",
    "hash_last", "hash_single", "write_start", "write_address", "write_bytes", "write_valid", "write_word",
    "read_start", "read_address", "read_bytes", "read_ready", "packet_valid", "packet_data", "packet_bytes",
    "packet_last", "packet_dest", "packet_read", "packet_addr", "packet_pop", "image_begin", "image_body_at",
    "image_manifest_bytes", "image_body_bytes", "image_root", "image_discard", "image_write", "image_write_at",
    "image_write_bytes", "image_writing", "image_check", "image_check_manifest", "image_check_block", "image_load",
    "image_read_ended", "image_read_failed", "image_word_valid", "image_word", "image_hashed", "image_digest",
    "m_axi_awready", "m_axi_wready", "m_axi_bid", "m_axi_bresp", "m_axi_bvalid", "m_axi_arready", "m_axi_rid",
    "m_axi_rdata", "m_axi_rresp", "m_axi_rlast", "m_axi_rvalid",
)  # fmt: skip


def key_state(key: bytes) -> int:
    """The chaining value of BLAKE2s after the block of a key of 32 bytes."""
    start = packed((IV[0] ^ 0x01010020 ^ len(key) << 8, *IV[1:]))
    return compressed(start, key.ljust(64, b"\0"), 64, False)


async def begin(dut) -> random.Random:
    """Starts the clock, resets, and returns the test's random numbers."""
    logging.getLogger("cocotb").setLevel(logging.WARNING)
    Clock(dut.clk_i, 10, unit="ns").start()
    for name in INPUTS:
        getattr(dut, name).value = 0
    dut.rst_n.value = 0
    await ClockCycles(dut.clk_i, 4)
    dut.rst_n.value = 1
    await RisingEdge(dut.clk_i)
    return random.Random(cocotb.RANDOM_SEED)


# ------------------------------------------------------------------------------------------- receive path


class Receiver:
    """Drives gs_shell_rx and gs_shell_tag, takes the frames that come out, and releases their words."""

    def __init__(self, dut, draw: random.Random) -> None:
        self.dut, self.draw = dut, draw
        self.key = draw.randbytes(32)
        dut.session_h.value = key_state(self.key)
        self.ring = [dut.ring[at] for at in range(RING)]
        self.events = {"seen": 0, "bad": 0, "overrun": 0}
        self.expected: deque[tuple[bytes, bool]] = deque()
        self.out: list[tuple[bytes, bool]] = []
        self.pops, self.stalls = 1.0, 0.0
        self.popping = self.tail = 0
        self.held: deque[int] = deque()
        self.session = 0
        self.crowded = False
        self.model = {"seen": 0, "bad": 0}

    def open(self, session: int) -> None:
        self.session = self.dut.session.value = session

    def judge(self, data: bytes, error: bool) -> None:
        """What must become of a frame, by the document."""
        if error or len(data) < 14 or int.from_bytes(data[12:14], "big") not in TYPES:
            return
        self.model["seen"] += 1
        length = int.from_bytes(data[18:20], "big") if len(data) >= 64 else 0
        end = 64 + length
        covered = data[:52] + bytes(4) + data[56:end]
        if len(data) < end or zlib.crc32(covered) != int.from_bytes(data[52:56], "big"):
            self.model["bad"] += 1
        elif data[:6] == MAC or data[0] & 1:
            digest = hashlib.blake2s(data[:52] + bytes(12) + data[64:end], key=self.key).digest()[:8]
            sealed = self.session and data[16] not in UNTAGGED
            self.expected.append((data[:end], bool(sealed and digest == data[56:64])))

    async def cycle(self, rx: int = 0) -> None:
        dut, draw = self.dut, self.draw
        dut.rx.value = rx
        await RisingEdge(dut.clk_i)
        events = int(dut.rx_events.value)
        self.crowded = bool(events & 8)
        if events & 7:
            for bit, name in enumerate(self.events):
                self.events[name] += events >> bit & 1
        if self.popping and events & 16:
            self.take()
        # Words are released some time after the frame was taken.
        if self.held and draw.random() < 0.3:
            self.tail = self.held.popleft()
            dut.rx_tail.value = self.tail
        popping = int(draw.random() < self.pops)
        if popping != self.popping:
            self.popping = dut.pop.value = popping
        if self.stalls:
            dut.ring_stall.value = int(draw.random() < self.stalls)

    def take(self) -> None:
        start, length = int(self.dut.judged_start.value), int(self.dut.judged_length.value)
        words = (64 + length + 3) // 4
        data = b"".join(int(self.ring[(start + at) % RING].value).to_bytes(4, "little") for at in range(words))
        assert not any(data[64 + length :]), "the last word is not filled with zeros"
        self.out.append((data[: 64 + length], bool(int(self.dut.judged_authentic.value))))
        self.held.append((start + words) % (2 * RING))

    async def send(self, data: bytes, error: bool = False, pauses: float = 0.0) -> None:
        self.judge(data, error)
        for at, byte in enumerate(data):
            while pauses and self.draw.random() < pauses:
                await self.cycle()
            last = at == len(data) - 1
            await self.cycle(byte | 1 << 8 | last << 9 | (error and last) << 10)

    async def drain(self) -> None:
        self.pops = 1.0
        idle = 0
        while idle < 4000 and (idle < 400 or len(self.out) < len(self.expected) - self.events["overrun"]):
            before = len(self.out)
            await self.cycle()
            idle = 0 if len(self.out) != before else idle + 1

    def check(self) -> None:
        """No frame was lost, all are right, in their order, and the events were counted."""
        assert self.events == {**self.model, "overrun": 0}, (self.events, self.model)
        assert len(self.out) == len(self.expected), (len(self.out), len(self.expected))
        for at, (found, right) in enumerate(zip(self.out, self.expected, strict=True)):
            assert found == right, (at, found[1], right[1], found[0].hex(), right[0].hex())
        self.out.clear()
        self.expected.clear()

    def frame(self, length: int, kind: int = WRITE, *, to: bytes = MAC, damage: int = 0, seal: bool = True) -> bytes:
        draw = self.draw
        made = Frame(to, HOST, kind, draw.randbytes(length), sequence=draw.getrandbits(32), offset=draw.getrandbits(64))
        return made.bytes(self.key if seal else None, damage)


@cocotb.test()
async def frames_of_all_lengths_are_received(dut) -> None:
    """Payloads of 0 to a frame's most bytes and one more, with and without padding, one after the other."""
    draw = await begin(dut)
    bench = Receiver(dut, draw)
    most = MTU - 50 + 1
    lengths = range(most + 1) if COUNT > 1 else [*range(10), *draw.sample(range(10, most), 12), most - 1, most]
    for length in lengths:
        data = bench.frame(length, draw.choice((WRITE, DATA)))
        await bench.send(data + draw.randbytes(draw.choice((0, 0, 0, 1, 2, 3, 4, 60))))
        # The ring holds two frames of this length, and some more.
        while len(bench.expected) - len(bench.out) > 1:
            await bench.cycle()
    await bench.drain()
    bench.check()
    # Frames that end at any byte of the headers or the payload.
    whole = bench.frame(40)
    for end in range(1, len(whole)):
        await bench.send(whole[:end])
    await bench.send(whole)
    await bench.drain()
    bench.check()


@cocotb.test()
async def bad_frames_leave_no_trace(dut) -> None:
    """Each field wrong once and at random, errors of the MAC, foreign addresses and EtherTypes; groups are accepted."""
    draw = await begin(dut)
    bench = Receiver(dut, draw)
    for at in range(150 * COUNT):
        if at % 40 == 0:
            await bench.drain()
            bench.open(at // 40 % 2)
        kind = draw.choice((WRITE, DATA, 0x02, 0x05, 0x30, 0x34, 0x40, 0x48, 0x13))
        length = draw.choice((0, 1, 3, 4, 5, draw.randrange(120)))
        data = bench.frame(length, kind, seal=draw.random() < 0.8)
        error = False
        match draw.randrange(9):
            case 0:
                data = bench.frame(length, kind, damage=1 << draw.randrange(32))
            case 1:
                flip = draw.randrange(8 * len(data))
                data = bytes(byte ^ (1 << flip % 8 if at == flip // 8 else 0) for at, byte in enumerate(data))
            case 2:
                data = bench.frame(length, kind, to=bytes(b ^ (n == draw.randrange(6)) << 1 for n, b in enumerate(MAC)))
            case 3:
                data = bench.frame(length, kind, to=draw.choice((b"\xff" * 6, b"\x03" + draw.randbytes(5))))
            case 4:
                made = Frame(
                    MAC, HOST, kind, draw.randbytes(length), ethertype=draw.choice((0x0800, 0, 0x80EE, 0xEF80))
                )
                data = made.bytes()
            case 5:
                error = True
            case 6:
                data = data[: draw.randrange(1, len(data) + 1)]
                error = draw.random() < 0.5
            case 7:
                # More payload is announced than there is, up to the largest number.
                made = Frame(MAC, HOST, kind, draw.randbytes(length), length=draw.choice((length + 1, 0xFFFF, 0xFFC0)))
                data = made.bytes()
            case _:
                data += draw.randbytes(draw.randrange(50))
        await bench.send(data, error, draw.choice((0.0, 0.0, 0.3)))
        while len(bench.expected) - len(bench.out) > 5:
            await bench.cycle()
    await bench.drain()
    bench.check()


@cocotb.test()
async def tags_are_checked_while_other_users_stall_the_ring(dut) -> None:
    """Right and wrong tags back to back; two events in a cycle: frames arrive while others are judged and taken."""
    draw = await begin(dut)
    bench = Receiver(dut, draw)
    bench.open(1)
    for at in range(60 * COUNT):
        if at % 10 == 0:
            bench.stalls, bench.pops = draw.choice((0.0, 0.3, 0.7)), draw.choice((1.0, 0.5, 0.02))
            dut.ring_stall.value = 0
        data = bench.frame(draw.choice((0, 0, 1, 63, 64, 65, draw.randrange(300))), draw.choice((WRITE, WRITE, DATA)))
        if draw.random() < 0.3:
            # A tag with one wrong bit, and the right check of it.
            wrong = bytearray(data)
            wrong[draw.randrange(56, 64)] ^= 1 << draw.randrange(8)
            wrong[52:56] = bytes(4)
            wrong[52:56] = zlib.crc32(wrong).to_bytes(4, "big")
            data = bytes(wrong)
        await bench.send(data)
        while bench.crowded or len(bench.expected) - len(bench.out) > 8:
            await bench.cycle()
    await bench.drain()
    bench.check()


@cocotb.test()
async def a_frame_is_lost_only_after_the_signal_to_pause(dut) -> None:
    """Short frames fill the queue of frames, long ones the ring: what is lost is counted, what stays is right."""
    draw = await begin(dut)
    bench = Receiver(dut, draw)
    for round_ in range(4 * COUNT):
        session, length = round_ % 2, draw.choice((0, 0, 1)) if round_ % 4 < 2 else draw.choice((300, 700))
        bench.open(session)
        bench.pops = 0.0
        bench.events["overrun"] = 0
        stored = late = 0
        while bench.events["overrun"] < 3:
            # A peer that obeys loses none: the queue has places for the frames in flight.
            if bench.events["overrun"] == 0:
                stored, late = stored + (not bench.crowded), late + bench.crowded
            await bench.send(bench.frame(length))
            assert len(bench.expected) < 200
        for _ in range(3):
            await bench.cycle()
        if length < 300:
            assert stored >= 4 and late >= 3, (stored, late)
        lost = bench.events["overrun"]
        await bench.drain()
        assert len(bench.out) == len(bench.expected) - lost, (len(bench.out), len(bench.expected), lost)
        waiting = iter(bench.expected)
        for frame in bench.out:
            assert any(frame == other for other in waiting), "a frame is wrong, repeated or out of order"
        bench.out.clear()
        bench.expected.clear()
        # All words are free again.
        bench.events["overrun"] = 0
        await bench.send(bench.frame(900))
        await bench.drain()
        bench.check()


@cocotb.test()
async def the_session_begins_and_ends_at_any_time(dut) -> None:
    """No frame without a right tag is authentic, none is lost, and the order is kept."""
    draw = await begin(dut)
    bench = Receiver(dut, draw)
    for _ in range(60 * COUNT):
        bench.pops = draw.choice((1.0, 0.05))
        seal = draw.random() < 0.7
        data = bench.frame(draw.randrange(100), seal=seal)
        await bench.send(data)
        while len(bench.expected) - len(bench.out) > 5:
            await bench.cycle()
        for _ in range(draw.choice((0, 0, 1, 20, 90))):
            await bench.cycle()
        if draw.random() < 0.5:
            bench.open(bench.session ^ 1)
    await bench.drain()
    assert [frame for frame, _ in bench.out] == [frame for frame, _ in bench.expected]
    for frame, authentic in bench.out:
        right = hashlib.blake2s(frame[:52] + bytes(12) + frame[64:], key=bench.key).digest()[:8] == frame[56:64]
        assert right or not authentic


@cocotb.test()
async def a_reset_within_a_frame_forgets_it(dut) -> None:
    """The rest of the frame, and frames in the ring and in the hasher, leave nothing; later frames are whole."""
    draw = await begin(dut)
    bench = Receiver(dut, draw)
    for at in range(12 * COUNT):
        bench.open(1)
        for _ in range(draw.randrange(3)):
            await bench.send(bench.frame(draw.randrange(100)))
        data = bench.frame(draw.randrange(200))
        cut = draw.choice((1, 13, 14, 20, 63, 64, len(data) - 1, draw.randrange(1, len(data))))
        for byte in data[:cut]:
            await bench.cycle(byte | 1 << 8)
        dut.rst_n.value = 0
        dut.rx.value = data[min(cut, len(data) - 1)] | 1 << 8 | (at % 2) << 9
        for _ in range(draw.randrange(1, 4)):
            await RisingEdge(dut.clk_i)
        dut.rst_n.value = 1
        bench.tail = dut.rx_tail.value = 0
        bench.held.clear()
        bench.out.clear()
        bench.expected.clear()
        before = dict(bench.model)
        bench.events.update(before)
        rest = data[cut + 1 :]
        await bench.send(rest) if rest else await bench.cycle()
        assert not bench.expected
        for _ in range(3):
            await bench.send(bench.frame(draw.randrange(80)))
        await bench.drain()
        bench.check()


# ------------------------------------------------------------------------------------------- transmitter, hasher


async def transmit(
    dut, draw: random.Random, count: int, key: bytes, finished: list[bytes], together: list[bool] | None = None
) -> None:
    """Sends frames with random headers and payload, and appends what must be on the wire.

    With ``together``, which is true in the cycle before a frame's last byte leaves, half of the frames are sent in the
    same cycle in which another one ends.
    """
    for at in range(count):
        while True:
            await RisingEdge(dut.clk_i)
            if int(dut.tx_free.value):
                break
        length = draw.choice((0, 1, 2, 3, 4, 5, draw.randrange(130), draw.randrange(1985) if at % 9 == 0 else 7))
        seal = draw.random() < 0.6
        data = bytearray(draw.randbytes(64 + length))
        padded = bytes(data) + draw.randbytes(-len(data) % 4)
        if seal:
            # After the end the buffer has zeros, as gs_shell_digest requires.
            padded = bytes(data) + bytes(-len(data) % 4)
        order = list(range(len(padded) // 4))
        if draw.random() < 0.5:
            draw.shuffle(order)
        for word in order:
            dut.tx_write.value, dut.tx_addr.value = 1, word
            dut.tx_word.value = int.from_bytes(padded[4 * word : 4 * word + 4], "little")
            while True:
                await RisingEdge(dut.clk_i)
                if int(dut.tx_write_ready.value):
                    break
        dut.tx_write.value = 0
        for _ in range(draw.choice((0, 0, 1, 300))):
            await RisingEdge(dut.clk_i)
        waits = 2000 if together and draw.random() < 0.5 else 0
        while waits and together and not together[0]:
            await RisingEdge(dut.clk_i)
            waits -= 1
        if waits and together:
            together.append(True)
        dut.tx_send.value, dut.tx_length.value, dut.tx_seal.value = 1, length, int(seal)
        data[52:56] = bytes(4)
        if seal:
            data[56:64] = bytes(8)
            data[56:64] = hashlib.blake2s(data, key=key).digest()[:8]
        data[52:56] = zlib.crc32(data).to_bytes(4, "big")
        finished.append(bytes(data))
        await RisingEdge(dut.clk_i)
        dut.tx_send.value = 0


@cocotb.test()
async def frames_are_sealed_and_sent(dut) -> None:
    """Tags as hashlib has them, checks as zlib has them; all places in use, a MAC that stalls and one that does not."""
    draw = await begin(dut)
    key = draw.randbytes(32)
    dut.session_h.value = key_state(key)
    count = 40 * COUNT
    expected: list[bytes] = []
    together = [False]
    task = cocotb.start_soon(transmit(dut, draw, count, key, expected, together))
    full = 0
    for at in range(count):
        # Slow at times, so that all places are taken.
        ready = draw.choice((1.0, 1.0, 0.5, 0.05 if at % 10 == 0 else 0.8))
        data, begun, held = bytearray(), False, draw.randrange(3)
        for _ in range(60_000):
            # The last byte waits for some cycles, so that the next frame can be sent while it leaves.
            ends = begun and len(data) == len(expected[at]) - 1
            take = int(held == 0 if ends else draw.random() < ready)
            held -= ends
            together[0] = ends
            dut.tx_ready.value = take
            await RisingEdge(dut.clk_i)
            full += not int(dut.tx_free.value)
            valid = int(dut.tx_valid.value)
            assert valid or not begun, "the frame pauses"
            begun = bool(valid)
            if valid and take:
                data.append(int(dut.tx_data.value))
                if int(dut.tx_last.value):
                    break
        assert bytes(data) == expected[at], (at, data.hex(), expected[at].hex())
    await task
    # Some frames were sent in the cycle in which another one ended.
    assert full and len(together) > 3
    dut.tx_ready.value = 1
    for _ in range(100):
        await RisingEdge(dut.clk_i)
        assert not int(dut.tx_valid.value)


class Hashing:
    """The two users of the hasher that are not the frames'."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.ports = {name: [0, 0] for name in ("valid", "word", "first", "start", "count", "last", "single")}
        self.width = {"word": 32, "start": 256, "count": 32}

    def set(self, user: int, **values: int) -> None:
        for name, value in values.items():
            pair = self.ports[name]
            pair[user] = value
            getattr(self.dut, f"hash_{name}").value = pair[0] | pair[1] << self.width.get(name, 1)

    async def digest(self, user: int, draw: random.Random, data: bytes, key: bytes, single: bool) -> bytes:
        """Hashes a message; a user of single blocks carries the chaining value itself, as the processor does."""
        dut = self.dut
        h = packed((IV[0] ^ 0x01010020 ^ len(key) << 8, *IV[1:]))
        data = (key.ljust(64, b"\0") if key else b"") + data
        blocks = max(1, -(-len(data) // 64))
        done = 0
        self.set(user, single=int(single), start=h)
        for at in range(blocks):
            block = data[64 * at : 64 * at + 64].ljust(64, b"\0")
            last = at == blocks - 1
            self.set(user, count=len(data) if last else 64 * at + 64, last=int(last), first=int(single or at == 0))
            for word in range(16):
                while draw.random() < 0.1:
                    self.set(user, valid=0)
                    await RisingEdge(dut.clk_i)
                    done += int(dut.hash_done.value) >> user & 1
                self.set(user, valid=1, word=int.from_bytes(block[4 * word : 4 * word + 4], "little"))
                while True:
                    await RisingEdge(dut.clk_i)
                    done += int(dut.hash_done.value) >> user & 1
                    if int(dut.hash_ready.value) >> user & 1:
                        break
            self.set(user, valid=0)
            while (last or single) and not done:
                await RisingEdge(dut.clk_i)
                done += int(dut.hash_done.value) >> user & 1
            if single:
                assert done == 1
                done = 0
                h = int(dut.hash_h.value) >> 256 * user & (1 << 256) - 1
                self.set(user, start=h)
        assert single or done == 1
        return (int(dut.hash_h.value) >> 256 * user & (1 << 256) - 1).to_bytes(32, "little")


@cocotb.test()
async def parallel_users_get_the_digests_of_hashlib(dut) -> None:
    """Received frames, frames to send and two more users at once; each of the four has its own chaining value."""
    draw = await begin(dut)
    bench, hashing = Receiver(dut, draw), Hashing(dut)
    bench.open(1)
    running = [0]

    async def user(number: int) -> None:
        running[0] += 1
        for _ in range(12 * COUNT):
            data = draw.randbytes(draw.choice((0, 1, 63, 64, 65, 128, draw.randrange(500))))
            key = draw.randbytes(32) if draw.random() < 0.5 else b""
            found = await hashing.digest(number, draw, data, key, bool(number) and draw.random() < 0.7)
            assert found == hashlib.blake2s(data, key=key).digest(), (number, len(data), len(key))
        running[0] -= 1

    sent: list[bytes] = []
    count = 10 * COUNT
    tasks = [cocotb.start_soon(user(0)), cocotb.start_soon(user(1))]
    tasks.append(cocotb.start_soon(transmit(dut, draw, count, bench.key, sent)))
    dut.tx_ready.value = 1

    async def wire() -> None:
        data = bytearray()
        for at in range(count):
            while True:
                await RisingEdge(dut.clk_i)
                if int(dut.tx_valid.value):
                    data.append(int(dut.tx_data.value))
                    if int(dut.tx_last.value):
                        break
            assert bytes(data) == sent[at]
            data.clear()

    tasks.append(cocotb.start_soon(wire()))
    await bench.cycle()
    while running[0] or not all(task.done() for task in tasks):
        if len(bench.expected) - len(bench.out) < 4:
            await bench.send(bench.frame(draw.randrange(200)))
        else:
            await bench.cycle()
    for task in tasks:
        await task
    await bench.drain()
    bench.check()


# ------------------------------------------------------------------------------------------- memory


class Memory:
    """Memory of cocotbext-axi's slave; accesses to a range fail."""

    def __init__(self, size: int) -> None:
        self.bytes = bytearray(size)
        self.bad = range(0)

    def check(self, address: int, length: int) -> None:
        if any(at in self.bad for at in range(address, address + length)):
            raise ValueError(f"{address:#x} has no memory")

    async def write(self, address: int, data: bytes) -> None:
        self.check(address, len(data))
        self.bytes[address : address + len(data)] = data

    async def read(self, address: int, length: int) -> bytes:
        self.check(address, length)
        return bytes(self.bytes[address : address + length])


def pauses(draw: random.Random, share: list[float]):
    while True:
        yield draw.random() < share[0]


def slave(dut, draw: random.Random) -> tuple[Memory, list[float]]:
    memory, share = Memory(8192), [0.0]
    logging.getLogger("cocotb.blocks_top").setLevel(logging.ERROR)
    model = AxiSlave(AxiBus.from_prefix(dut, "m_axi"), dut.clk_i, target=memory)
    write, read = model.write_if, model.read_if
    for channel in (write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel):
        channel.set_pause_generator(pauses(draw, share))
    return memory, share


def transfers(draw: random.Random) -> list[tuple[int, int]]:
    """Addresses and lengths: each alignment with each short length, then random ones."""
    most = 80 if COUNT > 1 else 18
    short = [(4096 - 32 + lane, length) for lane in range(8) for length in range(1, most)]
    draw.shuffle(short)
    long = [(draw.randrange(4000), draw.randrange(1, 1600 if COUNT > 1 else 300)) for _ in range(10 * COUNT)]
    return [*short, *long]


@cocotb.test()
async def writes_of_any_alignment_change_their_bytes_alone(dut) -> None:
    draw = await begin(dut)
    memory, share = slave(dut, draw)
    expected = bytearray(draw.randbytes(len(memory.bytes)))
    memory.bytes[:] = expected
    failures = 0
    for address, length in transfers(draw):
        share[0] = draw.choice((0.0, 0.3, 0.7))
        bad = draw.randrange(address - 8, address + length + 8) & ~7
        memory.bad = range(bad, bad + 8) if draw.random() < 0.2 else range(0)
        data = draw.randbytes(length)
        dut.write_start.value, dut.write_address.value, dut.write_bytes.value = 1, address, length
        await RisingEdge(dut.clk_i)
        dut.write_start.value = 0
        at, offered, word = 0, 0, -(-length // 4)
        for _ in range(30_000):
            if at < word and not offered and draw.random() < 0.8:
                # Bytes of the last word after the end are not written.
                chunk = (data[4 * at : 4 * at + 4] + draw.randbytes(4))[:4]
                dut.write_word.value = int.from_bytes(chunk, "little")
                offered = 1
            dut.write_valid.value = offered
            await RisingEdge(dut.clk_i)
            if offered and int(dut.write_ready.value):
                at, offered = at + 1, 0
            if int(dut.write_done.value):
                break
        dut.write_valid.value = 0
        assert at == word and int(dut.write_done.value)
        touched = [where for where in range(address, address + length) if where not in memory.bad]
        for where in touched:
            expected[where] = data[where - address]
        assert memory.bytes == expected, (address, length)
        assert int(dut.write_fail.value) == int(len(touched) < length), (address, length)
        failures += len(touched) < length
    assert failures


@cocotb.test()
async def reads_of_any_alignment_return_the_bytes(dut) -> None:
    draw = await begin(dut)
    memory, share = slave(dut, draw)
    memory.bytes[:] = draw.randbytes(len(memory.bytes))
    failures = 0
    for address, length in transfers(draw):
        share[0] = draw.choice((0.0, 0.3, 0.7))
        bad = draw.randrange(address - 8, address + length + 8) & ~7
        memory.bad = range(bad, bad + 8) if draw.random() < 0.2 else range(0)
        dut.read_start.value, dut.read_address.value, dut.read_bytes.value = 1, address, length
        await RisingEdge(dut.clk_i)
        dut.read_start.value = 0
        data, ready = bytearray(), draw.choice((1.0, 0.6, 0.1))
        for _ in range(60_000):
            take = int(draw.random() < ready)
            dut.read_ready.value = take
            await RisingEdge(dut.clk_i)
            if take and int(dut.read_valid.value):
                count, word = int(dut.read_count.value), int(dut.read_word.value).to_bytes(4, "little")
                data += word[:count]
                assert not any(word[count:])
                if int(dut.read_last.value):
                    break
                assert count == 4
        dut.read_ready.value = 0
        await RisingEdge(dut.clk_i)
        await RisingEdge(dut.clk_i)
        assert not int(dut.read_busy.value)
        beats = range(address & ~7, (address + length + 7) & ~7)
        failed = bool(memory.bad) and memory.bad.start in beats
        wanted = bytes(0 if where in memory.bad else memory.bytes[where] for where in range(address, address + length))
        assert bytes(data) == wanted, (address, length)
        assert int(dut.read_fail.value) == failed, (address, length)
        failures += failed
    assert failures


# ------------------------------------------------------------------------------------------- packets


@cocotb.test()
async def packets_of_the_role_are_kept_in_order(dut) -> None:
    """Packets of 0 bytes to more than half of the ring, which are cut; the ring and the queue fill, none is lost."""
    draw = await begin(dut)
    sent: deque[tuple[bytes, int]] = deque()
    stalled = [0]
    count = 150 * COUNT

    async def role() -> None:
        for _ in range(count):
            data = draw.randbytes(draw.choice((0, 1, 2, 3, 4, 5, 8, draw.randrange(64), draw.randrange(120, 170))))
            dest, speed = draw.randrange(256), draw.choice((1.0, 0.5))
            dut.packet_dest.value = dest
            words = max(1, -(-len(data) // 4))
            for at in range(words):
                while draw.random() >= speed:
                    dut.packet_valid.value = 0
                    await RisingEdge(dut.clk_i)
                part = data[4 * at : 4 * at + 4]
                if at == words - 1:
                    sent.append((data[:128], dest))
                dut.packet_valid.value, dut.packet_bytes.value, dut.packet_last.value = (
                    1,
                    len(part),
                    int(at == words - 1),
                )
                dut.packet_data.value = int.from_bytes(part.ljust(4, b"\xaa"), "little")
                while True:
                    await RisingEdge(dut.clk_i)
                    if int(dut.packet_ready.value):
                        break
                    stalled[0] += 1
            dut.packet_valid.value = 0

    task = cocotb.start_soon(role())
    for number in range(count):
        while not int(dut.packet_out.value):
            await RisingEdge(dut.clk_i)
        for _ in range(draw.choice((0, 0, 10, 200))):
            await RisingEdge(dut.clk_i)
        data, dest = sent.popleft()
        assert int(dut.packet_length.value) == len(data) and int(dut.packet_to.value) == dest, number
        start, found = int(dut.packet_start.value), b""
        dut.packet_read.value = 1
        for at in range(-(-len(data) // 4)):
            dut.packet_addr.value = (start + at) % 64
            await RisingEdge(dut.clk_i)
            await RisingEdge(dut.clk_i)
            found += int(dut.packet_word.value).to_bytes(4, "little")
        dut.packet_read.value = 0
        assert found[: len(data)] == data, (number, len(data))
        dut.packet_pop.value = 1
        await RisingEdge(dut.clk_i)
        dut.packet_pop.value = 0
        await RisingEdge(dut.clk_i)
    await task
    assert stalled[0] and not sent


# ------------------------------------------------------------------------------------------- image

BLOCK = 65536


class Image:
    """An image of random bytes, and its manifest."""

    def __init__(self, draw: random.Random, most: int = 4) -> None:
        blocks = draw.randrange(1, most + 1)
        self.body = draw.randbytes((blocks - 1) * BLOCK + draw.choice((1, 4, 63, 64, 1000, BLOCK - 1, BLOCK)))
        self.blocks = blocks
        parts = [self.body[at : at + BLOCK] for at in range(0, len(self.body), BLOCK)]
        self.manifest = b"".join(hashlib.blake2s(part).digest()[:16] for part in parts)
        self.root = hashlib.blake2s(self.manifest).digest()
        self.body_at = 64 * draw.randrange(1, 4)


class Guard:
    """Memory, reader, hasher and configuration port around gs_shell_image, each as slow as it likes."""

    def __init__(self, dut, draw: random.Random) -> None:
        self.dut, self.draw = dut, draw
        self.memory = bytearray(1 << 19)
        self.image: Image | None = None
        self.loaded = 0
        self.fails = 0.0
        cocotb.start_soon(self.reader())

    async def wait(self, most: int = 12) -> None:
        for _ in range(self.draw.randrange(1, most)):
            await RisingEdge(self.dut.clk_i)

    async def reader(self) -> None:
        dut, draw = self.dut, self.draw
        while True:
            await RisingEdge(dut.clk_i)
            if not int(dut.image_read.value):
                continue
            at, count = int(dut.image_read_at.value), int(dut.image_read_bytes.value)
            to_hash, to_config = int(dut.image_to_hash.value), int(dut.image_to_config.value)
            dut.image_read_failed.value = 0
            # One part is read now, the other one later: writes in between would show.
            middle = draw.randrange(count + 1)
            data = bytes(self.memory[at : at + middle])
            await self.wait()
            data += self.memory[at + middle : at + count]
            failed = int(draw.random() < self.fails)
            if failed:
                dut.image_read_failed.value = 1
            if not to_hash and not to_config:
                for word in range(0, 16, 4):
                    await self.wait(3)
                    dut.image_word_valid.value = 1
                    dut.image_word.value = int.from_bytes(data[word : word + 4], "little")
                    await RisingEdge(dut.clk_i)
                    dut.image_word_valid.value = 0
                await self.wait(3)
            if to_config:
                image = self.image
                assert image is not None and data == image.body, "a wrong image is loaded"
                self.loaded += not failed
            dut.image_read_ended.value = 1
            await RisingEdge(dut.clk_i)
            dut.image_read_ended.value = 0
            if to_hash:
                await self.wait(6)
                dut.image_digest.value = int.from_bytes(hashlib.blake2s(data).digest(), "little")
                dut.image_hashed.value = 1
                await RisingEdge(dut.clk_i)
                dut.image_hashed.value = 0

    async def begin(self, image: Image, *, body: int | None = None, manifest: int | None = None) -> None:
        dut = self.dut
        dut.image_body_at.value, dut.image_root.value = image.body_at, int.from_bytes(image.root, "little")
        dut.image_manifest_bytes.value = len(image.manifest) if manifest is None else manifest
        dut.image_body_bytes.value = len(image.body) if body is None else body
        dut.image_begin.value = 1
        await RisingEdge(dut.clk_i)
        busy = int(dut.image_to_hash.value) | int(dut.image_to_expected.value) | int(dut.image_to_config.value)
        dut.image_begin.value = 0
        if not busy:
            self.image = image

    async def write(self, at: int, data: bytes) -> bool:
        dut = self.dut
        dut.image_write.value, dut.image_writing.value = 1, 1
        dut.image_write_at.value, dut.image_write_bytes.value = at, len(data)
        while True:
            await RisingEdge(dut.clk_i)
            if int(dut.image_write_done.value):
                break
        allowed = bool(int(dut.image_write_allowed.value))
        dut.image_write.value = 0
        if allowed:
            middle = self.draw.randrange(len(data) + 1)
            self.memory[at : at + middle] = data[:middle]
            await self.wait()
            self.memory[at + middle : at + len(data)] = data[middle:]
            await self.wait(3)
        dut.image_writing.value = 0
        await RisingEdge(dut.clk_i)
        return allowed

    async def check(self, block: int | None) -> bool:
        dut = self.dut
        dut.image_check_manifest.value, dut.image_check_block.value = int(block is None), block or 0
        dut.image_check.value = 1
        # A closed guard does not answer.
        for _ in range(400):
            await RisingEdge(dut.clk_i)
            if int(dut.image_check_done.value):
                break
        dut.image_check.value = 0
        good = bool(int(dut.image_check_done.value)) and bool(int(dut.image_check_good.value))
        await RisingEdge(dut.clk_i)
        return good

    async def load(self) -> bool:
        dut = self.dut
        dut.image_load.value = 1
        for _ in range(400):
            await RisingEdge(dut.clk_i)
            if int(dut.image_load_done.value):
                break
        dut.image_load.value = 0
        good = bool(int(dut.image_load_done.value)) and not int(dut.image_load_refused.value)
        await RisingEdge(dut.clk_i)
        return good

    async def whole(self, image: Image) -> None:
        """All writes and checks of an image, in random order of the blocks."""
        assert await self.write(0, image.manifest)
        assert await self.check(None)
        for block in self.draw.sample(range(image.blocks), image.blocks):
            part = image.body[BLOCK * block : BLOCK * block + BLOCK]
            assert await self.write(image.body_at + BLOCK * block, part)
            assert await self.check(block)


@cocotb.test()
async def only_whole_images_with_the_right_hashes_are_loaded(dut) -> None:
    """Random requests of a firmware without sense: writes while blocks are hashed, checks of any block, images that
    replace each other; what the configuration port gets is always the image of the last begin, whole."""
    draw = await begin(dut)
    guard = Guard(dut, draw)
    image = Image(draw)
    rejected = 0

    async def writes() -> None:
        nonlocal rejected
        while True:
            await guard.wait(30)
            current = guard.image or image
            bad = draw.random() < 0.2
            if draw.random() < 0.2:
                at, data = 0, current.manifest
            else:
                first = draw.randrange(len(current.body))
                first -= first % 1344 if draw.random() < 0.5 else first % BLOCK
                at, data = current.body_at + first, current.body[first : first + draw.choice((1344, BLOCK, BLOCK + 9))]
            if bad:
                flip = draw.randrange(len(data))
                data = data[:flip] + bytes([data[flip] ^ 1 << draw.randrange(8)]) + data[flip + 1 :]
            rejected += not await guard.write(at, data)

    task = None
    for _ in range(15 * COUNT):
        # In order, all succeeds.
        image = Image(draw)
        guard.fails = 0.0
        await guard.begin(image)
        await ClockCycles(dut.clk_i, 8)
        await guard.whole(image)
        # A byte that is verified is not written any more.
        assert not await guard.write(image.body_at + draw.randrange(len(image.body)), b"x")
        assert not await guard.write(0, image.manifest)
        before = guard.loaded
        assert await guard.load() and guard.loaded == before + 1
        # Then at random.
        guard.fails = 0.1
        task = cocotb.start_soon(writes())
        for _ in range(40):
            match draw.randrange(12):
                case 0:
                    image = Image(draw, 2)
                    await guard.begin(image)
                case 1 | 2:
                    await guard.check(None)
                case 3 | 4:
                    await guard.load()
                case 5 if draw.random() < 0.2:
                    dut.image_discard.value = 1
                    await RisingEdge(dut.clk_i)
                    dut.image_discard.value = 0
                case _:
                    await guard.check(draw.randrange(image.blocks if draw.random() < 0.9 else 4))
            await guard.wait(3)
        # The requests of a writer that is stopped in the middle end.
        task.cancel()
        dut.image_write.value = 0
        for _ in range(30):
            await RisingEdge(dut.clk_i)
        dut.image_writing.value = 0
        await ClockCycles(dut.clk_i, 60)
    assert rejected


@cocotb.test()
async def every_byte_of_a_hash_is_compared(dut) -> None:
    """Of the root, and of a block's hash in the manifest."""
    draw = await begin(dut)
    guard = Guard(dut, draw)

    def flipped(data: bytes, at: int) -> bytes:
        return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]

    for at in [*range(32), *range(-16, 0)]:
        image = Image(draw, 1)
        image.body = image.body[:200]
        image.manifest = hashlib.blake2s(image.body).digest()[:16]
        if at < 0:
            image.manifest = flipped(image.manifest, 16 + at)
        image.root = hashlib.blake2s(image.manifest).digest()
        if at >= 0:
            image.root = flipped(image.root, at)
        await guard.begin(image)
        await ClockCycles(dut.clk_i, 8)
        assert await guard.write(0, image.manifest)
        assert await guard.check(None) == (at < 0), at
        if at < 0:
            assert await guard.write(image.body_at, image.body)
            assert not await guard.check(0), at
        assert not await guard.load()


@cocotb.test()
async def a_block_that_is_written_while_it_is_checked_is_not_verified(dut) -> None:
    """A foreign byte is written at any moment of the check, in one block or across two: either the write is rejected,
    or the check fails, or it saw the byte that the memory has."""
    draw = await begin(dut)
    guard = Guard(dut, draw)
    outcomes = set()
    for _ in range(60 * COUNT):
        image = Image(draw, 1)
        image.body += draw.randbytes(2 * BLOCK - len(image.body))
        parts = [image.body[:BLOCK], image.body[BLOCK:]]
        image.manifest, image.blocks = b"".join(hashlib.blake2s(part).digest()[:16] for part in parts), 2
        image.root = hashlib.blake2s(image.manifest).digest()
        await guard.begin(image)
        await ClockCycles(dut.clk_i, 8)
        assert await guard.write(0, image.manifest)
        if draw.random() < 0.2:
            block, at, foreign = None, draw.randrange(32), b"!"
        else:
            assert await guard.check(None)
            for number, part in enumerate(parts):
                assert await guard.write(image.body_at + BLOCK * number, part)
            block = draw.randrange(2)
            at = image.body_at + draw.choice((BLOCK - 1, BLOCK * block, BLOCK * block + BLOCK - 2))
            foreign = b"!?"

        async def later(at: int = at, foreign: bytes = foreign) -> bool:
            await guard.wait(20)
            return await guard.write(at, foreign)

        task = cocotb.start_soon(later())
        await guard.wait(20)
        good = await guard.check(block)
        allowed = await task
        if good:
            now = guard.memory[:32] if block is None else guard.memory[image.body_at + BLOCK * block :][:BLOCK]
            then = image.manifest if block is None else parts[block]
            assert now == then, (block, at - image.body_at, allowed)
        outcomes.add((good, allowed))
        await ClockCycles(dut.clk_i, 60)
    assert {(True, False), (False, True)} <= outcomes, outcomes


@cocotb.test()
async def images_whose_sizes_do_not_fit_are_not_opened(dut) -> None:
    """More blocks than there are marks, none, or more than the manifest covers: the guard stays closed."""
    draw = await begin(dut)
    guard = Guard(dut, draw)
    for body, manifest in (
        (0, None), (4 * BLOCK + 1, None), (8 * BLOCK, None), (8 * BLOCK + 1, 16), (16 * BLOCK, None),
        (0xFFFF_FFFF, None), (BLOCK + 1, 16), (4 * BLOCK, 48), (BLOCK, 0), (BLOCK, 1 << 18), (BLOCK, 0xFFFF_FFFF),
    ):  # fmt: skip
        image = Image(draw, 1)
        await guard.begin(image, body=body, manifest=manifest)
        await guard.wait()
        await ClockCycles(dut.clk_i, 8)
        assert not await guard.write(0, image.manifest), (body, manifest)
        await guard.check(None)
        assert not await guard.load() and not guard.loaded, (body, manifest)
    image = Image(draw)
    await guard.begin(image)
    await ClockCycles(dut.clk_i, 8)
    await guard.whole(image)
    assert await guard.load()
