# SPDX-License-Identifier: Apache-2.0
"""Groups files into programs. A file with a main is a program, named by the file; all programs share the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gossamer.errors import InputError
from gossamer.smi import _compile

OPENCL = _compile.OPENCL
SUFFIXES = (*_compile.C_SUFFIXES, *_compile.CPP_SUFFIXES, OPENCL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|(\"(?:\\.|[^\"\\\n])*\")", re.DOTALL)
_MAIN = re.compile(r"\bmain\s*\([^;{}]*\)\s*\{")


@dataclass(frozen=True)
class Program:
    """A program of one or more ranks."""

    name: str
    file: Path
    """The user's file with its main; the program has its name."""
    binary: Path
    """The shared object with its main."""


def build(files: Sequence[str], defines: Sequence[str] = ()) -> list[Program]:
    """Compiles programs, in the order of their files. InputError, at the user's line, if one has an error.

    If no source in C or C++ has a main, each OpenCL file is a program that runs all its kernels.
    """
    groups, hosted = grouped(check(files))
    programs = []
    for main, shared in groups:
        sources = [(_c_of(one, defines, hosted or one != main), one) for one in (main, *shared)]
        programs.append(Program(main.stem, main, _compile.shared_object(main.stem, sources, defines)))
    return programs


def grouped(files: Sequence[Path]) -> tuple[list[tuple[Path, list[Path]]], bool]:
    """The files of each program, its main file first; and whether the sources have mains."""
    mains = [path for path in files if has_main(path)]
    devices = [] if mains else [path for path in files if path.suffix == OPENCL]
    return split(mains, devices, [path for path in files if path not in (*mains, *devices)]), bool(mains)


def _c_of(path: Path, defines: Sequence[str], host: bool) -> Path:
    if path.suffix != OPENCL:
        return path
    from gossamer.smi import opencl

    return opencl.to_c(path, defines, host=host)


def check(files: Sequence[str]) -> list[Path]:
    if not files:
        raise InputError("no program; give source files")
    found: list[Path] = []
    for path in map(Path, files):
        if path.is_dir():
            raise InputError(f"{path}: is a folder; give the source files in it")
        if not path.is_file():
            raise InputError(f"{path}: no such file")
        if path.suffix not in SUFFIXES:
            raise InputError(f"{path}: is not a program; its extension must be one of {', '.join(SUFFIXES)}")
        if any(path.resolve() == one.resolve() for one in found):
            raise InputError(f"{path}: is listed twice; list it once")
        found.append(path)
    return found


def split(mains: Sequence[Path], devices: Sequence[Path], shared: Sequence[Path]) -> list[tuple[Path, list[Path]]]:
    """The main file of each program, and the files that it shares with the others."""
    heads = [*mains, *devices]
    if not heads:
        raise InputError(f"{shared[0]}: has no main, and no other file has one; each rank starts in main")
    names: dict[str, Path] = {}
    for path in heads:
        if path.stem in names:
            raise InputError(f"{path}: is the second program named {path.stem}, after {names[path.stem]}; rename one")
        names[path.stem] = path
    return [(head, list(shared)) for head in heads]


def has_main(path: Path) -> bool:
    """Whether a source defines main."""
    return path.suffix != OPENCL and _MAIN.search(_text(path)) is not None


def _text(path: Path) -> str:
    """A source without comments."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    return _COMMENT.sub(lambda found: found[1] or " ", text)
