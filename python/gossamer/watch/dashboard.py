# SPDX-License-Identifier: Apache-2.0
"""Pages of plain text about a running simulation, for ``./gossamer top``, that fit the width of the terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from gossamer.watch.recordings import COUNTERS, Recording, Sample, events
from gossamer.watch.snapshots import DIRECTIONS, Link, Snapshot, Tile
from gossamer.watch.streams import WAITS, Activity, Kernel

_NARROW = 40
_WRAPPED_FROM = 16
"""Lines of a terminal that has space for a head that continues on the next line; on a smaller one it is cut."""
_BAR = 10
LINK_FLIT_BYTES = 16
_WAITS = (("memory", "mem"), ("float", "fp"), ("receive", "recv"), ("send", "send"), ("barrier", "barr"))
"""States of waiting threads, and their column heads."""
_KERNEL_HEADS = {"collective": "coll", "barrier": "barr", "memory": "mem"}
"""Column heads of WAITS that are shorter than their names."""


@dataclass(frozen=True)
class Size:
    """The size of the page; ``lines`` 0: unlimited."""

    columns: int = 80
    lines: int = 0


def page(total: Snapshot, lately: Snapshot, size: Size) -> list[str]:
    """A page from the snapshot ``total`` and the difference ``lately``. Lines have at most ``size.columns`` columns."""
    columns = max(_NARROW, size.columns)
    activity = total.activity, lately.activity
    lines = [*(_head(total, lately) if activity[0] is None else _stream_head(total, lately)), ""]
    if not size.lines or size.lines >= _WRAPPED_FROM:
        lines = [part for line in lines for part in _wrapped(line, columns)]
    lines += _boards(total, lately, columns) if total.tiles and total.boards > 1 else []
    links = _links(lately, columns)
    if activity[0] is not None and activity[1] is not None:
        parts = [_kernels(activity[1], columns), _channels(activity[0], activity[1], lately.cycle, columns), links]
        return [line[: size.columns].rstrip() for line in [*lines, *_fitted(parts, size.lines, len(lines))]]
    tiles = _tiles(total, lately, columns)
    free = size.lines - len(lines) if size.lines else len(tiles) + len(links)
    # If not all lines fit, the page shows the busiest tiles, and links on a third of it.
    for_links = min(len(links), max(free // 3, free - len(tiles)))
    lines += _cut(tiles, free - for_links, "tiles") + _cut(links, for_links, "links")
    return [line[: size.columns].rstrip() for line in lines]


def _wrapped(line: str, columns: int) -> list[str]:
    """A line in parts of at most ``columns`` columns; what follows a comma or semicolon stays together if it fits."""
    lines = [""]
    for part in re.findall(r".+?(?:[,;] |$)", line):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > columns:
            lines.append("  ")
        lines[-1] += part
    return [
        one
        for long in lines
        for one in textwrap.wrap(long, columns, subsequent_indent="  ", drop_whitespace=True) or [""]
    ]


def listing(simulations: Sequence[Snapshot]) -> list[str]:
    """A line for each of several simulations."""
    lines = ["  PID     CYCLES  PROGRAM"]
    for seen in simulations:
        what = seen.about.get("cluster") or seen.about.get("config", "")
        lines.append(f"{seen.pid:>5} {seen.cycle:>10,}  {_program(seen) or '-'} on {what}")
    return lines


def _program(seen: Snapshot) -> str:
    """The name of the program's file or folder without its path."""
    return PurePath(str(seen.about.get("program", ""))).name


def _head(seen: Snapshot, lately: Snapshot) -> list[str]:
    boards = f"{seen.boards} boards, " if seen.boards > 1 else ""
    tiles = f"{len(seen.tiles)} tile{'s' if len(seen.tiles) > 1 else ''}"
    started = sum(tile.started for tile in seen.tiles)
    runs = sum(tile.threads("runs") for tile in lately.tiles)
    issued = sum(tile.instructions for tile in lately.tiles)
    cores = seen.cores * len(seen.tiles)
    return [
        _title(seen, f"{boards}{tiles}"),
        _time(seen, lately),
        f"threads {started:,} started, {runs:,.1f} run, {sum(tile.waiting for tile in lately.tiles):,.1f} wait; "
        f"{issued / max(1, lately.cycle):.3f} instructions a cycle of {cores} core{'' if cores == 1 else 's'}",
    ]


def _title(seen: Snapshot, what: str) -> str:
    """The program, its machine, and the process."""
    name = seen.about.get("cluster") or seen.about.get("config", "")
    return f"{_program(seen) or 'simulation'} on {name} ({what}), process {seen.pid}, {seen.state}"


def _time(seen: Snapshot, lately: Snapshot) -> str:
    speed = lately.cycle / lately.time / 1e3 if lately.time > 0 else 0.0
    clock = seen.about.get("clock_mhz")
    real = f" = {seen.cycle / clock / 1e3:,.3f} ms at {clock:g} MHz" if clock else ""
    return f"cycle {seen.cycle:,}{real}, {speed:,.1f} kHz"


