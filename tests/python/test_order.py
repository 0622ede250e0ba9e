# SPDX-License-Identifier: Apache-2.0
"""The order in which files of tests are taken: the longest first, however few tests they have."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from conftest import ROOT, TURNS


def test_every_folder_has_its_turn() -> None:
    assert {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").rglob("test_*.py")} == set(TURNS)


def test_workers_take_builds_of_hardware_before_many_small_tests(tmp_path: Path) -> None:
    """A file with one test in a late folder, and one in an early folder with fewer tests than the others."""
    (tmp_path / "conftest.py").write_text(
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('ours', {str(ROOT / 'tests' / 'conftest.py')!r})\n"
        "ours = importlib.util.module_from_spec(spec)\n"
        "sys.modules['ours'] = ours\n"
        "spec.loader.exec_module(ours)\n"
        "from pathlib import Path\n"
        "ours.ROOT = Path(__file__).parent\n"
        "pytest_addoption = ours.pytest_addoption\n"
        "pytest_collection_modifyitems = ours.pytest_collection_modifyitems\n"
    )
    for folder, count in (("python", 3), ("rtl", 1), ("system", 2)):
        place = tmp_path / "tests" / folder
        place.mkdir(parents=True)
        (place / f"test_{folder}_files.py").write_text("".join(f"def test_{n}(): pass\n" for n in range(count)))
    options = ["-v", "-p", "no:cacheprovider", "--numprocesses=1", "--dist=loadfile", "--no-loadscope-reorder"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, f"--rootdir={tmp_path}", "-c", os.devnull, tmp_path / "tests"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    taken = re.findall(r"PASSED \S*test_(\w+)_files\.py", done.stdout)
    assert list(dict.fromkeys(taken)) == ["rtl", "system", "python"], done.stdout + done.stderr
