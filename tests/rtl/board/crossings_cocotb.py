# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the crossings around a board: clocks of random ratio and phase, both ends of any pace, resets.

The models are queues: what enters a network, or a link, leaves it once, whole and in order.
"""

from __future__ import annotations

import os
import random
import struct
from collections import deque

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge, Timer
from models.clocks import ticking

from gossamer.config import constants

FLITS = int(os.environ["CROSSING_FLITS"])
BYTES = int(os.environ["CROSSING_BYTES"])
FLIT = constants.layout("flit")
NETWORKS, WORDS, MOST = 4, 6, 5
PERIODS = ((8000, 8000), (8000, 16667), (8000, 4000), (8000, 8001), (20000, 3000))


def as_bytes(flit: int) -> bytes:
    return flit.to_bytes(4 * WORDS, "little")


def of_network(draw: random.Random, network: int) -> int:
    flit = draw.getrandbits(FLIT.bits)
    field = FLIT.field("vnet")
    return flit & ~(3 << field.lsb) | network << field.lsb


def clocks(draw: random.Random, dut, shell: int, board: int, mac: int) -> list:
    return [
        cocotb.start_soon(ticking(clock, period, draw.random() < 0.5))
        for clock, period in ((dut.clk_i, shell), (dut.board_clk_i, board), (dut.mac_clk_i, mac))
    ]


def idle_inputs(dut) -> None:
    for name in (
        "rst_ni", "stop_i", "s_valid_i", "s_data_i", "s_keep_i", "s_last_i", "s_dest_i", "m_ready_i",
        "host_in_ready_i", "host_out_valid_i", "host_out_i", "link_rst_ni", "tx_valid_i", "tx_data_i", "tx_keep_i",
        "tx_last_i", "mac_tx_ready_i", "mac_rx_data_i", "mac_rx_valid_i", "mac_rx_last_i", "mac_rx_error_i",
    ):  # fmt: skip
        getattr(dut, name).value = 0


class Shell:
    """The shell's end: packets in and out, with the pauses that queues and credits cause."""

    def __init__(self, dut, draw: random.Random) -> None:
        self.dut, self.draw = dut, draw
        self.packets: list[deque[tuple[int, bytes]]] = [deque() for _ in range(NETWORKS + 1)]
        self.got: list[tuple[int, bytes]] = []
        self.malformed = 0
        self.pace = 1.0
        self.tasks = [cocotb.start_soon(self.send()), cocotb.start_soon(self.receive())]

    def add(self, dest: int, data: bytes) -> None:
        self.packets[min(dest, NETWORKS)].append((dest, data))

    async def send(self) -> None:
        """Packets to a network keep their order; those to the last queue have no network."""
        dut = self.dut
        while True:
            await RisingEdge(dut.clk_i)
            dut.s_valid_i.value = 0
            await ReadOnly()
            wanted = int(dut.wanted_o.value) | 1 << NETWORKS
            open_ = [queue for number, queue in enumerate(self.packets) if queue and wanted >> number & 1]
            if not open_:
                continue
            dest, data = self.draw.choice(open_).popleft()
            for at in range(0, max(len(data), 1), 4):
                word = data[at : at + 4]
                while True:
                    await RisingEdge(dut.clk_i)
                    dut.s_valid_i.value = offered = self.draw.random() < self.pace
                    dut.s_data_i.value = int.from_bytes(word.ljust(4, b"\xee"), "little")
                    dut.s_keep_i.value = (1 << len(word)) - 1
                    dut.s_last_i.value = at + 4 >= len(data)
                    dut.s_dest_i.value = dest
                    await ReadOnly()
                    if offered and int(dut.s_ready_o.value):
                        break

    async def receive(self) -> None:
        dut, part, dest = self.dut, b"", None
        while True:
            await RisingEdge(dut.clk_i)
            dut.m_ready_i.value = self.draw.random() < self.pace
            await ReadOnly()
            self.malformed += int(dut.malformed_o.value)
            if not (int(dut.m_valid_o.value) and int(dut.m_ready_i.value)):
                continue
            assert int(dut.m_keep_o.value) == 15 and dest in (None, int(dut.m_dest_o.value))
            dest = int(dut.m_dest_o.value)
            part += int(dut.m_data_o.value).to_bytes(4, "little")
            if int(dut.m_last_o.value):
                self.got.append((dest, part))
                part, dest = b"", None


