# SPDX-License-Identifier: Apache-2.0
"""``./gossamer new``: the generated vertex runs; its test passes, and fails for a faulty vertex."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Command


def test_new_vertex_runs_and_its_test_detects_a_fault(command: Command, tmp_path: Path) -> None:
    made = command("new", str(tmp_path / "deep" / "my-rumour"))
    assert made.returncode == 0, made.stderr
    run, test = re.findall(r"\./gossamer (.*)", made.stdout)
    done = command(*run.split(), "--first", "3", "--threads", "2")
    assert done.returncode == 0, done.stderr
    assert "18" in done.stdout  # all 16 vertices of the grid receive the last one's value
    passed = command(*test.split())
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "10 passed" in passed.stdout
    header = tmp_path / "deep" / "my-rumour" / "my-rumour.h"
    header.write_text(header.read_text().replace("s->value = *message;", "s->value = *message - 1;"))
    failed = command(*test.split())
    assert failed.returncode == 1, failed.stdout
    mixed = command(*test.split(), "pagerank")
    assert (mixed.returncode, mixed.stdout) == (2, "")
    assert "do not go together" in mixed.stderr


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Rumour", "lower-case letters, digits and single dashes"),
        ("a--b", "lower-case letters"),
        ("7up", "a letter first"),
        ("pagerank", "an application pagerank exists already"),
        ("there", "exists already"),
        ("a" * 65, "at most 64 letters"),
        ("/".join(["a" * 300, "b"]), "cannot be created: File name too long"),
    ],
)
def test_invalid_names_are_rejected(name: str, why: str, command: Command, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    done = command("new", str(tmp_path / name))
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr and len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["there"] and not list((tmp_path / "there").iterdir())


def test_unknown_home_folder_is_rejected(command: Command) -> None:
    done = command("new", "~nobody-of-this-name/rumour")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no such user" in done.stderr and len(done.stderr.splitlines()) == 1
