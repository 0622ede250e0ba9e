# SPDX-License-Identifier: Apache-2.0
"""The match engine in a tile's accelerator slot against plain lists: every packet that it sends, to the bit."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import sources, verilate
from gossamer.paths import ROOT

HERE = Path(__file__).parent


@pytest.mark.parametrize(("receivers", "cam", "entries"), [(16, 4, 64), (5, 2, 8)])
def test_packets(receivers: int, cam: int, entries: int, size: Size, seed: int) -> None:
    """Messages, receives, probes, cancels, counts, clears, wrong packets; stores that fill; both sides that stall."""
    simulator = verilate.model(
        "gs_match_slot",
        sources.blocks("match/slot.f", config=configs.load("tiny")),
        [HERE / "slot.cc", ROOT / "src" / "match" / "reference.cc"],
        parameters={"Receivers": receivers, "CamEntries": cam, "Entries": entries},
        optimise="-O1",
        cxx=[f"-DGS_RECEIVERS={receivers}", f"-DGS_ENTRIES={entries}"],
        include=[HERE.parent / "include", ROOT / "include"],
    )
    packets = size.pick(5_000, 30_000, 2_000_000)
    done = subprocess.run([simulator, str(seed), str(packets)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"seed {seed}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    counts = list(map(int, re.findall(r"(\d+) [a-z]", done.stdout)))
    assert len(counts) == 12 and all(counts), done.stdout
    # From a message's last flit to the first that leaves, its receive in the CAM.
    # In a store that is mostly full a way without a stall is a matter of luck; it is never shorter.
    assert counts[11] == 6 or (counts[11] > 6 and counts[4] > packets // 2), done.stdout
