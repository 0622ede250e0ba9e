# SPDX-License-Identifier: Apache-2.0
"""The suite ``board``: programs on boards behind Ethernet shells, and whole boards on an FPGA (docs/benchmarks.md)."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import gossamer
import gossamer_setup
from gossamer import config as configs
from gossamer import device
from gossamer.bench import Context, Row
from gossamer.engines.board import BoardHardware, Boards, Place
from gossamer.engines.rtl_cluster import Plan
from gossamer.engines.rtl_vertices import Hardware
from gossamer.errors import InputError, RunDied
from gossamer.graph import read_graph
from gossamer.paths import ROOT
from gossamer.shell import _build, keys, mac_text

from . import _ecp5, _guests

OVERHEAD, SHARE = "board.overhead", "virtual-link.payload-share"
NAMES = (OVERHEAD, SHARE, *_guests.NAMES, *_ecp5.NAMES)
MOST = 1.3
FLOOD = ROOT / "tests" / "fixtures" / "guests" / "flood.c"
FLOOD_CYCLES, LEAST_SHARE = (20_000, 420_000), 0.95
_LINE_OVERHEAD = 24
"""Bytes of a cable that a frame takes in addition to its own: preamble, check sum, gap."""
CLUSTER, SHARE_CLUSTER, APP, GRAPH = "pair", "quad2", "hashmin", "gen:grid:width=60,height=60"
REPEAT = 3
_KEY = bytes(32)
_FIRST_MAC = 0x02_67_73_00_01_00


@contextlib.contextmanager
def _twins(folder: Path, count: int, figures: list[dict[str, Any]] | None = None) -> Iterator[Place]:
    """A simulated switch and boards in software. Appends what the switch has counted for each of its ports."""
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
        if figures is not None:
            switch.terminate()
            figures += json.loads(switch.stdout.read())["ports"]


def _payload_share(context: Context) -> Row:
    """The same link frames on links of their own and on virtual ones, in bytes of a cable: two boards whose threads
    send to each other without end. A short run is subtracted, since boards are configured through the same ports."""
    plan = Plan(configs.load_cluster(SHARE_CLUSTER))
    image = device.build(FLOOD, plan.config, ["WAY=0", f"ALL_BOARDS={plan.boards}"], boards=plan.shape)
    own, virtual = zip(*(_bytes_of_links(plan, image, cycles) for cycles in FLOOD_CYCLES), strict=True)
    about: dict[str, Any] = {"cluster": SHARE_CLUSTER, "cycles": list(FLOOD_CYCLES), "least": LEAST_SHARE}
    about |= {"bytes_of_own_links": own[1] - own[0], "bytes_of_virtual_links": virtual[1] - virtual[0]}
    return context.row(SHARE, (own[1] - own[0]) / (virtual[1] - virtual[0]), "share", **about)


def _bytes_of_links(plan: Plan, image: device.Image, cycles: int) -> tuple[int, int]:
    """Bytes that the frames of links would take on cables of their own, and those that boards receive from a switch."""
    ports: list[dict[str, Any]] = []
    with contextlib.ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="gossamer-bench-"))
        place = stack.enter_context(_twins(Path(name), plan.boards, ports))
        with Boards(plan, place) as boards:
            boards.load_image(image)
            boards.run(boards.threads, max_cycles=cycles)
            links, _ = boards.network_counters()
    own = sum(link["tx_bytes"] + _LINE_OVERHEAD * link["tx_frames"] for link in links.values())
    # Hosts close their ports before the boards do, and are not counted.
    return own, sum(port["bytes"] + _LINE_OVERHEAD * port["sent"] for port in ports)


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for. Raises RunDied where the results of both engines differ."""
    if any(context.wants(name) for name in _ecp5.NAMES):
        gossamer_setup.require(*_ecp5.GROUPS)
        yield from _ecp5.measure(context)
    yield from _guests.measure(context)
    if context.wants(SHARE):
        gossamer_setup.require("rtl")
        yield _payload_share(context)
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
