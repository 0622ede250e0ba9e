# SPDX-License-Identifier: Apache-2.0
"""The Graph class, its binary format, and written files."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from conftest import ROOT, Size

from gossamer.errors import InputError
from gossamer.graph import CSR, Graph, generate, read_graph, write_graph
from gossamer.graph._rows import transposed

from .test_graph_read import assert_sound, edges_of


def random_graph(seed: int, weights: str, labels: str, symmetric: bool) -> Graph:
    """A small multigraph with self-loops and isolated vertices."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 60))
    pairs = draw.integers(0, n, (int(draw.integers(0, 400)), 2))
    costs = None
    if weights != "none":
        costs = draw.integers(-50, 50, len(pairs)).astype(weights)
        if weights.startswith("float"):
            costs = costs / np.asarray(3, weights)
    if symmetric:
        loops = pairs[:, 0] == pairs[:, 1]
        pairs = np.concatenate([pairs, pairs[~loops][:, ::-1]])
        costs = None if costs is None else np.concatenate([costs, costs[~loops]])
    order = np.argsort(pairs[:, 0], kind="stable")
    offsets = np.searchsorted(pairs[order, 0], np.arange(n + 1))
    names: object = None
    if labels == "numbers":
        names = np.sort(draw.choice(10**9, n, replace=False))
    elif labels == "words":
        names = [f"näme-{i}" for i in draw.permutation(n)]
    weights_in_order = None if costs is None else costs[order]
    base = 1 if labels == "from 1" else 0
    return Graph.from_csr(
        offsets,
        pairs[order, 1],
        weights_in_order,
        symmetric=symmetric,
        labels=names,
        base=base,
        name="some graph",
    )


def assert_equal(a: Graph, b: Graph) -> None:
    for one, other in ((a.out, b.out), (a.into, b.into)):
        assert (one.offsets == other.offsets).all()
        assert (one.targets == other.targets).all()
        assert (one.weights is None) == (other.weights is None)
        if one.weights is not None and other.weights is not None:
            assert one.weights.dtype == other.weights.dtype
            assert (one.weights == other.weights).all()
    assert a.symmetric == b.symmetric
    assert [a.label_of(i) for i in range(a.vertices)] == [b.label_of(i) for i in range(b.vertices)]


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("labels", ["from 0", "from 1", "numbers", "words"])
@pytest.mark.parametrize("weights", ["none", "int32", "int64", "float32", "float64"])
def test_binary_format_preserves_the_graph(
    tmp_path: Path, seed: int, weights: str, labels: str, symmetric: bool
) -> None:
    graph = random_graph(seed, weights, labels, symmetric)
    assert_sound(graph)
    path = tmp_path / "a.gsg"
    for both in (True, False):
        assert write_graph(graph, path, both=both) == ()
        back = read_graph(path)
        assert back.has_out
        assert back.has_into == (both or symmetric)
        assert_equal(graph, back)
        assert back.name == "some graph"
        assert all(part.ctypes.data % 64 == 0 for part in (back.out.offsets, back.out.targets))
    assert edges_of(read_graph(path, dedupe=True)) == edges_of(graph.simplified(loops=False))


@pytest.mark.parametrize("ending", [".mtx", ".mtx.gz", ".txt", ".el.zst", ".gr.xz", ".graph", ".txt.bz2"])
@pytest.mark.parametrize("weights", ["none", "int64", "float64"])
@pytest.mark.parametrize("symmetric", [False, True])
def test_text_formats_preserve_the_edges(tmp_path: Path, seed: int, weights: str, symmetric: bool, ending: str) -> None:
    graph = random_graph(seed, weights, "from 1", symmetric)
    if ending == ".graph":
        graph = (graph if graph.symmetric else graph.symmetrised()).simplified(parallel=False)
    path = tmp_path / f"a{ending}"
    if graph.edges == 0 and ".gr" not in ending and ".mtx" not in ending:
        with pytest.raises(InputError, match="nothing to read"):
            write_graph(graph, path, drop_isolated=True)
        return
    write_graph(graph, path, drop_isolated=True)
    back = read_graph(path)
    expected = edges_of(graph)
    if ending == ".gr.xz" and weights == "none":
        expected = Counter({(a, b, 1): count for (a, b), count in expected.items()})
    assert edges_of(back) == expected
    if ".mtx" in ending:
        assert back.symmetric == symmetric
        assert back.vertices == graph.vertices
        # SciPy sums duplicate entries.
        ones = graph.to_scipy()
        ones.sum_duplicates()
        difference = abs(scipy.io.mmread(path).tocsr() - ones)
        assert difference.nnz == 0 or difference.max() < 1e-9
    first = path.read_bytes()
    write_graph(graph, path, drop_isolated=True)
    assert path.read_bytes() == first


