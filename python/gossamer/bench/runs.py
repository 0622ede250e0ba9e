# SPDX-License-Identifier: Apache-2.0
"""Runs of applications on simulated boards, judged by the engine ``cpu``: what the suites of vertices measure."""

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
    """What a run, or the difference of two, took."""

    cycles: int
    """From the start of the threads to the end of the last."""
    counted: int
    """Cycles in which the tiles counted what follows."""
    instructions: int
    idle: int
    """Cycles of all cores in which none of its threads could go on."""
    hits: int
    misses: int
    writebacks: int
    mesh_flits: int
    """That tiles have sent to others, on the board or beyond."""
    link_bytes: int
    """Over all links between boards, both ways, headers included."""

    def __sub__(self, other: Measured) -> Measured:
        return Measured(**{name: value - getattr(other, name) for name, value in vars(self).items()})


def run(app: str, graph: Graph, machine: Plan | configs.Config, *, want: Any = None, **how: Any) -> Measured:
    """A run of an application. ``how``: its parameters, and ``multicast`` and ``mapping`` of the hardware.

    Raises RunDied where its answers are not ``want``, or those of the engine ``cpu`` if that is None.
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
