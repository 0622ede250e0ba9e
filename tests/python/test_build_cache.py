# SPDX-License-Identifier: Apache-2.0
"""The build cache of a user: its entries and their verification; no fault of the cache prevents a build."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from conftest import Command

from gossamer import build_cache, builds, step_cache
from gossamer.build_cache import Cache
from gossamer.errors import InputError

LAYOUT = build_cache.FORMAT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a product in it."""
    place = tmp_path / "made"
    (place / "sub").mkdir(parents=True)
    (place / "program").write_bytes(b"\x7fELF" * 1000)
    (place / "program").chmod(0o755)
    (place / "sub" / "data").write_text("data")
    return place


FILES = ("program", "sub/data")


def stored(tmp_path: Path, folder: Path, **how: int) -> Cache:
    cache = Cache(tmp_path / "cache", **how)
    cache.store("kind", "key", folder, FILES)
    return cache


def test_stored_entry_is_restored_with_contents_and_modes(tmp_path: Path, folder: Path) -> None:
    cache = stored(tmp_path, folder)
    target = tmp_path / "target"
    assert cache.restore("kind", "key", target)
    for name in FILES:
        assert (target / name).read_bytes() == (folder / name).read_bytes()
        assert stat.S_IMODE((target / name).stat().st_mode) == stat.S_IMODE((folder / name).stat().st_mode)
    assert not cache.restore("kind", "other", target) and not cache.restore("other", "key", target)


