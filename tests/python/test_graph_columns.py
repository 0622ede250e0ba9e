# SPDX-License-Identifier: Apache-2.0
"""Columns of edge lists: separators, quotes, empty columns, headings, --columns. Python's csv module is the judge."""

from __future__ import annotations

import csv
import random
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import Command, Size

from gossamer.cli import main
from gossamer.errors import InputError
from gossamer.graph import read_graph

from .test_graph_read import edges_of

REJECTED: dict[str, tuple[str, str]] = {
    # case: (the text, the message after the path)
    "single word": ("a b\nc\n", "2: 1 column, but line 1 has 2 (source target); is the line cut?"),
    "cut line": ("a b 3\nc", "2: 1 column, but line 1 has 3 (source target weight); is the line cut?"),
    "single word first": ("c\na b\n", "1: 1 column, but line 2 has 2"),
    "single words, counts wrong": (
        "# Nodes: 4 Edges: 2\na b\nc\n",
        "1: the comment states 4 vertices and 2 edges, but the file has 3 and 1",
    ),
    "single words, one count": ("# Edges: 1\na b\nc\n", "3: 1 column, but line 2 has 2"),
    "three targets and two": ("a b c\nb c\n", "1: weight 'c' is not a finite number; a list of neighbours needs"),
    "targets without weights": ("0 1 2\n1 2 0\n2 0 1\n", "1: edges with weights, or a vertex and two neighbours"),
    "targets of later numbers": ("5 7 9\n7 9 5\n9 5 7\n", "1: edges with weights, or a vertex and two neighbours"),
    "targets, then fewer": ("0 1 2\n1 2\n", "2: 2 columns, but line 1 has 3 (source target weight); a list of"),
    "comma and blank": ("1 2,3\n", "1: columns separated by blanks and by commas: '1 2'"),
    "comma on the second line": ("1 2\n1,2\n", "2: a comma in a list whose columns are separated by blanks"),
    "comma among words": ("a b\nc, d\n", "2: a comma in a list whose columns are separated by blanks"),
    "blank on the second line": ("1,2\n1 2\n", "2: 1 column, but line 1 has 2"),
    "decimal comma": ("1 2 3\n2 3 1,5\n", "2: a comma in a list whose columns are separated by blanks"),
    "tab and blanks": ("New York\t5\n", "1: columns separated by blanks and by a tab: is 'New York' one vertex"),
    "tab on the second line": ("a\tb\nc d\n", "2: 1 column, but line 1 has 2"),
    "empty column": ("1,,2\n", "1: column 2 is empty"),
    "empty column later": ("1,2,3\n1,,3\n", "2: column 2 is empty"),
    "empty column of words": ("ash,birch\nash,\n", "2: column 2 is empty"),
    "empty column at the end": ("1,2,\n", "1: column 3 is empty"),
    "empty column at the begin": (",a,b\n", "1: column 1 is empty"),
    "empty column of tabs": ("a\t\tb\n", "1: column 2 is empty"),
    "empty column of tabs later": ("1\t2\n1\t\t2\n", "2: 3 columns, but line 1 has 2"),
    "empty quotes": ('a,b\n"",b\n', "2: column 1 is empty"),
    "open quote": ('"a,b\nc,d\n', "1: a quotation mark in column 1 is not closed on its line"),
    "open quote later": ('1,2\n1,"2\n', "2: a quotation mark in column 2 is not closed on its line"),
    "text after quotes": ('"a"b,c\n', "1: text after the quotation marks of column 1"),
    "quotes with a blank later": ('ash "b"\n"New York" b\n', "2: 3 columns, but line 1 has 2"),
    "only commas": (",,\n", "1: column 1 is empty"),
    "timestamps": ("1 2 1 1082040961\n", "1: 4 columns; an edge list has two or three"),
    "timestamps of words": ("a b 1 1082040961\n", "1: 4 columns; an edge list has two or three"),
    "Gephi's": ("Source,Target,Type,Weight\n1,2,Directed,1\n", "1: 4 columns"),
    "a name too much": ("Person,Friend,Since\nash,birch,3\n", "1: weight 'Since' is not a finite number"),
    "arrows": ("a -> b\nb -> c\n", "1: weight 'b' is not a finite number; choose the columns of the vertices"),
    "distances": ("b 0.5\nc 1.25\n", "1: column 2 has decimal numbers on all lines"),
    "matrix without banner": ("3 3 2\n1 2 0.5\n2 3 1.5\n", "1: a matrix without its Matrix Market banner?"),
    "matrix of zeros and ones": ("0 1 0\n1 0 1\n0 1 0\n", "1: three edges with weights, or a matrix of three rows?"),
    "tuples": ("(0, 1)\n(1, 2)\n", "1: '(0' is not a vertex"),
    "decimal commas and semicolons": ("1,2;3,4\n", "1: '2;3': columns separated by ';'"),
    "tagged lines": ("# x\ne 1 2\ne 2 3\n", "2: each line begins with 'e' before the vertices"),
    "a table of vertices": ('"id","name"\n"1","Bob Smith"\n"2","Al"\n', "1: these look like column headings"),
    "bipartite": ("% bip unweighted\n1 1\n1 2\n", "1: a bipartite KONECT graph"),
    "brackets": ("# x\na [\nb ]\n", "2: '[' is not a vertex"),
}  # fmt: skip


