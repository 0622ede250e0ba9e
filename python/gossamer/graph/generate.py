# SPDX-License-Identifier: Apache-2.0
"""Graphs generated from a seed. The same arguments generate the same graph with any number of threads.

Each generator also has a specification that can replace the name of a graph file: "gen:rmat:scale=18,seed=1",
"gen:geo:vertices=200000,fanout=100,radius=0.02", "gen:grid:width=640,height=625,weights=1..100".
"""

from __future__ import annotations

import ctypes
import difflib
import inspect
import itertools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from gossamer.errors import InputError
from gossamer.graph import _native
from gossamer.graph._graph import MOST_VERTICES, Graph
from gossamer.graph._rows import CSR, simplify_in_place

WeightRange = tuple[int, int]


def geometric(
    vertices: int,
    fanout: int = 100,
    radius: float = 0.02,
    *,
    seed: int = 1,
    order: str = "space",
    weights: WeightRange | None = None,
    threads: int = 0,
) -> Graph:
    """Geometric random graph: vertices at random positions in the unit square, each with directed edges
    to ``fanout`` others drawn from those within ``radius`` (to all of them if they are fewer).

    No self-loops, no parallel edges. ``order``: "space" numbers the vertices by position, band by
    band, so that close vertices have close indices; "random" shuffles the indices.
    """
    _within("vertices", vertices, 1, MOST_VERTICES)
    _within("fanout", fanout, 1, 2**24)
    if not (math.isfinite(radius) and 1e-6 <= radius <= 2):
        raise InputError(f"radius {radius} is outside the range 1e-6 .. 2; the square has sides of 1")
    if order not in ("space", "random"):
        raise InputError(f"order {order!r}; it must be space or random")

    def make(offsets: int | None, state: Any) -> None:
        shuffle = int(order == "random")
        _native.call("geometric", vertices, fanout, radius, shuffle, _seed(seed), threads, offsets, state)

    rows = _made(vertices, make)
    name = f"geo:vertices={vertices},fanout={fanout},radius={radius:g},seed={seed}"
    name += "" if order == "space" else f",order={order}"
    return _finish(rows, False, weights, seed, threads, name)


def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    seed: int = 1,
    symmetric: bool = False,
    simple: bool = False,
    permute: bool = True,
    weights: WeightRange | None = None,
    threads: int = 0,
) -> Graph:
    """Recursive-matrix graph: 2**scale vertices and ``edge_factor`` times as many directed edges.

    ``simple`` removes parallel edges and self-loops; ``symmetric`` adds the reverse of every edge
    (before the removal). ``permute`` shuffles the indices, which otherwise correlate with degrees.
    """
    _within("scale", scale, 1, 31)
    _within("edge_factor", edge_factor, 1, 2**20)
    if not (min(a, b, c) >= 0 and a + b + c <= 1 + 1e-9):
        raise InputError(f"a={a}, b={b}, c={c}; they must be probabilities with a sum of at most 1")

    def make(offsets: int | None, state: Any) -> None:
        count = edge_factor << scale
        _native.call("rmat", scale, count, a, b, c, int(permute), _seed(seed), threads, offsets, state)

    name = f"rmat:scale={scale},edge_factor={edge_factor},seed={seed}"
    for key, flag in (("symmetric", symmetric), ("simple", simple)):
        name += f",{key}=yes" if flag else ""
    rows = _made(1 << scale, make)
    if symmetric:
        rows = Graph(out=rows).symmetrised().out
    if simple:
        rows = simplify_in_place(rows, parallel=True, loops=True)
    return _finish(rows, symmetric, weights, seed, threads, name)


