# SPDX-License-Identifier: Apache-2.0
"""The mesh router: cells and clock on ECP5-85F, speed 8, ALUTs on Cyclone V; cycles of a hop and flits a cycle."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import models

from gossamer import config as configs
from gossamer.bench import Context, Row
from gossamer.errors import RunDied
from gossamer.hdl import sources, synth, verilate

MHZ, CELLS, ALUTS = "router5.ecp5-mhz", "area.router5.ecp5", "area.router5.cyclonev"
HOP, RATE = "router5.hop-cycles", "router5.flits-per-cycle"
GROUPS = ("test", "rtl", "synth")
NAMES = (MHZ, CELLS, ALUTS, HOP, RATE)
CONFIG = "de5"
SEEDS = (1, 2, 3)
_HARNESS = models.FOLDER / "noc"
_CRUDE = "a one-stage router of 128 bits without virtual networks"


def measure(context: Context) -> Iterator[Row]:
    """Synthesis takes some minutes the first time; its results are kept by content."""
    config = configs.load(CONFIG)
    files = sources.blocks("noc/router.f", config=config)
    shape: dict[str, Any] = {
        "ports": 5,
        "virtual_networks": 4,
        "buffer_flits": config.mesh.buffer_flits,
        "configuration": config.name,
    }
    if context.wants(MHZ) or context.wants(CELLS):
        router = synth.ecp5(files.top, files, {}, seeds=SEEDS if context.wants(MHZ) else ())
        about: dict[str, Any] = {
            **shape,
            "part": "ECP5-85F, speed 8",
            "ffs": router.ffs,
            "block_rams": router.block_rams,
        }
        if context.wants(MHZ):
            yield context.row(
                MHZ,
                router.median_mhz,
                "MHz",
                reference={"what": _CRUDE, "value": 82.0, "unit": "MHz"},
                ratio=router.median_mhz / 82.0,
                least=125.0,
                all_mhz=list(router.mhz),
                **about,
            )
        if context.wants(CELLS):
            yield context.row(
                CELLS,
                float(router.cells),
                "cells",
                reference={"what": _CRUDE, "value": 4614.0, "unit": "cells"},
                ratio=4614.0 / router.cells,
                **about,
            )
    if context.wants(ALUTS):
        report = synth.luts(files.top, files, "cyclonev", {})
        yield context.row(ALUTS, float(report.luts), "ALUTs", ffs=report.ffs, block_rams=report.block_rams, **shape)
    if context.wants(HOP) or context.wants(RATE):
        found = _cycles(_simulator())
        if context.wants(HOP):
            yield context.row(HOP, found["hop-cycles"], "cycles", most=3, **shape)
        if context.wants(RATE):
            yield context.row(RATE, found["flits-per-cycle"], "flits/cycle", least=5.0, **shape)


def _simulator() -> Path:
    """The router in the harness of its tests."""
    config = configs.load(CONFIG)
    ports, width = config.router.mesh_ports, config.mesh.width
    exits = ",".join(str((2 * number + 1) * width // (2 * ports)) for number in range(ports))
    values = {"WIDTH": width, "HEIGHT": config.mesh.height, "DEPTH": config.mesh.buffer_flits, "PORTS": ports}
    return verilate.model(
        "router_top",
        sources.blocks("noc/mesh.f", config=config) + [_HARNESS / "router_top.sv"],
        [_HARNESS / "main.cc"],
        defines={"GS_NO_CLOCK_GATES": 1},
        optimise="-O1",
        cxx=[*(f"-DNOC_{name}={value}" for name, value in values.items()), f"-DNOC_EXITS={exits}", "-DNOC_ROUTER"],
    )


def _cycles(simulator: Path) -> dict[str, float]:
    """Cycles of a packet through a router alone; flits a cycle out of all ports when every input has its own output."""
    done = subprocess.run([simulator, "rates", "1"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunDied(f"the router's rates: {(done.stderr or done.stdout).strip()[-500:]}")
    return {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines() if " " in line)}


__all__ = ["GROUPS", "NAMES", "measure"]
