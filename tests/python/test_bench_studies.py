# SPDX-License-Identifier: Apache-2.0
"""The papers' studies by ``./gossamer bench SUITE --scale``: shares, kept points, and the extrapolated network."""

from __future__ import annotations

import importlib
import json
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from models.stream import ring

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


@pytest.mark.parametrize("suite", ["polite", "multicast", "stream"])
def test_studies_have_names_at_each_scale(suite: str) -> None:
    for scale in ("small", "1/20", "paper"):
        names = bench._load(suite).studies.expand(Context(suite, scale=predicted.scale_of(scale)))
        assert len(names) == len(set(names)) > 20
        # Only at the paper's scale a time is named as the paper's.
        assert any(name.startswith("pagerank.de5x12") for name in names) == (suite == "polite" and scale == "paper")


def test_studies_of_streams_have_a_row_for_each_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gossamer_setup.require("plot")
    studies = bench._load("stream").studies
    monkeypatch.setattr(studies, "PAGE", tmp_path / "page.html")
    context = Context("stream", scale=predicted.scale_of("1/16"))
    rows = list(studies.rows(context))
    assert [row.name for row in rows] == studies.expand(context)
    value = {row.name: row.value for row in rows}
    # The RTL's speedup at the paper's size, and its cycles at small grids.
    assert value["study.stencil.strong.4x8"] == pytest.approx(31.95, rel=0.005)
    errors = studies.pipeline_errors()
    assert len(errors) >= 12 and max(map(abs, errors.values())) < 0.04
    # Latencies are those of the paper's table or better, and rise by a hop's 139 cycles of 4 ns.
    hops = [value[f"study.latency.h{hop}"] for hop in range(1, 8)]
    assert all(later - one == pytest.approx(0.556, rel=0.06) for one, later in pairwise(hops))
    assert "stencil" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_law_of_messages_is_within_its_errors_at_runs_that_it_was_not_fitted_to() -> None:
    bench._load("stream")
    law = importlib.import_module("gossamer_bench_stream._law")
    for kind in law.KINDS:
        unseen = law.unseen(kind)
        assert len(unseen) >= 10 and max(abs(law.law(kind).error(one)) for one in unseen) < 0.10
        assert {one.hops for one in unseen} - {one.hops for one in law.points() if one.kind == kind and one.fitted}
    # Runs made with known constants give these back.
    known = law.Law(10.0, 139.0, 400.0, 100.0, 0.85)
    runs = [law.Point("message", h, n, known.cycles(h, n), True, "") for h in (1, 3) for n in (1, 16, 256, 4096)]
    found = law.fit(runs)
    assert found.hop == pytest.approx(known.hop, rel=0.02) and found.element == pytest.approx(known.element, rel=0.02)


@pytest.mark.tier("all", seconds=60, adds="points of streams measured again in RTL")
def test_points_of_streams_are_those_of_the_rtl() -> None:
    gossamer_setup.require("core", "test", "rtl")
    bench._load("stream")
    points = importlib.import_module("gossamer_bench_stream._law").points()
    boards = ring.boards(8, 4096)
    for one in (one for one in points if one.kind == "message" and one.hops in (1, 4) and one.elements <= 64):
        if one.elements == 1:
            assert ring.numbers("latency", boards, "latency", one.hops) == [one.cycles], str(one)
        else:
            many, _, cycles = ring.numbers("message", boards, "message", one.hops, one.elements, 4)
            assert cycles / many == one.cycles, str(one)


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
