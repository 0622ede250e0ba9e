# SPDX-License-Identifier: Apache-2.0
"""Graphs for partitioning, their coarsening, and the placement of parts, checked by plain loops over edges."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from conftest import Size
from numpy.typing import NDArray

import gossamer_setup
from gossamer import config as configs
from gossamer import mapper
from gossamer.errors import GossamerError
from gossamer.mapper import partition, placement, split, workers
from gossamer.mapper.levels import Undirected

Edges = list[tuple[int, int]]


@pytest.fixture(scope="module", autouse=True)
def partitioner() -> None:
    gossamer_setup.require("rtl")


def some(source: random.Random, vertices: int, edges: int) -> Edges:
    """Random edges, with hubs, loops, parallel edges and isolated vertices."""
    hubs = [source.randrange(vertices) for _ in range(2)]
    ends = range(max(1, vertices * 3 // 4))
    begins = [source.choice(hubs) if source.random() < 0.3 else source.choice(ends) for _ in range(edges)]
    found = [(begin, source.choice(ends)) for begin in begins]
    return found + [source.choice(found) for _ in range(edges // 10)]


def graph_of(vertices: int, edges: Edges, own: int = 4) -> Undirected:
    ends = np.array(edges, np.int64).reshape(-1, 2)
    return Undirected.from_edges(vertices, ends[:, 0], ends[:, 1], own)


def entries(graph: Undirected) -> Counter[tuple[int, int]]:
    """Weights of all entries; checks that rows are ascending and symmetric."""
    found: Counter[tuple[int, int]] = Counter()
    for vertex in range(graph.vertices):
        begin, end = int(graph.offsets[vertex]), int(graph.offsets[vertex + 1])
        row = graph.neighbours[begin:end].tolist()
        assert row == sorted(set(row)) and vertex not in row
        for other, weight in zip(row, graph.weights[begin:end].tolist(), strict=True):
            found[vertex, other] += weight
    assert all(found[b, a] == weight for (a, b), weight in found.items())
    return found


def both_ways(edges: Edges, label: NDArray[np.int64]) -> Counter[tuple[int, int]]:
    found: Counter[tuple[int, int]] = Counter()
    for a, b in edges:
        if label[a] != label[b]:
            found[int(label[a]), int(label[b])] += 1
            found[int(label[b]), int(label[a])] += 1
    return found


def cut_of(edges: Edges, part: NDArray[np.int64]) -> int:
    return sum(int(part[a] != part[b]) for a, b in edges)


@pytest.mark.parametrize("seed", range(6))
def test_undirected_graphs_have_each_edge_in_both_directions(seed: int) -> None:
    source = random.Random(seed)
    vertices = source.choice([1, 2, 50, 3000])
    edges = [] if vertices == 1 else some(source, vertices, 4 * vertices)
    graph = graph_of(vertices, edges, own=7)
    assert entries(graph) == both_ways(edges, np.arange(vertices))
    degree = Counter(itertools.chain.from_iterable(edges))
    assert graph.work.tolist() == [7 + degree[vertex] for vertex in range(vertices)]

    members = np.array(source.sample(range(vertices), source.randrange(vertices) + 1))
    number = {int(vertex): at for at, vertex in enumerate(members)}
    inside = [(number[a], number[b]) for a, b in edges if a in number and b in number]
    part = graph.part(members)
    assert entries(part) == both_ways(inside, np.arange(len(members)))
    assert part.work.tolist() == graph.work[members].tolist()

    count = source.randrange(vertices) + 1
    label = np.array([source.randrange(count) for _ in range(vertices)])
    coarse = graph.contract(label.astype(np.uint32), count)
    assert coarse.vertices == count
    assert entries(coarse) == both_ways(edges, label)
    assert coarse.work.tolist() == np.bincount(label, weights=graph.work, minlength=count).astype(int).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_clusters_respect_the_weight_limit_and_are_numbered_without_gaps(seed: int, size: Size) -> None:
    source = random.Random(seed)
    vertices = size.pick(small=2000, usual=5000, large=100_000)
    edges = some(source, vertices, 5 * vertices)
    graph = graph_of(vertices, edges)
    most = source.choice([1, 40, 400])
    label, count = graph.clusters(most)
    assert sorted(set(label.tolist())) == list(range(count))
    held = np.bincount(label, weights=graph.work)
    alone = np.bincount(label) == 1
    assert (held[~alone] <= most).all()
    assert (count == vertices) == (most == 1)
    again, _ = graph.clusters(most)
    assert (again == label).all()


@pytest.mark.parametrize("shape", ["star", "nothing"])
def test_vertices_that_fit_no_neighbours_cluster_are_clustered_together(shape: str) -> None:
    """Leaves of a star exceed the hub's cluster at once, and isolated vertices have no neighbour."""
    vertices = 4000
    graph = graph_of(vertices, [(0, leaf) for leaf in range(1, vertices)] if shape == "star" else [])
    _, count = graph.clusters(100)
    assert count < vertices / 10


