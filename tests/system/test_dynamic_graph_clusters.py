# SPDX-License-Identifier: Apache-2.0
"""Runs on clusters that continue after changes of their graph.

The references are SciPy, on the test's own copy of the graph, and the ``cpu`` engine; the walker follows the
tables in the memories of the simulated boards, from each vertex to every edge.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, Size
from python.dynamic_graph_model import Model
from python.table_walker import Edge, Walker

import gossamer as gs
import gossamer_setup
from gossamer import config as configs
from gossamer import mapper
from gossamer.engines.resumable import BoardRun
from gossamer.engines.rtl_cluster import Plan
from gossamer.engines.rtl_vertices import MULTICAST, Hardware

ENDS = ROOT / "tests" / "fixtures" / "descriptors" / "dynamic-graph-ends.h"
FOUR = 'description = "four boards in a square"\nconfig = "tiny"\ntopology = "mesh 2x2"\nhosts = ["host - x1y1:east"]\n'
STEPS = 77
"""The maximum number of steps that the walker expects in threads' headers."""
_PIECE = 256


@pytest.fixture(scope="module", autouse=True)
def simulator() -> None:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    _rtl_build.cluster(configs.load("tiny"))


def boards(name: str | Path, multicast: str, **how: object) -> Hardware:
    return Hardware(plan=Plan(configs.load_cluster(name)), multicast=multicast, **how)  # type: ignore[arg-type]


