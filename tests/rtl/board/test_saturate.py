# SPDX-License-Identifier: Apache-2.0
"""Rings, tori and random wirings of boards' networks with minimum buffers, under saturating traffic."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import models
import pytest
from conftest import Size
from python.routes import network
from python.routes.key_writer import Writer

from gossamer import config as configs
from gossamer import routes
from gossamer.config import Config
from gossamer.hdl import sources, verilate
from gossamer.routes import Topology

HERE = Path(__file__).parent
MAC = sources.SIM / "link" / "gs_mac_model.sv"
LINKS, EXITS, HOST_PORT = 4, 2, 7
HOST_ENTRY = 63
LONG = 1_000_000
"""Number of cycles from which a run of one wiring takes minutes, and is a process of its own."""
LEAST = 'base = "quad"\ndescription = "minimum buffers"\n[router]\nbuffer_flits = 8\n'


def random_wiring(rng: random.Random) -> Topology:
    """Boards with up to four links: a tree and some more cables, parallel ones included."""
    boards = rng.randrange(2, 8)
    degree = [0] * boards
    edges = []

    def join(a: int, b: int) -> None:
        if a != b and max(degree[a], degree[b]) < LINKS:
            edges.append((a, b))
            degree[a] += 1
            degree[b] += 1

    for board in range(1, boards):
        join(board, rng.choice([other for other in range(board) if degree[other] < LINKS]))
    for _ in range(rng.randrange(0, 2 * boards)):
        join(rng.randrange(boards), rng.randrange(boards))
    return network.wiring(edges, boards)


def described(name: str, topology: Topology, rng: random.Random, one_channel: bool = False) -> str:
    """A wiring in the harness's format: with its tables, and keys of trees that follow routes.

    With ``one_channel`` unicast uses one virtual channel only, which fails the deadlock check.
    """
    tables = routes.generate(topology).tables
    boards = range(len(topology.cluster.boards))
    writer, to = Writer(), []
    for source in boards:
        for _ in range(3):
            to.append(sorted(rng.sample(boards, rng.randrange(1, len(boards) + 1))))
            writer.tree(topology, tables, source, to[-1])
    report = routes.check(topology, tables, keys=writer.tables())
    assert report.safe, report.fault
    lines = [f"wiring {name} {len(boards)}"]
    lines += [f"cable {one.a} {one.a_link} {one.b} {one.b_link}" for one in topology.cluster.cables]

    def entry(board: int, destination: int) -> int:
        port, vc = tables.entry(board, destination)
        return 1 << 7 | (0 if one_channel else vc) << 5 | EXITS + port

    for board in boards:
        lines += [f"entry {board} {other} {entry(board, other)}" for other in boards if other != board]
        lines.append(f"entry {board} {HOST_ENTRY} {entry(board, 0) if board else 1 << 7 | HOST_PORT}")
        for number, beat in writer.beats.get(board, {}).items():
            words = " ".join(f"{beat >> 32 * word & 0xFFFF_FFFF:x}" for word in range(8))
            lines.append(f"beat {board} {number} {words}")
    for (source, key), dests in zip(writer.roots, to, strict=True):
        lines.append(f"key {source} {key} {len(dests)} {' '.join(map(str, dests))}")
    return "\n".join([*lines, "end", ""])


def run(config: Config, wirings: str, seed: int, cycles: int, loss: float = 0.0) -> subprocess.CompletedProcess[str]:
    design = sources.blocks("board/network.f", config=config) + [MAC, HERE / "saturate_top.sv"]
    # For a long run an optimized build is worth its time.
    optimise = "-O3" if cycles >= LONG else "-Og"
    simulator = verilate.model(
        "saturate_top", design, [HERE / "saturate.cc"], optimise=optimise, include=[models.INCLUDE]
    )
    command = [simulator, *map(str, (seed, cycles, round(loss * (1 << 20))))]
    return subprocess.run(command, input=wirings, capture_output=True, text=True, check=False)


def rows(done: subprocess.CompletedProcess[str]) -> list[dict[str, float]]:
    """Output of the harness for each wiring, as names and numbers."""
    assert done.returncode == 0, f"{done.args}: {done.stdout[-500:]}{done.stderr[-2000:]}"
    lines = [line.split()[1:] for line in done.stdout.splitlines()]
    return [dict(zip(words[::2], map(float, words[1::2]), strict=True)) for words in lines]


@pytest.fixture
def least(tmp_path: Path) -> Config:
    path = tmp_path / "least.toml"
    path.write_text(LEAST)
    return configs.load(path)


@pytest.mark.tier("all", seconds=52, adds="wirings of many boards under full load; test_switch saturates one")
@pytest.mark.timeout(14400)
@pytest.mark.parametrize(
    ("kind", "loss"), [(kind, loss) for kind in ("ring", "torus", "random") for loss in (0.0, 0.01)] + [("mesh", 0.0)]
)
def test_saturated_wirings_deliver_all_packets(kind: str, loss: float, least: Config, size: Size, seed: int) -> None:
    """Unicast, masks, multicast trees, streams, replies and control at once, for 1,000,000 cycles each with --full."""
    rng = random.Random(seed)
    cycles = size.pick(2_000, 4_000, 1_000_000)
    if kind == "random":
        count = size.pick(1, 2, 100) if loss == 0 else size.pick(1, 2, 10)
        topologies = [random_wiring(rng) for _ in range(count)]
    else:
        topologies = [network.grid({"ring": "ring 6", "torus": "torus 3x3", "mesh": "mesh 3x3"}[kind])]
    texts = [described(f"{kind}{number}", one, rng) for number, one in enumerate(topologies)]
    found = []
    for text in texts if cycles >= LONG else ["".join(texts)]:
        new = rows(run(least, text, seed % 2**31, cycles, loss))
        print(*new, sep="\n", flush=True)
        found += new
    assert len(found) == len(topologies)
    for one in found:
        assert min(one["copies"], one["streams"], one["replies"]) > 0
        # Minimum buffers stall a line for each round trip; but they are in use all the time.
        assert one["busy"] > 0.05 and one["flits"] > cycles * one["boards"] / 8, one


@pytest.mark.tier("all", seconds=16, adds="that the load of the other test would deadlock a ring with one channel")
def test_ring_with_one_virtual_channel_deadlocks(least: Config, seed: int) -> None:
    """The load fills every buffer of a cyclic dependency: without the second channel the ring deadlocks."""
    done = run(
        least, described("ring", network.grid("ring 6"), random.Random(seed), one_channel=True), seed % 2**31, 50_000
    )
    assert (
        done.returncode == 1 and "ring: no packet has arrived for" in done.stderr
    ) or "did not arrive" in done.stderr
