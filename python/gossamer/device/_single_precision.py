# SPDX-License-Identifier: Apache-2.0
"""Compiles with floating-point constants of single precision, as GCC does with -fsingle-precision-constant.

    python _single_precision.py COMPILER... -- OPTIONS... -o TARGET -c SOURCE

A script that `builds.Plan` runs as a compiler. It preprocesses the source, gives the constants of the user's files the
suffix f, and compiles the result. Clang's own option (-cl-single-precision-constant) has no effect in templates and
rounds twice. Constants beyond the range of single precision stay double, such as DBL_MAX. Constants in the headers of
the system and of this project stay as they are.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from gossamer.paths import ROOT

_OWN = tuple(f"{ROOT / folder}{os.sep}" for folder in ("include", "device", "host", "compat"))
"""Folders of this project's headers."""
_TOKEN = re.compile(
    r"""(?P<raw>\b(?:u8|[uUL])?R"(?P<end>[^()\\\s]{0,16})\(.*?\)(?P=end)")"""
    r"""|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
    r"""|(?P<word>[A-Za-z_$]\w*)"""
    r"""|(?P<number>\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*)""",
    re.DOTALL,
)
_DECIMAL = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?")
_HEXADECIMAL = re.compile(r"0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?\d+")
_MARKER = re.compile(r'# \d+ "((?:\\.|[^"\\])*)"([ \d]*)$')
_WITH_VALUE = {"-D", "-U", "-I", "-include", "-idirafter", "-isystem", "-MF", "-MT"}
"""Options of the preprocessor alone, which are followed by a value or have it attached."""


def single(number: str) -> str:
    """A constant with the suffix f; unchanged if it is no double constant, or is out of the range of single
    precision."""
    digits = number.replace("'", "")
    if _DECIMAL.fullmatch(digits):
        value = float(digits)
    elif _HEXADECIMAL.fullmatch(digits):
        value = float.fromhex(digits)
    else:
        return number
    try:
        (rounded,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        return number
    return number if value and not rounded else f"{number}f"


def _converted(text: str) -> str:
    return _TOKEN.sub(lambda found: single(found[0]) if found["number"] else found[0], text)


def converted(preprocessed: str) -> str:
    """A preprocessed source, with single-precision constants in the user's files."""
    return "".join(_converted(text) if users else text for text, users in _parts(preprocessed))


def _parts(preprocessed: str) -> Iterator[tuple[str, bool]]:
    """The text between the compiler's line markers, and whether it is from a file of the user."""
    users, held = True, []
    for line in preprocessed.splitlines(keepends=True):
        marker = _MARKER.match(line.rstrip("\n"))
        if marker is None and not line.startswith("#pragma"):
            held.append(line)
            continue
        yield "".join(held), users
        held = []
        if marker is not None:
            users = " 3" not in marker[2] and not os.path.realpath(marker[1]).startswith(_OWN)
        yield line, False
    yield "".join(held), users


def _without_preprocessor(options: Sequence[str]) -> list[str]:
    """Options for the second pass: macros are expanded, and headers included."""
    kept: list[str] = []
    words = iter(options)
    for word in words:
        if word in _WITH_VALUE:
            next(words, None)
        elif not word.startswith(("-D", "-U", "-I", "-M")):
            kept.append(word)
    return kept


def main(words: Sequence[str]) -> int:
    """Compiles; returns the compiler's exit code."""
    at = words.index("--")
    compiler, options, source = words[:at], words[at + 1 : -1], words[-1]
    target = options[options.index("-o") + 1]
    middle = f"{target}.single{Path(source).suffix}"
    first = [word for word in options if word != "-c"]
    first[first.index("-o") + 1] = middle
    done = subprocess.run([*compiler, *first, "-E", source], check=False)
    if done.returncode:
        return done.returncode
    path = Path(middle)
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    path.write_text(converted(text), encoding="utf-8", errors="surrogateescape")
    try:
        # Headers of C define INFINITY as a constant out of range, which is no mistake of the user.
        second = [*_without_preprocessor(options), "-Wno-literal-range", "-Wno-unknown-warning-option", middle]
        return subprocess.run([*compiler, *second], check=False).returncode
    finally:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
