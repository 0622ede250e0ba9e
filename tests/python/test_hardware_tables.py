# SPDX-License-Identifier: Apache-2.0
"""The page of registers matches config/constants."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "hardware" / "registers.md"


def test_page_is_up_to_date() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "hardware_tables.py"))["text"]()
    assert made == PAGE.read_text(encoding="utf-8"), "run tools/hardware_tables.py"


def test_page_lists_every_register_with_its_number() -> None:
    # Read from the file itself, without the generator of the page.
    source = (ROOT / "config" / "constants" / "core.toml").read_text()
    registers = re.findall(r"^(\w+) = \{ value = (0x\w+), access", source, re.MULTILINE)
    rows = re.findall(r"^\| (0x\w+) \| `(\w+)` \| (?:rw|ro|wo) \|", PAGE.read_text(), re.MULTILINE)
    assert len(rows) > 40
    assert [(int(number, 16), name) for number, name in rows] == [(int(number, 16), name) for name, number in registers]
