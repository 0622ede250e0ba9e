# SPDX-License-Identifier: Apache-2.0
"""gs_role_ptrans with cocotbext-axi's memory and master, judged by NumPy."""

from __future__ import annotations

import json
import logging
import os
import random
from collections.abc import Iterator
from pathlib import Path

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam, AxiResp

TILE = int(os.environ.get("PTRANS_TILE", "32"))
SIZE = 1 << 22
FILL = 0xA5


def paused(draw: random.Random, share: float) -> Iterator[bool]:
    while True:
        yield draw.random() < share


class Role:
    def __init__(self, dut) -> None:
        self.dut = dut
        self.ram = AxiRam(AxiBus.from_prefix(dut, "m_axi"), dut.clk_i, dut.rst_ni, reset_active_level=False, size=SIZE)
        self.registers = AxiLiteMaster(
            AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk_i, dut.rst_ni, reset_active_level=False
        )
        for part in (self.ram.read_if, self.ram.write_if, self.registers.read_if, self.registers.write_if):
            part.log.setLevel(logging.WARNING)  # otherwise a line for each burst

    async def reset(self) -> None:
        self.dut.start_i.value = self.dut.stop_i.value = self.dut.kernel_i.value = 0
        self.dut.read_fails.value = self.dut.write_fails.value = 0
        self.dut.rst_ni.value = 0
        cocotb.start_soon(Clock(self.dut.clk_i, 10, unit="ns").start())
        for _ in range(4):
            await RisingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1
        for _ in range(2):
            await RisingEdge(self.dut.clk_i)

    def pause(self, draw: random.Random, *shares: float) -> None:
        """The memory makes each channel wait in a share of the cycles: one share for all, or one for each of AR, R, AW,
        W and B."""
        read, write = self.ram.read_if, self.ram.write_if
        channels = (read.ar_channel, read.r_channel, write.aw_channel, write.w_channel, write.b_channel)
        for channel, share in zip(channels, shares * 5 if len(shares) == 1 else shares, strict=True):
            channel.set_pause_generator(paused(draw, share))

    async def set(self, values: dict[int, int]) -> None:
        for at, value in values.items():
            await self.registers.write_dword(at, value)

    async def run(self, kernel: int = 0, stop_after: int | None = None, most: int = 100_000) -> tuple[int, int]:
        """Starts the kernel; its code, and the cycles from start to done."""
        dut = self.dut
        dut.kernel_i.value, dut.start_i.value = kernel, 1
        await RisingEdge(dut.clk_i)
        dut.start_i.value, dut.kernel_i.value = 0, 0xFFFF
        for cycle in range(1, most):
            await ReadOnly()
            if int(dut.done_o.value):
                code = int(dut.code_o.value)
                self.result = int(dut.result_address_o.value), int(dut.result_bytes_o.value)
                await RisingEdge(dut.clk_i)
                await ReadOnly()
                assert not int(dut.done_o.value), "done is longer than a cycle"
                await RisingEdge(dut.clk_i)
                return code, cycle
            await RisingEdge(dut.clk_i)
            dut.stop_i.value = int(cycle == stop_after)
        raise AssertionError("the role does not end")


def layout(draw: random.Random, rows: int, columns: int) -> dict[int, int]:
    """Registers for matrices that lie apart, rows longer than their elements."""
    row = 4 * TILE
    a_step, b_step, c_step = (
        4 * elements + row * draw.randrange(3) for elements in (rows, columns, columns)
    )  # A has `columns` rows of `rows` elements
    a = row * draw.randrange(1, 8)
    b = a + columns * a_step + row * draw.randrange(1, 8)
    c = b + rows * b_step + row * draw.randrange(1, 8)
    assert c + rows * c_step < SIZE
    words = (a, 0, b, 0, c, 0, rows, columns, a_step, b_step, c_step, 0)
    return {4 * at: word for at, word in enumerate(words)}


def numbers(draw: random.Random, count: int, exponents: int) -> np.ndarray:
    source = np.random.default_rng(draw.randrange(1 << 32))
    return (source.standard_normal(count) * np.exp2(source.integers(-exponents, exponents + 1, count))).astype("<f4")


def place(role: Role, at: int, step: int, matrix: np.ndarray) -> None:
    for number, row in enumerate(matrix):
        role.ram.write(at + number * step, row.astype("<f4").tobytes())


def fetched(role: Role, at: int, step: int, rows: int, columns: int) -> np.ndarray:
    return np.stack([np.frombuffer(role.ram.read(at + row * step, 4 * columns), dtype="<f4") for row in range(rows)])


async def transpose(
    role: Role, draw: random.Random, rows: int, columns: int, repeat: int = 0, exponents: int = 3
) -> int:
    """One run with random matrices, its result compared; the cycles."""
    words = layout(draw, rows, columns) | {0x2C: repeat}
    a, b = numbers(draw, rows * columns, exponents), numbers(draw, rows * columns, exponents)
    a, b = a.reshape(columns, rows), b.reshape(rows, columns)
    role.ram.write(0, bytes([FILL]) * SIZE)
    place(role, words[0x00], words[0x20], a)
    place(role, words[0x08], words[0x24], b)
    before = role.ram.read(0, SIZE)
    await role.set(words)
    code, cycles = await role.run()
    assert code == 0
    found = fetched(role, words[0x10], words[0x28], rows, columns)
    np.testing.assert_array_equal(found, b + a.T)
    assert role.result == (words[0x10], (rows - 1) * words[0x28] + 4 * columns)
    # Nothing outside of the rows of C has changed.
    for row in range(rows):
        at = words[0x10] + row * words[0x28]
        role.ram.write(at, before[at : at + 4 * columns])
    assert role.ram.read(0, SIZE) == before
    return cycles


