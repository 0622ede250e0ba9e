# SPDX-License-Identifier: Apache-2.0
"""Parts of HTML pages: tables, legends, colours, figures of a self-contained page without scripts, with inline SVG.

A page fills the window. Its colours follow the reader's preference for light or dark. Colours of scales are the classes
``s0`` to ``s20`` (fills) and ``t0`` to ``t20`` (text on them).
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

STEPS = 20
"""Number of the last step of a scale."""
_LIGHT = ((240, 244, 248), (188, 218, 234), (106, 174, 214), (33, 113, 181), (8, 48, 107))
_DARK = ((33, 43, 54), (24, 70, 112), (36, 118, 186), (116, 184, 224), (224, 242, 255))
"""Colours from minimum to maximum; they remain distinct in greyscale."""
PALETTE = ("#2171b5", "#c9772b", "#4f9d69", "#b8433f", "#7b5aa6", "#8c8c8c", "#b08f1e", "#3f9aa8")
"""Colours of lines and of kinds, which differ from both backgrounds."""
_STYLE = """
:root { color-scheme: light dark; --ink: #1d2733; --soft: #52606d; --line: #cbd5df; --ground: #ffffff;
  --panel: #f6f8fa; --note: #8a4b08; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #a3b1bf; --line: #3a4753; --ground: #11171d;
  --panel: #1a222b; --note: #f0b35e; } }
* { box-sizing: border-box; }
body { font: clamp(15px, 1.05vw, 22px)/1.45 system-ui, sans-serif; color: var(--ink); background: var(--ground);
  margin: 0; padding: 1.4em 1.6em 3em; }
h1 { font-size: 1.75em; line-height: 1.2; margin: 0 0 .25em; overflow-wrap: anywhere; }
h2 { font-size: 1.25em; margin: 1.7em 0 .5em; } h3 { font-size: 1em; margin: .2em 0 .5em; overflow-wrap: anywhere; }
p { margin: .3em 0; } .soft, .unit { color: var(--soft); } .note { color: var(--note); }
code { font: .92em ui-monospace, monospace; background: var(--panel); border: 1px solid var(--line);
  border-radius: .3em; padding: .15em .5em; overflow-wrap: anywhere; display: inline-block; max-width: 100%; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(11em, 1fr)); gap: .8em; margin: 1em 0; }
.card { background: var(--panel); border: 1px solid var(--line); border-radius: .5em; padding: .6em .9em;
  min-width: 0; }
