# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the link: two ends and a wire with losses, damage and cuts. Checked by queues and by `frames`."""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Callable

import cocotb
from cocotb.handle import HierarchyObject
from rtl.link import frames
from rtl.link.bench import (
    ALL_BUFFERED,
    BEATS,
    BUFFER,
    CHANNELS,
    CYCLES,
    FRAME_BYTES,
    LAST,
    LONGEST,
    MISMATCH,
    RESTARTED,
    SILENT,
    UP,
    Bench,
    alike,
    drop_packet,
    packet,
    phases,
)


async def more(bench: Bench, enough: Callable[[], bool], most: int = LONGEST) -> None:
    """Adds traffic until ``enough`` holds: a fixed number of cycles does not guarantee it."""
    for _ in range(60):
        if enough():
            return
        await bench.traffic(CYCLES, most)
        await bench.finish(200_000)
    raise AssertionError("too little has happened")


@cocotb.test()
async def every_packet_is_delivered_once_and_in_order(dut: HierarchyObject) -> None:
    """All channels and forms in both directions, random stalls, no faults: no frame is resent."""
    bench = Bench(dut)
    await bench.begin()
    await bench.up()
    phases(bench)
    await bench.traffic(CYCLES)
    await bench.finish()
    await more(
        bench, lambda: all(all(bench.by_channel[at]) and bench.counters(at)["tx_packets"] > 50 for at in range(2))
    )
    for end in range(2):
        count = bench.counters(end)
        assert count["resends"] == count["damaged"] == count["lost"] == count["restarts"] == 0, count
        assert count["tx_packets"] == bench.counters(1 - end)["rx_packets"], count


async def faulty(dut: HierarchyObject, loss: float, damage: float, cycles: int, most: int = LONGEST) -> Bench:
    bench = Bench(dut)
    await bench.begin(loss, damage)
    await bench.up()
    phases(bench)
    await bench.traffic(cycles, most)
    await bench.finish(200_000)
    return bench


def lost_frames(dut: HierarchyObject) -> list[int]:
    return [int(dut.wire_lost_o.value) >> 32 * end & 0xFFFFFFFF for end in range(2)]


@cocotb.test()
async def only_lost_frames_are_resent(dut: HierarchyObject) -> None:
    """A tenth of the frames is lost: no packet is lost or duplicated, and only lost frames are resent."""
    bench = await faulty(dut, 0.1, 0.0, CYCLES)
    await more(bench, lambda: min(lost_frames(dut)) > 2 and all(bench.counters(end)["resends"] for end in range(2)))
    lost = lost_frames(dut)
    for end in range(2):
        # A frame that found no buffer is resent as well; with many buffers every frame finds one.
        count, dropped = bench.counters(end), bench.counters(1 - end)["dropped"]
        assert 0 < count["resends"] <= lost[end] + dropped, f"{count} with {lost} lost: needless resends"
        assert dropped == 0 or not ALL_BUFFERED, "a frame was received twice"


