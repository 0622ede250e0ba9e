# SPDX-License-Identifier: Apache-2.0
"""SIGINT and SIGTERM to the command end it at once in every phase: no process and no partial file remains."""

from __future__ import annotations

import ctypes
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT
from sessions import Session

from gossamer import apps, builds, native, processes
from gossamer.hosts import pgraph

ENDS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
# A compiler needs minutes for this: loops at compile time, each just below the compiler's limit.
SLOW = """
#ifndef GOSSAMER_EXACT_WIDTHS
template <int N> struct Loop {
  static constexpr unsigned long value = [] { unsigned long n = N; for (long i = 0; i < 200000; ++i) n = n * 3 + i;
                                              return n; }();
};
template <int N> constexpr unsigned long sum() {
  if constexpr (N == 0) return 0; else return Loop<N>::value + sum<N-1>();
}
static_assert(sum<800>() != 1);
#endif
"""
HOST = """
#include <csignal>
#include <cstdio>
#include <unistd.h>
int main(int argc, char**) {
  if (argc > 1) { std::signal(SIGTERM, SIG_IGN); std::signal(SIGINT, SIG_IGN); }
  if (FILE* out = std::fopen("started", "w")) std::fclose(out);
  for (;;) pause();
}
"""


def halves() -> set[Path]:
    """Partial files of builds."""
    return set(native.build_dir().rglob("*.part"))


@pytest.mark.parametrize(("number", "code"), ENDS)
@pytest.mark.parametrize("ending", ["h", "cpp"])
def test_signal_ends_the_compiler(ending: str, number: signal.Signals, code: int, tmp_path: Path) -> None:
    """The compiler of an application, and of a program with its own host."""
    source = tmp_path / f"slow.{ending}"
    source.write_text(SLOW)
    apps.load("hashmin")  # builds the library and the precompiled header, so that the compiler processes the slow file
    before = halves()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    session = Session("run", source, "gen:ring:vertices=5", cwd=tmp_path, env={"TMPDIR": str(temporary)})
    session.wait_until(lambda: "cc1plus" in session.processes() and any(temporary.iterdir()))
    returned, said = session.ends(number, 15)
    assert returned == code and said.count("\n") == 1, said
    assert halves() <= before
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(("number", "code"), ENDS)
@pytest.mark.parametrize("stubborn", [False, True])
def test_signal_ends_a_host_program(number: signal.Signals, code: int, stubborn: bool, tmp_path: Path) -> None:
    """A program that ignores signals is killed: after a second Ctrl-C, or some seconds after SIGTERM."""
    source = tmp_path / "host.cpp"
    source.write_text(HOST)
    pgraph.compile_program(source)
    session = Session("run", source, *(["stubborn"] if stubborn else []), cwd=tmp_path)
    session.wait_until((tmp_path / "started").exists)
    assert "program" in session.processes()
    if stubborn and number == signal.SIGINT:
        session.child.send_signal(number)
        time.sleep(1)
        assert "program" in session.processes()
    returned, said = session.ends(number, 20 if stubborn else 15)
    assert returned == code and said.count("\n") == 1, said


def test_signal_ends_a_polite_program(tmp_path: Path) -> None:
    """On the engine cpu, with devices that send without end."""
    program = tmp_path / "program"
    shutil.copytree(ROOT / "tests" / "fixtures" / "polite" / "pulses", program)
    for file, old, new in (("Pulse.h", "    s->left--;\n", ""), ("Run.cpp", "i < wanted", "true")):
        text = (program / file).read_text()
        assert old in text
        (program / file).write_text(text.replace(old, new))
    for number, code in ENDS:
        session = Session("polite", "run", program, cwd=tmp_path)
        session.wait_until(lambda its=session: "program" in its.processes())
        returned, said = session.ends(number, 15)
        assert returned == code and said.count("\n") == 1, said


RAISE_AND_WAIT = """
#include <poll.h>
#include <signal.h>
int raise_and_wait(int file) {
  struct pollfd one = {file, POLLIN, 0};
  raise(SIGINT);
  return poll(&one, 1, 5000);
}
"""


def test_signal_just_before_a_wait_ends_the_wait(tmp_path: Path) -> None:
    """The signal arrives between Python's last check for signals and the system call, a rare race."""
    source, library = tmp_path / "wait.c", tmp_path / "wait.so"
    source.write_text(RAISE_AND_WAIT)
    subprocess.run([*builds.c_compiler(), "-shared", "-fPIC", source, "-o", library], check=True)
    before = signal.getsignal(signal.SIGINT)
    watch = processes._Asked()
    try:
        assert ctypes.CDLL(str(library)).raise_and_wait(watch._wake) == 1
        assert [number for _, number in watch.signals] == [signal.SIGINT]
    finally:
        watch.close()
    assert signal.getsignal(signal.SIGINT) is before and signal.set_wakeup_fd(-1) == -1


@pytest.mark.parametrize(("number", "code"), ENDS)
def test_signal_ends_a_generator(number: signal.Signals, code: int, tmp_path: Path) -> None:
    """During one call into the library that takes minutes: 2 billion edges."""
    words = ("graph", "generate", "rmat", "--scale", "16", "--edge-factor", "30000", "-o", tmp_path / "out.gsg")
    session = Session(*words, cwd=tmp_path)
    session.wait_until(lambda: session.seconds() > 2)
    returned, said = session.ends(number, 15)
    assert returned == code and said.count("\n") == 1, said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "tool",
    [
        pytest.param('trap "" TERM; sleep 300 & touch started; wait; sleep 300', id="stubborn"),
        pytest.param('(trap "" TERM; exec sleep 300) & touch started; wait', id="with-a-stubborn-child"),
        pytest.param('(trap "" TERM; exec sleep 300) & touch started', id="gone-before-its-child"),
    ],
)
def test_interrupt_ends_a_tool_and_its_children(tool: str, tmp_path: Path) -> None:
    """From Python, in a program without Gossamer's signal handlers."""
    script = f"from gossamer import processes\nprocesses.run(['sh', '-c', {tool!r}])\n"
    session = Session("-c", script, cwd=tmp_path, program=[sys.executable], env={"PYTHONPATH": str(ROOT / "python")})
    session.wait_until(lambda: (tmp_path / "started").exists() and "sleep" in session.processes())
    returned, said = session.ends(signal.SIGINT, 20)
    assert returned != 0 and "KeyboardInterrupt" in said
