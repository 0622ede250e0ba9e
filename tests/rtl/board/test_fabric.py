# SPDX-License-Identifier: Apache-2.0
"""Three boards without tiles in a ring, configured in band by a host: packets, broadcast, idle detection, events."""

from __future__ import annotations

import subprocess
from pathlib import Path

import models
import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import sources, verilate

HERE = Path(__file__).parent
MAC = sources.SIM / "link" / "gs_mac_model.sv"
# Probability that a frame is lost, and that one is damaged, in units of 2^-20.
LOSSES = {"none": 0, "one in ten": 104_858}


def run(what: str, seed: int, count: int, loss: str, *, multicast: bool = True) -> dict[str, int]:
    """Runs one part of fabric_test; returns its output as names and numbers."""
    design = sources.blocks("board/fabric.f", config=configs.load("quad")) + [MAC, HERE / "fabric_top.sv"]
    harness = [HERE / "fabric.cc", HERE / "fabric_idle.cc"]
    parameters = {} if multicast else {"Multicast": 0}
    simulator = verilate.model(
        "fabric_top", design, harness, optimise="-Og", include=[models.INCLUDE], parameters=parameters
    )
    arguments = [what, str(seed), str(count), str(LOSSES[loss])]
    done = subprocess.run([simulator, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    words = done.stdout.split()
    return dict(zip(words[::2], map(int, words[1::2]), strict=True))


@pytest.mark.parametrize("loss", LOSSES)
def test_packets_arrive_between_all_ports_of_configured_boards(loss: str, size: Size, seed: int) -> None:
    run("packets", seed, size.pick(600, 4_000, 200_000), loss)


def test_boards_without_multicast_deliver_packets_and_drop_keys(size: Size, seed: int) -> None:
    """The same packets between all ports; messages by key are unroutable, and delay nothing."""
    run("packets", seed, size.pick(600, 2_000, 100_000), "one in ten", multicast=False)
    run("keys", seed, 1, "none", multicast=False)


@pytest.mark.parametrize("loss", LOSSES)
def test_debug_buses_of_all_boards_are_reached_by_packets(loss: str, size: Size, seed: int) -> None:
    run("debug", seed, size.pick(200, 1_000, 50_000), loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_broadcasts_reach_each_loader_once(loss: str, size: Size, seed: int) -> None:
    run("broadcast", seed, size.pick(20, 100, 5_000), loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_invalid_packets_are_rejected_and_a_slow_host_blocks_no_other(loss: str, seed: int) -> None:
    found = run("rejections", seed, 1, loss)
    assert found["answered"] >= 16 and found["rejected"] > found["answered"]


@pytest.mark.parametrize("loss", LOSSES)
def test_boards_report_events(loss: str, seed: int) -> None:
    assert run("events", seed, 1, loss)["detected"] <= 10_000


@pytest.mark.default_cases("none", seconds=44, adds="the same over links that lose one frame in ten")
@pytest.mark.parametrize("loss", LOSSES)
def test_idle_detection_of_two_jobs_with_hosts_and_keys(loss: str, size: Size, seed: int) -> None:
    """With slots that other jobs get; messages to other jobs' tiles and to unroutable destinations, and illegal packets
    of hosts, are dropped, reported, and delay no barrier for ever."""
    found = run("idle", seed, size.pick(10, 10, 1_000), loss)
    assert min(found[name] for name in ("keyed", "by_hosts", "to_hosts", "strayed", "lost", "illegal")) > 0
