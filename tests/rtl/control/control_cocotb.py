# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the control unit: threads with random requests at random times, and slow or erroneous hosts."""

from __future__ import annotations

import os
import random
import struct
from collections import defaultdict, deque
from collections.abc import Callable

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge, ReadOnly

from gossamer.config import constants

CYCLES = int(os.environ.get("CONTROL_CYCLES", "6000"))
CORES = int(os.environ.get("CONTROL_CORES", "4"))
TIDS = int(os.environ.get("CONTROL_TIDS", "16"))
MEMORIES = int(os.environ.get("CONTROL_MEMORIES", "2"))
WORDS = int(os.environ.get("CONTROL_WORDS", "2048"))
THREADS = CORES * TIDS

CSR = constants.enumeration("csr")
COMMAND = constants.enumeration("debug_command")
REPORT = constants.enumeration("debug_report")
NAMES = {code: name for name, code in REPORT.values.items()}
TRAP = constants.enumeration("trap")
COUNTER = constants.enumeration("debug_counter")
X_LOAD, X_CSR, X_TRAP = 0, 2, 3
PC_UNKNOWN = 0x3FFFFFF
# Maximum latency in cycles of a request without dependencies, under any load.
BOUND = 40 * THREADS


class Request:
    """A thread's request to the control unit."""

    def __init__(self, thread: int, name: str, funct3: int, data: int = 0) -> None:
        self.thread, self.name, self.data = thread, name, data
        self.op = X_TRAP if name == "trap" else X_CSR
        self.funct3 = funct3
        self.addr = CSR[name] if self.op == X_CSR else TRAP["load_fault"] << 26 | PC_UNKNOWN


