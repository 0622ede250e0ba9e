# SPDX-License-Identifier: Apache-2.0
"""The program and the board of each rank."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gossamer.config._source import near
from gossamer.errors import InputError
from gossamer.smi._programs import Program
from gossamer.wording import counted

if TYPE_CHECKING:
    from gossamer.routes import Topology

MOST = 4096
"""Boards that an address encodes."""


@dataclass(frozen=True)
class Place:
    """A rank's program and board."""

    program: int
    """Index in the list of programs."""
    name: str
    """Name of the board; ``rank3`` without a topology."""


def known(ranks: int | None, topology: str | os.PathLike[str] | None) -> Topology | None:
    """The topology, if there is one. InputError for errors that do not depend on the programs."""
    if ranks is not None and not 1 <= ranks <= MOST:
        raise InputError(f"--ranks {ranks}: give 1 to {MOST}")
    if topology is None:
        return None
    from gossamer import routes

    read = routes.read_topology(topology)
    boards = len(read.cluster.boards)
    if ranks is not None and ranks > boards:
        raise InputError(f"--ranks {ranks}: the topology {os.fspath(topology)} has {counted(boards, 'board')} only")
    return read


def places(
    programs: Sequence[Program], ranks: int | None = None, topology: str | os.PathLike[str] | None = None
) -> list[Place]:
    """One Place for each rank.

    A topology in SMI's JSON assigns a program to each rank. Otherwise rank 0 runs the first program, rank 1 the second,
    and all further ranks run the last. Without `ranks` and `topology` there are as many ranks as programs.
    """
    read = known(ranks, topology)
    if topology is None or read is None:
        count = len(programs) if ranks is None else ranks
        if count < len(programs):
            raise InputError(f"--ranks {count}: fewer ranks than programs ({len(programs)}); give a rank for each")
        return [Place(min(rank, len(programs) - 1), f"rank{rank}") for rank in range(count)]
    boards = read.cluster.boards
    count = len(boards) if ranks is None else ranks
    if not read.programs:
        if count < len(programs):
            given = f"{counted(count, 'rank')} for {counted(len(programs), 'program')}"
            raise InputError(f"{os.fspath(topology)}: {given}; give a rank for each")
        return [Place(min(rank, len(programs) - 1), boards[rank].name) for rank in range(count)]
    names = {program.name: number for number, program in enumerate(programs)}
    found = []
    for rank in range(count):
        wanted = read.programs[rank]
        if wanted not in names:
            raise InputError(
                f"{os.fspath(topology)}: {boards[rank].name} runs {wanted}, but no file with a main is named "
                f"{wanted}; the programs are {', '.join(names)}{near(wanted, names)}"
            )
        found.append(Place(names[wanted], boards[rank].name))
    for name, number in names.items():
        if all(place.program != number for place in found):
            raise InputError(f"{programs[number].file}: no rank of {os.fspath(topology)} runs {name}; remove the file")
    return found
