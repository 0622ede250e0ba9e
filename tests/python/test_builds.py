# SPDX-License-Identifier: Apache-2.0
"""Builds by Ninja: rebuilds after changes, paths with any character, and compilers with arguments."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from conftest import ROOT, Command

from gossamer import apps, builds, device, native
from gossamer.apps import app as app_module
from gossamer.errors import InputError
from gossamer.hdl import _run
from gossamer.hosts import pgraph
from gossamer.mpi import _host as mpi

# All characters of a name except the line feed, which make and Ninja cannot represent.
AWKWARD = "a b#c$d:e\"f'g\\h;i&j|k<l>m*n?o!p%q@r=s,t~u`v(w)x{y}z[0]^ä"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builds, "build_dir", lambda: tmp_path / "built")
    monkeypatch.setenv("GOSSAMER_CACHE", str(tmp_path / "cache"))


def failed(said: str, log: Path) -> InputError:
    return InputError(f"{said} {log}")


def program(folder: Path, flags: Sequence[str] = ()) -> str:
    """Builds main.cc and value.cc of a folder, and returns the output of the program."""

    def steps(plan: builds.Plan) -> None:
        objects = [plan.compile(folder / f"{name}.cc", flags) for name in ("main", "value")]
        plan.archive("libvalue.a", objects[1:])
        plan.link("program", [objects[0], "libvalue.a"])

    made = builds.kept("one", steps, failed)
    return subprocess.run([made / "program"], capture_output=True, text=True, check=True).stdout


def write(folder: Path, value: int) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "main.cc").write_text('#include <cstdio>\nint value();\nint main() { std::printf("%d", value()); }\n')
    (folder / "value.cc").write_text('#include "value.h"\nint value() { return VALUE; }\n')
    (folder / "value.h").write_text(f"#define VALUE {value}\n")


def times(built: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in built.iterdir() if path.suffix in (".o", ".a", "")}


def test_only_changed_files_are_compiled(tmp_path: Path) -> None:
    source, built = tmp_path / "source", tmp_path / "built" / "one"
    write(source, 1)
    assert program(source) == "1"
    first = times(built)
    assert program(source) == "1" and times(built) == first
    write(source, 22)
    os.utime(source / "main.cc", ns=(first["program"] - 10**9,) * 2)
    assert program(source) == "22"
    changed = {name for name, when in times(built).items() if when != first.get(name)}
    assert {"1-value.o", "libvalue.a", "program"} <= changed
    # Ninja does not detect a file that was replaced by an older one.
    (source / "value.h").write_text("#define VALUE 333\n")
    os.utime(source / "value.h", (1e9, 1e9))
    assert program(source) == "333"
    (source / "value.h").unlink()
    (source / "value.cc").write_text("int value() { return 4; }\n")
    assert program(source) == "4"


@pytest.mark.parametrize("left", ["half a target", "half a dependency file", "half a log"])
def test_killed_build_is_repeated(left: str, tmp_path: Path) -> None:
    source, built = tmp_path / "source", tmp_path / "built" / "one"
    write(source, 1)
    assert program(source) == "1"
    write(source, 2)
    builds.stamp(built).unlink()
    if left == "half a target":
        (built / "1-value.o").write_bytes(b"\x7fELF")
    elif left == "half a dependency file":
        (built / "1-value.o.d").write_text("1-value.o")
    else:
        (built / ".ninja_log").write_bytes((built / ".ninja_log").read_bytes()[:-7])
    assert program(source) == "2"


def test_file_changed_during_compilation_is_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is unknown which version the compiler has read."""
    source, built = tmp_path / "source", tmp_path / "built" / "one"
    write(source, 1)
    ninja = builds._ninja

    def meanwhile(folder: Path, finished: Callable[[str], object]) -> str | None:
        said = ninja(folder, finished)
        (source / "value.h").write_text("#define VALUE 22\n")
        return said

    with monkeypatch.context() as patched:
        patched.setattr(builds, "_ninja", meanwhile)
        assert program(source) == "1"
    assert program(source) == "22"
    assert builds.fresh(built)
    # A clock that is late relative to the files causes no rebuild.
    os.utime(source / "value.h", ns=(2**62, 2**62))
    assert program(source) == "22" and builds.fresh(built)


