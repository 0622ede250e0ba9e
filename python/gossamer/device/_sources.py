# SPDX-License-Identifier: Apache-2.0
"""The input files of a program: sources, objects, folders of sources."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from gossamer.diagnostics import relative
from gossamer.errors import InputError

LANGUAGES: Mapping[str, tuple[str, ...]] = {
    ".c": ("cc", "-std=gnu17"),
    ".S": ("cc",),
    ".cc": ("c++", "-std=gnu++20"),
    ".cpp": ("c++", "-std=gnu++20"),
    ".cxx": ("c++", "-std=gnu++20"),
}
"""The compiler and its language flags for each extension of a source."""
OBJECT = ".o"
SUFFIXES = (*LANGUAGES, OBJECT, ".elf")
"""Extensions of a program's files."""


def collect(given: Sequence[str | os.PathLike[str]]) -> list[Path]:
    """The files of a program. A folder means all sources directly in it, in the order of their names.

    Raises InputError if a file does not exist or is of another kind, or if a folder has no sources.
    """
    files: list[Path] = []
    for path in (Path(os.fspath(one)) for one in given):
        if path.is_dir():
            files += _of_folder(path)
        elif not path.is_file():
            raise InputError(f"{path}: no such file")
        elif path.suffix not in SUFFIXES:
            raise InputError(f"{path}: is not a program; its extension must be one of {', '.join(SUFFIXES)}")
        else:
            files.append(path)
    if not files:
        raise InputError("a program needs at least one source file")
    seen: dict[str, Path] = {}
    for path in files:
        real = os.path.realpath(path)
        if real in seen:
            raise InputError(f"{path}: is listed twice; list it once")
        seen[real] = path
        if path.suffix == OBJECT:
            _check_object(path)
    if len(files) > 1:
        for path in files:
            if path.suffix == ".elf":
                raise InputError(f"{path}: an ELF file is a complete program; give no other files")
    return files


def _of_folder(folder: Path) -> list[Path]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}") from None
    found = [folder / name for name in names if not name.startswith(".")]
    found = [path for path in found if path.suffix in LANGUAGES and path.is_file()]
    if not found:
        raise InputError(
            f"{folder}: has no sources; a folder means the files with the extensions {', '.join(LANGUAGES)} "
            "directly in it"
        )
    return found


def search(folders: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Compiler flags for include folders; InputError if one does not exist."""
    flags = []
    for folder in map(Path, folders):
        if not folder.is_dir():
            raise InputError(f"{folder}: no such include folder (-I)")
        flags.append(f"-I{folder.resolve()}")
    return flags


def _check_object(path: Path) -> None:
    """InputError if an object file cannot be linked into a program of threads."""
    try:
        with open(path, "rb") as file:
            head = file.read(52)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if head[:4] != b"\x7fELF" or len(head) < 52:
        raise InputError(f"{path}: is not an object file, or is corrupt")
    machine, flags = int.from_bytes(head[18:20], "little"), int.from_bytes(head[36:40], "little")
    if (head[4], head[5], machine) != (1, 1, 243):
        raise InputError(f"{path}: is for another architecture; the threads are 32-bit RISC-V (rv32imf)")
    if int.from_bytes(head[16:18], "little") != 1:
        raise InputError(f"{path}: is not an object file; a linked program has the extension .elf")
    if flags & 0x1:
        raise InputError(f"{path}: has compressed instructions, which the core lacks; build for rv32imf")
    if flags & 0x8 or flags & 0x6 != 0x2:
        raise InputError(f"{path}: has a calling convention other than ilp32f; build for rv32imf")


_WARNING = re.compile(r"^(?P<file>[^\s:<].*?):(?P<line>\d+):(?:\d+:)?\s*warning: (?P<text>.*)$")


def warnings(output: str) -> list[tuple[str, int, str]]:
    """File, line and text of each warning in a compiler's output."""
    found = (_WARNING.match(line) for line in output.splitlines())
    return [(os.path.realpath(one["file"]), int(one["line"]), one["text"]) for one in found if one]


def shown(warned: Sequence[tuple[str, int, str]], users: Sequence[Path]) -> tuple[str, ...]:
    """Warnings as lines without duplicates, with file names as the user gave them."""
    names = {os.path.realpath(user): str(user) for user in users}
    lines = (f"{names.get(file) or relative(Path(file))}:{at}: warning: {text}" for file, at, text in warned)
    return tuple(dict.fromkeys(lines))
