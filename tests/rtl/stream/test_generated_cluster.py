# SPDX-License-Identifier: Apache-2.0
"""Collectives and channels over clusters of generated boards, with a model for each, over wires that lose frames."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest
from conftest import Size
from rtl.stream.generated_plan import Plan, plan
from rtl.stream.test_generated import interface, up, wires

from gossamer.hdl import sources, verilate
from gossamer.paths import ROOT
from gossamer.smi import hardware

HERE = Path(__file__).resolve().parent
PROGRAMS = {"trees": "tree_ports", "path": "all_ports"}
LINKS = 4
OPTIONS = hardware.Options(links=LINKS, depth=64, lanes={3: 2})
CLUSTERS = [
    # Topology of collectives, ranks per board, cluster, and share of frames that are lost; the same share is damaged.
    ("trees", 2, "torus4", 0.02),
    ("trees", 1, "torus8", 0.02),
    ("path", 2, "ring4", 0.0),
    ("path", 1, "bus8", 0.02),
]


def header(board: str, top: str) -> str:
    """`ports.h` of the harness: the streams and MACs of a board's top."""
    names = {name for _, _, name in interface(top)}
    ways = {name: way.strip() for way, _, name in interface(top)}
    lines = [f'#include "V{board}.h"', f'#include "{board}.h"', "#include <gossamer/smi/record.h>"]
    lines += [f"using Top = V{board};", "inline Ports ports(Top &top) {", "  Ports found;"]
    lines.insert(3, f"inline const gossamer_smi_design &design() {{ return {board}_design; }}")
    for valid in sorted(name for name in names if name.endswith("_tvalid") and not name.startswith("mac")):
        stream = valid.removesuffix("_tvalid")
        data, keep, last = (f"{stream}_t{what}" for what in ("data", "keep", "last"))
        fields = [
            "true" if ways[valid] == "input" else "false",
            f"&top.{valid}",
            f"&top.{stream}_tready",
            f"pin(top.{data})" if data in names else "Pin{}",
            f"pin(top.{keep})" if keep in names else "Pin{}",
            f"&top.{last}" if last in names else "nullptr",
        ]
        lines.append(f'  found.streams["{stream}"] = Stream{{{", ".join(fields)}}};')
    for link in range(sum(name.startswith("mac") and name.endswith("_tx_tvalid") for name in names)):
        tx, rx = (f"&top.mac{link}_{way}_t" for way in ("tx", "rx"))
        pins = [f"{tx}valid", f"{tx}ready", f"{tx}last", f"{rx}valid", f"{rx}last", f"{rx}user"]
        pins += [f"{tx}data", f"{rx}data", f"{tx}keep", f"{rx}keep"]
        lines.append(f"  found.macs.push_back(Mac{{{', '.join(pins)}}});")
    return "\n".join([*lines, "  return found;", "}", ""])


