# SPDX-License-Identifier: Apache-2.0
"""Shared by all tests: tiers and their selection, seeds, the order of tests, and the command run as a user would."""

from __future__ import annotations

import difflib
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol, TypeVar

import durations
import pytest

ROOT = Path(__file__).resolve().parents[1]
TIERS = ("quick", "default", "all", "full")
T = TypeVar("T")


# A shell's background job starts with this signal ignored, and so would the commands whose Ctrl-C is tested.
signal.signal(signal.SIGINT, signal.default_int_handler)
# What a command prints must not depend on how long a build takes.
os.environ.setdefault("GOSSAMER_PROGRESS", "off")


def current_tier() -> str:
    """The tier that runs, also where there is no fixture (parametrizing)."""
    name = os.environ.get("GOSSAMER_TEST_TIER", "default")
    if name not in TIERS:
        raise pytest.UsageError(f"GOSSAMER_TEST_TIER={name}: must be one of {', '.join(TIERS)}")
    return name


if current_tier() in ("quick", "default"):
    # Compiling a test's own vertices with optimisation takes longer than running them.
    os.environ.setdefault("GOSSAMER_OPTIMISE", "0")
if current_tier() == "default":
    # --quick and --all test the bundled applications as users run them.
    os.environ.setdefault("GOSSAMER_OPTIMISE_APPS", "1")


def tier_of(item: pytest.Item) -> str:
    """The lowest tier in which a test runs: that of its marker ``tier``, else the default one.

    Of a test with a marker ``default_cases`` the cases whose id matches none of its patterns run from ``--all`` on.
    """
    mark = item.get_closest_marker("tier")
    if mark is not None:
        return str(mark.args[0])
    mark = item.get_closest_marker("default_cases")
    case = getattr(item, "callspec", None)
    if mark is not None and case is not None and not any(re.fullmatch(pattern, case.id) for pattern in mark.args):
        return "all"
    return "default"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--name", action="append", default=[], help="only tests whose id contains this text")
    parser.addoption("--record", action="store_true", help="write the measured durations to tests/durations.json")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "tier(name, seconds=..., adds=...): the lowest tier that runs a test (quick, all or full; default without it); "
        "its processor time with builds in the cache, and what it adds over the tests of lower tiers",
    )
    config.addinivalue_line(
        "markers",
        "default_cases(*patterns, seconds=..., adds=...): the cases of a test that the default tier runs, by regular "
        "expressions for their whole ids; the processor time of the others, and what they add",
    )
    config.addinivalue_line("markers", "builds: builds something that many tests wait for, so it runs first")
    config.pluginmanager.register(durations.Recorder(config), "gossamer-durations")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    level = TIERS.index(current_tier())
    names = config.getoption("--name")
    named = [item for item in items if not names or any(name in item.nodeid for name in names)]
    kept = [item for item in named if TIERS.index(tier_of(item)) <= level]
    if names and not kept:
        _explain(names, named, items)
    if len(kept) < len(items):
        chosen = set(kept)
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = kept
    if hasattr(config, "workerinput"):
        durations.sort(items)


@pytest.hookimpl(hookwrapper=True)
def pytest_collection_finish(session: pytest.Session) -> Iterator[None]:
    """Sends the group of each test to the scheduler of pytest-xdist, which reads it after the last ``@`` of an id.

    pytest-xdist 3.8 writes the group into an attribute that pytest 9.2 no longer reads, and then schedules each test of
    a group alone: the workers would build the fixtures of a group once each. Only the sent ids have the group, so
    reports, ``tests/durations.json`` and ``--name`` keep the ids of a run without workers.
    """
    if not hasattr(session.config, "workerinput") or not session.config.getoption("loadgroup", False):
        yield
        return
    items: list[Any] = session.items
    session.items = [SimpleNamespace(nodeid=_scheduled(item)) for item in items]  # type: ignore[misc]
    try:
        yield
    finally:
        session.items = items


def _scheduled(item: pytest.Item) -> str:
    """The id of a test with its group, where an older pytest has not written it already."""
    group = durations.group_of(item)
    suffix = "" if group is None else f"@{group}"
    return item.nodeid if item.nodeid.endswith(suffix) else item.nodeid + suffix


def _explain(names: list[str], named: list[pytest.Item], items: list[pytest.Item]) -> None:
    """Writes why no test runs, for the command to print: the tier of those of the name, or names that resemble it."""
    if named:
        text = f"{len(named)} of that name run with --{min(map(tier_of, named), key=TIERS.index)}"
    else:
        known = {part.split("[")[0] for item in items for part in (*item.nodeid.split("::"), Path(item.path).stem)}
        near = [found for name in names for found in difflib.get_close_matches(name, known, n=3, cutoff=0.6)]
        text = f"close to it: {', '.join(dict.fromkeys(near))}" if near else ""
    if text and (path := os.environ.get("GOSSAMER_TEST_HINT")):
        Path(path).write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Size:
    """How much is checked: the same code with other counts. ``name`` is small, usual or large."""

    name: str

    def pick(self, small: T, usual: T, large: T) -> T:
        """The value for this size."""
        return {"small": small, "usual": usual, "large": large}[self.name]


def current_size() -> Size:
    """The counts of the tier that runs, also where there is no fixture (parametrizing)."""
    return Size({"quick": "small", "default": "small", "all": "usual", "full": "large"}[current_tier()])


@pytest.fixture(scope="session")
def size() -> Size:
    return current_size()


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A new seed each time, printed with a failure; GOSSAMER_TEST_SEED=N repeats one."""
    given = os.environ.get("GOSSAMER_TEST_SEED")
    value = int(given) if given else random.SystemRandom().randrange(2**32)
    print(f"seed {value}; again: GOSSAMER_TEST_SEED={value} ./gossamer test '{request.node.name}'")
    return value


class Command(Protocol):
    def __call__(
        self,
        *arguments: str | Path,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        input: str | None = None,
        timeout: float = 600,
    ) -> subprocess.CompletedProcess[str]: ...


@pytest.fixture(scope="session")
def command() -> Command:
    """Runs ./gossamer with arguments, in this checkout; ``env`` adds to the environment."""

    def run(
        *arguments: str | Path,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        input: str | None = None,
        timeout: float = 600,
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(ROOT / "gossamer"), *map(str, arguments)],
            cwd=cwd,
            env={**os.environ, **(env or {})},
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run
