# SPDX-License-Identifier: Apache-2.0
"""The hardware's tools, each wrapped once: file lists, simulators, synthesis, proofs.

    from gossamer.hdl import prove, sources, synth, verilate
    tile = sources.blocks("tile", config=config.load("tiny"))
    binary = verilate.model("gs_tile", tile, ["driver.cc"])
    synth.ecp5("gs_core", sources.blocks("core", config=...)).cells

``verilate`` needs the group rtl, ``synth`` and ``prove`` need synth; they ask for it themselves.
Everything that is made goes to ``build/``, and is made again only when something that it is made of has changed.
"""

from __future__ import annotations

__all__ = ["prove", "sources", "synth", "verilate"]
