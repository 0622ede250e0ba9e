# SPDX-License-Identifier: Apache-2.0
"""Boards on the ``rtl`` engine: a cluster of boards connected by simulated wires, and a host at one of them.

A single board is a cluster of one: ``Cluster(config.load("tiny"))``.

    with Cluster(config.load_cluster("quad4")) as cluster:
        cluster.load_image(device.build("prog.c", cluster.config, boards=cluster.shape))
        run = cluster.run(cluster.threads, on_line=print)

The host configures all boards in band, from its own board outward: tables, sizes, jobs, trees. Threads are numbered
board by board.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.config import constants
from gossamer.engines import _events, _rtl_build
from gossamer.engines._machine import BOARD_UNIT, Event
from gossamer.engines._rtl_plan import MAX_JOBS, Job, Plan, TableUpdate, cuts, jobs, read_tables
from gossamer.engines._rtl_simulator import Simulator, silent
from gossamer.engines.rtl import LEAST_WAIT, TRACE_BYTES, NetworkCounters, Tile, on_tiles
from gossamer.errors import InputError
from gossamer.hosts import mpi_launcher

if TYPE_CHECKING:
    from gossamer.config import Cluster as ClusterFile
    from gossamer.config import Config
    from gossamer.device import Image

_MOST_BOARDS = 4
"""Maximum number of boards, or tiles of a board, that are named one by one."""


class Cluster(Tile):
    """All boards of a cluster, or the board of a configuration, used like a ``Tile``.

    ``workers`` threads, or ``ranks`` MPI processes on possibly several machines, simulate the boards; cycles and output
    do not depend on their number. Ranks write neither waves nor traces. ``frame_loss`` is the share of frames that
    wires lose, and the share that they damage; ``seed`` selects these frames. ``cut`` are cables to cut, as
    ``LINK@CYCLE`` of the first run, or ``LINK`` for a cable that is never up. ``flight`` replaces the flight time of
    the configuration on all wires. ``jobs`` share the boards: each has its own program (``load_image``), and no thread
    is started on other boards. Waves are those of one ``tile``. ``flat``: the single board is one model, for
    comparison. Raises InputError for a cluster that cannot be simulated.
    """

    def __init__(
        self,
        cluster: ClusterFile | Config | Plan,
        *,
        frame_loss: float = 0.0,
        cut: Sequence[str] = (),
        seed: int = 1,
        waves: Path | None = None,
        trace: Path | None = None,
        least_wait: int = LEAST_WAIT,
        trace_bytes: int = TRACE_BYTES,
        program: str = "",
        simulator: Path | None = None,
        plusargs: Sequence[str] = (),
        workers: int | None = None,
        ranks: int = 1,
        tile: int = 0,
        flat: bool = False,
        flight: int | None = None,
        jobs: Sequence[Job] = (),
    ) -> None:
        self.plan = cluster if isinstance(cluster, Plan) else Plan(cluster)
        if not 0.0 <= frame_loss < 1.0:
            raise InputError(f"--frame-loss {frame_loss:g}: must be 0 or more, and less than 1")
        self._cuts = cuts(self.plan, cut)
        self._loss, self._seed = round(frame_loss * (1 << 20)), seed
        config = self.plan.config
        self._board_tiles = config.tiles
        self._tiles_of_memory = config.tiles // config.memory.dram.count
        self._flight = int(config.links.flight_cycles) if flight is None else flight
        self.jobs = tuple(jobs) or (Job(self.plan.cluster.name, tuple(range(self.plan.boards))),)
        """The jobs that share the boards; a single job on all boards if none were given."""
        self._shared = bool(jobs)
        self._job_of = {board: job for job, its in enumerate(self.jobs) for board in its.boards}
        if ranks > self.plan.boards:
            raise InputError(
                f"--ranks {ranks}: cluster {self.plan.cluster.name} has {self.plan.boards} "
                f"board{'' if self.plan.boards == 1 else 's'}, and each rank simulates at least one"
            )
        for name, asked in (("waves", waves), ("trace", trace), ("workers", workers)):
            if ranks > 1 and asked is not None:
                raise InputError(f"--{name}: not with --ranks; omit one of them")
        self._ranks = ranks
        self._flat = flat
        self._shown = tile
        # Workers share the boards, or the tiles of a single board.
        shares = config.tiles if self.plan.boards == 1 else self.plan.boards
        self._workers = workers or min(len(os.sched_getaffinity(0)), shares)
        self.tiles = config.tiles * self.plan.boards
        super().__init__(
            config,
            waves=waves,
            trace=trace,
            least_wait=least_wait,
            trace_bytes=trace_bytes,
            program=program,
            simulator=simulator,
            plusargs=plusargs,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Columns and rows of boards, for ``device.build``."""
        return self.plan.shape

    def _executable(self, config: Config, waves: bool) -> Path:
        slots = next(size for size in (1, 2, 4, 8, MAX_JOBS) if size >= len(self.jobs))
        return _rtl_build.cluster(config, self.plan.links, jobs=slots, waves=waves, flat=self._flat)

    def _options(self) -> list[str]:
        options = ["--boards", str(self.plan.boards), "--loss", str(self._loss), "--damage", str(self._loss)]
        options += ["--seed", str(self._seed), "--flight", str(self._flight)]
        for board in self.plan.hosts:
            options += ["--host", str(board)]
        for wire in self.plan.wires(self._cuts):
            options += ["--wire", ",".join(map(str, wire))]
        return ["--workers", str(self._workers), "--tile", str(self._shown), *options]

    def _start(self, command: Sequence[str | Path]) -> Simulator:
        if self._ranks == 1:
            return super()._start(command)
        start = mpi_launcher.launcher()
        ranks = [*command, "--ranks", start.library, "--socket"]
        return Simulator(lambda socket: start.command(self._ranks, [*ranks, socket]))

    def _about(self) -> dict[str, Any]:
        return super()._about() | about_links(self.plan)

    def _label(self) -> str:
        name = self.plan.cluster.name
        return f"a board of {name}" if self.plan.cluster.is_alone else f"cluster {name}"

    # ---- Control units ----

    def _facts(self) -> str:
        return self.plan.facts(self.jobs, flight=self._flight)

    def flush_record_caches(self) -> None:
        """Invalidates the record caches of all multicast routers, after the host has written new records to memory."""
        self.link.call("flush_records")

    def network_counters(self, before: NetworkCounters | None = None) -> NetworkCounters:
        """Counters of links, by board and link, and of boards, since reset, or since ``before``."""
        return self._network_counters(before)

    def _network_counters(self, before: NetworkCounters | None = None) -> NetworkCounters:
        names = constants.enumeration("link_counter").values
        own = constants.enumeration("board_counter").values
        keys: list[tuple[int, int, str, int]] = []
        for board in range(self.plan.boards):
            for unit in self.plan.links_of(board):
                keys += [(board, unit, name, number) for name, number in names.items()]
            keys += [(board, BOARD_UNIT, name, number) for name, number in own.items()]
        values = self.link.counters([(board, unit, number) for board, unit, _, number in keys])
        links: dict[tuple[int, int], dict[str, int]] = {}
        boards: list[dict[str, int]] = [{} for _ in range(self.plan.boards)]
        for (board, unit, name, _), value in zip(keys, values, strict=True):
            if before is not None and name != "state":
                old = before[1][board][name] if unit == BOARD_UNIT else before[0][board, unit][name]
                value = (value - old) % (1 << 32)
            if unit == BOARD_UNIT:
                boards[board][name] = value
            else:
                links.setdefault((board, unit), {})[name] = value
        return links, boards

    # ---- Tables ----

    def drained(self) -> bool:
        """Whether the boards report that no packet is in flight in the whole fabric."""
        return bool(self.link.call("drained"))

    def replace_tables(self, change: TableUpdate) -> None:
        """Loads new tables into all boards, also while threads run.

        Tables that cannot coexist with the old ones are loaded only when no packet is in flight; raises InputError if
        the fabric does not drain.
        """
        self.link.call("update", change.plan.facts(self.jobs, drain=change.fault, flight=self._flight).encode())
        self.plan = change.plan

    # ---- Jobs ----

    def load_image(self, image: Image, *, job: int = 0, on_progress: Callable[[int, int], object] = silent) -> None:
        """Loads the program of a job, given by its number."""
        self._loading = job
        super().load_image(image, on_progress=on_progress)

    def _names_of(self, image: Image) -> list[tuple[int, int, str]]:
        # A trace has a single table of functions, so several jobs have none.
        return [] if len(self.jobs) > 1 else super()._names_of(image)

    def _started(self, threads: int) -> list[int]:
        each = self.config.threads
        if self._shared:
            return [each * (board in self._job_of) for board in range(self.plan.boards)]
        return [min(max(threads - each * board, 0), each) for board in range(self.plan.boards)]

    # ---- Memory ----

    def _first_tile(self) -> int:
        board = self.jobs[self._loading].boards[0] if self._shared else self.plan.hosts[0]
        return board * self._board_tiles

    def read(self, address: int, words: int, *, board: int = 0) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
        """Words of a board's memory, as in ``Tile.read``."""
        self.flush()
        return np.frombuffer(self.link.read(board * self._board_tiles, address, 4 * words), np.uint32)

    # ---- Descriptions ----

    def place(self, thread: int) -> str:
        """``a 0,1.5``: board, tile and thread of the tile."""
        each = self.config.threads_per_tile
        tile, width = thread // each, self.config.mesh.width
        board, its = divmod(tile, self._board_tiles)
        return f"{self.plan.cluster.boards[board].name} {its % width},{its // width}.{thread % each}"

    def on_boards(self, threads: Iterable[int]) -> str:
        """The boards and tiles of threads: `` (board a, tile 1,0)``; many of them only as their number.

        A single board is not named.
        """
        each, width = self.config.threads_per_tile, self.config.mesh.width
        if self.plan.cluster.is_alone:
            return on_tiles(threads, each, width)
        found = sorted({divmod(thread // each, self._board_tiles) for thread in threads})
        boards: dict[int, list[str]] = {}
        for board, tile in found:
            boards.setdefault(board, []).append(f"{tile % width},{tile // width}")
        if len(boards) > _MOST_BOARDS:
            return f" ({len(found)} tiles of {len(boards)} boards)"
        parts = []
        for board, tiles in boards.items():
            named = f"{len(tiles)} tiles" if len(tiles) > _MOST_BOARDS else ", ".join(tiles)
            word = "tile" if len(tiles) == 1 else "tiles"
            parts.append(
                f"board {self.plan.cluster.boards[board].name}, "
                + (named if len(tiles) > _MOST_BOARDS else f"{word} {named}")
            )
        return f" ({'; '.join(parts)})" if parts else ""

    def describe_event(self, event: Event) -> str:
        """An event as a line: the reporting board, the event, and its link, address, job or tile."""
        return _events.describe(self.plan, event)

    def switch_port(self, board: int, port: int) -> tuple[str, str]:
        """A board, and the neighbour at a port of its switch: its tiles, ``link a:east``, another local port."""
        name, exits = self.plan.cluster.boards[board].name, self.config.router.mesh_ports
        if port < exits:
            return name, "its tiles"
        links = self.plan.links_of(board)
        if port - exits < self.plan.links:
            return name, f"link {name}:{links[port - exits]}" if port - exits in links else f"link {port - exits}"
        streams = ", streaming ports" if self.config.stream.ports else ""
        return name, f"its control unit{streams} or host"


def about_links(plan: Plan) -> dict[str, Any]:
    """The description of a cluster's boards and links in snapshots; nothing for a single board."""
    if plan.cluster.is_alone:
        return {}
    links = ((board, link, name) for board in range(plan.boards) for link, name in plan.links_of(board).items())
    return {
        "cluster": plan.cluster.name,
        "boards": [board.name for board in plan.cluster.boards],
        "link_names": list(links),
        "link_bytes": plan.config.links.rate_mbps / 8 / plan.config.board.clock_mhz,
    }


__all__ = ["Cluster", "Job", "Plan", "TableUpdate", "about_links", "cuts", "jobs", "read_tables"]
