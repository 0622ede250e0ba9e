# SPDX-License-Identifier: Apache-2.0
"""Which files make which program. A file with a main is a program, named by the file; the others belong to all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gossamer.errors import InputError
from gossamer.smi import _compile

SUFFIXES = (*_compile.C_SUFFIXES, *_compile.CPP_SUFFIXES)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|(\"(?:\\.|[^\"\\\n])*\")", re.DOTALL)
_MAIN = re.compile(r"\bmain\s*\([^;{}]*\)\s*\{")


@dataclass(frozen=True)
class Program:
    """What a rank runs."""

    name: str
    file: Path
    """The user's file that it is named by."""
    binary: Path
    """A shared object with a main."""


def build(files: Sequence[str], defines: Sequence[str] = ()) -> list[Program]:
    """Compiles programs, in the order of their files. InputError, at the user's line, where one is wrong."""
    return [
        Program(
            main.stem,
            main,
            _compile.shared_object(main.stem, [(one, one) for one in (main, *shared)], defines),
        )
        for main, shared in _split(_check(files))
    ]


def _check(files: Sequence[str]) -> list[Path]:
    if not files:
        raise InputError("a run needs a program; give its source files")
    found: list[Path] = []
    for path in map(Path, files):
        if path.is_dir():
            raise InputError(f"{path}: is a folder; give the source files in it")
        if not path.is_file():
            raise InputError(f"{path}: no such file")
        if path.suffix not in SUFFIXES:
            raise InputError(f"{path}: is no program; its name must end in one of {', '.join(SUFFIXES)}")
        if any(path.resolve() == one.resolve() for one in found):
            raise InputError(f"{path}: is given twice; leave it out once")
        found.append(path)
    return found


def _split(files: Sequence[Path]) -> list[tuple[Path, list[Path]]]:
    """Each file with a main, and the files that go with it."""
    mains = [path for path in files if _MAIN.search(_text(path))]
    shared = [path for path in files if path not in mains]
    if not mains:
        raise InputError(f"{files[0]}: has no main, and no other file has; a program starts in main, on each rank")
    names: dict[str, Path] = {}
    for path in mains:
        if path.stem in names:
            raise InputError(f"{path}: is the second program named {path.stem}, after {names[path.stem]}; rename one")
        names[path.stem] = path
    return [(main, shared) for main in mains]


def _text(path: Path) -> str:
    """A source without comments."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    return _COMMENT.sub(lambda found: found[1] or " ", text)
