# SPDX-License-Identifier: Apache-2.0
"""An accelerator's loads and stores, which bypass the caches, with lines of one beat and of eight."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import sources, verilate

HERE = Path(__file__).parent


@pytest.mark.parametrize("configuration", ["tiny", "ecp5"])
def test_accelerator_accesses_match_model(configuration: str, size: Size, seed: int) -> None:
    config = configs.load(configuration)
    memory = config.memory
    verilate.cocotb(
        "acc_memory_top",
        sources.blocks("tile", config=config) + [HERE / "acc_memory_top.sv"],
        "rtl.tile.acc_memory_cocotb",
        environment={
            "ACC_ACCESSES": str(size.pick(400, 2_000, 50_000)),
            "ACC_LINE_BYTES": str(config.cache.line_bytes),
            "ACC_PORT_BYTES": str(memory.dram.port_bytes),
            "ACC_DRAM_BYTES": str(memory.dram.bytes),
            "ACC_SRAM_BYTES": str(memory.sram.count // memory.dram.count * memory.sram.bytes),
        },
        seed=seed,
        optimise="-O0",
    )
