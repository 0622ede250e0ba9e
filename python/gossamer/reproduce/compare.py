# SPDX-License-Identifier: Apache-2.0
"""The papers' numbers and ours: looks up rows and configurations, and classifies each table and figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gossamer import config as configs
from gossamer.errors import InputError
from gossamer.reproduce.facts import Item, Paper, Series, Value
from gossamer.reproduce.row_files import Row, Rows

STATES = {
    "same": ("reproduced", "each number has ours, of the same experiment or property"),
    "smaller": ("reproduced smaller", "each number has ours, of the same experiment with fewer boards or less data"),
    "similar": ("similar experiment", "each number has ours, but the experiment or the technology differs"),
    "part": ("in part", "some numbers have ours, others do not"),
    "none": ("not reproduced", "no number has ours"),
    "drawing": ("no result", "a drawing, photograph or listing: there is no number to reproduce"),
}
"""How far a table or figure is reproduced."""
_WORST = "model:model.error.worst"
"""The row with the worst error of the model's validation."""


@dataclass(frozen=True)
class Ours:
    """Our number for a value or a point, and where it is from."""

    number: float
    row: Row | None
    origin: str
    """A file of config/ if there is no row."""
    error: float | None = None
    """The validated error of a prediction as a fraction: that of its row, else the worst of the model; None if neither
    is known."""


@dataclass(frozen=True)
class Point:
    """A point of a curve."""

    x: float
    y: float
    row: Row | None


def ours(value: Value, rows: Rows) -> Ours | None:
    """Our number; None if its row does not exist or has no value."""
    if value.config:
        return Ours(_property(value), None, f"config/{value.config}.toml")
    row = rows.find(value.row) if value.row else None
    if row is None:
        return None
    other = rows.find(value.over_row) if value.over_row else row
    number = _number(row, other, value)
    if number is None:
        return None
    error = row.number("config.error")
    if error is None and value.how == "model" and (worst := rows.find(_WORST)) is not None:
        error = worst.number("value")
    return Ours(number, row, row.source, error)


def _number(row: Row, other: Row | None, of: Value | Series) -> float | None:
    number = row.number(of.key)
    if number is None:
        return None
    if of.per is not None:
        return of.per / number if number else None
    number *= of.scale
    over_row = of.over_row if isinstance(of, Value) else ""
    if of.over or over_row:
        divisor = other.number(of.over or "value") if other is not None else None
        return number / divisor if divisor else None
    return number


def _property(value: Value) -> float:
    found: object = configs.load(value.config)
    for part in value.path.split("."):
        if not hasattr(found, part):
            raise InputError(f"{value.what}: configuration {value.config} has no property {value.path}")
        found = getattr(found, part)
    assert isinstance(found, (int, float)), value
    return float(found) * value.scale


def paper(value: Value, rows: Rows) -> float | None:
    """The paper's number, printed or reconstructed by a row."""
    if value.paper_key:
        row = rows.find(value.row)
        return None if row is None else row.number(value.paper_key)
    return value.paper


def points(series: Series, rows: Rows) -> list[Point]:
    """The points of a curve, in the order of x."""
    found = [Point(x, y, None) for x, y in series.points]
    for x in series.at:
        row = rows.find(series.row.replace("{}", f"{x:g}" if x != int(x) else str(int(x))))
        number = _number(row, row, series) if row is not None else None
        if row is not None and number is not None:
            found.append(Point(float(x), number, row))
    return sorted(found, key=lambda point: point.x)


def curves(item: Item) -> Iterator[Series]:
    """Our curves of an item."""
    yield from (series for chart in item.charts for series in chart.series if series.source == "ours")


def state(item: Item, rows: Rows) -> str:
    """How far an item is reproduced: a key of ``STATES``."""
    if item.kind == "drawing":
        return "drawing"
    compared = [value for value in item.values if value.row or value.config or value.missing]
    there = [ours(value, rows) is not None for value in compared]
    there += [any(point.row for point in points(series, rows)) for series in curves(item)]
    if not any(there):
        return "none"
    return item.scope if all(there) and not item.missing else "part"


def used(papers: tuple[Paper, ...], rows: Rows) -> list[Row]:
    """All rows that the page shows."""
    found: dict[str, Row] = {}
    for one in papers:
        for item in one.items:
            for value in item.values:
                for name in (value.row, value.over_row):
                    row = rows.find(name) if name else None
                    if row is not None:
                        found[row.label] = row
            for chart in item.charts:
                for series in chart.series:
                    for point in points(series, rows):
                        if point.row is not None:
                            found[point.row.label] = point.row
    return [found[label] for label in sorted(found)]


__all__ = ["STATES", "Ours", "Point", "curves", "ours", "paper", "points", "state", "used"]
