# SPDX-License-Identifier: Apache-2.0
"""The suite ``multicast``: messages by keys of the boards' routers. docs/benchmarks.md says what each row is.

Crossings need no simulation: a walker reads the tables of 48 boards. Times are of the simulated ``quad4``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import gossamer_setup
from gossamer import config as configs
from gossamer import mapper, routes
from gossamer.apps import runner
from gossamer.bench import Context, Row
from gossamer.engines.rtl_cluster import Plan
from gossamer.engines.rtl_vertices import Hardware
from gossamer.errors import RunDied
from gossamer.graph import read_graph
from gossamer.mapper.outcome import HEADER_BYTES

from . import _studies, studies
from ._steiner import fewest_links
from ._walk import walk

FAN_OUTS = {"f25": 25, "f100": 100}
CROSSINGS = {f"multicast.crossings.{name}": fan_out for name, fan_out in FAN_OUTS.items()}
ASP = {f"multicast.asp.{name}": fan_out for name, fan_out in FAN_OUTS.items()}
SHARE = "multicast.unicast-share"
NAMES = (*CROSSINGS, *ASP, SHARE, *_studies.NAMES)
LEAST = {"multicast.crossings.f25": 3.0, "multicast.crossings.f100": 9.0}
"""Times fewer than by messages to single threads."""
LEAST_SHARE = 0.95
"""Of what is possible: links of the smallest trees found, by links crossed."""
SAMPLE = 400
"""Senders whose smallest trees are looked for."""
RACK, RACK_VERTICES = "rack48", 9_600
CLUSTER, VERTICES = "quad4", 4_000
SOURCES = 64
_LAYOUT = mapper.Layout(
    state=8,
    flags=2,
    offset=2,
    edge=2,
    value=0,
    align=2,
    list=2,
    header=HEADER_BYTES,
    label=0,
    label_align=1,
    message=4,
    own=0,
    note=0,
)
_BASE = 0x4001_0000


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for. Raises RunDied where tables miss a thread, or answers are not those of ``cpu``."""
    gossamer_setup.require("rtl")
    for name, fan_out in CROSSINGS.items():
        if context.wants(name):
            yield _crossings(context, name, fan_out)
    if any(context.wants(name) for name in (*ASP, SHARE)):
        yield from _times(context)
    if any(context.wants(name) for name in _studies.NAMES):
        yield from _studies.rows(context)


def _graph(vertices: int, fan_out: int) -> str:
    """Without locality: every vertex is within the radius of every other."""
    return f"gen:geometric:vertices={vertices},fanout={fan_out},radius=1.5,seed=1"


