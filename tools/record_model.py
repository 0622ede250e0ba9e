#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes config/model/validated.json, the errors that predictions of the engine ``model`` name, from a benchmark.

./gossamer bench model --json rows.json
.gossamer/env/bin/python tools/record_model.py rows.json
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "config" / "model" / "validated.json"


def points_of(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The recorded points of all rows, each once."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        for one in row.get("config", {}).get("records", ()):
            name = tuple(str(one[key]) for key in ("app", "graph", "place", "multicast", "steps"))
            found[name] = one
    return list(found.values())


def main() -> int:
    """Reads the rows, writes the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", type=Path, help="what ./gossamer bench model --json has written")
    rows = json.loads(parser.parse_args().rows.read_text(encoding="utf-8"))
    points = points_of(rows if isinstance(rows, list) else rows["rows"])
    if not points:
        print("record_model: the file has no points of the suite model; run ./gossamer bench model", file=sys.stderr)
        return 2
    TABLE.write_text(json.dumps({"points": points}, indent=1) + "\n", encoding="utf-8")
    print(f"{len(points)} points in {TABLE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
