# SPDX-License-Identifier: Apache-2.0
"""Proofs of the tile's port: the arbiter that merges packets, and the request network at releases, with covers."""

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


def test_release_never_blocks_the_request_network() -> None:
    """By induction: a header that arrives in the cycle of a release, or before another job, is dropped and counted."""
    files = sources.blocks("tile/tile.f", config=configs.load("tiny"))
    wanted = {"gs_tile_switch", "gs_packet_arbiter", "gs_skid", "gs_fifo", "gs_arbiter"}
    packages = [path for path in files.files if path.stem.endswith("_pkg") or path.stem in wanted]
    design = sources.Sources(tuple(packages), files.include) + [HERE / "prove_request_network.sv"]
    proof = prove.prove("prove_request_network", design, depth=3, cover_depth=8)
    assert proof.passed, f"{proof.reason}; see {proof.log}"
