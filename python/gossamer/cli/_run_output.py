# SPDX-License-Identifier: Apache-2.0
"""The printed results of ``./gossamer run``, and its output files. Vertices appear with their labels everywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from gossamer import files
from gossamer.errors import InputError
from gossamer.wording import counted

if TYPE_CHECKING:
    from gossamer.apps.results import Result


def show(result: Result, top: int) -> None:
    """Prints the main part of a result, and statistics of the run."""
    app, graph, stats = result.app, result.graph, result.stats
    size = (
        f"{counted(graph.vertices, 'vertex', 'vertices', grouped=True)}, {counted(graph.edges, 'edge', grouped=True)}"
    )
    click.echo(f"{app.name} of {graph.name or 'the graph'}: {size}")
    if top:
        rows = _groups(result, top) if app.columns[0].order == "groups" else _extremes(result, top)
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        for row in rows:
            first, *rest = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            click.echo(f"  {first}  " + "  ".join(rest))
    for about in app.totals:
        value = result.totals[about.name]
        click.echo(f"{about.name}: {value:.6g}" if about.dtype.kind == "f" else f"{about.name}: {value:,}")
    threads = counted(stats["threads"], "thread", grouped=True)
    how_long = f"in {result.seconds:.3f} s"
    if "cycles" in stats:
        clock = stats["cycles"] / stats["seconds"] / 1e6
        how_long = f"in {stats['cycles']:,} cycles ({stats['seconds'] * 1e6:,.1f} us at {clock:g} MHz)"
        how_long += f", {stats['retired']:,} instructions retired"
    what = f"{counted(stats['steps'], 'step', grouped=True)}, {counted(stats['deliveries'], 'message', grouped=True)}"
    click.echo(f"{stats['engine']} engine, {threads}: {what} {how_long}")


def _extremes(result: Result, top: int) -> list[list[str]]:
    """The vertices with the largest (or smallest) values of the first column."""
    import numpy as np

    column = result.app.columns[0]
    values = result.values
    there = np.flatnonzero(column.present(values))
    if len(there) < len(values):
        click.echo(f"{counted(len(values) - len(there), 'vertex', 'vertices', grouped=True)} without {column.name}")
    keys = values[there].astype(np.float64)
    if column.order == "largest":
        keys = -keys
    if top < len(keys):
        near = np.argpartition(keys, top)[: top + 1]
        # Ties at the limit are resolved by lowest index, as in a full sort.
        near = np.flatnonzero(keys <= keys[near].max())
        there, keys = there[near], keys[near]
    order = there[np.argsort(keys, kind="stable")][:top]
    rows = [["vertex", *(c.name for c in result.app.columns)]]
    for v in order:
        cells = (text_of(result, c.name, int(v)) for c in result.app.columns)
        rows.append([str(result.graph.label_of(int(v))), *cells])
    return rows


def _groups(result: Result, top: int) -> list[list[str]]:
    """The number of vertices for each value of the first column."""
    import numpy as np

    column = result.app.columns[0]
    _, first, counts = np.unique(result.values, return_index=True, return_counts=True)
    click.echo(counted(len(first), column.name, grouped=True))
    order = np.argsort(-counts, kind="stable")[:top]
    rows = [["vertices", f"{column.name} of" if column.vertex else column.name]]
    rows += [[f"{counts[i]:,}", text_of(result, column.name, int(first[i]))] for i in order]
    return rows


def text_of(result: Result, column: str, vertex: int) -> str:
    """A value as text; in a column of vertices the label, or - for no vertex."""
    about = next(c for c in result.app.columns if c.name == column)
    values = result.columns[column][vertex : vertex + 1]
    if about.vertex:
        if not about.present(values)[0]:
            return "-"
        index = int(values[0])
        return str(result.graph.label_of(index)) if 0 <= index < result.graph.vertices else f"no vertex ({index})"
    return f"{values[0]:.6g}" if values.dtype.kind == "f" else str(values[0])


# ---- Files ---------------------------------------------------------------------


def writer(path: Path) -> Callable[[Result], None]:
    """The function that writes a result to a file. InputError for an unknown ending, or if it cannot be written."""
    formats: dict[str, Callable[[Result, BinaryIO], None]] = {".npy": _npy, ".npz": _npz, ".csv": _csv, ".json": _json}
    form = formats.get(path.suffix)
    if form is None:
        raise InputError(f"{path}: unknown ending; write a file that ends in {', '.join(formats)}")
    files.check_writable(path)

    def write(result: Result) -> None:
        with files.whole_file(path) as file:
            form(result, file)

    return write


def _npy(result: Result, file: BinaryIO) -> None:
    """A single column as an array, several as the fields of a record; vertices are indices, as are array elements."""
    import numpy as np

    if len(result.columns) == 1:
        np.save(file, result.values)
        return
    table = np.empty(result.graph.vertices, [(name, values.dtype) for name, values in result.columns.items()])
    for name, values in result.columns.items():
        table[name] = values
    np.save(file, table)


def _npz(result: Result, file: BinaryIO) -> None:
    """Each column under its name, and the labels under "vertex"; columns of vertices contain labels."""
    import numpy as np

    labels = result.graph.labels_at(np.arange(result.graph.vertices))
    arrays: dict[str, Any] = {"vertex": labels, **{name: result.named(name) for name in result.columns}}
    np.savez(file, **arrays)


def _json(result: Result, file: BinaryIO) -> None:
    """An object with an array for each column, and the labels as "vertex"; columns of vertices contain labels."""
    import numpy as np

    from gossamer.apps import comparison

    labels = result.graph.labels_at(np.arange(result.graph.vertices))
    for part in comparison.json_of(labels, {name: result.named(name) for name in result.columns}):
        file.write(part.encode())


def _csv(result: Result, file: BinaryIO) -> None:
    """A line of label and values per vertex, with enough digits to read them back; an empty cell for no vertex."""
    digits = {4: "%.9g", 8: "%.17g"}
    forms = [digits[v.dtype.itemsize] if v.dtype.kind == "f" else "%d" for v in result.columns.values()]
    columns: list[Any] = []
    for at, about in enumerate(result.app.columns):
        columns.append(result.named(about.name))
        if about.vertex:
            forms[at] = "%s"
            there = about.present(result.columns[about.name]).tolist()
            names = zip(columns[at].tolist(), there, strict=True)
            columns[at] = [_quoted(name) if yes else "" for name, yes in names]
    file.write((",".join(["vertex", *result.columns]) + "\n").encode())
    line = "%s," + ",".join(forms) + "\n"
    label = result.graph.label_of
    block = 65536
    for begin in range(0, result.graph.vertices, block):
        parts = (values[begin : begin + block] for values in columns)
        rows = zip(*(part if isinstance(part, list) else part.tolist() for part in parts), strict=True)
        text = "".join(line % (_quoted(label(begin + i)), *row) for i, row in enumerate(rows))
        file.write(text.encode())


def _quoted(label: str | int) -> str:
    text = str(label)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n') else text
