# SPDX-License-Identifier: Apache-2.0
"""The suite ``graph`` of ./gossamer bench: its rows, bounds, checks and reasons for skipped rows."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gossamer.bench import Context, Row
from gossamer.errors import AnswerNo, InputError, RunDied

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "bench" / "graph"
NAME = "gossamer_bench_graph_tested"
TINY = {"GOSSAMER_BENCH_SCALE": "0.005"}
ENRON = ROOT.parent / "shared" / "data" / "email-Enron.mtx.gz"

# The table of the figures, written out by hand: graphs x threads for each pair.
GRAPHS = ["geoS", "geoL", "rmat18", "grid400k", "email-Enron"]
PAIRS = [
    ("pagerank", "graphblas"),
    ("pagerank", "networkit"),
    ("pagerank", "scipy"),
    ("pagerank", "gapbs"),
    ("sssp", "scipy"),
    ("sssp", "gapbs"),
    ("asp64", "graphblas"),
    ("asp64", "gapbs"),
    ("hashmin", "scipy"),
    ("hashmin", "networkit"),
    ("bfs", "gapbs"),
    ("triangles", "gapbs"),
]
LOADS = [f"load.{form}-mbs" for form in ["edges", "edges-weighted", "words", "mtx", "metis", "dimacs", "adjlist"]]
SCALED = ["pagerank", "sssp", "asp", "hashmin"]
SCALING = [f"scaling.{app}.{graph}" for app in SCALED for graph in ("geoL", "rmat18")]
WORK = [f"work.{app}.t64-vs-t1" for app in SCALED]
ALONE = [*SCALING, *WORK, *LOADS, "pagerank.peak-mb", "start-to-result.email-Enron", "compile.vertex-s", "first-run-s"]
ALONE += ["test.default-min"]

# Simple programs with GAPBS's arguments, file format and output. They share no code with the suite, so they check
# the file that the suite writes.
FAKE = """#!{python} -I
import struct, sys, os, heapq, time
arguments = sys.argv[1:]
def option(name, other=None):
    return arguments[arguments.index(name) + 1] if name in arguments else other
program = os.path.basename(sys.argv[0])
blob = open(option("-f"), "rb").read()
directed, m, n = struct.unpack_from("<?qq", blob, 0)
at = 17
weighted = option("-f").endswith(".wsg")
def rows(at):
    offsets = struct.unpack_from("<%dq" % (n + 1), blob, at)
    at += 8 * (n + 1)
    count = m * 2 if weighted else m
    flat = struct.unpack_from("<%di" % count, blob, at)
    pairs = list(zip(flat[::2], flat[1::2])) if weighted else [(v, 1) for v in flat]
    return [pairs[offsets[v]:offsets[v + 1]] for v in range(n)], at + 4 * count
