# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of streaming ports: two endpoints at a switch, kernels that stall. Lists of messages and a packet
parser judge the results."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from rtl.stream.stream_bench import (
    BYTES,
    DEPTH,
    FITS,
    MESSAGES,
    PACKET,
    PORTS,
    TYPES,
    VOQ_DEPTH,
    Bench,
    Message,
    beat_bytes,
    message,
    run,
    settled,
)


@cocotb.test()
async def messages_on_request_arrive_once_in_order(dut: HierarchyObject) -> None:
    """Any port to any port, including itself, in a feasible order: all elements arrive, and no credit remains."""
    bench = Bench(dut)
    await bench.begin()
    for _ in range(MESSAGES):
        bench.add(message(random.randrange(PORTS), random.randrange(PORTS)))
    await run(bench)
    await settled(bench)
    assert not +bench.credit, f"remaining credits: {bench.credit}"
    kinds = bench.wires[0].kinds + bench.wires[1].kinds
    assert kinds["ask"] == MESSAGES and min(kinds[name] for name in ("short", "long", "credit")) > 0, kinds


@cocotb.test()
async def eager_messages_arrive_once_in_order(dut: HierarchyObject) -> None:
    """Bound pairs, bound again while idle: no ask, all elements; finally receivers owe less than a quarter."""
    bench = Bench(dut)
    await bench.begin()
    for account in range(1, 4):
        to = random.sample(range(PORTS), PORTS)
        await bench.bind(dict(enumerate(to)), account)
        for _ in range(MESSAGES // 2):
            source = random.randrange(PORTS)
            bench.add(message(source, to[source]))
        bench.add(Message(0, to[0], FITS[0], 16 * DEPTH // TYPES[FITS[0]][1]))
        await run(bench)
        await settled(bench)
        assert all(bench.credit[pair] > DEPTH - DEPTH // 4 for pair in bench.bound.items()), bench.credit
        kinds = bench.wires[0].kinds + bench.wires[1].kinds
        assert kinds["ask"] == 0 and min(kinds[name] for name in ("short", "long", "credit")) > 0, kinds


@cocotb.test()
async def pushed_elements_arrive_without_further_pushes(dut: HierarchyObject) -> None:
    """A kernel that waits for an answer in the middle of a message gets it: no pushed element is held back."""
    bench = Bench(dut)
    await bench.begin()
    await bench.bind({0: PORTS - 1}, 5)
    one = Message(0, PORTS - 1, FITS[-1], 40)
    bench.add(one)
    for beats in range(1, 20):
        allowed = beats * beat_bytes(one.kind)

        def gives(port: int, allowed: int = allowed) -> bool:
            going = bench.sending[0]
            return going is not None and going[1] < allowed

        bench.gives = gives
        for _ in range(60):
            await bench.step()
        going = bench.receiving[PORTS - 1]
        if bench.done[PORTS - 1]:
            break
        # The receiver's beats are as long as the sender's.
        assert going is not None and going[1] == min(allowed, len(one.data)), f"{going and going[1]} of {allowed}"
    await bench.finish()


@cocotb.test()
async def pauses_before_a_full_packet_add_no_bytes(dut: HierarchyObject) -> None:
    """A kernel pauses so that a packet begins inside a flit, and again some bytes before the packet is full: it carries
    what has been pushed, and nothing else. Credits never limit it."""
    bench = Bench(dut)
    await bench.begin()
    await bench.bind({0: PORTS - 1}, 3)
    kind = min(FITS, key=beat_bytes)
    beat = beat_bytes(kind)
    for begun in range(1, 16 // beat if beat < 16 else 1):
        for missing in range(1, 5):
            one = Message(0, PORTS - 1, kind, (16 * min(PACKET, DEPTH // 2) + 32) // TYPES[kind][1])
            full = 16 * min(PACKET, DEPTH // 2)
            bench.add(one)
            for allowed in (begun * beat, full - missing * beat, len(one.data)):

                def gives(port: int, allowed: int = allowed) -> bool:
                    going = bench.sending[0]
                    return going is None or going[1] < allowed

                bench.gives = gives
                before = bench.done[PORTS - 1]
                for _ in range(6 * full // beat + 200):
                    await bench.step()
                    going = bench.receiving[PORTS - 1]
                    if bench.done[PORTS - 1] > before or (going is not None and going[1] >= allowed):
                        break
                for _ in range(60):
                    await bench.step()
                going = bench.receiving[PORTS - 1]
                assert going is None or going[1] == min(allowed, len(one.data)), (begun, missing, going[1])
            await settled(bench)
    await bench.finish()


@cocotb.test()
async def stalled_port_does_not_slow_other_ports(dut: HierarchyObject) -> None:
    """One port is not popped, and one is not opened: the others run at full rate, and finally all messages arrive."""
    rates = []
    half = PORTS // 2
    for stops in (False, True):
        bench = Bench(dut)
        await bench.begin()
        await bench.bind({0: half + 1, 1: half}, 1)
        if stops:
            bench.add(Message(0, half + 1, FITS[-1], 3 * 16 * DEPTH // TYPES[FITS[-1]][1]))
            bench.takes = lambda port: port != half + 1
            for _ in range(40 * DEPTH):
                await bench.step()
            assert bench.done[half + 1] == 0
        start = bench.now
        bench.add(Message(1, half, FITS[-1], 8 * 16 * DEPTH // TYPES[FITS[-1]][1]))
        while not bench.done[half]:
            await bench.step()
            assert bench.now - start < 400 * DEPTH, "the other port is stalled"
        rates.append(bench.now - start)
        await bench.finish()
    assert rates[1] <= rates[0] + 2 * PACKET, rates


@cocotb.test()
async def one_beat_per_cycle(dut: HierarchyObject) -> None:
    """A long eager message is sent at one beat per cycle; at a flit per beat only headers limit the rate."""
    bench = Bench(dut)
    await bench.begin()
    await bench.bind({0: PORTS - 1}, 2)
    beats = 4000
    size = beat_bytes(FITS[-1])
    bench.add(Message(0, PORTS - 1, FITS[-1], beats * size // TYPES[FITS[-1]][1]))
    start = bench.now
    await bench.finish()
    cycles = bench.now - start
    # The first packet must be complete before it is sent.
    most = beats * (1.0 if BYTES < 16 else (PACKET + 1) / PACKET) + 16 * PACKET // size + 60
    dut._log.info(f"{beats} beats in {cycles} cycles")
    assert cycles <= most, f"{beats} beats in {cycles} cycles"
    assert bench.wires[0].sizes[PACKET] > 0


@cocotb.test()
async def latency_of_an_element(dut: HierarchyObject) -> None:
    """From the cycle in which a kernel's only element is accepted to that in which the other kernel receives it,
    including the switch's five cycles."""
    bench = Bench(dut)
    await bench.begin()
    await bench.bind({0: PORTS - 1}, 2)
    found = []
    for _ in range(5):
        bench.add(Message(0, PORTS - 1, FITS[0], 1))
        begun = None
        bench.first.clear()
        while bench.pending():
            await bench.step()
            if begun is None and not bench.sends[0] and bench.sending[0] is None:
                begun = bench.now - 1
        assert begun is not None
        found.append(bench.first[PORTS - 1] - begun)
        for _ in range(30):
            await bench.step()
    dut._log.info(f"latency {found}")
    assert max(found) <= 5 + 10, found


def ahead(bench: Bench, source: int, to: int, room: int) -> list[Message]:
    """Messages to a rank that fit into a queue of `room` flits, and fill it as far as possible."""
    found: list[Message] = []
    while True:
        kind = random.choice(FITS)
        size = TYPES[kind][1]
        one = Message(source, to, kind, random.choice([0, 1, 1, 2, random.randrange(16 * room + 1) // size]))
        room -= 1 if len(one.data) <= 8 else 1 + -(-len(one.data) // 16)
        if room < 0:
            return found
        found.append(one)
        bench.sends[source].append(one)


@cocotb.test()
async def waiting_messages_do_not_block_other_receivers(dut: HierarchyObject) -> None:
    """A port sends to all others, in its own order, until all queues are full; then the others receive one after
    another, the last one first. Each gets its messages in order while the others receive nothing."""
    bench = Bench(dut)
    await bench.begin()
    for _ in range(max(MESSAGES // 20, 2)):
        source = random.randrange(PORTS)
        ranks = random.sample(range(PORTS), PORTS)
        waiting = {to: ahead(bench, source, to, VOQ_DEPTH) for to in ranks}
        for _ in range(60 * PORTS * VOQ_DEPTH):
            await bench.step()
            if not bench.sends[source] and bench.sending[source] is None:
                break
        assert not bench.sends[source] and bench.sending[source] is None, f"{len(bench.sends[source])} are not accepted"
        for to in reversed(ranks):
            bench.recvs[to] += waiting[to]
            for _ in range(4000 + 60 * len(waiting[to])):
                await bench.step()
                if not bench.recvs[to] and bench.receiving[to] is None:
                    break
            assert not bench.recvs[to] and bench.receiving[to] is None, f"{to} from {source}: incomplete"
        await settled(bench)
        assert not +bench.credit, f"remaining credits: {bench.credit}"


@cocotb.test()
async def queued_message_overtakes_a_stalled_one(dut: HierarchyObject) -> None:
    """A receiver stops in the middle of a long message; queued messages for another receiver still arrive."""
    bench = Bench(dut)
    await bench.begin()
    stops, to = 1, 2
    first = ahead(bench, 0, to, VOQ_DEPTH)
    long = Message(0, stops, FITS[-1], 16 * (DEPTH + 80) // TYPES[FITS[-1]][1] + 5)
    bench.add(long)
    bench.takes = lambda port: port != stops or bench.now % 64 == 0
    for _ in range(20 * DEPTH + 300):
        await bench.step()
    assert bench.receiving[stops] is not None and bench.sending[0] is not None, "the long message is not stalled"
    bench.recvs[to] += first
    for _ in range(4000):
        await bench.step()
        if not bench.recvs[to]:
            break
    assert not bench.recvs[to] and bench.sending[0] is not None
    await bench.finish(200_000)
    await settled(bench)
