# SPDX-License-Identifier: Apache-2.0
"""Partitions of the engine distributed, and files that all ranks read: results are those of cpu under the same names,
files are those that one process reads, and wrong partitions are rejected with one line."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import agreement
import numpy as np
import pytest
import statistics_judge
from conftest import Command
from python.distributed_jobs import FIXTURES, launcher

import gossamer_setup
from gossamer.distributed import shares
from gossamer.graph import generate, write_graph

GRAPH = "gen:geo:vertices=3000,fanout=10,radius=0.05,order=random"


def check_error(command: Command, file: Path, line: int) -> None:
    """All engines report the same error, with the file's line."""
    errors = []
    for engine in (("cpu",), ("distributed", "-n", "3")):
        done = command("run", "pagerank", file, "--engine", *engine)
        assert done.returncode == 2
        errors.append(done.stderr.strip())
    assert errors[0] == errors[1]
    assert f"{file}:{line}: " in errors[0]


@pytest.fixture(scope="module", autouse=True)
def _mpi() -> None:
    gossamer_setup.require("mpi")


def load(ranks: int, seed: int, count: int) -> None:
    """Loads random files on ranks, and compares with what one process reads."""
    command = [launcher(), "-n", str(ranks), sys.executable, "-I", str(FIXTURES / "loads.py"), str(seed), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"loaded {count} of which "), done.stdout + done.stderr
    assert int(done.stdout.split()[4]) >= count / 2, done.stdout


def test_files_are_loaded_in_parts_and_changed(seed: int) -> None:
    load(3, seed % 2**31, 30)


@pytest.mark.tier("all", seconds=60, adds="more files; one, two, four and seven ranks")
@pytest.mark.parametrize("ranks", [1, 2, 4, 7])
def test_many_files_are_loaded_in_parts(ranks: int, seed: int) -> None:
    load(ranks, seed % 2**31, 60)


@pytest.mark.default_cases("stream", seconds=12, adds="partitions of METIS and of a file")
@pytest.mark.parametrize("how", ["stream", "metis", "file"])
def test_partitions_keep_results_and_cut_fewer_edges(command: Command, tmp_path: Path, how: str) -> None:
    parts = tmp_path / "parts"
    # A partition by the remainder cuts as many edges as any.
    parts.write_text("".join(f"{v % 3}\n" for v in range(3000)))
    results, stats = [], []
    ways = ((), ("--partition", parts if how == "file" else how))
    for number, engine in enumerate((("cpu",), *(("distributed", "-n", "3", *way) for way in ways))):
        to, numbers = tmp_path / f"{number}.npy", tmp_path / f"{number}.json"
        done = command("run", "pagerank", GRAPH, "--engine", *engine, "-o", to, "--stats", numbers)
        assert done.returncode == 0, done.stderr
        results.append(to)
        stats.append(statistics_judge.read(numbers))
    for found in results[1:]:
        agreement.check(results[0], found, relative=1e-4)
    ranges, other = stats[1:]
    assert (ranges["rank_partition"], other["rank_partition"]) == ("ranges", how)
    graph = generate.from_spec(GRAPH.removeprefix("gen:"))
    sources = np.repeat(np.arange(graph.vertices), graph.out.degrees().astype(np.int64))
    if how == "file":
        # The statistics are those of the file's partition.
        cut = int(np.count_nonzero(sources % 3 != graph.out.targets % 3))
        assert other["rank_cut_edges"] == cut
        assert other["rank_edges"] == [int(np.count_nonzero(graph.out.targets % 3 == rank)) for rank in range(3)]
        pairs = {(int(a), int(b) % 3) for a, b in zip(sources, graph.out.targets, strict=True) if a % 3 != b % 3}
        assert other["rank_pairs"] == len(pairs)
    else:
        assert int(str(other["rank_cut_edges"])) < 0.8 * int(str(ranges["rank_cut_edges"]))
        assert int(str(other["rank_messages"])) < int(str(ranges["rank_messages"]))
        work = other["rank_edges"]
        assert isinstance(work, list)
        assert max(work) < 1.1 * graph.edges / 3
    assert int(str(other["rank_messages"])) == int(str(other["rank_pairs"])) * int(str(other["rank_rounds"]))


def test_streaming_fills_no_rank_above_its_limit(command: Command, tmp_path: Path, seed: int) -> None:
    """A community has most edges, and its vertices have most neighbours on the rank that has most of them: only the
    limit keeps them from gathering there."""
    random = np.random.default_rng(seed)
    large, vertices = 700, 1000
    ends = np.concatenate([random.integers(0, large, (11_200, 2)), random.integers(large, vertices, (2800, 2))])
    file, numbers = tmp_path / "graph.txt", tmp_path / "stats.json"
    np.savetxt(file, ends[ends[:, 0] != ends[:, 1]], "%d")
    words = ("--undirected", "--dedupe", "--iterations", "1", "--engine", "distributed", "-n", "2")
    done = command("run", "pagerank", file, *words, "--partition", "stream", "--stats", numbers)
    assert done.returncode == 0, done.stderr
    stats = statistics_judge.read(numbers)
    # The limit applies to edges and vertices together.
    share = np.array(stats["rank_edges"]) / np.mean(stats["rank_edges"])
    assert 1.025 < max(share) < 1.034, share


