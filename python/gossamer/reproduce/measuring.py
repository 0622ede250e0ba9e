# SPDX-License-Identifier: Apache-2.0
"""Measures the rows of the report that take little time, each group by ``./gossamer bench`` in a process of its own."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from gossamer import processes
from gossamer.errors import ExitCode, RunDied
from gossamer.paths import ROOT
from gossamer.reproduce.row_files import NOW, Row, read

QUICK = (
    ("shell", r"^study\."),
    ("stream", r"^(latency\.|injection)"),
    ("match", r"^preposted\.(ours|two-level|parallel|alpu|hash)\.d"),
    ("stream", r"^bandwidth\.(4|64|1024|4096|16384)B"),
    ("tile", r"^core\.ipc$"),
)
"""Suite and names of the rows: a few minutes in all where the simulators have been built."""


def quick() -> list[Row]:
    """The rows. A bound that a row misses is printed, and is no failure here. Raises KeyboardInterrupt on Ctrl-C."""
    found: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="gossamer-reproduce-") as name:
        for number, (suite, only) in enumerate(QUICK, 1):
            click.echo(f"{number} of {len(QUICK)}: ./gossamer bench {suite} --only '{only}'")
            path = Path(name) / f"{number}.json"
            command: list[str | Path] = [ROOT / "gossamer", "bench", suite, "--only", only, "--json", path]
            code = processes.run_attended(command)
            if code not in (ExitCode.DONE, ExitCode.NO):
                raise _failure(code, suite, only)
            found += read(path, NOW)
    return found


def _failure(code: int, suite: str, only: str) -> BaseException:
    if code == ExitCode.INTERRUPTED:
        return KeyboardInterrupt()
    return RunDied(f"./gossamer bench {suite} --only '{only}' ended with exit code {code}; its messages are above")


__all__ = ["QUICK", "quick"]
