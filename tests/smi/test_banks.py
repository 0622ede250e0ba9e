# SPDX-License-Identifier: Apache-2.0
"""DRAM banks: data that programs read and write, and cycles on boards, compared with bounds from the DRAM's timings.

The tests of the DRAM model (tests/rtl/memory) cover the timing of single commands; these cover streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from gossamer import config, smi
from gossamer.errors import InputError, RunDied

from .test_examples import GESUMMV, STREAMS, stencil

FILE = ROOT / "tests" / "fixtures" / "smi" / "banks.c"
RING = ROOT / "tests" / "fixtures" / "smi" / "ring.toml"
PORTS = str(FILE.with_name("ports.c"))
LINE = 64
CONFIG = config.load("smi520n")
DRAM = CONFIG.memory.dram


def on_boards(*arguments: object, ranks: int = 1, seed: int = 0, files: tuple[Path, ...] = (FILE,), fours: int = 1,
              **more: Any) -> int:  # fmt: skip
    done = smi.run([*map(str, files), PORTS], ranks=ranks, topology=RING, arguments=[str(one) for one in arguments],
                   defines=[f"FOURS={fours}"], options=smi.Options(seed=seed, engine="rtl"), **more)  # fmt: skip
    assert done.code == 0 and done.cycles is not None
    return done.cycles


@pytest.mark.default_cases("emulator", seconds=24, adds="the same in RTL, with a board of its own")
@pytest.mark.parametrize("engine", ["emulator", "rtl"])
def test_reads_return_the_written_bytes(engine: str) -> None:
    """Also for pieces that share a line, and next to unwritten bytes."""
    if engine == "rtl":
        on_boards("check")
    else:
        assert smi.run([str(FILE)], arguments=["check"]).code == 0


def test_kernels_share_a_stream_in_any_order() -> None:
    """The scheduler may switch kernels at any call; each kernel reads the bytes that the others left."""
    for seed in range(3):
        assert smi.run([str(FILE)], arguments=["shared"], options=smi.Options(seed=seed)).code == 0


def test_first_line_has_the_latency_of_the_dram() -> None:
    """Activate and read, between the two halves of the controller's latency."""
    clocks = DRAM.rate_mts / 2 / CONFIG.board.clock_mhz
    half = DRAM.controller_latency // 2
    asked = 1 + 1 + half  # opened and requested in cycle 1, sent in the next
    moved = asked * clocks + DRAM.rcd + DRAM.cl + DRAM.burst_length / 2
    first = int(-(-moved // clocks)) + DRAM.controller_latency - half
    assert on_boards(f"0:r:{LINE}:{LINE}") == first
    # A write is visible to later requests as soon as the controller has it.
    assert on_boards(f"0:w:{LINE}:{LINE}") == asked
    # The first row in a bank: one more line every cycle after the first.
    assert on_boards(f"0:r:{16 * LINE}:{LINE}") == first + 15


def test_banks_reach_their_bandwidth() -> None:
    lines = 60_000
    read, write, slow = (f"{{}}:{kind}:{lines * LINE}:{each}" for kind, each in (("r", LINE), ("w", LINE), ("r", 32)))
    alone = on_boards(read.format(0))
    # One line a cycle minus refresh; the controller opens rows ahead.
    most = 1 - DRAM.rfc / DRAM.refi
    assert 0.93 < lines / alone <= most
    assert on_boards(*(read.format(bank) for bank in range(4))) == alone
    assert 0.93 < lines / on_boards(write.format(0)) <= most
    # Two streams share a bank. The bus turnaround between reads and writes costs some clocks for each burst.
    assert 0.93 < 2 * lines / on_boards(read.format(0), read.format(0)) <= most
    both = on_boards(read.format(0), write.format(0))
    clocks = DRAM.rate_mts / 2 / CONFIG.board.clock_mhz
    burst = DRAM.burst_length // 2
    turnaround = (DRAM.cwl + burst + DRAM.wtr) + (DRAM.cl + burst + 2 - DRAM.cwl) - 2 * burst
    assert 0.9 < 2 * lines / both * (1 + turnaround / clocks / 128) <= most
    # A kernel that reads half a line a cycle.
    halves = on_boards(slow.format(0))
    assert 2 * lines <= halves < 2.01 * lines


def test_cycles_do_not_depend_on_the_order_of_kernels() -> None:
    """Kernels that share banks and start in the same cycle."""
    streams = [f"{bank}:{kind}:{size}:{each}" for bank, kind, size, each in
             [(0, "r", 9000, 64), (0, "w", 20000, 64), (0, "w", 7000, 40), (0, "r", 30000, 64), (1, "r", 9000, 64),
              (1, "w", 9000, 64), (1, "r", 64, 64)]]  # fmt: skip
    found = {on_boards(*streams, seed=seed) for seed in range(6)}
    assert len(found) == 1


def test_skipped_cycles_do_not_change_the_timing() -> None:
    """A message after a long read, during which the boards are idle, takes as long as a message at the start."""
    read = on_boards(f"0:r:{20_000 * LINE}:{LINE}")
    short, long = (on_boards("message", size, ranks=2, files=(FILE,)) for size in (0, 20_000 * LINE))
    assert abs(long - read - short) < 50
    with pytest.raises(RunDied, match="rank 1 waits for rank 0, which has ended"):
        on_boards("stuck", 20_000 * LINE, ranks=2, note=lambda line: None)


# case -> message after "rank 0: "
ERRORS = {
    "bank": "SMI_Bank_alloc in bank 300 ({}); banks are 0 to 255",
    "room": "SMI_Bank_alloc of 1152921504606846976 bytes in bank 0 exceeds its free space ({}); allocate less",
    "kernel": "SMI_Bank_alloc outside of main ({}); allocate there, so that addresses are the same in each run",
    "heap": "SMI_Open_bank_read at an address outside of the DRAM banks ({}); allocate it with SMI_Bank_alloc",
    "long": "SMI_Open_bank_write of 129 bytes, where 128 are allocated ({}); give 1 to 128",
    "none": "SMI_Open_bank_read of 0 bytes, where 120 are allocated ({}); give 1 to 120",
    "unopened": "SMI_Bank_read on a stream that was not opened to read ({})",
    "direction": "SMI_Bank_write on a stream that was not opened to write ({})",
    "wide": "SMI_Bank_read of 65 bytes ({}); a call moves 1 to 64 bytes, which is what a bank moves in a cycle",
    "early": "SMI_Bank_flush, where the stream has 128 bytes left to write ({}); write them first",
    "many": "SMI_Bank_read of 37 bytes, where the stream has 36 left ({}); open it with more",
}


def error_of(case: str, **about: Any) -> str:
    with pytest.raises(InputError) as caught:
        smi.run([str(FILE), *about.pop("more", [])], arguments=[case], **about)
    return str(caught.value)


def line_of(case: str) -> str:
    (number,) = [at for at, line in enumerate(FILE.read_text().splitlines(), 1) if line.endswith(f"// {case}")]
    return f"{FILE.relative_to(ROOT)}:{number}"


@pytest.mark.parametrize("case", ERRORS)
def test_error_is_one_line_with_its_source_line(case: str) -> None:
    assert error_of(case) == f"rank 0: {ERRORS[case]}".replace("{}", line_of(case))


def test_boards_have_the_banks_and_sizes_of_the_configuration() -> None:
    boards = {"topology": RING, "defines": ["FOURS=1"], "options": smi.Options(engine="rtl"), "more": [PORTS]}
    assert error_of("fifth", **boards) == f"rank 0: SMI_Bank_alloc in bank 4 ({line_of('fifth')}); banks are 0 to 3"
    assert error_of("room", **boards) == f"rank 0: {ERRORS['room']}".replace("{}", line_of("room"))


@pytest.mark.default_cases("shape0", seconds=13, adds="tilings of other shapes")
@pytest.mark.parametrize(
    "shape", [(1, 1, 1, 6, 16, 1), (2, 2, 1, 6, 64, 4), (4, 1, 3, 12, 96, 3), (1, 4, 2, 3, 256, 5)]
)
def test_stencil_in_banks_matches_numpy(shape: tuple[int, ...], seed: int, tmp_path: Path) -> None:
    down, across, _, rows, columns, steps = shape
    grid = np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32)
    grid.tofile(tmp_path / "in")
    words = [str(word) for word in (*shape, tmp_path / "in", tmp_path / "out")]
    program = STREAMS / "stencil_banks.cpp"
    want = stencil(grid, steps)

    def check() -> None:
        assert np.array_equal(np.fromfile(tmp_path / "out", dtype=np.float32).reshape(rows, columns), want)
        (tmp_path / "out").unlink()

    for order in (0, 3):
        assert smi.run([str(program)], ranks=down * across, arguments=words, options=smi.Options(seed=order)).code == 0
        check()
    found = set()
    for order in (0, 7):
        found.add(on_boards(*words, ranks=down * across, seed=order, files=(program,), fours=4))
        check()
    assert len(found) == 1


@pytest.mark.parametrize("ranks", [1, 2])
def test_gesummv_in_banks_matches_numpy_within_the_bandwidth(ranks: int, seed: int, tmp_path: Path) -> None:
    draw = np.random.default_rng(seed)
    size = 192
    data = {name: draw.integers(-9, 9, (size, size)).astype(np.float32) for name in "AB"}
    data["x"] = draw.integers(-9, 9, size).astype(np.float32)
    for name, values in data.items():
        values.tofile(tmp_path / name)
    words = [size, 4, 1.5, 0.5, *(tmp_path / name for name in (*data, "y"))]
    program = GESUMMV / "gesummv_banks.c"
    want = np.float32(1.5) * (data["A"] @ data["x"]) + np.float32(0.5) * (data["B"] @ data["x"])
    assert smi.run([str(program)], ranks=ranks, arguments=[str(word) for word in words]).code == 0
    assert np.array_equal(np.fromfile(tmp_path / "y", dtype=np.float32), want)
    (tmp_path / "y").unlink()
    cycles = on_boards(*words, ranks=ranks, files=(program,))
    assert np.array_equal(np.fromfile(tmp_path / "y", dtype=np.float32), want)
    # The bandwidth of the banks is a lower bound.
    assert cycles > 2 * size * size * 4 / (LINE * 4 * ranks)
