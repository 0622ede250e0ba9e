# SPDX-License-Identifier: Apache-2.0
"""The house style that tools can check: types, lint, licence lines, and forbidden contents."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.markers import Marker

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {".py", ".h", ".hpp", ".cc", ".cpp", ".c", ".S", ".sv", ".svh", ".v", ".vlt", ".f", ".cmake", ".sh"}
SOURCES |= {".toml", ".in", ".ld", ".yaml", ".yml"}
NAMES = {"gossamer", "run", "update"}
NEITHER = {".git", ".gossamer", "build", "__pycache__"}
LONGEST = 120


def files() -> list[Path]:
    """The files of the checkout (also new ones), without generated files."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in NEITHER and not name.endswith("_cache")]
        found += [Path(folder) / name for name in names]
    return sorted(found)


def sources() -> list[Path]:
    return [path for path in files() if path.suffix in SOURCES or path.name in NAMES]


def run(*arguments: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-m", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_reports_no_error() -> None:
    run("mypy")


def test_ruff_reports_no_error() -> None:
    run("ruff", "check", "--quiet", ".")


def test_python_is_formatted() -> None:
    """By `ruff format .`; `# fmt: skip` for tables that read better unformatted."""
    run("ruff", "format", "--quiet", "--check", ".")


def cpp() -> list[Path]:
    """The library's sources and headers."""
    found = [path for top in ("include", "src") for path in sorted((ROOT / top).rglob("*"))]
    return [path for path in found if path.suffix in {".h", ".hpp", ".cc", ".c"}]


def test_cpp_is_formatted() -> None:
    """By `clang-format -i` with the file .clang-format."""
    tool = Path(sys.executable).with_name("clang-format")
    command = [tool, "--dry-run", "--Werror", *cpp()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    wrong = sorted(set(re.findall(r"^([^\s:]+):\d+:\d+: error", done.stderr, re.MULTILINE)))
    assert done.returncode == 0 and not wrong, f"clang-format -i {' '.join(wrong)}"


def test_every_source_begins_with_its_licence() -> None:
    without = []
    for path in sources():
        lines = path.read_text(encoding="utf-8").splitlines()[:2]
        first = lines[1:] if lines and lines[0].startswith("#!") else lines
        if not first or "SPDX-License-Identifier: Apache-2.0" not in first[0]:
            without.append(str(path.relative_to(ROOT)))
    assert not without


def test_lines_have_at_most_120_characters() -> None:
    long = []
    for path in sources():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if len(line) > LONGEST and "--hash=" not in line:
                long.append(f"{path.relative_to(ROOT)}:{number}")
    assert not long


def test_no_task_markers_remain() -> None:
    # Assembled here, so that this file does not match.
    mark = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" * 3)) + r")\b")
    left = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if mark.search(line)
    ]
    assert not left


def test_requirements_are_pinned_and_name_no_index() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        assert "://" not in text, path
        pins = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
        assert pins
        for pin in pins:
            assert re.match(r"[\w.-]+==\S+", pin) and "--hash=sha256:" in pin, f"{path}: {pin[:60]}"


@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_groups_agree_on_versions(python: str, machine: str) -> None:
    """All groups share one environment, so a package has the same version in all of them, on any Python."""
    here = {"python_version": python, "python_full_version": f"{python}.1", "platform_machine": machine}
    versions: dict[str, set[str]] = {}
    for path in (ROOT / "requirements").glob("*.txt"):
        pins = re.findall(r"^([\w.-]+)==([^\s;]+)(?: ; ([^\\\n]+))?", path.read_text(), re.MULTILINE)
        for name, version, marker in pins:
            if not marker or Marker(marker.strip()).evaluate(here):
                versions.setdefault(name, set()).add(version)
    assert "numpy" in versions
    assert {name: found for name, found in versions.items() if len(found) > 1} == {}


@pytest.mark.parametrize("module", ["gossamer.cli", "gossamer.__main__", "gossamer_setup"])
def test_start_up_imports_few_modules(module: str) -> None:
    """Every call imports these modules, so they import neither numbers nor schemas nor sub-commands."""
    assert importlib.util.find_spec(module) is not None
    script = f"import sys, {module}; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert module in loaded
    heavy = {"numpy", "pydantic", "tqdm", "tree_sitter", "gossamer.native", "gossamer.cli.bench", "asyncio"}
    assert not loaded & heavy
