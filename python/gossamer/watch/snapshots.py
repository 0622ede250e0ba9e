# SPDX-License-Identifier: Apache-2.0
"""What simulations tell of themselves: those that run, through files, and one that has ended.

A running simulator of the ``rtl`` engine writes a file ``PID.json`` a few times a second (sim/host/watch.h), which
is gone when it ends. ``running`` reads them; ``between`` is what happened from one look to the next.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gossamer.paths import STATE

FOLDER = Path(os.environ.get("GOSSAMER_RUNNING") or STATE / "running").absolute()
"""Files of running simulations."""
DIRECTIONS = ("north", "south", "east", "west")
"""Of flits that a tile sends, in their order."""
LINK_SUMS = ("bytes_out", "packets_out", "resends", "bytes_in", "damaged", "stalls")


@dataclass(frozen=True)
class Tile:
    """Sums of one tile."""

    started: int
    """Threads that have started and not ended."""
    instructions: int
    looks: int
    """How often its threads were looked at."""
    shares: Mapping[str, int]
    """What they were seen to do: threads, added up over all looks."""
    flits: tuple[int, ...] = ()
    """Sent to neighbours, by direction; empty if it has none."""
    skipped: int = 0
    """Cycles since reset that were not simulated, as the tile was at rest; between two looks those between them."""

    def threads(self, name: str) -> float:
        """Threads that did that, on average."""
        return self.shares[name] / max(1, self.looks)

    @property
    def waiting(self) -> float:
        """Threads that did anything but run, on average."""
        return sum(self.shares.values()) / max(1, self.looks) - self.threads("runs")


@dataclass(frozen=True)
class Link:
    """Sums of one end of a cable."""

    board: int
    link: int
    up: bool
    sums: Mapping[str, int]


@dataclass(frozen=True)
class Snapshot:
    """What was seen of a simulation, since its begin or between two looks."""

    pid: int
    state: str
    """loads, runs or ended"""
    time: float
    """When it was told, in seconds since 1970; between two looks the seconds between them."""
    cycle: int
    """Cycles since the begin of its run; between two looks those between them."""
    board_tiles: int
    width: int
    """Columns of a board's mesh."""
    threads: int
    """Of a tile."""
    cores: int
    tiles: Sequence[Tile]
    links: Sequence[Link] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    """What its host has told of it: program, config, cluster, begun, boards, link_names, link_bytes (a cycle)."""

    @property
    def boards(self) -> int:
        """How many there are."""
        return len(self.tiles) // self.board_tiles

    def of_board(self, number: int) -> Sequence[Tile]:
        """The tiles of one."""
        return self.tiles[number * self.board_tiles : (number + 1) * self.board_tiles]

    def place(self, tile: int) -> tuple[int, int, int]:
        """Board, column and row of a tile."""
        board, here = divmod(tile, self.board_tiles)
        return board, here % self.width, here // self.width


_KNOWN = (
    "pid", "state", "time", "first", "cycle", "board_tiles", "width", "threads", "cores", "shares", "tiles", "links"
)  # fmt: skip


def parse(text: bytes | str) -> Snapshot:
    """What a simulator tells. Raises ValueError where it is anything else."""
    try:
        told = json.loads(text)
        names = told["shares"]
        tiles = [
            Tile(
                one["started"], one["issued"], one["looks"], dict(zip(names, one["shares"], strict=True)),
                tuple(one["flits"]), one["skipped"],
            )
            for one in told["tiles"]
        ]  # fmt: skip
        links = [
            Link(one["board"], one["link"], one["up"], {name: one[name] for name in LINK_SUMS}) for one in told["links"]
        ]
        return Snapshot(
            pid=told["pid"], state=told["state"], time=told["time"],
            cycle=told["cycle"] - told["first"] if told["first"] else 0, board_tiles=told["board_tiles"],
            width=told["width"], threads=told["threads"], cores=told["cores"], tiles=tiles, links=links,
            about={name: value for name, value in told.items() if name not in _KNOWN},
        )  # fmt: skip
    except (KeyError, TypeError) as error:
        raise ValueError(f"not what a simulator tells: {error!r}") from None


def between(early: Snapshot, late: Snapshot) -> Snapshot:
    """What happened from one look to a later one; if another run has begun meanwhile, in that."""
    if late.cycle < early.cycle:
        return replace(late, time=late.time - early.time)
    tiles = [
        Tile(
            b.started, b.instructions - a.instructions, b.looks - a.looks,
            {name: b.shares[name] - a.shares[name] for name in b.shares},
            tuple(y - x for x, y in zip(a.flits, b.flits, strict=True)),
            b.skipped - a.skipped,
        )
        for a, b in zip(early.tiles, late.tiles, strict=True)
    ]  # fmt: skip
    # Counters of links have 32 bits and run over.
    links = [
        Link(b.board, b.link, b.up, {name: (b.sums[name] - a.sums[name]) % 2**32 for name in b.sums})
        for a, b in zip(early.links, late.links, strict=True)
    ]
    return Snapshot(
        late.pid, late.state, late.time - early.time, late.cycle - early.cycle, late.board_tiles, late.width,
        late.threads, late.cores, tiles, links, late.about,
    )  # fmt: skip


def running() -> list[Snapshot]:
    """Simulations that run, the youngest last. Files that a killed one has left are removed."""
    found = []
    for path in FOLDER.glob("*.json*"):
        pid = path.name.split(".")[0]
        if not pid.isdecimal() or not _is_simulator(int(pid)):
            with contextlib.suppress(OSError):
                path.unlink()
        elif path.suffix == ".json":
            with contextlib.suppress(OSError, ValueError):
                found.append(parse(path.read_bytes()))
    return sorted(found, key=lambda seen: (seen.about.get("begun", 0), seen.pid))


def read(pid: int) -> Snapshot | None:
    """One of them; None if it has ended."""
    try:
        return parse((FOLDER / f"{pid}.json").read_bytes())
    except (OSError, ValueError):
        return None


def folder() -> Path | None:
    """Where a simulator that begins now is to write; None if nothing can be written there."""
    try:
        FOLDER.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    for path in FOLDER.glob("*.json*"):
        pid = path.name.split(".")[0]
        if pid.isdecimal() and not _is_simulator(int(pid)):
            with contextlib.suppress(OSError):
                path.unlink()
    return FOLDER if os.access(FOLDER, os.W_OK) else None


def _is_simulator(pid: int) -> bool:
    """Whether a process of that number runs, and is none that only has got the number of one that is gone."""
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")).startswith("simulator")
    except FileNotFoundError:
        return False
    except OSError:
        # Of somebody else: it cannot be ours.
        return False


__all__ = [
    "DIRECTIONS",
    "FOLDER",
    "LINK_SUMS",
    "Link",
    "Snapshot",
    "Tile",
    "between",
    "folder",
    "parse",
    "read",
    "running",
]
