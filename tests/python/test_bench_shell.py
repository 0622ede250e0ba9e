# SPDX-License-Identifier: Apache-2.0
"""Suite shell: the recomputed tables of the paper, the ideal of the elastic job, the bounds of rows. Nothing is run."""

from __future__ import annotations

import importlib
import random
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pytest

from gossamer.bench import Context
from gossamer.errors import InputError
from gossamer.paths import ROOT
from gossamer.shell import ptrans


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The modules of the suite; tests have a folder of the same name."""
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    return importlib.import_module("bench.shell")


def test_recomputed_tables_are_those_of_the_paper(suite: ModuleType) -> None:
    studies = importlib.import_module("bench.shell.studies")
    for boards, (noctua, essper, saf, saved) in studies.TABLE2.items():
        count = studies.hosts(boards)
        found = [round(studies.cost(boards, count[who]), 2) for who in ("Noctua", "ESSPER", "SAF")]
        assert found == [noctua, essper, saf]
        assert 100 * (1 - saf / min(noctua, essper)) == pytest.approx(saved, abs=0.006)
    assert studies.hosts(20)["ESSPER"] == 10
    for percent, (cluster_h, cluster_kj, saf_h, saf_kj, less_h, less_kj) in studies.TABLE3.items():
        found_h = studies.times(percent)[:2]
        assert found_h == pytest.approx((cluster_h, saf_h))
        cluster, of = studies.energies(percent)
        assert cluster == pytest.approx(cluster_kj, abs=0.006)
        assert of["10 mW in all"] == pytest.approx(saf_kj, abs=0.006)
        assert 100 * (1 - found_h[1] / found_h[0]) == pytest.approx(less_h, abs=0.006)
        assert 100 * (1 - of["10 mW in all"] / cluster) == pytest.approx(less_kj, abs=0.06)
        if 0 < percent < 100:
            assert of["10 mW in all"] < of["10 mW per board"] < of["10 mW in all, and static power"]
    context = Context("shell", only="^study.saf-adds")
    assert [row.value for row in studies.rows(context, path=None)] == [5867, 14406, 1043210]


def test_ideal_time_gives_the_work_of_the_plugged_boards(suite: ModuleType) -> None:
    """Against sums over small steps."""
    elastic = importlib.import_module("bench.shell.elastic")
    endless = float("inf")
    assert elastic.ideal([(0, endless)] * 4 + [(4, endless)] * 4, 40) == 7
    assert elastic.ideal([(0, endless)], 5) == 5
    draw = random.Random(1)
    for _ in range(200):
        boards = [(0, endless)]
        for _ in range(draw.randrange(6)):
            begin = draw.randrange(20)
            boards.append((begin, draw.choice((begin + draw.randrange(1, 10), endless))))
        work = draw.randrange(1, 80)
        given, step, now = Fraction(0), Fraction(1, 60), Fraction(0)
        while given < work:
            given += step * sum(begin <= now < end for begin, end in boards)
            now += step
        assert elastic.ideal(boards, work) == pytest.approx(float(now), abs=1 / 50)
    with pytest.raises(InputError):
        elastic.ideal([(0, 3.0)], 4)


@pytest.mark.parametrize(("how", "seconds", "missed"), [("strong", 0.222, False), ("strong", 0.223, True),
                                                        ("weak", 4.21, False), ("weak", 4.22, True)])  # fmt: skip
def test_ptrans_rows_miss_below_their_bounds(suite: ModuleType, how: str, seconds: float, missed: bool) -> None:
    module = importlib.import_module("bench.shell.ptrans")
    matrix = ptrans.matrices(32, 32, 1)[0]
    single = ptrans.Run(0.1, 4.0, 0.1, [500_000_000], matrix)
    run = ptrans.Run(0.1, seconds, 0.1, [25_000_000], matrix)
    name = f"ptrans.{how}.20"
    (row,) = module._rows(Context("shell", only=f"^{name}$"), how, 20, single, run, 1)
    assert (row.missed is not None) == missed


def test_pages_have_the_rows(suite: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    module, studies = (importlib.import_module(f"bench.shell.{name}") for name in ("ptrans", "studies"))
    matrix = ptrans.matrices(32, 32, 1)[0]
    single = ptrans.Run(0.1, 4.0, 0.1, [500_000_000], matrix)
    rows = []
    for how in ("strong", "weak"):
        for count in module.COUNTS[1:]:
            run = ptrans.Run(0.1, 4.0 / count, 0.1, [500_000_000 // count], matrix)
            rows += module._rows(Context("shell"), how, count, single, run, 1)
    assert {row.name for row in rows} == set(module.NAMES)
    module.draw(tmp_path / "ptrans.html", rows)
    assert "ptrans.strong.8.end-to-end" in (tmp_path / "ptrans.html").read_text()
    studies.draw(tmp_path / "studies.html")
    assert "16,099.79" in (tmp_path / "studies.html").read_text()
