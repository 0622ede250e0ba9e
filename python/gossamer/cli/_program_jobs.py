# SPDX-License-Identifier: Apache-2.0
"""Several programs on one cluster: ``./gossamer run heat.c@x0y0,x1y0 ring.c@x0y1 --engine rtl --cluster quad4``."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gossamer.cli import _program_verdict
from gossamer.errors import AnswerNo, InputError, RunDied

if TYPE_CHECKING:
    from gossamer.cli._program_arguments import Request
    from gossamer.device import Image
    from gossamer.engines._rtl_diagnostics import Tiles
    from gossamer.engines._rtl_plan import Job
    from gossamer.engines.rtl import Run
    from gossamer.engines.rtl_cluster import Plan

NOT_HERE = ("threads", "input")
"""Options for one program alone."""


@dataclass(frozen=True)
class Share:
    """What one job does on its boards."""

    job: Job
    image: Image
    threads: int
    """Of a board."""

    def has(self, thread: int) -> bool:
        """Whether a thread, by its number in the cluster, is one of the job's."""
        return thread // self.threads in self.job.boards

    def of(self, run: Run) -> Run:
        """What became of this job in a run."""
        unfinished = [one for one in run.unfinished if self.has(one.thread)]
        ends = {thread: cycle for thread, cycle in run.ends.items() if self.has(thread)}
        return dataclasses.replace(
            run,
            # A job is over when its threads are, whatever became of the others.
            reason=run.reason if unfinished else "done",
            threads=self.threads * len(self.job.boards),
            cycles=run.cycles if unfinished else max(ends.values(), default=0),
            codes={thread: code for thread, code in run.codes.items() if self.has(thread)},
            traps=[trap for trap in run.traps if trap.thread >= 0 and self.has(trap.thread)],
            unfinished=unfinished,
            ends=ends,
        )


def asked(request: Request) -> list[tuple[str, list[str]]]:
    """Programs and the boards that each is to run on; none where the words name no boards."""
    found = []
    for word in request.programs:
        program, at, boards = word.rpartition("@")
        if at and not os.path.exists(word):
            names = [name.strip() for name in boards.split(",")]
            if not program or not all(names):
                raise InputError(f"{word}: write PROGRAM@BOARD or PROGRAM@BOARD,BOARD,... for a program on some boards")
            found.append((program, names))
    if found and len(found) < len(request.programs):
        other = next(word for word in request.programs if "@" not in word)
        raise InputError(f"{other}: which boards is it for? Write {other}@BOARD,... as for the others")
    if found and "cluster" not in request.options:
        raise InputError(f"{request.program}: names boards of a cluster; name that with --cluster")
    for name in NOT_HERE:
        if found and name in request.options:
            raise InputError(f"--{name}: not with several programs; each runs on all threads of its boards")
    return found


def shares(request: Request, plan: Plan, wanted: Sequence[tuple[str, list[str]]]) -> list[Share]:
    """The programs, built for their boards."""
    from gossamer import device
    from gossamer.engines import rtl_cluster
    from gossamer.hosts import hostlink

    found = []
    includes, defines = request.options.get("include", []), request.options.get("define", [])
    names = [f"{program} on {', '.join(boards)}" for program, boards in wanted]
    jobs = rtl_cluster.jobs(plan.cluster, [(name, boards) for name, (_, boards) in zip(names, wanted, strict=True)])
    for job, (program, _) in zip(jobs, wanted, strict=True):
        if hostlink.is_one([program], includes):
            raise InputError(f"{program}: has a host of its own, and a cluster has one; run it alone")
        image = device.build(program, plan.config, defines, includes=includes, boards=job.part(plan.cluster))
        found.append(Share(job, image, plan.config.threads))
    return found


def image_of(all_shares: Sequence[Share], thread: int) -> Image:
    """The program that a thread runs."""
    return next((one.image for one in all_shares if one.has(thread)), all_shares[0].image)


def judge(all_shares: Sequence[Share], run: Run, tiles: Tiles, down: str, held: Iterable[str]) -> None:
    """Raises what the end of the run comes to for all jobs together; nothing if all is well with each."""
    died, no = [], []
    held = list(held)
    for share in all_shares:
        try:
            _program_verdict.judge(share.job.name, share.image, share.of(run), tiles, down, held)
        except RunDied as error:
            died.append(str(error))
            held = []  # told once
        except AnswerNo as error:
            no.append(str(error))
    if died:
        raise RunDied("; ".join([*died, *no]))
    if no:
        raise AnswerNo("; ".join(no))


def statistics(all_shares: Sequence[Share], run: Run) -> list[dict[str, Any]]:
    """Of each job what a run's statistics have of the run."""
    found = []
    for number, share in enumerate(all_shares):
        its = share.of(run)
        found.append(
            {
                "job": number,
                "program": share.image.name,
                "boards": list(share.job.boards),
                "threads": its.threads,
                "end": its.reason,
                "cycles": its.cycles,
                "exit_codes": {str(thread): code for thread, code in sorted(its.codes.items())},
            }
        )
    return found


__all__ = ["Share", "asked", "image_of", "judge", "shares", "statistics"]
