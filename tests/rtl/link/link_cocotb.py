# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the link: two ends and a wire that loses, damages and is cut. Judged by queues and by `frames`."""

from __future__ import annotations

import os
import random
from collections import Counter, deque
from collections.abc import Callable

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge, ReadOnly
from rtl.link import frames

CYCLES = int(os.environ.get("LINK_CYCLES", "6000"))
FRAME_BYTES = int(os.environ.get("LINK_FRAME_BYTES", "1500"))
CHANNELS = 8
BITS = frames.FLIT.bits
LAST = 1 << sum(field.bits for field in frames.FLIT.fields[2:])
COUNTERS = (
    "tx_frames", "tx_bytes", "tx_packets", "resends", "rx_frames", "rx_bytes", "rx_packets", "damaged", "dropped",
    "stalls", "lost", "restarts",
)  # fmt: skip
UP, SILENT, RESTARTED, MISMATCH = 8, 4, 2, 1
MILLION = 1 << 20
LONGEST = 32 if FRAME_BYTES >= 560 else 4


def packet(channel: int, most: int = LONGEST) -> list[int]:
    """A random packet of a channel: each form, and what no form but `whole` can say."""
    vnet, vc = divmod(channel, 2)
    del vc
    other = (random.getrandbits(5), random.getrandbits(2), random.getrandbits(1))
    job, epoch, wave = random.choice([(3, 1, 0)] * 6 + [other])
    board = random.choice([5, 5, 5, random.getrandbits(12)])
    count = random.choice([1, 1, 2, 4, random.randint(1, most)])
    count = min(count, most)
    body = [(frames.FLIT_KIND["body"], random.getrandbits(128)) for _ in range(count)]
    low = random.getrandbits(14)
    kinds = {
        0: ["thread"] * 4 + ["tile", "key", "odd"],
        1: ["stream", "match", "accelerator", "odd"],
        2: ["host", "odd"],
        3: ["control", "odd"],
    }[vnet]
    kind = random.choice(kinds)
    head: list[tuple[int, int]] = []
    dest = frames.ENDPOINT.get(kind, 0) << 29 | board << 14
    if kind in ("thread", "accelerator", "control"):
        dest |= low
    elif kind == "tile":
        dest |= low & ~63
        head = [(frames.FLIT_KIND["mask"], random.getrandbits(64))]
    elif kind == "key":
        head = [(frames.FLIT_KIND["key"], random.getrandbits(32))]
    elif kind == "stream":
        header = random.getrandbits(32)
        dest |= header >> 8 & 0xFF
        head = [(frames.FLIT_KIND["header"], header)]
    elif kind == "match":
        dest |= low
        head = [(frames.FLIT_KIND["header"], random.getrandbits(64))]
    elif kind == "odd":
        # Almost as one of the forms, but for a bit that it has no place for.
        dest = random.getrandbits(32) if random.random() < 0.5 else random.randrange(8) << 29 | board << 14
        if random.random() < 0.6:
            wide = random.choice([0, 1 << random.randrange(32, 128), random.getrandbits(128)])
            head = [(random.randrange(4), random.getrandbits(32) | wide)]
            if random.random() < 0.3 or count == most:
                body = [] if most > 1 else body
                head = head if body == [] else []
    flits = head + body
    return [
        frames.flit(kind_, at == len(flits) - 1, vnet, job, epoch, wave, dest, payload)
        for at, (kind_, payload) in enumerate(flits)
    ]


def alike(count: int) -> list[list[int]]:
    """Short messages to threads of one board, one job, epoch and wave. A frame that begins while several wait has them
    all: each but its first is of the form `again` if they are of one channel."""
    dest = frames.ENDPOINT["thread"] << 29 | 5 << 14
    return [[frames.flit(0, True, 0, 1, 0, 0, dest | at, at + 1)] for at in range(count)]


def drop_packet(queue: deque[int]) -> None:
    while queue and not queue.popleft() & LAST:
        pass


