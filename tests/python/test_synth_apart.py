# SPDX-License-Identifier: Apache-2.0
"""Modules that are synthesised separately: equality of modules, and the total with the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gossamer_setup
from gossamer import native
from gossamer.hdl import _apart, _run, _yosys, synth
from gossamer.hdl.sources import Sources

BOX = """attribute \\src "box.sv:1.1"
module \\box$top.{name}
  wire width 4 input 1 \\a_i
  wire $procmux${number}_Y
  cell \\ram$top.{name}.u_ram \\u_ram
  end
end

"""
RAM = """module \\ram$top.{name}.u_ram
  parameter \\WIDTH {width}
end

"""


def box(name: str, number: int, width: int = 4) -> str:
    return BOX.format(name=name, number=number) + RAM.format(name=name, width=width)


def top(*boxes: str) -> str:
    return "\nmodule \\top\n  wire input 1 \\clk_i\nend\n\n" + "".join(boxes)


def test_equal_modules_are_found_at_any_position() -> None:
    (part,) = _apart.parts(top(box("u_a[0].u_box", 11), box("u_a[1].u_box", 345)), ["box"])
    assert part.names == ("box$top.u_a[0].u_box", "box$top.u_a[1].u_box")


def test_modules_with_different_submodules_are_not_equal() -> None:
    found = _apart.parts(top(box("u_a", 1), box("u_b", 2, width=5), box("u_c", 3)), ["box"])
    assert [part.names for part in found] == [("box$top.u_a", "box$top.u_c"), ("box$top.u_b",)]


def test_missing_module_is_named() -> None:
    with pytest.raises(ValueError, match="no module crate"):
        _apart.parts(top(box("u_a", 1)), ["box", "crate"])


def test_area_counts_each_instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two instances of one kind and one of another: each kind is synthesised once, and the rest."""
    asked = []

    def yosys(folder: Path, script: str, log: str) -> int:
        (folder / "design.il").write_text(top(box("u_a", 1), box("u_b", 2, width=5), box("u_c", 3)))
        cells = {"LUT6": 7, "box$top.u_a": 1}
        if "hierarchy -top box$top.u_a" in script:
            cells = {"LUT6": 100, "FDRE": 3}
        elif "hierarchy -top box$top.u_b" in script:
            cells = {"LUT5": 1000}
        elif "stat" in script:
            assert "blackbox box$*" in script
        asked.append(script)
        (folder / "stat.json").write_text(json.dumps({"design": {"num_cells_by_type": cells}}))
        return 0

    monkeypatch.setattr(native, "build_dir", lambda: tmp_path / "build")
    monkeypatch.setattr(gossamer_setup, "require", lambda *groups: None)
    monkeypatch.setattr(_run, "version", lambda package: "1")
    monkeypatch.setattr(_yosys, "yosys", yosys)
    source = tmp_path / "top.sv"
    source.write_text("module top(input clk_i); endmodule\n")
    design = Sources((source,), ())
    report = synth.luts("top", design, "xc7", apart=("box",))
    assert (report.luts, report.ffs) == (7 + 2 * 100 + 1000, 2 * 3)
    # Yosys runs once to read, once for the rest and once for each kind. Repeated calls reuse all results.
    assert len(asked) == 4
    synth.luts("top", design, "xc7", apart=("box",))
    assert len(asked) == 4
    synth.luts("top", design, "xc7", {"Depth": 8}, apart=("box",))
    assert len(asked) == 6
