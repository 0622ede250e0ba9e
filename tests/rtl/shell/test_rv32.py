# SPDX-License-Identifier: Apache-2.0
"""The control processor against Spike: random programs in lockstep, and what stops it."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import Size
from rtl.core import golden, legal_words
from rtl.core.programs import b_type, i_type, j_type, li, r_type, s_type

from gossamer.hdl import _yosys, sources, synth, verilate

HERE = Path(__file__).resolve().parent
RAM, START = 0x20000, 0x10000
"""Bytes of RAM, and the first instruction: Spike has devices of its own in the lower addresses."""
DATA, DATA_IO = 0x1C000, 0x80000000
"""Where random programs load and store; the second port of the RAM writes its last words."""
WINDOW = 64
INTEGERS = (0, 1, 2, 31, 32, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)
LOADS = ((0, 1), (1, 2), (2, 4), (4, 1), (5, 2))
"""funct3 of each load, and its bytes; the first three are those of stores, too."""


def harness() -> Path:
    files = sources.blocks("shell/rv32.f") + [HERE / "rv32_top.sv"]
    return verilate.model("rv32_top", files, [HERE / "rv32.cc"], optimise="-O1")


class Run:
    """What a program did: its lines of output, counts, and the record of each instruction."""

    def __init__(self, words: list[int], folder: Path, **options: int) -> None:
        """Runs words from START on; none: the file that is in the folder."""
        if words:
            text = "".join(f"{word:08x}\n" for word in words)
            (folder / "image.hex").write_text(f"@{START // 4:x}\n{text}")
        arguments = [f"{name}={value}" for name, value in options.items()]
        ran = subprocess.run(
            [harness(), *arguments], cwd=folder, capture_output=True, text=True, timeout=600, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        self.lines = ran.stdout.splitlines()
        self.counts = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", self.lines.pop())}
        self.commits = np.fromfile(folder / "commits", dtype=golden.COMMIT)


def random_program(rng: random.Random, length: int, loops: int) -> list[int]:
    """Every instruction of RV32I except SYSTEM, on random registers; jumps are forward within a loop.

    x29 counts the loops, x30 and x31 are addresses in RAM and I/O.
    """

    def source() -> int:
        return rng.randrange(32)

    def target() -> int:
        return rng.randrange(29)

    def integer() -> int:
        return rng.choice(INTEGERS) if rng.random() < 0.4 else rng.getrandbits(32) >> rng.randrange(32)

    def compute() -> list[int]:
        funct3 = rng.randrange(8)
        other = 0x20 if rng.getrandbits(1) else 0
        if rng.getrandbits(1):
            return [r_type(0x33, funct3, other if funct3 in (0, 5) else 0, target(), source(), source())]
        if funct3 in (1, 5):
            return [r_type(0x13, funct3, other if funct3 == 5 else 0, target(), source(), rng.randrange(32))]
        return [i_type(0x13, funct3, target(), source(), rng.getrandbits(12))]

    def access() -> list[int]:
        funct3, size = rng.choice(LOADS)
        # Few words, so that loads read what was stored.
        offset = rng.randrange(-8, 8) * 4 + rng.randrange(0, 4, size)
        base = rng.choice((30, 30, 31))
        if funct3 < 4 and rng.getrandbits(1):
            return [s_type(0x23, funct3, base, source(), offset)]
        return [i_type(0x03, funct3, target(), base, offset)]

    units: list[list[int]] = []
    for _ in range(length):
        pick = rng.random()
        if pick < 0.4:
            units.append(compute())
        elif pick < 0.65:
            units.append(access())
        elif pick < 0.7:
            units.append(li(target(), integer()))
        elif pick < 0.75:
            units.append([rng.getrandbits(20) << 12 | target() << 7 | rng.choice((0x37, 0x17))])
        elif pick < 0.77:
            units.append([rng.choice((0x0FF0000F, 0x8330000F, 0x0AA5078F))])  # fences
        elif pick < 0.9:
            # Over some instructions that are never jump targets themselves.
            skipped = [word for _ in range(rng.randrange(4)) for word in compute()]
            first = source()
            second = first if rng.random() < 0.2 else source()
            units.append([b_type(rng.choice((0, 1, 4, 5, 6, 7)), first, second, 4 * len(skipped) + 4), *skipped])
        elif pick < 0.95:
            skipped = [word for _ in range(rng.randrange(4)) for word in compute()]
            units.append([j_type(target(), 4 * len(skipped) + 4), *skipped])
        else:
            # The lowest bit of the target is ignored.
            base = rng.randrange(1, 29)
            odd = rng.getrandbits(1)
            units.append([base << 7 | 0x17, i_type(0x67, 0, target(), base, 8 + odd)])
    code = [word for number in range(1, 29) for word in li(number, integer())]
    code += [*li(29, loops), *li(30, DATA), *li(31, DATA_IO + 0x400)]
    body = [word for unit in units for word in unit]
    code += [*body, i_type(0x13, 0, 29, 29, -1), b_type(0, 29, 0, 8), j_type(0, -4 * (len(body) + 2)), 0x6F]
    assert START + 4 * len(code) < DATA - 64
    return code


def compare(run: Run, code: list[int], folder: Path) -> None:
    """Compares each instruction, its result and its store with Spike's."""
    assert run.lines == [], run.lines
    want = golden.commits(0, code, START, folder, data=DATA_IO)
    assert run.commits[-1]["instr"] == 0x6F
    got = run.commits[:-1]
    count = min(len(got), len(want))
    for n in np.nonzero(got[:count] != want[:count])[0]:
        both = [{name: hex(int(one[n][name])) for name in golden.COMMIT.names or ()} for one in (got, want)]
        pytest.fail(f"instruction {n}: processor {both[0]}, Spike {both[1]}")
    assert len(got) == len(want)


