# SPDX-License-Identifier: Apache-2.0
"""Results as tables by label, read from files that ``./gossamer run --output`` writes, and their differences."""

from __future__ import annotations

import collections
import csv
import json
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.errors import InputError
from gossamer.files import parse_json, reason

if TYPE_CHECKING:
    from gossamer.apps.results import Result

Values = np.ndarray[Any, np.dtype[Any]]

ENDINGS = (".csv", ".json", ".npy", ".npz")
_VERTEX = "vertex"
_UNNAMED = "value"
"""The name of the values where a file has none: of an array, and of a dict from labels to values."""
_SINGLE_DIGITS = 9
"""Significant digits with which ``--output`` writes numbers of single precision to .csv."""
_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
"""Numbers that JSON does not have, as ``--output`` writes them."""


@dataclass(frozen=True)
class Table:
    """Values by vertex: one column or more."""

    name: str
    """The file, for messages."""
    labels: list[str]
    """One for each vertex, distinct."""
    columns: Mapping[str, Values]
    """Numbers or text, in the order of ``labels``; text in columns of vertices."""
    short: frozenset[str] = frozenset()
    """Columns of numbers that were read from decimals of at most nine digits, which may be of single precision."""

    def __post_init__(self) -> None:
        if len(set(self.labels)) == len(self.labels):
            return
        twice = next(label for label, count in collections.Counter(self.labels).items() if count > 1)
        raise InputError(f"{self.name}: vertex {twice} occurs twice; a result has each vertex once")

    @classmethod
    def of(cls, result: Result, name: str = "result") -> Table:
        """The table of a result in memory."""
        labels = result.graph.labels_at(np.arange(result.graph.vertices))
        return cls(name, list(map(str, labels.tolist())), {name: result.named(name) for name in result.columns})


@dataclass(frozen=True)
class Difference:
    """A difference of two tables."""

    column: str
    """Empty if the vertex is in one table only."""
    vertex: str
    first: Any
    """None if the first table does not have the vertex."""
    second: Any
    size: float
    """The absolute difference; infinity where it is not a number."""

    def text(self, first: str, second: str) -> str:
        """One line; ``first`` and ``second`` name the tables."""
        if not self.column:
            return f"vertex {self.vertex}: only in {second if self.first is None else first}"
        line = f"vertex {self.vertex}, {self.column}: {_shown(self.first)} and {_shown(self.second)}"
        if not math.isfinite(self.size):
            return line
        greatest = max(abs(self.first), abs(self.second))
        return f"{line} (difference {self.size:.6g}, relative {self.size / greatest:.3g})"


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else f"{value:.17g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Comparison:
    """The outcome of comparing two tables."""

    differences: list[Difference]
    """The worst first: vertices in one table only, differences without a size, then by size."""
    vertices: int
    """Vertices in both tables."""
    columns: tuple[str, ...]
    """The compared columns."""
    greatest: float
    """The greatest finite absolute difference, also of values that agree within the tolerance."""

    def __bool__(self) -> bool:
        """Whether the tables agree."""
        return not self.differences


# ---- Numbers ---------------------------------------------------------------------------------


def sizes(first: Values, second: Values) -> Values:
    """The absolute difference of each pair of numbers, float64: 0 only of equal numbers, also of large integers.

    Of NaN and NaN, and of equal infinities, it is 0; of NaN or an infinity and another number, infinity.
    """
    if first.dtype.kind in "iu" and second.dtype.kind in "iu":
        if first.dtype.kind == second.dtype.kind:
            low, high = np.minimum(first, second), np.maximum(first, second)
            # Modulo 2^64 the difference is exact.
            return (high.astype(np.uint64) - low.astype(np.uint64)).astype(np.float64)
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        return np.array([abs(a - b) for a, b in pairs], np.float64)
    a, b = first.astype(np.float64), second.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.abs(a - b)
    found[(a == b) | (np.isnan(a) & np.isnan(b))] = 0.0
    found[np.isnan(found)] = math.inf
    return found


def apart(first: Values, second: Values, *, absolute: float = 0.0, relative: float = 0.0) -> Values:
    """Where two columns differ: |a - b| > max(absolute, relative * max(|a|, |b|)); NaN equals NaN, text is exact."""
    if first.dtype.kind not in "iuf" or second.dtype.kind not in "iuf":
        return np.asarray(first.astype(np.str_) != second.astype(np.str_))
    found = sizes(first, second)
    with np.errstate(invalid="ignore", over="ignore"):
        greatest = np.maximum(np.abs(first.astype(np.float64)), np.abs(second.astype(np.float64)))
        allowed = np.maximum(absolute, relative * np.where(np.isfinite(greatest), greatest, 0.0))
    return np.asarray(found > allowed)


