# SPDX-License-Identifier: Apache-2.0
"""Wrappers of the hardware tools: file lists, simulators, synthesis, proofs.

    from gossamer.hdl import prove, sources, synth, verilate
    tile = sources.blocks("tile", config=config.load("tiny"))
    binary = verilate.model("gs_tile", tile, ["driver.cc"])
    synth.ecp5("gs_core", sources.blocks("core", config=...)).cells

``verilate`` needs the group rtl, ``synth`` and ``prove`` need synth; they install it if necessary. Results are cached,
and made again only after a change of their inputs.
"""

from __future__ import annotations

__all__ = ["prove", "sources", "synth", "verilate"]
