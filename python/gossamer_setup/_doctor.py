# SPDX-License-Identifier: Apache-2.0
"""``./gossamer doctor``: what this machine has, what it lacks, and the line that fixes it."""

from __future__ import annotations

import argparse
import glob
import os
import platform
import re
import shlex
import shutil
import sys

from gossamer_setup import _cache, _env, _packages, _places, _system
from gossamer_setup._commands import VERSION
from gossamer_setup._env import SetupError
from gossamer_setup._setup import Parser

_FEATURES = ("sse4_2", "avx", "avx2", "bmi2", "fma", "avx512f", "avx512vl", "asimd", "sve")
# Disk space for the environment with all groups, and for the builds.
_ROOM_GB = 2.0


class Report:
    """Prints a line for each part of an installation; ``runs`` is whether the main job can."""

    def __init__(self) -> None:
        self.runs = True

    def line(self, mark: str, what: str, found: str, fix: str = "") -> None:
        print(f"{mark:<7} {what:<12} {found}")
        if fix:
            print(f"{'':<7} {'':<12} -> {fix}")

    def good(self, what: str, found: str) -> None:
        self.line("ok", what, found)

    def hint(self, what: str, found: str, fix: str = "") -> None:
        """Reports a missing optional component."""
        self.line("-", what, found, fix)

    def damaged(self, what: str, found: str, fix: str) -> None:
        """Something was installed and has suffered since."""
        self.runs = False
        self.line("DAMAGED", what, found, fix)

    def bad(self, what: str, found: str, fix: str) -> None:
        """Reports a missing component that the main job needs."""
        self.runs = False
        self.line("MISSING", what, found, fix)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _python(report: Report) -> None:
    found = f"{platform.python_version()} at {_env.base_python()}"
    borrowed = _env.borrowed()
    if borrowed:
        report.good("python", f"{borrowed} (of this checkout's environment; ./gossamer setup --own-python for {found})")
    elif _system.has_venv():
        report.good("python", f"{found}, with venv")
    else:
        report.bad("python", f"{found}, without venv", _system.install_line([_system.venv_package()]))


def _compiler(report: Report) -> None:
    check_compiler(report)


def check_compiler(report: Report, *, needed: bool = True) -> None:
    """Reports the C++ compiler; ``needed`` is whether nothing runs without it."""
    missing = report.bad if needed else report.hint
    try:
        command = _system.compiler()
    except SetupError as error:
        what, _, advice = str(error).partition("; ")
        missing("compiler", what, advice)
        return
    if command is None:
        missing("compiler", "no g++, c++ or clang++ on the path", _system.install_line(["g++"]))
        return
    found = f"{shlex.join(command)}, {_system.compiler_version(command)}"
    if _system.speaks_cxx20(command):
        report.good("compiler", f"{found}, speaks C++20")
    else:
        advice = "install g++ 10 or newer and name it: CXX=g++-12 ./gossamer ..."
        missing("compiler", f"{found}, does not speak C++20", advice)


def _make(report: Report) -> None:
    lacks = [tool for tool in ("make", "perl") if not shutil.which(tool)]
    if lacks:
        found = f"no {' and no '.join(lacks)}; only group rtl needs them"
        report.hint("make", found, _system.install_line(lacks))
    else:
        report.good("make", "make and perl are there (group rtl needs them)")


def _spin(report: Report) -> None:
    if shutil.which("spin"):
        report.good("spin", "spin is there (the model checks of idle detection need it)")
    else:
        found = "no spin; only the model checks of idle detection need it"
        report.hint("spin", found, _system.install_line(["spin"]))


def _chromium(report: Report) -> None:
    if shutil.which("chromium"):
        report.good("chromium", "chromium is there (the tests of the cluster manager's page need it)")
    else:
        found = "no chromium; only the tests of the cluster manager's page need it"
        report.hint("chromium", found, _system.install_line(["chromium"]))


def _boost(report: Report) -> None:
    if _system.links(*_system.BOOST[:2]):
        report.good("boost", "Boost.Context is there (streaming messages need it)")
    else:
        found = "no Boost.Context; only streaming messages need it"
        report.hint("boost", found, _system.install_line([_system.BOOST[2]]))


def _groups(report: Report) -> None:
    env = _env.env_dir()
    for group, (what, size) in _env.GROUPS.items():
        faults = _packages.faults(env, group) if _env.stamped(env, group) else {}
        if faults:
            more = f"; and {len(faults) - 1} more packages" if len(faults) > 1 else ""
            found = f"{next(iter(faults.values()))}{more}; repaired when next used"
            report.damaged(f"group {group}", found, f"./gossamer setup {group}")
        elif _env.stamped(env, group):
            report.good(f"group {group}", f"installed, all files whole ({what})")
        elif os.path.exists(_env.stamp_file(env, group)):
            report.hint(f"group {group}", "installed for older requirements", f"./gossamer setup {group}")
        else:
            found = f"not installed yet ({what}, about {size} MB); installed when first needed"
            report.hint(f"group {group}", found, f"./gossamer setup {group}")


