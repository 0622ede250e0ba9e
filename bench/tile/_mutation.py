# SPDX-License-Identifier: Apache-2.0
"""How many faults in a block its tests and proofs notice: mutants of Yosys, seeded, the equivalent ones left out."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from gossamer.bench import Context, Row
from gossamer.hdl import mutate

BLOCKS = ("core", "fpu", "cache", "mailbox", "memory", "tile")
NAMES = tuple(f"mutation.{block}" for block in BLOCKS)
SEED = 1


def measure(context: Context) -> Iterator[Row]:
    """A row takes an hour, most of it the tests': only with --full. A block whose tests cannot be run is an error."""
    for block, name in zip(BLOCKS, NAMES, strict=True):
        if not context.wants(name):
            continue
        if not context.full:
            yield context.skip(name, "takes an hour or more; ask for it with --full")
            continue
        report = mutate.run(mutate.block(block), mutate.COUNT, seed=SEED, tell=_tell)
        yield context.row(
            name,
            report.share,
            "share",
            reference={"what": "bound", "value": mutate.LEAST, "unit": "share"},
            ratio=report.share / mutate.LEAST,
            mutants=len(report.verdicts),
            equivalent=len(report.verdicts) - len(report.judged),
            escaped=[str(verdict.mutation) for verdict in report.escaped],
            undecided=sum(bool(verdict.undecided) for verdict in report.escaped),
            left_out=report.left_out,
            seed=SEED,
            seconds=round(report.seconds),
            least=mutate.LEAST,
        )


def _tell(line: str) -> None:
    """Progress: the rows alone are on stdout."""
    if sys.stderr.isatty():
        print(line[:120], file=sys.stderr, flush=True)


__all__ = ["NAMES", "measure"]