def _busy(tile: Tile, seen: Snapshot) -> float:
    """Share of cycles in which the tile's cores issued an instruction."""
    return tile.instructions / max(1, seen.cycle * seen.cores)


def _bar(share: float, width: int = _BAR) -> str:
    full = min(width, round(max(0.0, share) * width))
    return "#" * full + "." * (width - full)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], columns: int) -> list[str]:
    """A table with minimum column widths; columns on the right that do not fit are omitted."""
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    shown, used = 0, 0
    while shown < len(widths) and used + widths[shown] + 1 <= columns + 1:
        used += widths[shown] + 1
        shown += 1
    shown = max(1, shown)
    return [
        " ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(pairs))
        for pairs in ([*zip(row[:shown], widths[:shown], strict=True)] for row in [heads, *rows])
    ]


def _row(name: str, tiles: Sequence[Tile], lately: Snapshot) -> list[str]:
    busy = sum(_busy(tile, lately) for tile in tiles) / len(tiles)
    cells = [name, _bar(busy), f"{busy:.1%}", f"{sum(tile.started for tile in tiles)}"]
    cells.append(f"{sum(tile.threads('runs') for tile in tiles):.1f}")
    cells += [f"{sum(tile.threads(what) for tile in tiles):.1f}" for what, _ in _WAITS]
    for direction in range(len(DIRECTIONS)):
        flits = [tile.flits[direction] for tile in tiles if tile.flits]
        cells.append(f"{sum(flits) / len(flits) / max(1, lately.cycle):.3f}" if flits else "-")
    return cells


_HEADS = ("", "busy", "thr", "run", *(head for _, head in _WAITS), *(name[0].upper() for name in DIRECTIONS))


def _tiles(seen: Snapshot, lately: Snapshot, columns: int) -> list[str]:
    rows = []
    numbers = sorted(range(len(lately.tiles)), key=lambda t: (-round(_busy(lately.tiles[t], lately), 2), t))
    for number in numbers if len(numbers) > seen.board_tiles else range(len(lately.tiles)):
        board, x, y = seen.place(number)
        name = f"{_board_name(seen, board)} {x},{y}" if seen.boards > 1 else f"{x},{y}"
        rows.append(_row(name, [lately.tiles[number]], lately))
    return _table(["tile", *_HEADS], rows, columns)


def _boards(seen: Snapshot, lately: Snapshot, columns: int) -> list[str]:
    rows = [_row(_board_name(seen, b), lately.of_board(b), lately) for b in range(seen.boards)]
    return [*_table(["board", *_HEADS], rows, columns), ""]


def _board_name(seen: Snapshot, board: int) -> str:
    names = seen.about.get("boards", [])
    return str(names[board]) if board < len(names) else str(board)


def _links(lately: Snapshot, columns: int) -> list[str]:
    if not lately.links:
        return []
    rate = float(lately.about.get("link_bytes", 0))
    names = lately.about.get("link_names", [])

    def row(link: Link) -> list[str]:
        board_names = {(board, number): name for board, number, name in names}
        name = board_names.get((link.board, link.link), str(link.link))
        cells = [f"{_board_name(lately, link.board)} {name}", "up" if link.up else "DOWN"]
        for way in ("bytes_out", "bytes_in"):
            share = link.sums[way] / max(1e-9, lately.cycle * rate) if rate else 0.0
            cells += [_bar(share), f"{share:.1%}"]
        return [*cells, *(str(link.sums[name]) for name in ("packets_out", "resends", "damaged", "stalls"))]

    busiest = sorted(lately.links, key=lambda link: -max(link.sums["bytes_out"], link.sums["bytes_in"]))
    heads = ["link", "", "out", "", "in", "", "packets", "resent", "damaged", "stalls"]
    return ["", *_table(heads, [row(link) for link in busiest], columns)]


# ---- Streaming programs ----


def _stream_head(seen: Snapshot, lately: Snapshot) -> list[str]:
    assert seen.activity is not None and lately.activity is not None
    kernels = [one for one in seen.activity.kernels if one.doing != "ended"]
    running = sum(one.doing == "runs" for one in kernels)
    elements = sum(one.received for one in lately.activity.channels)
    moved = sum(one.pushed + one.popped for one in lately.activity.collectives if one.kind != "Barrier")
    boards = f"{seen.boards} board{'s' if seen.boards > 1 else ''}"
    rate = max(1, lately.cycle)
    return [
        _title(seen, f"{boards}, {len(seen.activity.kernels)} kernels started"),
        _time(seen, lately),
        f"kernels {len(kernels)}: {running} run, {len(kernels) - running} wait; {elements / rate:.3f} elements a cycle "
        f"over channels, {moved / rate:.3f} pushed and popped in collectives",
    ]


