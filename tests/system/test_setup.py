# SPDX-License-Identifier: Apache-2.0
"""Set-up in copies of the checkout: first use, no network, interruptions, the lock, bundles.

The copies have small groups (one tiny package each, with the real pins and hashes), so
that the tests run the real code in a short time. The full size sets up the real core
from an empty folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import ROOT, Size

# The tests share a checkout, and each finds it as those before it in the file have left it.
pytestmark = pytest.mark.xdist_group("setup")

# Nothing listens at this address: any use of the network fails at once.
NO_NETWORK = {
    **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9"),
    "no_proxy": "",
    "NO_PROXY": "",
    "PIP_NO_CACHE_DIR": "1",
    "PIP_NO_INDEX": "1",
    "PIP_FIND_LINKS": "",
}


def pins(group: str, *packages: str) -> str:
    """The real requirement lines of a few packages."""
    text = (ROOT / "requirements" / f"{group}.txt").read_text()
    found = [re.search(rf"^{name}==(?:.*\\\n)+.*\n", text, re.MULTILINE) for name in packages]
    return "".join(match[0] for match in found if match)


class Checkout:
    """A copy of the files that the command needs, with small groups."""

    def __init__(self, root: Path, source: Path = ROOT) -> None:
        self.root = root
        self.env = root / ".gossamer" / "env"
        for part in ("python/gossamer", "python/gossamer_setup", "requirements"):
            shutil.copytree(source / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy2(source / "gossamer", root / "gossamer")
        self.requirements = {"core": pins("core", "click")}
        self.requirements |= {"test": pins("test", "iniconfig"), "peers": pins("test", "pluggy")}
        # A group that shares packages with two others.
        self.requirements |= {"plot": pins("core", "click") + pins("test", "iniconfig", "packaging")}
        self.restore()

    def restore(self) -> None:
        """Restores the requirement files."""
        for group, text in self.requirements.items():
            (self.root / "requirements" / f"{group}.txt").write_text(text)

    def start(self, *arguments: str, **env: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(self.root / "gossamer"), *arguments],
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        child = self.start(*arguments, **env)
        out, err = child.communicate(timeout=300)
        return subprocess.CompletedProcess(child.args, child.returncode, out, err)

    def stamp(self, group: str) -> Path:
        return self.env / "gossamer-groups" / group

    @property
    def log(self) -> Path:
        """Begins anew with each installation."""
        return self.root / ".gossamer" / "setup.log"

    def remove(self, name: str) -> None:
        """Takes a package out, so that the next call must fetch it."""
        for folder in self.env.glob(f"lib/python*/site-packages/{name}*"):
            shutil.rmtree(folder)

    def files(self, name: str) -> dict[str, tuple[bytes, int]]:
        """The files of a package and of its metadata, and when each was written."""
        paths = [path for path in self.env.glob(f"lib/python*/site-packages/{name}*/**/*") if path.is_file()]
        kept = (path for path in paths if "__pycache__" not in path.parts)
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in kept}

    def imports(self, module: str) -> bool:
        command = [str(self.env / "bin" / "python"), "-I", "-c", f"import {module}"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def package(self, name: str) -> Path:
        (folder,) = self.env.glob(f"lib/python*/site-packages/{name}")
        return folder

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        with open(self.root / ".gossamer" / "lock", "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def assert_unlocked(self) -> None:
        """No installer remains: it would hold the lock."""
        with open(self.root / ".gossamer" / "lock") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def wait_for(self, path: Path, child: subprocess.Popen[str]) -> None:
        """Waits until a file exists; the child must still run."""
        deadline = time.monotonic() + 60
        while not path.exists():
            assert child.poll() is None and time.monotonic() < deadline, child.communicate()
            time.sleep(0.001)


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A copy that the first use has set up; the path has a blank in it."""
    checkout = Checkout(tmp_path_factory.mktemp("first") / "a checkout")
    assert not (checkout.root / ".gossamer").exists()
    done = checkout("bench", "--list")
    assert done.returncode == 0, done.stderr
    assert re.search(r"group core: 1 packages, [\d.]+ MB", done.stderr)
    return checkout


@pytest.fixture
def checkout(ready: Checkout) -> Checkout:
    """The same copy with only its core."""
    for group in ("test", "peers", "plot"):
        ready.stamp(group).unlink(missing_ok=True)
    for package in ("iniconfig", "pluggy", "packaging"):
        ready.remove(package)
    ready.log.unlink(missing_ok=True)
    ready.restore()
    assert ready.stamp("core").exists()
    return ready