class Port:
    """The board's end: a host port that is ready when it likes, and sends in the cycle after the other was ready."""

    def __init__(self, dut, draw: random.Random) -> None:
        self.dut, self.draw = dut, draw
        self.taken: list[list[int]] = [[] for _ in range(NETWORKS)]
        self.waiting: list[deque[int]] = [deque() for _ in range(NETWORKS)]
        self.left: list[tuple[int, int]] = []
        """Flits that left the board, in order, each with the number of the clock edge."""
        self.edges = 0
        self.closed = 0
        self.pace = 1.0
        self.task = cocotb.start_soon(self.run())

    async def run(self) -> None:
        dut, ready = self.dut, 0
        while True:
            await RisingEdge(dut.board_clk_i)
            self.edges += 1
            dut.host_in_ready_i.value = sum(
                (self.draw.random() < self.pace and not self.closed >> v & 1) << v for v in range(NETWORKS)
            )
            ready = [v for v in range(NETWORKS) if ready >> v & 1 and self.waiting[v]]
            dut.host_out_valid_i.value = 0
            if ready and self.draw.random() < self.pace:
                network = self.draw.choice(ready)
                dut.host_out_valid_i.value = 1 << network
                dut.host_out_i.value = flit = self.waiting[network].popleft()
                self.left.append((flit, self.edges))
            await ReadOnly()
            ready = int(dut.host_out_ready_o.value)
            if valid := int(dut.host_in_valid_o.value):
                assert valid & (valid - 1) == 0 and valid & int(dut.host_in_ready_i.value)
                self.taken[valid.bit_length() - 1].append(int(dut.host_in_o.value))


def records_of(packets: list[tuple[int, bytes]]) -> list[tuple[int, int]]:
    """Flits of the board with their cycles."""
    found = []
    for dest, data in packets:
        assert dest == 0 and data and len(data) % 32 == 0 and len(data) <= 32 * MOST
        for at in range(0, len(data), 32):
            record = int.from_bytes(data[at : at + 32], "little")
            found.append((record & (1 << 192) - 1, record >> 192))
    return found


def all_left(shell: Shell, port: Port) -> bool:
    """Whether the host has all flits, in the order in which they left the board, and their cycles are the clock's."""
    found = records_of(shell.got)
    if len(found) != len(port.left) or any(map(len, port.waiting)):
        return False
    assert [flit for flit, _ in found] == [flit for flit, _ in port.left]
    assert len({cycle - edge for (_, cycle), (_, edge) in zip(found, port.left, strict=True)}) == 1
    return True


