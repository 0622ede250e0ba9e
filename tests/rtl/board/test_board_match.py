# SPDX-License-Identifier: Apache-2.0
"""Match engines at the board: two boards without tiles over a lossy link, compared with MPI's rules on lists."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import sources, verilate

HERE = Path(__file__).parent
CONFIG = """base = "tiny-stream"
description = "match engines at the board, and streaming ports"
[match]
list_entries = 256
on_board = {engines}
"""


def run(check: str, count: int, loss: float, seed: int, folder: Path, engines: int = 1) -> None:
    path = folder / f"engines-{engines}.toml"
    path.write_text(CONFIG.format(engines=engines))
    verilate.cocotb(
        "streams_top",
        sources.blocks("board/fabric.f", config=configs.load(path))
        + (sources.SIM / "link" / "gs_mac_model.sv", HERE / "streams_top.sv"),
        "rtl.board.match_cocotb",
        only=check,
        environment={"MATCH_COUNT": str(count), "MATCH_LOSS": str(loss), "MATCH_ENGINES": str(engines)},
        seed=seed,
        scramble=seed,
        optimise="-O0",
    )


def test_random_traffic_of_two_boards_matches_in_mpi_order(size: Size, seed: int, tmp_path: Path) -> None:
    run("random_traffic_of_two_boards_matches_in_mpi_order", size.pick(300, 300, 50_000), 0.02, seed, tmp_path)


@pytest.mark.parametrize(
    "check",
    [
        "faulty_packets_are_dropped_and_name_job_and_rank",
        "engine_is_cleared_by_its_job_and_with_its_job",
        "packets_of_the_next_epoch_wait",
    ],
)
def test_engines_of_jobs_are_isolated(check: str, size: Size, seed: int, tmp_path: Path) -> None:
    run(check, size.pick(200, 200, 20_000), 0.02, seed, tmp_path)


@pytest.mark.tier("all", seconds=60, adds="two engines on each board")
@pytest.mark.parametrize(
    "check",
    [
        "random_traffic_of_two_boards_matches_in_mpi_order",
        "faulty_packets_are_dropped_and_name_job_and_rank",
        "engine_is_cleared_by_its_job_and_with_its_job",
    ],
)
def test_two_engines_of_a_board_match_in_mpi_order(check: str, size: Size, seed: int, tmp_path: Path) -> None:
    run(check, size.pick(200, 400, 20_000), 0.02, seed, tmp_path, engines=2)
