# SPDX-License-Identifier: Apache-2.0
"""The engine ``model``: results of ``cpu``, the same prediction with any number of workers, and what it rejects."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import agreement
import numpy as np
import pytest
from conftest import ROOT, Command

import gossamer_setup
from gossamer import apps
from gossamer import config as configs
from gossamer.apps import runner
from gossamer.engines import _model_costs, _model_validation
from gossamer.engines._rtl_vertex_machine import Placed
from gossamer.engines.model import Model
from gossamer.engines.rtl_cluster import Plan
from gossamer.errors import HandlerDied, InputError
from gossamer.graph import Graph, read_graph

GRAPH = "gen:geometric:vertices=600,fanout=12,radius=0.1,seed=1"
RMAT = "gen:rmat:scale=9,edge_factor=8,seed=3"
SCATTERED = "gen:geometric:vertices=256,fanout=5,radius=1.5,seed=1"
"""Without locality: most messages by key have receivers on several boards."""
CLOCK = """\
#include <gossamer/polite.h>
struct State { uint32_t when; };
struct Vertex : gossamer::PVertex<State, gossamer::None, uint32_t> {
  void init() { *readyToSend = gossamer::No; }
  void send(uint32_t*) { *readyToSend = gossamer::No; }
  void recv(const uint32_t*, const gossamer::None*) {}
  bool step() {
#ifdef __riscv
    asm volatile("csrr %0, 0xC00" : "=r"(s->when));
#endif
    return false;
  }
};
GOSSAMER_VERTEX(Vertex)
#if __STDC_HOSTED__
#include <gossamer/app.h>
struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "clock";
  static constexpr const char* summary = "reads the clock";
  void init(const gossamer::VertexInfo&, State& s) { s.when = 0; }
  void results(gossamer::Columns<State>& c) { c.add("when", "a time", [](const State& s) { return s.when; }); }
};
GOSSAMER_APPLICATION(App)
#endif
"""


@pytest.fixture(scope="module", autouse=True)
def tools() -> None:
    gossamer_setup.require("rtl")


@pytest.fixture(scope="module")
def graph() -> Graph:
    return read_graph(GRAPH)


def on(where: str, **how: Any) -> Model:
    return Model(config=where, **how) if where == "tiny" else Model(plan=Plan(configs.load_cluster(where)), **how)


@pytest.mark.parametrize(
    ("app", "where", "multicast"),
    [
        ("pagerank", "tiny", "local"),
        ("pagerank", "pair", "none"),
        ("sssp", "pair", "local"),
        ("asp", "tiny", "none"),
        ("pagerank", "octet", "full"),
        ("sssp", "octet", "full"),
    ],
)
def test_results_are_those_of_cpu(graph: Graph, app: str, where: str, multicast: str) -> None:
    more = {"iterations": 3} if app == "pagerank" else {}
    known = runner.run(app, graph, **more)
    found = runner.run(app, graph, engine=on(where, multicast=multicast), **more)
    agreement.check(known, found)
    if app == "pagerank":
        assert found.stats["sends"] == known.stats["sends"]
        assert found.stats["deliveries"] == known.stats["deliveries"]


def test_hubs_whose_queues_are_full_lose_no_message() -> None:
    # More threads wait for the hub's tile than the network holds messages for it.
    graph = read_graph("gen:rmat:scale=9,edge_factor=8,seed=3")
    known = runner.run("pagerank", graph, iterations=3)
    found = runner.run("pagerank", graph, engine=Model(config="quad"), iterations=3)
    assert runner.difference(known, found) is None
    assert (found.stats["sends"], found.stats["deliveries"]) == (known.stats["sends"], known.stats["deliveries"])


def test_a_prediction_does_not_depend_on_the_number_of_workers(graph: Graph) -> None:
    runs = [
        runner.run("hashmin", graph, engine=on("octet", workers=workers, multicast="full")).stats
        for workers in (1, 2, 2)
    ]
    for stats in runs:
        for name in ("simulation_seconds", "seconds", "run_seconds"):
            stats.pop(name, None)
    assert runs[0] == runs[1] == runs[2]


class Kept(Model):
    """The engine, with what it has placed on the machine."""

    def placed(self, *arguments: Any) -> Placed:
        self.kept = super().placed(*arguments)
        return self.kept


def visits(engine: Kept) -> tuple[int, int, int]:
    """Of one message of each sender by key: routers that it visits, beats of records there, copies.

    Reads the bytes of the tables record by record, as docs/hardware/multicast.md describes them.
    """
    plan, tables = engine.plan, engine.kept.tables.multicast_tables
    assert plan is not None and tables is not None
    images, far = dict(tables.images()), {(board, link): to for board, link, to, *_ in plan.wires({})}
    routers = beats = copies = 0
    mapping, each = engine.kept.mapping, engine.machine.threads // plan.boards
    source = mapping.thread[mapping.order[tables.sender // engine.kept.problem.pins]] // each
    left = list(zip(source.tolist(), tables.key.tolist(), strict=True))
    while left:
        board, key = left.pop()
        routers += 1
        while key:
            first, count, key = (key >> 5) - (tables.base - 0x4000_0000) // 32, key & 31, 0
            beats += count
            for at in range(first, first + count):
                bits = int.from_bytes(images[board][32 * at : 32 * at + 32], "little")
                records, bits = bits & 0xFFFF, bits >> 16
                for _ in range(records):
                    kind = bits >> 45 & 7
                    if kind == 6:  # an indirection
                        key = bits & 0xFFFF_FFFF
                    elif kind == 5:  # to a neighbour's router
                        left.append((far[board, bits >> 41 & 15], bits & 0xFFFF_FFFF))
                    copies += kind != 6
                    bits >>= 96 if kind in (2, 3, 4, 7) else 48
    return routers, beats, copies


def test_counters_of_multicast_routers_are_those_of_their_tables() -> None:
    iterations = 3
    engine = Kept(plan=Plan(configs.load_cluster("octet")), multicast="full")
    stats = runner.run("pagerank", read_graph(SCATTERED), engine=engine, iterations=iterations).stats
    routers, beats, copies = visits(engine)
    found = stats["router_counters"]
    assert routers > 0
    assert (found["messages"], found["copies"]) == (iterations * routers, iterations * copies)
    # A beat belongs to one node of one sender's tree, and a router's cache holds all of them: the first read misses.
    assert (found["lookups"], found["misses"], found["hits"]) == (
        iterations * beats, beats, (iterations - 1) * beats
    )  # fmt: skip


def test_states_are_so_large_that_offsets_of_the_interpreted_part_would_not_fit() -> None:
    # On 256 threads a thread has at most two cells of 3.5 KB, and 2 bytes hold each offset. The interpreted part has
    # two tiles, where a thread would have 20.
    graph = read_graph("gen:cube:width=7,height=7,depth=7,neighbours=26,around=yes")
    known = runner.run("dpd-gals", graph, steps=1)
    found = runner.run("dpd-gals", graph, engine=on("octet"), steps=1)
    agreement.check(known, found)


def test_a_prediction_names_the_nearest_validated_case(graph: Graph) -> None:
    engine = on("tiny")
    result = runner.run("pagerank", graph, engine=engine, iterations=1)
    assert _model_validation.points()
    assert "nearest validated case: pagerank" in engine.notes[0] and "on tiny" in engine.notes[0]
    assert abs(result.stats["nearest_validated_error"]) < 0.2
    assert len(engine.notes) == 1


def test_a_configuration_that_was_not_validated_runs_with_a_warning(graph: Graph) -> None:
    engine = Model(config="de5-128")
    runner.run("pagerank", graph, engine=engine, iterations=1)
    assert "warning: outside of the validated range: configuration de5-128 was not validated" in engine.notes[1]


def test_counters_that_are_not_modelled_are_absent(graph: Graph) -> None:
    counters = runner.run("pagerank", graph, engine=on("tiny"), iterations=1).stats["counters"]
    assert "refused" not in counters
    assert {"cycles", "instructions", "hits", "misses", "writebacks", "sent", "flits_out"} <= counters.keys()


# Each parameter of the hardware moves the prediction in the direction in which it moves the hardware.
SLOWER = {
    "issue": 9.0, "load": 40.0, "store": 40.0, "slot": 60.0, "mailbox": 60.0, "fpu_long": 60.0,
    "dram_miss": 100.0, "sram_miss": 100.0, "write_back": 40.0, "sram_write_back": 40.0, "dram_line": 20.0,
    "dram_dirty": 9.0, "sram_line": 20.0, "core_issue": 4.0, "cache_request": 6.0, "barrier": 3000.0, "release": 1000.0,
    "link": 4000.0, "begin": 9000.0, "end": 9000.0, "mesh_message": 4000.0, "local_message": 4000.0,
}  # fmt: skip


def test_slower_hardware_takes_more_cycles(graph: Graph) -> None:
    def cycles(**timing: float) -> int:
        return int(runner.run("pagerank", graph, engine=on("pair", timing=timing), iterations=2).stats["cycles"])

    known = cycles()
    assert [name for name, value in SLOWER.items() if cycles(**{name: value}) <= known] == []


def test_short_queues_take_as_many_cycles_more_as_on_the_hardware() -> None:
    spread = read_graph("gen:geometric:vertices=600,fanout=12,radius=1.5,seed=1")
    tiny = configs.load("tiny")
    short = tiny.model_copy(update={"mailbox": tiny.mailbox.model_copy(update={"queue_depth": 2})})
    cycles = [
        runner.run("pagerank", spread, engine=Model(config=one), iterations=2).stats["cycles"] for one in (tiny, short)
    ]
    # 1.104 on `rtl` (tests/system/test_model_rtl.py).
    assert cycles[1] / cycles[0] == pytest.approx(1.104, abs=0.03)


def test_a_state_of_another_size_on_boards_is_rejected(tmp_path: Path) -> None:
    text = (ROOT / "examples" / "hops" / "hops.h").read_text(encoding="utf-8")
    header = tmp_path / "longer.h"
    member = "  uint32_t hops;"
    assert text.count(member) == 1
    header.write_text(
        text.replace(member, f"{member}\n#if __STDC_HOSTED__\n  uint32_t more;\n#endif"), encoding="utf-8"
    )
    with pytest.raises(InputError, match="the state has 8 bytes on the host and 4 on the threads; use"):
        runner.run(header, read_graph("gen:ring:vertices=10"), engine=on("tiny"), source=0)


def test_a_handler_that_reads_the_clock_is_rejected(tmp_path: Path) -> None:
    header = tmp_path / "clock.h"
    header.write_text(CLOCK)
    with pytest.raises(InputError, match=r"clock: a handler reads the clock \(.*clock.h:9.*use --engine rtl"):
        runner.run(apps.load(header), read_graph("gen:grid:width=4,height=4"), engine=on("tiny"))


def test_a_cluster_that_is_too_small_names_the_memory_and_larger_ones() -> None:
    big = read_graph("gen:grid:width=1200,height=1200")
    with pytest.raises(InputError, match=r"tiny: .* needs at least .* bytes, and the memories hold .*; it fits on"):
        runner.run("pagerank", big, engine=on("tiny"), iterations=1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("triangles", "--config", "tiny"), "reads its own edges, which the engine model does not support"),
        (("pagerank", "--trace", "t.pftrace"), "--trace: needs the simulator; use --engine rtl"),
        (("programs/hello.c",), "the engine model runs applications"),
    ],
)
def test_what_is_not_modelled_is_rejected_in_one_line(command: Command, words: tuple[str, ...], message: str) -> None:
    graph = [] if words[0].endswith(".c") else ["gen:grid:width=4,height=4"]
    done = command("run", words[0], *graph, "--engine", "model", *words[1:])
    assert done.returncode == 2
    assert message in done.stderr and "Traceback" not in done.stderr


def test_the_solver_finds_the_costs_of_events() -> None:
    random = np.random.default_rng(1)
    given = random.integers(0, 50, (200, 5)).astype(float)
    costs = np.array([3.0, 0.0, 7.5, 1.0, 20.0])
    assert np.allclose(_model_costs._positive(given, given @ costs), costs, atol=1e-6)


def test_the_table_of_points_is_what_the_benchmark_runs() -> None:
    known = json.loads(_model_validation.POINTS.read_text())["points"]
    text = (ROOT / "bench" / "model" / "_points.py").read_text()
    assert {one["graph"] for one in known} <= {
        line.split('"')[1] for line in text.splitlines() if line.startswith(("GEO", "RMAT", "GRID"))
    }


@pytest.mark.parametrize(
    ("app", "where", "graph"), [("hashmin", "pair", "gen:grid:width=36,height=24"), ("pagerank", "octet", RMAT)]
)
def test_recorded_predictions_are_repeated(app: str, where: str, graph: str) -> None:
    """Within 1 %, since the last bits of the costs of events depend on this machine's linear algebra."""
    known = json.loads(_model_validation.POINTS.read_text())["points"]
    (point,) = [
        one
        for one in known
        if (one["app"], one["place"], one["graph"], one["multicast"]) == (app, where, graph, "local")
    ]
    more = {"iterations": 3} if app == "pagerank" else {}
    stats = runner.run(app, read_graph(graph), engine=on(where), **more).stats
    assert stats["steps"] == point["steps"]
    assert stats["cycles"] == pytest.approx(point["predicted"], rel=0.01)


