# SPDX-License-Identifier: Apache-2.0
"""Every reader of a file that is truncated while it is mapped ends with one line and exit code 4."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import gossamer as gs

READERS = {
    "census": "graph.census()",
    "by destination": "graph.into",
    "a run": "gs.run('hashmin', graph, threads=2)",
    "a run, shuffled": "gs.run('pagerank', graph, engine='shuffle')",
    "a .gsg": "gs.write_graph(graph, 'out.gsg')",
    "a text": "gs.write_graph(graph, 'out.mtx')",
    "a packed text": "gs.write_graph(graph, 'out.mtx.gz')",
    "arrays": "print(graph.out.targets.sum())",
    "SciPy": "graph.to_scipy()",
    "NetworkX": "graph.to_networkx()",
}
SCRIPT = """
import os, sys
import gossamer as gs
graph = gs.read_graph("in.gsg")
os.truncate("in.gsg", 300_000)
try:
    exec(sys.argv[1])
except gs.GossamerError as error:
    print(int(error.exit_code), error)
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graphs") / "in.gsg"
    gs.write_graph(gs.read_graph("gen:rmat:scale=14,seed=3"), path, both=False)
    assert path.stat().st_size > 1_000_000
    return path


@pytest.mark.parametrize("reader", READERS)
def test_truncated_mapped_graph_ends_the_reader_with_one_line(reader: str, whole: Path, tmp_path: Path) -> None:
    (tmp_path / "in.gsg").write_bytes(whole.read_bytes())
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, "-c", SCRIPT, READERS[reader]]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert done.stdout.startswith("4 ") and "cut short" in done.stdout and done.stdout.count("\n") == 1, done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["in.gsg"]


def test_unrelated_bus_error_kills_the_process(whole: Path) -> None:
    """A bus error outside of a mapped graph kills the process as usual."""
    script = (
        "import mmap, os, gossamer as gs\n"
        f"graph = gs.read_graph({str(whole)!r})\n"
        "file = os.memfd_create('other'); os.ftruncate(file, 8192); area = mmap.mmap(file, 8192)\n"
        "os.ftruncate(file, 0); print(area[5000])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == -7, done
