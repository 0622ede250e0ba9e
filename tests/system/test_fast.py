# SPDX-License-Identifier: Apache-2.0
"""The engine ``fast`` compared with the simulated hardware: text, counters, cycles, verdicts, replays."""

from __future__ import annotations

import json
import random
import re
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import agreement
import pytest
from conftest import ROOT, Command, Size
from rtl.core.programs import b_type, i_type, li, s_type
from traces import Trace, read

import gossamer_setup
from gossamer import config as configs
from gossamer import device
from gossamer.config import constants
from gossamer.engines.fast import Commits, Fast
from gossamer.engines.rtl import Run
from gossamer.engines.rtl_cluster import Cluster, Plan, jobs

TALK = ROOT / "tests" / "fixtures" / "watching" / "talk.c"
FOUR = ROOT / "tests" / "fixtures" / "cluster" / "four.toml"
ALL = ROOT / "tests" / "fixtures" / "cluster" / "all.c"
TINY = configs.load("tiny")
HEAD = "#include <gossamer/device.h>\n#include <stdio.h>\n#include <tinsel.h>\n"
EXACT = ("instructions", "hits", "misses", "writebacks", "sent", "received", "flits_out", "flits_in", "fpu")
"""Counters of each tile that do not depend on the order of messages, for programs that wait without polling."""
BOUND = 0.10
"""The stated bound of the error of cycles."""

Lines = dict[int, list[str]]


@pytest.fixture(scope="module", autouse=True)
def tools() -> None:
    gossamer_setup.require("rtl")


def executed(machine: Cluster, program: Path) -> tuple[Run, Lines]:
    lines: Lines = {}
    with machine:
        machine.load_image(device.build(str(program), machine.config, boards=machine.shape))
        run = machine.run(machine.threads, on_line=lambda thread, text, more: lines.setdefault(thread, []).append(text))
    return run, lines


def counters(run: Run, names: Sequence[str] = EXACT) -> dict[str, list[int]]:
    """Columns with a row for each tile."""
    return {name: [tile[name] for tile in run.tiles] for name in names}


def spoken(lines: Lines, run: Run) -> dict[str, list[str]]:
    """What each thread has printed, a row for each thread that took part in the run."""
    return {"text": [json.dumps(lines.get(thread)) for thread in range(run.threads)]}


def agree(program: Path, text: bool = True) -> None:
    real, said = executed(Cluster(TINY), program)
    found, mine = executed(Fast(TINY), program)
    assert (found.reason, found.codes) == (real.reason, real.codes)
    agreement.check(counters(real), counters(found))
    if text:
        agreement.check(spoken(said, real), spoken(mine, found))
    assert found.cycles == pytest.approx(real.cycles, rel=BOUND)


@pytest.mark.parametrize("name, text", [("hello.c", True), ("ping.c", False), ("ring.c", False), ("queens.cpp", True)])
def test_programs_execute_the_hardwares_instructions(name: str, text: bool) -> None:
    """The text of the others contains cycles."""
    agree(ROOT / "programs" / name, text)


@pytest.mark.tier("all", seconds=40, adds="programs with a million instructions on both engines")
@pytest.mark.parametrize("name, text", [("memory.c", False), ("sort.c", True)])
def test_longer_programs_execute_the_hardwares_instructions(name: str, text: bool) -> None:
    agree(ROOT / "programs" / name, text)


def order_of(trace: Trace) -> dict[int, list[tuple[int, int]]]:
    """Of each thread the sender, and the message's number among the sender's, in the order of delivery."""
    numbers: dict[int, int] = {}
    sends, number_of = {}, {}
    for send, receive in sorted(trace.arrows(), key=lambda pair: pair[0].begin):
        if id(send) not in sends:
            # A message to several threads has several arrows.
            sends[id(send)] = numbers.setdefault(send.thread, 0)
            numbers[send.thread] += 1
        number_of[id(receive)] = sends[id(send)]
    found: dict[int, list[tuple[int, int]]] = {}
    for send, receive in sorted(trace.arrows(), key=lambda pair: pair[1].begin):
        found.setdefault(receive.thread, []).append((send.thread, number_of[id(receive)]))
    return found


def test_replayed_deliveries_reproduce_what_each_thread_does(tmp_path: Path) -> None:
    """Every thread of the program prints the senders of its messages, in the order in which it receives them."""
    trace = tmp_path / "talk.pftrace"
    with Cluster(TINY, trace=trace) as machine:
        machine.load_image(device.build(str(TALK), TINY))
        said: Lines = {}
        real = machine.run(machine.threads, on_line=lambda thread, text, more: said.setdefault(thread, []).append(text))
    order = order_of(read(trace))
    _, own = executed(Fast(TINY), TALK)
    assert own != said  # without a replay the order is another one
    found, mine = executed(Fast(TINY, order=order), TALK)
    agreement.check(spoken(said, real), spoken(mine, found))
    names = ("hits", "misses", "writebacks", "sent", "received", "flits_out", "flits_in")
    agreement.check(counters(real, names), counters(found, names))


