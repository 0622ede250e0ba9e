# SPDX-License-Identifier: Apache-2.0
"""The ``board`` engine: programs on boards behind Ethernet shells, reached by Ethernet frames alone.

    with Boards(config.load("tiny"), Place()) as boards:
        boards.load_image(device.build("prog.c", boards.config))
        run = boards.run(boards.threads, on_line=print)

Loading, configuration in band, and results are those of the ``rtl`` engine (``rtl_cluster.py``); another program
(``src/boards/board_session.cc``) takes the place of the simulator. The boards' time does not wait for their host, so
two runs do not take the same cycles.
"""

from __future__ import annotations

import dataclasses
import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer.engines import _board_build, _names, _rtl_build
from gossamer.engines._machine import Link
from gossamer.engines._rtl_plan import MAX_JOBS, Job, Plan
from gossamer.engines._rtl_simulator import Run, Simulator
from gossamer.engines.rtl_cluster import Cluster
from gossamer.engines.rtl_vertices import Hardware
from gossamer.errors import InputError

if TYPE_CHECKING:
    from gossamer.config import Cluster as ClusterFile
    from gossamer.config import Config
    from gossamer.engines.rtl import Tile

NAME = _names.BOARD
UNSUPPORTED = (
    "waves", "trace", "trace-size", "least-wait", "tile", "workers", "ranks", "frame-loss", "cut", "seed",
)  # fmt: skip
"""Options of the engine ``rtl`` that need a simulator."""
_NO_CLUSTER = "no simulated cluster runs; start one with ./gossamer cluster sim up {0}, or give --port INTERFACE"


@dataclass(frozen=True)
class Place:
    """Where boards are: a port of this machine, and the file with the boards' keys.

    Without a port they are those of the simulated cluster that ``./gossamer cluster sim up`` has started.
    """

    port: str | None = None
    keys: str | None = None
    wait: float = 0.5
    """Seconds for boards to announce themselves."""
    role: str | None = None
    """File of the role that is the configuration's board; by default one for simulated boards is built."""

    def open(self, plan: Plan, jobs: Sequence[Job] = ()) -> Boards:
        """The boards of a plan."""
        return Boards(plan, self, jobs=jobs)


_LOOKS = 5
_FRESH = 2.0
"""Seconds for which boards that were found need not be looked for again."""


@dataclass(frozen=True)
class _Found:
    """Boards for a run, and how to reach them."""

    port: str
    boards: list[tuple[int, list[bytes]]]
    """Address and keys of each board."""


def find(place: Place, count: int) -> _Found:
    """Boards of the right type without a session, whose keys are known. Raises InputError if there are too few."""
    from gossamer.shell import Host, keys, mac_text, simulation

    port, key_file = place.port, place.keys
    if port is None:
        running = simulation.running()
        if running is None:
            raise InputError(_NO_CLUSTER.format(count))
        port, key_file = running.socket, key_file or running.keys
    known = keys.read(Path(key_file)) if key_file else {}
    with Host(port, known) as host:
        # A board that is slow to answer, such as a simulated one, announces itself once a second.
        for _ in range(_LOOKS):
            announced = sorted(host.discover(place.wait), key=lambda board: board.mac)
            if len(announced) >= count:
                break
        unreadable = host.unreadable()
    usable, why = [], [f"board {mac_text(mac)} {reason}" for mac, reason in unreadable.items()]
    for board in announced:
        name = f"board {mac_text(board.mac)}"
        if board.board_type != _rtl_build.BOARD_TYPE:
            why.append(f"{name} is of type {board.board_type}, not {_rtl_build.BOARD_TYPE}")
        elif board.owner is not None:
            why.append(f"{name} has a session with {mac_text(board.owner)}")
        elif board.mac not in known:
            why.append(f"{name} has no key; name a file with --keys")
        else:
            usable.append(board.mac)
    if len(usable) < count:
        boards = f"{count} board{'s are' if count > 1 else ' is'} needed and {len(usable) or 'none'} can be used"
        raise InputError(f"{port}: {boards}" + (f": {'; '.join(why)}" if why else "; check cables and the port"))
    chosen = usable[:count]
    return _Found(port, [(mac, [known[mac], *_next(known[mac])]) for mac in chosen])


