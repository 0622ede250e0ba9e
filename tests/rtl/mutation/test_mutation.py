# SPDX-License-Identifier: Apache-2.0
"""Mutation testing of a small design whose tests are known to be weak."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer.errors import InputError
from gossamer.hdl import _mutants, mutate, prove, sources, verilate
from gossamer.hdl._mutants import Mutation, Plan

DESIGN = """
/// Counts events, and says when there are many: `many_o` is what the test looks at, `odd_o` what it forgets.
module tiny (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       event_i,
  output logic       many_o,
  output logic [1:0] odd_o[2]
);
  logic [2:0] count_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) count_q <= '0;
    else count_q <= count_q + 3'(event_i);
  end
  assign many_o   = count_q >= 3'd5;
  assign odd_o[0] = {1'b0, ^count_q};
  assign odd_o[1] = 2'd2;
endmodule
"""
HARNESS = """
#include "Vtiny.h"
int main(int argc, char** argv) {
  Vtiny top;
  const bool hang = argc > 1;
  int events = 0;
  for (int cycle = 0; cycle < 100; cycle++) {
    top.clk_i = 0, top.rst_ni = cycle > 2, top.event_i = cycle % 3 == 0 && cycle > 2;
    top.eval();
    if (cycle > 2 && top.many_o != (events % 8 >= 5)) {
      if (!hang) return 1;
      for (;;) top.eval();
    }
    if (top.odd_o[1] != 2) return 2;
    events += top.event_i;
    top.clk_i = 1;
    top.eval();
  }
  return 0;
}
"""
TESTS = """
import subprocess
from pathlib import Path
from gossamer.hdl import prove, sources, verilate

HERE = Path(__file__).parent
DESIGN = sources.blocks() + [HERE / "tiny.sv"]

def test_of_something_else():
    assert not (HERE / "tiny.sv").samefile(__file__)

def test_that_looks_inside():
    verilate.model("tiny", DESIGN, [HERE / "harness.cc"], optimise="-O0")
    assert any("count_q <=" in path.read_text() for path in DESIGN.files if path.name == "netlist.v")

def test_many():
    simulator = verilate.model("tiny", DESIGN, [HERE / "harness.cc"], optimise="-O0")
    subprocess.run([simulator, *ARGUMENTS], check=True, stdin=subprocess.DEVNULL)
"""
PROOF = """
def test_proof():
    assert prove.prove("tiny_proof", DESIGN + [HERE / "tiny_proof.sv"], mode="bmc", depth=14)
"""
PROOF_DESIGN = """
`include "gs_assert.svh"
module tiny_proof (input logic clk_i, input logic rst_ni, input logic event_i);
  logic many;
  logic [1:0] odd[2];
  tiny u_tiny (.clk_i, .rst_ni, .event_i, .many_o(many), .odd_o(odd));
  `GS_ASSERT_NOW(odd_is_odd, odd[0][0] == ^u_tiny.count_q)
  `GS_COVER_NOW(it_is_odd, odd[0][0])
endmodule
"""

NEVER = """
/// Counts to 5 and begins again: 6 is never reached.
module tiny (
  input  logic clk_i,
  input  logic rst_ni,
  output logic over_o
);
  logic [2:0] count_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || count_q == 3'd5) count_q <= '0;
    else count_q <= count_q + 3'd1;
  end
  assign over_o = count_q == 3'd6;
endmodule
"""
NEVER_PROOF = """
`include "gs_assert.svh"
module tiny_proof (input logic clk_i, input logic rst_ni);
  logic over;
  tiny u_tiny (.clk_i, .rst_ni, .over_o(over));
  `GS_ASSERT_NOW(it_is_never_over, !over)
  `GS_COVER_NOW(it_counts, u_tiny.count_q == 3'd3)
endmodule
"""
NEVER_TESTS = """
from pathlib import Path
from gossamer.hdl import prove, sources, verilate

HERE = Path(__file__).parent
DESIGN = sources.blocks() + [HERE / "tiny.sv"]

def test_it_is_built():
    verilate.model("tiny", DESIGN, [HERE / "harness.cc"], optimise="-O0")

def test_proof():
    proof = prove.prove("tiny_proof", DESIGN + [HERE / "tiny_proof.sv"], depth=2)
    assert proof, proof.reason
"""

BOXED = """
// SPDX-License-Identifier: Apache-2.0
/// Stays as it is, next to a netlist.
module boxed #(
  parameter  int unsigned Items = 4,
  localparam int unsigned Width = $clog2(Items)
) (
  input  logic             clk_i,
  output logic [Width-1:0] count_o
);
  always_ff @(posedge clk_i) count_o <= count_o + 1'b1;
endmodule

/// Becomes a netlist.
module around (
  input  logic       clk_i,
  output logic [3:0] sum_o
);
  logic [2:0] count;
  boxed #(.Items(8)) u_boxed (.clk_i, .count_o(count));
  assign sum_o = {1'b0, count} + 4'd5;
endmodule
"""

PLACED = """
// SPDX-License-Identifier: Apache-2.0
/// Writes a byte somewhere in a vector.
module placed (
  input  logic [31:0] old_i,
  input  logic [31:0] lane_i,
  input  logic [7:0]  byte_i,
  output logic [31:0] new_o
);
  always_comb begin
    new_o = old_i;
    new_o[8*lane_i+:8] = byte_i;
  end
endmodule
"""
PLACED_HARNESS = """
#include "Vplaced_netlist.h"
int main() {
  Vplaced_netlist top;
  for (unsigned lane = 0; lane < 4; lane++) {
    top.old_i = 0x12345678, top.lane_i = lane, top.byte_i = 0xab;
    top.eval();
    if (top.new_o != ((0x12345678U & ~(0xffU << 8 * lane)) | 0xabU << 8 * lane)) return 1;
  }
  return 0;
}
"""


@pytest.fixture
def target(tmp_path: Path) -> Callable[..., mutate.Target]:
    def make(proof: bool = False, arguments: str = "[]") -> mutate.Target:
        spdx = "// SPDX-License-Identifier: Apache-2.0\n"
        (tmp_path / "tiny.sv").write_text(spdx + textwrap.dedent(DESIGN))
        (tmp_path / "tiny_proof.sv").write_text(spdx + PROOF_DESIGN)
        (tmp_path / "harness.cc").write_text(HARNESS)
        tests = TESTS + (PROOF if proof else "") + f"\nARGUMENTS = {arguments}\n"
        (tmp_path / "test_tiny.py").write_text(tests)
        return mutate.Target("tiny", (tmp_path / "tiny.sv",), tmp_path)

    return make


@pytest.mark.tier("all", seconds=41, adds="mutants that weak and strong tests detect, with a proof")
def test_undetected_mutants_escape_and_proofs_detect_them(target: Callable[..., mutate.Target]) -> None:
    lines: list[str] = []
    weak = mutate.run(target(), 12, seed=3, known=(), tell=lines.append, sizes=("default",))
    assert len(weak.verdicts) == 12
    odd = {verdict.number for verdict in weak.verdicts if verdict.mutation.signal == "odd_o"}
    escaped = {verdict.number for verdict in weak.escaped}
    assert odd and escaped >= odd
    caught = [verdict for verdict in weak.verdicts if verdict.caught]
    assert {verdict.mutation.signal for verdict in caught} >= {"count_q", "many_o"}
    assert all("test_many" in verdict.caught for verdict in caught)
    assert weak.share == pytest.approx(len(caught) / len(weak.verdicts)) and weak.share < 0.95
    assert any("[1/" in line for line in lines)
    # A test that fails without a mutant is excluded, which is reported.
    assert weak.left_out == ["test_that_looks_inside"]

    # The same mutants with a proof of what the test forgets, and one argued: they no longer escape.
    known = [
        mutate.Equivalent(verdict.mutation.file, verdict.mutation.signal, verdict.mutation.text, "not looked at")
        for verdict in weak.escaped
        if verdict.mutation.signal != "odd_o"
    ]
    strong = mutate.run(target(proof=True), 12, seed=3, known=known, sizes=("default",))
    assert [verdict.mutation for verdict in strong.verdicts] == [verdict.mutation for verdict in weak.verdicts]
    by_proof = {verdict.number for verdict in strong.verdicts if "test_proof" in verdict.caught}
    assert by_proof & odd and strong.share > weak.share
    assert all(verdict.mutation.signal == "odd_o" for verdict in strong.escaped)


@pytest.mark.tier("all", seconds=35, adds="proofs that the solver does not decide")
def test_undecided_proof_detects_no_mutant(tmp_path: Path) -> None:
    """An induction that fails from an unreachable state detects no mutant; a reachable fault does."""
    spdx = "// SPDX-License-Identifier: Apache-2.0\n"
    (tmp_path / "tiny.sv").write_text(spdx + NEVER)
    (tmp_path / "tiny_proof.sv").write_text(spdx + NEVER_PROOF)
    (tmp_path / "harness.cc").write_text('#include "Vtiny.h"\nint main() {}\n')
    (tmp_path / "test_tiny.py").write_text(NEVER_TESTS)
    # A passed proof is cached, but is still run for mutants.
    files = (tmp_path / "tiny.sv", tmp_path / "tiny_proof.sv")
    assert prove.prove("tiny_proof", sources.blocks() + files, depth=2)
    report = mutate.run(mutate.Target("tiny", files[:1], tmp_path), 6, seed=1, known=(), sizes=("default",))
    undecided = {verdict.number for verdict in report.verdicts if verdict.undecided}
    caught = {verdict.number for verdict in report.verdicts if verdict.caught}
    assert undecided and caught and not undecided & caught
    assert undecided <= {verdict.number for verdict in report.escaped}
    assert all(verdict.undecided == ["test_proof"] for verdict in report.verdicts if verdict.undecided)


def test_black_box_instances_name_only_its_parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cores are black boxes in the tile's netlist: their instances name no local parameter."""
    monkeypatch.setattr(_mutants, "_BOXES", {"around": ("boxed",)})
    # File by file, as a box is found by its name.
    boxed, around = (part + "endmodule\n" for part in BOXED.strip().split("endmodule")[:2])
    files = (tmp_path / "boxed.sv", tmp_path / "around.sv")
    for file, text in zip(files, (boxed, around), strict=True):
        file.write_text(text)
    design = sources.Sources(files, ())
    folder = tmp_path / "netlist"
    folder.mkdir()
    _mutants._netlist(folder, "around", "around", design, None, None, Plan((str(files[1]),), 1, 1))
    made = sources.Sources((files[0], folder / "netlist.v"), ())
    assert ".Items(32'd8)" in (folder / "netlist.v").read_text()
    output = verilate.lint("around_netlist", made)
    assert "%Error" not in output, output


def test_netlist_supports_writes_to_parts_of_vectors(tmp_path: Path) -> None:
    (tmp_path / "placed.sv").write_text(PLACED)
    (tmp_path / "harness.cc").write_text(PLACED_HARNESS)
    folder = tmp_path / "netlist"
    folder.mkdir()
    design = sources.Sources((tmp_path / "placed.sv",), ())
    _mutants._netlist(folder, "placed", "placed", design, None, None, Plan((str(tmp_path / "placed.sv"),), 1, 1))
    made = sources.Sources((folder / "netlist.v",), ())
    flags = _mutants.VERILATOR_FLAGS
    simulator = verilate.model("placed_netlist", made, [tmp_path / "harness.cc"], flags=flags, optimise="-O0")
    subprocess.run([simulator], check=True)


@pytest.mark.parametrize("ram", ["gs_ram_sdp", "gs_ram_tdp"])
def test_netlist_supports_memories_with_undefined_reads(ram: str, tmp_path: Path) -> None:
    """Simulators draw undefined words at random, which Yosys cannot: without this no block with a RAM has mutants."""
    design = sources.blocks()
    file = sources.RTL / "common" / f"{ram}.sv"
    folder = tmp_path / "netlist"
    folder.mkdir()
    _mutants._netlist(folder, ram, ram, design, None, None, Plan((str(file),), 1, 1))
    assert ram in (folder / "netlist.v").read_text()


def test_every_block_with_tests_can_be_mutated() -> None:
    folders = {path.name for path in (mutate.ROOT / "tests" / "rtl").iterdir() if any(path.glob("test_*.py"))}
    blocks = {path.name for path in sources.RTL.iterdir() if any(path.glob("*.sv"))}
    assert set(mutate.BLOCKS) >= (folders & blocks) - {"dma", "stream_kernels"}


def test_hang_is_detected(target: Callable[..., mutate.Target], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutate, "_GRACE_SECONDS", 3.0)
    report = mutate.run(target(arguments='["hang"]'), 4, seed=3, known=(), sizes=("default",))
    assert any(verdict.caught.endswith("(it hangs)") for verdict in report.verdicts)


def test_no_descendant_of_a_killed_run_survives() -> None:
    """A simulator leads a session of its own, and would run for ever."""
    sleeper = (
        "import subprocess, time; print(subprocess.Popen(['sleep', '600'], start_new_session=True).pid, flush=True)"
    )
    child = subprocess.Popen([sys.executable, "-c", f"{sleeper}; time.sleep(600)"], stdout=subprocess.PIPE,
                             start_new_session=True)  # fmt: skip
    assert child.stdout is not None
    with child.stdout:
        sleeps = int(child.stdout.readline())
    assert {child.pid, sleeps} <= set(mutate._family(child.pid))
    handle = os.pidfd_open(sleeps)
    mutate._kill(child)
    ended = select.select([handle], [], [], 20.0)[0]
    os.close(handle)
    assert ended


def test_each_test_has_its_own_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is that of the running test, in any order of tests."""
    outcomes = tmp_path / "outcomes"
    watch = mutate._Watch(0, outcomes, {"b": 3.0, "a": 5.0})
    collected, began = "", '{"test": "a", "outcome": "began"}\n'
    ended = began + '{"test": "a", "outcome": "passed"}\n'
    second = ended + '{"test": "b", "outcome": "began"}\n'
    for used, written, hung in (
        (4.0, collected, ""),
        (4.9, began, ""),
        (9.8, began, ""),
        (9.8, ended, ""),
        (9.9, second, ""),
        (12.8, second, ""),
        (13.0, second, "b"),
    ):
        monkeypatch.setattr(mutate, "_family", lambda _, used=used: {1: used - 1.0, 2: 1.0})
        # The line that is being written is incomplete.
        outcomes.write_text(written + '{"test": "b"')
        assert watch.hung() == hung, (used, written)


def test_tests_run_in_the_given_order(tmp_path: Path) -> None:
    """Pytest would group tests with the same parameter, which would assign wrong times."""
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "@pytest.fixture(scope='module', params=['x', 'y'])\n"
        "def where(request):\n    return request.param\n"
        "def test_a(where):\n    pass\n"
        "def test_b(where):\n    pass\n"
    )
    named = [f"test_it.py::{name}" for name in ("test_b[y]", "test_a[x]", "test_a[y]", "test_b[x]")]
    outcomes = tmp_path / "outcomes"
    command = [sys.executable, "-I", "-m", "pytest", "-q", "-p", "gossamer.hdl._outcomes", "-c", os.devnull]
    command += ["-o", f"cache_dir={tmp_path}/cache", "--rootdir", str(tmp_path), *named]
    subprocess.run(command, cwd=tmp_path, env={**os.environ, _mutants.OUTCOMES: str(outcomes)}, check=True)
    lines = [json.loads(line) for line in outcomes.read_text().splitlines()]
    assert [(line["test"], line["outcome"]) for line in lines] == [
        (name, outcome) for name in named for outcome in ("began", "passed")
    ]


def test_block_lookup_does_not_need_the_test_group() -> None:
    """The tests of a block are found before pytest is installed."""
    look = "import sys; sys.modules['pytest'] = None; from gossamer.hdl import mutate; mutate.block('tile')"
    done = subprocess.run([sys.executable, "-I", "-c", look], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_tests_that_fail_without_a_mutant_are_reported(target: Callable[..., mutate.Target]) -> None:
    broken = target(arguments="None")
    with pytest.raises(InputError, match="tests fail without a mutant"):
        mutate.run(broken, 4, known=(), sizes=("default",))


def test_tile_mutants_are_tested_by_the_control_units_tests() -> None:
    target = mutate.block("tile")
    assert [path.name for path in (target.tests, *target.more_tests)] == ["tile", "control"]
    assert all(any(path.glob("test_*.py")) for path in (target.tests, *target.more_tests))


def test_equivalents_refer_to_existing_source_text() -> None:
    """Each entry names text of the source, so a change of the source requires a new argument."""
    for entry in mutate.equivalents():
        text = " ".join((mutate.ROOT / entry.file).read_text(encoding="utf-8").split())
        assert entry.text in text, f"{entry.file} no longer has {entry.text!r}"
        assert entry.signal in text and len(entry.why) > 20


def test_equivalent_covers_only_its_own_mutation() -> None:
    mutation = Mutation("rtl/common/gs_arbiter.sv", "1.1-1.4", "$mux", "x_q", "A", 3, "const1", 0)
    entry = mutate.Equivalent(mutation.file, "x_q", mutation.text, "because")
    assert entry.covers(mutation) and mutation.fault == "bit 3 of mux.A stuck at 1"
    assert not mutate.Equivalent(mutation.file, "y_q", mutation.text, "because").covers(mutation)
    assert not mutate.Equivalent(mutation.file, "x_q", "other text", "because").covers(mutation)
    assert not mutate.Equivalent(mutation.file, "x_q", mutation.text, "because", ("stuck at 0",)).covers(mutation)
