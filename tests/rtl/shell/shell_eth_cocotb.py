# SPDX-License-Identifier: Apache-2.0
"""gs_shell_eth with cocotbext-eth's PHY. Frames are made and judged by tests/shell/shell_frames.py (struct, zlib,
hashlib)."""

from __future__ import annotations

import logging
import os
import random
import struct

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, Timer, with_timeout
from cocotbext.eth import GmiiFrame, RgmiiPhy
from rtl.shell.eth_cocotb import PREAMBLE, fcs, framed
from shell.shell_frames import (
    ANNOUNCE,
    ASK_STATUS,
    BROADCAST,
    DONE,
    OPEN,
    OPENED,
    SOLICIT,
    START,
    STATUS,
    Frame,
    parse,
    session_key,
    tag_is_right,
)

BOARD, HOST = bytes.fromhex("020000000101"), bytes.fromhex("020000000999")
KEY = bytes(range(32))
NO_ROLE = 14
# Boot takes some 200,000 cycles.
PATIENCE = 4_000


class Bench:
    def __init__(self, dut) -> None:
        self.dut = dut
        logging.getLogger("cocotb").setLevel(logging.WARNING)
        self.draw = random.Random(cocotb.RANDOM_SEED)
        Clock(dut.clk, 8001, unit="ps", period_high=4001).start()
        Clock(dut.clk125, 8, unit="ns").start()
        cocotb.start_soon(self.late())
        dut.rst_n.value = 0
        dut.mac.value = int.from_bytes(BOARD, "big")
        dut.key.value = int.from_bytes(KEY, "big")
        dut.entropy.value = self.draw.getrandbits(64)
        self.phy = RgmiiPhy(dut.txd, dut.tx_ctl, dut.tx_clk, dut.rxd, dut.rx_ctl, dut.rx_clk)
        self.phy.rx.log.setLevel(logging.WARNING)
        self.phy.tx.log.setLevel(logging.WARNING)
        self.last_end = None
        self.gaps: list[int] = []

    async def late(self) -> None:
        """The clock of TXC, 2 ns after that of TXD."""
        await Timer(2, "ns")
        Clock(self.dut.clk125_90, 8, unit="ns").start()

    async def reset(self, cycles: int = 1) -> None:
        self.dut.rst_n.value = 0
        self.dut.entropy.value = self.draw.getrandbits(64)
        await ClockCycles(self.dut.clk, cycles)
        self.dut.rst_n.value = 1

    def send(self, frame: Frame, key: bytes | None = None, extra: bytes = b"") -> None:
        """With bytes after the payload, such as a switch's padding."""
        self.phy.rx.send_nowait(GmiiFrame(PREAMBLE + framed(frame.bytes(key) + extra)))

    async def receive(self, whole: bool = True) -> tuple[Frame, bytes] | None:
        """The next frame on the wire, and its bytes; None if it is cut, and `whole` is False."""
        found = await with_timeout(self.phy.tx.recv(), PATIENCE, "us")
        if not whole and found.sim_time_sfd is None:
            return None
        data = bytes(found.get_payload(strip_fcs=False))
        if not whole and (len(data) < 64 or fcs(data[:-4]) != data[-4:]):
            return None
        assert bytes(found.get_preamble()) == PREAMBLE and found.error is None
        assert len(data) >= 64 and fcs(data[:-4]) == data[-4:]
        if self.last_end is not None:
            self.gaps.append(round((found.sim_time_start - self.last_end) / 8000))
        self.last_end = found.sim_time_end
        return parse(data[:-4]), data[:-4]

    async def wait_for(self, kind: int, whole: bool = True) -> tuple[Frame, bytes]:
        while True:
            found = await self.receive(whole)
            if found is not None and found[0].kind == kind:
                return found

    async def announced(self) -> None:
        """Waits until the board has started: it announces itself without being asked."""
        found, data = await self.wait_for(ANNOUNCE, whole=False)
        assert (found.to, found.source) == (BROADCAST, BOARD) and len(data) == 64 + 80

    async def session(self) -> None:
        """Opens a session; each answer has the session's tag, and a command is answered."""
        nonce = self.draw.getrandbits(63) | 1
        self.send(Frame(BOARD, HOST, SOLICIT), extra=bytes(self.draw.randrange(60)))
        found, _ = await self.wait_for(ANNOUNCE)
        while found.to != HOST:
            found, _ = await self.wait_for(ANNOUNCE)
        opened = Frame(BOARD, HOST, OPEN, struct.pack(">QII", nonce, 5000, 0), session=found.session)
        # With a wrong FCS, the frame never reaches the shell: nothing is open.
        data = bytearray(framed(opened.bytes(KEY)))
        data[-1] ^= 1
        self.phy.rx.send_nowait(GmiiFrame(PREAMBLE + bytes(data)))
        self.send(Frame(BOARD, HOST, ASK_STATUS))
        status, data = await self.wait_for(STATUS)
        assert status.payload[1] == 0, "the board is not free"
        self.send(opened, KEY)
        key = session_key(KEY, BOARD, HOST, found.session, nonce)
        answer, data = await self.wait_for(OPENED)
        assert answer.status == 0 and answer.session == nonce and tag_is_right(data, key)
        # Two frames without a pause are answered in their order.
        for number in (1, 2):
            self.send(Frame(BOARD, HOST, START, session=nonce, sequence=number, flags=8), key)
        for number in (1, 2):
            answer, data = await self.wait_for(DONE)
            assert (answer.sequence, answer.status) == (number, NO_ROLE) and tag_is_right(data, key)


@cocotb.test()
async def a_session_opens_over_rgmii_also_after_resets_within_frames(dut) -> None:
    bench = Bench(dut)
    await ClockCycles(dut.clk, 10)
    await bench.reset()
    await bench.announced()
    await bench.session()
    assert min(bench.gaps) >= 12, bench.gaps
    for number in range(int(os.environ["SHELL_RESETS"])):
        # Within a frame that arrives, one from the shell to the MAC, or one from the MAC to the wire.
        within = (dut.rx_ctl, dut.shell_tx, dut.tx_ctl)[number % 3]
        frames = [Frame(BOARD, HOST, ASK_STATUS), Frame(BOARD, HOST, SOLICIT)] * 2
        for frame in frames:
            bench.send(frame, extra=bytes(bench.draw.randrange(1000)))
        while not int(within.value):
            await RisingEdge(dut.clk)
        await ClockCycles(dut.clk, bench.draw.randrange(20, 120))
        assert int(within.value), "no frame is in flight"
        await bench.reset(bench.draw.choice((1, 1, 2, 40)))
        bench.last_end = None
        await bench.announced()
        await bench.phy.rx.wait()
        await Timer(20, "us")
        while not bench.phy.tx.empty():
            bench.phy.tx.recv_nowait()
        bench.last_end = None
        await bench.session()
    assert not int(dut.watchdog.value)
