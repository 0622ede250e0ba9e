# SPDX-License-Identifier: Apache-2.0
"""Links of a board on the virtual links of its shell."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import sources, verilate


@pytest.mark.default_cases("8", seconds=8, adds="links of 2 bytes a beat")
@pytest.mark.parametrize("width", [8, 2])
def test_frames_of_links_pass_between_shell_and_board(width: int, size: Size, seed: int) -> None:
    design = sources.blocks("noc/router.f", "board/crossings.f", config=configs.load("tiny"))
    rtl = Path(__file__).resolve().parents[3] / "rtl"
    verilate.cocotb(
        "links_top",
        design + (rtl / "role" / "gs_role_links.sv", Path(__file__).parent / "links_top.sv"),
        "rtl.role.links_cocotb",
        parameters={"Links": 2, "Bytes": width},
        environment={"ROLE_LINKS": "2", "ROLE_BYTES": str(width), "ROLE_COUNT": str(size.pick(100, 200, 1000))},
        seed=seed,
    )
