# SPDX-License-Identifier: Apache-2.0
"""The studies of the SMI paper (its section 5), predicted from constants of the RTL at a share of its lengths.

Latency over hops, bandwidth over the size of a message (Fig. 9), broadcast and reduction over lengths, ranks and
wirings (Fig. 10, 11), strong and weak scaling of the stencil (Fig. 15, 16), GESUMMV over orders (Fig. 13). The law of
messages and collectives is in `_law`; that of the pipelines over banks is `pipeline_cycles`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from gossamer import config as configs
from gossamer.bench import Context, Reference, Row
from gossamer.paths import BUILD

from . import _law, _studies_page, paper

CONFIG, PIPELINES = "de5", "smi520n"
LONGEST, SIDE, ORDER, STEPS = 1 << 20, 4096, 4096, 32
"""Elements of the paper's longest messages; points to a side of its stencil; of GESUMMV; time steps."""
HOPS = (1, 4, 7)
WIRINGS = {"torus": {4: 2, 8: 3, 64: 8}, "bus": {4: 3, 8: 7}}
"""Depth of the broadcast's tree by ranks: 2 x 2, 2 x 4 and 8 x 8 boards, or a line. The paper has 4 and 8."""
COLLECTIVES = ("bcast", "reduce")
LANES = 16
STRONG: dict[str, tuple[int, int, int, float | None]] = {
    "1x1": (1, 1, 1, None),
    "4x1": (4, 1, 1, 3.5),
    "1x4": (1, 2, 2, 3.5),
    "4x4": (4, 2, 2, 12.3),
    "4x8": (4, 2, 4, 23.1),
    "4x16": (4, 4, 4, None),
    "4x64": (4, 8, 8, None),
}
"""Banks of a board, ranks down and across, and the paper's speedup."""
WEAK = (4, 8)
_DOCUMENTED = {"4x1": 3.993, "1x4": 3.995, "4x4": 15.98, "4x8": 31.95}
"""Speedups that the RTL has at the paper's size with `./gossamer bench stream --full`."""
_CHUNK = 2.225
"""Cycles of a chunk, which is read and written in the same bank."""
_BORDER, _BORDER_ELEMENT = 729.0, 2.02
"""Cycles of a step whose borders take longest: of a message of no element, and of each element."""
_START = 943.0
"""Cycles that several ranks need before the first step and after the last, with the barrier."""
_RUNS = {
    (1, 1, 1, 128, 2): 4558,
    (1, 1, 1, 256, 2): 18315,
    (4, 1, 1, 256, 2): 4542,
    (1, 2, 2, 128, 4): 4376,
    (1, 2, 2, 256, 4): 10223,
    (1, 2, 2, 256, 2): 5583,
    (4, 2, 2, 256, 4): 4890,
    (4, 2, 2, 512, 4): 10197,
    (1, 2, 2, 512, 4): 37799,
    (4, 2, 4, 512, 4): 5868,
    (4, 2, 4, 1024, 4): 19395,
    (1, 2, 4, 256, 4): 5726,
}
"""Cycles of the stencil in RTL, by banks, ranks down and across, points to a side, and steps. The constants do not
depend on the last five."""
PAGE = BUILD / "bench" / "stream-studies.html"


def _lengths(context: Context) -> list[int]:
    assert context.scale is not None
    most = max(64, int(LONGEST * context.scale))
    return [1 << power for power in range(0, 21, 2) if 1 << power <= most]


def _sides(context: Context) -> list[int]:
    """Points to a side of the weak scaling's grids: each rank has a chunk of all its banks in a row."""
    assert context.scale is not None
    most = max(512.0, SIDE * math.sqrt(context.scale))
    return [side for side in (256, 512, 1024, 2048, 4096) if side <= most]


