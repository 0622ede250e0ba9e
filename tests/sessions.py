# SPDX-License-Identifier: Apache-2.0
"""The command in a separate process that receives signals, and all processes that it starts."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from conftest import ROOT

LAUNCHER = [sys.executable, str(ROOT / "gossamer")]


class Session:
    """The command in a separate process, and all its descendants, which inherit a mark in their environment."""

    def __init__(
        self,
        *words: str | Path,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        program: Sequence[str] = LAUNCHER,
    ) -> None:
        self._mark = f"GOSSAMER_TEST_MARK={uuid.uuid4()}"
        name, _, value = self._mark.partition("=")
        self.child = subprocess.Popen(
            [*program, *map(str, words)],
            cwd=cwd,
            env={**os.environ, name: value, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def processes(self) -> list[str]:
        """The names of the running programs."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if self._mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found.append((folder / "comm").read_text().strip())
            except OSError:
                continue
        return found

    def seconds(self) -> float:
        """The processor time of the command itself."""
        # Fields 14 and 15, after the name in parentheses: time in user and system mode.
        fields = Path(f"/proc/{self.child.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def wait_until(self, there: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 120
        while not there():
            assert self.child.poll() is None and time.monotonic() < deadline, self.child.communicate()
            time.sleep(0.02)

    def ends(self, number: int, within: float) -> tuple[int, str]:
        """Exit code and standard error after a signal to the command only."""
        begun = time.monotonic()
        self.child.send_signal(number)
        said = self.child.communicate(timeout=60)[1]
        assert time.monotonic() - begun < within
        assert self.processes() == []
        return self.child.returncode, said
