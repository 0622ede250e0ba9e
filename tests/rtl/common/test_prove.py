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


def test_proofs_depend_on_the_constants_that_their_design_names() -> None:
    """And on those that these name; an enumeration is named by its members. What is no declaration keeps all of it."""
    package = (
        "package gossamer_pkg; localparam int unsigned Width = 32'd4; localparam int unsigned Depth = Width * 2; "
        "typedef enum logic [1:0] { OpRead = 2'd0, OpWrite = 2'd1 } op_e; "
        'typedef struct packed { op_e op; logic [Width-1:0] data; } item_t; localparam string Name = "x"; '
        "function automatic logic writes(op_e op); return op == OpWrite; endfunction endpackage"
    )

    def used(text: str, of: str = package) -> set[str]:
        found = prove.used_declarations(of, [text])
        return {name for name in ("Width", "Depth", "op_e", "item_t", "Name", "writes(") if name in found}

    assert used("logic [Depth-1:0] x;") == {"Width", "Depth"}
    assert used("if (op == OpRead) y") == {"op_e"}
    assert used("item_t z;") == {"Width", "op_e", "item_t"}
    assert used("writes(a)") == {"op_e", "writes("}
    assert used("nothing of it") == set()
    odd = package.replace("localparam string", "import other_pkg::*; localparam string")
    assert prove.used_declarations(odd, ["nothing of it"]) == odd


def test_design_is_the_files_that_it_names() -> None:
    """Directly or not, packages too, and files that bind to modules; another file decides no proof."""
    texts = {
        "top.sv": "module top import own_pkg::*; middle u_middle(); endmodule",
        "middle.sv": "module middle ( ); leaf #(.N(2)) u_leaf(); endmodule",
        "leaf.sv": "module leaf ( ); endmodule",
        "own_pkg.sv": "package own_pkg; endpackage",
        "other.sv": "module other ( ); leaf u_leaf(); endmodule",
        "other_pkg.sv": "package other_pkg; endpackage",
        "binds.sv": "module watch ( ); endmodule bind leaf watch u_watch();",
        "assert.svh": "`define CHECK(x) x",
    }
    found = prove.named_files("top", {Path(name): text for name, text in texts.items()})
    assert {path.name for path in found} == set(texts) - {"other.sv", "other_pkg.sv"}
