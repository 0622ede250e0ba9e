# SPDX-License-Identifier: Apache-2.0
"""The DMA engine: two tiles that write each other's memory, byte for byte against a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import sources, verilate

HERE = Path(__file__).parent


CASES = [
    "random_moves",
    "one_at_a_time",
    "memory_of_another_job",
    "another_job_begins",
    "refusals_of_a_host",
    "a_long_move_is_fast",
]


@pytest.mark.parametrize("only", CASES)
def test_two_tiles(only: str, size: Size, seed: int) -> None:
    verilate.cocotb(
        "dma_top",
        sources.blocks("tile/tile.f", config=configs.load("tiny-match")) + [HERE / "dma_top.sv"],
        "rtl.dma.dma_cocotb",
        environment={"MOVE_SEED": str(seed), "MOVE_COUNT": str(size.pick(60, 200, 5000))},
        seed=seed,
        only=only,
    )
