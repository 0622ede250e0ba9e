# SPDX-License-Identifier: Apache-2.0
"""The Ethernet MAC between models of the PHY (cocotbext-eth) and the shell (cocotbext-axi); zlib judges each FCS."""

from __future__ import annotations

import itertools
import logging
import os
import random
import struct
import zlib

import cocotb
import cocotb.utils
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, Timer
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource
from cocotbext.eth import GmiiFrame, GmiiSink, GmiiSource

PREAMBLE = b"\x55" * 7 + b"\xd5"
COUNTERS = (
    "rx_good", "rx_crc_error", "rx_code_error", "rx_too_short", "rx_too_long", "rx_overrun", "tx_good", "tx_too_long",
)  # fmt: skip
# Half periods of GMII's clock in ps, and of the shell's, which is 125 ppm slower. A test with other clocks sets them.
WIRE = {1000: (4000, 4000), 100: (20_000, 20_000), 10: (200_000, 200_000)}
SHELL = (4000, 4001)
STATION = bytes.fromhex("020000000101")
PAUSE_ADDRESS = bytes.fromhex("0180c2000001")
QUANTA = 100
"""Of the pause frames that the MAC sends (eth_top.sv)."""
UNIT = 64
"""Bytes of a unit of pause time: 512 bits."""
SPEED = int(os.environ.get("ETH_SPEED", "1000"))
COUNT = int(os.environ.get("ETH_COUNT", "40"))
ALL = os.environ.get("ETH_LENGTHS") == "all"


def fcs(data: bytes) -> bytes:
    return struct.pack("<L", zlib.crc32(data))


def framed(payload: bytes) -> bytes:
    """A frame as it must be sent: padded, with FCS."""
    padded = payload.ljust(60, b"\0")
    return padded + fcs(padded)


def on_wire(payload: bytes) -> GmiiFrame:
    """A good frame, for the PHY."""
    return GmiiFrame(PREAMBLE + framed(payload))


class Bench:
    """The MAC at a speed, with a PHY and a shell."""

    def __init__(self, dut, speed: int = SPEED, shell: tuple[int, int] = SHELL) -> None:
        self.dut = dut
        logging.getLogger("cocotb").setLevel(logging.WARNING)
        self.speed = speed
        receive = WIRE[speed]
        # The transmitter has 125 MHz at every speed, and a ce.
        for clock, (low, high) in ((dut.clk, shell), (dut.rx_clk, receive), (dut.tx_clk, WIRE[1000])):
            Clock(clock, low + high, unit="ps", period_high=high).start()
        self.byte_ps = 8_000_000 // speed
        dut.nibble.value = int(speed != 1000)
        dut.mac.value = int.from_bytes(STATION, "big")
        dut.pause.value = 0
        dut.rx_pause.value = 0
        dut.tx_pause.value = {1000: 0, 100: 4, 10: 49}[speed]
        dut.rst_n.value = 0
        self.phy = GmiiSource(dut.rxd, dut.rx_er, dut.rx_dv, dut.rx_clk, enable=dut.rx_ce, mii_select=dut.nibble)
        self.nibbles = 1 if speed == 1000 else 2
        self.phy.ifg = 12 * self.nibbles
        self.shell = AxiStreamSource(AxiStreamBus.from_prefix(dut, "tx_axis"), dut.clk)
        self.sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "rx_axis"), dut.clk)

    async def reset(self) -> None:
        self.dut.rst_n.value = 0
        await ClockCycles(self.dut.clk, 8)
        self.dut.rst_n.value = 1
        # The handshake with the slowest clock.
        await ClockCycles(self.dut.rx_clk, 20)
        await ClockCycles(self.dut.tx_clk, 20)
        # Before its reset, the outputs of the transmitter are random.
        dut = self.dut
        self.wire = GmiiSink(dut.txd, dut.tx_er, dut.tx_en, dut.tx_clk, enable=dut.tx_ce, mii_select=dut.nibble)

    def counters(self) -> dict[str, int]:
        return {name: value for name in COUNTERS if (value := int(getattr(self.dut, name).value))}

    async def quiet(self) -> None:
        """Waits until all frames have arrived on both sides."""
        await self.phy.wait()
        await self.shell.wait()
        # A jumbo frame that is stored, at most, is still to be sent.
        idle = 0
        while idle < 60:
            await Timer(self.byte_ps, "ps")
            idle = 0 if int(self.dut.tx_en.value) or int(self.dut.rx_axis_tvalid.value) else idle + 1

    async def put(self, frame: GmiiFrame) -> int:
        """Sends a frame to the MAC; the time of its end in ps."""
        self.phy.send_nowait(frame)
        await FallingEdge(self.dut.rx_dv)
        return int(cocotb.utils.get_sim_time("ps"))

    async def receive(self) -> tuple[bytes, bool]:
        """The next frame at the shell, and whether it is marked as bad."""
        frame = await self.sink.recv(compact=False)
        return bytes(frame.tdata), bool(frame.tuser[-1])

    def received(self) -> list[tuple[bytes, bool]]:
        found = []
        while not self.sink.empty():
            frame = self.sink.recv_nowait(compact=False)
            assert not any(frame.tuser[:-1])
            found.append((bytes(frame.tdata), bool(frame.tuser[-1])))
        return found

    def sent(self) -> list[GmiiFrame]:
        """The frames on the wire, without preamble, which was of eight bytes; not those that end in it."""
        found = []
        while not self.wire.empty():
            frame = self.wire.recv_nowait()
            if frame.sim_time_sfd is None:
                continue
            # The model does not keep the first byte, but its time.
            assert frame.sim_time_sfd - frame.sim_time_start == 8 * self.byte_ps
            assert set(frame.get_preamble()[-7:-1]) == {0x55}
            frame.data = frame.get_payload(strip_fcs=False)
            found.append(frame)
        return found

    def gaps(self, frames: list[GmiiFrame]) -> list[int]:
        """Gaps between frames on the wire, in bytes. The model notes the first cycle without tx_en as the end."""
        return [
            round((later.sim_time_start - frame.sim_time_end) / self.byte_ps)
            for frame, later in itertools.pairwise(frames)
        ]


