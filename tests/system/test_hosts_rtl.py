# SPDX-License-Identifier: Apache-2.0
"""Programs with their own host (PGraph) on simulated boards match the engine ``cpu``."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Command, Size
from system.dynamic_graph_hosts import CHANGES, REFUSED, check

import gossamer_setup
from gossamer import config as configs
from gossamer.engines.rtl_vertices import MULTICAST

HOSTS = ROOT / "tests" / "fixtures" / "hosts"
TALKS = HOSTS / "talks" / "host.cpp"
FOUR = ROOT / "tests" / "fixtures" / "cluster" / "four.toml"
TINY = ("run", "--engine", "rtl", "--config", "tiny", "--max-cycles", "5000000")
LEAST = -(1 << 31)


@pytest.fixture(scope="module", autouse=True)
def simulators() -> None:
    """The board is compiled once, outside of the time limits of tests."""
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    _rtl_build.cluster(configs.load("tiny"))


def _talk(vertices: int, rounds: int) -> list[str]:
    """The expected output of talks/host.cpp: its vertices and its host, step by step."""
    heard = [0] * vertices
    given: tuple[int, int, int, float] = (0, LEAST, 0, 0)
    lines, sends, deliveries = [], 0, 0
    for time in range(rounds + 1):
        seen = given
        ids = 0
        for vertex in range(vertices):
            ids |= 1 << vertex % 32
        given = (sum(heard), max(heard) - 7, ids, sum(heard) / 8)
        if time == rounds:
            break
        lines.append(f"{time}: {seen[0]} {seen[1]} {seen[2]:x} {seen[3]:g}")
        sends += 1
        for offset, value in ((0, time + 1), (1, 100)):
            vertex = ((time + 1) * 3 + offset) % vertices
            heard[vertex] += value
            heard[(vertex + 1) % vertices] += value * (vertex + 1)
            heard[(vertex + 5) % vertices] += value * 2
            sends += 1
            deliveries += 3
    lines += [f"{vertex} {count} {count}" for vertex, count in enumerate(heard)]
    lines += [f"steps {rounds + 1} sends {sends} deliveries {deliveries} host {rounds + vertices}"]
    lines += [f"totals {given[0]} {given[1]} {given[2]:x} {given[3]:g}"]
    return [*lines, "error: send: the host has closed its end; send before close() or wait()"]


def _lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.default_cases("polls.*", seconds=27, adds="a host that waits for each answer")
@pytest.mark.parametrize("how, vertices", [("waits", 12), ("polls", 40)])
def test_answering_host_prints_the_same_as_on_cpu(how: str, vertices: int, command: Command, tmp_path: Path) -> None:
    stats = tmp_path / "stats.json"
    expected = _talk(vertices, 4)
    assert _lines(command("run", TALKS, how, str(vertices), "4")) == expected
    assert _lines(command(*TINY, f"--stats={stats}", TALKS, how, str(vertices), "4", timeout=300)) == expected
    # The cycles show that it ran on boards and not on this machine.
    about = json.loads(stats.read_text())
    assert about["cycles"] > 5 * 1000
    # Cores also issue instructions before and after the loop, and waiting loads a second time.
    assert 0.9 * about["instructions"] < about["retired"] < about["instructions"]


def test_engine_option_overrides_the_environment(command: Command, tmp_path: Path) -> None:
    stats = tmp_path / "stats.json"
    words = (*TINY, f"--stats={stats}", TALKS, "polls", "12", "2")
    assert _lines(command(*words, env={"GOSSAMER_ENGINE": "cpu"}, timeout=300)) == _talk(12, 2)
    assert json.loads(stats.read_text())["cycles"] > 3 * 1000


def test_mapper_exits_when_its_host_has_already_exited(tmp_path: Path) -> None:
    host = subprocess.Popen(["true"])
    host.wait()
    mapper = [sys.executable, "-m", "gossamer.polite.mapping", *(str(tmp_path / name) for name in "abc"), str(host.pid)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(mapper, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGKILL, "", "")


def test_second_run_starts_from_the_initial_state(command: Command) -> None:
    assert _lines(command(*TINY, TALKS, "twice", "12", "2", timeout=300)) == 2 * _talk(12, 2)


def test_run_continues_after_its_host_has_closed(command: Command) -> None:
    on_cpu, on_boards = (command(*words, TALKS, "closes", "12", "3", timeout=300) for words in (("run",), TINY))
    assert _lines(on_cpu) == _lines(on_boards)
    assert on_boards.stdout.splitlines()[12:14] == ["9 0 0", "10 0 0"]


def test_send_on_a_missing_pin_is_an_error(command: Command) -> None:
    on_cpu, on_boards = (command(*words, TALKS, "pin", "12", "1", timeout=300) for words in (("run",), TINY))
    assert _lines(on_cpu) == _lines(on_boards)
    last = "error: vertex 3 sends on pin 6, but the graph has 2 pins"
    assert on_boards.stdout.splitlines()[-1] == last


@pytest.mark.default_cases("paths", seconds=33, adds="a second example")
@pytest.mark.parametrize("example", ["paths", "kmeans"])
def test_examples_match_the_cpu_engine(example: str, command: Command, tmp_path: Path) -> None:
    arguments: list[str] = []
    if example == "kmeans":
        points = tmp_path / "points"
        points.write_text("".join(f"{i % 7 + 10 * (i % 3)} {i % 5 + 8 * (i % 3)}\n" for i in range(60)))
        arguments = [str(points), "3"]
    host = ROOT / "examples" / example / "host.cpp"
    on_cpu = _lines(command("run", host, *arguments))
    assert len(on_cpu) == (3 if example == "kmeans" else 8)
    assert _lines(command(*TINY, host, *arguments, timeout=300)) == on_cpu


_PLAIN = """\
#include <gossamer/polite.h>
struct State { uint32_t x; };
struct Plain : gossamer::PVertex<State, gossamer::None, uint32_t> {
  void init() { CODE }
  void send(uint32_t*) {}
  void recv(const uint32_t*, const gossamer::None*) {}
};
"""
_MAIN = """\
int main() {
  gossamer::PGraph<Plain> graph;
  graph.newVertex();
  try {
    auto job = graph.start();
    while (job.recv()) {
    }
  } catch (const gossamer::Error& error) {
    std::puts(error.what());
    return 3;
  }
}
"""


@pytest.mark.parametrize(
    "code, where, exit_code, says",
    [
        ("", "host.cpp", 2, "host.cpp: defines its vertex Plain in the host's source; move it"),
        ("*reinterpret_cast<volatile uint32_t*>(s->x + 2) = 1;", "vertex.h", 4, "in init at "),
    ],
)
def test_unsupported_use_and_traps_are_reported(
    code: str, where: str, exit_code: int, says: str, command: Command, tmp_path: Path
) -> None:
    vertex = _PLAIN.replace("CODE", code)
    own = '#include "vertex.h"\n'
    if where == "vertex.h":
        (tmp_path / "vertex.h").write_text("#pragma once\n" + vertex)
    head = "#include <gossamer/pgraph.h>\n#include <cstdio>\n"
    (tmp_path / "host.cpp").write_text(head + (own if where == "vertex.h" else vertex) + _MAIN)
    done = command(*TINY, tmp_path / "host.cpp", timeout=300)
    assert done.returncode == exit_code, done.stderr
    assert says in done.stderr and len(done.stderr.splitlines()) <= 2


@pytest.mark.tier("all", seconds=24, adds="hosts of boards with lossy links")
def test_cluster_prints_the_same_over_lossy_links(command: Command) -> None:
    from gossamer.engines import _rtl_build

    _rtl_build.cluster(configs.load("tiny"))
    words = ("run", "--engine", "rtl", "--cluster", "pair", "--frame-loss", "0.01")
    assert _lines(command(*words, TALKS, "waits", "40", "2", timeout=500)) == _talk(40, 2)


@pytest.mark.tier("all", seconds=10, adds="runs that the host cancels")
def test_cancelled_runs_do_not_affect_the_next_run(command: Command) -> None:
    """With messages in flight in all threads, and after one has ended; the next run receives none of them."""
    kinds = ("steps", "free", "free", "wrong", "steps")
    told = _lines(command(*TINY, HOSTS / "stops" / "host.cpp", *kinds, timeout=300))
    for kind, line in zip(kinds, told, strict=True):
        if kind == "wrong":
            assert re.fullmatch(r"wrong: vertex \d+ sends on pin 4, but the graph has 1 pin", line)
        else:
            assert line == f"{kind}: 100 heard, 0 strange"


@pytest.mark.tier("all", seconds=33, adds="the keys of a host over lossy links")
def test_multicast_keys_deliver_over_lossy_links(command: Command, tmp_path: Path) -> None:
    """Over links that lose frames; messages of the host use addresses."""
    sent = {}
    for how in MULTICAST:
        stats = tmp_path / f"{how}.json"
        words = ("run", "--engine", "rtl", "--cluster", FOUR, "--frame-loss", "0.01", "--mapping", "random")
        done = command(*words, "--multicast", how, f"--stats={stats}", TALKS, "waits", "80", "3", timeout=500)
        assert _lines(done) == _talk(80, 3)
        sent[how] = json.loads(stats.read_text())["mailbox"]["sent"]
    assert sent["full"] < sent["local"] <= sent["none"]


@pytest.mark.tier("all", seconds=5, adds="limits in runs of hosts; those of applications run by default")
def test_step_and_cycle_limits_name_the_sending_vertices(command: Command) -> None:
    """After a maximum of steps or cycles; the host's program ends with the run."""
    stops = HOSTS / "stops" / "host.cpp"
    done = command("run", "--engine", "rtl", "--config", "tiny", "--max-steps", "6", stops, "steps", timeout=300)
    assert (done.returncode, done.stdout) == (4, "")
    named = "did not end within 6 steps: 40 vertices still send (0, 1, 2, 3, 4, 5, 6, 7, ...)"
    assert done.stderr.splitlines()[-1].endswith(named)
    done = command("run", "--engine", "rtl", "--config", "tiny", "--max-cycles", "30000", stops, "free", timeout=300)
    assert done.returncode == 4 and re.search(
        r"cycles; the host waits in Job::recv: .*vertices still send", done.stderr
    )


