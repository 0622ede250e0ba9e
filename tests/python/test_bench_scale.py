# SPDX-License-Identifier: Apache-2.0
"""The suite ``scale`` of ./gossamer bench: rows of calls from Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Command


@pytest.mark.tier("all", seconds=30, adds="the rows of calls from Python and NetworkX")
def test_rows_of_python_are_measured(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    done = command("bench", "scale", "--only", r"^python\.|^nx\.", "--repeat", "3", "--json", str(path))
    assert done.returncode in (0, 1), done.stderr  # a busy machine may miss a bound
    rows = {row["name"]: row for row in json.loads(path.read_text())}
    assert {"python.overhead-ms", "python.from-scipy-s", "nx.second-call"} <= set(rows)
    assert all(row["value"] > 0 for row in rows.values())
    assert rows["python.from-scipy-s"]["config"]["shared"] is True
    assert rows["nx.second-call"]["config"]["second_s"] < rows["nx.second-call"]["config"]["first_s"]


@pytest.mark.tier("all", seconds=20, adds="the row of a graph larger than a rank, on a small graph")
def test_row_of_a_larger_graph_is_measured(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    only = r"distributed\.larger"
    done = command("bench", "scale", "--only", only, "--json", path, env={"GOSSAMER_BENCH_SCALE": "0.05"})
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(path.read_text())
    assert row["value"] == pytest.approx(3 * 1.6e9 * 0.05 / row["config"]["limit_bytes"])


def test_rows_are_described(command: Command) -> None:
    done = command("bench", "scale", "--list")
    assert done.returncode == 0 and not done.stderr
    for line in done.stdout.splitlines():
        assert len(line.split(maxsplit=1)) == 2, f"docs/benchmarks.md does not describe {line}"
