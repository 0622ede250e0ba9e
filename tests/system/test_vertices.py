# SPDX-License-Identifier: Apache-2.0
"""A user's own vertex header: run, checked by --shuffle, or rejected in one line at the user's line."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command, Size

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "vertices"
BAD_INPUT, NO = 2, 1


def header(name: str) -> Path:
    return FIXTURES / f"{name}.h"


def edge_list(path: Path, vertices: int, edges: list[tuple[int, int]]) -> Path:
    """A Matrix Market file of these edges, which are counted from 0 here."""
    lines = [f"{s + 1} {t + 1}\n" for s, t in edges]
    head = f"%%MatrixMarket matrix coordinate pattern general\n{vertices} {vertices} {len(edges)}\n"
    path.write_text(head + "".join(lines))
    return path


@pytest.fixture
def path_graph(tmp_path: Path) -> Path:
    return edge_list(tmp_path / "path.mtx", 300, [(v, v + 1) for v in range(299)])


@pytest.fixture
def random_graph(tmp_path: Path, seed: int) -> Path:
    choice = random.Random(seed)
    edges = {(choice.randrange(60), choice.randrange(60)) for _ in range(900)}
    return edge_list(tmp_path / "random.mtx", 60, sorted(edges))


def one_line(done: Any) -> str:
    """The one line on stderr, without a Python traceback."""
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("gossamer: error: ")
    assert "Traceback" not in done.stderr
    return str(done.stderr).strip()


# Valid vertices -------------------------------------------------------------------------------------


def test_valid_vertex_computes_its_result(command: Command, tmp_path: Path, random_graph: Path) -> None:
    lines = random_graph.read_text().splitlines()[2:]
    edges = [tuple(int(word) - 1 for word in line.split()) for line in lines]
    expected = [v * 7 for v in range(60)]
    for _ in range(60):  # the maximum number of hops
        for source, target in edges:
            expected[target] = max(expected[target], expected[source])
    output = tmp_path / "largest.npy"
    done = command("run", header("good"), random_graph, "--factor", "7", "-o", output, "--shuffle", "5")
    assert done.returncode == 0, done.stderr
    assert "largest" in done.stdout
    assert np.load(output).tolist() == expected


def test_valid_vertex_has_help_and_parameter_bounds(command: Command, path_graph: Path) -> None:
    done = command("run", header("good"), "--help")
    assert done.returncode == 0
    assert "--factor" in done.stdout
    assert "factor of the indices" in done.stdout
    done = command("run", header("good"), path_graph, "--factor", "1001")
    assert done.returncode == BAD_INPUT
    assert "factor" in one_line(done)


@pytest.mark.tier("all", seconds=9, adds="the largest message; one byte more is rejected by default")
def test_message_of_60_bytes_is_accepted(command: Command, path_graph: Path) -> None:
    done = command("run", header("fitting_message"), path_graph)
    assert done.returncode == 0, done.stderr


# Dependence on the order of messages, and broken promises -----------------------------------------------


@pytest.mark.default_cases("last_message", seconds=17, adds="a second vertex that depends on the order")
@pytest.mark.parametrize("name", ["last_message", "order_hash"])
def test_dependence_on_message_order_is_detected(name: str, command: Command, random_graph: Path, size: Size) -> None:
    for seed in range(1, 1 + size.pick(2, 4, 20)):
        done = command("run", header(name), random_graph, "--shuffle", str(seed))
        assert done.returncode == NO, f"shuffle seed {seed}: {done.stdout}{done.stderr}"
        assert "order" in one_line(done)


@pytest.mark.tier("all", seconds=9, adds="the check of lazy vertices")
def test_violated_lazy_promise_is_detected(command: Command, path_graph: Path) -> None:
    for threads in ("1", "2"):
        done = command("run", header("lazy_promise"), path_graph, "--threads", threads, "--shuffle", "1")
        assert done.returncode == NO, done.stdout + done.stderr
        one_line(done)


@pytest.mark.parametrize("app", ["pagerank", "sssp", "hashmin", "hashmin-sync", "asp"])
def test_built_in_applications_do_not_depend_on_message_order(
    app: str, command: Command, random_graph: Path, seed: int
) -> None:
    done = command("run", app, random_graph, "--shuffle", str(seed))
    assert done.returncode == 0, done.stderr


# Rejected vertices ------------------------------------------------------------------------------------

BROKEN = {
    "pointer_in_state": "the vertex state holds a pointer",
    "pointer_in_message": "the message holds a pointer",
    "large_message": "the message is too large",
    "no_recv": "needs a handler: void recv",
    "wrong_step": "needs a handler: bool step()",
    "plain_step": "the vertex has aggregates, so it needs a handler: bool step(const Aggregates& all",
    "no_step": "the vertex has aggregates, so it needs a handler: bool step(const Aggregates& all",
    "number_in_aggregates": "the aggregates must be a struct of only gossamer::Sum, FixedSum, Min, Max and Or",
    "many_aggregates": "the vertex has too many aggregates: at most 32",
    "not_trivial": "the vertex state must be trivially copyable",
    "no_vertex": "a vertex must derive from gossamer::PVertex",
    "syntax_error": "expected",
    "wrong_type": "velue",
}


@pytest.mark.default_cases(
    "(pointer_in_state|large_message|no_recv)",
    "(syntax_error|many_aggregates)",
    seconds=39,
    adds="the other rules of what a vertex may be",
)
@pytest.mark.parametrize(("name", "sentence"), BROKEN.items(), ids=BROKEN)
def test_invalid_vertex_is_rejected_at_its_line(
    name: str, sentence: str, command: Command, path_graph: Path, tmp_path: Path
) -> None:
    lines = header(name).read_text().splitlines()
    line = 1 + next(at for at, text in enumerate(lines) if text.endswith("// the error"))
    output = tmp_path / "result.npy"
    done = command("run", header(name), path_graph, "-o", output, cwd=ROOT)
    assert done.returncode == BAD_INPUT, done.stderr
    assert done.stdout == ""
    text = one_line(done)
    assert sentence in text
    assert f"tests/fixtures/vertices/{name}.h:{line}: " in text
    assert not output.exists()
    # A second call prints the same: a failed compilation is not cached.
    assert command("run", header(name), path_graph, cwd=ROOT).stderr == done.stderr
    # The file that the line names has the rest of the compiler's output.
    log = re.search(r"\(all of it in ([^)]+)\)", text)
    assert log
    assert sentence in (ROOT / log[1]).read_text()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("long_in_state", "23: the vertex state holds a long, a size_t or another number whose width depends"),
        ("size_t_in_state", "23: the vertex state holds a long"),
        ("long_in_message", "17: the message holds a long"),
    ],
)
def test_numbers_without_a_fixed_width_are_rejected(
    name: str, sentence: str, command: Command, path_graph: Path
) -> None:
    """On this machine size_t is uint64_t, which other vertices use correctly."""
    for _ in range(2):
        done = command("run", header(name), path_graph, cwd=ROOT)
        assert done.returncode == BAD_INPUT
        assert f"tests/fixtures/vertices/{name}.h:{sentence}" in one_line(done)
    # A vertex with int64_t, uint64_t, bit fields and nested structs passes this check; its error is another one.
    assert "has no descriptor" in one_line(command("run", header("good_layout"), path_graph))


def test_vertex_without_a_descriptor_is_rejected(command: Command, path_graph: Path) -> None:
    done = command("run", header("no_descriptor"), path_graph)
    assert done.returncode == BAD_INPUT
    text = one_line(done)
    assert "no_descriptor.h: " in text
    assert "GOSSAMER_APPLICATION" in text


def test_send_on_a_missing_pin_is_rejected(command: Command, path_graph: Path, tmp_path: Path) -> None:
    for engine in ("cpu", "shuffle"):
        output = tmp_path / "result.npy"
        done = command("run", header("absent_pin"), path_graph, "--engine", engine, "-o", output)
        assert done.returncode == BAD_INPUT
        assert "vertex 4 sends on pin 2, but the graph has 1 pin" in one_line(done)
        assert not output.exists()


def test_descriptor_may_reject_a_graph(command: Command, path_graph: Path) -> None:
    done = command("run", header("refuses"), path_graph)
    assert done.returncode == BAD_INPUT
    assert "more than 3 vertices" in one_line(done)


def test_missing_or_empty_header_is_rejected(command: Command, tmp_path: Path) -> None:
    done = command("run", tmp_path / "none.h")
    assert done.returncode == BAD_INPUT
    assert "none.h" in one_line(done)
    (tmp_path / "empty.h").write_text("")
    done = command("run", tmp_path / "empty.h")
    assert done.returncode == BAD_INPUT
    assert "empty.h: " in one_line(done)


def test_changed_header_is_recompiled(command: Command, tmp_path: Path) -> None:
    mine = tmp_path / "mine.h"
    graph = edge_list(tmp_path / "two.mtx", 2, [(0, 1)])
    output = tmp_path / "values.npy"
    text = header("good").read_text()
    for factor in (1, 3):
        mine.write_text(text.replace("factor = 1", f"factor = {factor}"))
        assert command("run", mine, graph, "-o", output).returncode == 0
        assert np.load(output).tolist() == [0, factor]