def _fitted(parts: list[list[str]], lines: int, used: int) -> list[str]:
    """The lines of all parts; if not all fit on a page of ``lines`` lines, each part has its share of it."""
    free = lines - used if lines else sum(map(len, parts))
    # The shortest first, so that longer ones get what it leaves.
    order = sorted((number for number, part in enumerate(parts) if part), key=lambda number: len(parts[number]))
    shown = {}
    for at, number in enumerate(order):
        shown[number] = _cut(parts[number], max(2, free // (len(order) - at)), "rows")
        free -= len(shown[number])
    return [line for number in sorted(shown) for line in shown[number]]


def _kernels(lately: Activity, columns: int) -> list[str]:
    def row(one: Kernel) -> list[str]:
        cycles = max(1, one.cycles)
        shares = [f"{one.waits[kind] / cycles:.0%}" for kind in WAITS]
        return [f"{one.rank} {one.name}", _bar(one.runs / cycles), f"{one.runs / cycles:.1%}", *shares, one.doing]

    live = [one for one in lately.kernels if one.doing != "ended" or one.cycles]
    heads = ["kernel", "", "runs", *(_KERNEL_HEADS.get(kind, kind) for kind in WAITS), "now"]
    return _table(heads, [row(one) for one in live], columns) if live else []


def _channels(seen: Activity, lately: Activity, cycles: int, columns: int) -> list[str]:
    """Channels, and collectives by rank; the busiest first."""
    rows: list[tuple[int, list[str]]] = []
    totals = {(one.port, one.source, one.destination): one.received for one in seen.channels}
    for one in lately.channels:
        key = one.port, one.source, one.destination
        shares = [f"{count / max(1, cycles):.0%}" for count in (one.stalled, one.empty, one.full)]
        name = f"port {one.port}, {one.source} to {one.destination}"
        rows.append((one.received, [name, f"{one.received / max(1, cycles):.3f}", *shares, f"{totals[key]:,}"]))
    sums = {(one.port, one.rank): one.pushed + one.popped for one in seen.collectives}
    for its in lately.collectives:
        moved = its.pushed + its.popped
        shares = [f"{count / max(1, cycles):.0%}" for count in (its.stalled, its.empty, its.full)]
        name = f"{its.kind} port {its.port}, rank {its.rank}"
        rows.append((moved, [name, f"{moved / max(1, cycles):.3f}", *shares, f"{sums[its.port, its.rank]:,}"]))
    if not rows:
        return []
    heads = ["channel", "a cycle", "stalled", "empty", "full", "elements"]
    return ["", *_table(heads, [row for _, row in sorted(rows, key=lambda one: -one[0])], columns)]


# ---- Recordings of generated boards ----


def recorded(total: Sequence[Recording], since: Mapping[str, Sample | None], size: Size) -> list[str]:
    """A page of what hosts of generated boards have recorded; ``since`` has by board the sample of the page before."""
    columns = max(_NARROW, size.columns)
    rows: list[tuple[int, list[str]]] = []
    for one in total:
        late = one.samples[-1]
        early = since.get(one.board)
        cycles = max(1, late.cycle - (early.cycle if early else 0))
        for at, counts in enumerate(late.ports):
            before = early.ports[at] if early else [0] * len(counts)
            recent = [new - old for new, old in zip(counts, before, strict=True)]
            sent, received, stalled, empty, full = (recent[COUNTERS.index(name)] for name in _SHOWN)
            rates = [f"{count / cycles:.4f}" for count in (sent, received)]
            waits = [f"{count / cycles:.0%}" for count in (stalled, empty, full)]
            totals = [f"{counts[COUNTERS.index(name)]:,}" for name in _SHOWN[:2]]
            rows.append((sent + received, [f"{one.board} {one.name(at)}", *rates, *waits, *totals]))
    first = total[0]
    cycle = max(one.cycle for one in total)
    state = "ended" if all(one.ended for one in total) else "runs"
    boards = f"{len(total)} board{'s' if len(total) > 1 else ''}"
    lines = [
        f"{' and '.join(dict.fromkeys(one.top for one in total))} ({boards}, recorded), {state}",
        f"cycle {cycle:,} = {cycle / first.clock_mhz / 1e3:,.3f} ms at {first.clock_mhz:g} MHz",
        "",
    ]
    lines = [part for line in lines for part in _wrapped(line, columns)]
    told = [text for one in total for _, text in events(one)]
    heads = ["port", "sent/cyc", "recv/cyc", "stalled", "empty", "full", "packets sent", "received"]
    table = _table(heads, [row for _, row in sorted(rows, key=lambda one: -one[0])], columns)
    parts = [table, ["", *(part for text in told for part in _wrapped(text, columns))] if told else []]
    return [line[: size.columns].rstrip() for line in [*lines, *_fitted(parts, size.lines, len(lines))]]


_SHOWN = ("packets_sent", "packets_received", "stalled", "empty", "full")


def _cut(lines: list[str], limit: int, what: str) -> list[str]:
    if len(lines) <= limit:
        return lines
    kept = max(1, limit - 1)
    return [*lines[:kept], f"({len(lines) - kept} more {what})"]


__all__ = ["Size", "listing", "page", "recorded"]