def test_files_below_usr_are_dependencies_except_headers(tmp_path: Path) -> None:
    (tmp_path / "app.d").write_text("app: /usr/bin/env /usr/include/stdio.h\n")
    builds.remember(tmp_path, [tmp_path / "app.d"], begun=time.time_ns())
    assert list(json.loads(builds.stamp(tmp_path).read_text())) == ["/usr/bin/env"]


def test_failed_build_reports_the_output_of_the_tools(tmp_path: Path) -> None:
    source = tmp_path / "source"
    write(source, 1)
    assert program(source) == "1"
    (source / "value.h").write_text("#define VALUE nonsense\n")
    with pytest.raises(InputError, match="nonsense") as caught:
        program(source)
    assert "FAILED" not in str(caught.value) and "ninja" not in str(caught.value)
    with pytest.raises(InputError, match="nonsense"):
        program(source)
    write(source, 5)
    assert program(source) == "5"


def test_dependencies_may_contain_any_character(tmp_path: Path) -> None:
    """Dependencies as the compiler writes them, for a name, and for a folder."""
    folder = tmp_path / AWKWARD
    write(folder, 1)
    (folder / "value.cc").write_text(f'#include "{AWKWARD[:9]}.h"\nint value() {{ return VALUE; }}\n')
    header = folder / f"{AWKWARD[:9]}.h"
    header.write_text("#define VALUE 5\n")
    assert program(folder, [f"-I{folder}"]) == "5"
    header.write_text("#define VALUE 66\n")
    assert program(folder, [f"-I{folder}"]) == "66"
    rule = tmp_path / "built" / "one" / "1-value.o.d"
    assert set(builds.read_by(rule.read_text())) == {str(header), str(folder / "value.cc")}


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a b", r"a\ b"),
        ("a\\b", r"a\b"),
        ("a\\ b", r"a\\\ b"),
        ("#", r"\#"),
        ("$", "$$"),
        ("a:b", "a:b"),
        ("a:b", r"a\:b"),
    ],
)
def test_escaped_dependency_is_parsed(name: str, written: str) -> None:
    assert builds.read_by(f"app: {written} \\\n /usr/x\n") == [name, "/usr/x"]


def test_path_with_a_line_feed_is_rejected(tmp_path: Path) -> None:
    write(tmp_path / "a\nb", 1)
    with pytest.raises(InputError, match="line feed"):
        program(tmp_path / "a\nb")


def test_vertices_and_host_programs_build_in_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    folder = tmp_path / AWKWARD
    folder.mkdir()
    name = f"my {AWKWARD[3:30]}"
    header = folder / f"{name}.h"
    shutil.copy(ROOT / "apps" / "hashmin" / "hashmin.h", header)
    assert apps.load(header).name == "hashmin"
    header.write_text(header.read_text().replace("recv(", "recv_(", 1))
    app_module._load.cache_clear()
    with pytest.raises(InputError) as caught:
        apps.load(header)
    assert str(caught.value).startswith(f"{header}:") or name in str(caught.value)
    source = folder / f"{name}.cpp"
    source.write_text('#include <gossamer/polite.h>\n#include <cstdio>\nint main() { std::puts("here"); }\n')
    done = subprocess.run([pgraph.compile_program(source)], capture_output=True, text=True, check=True)
    assert done.stdout == "here\n"


def test_device_and_mpi_programs_build_in_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    folder = tmp_path / AWKWARD
    folder.mkdir()
    source = folder / f"my {AWKWARD[3:30]}.c"
    (folder / "value.h").write_text("#define VALUE 1\n")
    source.write_text('#include "value.h"\nint unused(int a) { int b; return VALUE; }\nint main(void) { return 0; }\n')

    def threads() -> tuple[Path, tuple[str, ...]]:
        image = device.build([source], "tiny")
        return image.elf, image.warnings

    for build in (threads, lambda: mpi.build([str(source)])):
        made, warnings = build()
        before = made.stat().st_mtime_ns
        # Warnings are repeated if nothing is compiled, and a changed header is detected.
        assert build() == (made, warnings) and made.stat().st_mtime_ns == before
        assert len(warnings) == 1 and warnings[0].startswith(f"{source}:2: warning: ") and "b" in warnings[0]
        (folder / "value.h").write_text(f"#define VALUE 2  // {made}\n")
        build()
        assert made.stat().st_mtime_ns != before
        (folder / "value.h").write_text("#define VALUE )\n")
        with pytest.raises(InputError, match=r":[12]: expected"):
            build()
        (folder / "value.h").write_text("#define VALUE 1\n")


