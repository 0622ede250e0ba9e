# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin that appends the start and the outcome of every test to the file GOSSAMER_TEST_OUTCOMES.

Each is a line of JSON. Tests named on the command line run in that order; pytest by default groups tests that share a
parameter of their module.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from gossamer.hdl import _mutants, _run

_setup_seconds: dict[str, float] = {}
_made: dict[str, int] = {}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Iterator[None]:
    """An undecided proof has detected nothing: its test has neither passed nor failed."""
    outcome: Any = yield
    if call.excinfo is not None and isinstance(call.excinfo.value, _mutants.Undecided):
        report = outcome.get_result()
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, str(call.excinfo.value))
        report.undecided = True


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    place = {name: at for at, name in enumerate(config.args)}
    items.sort(key=lambda item: place.get(item.nodeid, len(place)))


def _write(line: dict[str, object]) -> None:
    if path := os.environ.get(_mutants.OUTCOMES):
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def pytest_runtest_logstart(nodeid: str) -> None:
    """Before a test is set up."""
    _made[nodeid] = len(_run.made)
    _write({"test": nodeid, "outcome": _mutants.BEGAN})


def pytest_runtest_logreport(report: Any) -> None:
    """For each phase of a test; writes the phases that determine its outcome."""
    if report.when == "setup":
        _setup_seconds[report.nodeid] = report.duration
    if report.when == "call" or report.outcome != "passed":
        crash = getattr(report.longrepr, "reprcrash", None)
        line = {
            "test": report.nodeid,
            "outcome": "undecided" if getattr(report, "undecided", False) else report.outcome,
            "seconds": report.duration,
            "setup": _setup_seconds.get(report.nodeid, 0.0),
            "built": len(_run.made) > _made.get(report.nodeid, 0),
            "why": crash.message.splitlines()[0] if crash is not None and crash.message else "",
        }
        _write(line)
