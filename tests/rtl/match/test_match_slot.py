# SPDX-License-Identifier: Apache-2.0
"""The match engine in a tile's accelerator slot: every packet is compared with the reference model, to the bit."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from conftest import Size
from models import match as models

from gossamer import config as configs
from gossamer.hdl import sources, verilate

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    ("receivers", "cam", "entries", "window"), [(16, 4, 64, 4), (5, 2, 8, 1)], ids=["16-threads", "5-threads"]
)
def test_random_packets_match_reference(
    receivers: int, cam: int, entries: int, window: int, size: Size, seed: int
) -> None:
    """Messages, receives, probes, cancels, counts, clears, invalid packets; stores that fill; both sides that stall.

    Packets are always accepted, whatever the output side does, and a thread that takes nothing does not block others.
    """
    simulator = verilate.model(
        "gs_match_slot",
        sources.blocks("match/slot.f", config=configs.load("tiny")),
        [HERE / "slot.cc", HERE / "slot_bench.cc", models.REFERENCE],
        parameters={"Receivers": receivers, "CamEntries": cam, "Entries": entries, "Window": window},
        optimise="-Og",
        cxx=[f"-DGS_RECEIVERS={receivers}", f"-DGS_ENTRIES={entries}", f"-DGS_WINDOW={window}"],
        include=models.INCLUDE,
    )
    packets = size.pick(30_000, 30_000, 2_000_000)
    done = subprocess.run([simulator, str(seed), str(packets)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"seed {seed}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    kinds, cycles = done.stdout.splitlines()
    counts = list(map(int, re.findall(r"(\d+) [a-z]", kinds)))
    assert len(counts) == 16 and all(counts), done.stdout
    # From a message's last flit to its first outgoing flit, with its receive in the CAM. With a mostly full store a
    # path without a stall is rare; the latency is never smaller.
    least = int(cycles.split()[0])
    assert least == 6 or (least > 6 and counts[4] > packets // 2), done.stdout
