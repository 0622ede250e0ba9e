# SPDX-License-Identifier: Apache-2.0
"""Graphs generated from a seed. The same arguments generate the same graph with any number of threads.

Each generator also has a specification that can replace the name of a graph file: "gen:rmat:scale=18,seed=1",
"gen:geo:vertices=200000,fanout=100,radius=0.02", "gen:grid:width=640,height=625,weights=1..100".
"""

from __future__ import annotations

import ctypes
import difflib
import functools
import inspect
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from gossamer.errors import InputError
from gossamer.graph import _native
from gossamer.graph._graph import MOST_VERTICES, Graph
from gossamer.graph._rows import CSR, simplify_in_place

WeightRange = tuple[int, int]

_BLOCK_ROWS: Final = 1 << 16
"""Rows of a geometric graph that are generated at once."""


@dataclass(frozen=True)
class Parts:
    """How to generate parts of a graph, and what is known of the whole."""

    vertices: int
    symmetric: bool
    name: str
    """The specification, without ``gen:`` and weights."""
    seed: int
    weights: WeightRange | None
    rows: Callable[[int, int], CSR] | None = None
    """The rows of ``count`` vertices from ``first`` on, with indices of the whole graph."""
    edges: int = 0
    draw: Callable[[int, int, Any, Any], None] | None = None
    """Of a graph of ``edges`` edges: stores the ends of ``count`` of them from ``first`` on at two addresses."""

    def check_weights(self) -> None:
        """Raises InputError for a range of weights that does not fit int32."""
        if self.weights is not None:
            low, high = self.weights
            _within("weight", low, -(2**31), 2**31 - 1)
            _within("greatest weight", high, low, 2**31 - 1)

    @property
    def full_name(self) -> str:
        """The name of the graph."""
        name = self.name
        if self.weights is not None:
            low, high = self.weights
            name += f",weights={low}:{high}" + (f",seed={self.seed}" if "seed=" not in name else "")
        return f"gen:{name}"

    def weights_of(self, first: int, offsets: Any, ends: Any, by_target: bool) -> Any:
        """The weights of rows of vertices from ``first`` on, in int32; None if the graph has none."""
        if self.weights is None:
            return None
        low, high = self.weights
        costs = np.empty(len(ends), np.int32)
        flags = (int(by_target), int(self.symmetric))
        arrays = (_native.pointer(offsets), _native.pointer(ends))
        seed = _seed(self.seed)
        count = len(offsets) - 1
        _native.call("edge_weights", first, count, *arrays, *flags, low, high, seed, _native.pointer(costs))
        return costs


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
    parts = geometric_parts(vertices, fanout, radius, seed=seed, order=order, weights=weights, threads=threads)
    assert parts.rows is not None
    return _finish(parts.rows(0, vertices), parts, threads)


def geometric_parts(
    vertices: int,
    fanout: int = 100,
    radius: float = 0.02,
    *,
    seed: int = 1,
    order: str = "space",
    weights: WeightRange | None = None,
    threads: int = 0,
) -> Parts:
    """The parts of the graph that ``geometric`` generates with the same arguments."""
    _within("vertices", vertices, 1, MOST_VERTICES)
    _within("fanout", fanout, 1, 2**24)
    if not (math.isfinite(radius) and 1e-6 <= radius <= 2):
        raise InputError(f"radius {radius} is outside the range 1e-6 .. 2; the square has sides of 1")
    if order not in ("space", "random"):
        raise InputError(f"order {order!r}; it must be space or random")

    def rows(first: int, count: int) -> CSR:
        layout = ctypes.c_void_p()
        arguments = (vertices, fanout, radius, int(order == "random"), _seed(seed), threads)
        _native.call("geometric_layout", *arguments, ctypes.byref(layout))
        offsets, targets = np.zeros(count + 1, np.int64), np.empty(0, np.uint32)
        try:
            # In blocks: of the generator's own copy and the array, only the array has all targets.
            for at in range(0, count, _BLOCK_ROWS):
                size = min(_BLOCK_ROWS, count - at)
                block = _made(size, functools.partial(_native.call, "geometric_rows", layout, first + at, size))
                before = len(targets)
                targets.resize(before + len(block.targets), refcheck=False)
                targets[before:] = block.targets
                np.add(block.offsets[1:], before, out=offsets[at + 1 : at + 1 + size])
        finally:
            _native.call("geometric_free", layout)
        return CSR(offsets, targets)

    name = f"geo:vertices={vertices},fanout={fanout},radius={radius:g},seed={seed}"
    name += "" if order == "space" else f",order={order}"
    return Parts(vertices, False, name, seed, weights, rows=rows)


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
    parts = rmat_parts(
        scale, edge_factor, a=a, b=b, c=c, seed=seed, symmetric=symmetric, simple=simple, permute=permute,
        weights=weights, threads=threads,
    )  # fmt: skip

    def make(offsets: int | None, state: Any) -> None:
        count = edge_factor << scale
        _native.call("rmat", scale, count, a, b, c, int(permute), _seed(seed), threads, offsets, state)

    rows = _made(1 << scale, make)
    if symmetric:
        rows = Graph(out=rows).symmetrised().out
    if simple:
        rows = simplify_in_place(rows, parallel=True, loops=True)
    return _finish(rows, parts, threads)


