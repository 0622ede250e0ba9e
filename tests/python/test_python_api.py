# SPDX-License-Identifier: Apache-2.0
"""The Python interface as its users see it: completion, reference page, arrays without copies, advice, notebooks."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
import rlcompleter
import runpy
import signal
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from conftest import ROOT

import gossamer as gs
import gossamer_setup
from gossamer import progress

HOPS = (ROOT / "examples" / "hops" / "hops.h").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def plotting() -> None:
    """Installs what plots need, as ./gossamer test does for all tests."""
    gossamer_setup.require("core", "plot")


@pytest.fixture(scope="module")
def graph() -> gs.Graph:
    return gs.Graph.from_arrays(["a", "b", "c", "d"], ["b", "c", "d", "d"], weights=[1.5, 2, 0.25, 9])


# ---- Completion and the reference ------------------------------------------------------------------


def test_completion_shows_the_public_names() -> None:
    script = "import gossamer, sys; print(*dir(gossamer)); print(*(m for m in sys.modules if m.startswith('numpy')))"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    names, loaded = done.stdout.splitlines()
    assert set(gs.__all__) <= set(names.split()) and not loaded
    assert [name for name in names.split() if not name.startswith("__")] == sorted(
        (name for name in gs.__all__ if not name.startswith("__")), key=str
    )
    completer = rlcompleter.Completer({"gs": gs})
    assert str(completer.complete("gs.read", 0)).startswith("gs.read_graph(")
    assert {str(completer.complete("gs.Graph.from_", i)).split("(")[0] for i in range(4)} == {
        f"gs.Graph.from_{kind}" for kind in ("arrays", "csr", "networkx", "scipy")
    }


def test_every_public_name_has_a_docstring() -> None:
    for name in gs.__all__:
        thing = getattr(gs, name)
        if name == "__version__":
            continue
        assert thing.__doc__, name
        for attribute, value in vars(thing).items() if isinstance(thing, type) else ():
            if not attribute.startswith("_") and isinstance(value, (types.FunctionType, classmethod, property)):
                assert value.__doc__, f"{name}.{attribute}"


def test_reference_page_is_current() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "python_reference.py"))["page"]()
    page = (ROOT / "docs" / "python-reference.md").read_text(encoding="utf-8")
    assert made == page, "run .gossamer/env/bin/python -I tools/python_reference.py"
    for name in gs.__all__:
        assert name == "__version__" or f"gs.{name}" in page, name


# ---- Arrays ----------------------------------------------------------------------------------------


def test_offsets_are_accepted_by_numpy(graph: gs.Graph) -> None:
    for rows in (graph.out, graph.into, gs.read_graph("gen:rmat:scale=6,seed=1").into, graph.symmetrised().out):
        assert rows.offsets.dtype == rows.degrees().dtype == np.int64
        sources = np.repeat(np.arange(len(rows.offsets) - 1), rows.degrees())
        assert (np.repeat(np.arange(len(rows.offsets) - 1), np.diff(rows.offsets)) == sources).all()
        assert all((rows.targets[a:b] == rows.targets[sources == v]).all()
                   for v, (a, b) in enumerate(zip(rows.offsets[:-1], rows.offsets[1:], strict=True)))  # fmt: skip


@pytest.mark.parametrize("weight", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("offset", [np.int64, np.uint64])
@pytest.mark.parametrize("target", [np.int32, np.uint32])
def test_arrays_of_agreeing_types_are_not_copied(weight: Any, offset: Any, target: Any) -> None:
    offsets = np.array([0, 2, 2, 3], offset)
    targets, weights = np.array([1, 2, 0], target), np.array([5, 6, 7], weight)
    graph = gs.Graph.from_csr(offsets, targets, weights)
    for given, used in ((offsets, graph.out.offsets), (targets, graph.out.targets), (weights, graph.out.weights)):
        assert used is not None and np.shares_memory(given, used)
    back = graph.to_scipy(copy=False)
    assert np.shares_memory(back.data, weights) and np.shares_memory(back.indices, targets)
    assert back.indices.dtype == back.indptr.dtype == np.int32
    assert (back.toarray() == [[0, 5, 6], [0, 0, 0], [7, 0, 0]]).all()
    copied = graph.to_scipy()
    assert not np.shares_memory(copied.data, weights) and not np.shares_memory(copied.indices, targets)
    assert (copied.toarray() == back.toarray()).all() and (copied @ np.ones(3) == back @ np.ones(3)).all()


@pytest.mark.parametrize("offsets", [[0, 2, 1, 3], [0, -1, 2, 3], [1, 2, 2, 3]])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_signed_and_unsigned_offsets_are_checked(offsets: list[int], dtype: Any) -> None:
    with pytest.raises(gs.InputError, match="offsets must ascend from 0"):
        gs.Graph.from_csr(np.array(offsets, np.int64).view(dtype), [1, 2, 0])


def test_negative_target_is_rejected_in_any_type() -> None:
    for dtype in (np.int8, np.int32, np.int64):
        with pytest.raises(gs.InputError, match=r"a target is outside 0 \.\. 2"):
            gs.Graph.from_csr([0, 2, 2, 3], np.array([1, -1, 0], dtype))


def test_scipy_matrix_is_shared_unless_a_copy_is_asked_for() -> None:
    matrix = scipy.sparse.csr_array(np.array([[0, 1.5, 0], [0, 0, 2], [3, 0, 0]]))
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    shared, copied = gs.Graph.from_scipy(matrix), gs.Graph.from_scipy(matrix, copy=True)
    matrix.data[0] = 7
    assert shared.out.weights is not None and copied.out.weights is not None
    assert (shared.out.weights[0], copied.out.weights[0]) == (7, 1.5)
    # Rows with duplicates, whose weights are not sorted, are sorted in a copy.
    twice = scipy.sparse.csr_array((np.array([5.0, 2.0]), np.array([1, 1], np.int32), np.array([0, 2, 2], np.int32)))
    sorted_rows = gs.Graph.from_scipy(twice).out
    assert sorted_rows.weights is not None and sorted_rows.weights.tolist() == [2, 5]
    assert twice.data.tolist() == [5, 2]


# ---- Advice ----------------------------------------------------------------------------------------


def test_unknown_argument_names_what_takes_it(graph: gs.Graph) -> None:
    for name, where in (("undirected", "read_graph and Graph.from_arrays"), ("drop_loops", "read_graph")):
        with pytest.raises(
            gs.InputError, match=rf"^hashmin has no parameter '{name}'; .*; {name} is an argument of {where}$"
        ):
            gs.run("hashmin", graph, **{name: True})
    with pytest.raises(gs.InputError, match=r"^hashmin has no parameter 'sweeps'; it has: none$"):
        gs.run("hashmin", graph, sweeps=3)
    with pytest.raises(gs.InputError, match=r"^hashmin has no parameter 'source'; it has: none; .* have it$") as caught:
        gs.run("hashmin", graph, source="a")
    named = re.findall(
        r"[\w-]+", str(caught.value).partition("none; ")[2].partition(" have it")[0].replace(" and others", "")
    )
    assert named and all(gs.apps.load(app).parameter("source") for app in named)
    # Arguments that the message names exist.
    from gossamer.apps import app as module

    for name, functions in module._ARGUMENTS.items():
        for function in re.split(r", | and ", functions):
            owner, _, method = function.rpartition(".")
            if owner.startswith("gossamer."):
                taker = getattr(importlib.import_module(owner), method)
            else:
                taker = getattr(getattr(gs, owner) if owner else gs, method)
            assert f"{name}:" in str(inspect.signature(taker)), (name, function)


WRONG: list[Any] = [3, "zz", None, -1, 3.5, np.ones((2, 2)), object(), [1, "x"], {}]


def test_wrong_argument_names_function_and_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each public function with each argument replaced by values of other types: it works, or says what is wrong."""
    monkeypatch.chdir(tmp_path)
    graph = gs.Graph.from_csr(np.array([0, 1, 2]), np.array([1, 0]))
    found, run = gs.run("hashmin", graph), gs.start("hashmin", graph)
    offsets, ends = np.array([0, 1, 2]), np.array([1, 0])
    calls: list[tuple[Any, dict[str, Any]]] = [
        (gs.run, {"app": "hashmin", "graph": graph}),
        (gs.start, {"app": "hashmin", "graph": graph}),
        (gs.read_graph, {"path": "gen:ring:vertices=5"}),
        (gs.write_graph, {"graph": graph, "path": "x.mtx"}),
        (gs.vertex, {"source": "none.h"}),
        (gs.Graph.from_csr, {"offsets": offsets, "targets": ends}),
        (gs.Graph.from_arrays, {"sources": ends, "targets": ends}),
        (gs.Graph.from_scipy, {"matrix": graph.to_scipy()}),
        (gs.Graph.from_networkx, {"graph": graph.to_networkx()}),
        (graph.to_scipy, {}), (graph.label_of, {"index": 1}), (graph.index_of, {"label": 1}),
        (graph.labels_at, {"indices": [0, 1]}), (graph.with_weights, {"weights": np.ones(2)}),
        (graph.simplified, {}), (found.named, {"column": found.app.columns[0].name}), (found.at, {"vertex": 1}),
        (found.path, {"to": 1}),
        (run.add_edges, {"sources": 0, "targets": 1}), (run.remove_edges, {"sources": 0, "targets": 1}),
        (run.add_vertices, {"new": 1}), (run.remove_vertices, {"vertices": 1}), (run.wake, {"vertices": 1}),
        (run.reset, {"vertices": 1}),
    ]  # fmt: skip
    rejected = 0
    for function, good in calls:
        for name in inspect.signature(function).parameters:
            if name in ("parameters", "into", "there"):
                continue
            for value in WRONG:
                try:
                    function(**{**good, name: value})
                except gs.GossamerError as error:
                    rejected += 1
                    if "is not supported; give" in str(error):
                        assert str(error).startswith(f"{function.__qualname__}: {name}: "), error
                except IndexError as error:
                    assert function.__name__ == "label_of" and "vertex index" in str(error)
                except Exception as error:
                    raise AssertionError(f"{function.__qualname__}({name}={value!r})") from error
    assert rejected > 200


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("scipy", "graph.to_scipy()"),
        ("networkx", "graph.to_networkx()"),
        ("pandas", "gs.run('hashmin', graph).to_pandas()"),
        ("matplotlib", "gs.run('hashmin', graph).plot()"),
    ],
)
def test_missing_package_is_named_with_the_command_that_installs_it(package: str, call: str) -> None:
    script = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "import gossamer as gs\n"
        "graph = gs.Graph.from_arrays([0], [1])\n"
        f"try:\n    {call}\nexcept gs.InputError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    kind = "Graph" if call.startswith("graph") else "Result"
    assert re.fullmatch(
        rf"{kind}\.to?_?\w+ needs {package}, which is not installed; install it with: (\./gossamer setup \w+, or )?"
        rf"\S+ -m pip install {package}\n",
        done.stdout.replace(".plot", ".to_plot"),
    ), done.stdout


