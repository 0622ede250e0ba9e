# SPDX-License-Identifier: Apache-2.0
"""Rates of guests: programs of four kinds on one cluster, each alone and with the others at full load.

A guest's rate is its work over its cycles. Its fair share follows from the links: each guest's demand is the part of a
link that it uses alone, and a link that cannot carry all demands is shared equally by those that ask for more.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gossamer_setup
from gossamer import guests
from gossamer.bench import Context, Row
from gossamer.errors import RunDied
from gossamer.guests import _host
from gossamer.paths import ROOT

LEAST = 0.8
CLUSTER, CONFIG = "quad4", "quad-smi"
DIAGONAL, RIGHT, BELOW = ("x0y0", "x1y1"), ("x1y0",), ("x0y1",)
FIXTURES = ROOT / "tests" / "fixtures"


@dataclass(frozen=True)
class Kind:
    """A kind of guest: its command with the work that is measured, and one that lasts until it is ended."""

    measured: str
    endless: str


KINDS = {
    "vertices": Kind(
        "run pagerank gen:rmat:scale=11,seed=2 --iterations 4 --mapping random",
        "run pagerank gen:rmat:scale=11,seed=2 --iterations 100000 --mapping random",
    ),
    "ranks": Kind(
        f"mpi run {FIXTURES}/guests/ranks.c -n 8 -D ROUNDS=20",
        f"mpi run {FIXTURES}/guests/ranks.c -n 8 -D ROUNDS=1000000",
    ),
    "threads": Kind(
        f"run {FIXTURES}/cluster/all.c -D ROUNDS=4 -D TARGETS=8 -D STEP=37", f"run {FIXTURES}/guests/flood.c -D WAY=0"
    ),
    "streams": Kind(
        f"smi run {FIXTURES}/guests/chain.cpp -D COUNT=20000", f"smi run {FIXTURES}/guests/chain.cpp -D COUNT=100000000"
    ),
}
NAMES = tuple(f"board.guests.{name}" for name in KINDS)


def measure(context: Context) -> Iterator[Row]:
    """A row for each kind."""
    gossamer_setup.require("rtl")
    alone: dict[tuple[str, bool], tuple[int, Mapping[str, float]]] = {}
    for name in KINDS:
        if not context.wants(f"board.guests.{name}"):
            continue
        layout = _layout(name)
        demands = []
        for other in KINDS:
            key = other, other == name
            if key not in alone:
                alone[key] = _run({other: layout[other]}, other, endless=() if other == name else (other,))
            demands.append((other, alone[key][1]))
        cycles, _ = alone[name, True]
        together, _ = _run(layout, name, endless=[other for other in KINDS if other != name])
        fair = _share(name, dict(demands))
        about: dict[str, Any] = {"cluster": CLUSTER, "config": CONFIG, "least": LEAST}
        about |= {"cycles_alone": cycles, "cycles_together": together, "fair_share": round(fair, 4)}
        value = round(cycles / together / fair, 4)
        yield Row("board", f"board.guests.{name}", value, "share", about)


def _layout(measured: str) -> dict[str, tuple[str, ...]]:
    """The boards of each guest: those of the measured one are not neighbours."""
    left = [DIAGONAL, RIGHT, BELOW]
    order = [name for name in ("vertices", "ranks", "threads") if name != measured]
    if measured != "streams":
        order.insert(0, measured)
    return dict(zip(order, left, strict=True)) | {"streams": ()}


_MOST = 200_000
"""Cycles of an endless guest alone, from which its demand is measured."""


def _run(layout: Mapping[str, Sequence[str]], name: str, endless: Sequence[str]) -> tuple[int, Mapping[str, float]]:
    """Cycles of a guest, and the part of each link that all guests have used. Raises RunDied if it fails."""
    lines = [f'cluster = "{CLUSTER}"', f'config = "{CONFIG}"']
    for other, boards in layout.items():
        lines += [f"[guests.{other}]", f"boards = {list(boards)}" if boards else "streams = true"]
        command = KINDS[other].endless if other in endless else KINDS[other].measured
        lines.append(f'run = "{command}"')
    said: list[str] = []
    with tempfile.TemporaryDirectory(prefix="gossamer-bench-") as folder:
        path = Path(folder) / "guests.toml"
        path.write_text("\n".join(lines) + "\n")

        def show(who: str, line: bytes, error: bool) -> None:
            if who == name:
                said.append(line.decode(errors="replace"))

        with _host.Host(guests.read(path), show=show, note=said.append) as host:
            (outcome,) = (one for one in host.run(name, most=_MOST if name in endless else None) if one.name == name)
            config, total = host.plan.config, host.cycles
            capacity = config.links.rate_mbps / 8 / config.board.clock_mhz * total
            used = {link: sent / capacity for link, sent in host.link_bytes.items()}
    if name in endless:
        return total, used
    if outcome.code:
        raise RunDied(f"board.guests.{name}: {said[-1] if said else 'failed'}")
    if outcome.runs:
        return outcome.runs[0]["last"] - outcome.runs[0]["first"], used
    counts = [int(match[1].replace(",", "")) for line in said if (match := re.match(r"([\d,]+) cycles$", line))]
    return counts[0], used


def _share(name: str, demands: Mapping[str, Mapping[str, float]]) -> float:
    """The part of its rate that links leave a guest, if each is shared fairly."""
    fair = 1.0
    for link, own in demands[name].items():
        if own > 0:
            fair = min(fair, _level(own, [demand[link] for demand in demands.values()]) / own)
    return fair


def _level(own: float, all_demands: Sequence[float]) -> float:
    """What a link of capacity 1 grants a demand: smaller demands in full, an equal part of the rest to the others."""
    left, waiting = 1.0, sorted(all_demands)
    while waiting:
        level = left / len(waiting)
        if waiting[0] > level:
            return min(own, level)
        if waiting[0] >= own:
            return own
        left -= waiting.pop(0)
    return own


__all__ = ["NAMES", "measure"]
