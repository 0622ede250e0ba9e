# SPDX-License-Identifier: Apache-2.0
"""Events of boards in words, and the job that has caused one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.config import constants
from gossamer.engines._machine import NO_JOB

if TYPE_CHECKING:
    from gossamer.engines._machine import Event
    from gossamer.engines._rtl_plan import Plan


def describe(plan: Plan, event: Event) -> str:
    """An event as a line: the reporting board, the event, and its link, address, job or tile."""
    board = plan.cluster.boards[event.board].name
    doc = constants.enumeration("board_event").docs.get(event.what, "something unknown happened")
    if event.what.startswith("link_"):
        cable = plan.cable_at(event.board, event.unit)
        link = plan.cable_name(cable) if cable is not None else f"link {event.unit}"
        return f"board {board}: {event.what}: {doc}; link {link}"
    if event.what == "unroutable":
        return f"board {board}: {event.what}: {doc}; address {event.value & 0xFFFF_FFFF:#010x}, {_port(plan, event)}"
    if event.what == "record":
        return f"board {board}: {event.what}: {doc}; {_port(plan, event)}"
    if event.what == "job":
        return f"board {board}: {event.what}: {doc}; job {event.value & 0x1F}"
    if event.what == "control":
        why = _rejection(event.value >> 32 & 0xF)
        job = event.value >> 36 & 0x1F
        of_job = f", job {job}" if job != NO_JOB else ""
        return f"board {board}: {event.what}: {doc}; {why}, {event.value & 0xFFFF_FFFF:#010x}{of_job}"
    if event.what == "tile_dropped":
        fields = constants.layout("tile_drop").unpack(event.value)
        tile, count = f"{fields['tile_x']},{fields['tile_y']}", fields["count"]
        return (
            f"board {board}: {event.what}: tile {tile} dropped a message of job {fields['job']}: "
            f"{_rejection(fields['why'])}; {count} dropped on this board so far"
        )
    if event.what == "stream_dropped":
        fields = constants.layout("stream_drop").unpack(event.value)
        return (
            f"board {board}: {event.what}: a packet of job {fields['job']} to streaming port {fields['port']} was "
            f"dropped: {_rejection(fields['why'])}; {fields['count']} dropped on this board so far"
        )
    if event.what == "match_dropped":
        fields = constants.layout("match_drop").unpack(event.value)
        return (
            f"board {board}: {event.what}: a packet of job {fields['job']} to the match engine of rank "
            f"{fields['rank']} was dropped: {_rejection(fields['why'])}; {fields['count']} dropped on this board so far"
        )
    if event.what == "stream_fault":
        fields = constants.layout("stream_fault_report").unpack(event.value)
        faults = constants.enumeration("stream_fault")
        about = next((faults.docs[name] for name, value in faults.values.items() if value == fields["fault"]), "?")
        return (
            f"board {board}: {event.what}: streaming port {fields['port']} of job {fields['job']}, rank "
            f"{fields['own']}, and its peer, rank {fields['peer']}: {about}"
        )
    return f"board {board}: {event.what}: {doc}"


_JOB_LAYOUTS = {
    "tile_dropped": "tile_drop",
    "stream_dropped": "stream_drop",
    "match_dropped": "match_drop",
    "stream_fault": "stream_fault_report",
}


def job_of(event: Event) -> int | None:
    """The job whose packet has caused an event; None if the event names none."""
    if event.what == "job":
        job = event.value & 0x1F
    elif event.what == "control":
        job = event.value >> 36 & 0x1F
    elif event.what in _JOB_LAYOUTS:
        job = constants.layout(_JOB_LAYOUTS[event.what]).unpack(event.value)["job"]
    else:
        return None
    return None if job == NO_JOB else int(job)


def _port(plan: Plan, event: Event) -> str:
    exits = plan.config.router.mesh_ports
    if event.unit < exits:
        return "from its own tiles"
    names = plan.links_of(event.board)
    return f"from link {names[event.unit - exits]}" if event.unit - exits in names else "from the host"


def _rejection(number: int) -> str:
    """The description of a reason for rejection."""
    rejections = constants.enumeration("rejection")
    name = next((name for name, value in rejections.values.items() if value == number), "")
    return rejections.docs[name] if name else f"rejection {number}"


__all__ = ["describe", "job_of"]
