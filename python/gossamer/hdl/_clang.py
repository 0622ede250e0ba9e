# SPDX-License-Identifier: Apache-2.0
"""Builds fast models: clang, as the `ziglang` package brings it, on Verilator's C++ after its passes (``_generated``).

The package compiles programs for the overlay's threads, so it is there wherever a model is wanted.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gossamer import native
from gossamer.errors import InputError
from gossamer.hdl import _generated, _run

_SELECTIONS = ("x86-cmov-converter=false", "two-entry-phi-node-folding-threshold=20", "phi-node-folding-threshold=8")
"""Options of LLVM: selections stay what they are, and longer branches become some."""
# zig checks for undefined behaviour unless it is told not to, at the link too.
_FLAGS = ("-std=c++20", "-march=native", "-fno-sanitize=undefined", "-w", "-DVERILATOR=1")
_OFF = ("VM_COVERAGE", "VM_SC", "VM_TIMING", "VM_TRACE", "VM_TRACE_FST", "VM_TRACE_SAIF", "VM_TRACE_VCD")
_RUNTIME = ("verilated.cpp", "verilated_dpi.cpp", "verilated_threads.cpp")


def available() -> bool:
    """Whether there is such a compiler, and this is a machine whose options are known."""
    return importlib.util.find_spec("ziglang") is not None and os.uname().machine == "x86_64"


def build(
    folder: Path, model: Path, top: str, harness: Sequence[Path], verilator: Path, flags: Sequence[str], many: bool
) -> None:
    """Builds ``folder/simulator`` from the C++ that Verilator wrote to ``model``. InputError if that fails.

    With ``many`` the model has gs_eval_together, for a harness that drives many instances.
    """
    if not _generated.select(model):
        raise InputError(f"{top}: no branch of Verilator's C++ is as the passes know them")
    hot, cold = model / "gs_hot.cpp", model / "gs_cold.cpp"
    hot.write_text(_includes(_generated.fast(model)) + (_generated.together(model, top) if many else ""))
    cold.write_text(_includes(_generated.slow(model)))
    include = verilator / "include"
    folders = (model, include, include / "vltstd")
    common = [*_FLAGS, *(f"-D{name}=0" for name in _OFF), *(f"-I{path}" for path in folders), *flags]
    selections = [word for option in _SELECTIONS for word in ("-mllvm", f"-{option}")]
    # The longest first. What runs once is not worth a compiler's time; but of its library zig builds one for programs
    # that are optimised at all, and another for those that are not.
    jobs = [(hot, ["-O3", *selections]), (cold, ["-O1"])]
    jobs += [(path, ["-O3"]) for path in (*harness, *(include / name for name in _RUNTIME))]
    log = folder / "build.log"
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda job: _compile(job[0], model, [*common, *job[1]], log), jobs))
    objects = [str(path) for path in done]
    target = str(folder / "simulator")
    if _zig([*objects, "-O3", "-march=native", "-fno-sanitize=undefined", "-o", target], log, folder):
        raise InputError(f"building the simulator failed: {_run.first_error(log)} (all of it in {log})")


def _includes(paths: Sequence[Path]) -> str:
    return "".join(f'#include "{path.name}"\n' for path in paths)


def _compile(source: Path, model: Path, flags: Sequence[str], log: Path) -> Path:
    target = model / f"{source.stem}.o"
    own = log.with_name(f"{source.stem}.log")
    if _zig([*flags, "-c", str(source), "-o", str(target)], own, model):
        raise InputError(f"building the simulator failed: {_run.first_error(own)} (all of it in {own})")
    return target


def _zig(arguments: Sequence[str], log: Path, cwd: Path) -> int:
    cache = str(native.build_dir() / "zig")
    environment = {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
    return _run.run([sys.executable, "-I", "-m", "ziglang", "c++", *arguments], log, cwd, environment)


__all__ = ["available", "build"]