def _next(key: bytes) -> list[bytes]:
    """The next key of a board whose key is being renewed."""
    from gossamer.shell.host import BoardKey

    return [key.next] if isinstance(key, BoardKey) else []


class Boards(Cluster):
    """The boards of a cluster, or one board, behind Ethernet shells; used like a ``Cluster``.

    Raises InputError if the boards of ``place`` cannot be used.
    """

    def __init__(
        self,
        cluster: ClusterFile | Config | Plan,
        place: Place,
        *,
        jobs: Sequence[Job] = (),
        streams: int = 0,
        kernels: int = 0,
    ) -> None:
        """The first job has the first ``streams`` streaming ports. ``kernels`` is the identity of the memory that their
        kernels share with the boards (sim/board/role.cc)."""
        plan = cluster if isinstance(cluster, Plan) else Plan(cluster)
        self._place, self._streams, self._kernels = place, streams, kernels
        # The role may take minutes to build, so boards that cannot be used are reported first. Another host may have
        # opened sessions meanwhile, so they are looked for again unless they have just been found.
        if place.role and not Path(place.role).is_file():
            raise InputError(f"{place.role}: no such file; name the file of a role for these boards")
        self._found = find(place, plan.boards)
        self._found_at = time.monotonic()
        super().__init__(plan, jobs=jobs)

    def _slots(self) -> int:
        return next(size for size in (1, 2, 4, 8, MAX_JOBS) if size >= len(self.jobs))

    def _executable(self, config: Config, waves: bool) -> Path:
        return _board_build.session(config)

    def _options(self) -> list[str]:
        return []

    def _status(self, program: str) -> list[str]:
        return []

    def _start(self, command: Sequence[str | Path]) -> Simulator:
        from gossamer.shell import mac_text

        role = self._place.role or _rtl_build.board_role(self.config, self.plan.links, jobs=self._slots())
        found = self._found
        if time.monotonic() - self._found_at > _FRESH:
            found = find(self._place, self.plan.boards)
        facts = [f"port {found.port}", f"role {role}", f"type {_rtl_build.BOARD_TYPE}"]
        facts.append(f"hosts {' '.join(map(str, self.plan.hosts))}")
        # Keys pass through a pipe, since other users can read the arguments of a program.
        facts += [f"board {mac_text(mac)} {' '.join(key.hex() for key in keys)}" for mac, keys in found.boards]
        facts += [f"kernels {self._kernels}"] if self._kernels else []
        self._places = [*facts, *self._links()]
        return Simulator([command[0]])

    def _facts(self) -> str:
        streams = {0: (0, self._streams)} if self._streams else None
        return self.plan.facts(self.jobs, flight=self._flight, streams=streams)

    def _open(self, link: Link) -> None:
        link.call("open", "".join(f"{fact}\n" for fact in self._places).encode())

    def _links(self) -> Iterator[str]:
        """Both directions of each cable, with a random identity of the cable."""
        identities: dict[frozenset[tuple[int, int]], int] = {}
        for board, link, peer, its, _ in self.plan.wires({}):
            cable = frozenset(((board, link), (peer, its)))
            identity = identities.setdefault(cable, secrets.randbits(64))
            yield f"link {board} {link} {peer} {its} {identity}"

    def run(self, threads: int, **how: Any) -> Run:
        run = super().run(threads, **how)
        return dataclasses.replace(run, instructions=run.counters["instructions"], engine=NAME)


@dataclass
class BoardHardware(Hardware):
    """Runs the vertices of an application on boards."""

    name = NAME
    place: Place = field(default_factory=Place)

    def simulator(self, config: Config) -> Tile:
        self.done, self.simulated = None, None
        self.simulated = Boards(config if self.plan is None else self.plan, self.place)
        return self.simulated


__all__ = ["NAME", "UNSUPPORTED", "BoardHardware", "Boards", "Place", "find"]
