# SPDX-License-Identifier: Apache-2.0
"""Each block of the Ethernet shell alone: receiver, tags, hasher, transmitter, memory, packets, guard of the image."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Size

from gossamer.hdl import sources, verilate

HERE = Path(__file__).resolve().parent
CHECKS = re.findall(r"^@cocotb.test\(\)\nasync def (\w+)", (HERE / "blocks_cocotb.py").read_text(), re.MULTILINE)


def run(check: str | None, count: int, seed: int) -> None:
    verilate.cocotb(
        "blocks_top",
        sources.blocks("shell") + [HERE / "blocks_top.sv"],
        "rtl.shell.blocks_cocotb",
        only=check,
        seed=seed,
        scramble=seed,
        environment={"BLOCKS_COUNT": str(count)},
    )


def test_blocks_of_the_shell(seed: int) -> None:
    """All checks in one simulation, with few cases."""
    run(None, 1, seed)


@pytest.mark.tier("all", seconds=120, adds="all lengths, and many more random cases of each check")
@pytest.mark.parametrize("check", CHECKS)
def test_block_at_length(check: str, size: Size, seed: int) -> None:
    run(check, size.pick(4, 4, 20), seed)