class Bench:
    """Both ends: what is offered, what is expected, what came."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.waiting = [[deque[list[int]]() for _ in range(CHANNELS)] for _ in range(2)]
        self.going: list[list[deque[int]]] = [[deque() for _ in range(CHANNELS)] for _ in range(2)]
        self.expected = [[deque[int]() for _ in range(CHANNELS)] for _ in range(2)]
        self.turn = [0, 0]
        self.sends: Callable[[int], bool] = lambda end: True
        self.takes: Callable[[int, int], bool] = lambda end, channel: True
        self.arrived = [0, 0]
        self.by_channel = [[0] * CHANNELS, [0] * CHANNELS]
        self.arrival = [0, 0]
        self.entry = [0, 0]
        self.events: list[tuple[int, int, int]] = []
        self.now = 0
        self.forget: set[int] = set()
        self.inside = [[False] * CHANNELS, [False] * CHANNELS]
        self.frames: list[deque[bytes]] = [deque(), deque()]
        self.watch = False
        self._bytes = [bytearray(), bytearray()]

    async def begin(self, loss: float = 0, damage: float = 0) -> None:
        self.dut.rst_ni.value = 0
        self.dut.end_rst_ni.value = 3
        self.dut.tx_valid_i.value = 0
        self.dut.tx_flit_i.value = 0
        self.dut.rx_ready_i.value = 0
        self.dut.cut_i.value = 0
        self.faults(loss, damage)
        cocotb.start_soon(Clock(self.dut.clk_i, 10, unit="ns").start())
        for _ in range(4):
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1

    def faults(self, loss: float, damage: float) -> None:
        self.dut.loss_i.value = int(loss * MILLION)
        self.dut.damage_i.value = int(damage * MILLION)

    def offer(self, end: int, channel: int, flits: list[int]) -> None:
        self.waiting[end][channel].append(flits)

    def pending(self) -> int:
        return sum(len(queue) for part in (self.waiting, self.going, self.expected) for end in part for queue in end)

    def counters(self, end: int) -> dict[str, int]:
        bits = int(self.dut.counters_o.value) >> 384 * end
        return {name: bits >> 32 * (11 - at) & 0xFFFFFFFF for at, name in enumerate(COUNTERS)}

    async def step(self) -> None:
        """One cycle: inputs at the falling edge, outputs as the rising edge sees them."""
        dut = self.dut
        tx_ready = int(dut.tx_ready_o.value)
        valid = flits = ready = 0
        chosen: list[int | None] = [None, None]
        for end in range(2):
            for channel in range(CHANNELS):
                if self.takes(end, channel):
                    ready |= 1 << 8 * end + channel
            if not self.sends(end):
                continue
            # Packets of several channels are offered in turns, so that their flits are mixed.
            for step in range(CHANNELS):
                channel = (self.turn[end] + step) % CHANNELS
                if not self.going[end][channel] and self.waiting[end][channel]:
                    self.going[end][channel].extend(self.waiting[end][channel].popleft())
                if self.going[end][channel] and tx_ready >> 8 * end + channel & 1:
                    chosen[end] = channel
                    valid |= 1 << 8 * end + channel
                    flits |= self.going[end][channel][0] << BITS * end
                    self.turn[end] = channel if random.random() < 0.9 else channel + 1
                    break
        dut.tx_valid_i.value = valid
        dut.tx_flit_i.value = flits
        dut.rx_ready_i.value = ready
        await ReadOnly()
        for end, channel in enumerate(chosen):
            if channel is not None:
                self.expected[1 - end][channel].append(self.going[end][channel].popleft())
                self.entry[end] = self.now
        rx_valid = int(dut.rx_valid_o.value)
        if rx_valid:
            came = int(dut.rx_flit_o.value)
            assert rx_valid & ~ready == 0, "a flit for a channel that is not ready"
            for end in range(2):
                valid = rx_valid >> 8 * end & 0xFF
                assert valid & valid - 1 == 0, "two channels at once"
                if valid:
                    self.take(end, valid.bit_length() - 1, came >> BITS * end & (1 << BITS) - 1)
        events = int(dut.events_o.value)
        if events:
            self.events += [(self.now, end, events >> 4 * end & 15) for end in range(2) if events >> 4 * end & 15]
        if self.watch:
            self.listen()
        self.now += 1
        await FallingEdge(dut.clk_i)

    def take(self, end: int, channel: int, flit: int) -> None:
        queue = self.expected[end][channel]
        if end in self.forget and not self.inside[end][channel]:
            # After an end began anew, packets may be missing, but whole ones, and none comes twice or out of order.
            while queue and queue[0] != flit:
                drop_packet(queue)
        self.inside[end][channel] = not flit & LAST
        assert queue, f"end {end}, channel {channel}: a flit from nowhere: {flit:#x}"
        wanted = queue.popleft()
        assert flit == wanted, f"end {end}, channel {channel}: {flit:#x} instead of {wanted:#x}"
        self.arrived[end] += 1
        self.by_channel[end][channel] += 1
        self.arrival[end] = self.now

    def listen(self) -> None:
        valid = int(self.dut.mac_valid_o.value)
        if not valid:
            return
        data, keep, last = (int(getattr(self.dut, f"mac_{name}_o").value) for name in ("data", "keep", "last"))
        for end in range(2):
            if valid >> end & 1:
                word = (data >> 64 * end & 2**64 - 1).to_bytes(8, "little")
                kept = keep >> 8 * end & 0xFF
                assert kept == (0x0F if last >> end & 1 else 0xFF), "the check sum is 4 bytes, all before is full"
                self._bytes[end] += word[: kept.bit_length()]
                if last >> end & 1:
                    self.frames[end].append(bytes(self._bytes[end]))
                    self._bytes[end].clear()

    async def up(self) -> None:
        for _ in range(20_000):
            await self.step()
            if int(self.dut.up_o.value) == 3:
                return
        raise AssertionError("the link did not come up")

    async def finish(self, cycles: int = 60_000) -> None:
        """Until everything has come."""
        self.sends = lambda end: True
        self.takes = lambda end, channel: True
        for _ in range(cycles):
            if not self.pending():
                return
            await self.step()
        raise AssertionError(f"{self.pending()} flits or packets did not come in {cycles} cycles")

    async def traffic(self, cycles: int, most: int = LONGEST, backlog: int = 4) -> None:
        """Random packets on random channels in both directions for so many cycles."""
        for _ in range(cycles):
            for end in range(2):
                channel = random.randrange(CHANNELS)
                if len(self.waiting[end][channel]) < backlog:
                    self.offer(end, channel, packet(channel, most))
            await self.step()


def phases(bench: Bench) -> None:
    """Sender and receivers in phases of other odds: floods, droughts and full stops among them."""
    odds = {"send": [1.0, 1.0], "take": [[1.0] * CHANNELS, [1.0] * CHANNELS]}
    state = {"left": 0}

    def sends(end: int) -> bool:
        if state["left"] == 0:
            state["left"] = random.randrange(20, 900)
            odds["send"] = [random.choice([0.0, 0.02, 0.3, 1.0]) for _ in range(2)]
            odds["take"] = [[random.choice([0.0, 0.1, 0.5, 1.0, 1.0]) for _ in range(CHANNELS)] for _ in range(2)]
        state["left"] -= 1
        return random.random() < odds["send"][end]

    bench.sends = sends
    bench.takes = lambda end, channel: random.random() < odds["take"][end][channel]


@cocotb.test()
async def every_packet_comes_once_and_in_order(dut: HierarchyObject) -> None:
    """All channels and forms in both directions, random stalls, no faults: nothing is sent twice."""
    bench = Bench(dut)
    await bench.begin()
    await bench.up()
    phases(bench)
    await bench.traffic(CYCLES)
    await bench.finish()
    for end in range(2):
        count = bench.counters(end)
        assert count["resends"] == count["damaged"] == count["lost"] == count["restarts"] == 0, count
        assert count["tx_packets"] == bench.counters(1 - end)["rx_packets"] > 50, count
        assert all(bench.by_channel[end]), "a channel had no traffic"


async def faulty(dut: HierarchyObject, loss: float, damage: float, cycles: int, most: int = LONGEST) -> Bench:
    bench = Bench(dut)
    await bench.begin(loss, damage)
    await bench.up()
    phases(bench)
    await bench.traffic(cycles, most)
    await bench.finish(200_000)
    return bench


@cocotb.test()
async def frames_may_be_lost(dut: HierarchyObject) -> None:
    """A tenth is lost: nothing is lost or doubled, and only what was lost is sent again."""
    bench = await faulty(dut, 0.1, 0.0, CYCLES)
    lost = [int(dut.wire_lost_o.value) >> 32 * end & 0xFFFFFFFF for end in range(2)]
    assert min(lost) > 2, "hardly a frame was lost"
    for end in range(2):
        # A frame that found no buffer is sent again as well; with many buffers there is none.
        count, dropped = bench.counters(end), bench.counters(1 - end)["dropped"]
        assert 0 < count["resends"] <= lost[end] + dropped, f"{count} with {lost} lost: sent again for nothing"
        assert dropped == 0 or FRAME_BYTES < 1500, "a frame came twice"


@cocotb.test()
async def short_frames_are_not_dropped(dut: HierarchyObject) -> None:
    """With light traffic frames are short and many are under way behind a gap: each that comes finds a buffer."""
    bench = Bench(dut)
    await bench.begin(0.04)
    await bench.up()
    for _ in range(CYCLES // 12):
        for end in range(2):
            bench.offer(end, 0, packet(0, 1))
        for _ in range(12):
            await bench.step()
    await bench.finish(200_000)
    lost = [int(dut.wire_lost_o.value) >> 32 * end & 0xFFFFFFFF for end in range(2)]
    assert min(lost) > 2, "hardly a frame was lost"
    for end in range(2):
        count = bench.counters(end)
        assert count["dropped"] == 0 and count["resends"] <= lost[end], f"{count} with {lost} lost"


@cocotb.test()
async def frames_may_come_damaged(dut: HierarchyObject) -> None:
    """With and without the MAC's own error: a damaged frame delivers nothing, and is counted."""
    bench = await faulty(dut, 0.02, 0.15, CYCLES)
    for end in range(2):
        harmed = int(dut.wire_damaged_o.value) >> 32 * (1 - end) & 0xFFFFFFFF
        damaged = bench.counters(end)["damaged"]
        assert harmed - 2 <= damaged <= harmed and damaged > 2, f"{damaged} noticed of {harmed}"