def test_random_programs_match_spike(size: Size, seed: int, tmp_path: Path) -> None:
    """Each instruction's address, result and store; I/O waits, and the second port of the RAM reads and writes."""
    rng = random.Random(seed)
    for part in range(size.pick(2, 6, 100)):
        code = random_program(rng, 2000, 10)
        run = Run(code, tmp_path, seed=seed + part, cycles=10_000_000, ready=(100, 30, 5)[part % 3], window=WINDOW)
        assert run.counts["instructions"] > 10_000 and min(run.counts["requests"], run.counts["checked"]) > 1000
        compare(run, code, tmp_path)


def test_illegal_words_trap(size: Size, seed: int, tmp_path: Path) -> None:
    """Words that are not RV32I stop the processor at their address; legal ones of the same draw do not."""
    words = legal_words.words(random.Random(seed), size.pick(80, 500, 20_000))
    # Each fixed bit of funct7, and each funct3 of the other opcodes.
    fixed = [r_type(0x13, 1, 0, 5, 5, 6), r_type(0x13, 5, 0, 5, 5, 6), r_type(0x33, 2, 0, 5, 5, 6), 0x00628293 | 0x20]
    words += [word ^ 1 << bit for word in fixed for bit in (0, 1, *range(25, 32))]
    words += [opcode | funct3 << 12 for opcode in (0x03, 0x0F, 0x23, 0x63, 0x67) for funct3 in range(8)]
    for number, word in enumerate(words):
        # The registers are valid addresses, so that no load or jump traps for another reason.
        opcode = word & 0x7F
        if legal(word) and opcode in (0x63, 0x6F, 0x67, 0x03, 0x23):
            continue
        run = Run([0x13, 0x13, word, 0x6F], tmp_path, seed=number, cycles=1000)
        assert run.lines == ([] if legal(word) else [f"trap pc={START + 8:#x}"]), f"{word:#010x}"
        assert len(run.commits) == (4 if legal(word) else 2)


def legal(word: int) -> bool:
    """Whether a word is an instruction of RV32I that does not trap, by the table of the ISA manual."""
    fields = (word & 0x7F, word >> 12 & 7, word >> 25)
    if fields[0] not in (0x37, 0x17, 0x6F, 0x67, 0x63, 0x03, 0x23, 0x13, 0x33, 0x0F):
        return False
    if fields[0] == 0x33 and fields[2] == 1:  # M
        return False
    return legal_words.is_legal(word) and not (fields[0] == 0x0F and fields[1] == 1)  # Zifencei


TRAPS: list[tuple[str, list[int], int]] = [
    # name, code, index of the instruction that traps
    ("ecall", [0x13, 0x00000073], 1),
    ("ebreak", [0x00100073], 0),
    ("csr", [i_type(0x73, 2, 5, 0, 0xC00)], 0),
    ("load half", [*li(6, DATA + 1), i_type(0x03, 1, 7, 6, 0)], 2),
    ("load half unsigned", [*li(6, DATA + 1), i_type(0x03, 5, 7, 6, 2)], 2),
    ("load word by 1", [*li(6, DATA + 1), i_type(0x03, 2, 7, 6, 0)], 2),
    ("load word by 2", [*li(6, DATA), i_type(0x03, 2, 7, 6, 2)], 2),
    ("load above the ram", [*li(6, RAM), i_type(0x03, 0, 7, 6, 0)], 2),
    ("load below io", [*li(6, 0x7FFFFFFF), i_type(0x03, 0, 7, 6, 0)], 2),
    ("load misaligned io", [*li(6, 0x80000002), i_type(0x03, 2, 7, 6, 0)], 2),
    ("store half", [*li(6, DATA), s_type(0x23, 1, 6, 7, 1)], 2),
    ("store word", [*li(6, DATA), s_type(0x23, 2, 6, 7, -2)], 2),
    ("store above the ram", [*li(6, RAM - 4), s_type(0x23, 2, 6, 7, 4)], 2),
    ("store misaligned io", [*li(6, 0x80000001), s_type(0x23, 1, 6, 7, 0)], 2),
    ("jump by 2", [0x13, j_type(1, 6)], 1),
    ("jump back by 2", [0x13, 0x13, j_type(1, -6)], 2),
    ("branch by 2", [b_type(0, 0, 0, 6)], 0),
    ("jump to 2", [i_type(0x67, 0, 1, 0, 6)], 0),
    ("jump out", [*li(6, 0x80000000), i_type(0x67, 0, 1, 6, 0)], 2),
    ("jump to the end", [*li(6, RAM), i_type(0x67, 0, 1, 6, 0)], 2),
    ("jump back", [j_type(0, -START - 4)], 0),
]


