# SPDX-License-Identifier: Apache-2.0
"""The barrier's proof: nobody leaves before all have come, and all leave."""

from __future__ import annotations

from pathlib import Path

from conftest import Size

from gossamer import config as configs
from gossamer.hdl import prove, sources

HERE = Path(__file__).resolve().parent


def test_nobody_leaves_before_all_have_come(size: Size) -> None:
    """Three ranks in a row, ports that take as long as they like: every run of so many cycles."""
    design = sources.blocks("stream/barrier.f", config=configs.load("tiny")) + [HERE / "prove_barrier.sv"]
    depth = size.pick(18, 24, 30)
    proof = prove.prove("prove_barrier", design, mode="bmc", depth=depth, cover_depth=36)
    assert proof.passed, f"{proof.reason} ({proof.log})"
