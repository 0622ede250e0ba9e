# SPDX-License-Identifier: Apache-2.0
"""Switch and link for boards with slow links (`switch.datapath`, `links.datapath_bytes`): cells and clock on an ECP5.

The switch has six ports: two exits of the mesh, two links, the control unit, the host. Both are synthesised as a whole;
the references are the crossbar and the link of eight bytes a cycle of the same configuration.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gossamer import config as configs
from gossamer.bench import Context, Reference, Row
from gossamer.hdl import sources, synth

HERE = Path(__file__).parent
CONFIG = "ecp5-1g"
GROUPS = ("test", "rtl", "synth")
_CELLS = {"switch": "area.switch-shared.ecp5", "link": "area.link-1g.ecp5"}
_MHZ = {"switch": "switch-shared.ecp5-mhz", "link": "link-1g.ecp5-mhz"}
NAMES = (*_CELLS.values(), *_MHZ.values())
_MOST_CELLS = {"switch": 8000.0, "link": 5000.0}
_LEAST_MHZ = 80.0
_WIDE = {
    "switch": ("the crossbar with six ports (area.switch.ecp5)", 24_761.0),
    "link": ("a link of eight bytes a cycle (link.ecp5-cells)", 10_290.0),
}
_WIDE_LINK_MHZ = 51.0


def report(block: str, *, speed: int = 8, seeds: tuple[int, ...] = ()) -> synth.Ecp5Report:
    """Kept by content."""
    config = configs.load(CONFIG)
    top, parameters = ("area_switch", {"Shared": 1}) if block == "switch" else ("gs_link", {})
    files = sources.blocks(block, config=config)
    if block == "switch":
        files = files + [HERE / "area_switch.sv"]
    return synth.ecp5(top, files, parameters, speed=speed, seeds=seeds, mhz=100)


def measure(context: Context) -> Iterator[Row]:
    """Minutes for each block the first time."""
    for block in _CELLS:
        if context.wants(_CELLS[block]):
            found = report(block)
            what, cells = _WIDE[block]
            reference: Reference = {"what": what, "value": cells, "unit": "cells"}
            yield context.row(
                _CELLS[block],
                float(found.cells),
                "cells",
                reference=reference,
                ratio=cells / found.cells,
                most=_MOST_CELLS[block],
                **_about(found),
            )
        if context.wants(_MHZ[block]):
            found = report(block, seeds=(1,))
            slow = report(block, speed=6, seeds=(1,))
            wide: Reference = {
                "what": "a link of eight bytes a cycle (link.ecp5-mhz)",
                "value": _WIDE_LINK_MHZ,
                "unit": "MHz",
            }
            yield context.row(
                _MHZ[block],
                found.best_mhz,
                "MHz",
                reference=wide if block == "link" else None,
                ratio=found.best_mhz / _WIDE_LINK_MHZ if block == "link" else None,
                least=_LEAST_MHZ,
                grade_6_mhz=slow.best_mhz,
                **_about(found),
            )


def _about(found: synth.Ecp5Report) -> dict[str, Any]:
    return {"configuration": CONFIG, "cells": found.cells, "ffs": found.ffs, "block_rams": found.block_rams}


__all__ = ["NAMES", "measure"]
