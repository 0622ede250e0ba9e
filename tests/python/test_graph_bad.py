# SPDX-License-Identifier: Apache-2.0
"""Invalid graph files: every error is one line with file and line."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
import signal
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest
import zstandard
from conftest import Size

from gossamer import run
from gossamer.errors import InputError
from gossamer.graph import Graph, read_graph, write_graph

MM = "%%MatrixMarket matrix coordinate"
BAD: dict[str, tuple[str, str, str]] = {
    # case: (name of the file, its text, the message after the path; "N:" is the line)
    "empty": ("a.txt", "", " the file is empty"),
    "only comments": ("a.txt", "# a\n# b\n", "2: the file ends without an edge"),
    "negative id": ("a.txt", "0 1\n2 -3\n", "2: vertex '-3' is negative"),
    "negative first id": ("a.txt", "-1 2\n", "1: vertex '-1' is negative"),
    "enormous id": (
        "a.txt",
        "0 1\n0 99999999999999999999\n",
        "2: vertex '99999999999999999999' is too large",
    ),
    "word among numbers": ("a.txt", "0 1\n#\n\nzero 1\n", "4: 'zero' is not a vertex number"),
    "number and letters": ("a.txt", "0 1\n2 3x\n", "2: '3x' is not a vertex number"),
    "decimal id": ("a.txt", "0 1\n2.5 3\n", "2: '2.5' is not a vertex number"),
    "weight is a word": ("a.txt", "0 1 2\n1 2 heavy\n", "2: weight 'heavy' is not a finite number"),
    "weight is nan": ("a.txt", "0 1 2\n1 2 nan\n", "2: weight 'nan' is not a finite number"),
    "weight is infinite": ("a.txt", "0 1 2\n1 2 1e999\n", "2: weight '1e999' is not a finite number"),
    "weight beyond 64 bits": (
        "a.txt",
        "0 1 100000000000000000000\n",
        "1: weight '100000000000000000000' is not a 64-bit integer; write it as a decimal",
    ),
    "words, weight beyond 64 bits": (
        "a.txt",
        "a b -100000000000000000000\n",
        "1: weight '-100000000000000000000' is not a 64-bit integer; write it as a decimal",
    ),
    "metis weight beyond 64 bits": (
        "a.graph",
        "2 1 1\n2 100000000000000000000\n1 1\n",
        "2: weight '100000000000000000000' is not a 64-bit integer; write it as a decimal",
    ),
    "mtx weight beyond 64 bits": (
        "a.mtx",
        f"{MM} real general\n2 2 1\n1 2 100000000000000000000\n",
        "3: weight '100000000000000000000' is not a 64-bit integer; write it as a decimal",
    ),
    "one column": ("a.txt", "0 1\n2\n", "2: 1 column, but line 1 has 2"),
    "one column at first": ("a.txt", "7\n", "1: one column, but an edge needs two"),
    "one column of words": ("a.txt", "# x\nash\nbirch\n", "2: one column, on this and all other lines"),
    "one column of words, edges announced": ("a.txt", "# Edges: 2\nash\nbirch\n", "2: one column"),
    "semicolons": ("a.csv", "1;2\n3;4\n", "1: columns separated by ';'"),
    "semicolons and blanks": ("a.csv", "# x\n1; 2\n3; 4\n", "2: columns separated by ';'"),
    "a semicolon between blanks": ("a.csv", "1 ; 2\n", "1: columns separated by ';'"),
    "words and semicolons": ("a.csv", "ash;birch\nbirch;cedar\n", "1: columns separated by ';'"),
    "bars": ("a.csv", "1|2|5\n", "1: columns separated by '|'"),
    "four columns": ("a.txt", "0 1 2 3\n", "1: 4 columns"),
    "a column more": ("a.txt", "0 1\n0 1 2\n", "2: 3 columns, but line 1 has 2"),
    "a column less": ("a.txt", "0 1 5\n0 1\n", "2: 2 columns, but line 1 has 3"),
    "NUL byte": ("a.txt", "0 1\n0 \x002\n", "2: a NUL byte"),
    "NUL byte at once": ("a.txt", "\x00\x01\n", "1: a NUL byte"),
    "headings": (
        "a.csv",
        "source,target\n1,2\n",
        "2: vertex numbers after a line of column headings (line 1)",
    ),
    "headings with numbers in them": ("a.csv", "node_1,node_2\n0,1\n", "2: vertex numbers after a line of column"),
    "headings above words": ("a.csv", "node_1,node_2\nash,birch\nbirch,cedar\n", "1: these look like column headings"),
    "headings with blanks": ("a.csv", "From Node,To Node\n0,1\n", "2: vertex numbers after a line of column headings"),
    "headings in capitals": ("a.txt", "# x\nFromNodeId\tToNodeId\nash\tbirch\n", "2: these look like column headings"),
    "headings alone": ("a.csv", "source,target\n", "1: these look like column headings"),
    "three headings alone": ("a.csv", "source,target,weight\n", "1: the file ends without an edge"),
    "headings that nobody knows": ("a.csv", "Anfang,Ende\n1,2\n3,4\n", "1: words on this line, numbers on all others"),
    "control byte in word": ("a.txt", "a b\nc d\x07\n", "2: a control character"),
    "no UTF-8": ("a.txt", "a b\nc \udce9\n", "2: label '\\xe9' is not UTF-8"),
    "words, columns differ": ("a.txt", "a b\na b 2\n", "2: 3 columns, but line 1 has 2"),
    "words, weight no number": ("a.txt", "a b 1\na b two\n", "2: weight 'two' is not a finite number"),
    "mtx without banner": ("a.mtx", "3 3 1\n1 1\n", "1: a .mtx must start with %%MatrixMarket"),
    "mtx short banner": ("a.mtx", "%%MatrixMarket matrix\n", "1: the banner must have five words"),
    "mtx array of a pattern": ("a.mtx", "%%MatrixMarket matrix array pattern general\n", "1: a pattern in 'array'"),
    "mtx list": ("a.mtx", "%%MatrixMarket matrix list real general\n", "1: format 'list'"),
    "mtx array size": (
        "a.mtx",
        "%%MatrixMarket matrix array real general\n2 2 4\n",
        "2: 3 columns in the line of sizes",
    ),
    "mtx array too few": (
        "a.mtx",
        "%%MatrixMarket matrix array real general\n2 2\n1\n",
        "2: the number of values is 4",
    ),
    "mtx array too many": (
        "a.mtx",
        "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n4\n",
        "2: the number of values is 3 in the header, but 4",
    ),
    "mtx array of words": (
        "a.mtx",
        "%%MatrixMarket matrix array real general\n1 1\nx\n",
        "3: value 'x' is not a finite",
    ),
    "mtx array of rows": (
        "a.mtx",
        "%%MatrixMarket matrix array real general\n2 2\n1 2\n3 4\n",
        "3: 2 columns instead of 1",
    ),
    "mtx unsigned": (
        "a.mtx",
        f"{MM} unsigned-integer general\n2 2 1\n1 2 -5\n",
        "3: weight '-5' is not an integer from 0",
    ),
    "mtx unsigned, skew": ("a.mtx", f"{MM} unsigned-integer skew-symmetric\n", "1: symmetry 'skew-symmetric'"),
    "mtx D exponent cut": ("a.mtx", f"{MM} real general\n2 2 1\n1 2 1.5D\n", "3: weight '1.5D' is not a finite number"),
    "mtx complex": ("a.mtx", f"{MM} complex general\n", "1: field 'complex'"),
    "mtx hermitian pattern": ("a.mtx", f"{MM} pattern hermitian\n", "1: symmetry 'hermitian'"),
    "mtx no size": ("a.mtx", f"{MM} real general\n% x\n", "2: the file ends within its header"),
    "mtx bad size": ("a.mtx", f"{MM} real general\n3 3\n", "2: 2 columns in the line of sizes"),
    "mtx word size": ("a.mtx", f"{MM} real general\n3 3 x\n", "2: 'x' is not a count of entries"),
    "mtx not square": ("a.mtx", f"{MM} pattern general\n3 4 1\n1 1\n", "2: 3 rows and 4 columns"),
    "mtx no vertices": ("a.mtx", f"{MM} pattern general\n0 0 0\n", "2: a graph without vertices"),
    "mtx enormous": (
        "a.mtx",
        f"{MM} pattern general\n5000000000 5000000000 0\n",
        "2: the header states 5000000000 vertices",
    ),
    "mtx too few": (
        "a.mtx",
        f"{MM} pattern general\n3 3 2\n1 1\n",
        "2: the number of entries is 2 in the header, but 1 in the file",
    ),
    "mtx too many": (
        "a.mtx",
        f"{MM} pattern general\n3 3 1\n1 1\n1 2\n",
        "2: the number of entries is 1 in the header, but",
    ),
    "mtx outside": ("a.mtx", f"{MM} pattern general\n3 3 1\n4 1\n", "3: vertex '4' is outside the range 1 .. 3"),
    "mtx zero": ("a.mtx", f"{MM} pattern general\n3 3 1\n1 0\n", "3: vertex '0' is outside the range 1 .. 3"),
    "mtx negative": ("a.mtx", f"{MM} pattern general\n3 3 1\n1 -1\n", "3: vertex '-1' is outside the range 1 .. 3"),
    "mtx pattern with weight": (
        "a.mtx",
        f"{MM} pattern general\n3 3 1\n1 1 5\n",
        "3: 3 columns instead of 2",
    ),
    "mtx no weight": ("a.mtx", f"{MM} real general\n3 3 1\n1 1\n", "3: 2 columns instead of 3"),
    "mtx bad weight": (
        "a.mtx",
        f"{MM} real general\n3 3 1\n1 1 1,5\n",
        "3: weight '1,5' is not a finite number",
    ),
    "mtx real in integer": (
        "a.mtx",
        f"{MM} integer general\n3 3 1\n1 1 1.5\n",
        "3: weight '1.5' is not a 64-bit integer",
    ),
    "metis header": ("a.graph", "3\n", "1: 1 column in the header"),
    "metis format": ("a.graph", "3 1 7\n", "1: format '7'"),
    "metis outside": ("a.graph", "2 1\n2\n%\n3\n", "4: vertex '3' is outside the range 1 .. 2"),
    "metis one way": (
        "a.graph",
        "3 1\n2 3\n\n\n",
        "2: vertex 1 lists neighbour 2, which does not list it back",
    ),
    "metis too few lines": (
        "a.graph",
        "3 1\n2\n1\n",
        "1: the number of vertices is 3 in the header, but the number of lines of neighbours is 2",
    ),
    "metis too many lines": ("a.graph", "2 1\n2\n1\n1\n", "4: more lines of neighbours than vertices"),
    "metis count": ("a.graph", "2 2\n2\n1\n", "1: the number of neighbours (two per edge) is 4 in the header"),
    "metis no weight": ("a.graph", "2 1 1\n2\n1 5\n", "2: the last neighbour has no weight"),
    "dimacs problem": ("a.gr", "c x\np max 3 3\n", "2: the problem line must be"),
    "dimacs none": ("a.gr", "a 1 2 3\n", "1: 'a' before the problem line"),
    "dimacs line": ("a.gr", "p sp 2 1\ne 1 2\n", "2: a line of kind 'e'"),
    "dimacs outside": ("a.gr", "p sp 2 1\na 1 3 1\n", "2: vertex '3' is outside the range 1 .. 2"),
    "dimacs weight": ("a.gr", "p sp 2 1\na 1 2\n", "2: 3 columns instead of 4"),
    "dimacs count": ("a.gr", "p sp 2 2\na 1 2 1\n", "1: the number of edges is 2 in the header, but 1 in the file"),
    "a long line": ("a.txt", "0 1\n" + "1" * 3000000, "2: no end of line within a megabyte"),
    "a long line after a bad one": ("a.txt", "0 1\n0 x\n" + "1" * 3000000, "2: 'x' is not a vertex number"),
    "adjacency list": ("a.txt", "# gossamer adjacency list\na b\n", "2:"),
    "zip": ("a.txt", "PK\x03\x04xyz", " a zip archive"),
    "utf-16": ("a.txt", "\udcff\udcfe0\x00", "1: text in UTF-16"),
}


def message(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_graph(path)
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize("what", BAD)
def test_invalid_text_is_reported_at_its_line(tmp_path: Path, what: str) -> None:
    name, text, expected = BAD[what]
    path = tmp_path / name
    path.write_bytes(text.encode(errors="surrogateescape"))
    assert message(path).startswith(f"{path}:{expected}")


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_line_is_correct_deep_in_a_compressed_file(tmp_path: Path, seed: int, threads: int) -> None:
    draw = random.Random(seed)
    lines = [f"{draw.randrange(10**6)} {draw.randrange(10**6)}" for _ in range(400000)]
    first, second = sorted(draw.sample(range(100, 400000), 2))
    lines[first], lines[second] = "1 2 3", "x y"
    for line in draw.sample(range(first), 50):
        lines[line] = draw.choice(["", "# comment", "   "])
    lines[0] = "5 6"
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode(), 1))
    with pytest.raises(InputError) as caught:
        read_graph(path, threads=threads)
    assert str(caught.value).startswith(f"{path}:{first + 1}: 3 columns, but line 1 has 2")


def test_unreadable_files_are_reported(tmp_path: Path) -> None:
    (tmp_path / "graph.mtx").write_text("x")
    assert "did you mean" in message(tmp_path / "graf.mtx")
    assert "a directory" in message(tmp_path)
    assert "not a valid file name" in message(Path("a\0b"))
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (tmp_path / "graph.mtx").chmod(0)
    assert "no permission" in message(tmp_path / "graph.mtx")


def test_format_option_overrides_recognition(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("0 1\n")
    with pytest.raises(InputError, match="no graph format 'csv'"):
        read_graph(tmp_path / "a", format="csv")
    with pytest.raises(InputError, match="the banner"):
        read_graph(tmp_path / "a", format="mtx")


COMPRESSED = {
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
}
TEXT = "".join(f"{i * 7919 % 1000} {i * i % 1000}\n" for i in range(3000)).encode()


@pytest.mark.parametrize("how", COMPRESSED)
def test_truncated_compressed_data_is_reported(tmp_path: Path, how: str) -> None:
    whole = COMPRESSED[how](TEXT)
    path = tmp_path / "a"
    for size in (*range(7, 40), len(whole) // 2, len(whole) - 9, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert f"the {how} data" in message(path), size


@pytest.mark.parametrize("how", COMPRESSED)
def test_corrupt_compressed_data_is_reported(tmp_path: Path, seed: int, size: Size, how: str) -> None:
    draw = random.Random(seed)
    whole = bytearray(COMPRESSED[how](TEXT))
    path = tmp_path / "a"
    rejected = 0
    for _ in range(size.pick(20, 100, 2000)):
        corrupt = bytearray(whole)
        for _ in range(draw.randrange(1, 4)):
            corrupt[draw.randrange(len(whole))] ^= 1 << draw.randrange(8)
        path.write_bytes(corrupt)
        try:
            read_graph(path)
        except InputError as error:
            assert "\n" not in str(error)
            rejected += 1
    assert rejected > 0


def samples() -> Iterator[tuple[str, bytes]]:
    yield "a.txt", b"# Nodes: 5 Edges: 4\n0 1\n1 2\n2 3\n3 4\n"
    yield "w.txt", b"0,1,2.5\n1,2,3e4\n700000000000,3,-4\n"
    yield "words.txt", "# Nodes: 4 Edges: 2\näpfel birne\nbirne citrone\nallein\n".encode()
    yield "quoted.csv", b'"New York",Boston,3\n"Bos""ton, MA",Boston,4\n'
    yield "dense.mtx", b"%%MatrixMarket matrix array real symmetric\n3 3\n1\n0\n2D1\n%\n3\n0\n5\n"
    yield "a.mtx", f"{MM} real symmetric\n% c\n4 4 3\n1 1 1.5\n2 1 -2\n4 2 1e-3\n".encode()
    yield "b.mtx", f"{MM} integer skew-symmetric\n4 4 2\n2 1 5\n4 2 99999999999\n".encode()
    yield "a.graph", b"% c\n4 3 011 1\n1 2 7 3 9\n1 1 7\n1 1 9 4 2\n% d\n1 3 2\n"
    yield "a.gr", b"c x\np sp 3 2\na 1 2 3\na 3 1 4\n"
    yield "adj.txt", b"# gossamer adjacency list\na b c\nb\nc a\n"


@pytest.mark.parametrize(("name", "text"), list(samples()), ids=[name for name, _ in samples()])
def test_mutated_text_loads_or_raises_an_input_error(
    tmp_path: Path, seed: int, size: Size, name: str, text: bytes
) -> None:
    draw = random.Random(seed)
    path = tmp_path / name
    path.write_bytes(text)
    read_graph(path)  # valid before the mutation

    def hang(_signal: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"hangs on {path.read_bytes()!r}")

    before = signal.signal(signal.SIGALRM, hang)
    try:
        for _ in range(size.pick(50, 400, 20000)):
            mutated = bytearray(text)
            for _ in range(draw.randrange(1, 4)):
                at = draw.randrange(len(mutated) + 1)
                match draw.randrange(5):
                    case 0:
                        del mutated[at:]
                    case 1:
                        mutated[at : at + 1] = bytes([draw.randrange(256)])
                    case 2:
                        mutated[at:at] = draw.choice([b"-", b"\0", b"999999999999999999999", b"\n", b" ", b"%", b"e"])
                    case 3:
                        del mutated[at : at + draw.randrange(1, 5)]
                    case 4:
                        mutated[at:at] = mutated[draw.randrange(len(mutated) + 1) :][:20]
            path.write_bytes(mutated)
            signal.alarm(20)
            try:
                graph = read_graph(path)
                graph.census()
                assert graph.into.offsets[-1] == graph.edges
            except InputError as error:
                assert "\n" not in str(error)
                assert str(path) in str(error), mutated
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_corrupt_binary_files_are_reported(tmp_path: Path, seed: int, size: Size) -> None:
    draw = random.Random(seed)
    path = tmp_path / "a.gsg"
    write_graph(read_graph("gen:rmat:scale=6,seed=2,weights=1:9"), path)
    whole = path.read_bytes()
    for cut in (0, 1, 8, 63, 64, 200, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert str(path) in message(path)
    path.write_bytes(whole + b"x")
    assert "trailing data" in message(path)
    fine = read_graph("gen:rmat:scale=6,seed=2,weights=1:9")
    for _ in range(size.pick(50, 300, 3000)):
        corrupt = bytearray(whole)
        at = draw.randrange(len(whole))
        corrupt[at] ^= 1 << draw.randrange(8)
        path.write_bytes(corrupt)
        try:
            graph = read_graph(path)
        except InputError as error:
            assert "\n" not in str(error)
            assert str(path) in str(error)
        else:
            # Checksums do not cover the padding between sections, which is not read.
            assert whole[at] == 0
            assert graph.out.offsets.tolist() == fine.out.offsets.tolist()
            assert graph.out.targets.tolist() == fine.out.targets.tolist()
            assert graph.into.weights.tolist() == fine.into.weights.tolist()
    path.write_bytes(gzip.compress(whole))
    assert "decompress it first" in message(path)


def checksummed(file: bytearray) -> bytes:
    """The file with correct checksums for its contents, by struct and zlib only, according to the format's page."""
    (count,) = struct.unpack_from("<I", file, 40)
    for at in range(64, min(64 + 32 * count, len(file) - 31), 32):
        _, _, start, length = struct.unpack_from("<IIQQ", file, at)
        struct.pack_into("<I", file, at + 4, zlib.crc32(file[start : start + length]))
    struct.pack_into("<I", file, 44, 0)
    struct.pack_into("<I", file, 44, zlib.crc32(file[64 : 64 + 32 * count], zlib.crc32(file[:64])))
    return bytes(file)


