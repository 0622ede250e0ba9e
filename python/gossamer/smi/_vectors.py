# SPDX-License-Identifier: Apache-2.0
"""Translates OpenCL vectors to GNU C: named elements (``v.x``, ``v.lo``) and literals (``(float4)(a, b, c, d)``).

The parser identifies the vectors; each expression is rewritten on its own line. GNU C has elements by index, and ``{}``
with one scalar for each element; a literal of vectors is assembled element by element.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer import diagnostics
from gossamer.errors import InputError
from gossamer.smi._parse import Parsed, parse
from gossamer.wording import counted

_CHANNEL = re.compile(r"\b(?:read|write)_channel_intel\b(?=\s*\()")
_LIKELY = re.compile(r"\.\s*(?:[xyzwXYZW]|s[\da-fA-F]|S[\da-fA-F]|lo|hi|even|odd)|\(\s*\w+(?:2|4|8|16)\s*\)")
_NAME = re.compile(rb"\s*\.\s*(\w+)$")
_COMMA = re.compile(rb"//[^\n]*|/\*.*?\*/|,", re.DOTALL)
_TYPES = {f"unsigned {name}": f"u{name}" for name in ("char", "short", "int", "long")}


@dataclass(frozen=True)
class _Edit:
    start: int
    end: int
    order: int
    """Order of insertions at one position: outer expressions first at the start, and last at the end."""
    text: str


def in_gnu_c(path: Path, defines: Sequence[str], text: str, plain: str) -> str:
    """The text of a .cl file with its vectors in GNU C. ``plain`` is the text with blank comments.

    InputError, at the user's line, if a macro uses a vector's element by name.
    """
    if not _LIKELY.search(plain):
        return text
    # Channels are read and written by macros, and the parser has no positions within a macro's arguments. Without the
    # macro's name the call is a comma expression: its arguments and its result have the same types.
    spots = [found.span() for found in _CHANNEL.finditer(plain)]
    for start, end in spots:
        text = text[:start] + " " * (end - start) + text[end:]
    parsed = parse(path, defines, text=text)
    data = text.encode()
    edits: list[_Edit] = []
    _walk(parsed, parsed.unit.cursor, data, edits, 0, False)
    for start, end in spots:
        first = len(text[:start].encode())
        edits.append(_Edit(first, first + end - start, 0, _CHANNEL.search(plain, start)[0]))  # type: ignore[index]
    out, at = [], 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end, one.order)):
        out += [data[at : edit.start].decode(errors="replace"), edit.text]
        at = edit.end
    return "".join([*out, data[at:].decode(errors="replace")])


def _walk(parsed: Parsed, cursor: Any, data: bytes, edits: list[_Edit], depth: int, runs: bool) -> None:
    """``runs``: inside a function; outside, everything must be constant."""
    for child in cursor.get_children():
        file = child.location.file
        if file is None or Path(file.name) != parsed.path:
            continue
        call = child.kind.name == "CALL_EXPR" and child.spelling[:2] == "V_"
        if _lanes(child.type) and (call or child.kind.name == "CSTYLE_CAST_EXPR"):
            _literal(child, data, edits, depth, runs)
        elif child.kind.name == "UNEXPOSED_EXPR":
            _element(child, data, edits, depth)
        _walk(parsed, child, data, edits, depth + 1, runs or child.kind.name == "FUNCTION_DECL")


def _lanes(kind: Any) -> int:
    """Number of elements of a vector type; 0 for any other type."""
    canonical = kind.get_canonical()
    return canonical.element_count if canonical.kind.name in ("EXTVECTOR", "VECTOR") else 0


def _name(kind: Any, lanes: int) -> str:
    element = kind.get_canonical().element_type.spelling
    return f"{_TYPES.get(element, element)}{lanes}"


def _element(cursor: Any, data: bytes, edits: list[_Edit], depth: int) -> None:
    children = list(cursor.get_children())
    if len(children) != 1 or not (size := _lanes(children[0].type)):
        return
    (base,) = children
    first, end, after = base.extent.start.offset, base.extent.end.offset, cursor.extent.end.offset
    found = _NAME.match(data[end:after])
    if found is None:
        if _lanes(cursor.type) != size:
            raise _error(cursor, "a vector's element by name is not supported in a macro; write v[0]")
        return
    chosen = _chosen(found[1].decode(), size)
    if len(chosen) == 1:
        edits.append(_Edit(end, after, 0, f"[{chosen[0]}]"))
        return
    values = ", ".join(f"gs_v[{one}]" for one in chosen)
    edits.append(_Edit(first, first, depth, "({ __auto_type gs_v = "))
    edits.append(_Edit(end, after, -depth, f"; ({_name(base.type, len(chosen))}){{{values}}}; }})"))


def _chosen(name: str, size: int) -> list[int]:
    """Indices of the elements that a name selects; the parser has checked that they exist."""
    half = size // 2
    named = {"lo": range(half), "hi": range(half, size), "even": range(0, size, 2), "odd": range(1, size, 2)}
    if name in named:
        return list(named[name])
    if name[0] in "sS":
        return [int(digit, 16) for digit in name[1:]]
    return ["xyzw".index(letter) for letter in name.lower()]


def _literal(literal: Any, data: bytes, edits: list[_Edit], depth: int, runs: bool) -> None:
    """Rewrites a literal: a cast, or a call in place of a cast."""
    size, name = _lanes(literal.type), _name(literal.type, _lanes(literal.type))
    start, end = literal.extent.start.offset, literal.extent.end.offset
    if data[start : start + 1] != b"(":
        raise _error(literal, f"a literal of {name} is not supported in a macro; write it in place of the macro's use")
    if literal.kind.name == "CALL_EXPR":
        parts = list(literal.get_arguments())
        start = data.index(b"(", data.index(b")", start))
    else:
        # A constant, or a scalar without parentheses after the type.
        parts = [one for one in literal.get_children() if one.kind.name != "TYPE_REF"][-1:]
        start = parts[0].extent.start.offset
        parts = _scalars(parts[0], data) if not runs else parts
    kinds = [_lanes(part.type) for part in parts]
    given = sum(lanes or 1 for lanes in kinds)
    if len(parts) == 1 and not kinds[0] and not runs:
        value = data[start:end].decode(errors="replace").replace("\n", " ")
        edits.append(_Edit(literal.extent.start.offset, end, 0, f"{{{', '.join([value] * size)}}}"))
        return
    if len(parts) == 1 and not kinds[0]:
        edits.append(_Edit(start, start, depth, f"({{ const __typeof__(({name}){{}}[0]) gs_s = "))
        splat = ", ".join(["gs_s"] * size)
        edits.append(_Edit(end, end, -depth, f"; ({name}){{{splat}}}; }})"))
        return
    if given != size:
        raise _error(literal, f"a literal of {name} has {counted(given, 'element')}; give {size}, or one for all")
    if not any(kinds):
        # Parentheses, because commas in braces would separate arguments of an enclosing macro. Outside of functions
        # only braces without a type are constant.
        first = literal.extent.start.offset
        edits.append(_Edit(first, start + 1, depth, f"(({name}){{" if runs else "{"))
        edits.append(_Edit(end - 1, end, -depth, "})" if runs else "}"))
        return
    at = start
    number = 0
    for part, lanes in zip(parts, kinds, strict=True):
        # The parenthesis before the first part, the comma before each other part.
        mark = start if part is parts[0] else _comma(data, at)
        opening = f"({{ {name} gs_r; " if part is parts[0] else " "
        target = "__auto_type gs_e = " if lanes else f"gs_r[{number}] = "
        edits.append(_Edit(mark, mark + 1, depth, f"{opening}{{ {target}"))
        at = part.extent.end.offset
        rest = "".join(f" gs_r[{number + one}] = gs_e[{one}];" for one in range(lanes))
        edits.append(_Edit(at, at, -depth, f";{rest} }}"))
        number += lanes or 1
    edits.append(_Edit(end - 1, end, -depth, " gs_r; })"))


def _comma(data: bytes, at: int) -> int:
    """The position of the next comma outside of comments."""
    return next(one.start() for one in _COMMA.finditer(data, at) if one[0] == b",")


def _scalars(cursor: Any, data: bytes) -> list[Any]:
    """The expressions of a comma expression in parentheses, in order."""
    children = list(cursor.get_children())
    if cursor.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR") and len(children) == 1:
        return _scalars(children[0], data)
    if cursor.kind.name == "BINARY_OPERATOR" and len(children) == 2:
        between = data[children[0].extent.end.offset : children[1].extent.start.offset]
        if re.sub(rb"//[^\n]*|/\*.*?\*/", b"", between, flags=re.DOTALL).strip() == b",":
            return [*_scalars(children[0], data), children[1]]
    return [cursor]


def _error(cursor: Any, what: str) -> InputError:
    file = diagnostics.relative(Path(cursor.location.file.name))
    return InputError(f"{file}:{cursor.location.line}: {what}")


__all__ = ["in_gnu_c"]
