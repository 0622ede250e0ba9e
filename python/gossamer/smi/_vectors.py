# SPDX-License-Identifier: Apache-2.0
"""Vectors of OpenCL in GNU C: elements by name (``v.x``, ``v.s3``, ``v.lo``), and literals (``(float4)(a, b, c, d)``).

The parser knows what is a vector; each place is then written anew, on its own line. GNU C has elements by number, and
``{}`` around as many scalars as there are elements; what else a literal is made of is put together one by one.
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
    """Among insertions at one place: those of outer expressions come first in front, and last behind."""
    text: str


def in_gnu_c(path: Path, defines: Sequence[str], text: str, plain: str) -> str:
    """The text of a .cl file with its vectors in GNU C. ``plain`` is the same without what is in comments.

    InputError, at the user's line, where a vector's element is named in a macro.
    """
    if not _LIKELY.search(plain):
        return text
    # Channels are read and written by macros, and the parser does not tell places in a macro's arguments. As a list of
    # expressions a call has the same type, for what stands in it and for what is done with a channel's element.
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
    """``runs``: in a function; outside all has to be constant."""
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
    """Elements of a vector's type; 0 of any other."""
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
    first, end, behind = base.extent.start.offset, base.extent.end.offset, cursor.extent.end.offset
    found = _NAME.match(data[end:behind])
    if found is None:
        if _lanes(cursor.type) != size:
            raise _refused(cursor, "a vector's element by its name in a macro is not understood; write v[0]")
        return
    chosen = _chosen(found[1].decode(), size)
    if len(chosen) == 1:
        edits.append(_Edit(end, behind, 0, f"[{chosen[0]}]"))
        return
    values = ", ".join(f"gs_v[{one}]" for one in chosen)
    edits.append(_Edit(first, first, depth, "({ __auto_type gs_v = "))
    edits.append(_Edit(end, behind, -depth, f"; ({_name(base.type, len(chosen))}){{{values}}}; }})"))


def _chosen(name: str, size: int) -> list[int]:
    """Numbers of the elements that a name stands for; the parser has seen that there are such."""
    half = size // 2
    named = {"lo": range(half), "hi": range(half, size), "even": range(0, size, 2), "odd": range(1, size, 2)}
    if name in named:
        return list(named[name])
    if name[0] in "sS":
        return [int(digit, 16) for digit in name[1:]]
    return ["xyzw".index(letter) for letter in name.lower()]


def _literal(literal: Any, data: bytes, edits: list[_Edit], depth: int, runs: bool) -> None:
    """A cast, or a call that stands for one."""
    size, name = _lanes(literal.type), _name(literal.type, _lanes(literal.type))
    start, end = literal.extent.start.offset, literal.extent.end.offset
    if data[start : start + 1] != b"(":
        raise _refused(literal, f"a literal of {name} in a macro is not understood; write it where it is used")
    if literal.kind.name == "CALL_EXPR":
        parts = list(literal.get_arguments())
        start = data.index(b"(", data.index(b")", start))
    else:
        # A constant, or a scalar without parentheses behind the type.
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
        raise _refused(literal, f"a literal of {name} has {given} elements; give {size}, or one for all")
    if not any(kinds):
        # In parentheses: in an argument of a macro, commas in braces would be the macro's. Outside of functions braces
        # alone are constant.
        first = literal.extent.start.offset
        edits.append(_Edit(first, start + 1, depth, f"(({name}){{" if runs else "{"))
        edits.append(_Edit(end - 1, end, -depth, "})" if runs else "}"))
        return
    at = start
    number = 0
    for part, lanes in zip(parts, kinds, strict=True):
        # The parenthesis before the first, the comma before each other one.
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
    """The place of the next comma that is in no comment."""
    return next(one.start() for one in _COMMA.finditer(data, at) if one[0] == b",")


def _scalars(cursor: Any, data: bytes) -> list[Any]:
    """The expressions of a list with commas in parentheses, in their order."""
    children = list(cursor.get_children())
    if cursor.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR") and len(children) == 1:
        return _scalars(children[0], data)
    if cursor.kind.name == "BINARY_OPERATOR" and len(children) == 2:
        between = data[children[0].extent.end.offset : children[1].extent.start.offset]
        if re.sub(rb"//[^\n]*|/\*.*?\*/", b"", between, flags=re.DOTALL).strip() == b",":
            return [*_scalars(children[0], data), children[1]]
    return [cursor]


def _refused(cursor: Any, what: str) -> InputError:
    file = diagnostics.relative(Path(cursor.location.file.name))
    return InputError(f"{file}:{cursor.location.line}: {what}")


__all__ = ["in_gnu_c"]
