# SPDX-License-Identifier: Apache-2.0
"""The bundled graph and the script that generates it.

References: NetworkX's reader and PageRank, dpkg's order of versions, and apt's
dependencies if this machine has the index from which the graph was generated.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import importlib.util
import lzma
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import networkx
import pytest

from gossamer.graph._adjlist import FIRST_LINE, read_adjlist
from gossamer.paths import DATA, ROOT

GRAPH = DATA / "debian12.adj.gz"
SCRIPT = ROOT / "tools" / "debian_graph.py"


@functools.cache
def text() -> bytes:
    return gzip.decompress(GRAPH.read_bytes())


@functools.cache
def header() -> dict[str, str]:
    lines = text().decode().split("\n")
    return dict(re.findall(r"^# ([^:\n]+): (.+)$", "\n".join(x for x in lines if x.startswith("#")), re.M))


@functools.cache
def theirs() -> Any:
    """The graph as NetworkX reads it from the file."""
    return networkx.read_adjlist(GRAPH, create_using=networkx.DiGraph)


@functools.cache
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("debian_graph", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["debian_graph"] = module
    spec.loader.exec_module(module)
    return module


# The file


def test_bundled_graph_is_small_and_states_its_source() -> None:
    assert GRAPH.stat().st_size <= 2_000_000
    assert text().startswith(FIRST_LINE + b"\n")
    assert re.fullmatch(r"Debian 12\.\d+ \(bookworm\), main, amd64, package index", header()["source"])
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", header()["date"])
    assert re.fullmatch(r"[0-9a-f]{64}", header()["index-sha256"])
    assert "licence" in header()
    assert b"://" not in text()


def test_counts_match_the_header() -> None:
    graph = theirs()
    assert (len(graph), graph.size()) == (int(header()["vertices"]), int(header()["edges"]))
    assert len(graph) > 60_000 and graph.size() > 250_000
    # NetworkX merges duplicates, so equal counts also show that there are none.
    assert networkx.number_of_selfloops(graph) == 0


def test_reader_matches_networkx() -> None:
    read = read_adjlist(text(), str(GRAPH))
    labels = read.labels.tolist()
    assert labels == sorted(labels)
    bounds = read.offsets.tolist()
    ours = {
        label: {labels[t] for t in read.targets[bounds[v] : bounds[v + 1]].tolist()} for v, label in enumerate(labels)
    }
    assert ours == {node: set(neighbours) for node, neighbours in theirs().adjacency()}


def test_known_dependencies_are_present() -> None:
    graph = theirs()
    for source, target in (
        ("python3", "python3-minimal"),  # a name with a version
        ("bash", "base-files"),  # Pre-Depends
        ("libc6", "libgcc-s1"),
        ("libgcc-s1", "libc6"),  # a cycle, as it is in Debian
        ("git", "perl"),
        ("perl", "perl-base"),
        ("xserver-xorg", "xserver-xorg-core"),
    ):
        assert graph.has_edge(source, target), (source, target)
    for source, target in (("python3", "python3-doc"), ("bash", "bash-completion"), ("git", "git-doc")):
        assert target in graph and not graph.has_edge(source, target), (source, target)  # only suggested
    assert "mail-transport-agent" not in graph and "debconf-2.0" not in graph  # virtual
    assert len(graph["dpkg-dev"]) > 5 and len(graph["tzdata"]) <= 2


def test_libc6_ranks_first() -> None:
    ranks: dict[str, float] = networkx.pagerank(theirs())
    assert max(ranks, key=lambda name: ranks[name]) == "libc6"


@functools.cache
def apt_has_the_index() -> str:
    """The reason why apt cannot be a reference here; empty if it can."""
    if not shutil.which("apt-cache") or not shutil.which("apt-get"):
        return "no apt on this machine"
    try:
        index, _ = script().apt_index()
        raw = script().read_bytes(index)
    except script().BadIndex as error:
        return str(error)
    if hashlib.sha256(raw).hexdigest() != header()["index-sha256"]:
        return "apt's index on this machine is of another day than the bundled graph"
    return ""


def test_dependencies_match_apt(size: Any) -> None:
    if reason := apt_has_the_index():
        pytest.skip(reason)
    graph, seed = theirs(), 12
    names = random.Random(seed).sample(sorted(graph), size.pick(200, 1000, 5000))
    names += ["python3", "bash", "exim4-base", "git", "apt", "sudo", "ghc", "libghc-aeson-dev", "emacs-gtk"]
    shown = subprocess.run(["apt-cache", "show", "--no-all-versions", *names], capture_output=True, text=True,
                           check=True).stdout  # fmt: skip
    files = dict(re.findall(r"^Package: (\S+)$.*?^Filename: (\S+)$", shown, re.M | re.S))
    options = [f"--no-{kind}" for kind in
               ("recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")]  # fmt: skip
    listed = subprocess.run(["apt-cache", "depends", *options, *names], capture_output=True, text=True,
                            check=True).stdout  # fmt: skip
    judged = 0
    for name, lines in re.findall(r"^(\S+)\n((?: .*\n)*)", listed.replace(":any", ""), re.M):
        if not files[name].startswith("pool/main/"):
            continue  # apt would install it from another archive, the security one say
        # " |Depends: a" is an alternative with more after it; "    b" provides the name above.
        must: set[str] = set()
        may: set[str] = set()
        more = False
        for bar, target, provider in re.findall(r"^ ([ |])(?:Pre)?Depends: (\S+)$|^    (\S+)$", lines, re.M):
            may.add(provider or target)
            if target:
                if not more and bar == " " and target in graph and target != name:
                    must.add(target)
                more = bar == "|"
        ours = set(graph[name])
        assert must <= ours, f"{name} (seed {seed}) lacks {sorted(must - ours)}"
        assert ours <= may, f"{name} (seed {seed}) has {sorted(ours - may)} beyond apt's"
        judged += 1
    assert judged >= 150


def test_script_reproduces_the_bundled_graph(tmp_path: Path) -> None:
    if reason := apt_has_the_index():
        pytest.skip(reason)
    out = tmp_path / "again.adj"
    subprocess.run([sys.executable, str(SCRIPT), "-o", str(out)], check=True, capture_output=True)
    assert out.read_bytes() == text()


# The script

INDEX = """\
Package: app
Version: 1.0-1
Pre-Depends: dpkg
Depends: lib (>= 2), tool:any | other, mta, nothing | lib, gone (= 3), app
Description: an app
 Depends: this is a continuation, not a field

