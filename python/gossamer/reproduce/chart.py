# SPDX-License-Identifier: Apache-2.0
"""Line charts as inline SVG. Colours are CSS variables of the page, so that a chart follows a light or dark scheme.

The bench pages' matplotlib draws in fixed colours and is a dependency of its own; this page needs neither.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gossamer.watch._html import escape

WIDTH, HEIGHT = 560, 330
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 18, 12, 50
_RADIUS = {"ours": 3.5, "paper": 5, "reconstructed": 5}
COLOURS = 6
"""Number of colours ``--c0`` to ``--c5`` that the page defines."""


@dataclass(frozen=True)
class Curve:
    """A curve to draw. A paper's is dashed with hollow marks, a reconstructed one dotted, ours solid."""

    name: str
    source: str
    colour: int
    points: Sequence[tuple[float, float]]
    tips: Sequence[str]
    """A tooltip for each point."""
    attributes: Sequence[str] = ()
    """HTML attributes of each mark."""


@dataclass(frozen=True)
class Axis:
    """An axis: its title, scale, and marked positions (chosen if empty)."""

    title: str
    log: bool = False
    ticks: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()


def number(value: float) -> str:
    """A number for readers: four significant digits, separators from 10,000."""
    if value == 0:
        return "0"
    if abs(value) >= 9_999.5 or (abs(value) >= 1000 and value == round(value)):
        return f"{value:,.0f}"
    if abs(value) < 1e-3:
        return f"{value:.2e}"
    digits = 3 - math.floor(math.log10(abs(value)))
    text = f"{value:.{max(0, digits)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _short(value: float) -> str:
    """A tick's label."""
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size and (value >= 10_000 or size > 1e3):
            return f"{value / size:g}{suffix}"
    return f"{value:g}"


def _ticks(low: float, high: float, log: bool) -> list[float]:
    if log:
        first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
        every = max(1, math.ceil((last - first) / 7))
        return [10.0**power for power in range(first, last + 1, every)]
    raw = (high - low) / 5
    size: float = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= raw)
    count = math.ceil(high / step - 1e-9)
    return [round(i * step, 10) for i in range(count + 1)]


def draw(x: Axis, y: Axis, curves: Sequence[Curve], title: str) -> str:
    """The chart as SVG; empty if there is no point."""
    xs = [point[0] for curve in curves for point in curve.points]
    ys = [point[1] for curve in curves for point in curve.points]
    if not xs:
        return ""
    x_ticks = list(x.ticks) or _ticks(min(xs), max(xs), x.log)
    y_ticks = list(y.ticks) or _ticks(min(ys) if y.log else 0.0, max(ys), y.log)
    left, right = min([*x_ticks, *xs]), max([*x_ticks, *xs])
    low, high = min([*y_ticks, *ys]), max([*y_ticks, *ys])

    def at(value: float, low: float, high: float, log: bool) -> float:
        if log:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        return (value - low) / (high - low) if high > low else 0.5

    def across(value: float) -> float:
        inset = 14
        width = WIDTH - _LEFT - _RIGHT - 2 * inset
        return _LEFT + inset + width * at(value, left, right, x.log)

    def down(value: float) -> float:
        return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * at(value, low, high, y.log)

    parts = []
    bottom = HEIGHT - _BOTTOM
    for value in y_ticks:
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{down(value):.1f}" y2="{down(value):.1f}"/>'
        )
        parts.append(f'<text x="{_LEFT - 7}" y="{down(value) + 4:.1f}" text-anchor="end">{_short(value)}</text>')
    names = x.labels or tuple(_short(value) for value in x_ticks)
    for value, name in zip(x_ticks, names, strict=True):
        parts.append(
            f'<line class="grid" x1="{across(value):.1f}" x2="{across(value):.1f}" y1="{_TOP}" y2="{bottom}"/>'
        )
        parts.append(
            f'<text x="{across(value):.1f}" y="{HEIGHT - _BOTTOM + 17}" text-anchor="middle">{escape(name)}</text>'
        )
    parts.append(f'<path class="axis" d="M{_LEFT} {_TOP} V{HEIGHT - _BOTTOM} H{WIDTH - _RIGHT}"/>')
    middle = (WIDTH + _LEFT - _RIGHT) / 2
    parts.append(f'<text class="name" x="{middle:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x.title)}</text>')
    centre = (HEIGHT - _BOTTOM + _TOP) / 2
    parts.append(
        f'<text class="name" transform="translate(15 {centre:.0f}) rotate(-90)" text-anchor="middle">'
        f"{escape(y.title)}</text>"
    )
    # The papers' curves are drawn last: hollow marks and dashes remain visible over equal points of ours.
    for curve in sorted(curves, key=lambda curve: curve.source != "ours"):
        places = [(across(a), down(b)) for a, b in curve.points]
        if len(places) > 1:
            path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
            parts.append(f'<polyline class="line {curve.source} c{curve.colour}" points="{path}"/>')
        for index, ((a, b), tip) in enumerate(zip(places, curve.tips, strict=True)):
            more = f" {curve.attributes[index]}" if curve.attributes else ""
            place = f'cx="{a:.1f}" cy="{b:.1f}" r="{_RADIUS[curve.source]}"'
            kind = f'class="mark {curve.source} c{curve.colour}"'
            parts.append(f"<circle {kind} {place}{more}><title>{escape(tip)}</title></circle>")
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'aria-label="{escape(title)}">{"".join(parts)}</svg>'
    )


def key(curve: Curve) -> str:
    """A sample of a curve for a legend."""
    return (
        '<svg class="key" width="34" height="12" viewBox="0 0 34 12" aria-hidden="true">'
        f'<line class="line {curve.source} c{curve.colour}" x1="1" y1="6" x2="33" y2="6"/>'
        f'<circle class="mark {curve.source} c{curve.colour}" cx="17" cy="6" r="{_RADIUS[curve.source]}"/></svg>'
    )


__all__ = ["COLOURS", "Axis", "Curve", "draw", "key", "number"]
