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
import struct
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.config import constants
from gossamer.engines import _rtl_build, _rtl_control, _rtl_network, _rtl_plan, _rtl_settings
from gossamer.engines._rtl_plan import MAX_JOBS, NO_JOB, Job, Plan, TableUpdate, cuts, jobs, read_tables
from gossamer.engines._rtl_simulator import Kind, Simulator, silent
from gossamer.engines.rtl import LEAST_WAIT, TRACE_BYTES, NetworkCounters, RecordHandler, Tile, on_tiles
from gossamer.errors import InputError, RunDied
from gossamer.hosts import mpi_launcher

if TYPE_CHECKING:
    from gossamer.config import Cluster as ClusterFile
    from gossamer.config import Config
    from gossamer.device import Image

_LINK_PATIENCE = 200_000
"""Cycles within which a link must come up, in addition to eight flight times for the handshake."""
_DRAIN_PATIENCE = 100_000
"""Cycles within which packets in flight must arrive, in addition to eight flight times."""
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
        self._flight = int(config.links.flight_cycles) if flight is None else flight
        self.jobs = tuple(jobs) or (Job(self.plan.cluster.name, tuple(range(self.plan.boards))),)
        """The jobs that share the boards; a single job on all boards if none were given."""
        self._shared = bool(jobs)
        self._job_of = {board: job for job, its in enumerate(self.jobs) for board in its.boards}
        self._loading = 0
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
        return Simulator(lambda socket: mpi_launcher.command(self._ranks, command, socket))

    def _about(self) -> dict[str, Any]:
        if self.plan.cluster.is_alone:
            return super()._about()
        return {
            **super()._about(),
            "cluster": self.plan.cluster.name,
            "boards": [board.name for board in self.plan.cluster.boards],
            "link_names": [
                (board, link, name)
                for board in range(self.plan.boards)
                for link, name in self.plan.links_of(board).items()
            ],
            "link_bytes": self.config.links.rate_mbps / 8 / self.config.board.clock_mhz,
        }

    def _label(self) -> str:
        name = self.plan.cluster.name
        return f"a board of {name}" if self.plan.cluster.is_alone else f"cluster {name}"

    # ---- Control units ----

    def control(
        self, packets: Sequence[_rtl_network.Flits], answers: int | None = None, on_record: RecordHandler = silent
    ) -> list[_rtl_control.Answer]:
        """Sends packets to control units and waits for an answer to each. Raises RunDied if a unit rejects a packet.

        ``on_record`` is called with other records received meanwhile.
        """
        found = []
        for part in _rtl_settings.batches(packets):
            wanted = len(part) if answers is None else answers
            self._simulator.request("N", struct.pack("<I", wanted) + np.concatenate(part).tobytes())
            for record in self._simulator.until_done():
                decoded = None
                if record.kind == Kind.PACKET:
                    decoded = _rtl_control.decode(_rtl_network.flits(record.payload), record.cycle)
                if isinstance(decoded, _rtl_control.Answer):
                    found.append(decoded)
                else:
                    on_record(record)
        for answer in found:
            if answer.rejection:
                board = self.plan.cluster.boards[answer.board].name
                asked = constants.enumeration("control_op").values
                what = next((name for name, value in asked.items() if value == answer.asked), str(answer.asked))
                raise RunDied(f"board {board}: its control unit rejected a packet ({what}, {answer.rejection})")
        return found

    def _configure(self) -> None:
        plan = self.plan
        done: set[int] = set()
        for board in plan.order():
            for own, other, _ in plan.cluster.neighbours(board):
                cable = plan.cable_at(board, plan.link(board, own))
                if other in done and cable is not None and not plan.avoided(cable):
                    self._wait_for_link(cable, other)
            self.control(_rtl_settings.first_route(plan, board), 0)
            self.control(_rtl_settings.settings(plan, board))
            done.add(board)
        relay, idle = plan.broadcast_tree(plan.hosts[0]), plan.tree(plan.middle())
        tiles = (1 << self._board_tiles) - 1
        for board in range(plan.boards):
            slots = [
                _rtl_control.packet(
                    board,
                    "job",
                    tiles=tiles if self._job_of.get(board) == job else 0,
                    host=_rtl_control.host(0),
                    place=job,
                    job=job,
                )
                for job in range(len(self.jobs))
            ]
            children = _rtl_control.children(relay.children[board])
            self.control([*slots, _rtl_control.packet(board, "relay", children=children)])
        # Parents are configured before their children.
        for board in idle.boards():
            self.control(
                [
                    _rtl_control.packet(
                        board,
                        "idle_tree",
                        of_job=job,
                        children=_rtl_control.children(idle.children[board]),
                        parent=idle.parent.get(board, 0),
                        root=int(board == idle.root),
                        enable=1,
                    )
                    for job in range(len(self.jobs))
                ]
            )

    def record_cache_flushes(self) -> list[_rtl_network.Flits]:
        """For each board the packet that invalidates its record caches; the board answers it."""
        return [_rtl_settings.sizes(self.plan, board, flush=True) for board in range(self.plan.boards)]

    def flush_record_caches(self) -> None:
        """Invalidates the record caches of all multicast routers, after the host has written new records to memory."""
        self.control(self.record_cache_flushes())

    def _wait_for_link(self, cable: int, board: int) -> None:
        """Waits until a board at an end of a cable reports the link as up. Raises InputError if it stays down."""
        one = self.plan.cluster.cables[cable]
        link = self.plan.link(board, one.a_link if one.a == board else one.b_link)
        state = constants.enumeration("link_counter")["state"]
        begun = None
        while True:
            (answer,) = self.control([_rtl_control.packet(board, "read", unit=link, counter=state)])
            if answer.value & 1:
                return
            begun = answer.cycle if begun is None else begun
            if answer.cycle - begun > _LINK_PATIENCE + 8 * self._flight:
                raise InputError(
                    f"cluster {self.plan.cluster.name}: link {self.plan.cable_name(cable)} did not come up"
                )

    def _network_counters(self, before: NetworkCounters | None = None) -> NetworkCounters:
        names = constants.enumeration("link_counter").values
        own = constants.enumeration("board_counter").values
        packets, keys = [], []
        for board in range(self.plan.boards):
            units = [(link, names) for link in self.plan.links_of(board)] + [(_rtl_control.BOARD_UNIT, own)]
            for unit, counters in units:
                for name, number in counters.items():
                    packets.append(_rtl_control.packet(board, "read", unit=unit, counter=number))
                    keys.append((board, unit, number, name))
        values = {(one.board, one.unit, one.counter): one.value for one in self.control(packets)}
        links: dict[tuple[int, int], dict[str, int]] = {}
        boards: list[dict[str, int]] = [{} for _ in range(self.plan.boards)]
        for board, unit, number, name in keys:
            value = values[board, unit, number]
            if before is not None and name != "state":
                old = before[1][board][name] if unit == _rtl_control.BOARD_UNIT else before[0][board, unit][name]
                value = (value - old) % (1 << 32)
            if unit == _rtl_control.BOARD_UNIT:
                boards[board][name] = value
            else:
                links.setdefault((board, unit), {})[name] = value
        return links, boards

    # ---- Tables ----

    def drained(self) -> bool:
        """Whether the boards report that no packet is in flight in the whole fabric."""
        return _rtl_plan.drained(self.plan, self.control)

    def replace_tables(self, change: TableUpdate, *, on_record: RecordHandler = silent) -> None:
        """Loads new tables into all boards; ``on_record`` is called with records of running threads.

        Tables that cannot coexist with the old ones are loaded only when no packet is in flight; raises InputError if
        the fabric does not drain.
        """

        def ask(packets: list[_rtl_network.Flits]) -> list[_rtl_control.Answer]:
            return self.control(packets, on_record=on_record)

        if change.fault:
            _rtl_plan.wait_until_drained(self.plan, ask, _DRAIN_PATIENCE + 8 * self._flight)
        change.load(ask)
        self.plan = change.plan

    # ---- Jobs ----

    def load_image(self, image: Image, *, job: int = 0, on_progress: Callable[[int, int], object] = silent) -> None:
        """Loads the program of a job, given by its number."""
        self._loading = job
        super().load_image(image, on_progress=on_progress)

    def _names_of(self, image: Image) -> list[tuple[int, int, str]]:
        # A trace has a single table of functions, so several jobs have none.
        return [] if len(self.jobs) > 1 else super()._names_of(image)

    def _started(self) -> list[int] | None:
        each = self.config.threads
        return [each * (board in self._job_of) for board in range(self.plan.boards)] if self._shared else None

    def _job_at(self, dest: int) -> int:
        kind, board = dest >> 29, dest >> 14 & 0xFFF
        is_broadcast = kind == constants.enumeration("endpoint")["control"]
        return self._loading if is_broadcast else self._job_of.get(board, NO_JOB)

    # ---- Memory ----

    def _loaders(self) -> list[int]:
        first = self.jobs[self._loading].boards[0]
        return self._loaders_of(first if self._shared else self.plan.hosts[0])

    def _memories(self) -> list[int]:
        return [dest for board in range(self.plan.boards) for dest in self._loaders_of(board)]

    def _loaders_of(self, board: int) -> list[int]:
        width, each = self.config.mesh.width, self._board_tiles // self.config.memory.dram.count
        tiles = range(0, self._board_tiles, each)
        return [_rtl_network.tile(tile % width, tile // width, board) for tile in tiles]

    def _every_memory(self) -> list[tuple[int, int]]:
        boards = len(self.jobs[self._loading].boards)
        return [(self._every_tile()[0], boards * self.config.memory.dram.count)]

    def _every_tile(self) -> tuple[int, int]:
        boards = len(self.jobs[self._loading].boards)
        return _rtl_control.address(self.plan.hosts[0]), boards * self._board_tiles

    def read(self, address: int, words: int, *, board: int = 0) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
        """Words of a board's memory, as in ``Tile.read``."""
        self.flush()
        line = self.config.cache.line_bytes
        begin, end = address // line * line, -(-(address + 4 * words) // line) * line
        data = self._lines(begin, end - begin, self._loaders_of(board)[0])
        return np.frombuffer(data[address - begin :], np.uint32, words).copy()

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

    def describe_event(self, event: _rtl_control.Event) -> str:
        """An event as a line: the reporting board, the event, and its link, address, job or tile."""
        board = self.plan.cluster.boards[event.board].name
        doc = constants.enumeration("board_event").docs.get(event.what, "something unknown happened")
        if event.what.startswith("link_"):
            cable = self.plan.cable_at(event.board, event.unit)
            link = self.plan.cable_name(cable) if cable is not None else f"link {event.unit}"
            return f"board {board}: {event.what}: {doc}; link {link}"
        if event.what == "unroutable":
            return f"board {board}: {event.what}: {doc}; address {event.value & 0xFFFF_FFFF:#010x}, {self._port(event)}"
        if event.what == "record":
            return f"board {board}: {event.what}: {doc}; {self._port(event)}"
        if event.what == "job":
            return f"board {board}: {event.what}: {doc}; job {event.value & 0x1F}"
        if event.what == "control":
            why = _rejection(event.value >> 32 & 0xF)
            job = event.value >> 36 & 0x1F
            of_job = f", job {job}" if job != _rtl_control.NO_JOB else ""
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
        if event.what == "stream_fault":
            fields = constants.layout("stream_fault_report").unpack(event.value)
            faults = constants.enumeration("stream_fault")
            about = next((faults.docs[name] for name, value in faults.values.items() if value == fields["fault"]), "?")
            return (
                f"board {board}: {event.what}: streaming port {fields['port']} of job {fields['job']}, rank "
                f"{fields['own']}, and its peer, rank {fields['peer']}: {about}"
            )
        return f"board {board}: {event.what}: {doc}"

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

    def _port(self, event: _rtl_control.Event) -> str:
        exits = self.config.router.mesh_ports
        if event.unit < exits:
            return "from its own tiles"
        names = self.plan.links_of(event.board)
        return f"from link {names[event.unit - exits]}" if event.unit - exits in names else "from the host"


def _rejection(number: int) -> str:
    """The description of a reason for rejection."""
    rejections = constants.enumeration("rejection")
    name = next((name for name, value in rejections.values.items() if value == number), "")
    return rejections.docs[name] if name else f"rejection {number}"


__all__ = ["Cluster", "Job", "Plan", "TableUpdate", "cuts", "jobs", "read_tables"]
