# SPDX-License-Identifier: Apache-2.0
"""Every knob of a configuration is for something, and what a board has not needs no words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer import config
from gossamer.config._generate import sv_name, systemverilog
from gossamer.config._schema import Knob, knobs
from gossamer.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
HARDWARE = tuple(
    f"{folder}/**/*.{kind}" for folder in ("rtl", "sim", "tests/rtl", "tests/models") for kind in ("sv", "cc", "h")
)
PYTHON = ("python/gossamer/**/*.py", "bench/**/*.py", "tests/**/*.py")
WAITING = {
    # The multicast router's beats are those of config/constants: the key says so, and a check compares.
    "router.beat_bytes",
    # Streaming ports in a board.
    "stream.ports",
    "stream.fifo_packets",
    "stream.poll",
    "stream.credits",
    # The shell.
    "shell.vendor_id",
    "shell.product_id",
    "shell.macs",
    "shell.rate_mbps",
    "shell.window_frames",
}
"""Knobs of parts that are not built yet: nothing but the checks of a configuration reads them."""


def texts(patterns: tuple[str, ...]) -> str:
    """All files of some patterns, but those that check or print any knob."""
    without = (ROOT / "python" / "gossamer" / "config", *(ROOT / "tests" / "python").glob("test_config*.py"))
    files = (path for pattern in patterns for path in sorted(ROOT.glob(pattern)))
    return "\n".join(path.read_text() for path in files if not any(path.is_relative_to(part) for part in without))


def unused() -> Iterator[str]:
    """Knobs that no hardware and no program of the host names."""
    hardware, python = texts(HARDWARE), texts(PYTHON)
    cluster = (ROOT / "python" / "gossamer" / "config" / "_cluster.py").read_text()
    known: list[Knob] = list(knobs(config.load("de5")))
    # Derived values take knobs by their paths, and may be used under their own names.
    schema = (ROOT / "python" / "gossamer" / "config" / "_schema.py").read_text()
    for knob in known:
        name, path = sv_name(knob), r"\.".join(knob.path)
        in_cpp = "::".join(knob.path[-2:])
        if re.search(rf"\b({name}|{in_cpp})\b", hardware) or re.search(rf"self\.{path}\b", schema):
            continue
        short = r"\.".join(knob.path[-2:])
        if not re.search(rf"\b({short}|{path})\b", python) and not re.search(rf"\.{short}\b", cluster):
            yield knob.key


def test_every_knob_is_for_something() -> None:
    found = set(unused()) - {"board.name", "board.part"}
    assert found - WAITING == set(), "nothing reads these: leave them out, or say what they wait for"
    assert WAITING - found == set(), "these are read now: they wait for nothing"


LEFT_OUT = ("links", "stream", "match", "shell", "memory.sram")


@pytest.mark.parametrize("tables", [LEFT_OUT, *((table,) for table in LEFT_OUT)])
def test_a_board_that_has_less_says_less(tables: tuple[str, ...], tmp_path: Path) -> None:
    """Without a table nothing of it is there; a table that is there has all its keys."""
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
        "stream": less.stream.ports,
        "match": less.match.cam_entries,
        "shell": less.shell.macs,
        "memory.sram": less.memory.sram.count,
    }
    for table, count in counts.items():
        assert (count == 0) == (table in tables), table
    assert "package gossamer_pkg" in systemverilog(less)


def test_a_table_that_is_there_is_whole(tmp_path: Path) -> None:
    text = (ROOT / "config" / "de5.toml").read_text()
    path = tmp_path / "less.toml"
    path.write_text(re.sub(r"^credits = .*\n", "", text, flags=re.MULTILINE))
    with pytest.raises(InputError, match=r"stream\.credits: missing \("):
        config.load(path)
