# SPDX-License-Identifier: Apache-2.0
"""Cycles of messages and collectives over links, by a law whose constants are fitted to runs of the RTL.

    cycles = ends + hops * (hop + store * m / (m + half)) + element * m,    m = elements - 1

`ends` and `hop` are those of one element. A link forwards a frame when it has received all of it, and frames grow with
the length of the message: `store` is the time of long frames on a hop, `half` the elements at which it is half of that.
`config/model/streams.json` has the runs. The constants are fitted to some of them; the others measure the error.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gossamer.paths import CONFIG

FILE = CONFIG / "model" / "streams.json"
KINDS = ("message", "bcast", "reduce")


@dataclass(frozen=True)
class Point:
    """A run of the RTL: elements of four bytes over links, in cycles of 250 MHz. The hops of a collective are the depth
    of its tree."""

    kind: str
    hops: int
    elements: int
    cycles: float
    fitted: bool
    """Whether the constants depend on it."""
    where: str
    """Wiring and ranks."""

    def __str__(self) -> str:
        return f"{self.kind} of {self.elements} over {self.hops} hop{'s' * (self.hops > 1)}, {self.where}"


@functools.cache
def points() -> tuple[Point, ...]:
    """All runs."""
    return tuple(Point(**one) for one in json.loads(FILE.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Law:
    """The constants of a kind, in cycles; `half` in elements."""

    ends: float
    hop: float
    store: float
    half: float
    element: float

    def cycles(self, hops: int, elements: int) -> float:
        """Cycles of so many elements of four bytes."""
        more = elements - 1
        return self.ends + hops * (self.hop + self.store * more / (more + self.half)) + self.element * more

    def error(self, point: Point) -> float:
        """Relative error at a run."""
        return self.cycles(point.hops, point.elements) / point.cycles - 1


@functools.cache
def law(kind: str) -> Law:
    """The constants with the least relative errors at the fitted runs."""
    return fit([one for one in points() if one.kind == kind and one.fitted])


def fit(runs: Sequence[Point]) -> Law:
    """Least squares of the relative errors: linear in all constants but `half`, which is searched."""
    measured = np.array([one.cycles for one in runs])
    best: tuple[float, Law] | None = None
    for half in np.geomspace(5, 500, 93):
        more = np.array([one.elements - 1 for one in runs], float)
        hops = np.array([one.hops for one in runs], float)
        terms = np.stack([np.ones_like(hops), hops, hops * more / (more + half), more], axis=1)
        found, *_ = np.linalg.lstsq(terms / measured[:, None], np.ones_like(measured), rcond=None)
        error = float(np.square(terms @ found / measured - 1).mean())
        if best is None or error < best[0]:
            ends, hop, store, element = map(float, found)
            best = error, Law(ends, hop, store, float(half), element)
    assert best is not None
    return best[1]


def unseen(kind: str) -> list[Point]:
    """The runs of a kind that no constant depends on."""
    return [one for one in points() if one.kind == kind and not one.fitted]


def nearest(kind: str, hops: int, elements: int) -> Point:
    """The unseen run with the most similar length and hops."""

    def distance(one: Point) -> float:
        return abs(float(np.log2(one.elements / elements))) + 2 * abs(float(np.log2(one.hops / hops)))

    return min(unseen(kind), key=distance)


def is_inside(kind: str, hops: int, elements: int) -> bool:
    """Whether the lengths and hops of the runs enclose these."""
    runs = [one for one in points() if one.kind == kind]
    return hops <= max(one.hops for one in runs) and elements <= max(one.elements for one in runs)


__all__ = ["FILE", "KINDS", "Law", "Point", "fit", "is_inside", "law", "nearest", "points", "unseen"]
