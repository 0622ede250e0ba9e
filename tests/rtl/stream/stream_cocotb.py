# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of streaming ports: two endpoints at a switch, kernels that stall. Judged by lists of messages, and by a
reader of packets that knows the page alone (docs/hardware/stream.md)."""

from __future__ import annotations

import os
import random
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge, ReadOnly

MESSAGES = int(os.environ.get("STREAM_MESSAGES", "60"))
PORTS = int(os.environ.get("STREAM_PORTS", "4"))
BYTES = int(os.environ.get("STREAM_BYTES", "4"))
DEPTH = int(os.environ.get("STREAM_DEPTH", "64"))
PACKET = int(os.environ.get("STREAM_PACKET", "32"))
BOARD = 3
TYPES = {
    "int": (1, 4), "float": (2, 4), "double": (3, 8), "char": (4, 1), "short": (5, 2), "long": (6, 8), "half": (7, 2),
}  # fmt: skip
FITS = [name for name, (_, size) in TYPES.items() if size <= BYTES]
DATA, ASK, CREDIT, CLOSE = range(4)
REQUEST, REPLY = 2, 4  # channels
ELEMENT, COUNT, PEER = 1, 2, 3  # faults


def address(port: int) -> int:
    return 2 << 29 | BOARD << 14 | port


@dataclass
class Message:
    source: int
    to: int
    kind: str
    count: int
    data: bytes = b""

    def __post_init__(self) -> None:
        self.data = random.randbytes(self.count * TYPES[self.kind][1])


def message(source: int, to: int, longest: int = 400) -> Message:
    kind = random.choice(FITS)
    count = random.choice([0, 1, 1, 2, 3, random.randrange(20), random.randrange(longest)])
    return Message(source, to, kind, count)


@dataclass
class Wire:
    """What the packets of one endpoint's ports say: read flit by flit."""

    inside: tuple[int, int, int] | None = None  # header, destination, bytes of body so far
    kinds: Counter[str] = field(default_factory=Counter)
    sizes: Counter[int] = field(default_factory=Counter)


