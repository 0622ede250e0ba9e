# SPDX-License-Identifier: Apache-2.0
"""Groups files into programs. A file with a main is a program, named by the file; so is an OpenCL file on its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.errors import InputError
from gossamer.smi import _compile

if TYPE_CHECKING:
    from gossamer.smi.opencl import Kernel

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
    kernels: tuple[Kernel, ...] = ()
    """The kernels of an OpenCL file that is a program of its own; none for a program with a main."""


@dataclass(frozen=True)
class Group:
    """The files of a program."""

    head: Path
    """The file with the main, or the OpenCL file that is a program of its own."""
    others: tuple[Path, ...]

    @property
    def hosted(self) -> bool:
        """Whether it has a main."""
        return self.head.suffix != OPENCL


def build(files: Sequence[str], defines: Sequence[str] = (), includes: Sequence[str] = ()) -> list[Program]:
    """Compiles programs, in the order of their files. InputError, at the user's line, if one has an error.

    An OpenCL file whose functions no main uses is a program that runs all its kernels. ``includes`` are folders of
    headers.
    """
    _compile.preprocessor_flags(defines, includes)
    programs = []
    for group in grouped(check(files), defines, includes):
        head = group.head
        sources = [(made, one) for one in (head, *group.others) for made in _compiled(one, defines, includes, group)]
        binary = _compile.shared_object(head.stem, sources, defines, includes)
        programs.append(Program(head.stem, head, binary, () if group.hosted else _kernels(head, defines, includes)))
    return programs


def grouped(files: Sequence[Path], defines: Sequence[str] = (), includes: Sequence[str] = ()) -> list[Group]:
    """The files of each program.

    All programs share the sources in C and C++ without a main. An OpenCL file belongs to the main of the same name,
    else to the mains that use one of its functions. Without such a main it is a program of its own.
    """
    mains = [path for path in files if has_main(path)]
    devices = [path for path in files if path.suffix == OPENCL]
    shared = [path for path in files if path not in (*mains, *devices)]
    heads = [*mains, *([] if mains else devices)]
    owners: dict[Path, list[Path]] = {}
    if mains:
        owners = _owners(mains, devices, shared, defines, includes)
        heads += [path for path in devices if not owners[path]]
    if not heads:
        raise InputError(f"{shared[0]}: has no main, and no other file has one; each rank starts in main")
    names: dict[str, Path] = {}
    for path in sorted(heads, key=files.index):
        if path.stem in names:
            raise InputError(f"{path}: is the second program named {path.stem}, after {names[path.stem]}; rename one")
        names[path.stem] = path
    return [
        Group(head, (*shared, *(path for path in devices if head in owners.get(path, [])))) for head in names.values()
    ]


def _owners(
    mains: Sequence[Path],
    devices: Sequence[Path],
    shared: Sequence[Path],
    defines: Sequence[str],
    includes: Sequence[str],
) -> dict[Path, list[Path]]:
    """The mains of each OpenCL file; none for a program of its own."""
    common = {word for path in shared for word in _words(path)}
    words = {path: common | _words(path) for path in mains}
    owners: dict[Path, list[Path]] = {}
    functions: dict[Path, set[str]] = {}
    for path in devices:
        owners[path] = [main for main in mains if main.stem == path.stem]
        if owners[path]:
            continue
        functions[path] = _functions(path, defines, includes)
        owners[path] = [main for main in mains if functions[path] & words[main]]
        if not owners[path] and not _kernels(path, defines, includes):
            owners[path] = list(mains)
    for number, path in enumerate(devices):
        for other in devices[:number]:
            both = functions.get(path, set()) & functions.get(other, set())
            for main in owners[path]:
                if main in owners[other] and (same := sorted(both & words[main])):
                    raise InputError(
                        f"{main}: uses {same[0]}, which {other} and {path} define; give the OpenCL file of a main the "
                        f"main's name: {main.stem}{OPENCL}"
                    )
    return owners


def _words(path: Path) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", _text(path)))


def _functions(path: Path, defines: Sequence[str], includes: Sequence[str]) -> set[str]:
    """The functions of an OpenCL file that other files can call."""
    from gossamer.smi._parse import parse

    found = parse(path, defines, includes).own("FUNCTION_DECL")
    return {one.spelling for one in found if one.is_definition() and one.storage_class.name != "STATIC"}


def _kernels(path: Path, defines: Sequence[str], includes: Sequence[str]) -> tuple[Kernel, ...]:
    from gossamer.smi import opencl

    return opencl.read(path, defines, includes).kernels


def _compiled(path: Path, defines: Sequence[str], includes: Sequence[str], group: Group) -> list[Path]:
    """The files that the compiler reads for a user's file."""
    if path.suffix != OPENCL:
        return [path]
    from gossamer.smi import opencl

    return opencl.translate(path, defines, includes, host=group.hosted)


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
