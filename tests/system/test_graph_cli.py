# SPDX-License-Identifier: Apache-2.0
"""``./gossamer graph`` as a user runs it."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import scipy.io
from conftest import ROOT, Command


def test_info_prints_the_properties_of_a_graph(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "a.mtx.gz"
    path.write_bytes(
        gzip.compress(b"%%MatrixMarket matrix coordinate integer symmetric\n4 4 3\n1 1 5\n2 1 -2\n3 1 7\n")
    )
    done = command("graph", "info", path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = {line[:18].strip(): line[18:].strip() for line in done.stdout.splitlines()}
    assert lines["vertices"] == "4"
    assert lines["edges"] == "5"
    assert lines["symmetric"] == "yes"
    assert lines["weights"] == "int32, -2 .. 7"
    assert lines["self loops"] == "1"
    assert lines["without edges"] == "1"
    assert lines["most out edges"] == "3 (vertex 1)"
    assert "Every edge of the file is kept" in done.stdout
    facts = json.loads(command("graph", "info", path, "--json", "--no-loops").stdout)
    assert (facts["edges"], facts["self_loops"], facts["most_out_edges"]) == (
        4,
        0,
        {"degree": 2, "vertex": 1},
    )


def test_info_reads_standard_input(command: Command) -> None:
    done = command("graph", "info", "-", "--undirected", "--json", input="a b\nb c\n")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["vertices"], facts["edges"], facts["labels"]) == (3, 4, "words, a .. c")


def test_generated_graphs_convert_between_formats(command: Command, tmp_path: Path) -> None:
    made, mapped, text = tmp_path / "a.gsg", tmp_path / "b.mtx.xz", tmp_path / "c.gr"
    done = command("graph", "generate", "grid", "--width", "5", "--height", "4", "--weights", "1:9", "-o", made)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout == f"{made}: 20 vertices, symmetric, 62 edges\n"
    assert command("graph", "convert", made, mapped).returncode == 0
    assert command("graph", "convert", mapped, text).returncode == 0
    facts = [json.loads(command("graph", "info", path, "--json").stdout) for path in (made, mapped, text)]
    assert {(f["vertices"], f["edges"], f["weights"]) for f in facts} == {(20, 62, facts[0]["weights"])}
    plain = tmp_path / "d.mtx"
    assert command("graph", "convert", text, plain).returncode == 0
    assert scipy.io.mmread(plain).nnz == 62
    for kind in (
        ("rmat", "--scale", "6"),
        ("ring", "--vertices", "9"),
        ("geometric", "--vertices", "50", "--radius", "1"),
    ):
        assert command("graph", "generate", *kind, "-o", made).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["info", "none.mtx"], "none.mtx: no such file"),
        (["info", "bad.mtx"], "bad.mtx:3: vertex '9' is outside the range 1 .. 2 that line 2 states"),
        (["info", "cut.mtx.gz"], "cut.mtx.gz: the gzip data"),
        (["info", "."], ".: a directory"),
        (["info", "bad.mtx", "--format", "mxt"], "mxt"),
        (["convert", "bad.mtx", "out.gsg"], "bad.mtx:3:"),
        (["convert", "good.txt", "out.png"], "out.png: unknown extension"),
        (["convert", "good.txt", "none/out.gsg"], "none/out.gsg: there is no folder"),
        (["convert", "good.txt", "/proc/out.gsg"], "/proc/out.gsg: cannot be written"),
        (["generate", "rmat", "--scale", "99", "-o", "out.gsg"], "scale 99 is outside the range 1 .. 31"),
        (["generate", "grid", "--width", "2", "--height", "2", "--weights", "x", "-o", "o.gsg"], "LOW:HIGH"),
        (["generate", "rmat", "-o", "out.gsg"], "--scale"),
    ],
)
def test_invalid_input_is_an_error_and_writes_no_file(
    command: Command, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n9 1\n")
    (tmp_path / "cut.mtx.gz").write_bytes(gzip.compress(b"%%MatrixMarket matrix coordinate" * 9)[:-9])
    (tmp_path / "good.txt").write_text("0 1\n")
    before = set(tmp_path.iterdir())
    done = command("graph", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    if "--format" not in arguments and "--scale" not in said:
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith("gossamer: error: ")
    assert set(tmp_path.iterdir()) == before


def test_interrupt_leaves_no_file(tmp_path: Path) -> None:
    # A pipe that never ends: reading waits until it is interrupted.
    read_end, write_end = os.pipe()
    process = subprocess.Popen(
        [sys.executable, ROOT / "gossamer", "graph", "convert", "-", tmp_path / "a.gsg"],
        stdin=read_end,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(read_end)
    os.write(write_end, b"0 1\n" * 1000)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    os.close(write_end)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("level", [(), ("info",), ("convert",), ("generate",), ("generate", "rmat")])
def test_help_has_examples(command: Command, level: tuple[str, ...]) -> None:
    done = command("graph", *level, "--help")
    assert done.returncode == 0
    assert "Example" in done.stdout
