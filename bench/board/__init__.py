# SPDX-License-Identifier: Apache-2.0
"""The suite ``board``: programs on boards behind Ethernet shells, and whole boards on an FPGA (docs/benchmarks.md)."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import gossamer
import gossamer_setup
from gossamer import config as configs
from gossamer.bench import Context, Row
from gossamer.engines.board import BoardHardware, Place
from gossamer.engines.rtl_cluster import Plan
from gossamer.engines.rtl_vertices import Hardware
from gossamer.errors import InputError, RunDied
from gossamer.graph import read_graph
from gossamer.shell import _build, keys, mac_text

from . import _ecp5, _guests

OVERHEAD = "board.overhead"
NAMES = (OVERHEAD, *_guests.NAMES, *_ecp5.NAMES)
MOST = 1.3
CLUSTER, APP, GRAPH = "pair", "hashmin", "gen:grid:width=60,height=60"
REPEAT = 3
_KEY = bytes(32)
_FIRST_MAC = 0x02_67_73_00_01_00


@contextlib.contextmanager
def _twins(folder: Path, count: int) -> Iterator[Place]:
    """A simulated switch and boards in software."""
    programs, socket = _build.folder(), str(folder / "switch")
    macs = [_FIRST_MAC + number for number in range(count)]
    keys.write(folder / "keys.json", dict.fromkeys(macs, _KEY))
    with contextlib.ExitStack() as stack:
        switch = stack.enter_context(
            subprocess.Popen([programs / "shell_switch", socket], stdout=subprocess.PIPE, text=True)
        )
        stack.callback(switch.terminate)
        if switch.stdout is None or switch.stdout.readline() != "ready\n":
            raise InputError("the simulated switch has not started")
        for mac in macs:
            words = ["--port", socket, "--mac", mac_text(mac), "--key", _KEY.hex()]
            board = stack.enter_context(subprocess.Popen([programs / "shell_twin", *words]))
            stack.callback(board.terminate)
        yield Place(socket, str(folder / "keys.json"))


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for. Raises RunDied where the results of both engines differ."""
    if any(context.wants(name) for name in _ecp5.NAMES):
        gossamer_setup.require(*_ecp5.GROUPS)
        yield from _ecp5.measure(context)
    yield from _guests.measure(context)
    if not context.wants(OVERHEAD):
        return
    gossamer_setup.require("rtl")
    graph = read_graph(GRAPH)
    plan = Plan(configs.load_cluster(CLUSTER))
    seconds: dict[str, list[float]] = {"rtl": [], "board": []}
    cycles: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="gossamer-bench-") as name, _twins(Path(name), plan.boards) as place:
        for _ in range(context.repeat or REPEAT):
            found = []
            for engine in (Hardware(plan=plan), BoardHardware(plan=plan, place=place)):
                found.append(gossamer.run(APP, graph, engine=engine).values.tolist())
                assert engine.done is not None
                seconds[engine.name].append(engine.done.seconds)
                cycles[engine.name] = engine.done.cycles
            if found[0] != found[1]:
                raise RunDied(f"{OVERHEAD}: {APP} on boards has other results than in the simulator")
    wall = {engine: median(its) for engine, its in seconds.items()}
    about: dict[str, Any] = {"cluster": CLUSTER, "app": APP, "graph": GRAPH, "most": MOST}
    about |= {f"{engine}_seconds": wall[engine] for engine in wall}
    about |= {f"{engine}_cycles": cycles[engine] for engine in cycles}
    yield context.row(OVERHEAD, wall["board"] / wall["rtl"], "times", **about)


__all__ = ["NAMES", "rows"]