def test_refinement_restores_the_halves_of_a_grid() -> None:
    """Two halves of a grid with some vertices exchanged: the cut falls to about that of a straight border."""
    side = 40
    edges = [(a, a + side) for a in range(side * side - side)]
    edges += [(a, a + 1) for a in range(side * side) if (a + 1) % side]
    graph = graph_of(side * side, edges)
    part = (np.arange(side * side) >= side * side // 2).astype(np.uint32)
    clean = cut_of(edges, part)
    source = np.random.default_rng(3)
    part[source.integers(0, side * side, 60)] ^= 1
    dirty = cut_of(edges, part)
    total = int(graph.work.sum())
    graph.refine(part, 2, total * 52 // 100)
    assert cut_of(edges, part) <= clean + (dirty - clean) // 5
    assert np.bincount(part, weights=graph.work).max() <= total * 52 // 100


def test_refinement_moves_vertices_out_of_overweight_parts() -> None:
    graph = graph_of(900, some(random.Random(1), 900, 9000))
    part = np.repeat([0, 0, 1], 300).astype(np.uint32)
    most = int(graph.work.sum()) * 55 // 100
    graph.refine(part, 2, most)
    assert np.bincount(part, weights=graph.work).max() <= most


def geometric(vertices: int, seed: int) -> tuple[Edges, NDArray[np.int64]]:
    """Vertices in a square, in random order, with edges to some near vertices."""
    source = np.random.default_rng(seed)
    side = int(vertices**0.5)
    at = source.permutation(side * side)
    near = source.integers(-3, 4, (side * side, 8, 2))
    ends = np.stack(np.divmod(np.arange(side * side), side), axis=1)[:, None] + near
    ends = np.clip(ends, 0, side - 1)
    target = at[ends[..., 0] * side + ends[..., 1]]
    return [(int(a), int(b)) for a, row in zip(at, target, strict=True) for b in row], at


@pytest.mark.parametrize("method", split.SPLITTERS)
def test_coarse_levels_cost_few_edges(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    split.require(method)
    edges, _ = geometric(10_000, 1)
    graph = graph_of(10_000, edges)
    straight = split.split(graph, 8, method, 1)
    monkeypatch.setitem(split._ENTRIES, method, 20_000)
    levels = split.split(graph, 8, method, 1)
    chance = cut_of(edges, np.arange(10_000) % 8)
    assert cut_of(edges, straight) < chance / 8
    assert cut_of(edges, levels) < 1.3 * cut_of(edges, straight)
    for found in (straight, levels):
        work = np.bincount(found, weights=graph.work)
        assert work.max() / work.mean() < 1.06
    assert (split.split(graph, 8, method, 1) == levels).all()


def test_worker_processes_produce_the_mapping_of_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    edges, _ = geometric(3000, 2)
    source, target = np.array(edges).T
    machine = mapper.Machine(configs.load("tiny"), 3)
    told: list[tuple[int, int]] = []
    one = mapper.assign(len(source) // 8, source, target, machine)
    monkeypatch.setattr(partition, "_MANY", 0)
    many = mapper.assign(
        len(source) // 8, source, target, machine, progress=lambda done, total: told.append((done, total))
    )
    assert (one.thread == many.thread).all()
    tiles = 3 * machine.board_tiles
    assert told == [(done, tiles) for done in range(1, tiles + 1)]


def test_exited_worker_process_raises_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "_MANY", 0)
    monkeypatch.setattr(workers.sys, "executable", "/bin/false")
    with pytest.raises(GossamerError, match="process of the mapper ended with code 1"):
        mapper.assign(100, np.arange(99), np.arange(1, 100), mapper.Machine(configs.load("tiny"), 2))


@pytest.mark.parametrize("seed", range(5))
def test_placement_costs_at_most_5_percent_more_than_the_optimum(seed: int) -> None:
    source = np.random.default_rng(seed)
    count = 6
    between = source.integers(0, 100, (count, count)).astype(float)
    between += between.T
    np.fill_diagonal(between, 0)
    hops = np.abs(np.arange(count)[:, None] - np.arange(count))
    board = placement.assign_boards(between, hops)
    assert sorted(board) == list(range(count))

    def cost(at: tuple[int, ...]) -> float:
        return sum(between[a, b] * hops[at[a], at[b]] for a in range(count) for b in range(count))

    best = min(cost(at) for at in itertools.permutations(range(count)))
    assert cost(tuple(board)) <= 1.05 * best
    assert cost(tuple(board)) == pytest.approx(placement.cost(between, hops, board))


def test_chain_of_parts_is_placed_along_a_chain_of_boards() -> None:
    """Forty parts in random order, each connected to the next: no edge crosses two links."""
    count = 40
    order = np.random.default_rng(1).permutation(count)
    between = np.zeros((count, count))
    between[order[:-1], order[1:]] = between[order[1:], order[:-1]] = 10
    hops = np.abs(np.arange(count)[:, None] - np.arange(count))
    assert placement.cost(between, hops, placement.assign_boards(between, hops)) <= 1.3 * between.sum()


def test_cut_counts_equal_a_loop_over_edges() -> None:
    source = random.Random(5)
    machine = mapper.Machine(configs.load("tiny"), 3, hops=np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]]))
    edges = some(source, 500, 3000)
    ends = np.array(edges)
    mapping = mapper.assign(500, ends[:, 0], ends[:, 1], machine, method="random")
    counts: Counter[str] = Counter()
    each = machine.tile_threads
    for a, b in edges:
        one, other = int(mapping.thread[a]), int(mapping.thread[b])
        boards = one // each // machine.board_tiles, other // each // machine.board_tiles
        counts["hops"] += abs(boards[0] - boards[1])
        if boards[0] != boards[1]:
            counts["boards"] += 1
        elif one // each != other // each:
            counts["tiles"] += 1
        else:
            counts["within" if one == other else "threads"] += 1
    found = mapper.cut(mapping, ends[:, 0], ends[:, 1], machine)
    assert {name: getattr(found, name) for name in ("boards", "tiles", "threads", "within", "hops")} == {
        name: counts[name] for name in ("boards", "tiles", "threads", "within", "hops")
    }
    degree = Counter(itertools.chain.from_iterable(edges))
    work = [0] * machine.threads
    for vertex, thread in enumerate(mapping.thread):
        work[thread] += 4 + degree[vertex]
    assert found.thread_balance == pytest.approx(sum(work) / len(work) / max(work))
