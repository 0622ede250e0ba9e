# SPDX-License-Identifier: Apache-2.0
"""Whole boards on an ECP5 (configurations `ecp5-85` and `i9`): cells, and the clock of the board.

A board is the sum of parts, each synthesised alone: the board as a role of the shell, the shell with its MAC, the SDRAM
with the shell's bridge to it, and the MAC of each link. Pins with two edges are flip-flops here, not the device's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gossamer import config as configs
from gossamer.bench import Context, Row
from gossamer.config import Config
from gossamer.hdl import sources, synth

HERE = Path(__file__).parent
GROUPS = ("test", "rtl", "synth")
BLOCK_RAMS = {"ecp5-85": 208, "i9": 108}
"""Of the device."""
_SPEED = {"ecp5-85": 8, "i9": 6}
_MOST_CELLS = {"ecp5-85": 60_000.0, "i9": 36_000.0}
_LEAST_MHZ = {"ecp5-85": 60.0, "i9": 50.0}
_CLOCK = "board_clk_i"
NAMES = tuple(f"board.{name}.{what}" for name in BLOCK_RAMS for what in ("cells", "mhz"))


def _parts(config: Config) -> dict[str, tuple[str, sources.Sources, dict[str, Any], tuple[str, ...]]]:
    """By name: top, files, parameters, further clocks."""

    def files(*lists: str, more: str = "") -> sources.Sources:
        found = sources.blocks(*lists, config=config)
        return found + [HERE / more] if more else found

    role = {"Links": len(config.links.names), "Jobs": 1, "Multicast": 0}
    return {
        "board": ("gs_role_board", files("role/board.f"), role, (_CLOCK,)),
        "shell": (
            "gs_shell_eth", files("shell/shell_eth.f"), {}, ("tx_clk_i", "tx_clk90_i", "rgmii_rxc_i")
        ),
        "memory": (
            "ecp5_memory", files("board/board.f", "memory/axi4_lines.f", "memory/sdram.f", more="ecp5_memory.sv"), {},
            ("shell_clk_i",),
        ),
        "link": (
            "ecp5_link", files("board/crossings.f", "shell/rgmii.f", more="ecp5_link.sv"), {},
            ("mac_clk_i", "tx_clk90_i", "rgmii_rxc_i"),
        ),
    }  # fmt: skip


def cells(name: str) -> dict[str, synth.Ecp5Report]:
    """The parts of a board as packed, not placed. Minutes the first time; kept by content."""
    return {
        part: synth.ecp5(top, files, parameters, seeds=(), mhz=60, clocks=clocks)
        for part, (top, files, parameters, clocks) in _parts(configs.load(name)).items()
    }


def measure(context: Context) -> Iterator[Row]:
    """Cells of each board, and its clock with one seed on an 85F, which holds the board without its shell."""
    for name, speed in _SPEED.items():
        if context.wants(f"board.{name}.cells"):
            found = cells(name)
            number = {part: len(configs.load(name).links.names) if part == "link" else 1 for part in found}
            total = sum(number[part] * its.cells for part, its in found.items())
            yield context.row(
                f"board.{name}.cells",
                float(total),
                "cells",
                most=_MOST_CELLS[name],
                parts={part: its.cells for part, its in found.items()},
                block_rams=sum(number[part] * its.block_rams for part, its in found.items()),
                device_block_rams=BLOCK_RAMS[name],
                ffs=sum(number[part] * its.ffs for part, its in found.items()),
            )
        if context.wants(f"board.{name}.mhz"):
            top, files, parameters, clocks = _parts(configs.load(name))["board"]
            placed = synth.ecp5(top, files, parameters, speed=speed, seeds=(1,), mhz=60, clocks=clocks)
            (rate,) = placed.clock_mhz[_CLOCK]
            yield context.row(
                f"board.{name}.mhz", rate, "MHz", least=_LEAST_MHZ[name], speed_grade=speed, device="LFE5U-85F", seed=1
            )


__all__ = ["NAMES", "measure"]
