# SPDX-License-Identifier: Apache-2.0
"""Programs as guests: on some boards of a cluster that several programs use at the same time (``gossamer.guests``).

The host of the guests (``guests/_host.py``) simulates and configures the cluster. It starts each guest as a process
that finds its place in the environment and uses the machine library over a socket. A guest numbers its own boards from
0; the library and the host translate.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gossamer import device
from gossamer.engines import _names
from gossamer.engines._machine import Link
from gossamer.engines._rtl_plan import Job, Plan, guest_facts
from gossamer.engines._rtl_simulator import Run, Simulator
from gossamer.engines.rtl import NetworkCounters
from gossamer.engines.rtl_cluster import Cluster
from gossamer.engines.rtl_vertices import Hardware
from gossamer.errors import GossamerError, InputError, RunDied

if TYPE_CHECKING:
    from gossamer.config import Cluster as ClusterFile
    from gossamer.config import Config
    from gossamer.engines.rtl import Tile

NAME = _names.GUEST
UNSUPPORTED = (
    "waves", "trace", "trace-size", "least-wait", "tile", "workers", "ranks", "frame-loss", "cut", "seed",
    "cluster", "config", "routes", "next-routes",
)  # fmt: skip
"""Options of the engine ``rtl`` that concern the whole cluster."""
_VARIABLE = "GOSSAMER_GUEST"


@dataclass(frozen=True)
class Place:
    """The place of a guest on the cluster."""

    name: str
    cluster: str
    """Name or file of the cluster."""
    config: str | None
    """The configuration of its boards, if it replaces the one that the cluster names."""
    job: int
    boards: tuple[int, ...]
    """Its boards; their tiles are its own."""
    streams: tuple[int, int]
    """The first of its streaming ports on every board, and their number."""
    socket: int
    """Descriptor of the connection to the host of the guests."""
    kernels: str
    """The file of memory that kernels share with the simulator (sim/board/shared_kernels.h)."""

    @classmethod
    def here(cls) -> Place:
        """The place in this process's environment. Raises InputError if it is no guest."""
        text = os.environ.get(_VARIABLE)
        if text is None:
            raise InputError(f"--engine {NAME}: is for the guests of a cluster; see docs/guests.md")
        fields = json.loads(text)
        return cls(**{**fields, "boards": tuple(fields["boards"]), "streams": tuple(fields["streams"])})

    def environment(self) -> dict[str, str]:
        """Variables for the guest's process."""
        return {_VARIABLE: json.dumps(self.__dict__)}

    @cached_property
    def whole(self) -> Plan:
        """The plan of the whole cluster."""
        return whole(self.cluster, self.config)

    @cached_property
    def plan(self) -> GuestPlan:
        """The plan of the guest's boards. Raises InputError if it has none."""
        if not self.boards:
            raise InputError(f"guest {self.name}: has no boards whose tiles could run it; give it boards = [...]")
        return GuestPlan(self.whole, self.boards)

    def open(self, plan: Plan, jobs: Sequence[Job] = ()) -> Boards:
        """The boards of the guest."""
        assert plan is self.plan and not jobs
        return Boards(self)

    def link(self, plan: Plan | None) -> Link:
        """The connection to the boards of a plan; None: to streaming ports only."""
        return Link((self.socket, self.socket), self.facts(plan is not None), _gone)

    def facts(self, tiles: bool) -> str:
        """The plan for the machine library, with the guest's boards if ``tiles``."""
        return guest_facts(self.whole, self.job, self.streams, self.boards if tiles else ())


def whole(cluster: str, config: str | None) -> Plan:
    """The plan of a cluster, with another configuration of its boards if one is given."""
    from gossamer import config as configs

    found = configs.load_cluster(cluster)
    return Plan(found if config is None else found.with_config(configs.load(config)))


def _gone() -> GossamerError:
    return RunDied("the simulation of all guests has ended")


class GuestPlan(Plan):
    """Some boards of a cluster, numbered from 0. They use the routes of the whole cluster."""

    def __init__(self, plan: Plan, boards: Sequence[int]) -> None:
        self.numbers = tuple(boards)
        """Numbers of the boards in the cluster."""
        self.part = Job("", self.numbers).part(plan.cluster)
        chosen = [replace(plan.cluster.boards[board], index=at, x=None, y=None) for at, board in enumerate(boards)]
        self.cluster: ClusterFile = replace(plan.cluster, boards=tuple(chosen), cables=(), hosts=())
        self.config = plan.config
        self.boards = len(boards)
        self.hosts = [0]
        self.topology, self.tables = plan.topology, plan.tables
        self.links = plan.links
        self._numbers = [{} for _ in boards]
        self._hops = plan.hops[np.ix_(boards, boards)]

    @property
    def shape(self) -> device.Part:
        """The boards, for ``device.build``."""
        return self.part

    @property
    def hops(self) -> NDArray[np.int64]:
        return self._hops


class _Connection(Simulator):
    """The socket in place of a child process."""

    def __init__(self, socket: int) -> None:
        self._to = self._from = socket

    def close(self) -> None:
        """The socket stays open: the guest may open its boards again."""

    def exit_error(self) -> RunDied:
        return RunDied(str(_gone()))


class Boards(Cluster):
    """The boards of a guest; used like a ``Cluster``."""

    def __init__(self, place: Place) -> None:
        self._place = place
        super().__init__(place.plan)

    def _executable(self, config: Config, waves: bool) -> Path:
        return Path()

    def _status(self, program: str) -> list[str]:
        return []

    def _start(self, command: Sequence[str | Path]) -> Simulator:
        return _Connection(self._place.socket)

    def _facts(self) -> str:
        return self._place.facts(True)

    def _network_counters(self, before: NetworkCounters | None = None) -> NetworkCounters:
        """Links carry packets of all guests, so their counters are not the guest's."""
        return {}, []

    def run(self, threads: int, **how: Any) -> Run:
        if how.get("pauses"):
            raise InputError("a guest cannot change routes: they are those of all guests")
        return replace(super().run(threads, **how), engine=NAME)


@dataclass
class GuestHardware(Hardware):
    """Runs the vertices of an application on the boards of a guest."""

    name = NAME
    place: Place | None = None

    def simulator(self, config: Config) -> Tile:
        assert self.place is not None
        self.done, self.simulated = None, None
        self.simulated = Boards(self.place)
        return self.simulated


__all__ = ["NAME", "UNSUPPORTED", "Boards", "GuestHardware", "GuestPlan", "Place", "whole"]
