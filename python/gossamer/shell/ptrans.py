# SPDX-License-Identifier: Apache-2.0
"""PTRANS of the HPC Challenge on boards: C = B + transpose of A, distributed by rows of C.

The role is rtl/role/gs_role_ptrans.sv, or examples/ptrans/ptrans.c for simulated boards. Board i of n has the i-th part
of the rows of B and C and of the columns of A, so boards need no data of each other.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.errors import InputError
from gossamer.paths import ROOT
from gossamer.shell.host import Host

TILE = 32
"""Elements of a side of the role's tiles."""
CLOCK_HZ = 100_000_000
"""Clock of the native role's modelled time; the hardware reaches it on an ECP5."""
SOURCE = ROOT / "examples" / "ptrans" / "ptrans.c"
_ALIGNED = 4096

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Part:
    """Rows of C that a board computes, and where its matrices are."""

    first: int
    rows: int
    columns: int

    @property
    def bytes_each(self) -> int:
        """Bytes of each of the three matrices."""
        return 4 * self.rows * self.columns

    @property
    def addresses(self) -> tuple[int, int, int]:
        """Addresses of A, B and C in the role's memory."""
        size = -(-self.bytes_each // _ALIGNED) * _ALIGNED
        return 0, size, 2 * size

    @property
    def memory_bytes(self) -> int:
        """Bytes of memory that the board needs."""
        return self.addresses[2] + self.bytes_each

    def registers(self, repeat: int = 1) -> dict[int, int]:
        """The role's registers, by byte address."""
        words = [half for at in self.addresses for half in (at & 0xFFFFFFFF, at >> 32)]
        words += [self.rows, self.columns, 4 * self.rows, 4 * self.columns, 4 * self.columns, repeat]
        return {4 * number: word for number, word in enumerate(words)}

    def inputs(self, a: Matrix, b: Matrix) -> list[tuple[int, bytes]]:
        """The bytes of the role's memory, of matrices A (columns x all rows) and B (all rows x columns)."""
        mine = slice(self.first, self.first + self.rows)
        at_a, at_b, _ = self.addresses
        return [(at_a, a[:, mine].astype("<f4").tobytes()), (at_b, b[mine].astype("<f4").tobytes())]

    def of_bytes(self, result: bytes) -> Matrix:
        """The rows of C that a result has."""
        return np.frombuffer(result, dtype="<f4").reshape(self.rows, self.columns)


def split(rows: int, columns: int, boards: int) -> list[Part]:
    """A part for each board, whole tiles, their sizes at most one tile apart.

    Raises InputError if a size is no multiple of a tile, or if there are fewer rows of tiles than boards.
    """
    for what, size in (("rows", rows), ("columns", columns)):
        if size <= 0 or size % TILE:
            raise InputError(f"{size} {what}: must be a multiple of {TILE}")
    if rows // TILE < boards:
        raise InputError(f"{rows} rows: {boards} boards need at least {boards * TILE}")
    ends = [rows // TILE * number // boards * TILE for number in range(boards + 1)]
    return [Part(first, end - first, columns) for first, end in itertools.pairwise(ends)]


def matrices(rows: int, columns: int, seed: int) -> tuple[Matrix, Matrix]:
    """Random A (columns x rows) and B (rows x columns)."""
    draw = np.random.default_rng(seed)
    return draw.random((columns, rows), np.float32), draw.random((rows, columns), np.float32)


def role() -> bytes:
    """The role file for simulated boards."""
    from gossamer.shell import _build

    return _build.role(SOURCE).read_bytes()


@dataclass(frozen=True)
class Run:
    """Times of a run, in seconds, and its result."""

    written: float
    """Sending A and B to all boards, one after the other."""
    executed: float
    """From the first frame that arms a board, and the broadcast that starts all, to the end of the last board."""
    fetched: float
    """Reading C from all boards."""
    cycles: Sequence[int]
    """Of each board."""
    result: Matrix

    @property
    def total(self) -> float:
        """All of it."""
        return self.written + self.executed + self.fetched


def run(host: Host, boards: Sequence[int], a: Matrix, b: Matrix, *, repeat: int = 1, number: int = 1) -> Run:
    """Runs PTRANS on boards that have the role and sessions with ``host``.

    ``repeat`` is the number of times that each board computes its part; ``number`` names the run at the boards.
    Raises BoardError.
    """
    rows, columns = b.shape
    parts = split(rows, columns, len(boards))
    times = [time.monotonic()]
    for mac, part in zip(boards, parts, strict=True):
        for address, data in part.inputs(a, b):
            host.write(mac, address, data)
        host.write_registers(mac, part.registers(repeat))
    times.append(time.monotonic())
    host.start_all(boards, kernel=0, run=number)
    ends = [host.wait(mac, number) for mac in boards]
    times.append(time.monotonic())
    results = []
    for mac, part, (_, count) in zip(boards, parts, ends, strict=True):
        results.append(part.of_bytes(host.result(mac, count, number)))
        host.finish(mac, number)
    times.append(time.monotonic())
    written, executed, fetched = (after - before for before, after in itertools.pairwise(times))
    return Run(written, executed, fetched, [cycles for cycles, _ in ends], np.concatenate(results))


def check(a: Matrix, b: Matrix, result: Matrix) -> int:
    """The number of elements of ``result`` that differ from NumPy's sum."""
    return int(np.count_nonzero(result != b + a.T))


__all__ = [
    "CLOCK_HZ",
    "SOURCE",
    "TILE",
    "Matrix",
    "Part",
    "Run",
    "check",
    "matrices",
    "role",
    "run",
    "split",
]
