# SPDX-License-Identifier: Apache-2.0
"""Makes the environment and installs groups into it.

Every step may be interrupted at any moment: the environment is complete only with the
folder of its stamps, which is made last; a group is complete only with its stamp and all
its files. Complete packages stay untouched, whichever group installed them; the others
are unpacked in another folder and moved in when all of them are there (`_packages`).
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator

from gossamer_setup import _env, _packages, _places, _system
from gossamer_setup._commands import ENTRY_POINTS, VERSION
from gossamer_setup._env import SetupError
from gossamer_setup._lock import lock
from gossamer_setup._progress import Meter
from gossamer_setup._signals import SIGNALS

LOG = os.path.join(_env.STATE, "setup.log")
_FETCH = re.compile(r"^\s*(Downloading|Using cached) (\S+) \(([\d.]+) (bytes|kB|MB|GB)\)")
_UNIT = {"bytes": 1e-6, "kB": 1e-3, "MB": 1.0, "GB": 1e3}
# Settings of the user's installer that would change the target folder or the selected packages.
_FOREIGN = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIREMENT", "PIP_CONSTRAINT")


def _environment() -> dict[str, str]:
    environment = {
        name: value for name, value in os.environ.items() if name not in _FOREIGN and not name.startswith("PYTHON")
    }
    environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    environment["PIP_NO_INPUT"] = "1"
    environment["PIP_ROOT_USER_ACTION"] = "ignore"
    return environment


def _end(child: subprocess.Popen[str]) -> None:
    """Ends the child and all processes that it has started."""
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGTERM)
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    if child.stdout:
        child.stdout.close()


@contextlib.contextmanager
def _child(command: list[str], lock_fd: int) -> Iterator[subprocess.Popen[str]]:
    """A child that shares the lock, and that does not outlive an interruption.

    It runs in a new session: Ctrl-C then reaches only this process, which ends the whole session.
    """
    child: subprocess.Popen[str] | None = None
    try:
        # An interrupt between the start of the child and the assignment would leave the child running.
        with SIGNALS.held():
            child = subprocess.Popen(
                command,
                env=_environment(),
                cwd=_env.ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                pass_fds=(lock_fd,),
                start_new_session=True,
            )
        yield child
    finally:
        if child is not None:
            _end(child)


class _Pip:
    """Runs the installer: follows its output, and keeps all of it in the log."""

    def __init__(self, group: str, title: str, total: int) -> None:
        self.group = group
        self.packages = 0
        self.fetched = 0.0
        self.cached = 0.0
        self.meter = Meter(title, total)
        self._last_lines: list[str] = []

    def follow(self, line: str) -> None:
        self._last_lines.append(line)
        if line.startswith(("Collecting ", "Requirement already satisfied: ")):
            self.packages += 1
            self.meter.done = min(self.packages, self.meter.total)
            self.meter.show(line.split(": ")[-1].removeprefix("Collecting ").split("==")[0])
        elif line.startswith("Ignoring "):
            self.meter.total = max(self.meter.total - 1, 1)
        elif line.startswith("Installing collected packages"):
            self.meter.show(f"copying ({self.fetched:.0f} MB downloaded)")
        elif found := _FETCH.match(line):
            size = float(found[3]) * _UNIT[found[4]]
            if found[1] == "Downloading":
                self.fetched += size
                self.meter.show(f"{found[2].split('-')[0]}, {size:.1f} MB")
            else:
                self.cached += size

    def run(self, command: list[str], lock_fd: int) -> None:
        try:
            with open(LOG, "a", encoding="utf-8") as log, _child(command, lock_fd) as child:
                log.write(f"$ {' '.join(command)}\n")
                log.flush()
                assert child.stdout is not None
                for line in child.stdout:
                    log.write(line)
                    self.follow(line.rstrip())
                code = child.wait()
        except BaseException:
            self.meter.abort()
            raise
        if code:
            self.meter.abort()
            raise SetupError(self._complaint())
        got = f"{self.fetched:.1f} MB downloaded"
        if self.cached:
            got += f", {self.cached:.1f} MB from the installer's cache"
        self.meter.close(f"{self.packages} packages, {got}")

    def _complaint(self) -> str:
        text = "\n".join(self._last_lines)
        errors = [line for line in self._last_lines if line.startswith("ERROR:")]
        why = errors[0].removeprefix("ERROR:").strip() if errors else (self._last_lines or ["no output"])[-1]
        unreachable = r"Retrying \(|ProxyError|NewConnectionError|Temporary failure in name resolution"
        if "No space left on device" in text:
            why = "the disk is full; make room and call again"
        elif "DO NOT MATCH THE HASHES" in text:
            why = "a downloaded package is not the one that is pinned; nothing of it was installed"
        elif re.search(unreachable, text):
            why = (
                "the package registry cannot be reached; connect to a network, or pack a bundle elsewhere "
                "(./gossamer setup --bundle FILE) and use it here (./gossamer setup --from-bundle FILE)"
            )
        return f"installing group {self.group!r} failed: {why} (all of it in {os.path.relpath(LOG)})"


def _make(env: str, lock_fd: int) -> None:
    """An environment with the installer in it: fresh, or with the packages of one whose Python had gone."""
    if not os.path.exists(os.path.dirname(_env.stamp_file(env, ""))):
        shutil.rmtree(env, ignore_errors=True)
    os.makedirs(os.path.dirname(env), exist_ok=True)
    meter = Meter("environment", 1)
    try:
        with _child([_env.base_python(), "-I", "-m", "venv", env], lock_fd) as child:
            output, _ = child.communicate()
    except BaseException:
        meter.abort()
        raise
    if child.returncode:
        meter.abort()
        last = (output.strip().splitlines() or ["no output"])[-1]
        raise SetupError(f"making the environment {env} failed: {last}; is {_system.venv_package()} installed?")
    # The environment contains the checkout's path, so its python works without any variable.
    with open(os.path.join(_packages.site(env), "gossamer.pth"), "w", encoding="utf-8") as file:
        file.write(_places.PYTHON + "\n")
    # Scripts in an environment name it by its full path, so one of a moved checkout is useless.
    with open(os.path.join(env, "gossamer-root"), "w", encoding="utf-8") as file:
        file.write(_env.ROOT)
    os.makedirs(os.path.dirname(_env.stamp_file(env, "")), exist_ok=True)
    meter.done = 1
    meter.close(f"made with Python {sys.version.split()[0]}")


def _register(env: str) -> None:
    """Adds metadata of a package to the environment, so that other packages find Gossamer's entry points.

    The checkout is on the environment's path without being installed, and NetworkX finds backends by metadata alone.
    """
    place = _packages.site(env)
    folder = os.path.join(place, f"gossamer-{VERSION}.dist-info")
    entries = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in names.items())
        for group, names in ENTRY_POINTS.items()
    )
    with contextlib.suppress(OSError), open(os.path.join(folder, "entry_points.txt"), encoding="utf-8") as file:
        if file.read() == entries:
            return
    for other in glob.glob(os.path.join(glob.escape(place), "gossamer-*.dist-info")):
        shutil.rmtree(other, ignore_errors=True)
    os.makedirs(folder, exist_ok=True)
    metadata = f"Metadata-Version: 2.1\nName: gossamer\nVersion: {VERSION}\n"
    for name, text in (("METADATA", metadata), ("INSTALLER", "gossamer\n"), ("entry_points.txt", entries)):
        with open(os.path.join(folder, f"{name}.part"), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(os.path.join(folder, f"{name}.part"), os.path.join(folder, name))


def _sweep(env: str) -> None:
    """Removes environments that this checkout had under another path; they cannot work any more."""
    for other in glob.glob(os.path.join(glob.escape(os.path.dirname(env)), "*")):
        with (
            contextlib.suppress(OSError),
            open(os.path.join(other, "gossamer-root"), encoding="utf-8") as file,
        ):
            root = file.read()
            if root != _env.ROOT and not _shares(root):
                shutil.rmtree(other, ignore_errors=True)


def _shares(root: str) -> bool:
    """Whether a checkout uses this folder of environments: under another path, or by a link."""
    with contextlib.suppress(OSError):
        state = os.path.join(root, os.path.relpath(_env.STATE, _env.ROOT))
        return os.path.samefile(state, _env.STATE)
    return False


def _link(env: str) -> None:
    """Points ``.gossamer/env`` at the environment, in one step."""
    target = os.path.relpath(env, _env.STATE)
    with contextlib.suppress(OSError):
        if os.readlink(_env.LINK) == target:
            return
    partial = f"{_env.LINK}.{os.getpid()}"
    os.symlink(target, partial)
    os.replace(partial, _env.LINK)


def pip(env: str, *arguments: str) -> list[str]:
    """The environment's installer; isolated from the user's modules, unbuffered so that its output can be followed."""
    return [_env.env_python(env), "-I", "-u", "-m", "pip", *arguments]


def _mend_pip(env: str, lock_fd: int) -> None:
    """Installs the installer anew where it is damaged."""
    there = _packages.infos(_packages.site(env)).get("pip", [])
    version = os.path.basename(there[0])[len("pip-") : -len(".dist-info")] if there else ""
    pin = _packages.Pin("pip", version, "")
    if _packages.fault(pin, {"pip": there}, digests=False) is None:
        return
    for folder in (*there, os.path.join(_packages.site(env), "pip")):
        shutil.rmtree(folder, ignore_errors=True)
    with _child([_env.env_python(env), "-I", "-m", "ensurepip"], lock_fd) as child:
        output, _ = child.communicate()
    if child.returncode:
        last = (output.strip().splitlines() or ["no output"])[-1]
        raise SetupError(f"the installer in {env} is damaged and cannot be repaired: {last}; remove that folder")


def _install(env: str, group: str, lock_fd: int, wheels: str | None) -> None:
    try:
        with open(_env.requirement_file(group), encoding="utf-8") as file:
            requirements = file.read()
    except OSError as error:
        raise SetupError(f"cannot read requirements/{group}.txt: {error.strerror}; restore it") from None
    wanted = _packages.pins(requirements)
    bad = _packages.faults(env, group)
    known = _env.stamped(env, group)
    if known and bad:
        more = f"; and {len(bad) - 1} more packages" if len(bad) > 1 else ""
        Meter.note(f"group {group} is damaged ({next(iter(bad.values()))}{more}); repairing it")
    if bad:
        options = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--no-compile", "--retries", "2"]
        options += ["--ignore-installed", "--no-warn-script-location"]
        if wheels is not None:
            options += ["--no-index", "--find-links", wheels]
        _mend_pip(env, lock_fd)
        with _packages.staging(env) as stage:
            chosen = os.path.join(stage, f"{group}.txt")
            with open(chosen, "w", encoding="utf-8") as file:
                file.writelines(pin.text for pin in wanted if pin.name in bad)
            run = _Pip(group, f"group {group}", len(bad))
            run.run(pip(env, "install", *options, "--prefix", stage, "-r", chosen), lock_fd)
            try:
                _packages.move_in(stage, env)
            except ValueError as error:
                raise SetupError(f"installing group {group!r} failed: {error}; call again") from None
        left = _packages.faults(env, group, digests=False)
        if left:
            raise SetupError(f"installing group {group!r} failed: {next(iter(left.values()))}; call again")
    elif not known:
        Meter(f"group {group}", len(wanted)).close(f"{len(wanted)} packages, all there")
    _packages.write_list(env, group, wanted)
    stamp = _env.stamp_file(env, group)
    with open(f"{env}.stamp", "w", encoding="utf-8") as file:
        file.write(requirements)
    os.replace(f"{env}.stamp", stamp)


def _disk(error: OSError) -> SetupError:
    where = f" {error.filename}" if error.filename else ""
    return SetupError(f"set-up cannot write{where}: {error.strerror}; make room or the checkout writable")


def ensure(groups: list[str], wheels: str | None = None, *, verify: bool = False) -> str:
    """Installs the missing groups and repairs damaged ones; returns the environment.

    ``wheels`` names a folder with all the packages: the network is then not touched. With ``verify`` the contents of
    all files are compared, else their sizes.
    """
    env = _env.env_dir()

    def is_due(group: str) -> bool:
        return not _env.installed(env, group) or (verify and bool(_packages.faults(env, group)))

    if not any(map(is_due, groups)):
        with contextlib.suppress(OSError):  # an environment that only reading is permitted in works without
            _register(env)
        return env
    with SIGNALS.handled(), lock() as lock_fd:
        todo = [group for group in groups if is_due(group)]
        if not todo:
            return env
        try:
            fresh = [group for group in todo if not _env.stamped(env, group)]
            if fresh:
                _system.prepare(fresh)
            with open(LOG, "w", encoding="utf-8"):
                pass
            _sweep(env)
            if not _env.made(env):
                _make(env, lock_fd)
            _register(env)
            for group in todo:
                _install(env, group, lock_fd, wheels)
            _link(env)
        except OSError as error:
            raise _disk(error) from error
    return env
