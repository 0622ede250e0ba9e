# SPDX-License-Identifier: Apache-2.0
"""Examples whose steps have aggregates, compared with NumPy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, Command
from made_graphs import graph_of, random_edges

import gossamer as gs
from gossamer.errors import NoAnswer

POTENTIAL = ROOT / "examples" / "potential" / "potential.h"
KMEANS = ROOT / "examples" / "kmeans" / "host.cpp"


def connected(random: np.random.Generator, vertices: int, more: int) -> Any:
    """A random tree and additional edges, some of them loops and duplicates."""
    tree = np.array([int(random.integers(v)) for v in range(1, vertices)])
    s, t = random_edges(random, vertices, more)
    return np.concatenate((tree, s)), np.concatenate((np.arange(1, vertices), t))


def test_potentials_match_the_inverse_laplacian(seed: int) -> None:
    random = np.random.default_rng(seed)
    for vertices, more in ((2, 0), (40, 60), (300, 900)):
        edges = connected(random, vertices, more)
        conductance = random.uniform(0.1, 10, len(edges[0]))
        laplacian = np.zeros((vertices, vertices))
        for s, t, w in zip(*edges, conductance, strict=True):
            laplacian[s, s] += w
            laplacian[t, t] += w
            laplacian[s, t] -= w
            laplacian[t, s] -= w
        source, sink = (int(v) for v in random.choice(vertices, 2, replace=False))
        current = np.zeros(vertices)
        current[source], current[sink] = 1, -1
        expected = np.linalg.pinv(laplacian) @ current
        for options in ({"threads": 1}, {"threads": 2}, {"engine": "shuffle", "seed": seed}):
            result = gs.run(POTENTIAL, graph_of(vertices, edges, conductance), source=source, sink=sink, **options)
            found = result.values - result.values.mean()
            np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())
            assert result.totals["resistance"] == pytest.approx(expected[source] - expected[sink], rel=1e-8)


def test_unconnected_source_and_sink_do_not_converge() -> None:
    apart = graph_of(4, (np.array([0, 2]), np.array([1, 3])))
    with pytest.raises(NoAnswer, match=r"did not converge: .*source and sink may not be connected"):
        gs.run(POTENTIAL, apart, source=0, sink=3, limit=50)


def test_totals_are_printed_and_written_to_statistics(command: Command, tmp_path: Path) -> None:
    words = ("run", "examples/levels/levels.h", "gen:grid:width=6,height=6", "--source", "3")
    done = command(*words, "--stats", tmp_path / "stats.json", "--shuffle", "5", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "\nreached: 36\n" in done.stdout
    assert json.loads((tmp_path / "stats.json").read_text())["totals"] == {"reached": 36}


def lloyd(points: Any, clusters: int) -> list[tuple[float, float, int]]:
    """k-means in double precision, from the first point and the farthest from all before."""
    at = [0]
    while len(at) < clusters:
        near = np.min(np.linalg.norm(points[:, None] - points[at][None], axis=2), axis=1)
        at.append(int(near.argmax()))
    means = points[at]
    for _ in range(1000):
        nearest = np.linalg.norm(points[:, None] - means[None], axis=2).argmin(axis=1)
        new = np.array([points[nearest == k].mean(axis=0) for k in range(clusters)])
        if np.array_equal(new, means):
            break
        means = new
    return [(*means[k], int((nearest == k).sum())) for k in range(clusters)]


@pytest.mark.default_cases("options[12]", seconds=10, adds="a long run")
@pytest.mark.parametrize("options", [["--threads", "1"], ["--threads", "2"], ["--engine", "shuffle"]])
def test_kmeans_matches_lloyds_algorithm(options: list[str], command: Command, tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    middles = np.array([(0, 0), (9, 1), (2, 8), (-7, 5)]) * 100 + 5000
    points = np.concatenate([random.normal(m, 100, (200, 2)) for m in middles])[random.permutation(800)]
    file = tmp_path / "points.txt"
    file.write_text("".join(f"{x:.17g} {y:.17g}\n" for x, y in points))
    for clusters in (1, 4):
        done = command("run", *options, KMEANS, file, str(clusters))
        assert done.returncode == 0, done.stderr
        found = sorted(tuple(map(float, line.split())) for line in done.stdout.splitlines())
        # A point at equal distance from two means in single precision may belong to either.
        for mine, (x, y, count) in zip(found, sorted(lloyd(points, clusters)), strict=True):
            assert abs(mine[2] - count) <= 1
            assert mine[:2] == pytest.approx((x, y), rel=1e-4)


def test_kmeans_rejects_files_that_are_not_points(command: Command, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("1 2\nthree 4\n")
    done = command("run", KMEANS, tmp_path / "words.txt", "2")
    assert (done.returncode, done.stdout) == (2, "")
    assert "not a file with two numbers per line" in done.stderr
    assert command("run", KMEANS, tmp_path / "none.txt", "2").returncode == 2
