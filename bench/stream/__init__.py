# SPDX-License-Identifier: Apache-2.0
"""The suite ``stream``: streaming ports and collectives over switches and links. docs/benchmarks.md has the rows.

Boards stand in a ring, in the harness of the tests: kernels, endpoints, switches, links, and wires of `de5`; those of
collectives in the wirings of the SMI paper. Applications run on its boards (`applications`). All cycles are the same on
every machine.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from models.stream import collectives, ring
from models.stream.ring import BYTES, CONFIG, DEPTH, PACKET

import gossamer_setup
from gossamer import config as configs
from gossamer.bench import Context, Reference, Row
from gossamer.errors import RunDied
from gossamer.hdl import sources, synth
from gossamer.paths import ROOT

from . import applications, messages, scatter_gather, studies

BOARDS = 4
"""Of the ring."""
_SHARES = {f"bandwidth-share.h{hops}": hops for hops in (1, 2, 3)}
_CIRCUITS = {f"bandwidth-circuit.h{hops}": hops for hops in (1, 2, 3)}
_HOP, _ENDS = "latency.hop", "latency.ends"
_AREAS = {"area.1port": (1, 0, 6_000, 6_330), "area.4port": (4, 2, 28_000, 32_112)}
_VOQ_DEPTH = 16
"""Flits that a port of the rows `-aside` sets aside for each rank, as generated boards have them."""
_VARIANTS = ("", "-aside", "-circuits")
"""Ends of the names of those rows."""
_WIRINGS = {"torus": "torus8", "bus": "bus8"}
_KINDS = {"bcast": collectives.BCAST, "reduce": collectives.REDUCE, "allreduce": collectives.ALLREDUCE}
_MILLION = 1_000_000
_LENGTHS = (10_000, 40_000)
"""Elements of the two messages whose times give that of a million, which `--full` runs itself."""
_CHILDREN = 3
"""A rank has at most as many: the links of a fourth would get more flits than the ports' place at the switch gives."""
_RING = "torus-ring"
"""The torus again, with a ring over its links in place of trees."""
_COLLECTIVES = {
    f"{name}.{length}.{wiring}": (kind, cluster)
    for length in ("1M", "1")
    for name, kind in _KINDS.items()
    for wiring, cluster in (*_WIRINGS.items(), (_RING, _WIRINGS["torus"]))
} | {f"barrier.{wiring}": (collectives.BARRIER, cluster) for wiring, cluster in _WIRINGS.items()}
_THERE_AND_BACK = (collectives.ALLREDUCE, collectives.BARRIER)
"""They go up the tree and down again."""
_BLOCKS = {
    "area.bcast": ("gs_stream_bcast", 2_560),
    "area.reduce": ("gs_stream_reduce", 10_268),
    "area.allreduce": ("gs_stream_allreduce", 2_560 + 10_268),
    "area.barrier": ("gs_stream_barrier", None),
}
_EMULATOR, _EACH, _RANKS = "emulator.elements-per-s", 2_000_000, 8
NAMES = (
    *_SHARES,
    *_CIRCUITS,
    _HOP,
    _ENDS,
    *messages.NAMES,
    *_COLLECTIVES,
    *(name + variant for name in _AREAS for variant in _VARIANTS),
    *_BLOCKS,
    _EMULATOR,
    *scatter_gather.NAMES,
    *applications.NAMES,
)
_SHORTEST_BYTES = 60
_SWITCH_CYCLES = 5
"""From a packet's last flit at a port of the switch to its first at another: `tests/rtl/switch` measures it."""


def _run(*arguments: object) -> list[int]:
    return ring.numbers("streams over boards", ring.boards(BOARDS), *arguments)


