# SPDX-License-Identifier: Apache-2.0
"""Snapshots of simulations: counters and sampled thread states of running and finished simulators.

A running simulator of the ``rtl`` engine writes a file ``PID.json`` a few times a second (sim/host/watch.h), and
removes it when it ends; so does the emulator of streaming programs on boards (src/smi/activity.cc). ``running`` reads
these files; ``between`` is the difference of two snapshots.
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
from gossamer.watch import streams

FOLDER = Path(os.environ.get("GOSSAMER_RUNNING") or STATE / "running").absolute()
"""Folder with the snapshot files of running simulations."""
DIRECTIONS = ("north", "south", "east", "west")
"""Directions of the counters in ``Tile.flits``."""
LINK_SUMS = ("bytes_out", "packets_out", "resends", "bytes_in", "damaged", "stalls")


@dataclass(frozen=True)
class Tile:
    """Counters of one tile."""

    started: int
    """Number of threads that have started and not ended."""
    instructions: int
    samples: int
    """Number of samples of its threads' states."""
    shares: Mapping[str, int]
    """By state: number of threads in it, summed over all samples."""
    flits: tuple[int, ...] = ()
    """Flits sent to neighbours, by direction; empty if the tile has no neighbours."""
    skipped: int = 0
    """Cycles that were not simulated because the tile was idle: since reset, or between two snapshots."""
    series: Sequence[Sequence[int]] = ()
    """Of a run that has ended: sums up to some cycles: cycle, instructions, flits, samples, threads by state."""

    def threads(self, name: str) -> float:
        """Mean number of threads in a state."""
        return self.shares[name] / max(1, self.samples)

    @property
    def waiting(self) -> float:
        """Mean number of threads in any state but running."""
        return sum(self.shares.values()) / max(1, self.samples) - self.threads("runs")


@dataclass(frozen=True)
class Link:
    """Counters of one end of a cable."""

    board: int
    link: int
    up: bool
    sums: Mapping[str, int]


@dataclass(frozen=True)
class Snapshot:
    """The counters of a simulation, since its begin or between two snapshots."""

    pid: int
    state: str
    """loads, runs or ended"""
    time: float
    """Time of the snapshot in seconds since 1970; for a difference, seconds between the two snapshots."""
    cycle: int
    """Cycles since the begin of the run; for a difference, cycles between the two snapshots."""
    board_tiles: int
    width: int
    """Columns of a board's mesh."""
    threads: int
    """Threads of a tile."""
    cores: int
    tiles: Sequence[Tile]
    links: Sequence[Link] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    """Description by its host: program, config, cluster, begun, boards, link_names, link_bytes (per cycle)."""
    activity: streams.Activity | None = None
    """Of a streaming program, which has no tiles; None for others."""

    @property
    def boards(self) -> int:
        """Number of boards."""
        if not self.board_tiles:
            return max(1, len(self.about.get("boards", ())))
        return len(self.tiles) // self.board_tiles

    def of_board(self, number: int) -> Sequence[Tile]:
        """The tiles of a board."""
        return self.tiles[number * self.board_tiles : (number + 1) * self.board_tiles]

    def place(self, tile: int) -> tuple[int, int, int]:
        """Board, column and row of a tile."""
        board, here = divmod(tile, self.board_tiles)
        return board, here % self.width, here // self.width


_KNOWN = (
    "pid", "state", "time", "first", "cycle", "board_tiles", "width", "threads", "cores", "shares", "tiles", "links",
    "waits", "kernels", "channels", "collectives",
)  # fmt: skip


def parse(text: bytes | str) -> Snapshot:
    """Parses a snapshot. Raises ValueError for any other text."""
    try:
        data = json.loads(text)
        names = data["shares"]
        tiles = [
            Tile(
                one["started"], one["issued"], one["looks"], dict(zip(names, one["shares"], strict=True)),
                tuple(one["flits"]), one["skipped"], one.get("series", ()),
            )
            for one in data["tiles"]
        ]  # fmt: skip
        links = [
            Link(one["board"], one["link"], one["up"], {name: one[name] for name in LINK_SUMS}) for one in data["links"]
        ]
        return Snapshot(
            pid=data["pid"], state=data["state"], time=data["time"],
            cycle=data["cycle"] - data["first"] if data["first"] else 0, board_tiles=data["board_tiles"],
            width=data["width"], threads=data["threads"], cores=data["cores"], tiles=tiles, links=links,
            about={name: value for name, value in data.items() if name not in _KNOWN},
            activity=streams.parse(data) if "kernels" in data else None,
        )  # fmt: skip
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a snapshot of a simulator: {error!r}") from None


def between(early: Snapshot, late: Snapshot) -> Snapshot:
    """The difference of two snapshots; if another run has begun in between, the counters of that run."""
    if late.cycle < early.cycle:
        return replace(late, time=late.time - early.time)
    tiles = [
        Tile(
            b.started, b.instructions - a.instructions, b.samples - a.samples,
            {name: b.shares[name] - a.shares[name] for name in b.shares},
            tuple(y - x for x, y in zip(a.flits, b.flits, strict=True)),
            b.skipped - a.skipped,
        )
        for a, b in zip(early.tiles, late.tiles, strict=True)
    ]  # fmt: skip
    # Counters of links have 32 bits and wrap around.
    links = [
        Link(b.board, b.link, b.up, {name: (b.sums[name] - a.sums[name]) % 2**32 for name in b.sums})
        for a, b in zip(early.links, late.links, strict=True)
    ]
    return Snapshot(
        late.pid, late.state, late.time - early.time, late.cycle - early.cycle, late.board_tiles, late.width,
        late.threads, late.cores, tiles, links, late.about,
        streams.between(early.activity, late.activity) if early.activity and late.activity else late.activity,
    )  # fmt: skip


def running() -> list[Snapshot]:
    """Snapshots of running simulations, the latest started last. Removes files of killed simulators."""
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
    """The snapshot of a running simulation; None if it has ended."""
    try:
        return parse((FOLDER / f"{pid}.json").read_bytes())
    except (OSError, ValueError):
        return None


def folder() -> Path | None:
    """The folder in which a new simulator writes its snapshots; None if it is not writable."""
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
    """Whether the process of that number is a simulator, not another process that reuses the number."""
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")).startswith(("simulator", "smi-emulator"))
    except FileNotFoundError:
        return False
    except OSError:
        # Another user's process cannot be our simulator.
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
