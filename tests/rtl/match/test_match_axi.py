# SPDX-License-Identifier: Apache-2.0
"""The match engine as an IP: AXI ports, the example in C, its .core file."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from models import match as models

from gossamer import builds
from gossamer import config as configs
from gossamer.hdl import sources, verilate
from gossamer.paths import ROOT

HERE = Path(__file__).parent
EXAMPLE = ROOT / "examples" / "match" / "host.c"


@pytest.mark.parametrize(("architecture", "lists"), [(0, 1), (1, 4)], ids=["ours", "parallel"])
def test_example_streams_and_registers(architecture: int, lists: int, seed: int) -> None:
    simulator = verilate.model(
        "gs_match_axi",
        sources.blocks("match/axi.f", config=configs.load("tiny")),
        [HERE / "axi.cc", models.REFERENCE],
        parameters={"Architecture": architecture, "Lists": lists, "CamEntries": 4, "Entries": 4096},
        optimise="-Og",
        cxx=[f"-DGS_ARCHITECTURE={architecture}"],
        include=[*models.INCLUDE, ROOT / "include", EXAMPLE.parent, EXAMPLE.parents[1]],
    )
    done = subprocess.run([simulator, str(seed)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "a matched probe takes it" in done.stdout


def test_example_compiles_as_c99(tmp_path: Path) -> None:
    program = tmp_path / "match"
    words = ["-x", "c", "-std=c99", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}"]
    subprocess.run([*builds.compiler(), *words, str(EXAMPLE), "-o", str(program)], check=True)
    missing = subprocess.run([program, tmp_path / "nothing"], capture_output=True, text=True, check=False)
    assert missing.returncode == 2
    assert "No such file" in missing.stderr


def test_core_file_lists_the_files_of_the_design() -> None:
    core = ROOT / "ip" / "match.core"
    named = re.findall(r"^\s+- (\S+\.svh?)\b", core.read_text(encoding="utf-8"), re.MULTILINE)
    listed = list(sources.listing(sources.RTL / "match" / "axi.f").files)
    resolved = [(core.parent / name).resolve() for name in named if name != "gossamer_pkg.sv"]
    assert [path for path in resolved if path.suffix == ".sv"] == listed
    assert all(path.exists() for path in resolved)
