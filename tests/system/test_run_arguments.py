# SPDX-License-Identifier: Apache-2.0
"""./gossamer run: its arguments, its notes about the input, and its output."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, Command

from gossamer.cli import _run_arguments
from gossamer.errors import InputError

DESCRIPTORS = ROOT / "tests" / "fixtures" / "descriptors"
RING = "gen:ring:vertices=5"


def said(done: Any, code: int) -> str:
    """The line of an error."""
    assert done.returncode == code, done.stdout + done.stderr
    *notes, last = done.stderr.splitlines()
    assert all(note.startswith("note: ") for note in notes)
    assert last.startswith("gossamer: error: ")
    return str(last)


@pytest.fixture
def shifted(tmp_path: Path) -> Path:
    """Vertices 1 to 4, with weights: 1 and 2 joined both ways, 3 to 4, and 4 to itself twice."""
    path = tmp_path / "shifted.mtx"
    head = "%%MatrixMarket matrix coordinate integer general\n4 4 5\n"
    path.write_text(head + "1 2 3\n2 1 4\n3 4 1\n4 4 1\n4 4 2\n")
    return path


# Arguments -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "at"),
    [
        (["pagerank"], 0),
        (["--iterations", "20", "pagerank", "a.mtx"], 2),
        (["--raw", "pagerank", "a.mtx"], 1),
        (["-t", "2", "pagerank"], 2),
        (["-t2", "pagerank"], 1),
        (["--source=3", "sssp"], 1),
        (["--source", "sssp", "sssp"], 1),  # both may be meant; the first names an application
        (["-o", "x.cpp", "pagerank"], 2),
        (["--output=x.cpp", "pagerank"], 1),
        (["-D", "X=y.cc", "mine.h"], 2),
        (["--stats", "s.json", "host.cpp"], 2),
        (["--limit", "host.cpp"], 1),
        (["-", "pagerank"], 0),
        (["--iterations", "20", "pagerunk"], 2),
        (["--iterations", "20"], 1),
        (["--raw"], None),
        ([], None),
    ],
)
def test_application_argument_is_found(words: list[str], at: int | None) -> None:
    assert _run_arguments.first_plain(words, _run_arguments.VALUES) == at


def test_parameters_take_the_next_argument_as_value() -> None:
    request = _run_arguments.Request.of_app(["--damping", "-0.5", "pagerank", "--raw", "g.mtx", "-t", "2", "--dedupe"])
    assert request.parameters == {"damping": "-0.5", "raw": "1"}
    assert (request.app, request.graph, request.flags) == ("pagerank", "g.mtx", {"dedupe"})
    assert request.options == {"threads": ["2"]}
    for words, what in {
        ("pagerank", "--damping"): "--damping: needs a value",
        ("pagerank", "--damping", "--raw"): "--damping: needs a value",
        ("pagerank", "-x"): "no such option: -x",
        ("pagerank", "-t"): "-t: needs a value",
        ("pagerank", "a", "b"): "a graph is given already",
        ("pagerank", "iterations=3"): "iterations is a parameter of pagerank: write --iterations=3",
        ("pagerank", "--dumping", "1"): "pagerank has no parameter 'dumping'",
    }.items():
        with pytest.raises(InputError, match=what):
            _run_arguments.Request.of_app(words)


def test_arguments_reach_applications_and_programs(command: Command, tmp_path: Path) -> None:
    done = command("run", "--given", "-2", DESCRIPTORS / "names.h", RING, "-D", "PARAMETER=given", "-D", "COLUMN=mine")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^ +4 +-8 +4$", done.stdout, re.MULTILINE)
    # Neither a graph nor a file to write is a program.
    assert "no such file" in said(command("run", "pagerank", tmp_path / "none.cpp"), 2)
    assert "unknown ending; write a file that ends in .npy" in said(
        command("run", "pagerank", RING, "-o", tmp_path / "x.c"), 2
    )
    # Errors that do not depend on the graph are reported before it is read.
    for words in (["--shuffle", "x"], ["-t", "1025"], ["--engine", "cpuu"], ["--damping", "7"], ["--format", "x"]):
        assert said(command("run", "pagerank", tmp_path / "none.mtx", *words), 2).find(words[1]) > 0
    program = tmp_path / "host.cpp"
    program.write_text("#include <cstdio>\nint main(int n, char** v) { std::puts(v[n - 1]); return n; }\n")
    done = command("run", "-t", "1", program, "a.cpp", "b.c")
    assert (done.returncode, done.stdout) == (3, "b.c\n")
    assert "--top: not for a program" in said(command("run", "--top", "3", program), 2)


def test_example_in_the_help_of_a_header_runs(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "with blanks"
    folder.mkdir()
    shutil.copy(ROOT / "tests/fixtures/vertices/good.h", folder / "mine.h")
    done = command("run", folder / "mine.h", "--help")
    (line,) = re.findall(r"^  (\./gossamer run .*)$", done.stdout, re.MULTILINE)
    shown = subprocess.run(line, shell=True, cwd=ROOT, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr


def test_link_errors_name_the_undefined_symbol(command: Command, tmp_path: Path) -> None:
    program = tmp_path / "host.cpp"
    program.write_text("int nowhere(int);\nint main() { return nowhere(3); }\n")
    text = said(command("run", program), 2)
    assert "host.cpp: does not link: undefined reference to `nowhere(int)'" in text
    header = tmp_path / "mine.h"
    vertex = (ROOT / "tests/fixtures/vertices/good.h").read_text()
    vertex = vertex.replace("struct App", "uint32_t nowhere(uint32_t);\nstruct App")
    header.write_text(vertex.replace("v.index * factor", "nowhere(v.index)"))
    assert "mine.h: cannot be loaded: nowhere(unsigned int) is declared but not defined" in said(
        command("run", header, RING), 2
    )


# The graph -------------------------------------------------------------------------------------------


def test_graph_options_select_edges(command: Command, shifted: Path, tmp_path: Path) -> None:
    def degrees(*options: str) -> int:
        done = command("run", "sssp", shifted, *options, "-k", "0", "-o", tmp_path / "x.npy")
        assert done.returncode == 0, done.stderr
        return int(re.findall(r"([\d,]+) edges", done.stdout)[0])

    assert degrees() == 5
    assert degrees("--no-loops") == 3
    assert degrees("--dedupe") == 4
    assert degrees("--undirected") == 8
    assert degrees("--undirected", "--dedupe", "--no-loops") == 4
    odd = tmp_path / "odd.txt"
    odd.write_text("p sp 2 1\na 1 2 7\n")
    assert command("run", "hashmin", odd, "--format", "dimacs").returncode == 0
    assert command("run", "hashmin", odd, "--format", "mtx").returncode == 2


def test_ignored_weights_and_duplicate_edges_are_noted(command: Command, shifted: Path) -> None:
    notes = command("run", "pagerank", shifted, "--undirected").stderr.splitlines()
    assert notes == [
        f"note: {shifted}: 3 of 8 edges, with both directions counted, are duplicates; dedupe removes them",
        "note: pagerank does not use weights; those of the graph are ignored",
    ]
    assert command("run", "sssp", shifted).stderr == ""
    assert command("run", "sssp", shifted, "--undirected", "--dedupe").stderr == ""
    note = "note: the graph has no weights; sssp uses the weight 1 for every edge\n"
    assert command("run", "sssp", RING).stderr == note


# The result ------------------------------------------------------------------------------------------


def test_text_outputs_name_vertices_by_label(command: Command, shifted: Path, tmp_path: Path) -> None:
    out = [tmp_path / f"x.{ending}" for ending in ("csv", "npz", "npy")]
    done = command("run", "hashmin", shifted, "-o", out[0], "-o", out[1], "-o", out[2])
    assert re.findall(r"^ +(\d+) +(\d+)$", done.stdout, re.MULTILINE) == [("2", "1"), ("2", "3")]
    with open(out[0], encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [["vertex", "component"], ["1", "1"], ["2", "1"], ["3", "3"], ["4", "3"]]
    arrays = np.load(out[1])
    assert (arrays["vertex"].tolist(), arrays["component"].tolist()) == ([1, 2, 3, 4], [1, 1, 3, 3])
    assert np.load(out[2]).tolist() == [0, 0, 2, 2]
    (tmp_path / "trees.txt").write_text('ash "b"\n"b" c\n')
    done = command("run", DESCRIPTORS / "successor.h", tmp_path / "trees.txt", "-o", out[0])
    with open(out[0], encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[1:] == [["ash", "0", '"b"'], ['"b"', "1", "c"], ["c", "2", ""]]
    assert re.search(r"^ +c +2 +-$", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("run pagerank in.csv -o in.csv", "--output in.csv: is also read, and would be replaced; write another file"),
        ("run pagerank in.csv -o a.csv -o ./a.csv", "--output a.csv: is given twice; omit one, or write two files"),
        ("run pagerank in.csv --stats a.json -o a.json", "--output and --stats name the same file, a.json; write two "),
        ("run pagerank in.csv -e model -c tiny --stats a --report a", "--stats and --report name the same file, a; "),
        ("run pagerank in.csv -D X=1 -D a\xa0b=3", "-D a\xa0b=3: is not a macro; give NAME or NAME=VALUE"),
        (
            "run own.c -e rtl -c tiny --trace a --report a",
            "--trace and --report name the same file, a; write two files",
        ),
        ("run own.c -e rtl -c tiny --report own.c", "--report own.c: is also read, and would be replaced; write "),
        ("run own.c -e rtl -c tiny --stats /dev/full", "--stats /dev/full: is no name of statistics or of a program; "),
        ("mpi run own.c -n 2 -e rtl --stats a --report a", "--stats and --report name the same file, a; write two "),
        ("smi run own.c --ranks 2 -D a\xa0b", "-D a\xa0b: is not a macro; give NAME or NAME=VALUE"),
        ("smi run own.c --ranks 2 --stats own.c", "--stats own.c: is also read, and would be replaced; write another "),
        ("report in.csv -o in.csv", "--output in.csv: is also read, and would be replaced; write another file"),
        ("routes quad4 --json a --plot a.svg", "--plot a.svg: the picture is a PNG; use a name that ends with .png"),
        ("routes quad4 --json a --tables a", "--tables and --json name the same file, a; write two files"),
        ("graph convert in.csv none/a.gsg", "none/a.gsg: there is no folder"),
        ("routes quad4 --vcs x", "Invalid value for '--vcs': 'x' is not a whole number; see ./gossamer routes --help"),
        ("graph nosuch", "No such command 'nosuch'; there are: convert, generate, info; see ./gossamer graph --help"),
    ],
)
def test_wrong_outputs_and_macros_are_rejected_before_the_work(
    command: Command, tmp_path: Path, words: str, message: str
) -> None:
    (tmp_path / "in.csv").write_text("0,1\n1,0\n")
    (tmp_path / "own.c").write_text("int main(void) { return 0; }\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = command(*(word.replace("\xa0", " ") for word in words.split(" ")), cwd=tmp_path)
    assert said(done, 2).startswith(f"gossamer: error: {message}".replace("\xa0", " ")) and not done.stdout
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("engine", ["cpu", "shuffle"])
def test_run_without_an_answer_writes_no_file(command: Command, tmp_path: Path, engine: str) -> None:
    chain = tmp_path / "chain.txt"
    chain.write_text("".join(f"{v} {v + 1} 2000000000\n" for v in range(40)))
    written = [word for name in ("x.npy", "x.csv", "x.npz") for word in ("-o", str(tmp_path / name))]
    written += ["--stats", str(tmp_path / "s.json"), "-e", engine]
    text = said(command("run", "pagerank", chain, "--limit", "30", "--damping", "0.99", *written), 4)
    assert "pagerank: did not converge: after 30 steps" in text
    text = said(command("run", "sssp", chain, *written), 4)
    assert "sssp: overflow: " in text and text.endswith("use sssp64 (the first: vertex 3)")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chain.txt"]


# The output ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        # Each run of it reads all installed files.
        pytest.param(["doctor"], marks=pytest.mark.tier("all", seconds=15, adds="a long output of the launcher")),
        ["run", "pagerank", RING],
    ],
)
def test_closed_output_is_accepted_and_full_output_reported(words: list[str]) -> None:
    launcher = [sys.executable, str(ROOT / "gossamer"), *words]
    for redirection, code in ((">&-", 0), (">&- 2>&- <&-", 0), ("> /dev/full", 2)):
        script = f'"$@" {redirection}'
        done = subprocess.run(["sh", "-c", script, "sh", *launcher], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (code, ""), (redirection, done.stderr)
        line = "gossamer: error: cannot write the output: No space left on device; free space or choose another file\n"
        assert done.stderr == (line if code else "")


def test_error_with_closed_standard_error_has_exit_code_2() -> None:
    launcher = [sys.executable, str(ROOT / "gossamer"), "run", "nonsense"]
    done = subprocess.run(["sh", "-c", '"$@" 2>&-', "sh", *launcher], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root for a read-only view")
def test_read_only_checkout_runs_built_applications(command: Command, tmp_path: Path) -> None:
    header = tmp_path / "mine.h"
    header.write_text((ROOT / "tests/fixtures/vertices/good.h").read_text())

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && cd "$1" && shift && exec "$@"'
        shell = ["unshare", "-m", "sh", "-c", script, "sh", str(ROOT), sys.executable, str(ROOT / "gossamer"), *words]
        return subprocess.run(shell, capture_output=True, text=True, check=False)

    assert command("run", "pagerank", RING).returncode == 0  # builds it, if no test before this one has
    if "mount:" in (done := run("doctor")).stderr:
        pytest.skip("no mounts can be made here")
    assert done.returncode == 0, done.stdout
    assert "is on a read-only file system: what is set up and built works" in done.stdout
    assert run("run", "pagerank", RING).returncode == 0
    assert "Read-only file system" in said(run("run", str(header), RING), 2)


@pytest.mark.tier("all", seconds=30, adds="names of files that are no text")
def test_names_of_files_may_be_any_bytes(tmp_path: Path) -> None:
    def run(*words: bytes) -> subprocess.CompletedProcess[str]:
        launcher = [sys.executable, ROOT / "gossamer", *words]
        return subprocess.run(launcher, capture_output=True, errors="replace", check=False, cwd=tmp_path)

    here = os.fsencode(tmp_path)
    (tmp_path / os.fsdecode(b"d\xff")).mkdir()
    for source, name in (
        ("programs/hello.c", b"p\xff.c"), ("programs/hello.c", b"d\xff/p.c"), ("examples/hops/hops.h", b"h\xff.h"),
        ("examples/streams/pipeline.c", b"s\xff.c"), ("examples/mpi/halo2d.c", b"m\xff.c"),
        ("config/clusters/pair.toml", b"c\xff.toml"),
    ):  # fmt: skip
        shutil.copy(ROOT / source, here + b"/" + name)
    (tmp_path / os.fsdecode(b"g\xff.txt")).write_text("0 1\n1 0\n")
    for words in (
        b"run pagerank g\xff.txt -o o\xff.csv --stats s\xff.json --report r\xff.html",
        b"report s\xff.json",
        b"run p\xff.c -e rtl -c tiny --report p\xff.html --trace p\xff.pftrace",
        b"run p\xff.c -e fast -c tiny",
        b"run d\xff -e rtl -c tiny",
        b"run h\xff.h g\xff.txt -e rtl -c tiny",
        b"smi run s\xff.c --ranks 2 --report s\xff.html",
        b"mpi run m\xff.c -n 2 -e rtl --stats m\xff.json",
        b"routes c\xff.toml --tables c\xff.routes --json c\xff.json --plot c\xff.png",
    ):
        done = run(*words.split(b" "))
        assert done.returncode == 0, (words, done.stderr)
    for words in (b"smi ports s\xff.c", b"test \xff"):
        said(run(*words.split(b" ")), 2)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root for a small file system")
@pytest.mark.parametrize(
    ("words", "target"),
    [
        (["pagerank", "gen:ring:vertices=100000", "-k", "0", "-o", "full/a.npy"], "full/a.npy"),
        (["heat", "gen:grid:width=200,height=200", "-e", "distributed", "-n", "2", "--checkpoint", "full/saves",
          "--checkpoint-every", "5"], "full/saves"),
        ([str(ROOT / "programs/hello.c"), "-e", "rtl", "-c", "tiny", "--trace", "full/a.pftrace"], "full/a.pftrace"),
    ],
    ids=["result", "checkpoint", "trace"],
)  # fmt: skip
def test_full_disk_is_named_and_keeps_no_part(tmp_path: Path, words: list[str], target: str) -> None:
    (tmp_path / "full").mkdir()
    # The listing shows what is left; the file system is gone after the command.
    script = (
        "mount -t tmpfs -o size=64k tmpfs full && "
        'dd if=/dev/zero of=full/filler bs=1k count=48 status=none && "$@"; code=$?; find full -type f; exit $code'
    )
    launcher = [sys.executable, str(ROOT / "gossamer"), "run", *words]
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", *launcher],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    if "mount:" in done.stderr:
        pytest.skip("no mounts can be made here")
    line = said(done, 2)
    assert f"{target}: " in line and "; free space, or choose another " in line
    assert [one for one in done.stdout.splitlines() if one.startswith("full/")] == ["full/filler"]