def test_vertices_keep_their_names(command: Command, tmp_path: Path) -> None:
    file, parts = tmp_path / "roads.txt", tmp_path / "parts"
    file.write_text("".join(f"town{i} town{(i * 7 + 3) % 50} {i % 9 + 1}\n" for i in range(50)))
    parts.write_text("".join(f"{(v * 5) % 3}\n" for v in range(50)))
    found = []
    for engine in (("cpu",), ("distributed", "-n", "3", "--partition", parts)):
        to = tmp_path / f"{engine[0]}.csv"
        done = command("run", "sssp", file, "--source", "town4", "--engine", *engine, "-o", to)
        assert done.returncode == 0, done.stderr
        found.append((to, done.stdout.splitlines()[0]))
    agreement.check(found[0][0], found[1][0])
    assert found[0][0].read_text() == found[1][0].read_text() and found[0][1] == found[1][1]


def test_ranks_read_parts_of_an_edge_list_and_report_a_wrong_line(command: Command, tmp_path: Path) -> None:
    graph = generate.rmat(15, 12, seed=4)
    file = tmp_path / "graph.txt"
    write_graph(graph, file, drop_isolated=True)
    assert file.stat().st_size > shares.SMALL
    found = []
    for engine in (("cpu",), ("distributed", "-n", "3")):
        to = tmp_path / f"{engine[0]}.csv"
        words = ("run", "pagerank", file, "--undirected", "--iterations", "5", "--engine", *engine, "-o", to)
        done = command(*words)
        assert done.returncode == 0, done.stderr
        notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
        found.append((to, done.stdout.splitlines()[0], notes))
    agreement.check(found[0][0], found[1][0], relative=1e-4)
    assert found[0][1:] == found[1][1:]
    lines = file.read_text().splitlines()
    lines[250_000] = "17 x"
    file.write_text("\n".join(lines))
    check_error(command, file, 250001)


@pytest.mark.tier("all", seconds=60, adds="large METIS and compressed files")
@pytest.mark.parametrize("ending", ["graph", "mtx.gz"])
def test_ranks_read_parts_of_other_files_and_report_a_wrong_line(command: Command, tmp_path: Path, ending: str) -> None:
    graph = (
        generate.rmat(16 if ending == "graph" else 17, 14, seed=4).symmetrised().simplified(parallel=True, loops=True)
    )
    file = tmp_path / f"graph.{ending}"
    write_graph(graph, file)
    assert file.stat().st_size > shares.SMALL
    found = []
    for engine in (("cpu",), ("distributed", "-n", "3")):
        to = tmp_path / "result.npy"
        done = command("run", "pagerank", file, "--iterations", "5", "--engine", *engine, "-o", to)
        assert done.returncode == 0, done.stderr
        found.append((np.load(to), done.stdout.splitlines()[0]))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-4)
    assert found[0][1] == found[1][1]
    text = gzip.decompress(file.read_bytes()) if ending.endswith("gz") else file.read_bytes()
    lines = text.splitlines()
    lines[40_000] += b" x"
    text = b"\n".join(lines)
    file.write_bytes(gzip.compress(text, 1) if ending.endswith("gz") else text)
    check_error(command, file, 40001)


@pytest.mark.default_cases("few|near|no-file", seconds=8, adds="files with wrong ranks")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("0\n1\n" * 7, "has 14 ranks for 16 vertices", id="few"),
        pytest.param("0\n1\n" * 9, "has 18 ranks for 16 vertices", id="many"),
        pytest.param("0\n1\n" * 7 + "0\n2\n", ":16: rank 2 does not exist, the run has the ranks 0 to 1", id="large"),
        pytest.param("0\n1\n" * 7 + "0\n-1\n", ":16: '-1' is no number of a rank", id="negative"),
        pytest.param("0\n1\n" * 7 + "0\nnear\n", ":16: 'near' is no number of a rank", id="near"),
        pytest.param("0\n" * 16, "rank 1 has no vertex", id="empty"),
        pytest.param(None, "is neither a file nor one of ranges, metis, kahypar, stream", id="no-file"),
    ],
)
def test_wrong_partitions_are_rejected(command: Command, tmp_path: Path, text: str | None, expected: str) -> None:
    parts = tmp_path / "parts"
    if text is not None:
        parts.write_text(text)
    grid = "gen:grid:width=4,height=4"
    done = command("run", "bfs", grid, "--engine", "distributed", "-n", "2", "--partition", parts)
    assert done.returncode == 2, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert line.startswith("gossamer: error: ")
    assert expected in line
    assert "Traceback" not in done.stderr


def test_a_partition_needs_a_vertex_for_each_rank_and_the_engine(command: Command) -> None:
    tiny = ("run", "bfs", "gen:grid:width=1,height=2")
    for how in ("stream", "metis"):
        done = command(*tiny, "--engine", "distributed", "-n", "3", "--partition", how)
        assert done.returncode == 2
        assert "3 ranks for 2 vertices" in done.stderr
    done = command(*tiny, "--partition", "stream")
    assert done.returncode == 2
    assert "--partition" in done.stderr
