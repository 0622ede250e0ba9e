# SPDX-License-Identifier: Apache-2.0
"""Applications on the `rtl` engine match SciPy, on a board and over links that lose frames."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

import agreement
import numpy as np
import pytest
import scipy.sparse
from algorithm_judges import smallest_of_component
from conftest import ROOT, Command, Size
from dpd_pairs import Box, simulate
from scipy.sparse import csgraph

import gossamer as gs
import gossamer_setup
from gossamer import apps
from gossamer import config as configs
from gossamer.apps import runner
from gossamer.engines import rtl_vertices
from gossamer.engines.rtl import Run
from gossamer.engines.rtl_cluster import Cluster, Plan
from gossamer.engines.rtl_vertices import Hardware
from gossamer.errors import RunDied

FIXTURES = ROOT / "tests" / "fixtures" / "vertices"
FOUR = ROOT / "tests" / "fixtures" / "cluster" / "four.toml"
FAR = np.uint32(0xFFFF_FFFF)


@pytest.fixture(scope="module", autouse=True)
def simulators() -> None:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    _rtl_build.cluster(configs.load("tiny"))


def hardware(where: str, multicast: str = "local", **how: Any) -> Hardware:
    if where == "tiny":
        return Hardware(config="tiny", multicast=multicast, **how)
    plan = Plan(configs.load_cluster(FOUR if where.startswith("four") else "pair"))
    loss = 0.02 if where.endswith("lossy") else 0.0
    return Hardware(plan=plan, multicast=multicast, settings={"frame_loss": loss}, **how)


def edges(random: np.random.Generator, vertices: int, count: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """With a hub, loops and parallel edges."""
    a, b = random.integers(vertices, size=count), random.integers(vertices, size=count)
    a[::13] = b[::11][: len(a[::13])][0]
    b[::17] = 0
    return a, b


def graph(vertices: int, a: Any, b: Any, weights: Any = None) -> gs.Graph:
    order = np.lexsort((b, a))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(a, minlength=vertices))))
    kept = None if weights is None else np.asarray(weights)[order]
    return gs.Graph.from_csr(offsets, b[order], kept, name="test")


WHERE = [("tiny", "local"), ("tiny", "none"), ("pair", "local"), ("lossy", "none"), ("four", "full")]
"""One of four has messages that part on their way; with loss: test_multicast_keys_deliver_once_over_lossy_links."""


@pytest.mark.default_cases(
    "(pair|tiny)-local", seconds=14, adds="more boards, lossy links and the other modes of multicast"
)
@pytest.mark.parametrize("where, multicast", WHERE)
def test_sssp_matches_dijkstra(where: str, multicast: str, size: Size, seed: int) -> None:
    random = np.random.default_rng(seed)
    for vertices, count in [(1, 3), (20, 60), (150, size.pick(400, 700, 2000))]:
        a, b = edges(random, vertices, count)
        w = random.integers(1, 50, count)
        got = runner.run("sssp", graph(vertices, a, b, w), engine=hardware(where, multicast), source=0).values
        order = np.lexsort((w, b, a))
        first = np.ones(count, bool)
        s, t, weight = a[order], b[order], w[order]
        first[1:] = (s[1:] != s[:-1]) | (t[1:] != t[:-1])
        lightest = scipy.sparse.csr_array((weight[first], (s[first], t[first])), shape=(vertices, vertices))
        want = csgraph.dijkstra(lightest, indices=0)
        assert (np.where(np.isinf(want), FAR, want).astype(np.uint32) == got).all()


@pytest.mark.parametrize("where, multicast", WHERE)
def test_hashmin_matches_connected_components(where: str, multicast: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = edges(random, 120, 90)
    result = runner.run("hashmin", graph(120, a, b), engine=hardware(where, multicast))
    _, labels = csgraph.connected_components(
        scipy.sparse.coo_array((np.ones(90), (a, b)), shape=(120, 120)), directed=False
    )
    assert (result.values == smallest_of_component(labels)).all()


@pytest.mark.default_cases(
    "(tiny-none|pair-local)", seconds=10, adds="more boards, lossy links and the other modes of multicast"
)
@pytest.mark.parametrize("where, multicast", WHERE)
def test_pagerank_matches_the_power_method(where: str, multicast: str, seed: int) -> None:
    """Steps are synchronous on all boards: each is one iteration."""
    random = np.random.default_rng(seed)
    a, b = edges(random, 100, 600)
    result = runner.run("pagerank", graph(100, a, b), engine=hardware(where, multicast), iterations=4, raw=True)
    degree = np.bincount(a, minlength=100)
    score = np.full(100, 1 / 100)
    for _ in range(4):
        share = np.divide(0.85 * score, degree, out=np.zeros(100), where=degree > 0)
        score = 0.15 / 100 + np.bincount(b, weights=share[a], minlength=100)
    assert np.allclose(result.values, score, rtol=1e-5)
    stats = result.stats
    assert (stats["steps"], stats["sends"], stats["deliveries"]) == (4, 400, 2400)
    assert stats["step_calls"] == 400 and stats["host_messages"] == 100


@pytest.mark.default_cases("none", seconds=6, adds="tile and cluster multicast")
@pytest.mark.parametrize("multicast", rtl_vertices.MULTICAST)
def test_wide_messages_and_host_messages_arrive_once(multicast: str, seed: int) -> None:
    """Doubles in messages, edges and states; every message to the host arrives once."""
    random = np.random.default_rng(seed)
    a, b = edges(random, 70, 300)
    w = np.asarray(random.integers(1, 100, 300), np.float64) / 8
    result = runner.run(FIXTURES / "talks.h", graph(70, a, b, w), engine=hardware("pair", multicast))
    sums = np.bincount(b, weights=0.5 * w, minlength=70)
    heard = np.bincount(b, minlength=70)
    assert (result.columns["sum"] == sums).all() and (result.columns["heard"] == heard).all()
    odd = heard % 2 == 1
    assert result.columns["messages"][0] == 70 + 1000 * odd.sum()
    assert result.columns["told"][0] == 0.5 * 70 + sums[odd].sum()


@pytest.mark.tier("all", seconds=12, adds="keys over lossy links")
def test_multicast_keys_deliver_once_over_lossy_links(seed: int) -> None:
    """Each copy of a router arrives once, and threads send fewer messages."""
    random = np.random.default_rng(seed)
    a, b = edges(random, 200, 1600)
    given = graph(200, a, b)
    engines = {way: hardware("four-lossy", way, mapping="random") for way in ("local", "full")}
    found = {way: runner.run("pagerank", given, engine=one, iterations=3, raw=True) for way, one in engines.items()}
    degree = np.bincount(a, minlength=200)
    score = np.full(200, 1 / 200)
    for _ in range(3):
        share = np.divide(0.85 * score, degree, out=np.zeros(200), where=degree > 0)
        score = 0.15 / 200 + np.bincount(b, weights=share[a], minlength=200)
    for result in found.values():
        assert np.allclose(result.values, score, rtol=1e-5)
        assert result.stats["deliveries"] == 3 * 1600
    sent = {way: result.stats["counters"]["sent"] for way, result in found.items()}
    # Without keys a vertex sends one message to each other tile; with keys one to each tile of its board and one to all
    # other boards.
    assert sent["full"] < 0.6 * sent["local"]


@pytest.mark.tier("all", seconds=7, adds="aggregates of double precision")
@pytest.mark.parametrize("where", ["tiny", "pair"])
def test_floating_point_sums_have_double_precision(where: str) -> None:
    """The error is within double precision for all exponents; infinities and NaN follow IEEE 754."""
    random = np.random.default_rng(1)
    a, b = edges(random, 70, 100)
    given = graph(70, a, b)
    index = np.arange(70)
    # Numbers near 1; equal numbers; near the maximum; some subnormal; all combined.
    for low, high, kinds in [(2000, 2003, 1), (2100, 2100, 2), (3000, 3015, 4), (930, 990, 12), (950, 3000, 16)]:
        engine = hardware(where, mapping="random")
        found = runner.run(FIXTURES / "real_sums.h", given, engine=engine, low=low, high=high, kinds=kinds)
        numbers = found.columns["number"]
        want = math.fsum(numbers)
        assert (found.columns["wide"] == found.columns["wide"][0]).all()
        assert abs(found.columns["wide"][0] - want) <= 70 * 2.0**-53 * np.abs(numbers).max() + 5e-324
        assert (found.columns["plain"] == 2 * (index - 8.25).sum()).all()
        assert found.totals == {"plain": 3 * (index - 8.25).sum(), "wide": 0}
        # 14 vertices contribute the values of `kinds`: 1, infinity, both infinities, NaN.
        odd = {1: 0.0, 2: 14.0, 4: np.inf, 12: np.nan, 16: np.nan}[kinds]
        np.testing.assert_equal(found.columns["odd"], np.full(70, odd))


def reduced(vertices: int, now: int) -> dict[str, Any]:
    """The aggregates of the vertices of aggregates.h in a step, computed by NumPy."""
    index = np.arange(vertices, dtype=np.int64)
    least = (index * 0.125 - now)[index % 7 == 3]
    return {
        "sum": int((index * now + 0xFFFFF000 & 0xFFFFFFFF).sum()),
        "least": float(least.min(initial=np.inf)),
        "greatest": int(now - index.min()),
        "bits": int(np.bitwise_or.reduce(1 << (index[index % 11 == now] % 32))),
        "fixed": float(np.float32((-0.3125 * index * now).sum())),
    }


@pytest.mark.default_cases("5-tiny", seconds=13, adds="one aggregate, and lossy links")
@pytest.mark.parametrize("where", ["tiny", "lossy"])
@pytest.mark.parametrize("steps", [1, 5])
def test_five_aggregates_match_numpy(where: str, steps: int, seed: int) -> None:
    """Three barriers a step, with threads that contribute nothing; vertices see the values of the previous step."""
    random = np.random.default_rng(seed)
    a, b = edges(random, 50, 200)
    result = runner.run(FIXTURES / "aggregates.h", graph(50, a, b), engine=hardware(where), steps=steps)
    nothing = {"sum": 0, "least": np.inf, "greatest": -(2**31), "bits": 0, "fixed": 0}
    seen = reduced(50, steps - 1) if steps > 1 else nothing
    for name, value in seen.items():
        assert (result.columns[name] == value).all(), name
    assert result.totals == reduced(50, steps)
    assert (result.columns["heard"] == steps * np.bincount(b, minlength=50)).all()


def test_run_ends_by_aggregates_as_on_cpu(seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = edges(random, 80, 160)
    given = graph(80, a, b)
    here, there = (
        runner.run(ROOT / "examples/levels/levels.h", given, engine=engine) for engine in ("cpu", hardware("pair"))
    )
    agreement.check(here, there)
    assert here.totals == there.totals
    assert here.stats["steps"] == there.stats["steps"]


@pytest.mark.tier("all", seconds=7, adds="states above 64 KiB")
def test_state_offsets_may_exceed_16_bits(seed: int) -> None:
    """Ten states of 8 KB a thread; short offsets cannot address the last two."""
    random = np.random.default_rng(seed)
    a, b = edges(random, 320, 900)
    result = runner.run(FIXTURES / "large_state.h", graph(320, a, b), engine=hardware("tiny", mapping="direct"))
    assert (result.values == np.bincount(b, weights=a + 1, minlength=320)).all()


@pytest.mark.parametrize(
    "app",
    [
        "asp",
        "hashmin-sync",
        "pagerank64",
        "pagerank-gals",
        "sssp-sync",
        "heat",
        "heat-gals",
        "izhikevich",
        "izhikevich-gals",
        "mssp",
        "examples/hops/hops.h",
    ],
)
def test_applications_match_the_cpu_engine(app: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = edges(random, 60, 200)
    given = graph(60, a, b)
    name = str(ROOT / app) if app.endswith(".h") else app
    # Double precision in software is slow.
    less = {
        "pagerank64": {"iterations": 3},
        "pagerank-gals": {"iterations": 6},
        "heat": {"steps": 9},
        "heat-gals": {"steps": 9},
        "izhikevich": {"steps": 25},
        "izhikevich-gals": {"steps": 25},
    }
    given_to = less.get(app, {})
    here, there = (
        runner.run(name, given, **given_to),
        runner.run(name, given, engine=hardware("tiny", mapping="random"), **given_to),
    )
    agreement.check(here, there)
    assert here.stats["steps"] == there.stats["steps"] and here.stats["edges"] == there.stats["edges"]
    if app.startswith("izhikevich"):
        assert here.columns["spikes"].sum() > 0


@pytest.mark.parametrize("app", ["heat", "heat-gals"])
def test_heat_in_a_cube_matches_matrix_powers(app: str) -> None:
    """With 26 neighbours, on every engine."""
    given = gs.read_graph("gen:cube:width=4,height=3,depth=5,neighbours=26")
    joined = given.to_scipy() != 0
    degree = np.asarray(joined.sum(axis=1)).ravel()
    want = np.zeros(60)
    want[7] = 1
    for _ in range(6):
        want += 0.5 * (joined.astype(float) @ want / degree - want)
        want[7] = 1
    for engine in ("cpu", "shuffle", hardware("tiny")):
        got = runner.run(app, given, engine=engine, hot="7", steps=6)
        assert np.abs(got.values - want).max() < 1e-5, engine


@pytest.mark.tier("all", seconds=50, adds="particles on boards; their cpu results run by default")
@pytest.mark.parametrize("app", ["dpd", "dpd-gals"])
def test_particles_match_the_all_pairs_simulation(app: str) -> None:
    """Bit for bit, in 64-bit arithmetic on 32-bit threads; particles move between cells."""
    asked = Box((3, 3, 3), steps=3, density=1.2, temperature=5.0, dt=0.1)
    want = simulate(asked)
    given = gs.read_graph("gen:cube:width=3,height=3,depth=3,neighbours=26,around=yes")
    how = {"steps": 3, "density": 1.2, "temperature": 5.0, "dt": 0.1}
    got = runner.run(app, given, engine=hardware("tiny", mapping="random"), **how)
    assert want.crossings > 10
    assert (got.columns["particles"] == want.particles).all() and (got.columns["digest"] == want.digest).all()
    assert np.allclose(got.columns["kinetic"], want.kinetic, rtol=0, atol=1e-4)
    assert np.allclose(got.columns["potential"], want.potential, rtol=0, atol=1e-4)
    assert got.stats["steps"] == (7 if app == "dpd" else 1)


@pytest.mark.tier(
    "all",
    seconds=5,
    adds="one to several workers of a cluster; tables replaced under traffic compare workers by default",
)
def test_cycles_are_independent_of_the_number_of_workers() -> None:
    """Runs with 1, 2 and 2 workers have equal cycles and counters."""
    given = gs.read_graph("gen:grid:width=12,height=12")
    plan = Plan(configs.load_cluster("pair"))
    told = [
        runner.run("hashmin", given, engine=Hardware(plan=plan, settings={"workers": workers})).stats
        for workers in (1, 2, 2)
    ]
    for name in ("cycles", "instructions", "sends", "deliveries", "counters"):
        assert told[0][name] == told[1][name] == told[2][name]


@pytest.mark.parametrize("victim", [0, 1, 17, 49])
def test_trap_names_its_vertex(command: Command, victim: int) -> None:
    """The mapping is random, so that slots of threads are not in the order of vertices."""
    words = ("run", FIXTURES / "traps.h", "gen:ring:vertices=50", "--victim", str(victim))
    done = command(*words, "--engine", "rtl", "--config", "tiny", "--mapping", "random")
    assert done.returncode == 4
    assert re.search(rf"traps: thread \d+, whose registers point to vertex {victim}: ", done.stderr)
    assert "recv at " in done.stderr and "vertices/traps.h:" in done.stderr
    assert "there is no answer" in done.stderr and not done.stdout


def test_step_and_cycle_limits_abort_the_run(tmp_path: Path, command: Command) -> None:
    output = tmp_path / "ranks.npy"
    words = ("run", "pagerank", "gen:grid:width=6,height=6", "--engine", "rtl", "--config", "tiny", "-o", output)
    done = command(*words, "--max-steps", "3")
    assert (done.returncode, done.stdout) == (4, "")
    # All vertices: the grid is connected, and scores have not converged.
    named = "did not end within 3 steps: 36 vertices still send (0, 1, 2, 3, 4, 5, 6, 7, ...); there is no answer"
    assert named in done.stderr
    done = command(*words, "--max-cycles", "20000")
    assert (done.returncode, done.stdout) == (4, "") and "did not end within 20,000 cycles" in done.stderr
    # The locations of the threads, each of them once.
    groups = re.findall(r"^threads? ([\d, -]+) \(tiles? ", done.stderr, re.M)
    ranges = [part.partition("-") for group in groups for part in group.split(", ")]
    assert sum(int(last or first) - int(first) + 1 for first, _, last in ranges) == 32, done.stderr
    assert "softswitch.h:" in done.stderr
    assert not output.exists()
    with pytest.raises(RunDied, match=r"vertex d sends on pin 2, which the graph does not have"):
        runner.run(FIXTURES / "absent_pin.h", named_ring(9), engine=hardware("tiny"))


def named_ring(vertices: int) -> gs.Graph:
    """Vertices a, b, c ..."""
    names = [chr(ord("a") + i) for i in range(vertices)]
    return gs.Graph.from_arrays(names, [*names[1:], names[0]])


@pytest.mark.default_cases("tiny", seconds=4, adds="the same on four boards")
@pytest.mark.parametrize("where", ["tiny", "four"])
def test_cycle_limit_names_the_sending_vertices(where: str) -> None:
    """Without steps, while threads run: they are halted, and their caches are written back."""
    with pytest.raises(RunDied, match=r"did not end within 50,000 cycles: 2 vertices still send \(c, h\); there is no"):
        runner.run(FIXTURES / "endless.h", named_ring(11), engine=hardware(where, max_cycles=50_000))


def test_watchdog_names_the_sending_vertices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a broken machine triggers the watchdog; here a patched run reports it for a working one."""
    real = Cluster.run

    def frozen(*arguments: Any, **how: Any) -> Run:
        return dataclasses.replace(real(*arguments, **how), reason="stuck")

    monkeypatch.setattr(Cluster, "run", frozen)
    with pytest.raises(RunDied, match=r"made progress for a long time: 2 vertices still send \(c, h\); there is no"):
        runner.run(FIXTURES / "endless.h", named_ring(11), engine=hardware("tiny", max_cycles=50_000))


