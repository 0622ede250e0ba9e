# SPDX-License-Identifier: Apache-2.0
"""Hosts record the counters of generated boards (gossamer/smi/record.h): compared with counts of the harness' own."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
import traces
from conftest import ROOT, Command
from rtl.stream.test_generated import interface, up, wires
from rtl.stream.test_generated_cluster import header

from gossamer.hdl import sources, verilate
from gossamer.smi import hardware
from gossamer.watch import statistics

HERE = Path(__file__).resolve().parent
START = 40_000
MOST_FLITS = 30
"""Of a packet, without its header."""


def simulate(folder: Path, seed: int, every: int) -> tuple[dict[tuple[int, str], list[int]], int]:
    """Two boards, one rank each: one-element messages on port 0 and longer ones on port 1. With ``every`` the hosts
    record. By board and stream the cycles in which a beat passed, was held, was awaited; the cycle of the last beat."""
    options = hardware.Options(links=1, boards=2, ranks=2, depth=16, counters=True)
    design = hardware.design([str(HERE / "passing.c")], options=options)
    hardware.write(design, folder)
    (folder / "ports.h").write_text(header("passing", (folder / "passing.sv").read_text()))
    cluster = folder / "pair.json"
    cluster.write_text(
        json.dumps(
            {
                "fpgas": {f"node:acl{at}": "passing" for at in range(2)},
                "connections": {"node:acl0:ch0": "node:acl1:ch0"},
            }
        )
    )
    _, words, _ = hardware.tables(design, str(cluster))
    far = wires(design, str(cluster))
    lines = [f"boards 2 {seed} 0"]
    lines += [f"cable {a} {mac} {b} {other}" for (a, mac), (b, other) in far.items() if (a, mac) < (b, other)]
    lines += [f"up {board} {mask:x}" for board, mask in enumerate(up(far, 2))]
    lines += [f"write {board} {at:x} {word:x}" for board, those in enumerate(words.values()) for at, word in those]
    lines += [f"start {START}", *(f"record {at} {folder}/b{at}.jsonl {every}" for at in range(2) if every)]
    chosen = random.Random(seed)
    for port, size, counts in ((0, 4, [1] * 60), (1, 8, [chosen.randint(1, 300) for _ in range(12)])):
        for board in range(2):
            there = 1 - board
            opens = " ".join(f"{there << 32 | count:x}" for count in counts)
            beats = " ".join(f"{chosen.getrandbits(8 * size):x}" for _ in range(sum(counts)))
            lines += [f"give {board} port{port}_send_open {opens}", f"give {board} port{port}_send {beats}"]
            lines += [f"give {board} port{port}_receive_open {opens}", f"take {board} port{port}_receive {len(counts)}"]
    simulator = verilate.model(
        "passing", sources.listing(folder / "passing.f"), [HERE / "cluster.cc"], optimise="-Og",
        include=[folder, ROOT / "include"],
    )  # fmt: skip
    done = subprocess.run([simulator], input="\n".join([*lines, ""]), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    said = [line.split() for line in done.stdout.splitlines()]
    counted = {(int(line[1]), line[2]): [int(word) for word in line[3:]] for line in said if line[0] == "counted"}
    return counted, int(said[-1][-1])


@pytest.mark.tier("all", seconds=60, adds="recordings of generated boards, compared with own counts")
def test_recorded_counts_match_the_streams(command: Command, seed: int, tmp_path: Path) -> None:
    """Beats and waits in every cycle, packets of one-element messages exactly, of longer ones within their bounds; the
    statistics, trace, report and page of the recordings have these counts; recording changes no cycle."""
    counted, last = simulate(tmp_path, seed, 500)
    without, last_without = simulate(tmp_path, seed, 0)
    assert (counted, last) == (without, last_without), "recording has changed a cycle"
    files = [str(tmp_path / f"b{at}.jsonl") for at in range(2)]
    outputs = {name: tmp_path / f"run.{name}" for name in ("json", "html", "pftrace")}
    done = command(
        "smi", "recorded", *files, "--stats", str(outputs["json"]), "--report", str(outputs["html"]), "--trace",
        str(outputs["pftrace"]),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    data = statistics.read(outputs["json"])
    ports: dict[tuple[int, int], dict[str, Any]] = {(one["rank"], one["port"]): one for one in data["by_port"]}
    assert set(ports) == {(rank, port) for rank in range(2) for port in range(2)} and data["end"] == "done"
    for (rank, port), one in ports.items():
        passed, held, _ = counted[rank, f"port{port}_send"]
        assert (one["beats_sent"], one["stalled"]) == (passed, held), f"rank {rank}, port {port}"
        passed, held, awaited = counted[rank, f"port{port}_receive"]
        assert (one["beats_received"], one["full"], one["empty"]) == (passed, held, awaited), (
            f"rank {rank}, port {port}"
        )
        other = ports[1 - rank, port]
        assert one["packets_sent"] == other["packets_received"]
        if port == 0:
            assert one["packets_sent"] == one["beats_sent"] == 60
        else:
            assert -(-one["beats_sent"] // (2 * MOST_FLITS)) <= one["packets_sent"] <= one["beats_sent"]
    assert any(one["stalled"] for one in ports.values()) and any(one["full"] for one in ports.values())
    # Each curve's integral over the trace is its count.
    trace = traces.read(outputs["pftrace"])
    curves = {name: values for name, values in trace.counters.items() if name.endswith("packets sent a cycle")}
    assert len(curves) == 4
    for name, values in curves.items():
        whole = sum(rate * (end[0] - at) for (at, rate), end in itertools.pairwise(values))
        rank, port = (int(name.split("rank ")[1][0]), int(name.split("port ")[1][0]))
        assert whole == pytest.approx(ports[rank, port]["packets_sent"])
    assert f"{ports[0, 1]['packets_sent']:,}" in outputs["html"].read_text()
    shown = command("top", *files)
    assert shown.returncode == 0 and "the recordings have ended" in shown.stdout
    for (rank, port), one in ports.items():
        (line,) = (line for line in shown.stdout.splitlines() if f"rank {rank}, port {port} " in line)
        assert line.split()[-2:] == [f"{one['packets_sent']:,}", f"{one['packets_received']:,}"]


def test_board_without_counters_lacks_their_hardware(tmp_path: Path) -> None:
    for counters in (False, True):
        design = hardware.design([str(HERE / "passing.c")], options=hardware.Options(links=1, counters=counters))
        hardware.write(design, tmp_path)
        assert (tmp_path / "rtl" / "gs_stream_counters.sv").exists() == counters
        assert ("gs_stream_counters" in (tmp_path / "passing.sv").read_text()) == counters
        assert interface((tmp_path / "passing.sv").read_text())
