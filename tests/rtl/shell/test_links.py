# SPDX-License-Identifier: Apache-2.0
"""Virtual links of the shell, between random peers and a random role."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Size

from gossamer.hdl import sources, verilate

HERE = Path(__file__).resolve().parent
CHECKS = re.findall(r"^@cocotb.test\(\)\nasync def (\w+)", (HERE / "links_cocotb.py").read_text(), re.MULTILINE)


@pytest.mark.default_cases(r"4-.*", seconds=20, adds="one and three links")
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("links", [4, 1, 3])
def test_links(links: int, check: str, size: Size, seed: int) -> None:
    verilate.cocotb(
        "links_top",
        sources.blocks("shell") + [HERE / "links_top.sv"],
        "rtl.shell.links_cocotb",
        parameters={"Links": links},
        environment={"LINKS_LINKS": str(links), "LINKS_COUNT": str(size.pick(25, 100, 1000))},
        only=check,
        seed=seed,
        scramble=seed,
    )
