# SPDX-License-Identifier: Apache-2.0
"""Applications of the SMI paper on co-simulated boards, with their DRAM banks: how much faster they are than on less.

Both programs are those of `examples/`; NumPy judges what they write.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import gossamer_setup
from gossamer import smi
from gossamer.bench import Context, Reference, Row
from gossamer.errors import RunDied
from gossamer.paths import ROOT

CONFIG = "smi520n"
_EXAMPLES = ROOT / "examples"
_POINTS, _STEPS, _SHORT = 4096, 32, 4
"""Of the paper's domain, to a side; steps there, and without `--full`."""
_ORDER, _BANKS = 4096, 4
"""Of GESUMMV's matrices; banks of a board."""
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Shape:
    """Banks of a board, and how many ranks there are down and across."""

    banks: int
    down: int
    across: int
    goal: float
    paper: float


_ONE = Shape(1, 1, 1, 1.0, 1.0)
_STENCILS = {
    "stencil.4x1": Shape(4, 1, 1, 3.9, 3.5),
    "stencil.1x4": Shape(1, 2, 2, 3.9, 3.5),
    "stencil.4x4": Shape(4, 2, 2, 15.0, 12.3),
    "stencil.4x8": Shape(4, 2, 4, 30.0, 23.1),
}
_GESUMMV = "gesummv.2"
NAMES = (*_STENCILS, _GESUMMV)


def _cycles(name: str, program: Path, ranks: int, words: list[Any]) -> int:
    # Boards that are not used would be simulated too.
    topology = "torus8" if ranks > 4 else "torus4"
    result = smi.run([str(program)], ranks=ranks, topology=topology, arguments=[str(word) for word in words],
                     options=smi.Options(engine="rtl"))  # fmt: skip
    if result.code or result.cycles is None:
        raise RunDied(f"{name}: the program returned {result.code}")
    return result.cycles


def _stencil(name: str, shape: Shape, grid: Floats, steps: int) -> int:
    """Cycles of the stencil; RunDied if a point is wrong."""
    with tempfile.TemporaryDirectory(prefix="gossamer-bench-") as folder:
        given, found = Path(folder) / "in", Path(folder) / "out"
        grid.tofile(given)
        words = [shape.down, shape.across, shape.banks, *grid.shape, steps, given, found]
        cycles = _cycles(name, _EXAMPLES / "streams" / "stencil_banks.cpp", shape.down * shape.across, words)
        result = np.fromfile(found, dtype=np.float32)
    want = grid
    for _ in range(steps):
        new = want.copy()
        new[1:-1, 1:-1] = np.float32(0.25) * ((want[:-2, 1:-1] + want[2:, 1:-1]) + (want[1:-1, :-2] + want[1:-1, 2:]))
        want = new
    if not np.array_equal(result.reshape(grid.shape), want):
        raise RunDied(f"{name}: points differ from NumPy's")
    return cycles


def _gesummv(name: str, ranks: int) -> int:
    draw = np.random.default_rng(1)
    # Whole numbers: sums are exact in any order.
    data = {key: draw.integers(-9, 9, (_ORDER, _ORDER)).astype(np.float32) for key in "AB"}
    data["x"] = draw.integers(-9, 9, _ORDER).astype(np.float32)
    with tempfile.TemporaryDirectory(prefix="gossamer-bench-") as folder:
        for key, values in data.items():
            values.tofile(Path(folder) / key)
        words = [_ORDER, _BANKS, 1.5, 0.5, *(Path(folder) / key for key in (*data, "y"))]
        cycles = _cycles(name, _EXAMPLES / "gesummv" / "gesummv_banks.c", ranks, words)
        result = np.fromfile(Path(folder) / "y", dtype=np.float32)
    want = np.float32(1.5) * (data["A"] @ data["x"]) + np.float32(0.5) * (data["B"] @ data["x"])
    if not np.array_equal(result, want):
        raise RunDied(f"{name}: elements differ from NumPy's")
    return cycles


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for: cycles of one rank, over those of the row's."""
    if not any(context.wants(name) for name in NAMES):
        return
    gossamer_setup.require("core", "test", "rtl")
    wanted = [name for name in _STENCILS if context.wants(name)]
    if wanted:
        steps = _STEPS if context.full else _SHORT
        grid = np.random.default_rng(1).normal(size=(_POINTS, _POINTS)).astype(np.float32)
        alone = _stencil("stencil.1x1", _ONE, grid, steps)
        for name in wanted:
            shape = _STENCILS[name]
            took = _stencil(name, shape, grid, steps)
            paper: Reference = {"what": "SMI's paper", "value": shape.paper, "unit": "x"}
            yield context.row(
                name, alone / took, "x", reference=paper, ratio=alone / took / shape.paper, least=shape.goal,
                configuration=CONFIG, banks=shape.banks, ranks=[shape.down, shape.across], points=[_POINTS, _POINTS],
                steps=steps, cycles=took, cycles_alone=alone,
            )  # fmt: skip
    if context.wants(_GESUMMV):
        alone, took = _gesummv("gesummv.1", 1), _gesummv(_GESUMMV, 2)
        goal: Reference = {"what": "SMI's paper: about", "value": 2.0, "unit": "x"}
        yield context.row(
            _GESUMMV, alone / took, "x", reference=goal, ratio=alone / took / 2, least=1.98, configuration=CONFIG,
            banks=_BANKS, order=_ORDER, cycles=took, cycles_alone=alone,
        )  # fmt: skip


__all__ = ["NAMES", "rows"]
