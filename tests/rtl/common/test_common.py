# SPDX-License-Identifier: Apache-2.0
"""The blocks of rtl/common: cocotb tests against models, and formal proofs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Size

from gossamer.hdl import prove, sources, verilate

HERE = Path(__file__).resolve().parent
CHECKS = re.findall(r"^@cocotb.test\(\)\nasync def (\w+)", (HERE / "common_cocotb.py").read_text(), re.MULTILINE)


@pytest.mark.parametrize("check", CHECKS)
def test_cocotb(check: str, size: Size, seed: int) -> None:
    verilate.cocotb(
        "common_top",
        sources.blocks() + [HERE / "common_top.sv"],
        "rtl.common.common_cocotb",
        only=check,
        seed=seed,
        optimise="-O0",
        environment={"CHECKS_CYCLES": str(size.pick(400, 2000, 50_000))},
    )


@pytest.mark.parametrize(("top", "depth"), [("prove_queues", 4), ("prove_arbiters", 3), ("prove_memories", 4)])
def test_proof(top: str, depth: int) -> None:
    """Proofs by induction; each top has several blocks in it, with several parameters."""
    proof = prove.prove(top, sources.blocks() + sorted(HERE.glob("prove_*.sv")), depth=depth)
    assert proof.passed, f"{proof.reason}; see {proof.log}"


@pytest.mark.parametrize("depth_log2", [1, 3])
def test_items_and_pulses_cross_between_clocks_once_and_in_order(depth_log2: int, seed: int) -> None:
    design = sources.listing(sources.RTL / "common" / "cdc.f") + [HERE / "cdc_top.sv"]
    parameters = {"DepthLog2": depth_log2}
    verilate.cocotb("cdc_top", design, "rtl.common.cdc_cocotb", parameters=parameters, seed=seed)
