# SPDX-License-Identifier: Apache-2.0
"""The stencil kernel on a grid of ranks, compared with a serial program: over stalling wires, and over boards."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import sources, synth, verilate

HERE = Path(__file__).resolve().parent
Floats = npt.NDArray[np.float32]
# Ranks down and across, rows and columns of a rank, steps: each border short, long, and both at once.
SHAPES = [
    (1, 1, 1, 1, 1),
    (1, 1, 7, 5, 3),
    (1, 1, 32, 32, 2),
    (2, 2, 1, 1, 4),
    (2, 2, 1, 9, 3),
    (2, 2, 9, 1, 3),
    (2, 2, 6, 32, 3),
    (2, 2, 32, 3, 3),
    (1, 4, 5, 4, 9),
    (4, 1, 4, 5, 9),
    (3, 1, 2, 2, 6),
    (1, 2, 8, 8, 0),
]


def model(boards: bool) -> Path:
    design = sources.blocks("stream/board.f", "stream/kernels/stencil.f", config=configs.load("de5")) + [
        sources.SIM / "link" / "gs_mac_model.sv",
        HERE / "stencil_top.sv",
    ]
    return verilate.model(
        "stencil_top", design, [HERE / "stencil.cc"], parameters={"Boards": int(boards)}, optimise="-Og"
    )


def serial(grid: Floats, steps: int) -> Floats:
    """Point by point, each operation rounded separately."""
    rows, columns = grid.shape
    quarter = np.float32(0.25)
    now = [[np.float32(value) for value in row] for row in grid]
    for _ in range(steps):
        then = [list(row) for row in now]
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                then[i][j] = quarter * ((now[i - 1][j] + now[i + 1][j]) + (now[i][j - 1] + now[i][j + 1]))
        now = then
    return np.array(now, np.float32).reshape(rows, columns)


def run(simulator: Path, folder: Path, shape: tuple[int, ...], seed: int, stalls: bool) -> int:
    """Runs the simulation and compares the result; returns the cycles."""
    down, across, rows, columns, steps = shape
    grid = np.random.default_rng(seed).standard_normal((down * rows, across * columns)).astype(np.float32)
    # Some points are so small that their mean is subnormal.
    grid[::3] *= np.float32(2.0**-125)
    given, found = folder / "in", folder / "out"
    grid.tofile(given)
    words = [str(word) for word in (simulator, *shape, seed, int(stalls), given, found)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shape}, seed {seed}: {(done.stdout + done.stderr)[-2000:]}"
    received = np.fromfile(found, np.uint32).reshape(grid.shape)
    wrong = np.argwhere(received != serial(grid, steps).view(np.uint32))
    assert not len(wrong), f"{shape}, seed {seed}: {len(wrong)} points differ, the first at {wrong[0]}"
    return int(done.stdout.split()[-1])


def shapes(seed: int, more: int) -> list[tuple[int, ...]]:
    """All shapes of the list, and random ones."""
    draw = random.Random(seed)
    grids = [(1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1), (1, 4), (4, 1)]
    return SHAPES + [
        (*draw.choice(grids), draw.randint(1, 32), draw.randint(1, 32), draw.randint(0, 5)) for _ in range(more)
    ]


def test_kernels_over_stalling_wires_match_serial_program(size: Size, seed: int, tmp_path: Path) -> None:
    simulator = model(boards=False)
    for number, shape in enumerate(shapes(seed, size.pick(6, 12, 1_000))):
        run(simulator, tmp_path, shape, seed + number, stalls=True)


def test_pass_takes_one_cycle_per_point(tmp_path: Path) -> None:
    """A pass takes the tile's points, one row and the pipeline; waits for neighbours do not accumulate."""
    simulator = model(boards=False)
    rows = columns = 32
    for down, across in ((1, 1), (2, 2), (4, 1)):
        cycles = run(simulator, tmp_path, (down, across, rows, columns, 4), 1, stalls=False)
        assert cycles <= 5 * (rows * columns + columns + 50), f"{down} x {across}: {cycles} cycles"


@pytest.mark.tier(
    "all", seconds=73, adds="boards around the stencil kernels; kernels over stalling wires run by default"
)
def test_stencil_over_boards_matches_serial_program(size: Size, seed: int, tmp_path: Path) -> None:
    """The same over streaming ports, switches and links of four boards."""
    simulator = model(boards=True)
    for number, shape in enumerate(shapes(seed, size.pick(0, 4, 200))):
        run(simulator, tmp_path, shape, seed + number, stalls=number % 3 != 0)


@pytest.mark.parametrize("tool", ["lint", "yosys"])
def test_kernel_passes_lint_and_synthesis_without_warnings(tool: str) -> None:
    design = sources.blocks("stream/kernels/stencil.f", config=configs.load("de5"))
    check = verilate.lint if tool == "lint" else synth.elaborate
    assert check("gs_kernel_stencil", design) == ""
