# SPDX-License-Identifier: Apache-2.0
"""The transmitter of the MAC alone: a stream that pauses within a frame, which the MAC's queue excludes."""

from __future__ import annotations

import logging
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge
from cocotbext.eth import GmiiSink
from rtl.shell.eth_cocotb import fcs, framed


@cocotb.test()
async def a_frame_that_pauses_ends_with_an_error(dut) -> None:
    """It is cut where it pauses, its FCS is wrong, its rest is discarded, and the next frame is whole."""
    logging.getLogger("cocotb").setLevel(logging.WARNING)
    Clock(dut.clk_i, 8, unit="ns").start()
    dut.ce_i.value, dut.nibble_i.value = 1, 0
    dut.rst_ni.value = dut.start_i.value = dut.in_valid_i.value = dut.in_last_i.value = 0
    await ClockCycles(dut.clk_i, 5)
    dut.rst_ni.value = 1
    sink = GmiiSink(dut.txd_o, dut.tx_er_o, dut.tx_en_o, dut.clk_i)

    async def send(payload: bytes, pause: int | None) -> None:
        dut.start_i.value = 1
        for at, byte in enumerate(payload):
            if at == pause:
                dut.in_valid_i.value = 0
                await ClockCycles(dut.clk_i, random.choice([1, 2, 3, 30]))
            dut.in_valid_i.value, dut.in_data_i.value, dut.in_last_i.value = 1, byte, int(at == len(payload) - 1)
            while True:
                await ReadOnly()
                ready, begins = int(dut.in_ready_o.value), int(dut.begin_o.value)
                await RisingEdge(dut.clk_i)
                if begins:
                    dut.start_i.value = 0
                if ready:
                    break
        dut.in_valid_i.value = 0

    for _ in range(20):
        payload, after = random.randbytes(random.randrange(3, 200)), random.randbytes(random.randrange(1, 100))
        pause = random.randrange(1, len(payload))
        await send(payload, pause)
        await send(after, None)
        frames = [await sink.recv(), await sink.recv()]
        cut, whole = (bytes(frame.get_payload(strip_fcs=False)) for frame in frames)
        assert cut[:pause] == payload[:pause] and len(cut) == pause + 1 + 4
        assert cut[-4:] == bytes(byte ^ 0xFF for byte in fcs(cut[:-4])) and frames[0].error[-4:] == [1] * 4
        assert whole == framed(after) and frames[1].error is None
        gap = (frames[1].sim_time_start - frames[0].sim_time_end) / 8000
        assert gap >= 12
