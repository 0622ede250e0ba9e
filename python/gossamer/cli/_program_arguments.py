# SPDX-License-Identifier: Apache-2.0
"""The arguments of ``./gossamer run`` for a program on simulated hardware."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer import files
from gossamer.cli import _run_arguments
from gossamer.errors import InputError

if TYPE_CHECKING:
    from gossamer.config import Cluster, Config
    from gossamer.engines import board, guest
    from gossamer.engines.rtl_cluster import Cluster as SimulatedCluster
    from gossamer.engines.rtl_cluster import Plan, TableUpdate


ENDINGS = (".c", ".S", ".o", ".elf")
"""Endings of programs that are always for a tile. Others are for a tile with the engine rtl, else have a host."""
CONFIG = "tiny"
GRAPH_OPTIONS = {
    "mapping": "maps vertices of a graph",
    "multicast": "selects how vertices of a graph send",
    "max-steps": "limits the steps of a graph's vertices",
}
"""Options that need a graph, and what they do."""

HELP = """Usage: ./gossamer run FILE... --engine rtl|fast|board [OPTIONS]
       ./gossamer run FOLDER --engine rtl|fast|board [OPTIONS]
       ./gossamer run FILE@BOARD,BOARD FILE@BOARD ... --engine rtl --cluster NAME

Compiles a program for the threads of a board, loads it into the simulated hardware
(rtl), into boards that are executed by instructions (fast: estimated cycles), or into
boards on Ethernet (board), and runs main() on all threads. FILEs are C (.c), C++ (.cpp,
.cc, .cxx), assembly (.S) or objects (.o) of one program, or one .elf.
A FOLDER means all sources directly in it. With @ and boards of a cluster, each FILE is
a program of its own that runs as a job on these boards. Output lines begin with the
number of their thread; compiler warnings and traps are printed to standard error.
Exit code: 0 if all threads returned 0, 1 if one did not, 2 if the input is wrong,
4 if a thread trapped or the run was stuck.

Options:
  -c, --config NAME     configuration: a name or a file (default tiny)
      --cluster NAME    all boards of a cluster: a name (pair, quad4, ...) or a file;
                        it names the configuration of its boards
  -t, --threads N       threads to start, from 0 up (default: all of the board)
      --one-tile        simulate a single tile, without the mesh and the other tiles
      --workers N       threads of this machine that simulate a board or a cluster
                        (default: one per processor); cycle counts do not depend on it
      --ranks N         MPI processes that simulate the boards of a cluster, possibly on
                        several machines; cycle counts do not depend on it
      --routes FILE     routing tables of ./gossamer routes NAME --tables FILE
      --next-routes FILE@CYCLE  new tables, loaded in that cycle of the run, even with
                        packets in flight (may be repeated); for a program with a host
                        FILE only: the host loads them with loadRoutes
      --frame-loss RATE share of frames lost on links between boards, and share of
                        frames damaged (default 0)
      --cut LINK@CYCLE  cut a link in that cycle of the run, as in a:east@5000;
                        without @CYCLE it never comes up (may be repeated)
      --seed N          seed of frame loss (default 1)
      --port PORT       with --engine board: the interface at which boards are; without it
                        those that ./gossamer cluster sim up has started
      --keys FILE       with --port: the boards' keys
      --stats [FILE]    print cycles, instructions and counters; write them to FILE as
                        JSON if the next argument ends with .json (or: --stats=FILE)
      --waves FILE      write waves of a tile (FST, for GTKWave or Surfer)
      --tile X,Y        the tile whose waves are written (default 0,0); BOARD:X,Y for a
                        board of a cluster other than the first
      --trace FILE      write a trace of running and waiting threads, with an arrow for
                        each message (for ui.perfetto.dev)
      --trace-size MB   maximum size of the trace (default 64); a larger one is thinned
      --report FILE     write an HTML page: figures, utilization maps of tiles and links
      --least-wait N    cycles of the shortest wait in the trace (default 24)
      --max-cycles N    abort after N cycles
      --watchdog N      abort after N cycles without an instruction and without output
                        (default 1,000,000; 0: never)
      --input FILE      bytes that thread 0 reads from its debug channel
      --timeout N       with a host (HostLink.h): abort when the host has computed for N
                        seconds without a call; arguments of the host follow --
      --raw-text        print the output of threads unchanged; without it control
                        characters other than tabs are printed as \\x1b and the like
      --mapping NAME, --multicast NAME, --max-steps N: with a host that has a PGraph, as
                        of an application (./gossamer run --help)
  -D, --define M=VALUE  define a macro for the program
  -I, --include FOLDER  search FOLDER for headers of the program

