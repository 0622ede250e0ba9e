# SPDX-License-Identifier: Apache-2.0
"""Applications that simulate a system in time steps, compared with NumPy on whole arrays."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from conftest import Size
from made_graphs import Edges, graph_of, random_edges
from scipy.sparse import csgraph
from step_models import heat, neighbours, scattered, spikes

import gossamer as gs
from gossamer import apps


def cube(side: int) -> Edges:
    """Neighbours in three dimensions."""
    number = np.arange(side**3).reshape(side, side, side)
    pairs = [(number[:-1], number[1:]), (number[:, :-1], number[:, 1:]), (number[:, :, :-1], number[:, :, 1:])]
    return np.concatenate([a.ravel() for a, _ in pairs]), np.concatenate([b.ravel() for _, b in pairs])


def grid(width: int, height: int) -> Edges:
    number = np.arange(width * height).reshape(height, width)
    pairs = [(number[:-1], number[1:]), (number[:, :-1], number[:, 1:])]
    return np.concatenate([a.ravel() for a, _ in pairs]), np.concatenate([b.ravel() for _, b in pairs])


@pytest.mark.parametrize("app", ["heat", "heat-gals"])
def test_heat_matches_the_explicit_scheme(app: str, size: Size, seed: int) -> None:
    random = np.random.default_rng(seed)
    cases = [(36, grid(9, 4)), (125, cube(5)), (1, (np.array([0]), np.array([0]))), (2, (np.array([0]), np.array([1])))]
    cases += [(int(n), random_edges(random, int(n), 4 * int(n))) for n in random.integers(5, 200, size.pick(2, 4, 40))]
    for vertices, edges in cases:
        hot, steps, rate = int(random.integers(vertices)), int(random.integers(1, 40)), float(random.uniform(0.1, 1))
        want = heat(vertices, edges, steps, rate, hot)
        given = graph_of(vertices, edges)
        for engine, threads in [("cpu", 1), ("cpu", 2), ("shuffle", 1)]:
            got = gs.run(app, given, engine=engine, threads=threads, hot=str(hot), steps=steps, rate=rate)
            assert np.abs(got.values - want).max() < 1e-5, (vertices, hot, steps, rate, engine)
            # Without barriers the only idle state is the end.
            assert got.stats["steps"] == (steps if app == "heat" else 1)
    assert apps.load(app).tolerance <= 1e-4


@pytest.mark.tier(
    "all", seconds=5, adds="pagerank-gals against a second method; it is compared between engines by default"
)
def test_pagerank_without_barriers_matches_the_power_method(size: Size, seed: int) -> None:
    """With hubs, loops, parallel edges and isolated vertices; every vertex makes the same number of iterations."""
    random = np.random.default_rng(seed)
    cases = [(1, (np.empty(0, int), np.empty(0, int))), (2, (np.array([0]), np.array([1]))), (60, grid(10, 6))]
    cases += [(int(n), random_edges(random, int(n), 2 * int(n))) for n in random.integers(5, 300, size.pick(2, 4, 40))]
    for vertices, edges in cases:
        damping, iterations = float(random.uniform(0, 0.99)), int(random.integers(1, 30))
        a = neighbours(vertices, edges)
        degree = a.sum(axis=0)
        want = np.full(vertices, 1 / vertices)
        for _ in range(iterations):
            shares = np.divide(want, degree, out=np.zeros(vertices), where=degree > 0)
            want = (1 - damping) / vertices + damping * (a.T @ shares)
        for engine, threads in [("cpu", 1), ("cpu", 2), ("shuffle", 1)]:
            how = {"damping": damping, "iterations": iterations, "raw": True}
            got = gs.run("pagerank-gals", graph_of(vertices, edges), engine=engine, threads=threads, **how)
            assert np.abs(got.values / want - 1).max() < 1e-4, (vertices, iterations, damping, engine)
            assert got.stats["steps"] == 1
            assert got.stats["sends"] == iterations * (degree > 0).sum()


@pytest.mark.parametrize("app", ["izhikevich", "izhikevich-gals"])
def test_neurons_match_the_integer_model(app: str, size: Size, seed: int) -> None:
    """Compares every spike of every neuron; the network is neither silent nor synchronous."""
    random = np.random.default_rng(seed)
    for vertices, count in [(1, 0), (30, 90), (200, 4000)] + [(400, 8000)] * size.pick(0, 1, 10):
        edges = random_edges(random, vertices, count) if count else (np.empty(0, int), np.empty(0, int))
        given, noise = graph_of(vertices, edges), int(random.integers(1 << 32))
        want, potential, raster = spikes(vertices, edges, 120, noise)
        for engine, threads in [("cpu", 1), ("cpu", 2), ("shuffle", 1)]:
            got = gs.run(app, given, engine=engine, threads=threads, steps=120, **{"noise-seed": noise})
            assert (got.columns["spikes"] == want).all() and (got.columns["potential"] == potential).all()
            # Without barriers the only idle state is the end, and every step but the last sends on both pins.
            sends, steps = (raster.sum(), 120) if app == "izhikevich" else (2 * 119 * vertices, 1)
            assert got.stats["sends"] == sends and got.stats["steps"] == steps
    assert 0.2 * vertices < want.sum() < 20 * vertices and raster.sum(axis=1).max() < 0.8 * vertices


def test_barrier_and_barrier_free_variants_have_their_own_names() -> None:
    for name in ("heat", "heat-gals", "izhikevich", "izhikevich-gals", "pagerank-gals"):
        app = apps.load(name)
        assert app.name == name and ("instead of by barriers" in app.summary) == name.endswith("-gals")


def test_sums_of_many_spikes_do_not_overflow() -> None:
    """One neuron receives thousands of spikes of maximum strength in one step: their sum exceeds 31 bits."""
    vertices, steps = 1_000_000, 10
    number = np.arange(vertices)
    excites = scattered(number ^ int(scattered(7 + 0x9E3779B9))) % np.uint64(5) != 0
    sources = number[excites & (number > 0)]
    edges = (sources, np.zeros(len(sources), int))
    want, potential, raster = spikes(vertices, edges, steps, 7, scale=10)
    assert raster[:-1, sources].sum(axis=1).max() * 256 * 0.25 * 10 * 1000 > 2**31
    given = graph_of(vertices, edges)
    for engine in ("cpu", "shuffle"):
        got = gs.run("izhikevich", given, engine=engine, threads=2, steps=steps, strength=10, **{"noise-seed": 7})
        assert (got.columns["spikes"] == want).all() and (got.columns["potential"] == potential).all()


def test_mssp_matches_dijkstra(size: Size, seed: int) -> None:
    random = np.random.default_rng(seed)
    cases = [(1, 2), (5, 9), (40, 100)] + [(int(n), 4 * int(n)) for n in random.integers(9, 300, size.pick(1, 3, 40))]
    for vertices, count in cases:
        edges = random_edges(random, vertices, count)
        weights = random.integers(0, 50, len(edges[0]))
        lightest: dict[tuple[int, int], int] = {}
        for a, b, w in zip(*(x.tolist() for x in (*edges, weights)), strict=True):
            lightest[a, b] = min(w, lightest.get((a, b), w))
        # SciPy treats weights of 0 as missing edges, so weights are scaled and increased by a small unit.
        ends = np.array(list(lightest))
        matrix = scipy.sparse.csr_array(
            (np.array(list(lightest.values())) * 1000.0 + 1, (ends[:, 0], ends[:, 1])), shape=(vertices, vertices)
        )
        sources = int(random.integers(1, 9))
        used = min(sources, vertices)
        from_each = csgraph.dijkstra(matrix, indices=[k * vertices // used for k in range(used)])
        lengths = np.floor(from_each / 1000)
        got = gs.run("mssp", graph_of(vertices, edges, weights), sources=sources, engine="cpu", threads=2)
        reached = np.isfinite(from_each)
        nearest = np.where(reached.any(axis=0), np.where(reached, lengths, np.inf).min(axis=0), 0xFFFFFFFF)
        assert (got.columns["distance"] == nearest).all()
        assert (got.columns["sum"] == np.where(reached, lengths, 0).sum(axis=0)).all()
        assert (got.columns["sources"] == reached.sum(axis=0)).all()


@pytest.mark.tier("all", seconds=7, adds="overflow of many sources")
def test_mssp_overflow_raises_no_answer() -> None:
    edges = (np.array([0, 1, 2]), np.array([1, 2, 3]))
    for weight, fits in [(1431655764, True), (1431655765, False)]:
        given = graph_of(4, edges, np.array([weight, weight, weight]))
        if fits:
            assert gs.run("mssp", given, sources=1).columns["distance"].tolist() == [0, weight, 2 * weight, 3 * weight]
        else:
            with pytest.raises(gs.NoAnswer, match="longer than 4294967293"):
                gs.run("mssp", given, sources=1)