@pytest.mark.parametrize("kind", ["numbers", "words"])
def test_invalid_binary_contents_with_correct_checksums_are_reported(
    tmp_path: Path, seed: int, size: Size, kind: str
) -> None:
    """An accepted file is a valid graph: an application ends on it without a crash."""
    draw = random.Random(seed)
    text = {"numbers": "3 70\n70 900\n900 3\n3 900\n", "words": "ash birch\nbirch cedar\ncedar ash\n"}[kind]
    (tmp_path / "a.txt").write_text(text * 20)
    write_graph(read_graph(tmp_path / "a.txt"), tmp_path / "a.gsg")
    whole = (tmp_path / "a.gsg").read_bytes()
    assert checksummed(bytearray(whole)) == whole
    path = tmp_path / "b.gsg"
    rejected = 0
    for _ in range(size.pick(50, 400, 5000)):
        file = bytearray(whole)
        for _ in range(draw.randrange(1, 3)):
            at = draw.randrange(64 + 32 * 8) if draw.random() < 0.4 else draw.randrange(len(file))
            value = draw.choice([0, 1, 255, draw.randrange(256)])
            file[at : at + 1] = bytes([value])
            if draw.random() < 0.3:
                number = draw.choice([2**64 - 1, 2**32, 1, draw.randrange(200)])
                file[at & ~7 : (at & ~7) + 8] = struct.pack("<Q", number)
        path.write_bytes(checksummed(file))
        try:
            graph = read_graph(path)
        except InputError as error:
            assert "\n" not in str(error)
            assert str(path) in str(error)
            rejected += 1
            continue
        graph.census()
        assert graph.into.offsets[-1] == graph.edges
        assert int(graph.into.targets.max(initial=0)) < graph.vertices
        for vertex in range(graph.vertices):
            assert graph.index_of(graph.label_of(vertex)) in range(graph.vertices)
        run("hashmin", graph, threads=2)
    assert rejected > size.pick(5, 40, 500)


def test_graphs_that_a_format_cannot_represent_are_rejected(tmp_path: Path) -> None:
    graph = Graph.from_csr([0, 1, 1, 1], [1])
    with pytest.raises(InputError, match="would omit 1 vertex without edges"):
        write_graph(graph, tmp_path / "a.txt")
    with pytest.raises(InputError, match="undirected"):
        write_graph(graph, tmp_path / "a.graph")
    with pytest.raises(InputError, match=r"unknown extension; .* text also with \.gz \.zst \.xz \.bz2$"):
        write_graph(graph, tmp_path / "a.png")
    with pytest.raises(InputError, match="cannot be mapped"):
        write_graph(graph, tmp_path / "a.gsg.gz")
    with pytest.raises(InputError, match="cannot be written"):
        write_graph(graph, tmp_path / "none" / "a.mtx")
    spaced = Graph.from_csr([0, 1, 1], [1], labels=["a b", "c"])
    with pytest.raises(InputError, match="an edge list cannot contain the label"):
        write_graph(spaced, tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []
