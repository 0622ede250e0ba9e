# SPDX-License-Identifier: Apache-2.0
"""The engine distributed: its results are those of cpu on any number of ranks and for any ranges of vertices; a rank
that fails ends the job with one line; wrong launchers and arguments are rejected."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import agreement
import numpy as np
import pytest
import statistics_judge
from conftest import Command
from python.distributed_jobs import FIXTURES, ROOT, compare, job_processes, launcher, wait_for_ranks

import gossamer_setup
from gossamer import apps
from gossamer.distributed import shares
from gossamer.errors import InputError
from gossamer.graph import generate, write_graph

LONG = ("run", "pagerank", "gen:grid:width=60,height=50", "--iterations", "900000000", "--engine", "distributed")


@pytest.fixture(scope="module", autouse=True)
def _mpi() -> None:
    gossamer_setup.require("mpi")


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
def test_results_are_those_of_cpu(ranks: int, seed: int) -> None:
    compare(ranks, seed, 6, "pagerank", "sssp", FIXTURES / "features.h", FIXTURES / "blocks.h")


@pytest.mark.tier("all", seconds=60, adds="all applications; four ranks")
@pytest.mark.timeout(3100)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7])
def test_results_of_every_application_are_those_of_cpu(ranks: int, seed: int) -> None:
    compare(ranks, seed, 8, *apps.names())


def test_messages_above_the_largest_count_arrive(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_MPI_COUNT", "1000")
    compare(3, seed, 3, "pagerank", "sssp")
    exchange(2, 12_345_677)


@pytest.mark.tier("full", seconds=60, adds="5 GB of messages: sizes above 2^31 bytes")
def test_messages_of_more_than_two_gigabytes_arrive() -> None:
    exchange(2, 2**31 + 12_345)


def exchange(ranks: int, size: int) -> None:
    """Sends that many bytes between ranks, in each manner."""
    command = [launcher(), "-n", str(ranks), sys.executable, "-I", str(FIXTURES / "exchange.py"), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert (done.returncode, done.stdout) == (0, "the same\n"), done.stdout + done.stderr


def test_a_slow_rank_does_not_delay_others(command: Command, tmp_path: Path) -> None:
    to = tmp_path / "times.npz"
    path = "gen:grid:width=1,height=3"
    done = command("run", FIXTURES / "sleeper.h", path, "--engine", "distributed", "-n", "3", "-o", to)
    assert done.returncode == 0, done.stderr
    found = np.load(to)
    assert found["received"].tolist() == [3, 4, 3]
    # Vertices 0 and 1 have exchanged all messages before rank 2 has delivered the first.
    assert found["ended"][:2].max() < found["ended"][2]


def test_command_writes_the_same_result_and_statistics_as_on_cpu(command: Command, tmp_path: Path) -> None:
    stats: list[dict[str, object]] = []
    results = []
    for engine in (("cpu",), ("distributed", "-n", "3")):
        to, numbers = tmp_path / f"{engine[0]}.npy", tmp_path / f"{engine[0]}.json"
        graph = "gen:geo:vertices=2000,fanout=12,radius=0.1"
        done = command("run", "pagerank", graph, "--engine", *engine, "-o", to, "--stats", numbers, "-k", "2")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("pagerank of gen:geo:vertices=2000")
        results.append(to)
        stats.append(statistics_judge.read(numbers))
    agreement.check(*results, relative=1e-4)
    for name in ("sends", "deliveries", "steps", "step_calls", "graph", "host_messages"):
        assert stats[0][name] == stats[1][name], name
    assert stats[0].keys() <= stats[1].keys()
    # Every pair of a vertex and a rank that needs its messages costs one message in each round.
    pairs, rounds = int(str(stats[1]["rank_pairs"])), int(str(stats[1]["rank_rounds"]))
    assert int(str(stats[1]["rank_messages"])) == pairs * rounds
    assert int(str(stats[1]["rank_bytes"])) <= 1.1 * 4 * pairs * rounds


def test_a_graph_file_with_labels_has_the_same_result(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "roads.txt"
    file.write_text("".join(f"town{i} town{(i * 7 + 3) % 50} {i % 9 + 1}\n" for i in range(50)))
    found = []
    for engine in (("cpu",), ("distributed", "-n", "2")):
        to = tmp_path / f"{engine[0]}.csv"
        done = command("run", "sssp", file, "--source", "town4", "--engine", *engine, "-o", to)
        assert done.returncode == 0, done.stderr
        found.append(to)
    agreement.check(*found)
    assert found[0].read_text() == found[1].read_text()


def test_weights_of_a_graph_generated_in_place_belong_to_their_edges(command: Command, tmp_path: Path) -> None:
    found = []
    for engine in (("cpu",), ("distributed", "-n", "3")):
        to = tmp_path / f"{engine[0]}.npy"
        graph = "gen:rmat:scale=9,seed=5,weights=1:90"
        done = command("run", "sssp", graph, "--source", "7", "--engine", *engine, "-o", to)
        assert done.returncode == 0, done.stderr
        found.append(to)
    agreement.check(*found)
    assert len(np.unique(np.load(found[0]))) > 50


def test_ranks_read_parts_of_a_file_and_report_a_wrong_line(command: Command, tmp_path: Path) -> None:
    graph = generate.rmat(15, 12, seed=4)
    file = tmp_path / "graph.mtx"
    write_graph(graph, file)
    assert file.stat().st_size > shares.SMALL
    found = []
    for engine in (("cpu",), ("distributed", "-n", "3")):
        to = tmp_path / f"{engine[0]}.npy"
        done = command("run", "pagerank", file, "--iterations", "5", "--engine", *engine, "-o", to)
        assert done.returncode == 0, done.stderr
        found.append((to, done.stdout.splitlines()[0]))
    agreement.check(found[0][0], found[1][0], relative=1e-4)
    assert found[0][1] == found[1][1]
    lines = file.read_text().splitlines()
    lines[250_000] = "17 x"
    file.write_text("\n".join(lines))
    errors = []
    for engine in (("cpu",), ("distributed", "-n", "3")):
        done = command("run", "pagerank", file, "--engine", *engine)
        assert done.returncode == 2
        errors.append(done.stderr)
    assert errors[0] == errors[1]
    assert f"{file}:250001: " in errors[0]


def test_a_plain_launcher_starts_ranks(tmp_path: Path) -> None:
    program = [sys.executable, str(ROOT / "gossamer"), "run", "pagerank", "gen:grid:width=9,height=9"]
    done = subprocess.run(
        [launcher(), "-n", "2", *program, "--engine", "distributed", "--stats", str(tmp_path / "s.json")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "s.json").read_text())["ranks"] == 2


@pytest.mark.parametrize(
    ("arguments", "environment", "expected"),
    [
        pytest.param(["gen:grid:width=1,height=3", "-n", "4"], {}, "4 ranks for 3 vertices", id="vertices"),
        pytest.param(["gen:grid:width=9,height=3"], {}, "needs the number of ranks", id="no-ranks"),
        pytest.param(["gen:grid:width=9,height=3", "-n", "0"], {}, "no whole number from 1", id="none"),
        pytest.param(["no-such.mtx", "-n", "2"], {}, "no-such.mtx: no such file", id="file"),
        pytest.param(["gen:grid:width=9", "-n", "2"], {}, "grid needs height", id="generator"),
        pytest.param(["gen:grid:width=9,height=3", "-n", "2", "--shuffle", "1"], {}, "--shuffle", id="shuffle"),
        pytest.param(["gen:grid:width=9,height=3", "-n", "2", "--damping", "7"], {}, "damping", id="parameter"),
        pytest.param(
            ["gen:grid:width=9,height=3", "-n", "2"],
            {"GOSSAMER_MPIEXEC": "no-mpiexec", "GOSSAMER_MPICXX": "no-mpicxx"},
            "command no-mpiexec not found",
            id="launcher",
        ),
        pytest.param(
            ["gen:grid:width=9,height=3"],
            {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"},
            "srun --mpi=pmi2",
            id="srun",
        ),
        pytest.param(
            ["gen:grid:width=9,height=3"],
            {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0", "PMIX_RANK": "0", "PMIX_NAMESPACE": "slurm.pmix.1.0"},
            "does not support PMIx; use srun --mpi=pmi2",
            id="srun-pmix",
        ),
        pytest.param(
            ["gen:grid:width=9,height=3"],
            {"OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_RANK": "0"},
            "GOSSAMER_MPIEXEC",
            id="other-mpi",
        ),
    ],
)
def test_bad_input_is_one_line(
    command: Command, arguments: list[str], environment: dict[str, str], expected: str
) -> None:
    done = command("run", "pagerank", *arguments, "--engine", "distributed", env=environment, timeout=60)
    assert done.returncode == 2
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout


def test_ranks_need_the_engine(command: Command) -> None:
    done = command("run", "pagerank", "gen:grid:width=9,height=3", "-n", "2")
    assert done.returncode == 2
    assert done.stderr == "gossamer: error: --ranks: is for --engine distributed\n"


@pytest.mark.parametrize("how", ["killed", "interrupted"])
def test_a_job_ends_when_a_rank_or_its_command_does(how: str, seed: int, tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, str(ROOT / "gossamer"), *LONG, "-n", "3", "-o", str(tmp_path / "ranks.npy")],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for_ranks(tmp_path, 3)
        time.sleep(random.Random(seed).random())
        if how == "killed":
            os.kill(random.Random(seed).choice(job_processes(tmp_path)), signal.SIGKILL)
        else:
            child.send_signal(signal.SIGINT)
        begun = time.monotonic()
        out, errors = child.communicate(timeout=120)
        assert time.monotonic() - begun < 10
    finally:
        child.kill()
        child.wait()
    assert not out
    if how == "killed":
        assert child.returncode == 4
        assert errors.startswith("gossamer: error: rank ")
        assert "was killed by SIGKILL" in errors
        assert errors.count("\n") == 1
    else:
        assert (child.returncode, errors) == (130, "gossamer: interrupted\n")
    assert not job_processes(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_failed_handler_ends_the_job_with_rank_vertex_and_line(command: Command, tmp_path: Path) -> None:
    vertex = tmp_path / "vertex.h"
    text = (FIXTURES / "features.h").read_text()
    wrong = "if (s->index == 777) __builtin_trap();\n"
    vertex.write_text(text.replace("    mine.sum.give(s->sum);\n", wrong))
    line = text[: text.index("    mine.sum.give")].count("\n") + 1
    # The rows of a grid are cut into equal ranges: vertex 777 of 900 is rank 2's.
    done = command("run", vertex, "gen:grid:width=30,height=30", "--engine", "distributed", "-n", "3")
    assert done.returncode == 4
    assert "rank 2: features: step of vertex 777" in done.stderr
    assert f"vertex.h:{line}" in done.stderr
    assert done.stderr.count("\n") <= 2  # and a note that the graph has no weights


def test_ranges_have_equal_work_and_at_least_one_vertex(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    for _ in range(50):
        vertices = int(numbers.integers(1, 200))
        ranks = int(numbers.integers(1, vertices + 1))
        work = np.concatenate([[0], np.cumsum(numbers.integers(0, 50, vertices))])
        cuts = shares.cuts_by_edges(lambda v, work=work: int(work[v]), vertices, ranks).astype(np.int64)
        assert cuts[0] == 0
        assert cuts[-1] == vertices
        assert (np.diff(cuts) >= 1).all()
    with pytest.raises(InputError, match="5 ranks for 1 vertex;"):
        shares.cuts_by_edges(lambda v: v, 1, 5)


@pytest.mark.parametrize(
    "spec",
    [
        "geo:vertices=500,fanout=9,radius=0.1,seed=3",
        "geo:vertices=500,fanout=9,radius=0.1,order=random,weights=1:9",
        "grid:width=17,height=13,weights=0:5",
    ],
)
def test_parts_of_a_generated_graph_are_those_of_the_whole(spec: str) -> None:
    graph = generate.from_spec(spec)
    parts = generate.parts_of_spec(spec)
    assert parts is not None
    assert parts.rows is not None
    assert parts.full_name == graph.name
    first, count = 60, 99
    rows = parts.rows(first, count)
    low, high = int(graph.out.offsets[first]), int(graph.out.offsets[first + count])
    assert (rows.offsets == graph.out.offsets[first : first + count + 1] - np.int64(low)).all()
    assert (rows.targets == graph.out.targets[low:high]).all()
    if graph.weighted:
        assert graph.out.weights is not None
        assert (parts.weights_of(first, rows.offsets, rows.targets, False) == graph.out.weights[low:high]).all()
        into = graph.into
        low, high = int(into.offsets[first]), int(into.offsets[first + count])
        starts = into.offsets[first : first + count + 1] - np.int64(low)
        assert into.weights is not None
        assert (parts.weights_of(first, starts, into.targets[low:high].copy(), True) == into.weights[low:high]).all()


@pytest.mark.parametrize("order", ["space", "random"])
def test_blocks_of_a_generated_graph_do_not_change_it(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = f"geo:vertices=500,fanout=9,radius=0.1,order={order}"
    expected = generate.from_spec(spec)
    assert expected.vertices < generate._BLOCK_ROWS
    monkeypatch.setattr(generate, "_BLOCK_ROWS", 7)
    found = generate.from_spec(spec)
    assert (found.out.offsets == expected.out.offsets).all()
    assert (found.out.targets == expected.out.targets).all()
