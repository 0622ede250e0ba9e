# SPDX-License-Identifier: Apache-2.0
"""Vacuous proofs fail: a false assertion, contradicting assumptions, no cover statement."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.hdl import prove, sources

DESIGN = """
`include "gs_assert.svh"
module proof_top (input logic clk_i, input logic rst_ni, input logic [1:0] in_i);
  logic [1:0] sum_q;
  always_ff @(posedge clk_i) sum_q <= rst_ni ? sum_q + in_i : '0;
  {lines}
endmodule
"""
ASSERTION = "`GS_ASSERT_NOW(three_is_never_reached, sum_q != 2'd3)"
COVER = "`GS_COVER_NOW(two_is_reached, sum_q == 2'd2)"
EVEN = "`GS_ASSUME_NOW(all_are_even, !in_i[0])"
NEVER = "`GS_ASSUME_NOW(nothing_is_possible, in_i[0] && !in_i[0])"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ((EVEN, ASSERTION, COVER), None),
        ((ASSERTION, COVER), "three_is_never_reached"),
        ((NEVER, ASSERTION, COVER), "unsatisfiable|two_is_reached"),
        ((EVEN, ASSERTION, COVER.replace("2'd2", "2'd1")), "two_is_reached"),
        ((EVEN, ASSERTION), "no cover statement"),
    ],
    ids=["sound", "false", "impossible", "unreached", "uncovered"],
)
def test_proof_passes_only_if_sound_and_covered(lines: tuple[str, ...], reason: str | None, tmp_path: Path) -> None:
    file = tmp_path / "proof_top.sv"
    file.write_text(DESIGN.replace("{lines}", "\n  ".join(lines)), encoding="utf-8")
    proof = prove.prove("proof_top", sources.blocks() + [file], mode="bmc", depth=6)
    assert proof.passed == (reason is None), proof.reason
    if reason is not None:
        assert any(part in proof.reason for part in reason.split("|")), proof.reason
