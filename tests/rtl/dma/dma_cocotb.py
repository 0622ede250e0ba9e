# SPDX-License-Identifier: Apache-2.0
"""cocotb test of two tiles whose DMA engines write each other's memory and their own, against bytes in dictionaries.

The model knows addresses by the page's words alone, and what a request must come to: it copies bytes when the thread
is told that they have landed, and compares all memory then and at the end.
"""

from __future__ import annotations

import os
import random
from collections import deque
from dataclasses import dataclass

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge, ReadOnly

from gossamer import config as configs
from gossamer.config import constants

CONFIG = configs.load("tiny-match")
LINE = CONFIG.cache.line_bytes
DRAM, HALF = CONFIG.memory.dram.bytes, CONFIG.memory.dram.bytes // 2
SRAM = CONFIG.memory.sram.bytes
THREADS = CONFIG.threads_per_tile
PARTS = CONFIG.cache.caches_per_dram * CONFIG.threads_per_cache
FLIT, LOAD, HEAD, PLACES = (
    constants.layout(name) for name in ("flit", "load_header", "match_move", "match_move_places")
)
KIND, REJECTION, ENDPOINT = (constants.enumeration(name) for name in ("match_packet", "rejection", "endpoint"))
DIRECT, PARTITIONS, SRAM_BASE = 0x4000_0000, 0x8000_0000, 0x1000_0000
BITS = 173
ID_BITS = 6
REQUEST_BITS = 3 + ID_BITS + 32 + 8 * LINE