class OfBoards(Walker):
    """Reads the boards' memories as their threads do; states begin with the vertex's index."""

    def __init__(self, run: gs.Run, vertices: list[int], pins: int) -> None:
        board_run = run._engine_run
        assert isinstance(board_run, BoardRun)
        hardware, tile, image = board_run._hardware, board_run._tile, board_run._image
        assert board_run._patches is not None and tile is not None and image is not None
        assert hardware.plan is not None
        self.tile, self.config = tile, hardware.plan.config
        self.layout, self.changing = board_run._patches.layout, True
        self.multicast = hardware.multicast != "none"
        self.pins = pins
        self.names = {v.to_bytes(4, "little"): v for v in vertices}
        self.keys, self.crossings, self.kinds = set(), 0, Counter()
        self.far = {}
        for cable in hardware.plan.topology.cluster.cables:
            ends = ((cable.a, cable.a_link), (cable.b, cable.b_link))
            one, other = ((board, hardware.plan.link(board, link)) for board, link in ends)
            self.far |= {one: other[0], other: one[0]}
        self.pieces: dict[tuple[int, int], bytes] = {}
        self.headers = {}
        blocks, threads = image.symbols["gossamer_polite_blocks"], self.config.threads
        for memory in range(self.drams * hardware.plan.boards):
            for number, address in enumerate(self.words(memory, blocks, threads)):
                if address:
                    self.headers[memory // self.drams, number] = (memory, address)
        assert len(self.headers) == threads * hardware.plan.boards

    def raw(self, memory: int, address: int, size: int) -> bytes:
        found = b""
        first = address // _PIECE
        for piece in range(first, (address + size - 1) // _PIECE + 1):
            if (memory, piece) not in self.pieces:
                self.pieces[memory, piece] = self.tile.read_memory(memory, piece * _PIECE, _PIECE)
            found += self.pieces[memory, piece]
        return found[address - first * _PIECE :][:size]

    def name(self, memory: int, address: int) -> int:
        return self.names[self.raw(memory, address, 4)]


def least_ends(model: Model) -> tuple[list[int], list[int]]:
    """The smallest index upstream and downstream of each vertex."""
    before, behind = ([2**32 - 1] * model.vertices for _ in range(2))
    for u, v, _ in model.edges:
        before[v], behind[u] = min(before[v], u), min(behind[u], v)
    return before, behind


@pytest.mark.default_cases("pair-local", seconds=6, adds="the other modes of multicast")
@pytest.mark.parametrize(("name", "multicast"), [*(("pair", one) for one in MULTICAST), ("four", "full")])
def test_tables_follow_the_graph(name: str, multicast: str, tmp_path: Path, size: Size) -> None:
    """Two pins; new vertices reuse slots of removed ones. Every edge is found once in the memories of the boards."""
    cluster: str | Path = name
    if name == "four":
        cluster = tmp_path / "four.toml"
        cluster.write_text(FOUR, encoding="utf-8")
    for seed in range(size.pick(1, 1, 8)):
        model = Model(seed, 60, 110)
        run = gs.start(ENDS, model.graph(), engine=boards(cluster, multicast, mapping="random", max_steps=STEPS))
        keys = 0
        for turn in range(size.pick(4, 4, 12)):
            found = run.go()
            assert (found.columns["before"].tolist(), found.columns["behind"].tolist()) == least_ends(model)
            assert found.stats["deliveries"] == 2 * len(model.edges)
            assert found.stats["tables_anew"] == (turn in (0, 3))
            walker = OfBoards(run, [int(v) for v in model.there()], pins=2)
            wanted = Counter[Edge]((u, 0, v, b"") for u, v, _ in model.edges)
            wanted += Counter[Edge]((v, 1, u, b"") for u, v, _ in model.edges)
            assert walker.walk() == wanted
            if turn in (0, 3):
                keys = len(walker.keys)
                assert (keys > 8) == (multicast == "full")
            else:
                assert (0 < len(walker.keys) <= keys) == (multicast == "full")
            model.remove_vertices(run, [int(v) for v in model.random.choice(model.there(), 4, replace=False)])
            model.add_vertices(run, 6)
            model.add_edges(run, 30)
            model.remove_edges(run, 30)
            if turn == 2:
                run.restart()
        model.check_graph(run)


def distances(seed: int, engine: str | Hardware) -> list[list[int]]:
    """Distances after random changes, each compared with SciPy; reproducible by the seed."""
    model = Model(seed, 70, 160)
    run = gs.start("sssp-paths", model.graph(), engine=engine, source=1)
    told = []
    for turn in range(5):
        found = run.go()
        told.append(found.values.tolist())
        assert told[-1] == model.distances(1).tolist()
        if turn % 2:
            lost = model.remove_edges(run, 12)
            before = found.columns["previous"].astype(np.int64)
            behind = {v for u, v in lost if before[v] == u}
            while more := {v for v in range(model.vertices) if before[v] in behind} - behind:
                behind |= more
            run.reset(sorted(behind))
        else:
            model.add_vertices(run, 5)
            model.add_edges(run, 30)
    model.check_graph(run)
    return told


@pytest.mark.tier("all", seconds=25, adds="random changes on clusters")
def test_random_changes_match_scipy_and_cpu(size: Size) -> None:
    """Edges with values; vertices and edges are added, and edges are removed."""
    for seed in range(100, 100 + size.pick(1, 1, 6)):
        cpu = distances(seed, "cpu")
        for multicast in MULTICAST:
            assert distances(seed, boards("pair", multicast)) == cpu


@pytest.mark.tier("all", seconds=30, adds="changes of a graph over lossy links")
def test_pagerank_continues_over_lossy_links_after_changes(size: Size) -> None:
    """PageRank over links that lose frames; full tables are rebuilt, and the ranks continue."""
    model = Model(60, 30, 80)
    engine = boards("pair", "full", settings={"frame_loss": 0.01}, spare=mapper.Spare(least=1))
    run = gs.start("pagerank", model.graph(), engine=engine, tolerance=1e-3)
    run.go()
    for turn in size.pick((0, 2), (0, 2), (0, 1, 2)):
        model.add_vertices(run, (0, 3, 90)[turn])
        model.add_edges(run, 20)
        model.remove_edges(run, 10)
        model.remove_vertices(run, [int(v) for v in model.random.choice(model.there(), 3, replace=False)])
        found = run.go()
        assert np.allclose(found.values, model.ranks(), rtol=2e-2, atol=1e-3)
        assert found.stats["vertices"] == len(model.there())
        assert found.stats["deliveries"] == len(model.edges) * found.stats["steps"]
        assert found.stats["tables_anew"] == (turn == 2)
    model.check_graph(run)


@pytest.mark.tier("all", seconds=15, adds="the number of bytes that a change writes")
def test_one_changed_edge_writes_few_bytes_to_its_boards() -> None:
    n = 80
    ends = np.arange(n - 1), np.arange(1, n), np.full(n - 1, 5)
    run = gs.start("sssp", gs.Graph.from_arrays(*ends), engine=boards("pair", "full"), source=0)
    whole = run.go().stats["cycles"]
    run.add_edges(n - 12, n - 2, 1)
    found = run.go()
    assert found.values[-3:].tolist() == [5 * (n - 3), 5 * (n - 12) + 1, 5 * (n - 12) + 6]
    assert 0 < found.stats["written_bytes"] <= 12 * 32
    assert found.stats["cycles"] < whole
    assert run.go().stats["written_bytes"] == 0