@pytest.mark.parametrize("what", REJECTED)
def test_doubtful_columns_are_rejected_at_their_line(tmp_path: Path, what: str) -> None:
    text, expected = REJECTED[what]
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_graph(path)
    assert str(caught.value).startswith(f"{path}:{expected}"), caught.value
    assert "\n" not in str(caught.value)


ACCEPTED: dict[str, tuple[str, set[tuple[object, ...]]]] = {
    "names with blanks": ("New York,5\nBoston,New York\n", {("New York", "5"), ("Boston", "New York")}),
    "names with blanks and tabs": ("New York\tBoston\nBoston\tSalt Lake City\n",
                                   {("New York", "Boston"), ("Boston", "Salt Lake City")}),
    "names with commas and tabs": ("Smith, J\tDoe, A\t3\n", {("Smith, J", "Doe, A", 3)}),
    "quotes": ('"New York, NY","Bos""ton",5\nBoston,"New York, NY",7\n',
               {("New York, NY", 'Bos"ton', 5), ("Boston", "New York, NY", 7)}),
    "quotes between blanks": ('"New York" Boston\nBoston "Salt Lake City"\n',
                              {("New York", "Boston"), ("Boston", "Salt Lake City")}),
    "marks as parts of names": ('ash "b"\n"b" c\n', {("ash", '"b"'), ('"b"', "c")}),
    "all quoted": ('"ash" "b"\nb "c"\n', {("ash", "b"), ("b", "c")}),
    "quoted numbers": ('"1","2"\n2,"3"\n', {(1, 2), (2, 3)}),
    "quoted headings": ('"source","target","weight"\n"a","b","5"\n', {("a", "b", 5)}),
    "announced": ("# Nodes: 3 Edges: 1\na,b\nc\n", {("a", "b")}),
    "blanks around commas": ("1 , 2\n2,\t3\r\n 3,1 \n", {(1, 2), (2, 3), (3, 1)}),
    "a ring with weights": ("1 2 1\n2 3 1\n3 1 1\n", {(1, 2, 1), (2, 3, 1), (3, 1, 1)}),
}  # fmt: skip


@pytest.mark.parametrize("what", ACCEPTED)
def test_columns_are_separated_as_in_the_first_line(tmp_path: Path, what: str) -> None:
    text, expected = ACCEPTED[what]
    path = tmp_path / "a.csv"
    path.write_text(text)
    assert edges_of(read_graph(path)) == Counter(expected)


