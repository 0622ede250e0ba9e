# SPDX-License-Identifier: Apache-2.0
"""Caches of every kind against a flat memory; the memory model responds in random order and after random delays."""

from __future__ import annotations

import os
import random
from collections import Counter, deque
from dataclasses import dataclass, field

import cocotb
from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import ReadOnly, RisingEdge, Timer
from cocotb.types import LogicArray

LOAD, STORE, FLUSH_LINE, FLUSH_ALL = range(4)
# Addresses of lines that threads hand over to each other, separate from the threads' private lines.
SHARED = 0xC000_0000


@dataclass(frozen=True)
class Kind:
    """One cache of cache_top: its parameters there."""

    index: int
    ways: int
    sets: int
    line: int
    port: int
    inflight: int
    threads: int = 16

    @property
    def thread_bits(self) -> int:
        """Bits of a thread's number."""
        return (self.threads - 1).bit_length()


KINDS = (
    Kind(0, 1, 4, 16, 4, 3),
    Kind(1, 2, 2, 32, 32, 4),
    Kind(2, 4, 2, 32, 4, 8),
    Kind(3, 8, 1, 64, 32, 6),
    Kind(4, 16, 1, 64, 64, 5),
    Kind(5, 4, 4, 16, 8, 1),
    # More threads than slots for hits, fills and responses, and more than a queue in registers holds.
    Kind(6, 2, 2, 16, 16, 4, 64),
)


def before(space: int, addr: int) -> int:
    """The initial byte of memory at an address."""
    mixed = (addr ^ space << 7) * 0x9E37_79B1
    return (mixed >> 15 ^ mixed >> 24) & 0xFF


class Tree:
    """Pseudo-LRU by intervals: each range of ways records which half was used last."""

    def __init__(self, ways: int) -> None:
        self.ways = ways
        self.recent_right: dict[tuple[int, int], bool] = {}

    def use(self, way: int) -> None:
        low, high = 0, self.ways
        while high - low > 1:
            middle = (low + high) // 2
            self.recent_right[low, high] = way >= middle
            low, high = (middle, high) if way >= middle else (low, middle)

    def oldest(self) -> int:
        low, high = 0, self.ways
        while high - low > 1:
            middle = (low + high) // 2
            # Initially the right half of each range counts as used last.
            low, high = (low, middle) if self.recent_right.get((low, high), True) else (middle, high)
        return low


@dataclass
class Set:
    """The model's state of a set: the line in each way, and which of them are dirty."""

    tree: Tree
    lines: list[tuple[int, int] | None]
    dirty: set[int] = field(default_factory=set)


@dataclass
class Request:
    op: int
    funct3: int
    thread: int
    space: int
    addr: int
    data: int
    expect: int
    hit: bool | None


