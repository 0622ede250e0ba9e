# SPDX-License-Identifier: Apache-2.0
"""Blocks of a board around its tiles, and small units of its control."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import sources, verilate


def test_board_control_units_match_models(size: Size, seed: int) -> None:
    """Events and answers for the host, the inbox of idle detection, the colour and kind of a host's messages."""
    verilate.cocotb(
        "units_top",
        sources.blocks("board/fabric.f", config=configs.load("tiny")) + (Path(__file__).parent / "units_top.sv",),
        "rtl.board.units_cocotb",
        environment={"UNITS_CYCLES": str(size.pick(3_000, 10_000, 200_000))},
        seed=seed,
    )


def test_events_of_one_cycle_are_all_counted(size: Size, seed: int) -> None:
    """Counters of a link, of a router, of drops by tiles, and of a control unit, with several events in a cycle."""
    verilate.cocotb(
        "events_top",
        sources.blocks("board/fabric.f", config=configs.load("tiny")) + (Path(__file__).parent / "events_top.sv",),
        "rtl.board.events_cocotb",
        environment={"EVENTS_CYCLES": str(size.pick(1_000, 2_000, 200_000))},
        seed=seed,
        optimise="-O0",
    )


@pytest.mark.parametrize(
    "config",
    [
        pytest.param("tiny", marks=pytest.mark.tier("all", seconds=15, adds="a board of one tile")),
        "quad",
        pytest.param("de5", marks=pytest.mark.tier("all", seconds=25, adds="a board of sixteen tiles")),
    ],
)
def test_debug_buses_in_packets_match_a_model(config: str, size: Size, seed: int) -> None:
    """Order, credits, windows, a tile that accepts nothing, a flood of text."""
    loaded = configs.load(config)
    verilate.cocotb(
        "debug_top",
        sources.blocks("board/fabric.f", config=loaded) + (Path(__file__).parent / "debug_top.sv",),
        "rtl.board.debug_cocotb",
        environment={
            "DEBUG_TILES": str(loaded.mesh.width * loaded.mesh.height),
            "DEBUG_CYCLES": str(size.pick(4_000, 10_000, 200_000)),
        },
        seed=seed,
        optimise="-O0",
    )


@pytest.mark.parametrize(
    "width", [8, pytest.param(2, marks=pytest.mark.tier("all", seconds=15, adds="links of two bytes"))]
)
def test_crossings_around_a_board_keep_order(width: int, size: Size, seed: int) -> None:
    """Message streams of the shell as flits of the host port, and a link's beats as bytes of its MAC."""
    verilate.cocotb(
        "crossings_top",
        sources.blocks("noc/router.f", "board/crossings.f", config=configs.load("tiny"))
        + (Path(__file__).parent / "crossings_top.sv",),
        "rtl.board.crossings_cocotb",
        parameters={"Bytes": width},
        environment={"CROSSING_FLITS": str(size.pick(200, 1_000, 10_000)), "CROSSING_BYTES": str(width)},
        seed=seed,
        scramble=seed,
        looks_at={"gs_fifo_async": ["wptr_q"]},
        optimise="-O0",
    )
