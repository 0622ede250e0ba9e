# SPDX-License-Identifier: Apache-2.0
"""Three boards in a ring over lossy wires: all packets and multicast trees arrive once, at their destinations."""

from __future__ import annotations

import subprocess
from pathlib import Path

import models
import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import sources, verilate

HERE = Path(__file__).parent
MAC = sources.SIM / "link" / "gs_mac_model.sv"
# Probability that a frame is lost, and that one is damaged, in units of 2^-20.
LOSSES = {"none": 0, "one in a hundred": 5_243, "one in ten": 52_429}


def _run(*arguments: object, awake: bool = False) -> list[str]:
    """Output of the harness for three boards; ``awake``: built without clock gates."""
    design = sources.blocks("board/network.f", config=configs.load("quad")) + [MAC, HERE / "network_top.sv"]
    simulator = verilate.model(
        "network_top",
        design,
        [HERE / "network.cc"],
        optimise="-Og",
        include=[models.INCLUDE],
        defines={"GS_NO_CLOCK_GATES": 1} if awake else {},
    )
    done = subprocess.run([simulator, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout.split()


@pytest.mark.tier("all", seconds=66, adds="board networks without uncores; test_fabric has the same network with them")
@pytest.mark.parametrize("loss", LOSSES)
def test_every_packet_arrives_once_across_boards(loss: str, size: Size, seed: int) -> None:
    words = _run(seed, size.pick(600, 4_000, 200_000), LOSSES[loss])
    lost, keyed, copies = int(words[7]), int(words[9]), int(words[11])
    assert keyed > 0 and copies > keyed / 2
    assert (lost > 0) == (LOSSES[loss] > 0)


@pytest.mark.tier("all", seconds=61, adds="a second model of the network, without clock gates")
def test_clock_gates_do_not_change_flits_or_cycles(size: Size, seed: int) -> None:
    """The same flits in the same cycles with clock gates and without, while parts of the boards are idle."""
    arguments = seed, size.pick(200, 1_000, 20_000), LOSSES["one in a hundred"], "sparse"
    assert _run(*arguments) == _run(*arguments, awake=True)
