# SPDX-License-Identifier: Apache-2.0
"""How long mapping takes, and how much memory: a process of its own, so that its greatest memory is the mapping's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from gossamer.bench import Context, Row
from gossamer.errors import RunDied
from gossamer.paths import ROOT

SECONDS, GIGABYTES = "map.2m-200m-s", "map.2m-200m-gb"
NAMES = (SECONDS, GIGABYTES)
VERTICES, FANOUT, CLUSTER = 2_000_000, 100, "rack48"
_GOALS = {SECONDS: (600.0, "s"), GIGABYTES: (20.0, "GB")}


def rows(context: Context) -> Iterator[Row]:
    """Both rows come of one run: 2 M vertices of a square, each with 100 edges to others near it, in random order."""
    wanted = [name for name in NAMES if context.wants(name)]
    if not wanted:
        return
    # By its file: a suite's module has a name that only the command knows.
    command = [sys.executable, __file__, str(VERTICES), str(FANOUT), CLUSTER]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=False)
    if done.returncode:
        raise RunDied(f"{SECONDS}: the mapping ended with code {done.returncode}")
    found = json.loads(done.stdout)
    for name in wanted:
        goal, unit = _GOALS[name]
        value = found.pop(unit)
        yield context.row(
            name,
            value,
            unit,
            reference={"what": "goal", "value": goal, "unit": unit},
            ratio=goal / value,
            vertices=VERTICES,
            edges=VERTICES * FANOUT,
            cluster=CLUSTER,
            processors=len(os.sched_getaffinity(0)),
            **{key: its for key, its in found.items() if key not in ("s", "GB")},
        )


def _measure(vertices: int, fanout: int, cluster: str) -> dict[str, float]:
    import dataclasses
    import time

    import numpy as np

    from gossamer import mapper, native, routes
    from gossamer.bench.memory import watched
    from gossamer.mapper import split

    source = np.random.default_rng(1)
    side = int(vertices**0.5)
    name = source.permutation(vertices).astype(np.uint32)
    reach = max(2, int(fanout**0.5))
    # Numbers of 32 bits: at full size this takes 1.6 GB.
    ends: Any = np.empty((2, vertices * fanout), np.uint32)
    begin, end = ends
    piece = 100_000
    for first in range(0, vertices, piece):
        its = np.repeat(np.arange(first, min(first + piece, vertices)), fanout)
        row, column = (
            np.clip(at + source.integers(-reach, reach + 1, len(its)), 0, side - 1) for at in np.divmod(its, side)
        )
        part = slice(first * fanout, first * fanout + len(its))
        begin[part], end[part] = name[its], name[np.minimum(row * side + column, vertices - 1)]
    wiring = routes.read_topology(cluster)
    boards = wiring.cluster.boards
    machine = mapper.Machine(boards[0].config, len(boards), hops=routes.generate(wiring).hops.astype(np.int64))
    # Neither what installs the partitioner nor what compiles the library is part of the mapping.
    split.require(mapper.METHODS[0])
    native.lib()
    with watched() as peaks:
        started = time.monotonic()
        mapping = mapper.assign(vertices, begin, end, machine, progress=lambda done, total: _progress(done, total))
        seconds = time.monotonic() - started
    return {
        "s": seconds,
        "GB": sum(peaks.values()) / 1e9,
        "processes": len(peaks),
        **dataclasses.asdict(mapper.cut(mapping, begin, end, machine)),
    }


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\rmapped {done} of {total} tiles", end="\n" if done == total else "", file=sys.stderr)


def main() -> None:
    """What the process does: vertices, edges of each, and cluster are its words; figures go to its output."""
    vertices, fanout, cluster = sys.argv[1:]
    print(json.dumps(_measure(int(vertices), int(fanout), cluster)))


if __name__ == "__main__":
    main()
