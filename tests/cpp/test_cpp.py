# SPDX-License-Identifier: Apache-2.0
"""C++ tests, each built with the library's sources and its sanitizers, and run.

One line in TESTS registers tests/cpp/<name>.cc. Objects are kept per compiler and
sanitizer, and compiled anew by Ninja when a source or header that they read has changed.
A test lists the sources that it links, because sanitizers make some of them slow to compile.
For that reason the quick size uses no sanitizers and links the product's own library.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import current_size

from gossamer import native
from gossamer.builds import build_dir, compiler, lock

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent


class Cpp(NamedTuple):
    """A test's sanitizers, patterns of the library's sources that it links, and the sanitizers that --full adds."""

    sanitizers: str
    sources: str = ""
    full: str = ""


# name -> sanitizers of "address" (with undefined behaviour), "address-o1", "thread", "none"; sources below src/
TESTS: dict[str, Cpp] = {
    "aggregates": Cpp("address thread", "core/*.cc"),
    "bucket_queue": Cpp("address"),
    "check": Cpp("address thread none"),
    "core": Cpp("address thread", "core/*.cc"),
    "distributed": Cpp("none", "core/*.cc"),  # with sanitizers: test_simulated_ranks_make_no_invalid_access
    "engine": Cpp("address thread", "core/*.cc", full="none"),
    "engine_concurrent": Cpp("thread", "core/*.cc", full="none"),
    # Tests a pass that needs the optimiser's proofs; -Og makes none.
    "engine_fused": Cpp("address-o1 thread", "core/*.cc"),
    "engine_rules": Cpp("thread", "core/*.cc"),
    "graph_parse": Cpp("address thread", "core/*.cc graph/*.cc"),
    "graph_rows": Cpp("address thread", "core/*.cc graph/*.cc"),
}

FLAGS = {
    "none": "-O0 -march=native",
    # -Og compiles twice as fast as -O1 under these sanitizers, with all their checks.
    "address": "-Og -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all",
    # The use-after-scope check takes the address of every local variable, which prevents the proofs.
    "address-o1": "-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all "
    "-fno-sanitize-address-use-after-scope",
    "thread": "-O1 -g1 -fno-omit-frame-pointer -fsanitize=thread",
}
# A sanitizer's report must be distinct from a failed check, which exits 1.
SANITIZER_EXIT = 66
BUILD_RULES = """\
rule cc
  command = $cxx -std=c++20 $flags -Wall -Wextra -Wpedantic -Werror -pthread "-I$root/include" "-I$root/src" $
    -MMD -MF $out.d -c "$source" -o $out
  depfile = $out.d
  deps = gcc
rule link
  command = $cxx $flags -pthread $in $library -o $out
"""


def _escape(path: object) -> str:
    return str(path).replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def _quoted(path: Path) -> str:
    """A path as an argument of a rule's shell command."""
    return shlex.quote(str(path)).replace("$", "$$")


def _rules() -> str:
    """The build file: each source and test once for every sanitizer."""
    text = [f"cxx = {shlex.join(compiler())}", f"root = {str(ROOT).replace('$', '$$')}", BUILD_RULES]

    def compiled(source: Path, sanitizer: str) -> str:
        target = f"{sanitizer}/{source.parent.name}-{source.stem}.o"
        text.append(f"build {target}: cc {_escape(source)}")
        text.append(f"  flags = {FLAGS[sanitizer]}\n  source = {str(source).replace('$', '$$')}")
        return target

    product = native.ensure_built()
    for name in TESTS:
        text.append(f"build none/{name}: link {compiled(HERE / f'{name}.cc', 'none')} | {_escape(product)}")
        text.append(f"  flags = {FLAGS['none']}\n  library = {_quoted(product)} -Wl,-rpath,{_quoted(product.parent)}")
    for sanitizer in FLAGS.keys() - {"none"}:
        library = {path: compiled(path, sanitizer) for path in sorted((ROOT / "src").glob("*/*.cc"))}
        for name, test in TESTS.items():
            wanted = {path for pattern in test.sources.split() for path in (ROOT / "src").glob(pattern)}
            objects = [compiled(HERE / f"{name}.cc", sanitizer), *(library[path] for path in sorted(wanted))]
            text.append(f"build {sanitizer}/{name}: link {' '.join(objects)}")
            text.append(f"  flags = {FLAGS[sanitizer]}")
    return "\n".join(text) + "\n"


