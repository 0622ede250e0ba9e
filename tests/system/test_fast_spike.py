# SPDX-License-Identifier: Apache-2.0
"""The instructions of the engine ``fast`` compared with Spike: each one's register and store, traps, floating point."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from conftest import Size
from rtl.core import golden, legal_words
from rtl.core.programs import DATA, SHARE, i_type, image, j_type, li, program, program_address, r_type, s_type
from rtl.fpu import golden as fpu
from rtl.fpu import vectors

import gossamer_setup
from gossamer import config as configs
from gossamer.engines.fast import COMMIT, Fast
from gossamer.engines.rtl import Run

STOP = i_type(0x73, 1, 0, 0, 0x814)  # csrw thread_stop, x0
NAMES = [name for name in COMMIT.names or () if name != "zero"]
MOST = 1 << 20
"""Instructions that are kept of a thread."""
UNMAPPED = ((0x20000000, 0x40000000), (0x44000000, 0x80000000))
"""Addresses without memory, both here and in Spike."""


@pytest.fixture(scope="module", autouse=True)
def tools() -> None:
    gossamer_setup.require("core", "golden")


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> configs.Config:
    """``tiny`` with room for the programs, which are above 64 KB."""
    file = tmp_path_factory.mktemp("config") / "roomy.toml"
    file.write_text(
        'base = "tiny"\ndescription = "tiny with 128 KB of instructions"\n[core]\ninstr_mem_bytes = 0x2_0000\n'
    )
    return configs.load(str(file))


def executed(board: configs.Config, programs: list[list[int]], stride: int) -> tuple[Run, list[golden.Commits]]:
    """A run of a program for each thread, and the threads' instructions without those before their programs."""
    ended = [[*code[:-1], STOP] for code in programs]
    with Fast(board, commits=MOST) as machine:
        machine.load(image(ended, stride))
        run = machine.run(len(programs), max_cycles=1 << 40)
        commits = []
        for thread, code in enumerate(programs):
            found, at = machine.committed(thread).copy(), program_address(thread, stride)
            assert len(found) < MOST
            found["address"][found["stored"] == 0] = 0  # Spike's log has no addresses of loads
            commits.append(found[(found["pc"] >= at) & (found["pc"] < at + 4 * (len(code) - 1))])
    return run, commits


def same(thread: int, found: golden.Commits, want: golden.Commits) -> int:
    """Compares the instructions of a thread with Spike's; returns their number."""
    count = min(len(found), len(want))
    for n in np.nonzero(found[NAMES][:count] != want[NAMES][:count])[0]:
        both = [{name: hex(int(commit[name])) for name in NAMES} for commit in (found[n], want[n])]
        pytest.fail(f"thread {thread}, instruction {n}: fast {both[0]}, Spike {both[1]}")
    assert len(found) == len(want), f"thread {thread}: {len(found)} instructions, Spike {len(want)}"
    return count


