#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes ip/*.core, the FuseSoC descriptions of the blocks for other designs, from the blocks' file lists.

    .gossamer/env/bin/python tools/fusesoc_cores.py [-o DIR]

A test fails if ip/ and the lists differ; then run this again. FuseSoC requires the files of a core below the folder
of its .core file, so ip/rtl is a link to rtl/.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

from gossamer.hdl import fusesoc, sources, verilate  # noqa: E402

FOLDER = ROOT / "ip"
PACKAGE = "gossamer_pkg.sv"
CORES = {
    # core: (file list below rtl/, description)
    "match": ("match/axi.f", "MPI match engine with AXI4-Stream and AXI4-Lite"),
    "stream_endpoint": (
        "stream/stream.f",
        "Streaming ports of a switch, with credits for each channel and AXI4-Stream for kernels",
    ),
    "stream_board": ("stream/board.f", "Streaming ports, switch and links of a board"),
    "stream_bcast": ("stream/bcast.f", "Broadcast along trees over streaming ports"),
    "stream_reduce": ("stream/reduce.f", "Reduction along trees over streaming ports"),
    "stream_allreduce": ("stream/allreduce.f", "Allreduce along a tree over streaming ports"),
    "stream_barrier": ("stream/barrier.f", "Barrier along a tree over streaming ports"),
    "shell_eth": ("shell/shell_eth.f", "Shell of a board on Ethernet, with its MAC for RGMII"),
    "stream_scatter_gather": ("stream/scatter_gather.f", "Scatter, gather and allgather over streaming ports"),
}
# Cores whose package is that of a folder of constants, which no configuration changes.
CONSTANTS = {"shell_eth": "shell"}
# Cores with code that needs the waivers.
WAIVED = {"shell_eth"}
PARAMETERS = {
    "shell_eth": (
        fusesoc.Parameter("Mtu", 1500, "most bytes of a frame after its Ethernet header"),
        fusesoc.Parameter("CyclesPerMs", 125000, "cycles of clk_i in a millisecond"),
    ),
    "match": (
        fusesoc.Parameter("CamEntries", 64, "entries of the CAM"),
        fusesoc.Parameter("Entries", 4096, "entries after the CAM, of both queues together"),
        fusesoc.Parameter("Reserve", 512, "entries reserved for each queue"),
        fusesoc.Parameter("Ranks", 1024, "ranks that the engine serves"),
    ),
}


def cores() -> dict[str, str]:
    """The content of each file in ip/, by its name."""
    texts = {}
    for name, (listing, description) in CORES.items():
        design = sources.blocks(listing)
        constants = CONSTANTS.get(name)
        package = f"gossamer_{constants}_pkg.sv" if constants else PACKAGE
        comments = (
            f"Generated from rtl/{listing} by tools/fusesoc_cores.py; do not edit.",
            f"{package} depends on {'constants' if constants else 'the configuration'}. Generate it first:",
            f"    ./gossamer config generate {constants or 'CONFIG'} -o {FOLDER.name} --lang sv",
        )
        files = [path.relative_to(ROOT).as_posix() for path in design.verilog if path.name != package]
        headers = [path.relative_to(ROOT) for path in design.headers()]
        core = fusesoc.Core(
            vlnv=f"gossamer:ip:{name}:0.1.0",
            description=description,
            comments=comments,
            files=[package, *files],
            headers=[(path.as_posix(), path.parent.as_posix()) for path in headers],
            top=design.top,
            parameters=PARAMETERS.get(name, ()),
            waivers=[verilate.WAIVERS.relative_to(ROOT).as_posix()] if name in WAIVED else (),
        )
        texts[f"{name}.core"] = fusesoc.text(core)
    return texts


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help=f"folder to write (default {FOLDER.name})")
    folder: Path = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in cores().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