def expand(context: Context) -> list[str]:
    """The names of all rows."""
    names = [f"study.error.{kind}" for kind in _law.KINDS]
    names += [f"study.latency.h{hops}" for hops in range(1, 8)]
    names += [f"study.bandwidth.h{hops}.{4 * length}B" for hops in HOPS for length in _lengths(context)]
    names += [
        f"study.{kind}.{wiring}.r{ranks}.n{length}"
        for kind in COLLECTIVES
        for wiring, depths in WIRINGS.items()
        for ranks in depths
        for length in _lengths(context)
    ]
    names += [f"study.stencil.strong.{name}" for name in STRONG]
    names += [f"study.stencil.weak.b{boards}.n{side}" for boards in WEAK for side in _sides(context)]
    return [*names, *(f"study.gesummv.n{side}" for side in _sides(context))]


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for, as it is predicted."""
    shown: list[Row] = []
    for row in _rows(context):
        if context.wants(row.name):
            shown.append(row)
            yield row
    if shown:
        _studies_page.draw(PAGE, shown, str(context.scale))


def _rows(context: Context) -> Iterator[Row]:
    for kind in _law.KINDS:
        yield _error(context, kind)
    config = configs.load(CONFIG)
    mhz, line = config.board.clock_mhz, config.links.rate_mbps / 1000
    for hops in range(1, 8):
        us = _law.law("message").cycles(hops, 1) / mhz
        theirs: Reference | None = None
        if hops in paper.US:
            theirs = {"what": "SMI's paper", "value": paper.US[hops], "unit": "µs"}
        yield context.row(
            f"study.latency.h{hops}", us, "µs", reference=theirs, ratio=paper.US[hops] / us if theirs else None,
            hops=hops, **_about(context, "message", hops, 1),
        )  # fmt: skip
    for hops in HOPS:
        for length in _lengths(context):
            payload = 4 * length
            cycles = _law.law("message").cycles(hops, length)
            share = 8 * payload * mhz / 1000 / cycles / line
            modelled: Reference = {
                "what": "a model of the paper's figures", "value": paper.smi(payload, hops) / paper.LINE,
                "unit": "share",
            }  # fmt: skip
            yield context.row(
                f"study.bandwidth.h{hops}.{payload}B", share, "of line rate", reference=modelled, hops=hops,
                payload=payload, cycles=cycles, hosts=paper.host(payload) / paper.LINE,
                **_about(context, "message", hops, length),
            )  # fmt: skip
    for kind in COLLECTIVES:
        for wiring, depths in WIRINGS.items():
            for ranks, depth in depths.items():
                for length in _lengths(context):
                    cycles = _law.law(kind).cycles(depth, length)
                    yield context.row(
                        f"study.{kind}.{wiring}.r{ranks}.n{length}", cycles / mhz, "µs", kind=kind, wiring=wiring,
                        ranks=ranks, depth=depth, elements=length, cycles=cycles,
                        **_about(context, kind, depth, length),
                    )  # fmt: skip
    yield from _stencils(context)
    yield from _gesummv(context)


def _error(context: Context, kind: str) -> Row:
    """The greatest error of a law at the runs that it was not fitted to."""
    its = _law.law(kind)
    each = {str(one): its.error(one) for one in _law.unseen(kind)}
    worst = max(each, key=lambda name: abs(each[name]))
    middle = sorted(map(abs, each.values()))[len(each) // 2]
    return context.row(
        f"study.error.{kind}", abs(each[worst]), "", worst=worst, median=middle, unseen=len(each), constants=vars(its),
        errors=each,
    )  # fmt: skip


def _about(context: Context, kind: str, hops: int, elements: int) -> dict[str, Any]:
    point = _law.nearest(kind, hops, elements)
    its: dict[str, Any] = {
        "scale": str(context.scale), "cluster": f"boards of {CONFIG}", "configuration": CONFIG,
        "error": abs(_law.law(kind).error(point)),
        "validated": str(point),
    }  # fmt: skip
    if not _law.is_inside(kind, hops, elements):
        its["warning"] = "longer, or over more hops, than any run of the RTL"
    return its


def pipeline_cycles(side: int, banks: int, down: int, across: int, steps: int) -> float:
    """Cycles of the stencil on a square, of 16 points a chunk from each bank. A step reads its rows and two of its end
    again, and writes its rows; the borders arrive meanwhile, unless they take longer."""
    rows_of, columns = side // down, side // across
    chunks = columns // (LANES * banks)
    if chunks < 1:
        raise ValueError(f"{columns} columns are fewer than {LANES * banks}, a chunk of all banks")
    compute = _CHUNK * (rows_of + 1) * chunks
    sides = [columns] * (down > 1) + [rows_of] * (across > 1)
    border = max((_BORDER + _BORDER_ELEMENT * length for length in sides), default=0.0)
    return steps * max(compute, border) + (_START if sides else 0.0)


def pipeline_errors() -> dict[tuple[int, ...], float]:
    """Relative errors of `pipeline_cycles` at the runs of the RTL."""
    return {
        (banks, down, across, side, steps): pipeline_cycles(side, banks, down, across, steps) / cycles - 1
        for (banks, down, across, side, steps), cycles in _RUNS.items()
    }


def _latency() -> float:
    """Cycles of one element between neighbours on links of 40 Gbit/s: the law's, with the other flight."""
    ours, theirs = configs.load(CONFIG), configs.load(PIPELINES)
    law = _law.law("message")
    return law.ends + law.hop + float(theirs.links.flight_cycles) - float(ours.links.flight_cycles)


