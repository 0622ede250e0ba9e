# SPDX-License-Identifier: Apache-2.0
"""The engine distributed, called from Python: results are those of cpu, failures of ranks are exceptions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import agreement
import numpy as np
import pytest
from python.distributed_jobs import FIXTURES

import gossamer as gs
import gossamer_setup
from gossamer.errors import HandlerDied


@pytest.fixture(scope="module", autouse=True)
def _mpi() -> None:
    gossamer_setup.require("mpi")


def test_a_call_has_the_result_of_cpu(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    ends = numbers.integers(0, 200, (2, 900))
    labels = np.array([f"town{v}" for v in range(200)])
    graph = gs.Graph.from_arrays(labels[ends[0]], labels[ends[1]], weights=numbers.integers(1, 9, 900))
    source = str(labels[ends[0][0]])
    for name, given in (("pagerank", {}), ("sssp", {"source": source})):
        expected = gs.run(name, graph, **given)
        found = gs.run(name, graph, engine=gs.Distributed(ranks=3), threads=2, **given)
        agreement.check(expected, found)
        assert found.stats["ranks"] == 3
        assert found.stats["threads"] == 6
        assert found.at(source) == pytest.approx(expected.at(source), rel=1e-4)
        assert found.totals == pytest.approx(expected.totals, rel=1e-3)


def test_a_call_continues_from_a_checkpoint(tmp_path: Path) -> None:
    graph = gs.read_graph("gen:grid:width=20,height=20,weights=0:9")
    app = FIXTURES / "stepped.h"
    saves = tmp_path / "saves"
    first = gs.run(app, graph, engine=gs.Distributed(ranks=2, checkpoint=saves, checkpoint_every=20), steps=50)
    again = gs.run(app, graph, engine=gs.Distributed(ranks=3, restart=saves), steps=50)
    for found in (first, again):
        agreement.check(gs.run(app, graph, steps=50), found)


def test_a_failing_rank_raises(tmp_path: Path) -> None:
    vertex = tmp_path / "vertex.h"
    text = (FIXTURES / "features.h").read_text(encoding="utf-8")
    vertex.write_text(text.replace("    mine.sum.give(s->sum);\n", "if (s->index == 777) __builtin_trap();\n"))
    graph = gs.read_graph("gen:grid:width=30,height=30,weights=0:9")
    with pytest.raises(HandlerDied, match="rank 2: features: step of vertex 777") as caught:
        gs.run(vertex, graph, engine=gs.Distributed(ranks=3))
    assert caught.value.vertex == 777


def test_a_result_that_is_no_answer_raises() -> None:
    graph = gs.Graph.from_arrays([0, 1, 2], [1, 2, 3], weights=[2**31 - 1] * 3)
    with pytest.raises(gs.NoAnswer, match="sssp: overflow"):
        gs.run("sssp", graph, source=0, engine=gs.Distributed(ranks=2))


def test_wrong_arguments_raise() -> None:
    graph = gs.read_graph("gen:grid:width=2,height=2")
    for arguments, text in (
        ({}, "needs the number of ranks"),
        ({"ranks": 0}, "ranks: 0 is no whole number from 1"),
        ({"ranks": 2.5}, "ranks: 2.5 is no whole number"),
        ({"ranks": 2, "checkpoint_every": 0}, "checkpoint_every: 0 is no whole number"),
    ):
        with pytest.raises(gs.InputError, match=text):
            gs.Distributed(**arguments)  # type: ignore[arg-type]
    for arguments, text in (
        ({"ranks": 5}, "5 ranks for 4 vertices"),
        ({"ranks": 2, "restart": "no-such"}, "no-such: no such folder"),
        ({"hosts": "no-such"}, "no-such"),
    ):
        with pytest.raises(gs.InputError, match=text):
            gs.run("pagerank", graph, engine=gs.Distributed(**arguments))  # type: ignore[arg-type]
    with pytest.raises(gs.InputError, match=r"Distributed\(ranks=4\)"):
        gs.run("pagerank", graph, engine="distributed")


def test_an_interrupted_call_ends_its_ranks(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-I", str(FIXTURES / "call.py")],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 120
        while len(list(tmp_path.glob("gossamer-job-*/process.*"))) < 2:
            assert time.monotonic() < deadline and child.poll() is None
            time.sleep(0.05)
        ranks = [int(file.suffix[1:]) for file in tmp_path.glob("gossamer-job-*/process.*")]
        child.send_signal(signal.SIGINT)
        out, errors = child.communicate(timeout=30)
    finally:
        child.kill()
        child.wait()
    assert (child.returncode, out, errors) == (0, "interrupted\n", "")
    assert not list(tmp_path.iterdir())
    assert not any(Path(f"/proc/{process}/cmdline").exists() for process in ranks)