out, at = rows(at)
into, at = rows(at) if directed else (out, at)
assert at == len(blob), "length"
for trial in range(int(option("-n"))):
    begun = time.perf_counter()
    if program == "pr_spmv":
        assert option("-t") == "0"
        rank = [1.0 / n] * n
        for _ in range(int(option("-i"))):
            share = [rank[v] / len(out[v]) if out[v] else 0 for v in range(n)]
            rank = [0.15 / n + 0.85 * sum(share[u] for u, _ in into[v]) for v in range(n)]
    elif program == "tc":
        near = [{{u for u, _ in row}} for row in out]
        assert not directed and all(len(near[v]) == len(out[v]) and v not in near[v] for v in range(n))
        cost = [0] * (sum(len(near[v] & near[u]) for v in range(n) for u in near[v]) // 6)
    else:
        source = int(option("-r"))
        cost = {{source: 0}}
        heap = [(0, source)]
        while heap:
            d, v = heapq.heappop(heap)
            if d == cost[v]:
                for u, w in out[v]:
                    if d + w < cost.get(u, 1 << 60):
                        cost[u] = d + w
                        heapq.heappush(heap, (d + w, u))
    print("Trial Time:          %.5f" % (time.perf_counter() - begun + 1e-5))
    last = trial == int(option("-n")) - 1
    if "-a" in arguments and last:
        if program == "pr_spmv":
            for v in sorted(range(n), key=lambda v: -rank[v])[:5]:
                print("%d:%.6g" % (v, rank[v] * {rank_factor}))
        elif program == "sssp":
            print("SSSP Tree reaches %d nodes" % (len(cost) + {reach_error}))
        elif program == "tc":
            print("%d triangles" % (len(cost) + {reach_error}))
        else:
            print("BFS Tree has %d nodes and %d edges" % (len(cost) + {reach_error}, m))
    if "-v" in arguments:
        print("Verification:           {verdict}")
"""


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        NAME, FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def suite() -> Iterator[ModuleType]:
    yield load()
    for name in [name for name in sys.modules if name == NAME or name.startswith(f"{NAME}.")]:
        del sys.modules[name]


def part(suite: ModuleType, name: str) -> ModuleType:
    return importlib.import_module(f"{suite.__name__}.{name}")


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in TINY.items():
        monkeypatch.setenv(key, value)


def fake(folder: Path, *, rank_factor: str = "1", reach_error: str = "0", verdict: str = "PASS") -> Path:
    """A folder with programs named as GAPBS's."""
    folder.mkdir()
    lies = {"rank_factor": rank_factor, "reach_error": reach_error, "verdict": verdict}
    text = FAKE.format(python=sys.executable, **lies)
    for name in ("pr_spmv", "sssp", "bfs", "tc"):
        program = folder / name
        program.write_text(text, encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return folder


def measured(suite: ModuleType, only: str, **options: Any) -> list[Row]:
    context = Context("graph", only=only, repeat=1, **options)
    rows = list(suite.rows(context))
    wanted = [name for name in suite.expand(context) if context.wants(name)]
    assert sorted(row.name for row in rows) == sorted(wanted)
    return rows


def test_row_names_match_the_table(suite: ModuleType) -> None:
    expected = [f"{m}.vs-{p}.{g}.t{t}" for m, p in PAIRS for g in GRAPHS for t in (1, 2)] + ALONE
    assert sorted(suite.expand(Context("graph"))) == sorted(expected)


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("pagerank.vs-gapbs.rmat18.t1", 1.15),
        ("pagerank.vs-gapbs.grid400k.t2", 1),
        ("pagerank.vs-graphblas.geoL.t2", 1.4),
        ("pagerank.vs-graphblas.rmat18.t1", 1.3),
        ("pagerank.vs-graphblas.grid400k.t1", 1.1),
        ("pagerank.vs-graphblas.email-Enron.t2", 1.1),
        ("pagerank.vs-networkit.email-Enron.t1", 2),
        ("sssp.vs-gapbs.grid400k.t2", 0.9),
        ("sssp.vs-gapbs.grid400k.t1", 0.9),
        ("sssp.vs-scipy.geoS.t1", 2),
        ("asp64.vs-graphblas.rmat18.t2", 10),
        ("asp64.vs-gapbs.grid400k.t2", 1),
        ("asp64.vs-gapbs.geoS.t2", 3.5),
        ("bfs.vs-gapbs.geoS.t2", 0.7),
        ("triangles.vs-gapbs.geoS.t1", 0.7),
        ("hashmin.vs-scipy.grid400k.t1", 1),
        ("hashmin.vs-networkit.grid400k.t1", 1.1),
        ("pagerank.vs-scipy.geoS.t1", None),
    ],
)
def test_rows_have_their_bounds(suite: ModuleType, name: str, least: float | None) -> None:
    assert part(suite, "_plan").bound(name) == least


def test_skipped_rows_state_the_reason(suite: ModuleType) -> None:
    rows = measured(suite, "gapbs|email-Enron")
    assert rows
    for row in rows:
        assert row.value is None and row.skipped
        assert ("--data" if "email-Enron" in row.name else "--peer gapbs=DIR") in row.skipped


def test_missing_data_file_is_named(suite: ModuleType, tmp_path: Path) -> None:
    for row in measured(suite, "email-Enron", data=tmp_path):
        assert row.skipped is not None and "email-Enron.mtx.gz" in row.skipped