def _jobs() -> list[str]:
    """One job per processor; Ninja's default is two more."""
    return [f"-j{len(os.sched_getaffinity(0))}"]


def _ninja(*arguments: str) -> subprocess.CompletedProcess[str]:
    folder = build_dir() / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    with lock("tests"):
        rules = folder / "build.ninja"
        text = _rules()
        if not rules.exists() or rules.read_text() != text:
            rules.write_text(text)
        command = [Path(sys.executable).with_name("ninja"), "-C", folder, *_jobs(), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def built(request: pytest.FixtureRequest) -> None:
    """Builds all programs that this session will run at once, so that no core is idle during a long build.

    A failed build is repeated, with its message, by the tests that need it.
    """
    wanted = set()
    for item in request.session.items:
        if isinstance(item, pytest.Function) and item.originalname == "test_cpp":
            wanted.add("{sanitizer}/{name}".format(**item.callspec.params))
    _ninja("-k0", *sorted(wanted))


def build(name: str, sanitizer: str) -> Path:
    """The test's program, built if needed."""
    done = _ninja(f"{sanitizer}/{name}")
    assert done.returncode == 0, done.stdout + done.stderr
    return build_dir() / "tests" / sanitizer / name


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a test program; a data race or an invalid access ends it with SANITIZER_EXIT."""
    # The thread sanitizer requires certain address ranges; some kernels randomise addresses too widely.
    fixed = ["setarch", "-R"] if shutil.which("setarch") and program.parent.name == "thread" else []
    options = f"exitcode={SANITIZER_EXIT}:halt_on_error=1"
    environment = dict(os.environ, ASAN_OPTIONS=options, TSAN_OPTIONS=options, UBSAN_OPTIONS="print_stacktrace=1")
    return subprocess.run(
        [*fixed, program, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=current_size().pick(300, 600, 2400),
        check=False,
    )


def variants() -> list[tuple[str, str]]:
    """Each test with each sanitizer that this size builds it for."""
    size = current_size()
    return [
        (name, sanitizer)
        for name, test in TESTS.items()
        for sanitizer in size.pick("none", test.sanitizers, f"{test.sanitizers} {test.full}").split()
    ]


@pytest.mark.default_cases(
    "(?!engine_fused|graph_rows).*", seconds=60, adds="loops that need the optimiser, and rows of random graphs"
)
@pytest.mark.timeout(current_size().pick(900, 900, 3000))
@pytest.mark.parametrize(("name", "sanitizer"), variants())
@pytest.mark.usefixtures("built")
def test_cpp(name: str, sanitizer: str, seed: int) -> None:
    done = run(build(name, sanitizer), str(seed))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.tier("all", seconds=25, adds="invalid accesses of ranks whose messages are late")
@pytest.mark.timeout(900)
def test_simulated_ranks_make_no_invalid_access(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few cases: the sanitizers slow down the compilation of all vertices and each case."""
    monkeypatch.setenv("GOSSAMER_TEST_TIER", "quick")
    done = run(build("distributed", "address"), str(seed))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("fault", "sanitizer", "sign"),
    [
        ("check", "none", "is not"),
        ("overrun", "address", "heap-buffer-overflow"),
        ("overflow", "address", "signed integer overflow"),
        ("race", "thread", "data race"),
    ],
)
def test_check_program_detects_each_fault(
    fault: str, sanitizer: str, sign: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check program makes each kind of fault on request: none may pass."""
    monkeypatch.setenv("GOSSAMER_TEST_FAULT", fault)
    done = run(build("check", sanitizer))
    assert done.returncode != 0
    assert sign in done.stdout + done.stderr


def test_every_file_is_registered() -> None:
    assert {path.stem for path in HERE.glob("*.cc")} == set(TESTS)