Package: lib
Version: 2.0~rc1
Depends: old (<< 1.5), lib-abi-7 (= 7), app-plugin

Package: lib
Version: 1:1.0
Depends: dpkg, mta, mta-extra

Package: dpkg
Version: 1
Priority: required

Package: old
Version: 1.10
Depends: newer (>= 5) | dpkg, never-there

Package: newer
Version: 4

Package: other
Version: 1

Package: zmail
Version: 1
Priority: important
Provides: mta, app-plugin (= 1)

Package: amail
Version: 1
Provides: mta, mta-extra, tool (= 2)
Depends: mta
"""

EDGES = """\
amail
app amail dpkg lib
dpkg
lib amail dpkg
newer
old dpkg
other
zmail
"""


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], capture_output=True, text=True,
                          check=False)  # fmt: skip


def test_script_applies_the_rules_to_a_handmade_index(tmp_path: Path) -> None:
    (tmp_path / "Packages").write_text(INDEX)
    done = run(tmp_path / "Packages", "-o", tmp_path / "out.adj")
    assert done.returncode == 0, done.stderr
    made = (tmp_path / "out.adj").read_text()
    # lib 1:1.0 is greater than 2.0~rc1. app: of tool|other, tool is provided by amail; mta then is met by
    # amail too, which app needs anyway; nothing|lib is lib; gone is unmet. lib: mta-extra has amail alone,
    # which then serves as mta. amail provides its own mta. old: newer 4 is too old for >= 5.
    assert "".join(x + "\n" for x in made.splitlines() if not x.startswith("#")) == EDGES
    assert "# vertices: 8\n# edges: 6\n" in made
    assert "# dependencies that nothing in the index meets, left out: 2\n" in made
    assert "# dependencies met by a provided name: 5\n" in made


def test_provider_is_chosen_by_priority_then_name(tmp_path: Path) -> None:
    index = "Package: a\nVersion: 1\nDepends: v\n\n" + "".join(
        f"Package: {name}\nVersion: 1\nPriority: {priority}\nProvides: v\n\n"
        for name, priority in (("b", "optional"), ("c", "standard"), ("e", "important"), ("d", "important"))
    )
    (tmp_path / "Packages").write_text(index)
    assert run(tmp_path / "Packages", "-o", tmp_path / "o.adj").returncode == 0
    assert "\na d\n" in (tmp_path / "o.adj").read_text()


def test_compression_of_the_index_does_not_change_the_output(tmp_path: Path) -> None:
    raw = INDEX.encode()
    (tmp_path / "plain").write_bytes(raw)
    (tmp_path / "gz").write_bytes(gzip.compress(raw))
    (tmp_path / "xz").write_bytes(lzma.compress(raw))
    for name in ("plain", "gz", "xz"):
        assert run(tmp_path / name, "-o", tmp_path / f"{name}.adj.gz").returncode == 0
    made = {(tmp_path / f"{name}.adj.gz").read_bytes() for name in ("plain", "gz", "xz")}
    assert len(made) == 1
    assert run(tmp_path / "plain", "-o", tmp_path / "o.adj.xz").returncode == 0
    assert lzma.decompress((tmp_path / "o.adj.xz").read_bytes()) == gzip.decompress(made.pop())


def test_release_file_names_and_dates_the_index(tmp_path: Path) -> None:
    (tmp_path / "Packages").write_text(INDEX)
    digest = hashlib.sha256(INDEX.encode()).hexdigest()
    release = "Origin: Debian\nVersion: 12.9\nCodename: bookworm\nDate: Sat, 11 Jan 2025 10:16:37 UTC\n"
    (tmp_path / "InRelease").write_text(f"{release} {digest} 99 main/binary-amd64/Packages\n")
    done = run(tmp_path / "Packages", "--release", tmp_path / "InRelease", "-o", tmp_path / "o.adj")
    assert done.returncode == 0, done.stderr
    made = (tmp_path / "o.adj").read_text()
    assert "# source: Debian 12.9 (bookworm), main" in made and "# date: 2025-01-11\n" in made
    (tmp_path / "InRelease").write_text(release)
    done = run(tmp_path / "Packages", "--release", tmp_path / "InRelease", "-o", tmp_path / "p.adj")
    assert done.returncode == 2 and digest in done.stderr and not (tmp_path / "p.adj").exists()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "contains no package"),
        (b"hello\n", ":1: not a 'Field: value' line"),
        (b"Package: a\nVersion: 1\n\nPackage: b\n", ":4: the stanza lacks Package or Version"),
        (b"Package: a\nVersion: 1\nDepends: b (>= \n", "cannot read the dependency 'b (>='"),
        (b"Package: a\nVersion: x:1\n\nPackage: a\nVersion: 1\n", "epoch that is not a number"),
        (gzip.compress(INDEX.encode())[:-20], "cannot be decompressed"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_invalid_index_is_reported_in_one_line(tmp_path: Path, content: bytes, what: str) -> None:
    (tmp_path / "Packages").write_bytes(content)
    done = run(tmp_path / "Packages", "-o", tmp_path / "out.adj")
    assert done.returncode == 2
    assert what in done.stderr and done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Packages"]


def test_missing_input_and_unwritable_output_are_reported(tmp_path: Path) -> None:
    assert run(tmp_path / "none", "-o", tmp_path / "out.adj").returncode == 2
    (tmp_path / "Packages").write_text(INDEX)
    done = run(tmp_path / "Packages", "-o", tmp_path / "no" / "out.adj")
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_version_order_matches_dpkg(size: Any) -> None:
    if not shutil.which("dpkg"):
        pytest.skip("no dpkg on this machine")
    seed = 7
    rng = random.Random(seed)
    for case in range(size.pick(60, 300, 3000)):
        a, b = (
            rng.choice(("", "0:", "1:"))
            + rng.choice("012")
            + "".join(rng.choice("0019a~+.z-") for _ in range(rng.randrange(6))).rstrip("-")
            for _ in range(2)
        )
        relation = rng.choice(("<<", "<=", "=", ">=", ">>"))
        judged = subprocess.run(["dpkg", "--compare-versions", a, relation, b], check=False).returncode == 0
        assert script().satisfies(a, relation, b) == judged, f"seed {seed} case {case}: {a} {relation} {b}"
