# SPDX-License-Identifier: Apache-2.0
"""The reader of adjacency lists, compared with NetworkX's and with hand-written cases."""

from __future__ import annotations

import io
import random
from typing import Any

import networkx
import numpy as np
import pytest

from gossamer.errors import InputError
from gossamer.graph import _adjlist
from gossamer.graph._adjlist import Adjacency, LabelTable, read_adjlist


def rows(read: Adjacency) -> dict[str, list[str]]:
    """Targets by source, as labels."""
    labels = read.labels.tolist()
    bounds = read.offsets.tolist()
    return {
        label: [labels[t] for t in read.targets[bounds[v] : bounds[v + 1]].tolist()] for v, label in enumerate(labels)
    }


def random_text(rng: random.Random, vertices: int) -> bytes:
    """An adjacency list as people write them: any order, blanks, comments, labels beyond ASCII."""
    letters = "abcXYZ019!\"'$%&*+,-./:;<=>?@[]^_`{|}~" + "äßλ中𝛌"
    labels: set[str] = set()
    while len(labels) < vertices:
        labels.add("".join(rng.choice(letters) for _ in range(rng.choice((1, 2, 3, 7, 8, 9, 16, 17, 40)))))
    names = sorted(labels)
    rng.shuffle(names)
    lines = []
    for name in names:
        blank = rng.choice((" ", "\t", "  ", " \t "))
        degree = rng.choice((0, 0, 0, 1, 1, 3, 12, 31, 32, 33, 100))  # the reader looks up 32 at a time
        line = blank.join((name, *rng.choices(names, k=degree)))
        line = rng.choice(("", "", " ")) + line + rng.choice(("", "", " ", "\r", "# a remark", " #"))
        lines += [line, *rng.choices(("", "# c d e", "   "), k=rng.choice((0, 0, 1)))]
    return ("\n".join(lines) + rng.choice(("", "\n"))).encode()


@pytest.mark.parametrize("seed", range(8))
def test_adjacency_lists_match_networkx(seed: int, size: Any) -> None:
    rng = random.Random(seed)
    text = random_text(rng, rng.choice((1, 5, 300, size.pick(1000, 3000, 60000))))
    read = read_adjlist(text, "random.adj")
    # NetworkX fails on lines that contain only blanks.
    lines = b"\n".join(line for line in text.split(b"\n") if line.strip())
    theirs: Any = networkx.read_adjlist(io.BytesIO(lines), create_using=networkx.MultiDiGraph)
    assert set(read.labels) == set(theirs.nodes), f"seed {seed}"
    index = {label: v for v, label in enumerate(read.labels)}
    # Parallel edges and self-loops occur as often as they are written.
    ours = sorted((a, b) for a, targets in rows(read).items() for b in targets)
    assert ours == sorted(theirs.edges(keys=False)), f"seed {seed}"
    for targets in rows(read).values():
        assert (numbers := [index[t] for t in targets]) == sorted(numbers), f"seed {seed}"


def test_vertices_are_numbered_by_line_and_rows_sorted() -> None:
    read = read_adjlist(b"# gossamer adjacency list\nc b a c a\n\na\r\nb\tc # why\n", "x.adj")
    assert read.labels.tolist() == ["c", "a", "b"]
    assert read.offsets.tolist() == [0, 4, 4, 5]
    assert read.targets.tolist() == [0, 1, 1, 2, 0]
    assert read.offsets.dtype == np.uint64
    assert read.targets.dtype == np.uint32


def test_slice_size_does_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    text = random_text(random.Random(5), 400)
    whole = read_adjlist(text, "x")
    monkeypatch.setattr(_adjlist, "_SLICE", 7)
    sliced = read_adjlist(memoryview(text), "x")
    assert rows(sliced) == rows(whole)