# ---- Vertices, tables, plots -----------------------------------------------------------------------


def test_vertex_from_text_or_file_is_compiled_once(graph: gs.Graph, tmp_path: Path) -> None:
    want = [0, 1, 2, 3]
    first = gs.vertex(HOPS)
    assert gs.run(first, graph, source="a").values.tolist() == want
    assert gs.vertex(HOPS) is first
    path = tmp_path / "own.h"
    path.write_text(HOPS)
    for one in (path, str(path)):
        assert gs.run(gs.vertex(one), graph, source="a").values.tolist() == want
    # Another text is another vertex, also in the same process.
    double = gs.vertex(HOPS.replace("s->hops + 1", "s->hops + 2"))
    assert gs.run(double, graph, source="a").values.tolist() == [0, 2, 4, 6]
    assert gs.run(first, graph, source="a").values.tolist() == want
    assert gs.run(gs.vertex(HOPS.replace("s->hops + 1", "s->hops + STEP"), ["STEP=3"]), graph).values[1] == 3


def test_wrong_vertex_is_reported_with_the_line_of_its_text() -> None:
    wrong = HOPS.replace("s->hops = *message;", "s->hop = *message;")
    line = wrong[: wrong.index("s->hop =")].count("\n") + 1
    with pytest.raises(gs.InputError, match=rf"vertex-\w+\.h:{line}: .*no member named .hop."):
        gs.vertex(wrong)
    with pytest.raises(gs.InputError, match="no such application"):
        gs.vertex("int main() {}")
    with pytest.raises(gs.InputError, match=r"no-such\.h: no such file"):
        gs.vertex("no-such.h")


