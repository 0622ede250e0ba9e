# SPDX-License-Identifier: Apache-2.0
"""Boards of `de5` in a ring, with their harness (boards.cc), which compares every element received."""

from __future__ import annotations

import subprocess
from pathlib import Path

from gossamer import config as configs
from gossamer.errors import RunDied
from gossamer.hdl import sources, verilate

CONFIG = "de5"
DEPTH, PACKET, BYTES = 1024, 30, 8
"""Flits of a port's buffer, flits of the longest packet, bytes of a kernel's beat."""
HERE = Path(__file__).resolve().parent


PACKETS, CIRCUITS = 0, 1
"""Ports of a board, by the form in which their messages are sent."""


def boards(number: int, depth: int = DEPTH, circuits: int = 1 << CIRCUITS) -> Path:
    """The program that drives the boards. ``circuits`` is a bit mask of the ports that send circuits."""
    design = sources.blocks("stream/board.f", config=configs.load(CONFIG)) + [
        sources.SIM / "link" / "gs_mac_model.sv",
        HERE / "boards_top.sv",
    ]
    return verilate.model(
        "boards_top",
        design,
        [HERE / "boards.cc"],
        parameters={"Boards": number, "Depth": depth, "Circuits": circuits},
        cxx=[f"-DBOARDS={number}", f"-DDEPTH={depth}"],
        optimise="-Og",
    )


def numbers(what: str, program: Path, *arguments: object) -> list[int]:
    """The numbers that a harness prints. Raises RunDied if the harness reports an error."""
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunDied(f"{what}: {(done.stdout + done.stderr).strip()[-500:]}")
    return [int(word) for word in done.stdout.split() if word.isdigit()]


__all__ = ["BYTES", "CIRCUITS", "CONFIG", "DEPTH", "HERE", "PACKET", "PACKETS", "boards", "numbers"]