@pytest.mark.parametrize("changes", [False, True])
def test_step_limit_names_the_sending_vertex(changes: bool) -> None:
    """The first vertex of a path is the source: in each step one vertex receives, and it sends in the next."""
    path = gs.read_graph("gen:grid:width=30,height=1")
    engine = Hardware(config="tiny", mapping="random", max_steps=7)
    with pytest.raises(RunDied, match=r"did not end within 7 steps: vertex 8 still sends; there is no"):
        if changes:
            gs.start("sssp-sync", path, engine=engine, source=0).go()
        else:
            runner.run("sssp-sync", path, engine=engine, source=0)


def test_command_prints_statistics_and_writes_a_report(tmp_path: Path, command: Command) -> None:
    """Statistics with the names of every engine, a report, cycles in the last line."""
    stats, page = tmp_path / "s.json", tmp_path / "p.html"
    words = ("run", "sssp", "gen:grid:width=8,height=8", "--engine=rtl", "--cluster", "pair", "--frame-loss", "0.01")
    shown = ("--multicast", "none", "--mapping", "bfs", "--stats", stats, "--report", page, "--top", "1")
    done = command(*words, *shown)
    assert done.returncode == 0, done.stderr
    assert "rtl engine, 64 threads: 1 step, " in done.stdout and " cycles (" in done.stdout
    told = json.loads(stats.read_text())
    retired = f"{told['retired']:,}"
    assert done.stdout.rstrip().endswith(f" MHz), {retired} instructions retired")
    assert f">{retired}<" in page.read_text()
    usual = runner.run("sssp", gs.read_graph("gen:grid:width=8,height=8")).stats
    shared = {"engine", "threads", "sends", "deliveries", "steps", "step_calls", "host_messages"}
    assert (told["graph"]["vertices"], told["graph"]["edges"]) == (usual["vertices"], usual["edges"])
    assert shared <= set(usual) and shared | {"cycles", "instructions", "counters", "boards"} <= set(told)
    assert (told["mapping"], told["multicast"], told["boards"]) == ("bfs", "none", 2)
    assert "<html" in page.read_text()
    for words, what in [
        (("--mapping", "best"), "--mapping: 'best' is none of metis, kahypar, bfs, random, direct"),
        (("--multicast", "best"), "--multicast: 'best' is none of local, none, full"),
        (("--frame-loss", "0.1"), "--frame-loss: needs a cluster"),
        (("--threads", "3"), "vertices use all 32 threads"),
        (("--waves", tmp_path / "w.vcd"), "written as FST"),
    ]:
        done = command("run", "sssp", "gen:ring:vertices=9", "--engine", "rtl", "--config", "tiny", *words)
        assert done.returncode == 2 and what in done.stderr, done.stderr
        assert done.stderr.count("gossamer: error:") == 1


