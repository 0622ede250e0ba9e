# SPDX-License-Identifier: Apache-2.0
"""The commands and sources that the README shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gossamer import apps

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _run(*words: str) -> str:
    done = subprocess.run(
        [str(ROOT / "gossamer"), *words], capture_output=True, text=True, cwd=ROOT, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_vertex_of_the_readme_matches_the_example() -> None:
    (shown,) = re.findall(r"```cpp\n(.*?)```", README, re.S)
    assert shown in (ROOT / "examples/hops/hops.h").read_text(encoding="utf-8")


def test_readme_names_every_application() -> None:
    shown = README[README.index("The applications:") : README.index("`./gossamer new NAME`")]
    assert sorted(re.findall(r"`([a-z0-9-]+)`", shown)) == apps.names()


def test_example_counts_hops(tmp_path: Path) -> None:
    out = tmp_path / "hops.npy"
    _run("run", "examples/hops/hops.h", "gen:grid:width=300,height=200", "--source", "0", "-o", str(out))
    x, y = np.meshgrid(np.arange(300), np.arange(200))
    assert np.array_equal(np.load(out), (x + y).ravel())
    assert "the same" in _run("run", "examples/hops/hops.h", "gen:ring:vertices=100", "--shuffle", "7")


def test_host_program_finds_the_new_shortest_paths() -> None:
    lines = _run("run", "examples/paths/host.cpp").split("\n")
    assert lines[:8] == ["0 0", "1 10", "2 20", "3 30", "4 40", "5 25", "6 35", "7 45"]


@pytest.mark.tier("quick", seconds=1, adds="the README's first command on this machine")
def test_default_graph_is_ranked() -> None:
    assert re.search(r"vertex\s+rank\n\s+libc6\s", _run("run", "pagerank"))


@pytest.mark.tier("quick", seconds=1, adds="the Python package and SciPy")
def test_python_of_the_readme_runs(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```python\n(.*?)```", README, re.S)
    graph = tmp_path / "web.mtx.gz"
    _run("graph", "generate", "rmat", "--scale", "8", "-o", str(graph))
    code = shown + "\nassert len(result.values) == 256 and result.stats['sends'] == 20 * 256\n"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT / "python"), "PATH": "/usr/bin:/bin"},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_smi_and_mpi_commands_of_the_readme_run() -> None:
    shown = re.findall(r"^\./gossamer ((?:smi|mpi) run .*?) +#", README, re.M)
    assert len(shown) == 4
    for words in shown:
        if "rtl" not in words:  # that builds a simulator; tests of its own run it
            _run(*words.split())


def test_examples_print_what_their_page_shows() -> None:
    """All but times, and the number of threads."""

    def fixed(text: str) -> str:
        return re.sub(r"\d+ threads?|in [\d.]+ s$", "", text, flags=re.MULTILINE).strip()

    page = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```\n\$ \./gossamer (.*)\n((?:.*\n)*?)```$", page, re.MULTILINE)
    assert len(shown) >= 9
    for words, output in shown:
        done = subprocess.run(
            [str(ROOT / "gossamer"), *words.split()],
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert fixed(done.stderr + done.stdout) == fixed(output), words


def test_pictures_are_small_and_shown() -> None:
    pictures = {str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "pictures").glob("*.png")}
    assert pictures == set(re.findall(r"\]\((docs/pictures/[^)]+)\)", README))
    assert all((ROOT / path).stat().st_size < 150_000 for path in pictures)