def test_edge_list_preserves_text_labels(tmp_path: Path, seed: int) -> None:
    graph = random_graph(seed, "none", "words", False)
    path = tmp_path / "a.txt.gz"
    write_graph(graph, path)
    back = read_graph(path)
    assert graph.labels is not None
    assert back.labels is not None
    assert set(back.labels) == set(graph.labels)
    assert edges_of(back) == edges_of(graph)


LABELS: dict[str, list[str | int]] = {
    "negative": [-(2**63) + 1, -7, -1, 0, 5, 2**62],
    "removed": [0, 1, 3, 4, 9, 12],
    "words": ["source", "target", "weight", "from", "to", "id"],
    "numbers as words": ["7", "3", "12", "-5", "0.5", "1e3"],
    "marks": ["[", "->", "a;", 'key:"', '"{}"', '"'],
    "formats": ["graph", "[", "nodes:", "---", "<html>", "dl"],
}


@pytest.mark.parametrize("labels", LABELS)
def test_edge_lists_with_any_labels_are_read_back_the_same(tmp_path: Path, seed: int, size: Size, labels: str) -> None:
    draw = random.Random(seed)
    path = tmp_path / "a.txt"
    for _ in range(size.pick(10, 40, 1000)):
        names = LABELS[labels][: draw.randint(2, 6)]
        is_text = isinstance(names[0], str)
        if is_text:
            draw.shuffle(names)
        edges = [(draw.randrange(len(names)), draw.randrange(len(names))) for _ in range(draw.randint(1, 6))]
        # Numbers of vertices as weights make each line similar to a list of neighbours.
        weights = [draw.randrange(-3, 13) for _ in edges] if draw.random() < 0.5 else None
        graph = Graph.from_arrays(*zip(*edges, strict=True), weights, vertices=len(names))
        graph.labels = names if is_text else np.array(names)  # type: ignore[assignment]
        write_graph(graph, path, drop_isolated=True)
        back = read_graph(path)
        assert edges_of(back) == edges_of(graph), path.read_text()
        assert back.notes == (), path.read_text()
        if is_text:
            assert list(back.labels or []) == names


def test_single_edge_between_usual_headings_is_read_back(tmp_path: Path) -> None:
    graph = Graph.from_arrays(["source"], ["target"])
    write_graph(graph, tmp_path / "a.txt")
    assert edges_of(read_graph(tmp_path / "a.txt")) == Counter({("source", "target"): 1})


def test_graph_with_removed_vertices_is_read_back(tmp_path: Path) -> None:
    judge = networkx.path_graph(9, create_using=networkx.DiGraph)
    judge.remove_nodes_from([0, 4])
    write_graph(Graph.from_networkx(judge), tmp_path / "a.txt")
    assert edges_of(read_graph(tmp_path / "a.txt")) == Counter(list(judge.edges))


def test_text_formats_reject_weights_that_are_not_finite(tmp_path: Path) -> None:
    for weight in (np.nan, np.inf):
        graph = Graph.from_arrays([0, 1], [1, 2], [1.5, weight])
        for ending in (".txt", ".mtx", ".gr"):
            with pytest.raises(InputError, match="a weight is not a finite number"):
                write_graph(graph, tmp_path / f"a{ending}")
    assert list(tmp_path.iterdir()) == []


def test_edge_list_preserves_integer_labels(tmp_path: Path, seed: int) -> None:
    graph = random_graph(seed, "int32", "numbers", False)
    if graph.edges == 0:
        return
    path = tmp_path / "a.txt"
    write_graph(graph, path, drop_isolated=True)
    assert edges_of(read_graph(path)) == edges_of(graph)


