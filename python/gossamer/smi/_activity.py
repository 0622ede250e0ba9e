# SPDX-License-Identifier: Apache-2.0
"""What a run on boards records: lines of the emulator's plan, and the activity in its report."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gossamer.smi._locations import with_locations
from gossamer.watch import snapshots, streams

if TYPE_CHECKING:
    from gossamer.engines._rtl_plan import Plan
    from gossamer.smi._programs import Program


def lines(plan: Plan, program: str) -> Iterator[str]:
    """Names of boards and links, and where snapshots are written. ``program`` is its name in snapshots."""
    config = plan.config
    for one in plan.cluster.boards:
        yield f"name board {one.name}"
    for board, link, far, _, _ in plan.wires({}):
        yield f"name link {board} {link} {plan.links_of(board)[link]} to {plan.cluster.boards[far].name}"
    yield f"option link-bytes {bytes_a_cycle(plan)}"
    yield f"option frame-overhead {config.links.overhead_bytes}"
    folder = snapshots.folder()
    if folder is None:
        return
    from gossamer.engines.rtl_cluster import about_links

    about = {"program": program, "begun": time.time(), "config": config.name, "clock_mhz": config.board.clock_mhz}
    yield f"option status {folder}"
    yield f"about {json.dumps(about | about_links(plan))[1:-1]}"


def bytes_a_cycle(plan: Plan) -> float:
    """The greatest rate of a cable."""
    return float(plan.config.links.rate_mbps / 8 / plan.config.board.clock_mhz)


def parse(report: Mapping[str, Any], programs: Sequence[Program]) -> streams.Activity | None:
    """The activity in the emulator's report; None without hardware."""
    data = report.get("activity")
    if data is None:
        return None
    sites = sorted({tuple(place["site"]) for one in data["kernels"] for place in one["places"]})
    found = with_locations([("{}", [site]) for site in sites], programs)
    return streams.parse(data, dict(zip(sites, found, strict=True)))