def test_pandas_table_has_labels_and_missing_values(graph: gs.Graph) -> None:
    found = gs.run("bfs", graph, source="b").to_pandas()
    assert found.index.tolist() == ["a", "b", "c", "d"] and found.index.name == "vertex"
    assert found.level.isna().tolist() == [True, False, False, False] and found.level.tolist()[1:] == [0, 1, 2]
    assert found.parent.isna().tolist() == [True, True, False, False] and found.parent.tolist()[2:] == ["b", "c"]
    lengths = gs.run("bellman-ford-double", graph, source="b").to_pandas()
    assert np.isnan(lengths.distance["a"]) and lengths.distance.tolist()[1:] == [0, 2, 2.25]
    whole = gs.run("pagerank64", graph).to_pandas()
    assert whole["rank"].dtype == np.float64 and isinstance(whole, pd.DataFrame)
    alone = gs.run("bfs", gs.Graph.from_arrays([5, 6], [6, 6]), source=5).to_pandas()
    assert alone.index.tolist() == list(range(7)) and alone.level.isna().sum() == 5
    assert alone.parent.tolist()[6] == 5


@pytest.mark.usefixtures("plotting")
def test_plot_draws_every_column(graph: gs.Graph) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    large = gs.read_graph("gen:rmat:scale=8,seed=1")
    search = gs.run("bfs", large, source=3)
    axes = search.plot()
    heights = [bar.get_height() for bar in axes.patches]
    reached = search.values[search.values != 0xFFFFFFFF]
    assert heights == np.bincount(reached).tolist() and axes.get_xlabel() == "level"
    assert axes.get_title() == f"bfs ({large.vertices - len(reached):,} vertices without level)"
    ((groups),) = gs.run("hashmin", large).plot().lines
    sizes = np.sort(np.unique(gs.run("hashmin", large).values, return_counts=True)[1])[::-1]
    assert groups.get_ydata().tolist() == sizes.tolist()
    ranks = gs.run("pagerank", large)
    assert sum(bar.get_height() for bar in ranks.plot().patches) == large.vertices
    figure, own = pyplot.subplots()
    assert ranks.plot("rank", ax=own) is own and own.figure is figure
    search.plot("parent")
    gs.run("bfs", gs.Graph.from_arrays([0], [1]), source=1).plot("parent")
    pyplot.close("all")
    with pytest.raises(gs.InputError, match=r"^pagerank has no column 'level'; it has: rank$"):
        ranks.plot("level")


