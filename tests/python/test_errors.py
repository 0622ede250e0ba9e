# SPDX-License-Identifier: Apache-2.0
"""What messages say of errors."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from gossamer.diagnostics import relative
from gossamer.errors import signal_name


def test_signals_without_a_name_are_numbers() -> None:
    """A program may die of any; Python knows no names of most of the real-time ones."""
    names = {number: signal_name(number) for number in range(1, signal.SIGRTMAX + 1)}
    assert names[signal.SIGKILL] == "SIGKILL" and names[signal.SIGRTMIN + 1] == f"signal {signal.SIGRTMIN + 1}"
    assert len(set(names.values())) == signal.SIGRTMAX


def test_a_place_is_named_from_here_only_where_it_is_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert relative(here / "deep" / "main.c") == "deep/main.c"
    assert relative(here / "..main.c") == "..main.c"
    for outside in (tmp_path / "main.c", tmp_path / "beside" / "main.c", Path("/main.c"), tmp_path):
        assert relative(outside) == str(outside)
