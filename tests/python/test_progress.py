# SPDX-License-Identifier: Apache-2.0
"""Progress of long steps where stderr is no terminal: a line at each interval, with an estimate, and none before."""

from __future__ import annotations

import time

import pytest

from gossamer import progress


@pytest.fixture(autouse=True)
def shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOSSAMER_PROGRESS", raising=False)


def test_short_work_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.steps("building", 3) as bar:
        bar.update(3)
    assert capsys.readouterr().err == ""


def test_long_work_prints_a_line_at_each_interval(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0.1)
    with progress.steps("building it", 4) as bar:
        bar.update(1)
        time.sleep(0.35)
    lines = capsys.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 4
    assert all(line.startswith("gossamer: building it: 1 of 4 steps, ") and line.endswith(" s left") for line in lines)


def test_work_without_a_total_prints_its_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0.1)
    with progress.steps("simulating", None) as bar:
        time.sleep(0.15)
        bar.update(1)
        time.sleep(0.1)
        bar.update(1)
        time.sleep(0.1)
    lines = list(dict.fromkeys(capsys.readouterr().err.splitlines()))
    assert lines == [f"gossamer: simulating:{done} 0 s" for done in ("", " 1 step done,", " 2 steps done,")]


def test_progress_can_be_turned_off(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0.05)
    monkeypatch.setenv("GOSSAMER_PROGRESS", "off")
    with progress.steps("building", 3):
        time.sleep(0.2)
    assert capsys.readouterr().err == ""
