# SPDX-License-Identifier: Apache-2.0
"""Vertices that read their own edges and send along one, on boards and clusters, also in programs with a host."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from algorithm_judges import propagated, walked
from conftest import ROOT, Command
from made_graphs import graph_of, random_edges

import gossamer as gs
from gossamer import config as configs
from gossamer.engines.rtl_cluster import Plan
from gossamer.engines.rtl_vertices import Hardware
from gossamer.errors import RunDied

FOUR = ROOT / "tests" / "fixtures" / "cluster" / "four.toml"
FIXTURES = ROOT / "tests" / "fixtures"
WHERE = [("tiny", "local"), ("tiny", "none"), ("four", "full")]


def hardware(where: str, multicast: str) -> Hardware:
    """``four`` boards lose frames."""
    if where == "tiny":
        return Hardware(config="tiny", multicast=multicast)
    plan = Plan(configs.load_cluster(FOUR))
    return Hardware(plan=plan, multicast=multicast, settings={"frame_loss": 0.01}, mapping="random")


@pytest.mark.default_cases("tiny-local", seconds=22, adds="clusters and the other modes of multicast")
@pytest.mark.parametrize("where, multicast", WHERE)
def test_messages_arrive_with_the_edge_they_were_sent_along(where: str, multicast: str, seed: int) -> None:
    """Wide values, notes of two bytes, loops and parallel edges, edges within threads, and multicast on a pin."""
    random = np.random.default_rng(seed)
    vertices = 50
    a, b = random_edges(random, vertices, 250)
    weights = random.integers(1, 100, len(a)) / 8
    found = gs.run(
        FIXTURES / "vertices" / "along.h", graph_of(vertices, (a, b), weights), engine=hardware(where, multicast)
    )
    incoming = np.bincount(b, minlength=vertices)
    assert found.columns["heard"].tolist() == found.columns["all"].tolist() == incoming.tolist()
    assert not found.columns["wrong"].any()
    assert (found.columns["sum"] == np.bincount(b, weights * (a + 0.5), minlength=vertices)).all()
    degree = np.bincount(a, minlength=vertices)
    assert found.columns["notes"].tolist() == (degree * (degree + 1) // 2).tolist()
    assert found.stats["sends"] == len(a) + np.count_nonzero(degree) and found.stats["deliveries"] == 2 * len(a)


@pytest.mark.tier(
    "all",
    seconds=52,
    adds="triangles, clustering and the like on boards; rejected sends along missing edges run by default",
)
@pytest.mark.parametrize("where, multicast", WHERE[::2])
def test_algorithms_that_read_own_edges_match_references(where: str, multicast: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    vertices = 36
    edges = random_edges(random, vertices, 130)
    graph, judge = graph_of(vertices, edges), nx.Graph()
    judge.add_nodes_from(range(vertices))
    judge.add_edges_from((a, b) for a, b in zip(*map(np.ndarray.tolist, edges), strict=True) if a != b)
    walks = gs.run(
        ROOT / "examples/walks/walks.h", graph, walkers=3, steps=4, walk=9, engine=hardware(where, multicast)
    )
    assert walks.values.tolist() == walked(graph, 3, 4, 9)
    if where != "tiny":
        return
    labels = gs.run("label-propagation", graph, iterations=3, engine=hardware(where, multicast))
    assert labels.values.tolist() == propagated(judge, 3)
    counted = gs.run("triangles", graph, engine=hardware(where, multicast))
    assert counted.totals["triangles"] == sum(nx.triangles(judge).values()) // 3
    each = gs.run("clustering", graph, engine=hardware(where, multicast))
    assert each.columns["triangles"].tolist() == list(nx.triangles(judge).values())
    np.testing.assert_allclose(each.columns["clustering"], list(nx.clustering(judge).values()), rtol=1e-12)


def test_send_along_a_missing_edge_names_its_vertex() -> None:
    """The error names the vertex by its label."""
    ring = gs.Graph.from_arrays(["a", "b", "c"], ["b", "c", "a"], np.ones(3))
    for engine in (Hardware(config="tiny"), "cpu"):
        with pytest.raises(
            gs.InputError if engine == "cpu" else RunDied, match="vertex b sends along its edge 1, but it has 1 edge"
        ):
            gs.run(FIXTURES / "vertices" / "along.h", ring, engine=engine, beyond=1)


def token_walk(lines: list[str], vertices: int, tokens: int) -> list[str]:
    """The expected output of tokens/host.cpp after the edges that it has printed."""
    rows: list[list[tuple[int, int]]] = [[] for _ in range(vertices)]
    for line in lines[: 4 * vertices]:
        source, target, value = map(int, line.split())
        rows[source].append((target, value))
    for row in rows:
        row.sort(key=lambda edge: edge[0])  # parallel edges stay in their order
    notes = [[0] * len(row) for row in rows]
    printed = []
    for token in range(tokens):
        at, hops, total = token % vertices, token, 0
        while hops and rows[at]:
            k = hops % len(rows[at])
            target, value = rows[at][k]
            notes[at][k] += 1
            total += value * 1000 + target + value + 100 * notes[at][k]
            at, hops = target, hops - 1
        printed.append(f"token {token}: {at} {total % 2**32}")
    return printed


@pytest.mark.tier("all", seconds=16, adds="messages of a host to vertices with their own edges")
@pytest.mark.parametrize("where", [("--config", "tiny"), ("--cluster", "pair")])
def test_host_messages_and_edge_messages_reach_the_same_vertices(
    where: tuple[str, str], command: Command, seed: int
) -> None:
    """Messages of the host and messages along one edge reach the same vertices."""
    words = (str(9), str(seed % 10_000), str(12))
    host = FIXTURES / "hosts" / "tokens" / "host.cpp"
    on_boards = command("run", "--engine", "rtl", *where, host, *words, timeout=300)
    assert (on_boards.returncode, on_boards.stderr) == (0, "")
    lines = on_boards.stdout.splitlines()
    assert lines[36:] == token_walk(lines, 9, 12)
    assert command("run", host, *words).stdout == on_boards.stdout


def test_send_along_a_missing_edge_is_an_error_for_the_host(command: Command) -> None:
    host = FIXTURES / "hosts" / "tokens" / "host.cpp"
    said = [
        command("run", *how, host, "9", "5", "40", "beyond", timeout=300).stdout.splitlines()[-1]
        for how in (("--engine", "rtl", "--config", "tiny"), ())
    ]
    assert said[0] == said[1] and said[0].startswith("error: vertex 2 sends along its edge ")


def test_changed_graph_has_matching_edges_and_sums() -> None:
    """Tables are rebuilt; indices of vertices do not change, and a removed vertex leaves a gap."""
    path = gs.Graph.from_arrays(list(range(12)), [*range(1, 12), 0], np.arange(12) / 4)
    run = gs.start(FIXTURES / "vertices" / "along.h", path, engine=Hardware(config="tiny"))
    run.go()
    run.remove_vertices([5])
    run.add_edges([4, 4], [7, 2], weights=[3.0, 9.5])
    found = run.go()
    edges = [(v, v + 1, v / 4) for v in range(12) if v not in (4, 5, 11)] + [(11, 0, 11 / 4), (4, 7, 3.0), (4, 2, 9.5)]
    sums = np.zeros(12)
    for a, b, value in edges:
        sums[b] += value * (a + 0.5)
    assert not found.columns["wrong"].any()
    there = [v for v in range(12) if v != 5]
    assert found.columns["sum"][there].tolist() == sums[there].tolist()
    assert found.stats["tables_anew"]
    assert list(itertools.islice(found.columns["notes"][there], 5)) == [1, 1, 1, 1, 3]
