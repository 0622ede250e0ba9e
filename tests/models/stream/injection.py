# SPDX-License-Identifier: Apache-2.0
"""Two boards whose switches share one link, which carries one-element messages (injection.cc)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from gossamer import config as configs
from gossamer.hdl import sources, verilate

from .ring import CONFIG

HERE = Path(__file__).resolve().parent


@cache
def boards() -> Path:
    """The program that sends one-element messages between endpoints of the two boards."""
    design = sources.blocks("stream/transport.f", config=configs.load(CONFIG)) + [HERE / "injection_top.sv"]
    return verilate.model("injection_top", design, [HERE / "injection.cc"], optimise="-O1")


__all__ = ["boards"]
