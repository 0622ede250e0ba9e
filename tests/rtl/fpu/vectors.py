# SPDX-License-Identifier: Apache-2.0
"""Operands for floating-point operations: corner cases, hard cases of each operation, random words."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]

_POSITIVE = [
    0x00000000, 0x00000001, 0x00000002, 0x00000003, 0x000FFFFF, 0x00400000, 0x007FFFFE, 0x007FFFFF,
    0x00800000, 0x00800001, 0x00FFFFFF, 0x01000000, 0x0BFFFFFF, 0x0C000000, 0x1F800000, 0x20000000,
    0x32FFFFFF, 0x33000000, 0x33000001, 0x33800000, 0x34000000, 0x3EFFFFFF, 0x3F000000, 0x3F000001,
    0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3FC00000, 0x3FFFFFFF, 0x40000000, 0x40200000, 0x40400000,
    0x40490FDB, 0x4AFFFFFF, 0x4B000000, 0x4B000001, 0x4B7FFFFF, 0x4B800000, 0x4EFFFFFF, 0x4F000000,
    0x4F000001, 0x4F7FFFFF, 0x4F800000, 0x5F000000, 0x7E800000, 0x7EFFFFFF, 0x7F000000, 0x7F7FFFFE,
    0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FBFFFFF, 0x7FC00000, 0x7FC00001, 0x7FFFFFFF,
]  # fmt: skip
_SPECIAL = [0x00000000, 0x00000001, 0x00800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000]
CORNERS = np.array(_POSITIVE + [value | 0x80000000 for value in _POSITIVE], dtype=np.uint32)
SPECIAL = np.array(_SPECIAL + [value | 0x80000000 for value in _SPECIAL], dtype=np.uint32)


def _words(rng: np.random.Generator, count: int) -> Words:
    return rng.integers(0, 2**32, count, dtype=np.uint32)


def _fractions(rng: np.random.Generator, count: int) -> Words:
    """Fractions, many of them runs of ones and zeros, with which ties and carries are common."""
    run = (np.uint32(1) << rng.integers(0, 24, count, dtype=np.uint32)) - np.uint32(1)
    other = (np.uint32(1) << rng.integers(0, 24, count, dtype=np.uint32)) - np.uint32(1)
    kind = rng.integers(0, 4, count)
    bits = _words(rng, count)
    picked = np.select([kind == 0, kind == 1, kind == 2], [run, run ^ other, bits & run], bits)
    return (picked & np.uint32(0x7FFFFF)).astype(np.uint32)


def _floats(rng: np.random.Generator, exponent: npt.NDArray[np.int64]) -> Words:
    """Floats with these biased exponents, clipped to the legal range."""
    sign = _words(rng, len(exponent)) & np.uint32(0x80000000)
    field = np.clip(exponent, 0, 254).astype(np.uint32) << np.uint32(23)
    return (sign | field | _fractions(rng, len(exponent))).astype(np.uint32)


def _step(rng: np.random.Generator, words: Words, most: int = 3) -> Words:
    """Neighbours of these floats, up to `most` places away."""
    return (words.astype(np.int64) + rng.integers(-most, most + 1, len(words))).astype(np.uint32)


def _as_words(values: npt.NDArray[np.float64]) -> Words:
    with np.errstate(all="ignore"):
        return values.astype(np.float32).view(np.uint32)


def _as_floats(words: Words) -> npt.NDArray[np.float64]:
    with np.errstate(all="ignore"):
        return words.view(np.float32).astype(np.float64)


def _combinations(rng: np.random.Generator, values: Words, count: int, places: int) -> Words:
    """All combinations of these values as operands if there are few enough, else a sample."""
    whole = len(values) ** places
    chosen = np.arange(whole) if whole <= count else rng.choice(whole, count, replace=False)
    columns = [values[chosen // len(values) ** place % len(values)] for place in range(places)]
    columns += [_words(rng, len(chosen)) for _ in range(3 - places)]
    return np.stack(columns, axis=1)


def _hard(rng: np.random.Generator, name: str, count: int) -> Words:
    """Operands near the hard cases of this operation."""
    ea = rng.integers(0, 255, count)
    a = _floats(rng, ea)
    b = _words(rng, count)
    c = _words(rng, count)
    kind = rng.integers(0, 4, count)
    with np.errstate(all="ignore"):
        if name in ("add", "sub"):
            near = _floats(rng, ea + rng.integers(-28, 29, count))
            opposite = _step(rng, a) ^ np.uint32(0x80000000)
            low = _floats(rng, rng.integers(0, 30, count))
            b = np.select([kind <= 1, kind == 2], [near, opposite], low)
            a = np.where(kind == 3, _floats(rng, rng.integers(0, 30, count)), a)
            b = np.where(rng.integers(0, 2, count) == 0, b, b ^ np.uint32(0x80000000))
        elif name in ("mul", "madd", "msub", "nmsub", "nmadd"):
            # Products near 1, near the subnormals and near overflow, and addends about as large as the product.
            to = np.select([kind == 0, kind == 1, kind == 2], [rng.integers(-26, 26, count), 254, 127], 60)
            b = _floats(rng, to + 127 - ea + rng.integers(-2, 3, count))
            product = _as_floats(a) * _as_floats(b)
            exponent = np.floor(np.log2(np.maximum(np.abs(product), 1e-300))).astype(np.int64) + 127
            c = _floats(rng, exponent + rng.integers(-52, 30, count))
            close = _step(rng, _as_words(product)) ^ (_words(rng, count) & np.uint32(0x80000000))
            # The addend cancels the rounded product: the result is the rounding error.
            c = np.where(rng.integers(0, 3, count) == 0, close, c)
            # A product of 46 ones just below the smallest normal, minus a subnormal: a carry propagates through it.
            ones = rng.integers(0, 16, count) == 0
            a = np.where(ones, (a & np.uint32(0xFF800000)) | np.uint32(0x7FFFFE), a)
            tiny = np.clip(127 - ea + rng.integers(-26, 1, count), 1, 254).astype(np.uint32) << np.uint32(23)
            b = np.where(ones, (b & np.uint32(0x80000000)) | tiny | np.uint32(1), b)
            c = np.where(ones, c & np.uint32(0x80000000) | (_words(rng, count) & np.uint32(0xFF)), c)
        elif name == "div":
            to = np.select([kind == 0, kind == 1], [rng.integers(-26, 3, count), 254], rng.integers(0, 255, count))
            b = _floats(rng, ea - to + 127 + rng.integers(-1, 2, count))
            # Dividends that are products of short numbers have exact and nearly exact quotients.
            short = (_words(rng, count) & np.uint32(0x807FF000)) | np.uint32(0x3F800000)
            exact = _step(rng, _as_words(_as_floats(b) * _as_floats(short)), 1)
            a = np.where(kind == 3, exact, a)
        elif name == "sqrt":
            root = _floats(rng, rng.integers(60, 190, count))
            square = _step(rng, _as_words(_as_floats(root & np.uint32(0x7FFFF000)) ** 2), 1)
            a = np.where(kind <= 1, square & np.uint32(0x7FFFFFFF), a & np.uint32(0x7FFFFFFF))
            a = np.where(kind == 3, a & np.uint32(0x00FFFFFF), a)
        elif name in ("cvt.w.s", "cvt.wu.s"):
            a = _floats(rng, rng.integers(118, 162, count))
            half = _as_words(np.trunc(rng.integers(-(2**12), 2**12, count) / 2.0 ** rng.integers(0, 11, count)) / 4.0)
            # A half with one more bit far below it is not a tie.
            far = half | (np.uint32(1) << rng.integers(0, 16, count, dtype=np.uint32))
            a = np.select([kind == 0, kind == 1], [half, far], a)
        elif name in ("cvt.s.w", "cvt.s.wu"):
            length = rng.integers(0, 32, count, dtype=np.uint32)
            run = (np.uint32(1) << length) - np.uint32(1)
            other = (np.uint32(1) << rng.integers(0, 32, count, dtype=np.uint32)) - np.uint32(1)
            a = np.select([kind == 0, kind == 1, kind == 2], [run ^ other, ~(run ^ other), b & run], ~(b & run))
        else:
            b = np.select([kind == 0, kind == 1], [_step(rng, a, 1), a ^ np.uint32(0x80000000)], b)
    return np.stack([a, b, c], axis=1).astype(np.uint32)


def operands(rng: np.random.Generator, name: str, count: int) -> Words:
    """Operands a, b, c of `count` cases for the operation of this name."""
    places = {"sqrt": 1, "class": 1, "madd": 3, "msub": 3, "nmsub": 3, "nmadd": 3}.get(name, 2)
    if name.startswith("cvt"):
        places = 1
    special = _combinations(rng, SPECIAL, count // 4, places)
    corners = _combinations(rng, CORNERS, count // 4, places)
    hard = _hard(rng, name, count // 3)
    rest = count - len(special) - len(corners) - len(hard)
    mixed = np.stack([_words(rng, rest), _words(rng, rest), _words(rng, rest)], axis=1)
    # A random word combined with a corner case.
    place = rng.integers(0, 6, rest)
    for column in range(3):
        corner = CORNERS[rng.integers(0, len(CORNERS), rest)]
        mixed[:, column] = np.where(place == column, corner, mixed[:, column])
    return np.concatenate([special, corners, hard, mixed])
