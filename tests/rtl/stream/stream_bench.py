# SPDX-License-Identifier: Apache-2.0
"""Driver of pair_top for cocotb: kernels that stall, lists of messages, and a packet parser written from
docs/hardware/stream.md alone."""

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
ELEMENT_BEATS = os.environ.get("STREAM_ELEMENT_BEATS") == "1"
"""A beat is one element of the message, not BYTES bytes."""
VOQ_DEPTH = int(os.environ.get("STREAM_VOQ_DEPTH", "0"))
"""Flits of a rank's virtual output queue."""
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


def beat_bytes(kind: str) -> int:
    """Bytes of a beat of elements of a type."""
    return TYPES[kind][1] if ELEMENT_BEATS else BYTES


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
    """Parses the packets of one endpoint's ports, flit by flit."""

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
        self.dropped = self.now = self.unroutable = 0
        self.wires = [Wire(), Wire()]
        # By sending port and receiver: granted minus used credits, in flits; the lane at which the sender continues.
        self.credit: Counter[tuple[int, int]] = Counter()
        self.lane: Counter[tuple[int, int]] = Counter()
        self.bound: dict[int, int] = {}
        # By port: the current binding. Packets in flight of an older one are ignored.
        self.accounts = [0] * PORTS
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
        """Binds senders to receivers eagerly; all other halves ask for credits."""
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
        # Packets of this cycle belong to the previous binding.
        freed = Counter(dict.fromkeys(pairs.items(), DEPTH))
        self.dut.send_bind_i.value = send
        self.dut.recv_bind_i.value = recv
        self.dut.send_bind_valid_i.value = self.dut.recv_bind_valid_i.value = (1 << PORTS) - 1
        await self.step()
        self.dut.send_bind_valid_i.value = self.dut.recv_bind_valid_i.value = 0
        self.bound, self.credit, self.lane, self.accounts = dict(pairs), freed, Counter(), [account] * PORTS

    def forget(self) -> None:
        """Kernels drop their open channels and their remaining messages."""
        self.sending, self.receiving = [None] * PORTS, [None] * PORTS
        for one in (*self.sends, *self.recvs):
            one.clear()
        self.offered = 0
        self.reports.clear()

    async def rebind(self, source: int, to: int, account: int, send: bool = True, eager: bool = True) -> None:
        """Binds one pair, whatever the other halves do: the receiving half, and also the sending half if `send`."""
        bound = 1 << 53 | address(to) << 16 | DEPTH if eager else 0
        self.dut.send_bind_i.value = (bound | account << 48) << 54 * source
        self.dut.recv_bind_i.value = (eager << 45 | account << 40 | source << 32 | address(source)) << 46 * to
        self.dut.send_bind_valid_i.value = send << source
        self.dut.recv_bind_valid_i.value = 1 << to
        await self.step()
        self.dut.send_bind_valid_i.value = self.dut.recv_bind_valid_i.value = 0
        if send:
            for one in (self.credit, self.lane):
                for pair in [pair for pair in one if pair[0] == source]:
                    del one[pair]
            self.credit[source, to], self.accounts[source] = DEPTH if eager else 0, account
            self.bound.pop(source, None)
            if eager:
                self.bound[source] = to

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
                word = one.to << 75 | TYPES[one.kind][0] << 72 | port << 64 | address(one.to) << 32 | one.count
                send_word |= word << 83 * port
            # Also while the last elements of the previous channel arrive.
            if self.recvs[port]:
                one = self.recvs[port][0]
                recv_open |= 1 << port
                recv_word |= (TYPES[one.kind][0] << 48 | port << 40 | one.source << 32 | one.count) << 51 * port
            # An element may be offered before its channel is open.
            going = self.sending[port] or ((self.sends[port][0], 0) if self.sends[port] else None)
            if going is not None and going[1] < len(going[0].data) and (self.offered >> port & 1 or self.gives(port)):
                valid |= 1 << port
                beat = going[0].data[going[1] : going[1] + beat_bytes(going[0].kind)]
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
                at = going[1] + (beat_bytes(going[0].kind) if valid & s_ready & 1 << port else 0)
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
        self.dropped += int(dut.dropped_o.value).bit_count()
        self.unroutable += int(dut.unroutable_o.value).bit_count()
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
        assert going is not None, f"port {port}: an element without a receiving channel"
        one, at = going
        until = at + beat_bytes(one.kind)
        wanted = one.data[at:until]
        keep &= (1 << BYTES) - 1
        assert keep == (1 << len(wanted)) - 1, f"port {port}: keep {keep:b} for {len(wanted)} bytes"
        came = (data & (1 << 8 * len(wanted)) - 1).to_bytes(len(wanted), "little")
        assert came == wanted, f"port {port}: {came.hex()} instead of {wanted.hex()} at {at} of {len(one.data)}"
        assert last == (until >= len(one.data)), f"port {port}: last is {last} at {at} of {len(one.data)}"
        self.receiving[port] = (one, until)
        if last:
            self.receiving[port] = None
            self.done[port] += 1

    def read(self, end: int, channel: int, bits: int) -> None:
        """A flit from an endpoint to the switch: its packet must follow the page, and its flits must have credits."""
        kind, last, vnet, job = bits >> 171, bits >> 170 & 1, bits >> 168 & 3, bits >> 163 & 31
        dest, payload = bits >> 128 & 0xFFFFFFFF, bits & (1 << 128) - 1
        wire = self.wires[end]
        assert job == 9 and channel == 1 << 2 * vnet and vnet in (1, 2)
        word = payload & 0xFFFFFFFF
        source, port, op, valid = word >> 24, word >> 8 & 0xFF, word >> 5 & 7, word & 31
        if vnet == 2:
            assert kind == 3 and last and op == CREDIT and dest == address(port)
            assert payload >> 32 & 0xFFFF > 0 and payload >> 48 == 0
            if word >> 16 & 31 == self.accounts[port]:
                self.credit[port, source] += payload >> 32 & 0xFFFF
            assert self.credit[port, source] <= DEPTH
            wire.kinds["credit"] += 1
            return
        if wire.inside is None:
            current = word >> 16 & 31 == self.accounts[source]
            assert kind == 3 and dest == address(port)
            if op == ASK:
                assert last and payload >> 64 & 0xFFFFFFFF == address(source) and payload >> 96 == 0
                assert not current or source not in self.bound, "an eager sender asks for credits"
                wire.kinds["ask"] += 1
            elif last:
                assert valid <= 12
                if current:
                    assert self.lane[source, port] == 0
                    self.use(source, port, 1)
                    self.lane[source, port] = 0 if op == CLOSE else valid
                wire.kinds["short"] += 1
            else:
                assert payload >> 32 == 0 and 1 <= valid <= 16
                wire.inside = (word, dest, 0)
            return
        header, to, flits = wire.inside
        source, port, op, valid = header >> 24, header >> 8 & 0xFF, header >> 5 & 7, header & 31
        assert kind == 0 and dest == to
        current = header >> 16 & 31 == self.accounts[source]
        if current:
            self.use(source, port, int(flits > 0 or self.lane[source, port] == 0))
        wire.inside = (header, to, flits + 1)
        if last:
            assert flits + 1 <= PACKET
            if current:
                assert flits > 0 or valid > self.lane[source, port], "a packet without an element"
                self.lane[source, port] = 0 if op == CLOSE else valid % 16
            wire.inside = None
            wire.kinds["long"] += 1
            wire.sizes[flits + 1] += 1

    def use(self, source: int, to: int, flits: int) -> None:
        self.credit[source, to] -= flits
        assert self.credit[source, to] >= 0, f"port {source} has sent a flit to {to} without a credit"

    async def finish(self, cycles: int = 30_000) -> None:
        self.gives = self.takes = lambda port: True
        for _ in range(cycles):
            if not self.pending():
                return
            await self.step()
        raise AssertionError(f"{self.pending()} messages are incomplete after {cycles} cycles: {self.sending}"[:900])


def phases(bench: Bench) -> None:
    """Kernels in phases with different probabilities, including full rate, low rate and complete stalls."""
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
    assert not bench.pending(), f"{bench.pending()} messages are incomplete"


async def settled(bench: Bench) -> None:
    for _ in range(60):
        await bench.step()
    assert not bench.reports and not bench.dropped and not bench.unroutable, (
        bench.reports,
        bench.dropped,
        bench.unroutable,
    )


def raw_flit(kind: int, last: bool, vnet: int, to: int, payload: int) -> int:
    return kind << 171 | last << 170 | vnet << 168 | 9 << 163 | address(to) << 128 | payload