@cocotb.test()
async def hard_times(dut: HierarchyObject) -> None:
    """Four frames of ten are lost or damaged, short packets, so that sequence numbers wrap around."""
    bench = await faulty(dut, 0.25, 0.2, 3 * CYCLES, 3)
    # Frames with data of each end; all others are short and at most one for each good frame that came.
    for _ in range(30):
        if max(bench.counters(end)["tx_frames"] for end in range(2)) > 300 * CYCLES // 6000:
            break
        await bench.traffic(CYCLES, 3)
    else:
        raise AssertionError("too few frames for sequence numbers to wrap around")
    await bench.finish(200_000)


@cocotb.test()
async def a_full_channel_stops_no_other(dut: HierarchyObject) -> None:
    """Nobody reads two channels: the others flow, and the credits are used up to the last."""
    bench = Bench(dut)
    await bench.begin(0.01)
    await bench.up()
    blocked = random.sample(range(CHANNELS), 2)
    bench.takes = lambda end, channel: channel not in blocked
    await bench.traffic(2 * CYCLES)
    stuck = bench.arrived[:]
    await bench.traffic(CYCLES)
    for end in range(2):
        assert bench.arrived[end] - stuck[end] > CYCLES // 8, "the other channels do not flow"
        assert all(bench.by_channel[end][channel] == 0 for channel in blocked)
        assert min(bench.by_channel[end][channel] for channel in range(CHANNELS) if channel not in blocked) > 20
    await bench.finish(200_000)


