# SPDX-License-Identifier: Apache-2.0
"""Held signals: each is delivered once, at the end of the holding block."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gossamer import processes
from gossamer.mpi import _host as mpi
from gossamer_setup._signals import SIGNALS


def test_signal_is_delivered_when_the_holding_block_fails() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), SIGNALS.held():
        os.kill(os.getpid(), signal.SIGINT)
        raise FileNotFoundError
    with SIGNALS.held():
        pass
    assert signal.getsignal(signal.SIGINT) is before


def test_held_signal_is_delivered_after_the_block() -> None:
    reached = False
    with pytest.raises(KeyboardInterrupt), SIGNALS.held():
        os.kill(os.getpid(), signal.SIGINT)
        reached = True
    assert reached


class Collected:
    """Ctrl-C arrives while Python collects this object, which drops exceptions."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("times", [1, 3])
def test_signal_during_object_finalization_is_not_lost(times: int) -> None:
    hook, alarm = sys.unraisablehook, signal.getsignal(signal.SIGALRM)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt), SIGNALS.handled():
        for _ in range(times):
            Collected()
        time.sleep(20)
    assert time.monotonic() - begun < 10
    assert (sys.unraisablehook, signal.getsignal(signal.SIGALRM)) == (hook, alarm)


def test_signal_lost_in_a_finalizer_is_held_until_the_end() -> None:
    reached = False
    with pytest.raises(KeyboardInterrupt), SIGNALS.handled(), SIGNALS.held():
        Collected()
        time.sleep(0.1)
        reached = True
    assert reached


def interrupted(started: list[subprocess.Popen[Any]]) -> type[subprocess.Popen[Any]]:
    """A Popen after which a Ctrl-C arrives before the caller has stored the child in a variable."""

    class Interrupted(subprocess.Popen[Any]):
        def __init__(self, *words: Any, **how: Any) -> None:
            super().__init__(*words, **how)
            started.append(self)
            os.kill(os.getpid(), signal.SIGINT)
            sum(range(1000))  # Python calls its handlers between two steps of a program

    return Interrupted


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(lambda: processes.run_attended(["sleep", "300"]), id="attended"),
        pytest.param(lambda: processes.run(["sleep", "300"]), id="tool"),
        pytest.param(lambda: mpi.run("sleep", Path("/bin/sleep"), 2, ["300"], {}), id="ranks"),
    ],
)
def test_signal_during_program_start_ends_the_program(
    start: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[Any]] = []
    monkeypatch.setattr(subprocess, "Popen", interrupted(started))
    with pytest.raises(KeyboardInterrupt):
        start()
    try:
        assert [child.returncode is not None for child in started] == [True]
    finally:
        for child in started:
            child.kill()


def test_program_may_ignore_a_signal_during_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """It continues, as after any first Ctrl-C that it ignores."""
    monkeypatch.setattr(subprocess, "Popen", interrupted([]))
    assert processes.run_attended(["sh", "-c", "trap '' INT; sleep 1.5; exit 7"]) == 7


def test_process_ends_with_its_parent() -> None:
    """A process that requests it ends with its parent, for any cause of the parent's end."""
    steps = [
        "import os, time",
        "from gossamer import processes",
        "processes.end_with_parent(os.getppid())",
        "print(1, flush=True)",
    ]
    child = "; ".join([*steps, "time.sleep(300)"])
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    begun = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE)
    assert begun.stdout is not None
    with begun, begun.stdout:
        assert begun.stdout.readline() == b"1\n"
        begun.kill()
        # The pipe is at its end when no process has it open.
        assert begun.stdout.read() == b""
