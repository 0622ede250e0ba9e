# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest: appends what became of each test to the file GOSSAMER_TEST_OUTCOMES, a line of JSON each."""

from __future__ import annotations

import json
import os
from typing import Any

FILE = "GOSSAMER_TEST_OUTCOMES"


def pytest_runtest_logreport(report: Any) -> None:
    """Once for each phase of a test: those that say something."""
    path = os.environ.get(FILE)
    if path and (report.when == "call" or report.outcome != "passed"):
        crash = getattr(report.longrepr, "reprcrash", None)
        line = {
            "test": report.nodeid,
            "outcome": report.outcome,
            "seconds": report.duration,
            "why": crash.message.splitlines()[0] if crash is not None and crash.message else "",
        }
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
