# SPDX-License-Identifier: Apache-2.0
"""Scatter, gather and allgather over eight boards, and a broadcast beside a reduction. NumPy judges all elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from models.stream import collectives

from gossamer.bench import Context, Row
from gossamer.errors import RunDied

_KINDS = {"scatter": collectives.SCATTER, "gather": collectives.GATHER, "allgather": collectives.ALLGATHER}
_TOGETHER = "bcast-and-reduce"
_WIRINGS = {"torus": "torus8", "bus": "bus8"}
_PART, _LENGTH = 5_000, 40_000
"""Floats of a rank's part; and those of a broadcast and a reduction at once."""
NAMES = tuple(f"{name}.{wiring}" for name in (*_KINDS, _TOGETHER) for wiring in _WIRINGS)


def _run(name: str, cluster: str, depth: int, children: int) -> tuple[float, list[int]]:
    """Bytes that cross a link of the root, or into each rank, and the cycles of each collective from its open on."""
    wiring = collectives.Wiring.of(cluster)
    all_ranks = range(wiring.boards)
    random = np.random.default_rng(1)
    kinds = [_KINDS[name]] if name in _KINDS else [collectives.BCAST, collectives.REDUCE]
    count = _PART if name in _KINDS else _LENGTH
    # At once: without any wait between the opens of ranks.
    runs = [
        collectives.random_run(random, kind, 0, count, all_ranks, gap=0 if len(kinds) > 1 else 500) for kind in kinds
    ]
    tree = collectives.tree(wiring, 0, all_ranks, children)
    try:
        outcome = collectives.Boards(wiring, depth, kinds[0]).run(
            {kind: {0: tree} for kind in kinds}, runs, limit=20 * count * wiring.boards + 50_000
        )
    except AssertionError as problem:
        raise RunDied(f"{name}: {problem}") from None
    others = wiring.boards - 1 if name in _KINDS else 1
    return 4.0 * count * others, list(outcome.last)


def rows(context: Context, configuration: str, depth: int, children: int, line: float) -> Iterator[Row]:
    """Every row asked for: payload by time, as a share of one link's line rate. The paper has no figures for these."""
    about: dict[str, Any] = {"configuration": configuration, "depth": depth, "children": children}
    for name in (*_KINDS, _TOGETHER):
        for wiring, cluster in _WIRINGS.items():
            if not context.wants(f"{name}.{wiring}"):
                continue
            payload, took = _run(name, cluster, depth, children)
            length = _PART if name in _KINDS else _LENGTH
            yield context.row(
                f"{name}.{wiring}", payload / (max(took) * line), "of line rate", cluster=cluster, cycles=took,
                length=length, **about,
            )  # fmt: skip


__all__ = ["NAMES", "rows"]
