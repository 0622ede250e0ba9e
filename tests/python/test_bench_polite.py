# SPDX-License-Identifier: Apache-2.0
"""Suites polite and multicast: studies that take hours at full size run on small graphs."""

from __future__ import annotations

import gzip
import importlib
import sys
from pathlib import Path

import pytest

import gossamer as gs
import gossamer_setup
from gossamer import config as configs
from gossamer.bench import Context
from gossamer.bench.runs import run
from gossamer.engines.rtl_cluster import Plan
from gossamer.errors import RunDied
from gossamer.paths import ROOT


@pytest.fixture(autouse=True)
def suites(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the suites importable, and installs the simulator."""
    gossamer_setup.require("rtl")
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])


def test_mapper_counts_every_edge_of_a_small_graph() -> None:
    found = importlib.import_module("polite._mapper")._measure(1000, 4, "quad4")
    assert found["s"] > 0 and found["GB"] > 0
    # Of 4,000 edges each is within a thread, between threads of a tile, between tiles, or between boards.
    assert found["boards"] + found["tiles"] + found["threads"] + found["within"] == 4000
    assert 0 < found["board_balance"] <= 1


def test_mapper_rows_are_measured_in_a_subprocess(monkeypatch: pytest.MonkeyPatch) -> None:
    """A separate process measures the rows."""
    mapper = importlib.import_module("polite._mapper")
    for name, value in {"VERTICES": 1000, "FANOUT": 4, "CLUSTER": "quad4"}.items():
        monkeypatch.setattr(mapper, name, value)
    rows = {row.name: row for row in mapper.rows(Context("polite", only="^map"))}
    assert set(rows) == set(mapper.NAMES) and all(row.value and row.value > 0 for row in rows.values())
    assert rows[mapper.SECONDS].config["edges"] == 4000


def test_studies_of_small_graphs_write_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scaling and vertices without barriers, on a tile and two boards of two."""
    studies = importlib.import_module("polite._studies")
    page = tmp_path / "page.html"
    pair = Plan(configs.load_cluster("pair"))
    given = {
        "PAGE": page,
        "CLUSTERS": {2: "pair"},
        "SCALED": {"hashmin-sync": {}},
        "GRAPH": "gen:grid:width=12,height=4",
        "AGAINST": {"gals.heat": "heat"},
        "GALS": {"heat": ("gen:grid:width=12,height=4", {"steps": 3})},
        "_cluster": lambda boards: configs.load("tiny") if boards == 1 else pair,
    }
    for name, value in given.items():
        monkeypatch.setattr(studies, name, value)
    monkeypatch.setitem(studies.CLUSTERS, 4, "pair")
    rows = list(studies.rows(Context("polite", only=r"^scaling\.hashmin-sync\.b2$|^gals\.heat$")))
    assert [row.name for row in rows] == ["scaling.hashmin-sync.b2", "gals.heat"]
    for row in rows:
        one, other = row.config["cycles"].values()
        assert row.value == one / other and 0.1 < row.value < 10
    text = page.read_text()
    assert text.count("<svg") == 1 and all(row.name in text for row in rows)


@pytest.mark.tier("all", seconds=26, adds="the study of multicast; another study writes its page by default")
def test_multicast_study_reduces_crossing_messages(tmp_path: Path) -> None:
    """Multicast by mask sends fewer bytes over links than messages to single threads, and by keys at most as many."""
    studies = importlib.import_module("multicast._studies")
    page = tmp_path / "page.html"
    context = Context("multicast", only=r"^study\.pagerank\.f25\.r1\.5$")
    [row] = studies.rows(context, cluster="pair", vertices=100, page=page)
    sent = row.config["link_bytes"]
    assert sent["none"] > 2 * sent["local"] and sent["local"] >= sent["full"] > 0
    assert row.value == row.config["cycles"]["none"] / row.config["cycles"]["full"] > 1
    text = page.read_text()
    assert text.count("<svg") == 1 and row.name in text
    with pytest.raises(RunDied, match="instead of"):
        wrong = gs.run("pagerank", gs.read_graph(row.config["graph"]), iterations=1)
        run("pagerank", wrong.graph, Plan(configs.load_cluster("pair")), want=wrong, iterations=3)


@pytest.mark.tier("all", seconds=32, adds="a row of the bench on a real graph")
def test_real_graph_row_is_checked(tmp_path: Path) -> None:
    """A long path replaces the file of the real graph."""
    real = importlib.import_module("polite._real")
    [row] = real.rows(Context("polite", only=real.HASHMIN, data=tmp_path))
    assert row.skipped is not None
    lines = "".join(f"{v + 1} {v}\n" for v in range(1, 40))
    header = "%%MatrixMarket matrix coordinate pattern symmetric\n40 40 39\n"
    (tmp_path / real.FILE).write_bytes(gzip.compress((header + lines).encode()))
    [row] = real.rows(Context("polite", only=real.HASHMIN, data=tmp_path))
    assert (row.config["vertices"], row.config["edges"]) == (40, 78) and row.value is not None and not row.missed
