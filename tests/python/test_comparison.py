# SPDX-License-Identifier: Apache-2.0
"""``./gossamer diff`` and its tables: agreement by label within tolerances, the worst difference first, bad files."""

from __future__ import annotations

import json
import math
import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import agreement
import networkx as nx
import numpy as np
import pytest
from conftest import ROOT, Command

import gossamer as gs
from gossamer import engines
from gossamer.apps import comparison, runner
from gossamer.apps.comparison import Table
from gossamer.cli import _run_output
from gossamer.engines import fast
from gossamer.errors import InputError

INF, NAN = math.inf, math.nan


def table(columns: dict[str, Any], labels: Any = None) -> Table:
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    count = len(next(iter(arrays.values())))
    return Table("t", list(map(str, range(count))) if labels is None else labels, arrays)


def agree(a: Any, b: Any, absolute: float, relative: float) -> bool:
    """Agreement of two numbers, in exact arithmetic."""
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b):
        return True
    if a == b:
        return True
    if not (math.isfinite(a) and math.isfinite(b)):
        return False
    x, y = Fraction(a), Fraction(b)
    return abs(x - y) <= Fraction(absolute) or abs(x - y) <= Fraction(relative) * max(abs(x), abs(y))


NUMBERS: dict[str, list[Any]] = {
    "float64": [0.0, -0.0, 1.0, 1.5, -1.5, 1e300, -1e300, 5e-324, INF, -INF, NAN, 1.25],
    "int64": [0, 1, -1, 2**62, 2**62 + 1, -(2**63), 2**63 - 1, 7],
    "uint64": [0, 1, 2**64 - 1, 2**64 - 2, 2**63, 7],
    "float32": [0.0, 0.5, -3.5, INF, NAN, 1.25],
}


@pytest.mark.parametrize("first", NUMBERS)
@pytest.mark.parametrize("second", NUMBERS)
@pytest.mark.parametrize(("absolute", "relative"), [(0, 0), (0.25, 0), (0, 0.25), (1, 0.5), (2.0**70, 0)])
def test_tolerances_are_those_of_exact_arithmetic(first: str, second: str, absolute: float, relative: float) -> None:
    pairs = [(a, b) for a in NUMBERS[first] for b in NUMBERS[second]]
    a, b = (np.array([pair[i] for pair in pairs], (first, second)[i]) for i in (0, 1))
    mixed = {first, second} & {"float64", "float32"} and {first, second} & {"int64", "uint64"}
    got = comparison.apart(a, b, absolute=absolute, relative=relative)
    for i, (x, y) in enumerate(pairs):
        if mixed and max(abs(x), abs(y)) > 2**53:
            continue  # integers are rounded to double precision, to be compared with floating-point numbers
        if math.isfinite(x) and math.isfinite(y):
            size, limit = (
                abs(Fraction(x) - Fraction(y)),
                max(Fraction(absolute), Fraction(relative) * Fraction(max(abs(x), abs(y)))),
            )
            if size != limit and abs(size - limit) < limit / 2**50:
                continue  # nearer to the limit than double precision can represent
        assert bool(got[i]) != agree(x, y, absolute, relative), (x, y)


def test_vertices_are_matched_by_label_and_the_worst_difference_is_first() -> None:
    first = table({"x": [1.0, 2.0, 3.0, INF, NAN, 5.0]}, ["a", "b", "c", "d", "e", "only"])
    second = table({"x": [NAN, -INF, 3.5, 2.25, 1.0, 9.0]}, ["e", "d", "c", "b", "a", "other"])
    found = comparison.compare(first, second)
    assert not found and found.vertices == 5 and found.greatest == 0.5
    texts = [one.text("A", "B") for one in found.differences]
    assert texts == [
        "vertex only: only in A",
        "vertex other: only in B",
        "vertex d, x: inf and -inf",
        "vertex c, x: 3 and 3.5 (difference 0.5, relative 0.143)",
        "vertex b, x: 2 and 2.25 (difference 0.25, relative 0.111)",
    ]
    assert len(comparison.compare(first, second, relative=0.12).differences) == 4
    assert len(comparison.compare(first, second, absolute=0.5).differences) == 3


