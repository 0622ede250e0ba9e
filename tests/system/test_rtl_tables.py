# SPDX-License-Identifier: Apache-2.0
"""Routing tables that are replaced in a running cluster: under traffic, or after the boards report none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT, Command
from system.cluster_runs import Outcome
from system.test_rtl_cluster import well

import gossamer_setup
from gossamer import config as configs
from gossamer import device, routes
from gossamer.engines.rtl_cluster import Cluster, Plan, TableUpdate, read_tables
from gossamer.errors import InputError

FOUR = ROOT / "tests" / "fixtures" / "cluster" / "four.toml"
ALL = ROOT / "tests" / "fixtures" / "cluster" / "all.c"
REROUTE = ROOT / "tests" / "fixtures" / "hostlink" / "reroute"
ON_FOUR = ("--engine", "rtl", "--cluster", FOUR)


@pytest.fixture(scope="module", autouse=True)
def simulator() -> Path:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    return _rtl_build.cluster(configs.load("tiny"))


def avoiding(folder: Path, name: str, link: str, vcs: int = 2) -> Path:
    """Tables of four boards in a ring that do not use a link."""
    path = folder / name
    topology = routes.with_down(routes.read_topology(str(FOUR)), [link])
    routes.write_tables(routes.generate(topology, vcs=vcs).tables, path)
    return path


def used(stats: Path) -> dict[str, int]:
    return {f"{one['board']}:{one['link']}": one["tx_packets"] for one in json.loads(stats.read_text())["by_link"]}


def test_tables_replaced_under_traffic_lose_no_message(command: Command, tmp_path: Path) -> None:
    """Tables that avoid a cable are loaded under full traffic, then the cable is cut: no message is lost or blocked."""
    away, stats = avoiding(tmp_path, "away.routes", "x0y0:east"), tmp_path / "s.json"
    words = (ALL, *ON_FOUR, "-D", "ROUNDS=3", "-D", "TARGETS=20", "-D", "STEP=7", "--stats", stats)
    plain = command("run", *words, "--next-routes", f"{away}@900000")
    assert (plain.returncode, plain.stderr) == (0, f"note: the run ended before cycle 900,000: {away} was not loaded\n")
    before = used(stats)
    done = command("run", *words, "--next-routes", f"{away}@8000", "--cut", "x0y0:east@20000")
    assert done.returncode == 0 and sorted(done.stdout.splitlines()) == sorted(plain.stdout.splitlines())
    link = "link x0y0:east - x1y0:west"
    assert set(done.stderr.splitlines()) == {
        f"board {board}: link_down: a link receives no frames; {link}" for board in ("x0y0", "x1y0")
    }
    after = used(stats)
    assert 10 < after["x0y0:east"] < before["x0y0:east"] / 2 and after["x0y0:north"] > before["x0y0:north"] * 1.3


def test_cycles_are_independent_of_the_number_of_workers(tmp_path: Path) -> None:
    away = avoiding(tmp_path, "away.routes", "x0y0:east")

    def go(workers: int) -> Outcome:
        plan, lines = Plan(configs.load_cluster(FOUR)), []
        change = TableUpdate.of(plan, read_tables(plan.cluster, str(away)))
        image = device.build(ALL, plan.config, ["ROUNDS=2", "TARGETS=20", "STEP=7"], boards=plan.shape)
        with Cluster(plan, workers=workers, frame_loss=0.01) as cluster:
            cluster.load_image(image)
            run = cluster.run(
                128,
                on_line=lambda thread, line, _: lines.append((thread, line)),
                pauses=[(5000, lambda: cluster.replace_tables(change))],
            )
            assert cluster.plan is change.plan and cluster.drained()
        return Outcome(run, lines, [])

    one = go(1)
    well(one, 128, rounds=2, targets=20, step=7)
    one.same(go(2))


@pytest.mark.tier("all", seconds=11, adds="tables whose routes conflict with those in use")
def test_conflicting_tables_are_loaded_only_when_drained(command: Command, tmp_path: Path) -> None:
    """Each table alone forms a line; together they form a ring."""
    east, west = (avoiding(tmp_path, name, name.replace("_", ":"), vcs=1) for name in ("x0y0_east", "x1y1_west"))
    plan = Plan(configs.load_cluster(FOUR), read_tables(configs.load_cluster(FOUR), str(east)))
    change = TableUpdate.of(plan, read_tables(plan.cluster, str(west)))
    assert "old and new tables together can deadlock" in change.fault
    done = command("run", ALL, *ON_FOUR, "--routes", east, "--next-routes", f"{west}@1000")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert "old and new tables together can deadlock" in done.stderr and "HostLink::loadRoutes" in done.stderr
    # A host loads them between its requests, and its messages take the new routes.
    stats = tmp_path / "s.json"
    done = command("run", REROUTE, *ON_FOUR, "--routes", east, "--next-routes", west, "--stats", stats)
    total = 128 * 129 // 2
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{total}\n{total}\n", "")
    after = used(stats)
    assert min(after["x0y0:east"], after["x1y1:west"]) > 30
    done = command("run", REROUTE, *ON_FOUR, "--routes", east, "--next-routes", west, "--next-routes", east, "--",
                   "twice")  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{total}\n{total}\n{total}\n", "")
    # Not while threads send to each other without end.
    done = command("run", REROUTE, *ON_FOUR, "--routes", east, "--next-routes", west, "--", "balls")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, f"{total}\n", 1)
    assert "HostLink::loadRoutes: packets are always in flight" in done.stderr


def test_drained_reports_whether_messages_are_in_flight(tmp_path: Path) -> None:
    """Messages are in flight until all threads wait; none remains after the run."""
    body = """#include <gossamer/device.h>