def test_label_table_behaves_like_a_list() -> None:
    names = ["libc6", "lib", "c6", "λ", "-", "libc6-dev"]
    labels = read_adjlist("\n".join(names).encode(), "x").labels
    assert isinstance(labels, LabelTable)
    assert list(labels) == names and len(labels) == 6
    assert [labels[i] for i in range(-6, 6)] == names + names
    assert labels[1:5:2] == names[1:5:2]
    assert [labels.find(name) for name in names] == [0, 1, 2, 3, 4, 5]
    assert labels.index("c6") == names.index("c6")
    for absent in ("", "li", "libc", "ibc6", "libc6\nlib", "\udcff", "λλ"):
        assert labels.find(absent) is None and absent not in labels
        with pytest.raises(ValueError, match="no vertex has the label"):
            labels.index(absent)
    with pytest.raises(IndexError):
        labels[6]
    with pytest.raises(IndexError):
        labels[-7]


def test_byte_order_mark_is_not_a_label() -> None:
    assert rows(read_adjlist(b"\xef\xbb\xbf# head\na a\n", "x")) == {"a": ["a"]}


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        (b"", "f.adj:1:", "no vertex"),
        (b"# only\n\n# remarks\n", "f.adj:4:", "no vertex"),
        (b"a b\nb\n\na\n", "f.adj:4:", "vertex 'a' already has a line, line 1"),
        (b"# h\n\na\nb a\nc zz a\n", "f.adj:5:", "an edge to 'zz', which has no line of its own"),
        (b"a\nb\0c\n", "f.adj:2:", "byte 0x00"),
        (b"a\nb a\x1b[2J\n", "f.adj:2:", "byte 0x1b"),
        (b"a\nb\x7f\n", "f.adj:2:", "byte 0x7f"),
        (b"a\n\xff\n", "f.adj:2:", "not UTF-8"),
        (b"\xc0\xaf\n", "f.adj:1:", "not UTF-8"),
        (b"\xed\xa0\x80\n", "f.adj:1:", "not UTF-8"),
        (b"\xf4\x90\x80\x80\n", "f.adj:1:", "not UTF-8"),
        (b"a\nb\xe4\xb8", "f.adj:2:", "not UTF-8"),
        (b"a \xff\n", "f.adj:1:", "an edge to"),
        (b"x" * 70000, "f.adj:1:", "a label of 70000 bytes"),
        (b"# vertices: 3\n# edges: 1\na b\nb\n", "f.adj:5:", "and 1 edges, but its head states 3 and 1"),
        (b"# vertices: 2\n# edges: 4\na b\nb\n", "f.adj:5:", "and 1 edges, but its head states 2 and 4"),
        ("é".encode() * 100 + b"\n" + "é".encode() * 100 + b"\n", "f.adj:2:", "é...' already has a line"),
    ],
)  # fmt: skip
def test_invalid_text_is_reported_in_one_line(text: bytes, place: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        read_adjlist(text, "f.adj")
    message = str(caught.value)
    assert message.startswith(place) and what in message
    assert "\n" not in message and len(message) < 300 and message.isprintable()


def test_counts_outside_the_header_are_ignored() -> None:
    assert len(read_adjlist(b"a\n# vertices: 9\n# edges: many\n", "x").labels) == 1
    assert len(read_adjlist(b"# vertices: some\n# edges: -1\n# vertices: 1  \r\na\n", "x").labels) == 1


def test_mutated_text_gives_a_graph_or_an_input_error(size: Any) -> None:
    for seed in range(size.pick(200, 2000, 20000)):
        rng = random.Random(seed)
        text = bytearray(random_text(rng, 12))
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(text))
            choice = rng.randrange(3)
            if choice == 0:
                text[at] = rng.randrange(256)
            elif choice == 1:
                del text[at : at + rng.randint(1, 9)]
            else:
                text[at:at] = rng.choice((b"#", b"\n", b" ", b"\xc3", b"\0", b"a"))
            if not text:
                break
        try:
            read = read_adjlist(bytes(text), "m.adj")
        except InputError as error:
            assert str(error).startswith("m.adj:") and "\n" not in str(error), f"seed {seed}"
        else:
            assert int(read.offsets[-1]) == len(read.targets), f"seed {seed}"
            assert np.all(np.diff(read.offsets.astype(np.int64)) >= 0), f"seed {seed}"
            assert not len(read.targets) or int(read.targets.max()) < len(read.labels), f"seed {seed}"