def test_random_programs_match_spike(board: configs.Config, size: Size, seed: int, tmp_path: Path) -> None:
    """Every instruction without effect outside a thread, and all rounding modes; each thread has its own program."""
    rng, threads = random.Random(seed), board.threads
    stride = 0x10000 // threads
    total = 0
    while total < size.pick(40_000, 1_000_000, 10_000_000):
        programs = [program(rng, thread, stride // 4, size.pick(6, 24, 24)) for thread in range(threads)]
        run, commits = executed(board, programs, stride)
        assert (run.reason, run.traps) == ("done", [])
        for thread, (code, found) in enumerate(zip(programs, commits, strict=True)):
            total += same(thread, found, golden.commits(thread, code, program_address(thread, stride), tmp_path))


def test_register_zero_stays_zero(board: configs.Config, tmp_path: Path) -> None:
    """After each kind of instruction with register 0 as its destination, and a result that is not 0, stores read it."""
    base = DATA
    head = [*li(30, base), *li(6, 0x12345678), s_type(0x23, 2, 30, 6, 0), r_type(0x53, 0, 0x78, 1, 6, 0)]
    head += [i_type(0x73, 5, 0, 31, 1), i_type(0x73, 5, 0, 3, 2)]
    writers = [0x12345037, 0x00001017, j_type(0, 4), i_type(0x13, 0, 0, 6, 5), r_type(0x33, 0, 0, 0, 6, 6)]
    writers += [r_type(0x33, 0, 0x20, 0, 0, 6), *(r_type(0x33, funct3, 1, 0, 6, 6) for funct3 in (0, 1, 2, 3, 4, 5))]
    writers += [*(r_type(0x33, funct3, 1, 0, 6, 30) for funct3 in (6, 7)), i_type(0x03, 2, 0, 30, 0)]
    writers += [*(i_type(0x73, 2, 0, 0, number) for number in (1, 2, 3, 0xC02))]
    writers += [*(i_type(0x73, funct3, 0, 3, number) for funct3 in (1, 2, 3, 5, 6, 7) for number in (1, 2, 3))]
    writers += [r_type(0x53, 0, 0x50, 0, 1, 1), r_type(0x53, 0, 0x60, 0, 1, 0), r_type(0x53, 0, 0x70, 0, 1, 0)]
    writers += [r_type(0x53, 1, 0x70, 0, 1, 0)]
    code = list(head)
    for writer in writers:
        # A status that is not 0 for the next writer; the mode stays legal for rounding.
        code += [writer, s_type(0x23, 2, 30, 0, 4), *li(7, 0x5F), i_type(0x73, 1, 0, 7, 3)]
    # The program's prologue has a jump to a register.
    code += [0x17 | 5 << 7, i_type(0x67, 0, 0, 5, 8), s_type(0x23, 2, 30, 0, 4), 0x6F]
    stride = 1 << (4 * len(code)).bit_length()
    run, commits = executed(board, [code], stride)
    assert run.reason == "done"
    same(0, commits[0], golden.commits(0, code, program_address(0, stride), tmp_path))
    stores = commits[0][commits[0]["stored"] > 0]
    assert len(stores) == len(writers) + 2 and not stores["data"][1:].any()


def fault(rng: random.Random, thread: int) -> list[int]:
    """An instruction that traps, after what it needs."""
    base = DATA + thread * SHARE
    kind = rng.randrange(4)
    if kind == 3:
        # Targets between instructions; floating point with a rounding mode that does not exist.
        mode = [i_type(0x73, 5, 0, rng.choice((5, 6, 7)), 2), 0x53 | 7 << 12 | 1 << 7 | rng.choice((0, 4, 8, 12)) << 25]
        return rng.choice(
            ([j_type(1, 6)], [i_type(0x17, 0, 6, 0, 0), i_type(0x67, 0, 1, 6, 14 | rng.randrange(2))], mode)
        )
    funct3, width = rng.choice(((0, 1), (1, 2), (2, 4), (4, 1), (5, 2), (7, 4)))
    offset = rng.randrange(-2048, 2048)
    if kind and width > 1:  # misaligned, with and without memory
        address = base + 0x1000 if kind == 1 else rng.randrange(*rng.choice(UNMAPPED)) & ~3
        address += rng.randrange(1, width)
    else:
        address = rng.randrange(*rng.choice(UNMAPPED)) & -width
    setup = li(6, address - offset & 0xFFFFFFFF)
    if funct3 < 4 and rng.getrandbits(1):
        return [*setup, s_type(0x23, funct3, 6, 7, offset)]
    if funct3 == 7:
        return [*setup, rng.choice((s_type(0x27, 2, 6, 7, offset), i_type(0x07, 2, 7, 6, offset)))]
    return [*setup, i_type(0x03, funct3, 6, 6, offset)]


def test_faults_match_spike(board: configs.Config, size: Size, seed: int, tmp_path: Path) -> None:
    """Misaligned and unmapped addresses, jumps between instructions, rounding modes: cause, address and value, and no
    effect of the instruction."""
    rng, threads = random.Random(seed), board.threads
    stride = 0x10000 // threads
    for _ in range(size.pick(1, 10, 100)):
        programs = []
        for thread in range(threads):
            # The words after the fault store what it may have changed.
            programs.append([*li(6, 1), *fault(rng, thread), 0x13, 0x13, 0x13, 0x6F])
        run, commits = executed(board, programs, stride)
        traps = {trap.thread: (trap.cause, trap.pc, trap.value) for trap in run.traps}
        assert len(traps) == threads
        for thread, (code, found) in enumerate(zip(programs, commits, strict=True)):
            want, trap = golden.trapped(thread, code, program_address(thread, stride), tmp_path)
            assert traps[thread] == trap, f"thread {thread}: {[hex(word) for word in code]}"
            same(thread, found, want)


def test_illegal_words_match_the_isa_table(board: configs.Config, size: Size, seed: int) -> None:
    """Every fixed bit inverted, and words with bits that are inverted or random; one word a thread."""
    threads = board.threads
    stride = 0x10000 // threads
    rng = random.Random(seed)
    words = legal_words.inverted(rng) + legal_words.words(rng, size.pick(1_000, 20_000, 200_000))
    # A stop of its thread has no effect on the others; a start would begin threads again.
    words = [word for word in words if word & 0x7F != 0x73 or word >> 20 != 0x813]
    count = 0
    for first in range(0, len(words), threads):
        part = words[first : first + threads]
        run, _ = executed(board, [[word, 0x6F] for word in part], stride)
        illegal = {trap.thread: trap.value for trap in run.traps if trap.cause == 2}
        count += len(illegal)
        for thread, word in enumerate(part):
            legal = legal_words.is_legal(word)
            assert (illegal.get(thread) == word) != legal, f"{word:#010x} is {'legal' if legal else 'illegal'}"
    assert 0.05 < count / len(words) < 0.95


def test_floating_point_matches_spike(board: configs.Config, size: Size, seed: int, tmp_path: Path) -> None:
    """Every operation and rounding mode, with corner cases and hard cases: results and flags."""
    rng = np.random.default_rng(seed)
    operands = [vectors.operands(rng, name, size.pick(2_000, 20_000, 100_000)) for name in fpu.NAMES]
    starts = np.cumsum([0] + [12 * len(words) for words in operands])
    outputs = np.cumsum([0] + [8 * fpu.MODES * len(words) for words in operands])
    out = DATA + int(starts[-1])
    code: list[int] = []
    for op, words in enumerate(operands):
        code += fpu.loop_over(op, len(words), DATA + int(starts[op]), out + int(outputs[op]))
    with Fast(board) as machine:
        machine.load([*code, STOP], [(DATA, b"".join(words.astype("<u4").tobytes() for words in operands))])
        assert machine.run(1).reason == "done"
        found = np.frombuffer(machine.read_memory(0, out, int(outputs[-1])), "<u4").reshape(-1, fpu.MODES, 2)
    at = 0
    for name, words, (values, flags) in zip(fpu.NAMES, operands, fpu.results(operands, tmp_path), strict=True):
        part = found[at : at + len(words)]
        at += len(words)
        want = np.stack([values, flags], axis=2)
        for row, mode in np.argwhere((part != want).any(axis=2))[:1]:
            both = [[hex(int(value)) for value in one[row, mode]] for one in (part, want)]
            operand = [hex(int(word)) for word in words[row]]
            pytest.fail(f"{name} of {operand} in mode {mode}: {both[0]}, Spike {both[1]}")
