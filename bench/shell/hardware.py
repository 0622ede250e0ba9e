# SPDX-License-Identifier: Apache-2.0
"""The shell's RTL: cells and clock on an ECP5, ALMs over what SAF adds to the vendor's shell (its Table IV).

The shell is `gs_shell` as it is: with its processor, without MAC and memory controller, as SAF's increment is.
"""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.bench import Context, Reference, Row
from gossamer.hdl import sources, synth

from .studies import TABLE4

MHZ, MHZ6, CELLS, ALMS = "shell.ecp5-mhz", "shell.ecp5-mhz-grade6", "shell.cells", "shell.alms-over-saf"
NAMES = (MHZ, MHZ6, CELLS, ALMS)
LEAST_MHZ = 125.0
"""Of 1 Gb/s Ethernet, a byte a cycle."""
_TARGET = 130


def rows(context: Context) -> Iterator[Row]:
    """Synthesis takes about ten minutes the first time; its results are kept by content."""
    design = sources.blocks("shell")
    for name, grade in ((MHZ, 8), (MHZ6, 6)):
        if context.wants(name):
            report = synth.ecp5("gs_shell", design, speed=grade, mhz=_TARGET)
            mhz = sorted(report.mhz)[len(report.mhz) // 2]
            bound: Reference | None = {"what": "1 Gb/s", "value": LEAST_MHZ, "unit": "MHz"} if grade == 8 else None
            yield context.row(
                name, mhz, "MHz", reference=bound, ratio=mhz / LEAST_MHZ if bound else None,
                least=LEAST_MHZ if bound else None, grade=grade, seeds=list(report.mhz),
            )  # fmt: skip
    if context.wants(CELLS):
        report = synth.ecp5("gs_shell", design, seeds=(), mhz=_TARGET)
        yield context.row(
            CELLS, float(report.cells), "cells", registers=report.ffs, block_rams=report.block_rams, dsps=report.dsps
        )
    if context.wants(ALMS):
        luts = synth.luts("gs_shell", design, "cyclonev")
        # SAF has no links between boards.
        without = synth.luts("gs_shell", design, "cyclonev", parameters={"Links": 0})
        before, after = TABLE4["ALMs"]
        share = luts.luts / 2 / (after - before)
        what: Reference = {
            "what": "what SAF adds, in ALMs of two ALUTs",
            "value": float(after - before),
            "unit": "ALMs",
        }
        yield context.row(
            ALMS, share, "share", reference=what, ratio=1 / share, most=1.0, alms=luts.luts / 2, registers=luts.ffs,
            block_rams=luts.block_rams, alms_without_links=without.luts / 2,
        )  # fmt: skip


__all__ = ["NAMES", "rows"]