def _disk(report: Report) -> None:
    place = _env.STATE if os.path.isdir(_env.STATE) else _env.ROOT
    free = shutil.disk_usage(place).free / 1e9
    if not os.access(place, os.W_OK):
        fixed = os.statvfs(place).f_flag & os.ST_RDONLY
        found = f"{place} is on a read-only file system" if fixed else f"{place} cannot be written"
        fix = "copy the checkout to where it can be written" if fixed else f"sudo chown -R $(id -un) {_env.ROOT}"
        if _env.installed(_env.env_dir(), "core") and _libraries():
            report.hint("disk", f"{found}: what is set up and built works, nothing new can be compiled", fix)
        else:
            report.bad("disk", f"{found}, and not all is set up and built", fix)
    elif free < _ROOM_GB:
        found = f"{free:.1f} GB free at {place}, {_ROOM_GB:.0f} are wanted for all groups"
        report.hint("disk", found, "make room on that disk")
    else:
        report.good("disk", f"{free:.0f} GB free at {place}")


def check_cpu(report: Report) -> None:
    """Reports processor, cores and NUMA nodes."""
    info = _read("/proc/cpuinfo")
    model = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", info, re.MULTILINE)
    flags = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", info, re.MULTILINE)
    held = set(flags[1].split()) if flags else set()
    features = " ".join(name for name in _FEATURES if name in held) or "none of those we look for"
    report.good("cpu", f"{model[1].strip() if model else platform.machine()}; {features}")
    usable = len(os.sched_getaffinity(0))
    report.good("cores", f"{usable} usable of {os.cpu_count()}")
    _nodes(report)


def _nodes(report: Report, nodes: str = "/sys/devices/system/node") -> None:
    """The number of NUMA nodes of the machine."""
    count = len(glob.glob(os.path.join(glob.escape(nodes), "node[0-9]*")))
    if count > 1:
        found = f"{count} nodes; reads from another node's memory are slower, and a run uses all of them"
        report.hint("NUMA", found, "numactl --cpunodebind=0 --membind=0 ./gossamer run ... keeps a run on one")
    else:
        report.good("NUMA", "1 node: all memory is equally near")


def check_memory(report: Report) -> None:
    """Reports memory and huge pages."""
    found = re.search(r"^MemAvailable:\s*(\d+) kB", _read("/proc/meminfo"), re.MULTILINE)
    if found:
        report.good("memory", f"{int(found[1]) / 1e6:.1f} GB available")
    setting = re.search(r"\[(\w+)\]", _read("/sys/kernel/mm/transparent_hugepage/enabled"))
    mode = setting[1] if setting else "unknown"
    if mode in ("always", "madvise"):
        report.good("huge pages", mode)
    else:
        fix = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
        report.hint("huge pages", f"{mode}; large graphs run slower", fix if setting else "")


def _libraries() -> list[str]:
    return sorted(glob.glob(os.path.join(glob.escape(_places.BUILD), "*", "lib", "*", "libgossamer.so")))


def _built(report: Report) -> None:
    found = _libraries()
    if found:
        report.good("library", ", ".join(os.path.relpath(path, _env.ROOT) for path in found))
    else:
        report.hint("library", "not built yet; built when first needed")


def check_build_cache(report: Report) -> None:
    """Reports the user's build cache."""
    try:
        path = _cache.folder()
    except SetupError as error:
        report.hint("build cache", str(error))
        return
    if path is None:
        report.hint("build cache", "off (GOSSAMER_CACHE)")
    elif os.path.isdir(path):
        if os.access(path, os.W_OK | os.X_OK):
            report.good("build cache", f"{path}, {_cache.size(path) / 1e6:.0f} MB")
        else:
            report.hint("build cache", f"{path} is not writable; builds do without it", f"chmod u+rwx {path}")
    else:
        report.hint("build cache", f"{path} does not exist yet; made with the first build")


def verdict(report: Report) -> str:
    """The last line of the report."""
    if report.runs:
        return f"{_places.NAME} run works on this machine"
    return "fix what is MISSING or DAMAGED by the lines after ->"


def main(arguments: list[str]) -> int:
    """Prints the report; 0 if the main job can run here, else 2."""
    parser = Parser(
        prog="./gossamer doctor",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        description="Check this installation, and print the command that fixes each fault. Changes nothing.\n"
        "Exit code 0 if ./gossamer run can work on this machine and every installed package is whole, else 2.",
        epilog="Examples:\n  ./gossamer doctor\n",
    )
    try:
        parser.parse_args(arguments)
    except SystemExit as leave:  # --help
        return leave.code if isinstance(leave.code, int) else 2
    print(f"gossamer {VERSION} in {_env.ROOT}")
    report = Report()
    for check in (
        _python,
        _compiler,
        _make,
        _spin,
        _chromium,
        _boost,
        _groups,
        _disk,
        check_cpu,
        check_memory,
        _built,
        check_build_cache,
    ):
        check(report)
    print(verdict(report))
    sys.stdout.flush()
    return 0 if report.runs else 2
