# SPDX-License-Identifier: Apache-2.0
"""Reads of multicast records from a board's simulated memory: every reader gets its own response."""

from __future__ import annotations

import subprocess
from pathlib import Path

import models
import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import sources, verilate

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", ["quad", "tiny"])
def test_every_reader_gets_its_record(name: str, size: Size, seed: int) -> None:
    """Also if the reader accepts it late: until then no other read may use its id at the memory."""
    design = sources.blocks("multicast", "tile", config=configs.load(name))
    simulator = verilate.model(
        "records_top",
        design + [sources.RTL / "board" / "gs_board_records.sv", HERE / "records_top.sv"],
        [HERE / "records.cc"],
        optimise="-O1",
        include=[models.INCLUDE],
    )
    reads = size.pick(5_000, 50_000, 1_000_000)
    done = subprocess.run([simulator, str(seed), str(reads)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
