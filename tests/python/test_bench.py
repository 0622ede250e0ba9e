# SPDX-License-Identifier: Apache-2.0
"""./gossamer bench with a suite of rows defined here: rows that miss their bounds are reported last."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gossamer.bench import Row
from gossamer.cli import bench
from gossamer.errors import AnswerNo

# name, value, reference, ratio, least_ratio, config; then whether it misses its bound.
ROWS: list[tuple[str, float | None, tuple[str, float] | None, float | None, float | None, dict[str, float], bool]] = [
    ("shown", 2.0, ("a peer", 1.0), 0.5, None, {}, False),
    ("peer.reached", 2.0, ("a peer", 2.0), 1.0, 1.0, {}, False),
    ("peer.missed", 2.0, ("a peer", 1.5), 0.75, 0.8, {}, True),
    ("bound.reached", 0.6, ("bound", 0.6), 1.0, None, {}, False),
    ("bound.missed", 0.9, ("bound", 0.6), 0.66, None, {}, True),
    ("goal.missed", 0.5, ("goal", 0.8), 0.62, None, {}, True),
    ("most.reached", 5.0, ("a paper", 4.0), 0.8, None, {"most": 5}, False),
    ("most.missed", 6.0, ("a paper", 9.0), 1.5, None, {"most": 5}, True),
    ("least.reached", 6.0, None, None, None, {"least": 6}, False),
    ("least.missed", 4.0, None, None, None, {"least": 5}, True),
    ("without-a-ratio", 4.0, ("a peer", 0.0), None, 1.5, {}, True),
]
SUITE = """
from gossamer.bench import Row
ROWS = {rows!r}
NAMES = [row[0] for row in ROWS] + ["skipped"]
def rows(context):
    for name, value, beside, ratio, least, config, _ in ROWS:
        if context.wants(name):
            reference = beside and {{"what": beside[0], "value": beside[1], "unit": "s"}}
            yield context.row(name, value, "s", reference=reference, ratio=ratio, least_ratio=least, **config)
    if context.wants("skipped"):
        yield context.skip("skipped", "nothing to measure it with", least=5)
"""


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, *words: str) -> Result:
    (folder / "made").mkdir()
    (folder / "made" / "__init__.py").write_text(SUITE.format(rows=ROWS))
    monkeypatch.setattr(bench, "SUITES", folder)
    return CliRunner().invoke(bench.command, ["made", *words])


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_row_reports_whether_it_misses_its_bound(row: tuple[Any, ...]) -> None:
    name, value, beside, ratio, least, config, missed = row
    reference: Any = beside and {"what": beside[0], "value": beside[1], "unit": "s"}
    made = Row("made", name, value, "s", dict(config), reference, ratio, least_ratio=least)
    assert (made.missed is not None) == missed


def test_missed_rows_are_listed_last_and_fail_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done = run(monkeypatch, tmp_path, "--json", str(tmp_path / "rows.json"))
    assert isinstance(done.exception, AnswerNo)
    missed = [row[0] for row in ROWS if row[-1]]
    lines = done.output.splitlines()
    behind = lines[lines.index("missed:") + 1 :]
    assert [line.split()[0] for line in behind] == missed
    assert str(done.exception) == f"{len(missed)} of {len(ROWS) + 1} rows missed a bound"
    assert [row["name"] for row in json.loads((tmp_path / "rows.json").read_text())] == [
        *(row[0] for row in ROWS), "skipped"
    ]  # fmt: skip


def test_run_without_missed_rows_succeeds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done = run(monkeypatch, tmp_path, "--only", "shown|reached|skipped")
    assert done.exception is None and done.exit_code == 0
    assert "missed" not in done.output