def compare(
    first: Table,
    second: Table,
    *,
    absolute: float = 0.0,
    relative: float = 0.0,
    columns: Sequence[str] = (),
) -> Comparison:
    """Compares two tables by label, in all columns or in some.

    The values of a file that does not name them are compared with the other table's only column, or the one of
    ``columns``. Raises InputError if a column is missing in one of the tables.
    """
    first, second = _named(first, second, columns), _named(second, first, columns)
    chosen = tuple(columns) or tuple(dict.fromkeys([*first.columns, *second.columns]))
    for table in (first, second):
        for name in chosen:
            if name not in table.columns:
                known = ", ".join(table.columns)
                raise InputError(f"{table.name}: has no column {name!r}, only {known}; name common ones with --column")
    at, other, missing = _aligned(first, second)
    found: list[Difference] = []
    greatest = 0.0
    for name in chosen:
        a, b = _in_one_precision(first, second, name)
        a, b = a[at], b[other]
        wrong = np.flatnonzero(apart(a, b, absolute=absolute, relative=relative))
        if a.dtype.kind in "iuf" and b.dtype.kind in "iuf":
            size = sizes(a, b)
            finite = size[np.isfinite(size)]
            greatest = max(greatest, float(finite.max(initial=0.0)))
            size = size[wrong]
        else:
            size = np.full(len(wrong), math.inf)
        rows = zip(wrong.tolist(), a[wrong].tolist(), b[wrong].tolist(), size.tolist(), strict=True)
        found += [Difference(name, first.labels[int(at[i])], x, y, s) for i, x, y, s in rows]
    found.sort(key=lambda one: -one.size)
    return Comparison(missing + found, len(at), chosen, greatest)


def _named(table: Table, other: Table, columns: Sequence[str]) -> Table:
    """The table; values without a name get that of the other table's column."""
    names = list(dict.fromkeys(columns)) or list(other.columns)
    if list(table.columns) != [_UNNAMED] or len(names) != 1 or names[0] not in other.columns:
        return table
    short = frozenset(names if table.short else ())
    return Table(table.name, table.labels, {names[0]: table.columns[_UNNAMED]}, short)


def _in_one_precision(first: Table, second: Table, name: str) -> tuple[Values, Values]:
    """A column of both tables. Nine digits tell numbers of single precision apart, but are not equal to them: where one
    table has such digits and the other numbers of single precision, the digits are rounded to it."""
    a, b = first.columns[name], second.columns[name]
    if (name in first.short) != (name in second.short):
        if name in first.short and _is_single(b):
            return a.astype(np.float32), b
        if name in second.short and _is_single(a):
            return a, b.astype(np.float32)
    return a, b


def _is_single(values: Values) -> bool:
    if values.dtype.kind != "f":
        return False
    with np.errstate(over="ignore"):
        return values.dtype.itemsize == 4 or bool(np.array_equal(values.astype(np.float32), values, equal_nan=True))


def _aligned(first: Table, second: Table) -> tuple[Values, Values, list[Difference]]:
    """Indices of the common vertices in both tables, and the vertices that only one has."""
    if first.labels == second.labels:
        every = np.arange(len(first.labels))
        return every, every, []
    index = {label: i for i, label in enumerate(second.labels)}
    at, other, missing = [], [], []
    for i, label in enumerate(first.labels):
        j = index.pop(label, None)
        if j is None:
            missing.append(Difference("", label, label, None, math.inf))
        else:
            at.append(i)
            other.append(j)
    missing += [Difference("", label, None, label, math.inf) for label in index]
    return np.array(at, np.int64), np.array(other, np.int64), missing


# ---- Files -----------------------------------------------------------------------------------


def read_table(path: Path) -> Table:
    """Reads a result that ``--output`` wrote: .csv, .npz, .json, or .npy, whose vertices are indices.

    Raises InputError if the file cannot be read or is no result.
    """
    readers: dict[str, Callable[[Path], Any]] = {
        ".csv": _read_csv,
        ".json": _read_json,
        ".npy": _read_npy,
        ".npz": _read_npz,
    }
    reader = readers.get(path.suffix)
    if reader is None:
        raise InputError(f"{path}: unknown ending; a result ends in {', '.join(ENDINGS)}")
    try:
        labels, columns, *short = reader(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}; give a file that ./gossamer run --output wrote") from None
    except (UnicodeDecodeError, ValueError, zipfile.BadZipFile, EOFError, csv.Error) as error:
        raise InputError(
            f"{path}: not a result: {reason(error)}; write it again with ./gossamer run --output"
        ) from None
    if not columns:
        raise InputError(f"{path}: has no column of values; write it again with ./gossamer run --output")
    return Table(str(path), labels, columns, *short)


