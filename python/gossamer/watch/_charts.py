# SPDX-License-Identifier: Apache-2.0
"""Charts as inline SVG: lines, stacks and strips over time, bars and columns. Each mark has a tooltip.

Widths are in units of the picture, which is scaled to its place: 1,500 for a chart as wide as the page, less for one of
several side by side, so that text has about the same size in both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gossamer.watch import _html

MOST_ROWS = 64
"""Rows of a chart."""
_ROW = 26
_LETTER = 9.4
"""Width of a letter at the size of the charts' text, at most on average."""


@dataclass(frozen=True)
class Axis:
    """An axis from 0 to ``end`` in ``unit``: s, cycles or steps."""

    unit: str
    end: float

    def scaled(self) -> tuple[float, str]:
        """The factor and the name of the unit that the axis shows."""
        if self.unit != "s":
            return 1.0, self.unit
        for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
            if self.end * factor >= 1:
                return factor, unit
        return 1e9, "ns"


@dataclass(frozen=True)
class Row:
    """A quantity over time, or a bar."""

    name: str
    values: Sequence[float]


def nice(value: float) -> float:
    """The least of 1, 1.5, 2, 3, 4, 5, 8 times a power of ten that is at least ``value``."""
    if value <= 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(part * power for part in (1, 1.5, 2, 3, 4, 5, 8, 10) if part * power >= value * (1 - 1e-9))


def short(value: float) -> str:
    """A number in few characters: 1.5k, 20M."""
    for factor, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{value / factor:.4g}{unit}"
    return f"{value:.4g}"


def cut(name: str, most: int = 34) -> str:
    """A name that fits its place."""
    return name if len(name) <= most else name[: most - 1] + "…"


def _left(names: Sequence[str]) -> float:
    return 14 + _LETTER * max((len(cut(name)) for name in names), default=0)


def _time(axis: Axis, left: float, right: float, y: float) -> str:
    """The labels of a time axis."""
    factor, unit = axis.scaled()
    end = axis.end * factor
    parts = 5 if right - left > 900 else 3
    tick, last = nice(end / parts), f"{short(end)} {unit}"
    if axis.unit == "steps":
        tick = math.ceil(tick)
    drawn = []
    for number in range(int(end / tick * (1 + 1e-9)) + 1):
        x = left + (right - left) * number * tick / end
        anchor = "start" if number == 0 else "middle"
        # The end and its unit are at the right, where a label of a tick would overlap them.
        if x + _LETTER * len(short(number * tick)) / 2 > right - _LETTER * (len(last) + 1) and number:
            continue
        drawn.append(f'<path class="axis" d="M{x:.1f} {y:.1f} v6"/>')
        drawn.append(_html.text(x, y + 24, short(number * tick), "soft", anchor))
    drawn.append(_html.text(right, y + 24, last, "soft", "end"))
    return "".join(drawn)


def _grid(most: float, left: float, right: float, top: float, bottom: float) -> str:
    drawn = []
    for part in range(3):
        y = bottom - (bottom - top) * part / 2
        drawn.append(f'<path class="axis" d="M{left:.1f} {y:.1f} H{right:.1f}"/>')
        drawn.append(_html.text(left - 8, y + 6, short(most * part / 2), "soft", "end"))
    return "".join(drawn)


def _tip(axis: Axis, begin: float, end: float) -> str:
    factor, unit = axis.scaled()
    return f"{begin * factor:,.4g} to {end * factor:,.4g} {unit}"


def lines(edges: Sequence[float], axis: Axis, rows: Sequence[Row], most: float, width: float) -> str:
    """A line for each row, from 0 to ``most``."""
    left, right, top, bottom = 78.0, width - 8, 12.0, 270.0
    drawn = [_grid(most, left, right, top, bottom), _time(axis, left, right, bottom)]
    for number, row in enumerate(rows):
        shade = _html.PALETTE[number % len(_html.PALETTE)]
        points = []
        for at, value in enumerate(row.values):
            y = bottom - (bottom - top) * min(1.0, max(0.0, value / most))
            xs = (left + (right - left) * edges[at + i] / axis.end for i in range(2))
            points += [f"{x:.1f} {y:.1f}" for x in xs]
        line = " L".join(points)
        if len(rows) == 1:
            drawn.append(
                f'<path d="M{left:.1f} {bottom:.1f} L{line} V{bottom:.1f} Z" fill="{shade}" fill-opacity="0.18"/>'
            )
        drawn.append(f'<path d="M{line}" fill="none" stroke="{shade}" stroke-width="2.5"/>')
    # Tooltips on columns as high as the chart: one for each interval.
    for at in range(len(edges) - 1):
        x, until = (left + (right - left) * edges[at + i] / axis.end for i in range(2))
        said = [f"{_tip(axis, edges[at], edges[at + 1])}"]
        said += [f"{row.name or 'value'}: {row.values[at]:,.4g}" for row in rows]
        drawn.append(
            f'<rect x="{x:.1f}" y="{top}" width="{max(0.0, until - x):.1f}" height="{bottom - top}" fill="#000" '
            f'fill-opacity="0"><title>{_html.escape(chr(10).join(said))}</title></rect>'
        )
    return _html.svg(width, bottom + 34, drawn)


