# SPDX-License-Identifier: Apache-2.0
"""Generators: properties of their graphs that hold for every seed."""

from __future__ import annotations

from collections.abc import Callable

import networkx
import numpy as np
import pytest
from conftest import Size

from gossamer.errors import InputError
from gossamer.graph import Graph, generate, read_graph

from .test_graph_read import assert_sound, edges_of

MAKERS: dict[str, Callable[[int, int], Graph]] = {
    "geometric": lambda seed, threads: generate.geometric(5000, 20, 0.1, seed=seed, threads=threads),
    "geometric few": lambda seed, threads: generate.geometric(5000, 20, 0.03, seed=seed, threads=threads),
    "geometric random": lambda seed, threads: generate.geometric(
        3000, 9, 0.2, seed=seed, threads=threads, order="random"
    ),
    "rmat": lambda seed, threads: generate.rmat(12, 8, seed=seed, threads=threads, weights=(0, 9)),
    "rmat simple": lambda seed, threads: generate.rmat(
        11, seed=seed, threads=threads, symmetric=True, simple=True, weights=(-9, 9)
    ),
    "grid": lambda seed, threads: generate.grid(50, 70, seed=seed, threads=threads, weights=(1, 100)),
}


@pytest.mark.parametrize("name", MAKERS)
def test_graph_depends_on_the_seed_but_not_on_the_number_of_threads(seed: int, name: str) -> None:
    one, three, other = MAKERS[name](seed, 1), MAKERS[name](seed, 3), MAKERS[name](seed + 1, 1)
    assert_sound(one)
    assert (one.out.offsets == three.out.offsets).all()
    assert (one.out.targets == three.out.targets).all()
    assert not np.array_equal(one.out.targets, other.out.targets) or one.weighted
    if one.weighted:
        assert one.out.weights is not None
        assert (one.out.weights == three.out.weights).all()
        assert not np.array_equal(one.out.weights, other.out.weights)


@pytest.mark.parametrize("order", ["space", "random"])
def test_geometric_graph_has_the_fanout_and_is_local(seed: int, order: str) -> None:
    graph = generate.geometric(4000, 25, 0.15, seed=seed, order=order)
    census = graph.census()
    assert (census["loops"], census["parallel"]) == (0, 0)
    # 4000 * pi * 0.15^2 = 283 neighbours in the middle, a quarter of it in a corner: more than the fanout.
    assert (graph.out.degrees() == 25).all()
    # Close vertices share neighbours, so there are far more triangles than in a graph without geometry.
    clustering = networkx.average_clustering(networkx.Graph(graph.to_networkx()))
    assert clustering > 4 * 50 / 4000
    sources = np.repeat(np.arange(4000), 25).astype(np.int64)
    reach = np.abs(sources - graph.out.targets).mean()
    # Indices are assigned band by band, so a neighbour is at most two bands away; after a shuffle it is anywhere.
    assert reach < 0.2 * 4000 if order == "space" else 0.3 * 4000 < reach < 0.37 * 4000


def test_geometric_graph_with_few_candidates_uses_all_of_them(seed: int) -> None:
    graph = generate.geometric(3000, 50, 0.05, seed=seed)
    degrees = graph.out.degrees()
    # Candidates: from 3000 * pi * 0.05^2 / 4 in corners to 23.6 on average in the middle, so 50 is rare.
    assert 15 < degrees.mean() < 24
    # Each vertex has edges to all vertices within the radius, so the graph is symmetric.
    full = degrees.max() == 50
    assert full or edges_of(graph) == edges_of(graph, into=True) == edges_of(Graph(out=graph.into))


def test_geometric_targets_are_uniform(seed: int) -> None:
    """With a radius that covers the square, all other vertices are equally likely."""
    graph = generate.geometric(60, 20, 2.0, seed=seed)
    counts = np.zeros(60)
    for again in range(200):
        counts += generate.geometric(60, 20, 2.0, seed=seed + again).into.degrees()
    assert (graph.out.degrees() == 20).all()
    expected = 200 * 20
    chi = ((counts - expected) ** 2 / expected).sum()
    assert chi < 150  # 59 degrees of freedom and less spread than independent draws


def test_rmat_quadrants_have_their_probabilities(seed: int) -> None:
    graph = generate.rmat(12, 16, seed=seed, permute=False)
    assert (graph.vertices, graph.edges) == (4096, 16 * 4096)
    sources = np.repeat(np.arange(4096), graph.out.degrees().astype(np.int64))
    # The top bits of both ends fall into the quadrants with probabilities a, b, c, d.
    shares = np.bincount(2 * (sources >> 11) + (graph.out.targets >> 11), minlength=4) / graph.edges
    assert np.allclose(shares, [0.57, 0.19, 0.19, 0.05], atol=0.01)
    # And so do the next bits, independently.
    shares = np.bincount(2 * (sources >> 10 & 1) + (graph.out.targets >> 10 & 1), minlength=4) / graph.edges
    assert np.allclose(shares, [0.57, 0.19, 0.19, 0.05], atol=0.01)
    shuffled = generate.rmat(12, 16, seed=seed)
    assert sorted(shuffled.out.degrees()) == sorted(graph.out.degrees())
    both = generate.rmat(10, seed=seed, symmetric=True, simple=True)
    census = both.census()
    assert (census["loops"], census["parallel"], both.symmetric) == (0, 0, True)
    assert edges_of(both) == edges_of(Graph(out=Graph(out=both.out).into))