def test_float32_weights_are_written_without_loss(tmp_path: Path, seed: int) -> None:
    graph = random_graph(seed, "float32", "from 1", False)
    path = tmp_path / "a.mtx"
    write_graph(graph, path)
    weights, expected = read_graph(path).out.weights, graph.out.weights
    if graph.edges:
        assert weights is not None
        assert expected is not None
        assert (weights.astype(np.float32) == expected).all()


def test_opening_a_mapped_graph_uses_almost_no_memory(tmp_path: Path, size: Size) -> None:
    """Checking a mapped graph uses no memory; only later accesses do."""
    path = tmp_path / "a.gsg"
    write_graph(generate.rmat(size.pick(14, 18, 20)), path)
    program = """
import sys, gossamer.graph as g
def rss():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))
small = g.read_graph(sys.argv[2]); small.out.offsets[-1]
before = rss()
graph = g.read_graph(sys.argv[1])
opened = rss() - before
int(graph.into.targets.sum())
print(opened, rss() - before, graph.edges * 4 // 1024)
"""
    little = tmp_path / "b.gsg"
    write_graph(generate.ring(5), little)
    done = subprocess.run(
        [sys.executable, "-c", program, path, little],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=True,
    )
    opened, touched, targets = map(int, done.stdout.split())
    assert opened < 600
    # The program accessed one of six sections; the others are not resident.
    assert targets * 0.9 < touched < targets * 1.3 + 2000


def test_labels_and_indices_are_inverse_and_errors_suggest_labels(tmp_path: Path) -> None:
    numbers = Graph.from_csr([0, 1, 1, 1], [1], labels=np.array([3, 10, 200]), name="n")
    words = Graph.from_csr([0, 1, 1], [1], labels=["libc6", "python3"], name="w")
    plain = Graph.from_csr([0, 1, 1], [1], base=1, name="p")
    assert (
        numbers.index_of(10),
        numbers.index_of("200"),
        words.index_of("python3"),
        plain.index_of("2"),
    ) == (1, 2, 1, 1)
    assert (numbers.label_of(2), words.label_of(0), plain.label_of(0)) == (200, "libc6", 1)
    for graph, label, message in (
        (numbers, 9, "no vertex 9; the nearest number is 10"),
        (numbers, 201, "no vertex 201; vertices are the numbers 3 .. 200"),
        (numbers, "x", "no vertex 'x'"),
        (words, "pyhton3", "did you mean 'python3'"),
        (words, "zzz", "its labels look like 'libc6', 'python3'"),
        (plain, 0, "no vertex 0; vertices are the numbers 1 .. 2"),
        (plain, 2**70, "vertices are the numbers 1 .. 2"),
    ):
        with pytest.raises(InputError, match=message):
            graph.index_of(label)
    with pytest.raises(IndexError):
        plain.label_of(2)
    write_graph(words, tmp_path / "a.gsg")
    back = read_graph(tmp_path / "a.gsg")
    assert back.index_of("python3") == 1
    with pytest.raises(InputError, match="did you mean 'libc6'"):
        back.index_of("libc")


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_transpose_matches_scipy(seed: int, size: Size, threads: int) -> None:
    graph = generate.rmat(size.pick(8, 15, 18), seed=seed, simple=True, weights=(-5, 5))
    into = transposed(graph.out, threads)
    expected = graph.to_scipy().T.tocsr()
    expected.sort_indices()
    assert (expected.indptr == into.offsets).all()
    assert (expected.indices == into.targets).all()
    assert (expected.data == into.weights).all()


def test_scipy_round_trip_preserves_the_matrix(seed: int) -> None:
    matrix = scipy.sparse.random_array((50, 50), density=0.1, rng=np.random.default_rng(seed), format="coo")
    graph = Graph.from_scipy(matrix)
    assert (graph.to_scipy() != matrix.tocsr()).nnz == 0
    assert graph.weight_range == (matrix.data.min(), matrix.data.max())
    assert not Graph.from_scipy(matrix.astype(bool)).weighted
    with pytest.raises(InputError, match="square"):
        Graph.from_scipy(scipy.sparse.csr_array((2, 3)))


