# SPDX-License-Identifier: Apache-2.0
"""A run that fails in a handler names handler, vertex and cause, and restores the state of the process."""

from __future__ import annotations

import ctypes
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, Command
from made_graphs import graph_of, random_edges

import gossamer as gs
from gossamer import apps
from gossamer.errors import HandlerDied
from gossamer.graph import _native
from gossamer.graph._rows import transposed

LAUNCHER = [sys.executable, str(ROOT / "gossamer")]
HEADER = ROOT / "tests" / "fixtures" / "vertices" / "dies.h"
HANDLERS = ["init", "send", "recv", "step", "finish", "the descriptor's init"]
WAYS = {
    "throws": r"throws: I have had enough",
    "throws_number": r"throws an object that is no std::exception",
    "throws_deep": r"throws: vector::_M_range_check.*",
    "touches": r"accesses an invalid address \(SIGSEGV\)",
    "divides": r"divides by zero.* \(SIGFPE\)",
    "aborts": r"aborts \(SIGABRT\)",
    "asserts": r"aborts \(SIGABRT\)",
    "traps": r"(executes an illegal instruction|executes a trap) \((SIGILL|SIGTRAP)\)",
    "overflows": r"accesses an invalid address \(SIGSEGV\)",
}
LOOPS = len(WAYS)
ENGINES: list[dict[str, Any]] = [{"threads": 1}, {"threads": 2}, {"engine": "shuffle"}]


def line_of(way: str) -> int | None:
    """The number of the line that ends in a comment with that word."""
    lines = HEADER.read_text().splitlines()
    return next((at for at, text in enumerate(lines, 1) if text.endswith(f"// {way}")), None)


@pytest.fixture(scope="module")
def graph() -> gs.Graph:
    random = np.random.default_rng(5)
    return graph_of(9000, random_edges(random, 9000, 60000), base=1)


@pytest.mark.parametrize(("way", "parallel"), [*((way, False) for way in WAYS), ("throws", True), ("touches", True)])
def test_fault_in_a_handler_names_handler_vertex_and_line(
    way: str, parallel: bool, graph: gs.Graph, capfd: pytest.CaptureFixture[str]
) -> None:
    """In every handler, on every engine; the next run in the same process is correct."""
    app = apps.load(HEADER, ["PARALLEL"] if parallel else [])
    handlers = [signal.getsignal(s) for s in (signal.SIGSEGV, signal.SIGINT)]
    for where, handler in enumerate(HANDLERS, 1):
        for options in ENGINES:
            vertex = int(graph.into.targets[0]) if handler == "send" else 8765
            with pytest.raises(HandlerDied) as caught:
                gs.run(app, graph, vertex=vertex + 1, where=where, how=list(WAYS).index(way), **options)
            name = handler if handler not in ("recv", "step", "send") else f"({handler}|recv, step or send)"
            at = rf", at \S*dies\.h:{line_of(way)}" if line_of(way) else r"(, at \S*dies\.h:\d+)?"
            said = str(caught.value)
            assert re.fullmatch(rf"dies: {name} of vertex {vertex + 1} {WAYS[way]}{at}; there is no answer", said), said
            assert caught.value.exit_code == 4
    result = gs.run(app, graph, threads=2)
    assert result.values.tolist() == (5 * np.bincount(graph.out.targets, minlength=9000)).tolist()
    assert [signal.getsignal(s) for s in (signal.SIGSEGV, signal.SIGINT)] == handlers
    assert threading.active_count() < 5
    said = capfd.readouterr().err
    assert said.count("Assertion") == said.count("\n") if way == "asserts" else said == ""


@pytest.mark.parametrize("where", ["receive", "verdict", "results"])
def test_fault_in_a_descriptor_names_no_vertex(where: str, graph: gs.Graph) -> None:
    """A fault outside of handlers names no vertex, whichever handler runs at the time."""
    app = apps.load(HEADER)
    number = len(HANDLERS) + 1 + ["receive", "verdict", "results"].index(where)
    for way in ("throws", "throws_number", "touches"):
        for options in ENGINES:
            with pytest.raises(HandlerDied) as caught:
                gs.run(app, graph, vertex=1, where=number, how=list(WAYS).index(way), **options)
            at = rf", at \S*dies\.h:{line_of(way)}" if line_of(way) else ""
            said = str(caught.value)
            assert re.fullmatch(rf"dies: the descriptor's {where} {WAYS[way]}{at}; there is no answer", said), said
            assert caught.value.exit_code == 4 and caught.value.vertex is None
    assert gs.run(app, graph, threads=2).values.sum() == 5 * graph.edges


def test_command_reports_a_handler_fault_in_one_line(command: Command, tmp_path: Any) -> None:
    output = tmp_path / "heard.npy"
    words = ("run", HEADER, "gen:grid:width=10,height=5", "--vertex", "17", "--where", "5", "--how", "3", "-o", output)
    done = command(*words, cwd=ROOT)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == (
        "gossamer: error: dies: finish of vertex 17 accesses an invalid address (SIGSEGV), "
        f"at tests/fixtures/vertices/dies.h:{line_of('touches')}; there is no answer\n"
    )
    assert not output.exists()


