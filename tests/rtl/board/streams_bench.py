# SPDX-License-Identifier: Apache-2.0
"""Driver of streams_top for cocotb: a host, tiles behind an exit of each board, and kernels whose elements
cocotbext-axi moves. A kernel is (board, port)."""

from __future__ import annotations

import logging
import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge, ReadOnly
from cocotbext.axi import AxiStreamBus, AxiStreamSink, AxiStreamSource

from gossamer.config import constants

FLIT = constants.layout("flit")
WIDTH = FLIT.bits
VNET, KIND, END, OP, WHY, WHAT = (
    constants.enumeration(name) for name in ("vnet", "flit_kind", "endpoint", "control_op", "rejection", "board_event")
)
BLOCK, REGISTER = constants.enumeration("register_block"), constants.enumeration("stream_register")
CUT = constants.enumeration("link_register")["cut"]
BYTES, DEPTH, PORTS, BOARDS, LINKS, EXITS, WINDOW = 8, 64, 2, 2, 2, 2, 8
NO_JOB = 31
LINK_PORT, HOST_PORT = EXITS, EXITS + LINKS + constants.enumeration("board_port")["host"]
TYPES = {"int": (1, 4), "double": (3, 8), "char": (4, 1), "short": (5, 2)}
Kernel = tuple[int, int]
KERNELS: list[Kernel] = [(board, port) for board in range(BOARDS) for port in range(PORTS)]


def index(kernel: Kernel) -> int:
    return kernel[0] * PORTS + kernel[1]


def stream_address(kernel: Kernel) -> int:
    return constants.layout("address_stream").pack(kind=END["stream"], board=kernel[0], port=kernel[1])


def register_address(block: str, unit: int, number: int) -> int:
    return constants.layout("register_address").pack(block=BLOCK[block], unit=unit, number=number)


def flit(vnet: str, kind: str, dest: int, payload: int, *, last: bool = True, job: int = 0) -> int:
    return FLIT.pack(kind=KIND[kind], last=last, vnet=VNET[vnet], job=job, dest=dest, payload=payload)


def header(port: int, *, op: int = 0, source: int = 0, account: int = 0) -> int:
    """The header of a stream packet, for its first flit."""
    return constants.layout("stream_header").pack(source=source, element=1, account=account, port=port, op=op, valid=4)


@dataclass
class Message:
    kind: str
    data: bytes


@dataclass
class Channel:
    """Packets of one virtual network that the test sends into an exit, and those that have left by it."""

    waiting: deque[int] = field(default_factory=deque)
    credits: int = WINDOW


