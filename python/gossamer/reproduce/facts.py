# SPDX-License-Identifier: Apache-2.0
"""The papers' tables and figures, and the rows to which they are compared, as data: ``papers/*.toml``.

An unknown or missing key is an error that names the file and the table or figure.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from gossamer.errors import InputError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).parent / "papers"
ORDER = ("tinsel-fpl2019", "tinsel-multicast", "mpi-matching", "smi-sc2019", "saf-ethernet")
"""The files, in the order of the page."""
ORIGINS = {
    "rtl": ("measured in RTL", "The SystemVerilog runs in a simulator; its cycles are exact."),
    "boards": ("measured on software boards", "Processes that act as boards on Ethernet; seconds of this machine."),
    "program": ("measured on this machine", "A program of this project; seconds of this machine."),
    "model": ("predicted by the model", "Cycles of the timing model, with the error of its validation."),
    "synthesis": ("synthesised", "Yosys maps the SystemVerilog; clocks are those of the open ECP5 flow."),
    "computed": ("computed", "Arithmetic on numbers that the paper states, or on tables; nothing runs."),
    "configuration": ("configuration", "Read from a file in config/."),
}
"""How a figure of this project was obtained: name and description."""
KINDS = {
    "result": "a result",
    "design": "a property of the design",
    "drawing": "a drawing, photograph or listing without a result",
}
SCOPES = {
    "same": "same experiment",
    "smaller": "same experiment, smaller",
    "similar": "similar experiment",
}


@dataclass(frozen=True)
class Value:
    """A number of a paper, and the row (or the configuration) with ours.

    ``row`` is SUITE:NAME, or NAME for a row of any suite. Ours is ``scale * row[key]``, divided by ``over`` of the same
    row or of ``over_row``; with ``per``, it is ``per / row[key]``.
    """

    what: str
    unit: str = ""
    paper: float | None = None
    paper_text: str = ""
    """The paper's words where it prints no number."""
    paper_key: str = ""
    """The paper's number as reconstructed by the suite, in the row."""
    row: str = ""
    key: str = "value"
    scale: float = 1.0
    per: float | None = None
    over: str = ""
    over_row: str = ""
    config: str = ""
    path: str = ""
    """A property of configuration ``config``."""
    how: str = ""
    better: str = ""
    """``higher``, ``lower``, or nothing if the numbers are not comparable in this sense."""
    missing: str = ""
    """What is shown while the row does not exist."""
    highlight: bool = False


@dataclass(frozen=True)
class Series:
    """A curve: ``points``, or a row for each x of ``at``, with {} in its name replaced by x."""

    name: str
    source: str
    """``paper`` (printed), ``reconstructed`` (from the paper's text), or ``ours``."""
    points: tuple[tuple[float, float], ...] = ()
    row: str = ""
    at: tuple[float, ...] = ()
    key: str = "value"
    scale: float = 1.0
    per: float | None = None
    over: str = ""
    how: str = ""
    colour: int = 0
    missing: str = ""


@dataclass(frozen=True)
class Chart:
    """A chart with its axes."""

    title: str
    x: str
    y: str
    series: tuple[Series, ...]
    x_log: bool = False
    y_log: bool = False
    ticks: tuple[float, ...] = ()
    """Marked positions of the x axis; chosen by the page if empty."""
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper, or a result that it states in its text only."""

    number: str
    section: str
    title: str
    kind: str
    differs: str
    scope: str = "same"
    missing: str = ""
    """Why it is not reproduced, or not in full."""
    values: tuple[Value, ...] = ()
    charts: tuple[Chart, ...] = ()
    pages: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """The item's identifier within its paper."""
        return re.sub(r"[^a-z0-9]+", "-", self.number.lower()).strip("-")


@dataclass(frozen=True)
class Paper:
    """A paper."""

    key: str
    title: str
    short: str
    venue: str
    machine: str
    """What the paper measured on."""
    ours: str
    """What we measure on."""
    verdict: str
    items: tuple[Item, ...]


_NAMES = {"item": ("items", Item), "value": ("values", Value), "chart": ("charts", Chart), "series": ("series", Series)}
_Any = TypeVar("_Any")


def _build(kind: type[_Any], table: Mapping[str, Any], where: str) -> _Any:
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    given: dict[str, Any] = {}
    for key, value in table.items():
        name, inner = _NAMES.get(key, (key, None))
        if name not in fields:
            raise InputError(f"{where}: unknown key {key!r}; the keys are {', '.join(fields)}")
        if inner is not None:
            label = f"{where}, {table['number']}" if kind is Item and "number" in table else where
            given[name] = tuple(_build(inner, one, label) for one in value)
        else:
            given[name] = _frozen(value)
    missing = [
        name
        for name, field in fields.items()
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING and name not in given
    ]
    if missing:
        name = table.get("number", table.get("what", table.get("name", "")))
        raise InputError(f"{where}{', ' if name else ''}{name}: missing key {missing[0]!r}")
    return kind(**given)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def read(path: Path) -> Paper:
    """A paper's file. Raises InputError for a key or a value that is not part of the format."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: {error}") from None
    paper = _build(Paper, data, path.name)
    for item in paper.items:
        where = f"{path.name}, {item.number}"
        series = [one for chart in item.charts for one in chart.series]
        checks: list[tuple[str, str, Collection[str]]] = [("kind", item.kind, KINDS), ("scope", item.scope, SCOPES)]
        checks += [("how", one.how, ORIGINS) for one in item.values if one.row or one.config]
        checks += [("how", one.how, ORIGINS) for one in series if one.source == "ours" and one.row]
        checks += [("source", one.source, ("paper", "reconstructed", "ours")) for one in series]
        for what, name, known in checks:
            if name not in known:
                raise InputError(f"{where}: {what} {name!r} is none of {', '.join(known)}")
    return paper


@cache
def papers() -> tuple[Paper, ...]:
    """All papers, in the order of the page."""
    return tuple(read(FOLDER / f"{name}.toml") for name in ORDER)


__all__ = ["KINDS", "ORIGINS", "SCOPES", "Chart", "Item", "Paper", "Series", "Value", "papers", "read"]
