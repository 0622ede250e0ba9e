# SPDX-License-Identifier: Apache-2.0
"""Measured runs of applications on simulated boards, with results checked against the engine ``cpu``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gossamer import config as configs
from gossamer.apps import runner
from gossamer.engines.rtl_cluster import Plan
from gossamer.engines.rtl_vertices import Hardware
from gossamer.errors import RunDied
from gossamer.graph import Graph

FLIT_BYTES = 16


@dataclass(frozen=True)
class Measured:
    """The cost of a run, or the difference of two."""

    cycles: int
    """From the start of the threads to the end of the last."""
    counted: int
    """Cycles during which the tiles counted the following events."""
    instructions: int
    idle: int
    """Cycles of all cores in which no thread could issue an instruction."""
    hits: int
    misses: int
    writebacks: int
    mesh_flits: int
    """Flits that tiles have sent to other tiles, on the same or another board."""
    link_bytes: int
    """Bytes over all links between boards, in both directions, headers included."""

    def __sub__(self, other: Measured) -> Measured:
        return Measured(**{name: value - getattr(other, name) for name, value in vars(self).items()})


def run(app: str, graph: Graph, machine: Plan | configs.Config, *, want: Any = None, **how: Any) -> Measured:
    """Runs an application. ``how``: its parameters, and ``multicast`` and ``mapping`` of the hardware.

    Raises RunDied if its result differs from ``want``, or from the engine ``cpu`` if that is None.
    """
    words = {name: how.pop(name) for name in ("multicast", "mapping") if name in how}
    hardware = Hardware(plan=machine, **words) if isinstance(machine, Plan) else Hardware(config=machine, **words)
    got = runner.run(app, graph, engine=hardware, **how)
    wrong = runner.difference(runner.run(app, graph, **how) if want is None else want, got)
    if wrong is not None:
        raise RunDied(f"{app}: {wrong.second:g} at vertex {wrong.vertex} instead of {wrong.first:g}")
    assert hardware.done is not None
    counters = got.stats["counters"]
    return Measured(
        cycles=int(got.stats["cycles"]),
        counted=counters["cycles"],
        instructions=counters["instructions"],
        idle=counters["idle"],
        hits=counters["hits"],
        misses=counters["misses"],
        writebacks=counters["writebacks"],
        mesh_flits=counters["flits_out"],
        link_bytes=sum(link["tx_bytes"] for link in hardware.done.links.values()),
    )


__all__ = ["FLIT_BYTES", "Measured", "run"]