@pytest.mark.parametrize("damage", ["a bit", "cut", "manifest", "a file is missing"])
def test_damaged_entry_is_never_restored(
    damage: str, tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = stored(tmp_path, folder)
    entry = cache.root / "kind" / "key"
    if damage == "a bit":
        data = bytearray((entry / "program").read_bytes())
        data[17] ^= 1
        (entry / "program").write_bytes(data)
    elif damage == "cut":
        (entry / "program").write_bytes(b"\x7fELF")
    elif damage == "manifest":
        (entry / "manifest.json").write_text((entry / "manifest.json").read_text()[:-9])
    else:
        (entry / "sub" / "data").unlink()
    target = tmp_path / "target"
    assert not cache.restore("kind", "key", target)
    assert [path for path in target.rglob("*") if path.is_file()] == []
    said = capsys.readouterr().err
    if damage != "a file is missing":  # as if it were evicted just now
        assert said.count("\n") == 1 and "is damaged; it is removed and built again" in said
        assert not entry.exists()
        cache.store("kind", "key", folder, FILES)
        assert cache.restore("kind", "key", target)


def _not_writable(root: Path) -> None:
    root.parent.mkdir(exist_ok=True)
    root.write_text("a file")


def _another_version(root: Path) -> None:
    root.mkdir()
    (root / "FORMAT").write_text("0\n")


def _something_else(root: Path) -> None:
    root.mkdir()
    (root / "letters").mkdir()


@pytest.mark.parametrize("wrong", [_not_writable, _another_version, _something_else])
def test_unusable_cache_is_reported_once(
    wrong, tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "cache"
    wrong(root)
    before = sorted(root.rglob("*")) if root.is_dir() else root.read_text()
    cache = Cache(root)
    cache.store("kind", "key", folder, FILES)
    assert not cache.restore("kind", "key", tmp_path / "target")
    assert cache.dependencies("key") == []
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and str(root) in said and "building without it" in said
    assert before == (sorted(root.rglob("*")) if root.is_dir() else root.read_text())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device without space")
def test_full_disk_leaves_no_partial_entry(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = Cache(tmp_path / "cache")
    assert cache.usable()

    def full(source: Path, target: Path) -> tuple[int, str]:
        with open("/dev/full", "wb", buffering=0) as file:
            file.write(source.read_bytes())
        raise AssertionError("the device has space")

    monkeypatch.setattr(cache, "_copy", full)
    cache.store("kind", "key", folder, FILES)
    assert list((cache.root / "kind").iterdir()) == []
    assert "No space left on device; building without it" in capsys.readouterr().err


def test_least_recently_used_entries_are_evicted_first(tmp_path: Path, folder: Path) -> None:
    size = sum((folder / name).stat().st_size for name in FILES)
    cache = Cache(tmp_path / "cache", limit=5 * size + 2000)
    for number in range(4):
        cache.store("kind", f"{number}", folder, FILES)
        os.utime(cache.root / "kind" / f"{number}" / "manifest.json", (1000 + number, 1000 + number))
    assert cache.restore("kind", "0", tmp_path / "target")  # used just now
    for number in range(4, 7):
        cache.store("kind", f"{number}", folder, FILES)
    left = {path.name for path in (cache.root / "kind").iterdir()}
    assert "0" in left and "6" in left and "1" not in left and "2" not in left
    total = sum(path.stat().st_size for path in (cache.root / "kind").rglob("*") if path.is_file())
    assert total <= cache.limit


def _many(root: Path, folder: Path, seed: int) -> None:
    cache = Cache(root, limit=60_000)
    target = root.with_name(f"target-{seed}")
    for number in range(60):
        key = f"{(seed * 7 + number) % 20}"
        if cache.restore("kind", key, target):
            assert (target / "program").read_bytes() == (folder / "program").read_bytes()
        else:
            cache.store("kind", key, folder, FILES)


def test_processes_share_a_cache_while_entries_are_evicted(tmp_path: Path, folder: Path) -> None:
    """The cache holds half of the entries, so stores, restores and evictions are concurrent."""
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_many, args=(tmp_path / "cache", folder, seed)) for seed in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0] * 4
    for entry in (tmp_path / "cache" / "kind").iterdir():
        assert not entry.name.startswith(".tmp-"), "a temporary folder is left"
        assert json.loads((entry / "manifest.json").read_text())["files"].keys() == set(FILES)


@pytest.mark.parametrize(("text", "size"), [("1000", 1000), ("3M", 3 << 20), ("2G", 2 << 30)])
def test_cache_limit_accepts_units(text: str, size: int) -> None:
    assert build_cache.parse_limit(text) == size


@pytest.mark.parametrize("text", ["", "5T", "-1", "1.5G", "much"])
def test_invalid_cache_limit_is_an_input_error(text: str) -> None:
    with pytest.raises(InputError, match="GOSSAMER_CACHE_SIZE="):
        build_cache.parse_limit(text)


def test_environment_moves_or_disables_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_CACHE", str(tmp_path / "moved"))
    assert build_cache.cache().root == tmp_path / "moved"
    monkeypatch.setenv("GOSSAMER_CACHE", "off")
    assert not build_cache.cache().usable()
    monkeypatch.setenv("GOSSAMER_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert build_cache.cache().root == tmp_path / "gossamer"
    monkeypatch.setenv("GOSSAMER_CACHE", "somewhere")
    with pytest.raises(InputError, match="must be off, or the absolute path"):
        build_cache.cache()


# ---- Compilations -------------------------------------------------------------------


def _program(source: Path) -> str:
    def steps(plan: builds.Plan) -> None:
        plan.link("program", [plan.compile(source / "main.cc", ["-g"])])

    def failed(said: str, log: Path) -> InputError:
        return InputError(f"{said} {log}")

    return subprocess.run([builds.kept("one", steps, failed) / "program"], capture_output=True, text=True).stdout


def _write(folder: Path, value: int) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "main.cc").write_text('#include "value.h"\n#include <cstdio>\nint main() { std::printf("%d", VALUE); }\n')
    (folder / "value.h").write_text(f"#define VALUE {value}\n")


def test_second_checkout_reuses_objects_but_not_for_other_headers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checkouts with the same sources, then with a different header that only the compiler knows."""
    monkeypatch.setenv("GOSSAMER_CACHE", str(tmp_path / "cache"))
    compiled: list[str] = []
    store = step_cache.Step.store
    monkeypatch.setattr(
        step_cache.Step, "store", lambda step, files: (compiled.append(step.target), store(step, files))[1]
    )
    for name, value, expected in (("a", 1, 1), ("b", 1, 0), ("c", 2, 1), ("d", 1, 0), ("e", 2, 0)):
        root = tmp_path / name
        monkeypatch.setattr(step_cache, "ROOT", root)
        monkeypatch.setattr(builds, "build_dir", lambda root=root: root / "build")
        root.mkdir()
        _write(root / "source", value)
        compiled.clear()
        assert _program(root / "source") == str(value)
        assert len(compiled) == expected, f"checkout {name} compiled {compiled}"
        program = (root / "build" / "one" / "0-main.o").read_bytes()
        assert str(tmp_path).encode() not in program, "the path of a checkout is in an object"


def test_interrupted_build_resumes_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the cache: finished objects are not compiled again, partial ones are."""
    monkeypatch.setenv("GOSSAMER_CACHE", "off")
    monkeypatch.setattr(builds, "build_dir", lambda: tmp_path / "build")
    names = [f"part{number}" for number in range(6)]
    for name in names:
        (tmp_path / f"{name}.cc").write_text(f"int {name}() {{ return 1; }}\n")
    (tmp_path / "part3.cc").write_text("#error stopped here\n")

    def build() -> Path:
        def steps(plan: builds.Plan) -> None:
            plan.archive("lib.a", [plan.compile(tmp_path / f"{name}.cc", [], f"{name}.o") for name in names])

        return builds.kept("one", steps, lambda said, log: InputError(said))

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    with pytest.raises(InputError, match="stopped here"):
        build()
    folder = tmp_path / "build" / "one"
    finished = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.o")}
    assert len(finished) >= 3
    # The state after a kill: an object without an entry in the journal.
    (folder / "part5.o").write_bytes(b"half")
    (tmp_path / "part3.cc").write_text("int part3() { return 1; }\n")
    build()
    assert {name: (folder / name).stat().st_mtime_ns for name in finished} == finished
    assert (folder / "part5.o").read_bytes() != b"half"


# ---- The command ----------------------------------------------------------------------


def test_clean_removes_only_a_cache(tmp_path: Path, folder: Path, command: Command) -> None:
    cache = stored(tmp_path, folder)
    environment = {"GOSSAMER_CACHE": str(cache.root)}
    done = command("clean", "--cache", env=environment)
    assert done.returncode == 0 and done.stdout.startswith("removed ") and not cache.root.exists()
    assert command("clean", "--cache", env=environment).returncode == 0
    shutil.copytree(folder, cache.root)
    refused = command("clean", "--cache", env=environment)
    assert refused.returncode == 2 and "is no build cache" in refused.stderr
    assert (cache.root / "program").exists()
    assert command("clean", "--cache", "hdl", env=environment).returncode == 2
    assert command("clean", "--cache", env={"GOSSAMER_CACHE": "off"}).returncode == 2
