# SPDX-License-Identifier: Apache-2.0
"""Runs an application on a graph, and compares results."""

from __future__ import annotations

import decimal
import math
import operator
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gossamer import apps, engines, native
from gossamer.apps import App, Numbers, Parameter
from gossamer.apps.comparison import apart
from gossamer.apps.results import Result
from gossamer.arguments import WHOLE, Kind, accepts, or_none
from gossamer.errors import GraphWarning, InputError
from gossamer.graph import Graph
from gossamer.graph._rows import refuse_masked

MOST_THREADS = 1024
Value = float | str | bool
"""A parameter's value as users give it."""
Values = Value | Iterable[Value] | Mapping[str | int, float]
"""Also several vertices, or vertices with weights."""


@dataclass(frozen=True)
class Difference:
    """The first difference of two results."""

    column: str
    vertex: int
    first: float
    """An exact int for integer columns; so is ``second``."""
    second: float
    count: int


_APP = Kind((str, os.PathLike, App), "the name of an application, the path of a header, or gossamer.vertex(...)")
_ENGINE = Kind((str, engines.Engine), "the name of an engine: " + ", ".join(engines.names()))
accepts_a_run = accepts(app=_APP, engine=_ENGINE, threads=or_none(WHOLE), seed=WHOLE)
"""Checks the arguments that ``run`` and ``start`` have in common; ``checked`` checks the graph."""


@accepts_a_run
def run(
    app: str | os.PathLike[str] | App,
    graph: Graph,
    *,
    engine: str | engines.Engine = "cpu",
    threads: int | None = None,
    seed: int = 0,
    **parameters: Values,
) -> Result:
    """Runs an application: a bundled one by name, or a header by path.

    ``threads`` None uses every CPU. ``parameters`` are those of the application (``./gossamer run APP --help`` lists
    them); vertices are given by label, several as a list, with weights as a dict. Raises InputError if the application,
    a parameter or the graph is wrong, NoAnswer if the application reports that its result is not an answer (not
    converged, overflow).
    Warns (GraphWarning) if it ignores the graph's weights, or uses 1 because there are none.
    """
    compiled = checked(app, graph, threads)
    numbers = check(compiled, graph, parameters)
    chosen = engines.get(engine) if isinstance(engine, str) else engine
    native.check_mapped()  # a run on a truncated file would follow arbitrary offsets
    try:
        return chosen.run(compiled, graph, numbers, threads=threads or 0, seed=seed)
    finally:
        native.check_mapped()


def checked(app: str | os.PathLike[str] | App, graph: Graph, threads: int | None) -> App:
    """The loaded application. Raises InputError if it, the graph or the number of threads is wrong."""
    compiled = app if isinstance(app, App) else apps.load(app)
    if not isinstance(graph, Graph):
        raise InputError(
            f"a {type(graph).__name__} is no Graph; convert it with read_graph (a path), Graph.from_scipy (a "
            "sparse matrix) or Graph.from_networkx"
        )
    if not graph.vertices:
        raise InputError(f"{graph.name or 'the graph'} has no vertices")
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise InputError(f"threads: {threads} is not from 1 to {MOST_THREADS}")
    for note in weight_notes(compiled, graph):
        warnings.warn(note, GraphWarning, stacklevel=4)
    return compiled


def weight_notes(app: App, graph: Graph) -> Iterator[str]:
    """Notes on an application's use of weights that may surprise the user."""
    if graph.weighted and not app.uses_weights:
        yield f"{app.name} does not use weights; those of the graph are ignored"
    if not graph.weighted and app.uses_weights and graph.edges:
        yield f"the graph has no weights; {app.name} uses the weight 1 for every edge"


def check(app: App, graph: Graph, parameters: Mapping[str, Values]) -> Numbers:
    """Parameters as numbers, each in its range; vertices as indices."""
    found: dict[str, int | float | tuple[int | tuple[int, float], ...]] = {}
    for name, value in parameters.items():
        parameter = app.parameter(name)
        where = f"{app.name}: {name}"
        refuse_masked(where, value)
        if isinstance(value, Mapping) and parameter.kind != "shares":
            several = "a list of vertices" if parameter.kind == "vertices" else "one value"
            raise InputError(f"{where}: a dict of weights is not supported; give {several}")
        if parameter.kind == "vertex":
            found[name] = _vertex(app, parameter, graph, value)
        elif parameter.kind == "vertices":
            found[name] = tuple(_vertex(app, parameter, graph, one) for one in _several(where, value))
        elif parameter.kind == "shares":
            found[name] = _shares(app, parameter, graph, value)
        else:
            found[name] = check_number(app, parameter, value)
    return found


def _vertex(app: App, parameter: Parameter, graph: Graph, label: Any) -> int:
    return graph.index_of(label if isinstance(label, str) else _whole(app, parameter, label))


