# SPDX-License-Identifier: Apache-2.0
"""The boards of a run (sim/board/kernels.cc): their wires, and the packets that set routes, jobs and bindings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gossamer.engines import _rtl_control, _rtl_settings
from gossamer.engines._rtl_network import Flits
from gossamer.engines._rtl_plan import Plan

_JOB = 1
"""The job of all streaming ports of a run."""


def script(plan: Plan, ports: int, loss: int = 0, seed: int = 1) -> list[str]:
    """Lines for the boards, whose first ``ports`` streaming ports get a job.

    ``loss`` is the number of frames of 2^20 that wires lose, and the number that they damage.
    """
    lines = [f"boards {plan.boards}"]
    lines += [f"wire {board} {link} {far} {far_link}" for board, link, far, far_link, _ in plan.wires({})]
    lines += [f"loss {loss} {seed}"] if loss else []
    lines += [f"host {plan.hosts[0]}"]
    for board in plan.order():
        lines += _asks(_rtl_settings.first_route(plan, board), answered=False)
        lines += _asks(_rtl_settings.settings(plan, board))
    lines += _asks(
        [
            _rtl_control.packet(board, "job", job=_JOB, streams=ports, host=_rtl_control.host(0))
            for board in range(plan.boards)
        ]
    )
    return lines


def _asks(packets: Sequence[Flits], *, answered: bool = True) -> Iterator[str]:
    """Lines with packets, and with the number of answers to wait for."""
    for batch in _rtl_settings.batches(packets):
        yield f"ask {len(batch) if answered else 0} {np.concatenate(batch).tobytes().hex()}"


__all__ = ["script"]
