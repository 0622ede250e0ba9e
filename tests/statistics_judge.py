# SPDX-License-Identifier: Apache-2.0
"""Judges files of statistics with the reference validator of JSON Schema, which shares no code with their writer."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).resolve().parents[1] / "python" / "gossamer" / "watch" / "statistics.schema.json"


def read(path: Path) -> dict[str, Any]:
    """The content of a file. AssertionError if it violates the schema, or its units or timeline are incomplete."""
    import jsonschema

    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"), parse_constant=_not_json)
    validator = jsonschema.Draft202012Validator(schema)
    errors = [f"{'.'.join(map(str, one.absolute_path))}: {one.message[:300]}" for one in validator.iter_errors(data)]
    assert not errors, f"{path}: {errors[:5]}"
    named = {name for name, about in schema["properties"].items() if "unit" in about}
    assert named & data.keys() == {name for name in data["units"] if "." not in name}
    assert data["command"].startswith(("./gossamer ", "run = ")) and data["configuration"]["engine"] == data["engine"]
    if (timeline := data.get("timeline")) is not None:
        edges = timeline["edges"]
        assert edges == sorted(edges) and edges[0] == 0
        for series in timeline["series"]:
            assert len(series["values"]) == len(edges) - 1
            assert series["most"] is None or max(series["values"]) <= series["most"] * 1.001 + 1e-9, series["name"]
    return data


def total(data: dict[str, Any], name: str, of: str | None = None) -> float:
    """The integral of a quantity over time."""
    edges = data["timeline"]["edges"]
    widths = [end - begin for begin, end in itertools.pairwise(edges)]
    return sum(
        value * width
        for series in data["timeline"]["series"]
        if series["name"] == name and of in (None, series["of"])
        for value, width in zip(series["values"], widths, strict=True)
    )


def _not_json(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


__all__ = ["SCHEMA", "read", "total"]
