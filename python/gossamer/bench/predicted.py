# SPDX-License-Identifier: Apache-2.0
"""Runs predicted by the timing model for the papers' studies: checked against the engine ``cpu``, and kept on disk.

A study of hours can be interrupted: a point that was predicted before is read from ``build/bench/studies`` as long as
the model, the mapper, the application, the configuration and the graph are the same.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from gossamer import __version__, progress
from gossamer import config as configs
from gossamer.apps import runner
from gossamer.apps.results import Result
from gossamer.bench.runs import FLIT_BYTES
from gossamer.engines import _model_validation
from gossamer.engines.model import Model
from gossamer.engines.rtl_cluster import Plan
from gossamer.errors import InputError, RunDied
from gossamer.files import write_whole
from gossamer.graph import Graph, read_graph
from gossamer.paths import BUILD, ROOT

SMALL = Fraction(1, 200)
KEPT = BUILD / "bench" / "studies"
"""Where predicted points are kept."""
_SOURCES = (
    "src/model", "include/gossamer/model", "include/gossamer/mapper", "src/mapper", "src/graph", "config/constants",
    "config/model/timing.toml", "device", "python/gossamer/engines/model.py", "python/gossamer/mapper", "apps",
)  # fmt: skip
"""What a prediction depends on, besides its point. Engine files ``_model_*.py`` are added, without the validation."""


def scale_of(text: str) -> Fraction:
    """The share of the papers' vertices that ``--scale`` names: ``paper``, ``small``, or a share such as ``1/20``.

    Raises InputError for others.
    """
    if text == "paper":
        return Fraction(1)
    if text == "small":
        return SMALL
    try:
        share = Fraction(text)
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if not 0 < share <= 1:
        raise InputError(f"--scale {text}: write paper, small, or a share of the papers' vertices such as 1/20")
    return share


def geometric(vertices: int, fan_out: int, neighbourhood: int) -> str:
    """A geometric random graph whose radius holds so many vertices on average, and at least 1.5 times the fan-out."""
    radius = math.sqrt(max(neighbourhood, 1.5 * fan_out) / (math.pi * vertices))
    return f"gen:geometric:vertices={vertices},fanout={fan_out},radius={min(radius, 1.5):.5f},seed=1"


@functools.cache
def _fingerprint() -> str:
    """Digest of all files on which predictions depend."""
    found: set[Path] = set(Path(_model_validation.__file__).parent.glob("_model_[acm]*.py"))
    for name in _SOURCES:
        path = ROOT / name
        found |= {path} if path.is_file() else {one for one in path.rglob("*") if one.is_file()}
    digest = hashlib.sha256()
    for path in sorted(one for one in found if "__pycache__" not in one.parts):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def machine(config: str, width: int, height: int) -> configs.Config | Plan:
    """A board, or a mesh of boards with a host at its corner."""
    if width * height == 1:
        return configs.load(config)
    with tempfile.TemporaryDirectory(prefix="gossamer-study-") as folder:
        path = Path(folder) / f"mesh{width}x{height}.toml"
        path.write_text(
            f'description = "boards of a study"\nconfig = "{config}"\ntopology = "mesh {width}x{height}"\n'
            'hosts = ["host - x0y0:west"]\n'
        )
        return Plan(configs.load_cluster(path))


@dataclass(frozen=True)
class Case:
    """An application on a graph and a mesh of boards."""

    app: str
    graph: str
    """A name for ``read_graph``."""
    parameters: tuple[tuple[str, Any], ...] = ()
    symmetric: bool = False
    """Whether each edge is added in the opposite direction too."""
    config: str = "de5"
    width: int = 1
    height: int = 1
    multicast: str = "local"
    mapping: str = ""
    """Of the mapper; empty: its own choice."""

    @property
    def boards(self) -> int:
        return self.width * self.height

    @property
    def key(self) -> str:
        """Names the point together with everything that it depends on."""
        return hashlib.sha256(f"{_fingerprint()} {__version__} {self!r}".encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Predicted:
    """The prediction of a run. Sizes in bytes; ``seconds`` are those of the boards."""

    cycles: int
    seconds: float
    vertices: int
    edges: int
    steps: int
    deliveries: int
    hit_rate: float
    """Share of the requests to caches that hit."""
    memory_gbs: float
    """Lines that caches read from and write to off-chip memory, GB/s of all boards."""
    processors: float
    """Share of the cycles of all cores in which they issue."""
    mesh_bytes: int
    """Flits that tiles send to other tiles, on the same or another board."""
    link_bytes: int
    """Flits over all links between boards, without headers of frames."""
    simulated_s: float
    """Seconds that the prediction took, with mapping."""
    error: float | None = None
    """Relative error of the nearest validated case; None if no case is recorded."""
    nearest: str = ""
    warning: str = ""
    """Why the run is outside of the validated range; empty if it is inside."""

    def about(self) -> dict[str, Any]:
        """For the configuration of a row."""
        its = {name: getattr(self, name) for name in ("cycles", "seconds", "vertices", "edges", "steps", "deliveries")}
        return its | {"simulated_s": round(self.simulated_s, 1)} | worst([self])


@dataclass
class Study:
    """Predicts points one after another. Graphs and results of ``cpu`` are kept for the next point with the same."""

    bar: progress.Bar | None = None
    _graph: tuple[tuple[str, bool], Graph] | None = field(default=None, repr=False)
    _want: tuple[tuple[Any, ...], Result] | None = field(default=None, repr=False)

    def graph(self, text: str, symmetric: bool) -> Graph:
        """A graph; only the latest is kept in memory."""
        if self._graph is None or self._graph[0] != (text, symmetric):
            self._graph = self._want = None
            graph = read_graph(text)
            self._graph = (text, symmetric), graph.symmetrised() if symmetric else graph
        return self._graph[1]

    def want(self, case: Case) -> Result:
        """The result of the engine ``cpu``."""
        key = (case.app, case.graph, case.symmetric, case.parameters)
        if self._want is None or self._want[0] != key:
            self._want = key, runner.run(case.app, self.graph(case.graph, case.symmetric), **dict(case.parameters))
        return self._want[1]

    def predict(self, case: Case) -> Predicted:
        """A kept or a new prediction. Raises RunDied if its result is not that of ``cpu``."""
        path = KEPT / f"{case.key}.json"
        try:
            found = Predicted(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            found = self._run(case)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, (json.dumps(vars(found)) + "\n").encode())
        if self.bar is not None:
            self.bar.update(1)
        # Not kept: the table of validated points changes without the model.
        stats = {"edges": found.edges, "steps": found.steps, "boards": case.boards, "config": case.config,
                 "multicast": case.multicast}  # fmt: skip
        point = _model_validation.nearest(stats, case.app)
        return replace(
            found, error=point.error if point else None, nearest=str(point or ""),
            warning=_model_validation.outside(stats),
        )  # fmt: skip

    def _run(self, case: Case) -> Predicted:
        want = self.want(case)
        begun = time.perf_counter()
        where = machine(case.config, case.width, case.height)
        words: dict[str, Any] = {"multicast": case.multicast} | ({"mapping": case.mapping} if case.mapping else {})
        engine = Model(plan=where, **words) if isinstance(where, Plan) else Model(config=where, **words)
        got = runner.run(case.app, self.graph(case.graph, case.symmetric), engine=engine, **dict(case.parameters))
        wrong = runner.difference(want, got)
        if wrong is not None:
            raise RunDied(f"{case.app}: {wrong.second:g} at vertex {wrong.vertex} instead of {wrong.first:g}")
        assert engine.done is not None
        config, counters, cycles = configs.load(case.config), got.stats["counters"], int(got.stats["cycles"])
        cores = case.boards * config.threads // config.core.threads_per_core
        seconds = cycles / config.clock_hz
        lines = counters["misses"] + counters["writebacks"]
        return Predicted(
            cycles=cycles,
            seconds=seconds,
            vertices=int(want.graph.vertices),
            edges=int(want.graph.edges),
            steps=int(got.stats["steps"]),
            deliveries=int(got.stats["deliveries"]),
            hit_rate=counters["hits"] / max(1, counters["hits"] + counters["misses"]),
            memory_gbs=lines * config.cache.line_bytes / seconds / 1e9,
            processors=counters["instructions"] / (cycles * cores),
            mesh_bytes=counters["flits_out"] * FLIT_BYTES,
            link_bytes=sum(link["message_flits"] for link in engine.done.links.values()) * FLIT_BYTES,
            simulated_s=time.perf_counter() - begun,
        )


def worst(of: Iterable[Predicted]) -> dict[str, Any]:
    """For the configuration of a row: the largest validated error of its predictions, and where it is from."""
    found = max(of, key=lambda one: abs(one.error or 0.0))
    its: dict[str, Any] = {} if found.error is None else {"error": abs(found.error), "validated": found.nearest}
    return its | ({"warning": found.warning} if found.warning else {})


__all__ = ["KEPT", "SMALL", "Case", "Predicted", "Study", "geometric", "machine", "scale_of", "worst"]
