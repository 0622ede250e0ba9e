# SPDX-License-Identifier: Apache-2.0
"""The threads that a process keeps between runs: their reuse, after a fork, and at the end of the process."""

from __future__ import annotations

import subprocess
import sys

import pytest

BEGIN = """
import os, sys, time
import numpy as np
import gossamer

ends = np.arange(5000)
graph = gossamer.Graph.from_arrays(ends, (ends * 7 + 1) % 5000)

def run(threads):
    return gossamer.run("hashmin-sync", graph, threads=threads).values.sum()

def tasks():
    "The threads that are kept: those of Python, one of which waits for the run, have another name."
    found = set()
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/comm") as file:
                if file.read().strip() == "gossamer":
                    found.add(task)
        except OSError:
            pass  # it has just ended
    return found

def ends(threads):
    "Behind a join the system may show a thread for a moment."
    late = time.monotonic() + 60
    while tasks() & threads and time.monotonic() < late:
        time.sleep(0.01)
    return not tasks() & threads

answer = run(1)
"""


def process(script: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_threads_are_started_once() -> None:
    process("""
assert run(4) == answer
first = tasks()
assert len(first) == 3, first
for _ in range(5):
    assert run(4) == answer
    assert run(1) == answer
    assert tasks() == first
assert run(2) == answer
assert ends(first) and len(tasks()) == 1
""")


@pytest.mark.parametrize("end", ["sys.exit(0)", "os._exit(0)"])
def test_forked_child_has_its_own_threads(end: str) -> None:
    # The child's run must not wait for threads that only its parent has.
    process(f"""
assert run(3) == answer
child = os.fork()
if child == 0:
    assert run(3) == answer and run(2) == answer and run(3) == answer
    assert len(tasks()) >= 2
    {end}
_, status = os.waitpid(child, 0)
assert status == 0, status
before = tasks()
assert run(3) == answer
assert tasks() == before, "the parent's are still there"
""")


def test_failed_run_threads_are_not_reused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    header = tmp_path / "dies.h"
    header.write_text("""
#include <gossamer/polite.h>
namespace dies {
struct State { uint32_t x; };
struct Vertex : gossamer::PVertex<State, gossamer::None, uint32_t> {
  void init() { if (s->x) __builtin_trap(); *readyToSend = gossamer::Pin(0); }
  void send(uint32_t* m) { *m = 1; *readyToSend = gossamer::No; }
  void recv(const uint32_t*, const gossamer::None*) {}
  bool step() { return false; }
};
}  // namespace dies
GOSSAMER_VERTEX(dies::Vertex)
#if __STDC_HOSTED__
#include <gossamer/app.h>
namespace dies {
struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "dies";
  static constexpr const char* summary = "dies when told to";
  bool now = false;
  void parameters(gossamer::Parameters& p) { p.flag("now", now, "die"); }
  void init(const gossamer::VertexInfo&, State& s) { s.x = now; }
  void results(gossamer::Columns<State>& c) { c.add("x", "x", [](const State& s) { return s.x; }); }
};
}  // namespace dies
GOSSAMER_APPLICATION(dies::App)
#endif
""")
    process(f"""
from gossamer.errors import RunDied
app = {str(header)!r}
gossamer.run(app, graph, threads=3)
before = tasks()
for _ in range(3):
    try:
        gossamer.run(app, graph, threads=3, now=True)
        raise SystemExit("it did not die")
    except RunDied:
        pass
assert len(before) == 2 and ends(before), "threads that died in a handler are not used again"
assert run(3) == answer and len(tasks()) == 2
""")
