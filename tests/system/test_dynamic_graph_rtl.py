# SPDX-License-Identifier: Apache-2.0
"""Runs on boards that continue after changes of their graph, against SciPy on a copy of the graph in the test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agreement
import numpy as np
import pytest
from conftest import ROOT, Size
from python.dynamic_graph_model import Model

import gossamer as gs
import gossamer_setup
from gossamer import config as configs
from gossamer import mapper
from gossamer.engines.rtl_vertices import Hardware
from gossamer.errors import RunDied

FIXTURES = ROOT / "tests" / "fixtures" / "descriptors"


@pytest.fixture(scope="module", autouse=True)
def simulator() -> None:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    _rtl_build.cluster(configs.load("tiny"))


@pytest.fixture(params=["none", "local"])
def multicast(request: pytest.FixtureRequest) -> Iterator[str]:
    yield request.param


def boards(multicast: str = "local", config: str = "tiny", **how: Any) -> Hardware:
    return Hardware(config=config, multicast=multicast, **how)


def test_shortest_paths_continue_after_changes(multicast: str, size: Size) -> None:
    """Edges and vertices are added; then edges are removed, and the vertices reached over them are reset."""
    for seed in range(size.pick(1, 1, 12)):
        model = Model(seed, 60, 150)
        run = gs.start("sssp-paths", model.graph(), engine=boards(multicast), source=1)
        found = run.go()
        assert found.stats["tables_anew"]
        for batch in (1, 25, 4):
            model.add_vertices(run, batch % 4)
            model.add_edges(run, batch)
            found = run.go()
            assert found.values.tolist() == model.distances(1).tolist()
            assert found.stats["edges"] == len(model.edges)
        for _ in range(2):
            lost = model.remove_edges(run, 12)
            before = found.columns["previous"].astype(np.int64)
            behind = {v for u, v in lost if before[v] == u}
            while more := {v for v in range(model.vertices) if before[v] in behind} - behind:
                behind |= more
            run.reset(sorted(behind))
            found = run.go()
            assert found.values.tolist() == model.distances(1).tolist()
        model.check_graph(run)


@pytest.mark.default_cases(".*-tiny", seconds=60, adds="a configuration with four tiles")
@pytest.mark.parametrize(("symmetric", "config"), [(False, "tiny"), (True, "tiny"), (False, "quad")])
def test_components_continue_after_changes(symmetric: bool, config: str) -> None:
    """Messages also travel against the direction of edges: several relations on one pin. Also on `quad`, with two
    instruction memories, SRAM and 256 threads."""
    model = Model(40, 70, 40, symmetric=symmetric)
    run = gs.start("hashmin", model.graph(), engine=boards(config=config))
    found = run.go()
    for turn in range(5):
        assert found.values.tolist() == model.components().tolist()
        if turn % 2:
            lost = model.remove_edges(run, 5)
            apart = {found.values[v] for v in {v for pair in lost for v in pair}}
            run.reset(np.flatnonzero(np.isin(found.values, list(apart))))
        else:
            model.add_vertices(run, 2)
            model.add_edges(run, 9)
        found = run.go()


@pytest.mark.tier("all", seconds=20, adds="many changes of one graph on boards")
def test_pagerank_continues_after_all_kinds_of_changes() -> None:
    """In steps, with aggregates and parameters; new vertices reuse the slots of removed ones."""
    model = Model(60, 40, 120)
    run = gs.start("pagerank", model.graph(), engine=boards(), tolerance=1e-4)
    run.go()
    for turn in range(2):
        model.add_vertices(run, 7 * turn)
        model.add_edges(run, 20)
        model.remove_edges(run, 10)
        model.remove_vertices(run, [int(v) for v in model.random.choice(model.there(), 5, replace=False)])
        found = run.go()
        assert np.allclose(found.values, model.ranks(), rtol=1e-2, atol=2e-4)
        assert found.stats["vertices"] == len(model.there())
        assert found.stats["deliveries"] == len(model.edges) * found.stats["steps"]
    assert not found.stats["tables_anew"]
    model.check_graph(run)
    run.restart()
    again = run.go()
    assert again.stats["tables_anew"]
    assert np.allclose(again.values, model.ranks(), rtol=1e-2, atol=2e-4)


@pytest.mark.default_cases("uint32_t", seconds=29, adds="edges with floating-point values")
@pytest.mark.parametrize("sums", ["uint32_t", "float"])
def test_handler_calls_match_the_cpu_engine(sums: str, tmp_path: Path) -> None:
    header = tmp_path / "count.h"
    header.write_text((FIXTURES / "dynamic-graph-count.h").read_text().replace("Sum<uint32_t>", f"Sum<{sums}>"))
    graph = gs.Graph.from_arrays([0, 1, 2], [1, 2, 3])
    runs = [gs.start(header, graph, engine=engine) for engine in ("cpu", boards())]
    for run in runs:
        assert run.go().totals == {"there": 4}
        run.remove_vertices([1, 3])
        run.add_vertices(2)
        run.remove_vertices(4)  # was never in a table
        run.wake(2)
    for _ in range(2):
        cpu, rtl = (run.go() for run in runs)
        assert cpu.totals == rtl.totals == {"there": 3}
        agreement.check(cpu, rtl)
        for run in runs:
            run.reset(0)


def test_rows_of_two_pins_change(multicast: str) -> None:
    """Edges in both directions: every vertex receives again from all its neighbours."""
    model = Model(9, 60, 120)
    run = gs.start(FIXTURES / "dynamic-graph-ends.h", model.graph(), engine=boards(multicast))
    for turn in range(4):
        found = run.go()
        before, behind = (np.full(model.vertices, 2**32 - 1) for _ in range(2))
        for u, v, _ in model.edges:
            before[v], behind[u] = min(before[v], u), min(behind[u], v)
        assert found.columns["before"].tolist() == before.tolist()
        assert found.columns["behind"].tolist() == behind.tolist()
        model.remove_vertices(run, [int(v) for v in model.there()[turn : 4 * turn : 3]])
        model.add_vertices(run, 3)
        model.add_edges(run, 25)
        model.remove_edges(run, 30)
    assert not found.stats["tables_anew"]


def test_one_changed_edge_writes_few_bytes() -> None:
    """For a graph of any size; and the part takes few cycles."""
    for n in (100, 1000):
        ends = np.arange(n - 1), np.arange(1, n), np.full(n - 1, 5)
        run = gs.start("sssp", gs.Graph.from_arrays(*ends), engine=boards(), source=0)
        whole = run.go().stats["cycles"]
        run.add_edges(n - 12, n - 2, 1)
        found = run.go()
        assert found.values[-3:].tolist() == [5 * (n - 3), 5 * (n - 12) + 1, 5 * (n - 12) + 6]
        assert found.stats["written_bytes"] <= 12 * 32
        assert 3 <= found.stats["deliveries"] <= 4  # the last edge may carry both the old and the new distance
        assert found.stats["cycles"] < whole
        assert run.go().stats["written_bytes"] == 0


@pytest.mark.tier("all", seconds=11, adds="tables that overflow after changes")
def test_tables_are_rebuilt_when_full() -> None:
    model = Model(7, 64, 150)
    run = gs.start("sssp64", model.graph(), engine=boards(spare=mapper.Spare(least=1, arena=0)), source=7)
    run.go()
    anew = []
    for batch in (10, 200, 40):
        model.add_vertices(run, batch // 3)
        model.add_edges(run, batch)
        found = run.go()
        assert found.values.tolist() == model.distances(7).tolist()
        anew.append(found.stats["tables_anew"])
    assert all(anew)


def test_oversized_change_is_rejected_and_restart_recovers(monkeypatch: pytest.MonkeyPatch) -> None:
    run = gs.start("sssp", gs.Graph.from_arrays([0, 1], [1, 2], [3, 4]), engine=boards(), source=0)
    run.go()
    with monkeypatch.context() as less:
        base = int(run._engine_run._patches.tables.headers.min())  # type: ignore[attr-defined]
        less.setattr(mapper.Machine, "memory_end", property(lambda self: base + 300_000))
        random = np.random.default_rng(1)
        run.add_vertices(900)
        run.add_edges(*random.integers(0, 900, (2, 60_000)), np.ones(60_000, np.int64))
        with pytest.raises(gs.InputError, match=r"^tiny: a DRAM holds .* bytes of the graph, but the lists end"):
            run.go()
        with pytest.raises(gs.InputError, match=r"its last run did not reach its end, .*call restart\(\)$"):
            run.go()
    run.remove_vertices(list(range(5, 900)))
    run.restart()
    found, cpu = run.go(), gs.run("sssp", run.graph, source=0)
    assert found.values[:5].tolist() == cpu.values[:5].tolist()


@pytest.mark.tier("all", seconds=11, adds="a part that is aborted")
def test_no_states_after_an_aborted_part() -> None:
    run = gs.start(FIXTURES / "dynamic-graph-crash.h", gs.Graph.from_arrays([0, 1, 2], [1, 2, 3]), engine=boards())
    run.go()
    run.wake(2)
    with pytest.raises(RunDied, match=r"^crash: thread \d+, whose registers point to vertex 2: "):
        run.go()
    with pytest.raises(gs.InputError, match=r"^crash: its last run did not reach its end, .*call restart\(\)$"):
        run.go()
    run.restart()
    assert run.go().values.tolist() == [0, 1, 2, 3]


@pytest.mark.tier(
    "all", seconds=9, adds="applications without handlers of changes on boards; on cpu they are rejected by default"
)
def test_unsupported_applications_are_rejected() -> None:
    graph = gs.Graph.from_arrays([0, 1], [1, 2])
    with pytest.raises(gs.InputError, match=r"^--threads 3: vertices use all 32 threads of the machine$"):
        gs.start("hashmin", graph, engine=boards(), threads=3)
    with pytest.raises(gs.InputError, match=r"^tallies: its recv changes the values of edges, which boards do not"):
        gs.start(FIXTURES / "dynamic-graph-edges.h", gs.Graph.from_arrays([0, 1], [1, 2], [3, 4]), engine=boards())