def physical(address: int) -> tuple[int, int]:
    """Space and address in it, as the page says: the upper half is interleaved by line."""
    if address >= PARTITIONS:
        part, inside = divmod(address - PARTITIONS, HALF // PARTS)
        line, byte = divmod(inside, LINE)
        return 0, HALF + (line * PARTS + part) * LINE + byte
    return (0, address - DIRECT) if address >= DIRECT else (1, address - SRAM_BASE)


class Memory:
    """A tile's memory: lines, and pending responses, in any order. A write takes effect when it is acknowledged."""

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.lines: dict[tuple[int, int], bytes] = {}
        self.answers: list[tuple[int, bool, bytes, tuple[int, int]]] = []

    def line(self, space: int, at: int) -> bytes:
        if (space, at) not in self.lines:
            self.lines[space, at] = self.source.randbytes(LINE)
        return self.lines[space, at]

    def read(self, address: int, count: int) -> bytes:
        found = b""
        while len(found) < count:
            space, at = physical(address + len(found))
            inside = at % LINE
            found += self.line(space, at - inside)[inside : inside + count - len(found)]
        return found

    def ask(self, request: int) -> None:
        data = request & (1 << 8 * LINE) - 1
        at = request >> 8 * LINE & 0xFFFF_FFFF
        number = request >> 8 * LINE + 32 & (1 << ID_BITS) - 1
        write, last, space = (request >> REQUEST_BITS - 1 - bit & 1 for bit in range(3))
        assert last and at % LINE == 0 and at < (SRAM if space else DRAM), hex(at)
        if write:
            self.answers.append((number, True, data.to_bytes(LINE, "little"), (space, at)))
        else:
            self.answers.append((number, False, self.line(space, at), (space, at)))

    def answered(self, at: int) -> None:
        _, written, data, key = self.answers.pop(at)
        if written:
            self.lines[key] = data


@dataclass
class Move:
    tile: int
    thread: int
    to: int
    to_thread: int
    source: int
    target: int
    length: int
    handle: int
    their_handle: int
    status: int
    data: bytes
    landed: bool = False
    moved: bool = False


class Tiles:
    def __init__(self, dut: HierarchyObject, source: random.Random, jobs: tuple[int, int]) -> None:
        self.dut, self.source, self.jobs = dut, source, jobs
        self.memories = [Memory(source), Memory(source)]
        self.flits: list[deque[int]] = [deque(), deque()]
        self.stall = self.slow = 0.0
        self.moves: dict[int, Move] = {}
        self.bad = {0: [0] * THREADS, 1: [0] * THREADS}
        self.used: dict[int, set[tuple[int, int]]] = {0: set(), 1: set()}
        self.cycles = self.done = self.rejected = 0
        self.host: deque[int] = deque()
        self.replies: list[int] = []

    async def cycle(self) -> None:
        dut, chance = self.dut, self.source.random
        await FallingEdge(dut.clk_i)
        dut.job_i.value = self.jobs[1] << 5 | self.jobs[0]
        far_valid = far = box_ready = ready = answer_valid = answers = stall = 0
        sent: list[tuple[int, int]] = []
        for tile in range(2):
            if self.flits[tile] and chance() >= self.stall:
                far_valid |= 1 << tile
                far |= self.flits[tile][0] << BITS * tile
            box_ready |= (chance() >= self.slow) << tile
            ready |= (chance() >= self.stall) << tile
            stall |= sum((chance() < self.stall) << bit for bit in range(4)) << 4 * tile
            memory = self.memories[tile]
            if memory.answers and chance() >= self.stall:
                at = self.source.randrange(len(memory.answers)) if self.stall else 0
                number, ack, data, _ = memory.answers[at]
                answer_valid |= 1 << tile
                value = (((ack << 1 | 1) << ID_BITS | number) << 8 * LINE) | int.from_bytes(data, "little")
                answers |= value << (2 + ID_BITS + 8 * LINE) * tile
                sent.append((tile, at))
        dut.far_valid_i.value, dut.far_i.value = far_valid, far
        dut.box_ready_i.value, dut.mem_req_ready_i.value = box_ready, ready
        dut.mem_rsp_valid_i.value, dut.mem_rsp_i.value = answer_valid, answers
        dut.host_valid_i.value, dut.host_i.value = (2, self.host[0]) if self.host else (0, 0)
        dut.stall_i.value = stall | 0xF if self.host else stall
        await ReadOnly()
        self.cycles += 1
        far_ready, box_valid = int(dut.far_ready_o.value), int(dut.box_valid_o.value)
        asked = int(dut.mem_req_valid_o.value) & ready
        if self.host and int(dut.host_ready_o.value) & 2:
            self.host.popleft()
        if int(dut.sent_valid_o.value) & 4:
            fields = FLIT.unpack(int(dut.sent_o.value))
            if fields["dest"] == ENDPOINT["host"] << 29:
                self.replies.append(LOAD.unpack(fields["payload"])["status"])
        for tile, at in sent:
            self.memories[tile].answered(at)
        for tile in range(2):
            if asked >> tile & 1:
                self.memories[tile].ask(int(dut.mem_req_o.value) >> REQUEST_BITS * tile & (1 << REQUEST_BITS) - 1)
            if far_valid & far_ready & 1 << tile:
                self.flits[tile].popleft()
            if box_valid & box_ready & 1 << tile:
                self.told(tile, int(dut.box_o.value) >> BITS * tile & (1 << BITS) - 1)

    def told(self, tile: int, flit: int) -> None:
        """A packet for a thread of a tile."""
        fields = FLIT.unpack(flit)
        thread = fields["dest"] & 63
        assert fields["last"] == 1 and fields["kind"] == 0 and fields["dest"] >> 6 == tile, fields
        said = HEAD.unpack(fields["payload"])
        if said["kind"] == KIND["bad"]:
            self.bad[tile][thread] -= 1
            return
        move = self.moves[said["handle"] & 0x7FFF]
        assert (said["length"], said["status"]) == (move.length, move.status), (said, move)
        if said["kind"] == KIND["landed"]:
            assert (tile, thread, move.landed, move.status) == (move.to, move.to_thread, False, 0), (said, move)
            assert self.memories[tile].read(move.target, move.length) == move.data, (said, move)
            move.landed = True
        else:
            assert said["kind"] == KIND["moved"], said
            assert (tile, thread, move.moved) == (move.tile, move.thread, False), (said, move)
            move.moved = True
            self.rejected += move.status != 0
        # The two are sent by one DMA engine, but over different paths.
        if move.moved and (move.landed or move.status):
            del self.moves[move.handle]
            self.done += 1

    def send(self, tile: int, thread: int, *payloads: int) -> None:
        dest = ENDPOINT["accelerator"] << 29 | tile << 6 | thread
        for number, payload in enumerate(payloads):
            self.flits[tile].append(
                FLIT.pack(kind=0, last=int(number == len(payloads) - 1), vnet=1, dest=dest, payload=payload)
            )

    async def asks(self, address: int, *, replies: bool) -> None:
        """A host fills a line of tile 1, between packets of tile 0."""
        header = LOAD.pack(op=1, length=LINE, address=address, reply=ENDPOINT["host"] << 29 if replies else 0)
        dest = ENDPOINT["tile"] << 29 | 1 << 6
        job = int(self.dut.job_i.value) >> 5
        self.host.append(FLIT.pack(kind=3, last=1, vnet=1, job=job, dest=dest, payload=header))
        before = len(self.replies)
        while self.host or (replies and len(self.replies) == before):
            await self.cycle()
            assert self.cycles < 100_000

    def place(self, length: int) -> int:
        """An address with space for `length` bytes, often at the end of a window."""
        base, size = self.source.choice([(DIRECT, DRAM // 2), (PARTITIONS, HALF), (SRAM_BASE, SRAM)])
        at = self.source.choice([0, size - length, self.source.randrange(0, size - length)])
        return base + at

    def request(self, number: int, tile: int, thread: int, wrong: str, lines: int | None = None) -> None:
        """Requests a transfer, valid or with one error, of the given or a random number of lines."""
        source = self.source
        to, to_thread = source.randrange(2), source.randrange(THREADS)
        if lines is None:
            lines = source.choice([1, 1, 2, 7, 8, 9, 16, 17, source.randrange(60)])
        length = lines * LINE
        while True:
            here, there = self.place(length + LINE), self.place(length) // LINE * LINE
            own = {(to, physical(there + at)[1]) for at in range(0, length, LINE)}
            read = {(tile, physical(here - here % LINE + at)[1]) for at in range(0, length + LINE, LINE)}
            if not own & self.used[0] and not own & self.used[1] and not read & self.used[1]:
                break
        here += source.choice([0, 0, 16, source.randrange(LINE)])
        status = 0
        address = to << THREADS.bit_length() - 1 | to_thread
        if wrong == "place":
            address, status = source.choice([0x4000, 1 << 31 | address, ENDPOINT["host"] << 29]), REJECTION["place"]
        elif wrong == "length":
            length, status = length + source.choice([1, 4, 16, LINE - 1]), REJECTION["length"]
        elif wrong == "target":
            length = length or LINE
            there = source.choice([there + 1, there + 16, 0, DIRECT + DRAM, DIRECT - length, PARTITIONS + HALF,
                                   SRAM_BASE + SRAM, 0x10_0000, 0xFFFF_FFE0])  # fmt: skip
            status = REJECTION["address"]
        elif wrong == "source":
            length = length or LINE
            here = source.choice([0, 0x10_0000, DIRECT + DRAM - length + 1, SRAM_BASE + SRAM - length + 1,
                                  PARTITIONS + HALF - 1, 0xFFFF_FFFF])  # fmt: skip
            status = REJECTION["address"]
        data = b""
        if not status:
            data = self.memories[tile].read(here, length)
            self.used[0] |= read
            self.used[1] |= own
        handle = number & 0x7FFF
        self.moves[handle] = Move(tile, thread, to, to_thread, here, there, length, handle, handle | 0x8000, status,
                                     data)  # fmt: skip
        head = HEAD.pack(kind=KIND["move"], thread=address, handle=handle, their_handle=handle | 0x8000, length=length)
        self.send(tile, thread, head, PLACES.pack(source=here, target=there))


async def start(dut: HierarchyObject, jobs: tuple[int, int] = (0, 0)) -> Tiles:
    source = random.Random(int(os.environ["MOVE_SEED"]))
    tiles = Tiles(dut, source, jobs)
    cocotb.start_soon(Clock(dut.clk_i, 2, unit="ns").start())
    dut.rst_ni.value = 0
    for _ in range(4):
        await tiles.cycle()
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    return tiles


@cocotb.test()
async def random_transfers_match_model(dut: HierarchyObject) -> None:
    """Transfers of any length between any addresses, in both directions at once and within a tile; invalid requests."""
    tiles = await start(dut)
    source, count = tiles.source, int(os.environ["MOVE_COUNT"])
    number, both = 0, False
    while number < count or tiles.moves or any(any(bad) for bad in tiles.bad.values()):
        if tiles.cycles % 400 == 0:
            tiles.stall = source.choice([0.0, 0.1, 0.6])
            tiles.slow = source.choice([0.0, 0.2, 0.95])
        for tile in range(2):
            open_threads = {move.thread for move in tiles.moves.values() if move.tile == tile}
            free = [t for t in range(THREADS) if t not in open_threads and not tiles.bad[tile][t]]
            if number < count and free and len(tiles.flits[tile]) < 4 and source.random() < 0.05:
                thread = source.choice(free)
                wrong = source.choice(["", "", "", "", "", "place", "length", "target", "source"])
                tiles.request(number, tile, thread, wrong)
                number += 1
            elif number < count and source.random() < 0.004:
                # Not two flits: the thread is notified, and nothing else happens.
                thread = source.choice(free or [0])
                if thread in free:
                    payloads = [HEAD.pack(kind=KIND["move"], length=LINE)] + [0] * source.choice([0, 2, 3])
                    tiles.send(tile, thread, *payloads)
                    tiles.bad[tile][thread] = 1
        both |= len({move.tile for move in tiles.moves.values() if move.to != move.tile}) == 2
        if len(tiles.moves) == 0:
            tiles.used[0].clear()
            tiles.used[1].clear()
        await tiles.cycle()
        assert tiles.cycles < 2000 * count, f"transfers that do not end: {tiles.moves}"
    # A short run ends before the engine has cleared its tables, which it does after reset.
    for _ in range(20_000):
        if int(dut.busy_o.value) == 0:
            break
        await tiles.cycle()
    for _ in range(100):
        assert int(dut.busy_o.value) == 0
        await tiles.cycle()
    assert both and 0 < tiles.rejected < tiles.done == count


@cocotb.test()
async def second_request_of_a_thread_is_rejected(dut: HierarchyObject) -> None:
    """A second request before the first answer is rejected; the first transfer is not affected."""
    tiles = await start(dut)
    tiles.stall = 0.9
    tiles.request(1, 0, 3, "", lines=60)  # in flight longer than the second request waits
    head = HEAD.pack(kind=KIND["move"], length=LINE, handle=9)
    tiles.send(0, 3, head, PLACES.pack(source=DIRECT, target=DIRECT))
    tiles.bad[0][3] = 1
    while tiles.moves or tiles.bad[0][3]:
        await tiles.cycle()
        assert tiles.cycles < 50_000
    assert tiles.done == 1


@cocotb.test()
async def tile_of_another_job_rejects_transfer(dut: HierarchyObject) -> None:
    """The other tile belongs to another job: it is not written, and the rejection is reported; both continue."""
    tiles = await start(dut, (0, 2))
    target = DIRECT + 0x1000
    for number in range(6):
        length = LINE * (1 + 12 * number)
        before = tiles.memories[1].read(target, length)
        move = Move(0, number, 1, 0, DIRECT, target, length, number, number | 0x8000, REJECTION["job"], b"")
        tiles.moves[number] = move
        tiles.send(0, number, HEAD.pack(kind=KIND["move"], thread=THREADS, handle=number,
                                        their_handle=number | 0x8000, length=length),
                   PLACES.pack(source=DIRECT + 3, target=target))  # fmt: skip
        while tiles.moves:
            await tiles.cycle()
            assert tiles.cycles < 20_000
        assert tiles.memories[1].read(target, length) == before
    assert tiles.rejected == 6
    # A rejection for the DMA engine is not reported to the host.
    await tiles.asks(DIRECT, replies=True)
    assert tiles.replies == [0]


@cocotb.test()
async def host_rejections_are_reported_to_the_host(dut: HierarchyObject) -> None:
    """A host packet rejected without a reply is reported to the host, not to a DMA engine that is answered first."""
    tiles = await start(dut)
    await tiles.asks(DIRECT + DRAM, replies=False)
    tiles.moves[1] = Move(0, 1, 1, 2, DIRECT, DIRECT, LINE, 1, 0x8001, 0, tiles.memories[0].read(DIRECT, LINE))
    tiles.send(0, 1, HEAD.pack(kind=KIND["move"], thread=THREADS | 2, handle=1, their_handle=0x8001, length=LINE),
               PLACES.pack(source=DIRECT, target=DIRECT))  # fmt: skip
    while tiles.moves:
        await tiles.cycle()
        assert tiles.cycles < 10_000
    await tiles.asks(DIRECT, replies=True)
    await tiles.asks(DIRECT, replies=True)
    assert tiles.replies == [REJECTION["address"], 0]


@cocotb.test()
async def transfers_do_not_write_memory_of_a_new_job(dut: HierarchyObject) -> None:
    """Both tiles get another job while one transfer is in flight and one waits: neither writes the new job's memory."""
    tiles = await start(dut)
    length, target = 200 * LINE, DIRECT + 0x1_0000
    before = tiles.memories[1].read(target, 2 * length)
    for number in range(2):
        begin = target + number * length
        tiles.moves[number] = Move(
            0, number, 1, 0, DIRECT, begin, length, number, number | 0x8000, REJECTION["job"], b""
        )
        tiles.send(0, number, HEAD.pack(kind=KIND["move"], thread=THREADS, handle=number,
                                        their_handle=number | 0x8000, length=length),
                   PLACES.pack(source=DIRECT, target=begin))  # fmt: skip
    while tiles.memories[1].read(target + 40 * LINE, LINE) == before[40 * LINE : 41 * LINE]:
        await tiles.cycle()
        assert tiles.cycles < 20_000
    tiles.jobs = (3, 3)
    while tiles.moves:
        await tiles.cycle()
        assert tiles.cycles < 20_000
    # Packets already in the loader are written.
    assert tiles.memories[1].read(target, 2 * length)[80 * LINE :] == before[80 * LINE :]
    assert tiles.rejected == 2


@cocotb.test()
async def long_transfer_cycles_are_bounded(dut: HierarchyObject) -> None:
    """A long transfer without stalls: cycles per 256 bytes, printed and bounded."""
    tiles = await start(dut)
    for shift in (0, 5):
        length, begin = 8192, tiles.cycles
        data = tiles.memories[0].read(DIRECT + shift, length)
        tiles.moves[1] = Move(0, 0, 1, 2, DIRECT + shift, DIRECT, length, 1, 0x8001, 0, data)
        tiles.send(0, 0, HEAD.pack(kind=KIND["move"], thread=THREADS | 2, handle=1, their_handle=0x8001, length=length),
                   PLACES.pack(source=DIRECT + shift, target=DIRECT))  # fmt: skip
        while tiles.moves:
            await tiles.cycle()
        cycles = (tiles.cycles - begin) / (length / 256)
        cocotb.log.info("%.2f cycles for 256 bytes", cycles)
        assert cycles < 24, cycles