def test_grid_matches_networkx(size: Size) -> None:
    for width, height in ((1, 1), (1, 7), (7, 1), (13, 9), (40, size.pick(5, 50, 500))):
        graph = generate.grid(width, height)
        expected = networkx.grid_2d_graph(height, width)
        expected_edges = {(y * width + x, v * width + u) for (y, x), (v, u) in expected.edges}
        assert set(edges_of(graph)) == expected_edges | {(b, a) for a, b in expected_edges}
        assert graph.symmetric
        assert graph.vertices == len(expected)


@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize("neighbours", [6, 26])
def test_cube_matches_networkx(neighbours: int, around: bool) -> None:
    """A product of three paths or cycles; with 26 neighbours the strong product without self-loops."""
    line = networkx.cycle_graph if around else networkx.path_graph
    product = networkx.cartesian_product if neighbours == 6 else networkx.strong_product
    for width, height, depth in ((3, 3, 3), (5, 3, 4)) if around else ((1, 1, 1), (1, 6, 2), (4, 3, 5)):
        graph = generate.cube(width, height, depth, neighbours=neighbours, around=around)
        expected = product(product(line(depth), line(height)), line(width))
        pairs = [[(z * height + y) * width + x for (z, y), x in ends] for ends in expected.edges]
        expected_edges = {(a, b) for a, b in pairs if a != b}
        assert set(edges_of(graph)) == expected_edges | {(b, a) for a, b in expected_edges}
        assert graph.symmetric and graph.vertices == len(expected)
        assert (np.diff(graph.out.offsets.astype(np.int64)) == neighbours).all() or not around


def test_ring_matches_networkx() -> None:
    assert set(edges_of(generate.ring(9))) == set(networkx.cycle_graph(9, networkx.DiGraph).edges)


def test_weights_are_uniform_and_symmetric(seed: int) -> None:
    graph = generate.grid(200, 200, weights=(-3, 6), seed=seed)
    assert graph.out.weights is not None
    counts = np.bincount(graph.out.weights + 3, minlength=10)
    assert len(counts) == 10
    assert abs(counts / graph.edges - 0.1).max() < 0.01
    matrix = graph.to_scipy()
    assert (matrix != matrix.T).nnz == 0


def test_specifications_match_the_functions() -> None:
    graph = read_graph("gen:grid:width=4,height=3,weights=1..9,seed=5")
    assert edges_of(graph) == edges_of(generate.grid(4, 3, weights=(1, 9), seed=5))
    assert edges_of(read_graph(graph.name)) == edges_of(graph)
    graph = read_graph("gen:rmat:scale=5,edge-factor=3,symmetric=yes,simple=true")
    assert graph.symmetric
    assert edges_of(read_graph(graph.name)) == edges_of(graph)
    assert read_graph("gen:ring:vertices=5", undirected=True).symmetric


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gen:rmt:scale=5", "did you mean rmat"),
        ("gen:", "the generators are cube, geo"),
        ("gen:rmat", "rmat needs scale"),
        ("gen:rmat:scale=x", "scale must be an integer"),
        ("gen:rmat:scale=40", "scale 40 is outside the range 1 .. 31"),
        ("gen:rmat:scale=5,a=0.9,b=0.9", "probabilities"),
        ("gen:rmat:scale=5,skale=6", "rmat has no parameter 'skale'"),
        ("gen:rmat:scale", "scale without a value"),
        ("gen:geo:vertices=10,radius=0", "radius 0.0 is outside"),
        ("gen:geo:vertices=0", "vertices 0 is outside"),
        ("gen:geo:vertices=10,order=best", "order 'best'"),
        ("gen:grid:width=70000,height=70000", "height 70000 is outside"),
        ("gen:cube:width=3,height=2,depth=3,around=yes", "height 2 is outside the range 3"),
        ("gen:cube:width=3,height=2,depth=3,neighbours=18", "neighbours 18; it must be 6 or 26"),
        ("gen:ring:vertices=5,weights=9:1", "greatest weight 1 is outside"),
        ("gen:ring:vertices=5,weights=heavy", "write them as LOW:HIGH"),
    ],
)
def test_invalid_specifications_are_reported(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_graph(spec)
