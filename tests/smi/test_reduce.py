# SPDX-License-Identifier: Apache-2.0
"""Reductions match NumPy: all types and operations, rounding along the tree and in order, negative data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from gossamer import smi

FILE = str(ROOT / "tests" / "fixtures" / "smi" / "collect.cc")
TYPES: dict[int, Any] = {
    1: np.int32, 2: np.float32, 3: np.float64, 4: np.int8, 5: np.int16, 6: np.int64, 7: np.float16,
}  # fmt: skip
ADD, MAX, MIN, ORDERED = range(4)


def reduce(
    folder: Path, type_: int, op: int, root: int, data: Any, *more: str, options: smi.Options | None = None
) -> Any:
    """The root's result of a reduction of the rows of `data`."""
    ranks, count = data.shape
    data.tofile(folder / "in")
    arguments = [type_, op, root, count, folder / "in", folder / "out", *more]
    smi.run([FILE], ranks=ranks, arguments=[str(one) for one in arguments], options=options)
    return np.fromfile(folder / ("out" + (".0" if more else "")), dtype=data.dtype)


def along_tree(data: Any, root: int) -> Any:
    """The sum along the binomial tree, as a recursion over its halves."""
    ranks = len(data)
    rows = [data[(root + at) % ranks] for at in range(ranks)]

    def total(first: int, step: int) -> Any:
        if step == 0:
            return rows[first]
        half = step // 2 if step > 1 else 0
        left = total(first, half)
        return left + total(first + step, half) if first + step < ranks else left

    top = 1
    while top * 2 < ranks:
        top *= 2
    return total(0, top if ranks > 1 else 0)


def in_order(data: Any) -> Any:
    found = data[0]
    for row in data[1:]:
        found = found + row
    return found


def made(draw: np.random.Generator, type_: int, ranks: int, count: int) -> Any:
    kind = TYPES[type_]
    if np.issubdtype(kind, np.integer):
        info = np.iinfo(kind)
        return draw.integers(info.min, info.max, (ranks, count), dtype=kind, endpoint=True)
    return draw.normal(0, 30, (ranks, count)).astype(kind)


@pytest.mark.parametrize("type_", TYPES)
def test_every_type_and_operation_matches_numpy(type_: int, seed: int, tmp_path: Path) -> None:
    draw = np.random.default_rng(seed)
    for ranks in (1, 5, 8):
        data = made(draw, type_, ranks, 300)
        root = int(draw.integers(ranks))
        with np.errstate(over="ignore"):
            assert np.array_equal(reduce(tmp_path, type_, ADD, root, data), along_tree(data, root))
            assert np.array_equal(reduce(tmp_path, type_, ORDERED, root, data), in_order(data))
        assert np.array_equal(reduce(tmp_path, type_, MAX, root, data), data.max(axis=0))
        assert np.array_equal(reduce(tmp_path, type_, MIN, root, data), data.min(axis=0))


@pytest.mark.parametrize("type_", [2, 3, 7])
def test_max_and_min_of_negative_data_infinities_nan_and_zeros_match_numpy(type_: int, tmp_path: Path) -> None:
    kind = TYPES[type_]
    rows = [[-1, -5, -np.inf, np.nan, 0.0, -0.0, np.inf], [-2, -4, -np.inf, 1, -0.0, 0.0, -3],
            [-9, -6, -np.inf, 2, -0.0, -0.0, -7]]  # fmt: skip
    data = np.array(rows, dtype=kind)
    greatest, least = reduce(tmp_path, type_, MAX, 1, data), reduce(tmp_path, type_, MIN, 1, data)
    assert np.array_equal(greatest, data.max(axis=0), equal_nan=True)
    assert np.array_equal(least, data.min(axis=0), equal_nan=True)
    assert not np.signbit(greatest[4:6]).any() and np.signbit(least[4:6]).all()


def test_only_ordered_sums_are_independent_of_the_root(seed: int, tmp_path: Path) -> None:
    """ADD depends on the root, ADD_ORDERED does not, and --ordered turns ADD into ADD_ORDERED."""
    data = made(np.random.default_rng(seed), 2, 7, 500)
    trees = [reduce(tmp_path, 2, ADD, root, data) for root in (0, 3)]
    assert not np.array_equal(*trees)
    for root in (0, 3, 6):
        assert np.array_equal(reduce(tmp_path, 2, ORDERED, root, data), in_order(data))
    ordered = smi.Options(ordered=True, seed=9)
    assert np.array_equal(reduce(tmp_path, 2, ADD, 3, data, options=ordered), in_order(data))


def test_sum_of_halves_rounds_once(tmp_path: Path) -> None:
    """Pairs of sampled halves: an intermediate float must not cause a second rounding."""
    bits = np.concatenate([np.arange(0, 65536, 37), [0x3C00, 0x0001, 0x8001, 0x03FF, 0x0400, 0x7BFF]]).astype(np.uint16)
    values = bits.view(np.float16)
    values = values[np.isfinite(values)]
    left = np.repeat(values, 40)
    right = np.tile(values, 40)[: len(left)]
    data = np.stack([left, right])
    with np.errstate(over="ignore"):
        want = (left.astype(np.float64) + right.astype(np.float64)).astype(np.float16)
    assert np.array_equal(reduce(tmp_path, 7, ADD, 0, data).view(np.uint16), want.view(np.uint16))


def test_communicators_reduce_separately(seed: int, tmp_path: Path) -> None:
    data = made(np.random.default_rng(seed), 6, 7, 50)
    with np.errstate(over="ignore"):
        found = reduce(tmp_path, 6, ADD, 1, data, "3")
        assert np.array_equal(found, data[0::3].sum(axis=0))
        for color in (1, 2):
            assert np.array_equal(np.fromfile(tmp_path / f"out.{color}", dtype=np.int64), data[color::3].sum(axis=0))
    # In the order of descending ranks: 6, 3, 0.
    data = made(np.random.default_rng(seed), 2, 7, 500)
    assert np.array_equal(reduce(tmp_path, 2, ORDERED, 0, data, "3"), in_order(data[6::-3]))