class Bench:
    """Threads, host and memory of the control unit, cycle by cycle."""

    def __init__(self, dut: HierarchyObject, act: Callable[[Bench, int], Request | None]) -> None:
        self.dut, self.act = dut, act
        self.now = 0
        self.requests: deque[Request] = deque()
        self.asked: dict[int, tuple[Request, int]] = {}  # requests that the control unit has taken, and when
        self.running: set[int] = set()  # threads that have issued, and neither got their answer nor ended
        self.endings: dict[int, deque[Request]] = defaultdict(deque)  # requests that ended their threads
        self.local: list[tuple[int, int]] = []  # when a thread's load is answered, and the thread
        self.answers: list[deque[int]] = [deque() for _ in range(CORES)]
        self.answered: list[tuple[int, str, int]] = []  # thread, what it asked for, the answer
        self.loads = 0
        self.reads: dict[str, int] = defaultdict(int)
        self.slowest = 0
        self.issues: dict[int, int] = defaultdict(int)
        self.bytes: deque[int] = deque()
        self.heard = bytearray()
        self.reports: list[bytes] = []
        self.host_reads: Callable[[], bool] = lambda: True
        self.words: list[int] = []
        self.flushes: list[int] = []  # threads whose part of the cache was asked for
        self.flush_due: int | None = None
        self.slow_flush = 40

    async def begin(self) -> None:
        cocotb.start_soon(Clock(self.dut.clk_i, 10, unit="ns").start())
        names = ("dbg_in_valid_i", "req_valid_i", "rsp_valid_i", "load_valid_i", "flush_done_i", "dbg_out_ready_i")
        for name in (*names, "rst_ni"):
            getattr(self.dut, name).value = 0
        for _ in range(4):
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1

    def command(self, name: str, *arguments: bytes) -> None:
        self.bytes.extend(bytes([COMMAND[name]]) + b"".join(arguments))

    async def cycle(self) -> None:
        """Drives the inputs, samples the outputs, then the edge."""
        dut = self.dut
        dut.dbg_in_valid_i.value = int(bool(self.bytes))
        if self.bytes:
            dut.dbg_in_data_i.value = self.bytes[0]
        dut.dbg_out_ready_i.value = int(self.host_reads())
        dut.req_valid_i.value = int(bool(self.requests))
        if self.requests:
            first = self.requests[0]
            dut.req_op_i.value, dut.req_funct3_i.value = first.op, first.funct3
            dut.req_thread_i.value, dut.req_addr_i.value = first.thread, first.addr
            dut.req_data_i.value = first.data
        for when, thread in [due for due in self.local if due[0] <= self.now]:
            self.local.remove((when, thread))
            self.answers[thread // TIDS].append(thread)
            self.loads += 1
        valid = 0
        for core, queue in enumerate(self.answers):
            if queue:
                valid |= 1 << core
                dut.rsp_tid_i[core].value = queue[0] % TIDS
        dut.rsp_valid_i.value = valid
        flushed = self.flush_due == self.now
        dut.flush_done_i.value = int(flushed)
        await ReadOnly()
        if flushed:
            self.flush_due = None
        elif int(dut.flush_valid_o.value) and self.flush_due is None:
            self.flushes.append(int(dut.flush_thread_o.value))
            self.flush_due = self.now + random.randrange(1, self.slow_flush)
        # The cache has one request of a thread at a time.
        flushing = self.flushes[-1:] if self.flush_due is not None else []
        assert not self.running.intersection(flushing), f"thread {flushing} is flushed and runs"
        taken = int(dut.rsp_taken_o.value)
        for core, queue in enumerate(self.answers):
            if queue and taken >> core & 1:
                self.running.discard(queue.popleft())
        if self.bytes and int(dut.dbg_in_ready_o.value):
            self.bytes.popleft()
        if int(dut.dbg_out_valid_o.value) and int(dut.dbg_out_ready_i.value):
            self.heard.append(int(dut.dbg_out_data_o.value))
            if len(self.heard) == 1 + (self.heard[0] >> 4):
                self.reports.append(bytes(self.heard))
                self.heard.clear()
        if self.requests and int(dut.req_ready_o.value):
            request = self.requests.popleft()
            self.asked[request.thread] = (request, self.now)
        if int(dut.ans_valid_o.value):
            thread = int(dut.ans_thread_o.value)
            request, when = self.asked.pop(thread)
            self.answered.append((thread, request.name, int(dut.ans_data_o.value)))
            if request.name in ("cycle", "job"):
                self.reads[request.name] += 1
                self.slowest = max(self.slowest, self.now - when)
            self.answers[thread // TIDS].append(thread)
        ended = int(dut.ended_o.value)
        for core in range(CORES):
            if ended >> core & 1:
                thread = core * TIDS + int(dut.ended_tid_o.value)
                assert thread in self.running
                self.running.discard(thread)
                self.endings[thread].append(self.asked.pop(thread)[0])
        issued, injected = int(dut.issued_o.value), int(dut.injected_o.value)
        for core in range(CORES):
            if issued >> core & 1:
                thread = core * TIDS + int(dut.issued_tid_o[core].value)
                # By construction: a thread is in the pipeline once.
                assert thread not in self.running, f"thread {thread} runs twice"
                self.running.add(thread)
                self.issues[thread] += 1
                request = None if injected >> core & 1 else self.act(self, thread)
                if request is None:
                    self.local.append((self.now + random.randrange(1, 20), thread))
                else:
                    self.requests.append(request)
        if int(dut.load_rvalid_o.value):
            self.words.append(int(dut.load_rdata_o.value))
        await FallingEdge(dut.clk_i)
        self.now += 1

    async def cycles(self, count: int) -> None:
        for _ in range(count):
            await self.cycle()

    async def until(self, what: Callable[[], bool], most: int, why: str) -> None:
        for _ in range(most):
            if what():
                return
            await self.cycle()
        raise AssertionError(f"in {most} cycles: {why}")

    def of(self, name: str) -> list[bytes]:
        return [report for report in self.reports if NAMES[report[0]] == name]


def write(thread: int, name: str, data: int) -> Request:
    return Request(thread, name, 0b001, data)


def read(thread: int, name: str) -> Request:
    return Request(thread, name, 0b010)


@cocotb.test()
async def stalled_host_blocks_no_other_request(dut: HierarchyObject) -> None:
    """Loads and other registers proceed; afterwards every report arrives, in order for each thread."""
    made: dict[int, list[bytes]] = defaultdict(list)
    final: set[int] = set()

    def act(bench: Bench, thread: int) -> Request | None:
        what = random.random()
        talks = thread % 3 != 0
        if talks and what < 0.2:
            name = random.choice(["emit", "debug_value"])
            data = random.getrandbits(32)
            made[thread].append(struct.pack("<BBI", REPORT[name], thread, data))
            return write(thread, name, data)
        if talks and what < 0.5:
            byte = random.getrandbits(8)
            made[thread].append(bytes([REPORT["uart"], thread, byte]))
            return Request(thread, "uart_put", 0b011, byte)
        if thread % 6 == 1 and what < 0.6:
            data = random.getrandbits(32)
            made[thread].append(struct.pack("<BBI", REPORT["stopped"], thread, data))
            final.add(thread)
            return write(thread, "thread_stop", data)
        if thread % 6 == 5 and what < 0.6:
            data = random.getrandbits(32)
            head = bytes([REPORT["trap"], thread, TRAP["load_fault"]])
            made[thread].append(head + struct.pack("<II", 0xFFFFFFFF, data))
            final.add(thread)
            return Request(thread, "trap", 0, data)
        if what < 0.8:
            return read(thread, random.choice(["cycle", "job"]))
        return None

    bench = Bench(dut, act)
    await bench.begin()
    bench.host_reads = lambda: False
    bench.command("start_first", bytes([THREADS]))
    await bench.cycles(CYCLES // 2)
    assert bench.reports == []
    quiet = [thread for thread in range(THREADS) if thread % 3 == 0]
    before, loads, reads = dict(bench.issues), bench.loads, sum(bench.reads.values())
    assert set(bench.issues) == set(range(THREADS)), "not all threads were started"
    await bench.cycles(CYCLES // 2)
    # All threads that report wait by now; the others run.
    assert all(bench.issues[thread] > before[thread] + CYCLES // 200 for thread in quiet)
    assert bench.loads > loads and sum(bench.reads.values()) > reads
    assert bench.slowest < BOUND, f"a read took {bench.slowest} cycles"
    talkers = [thread for thread in range(THREADS) if thread % 3 != 0]
    assert all(len(made[thread]) == 1 for thread in talkers), "a thread did not wait for its report"
    bench.host_reads = lambda: random.random() < 0.7
    bench.act = lambda _, thread: read(thread, "cycle")
    await bench.until(lambda: len(bench.reports) >= len(talkers), 40_000, "not every report came")
    await bench.cycles(200)
    heard: dict[int, list[bytes]] = defaultdict(list)
    for report in bench.reports:
        heard[report[1]].append(report)
    assert heard == {thread: made[thread] for thread in talkers}
    # All threads proceed except those that have ended.
    before = dict(bench.issues)
    await bench.cycles(1000)
    assert all((bench.issues[thread] > before[thread]) == (thread not in final) for thread in range(THREADS))
    taken = [data for _, name, data in bench.answered if name == "uart_put"]
    assert taken == [1] * len(taken)


@cocotb.test()
async def threads_start_exactly_once(dut: HierarchyObject) -> None:
    """Threads and the host start threads that run, that have ended or trapped, and none: one start for each end."""
    starts: dict[int, int] = defaultdict(int)

    def act(bench: Bench, thread: int) -> Request | None:
        what = random.random()
        core = thread // TIDS
        if what < 0.25:
            target = random.choice([thread % TIDS, random.randrange(TIDS), random.randrange(TIDS), TIDS, TIDS + 1])
            if random.random() < 0.05:
                target = random.getrandbits(32)
            return write(thread, "thread_start", target)
        if what < 0.35:
            return write(thread, "thread_stop", core)
        if what < 0.40:
            return Request(thread, "trap", 0, 7)
        return None if what < 0.8 else read(thread, "job")

    bench = Bench(dut, act)
    await bench.begin()
    handled = rejected = trapped = 0
    bench.slow_flush = 400
    bench.command("start_first", bytes([THREADS]))
    await bench.until(lambda: len(bench.issues) == THREADS, BOUND, "a thread did not start")
    while bench.now < 2 * CYCLES:
        if not bench.bytes and random.random() < 0.1:
            target = random.choice([random.randrange(THREADS), THREADS, 255])
            if target >= THREADS:
                bench.command(random.choice(["start", "halt", "resume", "flush"]), bytes([target]))
            elif random.random() < 0.6:
                # Other threads may start this one meanwhile.
                bench.command(random.choice(["start", "flush"]), bytes([target]))
            else:
                # Rejected unless the thread has trapped: none is parked.
                bench.command("inject", bytes([target]), struct.pack("<I", 0x13))
        await bench.cycle()
        for report in bench.reports[handled:]:
            name, thread = NAMES[report[0]], report[1]
            if name == "stopped":
                assert bench.endings[thread].popleft().name == "thread_stop"
            elif name == "trap":
                cause, _, value = struct.unpack("<xxBII", report)
                request = bench.endings[thread].popleft()
                if cause == TRAP["bad_thread"]:
                    assert request.name == "thread_start" and value == request.data
                    trapped += 1
                else:
                    assert request.name == "trap" and value == 7
            elif name == "started":
                starts[thread] += 1
            elif name == "rejected":
                rejected += 1
        handled = len(bench.reports)
    assert trapped > 10 and rejected > 3 and sum(starts.values()) > 3, (trapped, rejected, sum(starts.values()))
    asked = [report[1] for report in bench.of("rejected")].count(COMMAND["flush"]) + len(bench.flushes)
    assert 3 < len(bench.flushes) < asked, "flushes of idle threads are done, those of running threads rejected"


@cocotb.test()
async def instruction_writes_reach_their_memory(dut: HierarchyObject) -> None:
    """A thread's write goes to the memory of its core, the loader's to those that it chose; words are read in order."""
    todo: dict[int, deque[Request]] = defaultdict(deque)

    def act(bench: Bench, thread: int) -> Request | None:
        return todo[thread].popleft() if todo[thread] else read(thread, "job")

    bench = Bench(dut, act)
    await bench.begin()
    memories = [getattr(dut, f"gen_memory[{number}]").mem for number in range(MEMORIES)]
    want = [[0] * WORDS for _ in range(MEMORIES)]
    used: set[int] = set()
    addresses: dict[int, list[int]] = {}
    for memory in memories:
        for word in range(WORDS):
            memory[word].value = 0

    def place() -> int:
        number = random.choice([random.randrange(WORDS), 0, WORDS - 1])
        while number in used:
            number = random.randrange(WORDS)
        used.add(number)
        return number

    for thread in range(THREADS):
        word, data = place(), random.getrandbits(32)
        want[thread // (TIDS * CORES // MEMORIES)][word] = data
        todo[thread] += [write(thread, "instr_address", 4 * word), write(thread, "instr_write", data)]
        # What was written is read; a swap gives what was there.
        other = 4 * random.randrange(WORDS)
        todo[thread] += [read(thread, "instr_address"), Request(thread, "instr_address", 0b011, other)]
        todo[thread].append(read(thread, "instr_address"))
        addresses[thread] = [4 * word, 4 * word, other]
        if thread % 4 == 3:
            bad = random.choice(
                [4 * word + random.randrange(1, 4), 4 * WORDS, 4 * (word + WORDS), 0x80000000 | 4 * word]
            )
            todo[thread] += [write(thread, "instr_address", bad), write(thread, "instr_write", 0xBAD)]
    bench.command("start_first", bytes([THREADS]))

    async def load(memory: int, word: int, data: int | None) -> None:
        dut.load_valid_i.value = memory
        dut.load_write_i.value = int(data is not None)
        dut.load_addr_i.value = word
        dut.load_data_i.value = data or 0
        await bench.until(lambda: int(dut.load_ready_o.value) == 1, 50, "the loader is not served")
        await bench.cycle()
        dut.load_valid_i.value = 0

    for mask in range(1, 1 << MEMORIES):
        word, data = place(), random.getrandbits(32)
        for number in range(MEMORIES):
            if mask >> number & 1:
                want[number][word] = data
        await load(mask, word, data)
    traps = THREADS // 4
    await bench.until(lambda: len(bench.of("trap")) == traps and not bench.bytes, 160 * THREADS, "all have asked")
    await bench.cycles(300)
    for report in bench.of("trap"):
        assert report[2] == TRAP["bad_instr_address"]
    assert not bench.of("rejected")
    for thread, told in addresses.items():
        # No thread waits for the response to the write alone.
        assert [value for of, name, value in bench.answered if (of, name) == (thread, "instr_address")][1:] == told
    for number, memory in enumerate(memories):
        found = [int(memory[word].value) for word in sorted(used | {2})]
        assert found == [want[number][word] for word in sorted(used | {2})], f"memory {number}"
    # The loader reads the memories' contents, in order.
    asked = []
    for word in random.sample(sorted(used), min(12, len(used))):
        number = random.randrange(MEMORIES)
        asked.append(want[number][word])
        await load(1 << number, word, None)
    await bench.cycles(20)
    assert bench.words == asked


@cocotb.test()
async def busy_loader_starves_no_thread(dut: HierarchyObject) -> None:
    """The loader writes in every granted cycle; threads still issue, start, stop and write instructions."""

    def act(bench: Bench, thread: int) -> Request | None:
        what = random.random()
        if what < 0.1:
            return write(thread, "instr_address", 4 * thread)
        return write(thread, "instr_write", thread) if what < 0.2 else None

    bench = Bench(dut, act)
    await bench.begin()
    dut.load_write_i.value = 1
    dut.load_addr_i.value = 5
    dut.load_valid_i.value = (1 << MEMORIES) - 1
    bench.command("start_first", bytes([THREADS]))
    await bench.until(lambda: len(bench.issues) == THREADS, BOUND, "a thread did not start")
    before = dict(bench.issues)
    # Halted threads park, execute an injected instruction, and resume.
    for thread in range(0, THREADS, 5):
        bench.command("halt", bytes([thread]))
    halted = list(range(0, THREADS, 5))
    await bench.until(lambda: len(bench.of("parked")) == len(halted), 8 * BOUND, "a halted thread did not park")
    assert sorted(report[1] for report in bench.of("parked")) == halted
    stood = {thread: bench.issues[thread] for thread in halted}
    bench.command("inject", bytes([halted[1]]), struct.pack("<I", 0x13))
    await bench.until(lambda: not bench.bytes, 4000, "commands are not taken")
    await bench.cycles(400)
    assert {thread: bench.issues[thread] for thread in halted} == stood | {halted[1]: stood[halted[1]] + 1}
    for thread in halted:
        bench.command("resume", bytes([thread]))
    await bench.cycles(BOUND)
    assert all(bench.issues[thread] > stood[thread] + 1 for thread in halted)
    assert all(bench.issues[thread] > before[thread] + BOUND // 200 for thread in range(THREADS))
    assert len(bench.of("parked")) == len(halted) and not bench.of("rejected")


@cocotb.test()
async def host_inspects_halted_threads(dut: HierarchyObject) -> None:
    """Ping, flushes, bytes for threads, counters, and how many threads run; commands are done in order."""
    stops: set[int] = set()
    gets: dict[int, list[int]] = defaultdict(list)
    times: dict[int, list[tuple[str, int]]] = defaultdict(list)

    def act(bench: Bench, thread: int) -> Request | None:
        if thread in stops:
            return write(thread, "thread_stop", 0)
        what = random.random()
        if what < 0.3:
            return read(thread, "uart_get")
        return (
            read(thread, random.choice(["cycle", "cycle_high", "perf_idle_high", "perf_hits"])) if what < 0.5 else None
        )

    bench = Bench(dut, act)
    await bench.begin()
    bench.command("ping")
    threads = random.sample(range(THREADS), 8)
    for thread in threads:
        bench.command("flush", bytes([thread]))
        bench.command("read_counter", bytes([COUNTER["cycles"]]))
    bench.command("start_first", bytes([THREADS]))
    for number, thread in enumerate(threads):
        bench.command("uart", bytes([thread, 0x80 + number]))
    # From now on they run.
    bench.command("flush", bytes([threads[0]]))
    await bench.until(
        lambda: len(bench.of("counter")) == 8 and len(bench.of("taken")) == 8, 20_000, "not all is answered"
    )
    await bench.cycles(BOUND)
    assert bench.flushes == threads
    assert [report[1] for report in bench.of("flushed")] == threads
    identity = struct.unpack("<xIIBBBB", bench.of("identity")[0])
    magic, version = constants.value("debug_magic"), constants.value("debug_version")
    assert identity == (magic, 0, version, THREADS, TIDS, MEMORIES)
    counts = [struct.unpack("<xBQ", report) for report in bench.of("counter")]
    assert all(number == COUNTER["cycles"] for number, _ in counts)
    values = [value for _, value in counts]
    assert values == sorted(set(values)) and values[0] > 0 and values[-1] <= bench.now
    # The reports have the order of the commands.
    order = [NAMES[report[0]] for report in bench.reports if NAMES[report[0]] in ("flushed", "counter")]
    assert order == ["flushed", "counter"] * 8
    for thread, name, data in bench.answered:
        if name == "uart_get" and data:
            gets[thread].append(data)
        elif name in ("cycle", "cycle_high"):
            times[thread].append((name, data))
    assert gets == {thread: [0x180 + number] for number, thread in enumerate(threads)}
    for read_by in times.values():
        assert all(data == 0 for name, data in read_by if name == "cycle_high")
        low = [data for name, data in read_by if name == "cycle"]
        assert low == sorted(set(low)) and all(data <= bench.now for data in low)
    # So many run as were started, less those that ended; threads that end are started again once.
    await bench.until(
        lambda: int(dut.started_o.value) == THREADS, 10, f"{int(dut.started_o.value)} threads are started"
    )
    stops |= set(random.sample(range(THREADS), THREADS // 3))
    ended = len(stops)
    await bench.until(lambda: len(bench.of("stopped")) == ended, 20_000, "not all have ended")
    assert int(dut.started_o.value) == THREADS - ended
    again = random.sample(sorted(stops), 3)
    running = next(thread for thread in range(THREADS) if thread not in stops)
    stops.clear()
    for thread in (*again, running):
        bench.command("start", bytes([thread]))
    await bench.until(lambda: len(bench.of("rejected")) == 2, 4000, "a running thread was started")
    await bench.cycles(20)
    assert bench.of("rejected") == [
        bytes([REPORT["rejected"], COMMAND["flush"], threads[0]]),
        bytes([REPORT["rejected"], COMMAND["start"], running]),
    ]
    assert int(dut.started_o.value) == THREADS - ended + 3


@cocotb.test()
async def host_reads_the_state_of_each_thread(dut: HierarchyObject) -> None:
    """The report has the state that the thread's core presents, while threads run, park, and start others."""

    def act(bench: Bench, thread: int) -> Request | None:
        what = random.random()
        if what < 0.1:
            return write(thread, "debug_value", 1)
        return read(thread, random.choice(["cycle", "job", "perf_hits"])) if what < 0.4 else None

    bench = Bench(dut, act)
    await bench.begin()
    bench.command("start_first", bytes([THREADS]))
    halted = set(random.sample(range(THREADS), THREADS // 3))
    for thread in halted:
        bench.command("halt", bytes([thread]))
    await bench.until(lambda: len(bench.of("parked")) == len(halted), 20_000, "not all park")
    await bench.cycles(BOUND)
    inspected = [random.randrange(THREADS) for _ in range(60)]
    others = sorted(set(range(THREADS)) - halted)
    for thread in inspected:
        # A halt makes the tile search all threads, with operations of its own.
        other = random.choice(others)
        bench.command("halt", bytes([other]))
        bench.command("inspect", bytes([thread]))
        bench.command("resume", bytes([other]))
    await bench.until(lambda: len(bench.of("state")) == len(inspected), 60_000, "not all is answered")
    busy = 0
    for thread, report in zip(inspected, bench.of("state"), strict=True):
        number, address, pc, view = struct.unpack("<xBIHB", report)
        assert (number, address, pc) == (thread, 0xC0DE_0000 + thread, 0x1200 + thread)
        assert view & 0xF == (thread & 1) << 3 | thread >> 1 & 3 and view >> 5 == 0
        if thread in halted:
            assert not view & 0x10, f"thread {thread} is parked"
        busy += view >> 4 & 1
    assert busy > 10 and not bench.of("rejected")
    if THREADS < 256:
        bench.command("inspect", bytes([THREADS]))
        await bench.until(lambda: bool(bench.of("rejected")), 2000, "a thread beyond the tile is not rejected")
        assert bench.of("rejected") == [bytes([REPORT["rejected"], COMMAND["inspect"], THREADS])]


@cocotb.test()
async def responses_carry_every_bit(dut: HierarchyObject) -> None:
    """A guard is returned as the request router delivers it, for any bits."""
    asked: dict[int, list[int]] = defaultdict(list)

    def act(_bench: Bench, thread: int) -> Request | None:
        if random.random() < 0.3:
            return None
        asked[thread].append(random.getrandbits(32))
        return Request(thread, "guard", 0b010, asked[thread][-1])

    bench = Bench(dut, act)
    await bench.begin()
    bench.command("start_first", bytes([THREADS]))
    await bench.cycles(CYCLES // 2)
    answers: dict[int, list[int]] = defaultdict(list)
    for thread, _, data in bench.answered:
        answers[thread].append(data)
    assert len(bench.answered) > CYCLES // 20, len(bench.answered)
    # A thread's last request may be in flight.
    assert all(len(asked[thread]) - len(told) in (0, 1) for thread, told in answers.items())
    assert all(asked[thread][: len(told)] == told for thread, told in answers.items())


@cocotb.test()
async def uart_bytes_arrive_exactly_once(dut: HierarchyObject) -> None:
    """Threads that poll continuously get each byte of the host once, in order, whenever it arrives."""
    got: dict[int, list[int]] = defaultdict(list)
    talkers = [0, 1, THREADS - 1]

    def act(_bench: Bench, thread: int) -> Request | None:
        return read(thread, "uart_get") if thread in talkers else write(thread, "thread_stop", 0)

    bench = Bench(dut, act)
    await bench.begin()
    bench.command("start_first", bytes([THREADS]))
    await bench.until(lambda: len(bench.of("stopped")) == THREADS - len(talkers), 40_000, "not all have ended")
    sent: dict[int, list[int]] = {thread: [random.getrandbits(8) for _ in range(80)] for thread in talkers}
    for number in range(80):
        # Each byte at another phase of the threads' polling; the next ones when all have been read.
        for thread in talkers:
            await bench.cycles(random.randrange(12))
            bench.command("uart", bytes([thread, sent[thread][number]]))
        await bench.until(
            lambda number=number: len(bench.of("taken")) == len(talkers) * (number + 1), 2000, "a byte is not taken"
        )
    await bench.cycles(200)
    for thread, _, data in bench.answered:
        if data:
            got[thread].append(data)
    assert got == {thread: [0x100 | byte for byte in sent[thread]] for thread in talkers}


@cocotb.test()
async def cycle_high_matches_its_read_cycle(dut: HierarchyObject) -> None:
    """Around the carry, a thread that reads high, low, high gets a consistent time."""

    def act(bench: Bench, thread: int) -> Request | None:
        step[thread] += 1
        return read(thread, ("cycle_high", "cycle", "cycle_high")[step[thread] % 3])

    step: dict[int, int] = defaultdict(lambda: -1)
    bench = Bench(dut, act)
    await bench.begin()
    bench.command("start_first", bytes([THREADS]))
    await bench.until(lambda: len(bench.issues) == THREADS, BOUND, "a thread did not start")
    counters, early = dut.u_control.u_counters, 3000 * THREADS // 16
    # Advance the time to less than one scan before the carry.
    while int(counters.slot_o.value) != COUNTER["cycles"] + 2:
        await bench.cycle()
    jump = 2**32 - early - int(counters.cycles_q.value)
    jump -= jump % 4096
    counters.cycles_q.value = int(counters.cycles_q.value) + jump
    words = counters.u_counters.u_words.mem
    words[2 * COUNTER["cycles"]].value = int(words[2 * COUNTER["cycles"]].value) + jump
    bench.answered.clear()
    await bench.cycles(2 * early)
    seen: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for thread, name, data in bench.answered:
        seen[thread].append((name, data))
    before = after = 0
    for answers in seen.values():
        names = [name for name, _ in answers]
        # Two high words follow each other between one reading of the time and the next.
        start = next(at for at in range(1, 4) if names[at - 1 : at + 1] == ["cycle_high", "cycle_high"])
        for one, two, three in zip(answers[start::3], answers[start + 1 :: 3], answers[start + 2 :: 3], strict=False):
            assert (one[0], two[0], three[0]) == ("cycle_high", "cycle", "cycle_high")
            if one[1] == three[1]:
                assert one[1] == int(two[1] < 2**31), (one, two, three)
                before += one[1] == 0
                after += one[1] == 1
            else:
                assert (one[1], three[1]) == (0, 1)
    assert before > 10 and after > 10, (before, after)


@cocotb.test()
async def counted_cycles_follow_clear_start_and_stop(dut: HierarchyObject) -> None:
    """Each core's cycle counter runs from reset on; commands of a core change no other core's."""
    late = 2 * (len(COUNTER.values) + 3 + 2 * CORES) + 8  # cycles: a scan of all counters, and its pipeline
    perf = constants.enumeration("perf_command")
    counts = [True] * CORES
    least, most, since = [0] * CORES, [0] * CORES, [0] * CORES
    asked: dict[int, tuple[str, int]] = {}
    reads: list[int] = []
    high = 0

    def passed(core: int, begun: int) -> None:
        """Time passes to a request that began then and ends now: the counter has changed somewhere in between."""
        if counts[core]:
            least[core] += max(0, begun - since[core])
            most[core] += bench.now - since[core]
        since[core] = bench.now

    def act(bench: Bench, thread: int) -> Request | None:
        nonlocal high
        core = thread // TIDS
        if thread % TIDS:
            return None
        name, begun = asked.pop(thread, ("", 0))
        if name == "perf_cycles":
            value = next(data for who, what, data in reversed(bench.answered) if (who, what) == (thread, name))
            running = (begun - since[core], bench.now - since[core]) if counts[core] else (0, 0)
            low = least[core] + running[0] - late
            assert low <= value <= most[core] + running[1] + late, (core, low, value, most[core])
            reads.append(core)
        elif name == "perf_cycles_high":
            high += 1
        elif name:
            passed(core, begun)
            if name == "clear":
                least[core], most[core] = 0, bench.now - begun if counts[core] else 0
            else:
                counts[core] = name == "start"
        if random.random() < 0.7:
            return None
        name = random.choice(["perf_cycles", "perf_cycles", "perf_cycles_high", "clear", "start", "stop"])
        asked[thread] = (name, bench.now)
        return read(thread, name) if name in CSR.values else write(thread, "perf_control", perf[name])

    bench = Bench(dut, act)
    await bench.begin()
    bench.command("start_first", bytes([THREADS]))
    await bench.cycles(CYCLES)
    assert len(reads) > 50 and set(reads) == set(range(CORES)) and high > 10
    assert all(data == 0 for _, name, data in bench.answered if name == "perf_cycles_high")
