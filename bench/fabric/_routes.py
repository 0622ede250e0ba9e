# SPDX-License-Identifier: Apache-2.0
"""How long routes take: from a file of 1,024 boards in a torus to tables that are checked, as a user calls it.

The figure is the processor's time of the whole command, which other work on the machine hardly changes; on a quiet
machine it is what the user waits for. The wait itself is in the row's configuration.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from gossamer import routes
from gossamer.bench import Context, Row
from gossamer.errors import RunDied
from gossamer.paths import ROOT

TORUS = "routes.torus1024-s"
NAMES = (TORUS,)
GROUPS: tuple[str, ...] = ()
TOPOLOGY = "torus 32x32"
MOST = 10.0
"""Seconds that it may take."""


def measure(context: Context) -> Iterator[Row]:
    """One row: the median of three runs of the command."""
    if not context.wants(TORUS):
        return
    with tempfile.TemporaryDirectory(prefix="gossamer-bench-") as folder:
        cluster = Path(folder) / "torus1024.toml"
        cluster.write_text(
            f'description = "for the bench"\nconfig = "de5"\ntopology = "{TOPOLOGY}"\n', encoding="utf-8"
        )
        tables = Path(folder) / "torus1024.routes"
        seconds, waits = [], []
        for _ in range(context.repeat or 3):
            start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run(
                [sys.executable, str(ROOT / "gossamer"), "routes", str(cluster), "--tables", str(tables)],
                capture_output=True,
                text=True,
                check=False,
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            waits.append(time.perf_counter() - start)
            if done.returncode:
                raise RunDied(f"{TORUS}: ./gossamer routes ended with {done.returncode}: {done.stderr.strip()}")
        topology = routes.read_topology(cluster)
        read = routes.read_tables(tables, topology)
        made = routes.generate(topology)
        if not read.same(made.tables):
            raise RunDied(f"{TORUS}: two runs made different tables")
        figures = routes.measure(made)
    value = statistics.median(seconds)
    yield context.row(
        TORUS,
        value,
        "s",
        reference={"what": "at most", "value": MOST, "unit": "s"},
        ratio=MOST / value,
        topology=TOPOLOGY,
        waited_s=round(statistics.median(waits), 3),
        minimal=figures.minimal,
        hops_mean=round(figures.hops_mean, 3),
        load_max=figures.load_max,
        load_mean=figures.load_mean,
        most=MOST,
    )


__all__ = ["GROUPS", "NAMES", "measure"]