@cocotb.test()
async def one_channel_fills_and_empties(dut: HierarchyObject) -> None:
    """All credits of one channel are used, then it is read again: it goes on, though limits are lost on the way."""
    bench = Bench(dut)
    await bench.begin(0.05)
    await bench.up()
    for _ in range(3):
        channel = random.randrange(CHANNELS)
        bench.takes = lambda end, which: False
        for _ in range(700):
            bench.offer(0, channel, packet(channel, 2))
        for _ in range(CYCLES):
            await bench.step()
        assert bench.counters(0)["stalls"] > 0, "it never waited for credits"
        await bench.finish(100_000)


@cocotb.test()
async def what_is_on_the_wire(dut: HierarchyObject) -> None:
    """Every frame: check sum, layout, size; its packets are those that were given, each form as short as it can be."""
    bench = Bench(dut)
    bench.watch = True
    await bench.begin()
    await bench.up()
    forms: Counter[str] = Counter()
    sent: list[list[deque[int]]] = [[deque() for _ in range(CHANNELS)] for _ in range(2)]
    offer = bench.offer

    def note(end: int, channel: int, flits: list[int]) -> None:
        sent[end][channel].extend(flits)
        offer(end, channel, flits)

    bench.offer = note  # type: ignore[method-assign]
    for flits in alike(8):
        bench.offer(0, 0, flits)
        bench.offer(1, 0, flits)
    await bench.finish()
    phases(bench)
    await bench.traffic(CYCLES)
    await bench.finish()
    longest = 0
    for end in range(2):
        numbers, stamps = [], []
        for frame in bench.frames[end]:
            assert 60 <= len(frame) <= FRAME_BYTES and len(frame) % 8 == 4, f"a frame of {len(frame)} bytes"
            longest = max(longest, len(frame))
            head, body = frames.body(frame)
            stamps.append(head["stamp"])
            if frames.KINDS[head["kind"]] != "data":
                assert frames.KINDS[head["kind"]] == "hello" or not any(body)
                continue
            numbers.append(head["seq"])
            used = 0
            for form, channel, flits, size in frames.packets(body):
                forms[form] += 1
                used += size
                for flit in flits:
                    assert flit == sent[end][channel].popleft(), f"{form} on channel {channel}"
                assert size <= 16 * len(flits) + 7
            assert (used and len(body) - used < 8) or len(frame) == 60, "more zeros than are needed"
        assert numbers == [number % 256 for number in range(len(numbers))], "numbers of frames"
        assert stamps == [stamp % 1024 for stamp in range(stamps[0], stamps[0] + len(stamps))]
    assert set(forms) == set(frames.FORMS.values()) - {"none"}, f"forms that were used: {forms}"
    assert longest > FRAME_BYTES * 0.9, "no long frame"


