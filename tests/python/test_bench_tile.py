# SPDX-License-Identifier: Apache-2.0
"""Suite tile: the simulations of its rows run on the smallest tile; rtl/memory tests the rows of memory."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest

import gossamer_setup
from gossamer.bench import Context
from gossamer.paths import ROOT

CONFIG = "tiny"


@pytest.fixture(autouse=True)
def suites(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the suite importable, and installs the simulator."""
    gossamer_setup.require("rtl")
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])


def part(name: str) -> ModuleType:
    return importlib.import_module(f"tile._{name}")


def test_core_row_reaches_its_instructions_per_cycle() -> None:
    core = part("core")
    (row,) = core.measure(Context("tile", only=core.IPC))
    assert row.missed is None and row.config["with_as_many_threads_as_stages"] > 0.99


def test_mailbox_rows_reach_their_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    mailbox = part("mailbox")
    monkeypatch.setattr(mailbox, "CONFIG", CONFIG)
    rows = {row.name: row for row in mailbox.measure(Context("tile"))}
    assert set(rows) == set(mailbox.NAMES)
    assert rows[mailbox.FLITS].value > 0.85 and 0 < rows[mailbox.POINTERS].value <= 4


def test_load_row_is_at_most_the_link_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    load = part("load")
    monkeypatch.setattr(load, "CONFIG", CONFIG)
    monkeypatch.setattr(load, "BYTES", 1 << 14)
    (row,) = load.measure(Context("tile"))
    assert 0 < row.value <= load.LINK_BYTES and row.config["fill"] > row.value


@pytest.mark.tier("all", seconds=18, adds="the speed of simulators of tiles")
def test_simulation_speeds_are_measured() -> None:
    """Measures one tile, and several in one simulator; the speed itself depends on the machine."""
    speed = part("simspeed")
    speeds, cycles = speed.one(CONFIG, "programs/ring.c", 1)
    assert len(speeds) == 1 and speeds[0] > 0 and cycles > 1000
    speeds, cycles, in_step = speed.many(CONFIG, "programs/heat.c", 2, 2, 20_000)
    assert len(speeds) == 2 and min(*speeds, in_step) > 0 and cycles == 20_000
