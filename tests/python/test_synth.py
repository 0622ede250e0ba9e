# SPDX-License-Identifier: Apache-2.0
"""Results of synthesis are stored by content: sources that change meanwhile invalidate none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import gossamer_setup
from gossamer import native
from gossamer.errors import InputError
from gossamer.hdl import _run, _yosys, synth
from gossamer.hdl.sources import Sources

PATH = "Info: Critical path report for clock 'clk':\nInfo: 4.1 ns from a to b\n"


class Tools:
    """Stand-ins for Yosys and nextpnr; the source changes while the tool ``between`` runs."""

    def __init__(self, source: Path) -> None:
        self.source, self.between, self.routes = source, "", 0

    def change(self, when: str) -> None:
        if when == self.between:
            self.source.write_text(self.source.read_text() + "// changed\n")

    def stage(self, sources: Sources, folder: Path) -> tuple[list[str], list[str]]:
        found = stage(sources, folder)
        self.change("stage")
        return found

    def yosys(self, folder: Path, script: str, log: str) -> int:
        (folder / "design.il").write_text("\nmodule \\top\n  wire input 1 \\clk_i\n  wire output 2 \\b_o\nend\n")
        (folder / "netlist.json").write_text('{"modules": {}}')
        (folder / "stat.json").write_text(json.dumps({"design": {"num_cells_by_type": {"LUT6": 7}}}))
        self.change("yosys")
        return 0

    def nextpnr(self, command: Sequence[object], log: Path, cwd: Path, env: object = None) -> int:
        self.routes += 1
        used = {kind: {"used": 9} for kind in ("TRELLIS_COMB", "TRELLIS_FF", "DP16KD", "MULT18X18D")}
        (cwd / "report.json").write_text(json.dumps({"utilization": used, "fmax": {"clk": {"achieved": 99.0}}}))
        (cwd / "nextpnr.log").write_text(PATH + "Info: Max frequency\n")
        self.change("nextpnr")
        return 0


stage = _yosys.stage


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tools:
    source = tmp_path / "top.sv"
    source.write_text("module top(input clk_i, output b_o); endmodule\n")
    made = Tools(source)
    monkeypatch.setattr(native, "build_dir", lambda: tmp_path / "build")
    monkeypatch.setattr(gossamer_setup, "require", lambda *_: None)
    monkeypatch.setattr(_run, "tool", lambda name: name)
    monkeypatch.setattr(_run, "version", lambda _: "1")
    monkeypatch.setattr(_run, "run", made.nextpnr)
    monkeypatch.setattr(_yosys, "stage", made.stage)
    monkeypatch.setattr(_yosys, "yosys", made.yosys)
    return made


def complete(folder: Path) -> list[list[str]]:
    """The contents of each folder that is marked as complete."""
    return [sorted(path.name for path in mark.parent.iterdir()) for mark in sorted(folder.rglob("complete"))]


@pytest.mark.parametrize("when", ["yosys", "nextpnr"])
def test_sources_changed_during_synthesis_leave_no_empty_folder(tools: Tools, tmp_path: Path, when: str) -> None:
    """The path is that of the design as it was read, and its results are found again."""
    before, tools.between = tools.source.read_text(), when
    files = Sources((tools.source,), ())
    assert synth.critical_path("top", files).startswith("Info: Critical path report")
    assert all(len(names) > 1 for names in complete(tmp_path / "build"))
    tools.between = ""
    tools.source.write_text(before)
    assert synth.ecp5("top", files, seeds=(1,)).mhz == (99.0,) and tools.routes == 1


@pytest.mark.parametrize("family", ["ecp5", "xc7"])
def test_sources_changed_while_being_read_are_rejected(tools: Tools, tmp_path: Path, family: str) -> None:
    tools.between = "stage"
    files = Sources((tools.source,), ())
    with pytest.raises(InputError, match="changed while they were read"):
        if family == "ecp5":
            synth.ecp5("top", files, seeds=(1,))
        else:
            synth.luts("top", files, family)
    assert complete(tmp_path / "build") == []
    tools.between = ""
    if family == "ecp5":
        assert synth.ecp5("top", files, seeds=(1,)).cells == 9
    else:
        assert synth.luts("top", files, family).luts == 7


def test_short_sums_use_luts_and_unused_carries_are_cut(tmp_path: Path) -> None:
    """A sum of 12 bits uses six cells of two bits, one of 6 bits none; the chain has no output after its last bit."""
    source = tmp_path / "sums.sv"
    source.write_text(
        "module sums(\n"
        "  input logic clk_i, input logic [11:0] a_i, output logic [11:0] long_o, output logic [5:0] short_o);\n"
        "  always_ff @(posedge clk_i) long_o <= long_o + a_i;\n"
        "  always_ff @(posedge clk_i) short_o <= short_o + a_i[5:0];\n"
        "endmodule\n"
    )
    _, folder = synth._design("sums", Sources((source,), ()), None, None, ())
    cells = json.loads((folder / "netlist.json").read_text())["modules"]["gs_frame"]["cells"].values()
    chain = [cell["connections"] for cell in cells if cell["type"] == "CCU2C"]
    assert len(chain) == 6
    carries = [cell["COUT"] for cell in chain]
    assert sum(carry == ["x"] for carry in carries) == 1
    assert all(carry == ["x"] or carry in [cell["CIN"] for cell in chain] for carry in carries)
    # nextpnr accepts it: the chain's input costs two cells, the constants one each, and there is no output.
    report = synth.ecp5("sums", Sources((source,), ()), seeds=(1,))
    luts = sum(cell["type"] == "LUT4" for cell in cells)
    assert report.cells == luts + 2 * len(chain) + 2 + 2, (report, luts)
    # Without a seed nothing is placed, and the utilization is equal.
    assert synth.ecp5("sums", Sources((source,), ()), seeds=()) == replace(report, mhz=(), clock_mhz={"clk_i": ()})