@pytest.mark.default_cases("1-.*", seconds=6, adds="the same with two threads")
@pytest.mark.parametrize(
    ("threads", "size", "vertex", "where", "handler"),
    [
        ("1", "width=10,height=5", 17, 5, "finish"),
        ("2", "width=10,height=5", 17, 5, "finish"),
        # On a thread of the pool, while the calling thread has finished its share and waits.
        ("2", "width=500,height=400", 150001, 4, "(step|recv, step or send)"),
        ("2", "width=500,height=400", 150001, 4, "(step|recv, step or send)"),
        ("2", "width=500,height=400", 199990, 4, "(step|recv, step or send)"),
    ],
)
def test_interrupt_ends_a_handler_that_does_not_return(
    threads: str, size: str, vertex: int, where: int, handler: str
) -> None:
    words = ["run", str(HEADER), f"gen:grid:{size}", "--vertex", str(vertex), "--where", str(where)]
    words += ["--how", str(LOOPS)]
    apps.load(HEADER)  # compiled here, so that the child enters the handler soon
    child = subprocess.Popen([*LAUNCHER, *words, "-t", threads], stderr=subprocess.PIPE, text=True, cwd=ROOT)
    time.sleep(6)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 4
    at = f"at tests/fixtures/vertices/dies.h:{line_of('loops')}"
    line = rf"gossamer: error: dies: {handler} of vertex {vertex} does not return, {at}; there is no answer\n"
    assert re.fullmatch(line, said), said


SLOW = ROOT / "tests" / "fixtures" / "vertices" / "slow.h"
SLOW_IN = ["start", "init", "send", "recv", "step", "finish"]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("where", SLOW_IN)
def test_interrupt_ends_a_slow_run_within_one_pass(where: str, threads: int) -> None:
    """Each pass over the vertices takes longer than the time after which a handler counts as not returning."""
    ways = [("cpu", ())] if where != "send" else [("cpu", ()), ("cpu", ("IN_ORDER",))]
    for engine, defines in ways:
        app = apps.load(SLOW, defines)
        graph = gs.read_graph("gen:rmat:scale=16,edge_factor=1,seed=1")
        timer = threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT))
        begun = time.monotonic()
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            gs.run(app, graph, engine=engine, threads=threads, where=SLOW_IN.index(where))
        assert time.monotonic() - begun < 4.5
        assert threading.active_count() < 5


def test_interrupt_ends_the_transposition_of_edges() -> None:
    """On a thread that receives no signals, as the threads on which an engine transposes edges."""
    rows = gs.read_graph("gen:rmat:scale=16,edge_factor=5,seed=1").out
    found: list[str] = []

    def work(flag: int, threads: int) -> None:
        with _native.stopping_at(ctypes.c_int(flag)):
            try:
                found.append(str(len(transposed(rows, threads).targets)))
            except KeyboardInterrupt:
                found.append("broken off")

    for flag in (1, 0):
        for threads in (1, 2):
            thread = threading.Thread(target=work, args=(flag, threads))
            thread.start()
            thread.join()
    assert found == ["broken off"] * 2 + [str(5 << 16)] * 2


NO_THREADS = """
import resource, sys
import gossamer as gs
from gossamer import apps
from gossamer.graph import _gsg
apps.load('hashmin')
_gsg._PIECE = 1000
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, resource.RLIM_INFINITY))
try:
    graph = gs.read_graph(sys.argv[1])
    print(graph.vertices, graph.edges)
    if sys.argv[2:]:
        print(gs.run('hashmin', graph).values.max())
except gs.GossamerError as error:
    print(int(error.exit_code), error)
"""


def without_threads(*words: str) -> list[str]:
    """The output of a process that cannot start a second thread: a thread stack exceeds its memory limit."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_STACK, (8 << 30, resource.getrlimit(resource.RLIMIT_STACK)[1]))

    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", NO_THREADS, *words],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        preexec_fn=limit,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()


def test_graphs_are_read_without_additional_threads(tmp_path: Path) -> None:
    random = np.random.default_rng(8)
    ends = random.integers(0, 90_000, (600_000, 2))
    ends[:, 0] |= 1 << 20  # seven digits: several blocks of text
    path = tmp_path / "net.txt"
    np.savetxt(path, ends, "%d")
    graph = gs.read_graph(path)
    shape = f"{graph.vertices} {graph.edges}"
    assert without_threads(str(path)) == [shape]
    gs.write_graph(graph, tmp_path / "net.gsg")
    assert without_threads(str(tmp_path / "net.gsg")) == [shape]
    with path.open("a") as file:
        file.write("1 x\n")
    [said] = without_threads(str(path))
    assert said.startswith(f"2 {path}:600001: "), said


def test_run_without_a_second_thread_reports_the_cause() -> None:
    shape, said = without_threads("gen:grid:width=10,height=5", "run")
    assert said.startswith("4 hashmin: the system cannot start a thread; ") and shape.startswith("50 ")


def test_run_recovers_after_thread_creation_failed(graph: gs.Graph) -> None:
    """In a separate process, because the limit applies to the whole process."""
    script = (
        "import resource, gossamer as gs\n"
        "graph = gs.read_graph('gen:grid:width=10,height=5')\n"
        "gs.run('hashmin', graph, threads=1)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**31, resource.RLIM_INFINITY))\n"
        "try:\n    gs.run('hashmin', graph, threads=1000)\n"
        "except gs.GossamerError as error:\n    print(type(error).__name__, error)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "print(gs.run('hashmin', graph, threads=2).values.sum())\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("HandlerDied hashmin: the system allows only ")
    assert done.stdout.splitlines()[1] == "0"
