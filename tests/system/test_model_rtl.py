# SPDX-License-Identifier: Apache-2.0
"""Predictions of the engine ``model`` compared with the simulated hardware."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import agreement
import pytest
import traces
from conftest import ROOT, Command

import gossamer_setup
from gossamer import config as configs
from gossamer.apps import runner
from gossamer.engines import _model_machine
from gossamer.engines.model import Model
from gossamer.engines.rtl_cluster import Plan
from gossamer.engines.rtl_vertices import Hardware
from gossamer.graph import read_graph

GRAPH = "gen:geometric:vertices=600,fanout=12,radius=0.1,seed=1"
SCATTERED = "gen:geometric:vertices=256,fanout=5,radius=1.5,seed=1"
COUNTERS = {"instructions": 0.01, "hits": 0.02, "misses": 0.05, "writebacks": 0.05, "sent": 0.0, "flits_out": 0.0}
"""The counters that are compared, and the permitted error."""


@pytest.fixture(scope="module", autouse=True)
def tools() -> None:
    gossamer_setup.require("rtl")


def test_a_prediction_is_close_to_the_hardware() -> None:
    graph = read_graph(GRAPH)
    real = runner.run("pagerank", graph, engine=Hardware(config="tiny"), iterations=1)
    found = runner.run("pagerank", graph, engine=Model(config="tiny"), iterations=1)
    agreement.check(real, found)
    assert found.stats["cycles"] == pytest.approx(real.stats["cycles"], rel=0.03)
    known = real.stats["counters"]
    wrong = {
        name: (found.stats["counters"][name], known[name])
        for name, most in COUNTERS.items()
        if abs(found.stats["counters"][name] / known[name] - 1) > most
    }
    assert not wrong


@pytest.mark.tier("all", seconds=30, adds="the constants of the timing model, measured by a program for threads")
def test_latencies_are_those_of_the_hardware(command: Command) -> None:
    done = command("run", str(ROOT / "bench" / "model" / "latency.c"), "--engine", "rtl", "--config", "tiny")
    assert done.returncode == 0, done.stderr
    measured = {name: int(cycles) for name, cycles in re.findall(r"(\w+) (\d+)", done.stdout)}
    timing = _model_machine.timing(configs.load("tiny"))
    each = 16  # instructions of a measurement
    for name, mine in (
        ("alu", "issue"), ("slot_load", "slot"), ("slot_store", "slot"), ("mailbox", "mailbox"),
        ("control", "control"), ("fpu_long", "fpu_long"), ("fpu_short", "fpu_short"), ("div", "divide"),
        ("fpu_divide", "fpu_divide"),
    ):  # fmt: skip
        assert (measured[name] - measured["empty"]) / each == pytest.approx(timing[mine], abs=1.0), name
    # The first of these accesses misses.
    for short, long, mine in (("load", "loads", "load"), ("store", "stores", "store")):
        assert (measured[long] - measured[short]) / (3 * each) == pytest.approx(timing[mine], abs=1.0), mine
    assert measured["walk_hit"] == pytest.approx(timing["load"], abs=2.0)
    loop = 2 * timing["issue"]
    for name, mine in (("dram_read", "dram_miss"), ("sram_read", "sram_miss")):
        assert measured[name] - loop - timing["load"] == pytest.approx(timing[mine], abs=2.0), name
    assert measured["dram_write"] - measured["dram_read"] == pytest.approx(timing["write_back"], abs=2.0)
    assert measured["sram_write"] - measured["sram_read"] == pytest.approx(timing["sram_write_back"], abs=2.0)


@pytest.mark.tier("all", seconds=60, adds="times of messages and barriers, measured by a program for threads")
@pytest.mark.parametrize("config", ["tiny", "quad"])
def test_times_of_messages_and_barriers_are_those_of_the_hardware(command: Command, config: str) -> None:
    done = command("run", str(ROOT / "bench" / "model" / "messages.c"), "--engine", "rtl", "--config", config)
    assert done.returncode == 0, done.stderr
    measured = {name: int(cycles) for name, cycles in re.findall(r"(\w+) (\d+)$", done.stdout, re.MULTILINE)}
    its = configs.load(config)
    timing = _model_machine.timing(its)
    read, mesh, hop = timing["control"], timing["mesh_message"], timing["hop"]
    expected = {
        "local1": timing["local_message"] + 1,
        "local4": timing["local_message"] + 4,
        "mesh1": mesh + 2 * hop + 1,
        "mesh4": mesh + 2 * hop + 4,
        "detect": timing["barrier"] + timing["issue"],
        "words": timing["barrier"] + timing["issue"] + timing["words"],
    }
    if config == "tiny":
        expected["release"] = (its.threads_per_tile - 1) * timing["release"] - read
    else:
        expected["far1"] = mesh + 3 * hop + 1
    wrong = {
        name: (measured[name], cycles) for name, cycles in expected.items() if abs(measured[name] - read - cycles) > 1
    }
    assert not wrong
    # A thread may send again when its next instruction asks; send_busy is at most what these two take.
    assert measured["can_send"] == 1
    assert timing["send_busy"] + its.mailbox.max_flits <= timing["mailbox"]


@pytest.mark.tier("all", seconds=60, adds="rates of cores, caches and memories, measured by a program for threads")
def test_rates_are_those_of_the_hardware(command: Command) -> None:
    done = command("run", str(ROOT / "bench" / "model" / "rates.c"), "--engine", "rtl", "--config", "quad")
    assert done.returncode == 0, done.stderr
    found = re.findall(r"(\w+) (\d+) (\d+)$", done.stdout, re.MULTILINE)
    measured = {name: int(cycles) for name, cycles, _ in found}  # the second of two
    its = configs.load("quad")
    timing, times = _model_machine.timing(its), int(found[0][2])
    each = {name: (measured[name] - measured["empty"]) / times for name in ("issue", "hit", "fpu")}
    assert each["issue"] / its.core.threads_per_core == pytest.approx(timing["core_issue"], rel=0.05)
    # The cores of a tile share one cache and one FPU.
    assert its.cache.cores_per_cache == its.fpu.cores_per_fpu == its.mailbox.cores_per_mailbox
    assert each["hit"] / its.threads_per_tile == pytest.approx(timing["cache_request"], rel=0.07)
    assert each["fpu"] / its.threads_per_tile == pytest.approx(timing["fpu_request"], rel=0.03)
    lines = times * its.threads
    assert measured["sram"] / lines == pytest.approx(timing["sram_line"], rel=0.05)
    # Two memories' buses: writes do not delay reads.
    assert measured["sram_write"] / lines == pytest.approx(timing["sram_line"], rel=0.05)
    assert measured["random"] / lines == pytest.approx(timing["dram_line"], rel=0.05)
    pair = timing["dram_line"] * (1 + timing["dram_dirty"])
    assert measured["random_write"] / lines == pytest.approx(pair, rel=0.1)
    # In the order of addresses the DRAM transfers more than the model assumes.
    assert measured["dram"] / lines < 0.75 * timing["dram_line"]


@pytest.mark.tier("all", seconds=150, adds="latencies of links, routers and their barriers, measured by a program")
@pytest.mark.parametrize("config", ["tiny", "quad"])
def test_links_and_keys_take_as_long_as_on_the_hardware(config: str, command: Command, tmp_path: Path) -> None:
    cluster = tmp_path / "row.toml"
    cluster.write_text(
        '# SPDX-License-Identifier: Apache-2.0\ndescription = "a row of boards"\ntopology = "mesh 3x1"\n'
        f'config = "{config}"\nhosts = ["host - x0y0:west"]\n'
    )
    done = command("run", str(ROOT / "bench" / "model" / "keys.c"), "--engine", "rtl", "--cluster", str(cluster))
    assert done.returncode == 0, done.stderr
    trips = {name: (int(cold), int(warm)) for name, cold, warm in re.findall(r" (\w+) (\d+) (\d+)\n", done.stdout)}
    meets = {name: int(cycles) for name, cycles in re.findall(r" (meet\d) (\d+)\n", done.stdout)}
    its = configs.load(config)
    x = _model_machine.timing(its)
    # Routers from the first and the last tile to their exits, which are in their columns, and between these tiles.
    assert its.router.mesh_ports == its.mesh.width
    first, last, between = its.mesh.height, 1, its.mesh.width + its.mesh.height - 1

    def way(flits: int, routers: int, links: int = 0, early: float = 0) -> float:
        """Cycles of a message."""
        link = flits * (x["link_flit"] + x["link_store"]) + x["link_frame"] + x["link"] - early
        return flits + x["mesh_message"] + routers * x["hop"] + links * link + (x["board_entry"] if links else 0)

    # A message crosses clocks of links, so that a trip varies by 7 cycles.
    for name, same, flits, routers, links in (
        ("direct", "mesh", 1, 2 * first, 1), ("far", "mesh", 1, 2 * last, 1), ("cross", "mesh", 1, first + last, 1),
        ("direct4", "mesh4", 4, 2 * first, 1), ("two", "mesh", 1, 2 * first, 2), ("two4", "mesh4", 4, 2 * first, 2),
    ):  # fmt: skip
        more = 2 * (way(flits, routers, links) - way(flits, between))
        assert sum(trips[name]) / 2 - trips[same][1] == pytest.approx(more, abs=8 * links), name
    # A message by key has a flit more. The first router adds a lookup, and each further one the flits of the copy.
    lookup, copied = 3, 2
    local = x["local_message"] + 1
    for name, same, routers, other in (
        ("key_local", "local", 2 * first, local), ("key_mesh", "mesh", first + last, way(1, between))
    ):  # fmt: skip
        more = way(2, routers) + lookup + x["board_entry"] - other
        assert trips[name][1] - trips[same][1] == pytest.approx(more, abs=3), name
    for name, same, routers, links in (
        ("key_direct", "direct", 2 * first, 1), ("key_cross", "cross", first + last, 1),
        ("key_two", "two", 2 * first, 2),
    ):  # fmt: skip
        more = way(2, routers, links, x["key_early"]) + lookup + links * copied - way(1, routers, links)
        assert trips[name][1] - sum(trips[same]) / 2 == pytest.approx(more, abs=8), name
    # Each router reads a record.
    for name, boards in (("key_local", 1), ("key_mesh", 1), ("key_cross", 2)):
        cold, warm = trips[name]
        assert (cold - warm) / boards == pytest.approx(x["record_read"], abs=3), name
    for leaf in ("meet0", "meet2"):
        assert meets[leaf] - meets["meet1"] == pytest.approx(2 * x["control_link"], abs=3), leaf


@pytest.mark.tier("all", seconds=30, adds="when threads start and end, from the trace of the hardware")
@pytest.mark.parametrize("config", ["tiny", "quad"])
def test_threads_start_and_end_as_on_the_hardware(config: str, tmp_path: Path) -> None:
    gossamer_setup.require("test")
    its, file = configs.load(config), tmp_path / "run.pftrace"
    engine = Hardware(config=config, settings={"trace": file})
    cycles = runner.run("pagerank", read_graph(SCATTERED), engine=engine, iterations=1).stats["cycles"]
    trace = traces.read(file)
    begins: dict[int, int] = {}
    for span in trace.spans:
        if span.thread >= 0:
            begins[span.thread] = min(begins.get(span.thread, span.begin), span.begin)
    x, tile = _model_machine.timing(its), its.threads_per_tile
    first = begins[0]
    wrong = {
        thread: begin - first
        for thread, begin in begins.items()
        if abs(begin - first - thread // tile * x["begin_tile"] - thread % tile * x["begin_thread"]) > 2
    }
    assert len(begins) == its.threads and not wrong
    ends = sorted(mark.begin for mark in trace.marks if mark.name == "ends")
    assert cycles - (ends[-1] - first) == pytest.approx(x["begin"] + x["end"], abs=1)
    # The host takes the reports of a board one after the other; in the middle all threads wait for that.
    some = len(ends) // 4
    assert (ends[-some] - ends[some]) / (len(ends) - 2 * some) == pytest.approx(x["end_thread"], rel=0.15)


@pytest.mark.tier("all", seconds=90, adds="late messages in barriers of eight boards, from the trace of the hardware")
@pytest.mark.parametrize("multicast", ["local", "full"])
def test_barriers_of_boards_take_as_long_as_on_the_hardware(multicast: str, tmp_path: Path) -> None:
    graph, plan, file = read_graph(SCATTERED), Plan(configs.load_cluster("octet")), tmp_path / "run.pftrace"
    runner.run(
        "pagerank", graph, engine=Hardware(plan=plan, multicast=multicast, settings={"trace": file}), iterations=2
    )
    waits = sorted((one.end, one.begin) for one in traces.read(file).spans if one.name == "waits for idleness")
    threads, spread = plan.boards * plan.config.threads, 330  # cycles between the releases of two threads
    real, at = [], 0
    while at < len(waits):
        released = [one for one in waits[at:] if one[0] <= waits[at][0] + spread]
        if len(released) >= threads:  # else messages woke some threads
            real.append(waits[at][0] - max(begin for _, begin in released))
            at += len(released)
        else:
            at += 1
    predicted = runner.run("pagerank", graph, engine=Model(plan=plan, multicast=multicast), iterations=2)
    # The first barrier takes one wave more. With keys the second one takes two more, since messages are late.
    assert len(real) == 3
    assert real[1] > 1000 if multicast == "full" else real[1] < 300
    assert predicted.stats["barrier_cycles"] == pytest.approx(sum(real), abs=200)


@pytest.mark.tier("all", seconds=90, adds="longer links, on the hardware and in the model")
def test_longer_links_take_as_much_longer_as_on_the_hardware() -> None:
    graph, plan = read_graph("gen:grid:width=16,height=12"), Plan(configs.load_cluster("pair"))
    near, far = int(plan.config.links.flight_cycles), 2000

    def cycles(engine: Any) -> int:
        return int(runner.run("hashmin-sync", graph, engine=engine).stats["cycles"])

    def predicted(flight: int) -> int:
        timing = _model_machine.timing(plan.config)
        return cycles(
            Model(plan=plan, timing={name: timing[name] + flight - near for name in ("link", "control_link")})
        )

    real = cycles(Hardware(plan=plan, settings={"flight": far})) - cycles(Hardware(plan=plan))
    assert predicted(far) - predicted(near) == pytest.approx(real, rel=0.15)


@pytest.mark.tier("all", seconds=150, adds="the rate of a full link by the length of messages and the rate of the line")
@pytest.mark.parametrize("rate", [10000, 2500])
def test_a_full_link_passes_messages_at_the_rate_of_the_model(rate: int, command: Command, tmp_path: Path) -> None:
    (tmp_path / "board.toml").write_text(
        f'# SPDX-License-Identifier: Apache-2.0\nbase = "tiny"\ndescription = "links"\n[links]\nrate_mbps = {rate}\n'
    )
    cluster = tmp_path / "row.toml"
    cluster.write_text(
        '# SPDX-License-Identifier: Apache-2.0\ndescription = "a row of boards"\ntopology = "mesh 4x1"\n'
        'config = "board.toml"\nhosts = ["host - x0y0:west"]\n'
    )
    done = command("run", str(ROOT / "bench" / "model" / "link.c"), "--engine", "rtl", "--cluster", str(cluster))
    assert done.returncode == 0, done.stderr
    measured = re.findall(r"link(\d) (\d+) (\d+)", done.stdout)
    plan = Plan(configs.load_cluster(cluster))
    assert plan.config.links.rate_mbps == rate
    timing = _model_machine.timing(plan.config)
    messages = 2 * plan.config.threads * (80 - 16)
    assert [int(flits) for flits, *_ in measured] == [1, 2, 4]
    for flits, few, many in measured:
        cycles = (int(many) - int(few)) / messages
        assert cycles == pytest.approx(timing["link_frame"] + int(flits) * timing["link_flit"], rel=0.02), flits


@pytest.mark.tier("all", seconds=120, adds="multicast without locality, on eight boards and in the model")
def test_messages_to_tiles_are_as_much_slower_without_locality_as_on_the_hardware() -> None:
    # Nearly every receiver is in another tile, so a message to a tile has one receiver, a flit and a list more.
    graph, plan = read_graph(SCATTERED), Plan(configs.load_cluster("octet"))

    def times(engine: type[Hardware]) -> float:
        found = [
            runner.run("pagerank", graph, engine=engine(plan=plan, multicast=mode), iterations=3)
            for mode in ("none", "local")
        ]
        agreement.check(*found)
        return float(found[1].stats["cycles"] / found[0].stats["cycles"])

    real = times(Hardware)
    assert real > 1.05
    assert times(Model) == pytest.approx(real, abs=0.02)


@pytest.mark.tier("all", seconds=40, adds="more ways, threads and cores, on the hardware and in the model")
def test_a_larger_board_is_as_much_faster_as_on_the_hardware() -> None:
    # A tile of quad has 4 cores of 16 threads, and a thread 8 ways and 4 sets of a cache: tiny has 2 of 8, 4 and 2.
    graph = read_graph("gen:rmat:scale=9,edge_factor=8,seed=3")

    def faster(engine: type[Hardware]) -> float:
        cycles = [
            runner.run("pagerank", graph, engine=engine(config=config), iterations=3).stats["cycles"]
            for config in ("tiny", "quad")
        ]
        return float(cycles[0] / cycles[1])

    real = faster(Hardware)
    assert real > 1.7
    assert faster(Model) == pytest.approx(real, rel=0.08)


@pytest.mark.tier("all", seconds=90, adds="multicast routers of eight boards, link by link, and in the model")
def test_messages_by_key_cross_each_link_as_often_as_on_the_hardware() -> None:
    graph, plan = read_graph(SCATTERED), Plan(configs.load_cluster("octet"))
    results = []

    def links(engine: Hardware) -> dict[tuple[int, int], int]:
        results.append(runner.run("pagerank", graph, engine=engine, iterations=1))
        assert engine.done is not None
        names = ("tx_packets", "messages")
        return {at: next(its[name] for name in names if name in its) for at, its in engine.done.links.items()}

    real, predicted = ({mode: links(engine(plan=plan, multicast=mode)) for mode in ("local", "full")}
                       for engine in (Hardware, Model))  # fmt: skip
    assert all(runner.difference(results[0], one) is None for one in results[1:])
    saved = {at: real["local"][at] - real["full"][at] for at in real["local"]}
    assert max(saved.values()) > 30
    # Links also carry control packets: with records each board receives a few more, which empty the caches of routers,
    # and barriers of either run may take another wave.
    control = 10
    wrong = {
        at: (saved[at], predicted["local"].get(at, 0) - predicted["full"].get(at, 0))
        for at in saved
        if abs(predicted["local"].get(at, 0) - predicted["full"].get(at, 0) - saved[at]) > control
    }
    assert not wrong
    # A leaf of the trees of control packets sends none.
    corner = {at: count for at, count in predicted["full"].items() if at[0] == plan.boards - 1}
    assert corner and all(real["full"][at] >= count for at, count in corner.items())
    assert any(real["full"][at] == count for at, count in corner.items())


SPREAD = "gen:geometric:vertices=600,fanout=12,radius=1.5,seed=1"
"""Without locality: most messages are for the other tile."""
VARIANTS = {
    "rate of the DRAM": ("[memory.dram]\nrate_mts = 400\n", GRAPH, 1.05),
    "latency of the DRAM": ("[memory.dram]\ncontroller_latency = 120\n", GRAPH, 1.10),
    "latency of the SRAM": ("[memory.sram]\nread_latency = 64\n", GRAPH, 1.05),
    "width of the SRAM": ("[memory.sram]\ndata_bits = 8\n", GRAPH, 1.01),
    "ways of the cache": ("[cache]\nways = 8\n", GRAPH, 0.97),
    "sets of the cache": ("[cache]\nsets_per_thread = 1\n", GRAPH, 1.03),
    "lines of the cache": ("[cache]\nline_bytes = 64\n", GRAPH, 0.97),
    "fills of the cache": ("[cache]\ninflight = 2\n", GRAPH, 1.15),
    "threads of a core": ("[core]\nthreads_per_core = 4\n", GRAPH, 1.10),
    "tiles of the mesh": ("[cache]\ncaches_per_dram = 1\n[mesh]\nwidth = 1\n[router]\nmesh_ports = 1\n", GRAPH, 1.50),
    "depth of queues": ("[mailbox]\nqueue_depth = 2\n", SPREAD, 1.05),
    "ports of the memories": ("[memory.dram]\nport_bytes = 4\n", GRAPH, 1.10),
    "slots of a mailbox": ("[mailbox]\nslots_per_thread = 4\n", SPREAD, 1.0),
    "flits of a message": ("[mailbox]\nmax_flits = 2\n", SPREAD, 1.0),
    "buffers of the mesh": ("[mesh]\nbuffer_flits = 32\n", SPREAD, 1.0),
    "cores of an FPU": ("[fpu]\ncores_per_fpu = 1\n", GRAPH, 1.0),
    "cores of a cache": ("[cache]\ncores_per_cache = 1\ncaches_per_dram = 4\n", GRAPH, 1.0),
}  # fmt: skip
"""Changes of `tiny`: a section, a graph, and the ratio of cycles that the hardware exceeds in its direction; 1: it does
not change by more than 0.01."""


@functools.cache
def base_cycles(engine: type[Hardware], graph: str) -> float:
    return float(runner.run("pagerank", read_graph(graph), engine=engine(config="tiny"), iterations=2).stats["cycles"])


@pytest.mark.tier("all", seconds=700, adds="each a changed parameter of the board, on the hardware and in the model")
@pytest.mark.parametrize("what", VARIANTS)
def test_a_changed_parameter_changes_cycles_as_on_the_hardware(what: str, tmp_path: Path) -> None:
    section, graph, least = VARIANTS[what]
    changed = tmp_path / "changed.toml"
    changed.write_text(f'# SPDX-License-Identifier: Apache-2.0\nbase = "tiny"\ndescription = "{what}"\n{section}')
    config = configs.load(changed)
    found = [runner.run("pagerank", read_graph(graph), engine=engine(config=config), iterations=2)
             for engine in (Hardware, Model)]  # fmt: skip
    assert runner.difference(*found) is None
    real, predicted = (
        one.stats["cycles"] / base_cycles(engine, graph) for engine, one in zip((Hardware, Model), found, strict=True)
    )
    if least == 1:
        assert max(abs(real - 1), abs(predicted - 1)) < 0.01, (real, predicted)
    else:
        assert real > least if least > 1 else real < least, real
        assert predicted - 1 == pytest.approx(real - 1, rel=0.25, abs=0.02), (real, predicted)