class Bench:
    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.now = 0
        # Flits of packets to send by the host, by virtual network; packets that it has received
        self.host: list[deque[int]] = [deque() for _ in range(4)]
        self.received: list[list[dict[str, int]]] = [[] for _ in range(4)]
        self.host_inside: list[list[dict[str, int]]] = [[] for _ in range(4)]
        self.answers: deque[dict[str, int]] = deque()
        self.events: list[dict[str, int]] = []
        # The exit of each board, by virtual network
        self.exits = [[Channel() for _ in range(4)] for _ in range(BOARDS)]
        self.left: list[list[list[dict[str, int]]]] = [[[] for _ in range(4)] for _ in range(BOARDS)]
        self.exit_takes: Callable[[int], bool] = lambda board: True
        self.held: list[list[int]] = [[0] * 4 for _ in range(BOARDS)]
        # Requests of kernels to open channels
        self.opens: dict[str, dict[int, int]] = {"send": {}, "recv": {}}
        logging.getLogger("cocotb").setLevel(logging.WARNING)
        self.sources = [AxiStreamSource(AxiStreamBus.from_prefix(dut, f"s{k}_axis"), dut.clk_i) for k in range(4)]
        self.sinks = [AxiStreamSink(AxiStreamBus.from_prefix(dut, f"m{k}_axis"), dut.clk_i) for k in range(4)]

    async def begin(self, loss: float = 0.0) -> None:
        dut = self.dut
        for handle in dut:
            if handle._name.endswith("_i") and handle._name != "clk_i":
                handle.value = 0
        dut.rst_ni.value = 0
        dut.loss_i.value = round(loss * 2**20)
        cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
        for _ in range(4):
            await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        cocotb.start_soon(self.run())
        await self.until(lambda: int(dut.ready_o.value) == 3, 200, "the tables are not cleared")
        entry = constants.layout("switch_entry")
        link, host = entry.pack(valid=1, port=LINK_PORT), entry.pack(valid=1, port=HOST_PORT)
        home = constants.layout("address_host").pack(kind=END["host"], host=0)
        for board in range(BOARDS):
            self.control(board, "route", first=1 - board, count=1, entries=link)
            self.control(board, "route", first=(1 << 14) - 1, count=1, entries=link if board else host)
            self.control(board, "cluster", boards=BOARDS, hosts=1, host=home, burst=8)
            await self.answer("cluster")

    async def step(self) -> None:
        await FallingEdge(self.dut.clk_i)

    async def steps(self, count: int) -> None:
        for _ in range(count):
            await self.step()

    async def until(self, done: Callable[[], bool], cycles: int, what: str) -> None:
        for _ in range(cycles):
            if done():
                return
            await self.step()
        raise AssertionError(f"{what} after {cycles} cycles")

    # ------------------------------------------------------------ the wires
    async def run(self) -> None:
        """Drives and reads all ports except elements, in every cycle."""
        dut = self.dut
        turn = 0
        while True:
            # Host: one network in turn
            ready, chosen = int(dut.host_in_ready_o.value), None
            for net in range(4):
                at = (turn + net) % 4
                if self.host[at] and ready >> at & 1:
                    chosen = at
                    break
            dut.host_in_valid_i.value = 0 if chosen is None else 1 << chosen
            dut.host_in_i.value = 0 if chosen is None else self.host[chosen].popleft()
            turn += 1
            # Exits
            valid = flits = returned = 0
            for board in range(BOARDS):
                for net in sorted(range(4), key=lambda _: random.random()):
                    channel = self.exits[board][net]
                    if channel.waiting and channel.credits:
                        valid |= 1 << 4 * board + net
                        flits |= channel.waiting.popleft() << WIDTH * board
                        channel.credits -= 1
                        break
                for net in range(4):
                    if self.held[board][net] and self.exit_takes(board):
                        self.held[board][net] -= 1
                        returned |= 1 << 4 * board + net
            dut.exit_in_valid_i.value, dut.exit_in_i.value, dut.exit_out_credit_i.value = valid, flits, returned
            # Kernels
            opens = {}
            for half, width in (("send", 83), ("recv", 51)):
                wanted = self.opens[half]
                opens[half] = sum(1 << k for k in wanted)
                getattr(dut, f"{half}_open_valid_i").value = opens[half]
                getattr(dut, f"{half}_open_i").value = sum(word << width * k for k, word in wanted.items())
            await ReadOnly()
            for half in opens:
                done = opens[half] & int(getattr(dut, f"{half}_open_ready_o").value)
                for k in [k for k in self.opens[half] if done >> k & 1]:
                    del self.opens[half][k]
            if valid := int(dut.host_out_valid_o.value):
                self.note_host(valid.bit_length() - 1, FLIT.unpack(int(dut.host_out_o.value)))
            valid, credit = int(dut.exit_out_valid_o.value), int(dut.exit_in_credit_o.value)
            if valid or credit:
                flits = int(dut.exit_out_o.value) if valid else 0
                for board in range(BOARDS):
                    for net in range(4):
                        bit = 4 * board + net
                        self.exits[board][net].credits += credit >> bit & 1
                        if valid >> bit & 1:
                            self.held[board][net] += 1
                            self.left[board][net].append(FLIT.unpack(flits >> WIDTH * board & (1 << WIDTH) - 1))
            self.now += 1
            await FallingEdge(dut.clk_i)

    def note_host(self, net: int, one: dict[str, int]) -> None:
        assert one["vnet"] == net
        op = one["payload"] & 15
        if net == VNET["reply"] and one["kind"] == KIND["header"] and one["last"] and not self.host_inside[net]:
            if op == OP["answer"]:
                self.answers.append(constants.layout("control_answer").unpack(one["payload"]))
                return
            if op == OP["event"]:
                self.events.append(constants.layout("control_event").unpack(one["payload"]))
                return
        self.received[net].append(one)

    def seen(self, what: str) -> list[dict[str, int]]:
        """Events of a kind."""
        return [one for one in self.events if one["what"] == WHAT[what]]

    async def event(self, what: str, number: int) -> dict[str, int]:
        """The event of a kind with this number, from 0."""
        await self.until(lambda: len(self.seen(what)) > number, 4_000, f"{what} is not reported")
        return self.seen(what)[number]

    # -------------------------------------------------------------- control
    def control(self, board: int, op: str, *, of_job: int = 0, **fields: int) -> None:
        payload = constants.layout(f"control_{op}").pack(op_code=OP[op], **fields)
        dest = constants.layout("address_control").pack(kind=END["control"], board=board)
        self.host[VNET["control"]].append(flit("control", "body", dest, payload, job=of_job))

    async def answer(self, op: str, cycles: int = 8_000) -> dict[str, int]:
        """The next answer to an operation; answers to others are discarded."""
        for _ in range(cycles):
            while self.answers:
                found = self.answers.popleft()
                if found["asked"] == OP[op]:
                    return found
            await self.step()
        raise AssertionError(f"{op} is not answered; events: {self.events}")

    async def job(self, board: int, place: int, job: int, first: int, count: int, tiles: int = 0) -> int:
        """Sets a job slot; returns the rejection."""
        self.control(board, "job", place=place, job=job, first_stream=first, streams=count, tiles=tiles)
        return (await self.answer("job"))["rejection"]

    async def register(
        self, board: int, address: int, value: int | None = None, *, job: int = NO_JOB
    ) -> tuple[int, int]:
        """Reads or writes a register; returns the rejection and the value."""
        self.control(board, "register", of_job=job, address=address, write=value is not None, value=value or 0)
        found = await self.answer("register")
        assert found["board"] == board and found["address"] == address
        return found["rejection"], found["value"]

    async def port_register(self, kernel: Kernel, name: str) -> int:
        """A register of a streaming port."""
        rejection, value = await self.register(kernel[0], register_address("stream", kernel[1], REGISTER[name]))
        assert rejection == 0
        return value

    async def counter(self, board: int, name: str) -> int:
        self.control(board, "read", unit=31, counter=constants.enumeration("board_counter")[name])
        return (await self.answer("read"))["value"]

    async def bind(self, source: Kernel, to: Kernel, account: int, job: int) -> None:
        """Binds a sender to a receiver eagerly."""
        send = constants.layout("stream_send_bind").pack(eager=1, account=account, dest=stream_address(to), flits=DEPTH)
        recv = constants.layout("stream_recv_bind").pack(
            eager=1, account=account, source=index(source), reply=stream_address(source)
        )
        for kernel, name, value in ((to, "recv_bind", recv), (source, "send_bind", send)):
            address = register_address("stream", kernel[1], REGISTER[name])
            assert await self.register(kernel[0], address, value, job=job) == (0, 0)

    # --------------------------------------------------------------- streams
    def open_send(self, source: Kernel, to: Kernel, kind: str, count: int, dest: int | None = None) -> None:
        address = stream_address(to) if dest is None else dest
        word = index(to) << 75 | TYPES[kind][0] << 72 | index(source) << 64 | address << 32 | count
        self.opens["send"][index(source)] = word

    def open_recv(self, to: Kernel, source: Kernel, kind: str, count: int) -> None:
        self.opens["recv"][index(to)] = TYPES[kind][0] << 48 | index(to) << 40 | index(source) << 32 | count

    async def send(self, source: Kernel, to: Kernel, messages: list[Message]) -> None:
        """The kernel sends messages, one after another."""
        half = self.opens["send"]
        for one in messages:
            await self.until(lambda: index(source) not in half, 40_000, f"{source} cannot open a channel")
            self.open_send(source, to, one.kind, len(one.data) // TYPES[one.kind][1])
            await self.sources[index(source)].send(one.data.ljust(-(-len(one.data) // BYTES) * BYTES, b"\xa5"))

    async def receive(self, to: Kernel, source: Kernel, messages: list[Message]) -> int:
        """The kernel receives messages, and compares them; returns the cycle of the last element."""
        half = self.opens["recv"]
        for number, one in enumerate(messages):
            await self.until(lambda: index(to) not in half, 40_000, f"{to} cannot open a channel")
            self.open_recv(to, source, one.kind, len(one.data) // TYPES[one.kind][1])
            found = await self.sinks[index(to)].recv()
            assert bytes(found.tdata) == one.data, f"{to} from {source}: message {number} of {one.kind} differs"
        return self.now


def messages(count: int, longest: int = 1500) -> list[Message]:
    found = []
    for _ in range(count):
        kind = random.choice(list(TYPES))
        size = TYPES[kind][1]
        found.append(
            Message(kind, random.randbytes(size * random.choice([1, 2, 5, random.randrange(1, longest // size)])))
        )
    return found


def pauses(odds: float) -> Iterator[bool]:
    """Stalls of a kernel, in phases."""
    while True:
        now = random.choice((0.0, odds, odds, 0.95))
        for _ in range(random.randrange(1, 200)):
            yield random.random() < now
