# SPDX-License-Identifier: Apache-2.0
"""One link of `de5` under load: two ends in RTL, a wire that counts preamble and gap, and may lose frames.

Both directions are full. A share is that of payload, in bytes, of what the line can carry at its rate; the worse of
the two directions counts. Latency is that of a one-flit message over an idle link, from the cycle in which the flit is
taken to that in which it is given, less flight and less the time of the shortest frame with its preamble and gap.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer import config as configs
from gossamer.bench import Context, Row
from gossamer.errors import RunDied
from gossamer.hdl import sources, synth, verilate

SHARE, LOSSY, STREAM, LATENCY = "link.payload-share", "link.payload-share-lossy", "link.stream-share", "link.latency"
MHZ, CELLS = "link.ecp5-mhz", "link.ecp5-cells"
NAMES = (SHARE, LOSSY, STREAM, LATENCY, MHZ, CELLS)
GROUPS = ("test", "rtl", "synth")
CONFIG = "de5"
HERE = Path(__file__).parent
# The shortest frame that a link sends.
SHORTEST_BYTES = 60


@dataclass(frozen=True)
class Found:
    """What a run came to."""

    flits: int
    resends: int
    latency: int


def simulate(cycles: int, flits: int = 4, stream: bool = False, every: int = 0, loss: float = 0.0) -> Found:
    """A run of so many cycles, behind those until the link is up and loaded; RunDied if a flit came wrong."""
    config = configs.load(CONFIG)
    files = sources.blocks("link", config=config) + [
        sources.SIM / "link" / "gs_mac_model.sv",
        HERE / "link_bench.sv",
    ]
    simulator = verilate.model(
        "link_bench",
        files,
        [HERE / "link_bench.cc"],
        parameters={"Flits": flits, "Stream": int(stream), "Every": every, "Loss": round(loss * (1 << 20))},
        optimise="-O1",
    )
    done = subprocess.run([simulator, str(cycles)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunDied(f"the link's load: {done.stderr.strip()[-500:]}")
    one, other, sent_again, sent_again_back, latency, wrong, up = map(int, done.stdout.split())
    if wrong or up != 3:
        raise RunDied(f"the link's load: a flit came changed, twice or out of order ({wrong:02b}, up {up:02b})")
    return Found(one if every else min(one, other), sent_again + sent_again_back, latency)


def measure(context: Context) -> Iterator[Row]:
    """The rows asked for; the same on every machine."""
    config = configs.load(CONFIG)
    line = config.link_bits_per_kilocycle / 8000
    cycles = 300_000
    paper: Any = {"what": "Tinsel's links between boards, 4 flits", "value": 32.1 / 42.5, "unit": "of line rate"}
    cases = (
        (SHARE, {"flits": 4}, 0.90, paper),
        (LOSSY, {"flits": 4, "loss": 0.01}, 0.85, paper),
        (STREAM, {"flits": 32, "stream": True}, 0.95, None),
    )
    for name, options, least, reference in cases:
        if context.wants(name):
            found = simulate(cycles, **options)
            share = 16 * found.flits / (cycles * line)
            yield context.row(
                name,
                share,
                "of line rate",
                reference=reference,
                ratio=share / (32.1 / 42.5) if reference else None,
                configuration=CONFIG,
                least=least,
                resends=found.resends,
            )
    if context.wants(LATENCY):
        found = simulate(20_000, flits=1, every=997)
        wire = config.links.flight_cycles + (SHORTEST_BYTES + config.links.overhead_bytes) / line
        yield context.row(LATENCY, found.latency - wire, "cycles", configuration=CONFIG, most=16.0)
    if context.wants(MHZ) or context.wants(CELLS):
        small = configs.load("ecp5")
        seeds = (1,) if context.wants(MHZ) else ()
        report = synth.ecp5("gs_link", sources.blocks("link", config=small), {}, seeds=seeds, mhz=125)
        about: dict[str, Any] = {"configuration": small.name, "ffs": report.ffs, "block_rams": report.block_rams}
        if context.wants(MHZ):
            yield context.row(MHZ, report.best_mhz, "MHz", seeds=report.mhz, least=125.0, **about)
        if context.wants(CELLS):
            yield context.row(CELLS, float(report.cells), "cells", **about)


__all__ = ["NAMES", "measure"]
