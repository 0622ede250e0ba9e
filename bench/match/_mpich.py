# SPDX-License-Identifier: Apache-2.0
"""Rows ``preposted.mpich.dN``: matching in MPICH on this machine, beside *ours* in the same run."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gossamer import builds
from gossamer.bench import Context, Row
from gossamer.errors import RunDied
from gossamer.paths import ROOT

from . import _cycles

DEPTHS = {f"preposted.mpich.d{depth}": depth for depth in _cycles.ADVERSARY_DEPTHS}
NAMES = tuple(DEPTHS)
GROUPS = ("core", "test", "rtl", "mpi")
_PROGRAM = ROOT / "bench" / "match" / "programs" / "preposted.c"
_PREFIX = Path(sys.executable).parent.parent
"""Where set-up group `mpi` puts MPICH."""
_GOAL_MHZ = 100.0


def measure(context: Context) -> Iterator[Row]:
    """The rows asked for: nanoseconds beyond those of a message whose receive is the only one."""
    if not (_PREFIX / "bin" / "mpiexec").exists():
        for row in DEPTHS:
            if context.wants(row):
                yield context.skip(row, "MPICH has wheels for x86-64 alone")
        return
    taken = _times()
    for row, depth in DEPTHS.items():
        if context.wants(row):
            cycles = _cycles._preposted("ours", "one-tag" if depth not in _cycles.DEPTHS else "random")[depth][0]
            yield context.row(
                row, taken[depth] - taken[1], "ns", whole=taken[depth], alone=taken[1], ours_cycles=cycles,
                ours_ns_at_100_mhz=cycles / _GOAL_MHZ * 1e3,
            )  # fmt: skip


def _times() -> dict[int, float]:
    with tempfile.TemporaryDirectory() as folder:
        made = str(Path(folder) / "preposted")
        library = [f"-I{_PREFIX}/include", f"-L{_PREFIX}/lib", f"-Wl,-rpath,{_PREFIX}/lib", "-lmpi"]
        for words in (
            [*builds.c_compiler(), "-O2", str(_PROGRAM), "-o", made, *library],
            [str(_PREFIX / "bin" / "mpiexec"), "-n", "1", made, *map(str, (1, *DEPTHS.values()))],
        ):
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RunDied(f"preposted.c: {(done.stderr or done.stdout).strip()[-500:]}")
    return {int(depth): float(time) for depth, time in map(str.split, done.stdout.splitlines())}


__all__ = ["GROUPS", "NAMES", "measure"]
