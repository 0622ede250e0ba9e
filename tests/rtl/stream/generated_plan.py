# SPDX-License-Identifier: Apache-2.0
"""Input of all ranks' kernels at the ports of generated boards, and the expected output, computed by NumPy."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

TYPES = {"int": "i4", "float": "f4", "double": "f8", "char": "i1", "short": "i2", "long": "i8", "half": "f2"}
_JOINS = {"add": np.add, "add_ordered": np.add, "max": np.maximum, "min": np.minimum, None: np.add}
Elements = npt.NDArray[Any]
Endpoint = Mapping[str, Any]
"""An endpoint as `design.json` has it."""


def beats(elements: Elements, width: int) -> list[int]:
    """Elements as beats of `width` bytes."""
    data = elements.tobytes()
    return [int.from_bytes(data[at : at + width], "little") for at in range(0, len(data), width)]


def elements(kind: str, count: int) -> Elements:
    """Random elements; floats are small whole numbers, whose sums are exact in any order."""
    one = np.dtype(TYPES[kind])
    if one.kind == "f":
        return np.array([random.randint(-999, 999) for _ in range(count)], one)
    return np.frombuffer(random.randbytes(count * one.itemsize), one)


def opening(rank: int, count: int) -> int:
    """A word of an `open` stream."""
    return rank << 32 | count


@dataclass
class Plan:
    """Streams by rank and name without ``_tvalid``."""

    gives: dict[tuple[int, str], list[int]] = field(default_factory=dict)
    """Beats, in order."""
    takes: dict[tuple[int, str], list[bytes]] = field(default_factory=dict)
    """Messages, in order."""


def plan(ranks: list[Mapping[int, Endpoint]], rounds: int) -> Plan:
    """For the endpoints of all ranks, by port: channels from sending to receiving ranks, and collectives of all ranks
    with any root, `rounds` one after another on each port."""
    made = Plan()
    for number in sorted({port for mine in ranks for port in mine}):
        here = {rank: mine[number] for rank, mine in enumerate(ranks) if number in mine}
        one = next(iter(here.values()))
        if one["operation"] == "channel":
            _channel(made, f"port{number}", here, rounds)
            continue
        assert len(here) == len(ranks), "the trees of this test include all ranks"
        if one["operation"] == "barrier":
            for rank in here:
                made.gives[rank, f"port{number}_barrier_come"] = [0] * rounds
                made.takes[rank, f"port{number}_barrier_leave"] = [b""] * rounds
        else:
            _collective(made, f"port{number}_{one['operation']}", here, rounds)
    return made


def _channel(made: Plan, name: str, here: Mapping[int, Endpoint], rounds: int) -> None:
    one = next(iter(here.values()))
    sends = [rank for rank in here if here[rank]["sends"]]
    receives = [rank for rank in here if here[rank]["receives"]]
    for rank in sends:
        made.gives[rank, f"{name}_send_open"], made.gives[rank, f"{name}_send"] = [], []
    for rank in receives:
        made.gives[rank, f"{name}_receive_open"], made.takes[rank, f"{name}_receive"] = [], []
    for _ in range(rounds):
        source = random.choice(sends)
        to = random.choice([rank for rank in receives if rank != source] or [source])
        count = random.choice([1, 1, 3, 40, 400])
        data = elements(one["type"], count)
        made.gives[source, f"{name}_send_open"].append(opening(to, count))
        made.gives[source, f"{name}_send"] += beats(data, one["bytes"])
        made.gives[to, f"{name}_receive_open"].append(opening(source, count))
        made.takes[to, f"{name}_receive"].append(data.tobytes())


def _collective(made: Plan, name: str, here: Mapping[int, Endpoint], rounds: int) -> None:
    one = here[0]
    all_ranks = range(len(here))
    for rank in all_ranks:
        made.gives[rank, f"{name}_open"], made.gives[rank, f"{name}_give"] = [], []
        made.takes[rank, f"{name}_take"] = []
    for _ in range(rounds):
        root, count = random.choice(all_ranks), random.choice([1, 2, 3, 30, 100])
        given = [elements(one["type"], count) for _ in all_ranks]
        if one["reduction"] == "add_ordered":
            # Sums depend on the order, which is that of ranks.
            given = [np.array([random.gauss(0, 1) for _ in range(count)], TYPES[one["type"]]) for _ in all_ranks]
        joined = given[0]
        for other in given[1:]:
            joined = _JOINS[one["reduction"]](joined, other)
        for rank in all_ranks:
            gone, got = _segments(one["operation"], rank, root, given, joined)
            made.gives[rank, f"{name}_open"].append(opening(root, count))
            for part in gone:
                made.gives[rank, f"{name}_give"] += beats(part, one["bytes"])
            made.takes[rank, f"{name}_take"] += [part.tobytes() for part in got]


def _segments(
    operation: str, rank: int, root: int, given: list[Elements], joined: Elements
) -> tuple[list[Elements], list[Elements]]:
    """The elements that a rank supplies and receives in a collective."""
    own, at_root = given[rank], rank == root
    if operation == "bcast":
        return ([own], []) if at_root else ([], [given[root]])
    if operation == "reduce":
        return [own], [joined] if at_root else []
    if operation == "allreduce":
        return [own], [joined]
    if operation == "scatter":
        return given if at_root else [], [own]
    if operation == "gather":
        return [own], given if at_root else []
    assert operation == "allgather"
    return [own], given
