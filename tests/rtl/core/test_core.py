# SPDX-License-Identifier: Apache-2.0
"""The core against Spike, its speed, its traps, its debugging, and the proof of its scheduler."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import models
import numpy as np
import pytest
from conftest import Size, current_size
from rtl.core import golden, legal_words
from rtl.core.programs import DATA, SHARE, b_type, i_type, image, j_type, li, program, program_address, r_type, s_type

from gossamer.config import constants
from gossamer.hdl import prove, sources, verilate
from gossamer.paths import ROOT

HERE = Path(__file__).resolve().parent
HARNESS_FOLDER = models.FOLDER / "core"
THREADS = 16
ALL_THREADS = current_size().pick((THREADS,), (4, THREADS), (2, 4, 8, THREADS, 32))
STAGES, MUL_LATENCY, DIV_LATENCY = (
    constants.value(f"core_{name}") for name in ("pipeline_stages", "mul_latency", "div_latency")
)


def _harness(threads: int) -> Path:
    core = sources.listing(ROOT / "rtl" / "core" / "core.f") + sources.listing(ROOT / "rtl" / "fpu" / "fpu.f")
    return verilate.model(
        "core_top",
        core + [HARNESS_FOLDER / "core_top.sv"],
        [HARNESS_FOLDER / "harness.cc"],
        parameters={"ThreadsPerCore": threads},
        optimise="-O0",
    )


class Run:
    """The printed lines and the records of a run."""

    def __init__(self, words: list[int], folder: Path, threads: int = THREADS, of: int = THREADS, **options: int):
        np.array(words, dtype="<u4").tofile(folder / "image")
        arguments = [f"{name}={value}" for name, value in {"threads": threads, **options}.items()]
        ran = subprocess.run(
            [_harness(of), folder / "image", folder / "commits", *arguments],
            capture_output=True,
            text=True,
            timeout=1800,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        self.text = ran.stdout
        self.lines = [line for line in ran.stdout.splitlines() if not line.startswith("end ")]
        self.end = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", ran.stdout.split("end ")[-1])}
        self.commits = np.fromfile(folder / "commits", dtype=golden.COMMIT)


def _same(words: list[list[int]], stride: int, run: Run, folder: Path) -> int:
    """Compares all threads' instructions with Spike's; returns their number."""
    total = 0
    for tid, code in enumerate(words):
        at = program_address(tid, stride)
        commits = run.commits[run.commits["tid"] == tid]
        commits = commits[(commits["pc"] >= at) & (commits["pc"] < at + 4 * (len(code) - 1))]
        want = golden.commits(tid, code, at, folder)
        count = min(len(commits), len(want))
        differ = np.nonzero(commits[:count] != want[:count])[0]
        if len(differ):
            n = int(differ[0])
            names = golden.COMMIT.names or ()
            both = [{name: hex(int(commit[name])) for name in names} for commit in (commits[n], want[n])]
            pytest.fail(f"thread {tid}, instruction {n}: core {both[0]}, Spike {both[1]}")
        assert len(commits) == len(want), f"thread {tid}: {len(commits)} instructions, Spike {len(want)}"
        total += count
    return total


def _random(
    threads: int, goal: int, seed: int, folder: Path, environments: list[dict[str, int]], length: int = 1000
) -> None:
    rng = random.Random(seed)
    stride = 0x10000 // threads
    total = part = 0
    while total < goal:
        # A short program runs at least its own length.
        here = min(length, stride // 4)
        loops = max(1, min(24, (goal - total) // (threads * here)))
        words = [program(rng, tid, here, loops) for tid in range(threads)]
        options = environments[part % len(environments)]
        run = Run(image(words, stride), folder, threads, threads, seed=seed + part, cycles=20_000_000, **options)
        assert run.lines == [], run.text
        if options.get("halts"):
            assert run.end["parks"] > threads and run.end["injections"] > 10, run.text
        # Starts of running threads and injections into them are rejected.
        assert (run.end["rejections"] > 10) == (options.get("wrong", 0) > 0), run.text
        total += _same(words, stride, run, folder)
        part += 1


ENVIRONMENTS = [
    {"least": 1, "most": 20},
    {"least": 1, "most": 1},
    {"least": 1, "most": 200, "ready": 50, "fstall": 30},
    {"least": 1, "most": 30, "halts": 2},
    {"least": 10, "most": 30, "ready": 20, "fstall": 70, "halts": 1},
    {"least": 1, "most": 30, "halts": 2, "wrong": 5},
]


def test_random_programs_match_spike(size: Size, seed: int, tmp_path: Path) -> None:
    """All instructions without effect outside the core; memory, FPU and debugging with random delays."""
    _random(THREADS, size.pick(10_000, 60_000, 1_000_000), seed, tmp_path, ENVIRONMENTS, size.pick(280, 600, 1000))


@pytest.mark.parametrize("threads", [count for count in ALL_THREADS if count != THREADS])
def test_every_thread_count_matches_spike(threads: int, size: Size, seed: int, tmp_path: Path) -> None:
    _random(threads, size.pick(2_000, 10_000, 100_000), seed, tmp_path, ENVIRONMENTS[2:6:3], 500)


def _loop(body: list[int]) -> list[int]:
    """The same endless loop for all threads."""
    return [*li(30, DATA + 0x800), i_type(0x73, 2, 5, 0, 0xCC3), i_type(0x13, 1, 5, 5, SHARE.bit_length() - 1),
            r_type(0x33, 0, 0, 30, 30, 5), *body, j_type(0, -4 * len(body))]  # fmt: skip


ALU = [r_type(0x33, funct3, 0, 6 + funct3, 7, 8) for funct3 in range(8)] * 2
LOADS = [*ALU[:3], i_type(0x03, 2, 9, 30, 0), *ALU[3:6], s_type(0x23, 2, 30, 9, 4)]
FLOATS = [*ALU[:3], r_type(0x53, 0, 0, 1, 2, 3), *ALU[3:6], r_type(0x53, 0, 8, 1, 2, 3)]


@pytest.mark.parametrize(
    ("body", "threads", "bound"),
    [
        (ALU, STAGES, 0.99),
        (ALU, THREADS, 0.99),
        (ALU, STAGES // 2, 0.49),
        (LOADS, THREADS, 0.95),
        (FLOATS, THREADS, 0.9),
    ],
    ids=["alu-8", "alu-16", "alu-4", "loads-16", "floats-16"],
)
def test_core_issues_one_instruction_per_cycle(body: list[int], threads: int, bound: float, tmp_path: Path) -> None:
    """Slightly less with memory and FPU: responses wait for the slots that suspended instructions leave."""
    run = Run(_loop(body), tmp_path, threads, fixed=1, warm=1000, cycles=6000, least=1, most=4, quiet=1)
    ipc = run.end["issued"] / run.end["cycles"]
    print(f"{ipc:.4f} instructions a cycle")
    assert bound <= ipc <= threads / STAGES


def _cycles(body: list[int], threads: int, folder: Path) -> int:
    """Cycles of a single thread for a body, from its first issue to the issue after it."""

    def between(words: list[int]) -> int:
        code = [*li(6, 1000), *li(7, 7), *li(8, -7 % 2**32), 0x13, i_type(0x73, 2, 10, 0, 0xC00), *words]
        code += [i_type(0x73, 2, 11, 0, 0xC00), 0x6F]
        run = Run(code, folder, 1, threads, least=1, most=1)
        assert run.lines == [], run.text
        first, second = (run.commits["value"][run.commits["reg"] == register][-1] for register in (10, 11))
        return int(second) - int(first)

    once, twice = between(body) - between([]), between(body * 2) - between([])
    assert twice == 2 * once
    return once


def test_latencies_equal_the_constants(tmp_path: Path) -> None:
    """The measured latencies of the core's instructions equal those in config/constants."""
    mul, div, divu, rem, remu = (r_type(0x33, funct3, 1, 9, 6, 7) for funct3 in (0, 4, 5, 6, 7))
    assert _cycles([ALU[0]], THREADS, tmp_path) == STAGES
    for funct3 in range(4):
        assert _cycles([mul | funct3 << 12], THREADS, tmp_path) == MUL_LATENCY
    for instruction in (div, divu, rem, remu):
        assert _cycles([instruction], THREADS, tmp_path) == DIV_LATENCY
    # By a negative number: the quotient is negative, the remainder is not.
    again = DIV_LATENCY + STAGES
    assert _cycles([r_type(0x33, 4, 1, 9, 6, 8)], THREADS, tmp_path) == again
    assert _cycles([r_type(0x33, 6, 1, 9, 6, 8)], THREADS, tmp_path) == DIV_LATENCY


