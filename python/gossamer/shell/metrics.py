# SPDX-License-Identifier: Apache-2.0
"""Metrics of a cluster for Prometheus, from the manager's snapshot and store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_JOB_STATES = ("waiting", "running", "done", "failed", "cancelled")
_BOARD_STATES = (
    "free", "owned", "ready", "running", "configuring", "reserved", "receiving", "verified", "loading", "armed",
    "results", "quarantine", "silent",
)  # fmt: skip
_GAUGES = (
    ("temperature", "temperature_celsius", "Temperature of the hottest place of the board."),
    ("power", "power_watts", "Power that the board takes."),
    ("fan", "fan_rpm", "Turns a minute of the board's slowest fan."),
    ("memory_used", "memory_used_bytes", "End of the memory written since the role was loaded."),
    ("memory_bytes", "memory_bytes", "Memory of the board's role."),
    ("link_rate", "link_capacity_bytes_per_second", "Rate that the board announces."),
    ("quarantine", "quarantine_seconds", "Seconds until the quarantine ends; 0 outside of one."),
)
_COUNTERS = (
    ("tasks", "tasks", "Tasks that the board has done."),
    ("configured", "configurations", "Roles that the board has loaded for the manager."),
    ("sent", "link_sent_bytes", "Bytes of frames from the manager to the board, those to all boards included."),
    ("received", "link_received_bytes", "Bytes of frames from the board to the manager."),
)
_STATUS = (
    ("frames_received", "frames_received", "Frames that the board has received."),
    ("frames_sent", "frames_sent", "Frames that the board has sent."),
    ("bad_frames", "bad_frames", "Frames that the board has dropped for version, length, checksum or kind."),
    ("bad_tags", "bad_tags", "Frames that the board has dropped because tag or session is wrong."),
    ("replays", "replays", "Commands that the board has received again."),
    ("rejected", "rejected", "Commands that the board has answered with an error."),
    ("role_resets", "role_resets", "Resets of the role by the board's watchdog."),
)


class _Collector:
    def __init__(self, snapshot: Mapping[str, Any], jobs: Mapping[str, int], tasks: Mapping[str, int]) -> None:
        self._snapshot, self._jobs, self._tasks = snapshot, jobs, tasks

    def collect(self) -> Iterator[Metric]:
        boards = self._snapshot["boards"]
        yield GaugeMetricFamily(
            "gossamer_manager_start_time_seconds", "When the manager began, in seconds since 1970.",
            value=self._snapshot["began"],
        )  # fmt: skip
        yield GaugeMetricFamily("gossamer_leases", "Leases that have not ended.", value=len(self._snapshot["leases"]))
        yield GaugeMetricFamily(
            "gossamer_boards_unreadable", "Boards of another protocol version, or that answer nonsense.",
            value=len(self._snapshot.get("unreadable", {})),
        )  # fmt: skip
        yield _by_state("gossamer_jobs", "Jobs by state.", _JOB_STATES, self._jobs)
        yield _by_state("gossamer_tasks", "Tasks of all jobs by state.", _JOB_STATES, self._tasks)
        states = [str(board["state"]) for board in boards]
        counts = {state: states.count(state) for state in states}
        yield _by_state("gossamer_boards", "Boards by state.", _BOARD_STATES, counts)
        for key, name, text in _GAUGES:
            gauge = GaugeMetricFamily(f"gossamer_board_{name}", text, labels=["board"])
            for board in boards:
                if board[key] is not None:
                    gauge.add_metric([board["mac"]], board[key])
            yield gauge
        for key, name, text in _COUNTERS:
            counter = CounterMetricFamily(f"gossamer_board_{name}", text, labels=["board"])
            for board in boards:
                counter.add_metric([board["mac"]], board[key])
            yield counter
        for key, name, text in _STATUS:
            counter = CounterMetricFamily(f"gossamer_board_{name}", text, labels=["board"])
            for board in boards:
                if board["status"] is not None:
                    counter.add_metric([board["mac"]], board["status"][key])
            yield counter


def _by_state(name: str, text: str, states: tuple[str, ...], counts: Mapping[str, int]) -> Metric:
    gauge = GaugeMetricFamily(name, text, labels=["state"])
    for state in (*states, *sorted(counts.keys() - set(states))):
        gauge.add_metric([state], counts.get(state, 0))
    return gauge


def text(snapshot: Mapping[str, Any], jobs: Mapping[str, int], tasks: Mapping[str, int]) -> bytes:
    """The metrics in Prometheus' text format; ``jobs`` and ``tasks`` are numbers by state."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(snapshot, jobs, tasks))
    return bytes(generate_latest(registry))


__all__ = ["CONTENT_TYPE", "text"]
