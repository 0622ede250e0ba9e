# SPDX-License-Identifier: Apache-2.0
"""Suite match: rows with a bound miss it for bad values. The values are given; nothing is built."""

from __future__ import annotations

import importlib
import sys
from types import SimpleNamespace

import pytest

from gossamer.bench import Context
from gossamer.paths import ROOT


@pytest.mark.parametrize(("lists", "missed"), [(249, True), (250, False)])
def test_unload_row_misses_below_25_times_the_speed(monkeypatch: pytest.MonkeyPatch, lists: int, missed: bool) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
    cycles = importlib.import_module("match._cycles")
    monkeypatch.setattr(cycles, "_unload", lambda name, _: 10 if name == "ours" else lists)
    (row,) = cycles.measure(Context("match", only=r"^unload\.ours\.n30000$"))
    assert (row.missed is not None) == missed


@pytest.mark.parametrize(("lists", "missed"), [(99, True), (100, False)])
def test_area_row_misses_when_larger_than_lists(monkeypatch: pytest.MonkeyPatch, lists: int, missed: bool) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
    area = importlib.import_module("match._area")

    def luts(_top: str, _files: object, _family: str, parameters: dict[str, int], apart: object) -> SimpleNamespace:
        return SimpleNamespace(luts=100 if parameters["Architecture"] == 0 else lists, ffs=1, block_rams=1)

    monkeypatch.setattr(area.synth, "luts", luts)
    (row,) = area.measure(Context("match", only=r"^area\.ours$"))
    assert (row.missed is not None) == missed


def test_oversized_engine_has_an_area_but_no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
    area = importlib.import_module("match._area")
    report = SimpleNamespace(luts=94_249, ffs=1, block_rams=648)
    monkeypatch.setattr(area.synth, "luts", lambda *_, **__: report)
    monkeypatch.setattr(area.synth, "ecp5", lambda *_, **__: pytest.fail("it is routed"))
    cells, clock = area.measure(Context("match", only=r"^(area\.parallel-64\.ecp5|fmax\.parallel-64)$"))
    assert cells.value == 94_249 and "an ECP5-85F has 83640" in cells.config["part"]
    assert clock.value is None and "648 block RAMs" in (clock.skipped or "")


def test_slow_designs_are_counted_but_not_routed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
    area = importlib.import_module("match._area")

    def ecp5(*_: object, seeds: tuple[int, ...], **__: object) -> SimpleNamespace:
        assert seeds == ()
        return SimpleNamespace(cells=26_627, ffs=1, block_rams=96, mhz=())

    monkeypatch.setattr(area.synth, "ecp5", ecp5)
    cells, clock = area.measure(Context("match", only=r"^(area\.parallel\.ecp5|fmax\.parallel)$"))
    assert cells.value == 26_627 and cells.config["seeds"] == 0
    assert clock.value is None and "with --full" in (clock.skipped or "")