def test_responses_do_not_starve_among_busy_threads(tmp_path: Path) -> None:
    """One thread divides and loads among fifteen that never suspend: it proceeds a few cycles later than alone."""
    waits = [r_type(0x33, 4, 1, 9, 7, 8), i_type(0x03, 2, 9, 30, 0)]
    busy = ALU[:6]
    code = _loop([])[:-1]
    code += [b_type(0, 5, 0, 4 * (len(busy) + 2)), *busy, j_type(0, -4 * len(busy)), *waits, j_type(0, -4 * len(waits))]
    run = Run(code, tmp_path, fixed=1, warm=0, cycles=20_000, least=1, most=1)
    first = run.commits[run.commits["tid"] == 0]
    # A round of 3 instructions among 16 threads: 48 cycles, 34 for the divide, some for the waits.
    assert np.count_nonzero(first["pc"] == 4 * (len(code) - 1)) > 20_000 / 150
    assert run.end["issued"] > 0.98 * 20_000


def test_every_rounding_mode_change_takes_effect(tmp_path: Path) -> None:
    """After a write, set or clear of frm and fcsr, by register or immediate, the next division uses the new mode."""
    code = [*li(1, 0x3F800000), r_type(0x53, 0, 0x78, 1, 1, 0), *li(2, 0x40400000), r_type(0x53, 0, 0x78, 2, 2, 0)]
    code += [*li(3, 0xBF800000), r_type(0x53, 0, 0x78, 3, 3, 0)]
    for number, shift in ((2, 0), (3, 5)):
        for before in range(4):
            for funct3 in (1, 2, 3, 5, 6, 7):
                # Only modes 0 to 3 result; immediates are too narrow for modes in fcsr.
                bits = (before + funct3) % 4
                immediate = funct3 >= 5
                code += [i_type(0x73, 5, 0, before, 2)]
                code += [] if immediate else li(4, bits << shift)
                code += [i_type(0x73, funct3, 5, bits if immediate else 4, 2 if immediate else number)]
                code += [r_type(0x53, 7, 0x0C, 6, 1, 2), r_type(0x53, 7, 0x0C, 7, 3, 2)]
    code += [0x6F]
    stride = 0x10000 // THREADS
    assert 4 * len(code) <= stride
    words = [code] * THREADS
    run = Run(image(words, stride), tmp_path, cycles=20_000_000, least=1, most=20)
    assert run.lines == [], run.text
    _same(words, stride, run, tmp_path)


