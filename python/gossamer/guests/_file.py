# SPDX-License-Identifier: Apache-2.0
"""The file that lists guests: a cluster, and a command and a place for each guest."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Key

from gossamer.config._source import read as read_source
from gossamer.config._source import validate
from gossamer.engines import guest
from gossamer.engines._rtl_plan import MAX_JOBS, Plan

MOST_BOARDS = 64
"""Boards whose streaming ports kernels of another process can use (sim/board/shared_kernels.h)."""
COMMANDS = (("run",), ("mpi", "run"), ("smi", "run"))
"""Commands of guests."""
_OPTIONS = ("--engine", "-e", "--cluster", "--config", "-c", "--port", "--keys", "--topology", "--mpi")
"""Options that name the engine or its machine, which is that of all guests."""


class GuestEntry(BaseModel):
    """A table ``[guests.NAME]``."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    run: str | list[str] = Key(description="the command after ./gossamer, without --engine and --cluster")
    boards: list[str] = Key(default=[], description="boards whose tiles run the program")
    streams: bool = Key(default=False, description="whether the program uses the streaming ports of all boards")


class GuestsFile(BaseModel):
    """The schema of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    cluster: str = Key(description="the cluster: a name or a file")
    config: str | None = Key(default=None, description="configuration of its boards instead of the cluster's")
    frame_loss: float = Key(default=0.0, ge=0.0, lt=1.0, description="share of frames that links lose")
    seed: int = Key(default=1, ge=0, description="selects lost frames")
    guests: dict[str, GuestEntry] = Key(description="the guests by name")


@dataclass(frozen=True)
class Guest:
    """A guest and its place. Its job has the guest's number in the file."""

    name: str
    words: tuple[str, ...]
    """The command after ./gossamer."""
    boards: tuple[int, ...]
    streams: tuple[int, int]
    """The first of its streaming ports on each board, and their number."""


@dataclass(frozen=True)
class Guests:
    """A file of guests, checked."""

    path: Path
    cluster: str
    config: str | None
    plan: Plan
    frame_loss: float
    seed: int
    guests: tuple[Guest, ...]


def read(path: Path) -> Guests:
    """Reads a file of guests. Raises InputError, one line, for wrong contents and places that overlap."""
    source = read_source(path, "a file of guests")
    file = validate(GuestsFile, source)
    if not file.guests:
        source.fail(("guests",), "names no guest")
    if len(file.guests) > MAX_JOBS:
        source.fail(("guests",), f"has {len(file.guests)} guests; boards have {MAX_JOBS} job slots")
    local = path.parent / file.cluster
    cluster = str(local) if file.cluster.endswith(".toml") and local.is_file() else file.cluster
    plan = guest.whole(cluster, file.config)
    tiles: dict[int, str] = {}
    streams: str | None = None
    found = []
    for name, entry in file.guests.items():
        key = ("guests", name)
        if not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
            source.fail(key, f'is called "{name}"; use letters, digits, ".", "_" and "-"')
        boards = []
        for board in entry.boards:
            number = plan.cluster.board(board).index
            if number in tiles:
                source.fail((*key, "boards"), f"names board {board}, whose tiles guest {tiles[number]} has")
            tiles[number] = name
            boards.append(number)
        lanes = _lanes(plan)
        if entry.streams:
            if streams is not None:
                source.fail((*key, "streams"), f"asks for streaming ports, which guest {streams} has")
            if not lanes:
                source.fail((*key, "streams"), f"asks for streaming ports; {plan.config.name} has none (stream.ports)")
            if plan.boards > MOST_BOARDS:
                source.fail(
                    (*key, "streams"), f"needs a cluster of {MOST_BOARDS} boards or fewer; this has {plan.boards}"
                )
            streams = name
        if not boards and not entry.streams:
            source.fail(key, "has no place; give it boards = [...], or streams = true for an SMI program")
        words = _words(entry, source.fail, key)
        if not boards and words[0] != "smi":
            source.fail(key, f"runs a program for tiles ({' '.join(words[:2])}), and has no boards")
        if words[0] == "smi" and not entry.streams:
            source.fail(key, "runs an SMI program, and has no streaming ports; give it streams = true")
        found.append(Guest(name, words, tuple(sorted(boards)), (0, lanes) if entry.streams else (0, 0)))
    return Guests(path, cluster, file.config, plan, file.frame_loss, file.seed, tuple(found))


def _lanes(plan: Plan) -> int:
    from gossamer.smi import _boards

    return _boards.lanes(plan.config)


def _words(entry: GuestEntry, fail: Any, key: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a command, checked."""
    try:
        words = shlex.split(entry.run) if isinstance(entry.run, str) else list(entry.run)
    except ValueError as error:
        fail((*key, "run"), f"is no command: {error}")
    if not any(tuple(words[: len(command)]) == command for command in COMMANDS):
        fail((*key, "run"), f"is {' '.join(words[:2]) or 'empty'}; use run, mpi run or smi run")
    plain = words[: words.index("--")] if "--" in words else words
    for word in plain:
        if word.split("=")[0] in _OPTIONS:
            fail((*key, "run"), f"gives {word}; all guests use the cluster of this file")
    return tuple(words)


__all__ = ["COMMANDS", "MOST_BOARDS", "Guest", "GuestEntry", "Guests", "GuestsFile", "read"]
