# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the debug buses in packets: a host with a window for each tile, tiles of any pace."""

from __future__ import annotations

import os
import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge, ReadOnly

from gossamer.config import constants

CYCLES = int(os.environ["DEBUG_CYCLES"])
TILES = int(os.environ["DEBUG_TILES"])
FLIT, DEBUG, REPORT = (constants.layout(name) for name in ("flit", "control_debug", "control_report"))
OP = constants.enumeration("control_op")
WINDOW, BYTES, BOARD = 4, 12, 5


class Tile:
    """The end of a debug bus in a tile: busy for a while after some bytes; its own bytes wait until they are taken."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.sent: deque[int] = deque()
        self.ends: deque[int] = deque()
        self.accepted = 0
        self.in_flight = 0
        self.credits = 0
        self.offered: deque[int] = deque()
        self.busy = 0
        self.patience = 1
        self.pace = 0.5
        self.byte: int | None = None

    def host(self) -> int:
        """The host of the tile's job."""
        return constants.enumeration("endpoint")["host"] << 29 | 1000 + self.number

    def packet(self) -> int:
        """A packet of random length, which is noted."""
        count = random.choice((1, 2, 5, 6, BYTES, random.randint(1, BYTES)))
        data = random.randbytes(count)
        self.sent.extend(data)
        self.ends.append(self.accepted + len(self.sent))
        self.in_flight += 1
        # The bytes after the last one are arbitrary.
        rest = int.from_bytes(random.randbytes(BYTES - count), "little") << 8 * count
        return DEBUG.pack(
            op_code=OP["debug"], tile=self.number, count=count, bytes=int.from_bytes(data, "little") | rest
        )

    def takes(self, byte: int) -> None:
        """The tile accepts a byte."""
        assert self.sent, f"tile {self.number} gets a byte too many"
        assert byte == self.sent.popleft(), f"tile {self.number}: wrong byte"
        self.accepted += 1
        if self.ends[0] == self.accepted:
            self.ends.popleft()
            self.credits += 1
        if random.random() < 0.4:
            self.busy = random.randint(1, self.patience)

    def reported(self, packet: dict[str, int]) -> None:
        """A report of the tile arrives at the host."""
        data = packet["bytes"].to_bytes(BYTES, "little")[: packet["count"]]
        assert packet["count"] or packet["credits"], "an empty report"
        for byte in data:
            assert byte == self.offered.popleft(), f"tile {self.number}: its bytes are not reported in order"
        assert packet["credits"] <= self.credits, f"tile {self.number}: a credit for a packet that it has not accepted"
        self.credits -= packet["credits"]
        self.in_flight -= packet["credits"]


async def begin(dut: HierarchyObject) -> list[Tile]:
    tiles = [Tile(number) for number in range(TILES)]
    for name in ("rst_ni", "enable_i", "valid_i", "packet_i", "out_valid_i", "out_data_i", "report_ready_i"):
        getattr(dut, name).value = 0
    dut.in_ready_i.value = (1 << TILES) - 1
    dut.host_i.value = sum(tile.host() << 32 * tile.number for tile in tiles)
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    return tiles


async def step(dut: HierarchyObject, tiles: list[Tile], ready: bool, sends: float, enable: bool = True) -> Tile | None:
    """Simulates a cycle; returns the tile whose report arrived."""
    dut.enable_i.value, dut.report_ready_i.value = enable, ready
    able = [tile for tile in tiles if tile.in_flight < WINDOW]
    chosen = random.choice(able) if able and random.random() < sends else None
    valid = data = readies = 0
    for tile in tiles:
        if tile.busy:
            tile.busy -= 1
        readies |= (not tile.busy) << tile.number
        if tile.byte is None and random.random() < tile.pace:
            tile.byte = random.getrandbits(8)
            tile.offered.append(tile.byte)
        if tile.byte is not None:
            valid |= 1 << tile.number
            data |= tile.byte << 8 * tile.number
    dut.in_ready_i.value, dut.out_valid_i.value, dut.out_data_i.value = readies, valid, data
    dut.valid_i.value = chosen is not None
    if chosen:
        dut.packet_i.value = chosen.packet()
    await ReadOnly()
    if chosen:
        assert int(dut.space_o.value) >> chosen.number & 1, "a packet within the window finds no space"
    to, taken = int(dut.in_valid_o.value), int(dut.out_ready_o.value)
    assert to & ~readies == 0, "a byte for a tile that is not ready"
    byte = int(dut.in_data_o.value)
    shown = REPORT.unpack(FLIT.unpack(int(dut.report_o.value))["payload"]) if dut.report_valid_o.value else None
    flit = FLIT.unpack(int(dut.report_o.value))
    await FallingEdge(dut.clk_i)
    for tile in tiles:
        if to >> tile.number & 1:
            tile.takes(byte)
        if taken >> tile.number & 1 and valid >> tile.number & 1:
            tile.byte = None
    if shown is None or not ready:
        return None
    assert enable, "a report before a host is known"
    assert shown["op_code"] == OP["report"] and shown["board"] == BOARD
    assert flit["vnet"] == constants.enumeration("vnet")["reply"] and flit["last"] == 1
    assert flit["kind"] == constants.enumeration("flit_kind")["header"]
    tile = tiles[shown["tile"]]
    assert flit["dest"] == tile.host()
    tile.reported(shown)
    return tile


