# SPDX-License-Identifier: Apache-2.0
"""C++ tests, each built with the library's sources and its sanitizers, and run.

One line in TESTS registers tests/cpp/<name>.cc. Programs are built as those of users are: compiled
objects come from the user's cache, and anew when a source or header that they read has changed.
A test lists the sources that it links, because sanitizers make some of them slow to compile.
For that reason the quick size uses no sanitizers and links the product's own library.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import current_size

from gossamer import builds, native
from gossamer.errors import InputError

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
WORDS = ("-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread", f"-I{ROOT}/include", f"-I{ROOT}/src")


def build(name: str, sanitizer: str) -> Path:
    """The test's program, built if needed; AssertionError with the compiler's output if that fails."""
    flags = [*FLAGS[sanitizer].split(), *WORDS]
    sources = [HERE / f"{name}.cc"]
    libraries: list[str] = []
    if sanitizer == "none":
        product = native.ensure_built()
        libraries = [str(product), f"-Wl,-rpath,{product.parent}"]
    else:
        patterns = TESTS[name].sources.split()
        sources += sorted({path for pattern in patterns for path in (ROOT / "src").glob(pattern)})

    def steps(plan: builds.Plan) -> None:
        plan.link(name, [plan.compile(source, flags) for source in sources], [*flags, *libraries])

    tag = builds.tag(*flags, *libraries, *map(str, sources))
    try:
        return builds.kept(f"tests/{sanitizer}/{name}-{tag}", steps, lambda said, _: InputError(said)) / name
    except InputError as error:
        raise AssertionError(str(error)) from None


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a test program; a data race or an invalid access ends it with SANITIZER_EXIT."""
    # The thread sanitizer requires certain address ranges; some kernels randomise addresses too widely.
    fixed = ["setarch", "-R"] if shutil.which("setarch") and program.parent.parent.name == "thread" else []
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
