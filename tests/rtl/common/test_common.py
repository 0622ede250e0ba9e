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
RAM_CHECKS = (
    "ram_with_two_simple_ports",
    "ram_with_two_true_ports",
    "ram_of_mixed_width",
    "reads_that_meet_a_write_are_random",
)


@pytest.mark.parametrize("check", CHECKS)
def test_cocotb(check: str, size: Size, seed: int) -> None:
    top = "ram_top" if check in RAM_CHECKS else "common_top"
    verilate.cocotb(
        top,
        sources.blocks() + [HERE / f"{top}.sv"],
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


def test_turns_are_equal_and_bounded(size: Size) -> None:
    """For all inputs in the first cycles after reset."""
    depth = size.pick(10, 14, 22)
    proof = prove.prove("prove_turn", sources.blocks() + [HERE / "prove_turn.sv"], mode="bmc", depth=depth)
    assert proof.passed, f"{proof.reason}; see {proof.log}"


@pytest.mark.parametrize(
    ("depth_log2", "block"),
    [(1, 0), (1, 1), pytest.param(2, 0, marks=pytest.mark.tier("all", seconds=10, adds="a queue of four words"))],
)
def test_proof_of_fifo_between_clocks(depth_log2: int, block: int) -> None:
    """For any edges of both clocks, by induction; four steps for the samples that clk2fflogic takes of both clocks."""
    proof = prove.prove(
        "prove_fifo_async",
        sources.listing(sources.RTL / "common" / "cdc.f") + [HERE / "cdc" / "prove_fifo_async.sv"],
        depth=4,
        parameters={"DepthLog2": depth_log2, "Block": block},
        script=("clk2fflogic",),
        cover_depth=30 if depth_log2 == 1 else 0,
    )
    assert proof.passed, f"{proof.reason}; see {proof.log}"


@pytest.mark.parametrize(
    ("depth_log2", "block", "reset_by_reader"),
    [(1, 0, 0), (3, 0, 1), (4, 1, 0)],
)
def test_items_and_pulses_cross_between_clocks_once_and_in_order(
    depth_log2: int, block: int, reset_by_reader: int, size: Size, seed: int
) -> None:
    design = sources.listing(sources.RTL / "common" / "cdc.f") + [HERE / "cdc_top.sv"]
    verilate.cocotb(
        "cdc_top",
        design,
        "rtl.common.cdc_cocotb",
        parameters={"DepthLog2": depth_log2, "Block": block, "ResetByReader": reset_by_reader},
        environment={"CDC_ITEMS": str(size.pick(100, 1000, 10_000)), "CDC_RESET_BY_READER": str(reset_by_reader)},
        seed=seed,
        scramble=seed,
        looks_at={"gs_fifo_async": ["wptr_q"]},
    )