@pytest.mark.parametrize(("code", "index"), [case[1:] for case in TRAPS], ids=[case[0] for case in TRAPS])
def test_trap_stops_at_its_instruction_without_effect(code: list[int], index: int, tmp_path: Path) -> None:
    run = Run([*code, 0x6F], tmp_path, cycles=1000)
    assert run.lines == [f"trap pc={START + 4 * index:#x}"]
    assert len(run.commits) == index and run.counts["requests"] == 0
    assert not run.commits["stored"].any()


def test_branches_not_taken_ignore_their_target(tmp_path: Path) -> None:
    run = Run([b_type(1, 0, 0, 6), b_type(4, 0, 0, -2 * START), 0x6F], tmp_path, cycles=1000)
    assert run.lines == [] and len(run.commits) == 3


def test_pc_past_the_end_of_the_ram_traps(tmp_path: Path) -> None:
    run = Run([*li(6, RAM - 8), i_type(0x67, 0, 0, 6, 0)] + [0x13] * ((RAM - START) // 4 - 3), tmp_path, cycles=1000)
    assert run.lines == [f"trap pc={RAM - 4:#x}"]


def test_instructions_take_the_stated_cycles(tmp_path: Path) -> None:
    """Three cycles; branches and loads 4, I/O 5; a shift one more for each 8 bits and each of the remaining bits."""
    loop = 64

    def cycles(body: list[int]) -> float:
        head = [*li(6, DATA), *li(7, DATA_IO)]
        few, many = (
            Run([*head, *(body * count), 0x6F], tmp_path, cycles=100_000).counts["cycles"] for count in (1, 1 + loop)
        )
        return (many - few) / loop

    assert cycles([i_type(0x13, 0, 5, 5, 1)]) == 3
    assert cycles([0x12345 << 12 | 5 << 7 | 0x37]) == 3
    assert cycles([j_type(5, 4)]) == 3
    assert cycles([b_type(0, 0, 0, 4)]) == cycles([b_type(1, 0, 0, 4)]) == 4
    assert cycles([i_type(0x03, 2, 5, 6, 0)]) == 4
    assert cycles([s_type(0x23, 2, 6, 5, 0)]) == 3
    assert cycles([i_type(0x03, 2, 5, 7, 0)]) == cycles([s_type(0x23, 2, 7, 5, 0)]) == 5
    for amount in range(32):
        want = 3 + max(1, amount // 8 + amount % 8)
        assert cycles([r_type(0x13, 1, 0, 5, 5, amount)]) == want
        assert cycles([r_type(0x13, 5, 0x20, 5, 5, amount)]) == want


def test_illegal_parameters_stop_elaboration() -> None:
    files = sources.blocks("shell/rv32.f")
    for parameters, sentence in (
        ({"RamBytes": 5000}, "RamBytes is 5000"),
        ({"RamBytes": 128}, "RamBytes is 128"),
        ({"ResetPc": 2}, "ResetPc is 2"),
        ({"ResetPc": 16384}, "ResetPc is 16384"),
    ):
        assert sentence in verilate.lint("gs_rv32", files, parameters=parameters)
    assert "RamBytes is 5000" in synth.elaborate("gs_rv32", files, {"RamBytes": 5000})


def test_synthesis_reads_the_initial_contents(tmp_path: Path) -> None:
    """Yosys places the words of InitFile in the memory."""
    words = [random.Random(1).getrandbits(32) for _ in range(9)]
    (tmp_path / "image.hex").write_text("".join(f"{word:08x}\n" for word in words))
    names, folders = _yosys.stage(sources.blocks("shell/rv32.f"), tmp_path)
    script = [_yosys.read("gs_rv32_ram", names, folders, {"InitFile": "image.hex"}), "write_rtlil design.il"]
    assert _yosys.yosys(tmp_path, "\n".join(script), "yosys.log") == 0, (tmp_path / "yosys.log").read_text()[-2000:]
    found = re.search(r"connect \\DATA 288'([01]+)", (tmp_path / "design.il").read_text())
    assert found and int(found[1], 2) == sum(word << 32 * at for at, word in enumerate(words))