def rmat_parts(
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
) -> Parts:
    """The parts of the graph that ``rmat`` generates with the same arguments."""
    _within("scale", scale, 1, 31)
    _within("edge_factor", edge_factor, 1, 2**20)
    if not (min(a, b, c) >= 0 and a + b + c <= 1 + 1e-9):
        raise InputError(f"a={a}, b={b}, c={c}; they must be probabilities with a sum of at most 1")

    def draw(first: int, count: int, sources: Any, targets: Any) -> None:
        _native.call("rmat_edges", scale, a, b, c, int(permute), _seed(seed), first, count, sources, targets)

    name = f"rmat:scale={scale},edge_factor={edge_factor},seed={seed}"
    for key, flag in (("symmetric", symmetric), ("simple", simple)):
        name += f",{key}=yes" if flag else ""
    whole = symmetric or simple
    return Parts(1 << scale, symmetric, name, seed, weights, edges=edge_factor << scale, draw=None if whole else draw)


def grid(width: int, height: int, *, seed: int = 1, weights: WeightRange | None = None, threads: int = 0) -> Graph:
    """Grid: vertex ``y * width + x`` has edges to its four neighbours. Symmetric.

    ``seed`` affects the weights only, which are equal in both directions.
    """
    parts = grid_parts(width, height, seed=seed, weights=weights)
    assert parts.rows is not None
    return _finish(parts.rows(0, width * height), parts, threads)


def grid_parts(
    width: int,
    height: int,
    *,
    seed: int = 1,
    weights: WeightRange | None = None,
    threads: int = 0,
) -> Parts:
    """The parts of the graph that ``grid`` generates with the same arguments."""
    _within("width", width, 1, MOST_VERTICES)
    _within("height", height, 1, MOST_VERTICES // width)

    def rows(first: int, count: int) -> CSR:
        offsets = np.empty(count + 1, np.int64)
        targets = np.empty(4 * count, np.uint32)
        _native.call("grid_rows", width, height, first, count, _native.pointer(offsets), _native.pointer(targets))
        targets.resize(int(offsets[-1]), refcheck=False)
        return CSR(offsets, targets)

    return Parts(width * height, True, f"grid:width={width},height={height}", seed, weights, rows=rows)


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
    parts = Parts(len(offsets) - 1, True, name, seed, weights)
    return _finish(CSR(offsets, targets[there].astype(np.uint32)), parts, threads)


def ring(vertices: int, *, seed: int = 1, weights: WeightRange | None = None, threads: int = 0) -> Graph:
    """Ring: an edge from each vertex to the next, and from the last to the first. Directed."""
    _within("vertices", vertices, 2, MOST_VERTICES)
    offsets = np.arange(vertices + 1, dtype=np.int64)
    targets = np.arange(1, vertices + 1, dtype=np.uint32)
    targets[-1] = 0
    return _finish(CSR(offsets, targets), Parts(vertices, False, f"ring:vertices={vertices}", seed, weights), threads)


def from_spec(spec: str) -> Graph:
    """A graph from "KIND:KEY=VALUE,...": the keys are the generators' arguments."""
    _, function, arguments = _parsed(spec)
    return function(**arguments)


def _parsed(spec: str) -> tuple[str, Callable[..., Graph], dict[str, Any]]:
    """The kind of a specification, its generator and arguments."""
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
    return kind, function, arguments


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


def _finish(rows: CSR, parts: Parts, threads: int) -> Graph:
    parts.check_weights()
    if parts.weights is not None:
        low, high = parts.weights
        costs = np.empty(len(rows.targets), np.int32)
        _native.call(
            "random_weights",
            len(rows.offsets) - 1,
            _native.pointer(rows.offsets),
            _native.pointer(rows.targets),
            int(parts.symmetric),
            low,
            high,
            _seed(parts.seed),
            threads,
            _native.pointer(costs),
        )
        rows = CSR(rows.offsets, rows.targets, costs)
    return Graph(out=rows, symmetric=parts.symmetric, name=parts.full_name)


KINDS: Final[dict[str, Callable[..., Graph]]] = {
    "geo": geometric,
    "geometric": geometric,
    "rmat": rmat,
    "grid": grid,
    "cube": cube,
    "ring": ring,
}
"""Generators by their name in a specification."""

_PARTS: Final[dict[str, Callable[..., Parts]]] = {
    "geo": geometric_parts,
    "geometric": geometric_parts,
    "rmat": rmat_parts,
    "grid": grid_parts,
}
"""Generators that can generate parts."""


def parts_of_spec(spec: str) -> Parts | None:
    """The parts of the graph of a specification as ``from_spec`` has it; None if it can only be generated whole."""
    kind, _, arguments = _parsed(spec)
    if kind not in _PARTS:
        return None
    parts = _PARTS[kind](**arguments)
    parts.check_weights()
    return parts if parts.rows or parts.draw else None
