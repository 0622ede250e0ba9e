# SPDX-License-Identifier: Apache-2.0
"""Three boards in a ring over lossy wires: packets of all kinds and multicast trees arrive once, where they should."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import sources, verilate

HERE = Path(__file__).parent
MAC = sources.RTL / "sim" / "link" / "gs_mac_model.sv"
# Frames lost and, as many again, damaged: of 2^20.
LOSSES = {"none": 0, "one in a hundred": 5_243, "one in ten": 52_429}


@pytest.mark.parametrize("loss", LOSSES)
def test_every_packet_arrives_once_over_any_number_of_boards(loss: str, size: Size, seed: int) -> None:
    design = sources.blocks("board/network.f", config=configs.load("quad")) + [MAC, HERE / "network_top.sv"]
    simulator = verilate.model(
        "network_top", design, [HERE / "network.cc"], optimise="-Og", include=[HERE.parent / "include"]
    )
    arguments = [seed, size.pick(600, 4_000, 200_000), LOSSES[loss]]
    done = subprocess.run([simulator, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    words = done.stdout.split()
    lost, keyed, copies = int(words[7]), int(words[9]), int(words[11])
    assert keyed > 0 and copies > keyed / 2
    assert (lost > 0) == (LOSSES[loss] > 0)