def lengths() -> list[int]:
    if ALL:
        return [*range(60, 1519), 1519, 4000, 8999, 9000, 9001, 9013, 9014]
    edges = [60, 61, 62, 63, 64, 65, 66, 67, 68, 1513, 1514, 1515, 1518]
    if SPEED == 10:
        return [60, 61, 64, *(random.randrange(60, 300) for _ in range(3))]
    jumbo = [9000, 9013, 9014] if SPEED == 1000 else [9014]
    return [*edges, *(random.randrange(60, 1519) for _ in range(COUNT if SPEED == 1000 else 3)), *jumbo]


@cocotb.test()
async def frames_of_all_lengths_pass_both_ways_at_the_rate_of_the_line(dut) -> None:
    """Frames follow each other with gaps of 12 bytes, in both directions at the same time."""
    bench = Bench(dut)
    await bench.reset()
    received = [random.randbytes(length) for length in lengths()]
    sent = [random.randbytes(length) for length in [*range(1, 60, 1 if ALL or SPEED > 10 else 20), *lengths()]]
    random.shuffle(received)
    random.shuffle(sent)
    for payload in received:
        bench.phy.send_nowait(on_wire(payload))
    for payload in sent:
        bench.shell.send_nowait(AxiStreamFrame(payload))
    await bench.quiet()
    assert bench.received() == [(payload, False) for payload in received]
    frames = bench.sent()
    assert [bytes(frame) for frame in frames] == [framed(payload) for payload in sent]
    assert all(frame.error is None for frame in frames)
    # A frame waits for its end to be stored; where it is stored while the one before it is sent, the gap is least.
    expected = [len(later) <= max(len(one), 60) for one, later in itertools.pairwise(sent)]
    gaps = bench.gaps(frames)
    assert min(gaps) == 12
    assert {gap for gap, kept in zip(gaps, expected, strict=True) if kept} == {12}
    assert bench.counters() == {"rx_good": len(received), "tx_good": len(sent)}