class Bench:
    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.sends: list[deque[Message]] = [deque() for _ in range(PORTS)]
        self.recvs: list[deque[Message]] = [deque() for _ in range(PORTS)]
        self.sending: list[tuple[Message, int] | None] = [None] * PORTS
        self.receiving: list[tuple[Message, int] | None] = [None] * PORTS
        self.gives: Callable[[int], bool] = lambda port: True
        self.takes: Callable[[int], bool] = lambda port: True
        self.done = [0] * PORTS
        self.reports: list[dict[str, int]] = []
        self.refused = self.now = self.nobody = 0
        self.wires = [Wire(), Wire()]
        # By sending port: flits that it was given credits for less those that it used; the lane where it goes on.
        self.credit = [0] * PORTS
        self.lane = [0] * PORTS
        self.bound: dict[int, int] = {}
        self.first: dict[int, int] = {}
        self.raw: deque[int] = deque()
        self.raw_credits = 8
        self.counts = {"asks": 0, "flits": 0, "short": 0}

    async def begin(self) -> None:
        dut = self.dut
        for name in ("send_bind_valid", "recv_bind_valid", "send_open_valid", "s_valid", "recv_open_valid", "m_ready",
                     "raw_valid", "raw", "send_open", "recv_open", "s_data", "send_bind", "recv_bind"):  # fmt: skip
            getattr(dut, f"{name}_i").value = 0
        dut.report_ready_i.value = 3
        dut.rst_ni.value = 0
        cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
        for _ in range(4):
            await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        for _ in range(100):
            await FallingEdge(dut.clk_i)
            if int(dut.ready_o.value):
                return
        raise AssertionError("the switch is not ready")

    async def bind(self, pairs: dict[int, int], account: int = 0) -> None:
        """Sender to receiver, eagerly; all other halves ask."""
        send = recv = 0
        for port in range(PORTS):
            eager = port in pairs
            word = eager << 53 | account << 48 | (address(pairs[port]) if eager else 0) << 16 | (DEPTH if eager else 0)
            send |= word << 54 * port
            source = next((one for one, to in pairs.items() if to == port), None)
            word = account << 40
            if source is not None:
                word |= 1 << 45 | source << 32 | address(source)
            recv |= word << 46 * port
            self.credit[port] = DEPTH if eager else 0
        self.bound = dict(pairs)
        self.dut.send_bind_i.value = send
        self.dut.recv_bind_i.value = recv
        self.dut.send_bind_valid_i.value = self.dut.recv_bind_valid_i.value = (1 << PORTS) - 1
        await FallingEdge(self.dut.clk_i)
        self.dut.send_bind_valid_i.value = self.dut.recv_bind_valid_i.value = 0

    async def rebind(self, source: int, to: int, account: int, send: bool = True, eager: bool = True) -> None:
        """One pair, whatever the other halves do: the receiving half, and the sending one too if `send`."""
        bound = 1 << 53 | address(to) << 16 | DEPTH if eager else 0
        self.dut.send_bind_i.value = (bound | account << 48) << 54 * source
        self.dut.recv_bind_i.value = (eager << 45 | account << 40 | source << 32 | address(source)) << 46 * to
        self.dut.send_bind_valid_i.value = send << source
        self.dut.recv_bind_valid_i.value = 1 << to
        if send:
            self.credit[source] = DEPTH if eager else 0
            self.bound.pop(source, None)
            if eager:
                self.bound[source] = to
        await self.step()
        self.dut.send_bind_valid_i.value = self.dut.recv_bind_valid_i.value = 0

    def add(self, one: Message) -> None:
        self.sends[one.source].append(one)
        self.recvs[one.to].append(one)

    def pending(self) -> int:
        return (
            sum(map(len, self.sends))
            + sum(map(len, self.recvs))
            + sum(one is not None for one in (*self.sending, *self.receiving))
        )

    async def step(self) -> None:
        dut = self.dut
        send_open = send_word = recv_open = recv_word = valid = data = ready = 0
        for port in range(PORTS):
            if self.sending[port] is None and self.sends[port]:
                one = self.sends[port][0]
                send_open |= 1 << port
                send_word |= (TYPES[one.kind][0] << 72 | port << 64 | address(one.to) << 32 | one.count) << 75 * port
            # Also while the last elements of the channel before come.
            if self.recvs[port]:
                one = self.recvs[port][0]
                recv_open |= 1 << port
                recv_word |= (TYPES[one.kind][0] << 48 | port << 40 | one.source << 32 | one.count) << 51 * port
            # An element may be there before its channel is open.
            going = self.sending[port] or ((self.sends[port][0], 0) if self.sends[port] else None)
            if going is not None and going[1] < len(going[0].data) and (self.offered >> port & 1 or self.gives(port)):
                valid |= 1 << port
                beat = going[0].data[going[1] : going[1] + BYTES]
                data |= int.from_bytes(beat.ljust(BYTES, b"\xa5"), "little") << 8 * BYTES * port
            if self.takes(port):
                ready |= 1 << port
        dut.send_open_valid_i.value, dut.send_open_i.value = send_open, send_word
        dut.recv_open_valid_i.value, dut.recv_open_i.value = recv_open, recv_word
        dut.s_valid_i.value, dut.s_data_i.value, dut.m_ready_i.value = valid, data, ready
        raw = self.raw.popleft() if self.raw and self.raw_credits else None
        dut.raw_valid_i.value = 0 if raw is None else (1 << REQUEST if raw >> 168 & 3 == 1 else 1 << REPLY)
        dut.raw_i.value = raw or 0
        await ReadOnly()
        self.raw_credits += bool(int(dut.raw_credit_o.value)) - (raw is not None)
        s_ready, opened = int(dut.s_ready_o.value), send_open & int(dut.send_open_ready_o.value)
        taken = recv_open & int(dut.recv_open_ready_o.value)
        self.offered = valid & ~s_ready
        m_valid, m_data = int(dut.m_valid_o.value), int(dut.m_data_o.value)
        m_keep, m_last = int(dut.m_keep_o.value), int(dut.m_last_o.value)
        wires, flits = int(dut.wire_valid_o.value), int(dut.wire_o.value)
        for port in range(PORTS):
            if opened >> port & 1:
                self.sending[port] = (self.sends[port].popleft(), 0)
            going = self.sending[port]
            if going is not None:
                at = going[1] + (BYTES if valid & s_ready & 1 << port else 0)
                self.sending[port] = None if at >= len(going[0].data) else (going[0], at)
            assert going is not None or not valid & s_ready & 1 << port, f"port {port}: an element without a channel"
            if m_valid & ready & 1 << port:
                self.first.setdefault(port, self.now)
                self.take(port, m_data >> 8 * BYTES * port, m_keep >> BYTES * port, m_last >> port & 1)
            if taken >> port & 1:
                assert self.receiving[port] is None, f"port {port}: a second channel"
                self.receiving[port] = (self.recvs[port].popleft(), 0)
            going = self.receiving[port]
            if going is not None and not going[0].data:
                self.receiving[port] = None
                self.done[port] += 1
        for end in range(2):
            if wires >> 8 * end & 0xFF:
                self.read(end, wires >> 8 * end & 0xFF, flits >> 173 * end & (1 << 173) - 1)
        for end in range(2):
            if int(dut.report_valid_o.value) & int(dut.report_ready_i.value) & 1 << end:
                self.note(int(dut.report_o.value) >> 161 * end & (1 << 161) - 1)
        self.refused += int(dut.refused_o.value).bit_count()
        self.nobody += int(dut.nobody_o.value).bit_count()
        self.now += 1
        await FallingEdge(dut.clk_i)

    offered = 0

    def note(self, bits: int) -> None:
        widths = (("fault", 3), ("port", 8), ("own", 8), ("peer", 8), ("mine", 3), ("theirs", 3), ("my_count", 32),
                  ("their_count", 32), ("my_tag", 32), ("their_tag", 32))  # fmt: skip
        report, left = {}, 161
        for name, width in widths:
            left -= width
            report[name] = bits >> left & (1 << width) - 1
        self.reports.append(report)

    def take(self, port: int, data: int, keep: int, last: int) -> None:
        going = self.receiving[port]
        assert going is not None, f"port {port}: an element for no channel"
        one, at = going
        wanted = one.data[at : at + BYTES]
        keep &= (1 << BYTES) - 1
        assert keep == (1 << len(wanted)) - 1, f"port {port}: keep {keep:b} for {len(wanted)} bytes"
        came = (data & (1 << 8 * len(wanted)) - 1).to_bytes(len(wanted), "little")
        assert came == wanted, f"port {port}: {came.hex()} instead of {wanted.hex()} at {at} of {len(one.data)}"
        assert last == (at + BYTES >= len(one.data)), f"port {port}: last is {last} at {at} of {len(one.data)}"
        self.receiving[port] = (one, at + BYTES)
        if last:
            self.receiving[port] = None
            self.done[port] += 1

    def read(self, end: int, channel: int, bits: int) -> None:
        """A flit that an endpoint gives the switch: its packet is as the page says, and its flits have credits."""
        kind, last, vnet, job = bits >> 171, bits >> 170 & 1, bits >> 168 & 3, bits >> 163 & 31
        dest, payload = bits >> 128 & 0xFFFFFFFF, bits & (1 << 128) - 1
        wire = self.wires[end]
        assert job == 9 and channel == 1 << 2 * vnet and vnet in (1, 2)
        word = payload & 0xFFFFFFFF
        source, port, op, valid = word >> 24, word >> 8 & 0xFF, word >> 5 & 7, word & 31
        if vnet == 2:
            assert kind == 3 and last and op == CREDIT and dest == address(port)
            assert payload >> 32 & 0xFFFF > 0 and payload >> 48 == 0
            self.credit[port] += payload >> 32 & 0xFFFF
            assert self.credit[port] <= DEPTH
            wire.kinds["credit"] += 1
            return
        if wire.inside is None:
            assert kind == 3 and dest == address(port)
            if op == ASK:
                assert last and payload >> 64 & 0xFFFFFFFF == address(source) and payload >> 96 == 0
                assert source not in self.bound, "a sender with standing credits asks"
                wire.kinds["ask"] += 1
            elif last:
                assert valid <= 12 and self.lane[source] == 0
                self.use(source, 1)
                self.lane[source] = 0 if op == CLOSE else valid
                wire.kinds["short"] += 1
            else:
                assert payload >> 32 == 0 and 1 <= valid <= 16
                wire.inside = (word, dest, 0)
            return
        header, to, flits = wire.inside
        source, op, valid = header >> 24, header >> 5 & 7, header & 31
        assert kind == 0 and dest == to
        self.use(source, int(flits > 0 or self.lane[source] == 0))
        wire.inside = (header, to, flits + 1)
        if last:
            assert flits + 1 <= PACKET
            assert flits > 0 or valid > self.lane[source], "a packet without an element"
            self.lane[source] = 0 if op == CLOSE else valid % 16
            wire.inside = None
            wire.kinds["long"] += 1
            wire.sizes[flits + 1] += 1

    def use(self, source: int, flits: int) -> None:
        self.credit[source] -= flits
        assert self.credit[source] >= 0, f"port {source} has sent a flit without a credit"

    async def finish(self, cycles: int = 30_000) -> None:
        self.gives = self.takes = lambda port: True
        for _ in range(cycles):
            if not self.pending():
                return
            await self.step()
        raise AssertionError(f"{self.pending()} messages are not through after {cycles} cycles: {self.sending}"[:900])