@cocotb.test()
async def short_frames_are_not_dropped(dut: HierarchyObject) -> None:
    """Under light traffic frames are short and many are in flight after a gap: each that arrives finds a buffer."""
    bench = Bench(dut)
    await bench.begin(0.04)
    await bench.up()
    gap = 12 * BEATS  # a little more than the line needs for the shortest frame
    for number in range(60 * CYCLES // gap):
        if number >= CYCLES // gap and min(lost_frames(dut)) > 2:
            break
        for end in range(2):
            bench.offer(end, 0, packet(0, 1))
        for _ in range(gap):
            await bench.step()
    await bench.finish(200_000)
    lost = lost_frames(dut)
    assert min(lost) > 2, "hardly a frame was lost"
    for end in range(2):
        count = bench.counters(end)
        assert count["dropped"] == 0 and count["resends"] <= lost[end], f"{count} with {lost} lost"


@cocotb.test()
async def damaged_frames_are_discarded_and_counted(dut: HierarchyObject) -> None:
    """With and without the MAC's error flag: a damaged frame delivers nothing, and is counted."""
    bench = await faulty(dut, 0.02, 0.15, CYCLES)
    await more(bench, lambda: all(bench.counters(end)["damaged"] > 2 for end in range(2)))
    for end in range(2):
        injected = int(dut.wire_damaged_o.value) >> 32 * (1 - end) & 0xFFFFFFFF
        damaged = bench.counters(end)["damaged"]
        assert injected - 2 <= damaged <= injected and damaged > 2, f"{damaged} counted of {injected} damaged"


@cocotb.test()
async def sequence_numbers_wrap_under_heavy_loss(dut: HierarchyObject) -> None:
    """Four of ten frames are lost or damaged; packets are short, so that sequence numbers wrap around."""
    bench = await faulty(dut, 0.25, 0.2, 3 * CYCLES, 3)
    # Data frames of each end; all other frames are short, and at most one for each good frame received.
    for _ in range(30):
        if max(bench.counters(end)["tx_frames"] for end in range(2)) > 300 * CYCLES // 6000:
            break
        await bench.traffic(CYCLES, 3)
    else:
        raise AssertionError("too few frames for sequence numbers to wrap around")
    await bench.finish(200_000)


@cocotb.test()
async def full_channel_does_not_block_others(dut: HierarchyObject) -> None:
    """Two channels are not read: the others flow, and all credits of the two are used."""
    bench = Bench(dut)
    await bench.begin(0.01)
    await bench.up()
    blocked = random.sample(range(CHANNELS), 2)
    bench.accepts = lambda end, channel: channel not in blocked
    await bench.traffic(2 * CYCLES)
    stuck = bench.arrived[:]
    await bench.traffic(CYCLES)
    for end in range(2):
        assert bench.arrived[end] - stuck[end] > CYCLES // 16, "the other channels do not flow"
        assert all(bench.by_channel[end][channel] == 0 for channel in blocked)
        assert min(bench.by_channel[end][channel] for channel in range(CHANNELS) if channel not in blocked) > 20
    await bench.finish(200_000)


@cocotb.test()
async def channel_resumes_after_its_credits_ran_out(dut: HierarchyObject) -> None:
    """All credits of one channel are used, then it is read again: it continues although limits are lost."""
    bench = Bench(dut)
    await bench.begin(0.05)
    await bench.up()
    for _ in range(3):
        channel = random.randrange(CHANNELS)
        bench.accepts = lambda end, which: False
        for _ in range(700):
            bench.offer(0, channel, packet(channel, 2))
        for _ in range(CYCLES):
            await bench.step()
        assert bench.counters(0)["stalls"] > 0, "no packet waited for credits"
        await bench.finish(100_000)


@cocotb.test()
async def lost_limit_is_sent_again(dut: HierarchyObject) -> None:
    """The limit that a channel waits for is lost: once on an idle link, once while another channel has steady traffic
    and new limits in every frame."""
    bench = Bench(dut)
    bench.record = True
    await bench.begin()
    await bench.up()
    for busy in (False, True):
        channel, other = random.sample(range(CHANNELS), 2)
        bench.accepts = lambda end, which, channel=channel: which != channel
        for _ in range(700):
            bench.offer(0, channel, packet(channel, 1))
        stalls = bench.counters(0)["stalls"]
        while bench.counters(0)["stalls"] < stalls + 600:
            await bench.step()

        async def step(other: int = other, busy: bool = busy) -> None:
            if busy and len(bench.waiting[0][other]) < 4:
                bench.offer(0, other, packet(other, 4))
            await bench.step()

        for _ in range(CYCLES):
            await step()
        # The receiver reads all waiting flits, and every frame that it sends is lost, up to the frame with the last
        # limit: the number of flits read plus the size of the buffer.
        dut.cut_i.value = 2
        bench.accepts = lambda end, which: True
        before, last, since, limit = bench.by_channel[1][channel], 0, 0, -1
        while since < 40 or limit != (BUFFER + last) % 4096:
            bench.frames[1].clear()
            await step()
            since = since + 1 if bench.by_channel[1][channel] == last else 0
            last = bench.by_channel[1][channel]
            for head in (frames.body(frame)[0] for frame in bench.frames[1]):
                limit = head["limit"] if head["channel"] == channel else limit
        assert last > before, "nothing waited"
        dut.cut_i.value = 0
        begun = bench.now
        bench.frames[1].clear()
        while bench.by_channel[1][channel] == last:
            await step()
            # On an idle link the limit arrives as soon as it is requested; else the round robin serves each channel in
            # one of four frames, and some more frames are sent before the answer arrives.
            assert len(bench.frames[1]) <= 4 * CHANNELS + 16, f"no new limit after {bench.now - begun} cycles"
            assert busy or bench.now - begun < 600, "the sender does not request the limit"
        await bench.finish()


@cocotb.test()
async def frames_match_their_layouts(dut: HierarchyObject) -> None:
    """Every frame: checksum, layout, size. Its packets equal the offered ones, each in its shortest form."""
    bench = Bench(dut)
    bench.record = True
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
    for _ in range(5):  # random traffic of few seeds has no frame of nearly the greatest size at once
        await bench.traffic(CYCLES)
        await bench.finish()
        if any(len(frame) > FRAME_BYTES * 0.9 for its in bench.frames for frame in its):
            break
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
            assert (used and len(body) - used < 8) or len(frame) == 60, "more zeros than necessary"
        assert numbers == [number % 256 for number in range(len(numbers))], "numbers of frames"
        assert stamps == [stamp % 1024 for stamp in range(stamps[0], stamps[0] + len(stamps))]
    assert set(forms) == set(frames.FORMS.values()) - {"none"}, f"forms that were used: {forms}"
    assert longest > FRAME_BYTES * 0.9, "no long frame"
    for end in range(2):
        count, other = bench.counters(end), bench.counters(1 - end)
        sizes = [len(frame) for frame in bench.frames[end]]
        # The last frames may not have arrived yet.
        assert (count["tx_frames"], count["tx_bytes"]) == (len(sizes), sum(sizes)), count
        assert other["rx_bytes"] == sum(sizes[: other["rx_frames"]]) and len(sizes) - other["rx_frames"] < 8, other
        assert count["stalls"] < bench.now and not any(
            count[name] for name in ("resends", "damaged", "dropped", "lost", "restarts")
        ), count


@cocotb.test()
async def sessions_have_the_number_of_the_cycle_in_which_they_begin(dut: HierarchyObject) -> None:
    """All 16 bits: an end that is reset again and again has another number each time, in hellos and in each head."""
    bench = Bench(dut)
    bench.record = True
    await bench.begin()
    await bench.up()
    begun: list[tuple[int, int]] = []
    for gap in (64, 128, 256, 3000, 128, 64, 128, 17_000, 128, 128):
        dut.end_rst_ni.value = 2
        for _ in range(gap):
            await bench.step()
        bench.forget(0)
        dut.end_rst_ni.value = 3
        released = bench.now
        await bench.up()
        head, body = next(frames.body(frame) for frame in bench.frames[0] if frames.KINDS[frame[0] >> 6] == "hello")
        number = head["tag"] | frames.fields("link_hello", body)[0]["tag_high"] << 8
        begun.append((number, released))
        bench.offer(0, 0, packet(0))
        await bench.finish()
        assert {frames.body(frame)[0]["tag"] for frame in bench.frames[0]} == {head["tag"]}
    for number, released in begun:
        assert (number - begun[0][0]) % 65536 == (released - begun[0][1]) % 65536, begun


@cocotb.test()
async def headers_have_the_documented_sizes(dut: HierarchyObject) -> None:
    """The header of each form has its documented number of bytes."""
    sizes = {"thread": 6, "again": 3, "tile": 14, "key": 8, "stream": 8, "match": 14, "host": 4, "whole": 7}
    assert {name: frames.constants.layout(f"link_{name}").bytes for name in sizes} == sizes
    assert set(sizes) | {"none"} == set(frames.FORMS.values())
    bench = Bench(dut)
    bench.record = True
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
async def cut_cable_loses_no_packets(dut: HierarchyObject) -> None:
    """Cuts during traffic, some short and one so long that the link goes down; then traffic continues."""
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
async def link_that_a_hello_brings_back_is_reported(dut: HierarchyObject) -> None:
    """The cable is cut when one end has opened its session and the other has not: later its hello ends the silence."""
    bench = Bench(dut)
    await bench.begin()
    # End 1 starts later. At some moment its answer is on its way, and frames of end 0 no longer reach it.
    for moment in range(10, 300, 5):
        bench.events.clear()
        dut.cut_i.value = 0
        for resets, cycles in ((0, 5), (1, 100), (3, moment)):
            dut.end_rst_ni.value = resets
            for _ in range(cycles):
                await bench.step()
        dut.cut_i.value = 1
        for _ in range(2000):
            await bench.step()
        if int(dut.up_o.value) == 1:
            break
    assert int(dut.up_o.value) == 1, "end 0 alone has opened"
    dut.cut_i.value = 3
    for _ in range(9000):
        await bench.step()
    assert int(dut.up_o.value) == 0
    dut.cut_i.value = 0
    await bench.up()
    await bench.traffic(1500)
    await bench.finish()
    events = [[event for _, end, event in bench.events if end == one] for one in range(2)]
    assert events == [[UP, SILENT, UP], [SILENT, UP]], bench.events


@cocotb.test()
async def restarted_end_is_detected(dut: HierarchyObject) -> None:
    """One end is reset during traffic: the other reports it and counts its lost packets; no packet is duplicated."""
    bench = Bench(dut)
    await bench.begin(0.02, 0.02)
    await bench.up()
    for round_ in range(4):
        phases(bench)
        await bench.traffic(random.randrange(800, 2500))
        end = random.randrange(2)
        other = 1 - end
        # The reset end loses its contents: the rest of a packet that it was delivering, and a packet that it was
        # accepting.
        bench.sends = lambda which, end=end: which != end
        bench.accepts = lambda which, channel, end=end: which != end
        dut.end_rst_ni.value = 3 ^ 1 << end
        await bench.step()
        bench.may_miss = {0, 1}
        for channel in range(CHANNELS):
            bench.current[end][channel].clear()
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
        assert count["restarts"] == before["restarts"] + 1, f"round {round_}: the restart was not counted"
        # Old packets may be missing; all new packets arrive, and no old packet arrives after them.
        for which in range(2):
            for channel in range(CHANNELS):
                bench.offer(which, channel, packet(channel))
        phases(bench)
        await bench.traffic(1500)
        await bench.finish(200_000)
        bench.may_miss = set()


class Forger:
    """Forges the frames of the other end of end 1, all with the right checksum; end 0 remains in reset."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.session = random.randrange(1 << 16)
        self.stamp = self.seq = 0
        self.yours = 0
        self.agreed: dict[str, int] = {}
        self.limits: dict[int, int] = {}
        bench.record = True

    def listen(self) -> None:
        """Takes the session, parameters and limits from the frames that end 1 has sent."""
        for frame in self.bench.frames[1]:
            head, rest = frames.body(frame)
            if frames.KINDS[head["kind"]] == "hello":
                hello, _ = frames.fields("link_hello", rest)
                self.yours = hello["tag_high"] << 8 | head["tag"]
                self.agreed = {name: hello[name] for name in ("version", "window", "words", "channels")}
            else:
                self.limits[head["channel"]] = head["limit"]
        self.bench.frames[1].clear()

    async def wait(self, cycles: int) -> None:
        # A narrow link passes a frame on later.
        for _ in range(cycles * BEATS + 4 * (BEATS - 1)):
            await self.bench.step()
        self.listen()

    def frame(self, kind: str, rest: bytes = b"", **head: int) -> bytes:
        code = next(code for code, name in frames.KINDS.items() if name == kind)
        self.stamp += 1
        values = {"kind": code, "stamp": self.stamp % 1024, "tag": self.session & 0xFF, **head}
        return frames.frame(values, rest)

    def hello(self, **changes: int) -> bytes:
        fields = {**self.agreed, "known": 1, "up": 1, "tag_high": self.session >> 8, "yours": self.yours, **changes}
        return self.frame("hello", frames.layout("link_hello", fields))

    async def open(self) -> None:
        await self.wait(600)
        assert self.agreed, "end 1 has sent no hello"
        self.seq = 0
        for known in (0, 1, 1):
            await self.bench.forge(1, self.hello(known=known, up=0))
            await self.wait(300)
        assert int(self.bench.dut.up_o.value) == 2

    async def data(self, rest: bytes) -> None:
        await self.bench.forge(1, self.frame("data", rest, seq=self.seq % 256))
        self.seq += 1


def encoded(channel: int, count: int, flits: int | None = None) -> tuple[bytes, list[int]]:
    """A packet of the form whole with ``count`` flits, and its flits; its header may claim another number."""
    vnet, vc = divmod(channel, 2)
    dest = random.getrandbits(32)
    payloads = [random.getrandbits(128) for _ in range(count)]
    form = next(code for code, name in frames.FORMS.items() if name == "whole")
    header = {"form": form, "flits": (flits or count) - 1, "vc": vc, "vnet": vnet, "dest": dest}
    data = frames.layout("link_whole", header) + b"".join(payload.to_bytes(16, "little") for payload in payloads)
    whole = [frames.flit(0, at == count - 1, vnet, 0, 0, 0, dest, payload) for at, payload in enumerate(payloads)]
    return data, whole


async def forged(dut: HierarchyObject) -> tuple[Bench, Forger]:
    bench = Bench(dut)
    await bench.begin()
    dut.end_rst_ni.value = 2
    forger = Forger(bench)
    await forger.open()
    return bench, forger


@cocotb.test()
async def frame_with_any_wrong_bit_is_discarded(dut: HierarchyObject) -> None:
    """Each bit of a checksum, and bits of the rest of the frame, inverted without the MAC's error flag; wrong sizes."""
    bench, forger = await forged(dut)
    rest, flits = encoded(0, 1)
    good = forger.frame("data", rest, seq=0)
    bits = 8 * len(good)
    wrong = [(bit, {}) for bit in [*range(bits - 32, bits), *random.sample(range(bits - 32), 40)]]
    wrong += [(None, {"error": True}), *((None, {"keep": keep}) for keep in (0x07, 0x1F, 0xFF))]
    for number, (bit, options) in enumerate(wrong):
        before = bench.counters(1)
        value = int.from_bytes(good, "little") ^ (0 if bit is None else 1 << bit)
        await bench.forge(1, value.to_bytes(len(good), "little"), **options)
        await forger.wait(4)
        after = bench.counters(1)
        changed = {name: after[name] - before[name] for name in ("rx_frames", "damaged", "dropped", "rx_packets")}
        assert changed == {"rx_frames": 0, "damaged": 1, "dropped": 0, "rx_packets": 0}, (number, bit, changed)
    bench.expected[1][0].extend(flits)
    await bench.forge(1, good)
    await forger.wait(60)
    assert not bench.pending() and bench.counters(1)["rx_packets"] == 1


@cocotb.test()
async def hello_restarts_exactly_if_it_is_of_another_session(dut: HierarchyObject) -> None:
    """Hellos at an open session: each number that differs, and an end that knows no number, is a restarted end."""
    bench, forger = await forged(dut)
    for changes, session, event in (
        ({}, 0, 0),
        ({"up": 0}, 0, 0),
        ({"known": 0}, 0, RESTARTED),
        ({"yours": 1}, 0, RESTARTED),
        ({"yours": 1 << 8}, 0, RESTARTED),
        ({"yours": 1 << 15}, 0, RESTARTED),
        ({}, 1, RESTARTED),
        ({}, 1 << 7, RESTARTED),
        ({}, 1 << 8, RESTARTED),
        ({}, 1 << 15, RESTARTED),
        *(({name: 1}, 0, MISMATCH) for name in ("version", "window", "words", "channels")),
    ):
        bench.events.clear()
        before = bench.counters(1)["restarts"]
        differs = {name: value ^ {**forger.agreed, "yours": forger.yours, "known": 0, "up": 0}[name]
                   for name, value in changes.items()}  # fmt: skip
        forger.session ^= session
        await bench.forge(1, forger.hello(**differs))
        await forger.wait(6)
        assert [what for _, _, what in bench.events] == ([event] if event else []), (changes, session, bench.events)
        assert bench.counters(1)["restarts"] - before == (event == RESTARTED)
        assert int(dut.up_o.value) == (0 if event == RESTARTED else 2), (changes, session)
        if event == RESTARTED:
            await forger.open()


@cocotb.test()
async def new_session_grants_exactly_the_free_space(dut: HierarchyObject) -> None:
    """Flits of the old session are read in every cycle while the new one begins: when all are read, each limit of the
    new session is the size of the buffer, no flit less and none more."""
    bench, forger = await forged(dut)
    for stopped in (False, True):
        for channel in range(CHANNELS):
            for _ in range(2):
                rest, flits = encoded(channel, 30)
                bench.expected[1][channel].extend(flits)
                bench.accepts = lambda end, which: False
                await forger.data(rest)
        await forger.wait(400)
        # Half of a packet is delivered when the other end restarts, unless nothing is read before the new session.
        bench.accepts = lambda end, which, stopped=stopped: not stopped
        await forger.wait(0 if stopped else 15)
        forger.session ^= 0x0101
        await bench.forge(1, forger.hello())
        await forger.wait(30)
        forger.seq = 0
        while int(dut.up_o.value) != 2:
            assert any(bench.expected[1]), "all flits are read before the session begins"
            while not bench.frames[1]:
                await bench.step()
            forger.listen()
            await bench.forge(1, forger.hello())
            await forger.wait(4)
        bench.accepts = lambda end, which: True
        forger.limits.clear()
        # Each channel has its turn in one of four frames; a good data frame is answered.
        for number in range(4 * CHANNELS + 8):
            await forger.wait(40)
            await bench.forge(1, forger.frame("plain", acknowledge=0, seq=0xFF if number % 4 == 0 else 0))
        await forger.wait(200)
        assert not bench.pending()
        assert forger.limits == dict.fromkeys(range(CHANNELS), BUFFER), forger.limits


@cocotb.test()
async def packets_that_violate_the_protocol_are_dropped_whole(dut: HierarchyObject) -> None:
    """Packets without credits, longer than the longest, and cut by their frame, in frames with right checksums: all
    other packets of their frames and channels are delivered."""
    bench, forger = await forged(dut)

    async def send(*packets: tuple[bytes, list[int]], dropped: int) -> None:
        before = bench.counters(1)
        for _, flits in packets:
            bench.expected[1][channel].extend(flits)
        await forger.data(b"".join(data for data, _ in packets))
        await forger.wait(150)
        assert bench.counters(1)["dropped"] - before["dropped"] == dropped
        assert bench.counters(1)["rx_packets"] - before["rx_packets"] == sum(bool(flits) for _, flits in packets)

    for channel in random.sample(range(CHANNELS), 3):
        # Longer than the longest packet, between two others; the longest.
        for count in (34, 50, 64):
            if count * 16 < FRAME_BYTES - 100:
                await send(encoded(channel, 2), (encoded(channel, count)[0], []), encoded(channel, 3), dropped=1)
        if FRAME_BYTES > 600:
            await send(encoded(channel, 33), encoded(channel, 1), dropped=0)
        # The frame ends within a packet, whose header claims more flits.
        await send(encoded(channel, 2), (encoded(channel, 4, 20)[0], []), dropped=1)
        await send(encoded(channel, 1), dropped=0)
        # No credits: the buffer is full, then has space for one packet, and is read.
        bench.accepts = lambda end, which, channel=channel: which != channel
        for _ in range(BUFFER // 16 - 1):
            await send(encoded(channel, 16), dropped=0)
        await send(encoded(channel, 15), (encoded(channel, 2)[0], []), encoded(channel, 1), dropped=1)
        await send((encoded(channel, 1)[0], []), (encoded(channel, 12)[0], []), dropped=2)
        bench.accepts = lambda end, which: True
        await forger.wait(BUFFER + 40)
        await send(encoded(channel, 16), dropped=0)
        assert not bench.pending()


@cocotb.test()
async def received_frames_count_only_in_their_session_and_window(dut: HierarchyObject) -> None:
    """Data of another session, beyond the window, received before, after a gap; over the wrap of the numbers."""
    bench, forger = await forged(dut)
    window = 1 << forger.agreed["window"]

    async def data(number: int, *, new: bool = False, dropped: int = 0, **head: int) -> None:
        rest, own = encoded(number % CHANNELS, 1 + number % 3)
        if new:
            bench.expected[1][number % CHANNELS].extend(own)
        before = bench.counters(1)["dropped"]
        await bench.forge(1, forger.frame("data", rest, seq=number % 256, **head))
        await forger.wait(5)
        assert bench.counters(1)["dropped"] - before == dropped, (number, head)

    for number in range(300):
        if number % 10 == 3:
            await data(number, tag=(forger.session ^ 1 << number % 8) & 0xFF)
            await data(number + window, dropped=1)
            await data(number + 255, dropped=1)  # the last one again
        if number % 10 == 7:
            continue
        if number % 10 == 8:
            # The frame after the gap first: it waits for the other one.
            rests = [encoded(one % CHANNELS, 2) for one in (number - 1, number)]
            for (_, flits), one in zip(rests, (number - 1, number), strict=True):
                bench.expected[1][one % CHANNELS].extend(flits)
            await forger.wait(30)
            before = bench.counters(1)
            await bench.forge(1, forger.frame("data", rests[1][0], seq=number % 256))
            await forger.wait(30)
            assert bench.counters(1)["rx_packets"] == before["rx_packets"], "a frame after a gap is delivered early"
            await bench.forge(1, forger.frame("data", rests[0][0], seq=(number - 1) % 256))
            await forger.wait(30)
            assert bench.counters(1)["rx_packets"] == before["rx_packets"] + 2
            continue
        await data(number, new=True)
    await forger.wait(60)
    assert not bench.pending()


@cocotb.test()
async def acknowledgements_count_only_for_sent_frames(dut: HierarchyObject) -> None:
    """Acknowledgements of frames that were never sent, of another session, of lost frames; and exactly the packets that
    are unacknowledged when the other end restarts are lost."""
    bench, forger = await forged(dut)
    bench.may_miss = {0}
    await bench.forge(1, forger.frame("plain", channel=0, limit=200))
    await forger.wait(10)
    sent = 0
    for count in (1, 3, 2):
        for _ in range(count):
            bench.offer(1, 0, packet(0, 2))
            for _ in range(60 * BEATS):
                await bench.step()
        heads = [frames.body(frame)[0] for frame in bench.frames[1]]
        data = [head for head in heads if frames.KINDS[head["kind"]] == "data"]
        assert [head["seq"] for head in data] == [(sent + number) % 256 for number in range(count)]
        last = heads[-1]["stamp"]
        bench.frames[1].clear()
        # Neither frames that were never sent nor another session's acknowledgement.
        resends = bench.counters(1)["resends"]
        for head in ({"acknowledge": sent + count + 1}, {"acknowledge": sent + 200},
                     {"acknowledge": sent + count, "tag": (forger.session ^ 4) & 0xFF}):  # fmt: skip
            await bench.forge(1, forger.frame("plain", echo=last, **head))
            await forger.wait(80)
        assert bench.counters(1)["resends"] == resends, (
            "an acknowledgement that cannot be of this session has an effect"
        )
        assert not int(dut.idle_o.value) & 2
        # A later frame was received: those before it are lost, each is resent once.
        await bench.forge(1, forger.frame("plain", echo=last, acknowledge=sent))
        await forger.wait(200)
        assert bench.counters(1)["resends"] == resends + count
        sent += count
        if count != 2:
            await bench.forge(1, forger.frame("plain", acknowledge=sent % 256))
            await forger.wait(80)
            assert int(dut.idle_o.value) & 2, "all frames are acknowledged"
    forger.session ^= 0x0202
    await bench.forge(1, forger.hello())
    await forger.open()
    assert bench.counters(1)["lost"] == 2 and bench.counters(1)["restarts"] == 1
    for queue in bench.expected[0]:
        queue.clear()


@cocotb.test()
async def idle_link_latency_is_bounded(dut: HierarchyObject) -> None:
    """A short message over an idle link: latency without flight time and serialization of the shortest frame."""
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
    dut._log.info(f"latency {sorted(found)}: {ours} cycles besides flight and the shortest frame")
    assert ours <= 16, f"{ours} cycles"
