# SPDX-License-Identifier: Apache-2.0
"""How far predictions of the timing model were from ``rtl``: the recorded points, and the one nearest to a run.

``tools/record_model.py`` writes the points of ``./gossamer bench model --json`` to config/model/validated.json.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gossamer.paths import CONFIG

POINTS = CONFIG / "model" / "validated.json"


@dataclass(frozen=True)
class Point:
    """A run on ``rtl``, and its prediction."""

    app: str
    graph: str
    place: str
    """Name of the cluster, or of the configuration."""
    config: str
    boards: int
    multicast: str
    edges: int
    steps: int
    cycles: int
    predicted: int
    fitted: bool
    """Whether parameters of the model were fitted with it."""

    @property
    def error(self) -> float:
        """Predicted cycles relative to those of ``rtl``, less one."""
        return self.predicted / self.cycles - 1

    def __str__(self) -> str:
        cycles = f"{self.predicted:,} cycles predicted, {self.cycles:,} on rtl"
        return f"{self.app} of {self.graph} on {self.place}, --multicast {self.multicast}: {self.error:+.1%} ({cycles})"


@functools.cache
def points() -> tuple[Point, ...]:
    """All recorded points; none if the file does not exist."""
    if not POINTS.is_file():
        return ()
    return tuple(Point(**one) for one in json.loads(POINTS.read_text(encoding="utf-8"))["points"])


def _distance(point: Point, stats: Mapping[str, Any], app: str) -> float:
    """How different a run is: its machine counts most, then its program, then its scale."""
    edges = abs(math.log10(max(1, stats["edges"]) / max(1, point.edges)))
    boards = abs(math.log2(stats["boards"] / point.boards))
    different = 3 * (point.config != stats["config"]) + (point.multicast != stats["multicast"])
    phases = (point.steps > 1) != (stats["steps"] > 1)
    return float(different + boards + edges + 2.5 * (point.app != app) + phases)


def nearest(stats: Mapping[str, Any], app: str) -> Point | None:
    """The recorded point that is most like a run; None without points."""
    return min(points(), key=lambda point: _distance(point, stats, app), default=None)


def outside(stats: Mapping[str, Any]) -> str:
    """Why a run is outside of the validated range; empty if it is inside."""
    same = [point for point in points() if point.config == stats["config"]]
    if not same:
        found = ", ".join(sorted({point.config for point in points()})) or "none"
        return f"configuration {stats['config']} was not validated (validated: {found})"
    if stats["boards"] > (most := max(point.boards for point in same)):
        validated = f"at most {most} of {stats['config']} {'was' if most == 1 else 'were'} validated"
        return f"{stats['boards']} boards; {validated}"
    if stats["edges"] > 20 * (most := max(point.edges for point in same)):
        return f"{stats['edges']:,} edges; graphs of at most {most:,} were validated on {stats['config']}"
    return ""


def notes(stats: Mapping[str, Any], app: str) -> list[str]:
    """What a prediction says about its own error."""
    point = nearest(stats, app)
    if point is None:
        return ["prediction: no validated case is recorded; ./gossamer bench model measures some"]
    found = [f"prediction; nearest validated case: {point}"]
    if why := outside(stats):
        found.append(f"warning: outside of the validated range: {why}")
    return found


__all__ = ["POINTS", "Point", "nearest", "notes", "outside", "points"]
