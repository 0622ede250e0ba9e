# SPDX-License-Identifier: Apache-2.0
"""Many tiles on one host thread, each by itself with the same program; the simulator of a board grows from it."""

from __future__ import annotations

import struct
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.engines import _rtl_build
from gossamer.engines.rtl import Tile
from gossamer.errors import RunDied

if TYPE_CHECKING:
    from gossamer.config import Config
    from gossamer.device import Image

_REQUEST = struct.Struct("<II")


@dataclass(frozen=True)
class Told:
    """What one of the tiles did."""

    cycles: int
    """From the start of its threads to the end of the last, or of the run."""
    ended: int
    """Threads that have."""
    sum: str
    """Over all that it told, and when."""


@dataclass(frozen=True)
class Many:
    """A run of many tiles."""

    tiles: tuple[Told, ...]
    cycles: int
    """Cycles in which all of them ran."""
    seconds: float
    """The processor's time for those."""


def run(config: Config, image: Image, tiles: int, *, stagger: int, most: int, apart: bool = False) -> Many:
    """Runs all threads of ``tiles`` tiles, each started ``stagger`` cycles behind the one before it.

    It ends with the last thread, or ``most`` cycles after the last tile's start. With ``apart`` each tile is evaluated
    by itself, for comparison. Raises InputError where the simulator cannot be built.
    """
    simulator = _rtl_build.simulator_of_many(config)
    with tempfile.TemporaryDirectory() as folder:
        requests = Path(folder) / "requests"
        requests.write_bytes(_requests(config, image))
        command = [str(word) for word in (simulator, requests, tiles, stagger, most, int(apart))]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunDied(f"the simulator of many tiles ended with {done.returncode}: {done.stderr.strip()}")
    found: list[Told] = []
    for line in done.stdout.splitlines():
        words = line.split()
        if words[0] == "tile":
            found.append(Told(int(words[3]), int(words[5]), words[7]))
    return Many(tuple(found), int(words[1]), float(words[2]))


def _requests(config: Config, image: Image) -> bytes:
    """What one tile is asked for to load a program and start all threads."""
    with Tile(config) as tile:
        sent: list[tuple[str, bytes]] = []
        tile._simulator.sent = sent
        tile.load_image(image)
        tile.run(tile.threads, max_cycles=1)
    return b"".join(_REQUEST.pack(ord(kind), len(payload)) + payload for kind, payload in sent)


__all__ = ["Many", "Told", "run"]
