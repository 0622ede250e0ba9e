# SPDX-License-Identifier: Apache-2.0
"""Parses SMI sources with libclang: kernels, channels, and calls that open channels."""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gossamer_setup
from gossamer import builds, diagnostics, processes
from gossamer.errors import InputError
from gossamer.paths import INCLUDE
from gossamer.smi._compile import COMPAT, CPP_SUFFIXES, OPENCL


@dataclass(frozen=True)
class Parsed:
    """A source without errors."""

    path: Path
    unit: Any

    def own(self, kind: str) -> Iterator[Any]:
        """Cursors of a kind (FUNCTION_DECL, ...) in the file itself."""
        for cursor in self.unit.cursor.walk_preorder():
            file = cursor.location.file
            if cursor.kind.name == kind and file is not None and Path(file.name) == self.path:
                yield cursor


def parse(path: Path, defines: Sequence[str] = (), more: str = "", text: str | None = None) -> Parsed:
    """Parses a source in C, C++ or OpenCL. `more` is appended; `text` replaces the file's content.

    InputError, at the user's line, if it does not parse.
    """
    gossamer_setup.require("smi")
    from clang import cindex

    flags = [f"-I{INCLUDE}", f"-I{COMPAT}", *(f"-D{one}" for one in defines), "-Wno-everything"]
    flags += [f"-isystem{folder}" for folder in _system_headers("c++" if path.suffix in CPP_SUFFIXES else "c")]
    if path.suffix == OPENCL:
        flags += ["-x", "c", "-std=gnu17", "-DGOSSAMER_SMI_PARSE", "-include", str(COMPAT / "opencl.h")]
    elif path.suffix in CPP_SUFFIXES:
        flags += ["-x", "c++", "-std=gnu++20"]
    else:
        flags += ["-x", "c", "-std=gnu17"]
    if text is None:
        text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == OPENCL:
        text = with_calls(text)
    unit = cindex.Index.create().parse(str(path), args=flags, unsaved_files=[(str(path), f"{text}\n{more}")])
    for one in unit.diagnostics:
        if one.severity >= cindex.Diagnostic.Error:
            where = one.location
            file = diagnostics.relative(Path(where.file.name)) if where.file else diagnostics.relative(path)
            raise InputError(f"{file}:{where.line}: {one.spelling}")
    return Parsed(path, unit)


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_LITERAL = re.compile(r"\(\s*((?:u?(?:char|short|int|long)|float|double)(?:2|4|8|16))\s*\)(?=\s*\((?!\s*\{))")


def plain(text: str) -> str:
    """A source in C with comments and string literals replaced by spaces; positions do not change."""
    return _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def with_calls(text: str) -> str:
    """An OpenCL source with calls in place of vector literals, ``(float4)(a, b)``, which a C parser does not accept.

    Positions do not change. Literals outside of functions stay: they are constant, and have scalar elements.
    """
    source = plain(text)
    out, at = [], 0
    for found in _LITERAL.finditer(source):
        if _in_function(source, found.start()):
            out += [text[at : found.start()], f"V_{found[1]}".ljust(len(found[0]))]
            at = found.end()
    return "".join([*out, text[at:]])


def _in_function(source: str, position: int) -> bool:
    """Whether the outermost braces around a position follow a closing parenthesis."""
    depth, body = 0, False
    for found in re.finditer(r"[{}]", source[:position]):
        if found[0] == "{":
            body = source[: found.start()].rstrip()[-1:] == ")" if not depth else body
            depth += 1
        else:
            depth -= 1
    return depth > 0 and body


@functools.cache
def _system_headers(language: str) -> list[str]:
    """The compiler's include folders, because libclang brings no headers."""
    command = [*builds.compiler(), "-E", "-x", language, "-v", "/dev/null"]
    done = processes.run(command)
    lines = done.stderr.splitlines()
    try:
        first = next(at for at, line in enumerate(lines) if line.startswith("#include <"))
        last = lines.index("End of search list.")
    except (StopIteration, ValueError):
        return []
    return [line.strip() for line in lines[first + 1 : last]]


def annotated(cursor: Any, text: str) -> bool:
    """Whether a declaration has the annotation that the OpenCL headers define for a keyword."""
    return any(one.kind.name == "ANNOTATE_ATTR" and one.spelling == text for one in cursor.get_children())


def constant(cursor: Any) -> int | None:
    """The value of a constant integer expression; None for any other."""
    from clang import cindex

    library = cindex.conf.lib
    library.clang_Cursor_Evaluate.restype = ctypes.c_void_p
    library.clang_Cursor_Evaluate.argtypes = [cindex.Cursor]
    library.clang_EvalResult_getKind.argtypes = [ctypes.c_void_p]
    library.clang_EvalResult_getAsInt.argtypes = [ctypes.c_void_p]
    library.clang_EvalResult_dispose.argtypes = [ctypes.c_void_p]
    result = library.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        return int(library.clang_EvalResult_getAsInt(result)) if library.clang_EvalResult_getKind(result) == 1 else None
    finally:
        library.clang_EvalResult_dispose(result)