async def settle(dut, done, what: str, most: int = 30_000) -> None:
    for _ in range(most // 50):
        if done():
            return
        await Timer(50 * 8000, "ps")
    raise AssertionError(what)


async def flits(dut, draw: random.Random, shell_period: int, board_period: int) -> None:
    idle_inputs(dut)
    tasks = clocks(draw, dut, shell_period, board_period, 8000)
    await Timer(300_000, "ps")
    await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await Timer(300_000, "ps")
    shell, port = Shell(dut, draw), Port(dut, draw)
    wanted: list[list[int]] = [[] for _ in range(NETWORKS)]
    malformed = 0
    for _ in range(FLITS // 12):
        shell.pace, port.pace = draw.choice([1.0, 0.3]), draw.choice([1.0, 0.3, 0.05])
        for _ in range(draw.randrange(1, 6)):
            network = draw.randrange(NETWORKS)
            made = [of_network(draw, network) for _ in range(draw.randrange(1, MOST + 2))]
            data = b"".join(map(as_bytes, made))
            kind = draw.random()
            if kind < 0.1:
                malformed += 1
                shell.add(draw.choice([4, 7, 255]), data)
                continue
            wanted[network] += made
            if kind < 0.3:
                malformed += 1
                data += draw.randbytes(draw.randrange(1, 24))
            elif kind < 0.4:
                # Too short by some bytes: its last flit is not whole.
                malformed += 1
                wanted[network].pop()
                data = data[: -draw.randrange(1, 24)]
            elif kind < 0.5:
                shell.add(network, b"")
            shell.add(network, data)
        for _ in range(draw.randrange(12)):
            network = draw.randrange(NETWORKS)
            port.waiting[network].append(of_network(draw, network))
        await Timer(draw.randrange(1, 40) * 8000, "ps")
    shell.pace = port.pace = 1.0
    await settle(dut, lambda: port.taken == wanted, "flits to the board")
    await settle(dut, lambda: all_left(shell, port), "flits of the board")
    assert shell.malformed == malformed
    # Flits that follow each other share packets.
    before = len(shell.got)
    for _ in range(60):
        port.waiting[1].append(of_network(draw, 1))
    await settle(dut, lambda: all_left(shell, port), "a row of flits")
    assert len(shell.got) - before <= 60 // MOST + 2, len(shell.got) - before
    # A network that the board does not accept stops only itself.
    port.closed = 1
    for network in (0, 1, 2, 3):
        made = [of_network(draw, network) for _ in range(120)]
        for at in range(0, 120, MOST):
            shell.add(network, b"".join(map(as_bytes, made[at : at + MOST])))
        wanted[network] += made
    await settle(dut, lambda: port.taken[1:] == wanted[1:], "networks beside a blocked one")
    port.closed = 0
    await settle(dut, lambda: port.taken == wanted, "the network that was blocked")
    # The end of a run.
    dut.stop_i.value = 1
    for _ in range(20):
        port.waiting[2].append(of_network(draw, 2))
    await settle(dut, lambda: int(dut.idle_o.value) == 1, "the last packet")
    count = len(shell.got)
    await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 0
    await settle(dut, lambda: int(dut.in_reset_o.value) == 1, "the board's reset")
    assert len(shell.got) == count and int(dut.board_rst_no.value) == 0
    records_of(shell.got)
    for task in (*tasks, *shell.tasks, port.task):
        task.cancel()


@cocotb.test()
async def flits_pass_once_and_in_order(dut) -> None:
    """In both directions, over clocks of every ratio; ends that no whole flit has are dropped and counted."""
    draw = random.Random(cocotb.RANDOM_SEED)
    for shell_period, board_period in PERIODS:
        await flits(dut, draw, shell_period, board_period)


class Wire:
    """Frames of a link through the crossing in both directions."""

    def __init__(self, dut, draw: random.Random) -> None:
        self.dut, self.draw = dut, draw
        self.out: deque[bytes] = deque()
        self.arrived: list[bytes] = []
        self.inward: deque[tuple[bytes, bool]] = deque()
        self.received: list[tuple[bytes, bool]] = []
        self.pace, self.feeding = 1.0, False
        self.tasks = [cocotb.start_soon(one) for one in (self.send(), self.take(), self.feed(), self.hear())]

    async def send(self) -> None:
        dut = self.dut
        while True:
            await RisingEdge(dut.board_clk_i)
            dut.tx_valid_i.value = 0
            if not self.out or not int(dut.link_rst_no.value):
                continue
            frame = self.out.popleft()
            beats = [frame[i : i + BYTES] for i in range(0, len(frame), BYTES)]
            for number, beat in enumerate(beats):
                while True:
                    await RisingEdge(dut.board_clk_i)
                    dut.tx_valid_i.value = offered = self.draw.random() < self.pace
                    dut.tx_data_i.value = int.from_bytes(beat, "little")
                    dut.tx_keep_i.value = (1 << len(beat)) - 1
                    dut.tx_last_i.value = number == len(beats) - 1
                    await ReadOnly()
                    if not int(dut.link_rst_no.value) or (offered and int(dut.tx_ready_o.value)):
                        break
                if not int(dut.link_rst_no.value):
                    break

    async def take(self) -> None:
        dut, part = self.dut, b""
        while True:
            await RisingEdge(dut.mac_clk_i)
            dut.mac_tx_ready_i.value = self.draw.random() < self.pace
            await ReadOnly()
            if int(dut.mac_tx_valid_o.value) and int(dut.mac_tx_ready_i.value):
                part += bytes([int(dut.mac_tx_data_o.value)])
                if int(dut.mac_tx_last_o.value):
                    self.arrived.append(part)
                    part = b""

    async def feed(self) -> None:
        dut = self.dut
        while True:
            await RisingEdge(dut.mac_clk_i)
            dut.mac_rx_valid_i.value = 0
            self.feeding = bool(self.inward)
            if not self.inward:
                continue
            frame, bad = self.inward.popleft()
            for number, byte in enumerate(frame):
                while True:
                    await RisingEdge(dut.mac_clk_i)
                    dut.mac_rx_valid_i.value = offered = self.draw.random() < self.pace
                    dut.mac_rx_data_i.value = byte
                    dut.mac_rx_last_i.value = number == len(frame) - 1
                    dut.mac_rx_error_i.value = bad and number == len(frame) - 1
                    await ReadOnly()
                    if offered and int(dut.mac_rx_ready_o.value):
                        break

    async def hear(self) -> None:
        dut, part = self.dut, b""
        while True:
            await RisingEdge(dut.board_clk_i)
            await ReadOnly()
            if not int(dut.link_rst_no.value):
                part = b""
                continue
            if int(dut.rx_valid_o.value):
                keep = int(dut.rx_keep_o.value)
                count = keep.bit_count()
                assert keep == (1 << count) - 1 and (count == BYTES or int(dut.rx_last_o.value))
                part += int(dut.rx_data_o.value).to_bytes(BYTES, "little")[:count]
                if int(dut.rx_last_o.value):
                    self.received.append((part, bool(int(dut.rx_error_o.value))))
                    part = b""


async def frames(dut, draw: random.Random, board_period: int, mac_period: int) -> None:
    idle_inputs(dut)
    tasks = clocks(draw, dut, 8000, board_period, mac_period)
    await Timer(300_000, "ps")
    wire = Wire(dut, draw)
    # A frame in reset is dropped; after it, the crossing knows that the MAC is between frames.
    wire.inward.append((b"reset", False))
    await settle(dut, lambda: not wire.inward and not wire.feeding, "a frame in reset")
    for cut in ("", "late", "early", "early", ""):
        await RisingEdge(dut.board_clk_i)
        dut.link_rst_ni.value = 1
        await settle(dut, lambda: int(dut.link_rst_no.value) == 1, "the end of the reset")
        await Timer(10 * (board_period + mac_period), "ps")
        sent, fed = [], []
        before, heard = len(wire.arrived), len(wire.received)
        for _ in range(FLITS // 10):
            wire.pace = draw.choice([1.0, 1.0, 0.5])
            # Frames are different, so that bytes of two in one would be seen.
            frame = struct.pack(">I", draw.getrandbits(32)) + draw.randbytes(draw.randrange(1, 120))
            sent.append(frame)
            wire.out.append(frame)
            fed.append((draw.randbytes(draw.randrange(1, 90)), draw.random() < 0.2))
            wire.inward.append(fed[-1])
            await Timer(draw.randrange(1, 60) * 8000, "ps")
        if not cut:
            await settle(dut, lambda s=sent, b=before: wire.arrived[b:] == s, "frames to the MAC")
            await settle(dut, lambda f=fed, h=heard: wire.received[h:] == f, "frames to the link")
            continue
        await RisingEdge(dut.board_clk_i)
        dut.link_rst_ni.value = 0
        wire.out.clear()
        await Timer(40 * (board_period + mac_period), "ps")
        # In every second case the MAC's frame goes on when the reset ends: its rest is dropped.
        fed = fed[: len(fed) - len(wire.inward)]
        wire.inward.clear()
        if cut == "early":
            wire.inward.append((draw.randbytes(600), False))
            await settle(dut, lambda: not wire.inward, "a frame in reset")
        else:
            await settle(dut, lambda: not wire.feeding, "the MAC's frame")
        found = wire.arrived[before:]
        whole = found if found == sent[: len(found)] else found[:-1]
        assert whole == sent[: len(whole)], "a frame was changed"
        if whole != found:
            *start, _ = found[-1]
            assert sent[len(whole)].startswith(bytes(start)), "the cut frame has other bytes"
        assert wire.received[heard:] == fed[: len(wire.received) - heard]
        if cut == "early":
            await Timer(20 * mac_period, "ps")
            assert wire.feeding
            dut.link_rst_ni.value = 1
            await settle(dut, lambda: not wire.feeding, "the rest of a frame")
            await Timer(40 * (board_period + mac_period), "ps")
            assert wire.received[heard:] == fed[: len(wire.received) - heard]
    for task in (*tasks, *wire.tasks):
        task.cancel()


@cocotb.test()
async def frames_pass_whole_and_resets_leave_no_half_ones(dut) -> None:
    """Any length; a frame that a reset cuts is shorter, and no later one begins with its bytes."""
    draw = random.Random(cocotb.RANDOM_SEED)
    for board_period, mac_period in PERIODS:
        await frames(dut, draw, board_period, mac_period)
