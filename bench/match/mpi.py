# SPDX-License-Identifier: Apache-2.0
"""Rows ``mpi.*``: what MPI costs on the overlay, counted by its own threads on a simulated board."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

from gossamer.bench import Context, Row
from gossamer.errors import RunDied
from gossamer.paths import ROOT

ISEND = "mpi.isend-instr"
PINGPONG = "mpi.pingpong-cycles"
NAMES = (ISEND, PINGPONG)
GROUPS = ("core", "rtl")
CONFIG = "tiny-mpi"
_PROGRAMS = ROOT / "bench" / "match" / "programs"


def measure(context: Context) -> Iterator[Row]:
    """Each row asked for."""
    if context.wants(ISEND):
        found = {int(size): (int(own), int(full)) for size, own, full in _lines("isend.c", 2, r"(\d+) (\d+) (\d+)")}
        own, full = found[4]
        yield context.row(
            ISEND,
            own,
            "instructions",
            reference={"what": "MPICH, average of an MPI_Isend", "value": 253.0, "unit": "instructions"},
            ratio=253.0 / own,
            configuration=CONFIG,
            bytes=4,
            with_arguments=full,
            by_bytes={str(size): value for size, (value, _) in found.items()},
            most=60,
        )
    if context.wants(PINGPONG):
        cycles = {int(size): int(mpi) for size, mpi in _lines("pingpong.c", 2, r"(\d+) bytes: (\d+) cycles")}
        yield context.row(
            PINGPONG,
            cycles[4],
            "cycles",
            configuration=CONFIG,
            bytes=4,
            by_bytes={str(size): value for size, value in cycles.items()},
        )


def _lines(program: str, ranks: int, form: str) -> list[tuple[str, ...]]:
    """What a program writes in a form."""
    command = [sys.executable, str(ROOT / "gossamer"), "mpi", "run", str(_PROGRAMS / program), "-n", str(ranks)]
    done = subprocess.run([*command, "--engine", "rtl"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunDied(f"{program}: {done.stderr.strip()[-500:]}")
    return [found.groups() for line in done.stdout.splitlines() if (found := re.fullmatch(form, line))]


__all__ = ["GROUPS", "NAMES", "measure"]
