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
    from gossamer.engines.rtl import RecordHandler
    from gossamer.engines.rtl_cluster import Cluster as SimulatedCluster
    from gossamer.engines.rtl_cluster import Plan, TableUpdate


ENDINGS = (".c", ".S", ".o", ".elf")
"""Programs that are always for a tile. Others are if the engine is rtl, and have a host of their own otherwise."""
CONFIG = "tiny"
GRAPH_OPTIONS = {
    "mapping": "places vertices of a graph",
    "multicast": "is how vertices of a graph send",
    "max-steps": "limits the steps of a graph's vertices",
}
"""Options for graphs alone."""

HELP = """Usage: ./gossamer run FILE... --engine rtl [OPTIONS]
       ./gossamer run FOLDER --engine rtl [OPTIONS]
       ./gossamer run FILE@BOARD,BOARD FILE@BOARD ... --engine rtl --cluster NAME

Compiles a program for the threads of a board, loads it into the simulated hardware,
and runs main() on all of them. FILEs are C (.c), C++ (.cpp, .cc, .cxx), assembly
(.S) or objects (.o) of one program, or one .elf. A FOLDER stands for all sources
directly in it. With @ and boards of a cluster each is a program of its own, a job on
these boards. Output stands behind the number of its thread, warnings of the
compiler and traps go to standard error.
Exit code: 0 if all threads returned 0, 1 if one did not, 2 if there was nothing to
run, 4 if a thread trapped or the run got stuck.

Options:
  -c, --config NAME     configuration: a name or a file (default tiny)
      --cluster NAME    all boards of a cluster: a name (pair, quad4, ...) or a file;
                        it names the configuration of its boards
  -t, --threads N       threads to start, from 0 up (default: all of the board)
      --one-tile        one tile alone, without mesh and the other tiles
      --workers N       threads of this machine that simulate a board or a cluster
                        (default: as many as it has); cycles do not depend on it
      --ranks N         MPI processes that share the boards of a cluster, also of several
                        machines; cycles do not depend on it
      --routes FILE     routing tables of ./gossamer routes NAME --tables FILE
      --next-routes FILE@CYCLE  other tables, loaded in that cycle of the run, whatever is under way (may
                        be repeated); with a host FILE alone: when it calls loadRoutes
      --frame-loss RATE share of the frames on links between boards that are lost,
                        and that are damaged (default 0)
      --cut LINK@CYCLE  cut a link in that cycle of the run, as in a:east@5000;
                        without @CYCLE it never comes up (may be repeated)
      --seed N          for which frames are lost (default 1)
      --stats [FILE]    print cycles, instructions and counters; into FILE as JSON
                        if the next word ends with .json (or: --stats=FILE)
      --waves FILE      write waves of a tile (FST, for GTKWave or Surfer)
      --tile X,Y        the tile whose waves are written (default 0,0); of another
                        board of a cluster than the first: BOARD:X,Y
      --trace FILE      write who ran, who waited for what and an arrow for each message
                        (for ui.perfetto.dev)
      --trace-size MB   most that the trace may have (default 64): it is thinned to that
      --report FILE     write a page (HTML): figures, maps of tiles and links by use
      --least-wait N    cycles of the shortest wait in the trace (default 24)
      --max-cycles N    give up after so many cycles
      --watchdog N      give up after so many cycles without an instruction and
                        without output (default 1,000,000; 0: never)
      --input FILE      bytes that thread 0 reads from its debug channel
      --timeout N       with a host (HostLink.h): give up when it has computed for N
                        seconds without a call; its arguments stand behind --
      --raw-text        write what threads print as it is; without it control
                        characters other than tabs are shown as \\x1b and the like
      --mapping NAME, --multicast NAME, --max-steps N: with a host that has a PGraph, as
                        of an application (./gossamer run --help)
  -D, --define M=VALUE  a macro for the program
  -I, --include FOLDER  a folder with headers of the program

Examples:
  ./gossamer run programs/hello.c --engine rtl --config tiny
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
    "--define": "define",
    "-D": "define",
    "--timeout": "timeout",
    "--include": "include",
    "-I": "include",
}


def is_one(words: Sequence[str]) -> bool:
    """Whether the words ask for a program on a tile."""
    at = _run_arguments.first_plain(words, {*_run_arguments.VALUES, *_VALUES})
    first = "" if at is None else words[at]
    program, at_sign, _ = first.rpartition("@")
    if at_sign and program and not os.path.exists(first):
        first = program
    if first.endswith(ENDINGS):
        return True
    engines = [value for word, value in _options(words) if word in ("--engine", "-e")]
    if engines[-1:] == ["rtl"]:
        # What looks like a file and is no header of a vertex; whether it is a program is seen where it is read.
        looks = ("/" in first or "." in first) and not first.endswith((".h", ".hpp"))
        return looks or _is_folder(first)
    if _is_folder(first):
        raise InputError(f"{first}: is a folder; one with a program for threads of a tile runs with --engine rtl")
    return False


def host_at(words: Sequence[str]) -> int | None:
    """Where a program with a host of its own (PGraph) stands: what is behind it is for the host."""
    from gossamer.hosts import pgraph

    at = _run_arguments.first_plain(words, {*_run_arguments.VALUES, *_VALUES})
    return at if at is not None and pgraph.is_one(words[at]) else None


def _is_folder(word: str) -> bool:
    """Whether a word is a folder and not the name of an application."""
    if not os.path.isdir(word):
        return False
    from gossamer import apps

    return word not in apps.names()


def _options(words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Options with their values, however they are written; a word that is none has the option ''."""
    queue = iter(words)
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
    """What the words ask for."""

    programs: list[str] = field(default_factory=list)
    help: bool = False
    raw: bool = False
    one_tile: bool = False
    stats: bool = False
    stats_file: Path | None = None
    options: dict[str, list[str]] = field(default_factory=dict)
    config: str = CONFIG
    """The configuration, where none is named."""

    @classmethod
    def of(cls, words: Sequence[str]) -> Request:
        request = cls()
        after_stats = False
        for word, value in _options(words):
            if word == "":
                assert value is not None
                if after_stats and value.endswith(".json"):
                    request.stats_file = Path(value)
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
                raise InputError(f"there is no option {word} for a program; see ./gossamer run prog.c --help")
            elif value is None:
                raise InputError(f"{word}: needs a value; see ./gossamer run prog.c --help")
            else:
                request.options.setdefault(_VALUES[word], []).append(value)
            after_stats = word == "--stats"
        return request

    @property
    def program(self) -> str:
        """What the program is called in messages: the first of its files."""
        return self.programs[0]

    def one(self, name: str) -> str | None:
        return self.options[name][-1] if name in self.options else None

    def one_of(self, name: str, known: Sequence[str]) -> str:
        """One of these words, the first if it was not given."""
        text = self.one(name)
        if text is None:
            return known[0]
        if text not in known:
            raise InputError(f"--{name}: {text!r} is none of {', '.join(known)}")
        return text

    def number(self, name: str, low: int) -> int | None:
        """A whole number from ``low`` up, None if it was not given."""
        text = self.one(name)
        if text is None:
            return None
        digits = text.replace("_", "").replace(",", "")
        if not digits.isdecimal() or not low <= int(digits) < 2**63:
            raise InputError(f"--{name}: {text!r} is no whole number from {low} up")
        return int(digits)

    def share(self, name: str) -> float:
        """A number from 0 up to 1, without 1."""
        text = self.one(name) or "0"
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0.0 <= value < 1.0:
            raise InputError(f"--{name}: {text!r} is no number from 0 up to 1")
        return value

    def file(self, name: str) -> Path | None:
        """A file that can be written."""
        text = self.one(name)
        if text is None:
            return None
        files.check_writable(Path(text))
        return Path(text)

    def has_host(self) -> bool:
        """Whether the program has a part that runs on this machine."""
        from gossamer.hosts import hostlink

        return hostlink.is_one(self.programs, self.options.get("include", []))

    def views(self, waves: Path | None, trace: Path | None) -> dict[str, Any]:
        """How a machine is to be watched, as its arguments."""
        from gossamer.engines import rtl

        least, size = self.number("least-wait", 0), self.number("trace-size", 1)
        return {
            "program": self.program,
            "waves": waves,
            "trace": trace,
            "least_wait": rtl.LEAST_WAIT if least is None else least,
            "trace_bytes": rtl.TRACE_BYTES if size is None else size * 1_000_000,
        }

    def hardware(self) -> tuple[Config, Cluster | None]:
        """The configuration that is asked for, and the cluster of boards of it; no cluster for a board or a tile."""
        from gossamer import config as configs

        name = self.one("cluster")
        if name is None:
            return configs.load(self.one("config") or self.config), None
        if self.one("config") is not None:
            raise InputError(f"--config: cluster {name} names the configuration of its boards; leave this out")
        if self.one_tile:
            raise InputError("--one-tile: is not for clusters; leave out --cluster")
        cluster = configs.load_cluster(name)
        return cluster.boards[0].config, cluster

    def tile(self, config: Config, cluster: Cluster | None) -> int:
        """The number of the tile that is given as column and row, in a cluster behind the name of its board."""
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
            raise InputError(f"--tile {text}: names a board, but there is no cluster; write {place}")
        return cluster.board(board).index * config.tiles + number


