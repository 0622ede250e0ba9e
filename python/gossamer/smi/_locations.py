# SPDX-License-Identifier: Apache-2.0
"""Source lines for the code addresses in the emulator's report."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from gossamer import diagnostics, step_cache
from gossamer.paths import INCLUDE
from gossamer.smi._programs import Program


def with_locations(messages: Sequence[tuple[str, Sequence[Sequence[int]]]], programs: Sequence[Program]) -> list[str]:
    """Messages with ``file:line`` for each ``{}``; a location is a pair of program index and offset in its binary."""
    wanted: dict[int, list[int]] = {}
    for _, found in messages:
        for program, offset in found:
            if program >= 0:
                wanted.setdefault(program, []).append(offset)
    lines = {
        (program, offset): line
        for program, offsets in wanted.items()
        for offset, line in _source_lines(programs[program], sorted(set(offsets))).items()
    }
    texts = []
    for message, found in messages:
        rest = iter([lines.get((program, offset), "?") for program, offset in found])
        texts.append(re.sub(r"\{\}", lambda _, rest=rest: next(rest, "?"), message))  # type: ignore[misc]
    return texts


def _source_lines(program: Program, offsets: Sequence[int]) -> dict[int, str]:
    """``file:line`` of each offset; the program's name where addr2line finds none."""
    command = ["addr2line", "-a", "-i", "-e", str(program.binary), *map(hex, offsets)]
    lines = dict.fromkeys(offsets, program.name)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return lines
    own = str(INCLUDE)
    at: int | None = None
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            at = int(line, 16)
            continue
        file, _, number = line.split(" ", 1)[0].rpartition(":")
        file = step_cache.real_path(file)
        # A call from a header of ours is inlined; the next line of addr2line is its caller in the user's code.
        if at is not None and file not in ("", "??") and not os.path.realpath(file).startswith(own):
            lines[at] = f"{diagnostics.relative(Path(file))}:{number}"
            at = None
    return lines
