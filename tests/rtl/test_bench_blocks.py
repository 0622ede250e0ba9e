# SPDX-License-Identifier: Apache-2.0
"""Rows of the suite ``fabric`` that simulate one block: the simulations run and reach their goals."""

from __future__ import annotations

import importlib
import re
import sys

import pytest
from conftest import ROOT

from gossamer.bench import Context

sys.path.insert(0, str(ROOT))

ROWS = {
    "link": ("link.payload-share", "link.latency"),
    "switch": ("switch.hop-cycles", "switch.flits-per-cycle"),
    "multicast": ("router.flits-per-cycle", "router.first-copy-cycles"),
    "noc": ("router5.hop-cycles", "router5.flits-per-cycle"),
}


@pytest.mark.default_cases(
    "link", seconds=30, adds="the rows of the other blocks, which their tests' models cannot serve"
)
@pytest.mark.parametrize("part", ROWS)
def test_bench_rows_of_a_block_reach_their_goals(part: str) -> None:
    module = importlib.import_module(f"bench.fabric._{part}")
    only = "|".join(f"^{re.escape(name)}$" for name in ROWS[part])
    rows = {row.name: row for row in module.measure(Context("fabric", only=only))}
    assert tuple(rows) == ROWS[part]
    assert not [row.name for row in rows.values() if row.missed]
