# SPDX-License-Identifier: Apache-2.0
"""gs_blake2s against Python's hashlib."""

from __future__ import annotations

import hashlib
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)


def packed(words) -> int:
    return sum(word << 32 * at for at, word in enumerate(words))


async def taken(dut, ready) -> None:
    """Until the end of the next cycle in which the core is ready."""
    while True:
        await ReadOnly()
        accepted = int(ready.value)
        await RisingEdge(dut.clk_i)
        if accepted:
            return


class Core:
    def __init__(self, dut) -> None:
        self.dut = dut

    async def reset(self) -> None:
        cocotb.start_soon(Clock(self.dut.clk_i, 10, unit="ns").start())
        self.dut.valid_i.value = self.dut.word_valid_i.value = 0
        self.dut.rst_ni.value = 0
        for _ in range(3):
            await RisingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1

    async def words(self, block: bytes) -> None:
        """The words of a block, with pauses."""
        dut = self.dut
        for at in range(0, 64, 4):
            dut.word_valid_i.value, dut.word_i.value = 1, int.from_bytes(block[at : at + 4], "little")
            await taken(dut, dut.word_ready_o)
            if random.random() < 0.1:
                dut.word_valid_i.value, dut.word_i.value = 0, random.getrandbits(32)
                await RisingEdge(dut.clk_i)
        dut.word_valid_i.value, dut.word_i.value = 0, random.getrandbits(32)

    async def compress(self, h: int, count: int, last: bool) -> tuple[int, int]:
        """The chaining value after a block whose words are there or arriving, and the cycles that it took."""
        dut = self.dut
        dut.valid_i.value, dut.h_i.value, dut.last_i.value, dut.count_i.value = 1, h, int(last), count
        await taken(dut, dut.ready_o)
        dut.valid_i.value = 0
        # What is at the inputs after the block was taken does not matter.
        dut.h_i.value = random.getrandbits(256)
        cycles = 0
        while True:
            cycles += 1
            await ReadOnly()
            if int(dut.valid_o.value):
                return int(dut.h_o.value), cycles
            await RisingEdge(dut.clk_i)

    async def digest(self, data: bytes, key: bytes) -> tuple[bytes, list[int]]:
        h = packed((IV[0] ^ 0x01010020 ^ len(key) << 8, *IV[1:]))
        data = (key.ljust(64, b"\0") if key else b"") + data
        blocks = max(1, -(-len(data) // 64))
        times = []

        async def feed() -> None:
            for at in range(blocks):
                await self.words(data[64 * at : 64 * at + 64].ljust(64, b"\0"))
                for _ in range(random.choice((0, 0, 30, 50))):
                    await RisingEdge(self.dut.clk_i)

        feeding = cocotb.start_soon(feed())
        for at in range(blocks):
            count = min(len(data), 64 * at + 64)
            h, cycles = await self.compress(h, count, at == blocks - 1)
            times.append(cycles)
            # Pauses between blocks do not matter.
            await RisingEdge(self.dut.clk_i)
        await feeding
        return h.to_bytes(32, "little"), times


@cocotb.test()
async def digests_equal_those_of_hashlib(dut) -> None:
    draw = random.Random(cocotb.RANDOM_SEED)
    core = Core(dut)
    await core.reset()
    lengths = [0, 1, 55, 63, 64, 65, 127, 128, 129, 192, 300] + [draw.randrange(1500) for _ in range(20)]
    for length in lengths:
        data = draw.randbytes(length)
        key = draw.randbytes(32) if draw.random() < 0.6 else b""
        found, times = await core.digest(data, key)
        assert found == hashlib.blake2s(data, key=key).digest(), (length, key)
        assert set(times) == {42}, times
    # Long counts, which no short message has.
    for count in (1 << 32, (1 << 32) - 64, 0xFFFF_FFFF_FFFF_FFC0):
        block = draw.randbytes(64)
        h = draw.getrandbits(256)
        await core.words(block)
        found, _ = await core.compress(h, count, True)
        assert found == compressed(h, block, count, True)
        await RisingEdge(dut.clk_i)


def compressed(h: int, block: bytes, count: int, last: bool) -> int:
    """The function of RFC 7693, section 3.2, on Python's integers."""
    order = [
        "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
        "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0",
    ]  # fmt: skip
    words = [int.from_bytes(block[4 * i : 4 * i + 4], "little") for i in range(16)]
    state = [h >> 32 * i & 0xFFFFFFFF for i in range(8)]
    v = [*state, *IV]
    v[12] ^= count & 0xFFFFFFFF
    v[13] ^= count >> 32
    v[14] ^= 0xFFFFFFFF if last else 0

    def turn(value: int, by: int) -> int:
        return (value >> by | value << 32 - by) & 0xFFFFFFFF

    columns = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
    diagonals = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
    for row in order:
        at = iter(int(digit, 16) for digit in row)
        for a, b, c, d in columns + diagonals:
            for first, second in ((16, 12), (8, 7)):
                v[a] = (v[a] + v[b] + words[next(at)]) & 0xFFFFFFFF
                v[d] = turn(v[d] ^ v[a], first)
                v[c] = (v[c] + v[d]) & 0xFFFFFFFF
                v[b] = turn(v[b] ^ v[c], second)
    return packed(state[i] ^ v[i] ^ v[i + 8] for i in range(8))