def _crossings(context: Context, name: str, fan_out: int) -> Row:
    """A message of each vertex, as in a step of ASP in which all have news; vertices in their order, as they come."""
    text = _graph(RACK_VERTICES, fan_out)
    graph = read_graph(text)
    cluster = configs.load_cluster(RACK)
    topology = routes.Topology(cluster, {})
    made = routes.generate(topology).tables
    machine = mapper.Machine(cluster.boards[0].config, len(cluster.boards))
    relation = mapper.Relation(0, graph.out.offsets.astype(np.int64), graph.out.targets.astype(np.int64), None)
    problem = mapper.Problem(np.zeros((graph.vertices, 8), np.uint8), b"", b"", [relation])
    source, target = problem.ends()
    mapping = mapper.assign(graph.vertices, source, target, machine, method="direct")
    over = mapper.Network(topology, made)

    def walked(**how: Any) -> Any:
        tables = mapper.Tables(problem, mapping, machine, _LAYOUT, base=_BASE, **how)
        return walk(tables, topology, made, _LAYOUT, by_mask="multicast" in how)

    none, local, full = walked(), walked(multicast=True), walked(multicast=True, network=over)
    there = np.unique(source * machine.threads + mapping.thread[target])
    needed = int((mapping.thread[there // machine.threads] != there % machine.threads).sum())
    if not none.reached == local.reached == full.reached == needed:
        raise RunDied(f"{name}: {full.reached} threads reached by keys, {local.reached} by masks, of {needed}")
    on_board = machine.board_tiles * machine.tile_threads
    pairs = np.unique(source * machine.boards + mapping.thread[target] // on_board)
    sender, board = pairs // machine.boards, pairs % machine.boards
    least = int((mapping.thread[sender] // on_board != board).sum())
    ratio = none.crossings / full.crossings
    possible = _possible(topology, mapping.thread // on_board, sender, board)
    return context.row(
        name,
        ratio,
        "times fewer",
        reference={"what": "goal, and of the smallest trees found", "value": LEAST[name], "unit": "times fewer"},
        ratio=min(ratio / LEAST[name], possible / full.crossings / LEAST_SHARE),
        app="asp",
        cluster=RACK,
        graph=text,
        mapping="direct",
        crossings={"none": none.crossings, "local": local.crossings, "full": full.crossings},
        messages_sent={"none": none.sent, "local": local.sent, "full": full.sent},
        # No tree has fewer links than boards. Whether a tree with so few is there, the search tells.
        share_of_a_link_for_each_board=least / full.crossings,
        share_of_smallest_trees_found=possible / full.crossings,
        senders_searched=SAMPLE,
    )


def _possible(topology: routes.Topology, board_of: Any, sender: Any, board: Any) -> float:
    """Links of the smallest trees found, of all senders; as many times those of a sample of them, evenly picked."""
    neighbours: dict[int, list[int]] = {one.index: [] for one in topology.cluster.boards}
    for cable in topology.cluster.cables:
        neighbours[cable.a].append(cable.b)
        neighbours[cable.b].append(cable.a)
    senders = np.unique(sender)
    picked = senders[np.linspace(0, len(senders) - 1, SAMPLE).astype(int)]
    found = [fewest_links(neighbours, int(board_of[one]), board[sender == one].tolist()) for one in picked.tolist()]
    return float(np.mean(found)) * len(senders)


def _times(context: Context, cluster: str = CLUSTER, vertices: int = VERTICES) -> Iterator[Row]:
    """ASP by messages to single threads and by keys; what bounds both is the bytes over the busiest link."""
    plan = Plan(configs.load_cluster(cluster))
    a_cycle = plan.config.links.rate_mbps * 1e6 / 8 / plan.config.clock_hz
    for name, fan_out in ASP.items():
        last = fan_out == max(FAN_OUTS.values())
        if not context.wants(name) and not (last and context.wants(SHARE)):
            continue
        text = _graph(vertices, fan_out)
        graph = read_graph(text)
        want = runner.run("asp", graph, sources=SOURCES)
        cycles, busiest = {}, {}
        for way in ("none", "full"):
            hardware = Hardware(plan=plan, mapping="direct", multicast=way)
            got = runner.run("asp", graph, engine=hardware, sources=SOURCES)
            wrong = runner.difference(want, got)
            if wrong is not None:
                raise RunDied(f"{name}: {wrong.second:g} at vertex {wrong.vertex} instead of {wrong.first:g}")
            assert hardware.done is not None
            cycles[way] = hardware.done.cycles
            busiest[way] = max(link["tx_bytes"] for link in hardware.done.links.values())
        about: dict[str, Any] = {
            "app": "asp",
            "cluster": cluster,
            "graph": text,
            "mapping": "direct",
            "cycles": cycles,
            "bytes_of_the_busiest_link": busiest,
        }
        share = busiest["none"] / a_cycle / cycles["none"]
        if context.wants(name):
            faster, bound = cycles["none"] / cycles["full"], busiest["none"] / busiest["full"]
            yield context.row(
                name,
                faster,
                "times as fast",
                reference={"what": "fewer bytes over the busiest link", "value": bound, "unit": "times"},
                ratio=faster / bound,
                least_ratio=0.8,
                unicast_share=share,
                **about,
            )
        if last and context.wants(SHARE):
            yield context.row(SHARE, share, "of the busiest link", least=0.6, **about)


__all__ = ["NAMES", "rows", "studies"]