def test_uninstallable_peer_is_skipped(suite: ModuleType, monkeypatch: pytest.MonkeyPatch, tiny: None) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(suite.importlib.util, "find_spec", lambda name: None if name == "networkit" else found(name))

    def refuse(*groups: str) -> None:
        raise suite.gossamer_setup.SetupError("no network")

    monkeypatch.setattr(suite.gossamer_setup, "require", refuse)
    for row in measured(suite, "networkit.grid400k"):
        assert row.skipped == "not installed: no network"


@pytest.mark.default_cases("rmat18", seconds=23, adds="the other kinds of graph")
@pytest.mark.parametrize("graph", GRAPHS[:4])
def test_tiny_graphs_are_compared_with_every_package(suite: ModuleType, graph: str, tiny: None) -> None:
    peers = [p for p in ("graphblas", "networkit", "scipy") if importlib.util.find_spec(p) is not None]
    for row in measured(suite, rf"vs-({'|'.join(peers)})\.{graph}\."):
        assert row.skipped is None and row.unit == "s"
        assert row.value is not None and row.value > 0
        assert row.reference is not None and row.reference["value"] is not None
        assert row.ratio == pytest.approx(row.reference["value"] / row.value)
        config = row.config
        assert config["scale"] == 0.005 and config["threads"] == int(row.name[-1])
        assert config["answers"] and config["malloc"] == "glibc.malloc.hugetlb=1"
        if row.name.startswith("pagerank"):
            double = "networkit" in row.name
            assert config["precision"] == config["peer_precision"] == ("float64" if double else "float32")
            assert config["app"] == ("pagerank64" if double else "pagerank")
            assert (config.get("float32_ratio", 0) > 0) == double
        assert row.least_ratio is None and row.missed is None
        json.dumps(row.as_json())
    missing = {"graphblas", "networkit", "scipy"} - set(peers)
    if missing:
        pytest.skip(f"measured, but not beside {', '.join(sorted(missing))}; ./gossamer setup peers installs them")


@pytest.mark.tier("all", seconds=6, adds="the speedup row")
def test_speedup_of_two_threads_is_measured(suite: ModuleType, tiny: None) -> None:
    rows = measured(suite, r"^scaling.*rmat18")
    assert [row.name for row in rows] == [name for name in SCALING if name.endswith("rmat18")]
    for row in rows:
        one, two = (float(np.median(row.config["seconds_of_runs"][threads])) for threads in ("1", "2"))
        assert row.value == pytest.approx(one / two, rel=0.05) and row.ratio == pytest.approx(row.value / 1.6)
        assert row.missed is None  # a shrunken graph measures nothing


