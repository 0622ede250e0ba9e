# SPDX-License-Identifier: Apache-2.0
"""The board switch: random and saturating traffic against a model, channels that are not drained, tables, rates."""

from __future__ import annotations

import subprocess
from pathlib import Path

import models
import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import prove, sources, verilate

HERE = Path(__file__).parent
HARNESS_FOLDER = models.FOLDER / "switch"
HARNESS = [HARNESS_FOLDER / "main.cc", HARNESS_FOLDER / "bench.cc", HARNESS_FOLDER / "fair.cc"]
# Buffers of the usual size, and the minimum for the longest packet.
REGIONS = {"common": (128, 64), "least": (64, 64)}


DATAPATHS = ("crossbar", "shared")


def run(datapath: str, region: str, *arguments: object) -> str:
    ingress, egress = REGIONS[region]
    simulator = verilate.model(
        "switch_top",
        sources.blocks("switch", config=configs.load("quad")) + [HARNESS_FOLDER / "switch_top.sv"],
        HARNESS,
        parameters={"InRegion": ingress, "OutRegion": egress, "Shared": int(datapath == "shared")},
        optimise="-Og",
        include=[models.INCLUDE],
    )
    done = subprocess.run([simulator, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{region} {arguments}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


@pytest.mark.parametrize("datapath", DATAPATHS)
@pytest.mark.parametrize("region", REGIONS)
def test_random_packets_arrive_once_in_order_at_their_port(region: str, datapath: str, size: Size, seed: int) -> None:
    count = size.pick(4_000, 30_000, 1_000_000)
    words = run(datapath, region, "random", seed, count).split()
    assert int(words[1]) + int(words[3]) == count
    assert 0 < int(words[3]) < count / 5


@pytest.mark.default_cases("least-.*", seconds=46, adds="buffers of the usual size")
@pytest.mark.parametrize("datapath", DATAPATHS)
@pytest.mark.parametrize("region", REGIONS)
def test_saturated_switch_delivers_all_packets(region: str, datapath: str, size: Size, seed: int) -> None:
    run(datapath, region, "saturate", seed, size.pick(5_000, 50_000, 1_000_000))


@pytest.mark.parametrize("datapath", DATAPATHS)
def test_channels_are_independent_and_tables_can_change(datapath: str, seed: int) -> None:
    run(datapath, "least", "directed", seed)


@pytest.mark.parametrize("datapath", DATAPATHS)
@pytest.mark.parametrize("region", REGIONS)
def test_no_flow_starves_among_steady_flows(region: str, datapath: str, size: Size, seed: int) -> None:
    run(datapath, region, "fair", seed, size.pick(1, 8, 300))


def test_latency_rates_and_shares_reach_their_bounds(seed: int) -> None:
    found = [line.split() for line in run("crossbar", "common", "rates", seed, 2000).splitlines()]
    # From the cycle of a packet's last flit at the ingress's port to that of its first flit at the egress's port.
    assert [int(words[2]) for words in found if words[0] == "latency"] == [5, 5]
    rates = {(int(words[1]), int(words[2])): float(words[3]) for words in found if words[0] == "rate"}
    assert len(rates) == 25
    assert all(rate >= 0.999 for (flits, _), rate in rates.items() if flits <= 5), rates
    # An ingress keeps the egress until the packet that reaches R flits.
    turns = {(int(words[1]), int(words[2])): words[3:] for words in found if words[0] == "burst"}
    crowd = {(int(words[1]), int(words[2])): words[3:] for words in found if words[0] == "crowd"}
    assert len(turns) == 25 and len(crowd) == 22
    for (flits, burst), turn in [*turns.items(), *crowd.items()]:
        length = -(-max(burst, 1) // flits) * flits
        assert turn == [str(length)] * 2, (flits, burst, turn)
    # Packets that cannot leave cost no cycles of those that can.
    assert [float(words[1]) >= 0.99 for words in found if words[0] == "held"] == [True], found
    # Two packets of the longest kind do not fit into a channel of an egress at once.
    assert all(rate >= 0.60 for rate in rates.values()), rates
    assert all(float(words[2]) >= 0.99 for words in found if words[0] == "all"), found


def test_shared_datapath_moves_a_flit_a_cycle_in_all(seed: int) -> None:
    found = [line.split() for line in run("shared", "common", "rates", seed, 6000).splitlines()]
    assert [int(words[2]) for words in found if words[0] == "latency"] == [14, 14]
    rates = {(int(words[1]), int(words[2])): float(words[3]) for words in found if words[0] == "rate"}
    assert len(rates) == 25
    # A lane sends a flit in every third cycle, and an outgoing lane is allocated anew in six cycles.
    assert all(abs(rate - flits / (3 * flits + 4)) <= 0.01 for (flits, _), rate in rates.items()), rates
    # A burst ends with the packet that reaches R flits.
    bursts = [words for words in found if words[0] in ("burst", "crowd")]
    assert len(bursts) == 47
    for _, flits, burst, _, longest in bursts:
        most = -(-max(int(burst), 1) // int(flits)) * int(flits)
        assert int(longest) <= most, (flits, burst, longest)
    assert [float(words[2]) * 6 >= 0.99 for words in found if words[0] == "all"] == [True, True], found


def test_no_flit_is_lost_duplicated_interleaved_or_misrouted(size: Size) -> None:
    files = sources.blocks("switch", config=configs.load("quad")) + [HERE / "prove_switch.sv"]
    proof = prove.prove(
        "prove_switch",
        files,
        mode="bmc",
        depth=size.pick(7, 9, 14),
        cover_depth=14,
        timeout=1800,
        parameters={"Shared": 0},
    )
    assert proof.passed, f"{proof.reason}; see {proof.log}"


def test_shared_datapath_starves_no_head() -> None:
    files = sources.blocks("switch", config=configs.load("quad")) + [HERE / "prove_shared_allocator.sv"]
    # The allocator's own assertions about other lanes would need more invariants.
    own = ["chformal -assert -remove c:u_allocator.*"]
    proof = prove.prove("prove_shared_allocator", files, depth=2, cover_depth=24, script=own)
    assert proof.passed, f"{proof.reason}; see {proof.log}"


@pytest.mark.default_cases("0", seconds=6, adds="an egress of two cycles")
@pytest.mark.parametrize("circuits", [0, 1])
def test_egress_starves_no_ingress(circuits: int) -> None:
    files = sources.blocks("switch", config=configs.load("quad")) + [HERE / "prove_egress.sv"]
    proof = prove.prove("prove_egress", files, depth=2, cover_depth=24, parameters={"Circuits": circuits})
    assert proof.passed, f"{proof.reason}; see {proof.log}"


def test_ingress_starves_no_channel() -> None:
    files = sources.blocks("switch", config=configs.load("quad")) + [HERE / "prove_ingress.sv"]
    # The ingress's own assertions belong to the bounded proof; by induction they would need more invariants.
    own = ["chformal -assert -remove c:u_ingress.*"]
    proof = prove.prove("prove_ingress", files, depth=2, cover_depth=24, script=own)
    assert proof.passed, f"{proof.reason}; see {proof.log}"
