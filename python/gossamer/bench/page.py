# SPDX-License-Identifier: Apache-2.0
"""Rows of a suite as a self-contained HTML page with figures."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gossamer_setup
from gossamer.files import write_whole


def prepare() -> None:
    """Installs the group plot, which draws the figures, if it is missing."""
    gossamer_setup.require("core", "plot")


def figure(width: float, height: float) -> Any:
    """An empty figure of matplotlib, in inches. It needs no display."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def write(path: Path, title: str, words: str, picture: Any, table: Sequence[Sequence[str]]) -> None:
    """Writes a page: a text, a matplotlib figure, a table whose first line is its head."""
    text = io.StringIO()
    picture.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    body = [
        "<tr>" + "".join(f"<{cell}>{html.escape(one)}</{cell}>" for one in line) + "</tr>"
        for cell, lines in (("th", table[:1]), ("td", table[1:]))
        for line in lines
    ]
    page = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        "<style>body{font:14px sans-serif;margin:2em}td,th{padding:2px 10px;text-align:left}</style>"
        f"<h1>{html.escape(title)}</h1><p>{html.escape(words)}</p>"
        f"{svg[svg.index('<svg') :]}<table>{''.join(body)}</table></html>\n"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, page.encode())


__all__ = ["figure", "prepare", "write"]