def test_text_is_compared_exactly_and_columns_must_be_common() -> None:
    first = table({"x": [1, 2], "parent": ["a", ""]})
    second = table({"x": [1, 2], "parent": ["a", "b"]})
    (only,) = comparison.compare(first, second, absolute=100).differences
    assert only.text("A", "B") == "vertex 1, parent: '' and 'b'"
    assert comparison.compare(first, second, columns=["x"])
    with pytest.raises(InputError, match=r"t: has no column 'parent', only x; name common ones with --column"):
        comparison.compare(first, table({"x": [1, 2]}))
    with pytest.raises(InputError, match="vertex a occurs twice"):
        table({"x": [1, 2]}, ["a", "a"])


@pytest.mark.parametrize("ending", comparison.ENDINGS)
@pytest.mark.parametrize("app", ["bfs", "bellman-ford-double", "pagerank", "pagerank64", "sssp64"])
def test_every_output_is_read_back(tmp_path: Path, ending: str, app: str) -> None:
    """Labels with all that CSV must quote, unreached vertices, infinities."""
    names = ["plain", 'q"uote', "com,ma", "new\nline", "ünïcode", "inf", "7", "far"]
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 5), (5, 6)]
    sources, targets = ([names[edge[i]] for edge in edges] for i in (0, 1))
    graph = gs.Graph.from_arrays([*sources, "far"], [*targets, "far"], weights=[0.1, 1 / 3, 2, 4, 5, 6, 7])
    if app == "sssp64":
        graph = graph.with_weights([1, 2, 3, 4, 5, 6, 7])
    result = gs.run(app, graph)
    path = tmp_path / f"result{ending}"
    _run_output.writer(path)(result)
    got = comparison.read_table(path)
    if ending == ".npy":
        assert got.labels == list(map(str, range(graph.vertices)))
        assert list(got.columns) == (list(result.columns) if len(result.columns) > 1 else ["value"])
        pairs = zip(got.columns.values(), result.columns.values(), strict=True)
        assert not any(comparison.apart(a, b).any() for a, b in pairs)
        return
    want = Table.of(result)
    assert sorted(got.labels) == sorted(names)
    assert comparison.compare(want, got) and comparison.compare(got, want)
    wrong = {name: values.copy() for name, values in got.columns.items()}
    first = next(iter(wrong))
    wrong[first] = wrong[first] + wrong[first].dtype.type(1)
    assert len(comparison.compare(want, Table("w", got.labels, wrong), columns=[first]).differences) >= 5


@pytest.mark.parametrize("first", [0, -5])
def test_all_formats_of_a_result_agree(tmp_path: Path, first: int) -> None:
    """Single precision, which .csv has with nine digits; vertices without a parent, which .csv has as empty cells."""
    graph = gs.Graph.from_networkx(nx.DiGraph([(first, 1), (1, 2), (2, 3), (4, 4)]))
    assert graph.label_of(0) == first
    for app in ("pagerank", "bfs", "sssp-paths"):
        files = [tmp_path / f"result{ending}" for ending in comparison.ENDINGS if ending != ".npy"]
        result = gs.run(app, graph)
        for file in files:
            _run_output.writer(file)(result)
        for a in files:
            for b in files:
                assert comparison.compare(comparison.read_table(a), comparison.read_table(b)), (app, a, b)
        wrong = {name: values.copy() for name, values in result.columns.items()}
        value = next(iter(wrong.values()))
        value[1] = np.nextafter(value[1], np.float32(2)) if value.dtype.kind == "f" else 1
        for column in list(wrong)[1:]:
            wrong[column][1] = 3
        _run_output.writer(files[0])(type(result)(**{**vars(result), "columns": wrong}))
        for b in files[1:]:
            found = comparison.compare(comparison.read_table(files[0]), comparison.read_table(b))
            assert {one.column for one in found.differences} >= {*list(wrong)[-1:]}, (app, b)


def test_decimals_of_double_precision_are_not_rounded() -> None:
    short = Table("s", ["a", "b"], {"x": np.array([0.1, 0.25])}, frozenset({"x"}))
    assert comparison.compare(short, table({"x": np.array([0.1, 0.25], np.float32)}, ["a", "b"]))
    assert not comparison.compare(short, table({"x": np.array([0.1 + 1e-12, 0.25])}, ["a", "b"]))
    assert not comparison.compare(short, table({"x": np.array([0.1 + 1e-8, 0.25], np.float32)}, ["a", "b"]))
    long = Table("l", ["a", "b"], {"x": np.array([0.1, 0.25])})
    assert not comparison.compare(long, table({"x": np.array([0.1, 0.25], np.float32)}, ["a", "b"]))