# ---- Progress, interruption, notebooks -------------------------------------------------------------


def test_progress_is_redrawn_in_a_notebook(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("GOSSAMER_PROGRESS", raising=False)
    assert not progress.in_notebook()
    silent = progress.Line()
    silent.show("nothing")
    silent.clear()
    assert capsys.readouterr().err == ""
    # The name of the class by which IPython distinguishes a kernel from a terminal.
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    assert progress.in_notebook()
    line = progress.Line()
    line.show("step 100")
    line.show("step 9")
    line.clear()
    assert capsys.readouterr().err == "\rstep 100\rstep 9  \r      \r"


def test_interrupt_stops_the_engine_and_the_next_run_works() -> None:
    script = """
import os, signal, threading, time
import gossamer as gs
graph = gs.read_graph("gen:rmat:scale=12,seed=1")
gs.run("pagerank", graph, iterations=1)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
begun = time.monotonic()
try:
    gs.run("pagerank", graph, iterations=10**9)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - begun < 5)
print(len(gs.run("bfs", graph).values), threading.active_count())
"""
    environment = {**os.environ, "GOSSAMER_PROGRESS": "off"}
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout == "interrupted True\n4096 1\n", done.stderr
    assert signal.getsignal(signal.SIGINT) is not None


@pytest.mark.usefixtures("plotting")
def test_example_notebook_runs(tmp_path: Path) -> None:
    """Every code cell, one after the other in one process, as a kernel executes them."""
    notebook = json.loads((ROOT / "examples" / "notebook" / "gossamer.ipynb").read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 4)
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 7
    for cell in notebook["cells"]:
        # Outputs depend on the machine, and are not kept.
        assert cell["cell_type"] == "markdown" or (cell["outputs"], cell["execution_count"]) == ([], None)
    runner = tmp_path / "cells.py"
    runner.write_text(
        "import json, sys, matplotlib\nmatplotlib.use('Agg')\nspace = {'__name__': '__main__'}\n"
        "for number, cell in enumerate(json.load(sys.stdin)):\n"
        "    exec(compile(cell, f'cell {number}', 'exec'), space)\n"
        "print(sorted(space))\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", str(runner)],
        input=json.dumps(cells),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "triangles: gossamer, " in done.stdout and "'hops'" in done.stdout