def phases(bench: Bench) -> None:
    """Kernels in phases of other odds: floods, droughts and full stops among them."""
    odds = [[1.0] * PORTS, [1.0] * PORTS]
    left = 0

    def change() -> None:
        nonlocal left
        if left == 0:
            left = random.randrange(20, 400)
            for half in odds:
                half[:] = [random.choice([0.0, 0.03, 0.3, 0.8, 1.0, 1.0]) for _ in range(PORTS)]
        left -= 1

    def gives(port: int) -> bool:
        if port == 0:
            change()
        return random.random() < odds[0][port]

    bench.gives = gives
    bench.takes = lambda port: random.random() < odds[1][port]


async def run(bench: Bench, cycles: int = 400 * MESSAGES + 20_000) -> None:
    phases(bench)
    for at in range(cycles):
        if not bench.pending():
            break
        assert not bench.reports, bench.reports
        if at == cycles // 2:
            bench.gives = bench.takes = lambda port: True
        await bench.step()
    assert not bench.pending(), f"{bench.pending()} messages are not through"


async def settled(bench: Bench) -> None:
    for _ in range(60):
        await bench.step()
    assert not bench.reports and not bench.refused and not bench.nobody, (bench.reports, bench.refused, bench.nobody)


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


@cocotb.test()
async def disagreements_are_reported(dut: HierarchyObject) -> None:
    """Types and counts of the two ends, asked and eager, and behind right messages of one element that wait together;
    then a binding frees the ports again."""
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
    # A receiver that is bound to another one says so too.
    bench = Bench(dut)
    await bench.begin()
    await bench.bind({0: 1}, 1)
    bench.recvs[1].append(Message(2, 1, FITS[0], 4))
    for _ in range(50):
        await bench.step()
    assert [report["fault"] for report in bench.reports] == [PEER], bench.reports


