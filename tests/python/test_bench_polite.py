# SPDX-License-Identifier: Apache-2.0
"""Suite polite: what runs for hours at full size runs at all."""

from __future__ import annotations

import importlib
import sys

import pytest

import gossamer_setup
from gossamer.paths import ROOT


def test_the_mapper_of_a_small_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    gossamer_setup.require("rtl")
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
    found = importlib.import_module("polite._mapper")._measure(1000, 4, "quad4")
    assert found["s"] > 0 and found["GB"] > 0
    # Of 4,000 edges each is within a thread, between threads of a tile, between tiles, or between boards.
    assert found["boards"] + found["tiles"] + found["threads"] + found["within"] == 4000
    assert 0 < found["board_balance"] <= 1