def test_recorded_deliveries_are_those_of_a_replay() -> None:
    """Each thread receives its first two messages in the other order."""
    machine = Fast(TINY, deliveries=True)
    executed(machine, TALK)
    arrived: dict[int, list[tuple[int, int]]] = {}
    for receiver, sender, number in machine.deliveries:
        arrived.setdefault(receiver, []).append((sender, number))
    swapped = {thread: [its[1], its[0], *its[2:]] for thread, its in arrived.items()}
    again = Fast(TINY, order=swapped, deliveries=True)
    executed(again, TALK)
    replayed: dict[int, list[tuple[int, int]]] = {}
    for receiver, sender, number in again.deliveries:
        replayed.setdefault(receiver, []).append((sender, number))
    assert replayed == swapped


ORDERED = (
    HEAD
    + """int main(void) {
  const uint32_t threads = gossamerThreads(), me = gossamerThread();
  volatile uint32_t* out = tinselSendSlot();
  volatile uint32_t seen[16] = {0};
  volatile float sum = 0.0f;
  uint32_t state = me + 1;
  for (uint32_t round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < 4; ++i) {
      tinselWaitUntil(TINSEL_CAN_SEND);
      out[0] = state + i;
      tinselSend((int)gossamerAddress((me + 1 + 7 * i + round) % threads), out);
    }
    for (uint32_t i = 0; i < 4; ++i) {
      tinselWaitUntil(TINSEL_CAN_RECV);
      volatile uint32_t* in = tinselRecv();
      state = state * 1664525u + in[0];
      tinselFree(in);
      seen[state >> 28] += state;
      if (state & 64) state /= 1 + (state >> 20 & 7);
      if (state & 128) state = (uint32_t)((int32_t)state % -77);
      sum = sum * 0.5f + (float)(state >> 8);
    }
  }
  printf("%08x %08x\\n", (unsigned)state, (unsigned)sum);
  return 0;
}
"""
)
"""Data, addresses and branches of a thread depend on the order of its messages. It never polls: a replay is exact."""

MEMORY, TILE = (0x03, 0x07, 0x23, 0x27), 0x73
PAD = 1 << 20
"""First address of the scratchpad."""


def place(address: int) -> int:
    """An address; in the scratchpad the offset in a slot, because the slot of a message depends on other threads."""
    inside = PAD <= address < 2 * PAD
    return PAD | (address - PAD) % TINY.mailbox.slot_bytes if inside else address


def requests_of(commits: Commits) -> list[tuple[int, int]]:
    """The instructions whose results come from outside of the pipeline: program counter, and address of a memory."""
    found = []
    for commit in commits:
        word, pc = int(commit["instr"]), int(commit["pc"])
        opcode, funct3, funct7 = word & 0x7F, word >> 12 & 7, word >> 25
        if opcode in MEMORY:
            found.append((pc, place(int(commit["address"]))))
        elif (
            (opcode == TILE and word >> 20 > 3)
            or (opcode == 0x33 and funct7 == 1 and funct3 > 3)
            or opcode in (0x43, 0x47, 0x4B, 0x4F)
            or (opcode == 0x53 and (funct7 not in (0x70, 0x78) or funct3 == 1))
        ):
            found.append((pc, 0))
    return found


def order_of_requests(trace: Trace) -> dict[int, list[tuple[int, int]]]:
    """The same of each thread in a trace of all waits."""
    waits: dict[int, list[tuple[int, int]]] = {}
    for span in sorted(trace.spans, key=lambda span: span.begin):
        if span.thread >= 0 and "pc" in span.notes:
            waits.setdefault(span.thread, []).append((span.notes["pc"], place(span.notes.get("address", 0))))
    return waits


def test_replayed_threads_issue_the_hardwares_requests(tmp_path: Path) -> None:
    """Each thread's accesses to memories and to registers of its tile, divisions and floating point, in order; with
    addresses. A trace of all waits, however short, has all of these."""
    source, trace = tmp_path / "ordered.c", tmp_path / "ordered.pftrace"
    source.write_text(ORDERED, encoding="utf-8")
    real, said = executed(Cluster(TINY, trace=trace, least_wait=0), source)
    events = read(trace)
    waits = order_of_requests(events)
    machine = Fast(TINY, order=order_of(events), commits=1 << 16)
    with machine:
        machine.load_image(device.build(str(source), TINY))
        mine: Lines = {}
        found = machine.run(machine.threads, on_line=lambda at, text, more: mine.setdefault(at, []).append(text))
        requests = {thread: requests_of(machine.committed(thread)) for thread in range(machine.threads)}
    agreement.check(spoken(said, real), spoken(mine, found))
    agreement.check(counters(real), counters(found))
    assert sum(map(len, waits.values())) > 10_000
    for thread, its in waits.items():
        for number, (want, got) in enumerate(zip(its, requests[thread], strict=False)):
            assert got == want, f"thread {thread}, request {number}"
        assert len(its) == len(requests[thread])
    assert waits.keys() == requests.keys()


