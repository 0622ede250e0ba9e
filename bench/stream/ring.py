# SPDX-License-Identifier: Apache-2.0
"""Boards of `de5` in a ring, in the harness of the tests (boards.cc): every element that arrives is compared there."""

from __future__ import annotations

import subprocess
from pathlib import Path

from gossamer import config as configs
from gossamer.errors import RunDied
from gossamer.hdl import sources, verilate
from gossamer.paths import ROOT

CONFIG = "de5"
DEPTH, PACKET, BYTES = 1024, 30, 8
"""Flits that a port's buffer holds, and the longest packet; bytes of a beat at a kernel."""
HARNESS = ROOT / "tests" / "rtl" / "stream"


PACKETS, CIRCUITS = 0, 1
"""Ports of a board: what messages of each go as."""


def boards(number: int, depth: int = DEPTH, circuits: int = 1 << CIRCUITS) -> Path:
    """The program that drives them. ``circuits`` are the ports whose messages go as such, a bit each."""
    design = sources.blocks("stream/board.f", config=configs.load(CONFIG)) + [
        sources.SIM / "link" / "gs_mac_model.sv",
        HARNESS / "boards_top.sv",
    ]
    return verilate.model(
        "boards_top",
        design,
        [HARNESS / "boards.cc"],
        parameters={"Boards": number, "Depth": depth, "Circuits": circuits},
        cxx=[f"-DBOARDS={number}", f"-DDEPTH={depth}"],
        optimise="-Og",
    )


def numbers(what: str, program: Path, *arguments: object) -> list[int]:
    """The numbers that a harness prints. Raises RunDied where it finds something wrong."""
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunDied(f"{what}: {(done.stdout + done.stderr).strip()[-500:]}")
    return [int(word) for word in done.stdout.split() if word.isdigit()]


__all__ = ["BYTES", "CIRCUITS", "CONFIG", "DEPTH", "HARNESS", "PACKET", "PACKETS", "boards", "numbers"]
