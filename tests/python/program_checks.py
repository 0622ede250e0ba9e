# SPDX-License-Identifier: Apache-2.0
"""The expected output of the programs in programs/, according to their pages; used for the model and the rtl engine.

Each takes the lines of a run with the threads that wrote them, and the number of threads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

Lines = Sequence[tuple[int, str]]


def _matches(pattern: str, lines: Lines) -> list[tuple[int, tuple[str, ...]]]:
    """The groups of each line; every line must be of that form."""
    found = []
    for thread, line in lines:
        match = re.fullmatch(pattern, line)
        assert match, f"thread {thread} wrote {line!r}"
        found.append((thread, match.groups()))
    return found


def hello(lines: Lines, threads: int) -> None:
    found = _matches(r"hello from thread (\d+) of (\d+), address 0x([0-9a-f]{8})", lines)
    assert sorted(found) == sorted((t, (str(t), str(threads), f"{t:08x}")) for t in range(threads))


def ping(lines: Lines, threads: int) -> None:
    found = _matches(r"threads (\d+) and (\d+): 64 round trips, value ([0-9a-f]{8}), (\d+) cycles each", lines)
    assert sorted(thread for thread, _ in found) == list(range(0, threads - 1, 2))
    for thread, (first, second, value, cycles) in found:
        assert (int(first), int(second)) == (thread, thread + 1)
        right = thread
        for _ in range(64):
            right = (3 * right + 1) % 2**32
        assert int(value, 16) == right
        assert 10 < int(cycles) < 1_000_000


def ring(lines: Lines, threads: int) -> None:
    ((thread, groups),) = _matches(r"(\d+) threads, (\d+) hops, sum (\d+), (\d+) cycles a hop", lines)
    laps = 8
    assert thread == 0
    assert [int(group) for group in groups[:3]] == [threads, laps * threads, laps * threads * (threads + 1) // 2]
    assert 5 < int(groups[3]) < 1_000_000


def heat(lines: Lines, threads: int) -> None:
    side, steps = 8, 32
    width = max(w for w in range(1, threads + 1) if threads % w == 0 and w * w <= threads)
    plate = np.zeros((threads // width * side + 2, width * side + 2))
    plate[0, 1:-1] = 100
    for _ in range(steps):
        inner = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        plate[1:-1, 1:-1] = inner + (around - 4 * inner) / 8
    got = np.full((plate.shape[0] - 2, plate.shape[1] - 2), np.nan)
    for thread, (row, column, cells) in _matches(r"row (\d+) column (\d+):((?: \d+\.\d{4}){8})", lines):
        assert (int(row) // side, int(column) // side) == divmod(thread, width)
        assert np.isnan(got[int(row), int(column)])
        got[int(row), int(column) : int(column) + side] = [float(cell) for cell in cells.split()]
    # Single precision over 32 steps, and four digits shown.
    assert np.abs(got - plate[1:-1, 1:-1]).max() < 2e-4


def memory(lines: Lines, threads: int, words: int = 2048) -> None:
    latency = [(thread, line) for thread, line in lines if line.startswith("latency")]
    ((thread, groups),) = _matches(r"latency: (\d+) loads end at 0, (\d+) cycles each", latency)
    assert thread == 0
    assert words % int(groups[0]) == 0
    rest = [(thread, line) for thread, line in lines if not line.startswith("latency")]
    found = _matches(r"bandwidth: (\d+) words, sum ([0-9a-f]{8}), (\d+) bytes in (\d+) cycles", rest)
    assert sorted(thread for thread, _ in found) == list(range(threads))
    for thread, (count, total, size, cycles) in found:
        assert (int(count), int(size)) == (words, 8 * words)
        assert int(total, 16) == sum((i ^ thread) + 1 for i in range(words)) % 2**32
        assert int(cycles) > words


def sort(lines: Lines, threads: int) -> None:
    part, own = 14, 28
    keys = []
    for thread in range(threads):
        value = thread + 1
        for _ in range(own):
            value = (value * 1664525 + 1013904223) % 2**32
            keys.append(value)
    got: dict[int, list[int]] = {}
    for thread, (first, listed) in _matches(r"keys from (\d+):((?: [0-9a-f]{8})+)", lines):
        assert int(first) // own == thread
        got[int(first)] = [int(key, 16) for key in listed.split()]
    assert sorted(got) == list(range(0, threads * own, part))
    assert [key for first in sorted(got) for key in got[first]] == sorted(keys)


def queens(lines: Lines, threads: int) -> None:
    ((thread, groups),) = _matches(r"8 queens: (\d+) ways, found by (\d+) of (\d+) threads", lines)
    assert thread == 0
    # The number is known since 1850; the first two queens have 42 placements.
    assert (int(groups[0]), int(groups[2])) == (92, threads)
    assert 0 < int(groups[1]) <= min(threads, 42)


def accelerator(lines: Lines, threads: int) -> None:
    found = _matches(r"array (\d+): (\d+) words, sum ([0-9a-f]{8}), (\d+) cycles", lines)
    assert [int(groups[0]) for _, groups in found] == list(range(threads))
    for thread, (array, count, total, cycles) in found:
        assert (thread, int(count)) == (0, 64)
        assert int(total, 16) == sum((int(array) + 1) * 1000003 + i * i for i in range(64)) % 2**32
        assert 64 < int(cycles) < 1_000_000


CHECKS: dict[str, Callable[[Lines, int], None]] = {
    "hello.c": hello,
    "ping.c": ping,
    "ring.c": ring,
    "heat.c": heat,
    "memory.c": memory,
    "sort.c": sort,
    "queens.cpp": queens,
    "accelerator.c": accelerator,
}
ON_HARDWARE = {"accelerator.c"}
"""Programs that need units that the instruction-set model lacks."""