REGISTERS = constants.enumeration("csr").values
TIMED = {
    name
    for name in REGISTERS
    if name.startswith(("cycle", "perf_")) or name in ("wait", "idle", "instr_write", "thread_start", "debug_value")
}
"""Registers whose values depend on times, that wait for other threads or change them, or that ``fast`` lacks."""
BLOCK = 64
"""Words of each thread's program."""
EDGES = (
    0x1000_0000, 0x1000_0000 + TINY.memory.sram.bytes, 0x4000_0000, 0x4000_0000 + TINY.memory.dram.bytes, 0x8000_0000,
    0x8000_0000 + TINY.memory.dram.bytes // 2, PAD, PAD + 16 * TINY.mailbox.slots_per_thread * TINY.mailbox.slot_bytes,
)  # fmt: skip
"""Begins and ends of the mapped addresses."""


def accesses(rng: random.Random) -> list[int]:
    """Accesses to registers and memories with arguments that are often wrong; then the thread stops."""
    numbers = [number for name, number in REGISTERS.items() if name not in TIMED]
    slots = TINY.mailbox.slot_bytes, 16 * TINY.mailbox.slots_per_thread
    code: list[int] = []
    while len(code) < BLOCK - 8:
        operand = rng.choice(
            (rng.randrange(40), PAD + slots[0] * rng.randrange(slots[1] + 2), rng.getrandbits(32), 0xFFFFFFFF, PAD + 4)
        )
        number = rng.choice(numbers) if rng.random() < 0.9 else rng.choice((0x800, 0xC00, 0x400)) | rng.getrandbits(8)
        if number in {REGISTERS[name] for name in TIMED}:
            continue
        if number in (REGISTERS["send_dest"], REGISTERS["send_tile"]):
            # Addresses that do not exist, since a message would change what its receiver does.
            operand = operand & 0x1FFFFFFF | rng.choice((2, 3, 4, 6)) << 29
        if number == REGISTERS["send_key"]:
            operand &= ~31  # a key of no beats traps; another one occupies the thread's sender for some time
        kind = rng.choice((0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 7))
        if kind == 0:
            funct3, load, size = rng.choice(((0, 1, 1), (1, 1, 2), (2, 1, 4), (0, 0, 1), (1, 0, 2), (2, 0, 4)))
            operand = (rng.choice(EDGES) + rng.choice((-4, -size, 0, size))) & 0xFFFFFFFF
            code += [*li(6, operand), i_type(3, funct3, 8, 6, 0) if load else s_type(0x23, funct3, 6, 6, 0)]
            continue
        if kind == 6:
            # To no thread of a tile, or to one that it lacks.
            code += [i_type(0x73, 5, 0, 0, REGISTERS["send_mask_low"]), *li(6, rng.choice((0, 1 << rng.randrange(32))))]
            code += [i_type(0x73, 1, 0, 6, REGISTERS["send_mask_high"]), *li(6, 1 << 29)]
            code += [i_type(0x73, 1, 0, 6, REGISTERS["send_tile"])]
            continue
        if kind == 7:
            # A released slot to the host.
            code += [i_type(0x73, 2, 9, 0, REGISTERS["send_slot"]), i_type(0x73, 1, 0, 9, REGISTERS["release"])]
            code += [*li(6, 5 << 29), i_type(0x73, 1, 0, 6, REGISTERS["send_dest"])]
            continue
        funct3, rd, rs1 = (
            (1, 0, 6),
            (1, 7, 6),
            (2, 7, 0),
            (5, 0, rng.randrange(32)),
            (3, 7, rng.choice((0, 0, 0, 6))),
        )[kind - 1]
        if funct3 == 5 and number in (REGISTERS["send_dest"], REGISTERS["send_key"]):
            continue  # Small numbers are threads: whether one has received a message when it polls depends on times.
        code += [*li(6, operand), i_type(0x73, funct3, rd, rs1, number), i_type(0x73, 1, 0, 7, REGISTERS["emit"])]
    return [*code, i_type(0x73, 1, 0, 0, REGISTERS["thread_stop"])]


