# SPDX-License-Identifier: Apache-2.0
"""Maps addresses of compiled code to lines of the user's source."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from gossamer import processes, step_cache
from gossamer.diagnostics import relative
from gossamer.paths import INCLUDE


def line_of(addresses: Sequence[str], source: Path) -> str | None:
    """The innermost line of ``source``, or else of another file of the user, as ``FILE:LINE``.

    ``addresses`` are OBJECT+0x12ab, the innermost first. None without debug information, or without binutils
    (addr2line).
    """
    tool = shutil.which("addr2line") or shutil.which("llvm-addr2line")
    if tool is None:
        return None
    # Objects of the system contain no code of the user.
    objects: dict[str, list[str]] = {}
    for address in addresses:
        name, _, offset = address.rpartition("+")
        if not name.startswith(("/usr/", "/lib")):
            objects.setdefault(name, []).append(offset)
    found: list[tuple[str, str]] = []
    for name, offsets in objects.items():
        command = [tool, "-i", "-e", name, *offsets]
        done = processes.run(command)
        lines = re.findall(r"^(/[^:\n]*):(\d+)", done.stdout, re.MULTILINE)
        found += [(step_cache.real_path(file), line) for file, line in lines]
    real = os.path.realpath(source)
    for file, line in found:
        if os.path.realpath(file) == real:
            return f"{relative(Path(file))}:{line}"
    for file, line in found:
        path = os.path.realpath(file)
        if not path.startswith(("/usr/", f"{INCLUDE}/")) and not path.endswith((".cc", ".c", ".S")):
            return f"{relative(Path(file))}:{line}"
    return None
