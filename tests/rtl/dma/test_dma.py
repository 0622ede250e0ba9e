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
    "random_transfers_match_model",
    "second_request_of_a_thread_is_rejected",
    "tile_of_another_job_rejects_transfer",
    "transfers_do_not_write_memory_of_a_new_job",
    "host_rejections_are_reported_to_the_host",
    "long_transfer_cycles_are_bounded",
]


@pytest.mark.parametrize("only", CASES)
def test_dma_transfers_between_two_tiles(only: str, size: Size, seed: int) -> None:
    verilate.cocotb(
        "dma_top",
        sources.blocks("tile/tile.f", config=configs.load("tiny-match")) + [HERE / "dma_top.sv"],
        "rtl.dma.dma_cocotb",
        environment={"MOVE_SEED": str(seed), "MOVE_COUNT": str(size.pick(60, 200, 5000))},
        seed=seed,
        only=only,
    )