def _circuit(hops: int, line: float) -> dict[str, Any]:
    """One long message as a circuit, beside the same as packets: alone, and while the last board before the receiver's
    sends a long message over the same link."""

    def share(moved: int, cycles: int) -> float:
        return moved / (cycles * line)

    alone = share(*_run("rate", hops, ring.CIRCUITS))
    packets = share(*_run("rate", hops, ring.PACKETS))
    mine, _, cycles = _run("beside", hops, ring.CIRCUITS)
    theirs, _, of = ring.numbers("boards", ring.boards(BOARDS, circuits=0), "beside", hops, ring.CIRCUITS)
    reference: Reference = {"what": "the same message as packets", "value": packets, "unit": "share"}
    return {
        "value": alone, "unit": "of line rate", "reference": reference, "ratio": alone / packets,
        "shared": share(mine, cycles), "shared_packets": share(theirs, of),
    }  # fmt: skip


def _collective(context: Context, name: str, kind: int, cluster: str, line: float) -> Row:
    """A collective along a tree from board 0 of eight, or around a ring: the share of the link, or the cycles of one
    element."""
    links = configs.load(CONFIG).links
    wiring = collectives.Wiring.of(cluster)
    boards = collectives.Boards(wiring, DEPTH, kind)
    random = np.random.default_rng(1)

    def cycles(number: int, *lengths: int) -> tuple[int, tuple[int, ...]]:
        """Depth of the tree over so many boards; from the first open to the last rank's last element, for each
        length."""
        if name.endswith(_RING):
            tree = collectives.ring_tree(wiring, collectives.ring(wiring)[:number], 0)
        else:
            tree = collectives.tree(wiring, 0, range(number), _CHILDREN)
        members = sorted(tree.parent)
        runs = [collectives.random_run(random, kind, 0, length, members, gap=500) for length in lengths]
        try:
            outcome = boards.run({kind: {0: tree}}, runs, limit=20 * sum(lengths) + 50_000)
        except AssertionError as problem:
            raise RunDied(f"{name}: {problem}") from None
        return tree.depth(wiring), outcome.last

    about: dict[str, Any] = {"configuration": CONFIG, "cluster": cluster, "depth": DEPTH, "children": _CHILDREN}
    if name.endswith(_RING):
        about["children"] = 1
    if ".1M." not in name:
        depth, (took,) = cycles(wiring.boards, 1)
        wire = links.flight_cycles + (_SHORTEST_BYTES + links.overhead_bytes) / line
        times, what = (4, "four times") if kind in _THERE_AND_BACK else (2, "twice")
        most = times * 2 * depth * wire
        goal: Reference = {"what": f"{what} the tree's round trip over wires", "value": most, "unit": "cycles"}
        return context.row(name, float(took), "cycles", reference=goal, ratio=most / took, most=most, hops=depth,
                           **about)  # fmt: skip

    def million(number: int) -> float:
        if context.full:
            return cycles(number, _MILLION)[1][0]
        _, (short, long) = cycles(number, *_LENGTHS)
        return long + (_MILLION - _LENGTHS[1]) * (long - short) / (_LENGTHS[1] - _LENGTHS[0])

    took_all, took_half = million(wiring.boards), million(wiring.boards // 2)
    share = 4 * _MILLION / (took_all * line)
    goal = {"what": "goal", "value": 0.90, "unit": "share"}
    return context.row(name, share, "of line rate", reference=goal, ratio=share / 0.90, least=0.90, cycles=took_all,
                       over_half_the_ranks=took_all / took_half, measured=_MILLION if context.full else _LENGTHS,
                       **about)  # fmt: skip


def _emulator(context: Context) -> Row:
    """Elements that all ranks move, one at a time, in a second of the processor's time: the best of some runs."""
    program = Path(__file__).with_name("elements.c")
    best = 0.0
    for _ in range(context.repeat or 3):
        command = [sys.executable, str(ROOT / "gossamer"), "smi", "run", str(program), "--ranks", str(_RANKS)]
        command += ["--", str(_EACH)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        words = done.stdout.split()
        if done.returncode or len(words) != 2 or int(words[0]) != _RANKS * _EACH:
            raise RunDied(f"{_EMULATOR}: {(done.stdout + done.stderr).strip()[-500:]}")
        best = max(best, int(words[0]) / int(words[1]) * 1e9)
    goal: Reference = {"what": "goal", "value": 20e6, "unit": "elements/s"}
    return context.row(_EMULATOR, best, "elements/s", reference=goal, ratio=best / 20e6, least=20e6, ranks=_RANKS,
                       elements_of_a_rank=_EACH)  # fmt: skip


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for, as it is measured. Raises RunDied where an element came wrong."""
    if context.wants(_EMULATOR):
        yield _emulator(context)
    yield from applications.rows(context)
    if not any(context.wants(name) for name in NAMES if name not in (_EMULATOR, *applications.NAMES)):
        return
    gossamer_setup.require("core", "test", "rtl")
    config = configs.load(CONFIG)
    line = config.link_bits_per_kilocycle / 8000
    about: dict[str, Any] = {
        "configuration": CONFIG, "boards": BOARDS, "depth": DEPTH, "packet": PACKET, "bytes": BYTES,
    }  # fmt: skip
    for name, hops in _SHARES.items():
        if context.wants(name):
            moved, cycles = _run("rate", hops, ring.PACKETS)
            share = moved / (cycles * line)
            paper: Reference = {"what": "SMI's paper: 91 % of 87.5 % of the line rate", "value": 0.80, "unit": "share"}
            yield context.row(
                name, share, "of line rate", reference=paper, ratio=share / 0.80, least=0.93, hops=hops, **about
            )
    for name, hops in _CIRCUITS.items():
        if context.wants(name):
            yield context.row(name, **_circuit(hops, line), hops=hops, **about)
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
    yield from messages.rows(context)
    for name, (kind, cluster) in _COLLECTIVES.items():
        if context.wants(name):
            yield _collective(context, name, kind, cluster, line)
    yield from scatter_gather.rows(context, CONFIG, DEPTH, _CHILDREN, line)
    for name, (module, paper_luts) in _BLOCKS.items():
        if context.wants(name):
            gossamer_setup.require("synth")
            files = sources.blocks("stream/collectives.f", config=config)
            edges = collectives.Boards.LINKS
            report = synth.luts(module, files, "xc7", {"Edges": edges, "Bytes": BYTES})
            yield _area(context, name, report, "support kernel", paper_luts, edges=edges, bytes=BYTES)
    for short, (links, bits, most, paper_luts) in _AREAS.items():
        # Circuits are by port, a bit each.
        extra = {"-aside": {"VoqDepth": _VOQ_DEPTH}, "-circuits": {"Circuits": (1 << (1 << bits)) - 1}}
        for variant in _VARIANTS:
            name, besides = short + variant, extra.get(variant, {})
            if not context.wants(name):
                continue
            gossamer_setup.require("synth")
            files = sources.blocks("stream/transport.f", config=config)
            shape = {"Links": links, "PortBits": bits, "Own": 0, "Bytes": 4, "Depth": 512, "VoqDepth": 0, **besides}
            report = synth.luts("gs_stream_transport", files, "xc7", shape)
            shown = {"links": links, "ports": 1 << bits, "aside": shape["VoqDepth"], "block_rams": report.block_rams}
            shown["circuits"] = "Circuits" in besides
            if not besides:
                shown["most"] = most
            yield _area(context, name, report, "interconnect and CK modules", paper_luts, **shown)


def _area(context: Context, name: str, report: synth.LutReport, what: str, paper: float | None, **about: Any) -> Row:
    """LUTs of a block beside the paper's, where that has any."""
    if paper is None:
        return context.row(name, float(report.luts), "LUT6", configuration=CONFIG, ffs=report.ffs, **about)
    reference: Reference = {"what": f"SMI's paper: {what}", "value": paper, "unit": "LUT"}
    return context.row(
        name,
        float(report.luts),
        "LUT6",
        reference=reference,
        ratio=paper / report.luts,
        configuration=CONFIG,
        ffs=report.ffs,
        **about,
    )


__all__ = ["NAMES", "rows", "studies"]