@cocotb.test()
async def headers_are_short(dut: HierarchyObject) -> None:
    """The bytes of each form's header."""
    sizes = {"thread": 6, "again": 3, "tile": 14, "key": 8, "stream": 8, "match": 14, "host": 4, "whole": 7}
    assert {name: frames.constants.layout(f"link_{name}").bytes for name in sizes} == sizes
    assert set(sizes) | {"none"} == set(frames.FORMS.values())
    bench = Bench(dut)
    bench.watch = True
    await bench.begin()
    await bench.up()
    for flits in alike(4):
        bench.offer(0, 0, flits)
    bench.offer(0, 1, alike(1)[0])
    await bench.finish()
    seen = [
        (form, size)
        for frame in bench.frames[0]
        for form, _, _, size in frames.packets(frames.body(frame)[1])
        if frames.KINDS[frames.body(frame)[0]["kind"]] == "data"
    ]
    assert seen[0] == ("thread", 22), seen
    assert {form for form, _ in seen} == {"thread", "again"} and len(seen) == 5, seen
    assert all(size == {"thread": 22, "again": 19}[form] for form, size in seen)


@cocotb.test()
async def a_cut_cable_loses_nothing(dut: HierarchyObject) -> None:
    """Cut in mid-traffic, once for short and once so long that the link is down; then all goes on."""
    bench = Bench(dut)
    await bench.begin()
    await bench.up()
    phases(bench)
    await bench.traffic(1500)
    for cycles, ends in ((300, 3), (900, 1), (9000, 3), (500, 2)):
        dut.cut_i.value = ends
        await bench.traffic(cycles)
        down = int(dut.up_o.value) == 0
        assert down == (cycles > 6500), f"up is {int(dut.up_o.value)} after {cycles} cycles"
        dut.cut_i.value = 0
        await bench.traffic(1500)
        assert int(dut.up_o.value) == 3
    await bench.finish()
    happened = Counter(event for _, _, event in bench.events)
    assert happened[SILENT] == 2 and happened[UP] == 4 and happened[RESTARTED] == 0, bench.events
    assert bench.counters(0)["lost"] == bench.counters(1)["lost"] == 0


