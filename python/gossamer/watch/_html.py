# SPDX-License-Identifier: Apache-2.0
"""Parts of HTML pages: tables, legends and colours of a self-contained page without scripts, with inline SVG."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

_SCALE = ((246, 248, 250), (188, 218, 234), (106, 174, 214), (33, 113, 181), (8, 48, 107))
"""Colours from minimum to maximum; they remain distinct in greyscale."""
_STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; color: #1d2733; background: #fff; max-width: 1180px;
  margin: 24px auto; padding: 0 20px; }
h1 { font-size: 22px; margin: 0 0 12px; } h2 { font-size: 16px; margin: 30px 0 8px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th { text-align: right; font-weight: 600; color: #52606d; border-bottom: 1px solid #9fb3c8; padding: 3px 10px; }
td { text-align: right; padding: 2px 10px; border-bottom: 1px solid #e4e9ee; }
th:first-child, td:first-child, .text { text-align: left; }
td:first-child { white-space: nowrap; }
td:last-child.text { color: #52606d; } .note { color: #8a4b08; margin: 4px 0; }
.legend { display: inline-block; margin: 0 28px 6px 0; color: #52606d; font-size: 12px; }
.wide { overflow-x: auto; } svg { display: block; max-width: 100%; height: auto; }
svg text { font: 11px system-ui, sans-serif; }
"""


def escape(text: object) -> str:
    """Text as HTML."""
    return html.escape(str(text))


def colour(share: float) -> str:
    """The colour of a share from 0 to 1."""
    # Most of a map has low values, so the lower half of the scale has more colours.
    position = min(1.0, max(0.0, share)) ** 0.6 * (len(_SCALE) - 1)
    at = min(int(position), len(_SCALE) - 2)
    part = position - at
    mixed = (round(a + (b - a) * part) for a, b in zip(_SCALE[at], _SCALE[at + 1], strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def ink(share: float) -> str:
    """The colour of text on the colour of a share."""
    return "#ffffff" if share > 0.4 else "#1d2733"


def legend(what: str, most: float) -> str:
    """A legend of the scale of colours, from 0 to ``most``."""
    steps = 24
    boxes = "".join(
        f'<rect x="{i * 6}" width="6" height="10" fill="{colour((i + 0.5) / steps)}"/>' for i in range(steps)
    )
    return (
        f'<span class="legend">{escape(what)}: 0 <svg width="{steps * 6}" height="10" style="display:inline">'
        f"{boxes}</svg> {most:g}</span>"
    )


def kinds(names: Mapping[str, tuple[str, str]]) -> str:
    """A legend of kinds: the colour and the meaning of each name."""
    return "".join(
        f'<span class="legend"><svg width="10" height="10" style="display:inline"><rect width="10" height="10" '
        f'fill="{shade}"/></svg> {escape(name)}: {escape(doc)}</span>'
        for name, (shade, doc) in names.items()
    )


def figures(rows: Sequence[tuple[str, str, str]]) -> str:
    """A table of names, values and notes."""
    cells = "".join(
        f'<tr><td>{escape(name)}</td><td>{escape(value)}</td><td class="text">{escape(note)}</td></tr>'
        for name, value, note in rows
    )
    return f"<table>{cells}</table>"


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table of texts."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def text(x: float, y: float, text: str, fill: str) -> str:
    """Text in SVG, centred at a position."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="{fill}" pointer-events="none">{escape(text)}</text>'
    )


def document(title: str, parts: Sequence[str]) -> str:
    """The page."""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


__all__ = ["colour", "document", "escape", "figures", "ink", "kinds", "legend", "table", "text"]