def test_thread_never_parks_between_passes_of_a_divide(tmp_path: Path) -> None:
    """Threads of a full core divide with negative results; whenever they are parked, the register is old or new."""
    old, new = 0x55, -(1000 // 7) % 2**32
    code = [*li(6, 1000), *li(8, -7 % 2**32), i_type(0x13, 0, 9, 0, old), r_type(0x33, 4, 1, 9, 6, 8), j_type(0, -8)]
    run = Run(code, tmp_path, fixed=1, warm=0, cycles=60_000, halts=20, show=9, csrs=1, quiet=1, least=1, most=1)
    seen: dict[int, list[int]] = {}
    for line in run.lines:
        if found := re.fullmatch(r"debug tid=(\d+) value=(\S+)", line):
            seen.setdefault(int(found[1]), []).append(int(found[2], 16))
    for tid, values in seen.items():
        # Values before a thread's first instructions are ignored.
        while values and values[0] not in (old, new):
            values.pop(0)
        assert set(values) <= {old, new}, f"thread {tid}: {[hex(value) for value in set(values)]}"
    together = [value for values in seen.values() for value in values]
    assert together.count(old) > 20 and together.count(new) > 20, run.text[-300:]


TRAPS: list[tuple[str, list[int], int, int, int]] = [
    # name, code, cause, index of the trapping word, trap value
    ("load half", [*li(6, DATA + 1), i_type(0x03, 1, 7, 6, 0)], 4, 2, DATA + 1),
    ("load word", [*li(6, DATA + 2), i_type(0x03, 2, 7, 6, 0)], 4, 2, DATA + 2),
    ("load float", [*li(6, DATA + 2), i_type(0x07, 2, 7, 6, 1)], 4, 2, DATA + 3),
    ("store half", [*li(6, DATA + 1), s_type(0x23, 1, 6, 7, 2)], 6, 2, DATA + 3),
    ("store word", [*li(6, DATA + 1), s_type(0x23, 2, 6, 7, 0)], 6, 2, DATA + 1),
    ("store float", [*li(6, DATA + 1), s_type(0x27, 2, 6, 7, 0)], 6, 2, DATA + 1),
    ("jump by 2", [j_type(1, 6)], 0, 0, 6),
    ("branch by 2", [b_type(0, 0, 0, 6)], 0, 0, 0),
    ("jump to 2", [i_type(0x67, 0, 1, 0, 6)], 0, 0, 6),
    ("jump out", [*li(6, 0x80000000), i_type(0x67, 0, 1, 6, 0)], 1, 2, 0x80000000),
    ("jump to the end", [*li(6, 0x20000), i_type(0x67, 0, 1, 6, 0)], 1, 2, 0x20000),
    ("jump back", [j_type(0, -8)], 1, 0, 0xFFFFFFF8),
    ("branch back", [0x13, b_type(0, 0, 0, -8)], 1, 1, 0),
    ("ecall", [0x00000073], 8, 0, 0),
    ("ebreak", [0x00100073], 3, 0, 0),
    ("illegal", [0xFFFFFFFF], 2, 0, 0xFFFFFFFF),
    ("zero", [0], 2, 0, 0),
    ("branch, compressed", [b_type(0, 0, 0, 8) & ~1], 2, 0, b_type(0, 0, 0, 8) & ~1),
    ("mode", [i_type(0x73, 5, 0, 6, 2), r_type(0x53, 7, 0, 1, 2, 3)], 2, 1, r_type(0x53, 7, 0, 1, 2, 3)),
]


@pytest.mark.parametrize("case", TRAPS, ids=[case[0] for case in TRAPS])
def test_trap_stops_only_its_thread(case: tuple[str, list[int], int, int, int], tmp_path: Path) -> None:
    """The odd threads trap; the even ones count to 300 and end."""
    _, bad, cause, index, value = case
    count = [i_type(0x13, 0, 6, 0, 300), i_type(0x13, 0, 6, 6, -1), b_type(1, 6, 0, -4), 0x6F]
    head = [i_type(0x73, 2, 5, 0, 0xCC3), i_type(0x13, 7, 5, 5, 1), b_type(1, 5, 0, 4 * (len(count) + 1))]
    code = [*head, *count, *bad, 0x6F]
    offset = 4 * (len(head) + len(count))
    if case[0] in ("jump back", "branch back"):
        # Only the address before the start is unmapped: all of these threads trap.
        code, offset = [*bad, 0x6F], 0
    run = Run(code, tmp_path, cycles=100_000)
    pc = offset + 4 * index
    # The trap value of a jump is its target.
    tval = (value + pc) % 2**32 if case[0] in ("jump by 2", "jump back") else value
    who = range(THREADS) if offset == 0 else range(1, THREADS, 2)
    assert sorted(run.lines) == sorted(f"trap tid={tid} cause={cause} pc={_hex(pc)} tval={_hex(tval)}" for tid in who)
    # A trapped instruction is not finished, so it is not in the trace.
    assert not np.any((run.commits["pc"] == pc) & np.isin(run.commits["tid"], list(who)))
    for tid in range(0, THREADS, 2):
        if offset:
            assert np.count_nonzero(run.commits["tid"][run.commits["pc"] == 4 * (len(head) + 1)] == tid) == 300


def _hex(value: int) -> str:
    return f"{value:#x}" if value else "0"


def test_every_bit_of_a_jump_target_is_checked(tmp_path: Path) -> None:
    """Thread n jumps to 2^(16 + n): the first to a word of zeros, the others out of the instruction memory."""
    jump = 4
    code = [i_type(0x73, 2, 5, 0, 0xCC3), *li(6, 0x10000), r_type(0x33, 1, 0, 6, 6, 5), i_type(0x67, 0, 1, 6, 0)]
    assert len(code) == jump + 1
    run = Run(code, tmp_path, cycles=100_000)
    out = [f"trap tid={tid} cause=1 pc={4 * jump:#x} tval={1 << (16 + tid):#x}" for tid in range(1, THREADS)]
    assert sorted(run.lines) == sorted(["trap tid=0 cause=2 pc=0x10000 tval=0", *out])


def test_pc_past_the_end_of_instruction_memory_traps(tmp_path: Path) -> None:
    words = [0x13] * 0x8000
    words[0:3] = [*li(6, 0x20000 - 8), i_type(0x67, 0, 1, 6, 0)]
    run = Run(words, tmp_path, threads=1)
    assert run.lines == ["trap tid=0 cause=1 pc=0x20000 tval=0"]


def test_tile_csr_requests_have_correct_kind_and_data(tmp_path: Path) -> None:
    """Requests for a CSR: write, read, value."""
    csr = 0x801
    code = [i_type(0x13, 0, 6, 0, 77), i_type(0x73, 1, 7, 6, csr), i_type(0x73, 1, 0, 6, csr)]
    code += [i_type(0x73, 5, 0, 9, csr), i_type(0x73, 2, 7, 0, csr), i_type(0x73, 7, 7, 0, csr)]
    code += [i_type(0x73, 1, 0, 0, 0x814)]
    run = Run(code, tmp_path, threads=1, csrs=1)
    want = [(3, 77), (1, 77), (1, 9), (2, None), (2, None)]
    lines = [re.fullmatch(r"csr tid=0 number=0x801 how=(\d) data=(\S+)", line) for line in run.lines[:-1]]
    assert len(lines) == len(want)
    for line, (how, data) in zip(lines, want, strict=True):
        assert line is not None and int(line[1]) == how and (data is None or int(line[2], 16) == data)


@pytest.mark.parametrize(("cores", "threads"), [(4, 16), (8, 8), (1, 2)])
def test_instret_counts_match_a_model(cores: int, threads: int, size: Size, seed: int) -> None:
    verilate.cocotb(
        "gs_instret",
        sources.listing(ROOT / "rtl" / "core" / "core.f"),
        "rtl.core.instret_cocotb",
        parameters={"Cores": cores, "ThreadsPerCore": threads},
        environment={
            "INSTRET_CYCLES": str(size.pick(2_000, 10_000, 200_000)),
            "INSTRET_CORES": str(cores),
            "INSTRET_THREADS": str(threads),
        },
        seed=seed,
        optimise="-O0",
        looks_at={"gs_ram_sdp": ["mem"]},
    )


def test_illegal_words_match_the_isa_table(size: Size, seed: int, tmp_path: Path) -> None:
    """Every opcode, funct3 and funct7, and all other fixed bits, with one bit inverted or random."""
    words = legal_words.words(random.Random(seed), size.pick(2_000, 20_000, 200_000))
    np.array(words, dtype="<u4").tofile(tmp_path / "words")
    ran = subprocess.run(
        [_harness(THREADS), tmp_path / "words", "-", "verdicts=1"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    verdicts = ran.stdout.strip()
    assert len(verdicts) == len(words)
    wrong = [
        f"{word:#010x} is {'legal' if legal_words.is_legal(word) else 'illegal'}"
        for word, verdict in zip(words, verdicts, strict=True)
        if (verdict != "i") != legal_words.is_legal(word)
    ]
    assert wrong == []
    assert 0.05 < verdicts.count("i") / len(verdicts) < 0.95


def _scheduler(proof: str = "sched_proof") -> sources.Sources:
    """The scheduler, its queue, the thread states, and a proof."""
    core = sources.listing(ROOT / "rtl" / "core" / "core.f")
    needs = ("gs_core_pkg", "gs_thread_pkg", "gs_fifo", "gs_ram_sdp", "gs_core_sched")
    files = tuple(path for path in core.files if path.stem in needs)
    return sources.Sources(files, core.include) + [HERE / f"{proof}.sv"]


@pytest.mark.parametrize("threads", current_size().pick((4,), (4,), (2, 4)))
def test_thread_is_in_exactly_one_state(threads: int) -> None:
    """Proved for any behaviour of instructions, responses and control."""
    proof = prove.prove("sched_proof", _scheduler(), depth=2, cover_depth=0, parameters={"ThreadsPerCore": threads})
    assert proof.passed, proof.reason


def test_every_thread_transition_is_reachable() -> None:
    """The proof's assumptions allow every start, park, injection, rejection and end."""
    proof = prove.prove("sched_proof", _scheduler(), mode="cover", depth=32, parameters={"ThreadsPerCore": 2})
    assert proof.passed, proof.reason


def test_scheduler_waits_have_exact_bounds() -> None:
    """Proved for responses, the first thread of the run queue, and control, with bounds that covers reach."""
    # Eight threads fill the pipeline, and their start takes fewer cycles.
    for mode, depth, threads in (("prove", 10, 16), ("cover", 60, 8)):
        proof = prove.prove(
            "sched_wait_proof",
            _scheduler("sched_wait_proof"),
            mode=mode,
            depth=depth,
            cover_depth=0,
            parameters={"ThreadsPerCore": threads},
        )
        assert proof.passed, f"{mode}: {proof.reason}"
