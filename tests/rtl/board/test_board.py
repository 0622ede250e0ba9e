# SPDX-License-Identifier: Apache-2.0
"""What a board has around its tiles."""

from __future__ import annotations

import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import sources, verilate


@pytest.mark.parametrize("tiles", [1, 2, 5, 16])
def test_idle_of_a_board(tiles: int, size: Size, seed: int) -> None:
    cycles = size.pick(6_000, 20_000, 200_000)
    verilate.cocotb(
        "gs_board_idle",
        sources.blocks("board/board.f", config=configs.load("tiny")),
        "rtl.board.board_cocotb",
        parameters={"Tiles": tiles},
        environment={"BOARD_TILES": str(tiles), "BOARD_CYCLES": str(cycles)},
        seed=seed,
    )