def test_retired_instructions_match_issued_instructions() -> None:
    """Except for the code before and after their loop, which is equal in every run and in each part of a run."""
    grid = gs.read_graph("gen:grid:width=8,height=8")
    runs = [runner.run("pagerank", grid, engine=hardware("tiny"), iterations=n, raw=True).stats for n in (1, 4)]
    beside = {told["instructions"] - told["retired"] for told in runs}
    assert len(beside) == 1 and 0 < beside.pop() < 100 * 32
    assert runs[1]["retired"] > 2 * runs[0]["retired"] > 0
    standing = gs.start("sssp", grid, engine=hardware("tiny"), source=grid.label_of(0))
    parts = [standing.go().stats for _ in range(2)]
    assert [0 < told["instructions"] - told["retired"] < 200 * 32 for told in parts] == [True, True]
    assert parts[1]["retired"] < parts[0]["retired"]


def test_oversized_graph_is_rejected_with_the_exceeded_limit() -> None:
    from gossamer.errors import InputError

    given = gs.Graph.from_csr(np.zeros(3_000_001, np.int64), np.empty(0, np.uint32), name="large")
    with pytest.raises(InputError, match=r"tiny: a graph of 3,000,000 vertices .* at least [\d,]+ bytes"):
        runner.run("asp", given, engine=hardware("tiny", mapping="direct"))
    assert apps.load("asp").state_bytes >= 20
