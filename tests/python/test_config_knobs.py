# SPDX-License-Identifier: Apache-2.0
"""Every key of a configuration has a reader, and tables of absent units may be omitted."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer import config
from gossamer.config._generate import camel, sv_name, systemverilog
from gossamer.config._parameters import Parameters
from gossamer.config._schema import knobs
from gossamer.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
HARDWARE = tuple(
    f"{folder}/**/*.{suffix}" for folder in ("rtl", "sim", "tests/rtl", "tests/models") for suffix in ("sv", "cc", "h")
)
PYTHON = ("python/gossamer/**/*.py", "bench/**/*.py", "tests/**/*.py")
LABELS = {"board.name", "board.part"}
"""Keys that label a configuration: `config show` prints them, and the generated files contain them."""


def texts(patterns: tuple[str, ...]) -> str:
    """The text of all files of some patterns, except those that check or print every key."""
    without = (ROOT / "python" / "gossamer" / "config", *(ROOT / "tests" / "python").glob("test_config*.py"))
    files = (path for pattern in patterns for path in sorted(ROOT.glob(pattern)))
    return "\n".join(path.read_text() for path in files if not any(path.is_relative_to(part) for part in without))


def uses_of_derived() -> dict[str, set[str]]:
    """For each derived value, the keys and derived values in its definition."""
    properties = {name: one.fget for name, one in vars(Parameters).items() if isinstance(one, property) and one.fget}
    return {name: set(re.findall(r"self\.([a-z][\w.]*)", inspect.getsource(one))) for name, one in properties.items()}


def unused() -> Iterator[str]:
    """Keys that neither hardware nor host software reads, directly or through a derived value."""
    hardware, python = texts(HARDWARE), texts(PYTHON)

    def reads(in_hardware: str, in_cpp: str, in_python: str) -> bool:
        return bool(re.search(rf"\b({in_hardware}|{in_cpp})\b", hardware) or re.search(rf"\.{in_python}\b", python))

    uses = uses_of_derived()
    needed = {name for name in uses if reads(camel(name), f"derived::{name}", name)}
    while more := {use for name in needed for use in uses.get(name, ())} - needed:
        needed |= more
    for knob in knobs(config.load("de5")):
        short = knob.path[-2:]
        if knob.key not in needed and not reads(sv_name(knob), "::".join(short), r"\.".join(short)):
            yield knob.key


def test_every_key_has_a_reader() -> None:
    assert set(unused()) - LABELS == set(), "nothing reads these keys; delete them"


OPTIONAL = ("links", "match", "memory.sram")


@pytest.mark.parametrize("tables", [OPTIONAL, *((table,) for table in OPTIONAL)])
def test_omitted_table_means_no_such_unit(tables: tuple[str, ...], tmp_path: Path) -> None:
    """A board without the table has none of its units; the other tables are unaffected."""
    text = (ROOT / "config" / "de5.toml").read_text()
    for table in tables:
        parts = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
        kept = [part for part in parts if not part.startswith(f"[{table}]")]
        assert len(kept) == len(parts) - 1
        text = "".join(kept)
    path = tmp_path / "less.toml"
    path.write_text(text)
    less = config.load(path)
    counts = {
        "links": less.link_count,
        "match": less.match.cam_entries,
        "memory.sram": less.memory.sram.count,
    }
    for table, count in counts.items():
        assert (count == 0) == (table in tables), table
    assert "package gossamer_pkg" in systemverilog(less)


def test_optional_table_needs_every_key(tmp_path: Path) -> None:
    text = (ROOT / "config" / "de5.toml").read_text()
    path = tmp_path / "less.toml"
    path.write_text(re.sub(r"^cam_entries = .*\n", "", text, flags=re.MULTILINE))
    with pytest.raises(InputError, match=r"match\.cam_entries: missing \("):
        config.load(path)
