# SPDX-License-Identifier: Apache-2.0
"""The reliable link: cocotb tests of two ends and a faulty wire, and proofs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import prove, sources, verilate

HERE = Path(__file__).resolve().parent
DEPTH = 11
CHECKS = re.findall(r"^@cocotb.test\(\)\nasync def (\w+)", (HERE / "link_cocotb.py").read_text(), re.MULTILINE)
# The shortest frames that can hold the longest packet.
SMALL = {"FrameBytes": 556, "Window": 8, "RxBuffers": 4, "TxWords": 256, "RxFlits": 64, "Flight": 20}


# Two bytes a cycle at 1 Gb/s and 62.5 MHz, with the memories of the configuration ecp5.
NARROW = {
    "Bytes": 2, "BitsPerKilocycle": 16_000, "Window": 4, "RxBuffers": 4, "TxWords": 1024, "RxFlits": 128, "Flight": 60,
}  # fmt: skip
SHAPES: dict[str, dict[str, int]] = {"reference": {}, "small": SMALL, "narrow": NARROW}


def proof_files() -> sources.Sources:
    """The link's files without the top: its large memories are outside the proofs."""
    files = sources.blocks("link", config=configs.load("de5"))
    return sources.Sources(tuple(path for path in files.files if path.stem != "gs_link"), files.include) + sorted(
        HERE.glob("prove_*.sv")
    )


def test_credits_never_overflow() -> None:
    """By induction: no buffer overflows, whatever limits are lost."""
    proof = prove.prove("prove_credit", proof_files(), depth=2, cover_depth=9)
    assert proof.passed, f"{proof.reason}; see {proof.log}"


@pytest.mark.tier("all", seconds=150, adds="credits of a narrow link")
def test_credits_of_a_narrow_link_never_overflow() -> None:
    """By induction, as for a wide link.

    Its counts are in memories, which the solver sees as registers: as arrays no run of it ended.
    """
    proof = prove.prove(
        "prove_narrow_credit",
        proof_files(),
        depth=2,
        cover_depth=30,
        timeout=1800,
        script=["memory_map", "opt -full"],
    )
    assert proof.passed, f"{proof.reason}; see {proof.log}"


def test_waiting_flit_is_hidden_for_at_most_one_cycle() -> None:
    """By induction, for the store of both directions; the link's idle output relies on it."""
    proof = prove.prove("prove_store", proof_files(), depth=2, cover_depth=8)
    assert proof.passed, f"{proof.reason}; see {proof.log}"


@pytest.mark.parametrize("mode", ["bmc", "cover"])
def test_frames_are_delivered_once_and_in_order(mode: str, size: Size) -> None:
    """Exhaustively, the first cycles of two windows of two frames, with any losses and delays."""
    depth = size.pick(9, DEPTH, DEPTH + 5) if mode == "bmc" else 14
    proof = prove.prove(
        "prove_window", proof_files(), mode=mode, depth=depth, cover_depth=0, parameters={"Window": 2}, timeout=1800
    )
    assert proof.passed, f"{proof.reason}; see {proof.log}"


def design() -> sources.Sources:
    return sources.blocks("link", config=configs.load("de5")) + [
        sources.SIM / "link" / "gs_mac_model.sv",
        sources.SIM / "link" / "gs_mac_beats.sv",
        HERE / "link_top.sv",
    ]


@pytest.mark.default_cases(".*-reference", seconds=54, adds="windows and buffers of the least size; two bytes a cycle")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("check", CHECKS)
def test_cocotb(check: str, shape: str, size: Size, seed: int) -> None:
    if shape == "small" and check == "link_that_a_hello_brings_back_is_reported":
        pytest.skip("with the shortest intervals both ends open within the time of a frame")
    if shape == "small" and check == "short_frames_are_not_dropped":
        pytest.skip("its bound is that of the reference link")
    if shape != "reference" and check == "idle_link_latency_is_bounded":
        pytest.skip("its bound is that of the reference link")
    parameters = {"Window": configs.load("de5").links.window_frames, **SHAPES[shape], "Seed": 1}
    verilate.cocotb(
        "link_top",
        design(),
        "rtl.link.link_cocotb",
        parameters=parameters,
        # Inputs change at the falling edge, when a clock gate has already decided.
        defines={"GS_NO_CLOCK_GATES": 1},
        only=check,
        seed=seed,
        scramble=seed,
        environment={
            "LINK_CYCLES": str(size.pick(2500, 6000, 200_000)),
            "LINK_FRAME_BYTES": str(parameters.get("FrameBytes", 1500)),
            "LINK_BUFFER": str(parameters.get("RxFlits", 512)),
            # A narrow link decodes as fast as the line: short frames may find all buffers taken by longer ones.
            "LINK_ALL_BUFFERED": str(
                int(parameters.get("RxBuffers", 16) >= parameters["Window"] and shape != "narrow")
            ),
            "LINK_BYTES": str(parameters.get("Bytes", 8)),
        },
    )
