# SPDX-License-Identifier: Apache-2.0
"""The suite ``stream``: streaming ports over board switches and links. docs/benchmarks.md says what each row is.

Boards stand in a ring, in the harness of the tests: kernels, endpoints, switches, links, and wires of `de5`. All cycles
are of that RTL, the same on every machine.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gossamer_setup
from gossamer import config as configs
from gossamer.bench import Context, Reference, Row
from gossamer.errors import RunDied
from gossamer.hdl import sources, synth, verilate
from gossamer.paths import ROOT

CONFIG = "de5"
BOARDS, DEPTH, PACKET, BYTES = 4, 1024, 30, 8
"""Boards of the ring; flits that a port's buffer holds, and the longest packet; bytes of a beat at a kernel."""
_HARNESS = ROOT / "tests" / "rtl" / "stream"
_HERE = Path(__file__).parent
_SHARES = {f"bandwidth-share.h{hops}": hops for hops in (1, 2, 3)}
_HOP, _ENDS = "latency.hop", "latency.ends"
_AREAS = {"area.1port": (1, 0, 6_000, 6_330), "area.4port": (4, 2, 28_000, 32_112)}
NAMES = (*_SHARES, _HOP, _ENDS, *_AREAS)
_SHORTEST_BYTES = 60
_SWITCH_CYCLES = 5
"""From a packet's last flit at a port of the switch to its first at another: `tests/rtl/switch` measures it."""


def _run(*arguments: object) -> list[int]:
    design = sources.blocks("stream/board.f", config=configs.load(CONFIG)) + [
        sources.RTL / "sim" / "link" / "gs_mac_model.sv",
        _HARNESS / "boards_top.sv",
    ]
    simulator = verilate.model(
        "boards_top",
        design,
        [_HARNESS / "boards.cc"],
        parameters={"Boards": BOARDS, "Depth": DEPTH},
        cxx=[f"-DBOARDS={BOARDS}", f"-DDEPTH={DEPTH}"],
        optimise="-O1",
    )
    done = subprocess.run([simulator, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunDied(f"streams over boards: {(done.stdout + done.stderr).strip()[-500:]}")
    return [int(word) for word in done.stdout.split() if word.isdigit()]


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for, as it is measured. Raises RunDied where an element came wrong."""
    gossamer_setup.require("core", "test", "rtl")
    config = configs.load(CONFIG)
    line = config.link_bits_per_kilocycle / 8000
    about: dict[str, Any] = {
        "configuration": CONFIG, "boards": BOARDS, "depth": DEPTH, "packet": PACKET, "bytes": BYTES,
    }  # fmt: skip
    for name, hops in _SHARES.items():
        if context.wants(name):
            moved, cycles = _run("rate", hops)
            share = moved / (cycles * line)
            paper: Reference = {"what": "SMI's paper: 91 % of 87.5 % of the line rate", "value": 0.80, "unit": "share"}
            yield context.row(
                name, share, "of line rate", reference=paper, ratio=share / 0.80, least=0.93, hops=hops, **about
            )
    if context.wants(_HOP) or context.wants(_ENDS):
        wire = config.links.flight_cycles + (_SHORTEST_BYTES + config.links.overhead_bytes) / line
        (one,), (more,) = _run("latency", 1), _run("latency", BOARDS - 1)
        hop = (more - one) / (BOARDS - 2)
        if context.wants(_HOP):
            goal: Reference = {"what": "goal", "value": 24.0, "unit": "cycles"}
            value = hop - wire
            yield context.row(_HOP, value, "cycles", reference=goal, ratio=24 / value, most=24.0, **about)
        if context.wants(_ENDS):
            # What is left of the first hop: both endpoints, and the switch that each hop has one of more.
            goal = {"what": "goal", "value": 20.0, "unit": "cycles"}
            value = one - hop
            yield context.row(
                _ENDS, value, "cycles", reference=goal, ratio=20 / value, most=20.0, switch=_SWITCH_CYCLES, **about
            )
    for name, (links, bits, most, paper_luts) in _AREAS.items():
        if context.wants(name):
            gossamer_setup.require("synth")
            files = sources.blocks("switch", "stream", config=config) + [_HERE / "area_stream.sv"]
            report = synth.luts("area_stream", files, "xc7", {"Links": links, "PortBits": bits})
            area: Reference = {"what": "SMI's paper: interconnect and CK modules", "value": paper_luts, "unit": "LUT"}
            yield context.row(
                name,
                float(report.luts),
                "LUT6",
                reference=area,
                ratio=paper_luts / report.luts,
                configuration=CONFIG,
                most=most,
                links=links,
                ports=1 << bits,
                ffs=report.ffs,
                block_rams=report.block_rams,
            )


__all__ = ["NAMES", "rows"]
