# SPDX-License-Identifier: Apache-2.0
"""A full disk, a checkout that cannot be written, no compiler, a build of another process: one line each."""

from __future__ import annotations

import fcntl
import os
import resource
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import ROOT, Command

from gossamer import builds
from gossamer.errors import InputError


@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_a_full_disk_is_one_line_and_leaves_no_file(ending: str, tmp_path: Path) -> None:
    target = tmp_path / f"values.{ending}"
    done = subprocess.run(
        [str(ROOT / "gossamer"), "run", "hashmin", "gen:grid:width=100,height=100", "-o", str(target)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith(f"gossamer: error: {target}: cannot be written: ")
    assert "free space" in done.stderr and list(tmp_path.iterdir()) == []


def test_a_template_that_cannot_be_written_leaves_no_folder(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "rumour"
    full = subprocess.run(
        [str(ROOT / "gossamer"), "new", str(folder)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert full.returncode == 2 and full.stderr.count("\n") == 1, full.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_is_built_runs_without_a_compiler(command: Command, tmp_path: Path) -> None:
    assert command("run", "hashmin", "gen:ring:vertices=5").returncode == 0
    for name in ("sh", "env", "true"):
        (tmp_path / name).symlink_to(os.path.realpath(shutil.which(name) or name))
    (tmp_path / "python3").symlink_to(os.path.realpath(sys.executable))
    done = command("run", "hashmin", "gen:ring:vertices=5", env={"PATH": str(tmp_path)})
    assert (done.returncode, done.stderr) == (0, "")
    named = command("run", "hashmin", "gen:ring:vertices=5", env={"PATH": str(tmp_path), "CXX": "g++"})
    assert named.returncode == 2 and "no such compiler" in named.stderr


def test_a_checkout_that_cannot_be_written_is_the_users_to_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builds, "build_dir", lambda: Path("/sys/gossamer-build"))
    monkeypatch.setattr(builds, "BUILD", Path("/sys/gossamer-build"))
    with pytest.raises(InputError, match=r"something must be built, and /sys/gossamer-build.* cannot be written"):
        builds.kept("apps/x", lambda plan: None, lambda said, log: InputError(said))


def test_waiting_for_another_build_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(builds, "build_dir", lambda: tmp_path)
    monkeypatch.delenv("GOSSAMER_PROGRESS", raising=False)
    with builds.lock("apps-x"):
        pass
    assert capsys.readouterr().err == ""
    with open(tmp_path / "apps-x.lock", "w") as held:
        held.write("4711\n")
        held.flush()
        fcntl.flock(held, fcntl.LOCK_EX)
        release = threading.Timer(0.2, lambda: fcntl.flock(held, fcntl.LOCK_UN))
        release.start()
        with builds.lock("apps-x"):
            pass
        release.join()
    assert capsys.readouterr().err == "gossamer: waiting for process 4711, which builds apps-x\n"


def test_a_full_disk_under_a_build_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(builds, "build_dir", lambda: tmp_path)

    def steps(plan: builds.Plan) -> None:
        plan.run("x", ["sh", "-c", "echo 'as: x.o: No space left on device' >&2; exit 1"], [])

    with pytest.raises(InputError, match=r"No space left on device; free space on that disk and call again"):
        builds.kept("apps/x", steps, lambda said, log: InputError(said))


@pytest.mark.parametrize("limited", [False, True])
def test_no_bytecode_is_written_where_it_could_be_truncated(limited: bool, tmp_path: Path) -> None:
    """Python keeps truncated bytecode without an error, and every later start would fail."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "gossamer"), "--version"],
        env={**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""},
        preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))) if limited else None,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert any("gossamer_setup" in path.parts for path in tmp_path.rglob("*.pyc")) != limited
