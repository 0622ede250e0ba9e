#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/hardware/registers.md, the tables of registers, traps and debug packets, from config/constants.

    .gossamer/env/bin/python tools/hardware_tables.py [-o FILE]

A test fails if the page and config/constants differ; then run this again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "hardware" / "registers.md"

_HEAD = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by tools/hardware_tables.py from config/constants; change it there. -->
# Registers, traps and packets of tiles and boards

For programmers of threads and of hosts. The names are those of the generated SystemVerilog package and C++ header,
in their spelling: `send_dest` is `CsrSendDest` and `csr::send_dest`.
"""

_PARTS = (
    (
        "csr",
        "Control and status registers",
        "A thread accesses them with the CSR instructions. `fflags`, `frm` and `fcsr` are in the core; an access to "
        "any other one is a request to the tile, which suspends the thread until the response, like a load. These "
        "allow `csrrw`, or a plain read (`csrrs` with `x0`); setting or clearing bits of them is an illegal "
        "instruction. `instret` does not count the reading instruction; a reset of the tile does not change it.",
    ),
    ("trap", "Causes of traps", "A thread that traps stops; the host receives the cause."),
    ("wakeup", "Events to wait for", "Written to `wait`."),
    ("idle_result", "Results of idle detection", "Read from `idle`."),
    ("perf_command", "Commands to the counters", "Written to `perf_control`."),
    (
        "debug_command",
        "Debug bus: commands",
        "Bytes to the tile. A number in brackets is the width of an argument in bits; the low byte is first.",
    ),
    ("debug_report", "Debug bus: reports", "Bytes from the tile."),
    ("debug_counter", "Debug bus: counters", "Indices for `read_counter`."),
    (
        "register_block",
        "Board: registers in band",
        "Blocks that a host reaches by `register` packets to the control unit ([board](board.md#registers)); "
        "`register_address` names block, unit and number.",
    ),
    ("link_counter", "Board: counters of a link", "Numbers of read-only registers of a link, of 32 bits."),
    ("link_register", "Board: other registers of a link", "Numbers above those of the counters."),
    ("stream_register", "Board: registers of a streaming port", "All of them have 64 bits."),
    (
        "collective_register",
        "Board: registers of a block of collectives",
        "All of them have 64 bits. Tables are written only while the block is idle.",
    ),
    ("match_register", "Board: registers of a match engine at the board", "All of them have 64 bits."),
    ("board_counter", "Board: own counters", "Read by `read` packets, with unit 31."),
)


def text() -> str:
    """The page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    sys.path.insert(0, str(ROOT / "python"))
    from gossamer.config import constants

    yield _HEAD.rstrip("\n")
    for name, title, about in _PARTS:
        one = constants.everything().enums[name]
        access = bool(one.access)
        yield ""
        yield f"## {title}"
        yield ""
        yield about
        yield ""
        yield f"| number | name |{' access |' if access else ''} meaning |"
        yield f"|---|---|{'---|' if access else ''}---|"
        digits = (one.bits + 3) // 4
        for key, value in one.values.items():
            number = f"0x{value:0{digits}X}" if one.bits > 6 else str(value)
            who = f" {one.access.get(key, '')} |" if access else ""
            yield f"| {number} | `{key}` |{who} {one.docs[key]} |"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=PAGE, help=f"file to write (default {PAGE.name})")
    arguments = parser.parse_args()
    arguments.output.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