Examples:
  ./gossamer run programs/hello.c --engine rtl --config tiny
  ./gossamer run programs/hello.c --engine board --port eth0 --keys keys.json
  ./gossamer run programs/ring.c --engine rtl --stats --trace ring.pftrace
  ./gossamer run programs/heat.c --engine rtl --config quad --workers 2
  ./gossamer run programs/hello.c --engine rtl --cluster pair --frame-loss 0.01
  ./gossamer run heat.c@x0y0,x1y0 ring.c@x0y1 --engine rtl --cluster quad4
  ./gossamer run main.c fast.S -I include --engine rtl
  ./gossamer run mine/ --engine rtl --threads 4 --max-cycles 100000 --waves mine.fst
"""

_VALUES = {
    "--engine": "engine",
    "-e": "engine",
    "--config": "config",
    "-c": "config",
    "--cluster": "cluster",
    "--routes": "routes",
    "--next-routes": "next-routes",
    "--frame-loss": "frame-loss",
    "--cut": "cut",
    "--seed": "seed",
    "--threads": "threads",
    "-t": "threads",
    "--waves": "waves",
    "--trace": "trace",
    "--trace-size": "trace-size",
    "--report": "report",
    "--least-wait": "least-wait",
    "--max-cycles": "max-cycles",
    "--watchdog": "watchdog",
    "--input": "input",
    "--workers": "workers",
    "--mapping": "mapping",
    "--multicast": "multicast",
    "--max-steps": "max-steps",
    "--ranks": "ranks",
    "--tile": "tile",
    "--port": "port",
    "--keys": "keys",
    "--role": "role",
    "--define": "define",
    "-D": "define",
    "--timeout": "timeout",
    "--include": "include",
    "-I": "include",
}
_READ = ("config", "cluster", "routes", "keys", "role", "input")
"""Options whose values are or may be files that the command reads."""


def is_one(arguments: Sequence[str]) -> bool:
    """Whether the arguments name a program for a tile."""
    at = _run_arguments.first_plain(arguments, {*_run_arguments.VALUES, *_VALUES})
    first = "" if at is None else arguments[at]
    program, at_sign, _ = first.rpartition("@")
    if at_sign and program and not os.path.exists(first):
        first = program
    engines = [value for word, value in _options(arguments) if word in ("--engine", "-e")]
    if (
        engines
        and engines[-1] == "model"
        and (first.endswith(ENDINGS) or _is_folder(first) or host_at(arguments) == at)
    ):
        raise InputError(f"{first}: the engine model runs applications; use --engine rtl")
    if first.endswith(ENDINGS):
        return True
    if engines and engines[-1] in _run_arguments.ON_HARDWARE:
        # Any path that is not the header of a vertex; whether it is a program is checked when it is read.
        looks = ("/" in first or "." in first) and not first.endswith((".h", ".hpp"))
        return looks or _is_folder(first)
    if _is_folder(first):
        raise InputError(f"{first}: is a folder; a folder with a program for threads of a tile needs --engine rtl")
    return False


def host_at(arguments: Sequence[str]) -> int | None:
    """The position of a program with a host of its own (PGraph), which receives the arguments after it."""
    from gossamer.hosts import pgraph

    at = _run_arguments.first_plain(arguments, {*_run_arguments.VALUES, *_VALUES})
    return at if at is not None and pgraph.is_one(arguments[at]) else None


def _is_folder(word: str) -> bool:
    """Whether a word is a folder and not the name of an application."""
    if not os.path.isdir(word):
        return False
    from gossamer import apps

    return word not in apps.names()


def _options(arguments: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Options with their values, in any spelling; an argument that is not an option has the option name ''."""
    queue = iter(arguments)
    for word in queue:
        name, equals, value = word.partition("=")
        if word.startswith("--") and equals:
            yield name, value
        elif word in _VALUES:
            yield word, next(queue, None)
        elif len(word) > 2 and word[:2] in _VALUES:
            yield word[:2], word[2:]
        elif word.startswith("-") and len(word) > 1:
            yield word, None
        else:
            yield "", word


