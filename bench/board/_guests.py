# SPDX-License-Identifier: Apache-2.0
"""Rates of guests: programs of four kinds on one cluster, each alone and with the others at full load.

A guest's rate is its work over its cycles. The guests share links, and the SMI program alone could use each link
completely, so the fair share of another guest is half of every link. It is measured: the guest alone, on links of half
the rate.
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
CLUSTER, CONFIG, HALF = "quad4", "quad-smi", str(Path(__file__).with_name("half.toml"))
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
    for name in KINDS:
        if not context.wants(f"board.guests.{name}"):
            continue
        layout = _layout(name)
        alone, share = (_run({name: layout[name]}, name, (), config) for config in (CONFIG, HALF))
        together = _run(layout, name, [other for other in KINDS if other != name], CONFIG)
        about: dict[str, Any] = {"cluster": CLUSTER, "config": CONFIG, "least": LEAST}
        about |= {"cycles_alone": alone, "cycles_alone_half_rate": share, "cycles_together": together}
        yield Row("board", f"board.guests.{name}", round(share / together, 4), "share", about)


def _layout(measured: str) -> dict[str, tuple[str, ...]]:
    """The boards of each guest: those of the measured one are not neighbours."""
    left = [DIAGONAL, RIGHT, BELOW]
    order = [name for name in ("vertices", "ranks", "threads") if name != measured]
    if measured != "streams":
        order.insert(0, measured)
    return dict(zip(order, left, strict=True)) | {"streams": ()}


def _run(layout: Mapping[str, Sequence[str]], name: str, endless: Sequence[str], config: str) -> int:
    """Cycles of a guest. Raises RunDied if it fails."""
    lines = [f'cluster = "{CLUSTER}"', f'config = "{config}"']
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
            (outcome,) = (one for one in host.run(name) if one.name == name)
    if outcome.code:
        raise RunDied(f"board.guests.{name}: {said[-1] if said else 'failed'}")
    if outcome.runs:
        return int(outcome.runs[0]["last"] - outcome.runs[0]["first"])
    counts = [int(match[1].replace(",", "")) for line in said if (match := re.match(r"([\d,]+) cycles$", line))]
    return counts[0]


__all__ = ["NAMES", "measure"]
