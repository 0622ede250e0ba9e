# SPDX-License-Identifier: Apache-2.0
"""Runs the raw programs in ``programs/`` on a simulated board or cluster; what found anything wrong is no figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gossamer import device
from gossamer.config import Cluster, Config
from gossamer.engines.rtl import Run
from gossamer.engines.rtl_cluster import Cluster as Simulated
from gossamer.errors import RunDied

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Told:
    """What a program told, and how its run went."""

    value: int
    run: Run


def run(
    where: Config | Cluster,
    program: Path | str,
    defines: Sequence[str] = (),
    *,
    workers: int | None = None,
    frame_loss: float = 0.0,
) -> Told:
    """A run on all threads of a board, or of all boards of a cluster; RunDied if one of them did not end with 0.

    A program tells one value, or nothing, which is 0 here.
    """
    path = PROGRAMS / program
    told: list[int] = []
    with Simulated(where, workers=workers, frame_loss=frame_loss) as machine:
        machine.load_image(device.build(path, machine.config, defines, boards=machine.shape))
        done = machine.run(machine.threads, on_emit=lambda _, value: told.append(value))
    bad = sum(map(bool, done.codes.values()))
    if done.reason != "done" or done.traps or bad or len(done.codes) != done.threads or len(told) > 1:
        raise RunDied(
            f"{path.name} did not end well on {where.name}: {done.reason}, {len(done.traps)} traps, "
            f"{bad} of {done.threads} threads with a wrong result"
        )
    return Told(told[0] if told else 0, done)


__all__ = ["PROGRAMS", "Told", "run"]