@dataclass
class Request:
    """The parsed arguments."""

    programs: list[str] = field(default_factory=list)
    help: bool = False
    raw: bool = False
    one_tile: bool = False
    stats: bool = False
    stats_file: Path | None = None
    options: dict[str, list[str]] = field(default_factory=dict)
    config: str = CONFIG
    """The configuration, if the arguments name none."""

    @classmethod
    def of(cls, arguments: Sequence[str]) -> Request:
        """Parses arguments. Raises InputError."""
        request = cls()
        after_stats = False
        for word, value in _options(arguments):
            if word == "":
                assert value is not None
                if after_stats and value.endswith(".json"):
                    request.stats_file = Path(value)
                elif after_stats and not (
                    value.endswith(ENDINGS) or "@" in value or os.path.isfile(value) or os.path.isdir(value)
                ):
                    raise InputError(
                        f"--stats {value}: is no name of statistics or of a program; write --stats={value}"
                    )
                else:
                    request.programs.append(value)
            elif word == "--stats":
                request.stats = True
                request.stats_file = Path(value) if value else None
            elif word in ("-h", "--help"):
                request.help = True
            elif word == "--raw-text":
                request.raw = True
            elif word == "--one-tile":
                request.one_tile = True
            elif word not in _VALUES:
                raise InputError(f"no such option for a program: {word}; see ./gossamer run prog.c --help")
            elif value is None:
                raise InputError(f"{word}: needs a value; see ./gossamer run prog.c --help")
            else:
                request.options.setdefault(_VALUES[word], []).append(value)
            after_stats = word == "--stats" and not value
        return request

    @property
    def program(self) -> str:
        """The name of the program in messages: the first of its files."""
        return self.programs[0]

    def one(self, name: str) -> str | None:
        """The last value of an option; None if it is not given."""
        return self.options[name][-1] if name in self.options else None

    def one_of(self, name: str, known: Sequence[str]) -> str:
        """The value of an option with these choices; the first choice if it is not given."""
        text = self.one(name)
        if text is None:
            return known[0]
        if text not in known:
            raise InputError(f"--{name}: {text!r} is none of {', '.join(known)}")
        return text

    def number(self, name: str, low: int) -> int | None:
        """The value of an option as an integer of at least ``low``; None if it is not given."""
        text = self.one(name)
        if text is None:
            return None
        digits = text.replace("_", "").replace(",", "")
        if not digits.isdecimal() or not low <= int(digits) < 2**63:
            raise InputError(f"--{name}: {text!r} is no whole number from {low} up")
        return int(digits)

    def share(self, name: str) -> float:
        """The value of an option as a number in [0, 1)."""
        text = self.one(name) or "0"
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0.0 <= value < 1.0:
            raise InputError(f"--{name}: {text!r} is no number from 0 up to 1")
        return value

    def outputs(self) -> tuple[Path | None, Path | None, Path | None]:
        """The files of --waves, --trace and --report; None for one that is not given.

        Raises InputError if one of them, or the file of --stats, cannot be written, is written twice, or is also read.
        """
        waves, trace, report = (None if (text := self.one(name)) is None else Path(text)
                                for name in ("waves", "trace", "report"))  # fmt: skip
        named = [("--waves", waves), ("--trace", trace), ("--report", report), ("--stats", self.stats_file)]
        read = [one for name in _READ for one in self.options.get(name, [])]
        files.check_outputs(named, [*self.programs, *read])
        return waves, trace, report

    def place(self, engine: str) -> board.Place | guest.Place | None:
        """Where boards are, for the engines ``board`` and ``guest``; None for another. Raises InputError for options of
        another engine."""
        from gossamer.engines import board, guest

        if engine == guest.NAME:
            for name in (*guest.UNSUPPORTED, "port", "keys", "role"):
                if name in self.options:
                    raise InputError(f"--{name}: is not for guests, which share their cluster; omit it")
            if self.one_tile:
                raise InputError("--one-tile: is not for guests, which share their cluster; omit it")
            return guest.Place.here()
        if engine != board.NAME:
            for name in ("port", "keys", "role"):
                if name in self.options:
                    raise InputError(f"--{name}: names boards on Ethernet; add --engine board")
            return None
        for name in board.UNSUPPORTED:
            if name in self.options:
                raise InputError(f"--{name}: needs a simulator; boards have none; use --engine rtl")
        if self.one_tile:
            raise InputError("--one-tile: needs a simulator; boards have none; use --engine rtl")
        return board.Place(self.one("port"), self.one("keys"), role=self.one("role"))

    def check_fast(self) -> None:
        """Raises InputError for options that the engine ``fast`` does not have."""
        from gossamer.engines import fast

        for name in fast.UNSUPPORTED:
            if name in self.options:
                raise InputError(f"--{name}: needs the simulated hardware; use --engine rtl")
        if self.one_tile:
            raise InputError("--one-tile: engine fast runs whole boards; use --threads, or --engine rtl")
        if self.has_host():
            raise InputError(f"{self.program}: has a host, which engine fast does not have; use --engine rtl")

    def has_host(self) -> bool:
        """Whether the program has a part that runs on this machine."""
        from gossamer.hosts import hostlink

        return hostlink.is_one(self.programs, self.options.get("include", []))

    def views(self, waves: Path | None, trace: Path | None) -> dict[str, Any]:
        """The constructor arguments of a machine that select its waves, trace and name."""
        from gossamer.engines import rtl

        least, size = self.number("least-wait", 0), self.number("trace-size", 1)
        return {
            "program": self.program,
            "waves": waves,
            "trace": trace,
            "least_wait": rtl.LEAST_WAIT if least is None else least,
            "trace_bytes": rtl.TRACE_BYTES if size is None else size * 1_000_000,
        }

    def hardware(self, place: object = None) -> tuple[Config, Cluster | None]:
        """The requested configuration, and the cluster; None as cluster for a single board or tile. ``place`` is that
        of the boards."""
        from gossamer import config as configs
        from gossamer.engines import guest

        if isinstance(place, guest.Place):
            return place.plan.config, place.plan.cluster
        name = self.one("cluster")
        if name is None:
            return configs.load(self.one("config") or self.config), None
        if self.one("config") is not None:
            raise InputError(f"--config: cluster {name} names the configuration of its boards; omit --config")
        if self.one_tile:
            raise InputError("--one-tile: not for clusters; omit --cluster")
        cluster = configs.load_cluster(name)
        return cluster.boards[0].config, cluster

    def tile(self, config: Config, cluster: Cluster | None) -> int:
        """The number of the tile in --tile: column and row, in a cluster after the name of its board."""
        text = self.one("tile")
        if text is None:
            return 0
        board, colon, place = text.rpartition(":")
        x, _, y = place.partition(",")
        mesh = config.mesh
        if not (x.isdecimal() and y.isdecimal() and int(x) < mesh.width and int(y) < mesh.height):
            raise InputError(f"--tile {text}: {config.name} has tiles from 0,0 to {mesh.width - 1},{mesh.height - 1}")
        number = int(y) * mesh.width + int(x)
        if not colon:
            return number
        if cluster is None:
            raise InputError(f"--tile {text}: names a board, but no cluster is given; write {place}")
        return cluster.board(board).index * config.tiles + number


