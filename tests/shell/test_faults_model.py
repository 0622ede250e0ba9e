# SPDX-License-Identifier: Apache-2.0
"""The session and configuration protocol, checked by Spin over a network that loses, repeats, reorders and replays."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import gossamer_setup

MODEL = Path(__file__).with_name("session.pml")


def verify(folder: Path, *defines: str) -> str:
    """Output of the verifier for a variant of the model."""
    tool = gossamer_setup.program("spin", "spin")
    words = [f"-D{one}" for one in defines]
    subprocess.run([tool, *words, "-a", MODEL], cwd=folder, check=True, capture_output=True, timeout=60)
    command = [
        os.environ.get("CC", "gcc"),
        "-O1",
        "-w",
        "-DSAFETY",
        "-DCOLLAPSE",
        "-DMEMLIM=4000",
        "-o",
        "pan",
        "pan.c",
    ]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)
    done = subprocess.run(
        [folder / "pan", "-m1000000"], cwd=folder, capture_output=True, text=True, check=False, timeout=600
    )
    assert "max search depth too small" not in done.stdout and "out of memory" not in done.stdout, done.stdout
    assert "errors:" in done.stdout, done.stdout + done.stderr
    return done.stdout


@pytest.mark.default_cases("[12]", seconds=10, adds="a window of three commands")
@pytest.mark.parametrize("window", [1, 2, 3])
def test_commands_are_executed_once_in_order_over_any_network(window: int, tmp_path: Path) -> None:
    assert "errors: 0" in verify(tmp_path, "PART=0", f"WINDOW={window}")


def test_no_configuration_is_confirmed_that_was_not_loaded(tmp_path: Path) -> None:
    """Three configurations with two images, also with the same image again."""
    assert "errors: 0" in verify(tmp_path, "PART=1")


@pytest.mark.parametrize(
    "defines",
    [
        ("PART=0", "NO_ORDER"), ("PART=0", "NO_HISTORY"), ("PART=0", "WRAP", "NUMBERS=4"), ("PART=1", "NO_ACKNOWLEDGE"),
        ("PART=1", "KEEP_CHUNKS"), ("PART=1", "NO_ENDED"),
    ],
    ids=lambda defines: defines[1],
)  # fmt: skip
def test_protocol_fails_without_each_of_its_parts(defines: tuple[str, ...], tmp_path: Path) -> None:
    """The verifier finds an error. WRAP: numbers that come again let recorded commands be executed again."""
    found = verify(tmp_path, *defines)
    assert "errors: 1" in found and "assertion violated" in found, found
