# SPDX-License-Identifier: Apache-2.0
"""Extrapolation past the papers: the network of 1,000 boards alone, from figures of the RTL on up to 12 boards.

A barrier takes the cycles of one board, and two links for each level of the tree of boards. The slope is that of 3 x 4
boards; 3 x 2 boards, which it was not made from, give its error. Uniform traffic is bound by the links that cross the
middle of the mesh.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gossamer import config as configs
from gossamer.bench import Context, Row
from gossamer.errors import InputError
from gossamer.reproduce import row_files

WIDTH, HEIGHT = 25, 40
CONFIG = "de5"
BARRIER, LATENCY, UNIFORM = (f"study.boards1000.{what}" for what in ("barrier-us", "corner-us", "uniform-gbs"))
PAGERANK = "study.boards1000.pagerank-s"
NAMES = (BARRIER, LATENCY, UNIFORM, PAGERANK)
_FITTED, _HELD_OUT = (3, 4), (3, 2)


def depth(width: int, height: int) -> int:
    """Levels of the tree of boards below its root, a board in the middle of the mesh."""
    return width // 2 + height // 2


def _measured(name: str) -> float:
    """A shipped figure of the suite ``fabric``. Raises InputError if it is missing."""
    row = row_files.shipped().find(f"fabric:{name}")
    value = row.number("value") if row is not None else None
    if value is None:
        raise InputError(f"no row fabric:{name} is shipped; measure it with ./gossamer bench fabric --only '{name}'")
    return value


def barrier(width: int, height: int) -> float:
    """Cycles of a barrier of all boards of a mesh."""
    alone = _measured("barrier.1x1")
    level = (_measured("barrier.{}x{}".format(*_FITTED)) - alone) / depth(*_FITTED)
    return alone + level * depth(width, height)


def uniform(width: int, height: int, link: float) -> float:
    """Rate of each board to all boards alike, at which the busiest link of a mesh is full, in the unit of ``link``.

    Packets cross all columns first. Of a line of n boards, floor(n / 2) send the share ceil(n / 2) / n over its middle.
    """
    most = max((n // 2) * (n - n // 2) / n for n in (width, height))
    return link / most


def rows(context: Context, pagerank_s: float | None = None, iterations: int = 1) -> Iterator[Row]:
    """Those asked for. ``pagerank_s``: predicted time on 12 boards."""
    if not any(context.wants(name) for name in NAMES):
        return
    config = configs.load(CONFIG)
    mhz = config.board.clock_mhz
    held = barrier(*_HELD_OUT) / _measured("barrier.{}x{}".format(*_HELD_OUT)) - 1
    about: dict[str, Any] = {
        "extrapolated": True, "boards": WIDTH * HEIGHT, "cluster": f"{WIDTH} x {HEIGHT} {CONFIG}", "clock_mhz": mhz,
    }  # fmt: skip
    cycles = barrier(WIDTH, HEIGHT)
    if context.wants(BARRIER):
        yield context.row(BARRIER, cycles / mhz, "µs, extrapolated", cycles=cycles, error=abs(held),
                          validated="3 x 2 boards on rtl", depth=depth(WIDTH, HEIGHT), **about)  # fmt: skip
    if context.wants(LATENCY):
        hops = WIDTH + HEIGHT - 2
        yield context.row(LATENCY, hops * _measured("switch.hop-with-wire-us"), "µs, extrapolated", hops=hops, **about)
    if context.wants(UNIFORM):
        payload = _measured("links.payload-share") * config.links.rate_mbps / 8000
        yield context.row(UNIFORM, uniform(WIDTH, HEIGHT, payload), "GB/s a board, extrapolated",
                          link_gbs=payload, **about)  # fmt: skip
    if context.wants(PAGERANK):
        assert pagerank_s is not None
        more = iterations * (cycles - barrier(3, 4)) / mhz / 1e6
        yield context.row(
            PAGERANK, pagerank_s + more, "s, extrapolated", on_12_boards_s=pagerank_s, barriers_s=more,
            scale=str(context.scale), scaling="weak: each board has the load of one of 12", **about,
        )  # fmt: skip


__all__ = ["NAMES", "PAGERANK", "barrier", "depth", "rows", "uniform"]
