# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of streaming ports: two endpoints at a switch, kernels that stall. Judged by lists of messages, and by a
reader of packets."""

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
    Bench,
    Message,
    message,
    run,
    settled,
)


@cocotb.test()
async def asked_messages_arrive_once_in_order(dut: HierarchyObject) -> None:
    """Any port to any port, itself too, in an order that can be kept: all elements, and no credit is left over."""
    bench = Bench(dut)
    await bench.begin()
    for _ in range(MESSAGES):
        bench.add(message(random.randrange(PORTS), random.randrange(PORTS)))
    await run(bench)
    await settled(bench)
    assert bench.credit == [0] * PORTS, f"credits left over: {bench.credit}"
    kinds = bench.wires[0].kinds + bench.wires[1].kinds
    assert kinds["ask"] == MESSAGES and min(kinds[name] for name in ("short", "long", "credit")) > 0, kinds


@cocotb.test()
async def eager_messages_arrive_once_in_order(dut: HierarchyObject) -> None:
    """Bound pairs, rebound when all is quiet: no ask, all elements, and in the end the receivers owe no quarter."""
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
        assert all(credit > DEPTH - DEPTH // 4 for credit in bench.credit), bench.credit
        kinds = bench.wires[0].kinds + bench.wires[1].kinds
        assert kinds["ask"] == 0 and min(kinds[name] for name in ("short", "long", "credit")) > 0, kinds


@cocotb.test()
async def what_is_pushed_arrives(dut: HierarchyObject) -> None:
    """A kernel that waits for an answer in the middle of a message gets it: nothing is kept back."""
    bench = Bench(dut)
    await bench.begin()
    await bench.bind({0: PORTS - 1}, 5)
    one = Message(0, PORTS - 1, FITS[-1], 40)
    bench.add(one)
    for beats in range(1, 20):
        allowed = beats * BYTES

        def gives(port: int, allowed: int = allowed) -> bool:
            going = bench.sending[0]
            return going is not None and going[1] < allowed

        bench.gives = gives
        for _ in range(60):
            await bench.step()
        going = bench.receiving[PORTS - 1]
        if bench.done[PORTS - 1]:
            break
        # A beat of the receiver's is as long as the sender's.
        assert going is not None and going[1] == min(allowed, len(one.data)), f"{going and going[1]} of {allowed}"
    await bench.finish()


@cocotb.test()
async def a_port_that_never_pops_slows_no_other(dut: HierarchyObject) -> None:
    """Nobody takes from one port, or opens another: the rest flows at full rate, and all comes in the end."""
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
            assert bench.now - start < 400 * DEPTH, "the other port stands still"
        rates.append(bench.now - start)
        await bench.finish()
    assert rates[1] <= rates[0] + 2 * PACKET, rates


@cocotb.test()
async def an_element_a_cycle(dut: HierarchyObject) -> None:
    """A long eager message goes at a beat a cycle; a full flit a cycle is bound by the headers alone."""
    bench = Bench(dut)
    await bench.begin()
    await bench.bind({0: PORTS - 1}, 2)
    beats = 4000
    one = Message(0, PORTS - 1, FITS[-1], beats * BYTES // TYPES[FITS[-1]][1])
    bench.add(one)
    start = bench.now
    await bench.finish()
    cycles = bench.now - start
    # The first packet is complete before it goes.
    most = beats * (1.0 if BYTES < 16 else (PACKET + 1) / PACKET) + 16 * PACKET // BYTES + 60
    dut._log.info(f"{beats} beats in {cycles} cycles")
    assert cycles <= most, f"{beats} beats in {cycles} cycles"
    assert bench.wires[0].sizes[PACKET] > 0


@cocotb.test()
async def latency_of_an_element(dut: HierarchyObject) -> None:
    """From the cycle in which a kernel's only element is taken to that in which the other kernel has it, the switch's
    five cycles among them."""
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