@pytest.mark.parametrize("kind", [networkx.Graph, networkx.DiGraph, networkx.MultiDiGraph])
@pytest.mark.parametrize("names", ["numbers", "gaps", "words"])
def test_networkx_round_trip_preserves_the_graph(seed: int, kind: type[networkx.Graph], names: str) -> None:
    draw = random.Random(seed)
    labels = {"numbers": range(20), "gaps": range(5, 100, 5), "words": [f"n{i}" for i in range(20)]}[names]
    expected = kind()
    expected.add_nodes_from(labels)
    for _ in range(60):
        expected.add_edge(draw.choice(labels), draw.choice(labels), weight=draw.randrange(9))
    graph = Graph.from_networkx(expected)
    back = graph.to_networkx()
    assert graph.symmetric != expected.is_directed()
    assert back.is_directed() == expected.is_directed()
    assert set(back.nodes) == set(expected.nodes)

    def weighted_edges(one: networkx.Graph) -> Counter[object]:
        directed = one.is_directed()
        return Counter(
            ((a, b) if directed else frozenset((a, b)), data["weight"]) for a, b, data in one.edges(data=True)
        )

    assert weighted_edges(back) == weighted_edges(expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], []), "at least one vertex"),
        (([0, 2], [0]), "ascend from 0 to the number of edges"),
        (([0, 2, 1, 3], [0, 0, 0]), "ascend"),
        (([0, 1], [1]), "a target is outside 0 .. 0"),
        (([0, 1], [-1]), "a target is outside"),
        (([0, 1], [0.5]), "integers"),
        (([0, 1], [0], [1, 2]), "2 weights for 1 edge; "),
        (([0, 1], [0], ["a"]), "weights have the type"),
    ],
)
def test_invalid_rows_are_rejected(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Graph.from_csr(*arguments)  # type: ignore[arg-type]


def test_census_matches_networkx(seed: int) -> None:
    graph = random_graph(seed, "none", "from 0", False)
    expected = graph.to_networkx()
    census = graph.census()
    assert census["loops"] == networkx.number_of_selfloops(expected)
    assert census["isolated"] == networkx.number_of_isolates(expected)
    assert census["parallel"] == expected.number_of_edges() - len(set(expected.edges()))
    assert census["sinks"] == sum(degree == 0 for _, degree in expected.out_degree)
    assert census["sources"] == sum(degree == 0 for _, degree in expected.in_degree)
    assert census["most_in"] == max(degree for _, degree in expected.in_degree)
    transpose = Graph(into=transposed(graph.out))
    assert transpose.census()["sinks"] == census["sinks"]
    assert edges_of(transpose) == edges_of(graph)


def test_census_reports_invalid_rows() -> None:
    invalid = Graph(out=CSR(np.array([0, 2], np.uint64), np.array([0, 9], np.uint32)))
    with pytest.raises(InputError, match="vertex index 0 has an edge to 9"):
        invalid.census()


def test_interrupted_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.mtx"
    target.write_text("before")
    graph = generate.ring(10)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gossamer.graph._write._text", stop)
    with pytest.raises(KeyboardInterrupt):
        write_graph(graph, target)
    assert target.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["a.mtx"]


def test_package_exports_its_names_and_imports_nothing_slow() -> None:
    import gossamer
    import gossamer.graph

    assert gossamer.read_graph is gossamer.graph.read_graph
    assert gossamer.Graph is Graph
    public = ["CSR", "FORMATS", "Graph", "LabelTable", "generate", "read_graph", "write_graph"]
    assert sorted(gossamer.graph.__all__) == public
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, gossamer.graph; print(*sys.modules)"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert not {"scipy", "networkx", "tqdm", "zstandard", "isal", "click"} & set(loaded)


@pytest.mark.parametrize("form", ["mtx", "txt"])
def test_memory_stays_below_twice_the_result(tmp_path: Path, size: Size, form: str) -> None:
    """VmHWM of the process, minus its value before the read."""
    scale = size.pick(15, 18, 20)
    graph = generate.rmat(scale, 20, seed=3)
    path = tmp_path / f"a.{form}"
    if form == "mtx":
        write_graph(graph, path)
    else:
        # Random order in the file, and vertex numbers with gaps.
        draw = np.random.default_rng(1)
        sources = np.repeat(np.arange(graph.vertices), np.diff(graph.out.offsets.astype(np.int64)))
        order = draw.permutation(graph.edges)
        pairs = zip(sources[order].tolist(), graph.out.targets[order].tolist(), strict=True)
        path.write_text("\n".join(f"{a} {b}" for a, b in pairs))
    little = tmp_path / "b.txt.gz"
    little.write_bytes(gzip.compress(b"0 1\n1 5\n"))
    program = """
import sys, gossamer.graph as g
def most():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
g.read_graph(sys.argv[2])
before = most()
graph = g.read_graph(sys.argv[1])
labels = 0 if graph.labels is None else graph.labels.nbytes
print(most() - before, before, (graph.out.offsets.nbytes + graph.out.targets.nbytes + labels) // 1024)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, path, little],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=True,
    )
    peak, before, result = map(int, done.stdout.split())
    print(f"{form}: {peak} KiB beyond {before}, the result has {result}: {peak / result:.2f}")
    # Text blocks in flight and partly filled pages add a constant, which matters for small graphs only.
    assert peak <= 2 * result + size.pick(16 << 10, 8 << 10, 0)
    if size.name == "large":
        assert peak + before <= 2 * result


# From arrays ------------------------------------------------------------------------------------


def test_from_arrays_matches_numpy(seed: int) -> None:
    random = np.random.default_rng(seed)
    for _ in range(20):
        count, edges = int(random.integers(1, 50)), int(random.integers(0, 200))
        ends = random.integers(count, size=(2, edges))
        weights = random.integers(1, 9, size=edges)
        graph = Graph.from_arrays(*ends, weights, vertices=count)
        found = graph.to_scipy().toarray()
        expected = np.zeros((count, count))
        np.add.at(expected, tuple(ends), weights)
        np.testing.assert_array_equal(found, expected)
        both = Graph.from_arrays(ends[0].tolist(), ends[1].tolist(), undirected=True, vertices=count)
        expected = np.zeros((count, count))
        np.add.at(expected, tuple(ends), 1)
        once = np.diag(np.diag(expected))
        np.testing.assert_array_equal(both.to_scipy().toarray(), expected + expected.T - once)
        assert both.symmetric and not both.weighted
    named = Graph.from_arrays(["oak", "ash"], ["ash", "yew"], name="trees")
    assert (list(named.labels or ()), named.out.targets.tolist()) == (["oak", "ash", "yew"], [1, 2])
    assert Graph.from_arrays([0, 5], [1, 0]).vertices == 6
    mixed = Graph.from_arrays(np.array([0, 2], np.uint64), np.array([2, 1], np.int32))
    assert (mixed.vertices, mixed.out.targets.tolist()) == (3, [2, 1])


@pytest.mark.parametrize(
    ("given", "how", "why"),
    [
        (([0, 1], [1]), {}, "two arrays of equal length"),
        (([[0]], [[1]]), {}, "two arrays of equal length"),
        (([0], [1], [1, 2]), {}, "2 weights for 1 edge; "),
        (([0.5], [1]), {}, "integers or text, not float64"),
        (([0, None], [1, "a"]), {}, "integers or text"),
        (([0, 1], ["a", "b"]), {}, "all integers or all text"),
        ((np.array([2**64 - 1], np.uint64), [1]), {}, "9223372036854775808 vertices"),
        (([-1], [1]), {}, "vertex -1, which is outside 0 .. 1"),
        (([0], [7]), {"vertices": 7}, "vertex 7, which is outside 0 .. 6"),
        ((["a"], ["b"]), {"vertices": 3}, "vertices is 3, but the edges have 2 labels"),
        (([], []), {}, "0 vertices"),
    ],
)
def test_invalid_edge_arrays_are_rejected(given: tuple[Any, ...], how: dict[str, int], why: str) -> None:
    with pytest.raises(InputError, match=why):
        Graph.from_arrays(*given, **how)