#include <tinsel.h>
int main(void) {
  if (gossamerThread()) return 0;
  for (uint32_t n = 0, board = gossamerBoard(); n < 200; ++n) {
    tinselWaitUntil(TINSEL_CAN_SEND);
    tinselSend((int)gossamerAddressOn((board + 1) % GOSSAMER_BOARDS, 0), tinselSendSlot());
    tinselWaitUntil(TINSEL_CAN_RECV);
    tinselFree(tinselRecv());
  }
  return 0;
}
"""
    source = tmp_path / "round.c"
    source.write_text(body, encoding="utf-8")
    plan, found = Plan(configs.load_cluster(FOUR)), []
    with Cluster(plan) as cluster:
        # The preceding commands to the boards have caused some reports of idle detection.
        assert any(cluster.drained() for _ in range(5))
        cluster.load_image(device.build(source, plan.config, boards=plan.shape))
        run = cluster.run(128, pauses=[(cycle, lambda: found.append(cluster.drained())) for cycle in (1000, 3000)])
        assert run.reason == "done" and cluster.drained()
    assert found == [False, False]


def test_invalid_input_is_reported_in_one_line(command: Command, tmp_path: Path) -> None:
    away, hello = avoiding(tmp_path, "away.routes", "x0y0:east"), ROOT / "programs" / "hello.c"
    other = tmp_path / "other.routes"
    topology = routes.read_topology("pair")
    routes.write_tables(routes.generate(topology).tables, other)
    for words, said in (
        ((hello, *ON_FOUR, "--next-routes", away), f"--next-routes {away}: write FILE@CYCLE"),
        ((hello, *ON_FOUR, "--next-routes", f"{tmp_path}/none@5"), f"{tmp_path}/none: cannot read routing tables"),
        ((hello, *ON_FOUR, "--next-routes", f"{other}@5"), f"{other}:2: routing tables for another topology"),
        ((hello, "--engine", "rtl", "--next-routes", f"{away}@5"), "--next-routes: needs a cluster"),
        ((REROUTE, "--engine", "rtl", "--next-routes", away), "--next-routes: needs a cluster"),
        ((REROUTE, *ON_FOUR, "--next-routes", f"{away}@5"), f"--next-routes {away}@5: the host loads it with"),
    ):
        done = command("run", *words)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
        assert done.stderr.startswith(f"gossamer: error: {said}"), done.stderr
    done = command("run", REROUTE, *ON_FOUR)
    assert done.returncode == 2 and "HostLink::loadRoutes: there are no other routing tables" in done.stderr
    with Cluster(Plan(configs.load_cluster(FOUR))) as cluster:
        topology = routes.with_down(routes.read_topology(str(FOUR)), ["x1y1"])
        with pytest.raises(InputError, match="the tables avoid board x1y1"):
            TableUpdate.of(cluster.plan, routes.generate(topology).tables)
