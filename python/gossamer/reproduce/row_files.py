# SPDX-License-Identifier: Apache-2.0
"""Files of rows, as ``./gossamer bench --json`` writes them: read, checked, merged, written."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer.errors import InputError
from gossamer.files import parse_json, write_whole

MEASURED = Path(__file__).parent / "measured.json"
"""The shipped measurement."""
DOCUMENTED = Path(__file__).parent / "documented.json"
"""Figures of docs/benchmarks.md whose rows the shipped measurement does not have."""
SHIPPED, WRITTEN_DOWN, GIVEN, NOW = "shipped measurement", "documented measurement", "given file", "measured now"
"""Where a row is from."""


@dataclass(frozen=True)
class Row:
    """A row, and where it is from."""

    suite: str
    name: str
    data: Mapping[str, Any]
    source: str
    file: str

    @property
    def label(self) -> str:
        """SUITE:NAME."""
        return f"{self.suite}:{self.name}"

    @property
    def skipped(self) -> str | None:
        """Why the row has no value."""
        return self.data.get("skipped")

    def number(self, key: str) -> float | None:
        """The number at a path such as ``config.cycles.none``; None if it is missing or no finite number."""
        found: Any = self.data
        for part in key.split("."):
            if not isinstance(found, Mapping):
                return None
            found = found.get(part)
        if isinstance(found, bool) or not isinstance(found, (int, float)) or not math.isfinite(found):
            return None
        return float(found)

    @property
    def share(self) -> str | None:
        """Of a predicted study: the share of the paper's vertices, as ``--scale`` names it."""
        scale = self.data.get("config", {}).get("scale")
        return scale if isinstance(scale, str) else None

    @property
    def date(self) -> str:
        """When it was measured."""
        return str(self.data.get("config", {}).get("date", "date unknown"))

    @property
    def machine(self) -> str:
        """What it was measured on."""
        config = self.data.get("config", {})
        cores = config.get("cores")
        return str(config.get("cpu", "machine unknown")) + (f", {cores} cores" if cores else "")


def read(path: Path, source: str) -> list[Row]:
    """The rows of a file. Raises InputError if it is not one of ``./gossamer bench --json``."""
    try:
        data = parse_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name a file that ./gossamer bench --json has written") from None
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}; write it with ./gossamer bench SUITE --json FILE") from None
    if not isinstance(data, list):
        raise InputError(f"{path}: not a list of rows; write it with ./gossamer bench SUITE --json FILE")
    rows = []
    for number, one in enumerate(data, 1):
        fits = (
            isinstance(one, dict)
            and isinstance(one.get("suite"), str)
            and isinstance(one.get("name"), str)
            and isinstance(one.get("config"), dict)
            and isinstance(one.get("unit"), str)
            and (one.get("value") is None or isinstance(one["value"], (int, float)))
        )
        if not fits:
            raise InputError(
                f"{path}: entry {number} is not a row with suite, name, value, unit and config; "
                "write the file with ./gossamer bench SUITE --json FILE"
            )
        rows.append(Row(one["suite"], one["name"], one, source, path.name))
    return rows


def read_folder(folder: Path) -> list[Row]:
    """The rows of all files ``*.json`` of a folder, or of a single file. Raises InputError if there are none."""
    if folder.is_file():
        return read(folder, GIVEN)
    if not folder.is_dir():
        raise InputError(f"--rows {folder}: no such folder; name the folder of files of ./gossamer bench --json")
    files = sorted(folder.glob("*.json"))
    if not files:
        raise InputError(f"--rows {folder}: no file *.json; write one with ./gossamer bench SUITE --json FILE")
    return [row for path in files for row in read(path, GIVEN)]


class Rows:
    """Rows by name. A row that is added replaces an earlier one of the same suite and name, unless it has no value."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._rows: dict[str, Row] = {}
        self.add(rows)

    def add(self, rows: Iterable[Row]) -> None:
        """Adds rows. Of rows with the same name in one call, the one with the latest date remains."""
        latest: dict[str, Row] = {}
        for row in rows:
            before = latest.get(row.label)
            if before is None or _rank(row) >= _rank(before):
                latest[row.label] = row
        for label, row in latest.items():
            before = self._rows.get(label)
            if before is None or row.data.get("value") is not None or before.data.get("value") is None:
                self._rows[label] = row

    def find(self, name: str) -> Row | None:
        """A row by SUITE:NAME, or by NAME if one suite alone has it."""
        if ":" in name:
            return self._rows.get(name)
        found = [row for row in self._rows.values() if row.name == name]
        return found[0] if len(found) == 1 else None

    def __iter__(self) -> Any:
        return iter(sorted(self._rows.values(), key=lambda row: row.label))

    def __len__(self) -> int:
        return len(self._rows)


def _rank(row: Row) -> tuple[bool, str]:
    return row.data.get("value") is not None, row.date


def write(path: Path, rows: Iterable[Row]) -> None:
    """Writes a file of rows, in the format of ``./gossamer bench --json``, sorted by suite and name."""
    lines = [json.dumps(row.data) for row in sorted(rows, key=lambda row: row.label)]
    write_whole(path, ("[\n" + ",\n".join(lines) + "\n]\n").encode())


def shipped() -> Rows:
    """The documented figures, and the shipped measurement, which replaces them."""
    rows = Rows()
    for path, source in ((DOCUMENTED, WRITTEN_DOWN), (MEASURED, SHIPPED)):
        if path.exists():
            rows.add(read(path, source))
    return rows


__all__ = [
    "GIVEN",
    "MEASURED",
    "NOW",
    "SHIPPED",
    "WRITTEN_DOWN",
    "Row",
    "Rows",
    "read",
    "read_folder",
    "shipped",
    "write",
]