@cocotb.test()
async def an_end_that_begins_anew_is_noticed(dut: HierarchyObject) -> None:
    """One end is reset in mid-traffic: the other one says so, counts what it had sent; nothing comes twice."""
    bench = Bench(dut)
    await bench.begin(0.02, 0.02)
    await bench.up()
    for round_ in range(4):
        phases(bench)
        await bench.traffic(random.randrange(800, 2500))
        end = random.randrange(2)
        other = 1 - end
        # What the end that is reset has inside is gone: the rest of a packet that it was giving, and a packet that it
        # was being given.
        bench.sends = lambda which, end=end: which != end
        bench.takes = lambda which, channel, end=end: which != end
        dut.end_rst_ni.value = 3 ^ 1 << end
        await bench.step()
        bench.forget = {0, 1}
        for channel in range(CHANNELS):
            bench.going[end][channel].clear()
            while bench.expected[other][channel] and not bench.expected[other][channel][-1] & LAST:
                bench.expected[other][channel].pop()
            if bench.inside[end][channel]:
                drop_packet(bench.expected[end][channel])
                bench.inside[end][channel] = False
        before = bench.counters(other)
        for _ in range(random.choice([3, 40, 600, 8000])):
            await bench.step()
        dut.end_rst_ni.value = 3
        await bench.up()
        for _ in range(3000):
            await bench.step()
            if bench.counters(other)["restarts"] > before["restarts"]:
                break
        await bench.step()
        await bench.up()
        count = bench.counters(other)
        assert count["restarts"] == before["restarts"] + 1, f"round {round_}: it was not noticed"
        # New traffic in both directions arrives; of the old some may be missing, as many as were counted.
        arrived = bench.arrived[:]
        phases(bench)
        await bench.traffic(1500)
        bench.sends = lambda end: True
        bench.takes = lambda end, channel: True
        for _ in range(4000):
            await bench.step()
        assert all(now > then for now, then in zip(bench.arrived, arrived, strict=True)), "nothing flows"
        for _ in range(60_000):
            if not any(queue for part in (bench.waiting, bench.going) for one in part for queue in one):
                break
            await bench.step()
        for _ in range(4000):
            await bench.step()
        for one in bench.expected:
            for queue in one:
                queue.clear()


@cocotb.test()
async def latency(dut: HierarchyObject) -> None:
    """A short message over an idle link: what is neither flight nor serialization of the shortest frame."""
    bench = Bench(dut)
    await bench.begin()
    await bench.up()
    for _ in range(3000):
        await bench.step()
    found = []
    for _ in range(20):
        dest = frames.ENDPOINT["thread"] << 29
        bench.offer(0, 0, [frames.flit(0, True, 0, 0, 0, 0, dest, 7)])
        arrived = bench.arrived[1]
        while bench.arrived[1] == arrived:
            await bench.step()
        found.append(bench.arrival[1] - bench.entry[0])
        for _ in range(random.randrange(200, 400)):
            await bench.step()
    ours = min(found) - 100 - (60 + 24) / 5
    dut._log.info(f"latency {sorted(found)}: {ours} cycles beyond flight and the shortest frame")
    assert ours <= 16, f"{ours} cycles"
