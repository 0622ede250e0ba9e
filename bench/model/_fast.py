# SPDX-License-Identifier: Apache-2.0
"""The engine ``fast``: its speed, and the error of its cycles on the programs of docs/programs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gossamer import config as configs
from gossamer import device
from gossamer.bench import Context, Row
from gossamer.engines.fast import Fast
from gossamer.engines.rtl import Run
from gossamer.engines.rtl_cluster import Cluster
from gossamer.errors import RunDied
from gossamer.paths import ROOT

MHZ, CYCLES = "fast-tile.mhz", "fast-tile.cycle-error"
OTHERS = {f"{CYCLES}.{name}": name for name in ("quad", "octet")}
"""The error on a board with large tiles, and on a cluster; the programs are those that end soon."""
SHORT = ("hello.c", "ping.c", "ring.c", "queens.cpp")
PROGRAMS = ("hello.c", "heat.c", "memory.c", "ping.c", "queens.cpp", "ring.c", "sort.c")
_SPEED_PROGRAM = "heat.c"
_LEAST_MHZ = 15.0


def rows(context: Context, row: Callable[..., Row]) -> Iterator[Row]:
    """The rows of the engine ``fast``. Raises RunDied if a program does not end as on ``rtl``."""
    config = configs.load("tiny")
    if context.wants(MHZ):
        best = 0.0
        for _ in range(3):
            run, seconds = _run(Fast(config), _SPEED_PROGRAM)
            best = max(best, run.cycles * config.tiles / seconds / 1e6)
        yield context.row(
            MHZ,
            best,
            "MHz",
            reference={"what": "at least", "value": _LEAST_MHZ, "unit": "MHz"},
            ratio=best / _LEAST_MHZ,
            program=_SPEED_PROGRAM,
            configuration=config.name,
            instructions=run.instructions,
        )
    if context.wants(CYCLES):
        yield row(context, CYCLES, **_errors(config, PROGRAMS))
    for name, machine in OTHERS.items():
        if context.wants(name):
            where = configs.load(machine) if machine == "quad" else configs.load_cluster(machine)
            yield row(context, name, **_errors(where, SHORT), machine=machine)


def _errors(where: configs.Config | configs.Cluster, programs: Iterable[str]) -> dict[str, Any]:
    """The greatest error of cycles on some programs, and each."""
    errors = {}
    for name in programs:
        real, found = _run(Cluster(where), name)[0], _run(Fast(where), name)[0]
        if (real.reason, real.codes) != (found.reason, found.codes):
            raise RunDied(f"{name}: ends with {found.reason} on fast and with {real.reason} on rtl")
        errors[name] = found.cycles / real.cycles - 1
    return {"value": abs(max(errors.values(), key=abs)), "errors": errors}


def _run(machine: Cluster, name: str) -> tuple[Run, float]:
    """A run of a program on all threads, and its processor time in seconds."""
    with machine:
        machine.load_image(device.build(str(ROOT / "programs" / name), machine.config, boards=machine.shape))
        begun = time.process_time()
        run = machine.run(machine.threads)
        return run, time.process_time() - begun


__all__ = ["CYCLES", "MHZ", "OTHERS", "PROGRAMS", "rows"]
