# SPDX-License-Identifier: Apache-2.0
"""The case study of the Tinsel paper (its section VI), predicted by the timing model at a share of its vertices.

Strong scaling over 1 to 12 boards (Fig. 11), the table of counters on 12 boards (Fig. 12), and this machine's
processors on the same work. The neighbourhood contains the same number of vertices at every scale. Graphs that exceed
the memory of one board scale from the fewest boards that hold them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gossamer import mapper, progress
from gossamer.bench import Context, Reference, Row
from gossamer.bench.predicted import Case, Predicted, Study, geometric, worst
from gossamer.paths import BUILD

from . import _network, _studies_page

VERTICES, FAN_OUT = 2_000_000, 100
NEIGHBOURHOOD = 250
"""Vertices within the radius; the paper does not state it. At its scale, the radius is 0.0063 of the square's side."""
MESHES = {1: (1, 1), 2: (2, 1), 4: (2, 2), 8: (2, 4), 12: (3, 4)}
"""Boards, as columns and rows."""
ITERATIONS = 5
APPS: dict[str, tuple[str, tuple[tuple[str, Any], ...], bool]] = {
    "pagerank": ("pagerank", (("iterations", ITERATIONS),), False),
    "sssp": ("sssp-sync", (("source", 0),), True),
    "mssp": ("mssp", (("sources", 8),), False),
    "hashmin": ("hashmin-sync", (), False),
}
"""The paper's applications: their names here, parameters, and whether edges have lengths."""
COUNTED = {"sync": "pagerank", "gals": "pagerank-gals"}
COUNTERS = ("hit_rate", "memory_gbs", "processors", "mesh_gbs", "links_gbs")
PAPER: dict[str, dict[str, float]] = {
    "sync": {
        "s": 0.49,
        "hit_rate": 0.915,
        "memory_gbs": 125.8,
        "processors": 0.564,
        "mesh_gbs": 32.2,
        "links_gbs": 7.3,
    },
    "gals": {
        "s": 0.59,
        "hit_rate": 0.939,
        "memory_gbs": 127.7,
        "processors": 0.713,
        "mesh_gbs": 27.2,
        "links_gbs": 6.1,
    },
}
"""Fig. 12."""
_UNITS = {"hit_rate": "", "processors": ""}
_CORES = 72
"""Threads of the paper's six servers."""
PAGE = BUILD / "bench" / "polite-studies.html"


def expand(context: Context) -> list[str]:
    """The names of all rows."""
    names = [f"study.strong.{app}.b{boards}" for app in APPS for boards in MESHES]
    names += [f"study.pcs.{app}" for app in APPS]
    for name in COUNTED:
        names += [_time(context, name), *(_counter(context, name, counter) for counter in COUNTERS)]
    return [*names, *_network.NAMES]


def _time(context: Context, name: str) -> str:
    """The name of a time on 12 boards: only at the paper's scale it is compared with the paper's."""
    if context.scale == 1:
        return "pagerank.de5x12-s" if name == "sync" else "pagerank.de5x12-gals-s"
    return f"study.counters.{name}.s"


def _counter(context: Context, name: str, counter: str) -> str:
    if context.scale == 1:
        return f"pagerank.de5x12.{counter}" if name == "sync" else f"pagerank.de5x12-gals.{counter}"
    return f"study.counters.{name}.{counter}"


def _graph(context: Context, fan_out: int, lengths: bool) -> str:
    assert context.scale is not None
    vertices = round(VERTICES * context.scale)
    return geometric(vertices, fan_out, NEIGHBOURHOOD) + (",weights=1:100" if lengths else "")


def _mapping(context: Context) -> str:
    """At the paper's scale by number, since these graphs number vertices by position; else the mapper's choice."""
    return "direct" if context.scale == 1 else ""


def _case(context: Context, app: str, boards: int) -> Case:
    name, parameters, lengths = APPS[app]
    width, height = MESHES[boards]
    return Case(name, _graph(context, FAN_OUT, lengths), parameters, width=width, height=height,
                mapping=_mapping(context))  # fmt: skip


