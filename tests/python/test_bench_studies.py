# SPDX-License-Identifier: Apache-2.0
"""The papers' studies by ``./gossamer bench SUITE --scale``: shares, kept points, and the extrapolated network."""

from __future__ import annotations

import importlib
import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import gossamer_setup
from gossamer.apps import runner
from gossamer.bench import Context, predicted
from gossamer.cli import bench
from gossamer.engines.model import Model
from gossamer.errors import InputError
from gossamer.graph import read_graph

CASE = predicted.Case("hashmin-sync", "gen:grid:width=8,height=6", config="tiny", width=2)


@pytest.fixture
def network() -> Any:
    bench._load("polite")
    return importlib.import_module("gossamer_bench_polite._network")


def test_scales_are_shares_of_the_papers_vertices() -> None:
    assert predicted.scale_of("paper") == 1
    assert predicted.scale_of("1/20") == Fraction(1, 20)
    assert 0 < predicted.scale_of("small") < Fraction(1, 20)
    for wrong in ("large", "0", "2", "1/0", "-1/2", ""):
        with pytest.raises(InputError, match="--scale"):
            predicted.scale_of(wrong)


def test_a_suite_without_studies_rejects_a_scale() -> None:
    done = CliRunner().invoke(bench.command, ["graph", "--scale", "small"])
    assert isinstance(done.exception, InputError)
    assert done.exception.exit_code == 2
    assert "suite graph has no studies" in str(done.exception)


@pytest.mark.parametrize("suite", ["polite", "multicast"])
def test_studies_have_names_at_each_scale(suite: str) -> None:
    for scale in ("small", "1/20", "paper"):
        names = bench._load(suite).studies.expand(Context(suite, scale=predicted.scale_of(scale)))
        assert len(names) == len(set(names)) > 20
        # Only at the paper's scale a time is named as the paper's.
        assert any(name.startswith("pagerank.de5x12") for name in names) == (suite == "polite" and scale == "paper")


def test_a_point_is_predicted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gossamer_setup.require("rtl")
    monkeypatch.setattr(predicted, "KEPT", tmp_path)
    first = predicted.Study().predict(CASE)
    plan = predicted.machine("tiny", 2, 1)
    engine = Model(plan=plan)  # type: ignore[arg-type]
    known = runner.run("hashmin-sync", read_graph(CASE.graph), engine=engine).stats
    assert first.cycles == known["cycles"]
    assert first.link_bytes > 0
    assert first.error is not None
    assert first.nearest
    (kept,) = tmp_path.iterdir()
    kept.write_text(json.dumps(json.loads(kept.read_text()) | {"cycles": 12345}))
    assert predicted.Study().predict(CASE).cycles == 12345
    # A file that an aborted run has left is not used.
    kept.write_text("{")
    assert predicted.Study().predict(CASE).cycles == first.cycles


def test_uniform_traffic_fills_the_busiest_link(network: Any) -> None:
    """Counted packet by packet: first along the row, then along the column."""
    for width, height in ((3, 4), (4, 4), (5, 2), (6, 8)):
        load: dict[tuple[tuple[int, int], tuple[int, int]], float] = {}
        for a, b, c, d in product(range(width), range(height), range(width), range(height)):
            x, y = a, b
            while (x, y) != (c, d):
                to = (x + (c > x) - (c < x), y) if x != c else (x, y + (d > y) - (d < y))
                load[(x, y), to] = load.get(((x, y), to), 0.0) + 1 / (width * height)
                x, y = to
        assert network.uniform(width, height, 1.0) == pytest.approx(1 / max(load.values()))


def test_barriers_of_boards_that_were_not_fitted_are_close(network: Any) -> None:
    assert network.barrier(3, 2) == pytest.approx(network._measured("barrier.3x2"), rel=0.02)
    assert network.barrier(3, 4) == network._measured("barrier.3x4")
    assert network.barrier(25, 40) > network.barrier(3, 4)
