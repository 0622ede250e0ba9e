# SPDX-License-Identifier: Apache-2.0
"""The Ethernet MAC with RGMII between the models of cocotbext-eth (the PHY) and cocotbext-axi (the shell)."""

from __future__ import annotations

import logging
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, Timer, ValueChange
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource
from cocotbext.eth import GmiiFrame, RgmiiPhy
from rtl.shell.eth_cocotb import PREAMBLE, fcs, framed

CODES = {10: 0, 100: 1, 1000: 2}


class Bench:
    def __init__(self, dut) -> None:
        self.dut = dut
        logging.getLogger("cocotb").setLevel(logging.WARNING)
        Clock(dut.clk, 8001, unit="ps", period_high=4001).start()
        Clock(dut.clk125, 8, unit="ns").start()
        cocotb.start_soon(self.late())
        dut.rst_n.value = 0
        dut.status.value = 0
        self.phy = RgmiiPhy(dut.txd, dut.tx_ctl, dut.tx_clk, dut.rxd, dut.rx_ctl, dut.rx_clk)
        self.shell = AxiStreamSource(AxiStreamBus.from_prefix(dut, "tx_axis"), dut.clk)
        self.sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "rx_axis"), dut.clk)

    async def late(self) -> None:
        """The clock of TXC, 2 ns after that of TXD."""
        await Timer(2, "ns")
        Clock(self.dut.clk125_90, 8, unit="ns").start()

    async def set(self, speed: int) -> None:
        dut = self.dut
        self.speed = speed
        dut.status.value = 0b1001 | CODES[speed] << 1
        self.phy.set_speed(speed * 1e6)
        self.phy.rx.ifg = 12 if speed == 1000 else 24
        await ClockCycles(dut.rx_clk, 8)
        await ClockCycles(dut.clk125, 16)
        assert (int(dut.link.value), int(dut.duplex.value), int(dut.speed.value)) == (1, 1, CODES[speed])

    async def quiet(self) -> None:
        await self.phy.rx.wait()
        await self.shell.wait()
        idle = 0
        while idle < 60:
            await Timer(8000 // self.speed, "ns")
            idle = 0 if int(self.dut.tx_ctl.value) or int(self.dut.rx_axis_tvalid.value) else idle + 1


@cocotb.test()
async def frames_pass_at_each_speed_that_the_phy_reports(dut) -> None:
    bench = Bench(dut)
    await ClockCycles(dut.clk, 10)
    dut.rst_n.value = 1
    await ClockCycles(dut.clk, 40)
    good = bad = 0
    for speed in (1000, 10, 100, 1000):
        await bench.set(speed)
        while not bench.phy.tx.empty():  # what was on the pins before reset
            bench.phy.tx.recv_nowait()
        count = {1000: 20, 100: 5, 10: 2}[speed]
        payloads = [random.randbytes(random.randrange(60, 200)) for _ in range(count)]
        for payload in payloads:
            bench.phy.rx.send_nowait(GmiiFrame(PREAMBLE + framed(payload)))
            bench.shell.send_nowait(AxiStreamFrame(payload))
        # A frame in which the PHY reports an error.
        errors = [0] * 72
        errors[random.randrange(8, 72)] = 1
        bench.phy.rx.send_nowait(GmiiFrame(PREAMBLE + framed(bytes(60)), error=errors))
        await bench.quiet()
        good, bad = good + count, bad + 1
        found = []
        while not bench.sink.empty():
            frame = bench.sink.recv_nowait(compact=False)
            found.append((bytes(frame.tdata), bool(frame.tuser[-1])))
        assert found[:-1] == [(payload, False) for payload in payloads]
        assert found[-1][1] and len(found[-1][0]) == 60
        sent = []
        while not bench.phy.tx.empty():
            frame = bench.phy.tx.recv_nowait()
            assert frame.error is None
            data = frame.get_payload(strip_fcs=False)
            assert fcs(bytes(data[:-4])) == data[-4:]
            sent.append(bytes(data))
        assert sent == [framed(payload) for payload in payloads]
    assert (int(dut.rx_good.value), int(dut.rx_bad.value)) == (good, bad)


@cocotb.test()
async def data_are_stable_around_the_edges_of_txc(dut) -> None:
    """At 1000 Mb/s 1.5 ns around both edges; below it, nibbles that change once, 8 ns around the edges. Half high."""
    bench = Bench(dut)
    await ClockCycles(dut.clk, 10)
    dut.rst_n.value = 1
    await ClockCycles(dut.clk, 40)
    changed = edge = 0.0
    worst = {"setup": 1e9, "hold": 1e9}

    async def data(signal) -> None:
        nonlocal changed
        while True:
            await ValueChange(signal)
            changed = get_sim_time("ns")
            worst["hold"] = min(worst["hold"], changed - edge)

    async def clock(trigger) -> None:
        nonlocal edge
        while True:
            await trigger(dut.tx_clk)
            edge = get_sim_time("ns")
            worst["setup"] = min(worst["setup"], edge - changed)

    for signal in (dut.txd, dut.tx_ctl):
        cocotb.start_soon(data(signal))
    for trigger in (RisingEdge, FallingEdge):
        cocotb.start_soon(clock(trigger))
    for speed, least in ((1000, 1.5), (100, 8.0), (10, 80.0)):
        await bench.set(speed)
        bench.shell.send_nowait(AxiStreamFrame(random.randbytes(64)))
        worst.update(setup=1e9, hold=1e9)
        await bench.quiet()
        assert worst["setup"] >= least and worst["hold"] >= least, (speed, worst)
        await RisingEdge(dut.tx_clk)
        rise = get_sim_time("ns")
        await FallingEdge(dut.tx_clk)
        fall = get_sim_time("ns")
        await RisingEdge(dut.tx_clk)
        assert get_sim_time("ns") - rise == {1000: 8, 100: 40, 10: 400}[speed]
        assert fall - rise == (get_sim_time("ns") - rise) / 2