def _stencils(context: Context) -> Iterator[Row]:
    alone = pipeline_cycles(SIDE, 1, 1, 1, STEPS)
    worst = max(abs(_speedup(name, alone) / speedup - 1) for name, speedup in _DOCUMENTED.items())
    about: dict[str, Any] = {
        "scale": str(context.scale), "cluster": f"boards of {PIPELINES}", "configuration": PIPELINES,
    }  # fmt: skip
    for name, (banks, down, across, theirs) in STRONG.items():
        value, boards = _speedup(name, alone), down * across
        published: Reference | None = {"what": "SMI's paper", "value": theirs, "unit": "x"} if theirs else None
        its = about | {"warning": "more boards than any run of the RTL"} if boards > 8 else about
        yield context.row(
            f"study.stencil.strong.{name}", value, "x", reference=published, ratio=value / theirs if theirs else None,
            least_ratio=None, banks=banks, boards=boards, points=[SIDE, SIDE], steps=STEPS, ideal=banks * boards,
            cycles=pipeline_cycles(SIDE, banks, down, across, STEPS), error=worst,
            validated="stencil.4x1, .1x4, .4x4 and .4x8 in RTL, 4096 x 4096 points, 32 steps", **its,
        )  # fmt: skip
    mhz = configs.load(PIPELINES).board.clock_mhz
    errors = pipeline_errors()
    case = max(errors, key=lambda one: abs(errors[one]))
    for boards in WEAK:
        for side in _sides(context):
            cycles = pipeline_cycles(side, 4, 2, boards // 2, STEPS)
            yield context.row(
                f"study.stencil.weak.b{boards}.n{side}", cycles / STEPS / mhz * 1000 / side**2, "ns a point",
                reference=None, ratio=None, least_ratio=None, boards=boards, banks=4, points=[side, side],
                cycles=cycles, error=abs(errors[case]),
                validated=f"{len(errors)} runs of the RTL with 1, 4 and 8 ranks, sides of 128 to 1024; worst {case}",
                **about,
            )  # fmt: skip


def _speedup(name: str, alone: float) -> float:
    banks, down, across, _ = STRONG[name]
    return alone / pipeline_cycles(SIDE, banks, down, across, STEPS)


def _gesummv(context: Context) -> Iterator[Row]:
    """One matrix from two of four banks, or from all four of a board for each; elements of the other rank arrive while
    the next row is read."""
    mhz = configs.load(PIPELINES).board.clock_mhz
    paper_has: Reference = {"what": "SMI's paper: about", "value": 2.0, "unit": "x"}
    for order in _sides(context):
        one, two = _gesummv_cycles(order)
        at_size, of_both = _gesummv_cycles(ORDER)
        its = {"warning": "smaller than any run of the RTL"} if order < ORDER else {}
        about: dict[str, Any] = its | {"scale": str(context.scale), "cluster": f"boards of {PIPELINES}"}
        yield context.row(
            f"study.gesummv.n{order}", one / two, "x", reference=paper_has, ratio=one / two / 2, least_ratio=None,
            order=order, one_us=one / mhz, two_us=two / mhz, configuration=PIPELINES,
            error=abs(at_size / of_both / 1.999 - 1), validated="gesummv.2 in RTL, matrices of 4096 x 4096", **about,
        )  # fmt: skip


def _gesummv_cycles(order: int) -> tuple[float, float]:
    """Cycles on one board, and on two."""
    chunks = order * order / LANES
    return chunks / 2, chunks / 4 + _latency()


__all__ = ["expand", "pipeline_cycles", "pipeline_errors", "rows"]