def test_changed_graph_has_shortest_paths_in_each_part(command: Command, size: Size) -> None:
    """Compares each part's distances, and the messages of rejected changes."""
    for seed in range(1, 1 + size.pick(1, 1, 8)):
        check("\n".join(_lines(command(*TINY, CHANGES, str(seed), timeout=500))))
    assert _lines(command(*TINY, CHANGES, "wrong", timeout=300)) == REFUSED


@pytest.mark.tier(
    "all", seconds=40, adds="handler calls of a changing graph compared with cpu; distances of each part run by default"
)
@pytest.mark.parametrize("machine", ["tiny", "pair"])
def test_parts_call_the_same_handlers_as_on_cpu(machine: str, command: Command, size: Size) -> None:
    """All changes, messages in both directions in each part, aggregates; removed vertices leave free slots."""
    words: tuple[str, ...] = TINY
    if machine == "pair":
        from gossamer.engines import _rtl_build

        _rtl_build.cluster(configs.load("tiny"))
        words = ("run", "--engine", "rtl", "--cluster", "pair")
    for seed in range(1, 1 + size.pick(1, 1, 8)):
        on_cpu = _lines(command("run", CHANGES, "mixed", str(seed), timeout=300))
        assert sum(line.startswith("part") for line in on_cpu) == 5
        assert _lines(command(*words, CHANGES, "mixed", str(seed), timeout=500)) == on_cpu


def test_recv_that_changes_edges_prevents_graph_changes(command: Command) -> None:
    assert _lines(command("run", CHANGES, "values")) == ["taken"]
    (said,) = _lines(command(*TINY, CHANGES, "values", timeout=300))
    assert said.startswith("addEdge: recv changes the values of edges, which boards do not return; use --engine")
