# SPDX-License-Identifier: Apache-2.0
"""Random programs of messages and collectives, compared with a reference model (model.py).

Kernels call their channels in random order, so about half of the programs deadlock; some omit calls. The results of
calls, the completed calls and the waiting kernels must match the model for any order of kernels in the emulator.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, Size

from gossamer import smi
from gossamer.errors import RunDied

from . import model

SCRIPT = str(ROOT / "tests" / "fixtures" / "smi" / "script.cc")
TYPES = {1: np.int32, 2: np.float32, 3: np.float64, 4: np.int8, 5: np.int16, 6: np.int64, 7: np.float16}
NAMES = ("message", "bcast", "reduce", "scatter", "gather", "allreduce", "allgather", "barrier")


def combine(type_: int, op: int, values: Sequence[int | float], root: int) -> int | float:
    """A reduction by NumPy. Sums of small integers are exact in every type and order."""
    array = np.array(values, dtype=TYPES[type_])
    with np.errstate(over="ignore"):
        found = {0: array.sum(dtype=array.dtype), 1: array.max(), 2: array.min(), 3: array.sum(dtype=array.dtype)}[op]
    value: int | float = found.item()
    return value


def bits(type_: int, value: int | float) -> str:
    return np.array([value], dtype=TYPES[type_]).tobytes()[::-1].hex()


def value_of(type_: int, text: str) -> int | float:
    size = np.dtype(TYPES[type_]).itemsize
    # Bytes above the element do not belong to the channel.
    raw = int(text, 16).to_bytes(8, "little")[:size]
    value: int | float = np.frombuffer(raw, dtype=TYPES[type_])[0].item()
    return value


class Program:
    """A random program, as a script for the emulator and as kernels of the model."""

    def __init__(self, seed: int) -> None:
        self.draw = draw = random.Random(seed)
        self.ranks = draw.randint(1, 5)
        self.default = draw.choice([0, 1, 2, 16])
        self.kernels = {(rank, 0): list[list[model.Call]]() for rank in range(self.ranks)}
        for rank in range(self.ranks):
            for number in range(1, draw.randint(1, 3)):
                self.kernels[rank, number] = []
        ports = itertools.count()
        self.ids: dict[int, int] = {}
        self.kept: list[model.Channel] = []
        """All channels, also those without calls; a deleted one could share its id with another."""
        for _ in range(draw.randint(1, 6)):
            self.group(next(ports))
        self.calls = {key: self.interleaved(groups) for key, groups in self.kernels.items()}

    def kernel(self, rank: int) -> list[list[model.Call]]:
        return self.kernels[self.draw.choice([key for key in self.kernels if key[0] == rank])]

    def group(self, port: int) -> None:
        """Successive channels on a port."""
        draw = self.draw
        kind = draw.choice((*["message"] * 6, *NAMES) if self.ranks > 1 else NAMES[1:])
        stated = draw.random() < 0.5 and kind not in ("allreduce", "barrier")
        slack = draw.choice([0, 1, 2, 5, 40]) if stated else self.default
        sender, receiver = (draw.sample(range(self.ranks), 2) * 2)[:2] if self.ranks > 1 else (0, 0)
        homes = {rank: self.kernel(rank) for rank in range(self.ranks)}
        lists: dict[int, list[model.Call]] = {rank: [] for rank in range(self.ranks)}
        shared: model.Channel | None = None
        length = draw.randint(1, 3)
        for number in range(length):
            root = sender if kind == "message" else draw.randrange(self.ranks)
            count = 1 if kind == "barrier" else draw.choice([1, 2, 3, 7, 20])
            op = draw.choice([0, 1, 2, 3]) if kind in ("reduce", "allreduce") else 0
            c = model.Channel(
                kind, count, draw.choice(list(TYPES)), port, root, op, slack, stated, self.ranks, receiver
            )
            c.combine = combine
            if shared is not None and kind == "message":
                c.given, c.taken = shared.given, shared.taken
            shared = c
            self.ids[id(c)] = len(self.ids)
            self.kept.append(c)
            for rank in range(self.ranks):
                calls = [model.Call(c, self.number(c.type)) for _ in range(c.calls(rank))]
                if number == length - 1 and draw.random() < 0.07:
                    calls = calls[: draw.randrange(len(calls) + 1)]
                lists[rank] += calls
        for rank, calls in lists.items():
            homes[rank].append(calls)

    def number(self, type_: int) -> int | float:
        return self.draw.randint(-9, 9) if type_ == 4 else self.draw.randint(-100, 100)

    def interleaved(self, groups: list[list[model.Call]]) -> list[model.Call]:
        """All calls of a kernel; the calls of a port keep their order."""
        mixed = self.draw.random() < 0.6
        left = [group[::-1] for group in groups if group]
        found = []
        while left:
            group = self.draw.choice(left) if mixed else left[0]
            found.append(group.pop())
            left = [one for one in left if one]
        return found

    def script(self) -> str:
        lines = []
        for (rank, number), calls in self.calls.items():
            lines.append(f"kernel {rank} {number}")
            known = set()
            for call in calls:
                c, name = call.channel, self.ids[id(call.channel)]
                if name not in known:
                    known.add(name)
                    degree = c.slack if c.stated else -1
                    kind, peer = c.kind, c.root
                    if kind == "message":
                        kind, peer = ("send", c.receiver) if rank == c.root else ("recv", c.root)
                    lines.append(f"open {name} {kind} {c.count} {c.type} {c.port} {peer} {c.op} {degree}")
                lines.append(f"call {name} {bits(c.type, call.value)}")
        return "\n".join(lines) + "\n"

    def modelled(self) -> list[model.Kernel]:
        return [model.Kernel(rank, number, calls) for (rank, number), calls in self.calls.items()]


def emulate(
    program: Program,
    seed: int,
    folder: Path,
    capfd: pytest.CaptureFixture[str],
    processes: int = 1,
    run: Callable[..., smi.Result] = smi.run,
) -> tuple[bool, dict[tuple[int, int], list[int | float | None]], set[tuple[int, str]]]:
    """Whether all kernels ended, each kernel's results, and the waiting kernels. ``run`` replaces `smi.run`."""
    script = folder / "script"
    script.write_text(program.script())
    notes: list[str] = []
    capfd.readouterr()
    options = smi.Options(slack=program.default, seed=seed, processes=processes)
    try:
        run([SCRIPT], ranks=program.ranks, arguments=[str(script)], options=options, note=notes.append)
        ended = True
    except RunDied as error:
        assert "deadlock" in str(error), str(error)
        ended = False
    results: dict[tuple[int, int], list[int | float | None]] = {key: [] for key in program.calls}
    for line in capfd.readouterr().out.splitlines():
        rank, kernel, call, text = line.split()
        key = int(rank), int(kernel)
        assert int(call) == len(results[key]), line
        type_ = program.calls[key][int(call)].channel.type
        results[key].append(None if text == "-" else value_of(type_, text))
    notes = notes
    found = [re.match(r"rank (\d+)(?: \(\w+\))?(?:, (\w+),)? waits", note) for note in notes]
    assert all(found), notes
    return ended, results, {(int(one[1]), one[2] or "main") for one in found if one}


def test_random_programs_match_the_model(
    size: Size, seed: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    draw = random.Random(seed)
    outcomes = {True: 0, False: 0}
    for _ in range(size.pick(30, 100, 5000)):
        case = draw.randrange(2**32)
        program = Program(case)
        kernels = program.modelled()
        ends = model.run(kernels)
        waiting = {(one.rank, f"k{one.number}" if one.number else "main") for one in kernels if one.at < len(one.todo)}
        for order in (0, draw.randrange(1, 2**31)):
            ended, results, waits = emulate(program, order, tmp_path, capfd)
            place = f"program {case}, order {order}\n{program.script()}"
            for one in kernels:
                assert results[one.rank, one.number] == one.results, f"rank {one.rank} kernel {one.number}, {place}"
            assert ended == ends, place
            assert waits == waiting, place
        outcomes[ends] += 1
    assert min(outcomes.values()) > 3, outcomes
