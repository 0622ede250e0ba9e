# SPDX-License-Identifier: Apache-2.0
"""Streaming ports: cocotb tests of two endpoints at a switch, and proofs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import sources, verilate

HERE = Path(__file__).resolve().parent
CHECKS = re.findall(r"^@cocotb.test\(\)\nasync def (\w+)", (HERE / "stream_cocotb.py").read_text(), re.MULTILINE)
# A kernel's beat, buffers: as wide as a flit, as an element, and the least that there may be.
SHAPES = {
    "float": {"PortBits": 1, "Bytes": 4, "Send": 64, "Depth": 64, "Packet": 32},
    "flit": {"PortBits": 1, "Bytes": 16, "Send": 64, "Depth": 128, "Packet": 32},
    "least": {"PortBits": 1, "Bytes": 1, "Send": 8, "Depth": 4, "Packet": 3},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("check", CHECKS)
def test_cocotb(check: str, shape: str, size: Size, seed: int) -> None:
    about = SHAPES[shape]
    if shape == "least" and check == "an_element_a_cycle":
        pytest.skip("four flits of credits do not cover the way there and back")
    verilate.cocotb(
        "pair_top",
        sources.blocks("switch", "stream", config=configs.load("tiny")) + [HERE / "pair_top.sv"],
        "rtl.stream.stream_cocotb",
        parameters=about,
        only=check,
        seed=seed,
        scramble=seed,
        environment={
            "STREAM_MESSAGES": str(size.pick(20, 60, 3000)),
            "STREAM_PORTS": str(2 << about["PortBits"]),
            "STREAM_BYTES": str(about["Bytes"]),
            "STREAM_DEPTH": str(about["Depth"]),
            "STREAM_PACKET": str(about["Packet"]),
        },
    )
