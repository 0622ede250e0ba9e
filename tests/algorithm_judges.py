# SPDX-License-Identifier: Apache-2.0
"""Reference algorithms as plain loops, with which the results of all engines are compared."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np

import gossamer as gs


def propagated(judge: Any, steps: int) -> list[int]:
    """Label propagation in the definition of Graphalytics, on a NetworkX graph."""
    label = list(range(len(judge)))
    for _ in range(steps):
        last = list(label)
        for v in judge:
            votes = Counter(last[u] for u in judge[v])
            if votes:
                label[v] = min(votes, key=lambda x: (-votes[x], x))
    return label


def walked(graph: gs.Graph, walkers: int, steps: int, seed: int) -> list[int]:
    """Each walker separately, by the rule of the example."""
    mask = 2**64 - 1
    rows = [graph.out.targets[a:b].tolist() for a, b in itertools.pairwise(graph.out.offsets.astype(np.int64))]
    here = [walkers] * graph.vertices
    visits = [0] * graph.vertices
    for time in range(steps + 1):
        there = [0] * graph.vertices
        for v, count in enumerate(here):
            visits[v] += count
            for i in range(count if rows[v] else 0):
                x = ((seed << 32 | v) * 0x9E3779B97F4A7C15 + (time << 32 | i)) & mask
                x = (x ^ x >> 31) * 0x7FB5D329728EA185 & mask
                x = (x ^ x >> 27) * 0x81DADEF4BC2DD44D & mask
                there[rows[v][(x >> 33) % len(rows[v])]] += 1
        here = there
    return visits


def smallest_of_component(labels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """From SciPy's labels of components: the smallest vertex of each vertex's component, which HashMin computes."""
    smallest = np.full(labels.max() + 1, len(labels))
    np.minimum.at(smallest, labels, np.arange(len(labels)))
    return smallest[labels]