def test_commands_that_need_no_environment_create_none(tmp_path: Path) -> None:
    """These commands do not even create the folder."""
    checkout = Checkout(tmp_path / "new")
    for arguments in (["--version"], ["--help"], [], ["doctor"], ["setup", "--help"]):
        assert checkout(*arguments, **NO_NETWORK).returncode == 0
    for command in ("test", "run", "bench"):
        done = checkout(command, "--help", **NO_NETWORK)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.endswith("Its options are shown after: ./gossamer setup core\n")
    for arguments in (["runn"], ["setup", "nope"], ["setup", "--nope"]):
        assert checkout(*arguments, **NO_NETWORK).returncode == 2
    assert not (checkout.root / ".gossamer").exists()


def test_clean_removes_only_build_output(tmp_path: Path) -> None:
    """Also without an environment; a running build is not touched."""
    checkout = Checkout(tmp_path / "new")
    build = checkout.root / "build"
    done = checkout("clean", **NO_NETWORK)
    assert (done.returncode, done.stderr) == (0, "") and "removed 0.0 MB" in done.stdout
    for key in ("a" * 12, "b" * 12):
        for part in ("apps/x", "hdl/y"):
            (build / key / part).mkdir(parents=True)
            (build / key / part / "file").write_bytes(bytes(500_000))
        (build / key / "lib.lock").touch()
    (build / ".removing-1-apps").mkdir()
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "kept").touch()
    (build / ("a" * 12) / "link").symlink_to(tmp_path / "far")

    listed = checkout("clean", "--list", **NO_NETWORK)
    assert listed.returncode == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()[:-1]] == ["apps", "hdl", "link"]
    assert (build / ("b" * 12) / "apps" / "x" / "file").exists()
    wrong = checkout("clean", "nothing", **NO_NETWORK)
    assert wrong.returncode == 2 and "build/ has no part 'nothing'; there are: apps, hdl, link" in wrong.stderr

    with open(build / ("b" * 12) / "lib.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        busy = checkout("clean", **NO_NETWORK)
        assert busy.returncode == 2 and "something is being built (build/bbbbbbbbbbbb/lib.lock" in busy.stderr
    assert (build / ("a" * 12) / "apps" / "x" / "file").exists()

    assert checkout("clean", "apps", **NO_NETWORK).returncode == 0
    assert sorted(path.name for path in (build / ("b" * 12)).iterdir()) == ["hdl", "lib.lock"]
    done = checkout("clean", **NO_NETWORK)
    assert (done.returncode, done.stderr) == (0, "") and "removed 1.0 MB" in done.stdout
    assert sorted(path.name for path in build.rglob("*")) == ["a" * 12, "b" * 12, "lib.lock", "lib.lock"]
    assert (tmp_path / "far" / "kept").exists()
    assert not (checkout.root / ".gossamer").exists()


def test_second_use_needs_no_network_and_prints_nothing(checkout: Checkout) -> None:
    done = checkout("bench", "--list", **NO_NETWORK)
    assert (done.returncode, done.stderr) == (0, "")
    done = checkout("setup", **NO_NETWORK)
    assert (done.returncode, done.stdout, done.stderr) == (0, "already there: core\n", "")


def test_help_installs_nothing(checkout: Checkout) -> None:
    done = checkout("test", "--help", **NO_NETWORK)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--mutants" in done.stdout
    assert not checkout.stamp("test").exists()


def test_requested_group_is_installed(checkout: Checkout) -> None:
    done = checkout("setup", "test")
    assert done.returncode == 0, done.stderr
    assert checkout.imports("iniconfig")
    assert checkout.stamp("test").read_bytes() == (checkout.root / "requirements/test.txt").read_bytes()


def test_require_installs_only_within_the_environment(checkout: Checkout) -> None:
    python = str(checkout.env / "bin" / "python")
    script = "import gossamer_setup as s; s.require('peers'); import pluggy"
    done = subprocess.run([python, "-I", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert checkout.stamp("peers").exists()
    outside = f"import sys; sys.path.insert(0, {str(checkout.root / 'python')!r}); {script}"
    done = subprocess.run([sys.executable, "-I", "-c", outside], capture_output=True, text=True, check=False)
    assert "is not Gossamer's own Python" in done.stderr


def test_changed_requirements_reinstall_only_their_group(checkout: Checkout) -> None:
    assert checkout("setup", "test").returncode == 0
    core = checkout.stamp("core").stat().st_mtime_ns
    requirements = checkout.root / "requirements" / "test.txt"
    requirements.write_text(requirements.read_text() + "# another day\n")
    assert "installed for older requirements" in checkout("doctor").stdout
    done = checkout("setup", "test")
    assert done.returncode == 0
    assert "group test" in done.stderr and "group core" not in done.stderr
    assert checkout.stamp("core").stat().st_mtime_ns == core
    assert checkout.stamp("test").read_bytes() == requirements.read_bytes()


@pytest.mark.parametrize("delay", [0, 0.002, 0.01, 0.1])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_next_call_completes_an_interrupted_setup(
    checkout: Checkout, number: signal.Signals, code: int, delay: float
) -> None:
    """With the short delays the signal arrives while the installer is started."""
    child = checkout.start("setup", "test")
    checkout.wait_for(checkout.log, child)
    time.sleep(delay)
    child.send_signal(number)
    child.communicate(timeout=60)
    assert child.returncode == code
    assert not checkout.stamp("test").exists()
    checkout.assert_unlocked()
    assert checkout("setup", "test").returncode == 0
    assert checkout.imports("iniconfig") and not list((checkout.root / ".gossamer").glob("staging-*"))


def test_partially_copied_package_is_reinstalled(checkout: Checkout) -> None:
    """The record of the package exists but a file is missing, so the installer considers it complete."""
    assert checkout("setup", "test").returncode == 0
    (checkout.package("iniconfig") / "__init__.py").unlink()
    done = checkout("setup", "test")
    assert done.returncode == 0 and "group test is damaged (iniconfig: iniconfig/__init__.py missing" in done.stderr
    assert (checkout.package("iniconfig") / "__init__.py").exists()


@pytest.mark.default_cases("no network|interrupted", seconds=6, adds="failed and killed installers, a full disk")
@pytest.mark.parametrize("how", ["no network", "interrupted", "killed", "wrong digest", "full disk"])
def test_a_failed_group_leaves_the_packages_of_others_untouched(checkout: Checkout, how: str) -> None:
    """Twice: the second call finds what the first one left."""
    assert checkout("setup", "test").returncode == 0
    before = checkout.files("click") | checkout.files("iniconfig")
    requirements = checkout.root / "requirements" / "plot.txt"
    for _ in range(2):
        checkout.log.unlink()
        if how == "no network":
            done = checkout("setup", "plot", **NO_NETWORK)
            assert done.returncode == 2 and len(done.stderr.splitlines()) == 2, done.stderr
        elif how == "wrong digest":
            text = checkout.requirements["plot"]
            requirements.write_text(
                re.sub(r"(packaging==.*\n(?:.*\n)*)", "", text) + "packaging==1.0 --hash=sha256:00\n"
            )
            assert checkout("setup", "plot").returncode == 2
        elif how == "full disk":
            program = [sys.executable, str(checkout.root / "gossamer"), "setup", "plot"]
            limit = "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)); "
            limit += "os.execv(sys.argv[1], sys.argv[1:])"
            full = subprocess.run([sys.executable, "-c", limit, *program], capture_output=True, text=True, check=False)
            assert full.returncode == 2 and "Traceback" not in full.stderr, full.stderr
        else:
            child = checkout.start("setup", "plot")
            checkout.wait_for(checkout.log, child)
            time.sleep(0.3)
            child.send_signal(signal.SIGINT if how == "interrupted" else signal.SIGKILL)
            child.communicate(timeout=60)
        assert checkout.files("click") | checkout.files("iniconfig") == before
    checkout.restore()
    assert checkout("setup", "plot").returncode == 0
    assert checkout.files("click") | checkout.files("iniconfig") == before
    assert checkout.imports("packaging")


@pytest.mark.default_cases("metadata|changed", seconds=9, adds="further kinds of damage")
@pytest.mark.parametrize("damage", ["metadata", "record", "missing", "cut", "changed"])
def test_a_damaged_group_is_reported_and_repaired(checkout: Checkout, damage: str) -> None:
    """By its next use with one line; a change that keeps the size is found by doctor and setup."""
    assert checkout("setup", "plot").returncode == 0
    other = checkout.files("iniconfig")
    info = checkout.package("click-*.dist-info")
    module = checkout.package("click") / "core.py"
    good = module.read_bytes()
    if damage == "metadata":
        shutil.rmtree(info)
    elif damage == "record":
        (info / "RECORD").write_bytes((info / "RECORD").read_bytes()[:100])
    elif damage == "missing":
        module.unlink()
    else:
        module.write_bytes(good[:1000] if damage == "cut" else good.replace(b"import", b"imoprt", 1))
    said = checkout("doctor")
    assert said.returncode == 2 and re.search(
        r"^DAMAGED group core +.*click.*\n +-> ./gossamer setup core", said.stdout, re.M
    )
    assert re.search(r"^DAMAGED group plot ", said.stdout, re.MULTILINE)
    done = checkout("setup", "core") if damage == "changed" else checkout("bench", "--list")
    assert done.returncode == 0, done.stderr
    assert sum("group core is damaged" in line for line in done.stderr.splitlines()) == 1
    assert module.read_bytes() == good and checkout.files("iniconfig") == other
    assert checkout("doctor").returncode == 0
    assert (checkout("bench", "--list").stderr, checkout("setup", "plot").stderr) == ("", "")


def test_an_older_version_is_replaced_without_leftovers(checkout: Checkout) -> None:
    assert checkout("setup", "test").returncode == 0
    (info,) = checkout.env.glob("lib/python*/site-packages/iniconfig-*.dist-info")
    version = info.name.removeprefix("iniconfig-").removesuffix(".dist-info")
    old = info.with_name("iniconfig-0.9.dist-info")
    extra = checkout.package("iniconfig") / "gone.py"
    extra.write_text("")
    record = (info / "RECORD").read_text().replace(info.name, old.name)
    (info / "RECORD").write_text(record + "iniconfig/gone.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n")
    info.rename(old)
    done = checkout("setup", "test")
    assert done.returncode == 0, done.stderr
    assert not old.exists() and not extra.exists() and checkout.imports("iniconfig")
    assert checkout.package(f"iniconfig-{version}.dist-info").exists()


@pytest.mark.tier("all", seconds=6, adds="an environment whose pip is damaged")
def test_a_damaged_installer_is_repaired(checkout: Checkout) -> None:
    shutil.rmtree(checkout.package("pip"))
    done = checkout("setup", "test")
    assert done.returncode == 0, done.stderr
    assert checkout.imports("iniconfig")


def test_another_python_uses_the_environment_that_is_there(checkout: Checkout, tmp_path: Path) -> None:
    """A user's Pythons share one environment; --own-python makes another."""
    other = next(
        (
            path
            for path in ("/usr/bin/python3", *map(str, Path.home().glob(".pyenv/versions/3.1[0-4].*/bin/python3")))
            if os.path.exists(path)
            and os.path.realpath(path) != os.path.realpath(sys.executable)
            and subprocess.run([path, "-c", "import sys; sys.exit(sys.version_info < (3, 10))"], check=False).returncode
            == 0
        ),
        None,
    )
    if other is None:
        pytest.skip("there is one Python")

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [other, str(checkout.root / "gossamer"), *arguments]
        return subprocess.run(command, env={**os.environ, **NO_NETWORK}, capture_output=True, text=True, check=False)

    before = sorted((checkout.root / ".gossamer" / "envs").iterdir())
    done = call("bench", "--list")
    assert (done.returncode, done.stderr) == (0, "")
    done = call("setup")
    assert done.returncode == 0 and done.stdout == "already there: core\n"
    assert done.stderr.startswith("gossamer: using the environment of ") and "--own-python" in done.stderr
    assert "of this checkout's environment" in call("doctor").stdout
    assert sorted((checkout.root / ".gossamer" / "envs").iterdir()) == before


@pytest.mark.parametrize("seconds", [0.01, 0.03, 0.1, 0.2, 0.3])
def test_ctrl_c_at_once_prints_no_traceback(seconds: float) -> None:
    """While the shell, the first Python and the environment's Python start."""
    path = f"{os.path.dirname(os.path.realpath(sys.executable))}:{os.environ['PATH']}"
    child = subprocess.Popen(
        [str(ROOT / "gossamer"), "graph", "info", "-"],
        env={**os.environ, "PATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(seconds)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    # The kernel ends a process that has not set up anything yet; a shell calls that 130 as well.
    assert child.returncode in ((130, -signal.SIGINT) if seconds < 0.03 else (130,)), (out, err)
    assert err in ("", "gossamer: interrupted\n") and out == ""


def test_installer_of_a_killed_command_keeps_the_lock(checkout: Checkout) -> None:
    """SIGKILL cannot be caught: the next call waits for the installer and does not install concurrently."""
    child = checkout.start("setup", "test")
    checkout.wait_for(checkout.log, child)
    while "pip install" not in checkout.log.read_text() and child.poll() is None:
        time.sleep(0.001)
    child.kill()
    child.communicate(timeout=60)
    assert checkout("setup", "test").returncode == 0
    assert checkout.imports("iniconfig") and checkout.stamp("test").exists()


def test_lock_message_names_the_holder(checkout: Checkout) -> None:
    with checkout.locked():
        (checkout.root / ".gossamer" / "lock").write_text("process 4711, since noon\n")
        child = checkout.start("setup", "test")
        assert child.stderr is not None
        said = child.stderr.readline()
        assert "waiting" in said and "process 4711, since noon" in said
        time.sleep(0.2)
        assert child.poll() is None and not checkout.log.exists()
        # Ctrl-C ends the wait, too.
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=60)
        assert child.returncode == 130
        child = checkout.start("setup", "test")
    _, err = child.communicate(timeout=120)
    assert child.returncode == 0, err


def test_missing_network_is_reported_in_one_line(checkout: Checkout) -> None:
    env = {**NO_NETWORK, "PIP_NO_INDEX": "0"}
    done = checkout("setup", "test", **env)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith("gossamer: error: ") and "registry cannot be reached" in last
    assert "--from-bundle" in last and not checkout.stamp("test").exists()


def test_package_with_a_wrong_hash_is_rejected(checkout: Checkout) -> None:
    requirements = checkout.root / "requirements" / "test.txt"
    requirements.write_text(re.sub(r"sha256:\w{8}", "sha256:00000000", requirements.read_text()))
    done = checkout("setup", "test")
    assert done.returncode == 2
    assert "not the one that is pinned" in done.stderr
    assert not checkout.stamp("test").exists()


def test_bundle_installs_without_network_and_cache(checkout: Checkout, tmp_path: Path) -> None:
    """A bundle packed here is installed in a checkout without network and cache."""
    bundle = tmp_path / "gossamer.tar"
    done = checkout("setup", "--bundle", str(bundle), "test")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["gossamer.tar"]

    other = Checkout(tmp_path / "other")
    done = other("setup", "--from-bundle", str(bundle), **NO_NETWORK)
    assert done.returncode == 0, done.stderr
    assert other.imports("click") and other.imports("iniconfig")
    assert other("bench", "--list", **NO_NETWORK).returncode == 0
    assert [path.name for path in (other.root / ".gossamer").iterdir() if path.name.startswith("tmp")] == []


def rewritten(bundle: Path, target: Path, change: Callable[[str, bytes], tuple[str, bytes]]) -> Path:
    import io

    with tarfile.open(bundle) as source, tarfile.open(target, "w") as result:
        for member in source:
            file = source.extractfile(member)
            assert file is not None
            name, data = change(member.name, file.read())
            info = tarfile.TarInfo(name)
            info.size = len(data)
            result.addfile(info, io.BytesIO(data))
    return target


def test_unsuitable_bundles_are_rejected(checkout: Checkout, tmp_path: Path) -> None:
    bundle = tmp_path / "good.tar"
    assert checkout("setup", "--bundle", str(bundle)).returncode == 0

    def manifest(**changes: object) -> Callable[[str, bytes], tuple[str, bytes]]:
        def change(name: str, data: bytes) -> tuple[str, bytes]:
            if name == "manifest.json":
                data = json.dumps({**json.loads(data), **changes}).encode()
            return name, data

        return change

    def escape(name: str, data: bytes) -> tuple[str, bytes]:
        return (name if name == "manifest.json" else "../escaped.whl"), data

    def refused(path: Path, says: str, *groups: str) -> None:
        done = checkout("setup", "--from-bundle", str(path), *groups, **NO_NETWORK)
        assert done.returncode == 2, done.stdout
        assert says in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr

    refused(rewritten(bundle, tmp_path / "a.tar", manifest(python="cpython 2.7")), "for python cpython 2.7")
    refused(rewritten(bundle, tmp_path / "b.tar", manifest(groups={"core": "0"})), "other versions")
    refused(rewritten(bundle, tmp_path / "c.tar", manifest(format=99)), "another version of Gossamer")
    refused(rewritten(bundle, tmp_path / "d.tar", escape), "holds '../escaped.whl'")
    refused(bundle, "does not hold group 'test'", "test")
    (tmp_path / "e.tar").write_bytes(bundle.read_bytes()[:5000])
    refused(tmp_path / "e.tar", "damaged")
    (tmp_path / "f.tar").write_bytes(b"no archive at all")
    refused(tmp_path / "f.tar", "is no bundle")
    refused(tmp_path / "nothing.tar", "cannot read")
    assert not (checkout.root / "escaped.whl").exists() and not (tmp_path / "escaped.whl").exists()


def test_unwritable_bundle_is_reported(checkout: Checkout) -> None:
    done = checkout("setup", "--bundle", "/nonexistent/file.tar")
    assert done.returncode == 2 and "cannot write /nonexistent/file.tar" in done.stderr


def test_broken_or_moved_environment_is_rebuilt(checkout: Checkout, size: Size, tmp_path: Path) -> None:
    if size.name == "small":
        pytest.skip("makes an environment twice")
    moved = Checkout(tmp_path / "before")
    shutil.copytree(checkout.root / ".gossamer", moved.root / ".gossamer", symlinks=True)
    # An environment with another path is not usable here.
    assert moved("bench", "--list").returncode == 0
    (env,) = (moved.root / ".gossamer" / "envs").iterdir()
    assert (env / "gossamer-root").read_text() == str(moved.root)
    # Interrupted while the environment was created: its folder of stamps does not exist yet.
    shutil.rmtree(env / "gossamer-groups")
    (env / "bin" / "python").unlink()
    assert moved("bench", "--list").returncode == 0


def test_checkout_with_a_link_to_the_state_of_another_leaves_its_environment(tmp_path: Path) -> None:
    """Not even if its own set-up removes environments that no checkout uses."""
    program = (
        "import os, sys; sys.path.insert(0, os.path.join(sys.argv[1], 'python'));"
        "from gossamer_setup import _env, _install; _install._sweep(os.path.join(_env.STATE, 'envs', 'new'));"
        "print(*sorted(os.listdir(os.path.join(_env.STATE, 'envs'))))"
    )
    first, second = tmp_path / "first", tmp_path / "second"
    for root in (first, second):
        shutil.copytree(ROOT / "python" / "gossamer_setup", root / "python" / "gossamer_setup")
    (second / ".gossamer").symlink_to(first / ".gossamer")
    for name, root in (("own", first), ("linked", second), ("gone", tmp_path / "no checkout")):
        env = first / ".gossamer" / "envs" / name
        env.mkdir(parents=True)
        (env / "gossamer-root").write_text(str(root))
    done = subprocess.run([sys.executable, "-I", "-c", program, second], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["linked", "own"]


def test_two_checkouts_are_set_up_concurrently(checkout: Checkout, size: Size, tmp_path: Path) -> None:
    if size.name == "small":
        pytest.skip("makes two environments")
    before = sorted(path.relative_to(checkout.root) for path in checkout.root.rglob("*.txt"))
    pair = [Checkout(tmp_path / name) for name in ("one", "two")]
    children = [one.start("bench", "--list") for one in pair]
    for child in children:
        _, err = child.communicate(timeout=300)
        assert child.returncode == 0 and "waiting" not in err
    assert all(one.imports("click") for one in pair)
    shutil.rmtree(pair[0].root)
    assert pair[1]("bench", "--list", **NO_NETWORK).returncode == 0
    assert sorted(path.relative_to(checkout.root) for path in checkout.root.rglob("*.txt")) == before


def test_concurrent_first_uses_of_one_checkout_succeed(size: Size, tmp_path: Path) -> None:
    if size.name != "large":
        pytest.skip("only in --full")
    checkout = Checkout(tmp_path / "new")
    children = [checkout.start("bench", "--list") for _ in range(3)]
    assert [(child.communicate(timeout=300), child.returncode)[1] for child in children] == [0, 0, 0]


def test_setup_recovers_from_interrupts_at_random_times(size: Size, seed: int, tmp_path: Path) -> None:
    """The first set-up is interrupted at random times; a later call completes it."""
    import random

    if size.name != "large":
        pytest.skip("only in --full")
    dice = random.Random(seed)
    checkout = Checkout(tmp_path / "new")
    for _ in range(12):
        child = checkout.start("bench", "--list")
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.communicate(timeout=dice.uniform(0.05, 6))
        if child.poll() is None:
            number = dice.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
            child.send_signal(number)
            child.communicate(timeout=60)
            if number != signal.SIGKILL and (checkout.root / ".gossamer" / "lock").exists():
                checkout.assert_unlocked()
        # -2 and -15: the signal arrived before the interpreter could handle it.
        assert child.returncode in (0, 130, 143, -9, -2, -15)
    assert checkout("bench", "--list").returncode == 0
    assert checkout.imports("click")


def test_core_group_downloads_at_most_60_mb(size: Size, tmp_path: Path) -> None:
    """Every package is downloaded again."""
    if size.name != "large":
        pytest.skip("only in --full")
    checkout = Checkout(tmp_path / "clone")
    shutil.copy2(ROOT / "requirements" / "core.txt", checkout.root / "requirements")
    start = time.monotonic()
    done = checkout("bench", "--list", PIP_NO_CACHE_DIR="1")
    assert done.returncode == 0, done.stderr
    found = re.search(r"([\d.]+) MB downloaded", done.stderr)
    assert found and 1 < float(found[1]) <= 60
    print(f"{time.monotonic() - start:.0f} s, {found[1]} MB")
    for module in ("numpy", "click", "pydantic", "tree_sitter_toml", "tqdm", "zstandard", "isal"):
        assert checkout.imports(module)


def test_missing_compiler_is_reported(checkout: Checkout, tmp_path: Path) -> None:
    done = checkout("doctor", PATH=str(tmp_path), CXX="")
    assert done.returncode == 2
    assert re.search(r"^MISSING compiler .*\n +-> .*apt-get install g\+\+$", done.stdout, re.MULTILINE)
    done = checkout("setup", "test", PATH=str(tmp_path), CXX="")
    assert done.returncode == 2
    assert "there is no C++ compiler; install with: " in done.stderr and "g++" in done.stderr


def test_compiler_without_cpp20_is_reported(checkout: Checkout, tmp_path: Path) -> None:
    old = tmp_path / "old-g++"
    old.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo 'g++ 7.5.0' && exit 0\nexit 1\n")
    old.chmod(0o755)
    done = checkout("doctor", CXX=str(old))
    assert done.returncode == 2 and "does not speak C++20" in done.stdout
    done = checkout("setup", "test", CXX=str(old))
    assert done.returncode == 2 and "g++ 7.5.0" in done.stderr


def test_missing_venv_package_is_reported(checkout: Checkout, tmp_path: Path) -> None:
    """As Debian's python3 is without python3-venv."""
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['ensurepip'] = None\n")
    done = checkout("doctor", PYTHONPATH=str(tmp_path))
    package = f"python3.{sys.version_info[1]}-venv"
    assert done.returncode == 2
    assert re.search(rf"^MISSING python .*\n +-> .*apt-get install {package}$", done.stdout, re.MULTILINE)
    done = checkout("setup", "test", PYTHONPATH=str(tmp_path), PATH=str(tmp_path))
    assert done.returncode == 2 and package in done.stderr


def test_doctor_lists_every_component(checkout: Checkout) -> None:
    done = checkout("doctor")
    assert done.returncode == 0
    for what in (
        "python",
        "compiler",
        "group core",
        "disk",
        "cpu",
        "cores",
        "NUMA",
        "memory",
        "huge pages",
        "library",
    ):
        assert re.search(rf"^(ok|-) +{what} ", done.stdout, re.MULTILINE), what
    assert re.search(r"^ok +group core +installed", done.stdout, re.MULTILINE)
    assert "./gossamer setup synth" in done.stdout


def test_setup_on_a_terminal_shows_a_progress_bar(checkout: Checkout) -> None:
    """The bar moves, and one line for each group remains."""
    import pty

    terminal, end = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, str(checkout.root / "gossamer"), "setup", "test"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=end,
    )
    os.close(end)
    seen = b""
    with contextlib.suppress(OSError):
        while chunk := os.read(terminal, 4096):
            seen += chunk
    os.close(terminal)
    assert child.wait(60) == 0
    assert b"group test [" in seen and b"/1 iniconfig" in seen
    assert re.search(rb"\r\x1b\[Kgossamer: group test: 1 packages, ", seen)