def run(
    folder: Path, kind: str, each: int, cluster: str, rounds: int, seed: int, loss: float, fault: str = ""
) -> tuple[Plan, dict[tuple[int, str], list[bytes]], list[int]]:
    """The expected and the received messages of all ranks; cycles, frames, and lost frames. With ``fault``, a port, the
    ranks' first collectives on it disagree before that."""
    random.seed(seed)
    design = hardware.design([str(HERE / f"{PROGRAMS[kind]}.c")], [",".join([PROGRAMS[kind]] * each)], options=OPTIONS)
    hardware.write(design, folder)
    (top,) = (one.name for one in design.boards)
    (folder / "ports.h").write_text(header(top, (folder / f"{top}.sv").read_text()))
    ranks, words, _ = hardware.tables(design, cluster)
    slots = json.loads((folder / "design.json").read_text())["boards"][0]["slots"]
    assert len(slots) == each
    endpoints = [{one["port"]: one for one in slots[rank.slot]["endpoints"]} for rank in ranks]
    expected = plan(endpoints, rounds)

    def stream(rank: int, name: str) -> str:
        here = ranks[rank]
        return f"{here.board} slot{here.slot}_{name}" if each > 1 else f"{here.board} {name}"

    def given(what: Plan) -> list[str]:
        return [
            f"give {stream(rank, name)} " + " ".join(f"{beat:x}" for beat in beats)
            for (rank, name), beats in what.gives.items()
        ]

    boards, far = len(words), wires(design, cluster)
    lines = [f"boards {boards} {seed} {round(loss * (1 << 20))}"]
    lines += [f"cable {a} {mac} {b} {other}" for (a, mac), (b, other) in far.items() if (a, mac) < (b, other)]
    lines += [f"up {board} {mask:x}" for board, mask in enumerate(up(far, boards))]
    lines += [f"write {board} {at:x} {word:x}" for board, those in enumerate(words.values()) for at, word in those]
    if fault:
        # Only collectives, since channels would have to be bound again as well. One rank opens more than the others.
        others = ("channel", "barrier")
        wrong = plan(
            [{port: one for port, one in mine.items() if one["operation"] not in others} for mine in endpoints], 4
        )
        wrong.gives[random.randrange(len(ranks)), fault][0] += 1
        lines += [*given(wrong), *(f"take {stream(rank, name)} 0" for rank, name in wrong.takes), "fault"]
        every = (1 << each) - 1
        for board in range(boards):
            # Same writes as gossamer_smi_recover_edges.
            lines += [f"recover {board} c {every << 8:x}", f"recover {board} 2c {3 << 11 | every:x}"]
    lines += given(expected)
    lines += [f"take {stream(rank, name)} {len(messages)}" for (rank, name), messages in expected.takes.items()]
    simulator = verilate.model(
        top,
        sources.listing(folder / f"{top}.f"),
        [HERE / "cluster.cc"],
        optimise="-Og",
        include=[folder, ROOT / "include"],
    )
    done = subprocess.run([simulator], input="\n".join([*lines, ""]), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    *streams, counts = (line for line in done.stdout.splitlines() if not line.startswith("counted "))
    streams_by_name = {
        f"{board} {name}": [b"" if one == "-" else bytes.fromhex(one) for one in messages]
        for board, name, *messages in map(str.split, streams)
    }
    received = {(rank, name): streams_by_name.pop(stream(rank, name)) for rank, name in expected.takes}
    assert not streams_by_name
    return expected, received, [int(word) for word in counts.split()[1:6:2]]


@pytest.mark.tier("all", seconds=92, adds="every kind of port at once, on clusters of generated boards")
@pytest.mark.parametrize(("kind", "each", "cluster", "loss"), CLUSTERS)
def test_every_port_of_every_rank_matches_numpy(
    kind: str, each: int, cluster: str, loss: float, size: Size, seed: int, tmp_path: Path
) -> None:
    """All ports of all ranks at once, with pauses: channels between any two ranks, collectives with any root, sums in
    the order of ranks; results are bit-identical to NumPy's, and there are no others."""
    if (kind, each) != ("trees", 2) and size.pick(True, True, False):
        pytest.skip("only in --full")
    expected, received, (cycles, frames, lost) = run(tmp_path, kind, each, cluster, size.pick(1, 2, 60), seed, loss)
    assert (lost > 0) == (loss > 0)
    for (rank, name), messages in expected.takes.items():
        assert received[rank, name] == messages, f"{name} of rank {rank}"
    print(f"{cluster}: {cycles} cycles, {sum(map(len, received.values()))} messages, {lost} of {frames} frames lost")


@pytest.mark.tier("all", seconds=25, adds="recovery of collectives after a fault, on boards with both trees")
@pytest.mark.parametrize("fault", ["port3_bcast_open", "port4_reduce_open", "port7_scatter_open"])
def test_collectives_recover_after_a_fault(fault: str, size: Size, seed: int, tmp_path: Path) -> None:
    """A mismatch of counts is reported, among other collectives, which are all aborted. Once hosts have bound the
    edges again, all ports work."""
    if fault != "port3_bcast_open" and size.pick(True, False, False):
        pytest.skip("not in --quick")
    kind, each, cluster, loss = CLUSTERS[0]
    expected, received, _ = run(tmp_path, kind, each, cluster, size.pick(1, 1, 4), seed, loss, fault)
    for (rank, name), messages in expected.takes.items():
        assert received[rank, name] == messages, f"{name} of rank {rank}"
