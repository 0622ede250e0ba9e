# SPDX-License-Identifier: Apache-2.0
"""Proof of the arbiter that merges packets at the tile's port, with covers."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer import config as configs
from gossamer.hdl import prove, sources

HERE = Path(__file__).resolve().parent


@pytest.mark.parametrize(("mode", "depth"), [("prove", 3), ("cover", 12)])
def test_packets_of_a_network_are_never_interleaved(mode: str, depth: int) -> None:
    files = sources.blocks(config=configs.load("tiny")) + [
        sources.RTL / "tile" / "gs_packet_arbiter.sv",
        HERE / "prove_packets.sv",
    ]
    proof = prove.prove("prove_packets", files, mode=mode, depth=depth)
    assert proof.passed, f"{proof.reason}; see {proof.log}"