.card b { display: block; font-size: 1.7em; line-height: 1.25; font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere; }
.card.many { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 .8em; align-items: baseline; }
.card.many > span { grid-column: 1 / 3; } .card.many b { font-size: 1.1em; text-align: right; }
.card.many p { margin: 0; overflow-wrap: anywhere; } .card span { color: var(--soft); overflow-wrap: anywhere; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(24em, 1fr)); gap: 0 2em; }
.side { display: grid; gap: 1em 1.6em; } .side > div, .panels > div { min-width: 0; }
.two { grid-template-columns: repeat(2, minmax(0, 1fr)); } .three { grid-template-columns: repeat(3, minmax(0, 1fr)); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
th { text-align: right; font-weight: 600; color: var(--soft); border-bottom: 1px solid var(--soft);
  padding: .2em .7em; }
td { text-align: right; padding: .15em .7em; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; } .rows td { white-space: nowrap; }
.facts td { overflow-wrap: anywhere; } .facts td:first-child { white-space: nowrap; }
.said td:last-child { text-align: left; white-space: normal; color: var(--soft); }
.said th:last-child { text-align: left; }
.legend { display: inline-block; margin: 0 1.8em .5em 0; color: var(--soft); }
.legend svg { display: inline-block; width: auto; height: .8em; vertical-align: baseline; }
.wide { overflow-x: auto; } svg { display: block; width: 100%; height: auto; }
svg text { font: 17px system-ui, sans-serif; fill: var(--ink); } svg .soft { fill: var(--soft); }
.axis { stroke: var(--line); stroke-width: 1; fill: none; } .frame { stroke: var(--soft); stroke-width: 1; }
.ground { fill: var(--panel); } .board { fill: var(--ground); stroke: var(--soft); } .edge { stroke: var(--soft); }
.none { fill: none; }
@media print { body { padding: 0; } }
"""


def escape(text: object) -> str:
    """Text as HTML."""
    return html.escape(str(text))


def step(share: float) -> int:
    """The step of a scale for a share from 0 to 1."""
    # Most of a map has low values, so the lower half of the scale has more colours.
    return round(float(min(1.0, max(0.0, share)) ** 0.6) * STEPS)


def colour(number: int, dark: bool = False) -> str:
    """The colour of a step."""
    scale = _DARK if dark else _LIGHT
    position = number / STEPS * (len(scale) - 1)
    at = min(int(position), len(scale) - 2)
    part = position - at
    mixed = (round(a + (b - a) * part) for a, b in zip(scale[at], scale[at + 1], strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def _scales() -> str:
    """The classes of all steps."""
    plain: list[str] = []
    dark: list[str] = []
    for number in range(STEPS + 1):
        for rules, is_dark in ((plain, False), (dark, True)):
            shade = colour(number, is_dark)
            red, green, blue = bytes.fromhex(shade[1:])
            ink = "#10161c" if 0.299 * red + 0.587 * green + 0.114 * blue > 130 else "#ffffff"
            rules.append(f".s{number}{{fill:{shade};}} .l{number}{{stroke:{shade};}} svg .t{number}{{fill:{ink};}}")
    return "\n".join([*plain, "@media (prefers-color-scheme: dark) {", *dark, "}"])


def legend(what: str, most: float, unit: str = "") -> str:
    """A legend of the scale of colours, from 0 to ``most``."""
    boxes = "".join(f'<rect x="{i * 9}" width="9" height="14" class="s{step((i + 0.5) / 24)}"/>' for i in range(24))
    top = f"{most:,.4g}{unit}"
    return (
        f'<span class="legend" data-most="{most:.9g}">{escape(what)}: 0 '
        f'<svg width="216" height="14" viewBox="0 0 216 14">{boxes}</svg> {escape(top)}</span>'
    )


def kinds(names: Mapping[str, tuple[str, str]]) -> str:
    """A legend of kinds: the colour and the meaning of each name."""
    return "".join(
        f'<span class="legend"><svg width="14" height="14" viewBox="0 0 14 14"><rect width="14" height="14" '
        f'fill="{shade}"/></svg> {escape(name)}{": " + escape(doc) if doc else ""}</span>'
        for name, (shade, doc) in names.items()
    )


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]], kind: str = "rows") -> str:
    """A table of texts; ``said``: the last column is a sentence."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    top = f"<thead><tr>{head}</tr></thead>" if heads else ""
    return f'<div class="wide"><table class="{kind}">{top}<tbody>{body}</tbody></table></div>'


def text(x: float, y: float, text: str, kind: str = "", anchor: str = "middle") -> str:
    """Text in SVG at a position."""
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{named} pointer-events="none">{escape(text)}</text>'


def svg(width: float, height: float, drawn: Sequence[str], most: float | None = None) -> str:
    """A picture as wide as its place; ``most``: at most that many pixels."""
    limit = f' style="max-width:{most:.0f}px"' if most else ""
    return f'<svg viewBox="0 0 {width:.0f} {height:.0f}"{limit}>{"".join(drawn)}</svg>'


def side(parts: Sequence[str]) -> str:
    """Parts side by side."""
    many = {1: "", 2: " two"}.get(len(parts), " three")
    return f'<div class="side{many}">' + "".join(f"<div>{part}</div>" for part in parts) + "</div>"


def document(title: str, parts: Sequence[str]) -> str:
    """The page."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>\n'
        f"<style>{_STYLE}{_scales()}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


__all__ = [
    "PALETTE", "STEPS", "colour", "document", "escape", "kinds", "legend", "side", "step", "svg", "table", "text",
]  # fmt: skip
