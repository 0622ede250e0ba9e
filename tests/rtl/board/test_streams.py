# SPDX-License-Identifier: Apache-2.0
"""Streaming ports of boards: two boards without tiles over a lossy link, configured in band."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.config import Config
from gossamer.hdl import sources, verilate

HERE = Path(__file__).parent
BLOCKS = """base = "tiny-stream"
description = "a block of collectives"
[stream]
ranks = 16
blocks = 1
block_edges = 2
block_kinds = 0b1010_0110
block_types = 0b0001_1000
element_beats = true
"""


def run(check: str, count: int, loss: float, seed: int, config: Config | None = None) -> None:
    files = sources.blocks("board/fabric.f", config=config or configs.load("tiny-stream"))
    verilate.cocotb(
        "streams_top",
        files + (sources.SIM / "link" / "gs_mac_model.sv", HERE / "streams_top.sv"),
        "rtl.board.streams_cocotb",
        only=check,
        environment={"STREAMS_COUNT": str(count), "STREAMS_LOSS": str(loss)},
        seed=seed,
        scramble=seed,
        optimise="-O0",
    )


def test_registers_belong_to_jobs(size: Size, seed: int) -> None:
    run("registers_belong_to_jobs", size.pick(5, 12, 1_000), 0.0, seed)


def test_registers_of_blocks_belong_to_jobs(size: Size, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "blocks.toml"
    path.write_text(BLOCKS)
    run("registers_of_blocks_belong_to_jobs", size.pick(8, 20, 1_000), 0.0, seed, configs.load(path))


def test_streams_tiles_and_hosts_share_a_lossy_link(size: Size, seed: int) -> None:
    run("streams_tiles_and_hosts_share_a_lossy_link", size.pick(3, 4, 500), 0.02, seed)


@pytest.mark.tier("all", seconds=100, adds="the switch with one datapath, and links that lose no frame")
@pytest.mark.parametrize("loss", [0.0, 0.02])
def test_shared_datapath_carries_streams_tiles_and_hosts(loss: float, size: Size, seed: int, tmp_path: Path) -> None:
    shared = tmp_path / "shared.toml"
    shared.write_text('base = "tiny-stream"\ndescription = "one datapath"\n[switch]\ndatapath = "shared"\n')
    run("streams_tiles_and_hosts_share_a_lossy_link", size.pick(3, 4, 500), loss, seed, configs.load(shared))


@pytest.mark.parametrize(
    "check",
    [
        "receiver_that_does_not_read_stops_only_its_stream",
        "wrong_packets_are_dropped_and_name_job_and_port",
        "kernels_reach_only_streaming_ports_of_their_job",
        "faults_are_reported_in_band",
    ],
)
def test_streaming_ports_of_jobs_are_isolated(check: str, size: Size, seed: int) -> None:
    run(check, size.pick(3, 4, 200), 0.02, seed)