# ---- Updates of routing tables ----


@dataclass
class TimedUpdate:
    """Tables that are loaded in a cycle of the run."""

    file: str
    cycle: int
    change: TableUpdate
    loaded: bool = False


def table_updates(plan: Plan, files: Sequence[str]) -> list[TableUpdate]:
    """What each of the files makes of the one before, the first of the tables in use."""
    from gossamer.engines import rtl_cluster

    found: list[TableUpdate] = []
    for file in files:
        found.append(rtl_cluster.TableUpdate.of(plan, rtl_cluster.read_tables(plan.cluster, file)))
        plan = found[-1].plan
    return found


def timed_updates(request: Request, plan: Plan) -> list[TimedUpdate]:
    """What the words ask for; InputError for tables that must not meet those before them."""
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
                f"{file}: {change.fault}; such tables can only be loaded when nothing is under way: by a host, with "
                "HostLink::loadRoutes"
            )
    return [TimedUpdate(file, cycle, change) for (cycle, file), change in zip(wanted, made, strict=True)]


def host_updates(request: Request, plan: Plan) -> list[TableUpdate]:
    """What the words ask for where a host loads it."""
    files = request.options.get("next-routes", [])
    for file in files:
        _, at, cycle = file.rpartition("@")
        if at and cycle.isdecimal() and not os.path.exists(file):
            raise InputError(f"--next-routes {file}: the host says when, with HostLink::loadRoutes; leave out @{cycle}")
    return table_updates(plan, files)


def update_pauses(
    cluster: SimulatedCluster, wanted: Sequence[TimedUpdate]
) -> list[tuple[int, Callable[[RecordHandler], object]]]:
    """When a run pauses, and what is done then."""

    def action(one: TimedUpdate) -> Callable[[RecordHandler], object]:
        def load(on_record: RecordHandler) -> None:
            cluster.replace_tables(one.change, on_record=on_record)
            one.loaded = True

        return load

    return [(one.cycle, action(one)) for one in wanted]


def missed_updates(wanted: Sequence[TimedUpdate]) -> list[str]:
    """Tables that were not loaded, a line each."""
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