def tried(machine: Cluster, words: list[int]) -> tuple[Run, list[tuple[int, ...]], dict[int, list[int]], Lines]:
    """A run of words: traps without their cycle, the emitted words and the text of each thread."""
    lines: Lines = {}
    emitted: dict[int, list[int]] = {}
    with machine:
        machine.load(words)
        run = machine.run(
            machine.threads,
            on_line=lambda thread, text, more: lines.setdefault(thread, []).append(text),
            on_emit=lambda thread, word: emitted.setdefault(thread, []).append(word),
        )
    return run, sorted((trap.thread, trap.cause, trap.pc, trap.value) for trap in run.traps), emitted, lines


def dispatched(programs: list[list[int]]) -> list[int]:
    """An image with a program of at most BLOCK words for each of the first threads; the others stop."""
    stride = 4 * BLOCK
    head = [i_type(0x73, 2, 5, 0, REGISTERS["thread_id"]), *li(6, len(programs))]
    head += [b_type(6, 5, 6, 8), i_type(0x73, 1, 0, 0, REGISTERS["thread_stop"])]
    head += [i_type(0x13, 1, 5, 5, stride.bit_length() - 1), i_type(0x67, 0, 0, 5, stride)]
    words = head + [0] * (BLOCK - len(head))
    for code in programs:
        assert len(code) <= BLOCK
        words += code + [0] * (BLOCK - len(code))
    return words