def test_work_does_not_grow_with_threads(suite: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_BENCH_SCALE", "0.02")
    rows = measured(suite, "^work")
    assert [row.name for row in rows] == WORK
    for row in rows:
        assert row.value is not None and row.value <= 1.15 and row.missed is None
        assert set(row.config["by_graph"]) == {"geoL", "rmat18"}
        for looks in row.config["looks"].values():
            # Each vertex is visited more than once, and so is each edge that carries a message.
            assert looks["1"]["vertices"] >= 2 * 4000 and looks["1"]["edges"] > 10000


def test_every_text_format_is_loaded(suite: ModuleType, tiny: None) -> None:
    rows = measured(suite, "^load")
    assert [row.name for row in rows] == LOADS
    for row in rows:
        assert row.unit == "MB/s" and row.value is not None and row.value > 0
        assert row.ratio == pytest.approx(row.value / 100)
        assert row.missed is None  # a shrunken graph measures nothing
    # The plan contains each format of the text parser, and the adjacency list.
    from gossamer.graph import FORMATS

    forms = {row.name.removeprefix("load.").removesuffix("-mbs").split("-")[0] for row in rows} - {"words"}
    assert forms == {name for name, form in FORMATS.items() if not form.module} - {"gsg"}


@pytest.mark.skipif(not ENRON.exists(), reason="email-Enron.mtx.gz is not beside the checkout")
def test_rows_use_the_data_folder(suite: ModuleType) -> None:
    rows = measured(suite, r"vs-scipy\.email-Enron\.t1", data=ENRON.parent)
    assert len(rows) == 3
    for row in rows:
        assert row.skipped is None and row.config["vertices"] == 36692


def test_generated_weights_are_symmetric(suite: ModuleType) -> None:
    from gossamer.graph import generate

    graph = part(suite, "_graphs")._weighted(generate.grid(30, 20))
    matrix = np.zeros((600, 600), np.int64)
    ends = np.repeat(np.arange(600), graph.out.degrees().astype(np.int64))
    matrix[ends, graph.out.targets] = graph.out.weights
    assert (matrix == matrix.T).all()
    found = graph.out.weights
    assert found.min() >= 1 and found.max() <= 255 and len(set(found.tolist())) > 100


# GAPBS ----------------------------------------------------------------------------------------


@pytest.mark.tier("all", seconds=13, adds="every measure of a row with a peer; single rows run by default")
def test_gapbs_is_compared_in_every_measure(suite: ModuleType, tmp_path: Path, tiny: None) -> None:
    folder = fake(tmp_path / "gapbs")
    for row in measured(suite, r"gapbs\.(rmat18|grid400k)\.t1", peers={"gapbs": folder}):
        assert row.skipped is None and row.ratio is not None and row.ratio > 0
        assert row.config["answers"]


@pytest.mark.parametrize(
    ("only", "lie"),
    [
        ("pagerank", {"rank_factor": "1.001"}),
        ("sssp", {"reach_error": "1"}),
        ("asp64", {"reach_error": "-1"}),
        ("bfs", {"reach_error": "1"}),
        ("triangles", {"reach_error": "1"}),
        ("sssp", {"verdict": "FAIL"}),
    ],
)
def test_peer_with_a_different_answer_fails_the_run(
    suite: ModuleType, tmp_path: Path, tiny: None, only: str, lie: dict[str, str]
) -> None:
    folder = fake(tmp_path / "gapbs", **lie)
    with pytest.raises(AnswerNo, match=rf"{only}\.rmat18\.t1, beside gapbs"):
        measured(suite, rf"{only}.vs-gapbs\.rmat18\.t1", peers={"gapbs": folder})


def test_folder_without_gapbs_is_rejected(suite: ModuleType, tmp_path: Path, tiny: None) -> None:
    with pytest.raises(InputError, match="name a folder of GAPBS"):
        measured(suite, r"sssp.vs-gapbs\.grid400k\.t1", peers={"gapbs": tmp_path})


def test_gapbs_is_compiled_from_its_source(suite: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "bfs.cc").write_text("int main() { return 7; }\n", encoding="utf-8")
    made = part(suite, "_gapbs").program(tmp_path, "bfs", tmp_path / "build")
    assert subprocess.run([made], check=False).returncode == 7
    (tmp_path / "src" / "bfs.cc").write_text("int main() { return x; }\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"bfs\.cc.*does not compile"):
        part(suite, "_gapbs").program(tmp_path, "bfs", tmp_path / "build")


# Answers --------------------------------------------------------------------------------------


def test_rank_comparison_detects_differences(suite: ModuleType) -> None:
    same = part(suite, "_answers").same_ranks
    ranks = np.array([0.5, 1e-7, 0.25], np.float32)
    assert same("here", ranks, ranks.astype(np.float64))
    for wrong in ([0.5, 1.001e-7, 0.25], [0.5, np.nan, 0.25], [0.5, 0, 0.25], [0.5, 1e-7]):
        with pytest.raises(AnswerNo):
            same("here", ranks, np.array(wrong))


def test_partition_comparison_detects_differences(suite: ModuleType) -> None:
    same = part(suite, "_answers").same_partition
    ours = np.array([0, 1, 0, 3, 1], np.uint32)
    assert same("here", ours, np.array([7, 5, 7, 2, 5]))
    for wrong in ([7, 5, 7, 5, 5], [7, 5, 7, 2, 1], [7, 7, 5, 2, 5]):
        with pytest.raises(AnswerNo):
            same("here", ours, np.array(wrong))
    with pytest.raises(AnswerNo):
        same("here", np.array([2, 1, 2, 3, 1], np.uint32), np.array([7, 5, 7, 2, 5]))


def test_exact_comparison_detects_differences(suite: ModuleType) -> None:
    same = part(suite, "_answers").same_exactly
    assert same("here", np.array([1, 2], np.uint32), np.array([1.0, 2.0]))
    with pytest.raises(AnswerNo, match="vertex 1 has 2 here and 3"):
        same("here", np.array([1, 2]), np.array([1, 3]))


# The command ----------------------------------------------------------------------------------


def test_memory_of_a_process_tree_is_summed(suite: ModuleType) -> None:
    # A parent that holds 60 MB and a child that holds 90 MB, for long enough to be sampled.
    hold = "import time; x = b'x' * {size}; "
    child = hold.format(size=90_000_000) + "time.sleep(0.5)"
    parent = hold.format(size=60_000_000)
    parent += f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    peak = part(suite, "_commands")._tree_peak([sys.executable, "-c", parent])
    assert 150 < peak < 250


def test_failed_command_gives_no_result(suite: ModuleType) -> None:
    with pytest.raises(RunDied, match="ended with 3"):
        part(suite, "_commands")._tree_peak([sys.executable, "-c", "import sys; sys.exit(3)"])
    with pytest.raises(RunDied, match="last words"):
        part(suite, "_commands")._run([sys.executable, "-c", "import sys; sys.exit('last words')"])


def test_invalid_scale_is_rejected(suite: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("0", "2", "small"):
        monkeypatch.setenv("GOSSAMER_BENCH_SCALE", text)
        with pytest.raises(InputError, match="GOSSAMER_BENCH_SCALE"):
            list(suite.rows(Context("graph", only="scipy")))


def test_command_writes_the_rows(tmp_path: Path, command: Any) -> None:
    file = tmp_path / "rows.json"
    only = r"vs-(scipy|gapbs)\.grid400k\.t1"
    done = command("bench", "graph", "--only", only, "--repeat", "1", "--json", file, env=TINY)
    assert done.returncode == 0, done.stderr
    rows = json.loads(file.read_text(encoding="utf-8"))
    assert {row["name"] for row in rows} == {f"{m}.vs-{p}.grid400k.t1" for m, p in PAIRS if p in ("scipy", "gapbs")}
    for row in rows:
        assert ("skipped" in row) == ("gapbs" in row["name"])
        assert row["config"]["cpu"]
    assert len(re.findall("skipped: ", done.stdout)) == 5


def test_interrupted_bench_keeps_its_rows_and_leaves_no_process(tmp_path: Path) -> None:
    file, scratch = tmp_path / "rows.json", tmp_path / "scratch"
    scratch.mkdir()
    arguments = ["bench", "graph", "--only", r"vs-scipy\.grid400k", "--repeat", "40"]
    bench = subprocess.Popen(
        [sys.executable, str(ROOT / "gossamer"), *arguments, "--json", str(file)],
        env={**os.environ, **TINY, "TMPDIR": str(scratch), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert bench.stdout is not None
    # The machine, and the first row: the worker is then at the second.
    lines = [bench.stdout.readline(), bench.stdout.readline()]
    bench.send_signal(signal.SIGINT)
    out, err = bench.communicate(timeout=60)
    assert bench.returncode == 130, lines + [out, err]
    assert len(json.loads(file.read_text(encoding="utf-8"))) >= 1
    assert not list(scratch.iterdir())
    # Its session has no process left, so a signal to it fails.
    with pytest.raises(ProcessLookupError):
        os.killpg(bench.pid, 0)


def test_memory_and_start_times_are_measured(suite: ModuleType, size: Any, tiny: None) -> None:
    """The rows that run the command: on a small graph; rows that compile only in larger sizes."""
    only = size.pick("peak-mb", "peak-mb|compile", "peak-mb|compile|first-run")
    for row in measured(suite, only):
        if row.skipped is None:
            assert row.value is not None and row.value > 0
        else:
            assert row.name == "first-run-s" and (shutil.which("git") is None or "clone" in row.skipped)
