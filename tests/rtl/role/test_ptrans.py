# SPDX-License-Identifier: Apache-2.0
"""The PTRANS role in hardware against cocotbext-axi's memory and NumPy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import Size
from shell.shell_cluster import Cluster, mac

from gossamer import config as configs
from gossamer.hdl import sources, verilate
from gossamer.shell import ptrans

TOP = Path(__file__).parent / "ptrans_top.sv"


@pytest.mark.default_cases("8", seconds=30, adds="tiles of 32 by 32 words")
@pytest.mark.parametrize("tile", [8, 32])
def test_ptrans_role_computes_sums_with_the_transpose(tile: int, size: Size, seed: int, tmp_path: Path) -> None:
    """The native role has the cycles of the hardware with the same tiles."""
    file = tmp_path / "cycles.json"
    verilate.cocotb(
        "ptrans_top",
        sources.blocks("role", config=configs.load("tiny")) + (TOP,),
        "rtl.role.ptrans_cocotb",
        parameters={"Tile": tile},
        environment={"PTRANS_TILE": str(tile), "PTRANS_STOPS": str(size.pick(10, 300 // tile, 4000 // tile)),
                     "PTRANS_CYCLES": str(file)},
        seed=seed,
    )  # fmt: skip
    if tile != ptrans.TILE:
        return
    cluster = Cluster(tmp_path)
    try:
        cluster.start_switch()
        cluster.start_board(1)
        with cluster.host(1) as host:
            host.discover()
            host.open(mac(1))
            host.configure([mac(1)], ptrans.role())
            for number, (rows, columns, repeat, cycles) in enumerate(json.loads(file.read_text()), 1):
                draw = np.random.default_rng(seed)
                a, b = draw.random((columns, rows), np.float32), draw.random((rows, columns), np.float32)
                native = ptrans.run(host, [mac(1)], a, b, repeat=repeat, number=number)
                assert abs(native.cycles[0] - cycles) <= 8, (rows, columns, repeat)
    finally:
        cluster.end()
