# SPDX-License-Identifier: Apache-2.0
"""Proof of the barrier: no rank is released before all have arrived, and all are released."""

from __future__ import annotations

from pathlib import Path

from conftest import Size

from gossamer import config as configs
from gossamer.hdl import prove, sources

HERE = Path(__file__).resolve().parent


def test_no_rank_is_released_before_all_arrive(size: Size) -> None:
    """Three ranks in a row, ports with arbitrary delays: every run of `depth` cycles."""
    design = sources.blocks("stream/barrier.f", config=configs.load("tiny")) + [HERE / "prove_barrier.sv"]
    depth = size.pick(18, 24, 30)
    proof = prove.prove("prove_barrier", design, mode="bmc", depth=depth, cover_depth=36)
    assert proof.passed, f"{proof.reason} ({proof.log})"