def _counted_case(context: Context, name: str) -> Case:
    # Without barriers, PageRank needs edges in both directions: half the fan-out, added in the other direction.
    width, height = MESHES[12]
    return Case(COUNTED[name], _graph(context, FAN_OUT // 2, False), (("iterations", ITERATIONS),), True,
                width=width, height=height, mapping=_mapping(context))  # fmt: skip


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for, as it is predicted. Raises RunDied where results are not those of the engine ``cpu``."""
    scaled = {app: [b for b in MESHES if context.wants(f"study.strong.{app}.b{b}")] for app in APPS}
    against = [app for app in APPS if context.wants(f"study.pcs.{app}")]
    for app, boards in scaled.items():
        if app in against and 12 not in boards:
            boards.append(12)
    counted = [
        name
        for name in COUNTED
        if any(context.wants(one) for one in (_time(context, name), *(_counter(context, name, c) for c in COUNTERS)))
        or (name == "sync" and context.wants(_network.PAGERANK))
    ]
    total = sum(len({1, *boards}) for boards in scaled.values() if boards) + len(counted)
    shown: list[Row] = []
    seconds = None
    with progress.steps("predictions", total) as bar:
        study = Study(bar)
        for app, boards in scaled.items():
            found: dict[int, Predicted] = {}
            # The fewest boards that hold the graph, as reference, and those that are wanted.
            for count in MESHES if boards else ():
                if found and count not in boards:
                    continue
                name = f"study.strong.{app}.b{count}"
                try:
                    found[count] = study.predict(_case(context, app, count))
                except mapper.TooLarge as error:
                    bar.update(1)
                    if context.wants(name):
                        yield context.skip(name, str(error))
                    continue
                if context.wants(name):
                    shown.append(_strong(context, name, app, count, found))
                    yield shown[-1]
            if app in against and 12 not in found:
                yield context.skip(f"study.pcs.{app}", "the graph does not fit on 12 boards")
            elif app in against:
                shown.append(_against(context, app, study, found[12]))
                yield shown[-1]
        for name in counted:
            of = study.predict(_counted_case(context, name))
            seconds = of.seconds if name == "sync" else seconds
            for row in _counters(context, name, of):
                if context.wants(row.name):
                    shown.append(row)
                    yield row
    for row in _network.rows(context, seconds, ITERATIONS):
        shown.append(row)
        yield row
    if any(row.name.startswith(("study.strong", "study.counters", "pagerank.")) for row in shown):
        _studies_page.draw_studies(PAGE, shown, str(context.scale))


def _about(context: Context, case: Case) -> dict[str, Any]:
    return {
        "scale": str(context.scale), "app": case.app, "graph": case.graph, "symmetric": case.symmetric,
        "cluster": f"{case.width} x {case.height} {case.config}", "boards": case.boards, "multicast": case.multicast,
    }  # fmt: skip


def _strong(context: Context, name: str, app: str, boards: int, found: dict[int, Predicted]) -> Row:
    least = min(found)
    value = least * found[least].seconds / found[boards].seconds
    about = found[boards].about() | worst([found[least], found[boards]])
    if least != 1:
        about["relative_to"] = f"{least} boards, the fewest that hold the graph, as {least} times one board"
    return context.row(
        name, value, "times as fast", reference={"what": "linear, the paper's", "value": boards, "unit": "times"},
        ratio=value / boards, **_about(context, _case(context, app, boards)), **about,
    )  # fmt: skip


def _against(context: Context, app: str, study: Study, of: Predicted) -> Row:
    """Twelve boards against the engine ``cpu`` on all processors of this machine."""
    case = _case(context, app, 12)
    seconds = study.want(case).seconds
    cores = int(context.machine.get("cores", 1))
    return context.row(
        f"study.pcs.{app}", seconds / of.seconds, "times as fast", cpu_s=seconds,
        # A bound: no cluster of processors such as these scales better than linearly.
        against_72_threads_at_linear_speedup=seconds * cores / _CORES / of.seconds,
        **_about(context, case), **of.about(),
    )  # fmt: skip


def _counters(context: Context, name: str, of: Predicted) -> Iterator[Row]:
    paper, same = PAPER[name], context.scale == 1
    about = _about(context, _counted_case(context, name)) | of.about()
    assert context.scale is not None
    time: Reference = {"what": "Fig. 12" if same else "Fig. 12, at its scale", "value": paper["s"], "unit": "s"}
    yield context.row(
        _time(context, name), of.seconds, "s", reference=time, ratio=paper["s"] / of.seconds if same else None,
        linear_to_the_papers_edges_s=of.seconds * VERTICES * FAN_OUT / of.edges, **about,
    )  # fmt: skip
    values = {
        "hit_rate": of.hit_rate, "memory_gbs": of.memory_gbs, "processors": of.processors,
        "mesh_gbs": of.mesh_bytes / of.seconds / 1e9, "links_gbs": of.link_bytes / of.seconds / 1e9,
    }  # fmt: skip
    for counter in COUNTERS:
        unit = _UNITS.get(counter, "GB/s")
        yield context.row(
            _counter(context, name, counter), values[counter], unit,
            reference={"what": "Fig. 12", "value": paper[counter], "unit": unit}, **about,
        )  # fmt: skip


__all__ = ["expand", "rows"]