WINDOWS = {
    "sram": (0x1000_0000, TINY.memory.sram.bytes),
    "direct": (0x4000_0000, TINY.memory.dram.bytes),
    "cached": (0x8000_0000, TINY.memory.dram.bytes // 2),
    "scratchpad": (PAD, 16 * TINY.mailbox.slots_per_thread * TINY.mailbox.slot_bytes),
}
"""First address and bytes of each mapped window of ``tiny``."""


@pytest.mark.parametrize("store", [False, True], ids=["loads", "stores"])
def test_windows_of_memory_begin_and_end_at_their_bytes(store: bool) -> None:
    """Each thread accesses the first or the last bytes of a window, which succeeds, then those outside of it."""
    programs, expected = [], []
    for begin, size in WINDOWS.values():
        for funct3, width in ((0, 1), (1, 2), (2, 4)):
            for inside, outside in ((begin, begin - width), (begin + size - width, begin + size)):
                code: list[int] = []
                for address in (inside, outside):
                    code += [*li(6, address), s_type(0x23, funct3, 6, 6, 0) if store else i_type(3, funct3, 7, 6, 0)]
                programs.append(code)
                # The jump to the program leaves the thread at its block; the access is the last of six words.
                expected.append((len(expected), 7 if store else 5, 4 * (BLOCK * len(programs) + 5), outside))
    words = dispatched(programs)
    for machine in (Fast(TINY), Cluster(TINY)):
        run, traps, _, _ = tried(machine, words)
        assert traps == expected
        assert len(run.codes) == TINY.threads - len(programs)


def test_lines_of_dram_and_sram_with_the_same_number_are_distinct() -> None:
    """A cache that ignores which memory a line is from would hit on the other memory's line, or write it back there."""
    dram, sram, emit, line = 0x4000_0000, 0x1000_0000, REGISTERS["emit"], TINY.cache.line_bytes
    code = [*li(8, dram), *li(9, sram), *li(10, 0x111), *li(11, 0x222)]
    code += [s_type(0x23, 2, 8, 10, 0), s_type(0x23, 2, 9, 11, 0)]  # both lines are dirty: two misses
    for base in (8, 9):
        code += [i_type(3, 2, 7, base, 0), i_type(0x73, 1, 0, 7, emit)]  # two hits
    step = line * TINY.cache.sets_per_thread
    # Five misses: two invalid ways, then by the tree the DRAM's line, the older one of the other half, the SRAM's line.
    code += [i_type(3, 2, 7, 9, number * step) for number in range(1, 6)]
    for base in (9, 8):
        code += [i_type(3, 2, 7, base, 0), i_type(0x73, 1, 0, 7, emit)]  # two misses
    code.append(i_type(0x73, 1, 0, 0, REGISTERS["thread_stop"]))
    words = dispatched([code])
    for machine in (Fast(TINY), Cluster(TINY)):
        with machine:
            machine.load(words)
            emitted: list[int] = []
            run = machine.run(machine.threads, on_emit=lambda thread, word, to=emitted: to.append(word))
            assert emitted == [0x111, 0x222, 0x222, 0x111]
            assert [run.counters[name] for name in ("hits", "misses", "writebacks")] == [2, 9, 2]
            assert [int(machine.read(address, 1)[0]) for address in (dram, sram)] == [0x111, 0x222]


def test_registers_and_traps_are_those_of_the_hardware(size: Size) -> None:
    """Random accesses of all threads to registers of the tile and to the edges of memories: values and traps."""
    causes = set()
    for seed in range(size.pick(2, 20, 2_000)):
        rng = random.Random(seed)
        stride = 4 * BLOCK
        words = [i_type(0x73, 2, 5, 0, REGISTERS["thread_id"]), i_type(0x13, 1, 5, 5, stride.bit_length() - 1)]
        words += [i_type(0x67, 0, 0, 5, stride)]
        words += [0] * (BLOCK - len(words))
        # The memory has no room for the last thread: its jump traps.
        for code in (accesses(rng) for _ in range(TINY.threads - 1)):
            words += code + [0] * (BLOCK - len(code))
        real, found = tried(Cluster(TINY), words), tried(Fast(TINY), words)
        for mine, its in zip(found[1:], real[1:], strict=True):
            assert mine == its, f"seed {seed}"
        assert (found[0].reason, found[0].codes) == (real[0].reason, real[0].codes)
        causes |= {trap[1] for trap in found[1]}
    assert len(causes) > 6


BLOCKED = (
    HEAD
    + """int main(void) {
  const uint32_t threads = gossamerThreads();
  tinselSetLen(4);
  for (uint32_t i = 0; i < 999; ++i) {
    tinselWaitUntil(TINSEL_CAN_SEND);
    tinselSend((int)gossamerAddress((gossamerThread() + 1 + i) % threads), tinselSendSlot());
  }
  return 0;
}
"""
)
WAITING = (
    HEAD
    + """int main(void) {
  if (gossamerThread() == 3) tinselWaitUntil(TINSEL_CAN_RECV);
  return gossamerThread() == 4;
}
"""
)
TRAPS = (
    HEAD
    + """int main(void) {
  if (gossamerThread() == 2) return *(volatile int*)4;
  if (gossamerThread() == 3) return *(volatile int*)0x40000002;
  if (gossamerThread() == 4) __asm__ volatile("csrw 0x8ff, x0");
  if (gossamerThread() == 5) tinselSend(0x7ffff, tinselSendSlot());
  if (gossamerThread() == 6) tinselRecv();
  if (gossamerThread() == 7) __asm__ volatile("ebreak");
  return 0;
}
"""
)


@pytest.mark.parametrize("body", [WAITING, TRAPS], ids=["deadlock", "traps"])
def test_verdicts_are_those_of_the_hardware(command: Command, tmp_path: Path, body: str) -> None:
    source = tmp_path / "prog.c"
    source.write_text(body, encoding="utf-8")
    runs = [command("run", source, "--engine", engine) for engine in ("rtl", "fast")]
    assert [run.returncode for run in runs] == [4, 4]
    real, found = (sorted(run.stderr.splitlines()) for run in runs)
    assert found == real


def test_blocked_messages_are_a_deadlock_that_names_full_slots(command: Command, tmp_path: Path) -> None:
    source = tmp_path / "prog.c"
    source.write_text(BLOCKED, encoding="utf-8")
    done = command("run", source, "--engine", "fast")
    assert done.returncode == 4
    assert "deadlock: all threads that run (0-31) wait for each other: messages are blocked" in done.stderr
    assert "full: " in done.stderr


SUM = (
    HEAD
    + """int main(void) {
  const uint32_t here = gossamerThreads(), threads = here * GOSSAMER_BOARDS;
  const uint32_t me = gossamerBoard() * here + gossamerThread();
  volatile uint32_t* out = tinselSendSlot();
  uint32_t sum = 0, sent = 0;
  for (;;) {
    if (sent < 3) {
      const uint32_t to = (me + 1 + sent * 97) % threads;
      tinselWaitUntil(TINSEL_CAN_SEND);
      out[0] = me;
      tinselSend((int)gossamerAddressOn(to / here, to % here), out);
      ++sent;
    }
    while (tinselCanRecv()) {
      volatile uint32_t* in = tinselRecv();
      sum += in[0];
      tinselFree(in);
    }
    if (sent == 3 && tinselIdle(1)) break;
  }
  printf("%u\\n", (unsigned)sum);
  return 0;
}
"""
)


def test_clusters_reach_idleness_after_all_messages(command: Command, tmp_path: Path) -> None:
    source = tmp_path / "prog.c"
    source.write_text(SUM, encoding="utf-8")
    done = command("run", source, "--engine", "fast", "--cluster", "octet")
    assert done.returncode == 0, done.stderr
    threads = 8 * TINY.threads
    expected = [0] * threads
    for sender in range(threads):
        for message in range(3):
            expected[(sender + 1 + 97 * message) % threads] += sender
    printed = {int(line[1:].split()[0]): int(line.split("] ")[1]) for line in done.stdout.splitlines()}
    assert printed == dict(enumerate(expected))


KEYS = (
    HEAD
    + """static const uint32_t links[] = {LINKS};

static void put(uint32_t beat, uint32_t count, const uint64_t* fields, uint32_t words) {
  volatile uint16_t* half = (volatile uint16_t*)(TinselPOLiteProgRouterBase + 32 * beat);
  for (uint32_t i = 0; i < 16; ++i) half[i] = 0;
  half[0] = (uint16_t)count;
  for (uint32_t i = 0; i < words; ++i)
    for (uint32_t k = 0; k < 3; ++k) half[1 + 3 * i + k] = (uint16_t)(fields[i] >> 16 * k);
}
static uint64_t place(uint64_t kind, uint64_t x, uint64_t thread) { return kind << 45 | x << 37 | thread << 31; }

int main(void) {
  const uint32_t me = gossamerBoard() * gossamerThreads() + gossamerThread();
  const uint32_t base = (TinselPOLiteProgRouterBase - TinselDRAMBase) / 32;
  if (gossamerThread() == 0) {
    const uint64_t first[5] = {place(0, 0, 1), place(1, 1, 2) | 0xBEEF, place(2, 0, 3), 0xCAFEBABE,
                               5ull << 45 | (uint64_t)links[gossamerBoard()] << 41 | ((base + 2) << 5 | 1)};
    const uint64_t second[5] = {place(3, 1, 0) | 0xF0ull << 16, 0, place(4, 0, 0) | 0x0F00ull << 16 | 0x1234, 0,
                                6ull << 45 | ((base + 3) << 5 | 1)};
    const uint64_t third[3] = {place(7, 1, 9) | 0x7788, 0x112233445566ull, place(0, 0, 10)};
    const uint64_t fourth[1] = {place(0, 1, 11)};
    put(0, 4, first, 5);
    put(1, 3, second, 5);
    put(2, 2, third, 3);
    put(3, 1, fourth, 1);
    tinselCacheFlush();
  }
  tinselIdle(0);
  tinselSetLen(2);
  volatile uint32_t* out = tinselSendSlot();
  if (gossamerThread() % 15 == 5)
    for (uint32_t round = 0; round < 3; ++round) {
      tinselWaitUntil(TINSEL_CAN_SEND);
      for (uint32_t i = 0; i < 8; ++i) out[i] = i << 28 | me << 8 | round;
      tinselKeySend((int)(base << 5 | 2), out);
    }
  for (;;) {
    while (tinselCanRecv()) {
      volatile uint32_t* in = tinselRecv();
      printf("%08x %08x %08x\\n", (unsigned)in[0], (unsigned)in[1], (unsigned)in[7]);
      tinselFree(in);
    }
    if (tinselIdle(1)) return 0;
  }
}
"""
)
"""Threads 5 and 20 of each board send to a key with every kind of record; the neighbour's router continues."""


def received_by_key(boards: int, neighbour: dict[int, int]) -> Lines:
    """The lines of KEYS that each thread prints, sorted; by hand from its tables."""
    found: Lines = {}
    for sender in (board * TINY.threads + thread for board in range(boards) for thread in (5, 20)):
        here = sender // TINY.threads * TINY.threads
        there = neighbour[sender // TINY.threads] * TINY.threads
        for count in range(3):
            zero, one, last = (word << 28 | sender << 8 | count for word in (0, 1, 7))
            to = {here + 1: (zero, one), here + 18: (zero & ~0xFFFF | 0xBEEF, one), here + 3: (0xCAFEBABE, one)}
            to |= {here + 16 + thread: (zero, one) for thread in range(4, 8)}
            to |= {here + thread: (zero & ~0xFFFF | 0x1234, one) for thread in range(8, 12)}
            to |= {here + 27: (zero, one)}
            # A thread of this board may also have a copy from the neighbour.
            for thread, words in (
                *to.items(),
                (there + 25, (0x55667788, 0x11223344)),
                (there + 10, (zero, one)),
            ):
                found.setdefault(thread, []).append("".join(f"{word:08x} " for word in words) + f"{last:08x}")
    return {thread: sorted(lines) for thread, lines in found.items()}


def by_key(machine: Callable[[Plan], Cluster], tmp_path: Path) -> tuple[Run, Lines, Lines]:
    """A run of KEYS on two boards: the text, and what it must be, sorted."""
    plan = Plan(configs.load_cluster("pair"))
    wires = {board: (link, other) for board, link, other, *_ in reversed(list(plan.wires({})))}
    source = tmp_path / "keys.c"
    source.write_text(KEYS.replace("LINKS", ", ".join(str(wires[board][0]) for board in range(2))), encoding="utf-8")
    run, said = executed(machine(plan), source)
    want = received_by_key(2, {board: other for board, (_, other) in wires.items()})
    return run, said, want


def in_order(lines: Lines) -> Lines:
    return {thread: sorted(its) for thread, its in lines.items()}


def test_messages_by_key_reach_the_receivers_of_every_kind_of_record(tmp_path: Path) -> None:
    run, said, want = by_key(Fast, tmp_path)
    assert run.reason == "done" and in_order(said) == want


@pytest.mark.tier("all", seconds=15, adds="routers of two simulated boards")
def test_routers_send_the_hardwares_copies(tmp_path: Path) -> None:
    trace = tmp_path / "keys.pftrace"
    real, said, want = by_key(lambda plan: Cluster(plan, trace=trace), tmp_path)
    order = order_of(read(trace))
    found, mine, _ = by_key(lambda plan: Fast(plan, order=order), tmp_path)
    assert in_order(said) == want
    # Without a replay the copies of several senders have another order.
    assert mine == said
    names = ("sent", "received", "flits_out", "flits_in", "refused")
    assert [[tile[name] for name in names] for tile in found.tiles] == [
        [tile[name] for name in names] for tile in real.tiles
    ]
    assert found.cycles == pytest.approx(real.cycles, rel=BOUND)


COUNTED = (
    HEAD
    + """static void touch(uint32_t lines) {
  volatile uint32_t* base = (volatile uint32_t*)tinselHeapBase();
  for (uint32_t i = 0; i < lines; ++i) base[i * TinselBytesPerLine / 4] += i;
}
static void wait(void) {
  tinselWaitUntil(TINSEL_CAN_RECV);
  tinselFree(tinselRecv());
}
static void show(void) {
  const uint32_t hits = tinselHitCount(), misses = tinselMissCount(), written = tinselWritebackCount();
  tinselEmit(hits);
  tinselEmit(misses);
  tinselEmit(written);
}
int main(void) {
  const uint32_t me = gossamerThread();
  if (me == 8) {
    wait();
    tinselPerfCountStart();
    touch(7);
    tinselSend((int)gossamerAddress(0), tinselSendSlot());
    wait();
    tinselPerfCountStop();
    tinselSend((int)gossamerAddress(0), tinselSendSlot());
  }
  if (me) return 0;
  for (uint32_t i = 0; i < 3000; ++i) tinselEmit(0);  // the others have ended
  touch(5);
  show();
  tinselPerfCountStart();
  touch(20);
  tinselPerfCountStop();
  show();
  touch(9);
  show();
  tinselSend((int)gossamerAddress(8), tinselSendSlot());
  wait();
  touch(3);  // counts for the tile while the other core's counters run
  show();
  tinselPerfCountReset();
  touch(4);
  show();
  tinselSend((int)gossamerAddress(8), tinselSendSlot());
  wait();
  touch(6);
  show();
  tinselPerfCountReset();
  tinselPerfCountStart();
  touch(100);
  tinselPerfCountStop();
  printf("%u %u\\n", (unsigned)tinselCPUIdleCount(), (unsigned)GS_CSR_READ(GS_CSR_PERF_CYCLES));
  return 0;
}
"""
)


def test_threads_control_the_hardwares_counters(tmp_path: Path) -> None:
    """Caches count for the tile while the counters of any core run, from a start on; cycles count for a core."""
    source = tmp_path / "counted.c"
    source.write_text(COUNTED, encoding="utf-8")
    shown, times = [], []
    for machine in (Cluster(TINY), Fast(TINY)):
        words: list[int] = []
        with machine:
            machine.load_image(device.build(str(source), TINY))
            lines: list[str] = []
            run = machine.run(
                machine.threads,
                on_emit=lambda thread, word, to=words: to.append(word),
                on_line=lambda thread, text, more, to=lines: to.append(text),
            )
        assert run.reason == "done" and len(words) == 3000 + 6 * 3
        shown.append(words[3000:])
        times.append([int(word) for word in lines[0].split()])
    assert shown[1] == shown[0]
    assert times[1] == pytest.approx(times[0], rel=BOUND)


def together(
    machine: Callable[..., Cluster], wanted: Sequence[tuple[Path, Sequence[str], Sequence[str]]]
) -> tuple[Run, Lines]:
    """Programs with their macros on boards of a square of four."""
    plan = Plan(configs.load_cluster(FOUR))
    found = jobs(plan.cluster, [(path.name, boards) for path, _, boards in wanted])
    lines: Lines = {}
    with machine(plan, jobs=found) as cluster:
        for number, (job, (path, defines, _)) in enumerate(zip(found, wanted, strict=True)):
            image = device.build(path, plan.config, list(defines), boards=job.part(plan.cluster))
            cluster.load_image(image, job=number)
        run = cluster.run(1, on_line=lambda thread, text, more: lines.setdefault(thread, []).append(text))
    return run, lines


def jobs_of(run: Run) -> dict[int, list[bytes]]:
    """The messages of each job to the host, sorted."""
    return {job: sorted(message.data for message in run.messages if message.job == job) for job in (0, 1)}


@pytest.mark.tier("all", seconds=8, adds="jobs on four boards")
def test_jobs_are_those_of_the_hardware() -> None:
    """Two jobs whose messages and barriers cross each other's boards, with sums known in advance."""
    macros = {0: (2, 9, 5), 1: (5, 4, 11)}  # rounds, targets, step
    boards = {0: ("x0y0", "x1y1"), 1: ("x0y1", "x1y0")}
    wanted = [
        (ALL, [f"ROUNDS={rounds}", f"TARGETS={targets}", f"STEP={step}"], boards[job])
        for job, (rounds, targets, step) in macros.items()
    ]
    (real, said), (found, mine) = together(Cluster, wanted), together(Fast, wanted)
    assert (found.reason, found.codes) == (real.reason, real.codes) == ("done", dict.fromkeys(range(128), 0))
    for job, (rounds, targets, step) in macros.items():
        expected = []
        for me in range(64):
            senders = [(me - 1 - i * step) % 64 for i in range(targets)]
            heard = sum((me + r) * (s + 1) for r in range(rounds) for s in senders) % 2**32
            expected.append(struct.pack("<4I", me, rounds * targets, heard, 0))
        assert jobs_of(found)[job] == jobs_of(real)[job] == sorted(expected)
    assert mine == said
    names = ("sent", "received", "flits_out", "flits_in", "refused")
    agreement.check(counters(real, names), counters(found, names))
    for job in boards:
        ends = [
            max(cycle for thread, cycle in run.ends.items() if (thread // 32 in (0, 3)) == (job == 0))
            for run in (real, found)
        ]
        assert ends[1] == pytest.approx(ends[0], rel=BOUND)


STRAY = (
    HEAD
    + """int main(void) {
  const uint32_t me = gossamerThread(), other = gossamerAddressOn(GOSSAMER_BOARDS, me);
  if (me == 5 || me == 20) tinselSend((int)other, tinselSendSlot());
  if (me == 7) tinselSend((int)tinselAccId(1, 0, 1, 0), tinselSendSlot());
  int voted = 0;
  for (int i = 0; i < 20; ++i) voted = 4 * voted % 1021 + tinselIdle(0);
  if (!me) printf("through %d\\n", voted);
  return 0;
}
"""
)


def test_messages_to_other_jobs_are_dropped_as_on_the_hardware(command: Command, tmp_path: Path) -> None:
    """They are counted and reported, and block no barrier; the other job is not affected."""
    stray, other = tmp_path / "stray.c", tmp_path / "other.c"
    stray.write_text(STRAY, encoding="utf-8")
    other.write_text(HEAD + WAITING_JOB, encoding="utf-8")
    found = []
    for engine in ("rtl", "fast"):
        done = command("run", f"{stray}@a", f"{other}@b", "--engine", engine, "--cluster", "pair")
        found.append((done.returncode, sorted(done.stdout.splitlines()), done.stderr.splitlines()))
    # Which of two messages of the other board is reported depends on their order.
    for its in found:
        its[2][:] = sorted(re.sub(r"tile \d,0 dropped a message of job 0: wrong", "wrong", line) for line in its[2])
    assert found[1] == found[0]
    assert found[1][0] == 4 and any("other.c on b: deadlock" in line for line in found[1][2])


WAITING_JOB = """int main(void) {
  int voted = 0;
  for (int i = 0; i < 20; ++i) voted = 4 * voted % 1021 + tinselIdle(1);
  if (!gossamerThread()) printf("voted %d\\n", voted);
  if (gossamerThread() == 3) tinselWaitUntil(TINSEL_CAN_RECV);
  return 0;
}
"""


@pytest.mark.parametrize(
    "words, said",
    [
        (("--waves", "x.fst"), "--waves: needs the simulated hardware; use --engine rtl"),
        (("--one-tile",), "--one-tile: engine fast runs whole boards; use --threads, or --engine rtl"),
        (("--threads", "33"), "--threads 33: a board of tiny has 32 threads"),
        (("--cluster", "nowhere"), "nowhere"),
    ],
)
def test_bad_input_is_one_line(command: Command, words: tuple[str, ...], said: str) -> None:
    done = command("run", ROOT / "programs" / "hello.c", "--engine", "fast", *words)
    assert done.returncode == 2 and said in done.stderr
    assert len(done.stderr.splitlines()) == 1 and not done.stdout


def test_applications_are_rejected(command: Command) -> None:
    done = command("run", "pagerank", "gen:geo:vertices=100,fanout=3,seed=1", "--engine", "fast")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "gossamer: error: --engine fast: pagerank is an application, and this engine runs programs for threads; "
        "use rtl, or model for an estimate\n"
    )
