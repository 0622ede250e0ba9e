# SPDX-License-Identifier: Apache-2.0
"""Dissipative particle dynamics as a serial program: all pairs of a box, in integers of 2^-24, without cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

ONE = 1 << 24
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Box:
    sides: tuple[int, int, int]
    steps: int
    density: float = 3.0
    repulsion: float = 25.0
    friction: float = 4.5
    temperature: float = 1.0
    dt: float = 0.02
    seed: int = 1


@dataclass(frozen=True)
class Ended:
    """One value per cell, and the number of times that a particle has moved to another cell."""

    particles: Array
    kinetic: Array
    potential: Array
    digest: Array
    crossings: int


def lowbias(x: Any) -> Array:
    """The 32-bit hash with its published constants (lowbias32)."""
    x = np.asarray(x, np.uint64) & np.uint64(0xFFFFFFFF)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ x >> np.uint64(shift)) * np.uint64(factor) & np.uint64(0xFFFFFFFF)
    return np.asarray(x ^ x >> np.uint64(16))


def plus(x: Any, y: Any) -> Array:
    return np.asarray((np.asarray(x, np.uint64) + np.asarray(y, np.uint64)) & np.uint64(0xFFFFFFFF))


def fixed(x: Any) -> Any:
    """Rounds to the nearest, ties away from 0."""
    x = np.asarray(x) * float(ONE)
    return (np.sign(x) * np.floor(np.abs(x) + 0.5)).astype(np.int64)


def simulate(box: Box) -> Ended:
    sides = np.array(box.sides)
    cells = int(sides.prod())
    first = [int(box.density * cell) for cell in range(cells + 1)]
    count = first[-1]
    ids = np.arange(count)
    home = np.repeat(np.arange(cells), np.diff(first))
    corner = np.stack([home % sides[0], home // sides[0] % sides[1], home // (sides[0] * sides[1])], axis=1)
    axes = np.arange(3)[None, :]
    inside = lowbias(lowbias(plus(lowbias(plus(box.seed, 0x7F4A7C15)), ids))[:, None] ^ axes.astype(np.uint64))
    x = corner * ONE + (inside >> np.uint64(8)).astype(np.int64)
    bits = lowbias(lowbias(plus(lowbias(box.seed ^ 0x9E3779B9), ids // 2))[:, None] ^ axes.astype(np.uint64))
    four = sum((bits >> np.uint64(8 * i) & np.uint64(255)).astype(np.int64) for i in range(4)) - 510
    v = fixed(math.sqrt(3 * box.temperature) * four / 256) * np.where(ids % 2, -1, 1)[:, None]
    if count % 2:
        v[-1] = 0
    a, b = np.triu_indices(count, 1)
    repulsion, friction = int(fixed(box.repulsion * box.dt)), int(fixed(box.friction * box.dt))
    noise, dt = int(fixed(math.sqrt(2 * box.friction * box.temperature * 3 * box.dt))), int(fixed(box.dt))
    around = sides * ONE
    crossings = 0
    for time in range(box.steps + 1):
        apart = (x[a] - x[b] + around // 2) % around - around // 2
        square = (apart**2).sum(axis=1)
        near = (square > 0) & (square < ONE * ONE)
        i, j, apart, square = a[near], b[near], apart[near], square[near]
        r = np.sqrt(square.astype(float)).astype(np.int64)
        r -= r * r > square
        r += (r + 1) ** 2 <= square
        w = ONE - r
        e = apart * (ONE * ONE // r)[:, None] >> 24
        closing = (e * (v[i] - v[j]) >> 24).sum(axis=1)
        drawn = lowbias(plus(lowbias(lowbias(plus(lowbias(box.seed), time)) ^ i.astype(np.uint64)), j))
        chance = (drawn >> np.uint64(7)).astype(np.int64) - ONE
        square_w = w * w >> 24
        along = (
            (repulsion * w >> 24) - ((friction * square_w >> 24) * closing >> 24) + ((noise * w >> 24) * chance >> 24)
        )
        impulse = np.zeros_like(v)
        given = along[:, None] * e >> 24
        np.add.at(impulse, i, given)
        np.subtract.at(impulse, j, given)
        if time == box.steps:
            break
        before = x // ONE
        v = v + impulse
        x = (x + (v * dt >> 24)) % around
        crossings += int((x // ONE != before).any(axis=1).sum())
    at = x // ONE
    cell = (at[:, 2] * sides[1] + at[:, 1]) * sides[0] + at[:, 0]
    now = (v + impulse / 2) / ONE
    digest = lowbias(ids)
    for values in (x % ONE, v):
        for axis in range(3):
            digest = lowbias(plus(digest, values[:, axis] & 0xFFFFFFFF))
    summed = np.zeros(cells, np.uint64)
    np.add.at(summed, cell, digest)
    pairs = box.repulsion / 4 * square_w / ONE
    return Ended(
        particles=np.bincount(cell, minlength=cells),
        kinetic=np.bincount(cell, weights=(now**2).sum(axis=1) / 2, minlength=cells),
        potential=np.bincount(cell[i], weights=pairs, minlength=cells)
        + np.bincount(cell[j], weights=pairs, minlength=cells),
        digest=(summed & np.uint64(0xFFFFFFFF)).astype(np.uint32),
        crossings=crossings,
    )