def test_difference_of_results_is_that_of_plain_loops() -> None:
    graph = gs.read_graph("gen:rmat:scale=6,seed=1")
    result = gs.run("pagerank64", graph)
    generator = random.Random(1)
    for _ in range(200):
        other = result.values.copy()
        at = generator.randrange(len(other))
        other[at] += generator.choice([1e-8, 1e-9, 1e-11, 2e-10, -1e-12]) * generator.random()
        got = runner.difference(result, type(result)(**{**vars(result), "columns": {"rank": other}}))
        floor = max(result.values) / len(other)
        size = abs(other[at] - result.values[at])
        assert (got is not None) == (size > 1e-8 * max(abs(other[at]), abs(result.values[at]), floor))


# ---- The command ----------------------------------------------------------------------------------


def test_command_reports_agreement_and_differences(command: Command, tmp_path: Path) -> None:
    a, b = tmp_path / "a.csv", tmp_path / "b.npz"
    for name in (a, b):
        assert command("run", "bfs", "gen:grid:width=9,height=9", "-o", str(name)).returncode == 0
    done = command("diff", str(a), str(b), "--column", "level")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{a} and {b} agree: 81 vertices, level; the greatest difference is 0\n"
    lines = a.read_text().splitlines()
    lines[5] = lines[5].split(",")[0] + ",99,0"
    lines[7] = lines[7].split(",")[0] + ",3.5,0"
    (tmp_path / "c.csv").write_text("\n".join(lines[:-1]) + "\n")
    done = command("diff", str(a), str(tmp_path / "c.csv"), "-c", "level", "--top", "2")
    assert done.returncode == 1 and not done.stderr
    first, *rest = done.stdout.splitlines()
    assert first.endswith(f"differ: level of 2 of 80 vertices; 1 vertex is only in {a}")
    assert rest[0] == f"  vertex 80: only in {a}"
    assert rest[1] == "  vertex 4, level: 4 and 99 (difference 95, relative 0.96)"
    assert rest[2] == "  and 1 more"


@pytest.mark.parametrize(("app", "relative"), [("pagerank", "2e-3"), ("sssp-paths", "0"), ("label-propagation", "0")])
def test_engines_agree_by_their_files(command: Command, tmp_path: Path, app: str, relative: str) -> None:
    """The results of both engines as a user compares them, and a damaged one."""
    graph, files = "gen:rmat:scale=7,seed=2", [tmp_path / "cpu.json", tmp_path / "shuffle.csv"]
    for engine, path in zip(("cpu", "shuffle"), files, strict=True):
        assert command("run", app, graph, "--engine", engine, "-o", str(path)).returncode == 0
    arguments = ["diff", *map(str, files), "--relative", relative, "--column"]
    column = next(iter(comparison.read_table(files[0]).columns))
    assert command(*arguments, column).returncode == 0
    lines = files[1].read_text().splitlines()
    label, value, *rest = lines[9].split(",")
    lines[9] = ",".join([label, str(float(value) * 1.01 + 1), *rest])
    files[1].write_text("\n".join(lines) + "\n")
    done = command(*arguments, column)
    assert done.returncode == 1 and f"  vertex {label}, {column}: " in done.stdout


def test_values_without_a_name_are_compared_with_the_only_or_chosen_column() -> None:
    unnamed = table({"value": [1, 2]})
    named, two = table({"rank": [1, 3]}), table({"rank": [1, 3], "sum": [1, 2]})
    for pair in ((unnamed, named), (named, unnamed)):
        found = comparison.compare(*pair)
        assert found.columns == ("rank",) and [one.vertex for one in found.differences] == ["1"]
    assert comparison.compare(unnamed, two, columns=["sum"])
    assert not comparison.compare(two, unnamed, columns=["rank"])
    for columns in ([], ["rank", "sum"], ["other"]):
        with pytest.raises(InputError, match="has no column"):
            comparison.compare(unnamed, two, columns=columns)
    assert comparison.compare(unnamed, unnamed).columns == ("value",)


