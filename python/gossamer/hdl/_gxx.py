# SPDX-License-Identifier: Apache-2.0
"""Builds models with this machine's C++ compiler, from Verilator's C++, Verilator's library and the harness.

Verilator's makefile compiles the library and two precompiled headers for each model, which takes longer than most
models do. Here one object of each part of the library, and one precompiled header for each level of optimisation,
serve all models.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from gossamer import builds, step_cache
from gossamer.errors import InputError
from gossamer.hdl import _run

_FLAGS = ("-std=c++20", "-fcoroutines", "-march=native", "-DVERILATOR=1")
_OPTIONS = ("VM_TRACE", "VM_TRACE_FST", "VM_TRACE_SAIF", "VM_TRACE_VCD")
"""Macros that Verilator's makefile defines and Verilator's C++ requires."""
_LIBRARY_LEVEL = "-O2"
_SLOW_LEVEL = "-O0"
"""Flags for code that runs once in a model."""
_UNIT = 300_000
"""The least number of bytes of Verilator's C++ in one compilation. It is at least the size of the model's headers,
because every compilation reads them again."""
_HEADER = '#include "verilated.h"\n#include "verilated_dpi.h"\n'


@dataclass(frozen=True)
class _Model:
    """Verilator's description of a folder that it wrote."""

    folder: Path
    options: tuple[str, ...]
    """Macros, as options of a compiler."""
    fast: tuple[str, ...]
    slow: tuple[str, ...]
    library: tuple[str, ...]
    """Names of files of Verilator's library, without their ending."""
    waves: bool


def program(
    target: Path,
    models: Sequence[Path],
    own_sources: Sequence[Path],
    harness: Sequence[Path],
    verilator: Path,
    optimise: str,
    flags: Sequence[str] = (),
    libraries: Sequence[str] = (),
    *,
    shared: bool = False,
) -> None:
    """Builds a program from models that Verilator has written to these folders, C++ that the design calls
    (``own_sources``), and the harness.

    ``optimise`` is the compiler's level for models and harness, ``flags`` are further ones for the same,
    ``libraries`` options of the link. ``shared``: a library, not an executable. InputError if that fails.
    """
    known = [_read(folder) for folder in models]
    options = sorted({option for model in known for option in model.options})
    include = verilator / "include"
    common = [*_FLAGS, *(["-fPIC"] if shared else []), *options, f"-I{include}", f"-I{include / 'vltstd'}"]
    library = list(dict.fromkeys(name for model in known for name in model.library))
    fast, slow = (_header(level, common) for level in (optimise, _SLOW_LEVEL))
    own = [*common, *(f"-I{model.folder}" for model in known), *flags]
    jobs: list[tuple[Path, Path, list[str]]] = []
    for model in known:
        for name, files, level, header in (
            ("gs_fast", model.fast, optimise, fast),
            ("gs_slow", model.slow, _SLOW_LEVEL, slow),
        ):
            for unit in _units(model.folder, name, files):
                jobs.append((unit, model.folder, [level, *header, *own]))
    for at, path in enumerate(harness):
        place = target.parent / f"harness-{at}"
        place.mkdir()
        jobs.append((path, place, [optimise, *fast, *own]))
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda job: _compile(*job), jobs))
        made += pool.map(lambda path: _own(path, [optimise, *common, f"-I{path.parent}"]), own_sources)
    made += [_library(include / f"{name}.cpp", common) for name in library]
    waves = ["-llz4", "-lz"] if any(model.waves for model in known) else []
    kind = ["-shared"] if shared else []
    words = [*builds.compiler(), *kind, "-o", target, *made, *libraries, *waves, "-pthread"]
    _do([str(word) for word in words], target.parent / "link.log", target.parent)


def _read(folder: Path) -> _Model:
    """The model that the list of classes next to the makefile describes."""
    (path,) = folder.glob("V*_classes.mk")
    text = path.read_text().replace("\\\n", " ")
    said = {name: value.split() for name, value in re.findall(r"^(\w+) \+?=(.*)$", text, re.MULTILINE)}
    options = tuple(f"-D{name}={''.join(said.get(name, [])) or 0}" for name in _OPTIONS)
    names = [[f"{one}.cpp" for kind in ("CLASSES", "SUPPORT") for one in said[f"VM_{kind}_{speed}"]]
             for speed in ("FAST", "SLOW")]  # fmt: skip
    library = (*said["VM_GLOBAL_FAST"], *said["VM_GLOBAL_SLOW"])
    return _Model(folder, options, tuple(names[0]), tuple(names[1]), library, said["VM_TRACE_FST"] == ["1"])


def _units(folder: Path, name: str, files: Sequence[str]) -> list[Path]:
    """Files that each include several others, which are compiled together."""
    least = max(_UNIT, *(path.stat().st_size for path in folder.glob("V*.h")))
    units: list[list[str]] = []
    room = 0
    for file in files:
        if room <= 0:
            units.append([])
            room = least
        units[-1].append(f'#include "{file}"\n')
        room -= (folder / file).stat().st_size
    paths = [folder / f"{name}_{at}.cpp" for at in range(len(units))]
    for path, unit in zip(paths, units, strict=True):
        path.write_text("".join(unit))
    return paths


def _header(level: str, common: Sequence[str]) -> list[str]:
    """Options by which a compilation of this level has Verilator's headers precompiled."""

    def make(folder: Path) -> None:
        (folder / "gs_verilated.h").write_text(_HEADER)
        command = [*builds.compiler(), *common, level, "-x", "c++-header", "-o", "gs_verilated.h.gch"]
        _do([*command, "gs_verilated.h"], folder / "build.log", folder)

    key = builds.tag(_run.version("verilator"), level, _HEADER, *map(_run.neutral, common))
    return ["-include", str(_run.kept("runtime", f"header-{key}", make) / "gs_verilated.h")]


def _library(source: Path, common: Sequence[str]) -> Path:
    """A part of Verilator's library; it depends only on Verilator's version."""
    flags = [_LIBRARY_LEVEL, *common]
    return _run.kept_object(source, flags, "", lambda folder: _compile(source, folder, flags))


def _own(source: Path, flags: Sequence[str]) -> Path:
    """Compiles C++ that a design calls."""
    return _run.kept_object(source, flags, _run.contents(source), lambda folder: _compile(source, folder, flags))


def _compile(source: Path, folder: Path, flags: Sequence[str]) -> Path:
    target = folder / f"{source.stem}.o"
    command = [*builds.compiler(), *flags, *step_cache.neutral_flags(), "-c", str(source), "-o", str(target)]
    _do(command, folder / f"{source.stem}.log", folder)
    return target


def _do(command: Sequence[str], log: Path, folder: Path) -> None:
    if _run.run(command, log, folder):
        raise InputError(f"building the simulator failed: {_run.first_error(log)} (all of it in {log})")


__all__ = ["program"]
