# SPDX-License-Identifier: Apache-2.0
"""How long tests take: measured by ``./gossamer test --record``, kept in ``tests/durations.json``.

The file orders the tests, longest first, and a test compares the times that markers state with it. Times are those of
a run whose builds came from the cache. A test below `LEAST` seconds is not in the file.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer import processes

FILE = Path(__file__).resolve().with_name("durations.json")
LEAST = 0.5
"""Seconds of processor time and of wall time below which a test is not recorded."""


@functools.cache
def known() -> dict[str, tuple[float, float]]:
    """By test: seconds of wall time and of processor time."""
    try:
        return {name: (float(one[0]), float(one[1])) for name, one in json.loads(FILE.read_text()).items()}
    except FileNotFoundError:
        return {}


def _wall(item: pytest.Item) -> float:
    return known().get(item.nodeid, (0.0, 0.0))[0]


def group_of(item: pytest.Item) -> str | None:
    """The name that a test's marker ``xdist_group`` states."""
    mark = item.get_closest_marker("xdist_group")
    return None if mark is None else str(mark.args[0] if mark.args else mark.kwargs["name"])


def sort(items: list[pytest.Item]) -> None:
    """Orders tests: first those that build what many others wait for, then the longest.

    Tests of one group (``xdist_group``) share a fixture, so they stay together.
    """
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        group = group_of(item)
        groups.setdefault(item.nodeid if group is None else f"group {group}", []).append(item)

    def key(group: list[pytest.Item]) -> tuple[bool, float]:
        return (not any(item.get_closest_marker("builds") for item in group), -sum(map(_wall, group)))

    items[:] = [item for group in sorted(groups.values(), key=key) for item in group]


class Recorder:
    """Measures the processor time of each test, and writes the file at the end of a session with ``--record``."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._seen: dict[str, list[float]] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Around all phases of a test."""
        self._begun = processes.processor_seconds()
        yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Before fixtures end: their time is little."""
        item.user_properties.append(("processor", processes.processor_seconds() - self._begun))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Once for each phase of a test; the last has the properties."""
        entry = self._seen.setdefault(report.nodeid, [0.0, 0.0])
        entry[0] += report.duration
        if report.when == "teardown":
            entry[1] = dict(report.user_properties).get("processor", 0.0)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Writes what was measured over what was known, by the process that collects all reports."""
        if hasattr(self._config, "workerinput") or not self._config.getoption("--record"):
            return
        times = dict(known())
        for name, (wall, processor) in self._seen.items():
            times.pop(name, None)
            if max(wall, processor) >= LEAST:
                times[name] = (round(wall, 1), round(processor, 1))
        lines = (f"  {json.dumps(name)}: {json.dumps(times[name])}" for name in sorted(times))
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


__all__ = ["FILE", "LEAST", "Recorder", "group_of", "known", "sort"]