def raw_flit(kind: int, last: bool, vnet: int, to: int, payload: int) -> int:
    return kind << 171 | last << 170 | vnet << 168 | 9 << 163 | address(to) << 128 | payload


@cocotb.test()
async def strange_packets_are_refused(dut: HierarchyObject) -> None:
    """Packets that no port could have sent are dropped whole and counted; a channel that flows meanwhile is as ever."""
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
        if choice == 0:  # elements of somebody without credits
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
        elif choice == 8:  # an operation that there is not
            op = random.randrange(4, 8)
            bench.raw += [raw_flit(3, True, random.choice([1, 2]), port, head(op, 3, 1, 4))]
        else:  # for a port of nobody's, or of the other endpoint
            to = random.choice([port ^ PORTS // 2, *range(PORTS, 256)])
            bench.raw += [raw_flit(3, True, 1, port, head(CLOSE, 3, port ^ 1, 4, to))]
        strange += 2
        # Credits of an old account are nobody's.
        bench.raw += [raw_flit(3, True, 2, 0, 5 << 32 | head(CREDIT, 0, 1, 31, 0))]
    await run(bench)
    for _ in range(300):
        await bench.step()
    assert not bench.raw
    assert bench.refused == strange, f"{bench.refused} of {strange} packets were refused"
    assert not bench.reports


@cocotb.test()
async def credits_come_in_packets_of_one_flit(dut: HierarchyObject) -> None:
    """A sender without credits sends nothing for the second flit of a packet whose first was refused."""
    bench = Bench(dut)
    await bench.begin()
    await bench.bind({0: 1}, 4)
    one = Message(0, 1, FITS[0], (DEPTH + 8) * 16 // TYPES[FITS[0]][1])
    bench.sends[0].append(one)
    for _ in range((DEPTH + 8) * 16 // BYTES + 200):
        await bench.step()
    assert bench.credit[0] == 0
    credits = 5 << 32 | 1 << 24 | 1 << 21 | 4 << 16 | CREDIT << 5
    bench.raw += [raw_flit(3, False, 2, 0, credits), *[raw_flit(0, last, 2, 0, credits) for last in (False, True)]]
    for _ in range(200):
        await bench.step()  # a flit without a credit fails
    assert bench.refused == 1 and not bench.raw
    bench.recvs[1].append(one)
    await bench.finish()
    assert bench.done[1] == 1 and not bench.reports


@cocotb.test()
async def nothing_of_the_last_binding_comes_into_the_next(dut: HierarchyObject) -> None:
    """A receiver faults in a packet and is bound to another rank in each cycle behind: none of the rest comes there."""
    bench = Bench(dut)
    await bench.begin()
    to, kind = PORTS - 1, FITS[0]
    account = 0
    # The fault comes when the second flit is read: at most a packet's flits are still to come.
    for wait in range(PACKET + 24):
        account = account % 15 + 1
        await bench.rebind(0, to, 2 * account)
        bench.lane[0] = 0
        long = Message(0, to, kind, DEPTH * 16 // TYPES[kind][1])
        bench.sends[0].append(long)
        # As many bytes as the first flit and one element more.
        expected = Message(0, to, kind, 16 // TYPES[kind][1] + 1)
        expected.data = long.data[: len(expected.data)]
        bench.recvs[to].append(expected)
        bench.reports.clear()
        for _ in range(DEPTH * 16 // BYTES + 200):
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
async def a_second_ask_is_refused(dut: HierarchyObject) -> None:
    """A rank asks again before it was answered: its first ask stands."""
    bench = Bench(dut)
    await bench.begin()
    word = 1 << 24 | 1 << 21 | 0 << 8 | ASK << 5
    bench.raw += [raw_flit(3, True, 1, 0, address(1) << 64 | count << 32 | word) for count in (7, 8)]
    for _ in range(40):
        await bench.step()
    assert bench.refused == 1
    bench.recvs[0].append(Message(1, 0, "int" if BYTES >= 4 else FITS[0], 9))
    for _ in range(40):
        await bench.step()
    assert bench.reports and bench.reports[0]["their_count"] == 7, bench.reports