def stack(
    edges: Sequence[float], axis: Axis, rows: Sequence[Row], shades: Sequence[str], most: float, width: float
) -> str:
    """Rows on top of each other, from 0 to ``most``."""
    left, right, top, bottom = 78.0, width - 8, 12.0, 270.0
    drawn = [_grid(most, left, right, top, bottom), _time(axis, left, right, bottom)]
    for at in range(len(edges) - 1):
        x, until = (left + (right - left) * edges[at + i] / axis.end for i in range(2))
        said = [_tip(axis, edges[at], edges[at + 1])]
        said += [f"{row.name}: {row.values[at]:,.4g}" for row in rows]
        low, boxes = bottom, []
        for row, shade in zip(rows, shades, strict=True):
            high = (bottom - top) * max(0.0, row.values[at]) / most
            if high > 0.05:
                low -= high
                boxes.append(
                    f'<rect x="{x:.1f}" y="{max(top, low):.1f}" width="{until - x + 0.3:.1f}" height="{high:.1f}" '
                    f'fill="{shade}"/>'
                )
        drawn.append(f"<g><title>{_html.escape(chr(10).join(said))}</title>{''.join(boxes)}</g>")
    return _html.svg(width, bottom + 34, drawn)


def strips(edges: Sequence[float], axis: Axis, rows: Sequence[Row], most: float, width: float) -> str:
    """A strip for each row, coloured by the share of ``most``; neighbours of the same colour are one mark."""
    shown = rows[:MOST_ROWS]
    left, right = _left([row.name for row in shown]), width - 8
    drawn = []
    for number, row in enumerate(shown):
        y = number * _ROW
        drawn.append(_html.text(left - 10, y + 18, cut(row.name), "", "end"))
        drawn.append(f'<rect x="{left:.1f}" y="{y}" width="{right - left:.1f}" height="{_ROW - 2}" class="s0 frame"/>')
        marks: list[tuple[float, float, float, int]] = []
        for at, value in enumerate(row.values):
            begin, until = edges[at], edges[at + 1]
            shade = _html.step(value / most)
            if marks and marks[-1][3] == shade and marks[-1][1] == begin:
                marks[-1] = marks[-1][0], until, marks[-1][2] + value * (until - begin), shade
            else:
                marks.append((begin, until, value * (until - begin), shade))
        for begin, until, total, shade in marks:
            if not shade or until <= begin:
                continue
            x, to = (left + (right - left) * at / axis.end for at in (begin, until))
            said = f"{row.name}, {_tip(axis, begin, until)}: {total / (until - begin):,.4g}"
            drawn.append(
                f'<rect x="{x:.1f}" y="{y + 1}" width="{to - x:.1f}" height="{_ROW - 4}" class="s{shade}">'
                f"<title>{_html.escape(said)}</title></rect>"
            )
    height = len(shown) * _ROW
    drawn.append(_time(axis, left, right, height + 2))
    return _html.svg(width, height + 36, drawn) + more(len(rows), len(shown), "rows")


def bars(
    rows: Sequence[tuple[str, Mapping[str, float], float]],
    shades: Mapping[str, tuple[str, str]],
    axis: Axis,
    width: float,
    kind: str = "rows",
) -> str:
    """A bar for each row: its name, amounts by kind, and where it begins."""
    shown = rows[:MOST_ROWS]
    left, right = _left([name for name, _, _ in shown]), width - 8
    factor, unit = axis.scaled()
    drawn = []
    for number, (name, parts, begin) in enumerate(shown):
        y = number * (_ROW + 4)
        drawn.append(_html.text(left - 10, y + 18, cut(name), "", "end"))
        drawn.append(f'<rect x="{left:.1f}" y="{y}" width="{right - left:.1f}" height="{_ROW}" class="ground"/>')
        x, total = left + (right - left) * begin / axis.end, sum(parts.values())
        for part, (shade, _) in shades.items():
            amount = parts.get(part, 0)
            length = (right - left) * amount / axis.end
            if length <= 0:
                continue
            shown_amount = f"{amount:,.0f}" if axis.unit == "cycles" else f"{amount * factor:,.4g}"
            whole = f"{total:,.0f}" if axis.unit == "cycles" else f"{total * factor:,.4g}"
            said = f"{name}: {part} {shown_amount} of {whole} {unit}, {amount / total:.1%}"
            drawn.append(
                f'<rect x="{x:.1f}" y="{y}" width="{length:.2f}" height="{_ROW}" fill="{shade}">'
                f"<title>{_html.escape(said)}</title></rect>"
            )
            x += length
    height = len(shown) * (_ROW + 4)
    drawn.append(_time(axis, left, right, height + 2))
    return _html.svg(width, height + 36, drawn) + more(len(rows), len(shown), kind)


def columns(values: Sequence[float], most: float, count: int, width: float) -> str:
    """A column for each value (the time of each step), up to ``count``; of many the mean of several."""
    left, right, top, bottom = 78.0, width - 8, 12.0, 230.0
    each = max(1, math.ceil(count / 240))
    drawn = [
        _grid(most * 1e3, left, right, top, bottom),
        _time(Axis("steps", float(max(1, count))), left, right, bottom),
    ]
    for begin in range(0, len(values), each):
        some = values[begin : begin + each]
        mean = sum(some) / len(some)
        x = left + (right - left) * begin / max(1, count)
        high = (bottom - top) * min(1.0, mean / most)
        last = begin + len(some) - 1
        which = f"step {begin}" if each == 1 else f"steps {begin} to {last}, on average"
        drawn.append(
            f'<rect x="{x:.1f}" y="{bottom - high:.1f}" width="{max(1.0, (right - left) * len(some) / count - 1):.1f}" '
            f'height="{high:.1f}" fill="{_html.PALETTE[0]}"><title>{which}: {mean * 1e3:,.4g} ms</title></rect>'
        )
    return _html.svg(width, bottom + 34, drawn)


def more(count: int, shown: int, what: str) -> str:
    """A line about rows that are not shown."""
    return f'<p class="soft">({count - shown:,} more {what})</p>' if count > shown else ""


__all__ = ["MOST_ROWS", "Axis", "Row", "bars", "columns", "cut", "lines", "more", "nice", "short", "stack", "strips"]