def test_explicit_formats_decide_what_three_columns_are(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("0 1 2\n1 2 0\n2 0 1\n")
    assert edges_of(read_graph(path, format="edges")) == Counter({(0, 1, 2), (1, 2, 0), (2, 0, 1)})
    expected = {(a, b) for a in "012" for b in "012" if a != b}
    assert edges_of(read_graph(path, format="adjlist")) == Counter(expected)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Person,Friend\nash,birch\nbirch,cedar\n", ":1: the words of this line are on no other line"),
        ("4 3\n0 1\n1 2\n2 3\n", ":1: this line may state the numbers of vertices and edges"),
        ("% sym unweighted\n1 2\n2 3\n", ":1: a comment states that the graph is undirected"),
    ],
)
def test_doubtful_first_lines_are_noted(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    notes = read_graph(path).notes
    assert len(notes) == 1 and what in notes[0].replace(":2:", ":1:")


@pytest.mark.parametrize("separator", [",", "\t", " "])
@pytest.mark.parametrize("words", [False, True])
def test_chosen_columns_match_csv(tmp_path: Path, seed: int, size: Size, separator: str, words: bool) -> None:
    draw = random.Random(seed)
    names = ["id", "from", "time", "to", "note", "cost"]
    draw.shuffle(names)

    def cell(name: str) -> str:
        if name in ("from", "to"):
            number = draw.randrange(40)
            return draw.choice([f"v {number}", f'v"{number}', f"v,{number}", f"é{number}"]) if words else str(number)
        if name == "cost":
            return str(draw.randrange(-50, 50))
        return (
            draw.choice(["x", "1.5", "a b", "a, b", "y"]) if separator == " " else draw.choice(["", "x", 'q"q', "a b"])
        )

    rows = [[cell(name) for name in names] for _ in range(size.pick(200, 20000, 100000))]
    path = tmp_path / "a.csv"
    for headed in (False, True):
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter=separator, lineterminator=draw.choice(["\n", "\r\n"]),
                                quoting=csv.QUOTE_ALL if separator == " " else csv.QUOTE_MINIMAL)  # fmt: skip
            writer.writerows([names] * headed + rows)
        with open(path, newline="", encoding="utf-8") as file:
            judged = list(csv.reader(file, delimiter=separator))[headed:]
        at = [names.index(name) for name in ("from", "to", "cost")]
        convert = str if words else int
        expected = Counter((convert(row[at[0]]), convert(row[at[1]]), int(row[at[2]])) for row in judged)
        chosen = ("from", "to", "cost") if headed else [place + 1 for place in at]
        graph = read_graph(path, columns=chosen, threads=draw.choice([1, 2]))
        assert edges_of(graph) == expected
        unweighted = read_graph(path, columns=",".join(map(str, chosen[:2])))
        assert edges_of(unweighted) == Counter(edge[:2] for edge in expected.elements())


@pytest.mark.parametrize(
    ("columns", "text", "expected"),
    [
        ("1", "1 2\n", "name two or three different columns"),
        ("1,1", "1 2\n", "name two or three different columns"),
        ("1,2,3,4", "1 2 3 4\n", "name two or three different columns"),
        ("0,1", "1 2\n", "name two or three different columns"),
        ("1,", "1 2\n", "name two or three different columns"),
        ("1,3", "1 2\n", "a:1: 2 columns, but --columns has '3'; columns are numbered from 1"),
        (
            "from,to",
            "id,from,till\n1,2,3\n",
            "a:1: no column 'to'; the columns of the first line are 'id', 'from', 'till'",
        ),
        ("1,2", "1 2 3\n1 2\n", "a:2: 2 columns, but line 1 has 3"),
        ("1,2", "1,2,\n,2,3\n", "a:2: column 1 is empty; fill it, or remove the line"),
        ("1,2,3", "1,2,3\n1,2,x\n", "a:2: weight 'x' is not a finite number"),
        ("2,3", "id,from,to\n1,2,3\n", "a:2: vertex numbers after a line of column headings (line 1)"),
        ("2,3", "id,from,to\n1,ash,birch\n", "a:1: these look like column headings"),
        ("from,to", "from,to\n", "a:1: the file ends without an edge"),
        ("1,2", "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", "Matrix Market has none to choose"),
    ],
)
def test_wrong_choices_of_columns_are_reported(tmp_path: Path, columns: str, text: str, expected: str) -> None:
    (tmp_path / "a").write_text(text)
    with pytest.raises(InputError) as caught:
        read_graph(tmp_path / "a", columns=columns)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_commands_take_columns(tmp_path: Path) -> None:
    table = tmp_path / "flights.csv"
    table.write_text("time,from,to,miles\n8,Salt Lake City,Boston,2105\n9,Boston,Salt Lake City,2105\n")
    shown = CliRunner().invoke(main, ["graph", "info", str(table), "--columns", "from,to,miles"])
    assert shown.exit_code == 0 and "words, Salt Lake City .. Boston" in shown.output
    output = tmp_path / "a.gsg"
    done = CliRunner().invoke(main, ["graph", "convert", str(table), str(output), "--columns", "from,to"])
    assert done.exit_code == 0
    assert edges_of(read_graph(output)) == Counter({("Salt Lake City", "Boston"): 1, ("Boston", "Salt Lake City"): 1})


def test_run_takes_columns(tmp_path: Path, command: Command) -> None:
    (tmp_path / "a.csv").write_text("time,from,to\n8,a,b\n9,b,c\n")
    done = command("run", "hashmin", tmp_path / "a.csv", "--columns", "from,to", "--undirected")
    assert done.returncode == 0, done.stderr
    refused = command("run", "hashmin", tmp_path / "a.csv")
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1, refused.stderr
