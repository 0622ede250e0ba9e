# SPDX-License-Identifier: Apache-2.0
"""The suite ``fabric``: rows without a peer have their goal as reference, with a ratio above 1 if they reach it."""

from __future__ import annotations

import sys

import pytest
from conftest import ROOT

from gossamer.bench import Row

sys.path.insert(0, str(ROOT))
from bench import fabric


@pytest.mark.parametrize(("goal", "value", "ratio"), [("most", 5.0, 2.0), ("least", 5.0, 0.5)])
def test_row_has_its_goal_as_reference(goal: str, value: float, ratio: float) -> None:
    row = fabric.beside_its_goal(Row("fabric", "any", value, "cycles", {goal: 10.0}))
    assert row.reference == {"what": f"at {goal}", "value": 10.0, "unit": "cycles"}
    assert row.ratio == ratio


def test_peer_reference_is_kept_and_no_goal_gives_none() -> None:
    beside = Row("fabric", "any", 1.0, "us", {"most": 2.0}, {"what": "a peer", "value": 3.0, "unit": "us"}, 3.0)
    assert fabric.beside_its_goal(beside).ratio == 3.0
    assert fabric.beside_its_goal(Row("fabric", "any", 1.0, "us")).reference is None


def test_row_names_are_unique() -> None:
    assert len(set(fabric.NAMES)) == len(fabric.NAMES)
