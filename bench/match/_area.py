# SPDX-License-Identifier: Apache-2.0
"""What the match engines cost, and how fast they are on ECP5.

LUT6s are Yosys' for the 7 series. Each queue is 4,096 entries deep and has a CAM of its own; ours has 4,096 and one
CAM of the same size for both queues together, of which either may take all: half of what the others have. Of the
others CAM and list are synthesised by themselves, once for all instances, since nothing else ends with 64 lists; that
takes some more cells. Cells and clock are nextpnr's, with one seed, but for an engine that an ECP5-85F has no room for:
its cells and block RAMs are Yosys', and it has no clock. What is routed is made of single LUTs: pairs and fours of them
as one make the CAM's comparisons larger, and leave the placer less choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gossamer import config as configs
from gossamer.bench import Context, Row
from gossamer.hdl import sources, synth

GROUPS = ("test", "rtl", "synth")
CONFIG = "de5"
DEPTH, CAM, CAM_ECP5 = 4_096, 256, 64
MHZ_LEAST, MHZ_AIM = 100.0, 120
ECP5_FLAGS = ("-nowidelut",)
SHAPES = {
    "ours": {"Architecture": 0, "Lists": 1},
    "two-level": {"Architecture": 1, "Lists": 1},
    "parallel": {"Architecture": 1, "Lists": 4},
    "parallel-64": {"Architecture": 1, "Lists": 64},
}
LUTS = {f"area.{name}": name for name in SHAPES}
CELLS = {f"area.{name}.ecp5": name for name in SHAPES}
CLOCKS = {f"fmax.{name}": name for name in SHAPES}
NAMES = (*LUTS, *CELLS, *CLOCKS)
# Modules that are synthesised by themselves
APART = ("gs_match_cam", "gs_match_list")
# What an ECP5-85F has
CELLS_MOST, BLOCK_RAMS_MOST = 83_640, 208
# Place and route of these takes hours.
_SLOW = ("parallel",)
_TOO_LARGE = ("parallel-64",)


def _stores(name: str) -> dict[str, Any]:
    """What the numbers of CAM and list entries are for: ours has half as many of both as the others."""
    return {"entries_are": "of both queues together" if name == "ours" else "of each queue"}


def measure(context: Context) -> Iterator[Row]:
    """Each row as synthesis ends, which takes long the first time; results are kept by content."""
    files = sources.blocks("match", config=configs.load(CONFIG))

    def parameters(name: str, cam: int) -> dict[str, int | str]:
        return {**SHAPES[name], "CamEntries": cam, "Entries": DEPTH, "Reserve": 0}

    def luts(name: str, family: str, cam: int) -> synth.LutReport:
        apart = () if name == "ours" else APART
        return synth.luts("gs_match", files, family, parameters(name, cam), apart=apart)

    for row, name in LUTS.items():
        if context.wants(row):
            report = luts(name, "xc7", CAM)
            beside = None
            if name == "ours":
                beside = luts("parallel-64", "xc7", CAM).luts
            yield context.row(
                row,
                float(report.luts),
                "LUT6",
                reference={"what": "64 lists", "value": float(beside), "unit": "LUT6"} if beside else None,
                ratio=beside / report.luts if beside else None,
                least_ratio=1.0 if name == "ours" else None,
                **_stores(name),
                synthesis="whole" if name == "ours" else "CAM and list by themselves",
                cam_entries=CAM,
                depth=DEPTH,
                ffs=report.ffs,
                block_rams=report.block_rams,
            )
    for name in SHAPES:
        cells, clock = f"area.{name}.ecp5", f"fmax.{name}"
        if not (context.wants(cells) or context.wants(clock)):
            continue
        if name in _TOO_LARGE:
            report = luts(name, "ecp5", CAM_ECP5)
            limits = f"{CELLS_MOST} cells and {BLOCK_RAMS_MOST} block RAMs"
            if context.wants(cells):
                yield context.row(
                    cells,
                    float(report.luts),
                    "cells",
                    part=f"none: an ECP5-85F has {limits}",
                    synthesis="CAM and list by themselves; counted by Yosys",
                    cam_entries=CAM_ECP5,
                    depth=DEPTH,
                    ffs=report.ffs,
                    block_rams=report.block_rams,
                    **_stores(name),
                )
            if context.wants(clock):
                took = f"{report.luts} cells and {report.block_rams} block RAMs"
                yield context.skip(clock, f"takes {took}; an ECP5-85F has {limits}")
            continue
        routes = context.wants(clock) and (context.full or name not in _SLOW)
        # Cells are counted before anything is placed.
        seeds = (1,) if routes else ()
        routed = synth.ecp5(
            "gs_match", files, parameters(name, CAM_ECP5), seeds=seeds, mhz=MHZ_AIM, yosys_flags=ECP5_FLAGS
        )
        about: dict[str, Any] = {
            "part": "ECP5-85F, speed 8",
            "cam_entries": CAM_ECP5,
            "depth": DEPTH,
            "seeds": len(seeds),
            "ffs": routed.ffs,
            "block_rams": routed.block_rams,
            **_stores(name),
        }
        if context.wants(cells):
            yield context.row(cells, float(routed.cells), "cells", **about)
        if context.wants(clock) and not routes:
            yield context.skip(clock, "place and route takes hours: with --full")
        if routes:
            least: dict[str, Any] = {"least": MHZ_LEAST} if name == "ours" else {}
            yield context.row(
                clock,
                routed.best_mhz,
                "MHz",
                reference={"what": "at least", "value": MHZ_LEAST, "unit": "MHz"} if least else None,
                ratio=routed.best_mhz / MHZ_LEAST if least else None,
                **least,
                **about,
            )


__all__ = ["GROUPS", "NAMES", "measure"]
