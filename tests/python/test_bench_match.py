# SPDX-License-Identifier: Apache-2.0
"""Suite match: rows that must reach something miss it when the figure is bad. Figures are given, nothing is built."""

from __future__ import annotations

import importlib
import sys
from types import SimpleNamespace

import pytest

from gossamer.bench import Context
from gossamer.paths import ROOT


@pytest.mark.parametrize(("lists", "missed"), [(249, True), (250, False)])
def test_unloading_must_be_faster(monkeypatch: pytest.MonkeyPatch, lists: int, missed: bool) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
    cycles = importlib.import_module("match._cycles")
    monkeypatch.setattr(cycles, "_unload", lambda name, _: 10 if name == "ours" else lists)
    (row,) = cycles.measure(Context("match", only=r"^unload\.ours\.n30000$"))
    assert (row.missed is not None) == missed


@pytest.mark.parametrize(("lists", "missed"), [(99, True), (100, False)])
def test_area_must_be_no_larger(monkeypatch: pytest.MonkeyPatch, lists: int, missed: bool) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
    area = importlib.import_module("match._area")

    def luts(_top: str, _files: object, _family: str, parameters: dict[str, int]) -> SimpleNamespace:
        return SimpleNamespace(luts=100 if parameters["Architecture"] == 0 else lists, ffs=1, block_rams=1)

    monkeypatch.setattr(area.synth, "luts", luts)
    (row,) = area.measure(Context("match", only=r"^area\.ours$"))
    assert (row.missed is not None) == missed
