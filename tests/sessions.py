# SPDX-License-Identifier: Apache-2.0
"""The command in a process of its own that gets signals, and all processes that it starts."""

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
    """The command in a process of its own, and all processes that it has started: they inherit its mark."""

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
        """The names of the programs that run."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if self._mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found.append((folder / "comm").read_text().strip())
            except OSError:
                continue
        return found

    def seconds(self) -> float:
        """What the command itself has computed."""
        # Fields 14 and 15, behind the name in brackets: time in user and system mode.
        fields = Path(f"/proc/{self.child.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def wait_until(self, there: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 120
        while not there():
            assert self.child.poll() is None and time.monotonic() < deadline, self.child.communicate()
            time.sleep(0.02)

    def ends(self, number: int, within: float) -> tuple[int, str]:
        """Exit code and last line after a signal to the command alone."""
        begun = time.monotonic()
        self.child.send_signal(number)
        said = self.child.communicate(timeout=60)[1]
        assert time.monotonic() - begun < within
        assert self.processes() == []
        return self.child.returncode, said