def grid(width: int, height: int, *, seed: int = 1, weights: WeightRange | None = None, threads: int = 0) -> Graph:
    """Grid: vertex ``y * width + x`` has edges to its four neighbours. Symmetric.

    ``seed`` affects the weights only, which are equal in both directions.
    """
    _within("width", width, 1, MOST_VERTICES)
    _within("height", height, 1, MOST_VERTICES // width)
    offsets = np.empty(width * height + 1, np.int64)
    targets = np.empty(2 * ((width - 1) * height + width * (height - 1)), np.uint32)
    _native.call("grid", width, height, _native.pointer(offsets), _native.pointer(targets))
    return _finish(CSR(offsets, targets), True, weights, seed, threads, f"grid:width={width},height={height}")


def cube(
    width: int,
    height: int,
    depth: int,
    *,
    neighbours: int = 6,
    around: bool = False,
    seed: int = 1,
    weights: WeightRange | None = None,
    threads: int = 0,
) -> Graph:
    """Cube: vertex ``(z * height + y) * width + x`` has edges to its 6 or 26 neighbours. Symmetric.

    ``around`` connects opposite faces, so that every vertex has all neighbours; it needs sides of at least 3.
    ``seed`` affects the weights only, which are equal in both directions.
    """
    least = 3 if around else 1
    _within("width", width, least, MOST_VERTICES)
    _within("height", height, least, max(least, MOST_VERTICES // width))
    _within("depth", depth, least, max(least, MOST_VERTICES // (width * height)))
    if neighbours not in (6, 26):
        raise InputError(f"neighbours {neighbours}; it must be 6 or 26")
    sides = (depth, height, width)
    steps = [
        step
        for step in itertools.product((-1, 0, 1), repeat=3)
        if any(step) and (neighbours == 26 or sum(map(abs, step)) == 1)
    ]
    positions = np.indices(sides, np.int64).reshape(3, -1)
    targets = np.empty((positions.shape[1], len(steps)), np.int64)
    for at, step in enumerate(steps):
        there = positions + np.array(step)[:, None]
        inside = np.ones(positions.shape[1], bool)
        for axis, side in enumerate(sides):
            if around:
                there[axis] %= side
            inside &= (there[axis] >= 0) & (there[axis] < side)
        targets[:, at] = np.where(inside, (there[0] * height + there[1]) * width + there[2], -1)
    targets.sort(axis=1)
    there = targets >= 0
    offsets = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64)
    name = f"cube:width={width},height={height},depth={depth}"
    name += "" if neighbours == 6 else f",neighbours={neighbours}"
    name += ",around=yes" if around else ""
    return _finish(CSR(offsets, targets[there].astype(np.uint32)), True, weights, seed, threads, name)


def ring(vertices: int, *, seed: int = 1, weights: WeightRange | None = None, threads: int = 0) -> Graph:
    """Ring: an edge from each vertex to the next, and from the last to the first. Directed."""
    _within("vertices", vertices, 2, MOST_VERTICES)
    offsets = np.arange(vertices + 1, dtype=np.int64)
    targets = np.arange(1, vertices + 1, dtype=np.uint32)
    targets[-1] = 0
    return _finish(CSR(offsets, targets), False, weights, seed, threads, f"ring:vertices={vertices}")


def from_spec(spec: str) -> Graph:
    """A graph from "KIND:KEY=VALUE,...": the keys are the generators' arguments."""
    kind, _, rest = spec.partition(":")
    function = KINDS.get(kind)
    if function is None:
        near = difflib.get_close_matches(kind, KINDS, 1)
        hint = f"did you mean {near[0]}?" if near else f"the generators are {', '.join(sorted(KINDS))}"
        raise InputError(f"gen:{spec}: no generator {kind!r}; {hint}")
    known = inspect.signature(function).parameters
    arguments: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        key = key.strip().replace("-", "_")
        if key not in known:
            raise InputError(f"gen:{spec}: {kind} has no parameter {key!r}; its parameters are {', '.join(known)}")
        if not equals:
            raise InputError(f"gen:{spec}: {key} without a value; write {key}=VALUE")
        arguments[key] = _value(spec, key, value.strip(), str(known[key].annotation))
    for key, parameter in known.items():
        if parameter.default is inspect.Parameter.empty and key not in arguments:
            raise InputError(f"gen:{spec}: {kind} needs {key}; write gen:{kind}:{key}=VALUE")
    return function(**arguments)


def _value(spec: str, key: str, text: str, annotation: str) -> Any:
    try:
        if annotation == "bool":
            return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[text.lower()]
        if annotation == "int":
            return int(text)
        if annotation == "float":
            return float(text)
        if annotation == "str":
            return text
        return weight_range(text)
    except (ValueError, KeyError):
        wanted = {"bool": "yes or no", "int": "an integer", "float": "a number"}[annotation]
        raise InputError(f"gen:{spec}: {key}={text}; {key} must be {wanted}") from None


def weight_range(text: str) -> WeightRange:
    """LOW:HIGH or LOW..HIGH, both inclusive; a single number is both."""
    low, found, high = text.partition(".." if ".." in text else ":")
    try:
        pair = (int(low), int(high if found else low))
    except ValueError:
        raise InputError(f"weights {text!r}; write them as LOW:HIGH, two integers") from None
    return pair


def _within(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InputError(f"{name} {value} is outside the range {low} .. {high}")


def _seed(seed: int) -> int:
    return seed & (2**64 - 1)


def _made(vertices: int, make: Callable[[int | None, Any], None]) -> CSR:
    """Rows of a generator whose number of edges is known only after generation."""
    offsets = np.empty(vertices + 1, np.int64)
    state = ctypes.c_void_p()
    make(_native.pointer(offsets), ctypes.byref(state))
    targets = None
    try:
        targets = np.empty(int(offsets[-1]), np.uint32)
    finally:
        _native.call("generated", state, _native.pointer(targets))
    return CSR(offsets, targets)


def _finish(rows: CSR, symmetric: bool, weights: WeightRange | None, seed: int, threads: int, name: str) -> Graph:
    if weights is not None:
        low, high = weights
        _within("weight", low, -(2**31), 2**31 - 1)
        _within("greatest weight", high, low, 2**31 - 1)
        costs = np.empty(len(rows.targets), np.int32)
        _native.call(
            "random_weights",
            len(rows.offsets) - 1,
            _native.pointer(rows.offsets),
            _native.pointer(rows.targets),
            int(symmetric),
            low,
            high,
            _seed(seed),
            threads,
            _native.pointer(costs),
        )
        rows = CSR(rows.offsets, rows.targets, costs)
        name += f",weights={low}:{high}" + (f",seed={seed}" if "seed=" not in name else "")
    return Graph(out=rows, symmetric=symmetric, name=f"gen:{name}")


KINDS: Final[dict[str, Callable[..., Graph]]] = {
    "geo": geometric,
    "geometric": geometric,
    "rmat": rmat,
    "grid": grid,
    "cube": cube,
    "ring": ring,
}
"""Generators by their name in a specification."""
