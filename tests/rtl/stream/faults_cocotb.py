# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of faults at streaming ports: mismatched ends, invalid packets, and recovery by a new binding."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from rtl.stream.stream_bench import (
    ASK,
    BYTES,
    CLOSE,
    COUNT,
    CREDIT,
    DATA,
    DEPTH,
    ELEMENT,
    FITS,
    MESSAGES,
    PACKET,
    PEER,
    PORTS,
    TYPES,
    Bench,
    Message,
    address,
    beat_bytes,
    message,
    phases,
    raw_flit,
    run,
)


@cocotb.test()
async def mismatches_are_reported(dut: HierarchyObject) -> None:
    """Types and counts of the two ends differ, on request and eagerly, also after waiting correct one-element messages;
    then a binding releases the ports."""
    kinds = [name for name in FITS if TYPES[name][1] == TYPES[FITS[0]][1]]
    for eager, before in ((False, 0), (True, 0), (True, 2)):
        for mine, theirs, counts in (
            *(((kinds[0], kinds[-1], (5, 5)),) if len(kinds) > 1 else ()),
            (kinds[0], kinds[0], (5, 6)),
            (kinds[0], kinds[0], (60, 59)),
            (kinds[0], kinds[0], (16, 15)),
            (kinds[0], kinds[0], (15, 16)),
            (kinds[0], kinds[0], (1, 2)),
            (kinds[0], kinds[0], (2, 1)),
            (kinds[0], kinds[0], (0, 3)),
            (kinds[0], kinds[0], (3, 0)),
        ):
            bench = Bench(dut)
            await bench.begin()
            to = PORTS - 1
            if eager:
                await bench.bind({1: to}, 3)
            first = [Message(1, to, mine, 1) for _ in range(before)]
            bench.sends[1] += first
            # The receiver expects `mine` and the first count.
            bench.sends[1].append(Message(1, to, theirs, counts[1]))
            expected = Message(1, to, mine, counts[0])
            expected.data = bench.sends[1][-1].data[: len(expected.data)].ljust(len(expected.data) + 99, b"\0")
            for _ in range(100 if before else 0):
                await bench.step()
            bench.recvs[to] += [*first, expected]
            for _ in range(400):
                await bench.step()
            assert len(bench.reports) == 1, (eager, mine, theirs, counts, bench.reports)
            report = bench.reports[0]
            assert (report["port"], report["own"], report["peer"]) == (to, to, 1), report
            assert report["fault"] == (ELEMENT if mine != theirs else COUNT), report
            assert (report["mine"], report["my_count"]) == (TYPES[mine][0], counts[0]), report
            assert report["theirs"] == TYPES[theirs][0], report
            if not eager or (mine == theirs and counts[1] < counts[0]):
                assert report["their_count"] == counts[1], report
            elif mine == theirs:
                assert counts[0] < report["their_count"] <= counts[1] + 1, report
    bench = Bench(dut)
    await bench.begin()
    await bench.bind({0: 1}, 1)
    bench.sends[0].append(Message(0, 2, FITS[0], 4))
    for _ in range(50):
        await bench.step()
    assert [report["fault"] for report in bench.reports] == [PEER], bench.reports
    assert bench.reports[0]["my_count"] == address(2) and bench.reports[0]["their_count"] == address(1)
    # A receiver that is bound to another sender reports it too.
    bench = Bench(dut)
    await bench.begin()
    await bench.bind({0: 1}, 1)
    bench.recvs[1].append(Message(2, 1, FITS[0], 4))
    for _ in range(50):
        await bench.step()
    assert [report["fault"] for report in bench.reports] == [PEER], bench.reports


