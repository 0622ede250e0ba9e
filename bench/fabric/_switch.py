# SPDX-License-Identifier: Apache-2.0
"""The board switch: cycles of a hop, flits a cycle; and a hop of a message as threads see it, link and wire included.

The switch alone stands in the harness of its tests, whose ports are those of a board with three links. A hop is from
the cycle of a lone packet's last flit at the ingress to that of its first at the egress, the longest of all ports and
networks: a packet enters when it is complete. The hop with its wire is measured on boards in a row, by threads of the
first board and of others.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import models

from gossamer import config as configs
from gossamer.bench import Context, Reference, Row
from gossamer.errors import RunDied
from gossamer.hdl import sources, verilate

from ._run import run

HOP, RATE, WIRE = "switch.hop-cycles", "switch.flits-per-cycle", "switch.hop-with-wire-us"
NAMES = (HOP, RATE, WIRE)
GROUPS = ("test", "rtl")
CONFIG = "de5"
MOST = 6.0
SMI: Reference = {"what": "SMI's hop, with its wire", "value": 0.72, "unit": "us"}
_HARNESS = models.FOLDER / "switch"
# The switch of the harness: flits that an ingress and an egress keep for each channel.
_SHAPE = {"InRegion": 64, "OutRegion": 64}
_PORTS = 11
CLUSTER, NEAR, FAR, ROUNDS = "box", 1, 2, 16
"""Boards of a row: the first, and two that are so many hops away."""


def measure(context: Context) -> Iterator[Row]:
    """Cycles are exact."""
    if context.wants(HOP) or context.wants(RATE):
        hops, rates = _rates()
        about: dict[str, Any] = {"configuration": CONFIG, "ports": _PORTS, "virtual_networks": 4, "flits_a_channel": 64}
        if context.wants(HOP):
            value = max(hops.values())
            us = value / configs.load(CONFIG).clock_hz * 1e6
            yield context.row(HOP, value, "cycles", reference=SMI, most=MOST, us=us, by_flits=_by_flits(hops), **about)
        if context.wants(RATE):
            # Six ports at once, each to the next.
            value = min(rates.values())
            yield context.row(
                RATE,
                value,
                "flits/cycle",
                reference={"what": "a flit a cycle a port", "value": 1.0, "unit": "flits/cycle"},
                ratio=value,
                least=0.99,
                by_flits=_by_flits(rates),
                **about,
            )
    if context.wants(WIRE):
        yield _with_wire(context)


def _by_flits(found: dict[int, float]) -> dict[str, float]:
    return {str(flits): value for flits, value in found.items()}


def _rates() -> tuple[dict[int, float], dict[int, float]]:
    """Cycles of a hop, and flits a cycle and port, by the flits of a packet."""
    simulator = verilate.model(
        "switch_top",
        sources.blocks("switch", config=configs.load(CONFIG)) + [_HARNESS / "switch_top.sv"],
        # The harness of the tests, all of it.
        sorted(_HARNESS.glob("*.cc")),
        parameters=_SHAPE,
        optimise="-O1",
        include=[models.INCLUDE],
    )
    done = subprocess.run([simulator, "rates", "1", "2000"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunDied(f"the switch's rates: {(done.stderr or done.stdout).strip()[-500:]}")
    lines = [line.split() for line in done.stdout.splitlines()]
    hops = {int(words[1]): float(words[2]) for words in lines if words[0] == "latency"}
    return hops, {int(words[1]): float(words[2]) for words in lines if words[0] == "all"}


def _with_wire(context: Context) -> Row:
    """What two more hops add to the way of a message of one flit there and back."""
    cluster = configs.load_cluster(CLUSTER)
    config = cluster.boards[0].config
    near, far = (run(cluster, "hop.c", [f"PARTNER={board}", f"ROUNDS={ROUNDS}"]).value for board in (NEAR, FAR))
    cycles = (far - near) / ROUNDS / 2 / (FAR - NEAR)
    us = cycles / config.clock_hz * 1e6
    assert SMI["value"] is not None
    return context.row(
        WIRE,
        us,
        "us",
        reference=SMI,
        ratio=SMI["value"] / us,
        cluster=CLUSTER,
        configuration=config.name,
        cycles=cycles,
        flight_cycles=config.links.flight_cycles,
        there_and_back_cycles=[near / ROUNDS, far / ROUNDS],
        message_flits=1,
    )


__all__ = ["GROUPS", "NAMES", "measure"]
