# SPDX-License-Identifier: Apache-2.0
"""Reference results of applications in time steps, by NumPy on whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from made_graphs import Edges


def neighbours(vertices: int, edges: Edges) -> Any:
    """The number of edges between each pair of vertices, in both directions; a self-loop is its own reverse."""
    other = edges[0] != edges[1]
    a, b = np.concatenate([edges[0], edges[1][other]]), np.concatenate([edges[1], edges[0][other]])
    return scipy.sparse.csr_array(scipy.sparse.coo_array((np.ones(len(a)), (a, b)), shape=(vertices, vertices)))


def heat(vertices: int, edges: Edges, steps: int, rate: float, hot: int) -> np.ndarray[Any, Any]:
    """The explicit scheme in double precision, as powers of a matrix."""
    a = neighbours(vertices, edges)
    degree = a.sum(axis=0)
    mean = a.T * np.divide(1, degree, out=np.zeros(vertices), where=degree > 0)[:, None]
    value = np.zeros(vertices)
    value[hot] = 1
    for _ in range(steps):
        value = np.where(degree > 0, value + rate * (mean @ value - value), value)
        value[hot] = 1
    return value


def scattered(x: Any) -> Any:
    """The 32-bit hash with its published constants (lowbias32)."""
    x = np.asarray(x, np.uint64) & 0xFFFFFFFF
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x ^= x >> np.uint64(shift)
        x = x * np.uint64(factor) & np.uint64(0xFFFFFFFF)
    return x ^ x >> np.uint64(16)


def spikes(vertices: int, edges: Edges, steps: int, seed: int, scale: float = 1) -> tuple[Any, Any, Any]:
    """Izhikevich's program on arrays, in integers of 1/65536: spikes, potentials, and the spikes of each step."""
    number = np.arange(vertices)
    bits = scattered(number ^ int(scattered((seed + 0x9E3779B9) & 0xFFFFFFFF)))
    r, excites = (bits >> np.uint64(8) & np.uint64(0xFFFF)) / 65536, bits % np.uint64(5) != 0

    def fixed(x: Any) -> Any:
        return (np.trunc(np.asarray(x) * 65536 + np.where(np.asarray(x) < 0, -0.5, 0.5))).astype(np.int64)

    a, b = fixed(np.where(excites, 0.02, 0.02 + 0.08 * r)), fixed(np.where(excites, 0.2, 0.25 - 0.05 * r))
    c, d = fixed(np.where(excites, -65 + 15 * r * r, -65)), fixed(np.where(excites, 8 - 6 * r * r, 2))
    noise = fixed(np.where(excites, 5, 2) * 1.7320508)
    degree = np.bincount(edges[0], minlength=vertices)
    each = np.divide(1000 * scale, degree, out=np.zeros(vertices), where=degree > 0)
    strength = np.trunc(256 * np.where(excites, 0.25, -0.5) * each).astype(np.int64)
    v = fixed(np.full(vertices, -65.0))
    u = b * v >> 16
    fired = np.zeros(vertices, bool)
    raster = np.zeros((steps, vertices), bool)
    for time in range(steps):
        current = np.bincount(edges[1], weights=np.where(fired, strength, 0)[edges[0]], minlength=vertices)
        noisy = scattered(scattered(number ^ int(scattered(seed))) + np.uint64(time))
        four = sum((noisy >> np.uint64(8 * i) & np.uint64(255)).astype(np.int64) for i in range(4)) - 510
        given = np.clip(current.astype(np.int64), -256000, 256000) * 256 + (noise * (four * 256) >> 16)
        fired = v >= fixed(30)
        raster[time] = fired
        v, u = np.where(fired, c, v), u + np.where(fired, d, 0)
        for _ in range(2):
            change = ((fixed(0.04) * v >> 16) * v >> 16) + 5 * v + fixed(140) - u + given
            v = np.clip(v + (change >> 1), fixed(-200), fixed(100))
        u = u + (a * ((b * v >> 16) - u) >> 16)
    return raster.sum(axis=0), (v / 65536).astype(np.float32), raster
