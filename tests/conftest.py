# SPDX-License-Identifier: Apache-2.0
"""What all tests share: their size, their seed, and the command run as a user would."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import pytest

ROOT = Path(__file__).resolve().parents[1]
SIZES = ("quick", "default", "full")
T = TypeVar("T")


# A shell's background job starts with this signal ignored, and so would the commands whose Ctrl-C is tested.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--name", action="append", default=[], help="only tests whose id has this text in it")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    names = config.getoption("--name")
    if names:
        kept = [item for item in items if any(name in item.nodeid for name in names)]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: turn(item.path))


# Folders of tests in the order in which workers take their files. Those of the hardware have few tests and long builds:
# one of them at the end would keep a processor busy while the others have nothing left to do.
TURNS = ("rtl", "system", "cpp", "smi", "python")


def turn(path: Path) -> int:
    """The place of a file of tests among all; files of others come first."""
    folder = path.relative_to(ROOT / "tests").parts[0] if path.is_relative_to(ROOT / "tests") else ""
    return TURNS.index(folder) + 1 if folder in TURNS else 0


@dataclass(frozen=True)
class Size:
    """How much is checked: the same code with other counts."""

    name: str

    def pick(self, quick: T, default: T, full: T) -> T:
        """The value for this size."""
        return (quick, default, full)[SIZES.index(self.name)]


def current_size() -> Size:
    """The size asked for, also where there is no fixture (parametrizing)."""
    name = os.environ.get("GOSSAMER_TEST_SIZE", "default")
    if name not in SIZES:
        raise pytest.UsageError(f"GOSSAMER_TEST_SIZE={name}: it is one of {', '.join(SIZES)}")
    return Size(name)


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