@cocotb.test
async def bytes_reach_their_tile_and_their_host_in_order(dut: HierarchyObject) -> None:
    """Random paces of host, tiles and reply network; at the end nothing is left, and all credits are back."""
    tiles = await begin(dut)
    sends, reads = 0.5, 0.5
    for cycle in range(CYCLES):
        if cycle % 151 == 0:
            sends, reads = random.choice((0.02, 0.2, 1.0)), random.choice((0.0, 0.1, 0.7, 1.0))
            for tile in tiles:
                tile.patience, tile.pace = random.choice((1, 3, 40)), random.choice((0.0, 0.02, 0.3, 1.0))
        await step(dut, tiles, random.random() < reads, sends)
    for tile in tiles:
        tile.pace = 0.0
    for _ in range(3000 + 100 * TILES):
        await step(dut, tiles, True, 0.0)
    for tile in tiles:
        assert not tile.sent and not tile.in_flight and tile.byte is None and not tile.offered, tile.number
    assert sum(tile.accepted for tile in tiles) > CYCLES // 20


@cocotb.test
async def nothing_is_reported_before_a_host_is_known(dut: HierarchyObject) -> None:
    tiles = await begin(dut)
    for _ in range(200):
        await step(dut, tiles, True, 0.3, enable=False)
    assert all(tile.credits + len(tile.ends) == tile.in_flight for tile in tiles)
    assert sum(tile.accepted for tile in tiles) > 0, "tiles accept bytes before a host is known"
    for tile in tiles:
        tile.pace = 0.0
    for _ in range(2000):
        await step(dut, tiles, True, 0.0)
    assert not any(tile.in_flight or tile.offered for tile in tiles)


@cocotb.test
async def tile_that_accepts_nothing_holds_up_no_other(dut: HierarchyObject) -> None:
    tiles = await begin(dut)
    if TILES == 1:
        return
    stuck = tiles[TILES // 2]
    stuck.busy = 10**9
    accepted = [0] * TILES
    for _ in range(CYCLES // 4):
        stuck.busy = 10**9
        await step(dut, tiles, True, 0.7)
    accepted = [tile.accepted for tile in tiles if tile is not stuck]
    assert min(accepted) > CYCLES // 4 // TILES // 8, accepted
    assert stuck.accepted == 0 and stuck.in_flight == WINDOW


@cocotb.test
async def flood_of_text_of_other_tiles_delays_a_report_by_one_report_each(dut: HierarchyObject) -> None:
    tiles = await begin(dut)
    quiet = tiles[-1]
    for tile in tiles:
        tile.pace = 0.0 if tile is quiet else 1.0
    longest = 0
    for _ in range(max(20, CYCLES // 200)):
        for _ in range(random.randint(1, 60)):
            await step(dut, tiles, True, 0.0)
        quiet.pace, waited = 1.0, 0
        while await step(dut, tiles, True, 0.0) is not quiet:
            quiet.pace = 0.0
            waited += 1
        quiet.pace = 0.0
        longest = max(longest, waited)
    # A report takes 12 cycles for its bytes and two more; the quiet one's ends after four cycles without a byte.
    assert longest <= 14 * TILES + 8, longest
