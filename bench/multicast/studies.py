# SPDX-License-Identifier: Apache-2.0
"""The studies of the multicast paper (its Fig. 5), predicted by the timing model at a share of its tasks.

Time and traffic over the radius of the neighbourhood for fan-outs of 25 and 100, and DPD over its number of cells, on
the paper's 6 x 8 boards. Messages to single threads are compared with messages to tiles, and with keys. PageRank on
these boards is also compared with one thread of this machine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from gossamer import progress
from gossamer.apps import runner
from gossamer.bench import Context, Row
from gossamer.bench.predicted import Case, Predicted, Study, worst
from gossamer.paths import BUILD

from . import _studies_page

VERTICES, CELLS = 1_000_000, 50_000
BOARDS = (6, 8)
RADII = (0.0125, 0.05, 0.2, 1.5)
"""Of the square's side; 1.5 is the whole square. Radii that hold less than 1.5 times the fan-out are skipped."""
FAN_OUTS = (25, 100)
APPS: dict[str, tuple[tuple[str, Any], ...]] = {
    "pagerank": (("iterations", 3),),
    "asp": (("sources", 64),),
    "izhikevich": (("steps", 20),),
}
SIDES = (8, 16, 27, 37)
"""Cells along an edge of DPD's box; 37 is the paper's largest, 50,653 cells."""
DPD = ("dpd", "dpd-gals")
MODES = ("none", "local", "full")
THREAD = "study.pagerank.rack48-vs-thread"
THREAD_FAN_OUT = 25
_TIMES = 3
"""Runs on one thread, of which the fastest counts."""
PAGE = BUILD / "bench" / "multicast-studies.html"


def _names() -> dict[str, tuple[str, int, float]]:
    return {
        f"study.{app}.f{fan_out}.rack48.r{radius:g}": (app, fan_out, radius)
        for app in APPS
        for fan_out in FAN_OUTS
        for radius in RADII
    }


def _boxes(context: Context) -> dict[str, tuple[str, int]]:
    """DPD's rows: boxes of at most the share of the paper's cells."""
    assert context.scale is not None
    most = context.scale * (SIDES[-1] ** 3)
    sides = [side for side in SIDES if side == SIDES[0] or side**3 <= most]
    return {f"study.{app}.rack48.n{side**3}": (app, side) for app in DPD for side in sides}


def expand(context: Context) -> list[str]:
    """The names of all rows."""
    return [*_names(), *_boxes(context), THREAD]


def _least(fan_out: int, vertices: int) -> float:
    """The least radius of a neighbourhood with so many vertices, of a square with side 1; half of them are spare."""
    return math.sqrt(1.5 * fan_out / (math.pi * vertices))


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for, as it is predicted. Raises RunDied where results are not those of the engine ``cpu``."""
    assert context.scale is not None
    vertices = round(VERTICES * context.scale)
    wanted = {name: of for name, of in _names().items() if context.wants(name)}
    boxes = {name: of for name, of in _boxes(context).items() if context.wants(name)}
    shown: list[Row] = []
    small = {
        name: f"{fan_out} neighbours are not within {radius} of a vertex at this scale"
        for name, (_, fan_out, radius) in wanted.items()
        if radius < _least(fan_out, vertices)
    }
    for name, why in small.items():
        del wanted[name]
        yield context.skip(name, why)
    points = (len(wanted) + len(boxes)) * len(MODES) + context.wants(THREAD)
    with progress.steps("predictions", points) as bar:
        study = Study(bar)
        for name, (app, fan_out, radius) in wanted.items():
            text = f"gen:geometric:vertices={vertices},fanout={fan_out},radius={radius},seed=1"
            about: dict[str, Any] = {"fan_out": fan_out, "radius": radius}
            shown.append(_row(context, study, name, app, text, APPS[app], about))
            yield shown[-1]
        for name, (app, side) in boxes.items():
            text = f"gen:cube:width={side},height={side},depth={side},neighbours=26,around=yes"
            how = (("steps", 2), ("density", 1.2))
            about = {"cells": side**3, "scale": str(Fraction(side**3, SIDES[-1] ** 3))}
            shown.append(_row(context, study, name, app, text, how, about))
            yield shown[-1]
        if context.wants(THREAD):
            yield _against_thread(context, study, vertices)
    if shown:
        _studies_page.draw(PAGE, shown, MODES, str(context.scale))


def _row(
    context: Context, study: Study, name: str, app: str, text: str, how: tuple[tuple[str, Any], ...],
    about: dict[str, Any],
) -> Row:  # fmt: skip
    width, height = BOARDS
    found: dict[str, Predicted] = {}
    for mode in MODES:
        found[mode] = study.predict(Case(app, text, how, width=width, height=height, multicast=mode))
    last = found[MODES[-1]]
    return context.row(
        name, found["none"].cycles / last.cycles, "times as fast",
        app=app, graph=text, cluster=f"{width} x {height} de5", boards=width * height,
        mode=MODES[-1], vertices=last.vertices, edges=last.edges,
        cycles={mode: one.cycles for mode, one in found.items()},
        mesh_bytes={mode: one.mesh_bytes for mode, one in found.items()},
        link_bytes={mode: one.link_bytes for mode, one in found.items()},
        simulated_s=round(sum(one.simulated_s for one in found.values()), 1),
        **({"scale": str(context.scale)} | about), **worst(found.values()),
    )  # fmt: skip


def _against_thread(context: Context, study: Study, vertices: int) -> Row:
    """PageRank on the rack against the engine ``cpu`` on one thread."""
    width, height = BOARDS
    radius = max(RADII[0], _least(THREAD_FAN_OUT, vertices))
    text = f"gen:geometric:vertices={vertices},fanout={THREAD_FAN_OUT},radius={radius:.5g},seed=1"
    case = Case("pagerank", text, APPS["pagerank"], width=width, height=height, mapping="direct")
    of = study.predict(case)
    seconds = []
    for _ in range(_TIMES):
        # Processor time, with the initial states: other programs of this machine do not count.
        begun = time.process_time()
        runner.run(case.app, study.graph(case.graph, False), threads=1, **dict(case.parameters))
        seconds.append(time.process_time() - begun)
    return context.row(
        THREAD, min(seconds) / of.seconds, "times as fast", scale=str(context.scale), app=case.app, graph=text,
        cluster=f"{width} x {height} de5", boards=width * height, mapping=case.mapping, thread_s=min(seconds),
        radius=radius, **of.about(),
    )  # fmt: skip


__all__ = ["expand", "rows"]