def _read_csv(path: Path) -> tuple[list[str], dict[str, Values], frozenset[str]]:
    """Also the columns of short decimals. An empty cell of a column of vertices is the number that the other formats
    have for no vertex, if the labels are numbers."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.reader(file, strict=True)
        head = next(rows, [])
        if not head or head[0] != _VERTEX or len(set(head)) != len(head):
            raise ValueError(f"the first line must be {_VERTEX} and distinct names of columns")
        cells: list[list[str]] = []
        for row in rows:
            if len(row) != len(head):
                raise ValueError(f"line {rows.line_num} has {len(row)} cells, the first line {len(head)}")
            cells.append(row)
    columns = list(zip(*cells, strict=True)) if cells else [()] * len(head)
    labels = list(columns[0])
    lowest = _parsed(labels)
    none = str(min(-1, int(lowest.min(initial=0)) - 1)) if lowest.dtype.kind in "iu" else ""
    found: dict[str, Values] = {}
    short: set[str] = set()
    for name, values in zip(head[1:], columns[1:], strict=True):
        found[name] = _parsed(values)
        if found[name].dtype.kind == "U" and none and "" in values:
            filled = _parsed([value or none for value in values])
            found[name] = filled if filled.dtype.kind == "i" else found[name]
        if found[name].dtype.kind == "f" and max(map(_digits, values)) <= _SINGLE_DIGITS:
            short.add(name)
    return labels, found, frozenset(short)


def _digits(cell: str) -> int:
    """The number of significant digits of a decimal."""
    mantissa = cell.lower().partition("e")[0]
    return len("".join(filter(str.isdigit, mantissa)).lstrip("0"))


def _parsed(cells: Sequence[str]) -> Values:
    """Integers, otherwise floating-point numbers, otherwise text."""
    text = np.array(cells, np.str_)
    for dtype in (np.int64, np.uint64, np.float64):
        try:
            return text.astype(dtype)
        except (ValueError, OverflowError):
            continue
    return text


def _read_npy(path: Path) -> tuple[list[str], dict[str, Values]]:
    array = np.load(path, allow_pickle=False)
    if not isinstance(array, np.ndarray) or array.ndim != 1:
        raise ValueError("the array must have one dimension")
    names = array.dtype.names
    columns = {_UNNAMED: array} if names is None else {name: array[name] for name in names}
    return list(map(str, range(len(array)))), _checked(columns)


def _read_npz(path: Path) -> tuple[list[str], dict[str, Values]]:
    with np.load(path, allow_pickle=False) as arrays:
        columns = {name: arrays[name] for name in arrays.files}
    return _with_labels(columns)


def _read_json(path: Path) -> tuple[list[str], dict[str, Values]]:
    value = parse_json(path.read_bytes())
    if isinstance(value, dict) and isinstance(value.get(_VERTEX), list):
        return _with_labels({name: _of_json(name, cells) for name, cells in value.items()})
    if isinstance(value, dict) and value and not any(isinstance(cell, (list, dict)) for cell in value.values()):
        # A dict from labels to values, as functions of NetworkX return.
        return list(value), {_UNNAMED: _of_json(_UNNAMED, list(value.values()))}
    raise ValueError(f"it must be an object of arrays with {_VERTEX!r}, or of values by label")


def _of_json(name: str, cells: Any) -> Values:
    if not isinstance(cells, list):
        raise ValueError(f"{name!r} is no array")
    numbers = list(cells)
    if name != _VERTEX and {cell for cell in cells if isinstance(cell, str)} <= _NOT_FINITE.keys():
        numbers = [_NOT_FINITE[cell] if isinstance(cell, str) else math.nan if cell is None else cell for cell in cells]
    kinds = set(map(type, numbers))
    if kinds <= {int}:
        for dtype in (np.int64, np.uint64):
            try:
                return np.array(numbers, dtype)
            except OverflowError:
                continue
    if kinds <= {int, float}:
        return np.array(numbers, np.float64)
    if kinds <= {str, int}:
        return np.array(list(map(str, numbers)), np.str_)
    raise ValueError(f"{name!r} has values that are neither numbers nor text")


def _with_labels(columns: dict[str, Values]) -> tuple[list[str], dict[str, Values]]:
    labels = columns.pop(_VERTEX, None)
    if labels is None:
        raise ValueError(f"it has no array {_VERTEX!r}")
    checked = _checked({_VERTEX: labels, **columns})
    return list(map(str, checked.pop(_VERTEX).tolist())), checked


def _checked(columns: dict[str, Values]) -> dict[str, Values]:
    counts = {name: len(values) if values.ndim == 1 else None for name, values in columns.items()}
    if len(set(counts.values())) > 1 or None in counts.values():
        raise ValueError("its arrays must have one dimension and equal lengths")
    for name, values in columns.items():
        if values.dtype.kind not in "iufUS":
            raise ValueError(f"{name!r} has the type {values.dtype}")
    return columns


def json_of(labels: Values, columns: Mapping[str, Values]) -> Iterator[str]:
    """The JSON of a table, in parts: an object of arrays; infinities and NaN as the texts inf, -inf and nan."""

    def cells(values: Values) -> list[Any]:
        found: list[Any] = values.tolist()
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            found = [one if math.isfinite(one) else str(one) for one in found]
        return found

    yield "{"
    for number, (name, values) in enumerate([(_VERTEX, labels), *columns.items()]):
        yield ("" if number == 0 else ",\n ") + json.dumps(name) + ": " + json.dumps(cells(values))
    yield "}\n"


__all__ = ["ENDINGS", "Comparison", "Difference", "Table", "apart", "compare", "json_of", "read_table", "sizes"]
