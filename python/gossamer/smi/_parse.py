# SPDX-License-Identifier: Apache-2.0
"""Parses SMI sources with libclang: kernels, channels, and calls that open channels."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gossamer_setup
from gossamer import diagnostics
from gossamer.errors import InputError
from gossamer.paths import INCLUDE
from gossamer.smi._compile import COMPAT, CPP_SUFFIXES, OPENCL, OPENCL_FLAGS, preprocessor_flags, system_headers


@dataclass(frozen=True)
class Parsed:
    """A source without errors."""

    path: Path
    unit: Any
    text: str
    """What the parser read; in OpenCL with `__generic` before array parameters."""

    def own(self, kind: str) -> Iterator[Any]:
        """Cursors of a kind (FUNCTION_DECL, ...) in the file itself."""
        for cursor in self.unit.cursor.walk_preorder():
            file = cursor.location.file
            if cursor.kind.name == kind and file is not None and Path(file.name) == self.path:
                yield cursor


def parse(path: Path, defines: Sequence[str] = (), includes: Sequence[str] = (), more: str = "") -> Parsed:
    """Parses a source in C, C++ or OpenCL, with `more` appended.

    InputError, at the user's line, if it does not parse.
    """
    gossamer_setup.require("smi")
    from clang import cindex

    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise InputError(f"{path}: the name is not UTF-8, which the parser needs; rename the file") from None
    flags = [f"-I{INCLUDE}", f"-I{COMPAT}", *preprocessor_flags(defines, includes), "-Wno-everything"]
    if path.suffix == OPENCL:
        flags += [*OPENCL_FLAGS, "-DGOSSAMER_SMI_PARSE"]
    elif path.suffix in CPP_SUFFIXES:
        flags += [*(f"-isystem{folder}" for folder in system_headers("c++")), "-x", "c++", "-std=gnu++20"]
    else:
        flags += [*(f"-isystem{folder}" for folder in system_headers("c")), "-x", "c", "-std=gnu17"]
    text = path.read_text(encoding="utf-8", errors="replace")

    def unit_of(text: str) -> Any:
        return cindex.Index.create().parse(str(path), args=flags, unsaved_files=[(str(path), f"{text}\n{more}")])

    unit = unit_of(text)
    if path.suffix == OPENCL and (generic := _with_generic_arrays(Parsed(path, unit, text))) != text:
        text, unit = generic, unit_of(generic)
    for one in unit.diagnostics:
        if one.severity >= cindex.Diagnostic.Error:
            where = one.location
            file = diagnostics.relative(Path(where.file.name)) if where.file else diagnostics.relative(path)
            raise InputError(f"{file}:{where.line}: {without_address_spaces(one.spelling)}")
    return Parsed(path, unit, text)


def _with_generic_arrays(parsed: Parsed) -> str:
    """The text with array parameters in the address space of pointers: without a qualifier `T name[]` is private, so a
    buffer could not be passed."""
    data = parsed.text.encode()
    arrays = [one for one in parsed.own("PARM_DECL") if one.type.kind.name.endswith("ARRAY")]
    for at in sorted({one.extent.start.offset for one in arrays}, reverse=True):
        if at < len(data):
            data = data[:at] + b"__generic " + data[at:]
    return data.decode(errors="replace")


_ADDRESS_SPACE = re.compile(r"\b__(?:private|generic|global|local|constant)\b ?| __(?:private|generic)\b")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)


def plain(text: str) -> str:
    """A source in C with comments and string literals replaced by spaces; positions do not change."""
    return _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def without_address_spaces(text: str) -> str:
    """A type, or a text with types, without the qualifiers that the parser adds to OpenCL's types."""
    return _ADDRESS_SPACE.sub("", text)


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
