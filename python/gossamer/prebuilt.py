# SPDX-License-Identifier: Apache-2.0
"""The library and the applications that a wheel brings compiled, for several levels of x86-64 processors.

An installed wheel has a folder ``gossamer/compiled/LEVEL`` for each level of `LEVELS`, with ``libgossamer.so`` and a
shared object for each bundled application. The highest level whose instructions this processor has is loaded;
``GOSSAMER_CPU=LEVEL`` selects another. A checkout, and a package that pip has made from the source archive, have no
such folder and compile for this processor.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path

from gossamer import paths
from gossamer.errors import InputError

FOLDER = paths.PYTHON / "gossamer" / "compiled"
LIBRARY = "libgossamer.so"
LEVELS: dict[str, tuple[str, ...]] = {
    "x86-64": (),
    "x86-64-v3": (
        *("sse4_1", "sse4_2", "ssse3", "popcnt", "cx16", "xsave"),
        *("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"),
    ),
    "x86-64-v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
}
"""Levels of the x86-64 psABI that are built, the lowest first, each with the flags of /proc/cpuinfo that it requires in
addition to those of the lower ones. The compiler knows them as values of -march."""
VARIABLE = "GOSSAMER_CPU"
_SETTLING = (("PAGERANK_SETTLING",), ("PAGERANK_SETTLING", "PAGERANK_PERSONAL"))
_FOR_BOARDS = (("GOSSAMER_NARROW_SUMS",),)
VARIANTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "pagerank64": _SETTLING,
    "pagerank-weighted": _SETTLING,
    **dict.fromkeys(("pagerank", "pagerank-gals", "heat", "heat-gals"), _FOR_BOARDS),
}
"""Macros with which bundled applications are compiled besides none: the NetworkX backend loads the first two, engines
for boards the others."""


def supported(flags: Sequence[str]) -> list[str]:
    """The levels that a processor with these flags of /proc/cpuinfo can execute, the lowest first."""
    there = set(flags)
    found: list[str] = []
    for level, needs in LEVELS.items():
        if not there.issuperset(needs):
            break
        found.append(level)
    return found


def cpu_flags(text: str) -> list[str]:
    """The flags of the first processor in the text of /proc/cpuinfo. The kernel omits those that it does not enable."""
    for line in text.splitlines():
        name, _, flags = line.partition(":")
        if name.strip() == "flags":
            return flags.split()
    return []


@functools.cache
def level() -> str:
    """The level that this process loads. Raises InputError if ``GOSSAMER_CPU`` names one that cannot be loaded."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        text = ""
    able = supported(cpu_flags(text))
    wanted = os.environ.get(VARIABLE, "")
    if not wanted:
        built = [name for name in able if (FOLDER / name).is_dir()]
        if not built:
            raise InputError(f"{FOLDER}: has no build for this processor; install the package again")
        return built[-1]
    if wanted not in LEVELS:
        raise InputError(f"{VARIABLE}={wanted}: no such level; choose one of {', '.join(LEVELS)}, or unset it")
    if wanted not in able:
        raise InputError(f"{VARIABLE}={wanted}: this processor lacks its instructions; choose one of {', '.join(able)}")
    if not (FOLDER / wanted).is_dir():
        raise InputError(f"{VARIABLE}={wanted}: this package has no build for it; unset it")
    return wanted


def _file(name: str) -> Path | None:
    if not FOLDER.is_dir():
        return None
    path = FOLDER / level() / name
    return path if path.is_file() else None


def library() -> Path | None:
    """The compiled library; None if there is none and it must be compiled."""
    return _file(LIBRARY)


def application(header: Path, defines: Sequence[str]) -> Path | None:
    """The compiled application of a bundled header with these macros; None if it must be compiled."""
    if not header.is_relative_to(paths.APPS):
        return None
    return _file(object_name(header.stem, defines))


def object_name(name: str, defines: Sequence[str]) -> str:
    """The name of the shared object of an application with macros, ``NAME=VALUE`` or ``NAME``."""
    return "+".join((name, *defines)) + ".so"


__all__ = [
    "FOLDER",
    "LEVELS",
    "LIBRARY",
    "VARIABLE",
    "VARIANTS",
    "application",
    "cpu_flags",
    "level",
    "library",
    "object_name",
    "supported",
]