@cocotb.test()
async def sums_equal_those_of_numpy(dut) -> None:
    draw = random.Random(cocotb.RANDOM_SEED)
    role = Role(dut)
    await role.reset()
    for rows, columns in ((1, 1), (1, 3), (3, 1), (2, 2), (3, 2)):
        await transpose(role, draw, TILE * rows, TILE * columns)
    # Exponents so far apart that sums round, overflow and become subnormal.
    await transpose(role, draw, TILE, 2 * TILE, exponents=120)
    role.pause(draw, 0.3)
    await transpose(role, draw, 2 * TILE, 2 * TILE)
    role.pause(draw, 0.7)
    await transpose(role, draw, TILE, 2 * TILE, repeat=2)


@cocotb.test()
async def wrong_requests_are_rejected(dut) -> None:
    draw = random.Random(cocotb.RANDOM_SEED)
    role = Role(dut)
    await role.reset()
    good = layout(draw, TILE, TILE)
    await role.set(good)
    assert (await role.run(kernel=1))[0] == 1
    wrong = [
        (0x18, 0),
        (0x18, TILE - 1),
        (0x1C, TILE + 1),
        (0x00, 8),
        (0x08, 4),
        (0x10, 2 * TILE),
        (0x20, 4),
        (0x24, 8),
    ]
    wrong += [(0x28, 4 * TILE + 4), (0x04, 1 << 8), (0x0C, 1 << 31), (0x14, 1 << 8)]
    for at, value in wrong:
        await role.set(good | {at: value})
        assert (await role.run())[0] == 2, (hex(at), value)
    answer = await role.registers.write(0x30, bytes(4))
    assert answer.resp == AxiResp.SLVERR
    assert (await role.registers.read(0xFC, 4)).resp == AxiResp.SLVERR
    await role.set(good)
    for at, value in good.items():
        assert await role.registers.read_dword(at) == value
    # No request has reached the memory, and the next run is right.
    await transpose(role, draw, TILE, TILE)


@cocotb.test()
async def a_run_that_is_stopped_leaves_nothing_behind(dut) -> None:
    draw = random.Random(cocotb.RANDOM_SEED)
    role = Role(dut)
    await role.reset()
    for number in range(int(os.environ.get("PTRANS_STOPS", "12"))):
        # With slow requests to read, the queue is empty and rows of C are incomplete when the run is stopped; with slow
        # writes it is full.
        shares = ((0.95, 0, 0, 0, 0), (0, 0, 0, 0.97, 0), tuple(draw.choice((0, 0.3, 0.9)) for _ in range(5)))[
            number % 3
        ]
        role.pause(draw, *shares)
        await role.set(layout(draw, 2 * TILE, 2 * TILE) | {0x2C: 3})
        stop = draw.randrange(1, 6 * TILE * TILE)
        code, cycles = await role.run(stop_after=stop)
        assert code == 4 and cycles >= stop, (number, stop, code, cycles)
        role.pause(draw, 0.0)
        await transpose(role, draw, TILE, TILE)


async def fail(dut, signal, after: int) -> None:
    """Answers of some cycles report errors."""
    for _ in range(after):
        await RisingEdge(dut.clk_i)
    signal.value = 1
    for _ in range(TILE + 40):
        await RisingEdge(dut.clk_i)
    signal.value = 0


@cocotb.test()
async def an_error_of_the_memory_ends_the_run(dut) -> None:
    draw = random.Random(cocotb.RANDOM_SEED)
    role = Role(dut)
    await role.reset()
    for fails in (dut.read_fails, dut.write_fails):
        for after in (3 * TILE * TILE // 4, 7 * TILE * TILE // 4, 15 * TILE * TILE // 4):  # C is being written
            await role.set(layout(draw, 2 * TILE, 2 * TILE))
            fault = cocotb.start_soon(fail(dut, fails, after))
            code, cycles = await role.run()
            await fault
            assert code == 3 and cycles >= after, (after, code, cycles)
            await transpose(role, draw, TILE, TILE)


@cocotb.test()
async def cycles_are_those_of_the_beats(dut) -> None:
    """Writes the cycles of some sizes for the comparison with the native role."""
    draw = random.Random(cocotb.RANDOM_SEED)
    role = Role(dut)
    await role.reset()
    found = []
    for rows, columns, repeat in ((1, 1, 1), (2, 1, 1), (2, 3, 1), (2, 2, 3)):
        cycles = await transpose(role, draw, TILE * rows, TILE * columns, repeat)
        found.append([TILE * rows, TILE * columns, repeat, cycles])
        dut._log.info("cycles %s: %.4f of a beat", found[-1], cycles / (rows * columns * repeat * TILE * TILE))
    if path := os.environ.get("PTRANS_CYCLES"):
        Path(path).write_text(json.dumps(found))
