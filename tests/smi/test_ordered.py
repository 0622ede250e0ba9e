# SPDX-License-Identifier: Apache-2.0
"""Sums in the order of ranks: identical bits on boards with any wiring, in the emulator, and in a serial program. All
runs use boards with the same ports, so one model is built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, Size

from gossamer import smi

FIXTURES = ROOT / "tests" / "fixtures" / "smi"
SUMS = str(FIXTURES / "ordered.c")
MAIN = str(FIXTURES / "ordered_main.c")
KMEANS = str(ROOT / "examples" / "streams" / "kmeans.cpp")
WIRINGS = {4: ("ring",), 8: ("ring8", "row8")}
"""Wirings by number of ranks; k-means runs on the first."""


def means_of(points: Any, k: int, rounds: int, ranks: int) -> Any:
    """K-means point by point: adds each rank's points in order, then the sums of the ranks in the order of ranks."""
    means = points[:k].copy()
    bounds = [len(points) * rank // ranks for rank in range(ranks + 1)]
    for _ in range(rounds):
        total, number = np.zeros_like(means), np.zeros(k, np.int32)
        for rank in range(ranks):
            sums = np.zeros_like(means)
            for point in points[bounds[rank] : bounds[rank + 1]]:
                distance = np.zeros(k, np.float32)
                for d in range(points.shape[1]):
                    distance = distance + (point[d] - means[:, d]) * (point[d] - means[:, d])
                best = int(np.argmin(distance))
                sums[best] = sums[best] + point
                number[best] += 1
            total = sums if rank == 0 else total + sums
        some = number > 0
        means[some] = total[some] / number[some, None].astype(np.float32)
    return means


@pytest.mark.tier("all", seconds=48, adds="a long program on four and eight boards")
@pytest.mark.parametrize("ranks", WIRINGS)
def test_kmeans_matches_the_serial_program_bit_for_bit(ranks: int, size: Size, seed: int, tmp_path: Path) -> None:
    """Also, the cycles do not depend on the order of kernels."""
    k, dimensions, count, rounds = size.pick((2, 1, 50, 1), (2, 2, 100, 1), (8, 4, 5000, 10))
    points = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    points.tofile(tmp_path / "in")
    expected = means_of(points, k, rounds, ranks)
    words = [str(word) for word in (k, dimensions, count, rounds, tmp_path / "in", tmp_path / "out")]
    cycles = []
    for engine, order in (("emulator", 0), ("rtl", 0), ("rtl", 1 + seed % 1000)):
        done = smi.run([KMEANS, SUMS], ranks=ranks, topology=FIXTURES / f"{WIRINGS[ranks][0]}.toml", arguments=words,
                       options=smi.Options(seed=order, engine=engine))  # fmt: skip
        assert done.code == 0
        found = np.fromfile(tmp_path / "out", np.float32).reshape(k, dimensions)
        assert found.tobytes() == expected.tobytes(), engine
        cycles.append(done.cycles)
    assert cycles[1] == cycles[2] and cycles[1] is not None


@pytest.mark.default_cases("emulator-.*", seconds=140, adds="doubles and halves in the boards' sums, eight boards")
@pytest.mark.parametrize("ranks", WIRINGS)
@pytest.mark.parametrize("engine", ["emulator", "rtl"])
def test_ordered_sums_match_the_serial_sum_on_any_wiring(
    engine: str, ranks: int, size: Size, seed: int, tmp_path: Path
) -> None:
    """Elements whose sums depend on the order, with any root, over wirings with different routes between the ranks.

    ``test_boards.py`` adds floats in this order on boards in the default tier, with a model that others use."""
    draw = np.random.default_rng(seed)
    kinds = (np.float32, np.float64, np.float16)
    count = size.pick(2, 3, 200)
    wide = [draw.normal(size=(ranks, count)) * 2.0 ** draw.integers(-4, 5, (ranks, count)) for _ in kinds]
    data = [one.astype(kind) for one, kind in zip(wide, kinds, strict=True)]
    sums = [one[0] for one in data]
    for rank in range(1, ranks):
        sums = [total + one[rank] for total, one in zip(sums, data, strict=True)]
    if count > 10:  # another order has other bits
        backwards = [one[::-1].cumsum(axis=0, dtype=one.dtype)[-1] for one in data]
        assert any((one != other).any() for one, other in zip(backwards, sums, strict=True))
    for rank in range(ranks):
        (tmp_path / f"in.{rank}").write_bytes(b"".join(one[rank].tobytes() for one in data))
    for wiring in WIRINGS[ranks]:
        root = int(draw.integers(ranks))
        words = [str(word) for word in (tmp_path / "in", tmp_path / "out", count, root)]
        done = smi.run([MAIN, SUMS], ranks=ranks, topology=FIXTURES / f"{wiring}.toml", arguments=words,
                       options=smi.Options(engine=engine))  # fmt: skip
        assert done.code == 0
        floats, doubles, halves = (one.tobytes() for one in sums)
        for rank in range(ranks):
            expected = doubles + (floats + halves) * (rank == root)
            assert (tmp_path / f"out.{rank}").read_bytes() == expected, f"{engine}, {wiring}, rank {rank}"