BAD = {
    "missing.csv": (None, "No such file or directory"),
    "a.txt": ("1", "unknown ending; a result ends in .csv, .json, .npy, .npz"),
    "empty.csv": ("", "the first line must be vertex and distinct names of columns"),
    "ragged.csv": ("vertex,x\n1,2\n3\n", "line 3 has 1 cells, the first line 2"),
    "twice.csv": ("vertex,x\n1,2\n1,3\n", "vertex 1 occurs twice"),
    "nothing.csv": ("vertex\n1\n", "has no column of values"),
    "quote.csv": ('vertex,x\n"1,2\n', "unexpected end of data"),
    "binary.csv": (b"vertex,x\n\xff\xfe,1\n", "byte 10 is not UTF-8 text;"),
    "cut.json": ("{", "Expecting property name"),
    "binary.json": (b'{"a": "\xff"}', "byte 8 is not UTF-8 text;"),
    "deep.json": ("[" * 100000, "nested too deeply"),
    "list.json": ("[1, 2]", "it must be an object of arrays with 'vertex', or of values by label"),
    "uneven.json": ('{"vertex": [1, 2], "x": [1]}', "equal lengths"),
    "object.json": ('{"vertex": [1], "x": [{}]}', "neither numbers nor text"),
    "scalar.npy": (np.float64(3), "one dimension"),
    "objects.npy": (np.array([{}, 1], object), "it has no arrays of numbers;"),
    "complex.npy": (np.array([1j]), "has the type complex128"),
    "text.npy": (b"hello", "it has no arrays of numbers;"),
    "text.npz": (b"hello", "it has no arrays of numbers;"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_file_is_one_line_and_code_2(command: Command, tmp_path: Path, name: str) -> None:
    contents, why = BAD[name]
    path = tmp_path / name
    if isinstance(contents, (np.ndarray, np.generic)):
        np.save(path, contents, allow_pickle=True)
    elif isinstance(contents, bytes):
        path.write_bytes(contents)
    elif contents is not None:
        path.write_text(str(contents))
    good = tmp_path / "good.json"
    good.write_text(json.dumps({"a": 1, "b": 2.5}))
    done = command("diff", str(good), str(path))
    assert done.returncode == 2 and not done.stdout

    assert re.fullmatch(rf"gossamer: error: {re.escape(str(path))}: [^\n]*({why})[^\n]*\n", done.stderr), done.stderr


@pytest.mark.parametrize("option", ["--absolute=-1", "--relative=nan", "--absolute=inf", "--relative=x"])
def test_bad_tolerance_is_one_line_and_code_2(command: Command, tmp_path: Path, option: str) -> None:
    good = tmp_path / "good.json"
    good.write_text(json.dumps({"a": 1}))
    assert command("diff", str(good), str(good)).returncode == 0
    done = command("diff", str(good), str(good), option)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and option[2:10] in done.stderr


# ---- The engines --------------------------------------------------------------------------------

COMPARED = {
    "cpu": "python/test_apps.py",
    "shuffle": "python/test_apps.py",
    "rtl": "system/test_polite_rtl.py",
    "model": "python/test_model.py",
    "board": "system/test_board_engine.py",
    "distributed": "python/test_distributed.py",
    "fast": "system/test_fast.py",
}
"""Tests whose results of an engine are compared with those of another one by the command (``agreement``)."""


def test_every_engine_has_a_test_that_uses_the_command() -> None:
    assert COMPARED.keys() == {*engines.names(), fast.NAME}
    for path in COMPARED.values():
        assert "agreement.check(" in (ROOT / "tests" / path).read_text(encoding="utf-8"), path


@pytest.mark.parametrize("app", ["pagerank", "bfs"])
def test_agreement_of_results_fails_with_the_output_of_the_command(app: str, tmp_path: Path) -> None:
    graph = gs.read_graph("gen:rmat:scale=7,seed=2")
    first, second = gs.run(app, graph), gs.run(app, graph)
    file = tmp_path / "second.csv"
    for side in (second, file):
        _run_output.writer(file)(second)
        agreement.check(first, side)
    at = next(v for v in range(graph.vertices) if 0 < first.values[v] < 2**31)
    second.values[at] += second.values[at] * 2e-3 if app == "pagerank" else 1
    _run_output.writer(file)(second)
    for side in (second, file):
        column = next(iter(first.columns))
        with pytest.raises(AssertionError, match=rf"differ: {column} of 1 of 128 vertices\n  vertex {at}, {column}: "):
            agreement.check(first, side)
    columns = {"instructions": [1, 2, 3], "text": ["a", "", "b"]}
    agreement.check(columns, columns)
    assert "vertex 2, text: 'b' and 'c'" in agreement.differences(columns, columns | {"text": ["a", "", "c"]})