def test_c_compiler_variable_may_have_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "value.c"
    source.write_text('#include <stdio.h>\nint main(void) { printf("%d", VALUE); }\n')
    compiler = builds.c_compiler()[0]
    for value in ("7", "8"):
        monkeypatch.setenv("CC", f"env {compiler} -DVALUE={value}")
        program, _ = mpi.build([str(source)])
        assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == value
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(InputError, match="CC=no-such-compiler: there is no such compiler"):
        mpi.build([str(source)])


def test_cxx_compiler_variable_may_have_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    compiler = shutil.which("g++") or shutil.which("clang++")
    assert compiler
    # A path with a blank is one argument if such a file exists.
    monkeypatch.setenv("CXX", "")
    usual = builds.toolchain_key()
    (tmp_path / "my tools").mkdir()
    wrapped = tmp_path / "my tools" / "c++"
    wrapped.write_text(f'#!/bin/sh\nexec "{compiler}" "$@"\n')
    wrapped.chmod(0o755)
    keys = {usual}
    source = tmp_path / "source"
    write(source, 1)
    (source / "value.h").write_text("#ifndef VALUE\n#define VALUE 1\n#endif\n")
    for given, words, value in [
        (compiler, [compiler], "1"),
        (f"{compiler} -DVALUE=7", [compiler, "-DVALUE=7"], "7"),
        (f"'{wrapped}' '-DVALUE=8 '", [str(wrapped), "-DVALUE=8 "], "8"),
        (str(wrapped), [str(wrapped)], "1"),
        (f"env {compiler} -DVALUE=9", [shutil.which("env"), compiler, "-DVALUE=9"], "9"),
    ]:
        monkeypatch.setenv("CXX", given)
        assert builds.compiler() == words
        shutil.rmtree(tmp_path / "built", ignore_errors=True)
        assert program(source) == value
        keys.add(builds.toolchain_key())
    assert len(keys) == 5  # the usual one is the first
    monkeypatch.setenv("CXX", "no-such-compiler -O3")
    with pytest.raises(InputError, match="CXX=no-such-compiler -O3: there is no such compiler"):
        native.ensure_built()
    done = command("run", "hashmin", "gen:ring:vertices=5")
    assert done.returncode == 2 and "there is no such compiler" in done.stderr and done.stderr.count("\n") == 1
    done = command("doctor")
    assert "CXX=no-such-compiler -O3: there is no such compiler" in done.stdout + done.stderr


def test_users_code_has_the_optimisation_level_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    flags = ["-std=c++20", "-O3", "-g1"]
    monkeypatch.setenv("GOSSAMER_OPTIMISE", "0")
    assert builds.user_level(flags) == ["-std=c++20", "-O0", "-g1"]
    monkeypatch.delenv("GOSSAMER_OPTIMISE")
    assert builds.user_level(flags) == flags
    monkeypatch.setenv("GOSSAMER_OPTIMISE_APPS", "1")
    assert builds.user_level(flags) == flags
    assert builds.user_level(flags, "GOSSAMER_OPTIMISE_APPS") == ["-std=c++20", "-O1", "-g1"]
    done = command("run", "tests/fixtures/vertices/good.h", "gen:ring:vertices=5", env={"GOSSAMER_OPTIMISE": "fast"})
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "GOSSAMER_OPTIMISE is 'fast'; it must be 0, 1, 2, 3 or g" in done.stderr


def test_key_of_a_model_covers_headers_in_subfolders(tmp_path: Path) -> None:
    """A header that a harness includes through another one, with its folder in the name, not the system's."""
    (tmp_path / "include" / "deep").mkdir(parents=True)
    harness = tmp_path / "harness.cc"
    harness.write_text('#include <vector>\n  # include "near.h"\n#include <deep/first.h>\n')
    (tmp_path / "near.h").write_text('#include "harness.cc"\n')
    (tmp_path / "include" / "deep" / "first.h").write_text('#include "second.h"\n')
    (tmp_path / "include" / "deep" / "second.h").write_text("")
    (tmp_path / "include" / "unused.h").write_text("")
    found = _run.included([harness], [tmp_path, tmp_path / "include"])
    names = [path.relative_to(tmp_path.resolve()).as_posix() for path in found]
    assert names == ["harness.cc", "include/deep/first.h", "include/deep/second.h", "near.h"]
