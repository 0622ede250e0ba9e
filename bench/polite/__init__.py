# SPDX-License-Identifier: Apache-2.0
"""The suite ``polite``: vertices on the hardware's threads. docs/benchmarks.md says what each row is."""

from __future__ import annotations

from collections.abc import Iterator

import gossamer_setup
from gossamer.apps import runner
from gossamer.bench import Context, Row
from gossamer.engines.rtl_vertices import Hardware
from gossamer.errors import RunDied
from gossamer.graph import read_graph

from . import _cluster, _instructions, _mapper, _real, _studies, studies

EDGES = "polite.edges-per-cycle.quad"
_RATES = {EDGES: "local", f"{EDGES}-none": "none"}
NAMES = (*_RATES, *_instructions.NAMES, *_cluster.NAMES, *_mapper.NAMES, *_real.NAMES, *_studies.NAMES)
GRAPH = "gen:geometric:vertices=16000,fanout=20,radius=0.03,seed=1"
LEAST, FEW, MANY = 0.8, 1, 4
"""The goal; steps of two runs, whose difference knows no start and no end."""


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for, as it is measured. Raises RunDied where the ranks are not those of the engine ``cpu``."""
    gossamer_setup.require("rtl")
    yield from _instructions.rows(context)
    yield from _mapper.rows(context)
    yield from _real.rows(context)
    if any(context.wants(name) for name in _cluster.NAMES):
        yield from _cluster.rows(context)
    if any(context.wants(name) for name in _studies.NAMES):
        yield from _studies.rows(context)
    graph = None
    for name, multicast in _RATES.items():
        if not context.wants(name):
            continue
        graph = graph or read_graph(GRAPH)
        few, many = (
            runner.run("pagerank", graph, engine=Hardware(config="quad", multicast=multicast), iterations=steps)
            for steps in (FEW, MANY)
        )
        wrong = runner.difference(runner.run("pagerank", graph, iterations=MANY), many)
        if wrong is not None:
            raise RunDied(f"{name}: rank {wrong.second:g} of vertex {wrong.vertex} instead of {wrong.first:g}")
        more = {key: many.stats[key] - few.stats[key] for key in ("cycles", "deliveries", "instructions", "sends")}
        yield context.row(
            name,
            more["deliveries"] / more["cycles"],
            "edges/cycle",
            reference={"what": "goal", "value": LEAST, "unit": "edges/cycle"},
            ratio=more["deliveries"] / more["cycles"] / LEAST,
            app="pagerank",
            graph=GRAPH,
            threads=many.stats["threads"],
            mapping=many.stats["mapping"],
            multicast=multicast,
            steps=MANY - FEW,
            cycles_a_step=more["cycles"] / (MANY - FEW),
            instructions_an_edge=more["instructions"] / more["deliveries"],
            messages_a_step=many.stats["messages_per_round"],
            balance=many.stats["balance"],
        )


__all__ = ["NAMES", "rows", "studies"]
