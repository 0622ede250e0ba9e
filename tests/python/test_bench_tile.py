# SPDX-License-Identifier: Apache-2.0
"""Suite tile: what its rows simulate is built and runs, on the smallest tile; memory's rows are in rtl/memory."""

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
    """Lets the suite be imported, and installs what it simulates with."""
    gossamer_setup.require("rtl")
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])


def part(name: str) -> ModuleType:
    return importlib.import_module(f"tile._{name}")


def test_instructions_a_cycle() -> None:
    core = part("core")
    (row,) = core.measure(Context("tile", only=core.IPC))
    assert row.missed is None and row.config["with_as_many_threads_as_stages"] > 0.99


def test_rates_of_the_mailbox(monkeypatch: pytest.MonkeyPatch) -> None:
    mailbox = part("mailbox")
    monkeypatch.setattr(mailbox, "CONFIG", CONFIG)
    rows = {row.name: row for row in mailbox.measure(Context("tile"))}
    assert set(rows) == set(mailbox.NAMES)
    assert rows[mailbox.FLITS].value > 0.85 and 0 < rows[mailbox.POINTERS].value <= 4


def test_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    load = part("load")
    monkeypatch.setattr(load, "CONFIG", CONFIG)
    monkeypatch.setattr(load, "BYTES", 1 << 14)
    (row,) = load.measure(Context("tile"))
    assert 0 < row.value <= load.LINK_BYTES and row.config["fill"] > row.value


def test_speeds_of_simulation() -> None:
    """Of one tile, and of some in one simulator; how fast says the machine."""
    speed = part("simspeed")
    speeds, cycles = speed.one(CONFIG, "programs/ring.c", 1)
    assert len(speeds) == 1 and speeds[0] > 0 and cycles > 1000
    speeds, cycles, in_step = speed.many(CONFIG, "programs/heat.c", 2, 2, 20_000)
    assert len(speeds) == 2 and min(*speeds, in_step) > 0 and cycles == 20_000