@cocotb.test()
async def invalid_packets_are_dropped(dut: HierarchyObject) -> None:
    """Packets that no port could have sent are dropped whole and counted; a concurrent channel is not affected."""
    bench = Bench(dut)
    await bench.begin()
    await bench.bind({0: 1, 1: 0}, 4)
    strange = 0
    for at in range(60):
        bench.add(message(at % 2, 1 - at % 2, 100))
        port = random.randrange(PORTS)

        def head(op: int, valid: int, source: int, account: int, to: int = port) -> int:
            return source << 24 | 1 << 21 | account << 16 | to << 8 | op << 5 | valid

        body = random.getrandbits(128)
        choice = random.randrange(10)
        if choice == 0:  # elements of a sender without credits
            bench.raw += [raw_flit(3, False, 1, port, head(DATA, 16, 7, 4))]
            bench.raw += [raw_flit(0, last, 1, port, body) for last in (False, False, True)]
        elif choice == 1:  # of another account
            bench.raw += [raw_flit(3, True, 1, port, body >> 32 << 32 | head(CLOSE, 3, port ^ 1, 9))]
        elif choice == 2:  # longer than a short packet may be
            bench.raw += [raw_flit(3, True, 1, 0, head(DATA, 13, 1, 4, 0))]
        elif choice == 3:  # no header
            bench.raw += [raw_flit(0, True, 1, port, body)]
        elif choice == 4:  # an ask of more than a flit
            bench.raw += [raw_flit(3, False, 1, port, head(ASK, 0, 2, 4)), raw_flit(0, True, 1, port, body)]
        elif choice == 5:  # an ask at a bound port
            bench.raw += [raw_flit(3, True, 1, 0, head(ASK, 0, 1, 4, 0))]
        elif choice == 6:  # elements where credits travel
            bench.raw += [raw_flit(3, True, 2, port, head(DATA, 3, 1, 4))]
        elif choice == 7:  # credits of two flits, the second like credits of one
            credits = 5 << 32 | head(CREDIT, 0, 1, 4, 0)
            bench.raw += [raw_flit(3, False, 2, 0, credits), raw_flit(0, True, 2, 0, credits)]
        elif choice == 8:  # an undefined operation
            op = random.randrange(4, 8)
            bench.raw += [raw_flit(3, True, random.choice([1, 2]), port, head(op, 3, 1, 4))]
        else:  # for a nonexistent port, or one of the other endpoint
            to = random.choice([port ^ PORTS // 2, *range(PORTS, 256)])
            bench.raw += [raw_flit(3, True, 1, port, head(CLOSE, 3, port ^ 1, 4, to))]
        strange += 2
        # Credits of an old account are ignored.
        bench.raw += [raw_flit(3, True, 2, 0, 5 << 32 | head(CREDIT, 0, 1, 31, 0))]
    await run(bench)
    for _ in range(300):
        await bench.step()
    assert not bench.raw
    assert bench.dropped == strange, f"{bench.dropped} of {strange} packets were dropped"
    assert not bench.reports


@cocotb.test()
async def multi_flit_credit_grants_nothing(dut: HierarchyObject) -> None:
    """A sender without credits sends nothing after the second flit of a credit packet whose first was dropped."""
    bench = Bench(dut)
    await bench.begin()
    await bench.bind({0: 1}, 4)
    one = Message(0, 1, FITS[0], (DEPTH + 8) * 16 // TYPES[FITS[0]][1])
    bench.sends[0].append(one)
    for _ in range((DEPTH + 8) * 16 // beat_bytes(FITS[0]) + 200):
        await bench.step()
    assert bench.credit[0, 1] == 0
    credits = 5 << 32 | 1 << 24 | 1 << 21 | 4 << 16 | CREDIT << 5
    bench.raw += [raw_flit(3, False, 2, 0, credits), *[raw_flit(0, last, 2, 0, credits) for last in (False, True)]]
    for _ in range(200):
        await bench.step()  # a flit without a credit fails
    assert bench.dropped == 1 and not bench.raw
    bench.recvs[1].append(one)
    await bench.finish()
    assert bench.done[1] == 1 and not bench.reports


@cocotb.test()
async def packets_of_the_previous_binding_are_dropped(dut: HierarchyObject) -> None:
    """A receiver faults within a packet and is bound to another rank in any later cycle: the rest is dropped."""
    bench = Bench(dut)
    await bench.begin()
    to, kind = PORTS - 1, FITS[0]
    account = 0
    # The fault occurs when the second flit is read: at most the flits of one packet are still in flight.
    for wait in range(PACKET + 24):
        account = account % 15 + 1
        await bench.rebind(0, to, 2 * account)
        long = Message(0, to, kind, DEPTH * 16 // TYPES[kind][1])
        bench.sends[0].append(long)
        # The bytes of the first flit and one more element.
        expected = Message(0, to, kind, 16 // TYPES[kind][1] + 1)
        expected.data = long.data[: len(expected.data)]
        bench.recvs[to].append(expected)
        bench.reports.clear()
        for _ in range(DEPTH * 16 // beat_bytes(kind) + 200):
            await bench.step()
            if bench.reports:
                break
        assert [report["fault"] for report in bench.reports] == [COUNT], (wait, bench.reports)
        bench.receiving[to] = None
        for _ in range(wait):
            await bench.step()
        await bench.rebind(2, to, 2 * account + 1)
        bench.add(message(2, to, DEPTH * 16 // TYPES[kind][1]))
        await bench.finish()
        for _ in range(160):
            await bench.step()
        assert len(bench.reports) == 1, (wait, bench.reports)


@cocotb.test()
async def second_ask_is_dropped(dut: HierarchyObject) -> None:
    """A rank asks again before it was answered: its first ask remains valid."""
    bench = Bench(dut)
    await bench.begin()
    word = 1 << 24 | 1 << 21 | 0 << 8 | ASK << 5
    bench.raw += [raw_flit(3, True, 1, 0, address(1) << 64 | count << 32 | word) for count in (7, 8)]
    for _ in range(40):
        await bench.step()
    assert bench.dropped == 1
    bench.recvs[0].append(Message(1, 0, "int" if BYTES >= 4 else FITS[0], 9))
    for _ in range(40):
        await bench.step()
    assert bench.reports and bench.reports[0]["their_count"] == 7, bench.reports


@cocotb.test()
async def binding_releases_halted_ports(dut: HierarchyObject) -> None:
    """Mismatched ends, waiting kernels and packets in flight, at any time: after binding all ports nothing of them
    remains, on request or eager, and other messages are transferred."""
    bench = Bench(dut)
    await bench.begin()
    account, pairs = 0, dict[int, int]()
    stood = 0
    for _ in range(max(MESSAGES // 2, 20)):
        # The fault: the other end opens another count, or nothing, or waits for a rank that does not send.
        for source in range(PORTS):
            to = pairs.get(source, random.randrange(PORTS))
            one = message(source, to, 20 * DEPTH)
            choice = random.randrange(4)
            if choice != 0:
                bench.sends[source].append(one)
            if choice != 1 and not bench.recvs[to] and (not pairs or pairs.get(source) == to):
                other = Message(source, to, one.kind, one.count + random.choice([0, 1, 7]))
                other.data = one.data.ljust(len(other.data), b"\0")
                bench.recvs[to].append(other)
        phases(bench)
        for _ in range(random.choice([0, 1, 3, 10, 40, 200, 300])):
            await bench.step()
        # Often within a packet.
        for _ in range(random.choice([0, 200])):
            if any(wire.inside is not None for wire in bench.wires):
                break
            await bench.step()
        stood += bench.pending() > 0
        account = account % 31 + 1
        pairs = random.choice([{}, dict(enumerate(random.sample(range(PORTS), PORTS)))])
        await bench.bind(pairs, account)
        bench.forget()
        for _ in range(PORTS):
            source = random.randrange(PORTS)
            bench.add(message(source, pairs.get(source, random.randrange(PORTS))))
        await bench.finish()
        for _ in range(random.choice([0, 60])):
            await bench.step()
        assert not bench.reports, bench.reports
    assert stood > 5


@cocotb.test()
async def report_is_held_until_accepted(dut: HierarchyObject) -> None:
    """It is not accepted, and the port is bound again and continues; later faults do not replace it."""
    bench = Bench(dut)
    await bench.begin()
    to = PORTS - 1
    dut.report_ready_i.value = 0
    for account, count in enumerate((5, 6), 1):
        bench.sends[0].append(Message(0, to, FITS[0], 4))
        bench.recvs[to].append(Message(0, to, FITS[0], count))
        for _ in range(60):
            await bench.step()
        assert int(dut.report_valid_o.value) == 2
        await bench.bind({}, account)
        bench.forget()
        bench.add(message(0, to))
        await bench.finish()
    dut.report_ready_i.value = 3
    for _ in range(10):
        await bench.step()
    assert [report["my_count"] for report in bench.reports] == [5], bench.reports


@cocotb.test()
async def nonexistent_rank_is_reported(dut: HierarchyObject) -> None:
    """A channel from a rank that has no slot for its ask would wait forever."""
    bench = Bench(dut)
    await bench.begin()
    for account, source in enumerate((PORTS, 200, 255), 1):
        bench.recvs[0].append(Message(source, 0, FITS[0], 3))
        for _ in range(100):
            await bench.step()
        assert len(bench.reports) == 1, bench.reports
        report = bench.reports[0]
        assert (report["fault"], report["port"], report["peer"]) == (PEER, 0, source), report
        assert (report["my_count"], report["their_count"]) == (source, PORTS), report
        await bench.bind({}, account)
        bench.forget()
        bench.add(message(1, 0))
        await bench.finish()
    assert not bench.reports


@cocotb.test()
async def binding_in_any_cycle_keeps_packets_whole(dut: HierarchyObject) -> None:
    """In each cycle after a message is opened, asked or eager: no packet is cut off, the next message is whole."""
    bench = Bench(dut)
    await bench.begin()
    to, account = PORTS - 1, 0
    for eager in (False, True):
        for wait in range(PACKET * 16 // BYTES + 30 if BYTES == 16 else 3 * PACKET):
            account = account % 31 + 1
            await bench.bind({0: to} if eager else {}, account)
            bench.add(Message(0, to, FITS[0], 4 * PACKET * 16 // TYPES[FITS[0]][1]))
            for _ in range(wait):
                await bench.step()
            account = account % 31 + 1
            await bench.bind({0: to} if eager else {}, account)
            bench.forget()
            bench.add(message(0, to, 60))
            await bench.finish()
    assert not bench.reports
