# SPDX-License-Identifier: Apache-2.0
"""Graph files match SciPy, NumPy and NetworkX, which share no code with the reader."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import networkx
import numpy as np
import pytest
import scipy.io
import scipy.sparse
import zstandard
from conftest import Size

from gossamer.errors import InputError
from gossamer.graph import Graph, read_graph

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def data(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} does not exist")
    return path


def edges_of(graph: Graph, into: bool = False) -> Counter[tuple[object, ...]]:
    """The edges by label, with their weights, as a multiset."""
    rows = graph.into if into else graph.out
    found: Counter[tuple[object, ...]] = Counter()
    for v in range(graph.vertices):
        for e in range(int(rows.offsets[v]), int(rows.offsets[v + 1])):
            ends = (graph.label_of(v), graph.label_of(int(rows.targets[e])))
            if into:
                ends = ends[::-1]
            weight = () if rows.weights is None else (rows.weights[e].item(),)
            found[ends + weight] += 1
    return found


def assert_sound(graph: Graph) -> None:
    """Types, and rows that ascend by (target, weight)."""
    for rows in (graph.out, graph.into):
        assert rows.offsets.dtype == np.int64
        assert rows.targets.dtype == np.uint32
        assert rows.offsets[0] == 0
        assert rows.offsets[-1] == len(rows.targets) == graph.edges
        for v in range(min(graph.vertices, 2000)):
            part = slice(int(rows.offsets[v]), int(rows.offsets[v + 1]))
            row = rows.targets[part]
            assert (row[1:] >= row[:-1]).all()
            if rows.weights is not None:
                costs = rows.weights[part]
                assert ((row[1:] > row[:-1]) | (costs[1:] >= costs[:-1])).all()


def assert_same(graph: Graph, matrix: scipy.sparse.csr_array) -> None:
    """Asserts that the graph equals the matrix, in both directions."""
    for rows, expected in ((graph.out, matrix), (graph.into, matrix.T.tocsr())):
        expected.sort_indices()
        assert (expected.indptr == rows.offsets).all()
        assert (expected.indices == rows.targets).all()
        if rows.weights is not None:
            assert (expected.data == rows.weights).all()


@pytest.mark.parametrize("name", ["email-Enron.mtx.gz", "ca-CondMat.mtx.gz", "cit-HepTh.mtx.gz"])
def test_real_matrices_match_scipy(name: str) -> None:
    path = data(name)
    graph = read_graph(path)
    assert graph.base == 1
    assert graph.labels is None
    assert not graph.weighted
    assert_same(graph, scipy.io.mmread(path).tocsr())


def test_real_edge_list_matches_numpy() -> None:
    path = data("wiki-Vote.txt.gz")
    graph = read_graph(path)
    with gzip.open(path) as file:
        pairs = np.loadtxt(file, dtype=np.int64)
    assert isinstance(graph.labels, np.ndarray)
    assert (graph.labels == np.unique(pairs)).all()
    assert edges_of(graph) == Counter(map(tuple, pairs.tolist()))
    assert graph.notes == ()


def test_real_metis_graph_matches_networkx() -> None:
    path = data("airfoil1.graph.gz")
    graph = read_graph(path)
    with gzip.open(path, "rt") as file:
        lines = file.read().splitlines()
    n, m = map(int, lines[0].split())
    expected = networkx.Graph((v, int(word)) for v, line in enumerate(lines[1:], 1) for word in line.split())
    assert (graph.vertices, graph.edges) == (n, 2 * m) == (len(expected), 2 * expected.number_of_edges())
    assert graph.symmetric
    assert edges_of(graph) == Counter(pair for a, b in expected.edges for pair in ((a, b), (b, a)))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("field", ["pattern", "integer", "real"])
def test_random_matrices_match_scipy(
    tmp_path: Path, size: Size, seed: int, field: str, symmetry: str, threads: int
) -> None:
    if (field, symmetry) == ("pattern", "skew-symmetric"):
        pytest.skip("the format has no such matrices")
    draw = np.random.default_rng(seed)
    n = int(draw.choice([1, 2, 300, 70000]))
    pairs = np.unique(draw.integers(1, n + 1, (size.pick(1000, 20000, 2000000), 2)), axis=0)
    if symmetry != "general":
        pairs = pairs[pairs[:, 0] > pairs[:, 1]] if symmetry != "symmetric" else pairs[pairs[:, 0] >= pairs[:, 1]]
    pairs = draw.permutation(pairs)
    path = tmp_path / "a.mtx"
    with open(path, "w", encoding="ascii") as file:
        file.write(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n% a comment\n\n{n} {n} {len(pairs)}\n")
        for i, j in pairs.tolist():
            weight = ""
            if field == "integer":
                weight = f" {draw.integers(-1000, 1000)}"
            elif field == "real":
                weight = f" {draw.normal() * 10.0 ** draw.integers(-30, 30)!r}".replace("np.float64(", "").rstrip(")")
            file.write(f"{i} {j}{weight}\n")
    graph = read_graph(path, threads=threads)
    assert_sound(graph)
    assert graph.symmetric == (symmetry == "symmetric")
    expected = scipy.io.mmread(path).tocsr()
    assert_same(graph, expected)
    if field != "pattern" and len(pairs):
        assert graph.weight_type == (np.int32 if field == "integer" else np.float64)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric", "hermitian"])
@pytest.mark.parametrize("field", ["integer", "real", "unsigned-integer"])
def test_dense_matrices_match_scipy(
    tmp_path: Path, size: Size, seed: int, field: str, symmetry: str, threads: int
) -> None:
    if (field, symmetry) == ("unsigned-integer", "skew-symmetric"):
        pytest.skip("the format has no such matrices")
    draw = np.random.default_rng(seed)
    n = int(draw.choice([1, 2, 30, size.pick(60, 700, 1500)]))
    values = draw.integers(0 if field == "unsigned-integer" else -3, 4, (n, n))
    lines = ["% a comment", ""]
    for column in range(n):
        first = {"general": 0, "skew-symmetric": column + 1}.get(symmetry, column)
        for value in values[first:, column].tolist():
            lines.append(f" {value}.5E+00" if field == "real" and value > 1 else str(value))
            if draw.random() < 0.01:
                lines += ["% a comment", " "]
    path = tmp_path / "a.mtx"
    path.write_text(f"%%MatrixMarket matrix array {field} {symmetry}\n{n} {n}\n" + "\n".join(lines))
    graph = read_graph(path, threads=threads)
    assert_sound(graph)
    assert graph.symmetric == (symmetry in ("symmetric", "hermitian"))
    # SciPy reads no comments between values, and no hermitian matrices of these types.
    judged = "\n".join(line for line in path.read_text().split("\n") if line.strip() and line != "% a comment")
    (tmp_path / "b.mtx").write_text(judged.replace("hermitian", "symmetric"))
    expected = scipy.sparse.csr_array(scipy.io.mmread(tmp_path / "b.mtx"))
    expected.eliminate_zeros()
    assert_same(graph, expected)


def test_symmetries_and_fields_of_sparse_matrices_match_scipy(tmp_path: Path) -> None:
    for field, symmetry in (("real", "hermitian"), ("integer", "hermitian"), ("unsigned-integer", "general")):
        text = f"%%MatrixMarket matrix coordinate {field} {symmetry}\n3 3 3\n1 1 5\n2 1 7\n3 2 9\n"
        (tmp_path / "a.mtx").write_text(text)
        graph = read_graph(tmp_path / "a.mtx")
        (tmp_path / "b.mtx").write_text(text.replace("hermitian", "symmetric"))
        assert_same(graph, scipy.io.mmread(tmp_path / "b.mtx").tocsr())
        assert graph.symmetric == (symmetry == "hermitian")


def test_exponents_of_fortran_are_read(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    words = ["1D0", "1.5d+03", "-2.5D-10", "+.5D2", "0D0"]
    words += [f"{draw.uniform(-1, 1)!r}D{draw.randrange(-200, 200)}" for _ in range(500)]
    words = [word for word in words if "e" not in word]
    path = tmp_path / "a.mtx"
    head = f"%%MatrixMarket matrix coordinate real general\n{len(words)} {len(words)} {len(words)}\n"
    path.write_text(head + "".join(f"{i} 1 {word}\n" for i, word in enumerate(words, 1)))
    weights = read_graph(path).out.weights
    assert weights is not None
    expected = [float(word.replace("D", "e").replace("d", "e")) for word in words]
    assert [w.hex() for w in weights.tolist()] == [value.hex() for value in expected]


def ids_for(kind: str, draw: random.Random, count: int) -> list[int]:
    """Vertex numbers of an edge list."""
    if kind == "from 0":
        return list(range(count))
    if kind == "from 1":
        return list(range(1, count + 1))
    reach = {"gaps": 5 * count, "sparse": 2**26, "far": 2**40, "mixed": 2**27 + 100}[kind]
    low = 2**27 - 100 if kind == "mixed" else 0
    return draw.sample(range(low, reach), min(count, reach - low))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["from 0", "from 1", "gaps", "sparse", "far", "mixed"])
def test_random_edge_lists_keep_every_edge(tmp_path: Path, size: Size, seed: int, kind: str, weighted: bool) -> None:
    draw = random.Random(seed)
    ids = ids_for(kind, draw, size.pick(50, 150, 5000))
    # Long enough for several blocks, to test threads and block boundaries.
    lines = [f"# {draw.random()}" + "x" * draw.randrange(100) for _ in range(size.pick(10, 20000, 100000))]
    expected: Counter[tuple[object, ...]] = Counter()
    reals = weighted and draw.random() < 0.5
    separators = draw.choice([[" ", "\t", "  "], [",", ", ", " ,"]])
    for _ in range(size.pick(500, 20000, 500000)):
        a, b = draw.choice(ids), draw.choice(ids)
        weight: tuple[float, ...] = ()
        if weighted:
            weight = (draw.uniform(-5, 5) if reals else draw.randrange(-(2**40), 2**40),)
        expected[(a, b, *weight)] += 1
        blank = draw.choice(separators)
        lines.append(draw.choice(["", " "]) + blank.join(map(repr, (a, b, *weight))) + draw.choice(["", " ", "\r"]))
    if kind in ("from 0", "from 1"):
        for a in ids:
            expected[(a, a, *((7,) if weighted else ()))] += 1
            lines.append(separators[0].join([str(a), str(a), *(["7"] if weighted else [])]))
    draw.shuffle(lines)
    path = tmp_path / "list.txt"
    path.write_text("\n".join(lines) + draw.choice(["", "\n", "\n\n"]))
    graph = read_graph(path, threads=draw.choice([1, 2, 3]))
    assert_sound(graph)
    assert edges_of(graph) == expected
    assert edges_of(graph, into=True) == expected
    used = sorted({end for pair in expected for end in pair[:2]})
    assert [graph.label_of(i) for i in range(graph.vertices)] == used
    assert [graph.index_of(label) for label in used[:50]] == list(range(len(used[:50])))
    if kind == "from 0":
        assert (graph.labels, graph.base) == (None, 0)
    elif kind == "from 1":
        assert (graph.labels, graph.base) == (None, 1)
    if weighted:
        assert graph.weight_type == (np.float64 if reals else np.int64)


def test_undirected_dedupe_and_drop_loops_match_python(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    edges = [(draw.randrange(30), draw.randrange(30), draw.randrange(5)) for _ in range(600)]
    edges += [(v, v, 1) for v in range(30)]
    path = tmp_path / "list.txt"
    path.write_text("".join(f"{a} {b} {w}\n" for a, b, w in edges))
    both: Counter[tuple[object, ...]] = Counter()
    for a, b, w in edges:
        both[a, b, w] += 1
        if a != b:
            both[b, a, w] += 1
    graph = read_graph(path, undirected=True)
    assert graph.symmetric
    assert edges_of(graph) == both
    assert edges_of(read_graph(path).symmetrised()) == both
    least: dict[tuple[int, int], int] = {}
    for a, b, w in edges:
        least[a, b] = min(w, least.get((a, b), w))
    assert edges_of(read_graph(path, dedupe=True)) == Counter((a, b, w) for (a, b), w in least.items())
    without = read_graph(path, dedupe=True, drop_loops=True)
    assert edges_of(without) == Counter((a, b, w) for (a, b), w in least.items() if a != b)
    assert edges_of(read_graph(path, drop_loops=True)) == Counter(e for e in edges if e[0] != e[1])


def test_text_labels_keep_their_order(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    words = [f"w{i}-é" if i % 3 else f"{i}+" for i in range(500)]
    edges = [("first", "second")] + [(draw.choice(words), draw.choice(words)) for _ in range(50000)]
    order = list(dict.fromkeys([end for edge in edges for end in edge] + ["alone"]))
    head = f"# Nodes: {len(order)} Edges: {len(edges)}"
    lines = [head] + [f"{a}\t{b}" for a, b in edges] + ["alone", "  # after"]
    path = tmp_path / "words.txt"
    path.write_text("\n".join(lines))
    graph = read_graph(path)
    assert graph.labels is not None
    assert list(graph.labels) == order
    assert edges_of(graph) == Counter(edges)
    assert graph.index_of("alone") == len(order) - 1
    weighted = tmp_path / "weighted.txt"
    weighted.write_text("a b 1\nb c 2.5\na b 0.25\n")
    assert edges_of(read_graph(weighted)) == Counter({("a", "b", 0.25): 1, ("a", "b", 1.0): 1, ("b", "c", 2.5): 1})


def test_dimacs_keeps_every_arc(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    arcs = [(draw.randint(1, 900), draw.randint(1, 900), draw.randint(0, 10**6)) for _ in range(30000)]
    path = tmp_path / "roads"  # recognized by content
    path.write_text("c roads\nc\np sp 1000 30000\n" + "".join(f"a {a} {b} {w}\nc x\n" for a, b, w in arcs))
    graph = read_graph(path)
    assert (graph.vertices, graph.base, graph.weight_type) == (1000, 1, np.int32)
    assert edges_of(graph) == Counter(arcs)


def test_metis_weights_comments_and_isolated_vertices_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    path.write_text("% head\n4 3 111 2\n% first\n1 5 5 2 7 3 9\n1 5 5 1 7\n%\n1 5 5 1 9 4 2\n1 5 5 3 2\n")
    expected = {(1, 2, 7), (1, 3, 9), (2, 1, 7), (3, 1, 9), (3, 4, 2), (4, 3, 2)}
    assert edges_of(read_graph(path)) == Counter(expected)
    isolated = tmp_path / "b.graph"
    isolated.write_text("3 1\n\n3\n2\n\n\n")
    assert edges_of(read_graph(isolated)) == Counter({(2, 3): 1, (3, 2): 1})


def test_adjacency_list_matches_networkx(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.xz"
    path.write_bytes(lzma.compress(b"# gossamer adjacency list\na b c\nb\nc a\nalone\n"))
    graph = read_graph(path)
    with lzma.open(path) as file:
        expected = networkx.read_adjlist(file, create_using=networkx.DiGraph)
    assert edges_of(graph) == Counter(list(expected.edges))
    assert {graph.label_of(i) for i in range(graph.vertices)} == set(expected.nodes)


def _members(text: bytes) -> bytes:
    half = len(text) // 2
    return gzip.compress(text[:half]) + gzip.compress(text[half:]) + bytes(512)


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "gzip members": _members,
    "zstd": zstandard.ZstdCompressor().compress,
    "zstd frames": lambda t: zstandard.ZstdCompressor().compress(t) + zstandard.ZstdCompressor().compress(t[:0]),
    "xz": lzma.compress,
    "xz streams": lambda t: lzma.compress(t[: len(t) // 3]) + lzma.compress(t[len(t) // 3 :]),
    "bzip2": bz2.compress,
}


@pytest.mark.parametrize("how", COMPRESS)
def test_compression_is_recognized_by_content(tmp_path: Path, seed: int, size: Size, how: str) -> None:
    draw = np.random.default_rng(seed)
    pairs = draw.integers(0, 5000, (size.pick(5000, 150000, 3000000), 2))
    text = "\n".join(f"{a} {b}" for a, b in pairs.tolist()).encode()
    path = tmp_path / "any.name"
    path.write_bytes(COMPRESS[how](text))
    plain = tmp_path / "plain"
    plain.write_bytes(text)
    graph, expected = read_graph(path), read_graph(plain)
    assert graph.edges == len(pairs)
    assert (graph.out.targets == expected.out.targets).all()
    assert (graph.out.offsets == expected.out.offsets).all()


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    class Pipe:
        buffer = io.BufferedReader(io.BytesIO(gzip.compress(b"0 1\n1 2\n")))

    monkeypatch.setattr(sys, "stdin", Pipe)
    assert edges_of(read_graph("-")) == Counter({(0, 1): 1, (1, 2): 1})


def test_wrong_counts_in_a_snap_comment_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "cut.txt"
    path.write_text("# one\n# Nodes: 4 Edges: 5\n0\t1\n1\t2\n")
    assert [note.split(": ", 1)[0] for note in read_graph(path).notes] == [f"{path}:2"] * 2


def test_byte_order_mark_and_crlf_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "windows.csv"
    path.write_bytes(b"\xef\xbb\xbf0,1\r\n1,2\r\n\r\n2,0")
    assert edges_of(read_graph(path)) == Counter({(0, 1): 1, (1, 2): 1, (2, 0): 1})


def test_decimal_weights_are_rounded_to_the_nearest_double(tmp_path: Path, seed: int, size: Size) -> None:
    draw = random.Random(seed)
    words = [
        "0.1",
        "1e22",
        "1e23",
        "9007199254740993.0",
        "123456789012345678901234567890.5",
        "5e-324",
        "1e-400",
        "-0.0",
    ]
    words += [".5", "5.", "+2.5", "1E+3", "0.000000000000000000000000000000000001", "17976931348623157e292"]
    words += [
        f"{draw.getrandbits(draw.randrange(1, 90))}e{draw.randrange(-340, 280)}"
        for _ in range(size.pick(99, 9999, 99999))
    ]
    words += [repr(draw.uniform(-1, 1)) for _ in range(size.pick(99, 9999, 99999))]
    path = tmp_path / "a.mtx"
    head = f"%%MatrixMarket matrix coordinate real general\n{len(words)} {len(words)} {len(words)}\n"
    path.write_text(head + "".join(f"{i} 1 {word}\n" for i, word in enumerate(words, 1)))
    weights = read_graph(path).out.weights
    assert weights is not None
    assert [w.hex() for w in weights.tolist()] == [float(word).hex() for word in words]


@pytest.mark.parametrize(
    "heading", ["source,target,weight", "# made by hand\n\nFrom Node_1\tTo\tcost", '"src" "dst" "w"']
)
@pytest.mark.parametrize("words", [False, True])
def test_headings_of_three_columns_are_skipped(tmp_path: Path, heading: str, words: bool) -> None:
    path = tmp_path / "edges.csv"
    names = ["ash", "birch", "source"] if words else ["7", "9", "12"]
    heading = heading.replace("From Node_1", "From_Node")
    path.write_text(f"{heading}\n{names[0]},{names[1]},3\n{names[1]},{names[2]},5\n")
    graph = read_graph(path)
    assert [str(graph.label_of(v)) for v in range(graph.vertices)] == names
    assert graph.out.weights is not None and graph.out.weights.tolist() == [3, 5]
    path.write_text(f"{heading}\n{names[0]},{names[1]},3\nsource,target,weight\n")
    line = heading.count("\n") + 3
    with pytest.raises(InputError, match=rf"edges\.csv:{line}: "):
        read_graph(path)


@pytest.mark.parametrize(
    ("text", "labels", "edges"),
    [
        (
            "node_1 node_2\nnode_2 node_3\n",
            ["node_1", "node_2", "node_3"],
            2,
        ),  # no heading, because node_2 occurs again
        ("a;b c\nd;e f\n", ["a;b", "c", "d;e", "f"], 2),
        ("# Nodes: 3 Edges: 1\nash birch\ncedar\n", ["ash", "birch", "cedar"], 1),
        ("# Nodes: 2 Edges: 0\nash\nbirch\n", ["ash", "birch"], 0),
        ("ash 7\n1 2\n", ["ash", "7", "1", "2"], 2),
    ],
)
def test_labels_similar_to_headings_are_kept(tmp_path: Path, text: str, labels: list[str], edges: int) -> None:
    path = tmp_path / "words.txt"
    path.write_text(text)
    graph = read_graph(path)
    assert (list(graph.labels or []), graph.edges) == (labels, edges)