DIES = """\
#include <gossamer/polite.h>
struct State { uint32_t index, divisor; };
struct Vertex : gossamer::PVertex<State, gossamer::None, uint32_t> {
  void fail(uint32_t where) {
    volatile uint32_t one = 1, by = s->divisor;
    if (WHERE == where) one = one / by;  // divides
  }
  void init() { fail(1); *readyToSend = gossamer::Pin(0); }
  void send(uint32_t*) { fail(2); *readyToSend = gossamer::No; }
  void recv(const uint32_t*, const gossamer::None*) { fail(3); }
  bool step() { fail(4); return false; }
};
GOSSAMER_VERTEX(Vertex)
#if __STDC_HOSTED__
#include <gossamer/app.h>
struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "dies";
  static constexpr const char* summary = "divides by zero";
  void init(const gossamer::VertexInfo& v, State& s) { s = {v.index, v.index == 137 ? 0u : 1u}; }
  void results(gossamer::Columns<State>& c) { c.add("index", "a number", [](const State& s) { return s.index; }); }
};
GOSSAMER_APPLICATION(App)
#endif
"""


@pytest.mark.parametrize(("where", "handler"), [*enumerate(("init", "send", "recv", "step"), 1)])
@pytest.mark.parametrize("place", ["tiny", "octet"])
def test_a_handler_that_crashes_is_named_with_vertex_and_line(
    where: int, handler: str, place: str, tmp_path: Path
) -> None:
    header = tmp_path / "dies.h"
    header.write_text(DIES)
    app = apps.load(header, [f"WHERE={where}"])
    with pytest.raises(HandlerDied) as caught:
        runner.run(app, read_graph("gen:grid:width=20,height=15"), engine=on(place))
    line = next(at for at, text in enumerate(DIES.splitlines(), 1) if text.endswith("// divides"))
    # A call of recv is for several vertices.
    vertex = "" if handler == "recv" else " of vertex 137"
    assert re.fullmatch(
        rf"dies: {handler}{vertex} divides by zero.* \(SIGFPE\), at \S*dies\.h:{line}; there is no answer",
        str(caught.value),
    )
    assert caught.value.exit_code == 4
