# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and SIGTERM on every supported Python that is installed and set up; --full sets them up, 27 MB each."""

from __future__ import annotations

import functools
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, Size
from interpreters import interpreter_of
from sessions import Session

VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
LONG = "graph = gs.read_graph('gen:grid:width=300,height=300'); gs.run('heat', graph, steps=10**9, hot=1)"


@pytest.fixture(params=VERSIONS)
def python(request: pytest.FixtureRequest, size: Size) -> str:
    """An interpreter of that version with the group core."""
    return interpreter(request.param, size)


@functools.cache
def interpreter(version: str, size: Size) -> str:
    found = interpreter_of(version)
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r}); from gossamer_setup import _env; "
    code += "sys.exit(not _env.installed(_env.env_dir(), 'core'))"
    if subprocess.run([found, "-c", code], check=False).returncode:
        if size.name != "large":
            pytest.skip(f"Python {version} is not set up: python{version} ./gossamer setup --own-python")
        subprocess.run([found, str(ROOT / "gossamer"), "setup", "--own-python"], check=True)
    return found


@pytest.mark.default_cases(r"3\.11-.*", seconds=15, adds="the other installed Pythons")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("words", ["run", "generate"])
def test_signal_ends_the_command(python: str, words: str, number: signal.Signals, code: int, tmp_path: Path) -> None:
    arguments = {
        "run": ["run", "heat", "gen:grid:width=300,height=300", "--steps", "1000000000", "--hot", "1"],
        "generate": ["graph", "generate", "rmat", "--scale", "16", "--edge-factor", "30000", "-o", "out.gsg"],
    }
    session = Session(*arguments[words], cwd=tmp_path, program=[python, str(ROOT / "gossamer")])
    session.wait_until(lambda: session.seconds() > 3)
    returned, said = session.ends(number, 20)
    assert returned == code and said.count("\n") == 1, said
    assert list(tmp_path.iterdir()) == []


def test_python_program_continues_after_an_interrupt(python: str, tmp_path: Path) -> None:
    """A run is interrupted, and the next is correct; no thread of the first still runs."""
    script = (
        "import gossamer as gs, threading\n"
        f"try:\n    {LONG}\n"
        "except KeyboardInterrupt:\n    print('stopped')\n"
        "print(gs.run('hashmin', gs.read_graph('gen:ring:vertices=9')).values.sum(), threading.active_count())\n"
    )
    where = f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r}); from gossamer_setup import _env; "
    where += "print(_env.env_python(_env.env_dir()))"
    done = subprocess.run([python, "-c", where], capture_output=True, text=True, check=True)
    session = Session("-I", "-c", script, cwd=tmp_path, program=[done.stdout.strip()])
    session.wait_until(lambda: session.seconds() > 3)
    session.child.send_signal(signal.SIGINT)
    printed, said = session.child.communicate(timeout=60)
    assert session.child.returncode == 0, said
    assert printed.splitlines() == ["stopped", "0 1"]
