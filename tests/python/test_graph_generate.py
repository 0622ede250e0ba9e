# SPDX-License-Identifier: Apache-2.0
"""Generators: what their graphs must be, whatever the seed."""

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
def test_a_seed_gives_one_graph_on_any_number_of_threads(seed: int, name: str) -> None:
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
def test_geometric(seed: int, order: str) -> None:
    graph = generate.geometric(4000, 25, 0.15, seed=seed, order=order)
    census = graph.census()
    assert (census["loops"], census["parallel"]) == (0, 0)
    # 4000 * pi * 0.15^2 = 283 in the middle, a quarter of it in a corner: enough for all.
    assert (graph.out.degrees() == 25).all()
    # Near vertices share neighbours: far more triangles than in a graph without space.
    clustering = networkx.average_clustering(networkx.Graph(graph.to_networkx()))
    assert clustering > 4 * 50 / 4000
    sources = np.repeat(np.arange(4000), 25).astype(np.int64)
    reach = np.abs(sources - graph.out.targets).mean()
    # Numbers go band by band: a neighbour is at most two bands away; shuffled it is anywhere.
    assert reach < 0.2 * 4000 if order == "space" else 0.3 * 4000 < reach < 0.37 * 4000


def test_geometric_takes_all_where_there_are_few(seed: int) -> None:
    graph = generate.geometric(3000, 50, 0.05, seed=seed)
    degrees = graph.out.degrees()
    # Between 3000 * pi * 0.05^2 / 4 in corners and 23.6 on average in the middle, none can have 50 often.
    assert 15 < degrees.mean() < 24
    # Everyone takes all within the radius, so whom I see sees me.
    full = degrees.max() == 50
    assert full or edges_of(graph) == edges_of(graph, into=True) == edges_of(Graph(out=graph.into))


def test_geometric_spread_is_even(seed: int) -> None:
    """In a square with a radius that covers it, all others are equally likely."""
    graph = generate.geometric(60, 20, 2.0, seed=seed)
    counts = np.zeros(60)
    for again in range(200):
        counts += generate.geometric(60, 20, 2.0, seed=seed + again).into.degrees()
    assert (graph.out.degrees() == 20).all()
    expected = 200 * 20
    chi = ((counts - expected) ** 2 / expected).sum()
    assert chi < 150  # 59 degrees of freedom and less spread than independent draws


def test_rmat(seed: int) -> None:
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


def test_grid_is_networkxs(size: Size) -> None:
    for width, height in ((1, 1), (1, 7), (7, 1), (13, 9), (40, size.pick(5, 50, 500))):
        graph = generate.grid(width, height)
        judge = networkx.grid_2d_graph(height, width)
        wanted = {(y * width + x, v * width + u) for (y, x), (v, u) in judge.edges}
        assert set(edges_of(graph)) == wanted | {(b, a) for a, b in wanted}
        assert graph.symmetric
        assert graph.vertices == len(judge)


@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize("neighbours", [6, 26])
def test_cube_is_networkxs(neighbours: int, around: bool) -> None:
    """A product of three paths or circles: with 26 neighbours the strong one, less the vertices themselves."""
    line = networkx.cycle_graph if around else networkx.path_graph
    product = networkx.cartesian_product if neighbours == 6 else networkx.strong_product
    for width, height, depth in ((3, 3, 3), (5, 3, 4)) if around else ((1, 1, 1), (1, 6, 2), (4, 3, 5)):
        graph = generate.cube(width, height, depth, neighbours=neighbours, around=around)
        judge = product(product(line(depth), line(height)), line(width))
        pairs = [[(z * height + y) * width + x for (z, y), x in ends] for ends in judge.edges]
        wanted = {(a, b) for a, b in pairs if a != b}
        assert set(edges_of(graph)) == wanted | {(b, a) for a, b in wanted}
        assert graph.symmetric and graph.vertices == len(judge)
        assert (np.diff(graph.out.offsets.astype(np.int64)) == neighbours).all() or not around


def test_ring_is_networkxs() -> None:
    assert set(edges_of(generate.ring(9))) == set(networkx.cycle_graph(9, networkx.DiGraph).edges)


def test_weights_are_even_and_the_same_both_ways(seed: int) -> None:
    graph = generate.grid(200, 200, weights=(-3, 6), seed=seed)
    assert graph.out.weights is not None
    counts = np.bincount(graph.out.weights + 3, minlength=10)
    assert len(counts) == 10
    assert abs(counts / graph.edges - 0.1).max() < 0.01
    matrix = graph.to_scipy()
    assert (matrix != matrix.T).nnz == 0


def test_specifications() -> None:
    graph = read_graph("gen:grid:width=4,height=3,weights=1..9,seed=5")
    assert edges_of(graph) == edges_of(generate.grid(4, 3, weights=(1, 9), seed=5))
    assert edges_of(read_graph(graph.name)) == edges_of(graph)
    graph = read_graph("gen:rmat:scale=5,edge-factor=3,symmetric=yes,simple=true")
    assert graph.symmetric
    assert edges_of(read_graph(graph.name)) == edges_of(graph)
    assert read_graph("gen:ring:vertices=5", undirected=True).symmetric


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("gen:rmt:scale=5", "did you mean rmat"),
        ("gen:", "there are: cube, geo"),
        ("gen:rmat", "rmat needs scale"),
        ("gen:rmat:scale=x", "scale must be an integer"),
        ("gen:rmat:scale=40", "scale 40 is outside of 1 .. 31"),
        ("gen:rmat:scale=5,a=0.9,b=0.9", "probabilities"),
        ("gen:rmat:scale=5,skale=6", "no parameter 'skale'"),
        ("gen:rmat:scale", "scale without a value"),
        ("gen:geo:vertices=10,radius=0", "radius 0.0 is outside"),
        ("gen:geo:vertices=0", "vertices 0 is outside"),
        ("gen:geo:vertices=10,order=best", "order 'best'"),
        ("gen:grid:width=70000,height=70000", "height 70000 is outside"),
        ("gen:cube:width=3,height=2,depth=3,around=yes", "height 2 is outside of 3"),
        ("gen:cube:width=3,height=2,depth=3,neighbours=18", "neighbours 18; there may be 6 or 26"),
        ("gen:ring:vertices=5,weights=9:1", "greatest weight 1 is outside"),
        ("gen:ring:vertices=5,weights=heavy", "write them as LOW:HIGH"),
    ],
)
def test_bad_specifications(spec: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_graph(spec)