class Bench:
    """Drives one cache. In each cycle it samples the outputs, checks them, and selects the next inputs."""

    def __init__(self, kind: Kind, seed: int, requests: int, pace: str) -> None:
        self.kind = kind
        self.rng = random.Random(f"{seed}/{kind.index}/{pace}")
        self.left = requests
        self.pace = pace
        self.flat: dict[tuple[int, int], int] = {}
        self.memory: dict[tuple[int, int], int] = {}
        self.sets = [[Set(Tree(kind.ways), [None] * kind.ways) for _ in range(kind.sets)] for _ in range(kind.threads)]
        self.open: dict[int, Request] = {}
        self.offered: Request | None = None
        self.order: deque[int] = deque()
        self.missing: set[int] = set()
        self.filling: set[int] = set()
        # Shared lines: their owner, and their next owner during a hand-over.
        self.owner = {line: line % kind.threads for line in range(4 * kind.threads)}
        self.jobs: list[tuple[int, int, list[bytes] | None, int, int]] = []
        self.cycle = 0
        self.moved = 0
        self.hold = 0
        self.writing: dict[tuple[int, int], int] = {}
        self.partial: list[bytes] = []
        self.beats: deque[tuple[int, int, int, bytes]] = deque()
        self.seen: Counter[str] = Counter()
        self.write_backs = 0
        self.finishing = False
        self.evicted: dict[int, tuple[int, int]] = {}
        self.to_flush = list(range(kind.threads))
        self.ready_given = True
        self.rsp_given = True
        self.beat_given = False

    # Requests of a thread.
    def line_of(self, thread: int) -> tuple[int, int]:
        """A line: a private one of either space, three times as many as the cache holds, or an owned shared one."""
        kind, rng = self.kind, self.rng
        mine = [line for line, owner in self.owner.items() if owner == thread]
        if mine and rng.random() < 0.1:
            return 0, SHARED + rng.choice(mine) * kind.line
        if thread in self.evicted and rng.random() < 0.15:
            # The line that was just evicted: its write-back may be in flight.
            return self.evicted.pop(thread)
        reach = kind.ways * kind.sets * 3
        # Mostly a small subset, so that there are hits.
        near = max(2, kind.ways * kind.sets // 2)
        number = rng.randrange(near) if rng.random() < 0.7 else rng.randrange(reach)
        space = int(number % 5 == 4)
        # Occasionally a line that differs in one address bit; the bits depend on the thread.
        flip = 0
        if rng.random() < 0.2:
            bits = (*range(22, 32),) if space else (*range(22, 32), *range(12, 16))
            flip = 1 << bits[(thread + rng.choice((0, 7))) % len(bits)]
        own = (number * kind.threads + thread) * kind.line if space else thread << 16 | number * kind.line
        return space, own ^ flip

    def word(self, space: int, addr: int, size: int) -> int:
        return sum(self.flat.get((space, addr + i), before(space, addr + i)) << 8 * i for i in range(size))

    def touch(self, thread: int, space: int, addr: int, store: bool) -> bool:
        """The model's view of a load or store: whether it hits."""
        kind = self.kind
        line = addr // kind.line
        group = self.sets[thread][line % kind.sets]
        hit = (space, line) in group.lines
        if hit:
            way = group.lines.index((space, line))
        else:
            way = group.lines.index(None) if None in group.lines else group.tree.oldest()
            if way in group.dirty:
                group.dirty.discard(way)
                self.write_backs += 1
                self.seen["dirty eviction"] += 1
                left = group.lines[way]
                if left is not None and not (left[0] == 0 and left[1] * kind.line >= SHARED):
                    self.evicted[thread] = left[0], left[1] * kind.line
            elif group.lines[way] is not None:
                self.seen["clean eviction"] += 1
            group.lines[way] = (space, line)
        if store:
            group.dirty.add(way)
        group.tree.use(way)
        return hit

    def drop(self, thread: int, number: int, way: int) -> None:
        group = self.sets[thread][number]
        if way in group.dirty:
            group.dirty.discard(way)
            self.write_backs += 1
            self.seen["flush of a dirty line"] += 1
        else:
            self.seen["flush of a clean line" if group.lines[way] else "flush of nothing"] += 1
        group.lines[way] = None

    def choose(self) -> Request | None:
        rng, kind = self.rng, self.kind
        idle = [t for t in range(kind.threads) if t not in self.open]
        if self.finishing:
            idle = [t for t in idle if t in self.to_flush]
        if not idle or (self.left == 0 and not self.finishing):
            return None
        thread = rng.choice(idle)
        if self.finishing:
            self.to_flush.remove(thread)
            return self.flush(thread, FLUSH_ALL)
        self.left -= 1
        chance = rng.random()
        if chance < 0.01:
            return self.flush(thread, FLUSH_ALL)
        if chance < 0.06:
            return self.flush(thread, FLUSH_LINE)
        space, base = self.line_of(thread)
        size = rng.choice((0, 1, 2, 2))
        addr = base + rng.randrange(kind.line >> size << size >> size) * (1 << size) % kind.line
        store = rng.random() < 0.5
        funct3 = size | (4 if not store and size < 2 and rng.random() < 0.5 else 0)
        data = rng.getrandbits(32)
        hit = self.touch(thread, space, addr, store)
        expect = 0
        if store:
            for i in range(1 << size):
                self.flat[space, addr + i] = data >> 8 * i & 0xFF
        else:
            expect = self.word(space, addr, 1 << size)
            if not funct3 & 4 and expect >> (8 << size) - 1:
                expect |= 0xFFFF_FFFF << (8 << size) & 0xFFFF_FFFF
        self.seen[f"{'store' if store else 'load'} {funct3}"] += 1
        return Request(STORE if store else LOAD, funct3, thread, space, addr, data, expect, hit)

    def flush(self, thread: int, op: int) -> Request:
        rng, kind = self.rng, self.kind
        if op == FLUSH_ALL:
            for number in range(kind.sets):
                for way in range(kind.ways):
                    self.drop(thread, number, way)
            return Request(op, rng.randrange(8), thread, 0, rng.getrandbits(32), 0, 0, None)
        if rng.random() < 0.3:
            number, way = rng.randrange(kind.sets), rng.randrange(kind.ways)
            self.drop(thread, number, way)
            return Request(op, 1, thread, 0, number * kind.line + way, 0, 0, None)
        mine = [line for line, owner in self.owner.items() if owner == thread]
        if mine and rng.random() < 0.7:
            space, base = 0, SHARED + rng.choice(mine) * kind.line
        else:
            space, base = self.line_of(thread)
        group = self.sets[thread][base // kind.line % kind.sets]
        if (space, base // kind.line) in group.lines:
            self.drop(thread, base // kind.line % kind.sets, group.lines.index((space, base // kind.line)))
        else:
            self.seen["flush of an absent line"] += 1
        return Request(op, 0, thread, space, base + rng.randrange(kind.line), 0, 0, None)

    def answered(self, request: Request, data: int) -> None:
        if request.op in (FLUSH_LINE, FLUSH_ALL):
            assert request.thread not in self.writing.values(), "a flush was done before its write-back"
        assert data == request.expect, f"{request}: got {data:#x}, not {request.expect:#x}"
        shared = (request.addr - SHARED) // self.kind.line
        if request.op == FLUSH_LINE and request.funct3 == 0 and request.space == 0 and shared in self.owner:
            # Flushed lines may be handed over: the next owner must read the stored data.
            self.owner[shared] = self.rng.randrange(self.kind.threads)
            self.seen["line handed over"] += 1

    # One cycle.
    def step(self, out: int) -> int:
        """Samples the outputs before this edge, and drives the inputs after it."""
        kind, rng = self.kind, self.rng
        bits = kind.thread_bits
        widths = (
            ("req_ready", 1), ("rsp_valid", 1), ("rsp_thread", bits), ("rsp_data", 32), ("hit", 1), ("miss", 1),
            ("event_thread", bits), ("writeback", 1), ("writeback_thread", bits), ("mrsp_ready", 1), ("mreq_valid", 1),
            ("write", 1), ("last", 1), ("space", 1), ("id", bits), ("addr", 32), ("data", 8 * kind.port),
        )  # fmt: skip
        got = {}
        for name, width in widths:
            got[name] = out & (1 << width) - 1
            out >>= width
        self.look(got)
        if self.offered is None:
            eager = 1.0 if self.pace == "fast" else rng.choice((0.1, 0.9))
            if rng.random() < eager:
                self.offered = self.choose()
        fast = self.pace == "fast"
        # Occasionally responses are stalled for a while.
        self.hold = self.hold - 1 if self.hold else rng.randrange(120) if not fast and rng.random() < 0.005 else 0
        self.rsp_given = fast or (not self.hold and rng.random() < 0.8)
        self.ready_given = fast or rng.random() < 0.7
        due = [i for i, job in enumerate(self.jobs) if job[0] <= self.cycle]
        if not self.beats and due and (fast or rng.random() < 0.3):
            self.serve(rng.choice(due))
        self.beat_given = bool(self.beats) and (self.beat_given or fast or rng.random() < 0.8)
        ack, last, ident, data = self.beats[0] if self.beats else (0, 0, 0, b"")
        word, shift = 0, 0
        asked = self.offered
        values = (
            (int(asked is not None), 1), (asked.op if asked else 0, 2), (asked.funct3 if asked else 0, 3),
            (asked.thread if asked else 0, bits), (asked.space if asked else 0, 1), (asked.addr if asked else 0, 32),
            (asked.data if asked else 0, 32), (int(self.rsp_given), 1), (int(self.ready_given), 1),
            (int(self.beat_given), 1), (ack, 1), (last, 1), (ident, bits),
            (int.from_bytes(data, "little"), 8 * kind.port),
        )  # fmt: skip
        for value, width in values:
            word |= value << shift
            shift += width
        return word

    def due(self) -> int:
        # Long enough that all fills are outstanding before the first response, each after a write-back.
        kind = self.kind
        reach = 2 * kind.inflight * (kind.line // kind.port + 1)
        fast = self.pace == "fast"
        return self.cycle + (self.rng.randrange(reach, reach + 10) if fast else self.rng.randrange(max(80, reach)))

    def serve(self, index: int) -> None:
        _, ident, line, space, addr = self.jobs.pop(index)
        kind = self.kind
        if line is None:
            addresses = [(space, addr + i) for i in range(kind.line)]
            data = bytes(self.memory.get(address, before(*address)) for address in addresses)
            parts = [data[i : i + kind.port] for i in range(0, kind.line, kind.port)]
            for number, part in enumerate(parts):
                self.beats.append((0, int(number == len(parts) - 1), ident, part))
        else:
            for i, byte in enumerate(b"".join(line)):
                self.memory[space, addr + i] = byte
            del self.writing[space, addr]
            self.beats.append((1, 1, ident, b""))

    def look(self, got: dict[str, int]) -> None:
        """Checks the transfers at this edge."""
        self.cycle += 1
        assert self.cycle - self.moved < 5000, f"cache {self.kind.index} is deadlocked"
        if got["rsp_valid"] and self.rsp_given:
            self.moved = self.cycle
            request = self.open.pop(got["rsp_thread"])
            if request.hit and self.missing:
                self.seen["hit under a miss"] += 1
            if self.order[0] != request.thread:
                self.seen["answer out of order"] += 1
            self.order.remove(request.thread)
            self.missing.discard(request.thread)
            self.answered(request, got["rsp_data"])
        elif got["rsp_valid"]:
            self.seen["answer held back"] += 1
        if self.offered is not None:
            if got["req_ready"]:
                self.open[self.offered.thread] = self.offered
                self.order.append(self.offered.thread)
                self.offered = None
            else:
                self.seen["request held back"] += 1
        if got["hit"] or got["miss"]:
            request = self.open[got["event_thread"]]
            assert not (got["hit"] and got["miss"])
            assert request.hit == bool(got["hit"]), f"{request}: the model says otherwise"
            self.seen["hits" if request.hit else "misses"] += 1
            if not request.hit:
                self.missing.add(request.thread)
        if got["writeback"]:
            self.seen["write-backs"] += 1
        if self.beat_given:
            if got["mrsp_ready"]:
                ack, last, ident, _ = self.beats.popleft()
                if last and not ack:
                    self.filling.discard(ident)
                self.beat_given = False
            else:
                self.seen["beat held back"] += 1
        if got["mreq_valid"] and self.ready_given:
            self.requested(got)
        elif got["mreq_valid"]:
            self.seen["memory held back"] += 1

    def requested(self, got: dict[str, int]) -> None:
        kind = self.kind
        space, addr, ident = got["space"], got["addr"], got["id"]
        assert addr % kind.line == 0, "memory addresses are those of lines"
        if got["write"]:
            self.partial.append(got["data"].to_bytes(kind.port, "little"))
            assert got["last"] == (len(self.partial) * kind.port == kind.line)
            if got["last"]:
                assert (space, addr) not in self.writing
                self.writing[space, addr] = ident
                self.jobs.append((self.due(), ident, self.partial, space, addr))
                self.partial = []
            return
        assert got["last"] and not self.partial, "bursts are never interleaved"
        assert (space, addr) not in self.writing, "a line was requested before its write-back was acknowledged"
        if ident in self.writing.values():
            self.seen["fill with its write-back"] += 1
        assert ident not in self.filling
        self.filling.add(ident)
        assert len(self.filling) <= kind.inflight
        if len(self.filling) == kind.inflight:
            self.seen["all fills open"] += 1
        self.jobs.append((self.due(), ident, None, space, addr))

    @property
    def done(self) -> bool:
        if self.left or self.open or self.offered or self.jobs or self.beats or self.partial:
            return False
        if not self.finishing:
            self.finishing = True
            return False
        return not self.to_flush

    def judge(self) -> None:
        """At the end memory has all stored data, and all required events have occurred."""
        for address, byte in self.flat.items():
            found = self.memory.get(address, before(*address))
            assert found == byte, f"{address} is {found} in memory, not {byte}"
        assert self.seen["write-backs"] == self.write_backs
        wanted = [
            "hit under a miss", "answer out of order", "dirty eviction", "clean eviction", "flush of a dirty line",
            "flush of an absent line", "flush of nothing", "line handed over", "fill with its write-back",
            "all fills open", *(f"load {f}" for f in (0, 1, 2, 4, 5)), *(f"store {f}" for f in (0, 1, 2)),
        ]  # fmt: skip
        if self.pace != "fast":
            wanted += ["answer held back", "request held back", "memory held back"]
            # With one outstanding fill the response queue always has a free slot.
            wanted += ["beat held back"] if self.kind.inflight > 1 else []
        missing = [what for what in wanted if not self.seen[what]]
        assert not missing, f"cache {self.kind.index}, {self.pace}: never happened: {missing}"


async def run(dut: SimHandleBase, benches: list[Bench], limit: int) -> int:
    """Resets, and runs until all benches are done; returns the number of cycles."""
    dut.clk_i.value = 0
    dut.rst_ni.value = 0
    await Timer(1, unit="ns")
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    ins = [dut.in_i[b.kind.index] for b in benches]
    outs = [dut.out_o[b.kind.index] for b in benches]
    for handle in ins:
        handle.value = 0
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for cycle in range(limit):
        await ReadOnly()
        seen = [int(handle.value.to_unsigned()) for handle in outs]
        await RisingEdge(dut.clk_i)
        running = False
        for bench, handle, out in zip(benches, ins, seen, strict=True):
            if not bench.done:
                running = True
                handle.value = LogicArray.from_unsigned(bench.step(out), 1024)
        if not running:
            return cycle
    raise AssertionError(f"not done after {limit} cycles: {[b.kind.index for b in benches if not b.done]}")


@cocotb.test()
async def cache_matches_flat_memory(dut: SimHandleBase) -> None:
    """Random requests, back-pressure on all streams, latencies and order of the memory."""
    seed, requests = int(os.environ["CACHE_SEED"]), int(os.environ["CACHE_REQUESTS"])
    benches = [Bench(kind, seed, requests, "random") for kind in KINDS]
    await run(dut, benches, 200 * requests + 20_000)
    for bench in benches:
        bench.judge()


class Hits(Bench):
    """Only loads that hit, at the threads' maximum rate; counts the cycles in which one is accepted."""

    def __init__(self, kind: Kind, seed: int, requests: int) -> None:
        super().__init__(kind, seed, requests, "fast")
        self.taken: list[int] = []

    def line_of(self, thread: int) -> tuple[int, int]:
        return 0, thread << 16

    def flush(self, thread: int, op: int) -> Request:
        return self.load(thread) if not self.finishing else super().flush(thread, op)

    def load(self, thread: int) -> Request:
        space, addr = self.line_of(thread)
        return Request(
            LOAD, 2, thread, space, addr, 0, self.word(space, addr, 4), self.touch(thread, space, addr, False)
        )

    def look(self, got: dict[str, int]) -> None:
        if self.offered is not None and got["req_ready"]:
            self.taken.append(self.cycle)
        super().look(got)


@cocotb.test()
async def hits_sustain_one_request_per_cycle(dut: SimHandleBase) -> None:
    """With enough threads to cover the latency, and only hits, a request is accepted in every cycle."""
    benches = [Hits(kind, 1, 1400) for kind in KINDS]
    await run(dut, benches, 5_000)
    for bench in benches:
        middle = bench.taken[1000:1300]
        assert len(middle) == 300
        assert middle[-1] - middle[0] <= 303, f"300 hits took {middle[-1] - middle[0]} cycles"


@cocotb.test()
async def cache_matches_flat_memory_at_full_speed(dut: SimHandleBase) -> None:
    """The same without artificial stalls."""
    seed, requests = int(os.environ["CACHE_SEED"]), int(os.environ["CACHE_REQUESTS"])
    benches = [Bench(kind, seed, requests, "fast") for kind in KINDS]
    await run(dut, benches, 200 * requests + 20_000)
    for bench in benches:
        bench.judge()