# ---- Updates of routing tables ----


@dataclass
class TimedUpdate:
    """An update of routing tables at a cycle of the run."""

    file: str
    cycle: int
    change: TableUpdate
    loaded: bool = False


def table_updates(plan: Plan, files: Sequence[str]) -> list[TableUpdate]:
    """The updates from each table file to the next; the first file replaces the tables in use."""
    from gossamer.engines import rtl_cluster

    found: list[TableUpdate] = []
    for file in files:
        found.append(rtl_cluster.TableUpdate.of(plan, rtl_cluster.read_tables(plan.cluster, file)))
        plan = found[-1].plan
    return found


def timed_updates(request: Request, plan: Plan) -> list[TimedUpdate]:
    """The updates of --next-routes FILE@CYCLE. InputError for tables that cannot coexist with their predecessors."""
    wanted = []
    for text in request.options.get("next-routes", []):
        file, at, cycle = text.rpartition("@")
        if not (at and file and cycle.isdecimal()):
            raise InputError(f"--next-routes {text}: write FILE@CYCLE, for instance new.routes@20000")
        wanted.append((int(cycle), file))
    wanted.sort(key=lambda one: one[0])
    made = table_updates(plan, [file for _, file in wanted])
    for (_, file), change in zip(wanted, made, strict=True):
        if change.fault:
            raise InputError(
                f"{file}: {change.fault}; such tables can be loaded only while no packet is in flight: by a host, with "
                "HostLink::loadRoutes"
            )
    return [TimedUpdate(file, cycle, change) for (cycle, file), change in zip(wanted, made, strict=True)]


def host_updates(request: Request, plan: Plan) -> list[TableUpdate]:
    """The updates of --next-routes FILE, which a host loads."""
    files = request.options.get("next-routes", [])
    for file in files:
        _, at, cycle = file.rpartition("@")
        if at and cycle.isdecimal() and not os.path.exists(file):
            raise InputError(f"--next-routes {file}: the host loads it with HostLink::loadRoutes; omit @{cycle}")
    return table_updates(plan, files)


def update_pauses(cluster: SimulatedCluster, wanted: Sequence[TimedUpdate]) -> list[tuple[int, Callable[[], object]]]:
    """Cycles at which a run pauses, and the action that loads the tables there."""

    def action(one: TimedUpdate) -> Callable[[], object]:
        def load() -> None:
            cluster.replace_tables(one.change)
            one.loaded = True

        return load

    return [(one.cycle, action(one)) for one in wanted]


def missed_updates(wanted: Sequence[TimedUpdate]) -> list[str]:
    """A line for each update that was not loaded before the run ended."""
    return [
        f"note: the run ended before cycle {one.cycle:,}: {one.file} was not loaded" for one in wanted if not one.loaded
    ]


__all__ = [
    "ENDINGS",
    "GRAPH_OPTIONS",
    "HELP",
    "Request",
    "TimedUpdate",
    "host_updates",
    "is_one",
    "missed_updates",
    "table_updates",
    "timed_updates",
    "update_pauses",
]