@cocotb.test()
async def the_line_stays_full_for_frames_of_a_length(dut) -> None:
    """From the first to the last frame no byte time is unused: gaps of exactly 12 bytes, with clocks 125 ppm apart."""
    bench = Bench(dut)
    await bench.reset()
    for length in (60, 61, 1514, 9014) if SPEED == 1000 else (60, 61):
        sent = [random.randbytes(length) for _ in range(max(3, min(100, 20_000 // length)) if SPEED == 1000 else 4)]
        for payload in sent:
            bench.shell.send_nowait(AxiStreamFrame(payload))
            bench.phy.send_nowait(on_wire(payload))
        await bench.quiet()
        frames = bench.sent()
        assert [bytes(frame) for frame in frames] == [framed(payload) for payload in sent]
        assert bench.received() == [(payload, False) for payload in sent]
        # The shell is slower by 125 ppm: it stores a frame of 9014 bytes in the time of 9016.
        assert set(bench.gaps(frames)) <= ({12} if length < 9014 else {12, 13, 14}), bench.gaps(frames)


@cocotb.test()
async def bad_frames_are_marked_and_counted(dut) -> None:
    """Good frames between bad ones of each kind, with gaps of 12 bytes and more; each is counted once."""
    bench = Bench(dut)
    await bench.reset()
    expected: list[tuple[bytes, bool] | None] = []
    counts = dict.fromkeys(COUNTERS, 0)
    for _ in range(COUNT):
        payload = random.randbytes(random.choice([60, 61, random.randrange(60, 400)]))
        data = payload + fcs(payload)
        errors = [0] * (8 + len(data))
        kind = random.choice(["good", "good", "crc", "short", "tiny", "code", "start", "preamble", "long", "shortened"])
        preamble = PREAMBLE
        if kind == "crc":
            at = random.randrange(8 * len(data))
            data = bytes(byte ^ (at // 8 == i) << at % 8 for i, byte in enumerate(data))
            kind = "rx_crc_error"
        elif kind == "short":
            payload = random.randbytes(random.choice([59, random.randrange(1, 60)]))
            # Its FCS is right: the length alone makes it bad.
            data = payload + fcs(payload)
            kind = "rx_too_short"
        elif kind == "tiny":
            data, kind = random.randbytes(random.randrange(5)), "rx_too_short"
        elif kind == "code":
            # In the preamble, in the data or in the FCS.
            errors[random.randrange(len(errors))] = 1
            kind = "rx_code_error"
        elif kind == "start":
            # A byte of the preamble is damaged: no frame begins.
            preamble, kind = b"\x55" * 3 + b"\x57" + PREAMBLE, "rx_too_short"
        elif kind == "preamble":
            # Bursts of the preamble alone, also of one byte.
            preamble, data, kind = b"\x55" * random.randrange(1, 9), b"", "rx_too_short"
        elif kind == "shortened":
            # The PHY has shortened the preamble.
            preamble, kind = PREAMBLE[random.randrange(8) :], "rx_good"
        elif kind == "long" and SPEED == 1000:
            payload = random.randbytes(9018 - 4 + random.choice([1, 2, 3, 100]))
            data, kind = payload + fcs(payload), "rx_too_long"
        else:
            kind = "rx_good"
        counts[kind] += 1
        frame = GmiiFrame(preamble + data)
        if any(errors):
            frame.error = errors
        if kind == "rx_too_long":
            expected.append((data[: 9018 - 4], True))
        elif len(data) > 4 and preamble in (PREAMBLE, PREAMBLE[-len(preamble) :]):
            expected.append((data[:-4], kind != "rx_good"))
        bench.phy.ifg = random.choice([12, 12, 13, random.randrange(12, 100)]) * bench.nibbles
        await bench.phy.send(frame)
        await bench.phy.wait()
    await bench.quiet()
    assert bench.received() == expected
    assert bench.counters() == {name: count for name, count in counts.items() if count}


@cocotb.test()
async def frames_are_lost_whole_when_the_shell_is_not_ready(dut) -> None:
    """Lost bytes make a frame bad or remove it; later frames are whole, and each lost frame is counted."""
    bench = Bench(dut)
    await bench.reset()

    def pauses():
        while True:
            length = random.choice([1, 5, 40, 100, 400]) * 1000 // SPEED
            yield from itertools.repeat(random.random() < 0.5, length)

    bench.sink.set_pause_generator(pauses())
    sent = [random.randbytes(random.randrange(60, 200)) for _ in range(4 * COUNT)]
    for payload in sent:
        bench.phy.send_nowait(on_wire(payload))
    await bench.phy.wait()
    bench.sink.clear_pause_generator()
    bench.sink.pause = False
    await bench.quiet()
    # Recovered: further frames are whole.
    more = [random.randbytes(100) for _ in range(5)]
    for payload in more:
        bench.phy.send_nowait(on_wire(payload))
    await bench.phy.wait()
    await bench.quiet()
    found = bench.received()
    good = [data for data, bad in found if not bad]
    assert good[-5:] == more
    # The good ones are a subsequence of those sent, unchanged.
    left = iter(sent + more)
    assert all(any(data == other for other in left) for data in good)
    # A frame that was marked as bad is the beginning of one that was sent; the last byte may be any.
    assert all(any(payload.startswith(data[:-1]) for payload in sent) for data, bad in found if bad)
    counters = bench.counters()
    assert counters["rx_good"] == len(good)
    assert counters["rx_good"] + counters["rx_overrun"] == len(sent + more)
    assert set(counters) == {"rx_good", "rx_overrun"} and counters["rx_overrun"] > 3


@cocotb.test()
async def an_overrun_may_begin_at_any_byte_and_end_in_the_next_frame(dut) -> None:
    """The queue is full from a byte near the end of a frame, also its last, until around the start of the next one."""
    bench = Bench(dut)
    await bench.reset()
    bench.phy.ifg = 12 * bench.nibbles
    total = good = 0
    for _ in range(4 * COUNT):
        sent = [random.randbytes(60), random.randbytes(60), random.randbytes(60)]
        total += len(sent)
        for payload in sent:
            bench.phy.send_nowait(on_wire(payload))
        await RisingEdge(dut.rx_dv)
        # The queue holds 32 bytes, and a few more are between it and the wire.
        await Timer((8 + 64 - random.randrange(28, 44)) * bench.byte_ps, "ps")
        bench.sink.pause = True
        await RisingEdge(dut.rx_dv)
        await Timer(random.randrange(1, 18) * bench.byte_ps, "ps")
        bench.sink.pause = False
        await bench.quiet()
        found = bench.received()
        left = iter(sent)
        assert all(any(data == other for other in left) for data, bad in found if not bad)
        good += sum(not bad for _, bad in found)
        assert good == int(dut.rx_good.value)
        assert int(dut.rx_good.value) + int(dut.rx_overrun.value) == total
    assert good < total


@cocotb.test()
async def reset_cuts_frames_and_the_next_ones_are_whole(dut) -> None:
    """Resets at random times, in frames of both directions, from one cycle of the shell on."""
    bench = Bench(dut)
    await bench.reset()
    bench.sink.set_pause_generator(random.random() < 0.02 for _ in itertools.count())
    for _ in range(COUNT // 2):
        before = [random.randbytes(random.randrange(60, 150)) for _ in range(3)]
        for payload in before:
            bench.phy.send_nowait(on_wire(payload))
            bench.shell.send_nowait(AxiStreamFrame(payload))
        await ClockCycles(dut.clk, random.randrange(1, 400) * 1000 // SPEED)
        await RisingEdge(dut.clk)
        dut.rst_n.value = 0
        bench.shell.clear()
        # Both sides of the streams forget the frame in flight.
        bench.shell._handle_reset(True)
        bench.sink._handle_reset(True)
        await ClockCycles(dut.clk, random.choice([1, 1, 2, 3, 5, 20]))
        dut.rst_n.value = 1
        if random.random() < 0.3:
            # A second reset in the handshake of the first.
            await ClockCycles(dut.clk, random.randrange(1, 20))
            dut.rst_n.value = 0
            await ClockCycles(dut.clk, 1)
            dut.rst_n.value = 1
        bench.shell._handle_reset(False)
        bench.sink._handle_reset(False)
        await bench.quiet()
        whole = {framed(payload) for payload in before}
        for frame in bench.sent():
            # What the reset cut has a wrong FCS.
            data = bytes(frame)
            assert data in whole or fcs(data[:-4]) != data[-4:]
        assert {data for data, bad in bench.received() if not bad} <= set(before)
        after = [random.randbytes(random.randrange(60, 150)) for _ in range(2)]
        for payload in after:
            bench.phy.send_nowait(on_wire(payload))
            bench.shell.send_nowait(AxiStreamFrame(payload))
        await bench.quiet()
        assert bench.received() == [(payload, False) for payload in after]
        assert [bytes(frame) for frame in bench.sent()] == [framed(payload) for payload in after]


@cocotb.test()
async def a_frame_for_transmission_that_is_too_long_is_cut(dut) -> None:
    """It is sent with an error and a wrong FCS; the frames around it are whole."""
    bench = Bench(dut)
    await bench.reset()
    most = int(os.environ["ETH_MAX"]) - 4
    sent = [random.randbytes(length) for length in (most, most + 1, 60, most + 2, 1, most + 500, most, 3 * most, 70)]
    for payload in sent:
        bench.shell.send_nowait(AxiStreamFrame(payload))
    await bench.quiet()
    frames = bench.sent()
    assert len(frames) == len(sent)
    for frame, payload in zip(frames, sent, strict=True):
        if len(payload) <= most:
            assert bytes(frame) == framed(payload) and frame.error is None
        else:
            assert bytes(frame)[:-4] == payload[: most + 1]
            assert frame.error[-4:] == [1] * 4
            assert bytes(frame)[-4:] == bytes(byte ^ 0xFF for byte in fcs(payload[: most + 1]))
    assert bench.counters() == {"tx_good": 5, "tx_too_long": 4}


@cocotb.test()
async def the_wire_never_waits_for_the_shell(dut) -> None:
    """A shell with pauses and a clock of 40 MHz sends whole frames, since they are stored before they begin."""
    bench = Bench(dut, shell=(12_500, 12_501))
    await bench.reset()
    bench.shell.set_pause_generator(random.random() < 0.5 for _ in itertools.count())
    sent = [random.randbytes(random.choice([1, 2, 59, 60, 61, random.randrange(1, 300)])) for _ in range(COUNT)]
    for payload in sent:
        bench.shell.send_nowait(AxiStreamFrame(payload))
    await bench.quiet()
    frames = bench.sent()
    assert [bytes(frame) for frame in frames] == [framed(payload) for payload in sent]
    assert all(frame.error is None for frame in frames) and min(bench.gaps(frames)) >= 12


def pausing(quanta: int, to: bytes = PAUSE_ADDRESS, source: bytes = STATION, control: bytes = b"\x88\x08\0\1") -> bytes:
    """A pause frame without padding and FCS."""
    return to + source + control + struct.pack(">H", quanta)


@cocotb.test()
async def the_peer_is_paused_as_long_as_the_shell_is_full(dut) -> None:
    """A pause frame at once, after each half of its time, and one with 0 at the end; between frames of the shell, too,
    which it delays by no more than itself."""
    bench = Bench(dut)
    await bench.reset()
    half = QUANTA // 2 * UNIT
    for busy in (False, True):
        # The first one is the longest: frames leave when they are complete, so one much longer than those before it
        # would arrive after the gap.
        sent = [random.randbytes(random.randrange(60, 200) if n else 199) for n in range(100 if busy else 0)]
        for payload in sent:
            bench.shell.send_nowait(AxiStreamFrame(payload))
        await Timer(400 * bench.byte_ps, "ps")
        began = cocotb.utils.get_sim_time("ps")
        dut.pause.value = 1
        await Timer((2 * half + half // 2) * bench.byte_ps, "ps")
        ended = cocotb.utils.get_sim_time("ps")
        dut.pause.value = 0
        await bench.quiet()
        frames = bench.sent()
        assert [bytes(frame) for frame in frames if bytes(frame)[12:14] != b"\x88\x08"] == [*map(framed, sent)]
        pauses = [frame for frame in frames if bytes(frame)[12:14] == b"\x88\x08"]
        assert [bytes(frame) for frame in pauses] == [framed(pausing(n)) for n in (QUANTA, QUANTA, QUANTA, 0)]
        if busy:
            assert set(bench.gaps(frames[1:-1])) == {12}
        # The longest frame with preamble, FCS and gap, and the crossing.
        late = (204 + 8 + 12 + 8) if busy else 8
        times = [frame.sim_time_start for frame in pauses]
        due = [began, times[0] + half * bench.byte_ps, times[1] + half * bench.byte_ps, ended]
        assert all(0 <= at - then <= late * bench.byte_ps for at, then in zip(times, due, strict=True)), (times, due)
    # A request that is withdrawn before its frame begins needs no frame.
    assert bench.counters() == {"tx_good": 100}


@cocotb.test()
async def pause_frames_of_the_peer_stop_the_frames_of_the_shell(dut) -> None:
    """For their time, or until one with 0; to the group or to this station. The frame in flight ends."""
    bench = Bench(dut)
    await bench.reset()
    good = 0
    for quanta, again in ((3, None), (20, None), (40, 0), (10, 30), (0, None), (25, 2)):
        sent = [random.randbytes(60) for _ in range(80)]
        for payload in sent:
            bench.shell.send_nowait(AxiStreamFrame(payload))
        await Timer(random.randrange(300, 600) * bench.byte_ps, "ps")
        to = random.choice([PAUSE_ADDRESS, STATION])
        source = random.randbytes(6)
        first = last = await bench.put(on_wire(pausing(quanta, to, source)))
        good, time = good + 1, quanta
        if again is not None:
            await Timer(5 * UNIT * bench.byte_ps, "ps")
            last = await bench.put(on_wire(pausing(again, to, source)))
            good, time = good + 1, again
        await bench.quiet()
        if quanta > 4:
            await Timer(max(quanta, 40) * UNIT * bench.byte_ps, "ps")
            await bench.quiet()
        frames = bench.sent()
        assert [bytes(one) for one in frames] == [framed(payload) for payload in sent]
        begun = [(one.sim_time_start - first) / bench.byte_ps for one in frames]
        end = (last - first) / bench.byte_ps + time * UNIT
        # The standard allows a frame to begin up to two units (128 bytes) after the end of the pause frame. The MAC
        # needs up to 18 bytes: to check the FCS, to cross into the transmit clock, and for a preamble in progress.
        between = [at for at in begun if 24 < at < end]
        assert not between, (quanta, again, begun)
        after = min(at for at in begun if at >= end) - end
        assert after <= 110, (quanta, again, after)
    assert bench.counters() == {"rx_good": good, "tx_good": 6 * 80}
    assert int(dut.rx_pause_frames.value) == good


@cocotb.test()
async def frames_that_only_resemble_pause_frames_stop_nothing(dut) -> None:
    """Another station's, another opcode or EtherType, a wrong FCS, too short; a station that is paused may pause."""
    bench = Bench(dut)
    await bench.reset()
    like = [
        pausing(1000, to=bytes([*STATION[:5], STATION[5] ^ 1])), pausing(1000, to=b"\xff" * 6),
        pausing(1000, to=bytes.fromhex("0180c2000002")), pausing(1000, control=b"\x88\x08\0\2"),
        pausing(1000, control=b"\x88\x08\1\1"), pausing(1000, control=b"\x88\x09\0\1"),
        # One byte of each address: neither matches as a whole.
        pausing(1000, to=PAUSE_ADDRESS[:3] + STATION[3:]),
    ]  # fmt: skip
    bad = framed(pausing(1000))
    for data in [*map(framed, like), bad[:-1] + bytes([bad[-1] ^ 1]), pausing(1000) + fcs(pausing(1000))]:
        await bench.phy.send(GmiiFrame(PREAMBLE + data))
        await bench.phy.wait()
        payload = random.randbytes(70)
        bench.shell.send_nowait(AxiStreamFrame(payload))
        await bench.quiet()
        assert [bytes(frame) for frame in bench.sent()] == [framed(payload)], data.hex()
    assert int(dut.rx_pause_frames.value) == 0
    await bench.phy.send(on_wire(pausing(30)))
    await bench.phy.wait()
    bench.shell.send_nowait(AxiStreamFrame(random.randbytes(60)))
    dut.pause.value = 1
    await Timer(15 * UNIT * bench.byte_ps, "ps")
    assert [bytes(frame) for frame in bench.sent()] == [framed(pausing(QUANTA))]
    dut.pause.value = 0
    await Timer(40 * UNIT * bench.byte_ps, "ps")
    assert [len(bytes(frame)) for frame in bench.sent()] == [64, 64]
