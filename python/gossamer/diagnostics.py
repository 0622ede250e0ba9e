# SPDX-License-Identifier: Apache-2.0
"""Errors of compilers and linkers as one line that names the user's own file and line."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Sequence
from pathlib import Path


def first_error(output: str, user: Path) -> str:
    """The first error of a compiler's output, at the line of the file ``user`` if there is one.

    ``user`` may be a folder of sources: the error is at the line that the compiler names.
    """
    place = re.compile(r"^(?P<file>[^\s:].*?):(?P<line>\d+):(?:\d+:)?\s*(?P<rest>.*)$")
    users = str(user)
    first = ""
    first_at = -1
    lines = output.splitlines()
    for at, line in enumerate(lines):
        found = place.match(line)
        if found and re.match(r"(fatal )?error:", found["rest"]):
            message = re.sub(
                r"^(fatal )?error: (static assertion failed( due to requirement '.*?')?: )?", "", found["rest"]
            )
            if os.path.realpath(found["file"]) == users:
                return f"{relative(user)}:{found['line']}: {message}"
            if first_at < 0:
                first, first_at = f"{relative(Path(found['file']))}:{found['line']}: {message}", at
                if "static assertion failed" in found["rest"]:
                    break  # the assertion names the violated rule; errors that follow from it are less clear
    if first_at < 0:
        return _linker_error(lines, user)
    if user.is_dir():
        return first
    # An error deep in a template: the user's line is in the notes around it.
    message = first.split(": ", 1)[1]
    for line in [*reversed(lines[:first_at]), *lines[first_at:]]:
        found = place.match(line.replace("In file included from ", "").strip())
        if found and os.path.realpath(found["file"]) == users:
            return f"{relative(user)}:{found['line']}: {message}"
    return f"{relative(user)}: {message}"


def whose(output: str, users: Sequence[Path]) -> Path:
    """The file among a user's sources that contains, or includes, the location of a compiler error; the first source if
    the output names none."""
    named = re.findall(r"^([^\n]+?):\d+:(?:\d+:)? (?:fatal )?error:", output, re.MULTILINE)
    named += re.findall(r"^(?:In file included|\s+) from ([^\n]+?):\d+", output, re.MULTILINE)
    for file in named:
        for user in users:
            if os.path.realpath(file) == os.path.realpath(user):
                return user
    return users[0]


def complaint(output: str, user: Path, log: Path) -> str:
    """The first error, and the path of the complete output."""
    return f"{first_error(output, user)} (all of it in {relative(log)})"


_LINKER = re.compile(
    r"((undefined reference to|multiple definition of|undefined symbol:|duplicate symbol:|cannot find) .*)"
)


def _linker_error(lines: Sequence[str], user: Path) -> str:
    """The first error of a linker, without the names of generated objects."""
    for line in lines:
        if found := _LINKER.search(line):
            return f"{relative(user)}: does not link: {found[1].rstrip('; ')}"
    text = next((line for line in lines if "error" in line or "fatal" in line), lines[-1] if lines else "nothing")
    return f"{relative(user)}: does not compile; the compiler prints: {text}"


def demangled(symbol: str) -> str:
    """A C++ symbol, demangled; unchanged if it cannot be demangled."""
    try:
        demangle = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
        free = ctypes.CDLL(None).free
    except (OSError, AttributeError):
        return symbol
    demangle.restype = ctypes.c_void_p
    demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    free.argtypes = [ctypes.c_void_p]
    found = demangle(symbol.encode(), None, None, None)
    if not found:
        return symbol
    text = ctypes.string_at(found).decode(errors="replace")
    free(found)
    return text


def relative(path: Path) -> str:
    """A path relative to the current folder; absolute if it is not below that folder."""
    text = os.path.relpath(path)
    return text if text != ".." and not text.startswith("../") else str(path)


__all__ = ["complaint", "demangled", "first_error", "relative", "whose"]
