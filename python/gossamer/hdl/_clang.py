# SPDX-License-Identifier: Apache-2.0
"""Builds fast models: clang, as the `ziglang` package brings it, on Verilator's C++ after its passes (``_generated``).

The package compiles programs for the overlay's threads, so it is installed wherever a model is wanted. It is used with
the headers and the library of this machine's own C++ compiler, which also links: to link, zig first builds its own
C++ library, which takes longer than a whole model.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gossamer import build_cache, builds, native, processes, step_cache
from gossamer.errors import InputError
from gossamer.hdl import _generated, _run

_SELECTIONS = ("x86-cmov-converter=false", "two-entry-phi-node-folding-threshold=20", "phi-node-folding-threshold=8")
"""Options of LLVM: selections stay what they are, and longer branches become some."""
# zig checks for undefined behaviour by default, also when it links.
_FLAGS = ("-std=c++20", "-march=native", "-fno-sanitize=undefined", "-w", "-DVERILATOR=1")
_OFF = ("VM_COVERAGE", "VM_SC", "VM_TIMING", "VM_TRACE", "VM_TRACE_FST", "VM_TRACE_SAIF", "VM_TRACE_VCD")
_RUNTIME = ("verilated.cpp", "verilated_dpi.cpp", "verilated_threads.cpp")


def available() -> bool:
    """Whether the compiler is installed, and its options for this machine are known."""
    return importlib.util.find_spec("ziglang") is not None and os.uname().machine == "x86_64"


def objects(model: Path, top: str, verilator: Path, *, many: bool) -> None:
    """Compiles the C++ that Verilator wrote to a folder, into ``gs_hot.o`` and ``gs_cold.o`` there.

    With ``many`` it gets gs_eval_together, for a harness that drives many instances. InputError if that fails.
    """
    if not _generated.select(model):
        raise InputError(f"{top}: no branch of Verilator's C++ is as the passes know them")
    hot, cold = model / "gs_hot.cpp", model / "gs_cold.cpp"
    hot.write_text(_includes(_generated.fast(model)) + (_generated.together(model, top) if many else ""))
    cold.write_text(_includes(_generated.slow(model)))
    selections = [word for option in _SELECTIONS for word in ("-mllvm", f"-{option}")]
    # Code that runs once does not repay optimization.
    _compile_all([(hot, ["-O3", *selections]), (cold, ["-O0"])], model, _common(verilator, [model]))


def program(
    folder: Path,
    models: Sequence[Path],
    own: Sequence[Path],
    harness: Sequence[Path],
    verilator: Path,
    flags: Sequence[str],
    *,
    exported: str | None = None,
) -> None:
    """Builds ``folder/simulator`` from the ``objects`` of models, the design's ``own`` C++, and the harness. Raises
    InputError if that fails.

    With ``exported`` it is a library that exports this symbol: the compiler's code is independent of its position.
    """
    objects_of_runtime = [f"{Path(name).stem}.o" for name in _RUNTIME]
    runtime = _run.kept(
        "part",
        f"runtime-{_run.version('verilator')}-{_run.version('ziglang')}",
        lambda place: _runtime(place, verilator),
        objects_of_runtime,
    )
    made = _compile_all([(path, ["-O3"]) for path in harness], folder, [*_common(verilator, models), *flags])
    with ThreadPoolExecutor(2) as pool:
        made += pool.map(lambda path: _own(path, verilator), own)
    made += [runtime / name for name in objects_of_runtime]
    made += [model / name for model in models for name in ("gs_hot.o", "gs_cold.o")]
    log = folder / "build.log"
    kind = []
    if exported is not None:
        # Calls within the library then need no table, and no other library can replace their targets.
        script = folder / "exports.map"
        script.write_text(f"{{ global: {exported}; local: *; }};\n", encoding="utf-8")
        kind = ["-shared", f"-Wl,--version-script={script}", "-Wl,-z,defs"]
    command = [*builds.compiler(), *kind, *map(str, made), "-s", "-pthread", "-ldl", "-o", str(folder / "simulator")]
    if _run.run(command, log, folder):
        raise InputError(f"building the simulator failed: {_run.first_error(log)} (all of it in {log})")


def _own(source: Path, verilator: Path) -> Path:
    """Compiles C++ that a design calls."""
    flags = [*_common(verilator, []), f"-I{source.parent}", "-O3"]
    words = [*flags, _run.version("ziglang")]
    return _run.kept_object(source, words, _run.contents(source), lambda folder: _compile(source, folder, flags))


def _runtime(folder: Path, verilator: Path) -> None:
    sources = [verilator / "include" / name for name in _RUNTIME]
    # Models call little of it in each cycle.
    _compile_all([(path, ["-O1"]) for path in sources], folder, _common(verilator, []))


def _common(verilator: Path, models: Sequence[Path]) -> list[str]:
    include = verilator / "include"
    folders = (*models, include, include / "vltstd")
    return [*_FLAGS, *_library_headers(), *(f"-D{name}=0" for name in _OFF), *(f"-I{path}" for path in folders)]


@functools.cache
def _library_headers() -> tuple[str, ...]:
    """Options that select the C++ library of this machine's compiler. InputError if it does not say where that is."""
    done = processes.run([*builds.compiler(), "-E", "-x", "c++", "-v", os.devnull], env={**os.environ, "LC_ALL": "C"})
    listed = re.search(r"#include <\.\.\.> search starts here:\n(.*?)End of search list", done.stderr, re.DOTALL)
    found = [line.strip() for line in listed[1].splitlines()] if listed else []
    found = [os.path.realpath(folder) for folder in found if "c++" in folder]
    if not found:
        raise InputError(f"{builds.compiler()[0]} -v: does not list the headers of its C++ library; use g++ (CXX=g++)")
    return ("-nostdinc++", *(f"-I{folder}" for folder in found))


def _compile_all(jobs: Sequence[tuple[Path, list[str]]], folder: Path, common: Sequence[str]) -> list[Path]:
    """Compiles sources, the longest first, each with its own flags."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda job: _compile(job[0], folder, [*common, *job[1]]), jobs))


def _includes(paths: Sequence[Path]) -> str:
    return "".join(f'#include "{path.name}"\n' for path in paths)


def _compile(source: Path, folder: Path, flags: Sequence[str]) -> Path:
    target, log = folder / f"{source.stem}.o", folder / f"{source.stem}.log"
    if _zig([*flags, *step_cache.neutral_flags(), "-c", str(source), "-o", str(target)], log, folder):
        raise InputError(f"building the simulator failed: {_run.first_error(log)} (all of it in {log})")
    return target


def _zig(arguments: Sequence[str], log: Path, cwd: Path) -> int:
    cache = str(build_cache.zig_folder(native.build_dir() / "zig"))
    environment = {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
    return _run.run([sys.executable, "-I", "-m", "ziglang", "c++", *arguments], log, cwd, environment)


__all__ = ["available", "objects", "program"]
