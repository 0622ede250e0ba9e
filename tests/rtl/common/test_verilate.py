# SPDX-License-Identifier: Apache-2.0
"""Builds of models: all share one build of Verilator's library, and a compile error of a harness is reported."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gossamer import processes
from gossamer.errors import InputError
from gossamer.hdl import verilate
from gossamer.hdl.sources import Sources

DESIGN = """\
module adder #(parameter int unsigned Step = 1) (input logic [7:0] a_i, output logic [7:0] sum_o);
  assign sum_o = a_i + Step[7:0];
endmodule
"""
HARNESS = """\
#include "Vadder.h"
#include <cstdio>

int main() {
    Vadder adder;
    adder.a_i = START;
    adder.eval();
    std::printf("%d\\n", adder.sum_o);
}
"""


def build(folder: Path, harness: str, step: int, *cxx: str) -> Path:
    design = folder / "adder.sv"
    design.write_text(DESIGN)
    (folder / "main.cc").write_text(harness)
    return verilate.model(
        "adder",
        Sources((design,), ()),
        [folder / "main.cc"],
        parameters={"Step": step},
        optimise="-O0",
        cxx=cxx,
        flags=["-Wno-DECLFILENAME"],
    )


def test_models_share_one_library_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each model has its own parameters and flags, and the second one compiles no file of the library."""
    first = build(tmp_path, HARNESS, 3, "-DSTART=250")
    assert subprocess.check_output([first], text=True) == "253\n"
    commands: list[str] = []
    really = processes.run

    def run(command: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[str]:
        commands.append(" ".join(map(str, command)))
        return really(command, **options)

    monkeypatch.setattr(processes, "run", run)
    second = build(tmp_path, HARNESS, 7, "-DSTART=251")
    assert second != first
    assert subprocess.check_output([second], text=True) == "2\n"
    compiled = [re.findall(r" -c (?:\S*/)?(\S+)", command) for command in commands]
    assert sorted(name for names in compiled for name in names) == ["gs_fast_0.cpp", "gs_slow_0.cpp", "main.cc"]
    assert not any("c++-header" in command for command in commands)
    assert not (second.parent / "link.log").read_text()


def test_harness_compile_error_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"building the simulator failed: .*main\.cc.*START"):
        build(tmp_path, HARNESS, 5)