def _several(where: str, value: Any) -> list[Any]:
    several = [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
    if not several:
        raise InputError(f"{where}: an empty list; name at least one vertex")
    return several


def _shares(app: App, parameter: Parameter, graph: Graph, value: Any) -> tuple[tuple[int, float], ...]:
    """Vertices with their weights: of a dict its values, otherwise 1 for each vertex."""
    where = f"{app.name}: {parameter.name}"
    found: dict[int, float] = {}
    pairs = value.items() if isinstance(value, Mapping) else ((label, 1.0) for label in _several(where, value))
    for label, weight in pairs:
        at = _vertex(app, parameter, graph, label)
        try:
            number = float(weight)
        except (ValueError, TypeError, OverflowError):
            raise InputError(f"{where}: the weight {weight!r} of vertex {label} is no number") from None
        if not 0 <= number < math.inf:
            raise InputError(f"{where}: the weight {weight} of vertex {label} is not a finite number of at least 0")
        if found.setdefault(at, number) != number:
            raise InputError(f"{where}: vertex {label} has two weights, {found[at]:g} and {number:g}; give one")
    if not any(found.values()):
        raise InputError(f"{where}: no vertex has a weight above 0; name at least one vertex")
    return tuple(sorted(found.items()))


def shares_of(graph: Graph, words: Iterable[str]) -> dict[str | int, float | str]:
    """Vertices and weights from arguments of the command, LABEL or LABEL=WEIGHT; an argument may be a label with =."""
    found: dict[str | int, float | str] = {}
    for word in words:
        label, equals, weight = word.rpartition("=")
        if equals and not graph.has(word):
            if label in found and found[label] != weight:
                raise InputError(f"{word}: vertex {label} has two weights; give one")
            found[label] = weight
        elif found.setdefault(word, 1.0) != 1.0:
            raise InputError(f"{word}: the vertex has two weights; give one")
    return found


def check_number(app: App, parameter: Parameter, value: Any) -> int | float:
    """The value of a numeric parameter, exact to 64 bits. Raises InputError if it is out of range."""
    where = f"{app.name}: {parameter.name}"
    if parameter.kind == "flag":
        if str(value).lower() in {"1", "true", "yes"}:
            return 1
        if str(value).lower() in {"0", "false", "no"}:
            return 0
        raise InputError(f"{where}: {value!r} is neither yes nor no")
    number: int | float
    if parameter.kind == "integer":
        number = _whole(app, parameter, value)
    else:
        try:
            number = float(value)
        except (ValueError, TypeError, OverflowError):
            raise InputError(f"{where}: {value!r} is no number") from None
    if not parameter.low <= number <= parameter.high:
        exact = parameter.kind == "integer"
        low, high = (f"{limit}" if exact else f"{limit:g}" for limit in (parameter.low, parameter.high))
        raise InputError(f"{where}: {value} is not from {low} to {high}")
    return number


def _whole(app: App, parameter: Parameter, value: Any) -> int:
    """An integer from an int of any library, or from another notation of an integer (7.0, 1e6, text)."""
    where = f"{app.name}: {parameter.name}"
    try:
        return operator.index(value)
    except TypeError:
        pass
    try:
        number = decimal.Decimal(value if isinstance(value, str) else float(value))
    except (decimal.InvalidOperation, TypeError, ValueError):
        raise InputError(f"{where}: {value!r} is no number") from None
    if not number.is_finite() or number.adjusted() > 30 or number != number.to_integral_value():
        raise InputError(f"{where}: {value!r} is no whole number")
    return int(number)


def tolerances(result: Result, column: str) -> tuple[float, float]:
    """The absolute and the relative difference by which values of a column may differ from those of a correct result.

    With the application's tolerance t, a and b are equal if |a - b| <= t * max(|a|, |b|, greatest value / vertices): a
    relative bound with a floor for values close to 0. Infinities and marks of missing values have no part in the floor.
    Both are 0 if the application's results are exact.
    """
    tolerance = result.app.tolerance if result.app.same == "within" else 0.0
    if not tolerance:
        return 0.0, 0.0
    values = result.columns[column]
    about = next(one for one in result.app.columns if one.name == column)
    there = np.abs(values[about.present(values)].astype(np.float64))
    greatest = float(there[np.isfinite(there)].max(initial=0.0))
    return tolerance * greatest / max(1, len(values)), tolerance


def difference(first: Result, second: Result) -> Difference | None:
    """The first difference of two results that exceeds the application's tolerance; None if the results agree.

    See `tolerances`.
    """
    for name, a in first.columns.items():
        b = second.columns[name]
        absolute, relative = tolerances(first, name)
        wrong = np.flatnonzero(apart(a, b, absolute=absolute, relative=relative))
        if len(wrong):
            at = int(wrong[0])
            return Difference(name, at, a[at].item(), b[at].item(), len(wrong))
    return None
