# SPDX-License-Identifier: Apache-2.0
"""``./gossamer run prog.c --engine rtl``: a program on threads of a simulated cluster, board, or tile."""

from __future__ import annotations

import json
import os
import struct
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer import progress
from gossamer.cli import _files, _run_words
from gossamer.errors import AnswerNo, InputError, RunDied

if TYPE_CHECKING:
    from gossamer.config import Cluster, Config
    from gossamer.device import Image
    from gossamer.engines._rtl_words import Tiles
    from gossamer.engines.rtl import Event, Message, Run, Tile, Trap
    from gossamer.engines.rtl_cluster import Cluster as SimulatedCluster

ENDINGS = (".c", ".S", ".o", ".elf")
"""Programs that are always for a tile. Others are if the engine is rtl, and have a host of their own otherwise."""
_CONFIG = "tiny"
_MOST_CODES = 8
_MOST_WARNINGS = 20

HELP = """Usage: ./gossamer run FILE... --engine rtl [OPTIONS]
       ./gossamer run FOLDER --engine rtl [OPTIONS]

Compiles a program for the threads of a board, loads it into the simulated hardware,
and runs main() on all of them. FILEs are C (.c), C++ (.cpp, .cc, .cxx), assembly
(.S) or objects (.o) of one program, or one .elf. A FOLDER stands for all sources
directly in it. Output stands behind the number of its thread, warnings of the
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
      --routes FILE     routing tables of ./gossamer routes NAME --tables FILE
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
  -D, --define M=VALUE  a macro for the program
  -I, --include FOLDER  a folder with headers of the program

Examples:
  ./gossamer run programs/hello.c --engine rtl --config tiny
  ./gossamer run programs/ring.c --engine rtl --stats --trace ring.pftrace
  ./gossamer run programs/heat.c --engine rtl --config quad --workers 2
  ./gossamer run programs/hello.c --engine rtl --cluster pair --frame-loss 0.01
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
    "--tile": "tile",
    "--define": "define",
    "-D": "define",
    "--timeout": "timeout",
    "--include": "include",
    "-I": "include",
}


def is_one(words: Sequence[str]) -> bool:
    """Whether the words ask for a program on a tile."""
    at = _run_words.first_plain(words, {*_run_words.VALUES, *_VALUES})
    first = "" if at is None else words[at]
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
class _Request:
    """What the words ask for."""

    programs: list[str] = field(default_factory=list)
    help: bool = False
    raw: bool = False
    one_tile: bool = False
    stats: bool = False
    stats_file: Path | None = None
    options: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, words: Sequence[str]) -> _Request:
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
        _files.check_writable(Path(text))
        return Path(text)


def run(words: Sequence[str], arguments: Sequence[str] = ()) -> None:
    """Does what the words ask for. Raises AnswerNo or RunDied where a thread says no, traps or never ends."""
    request = _Request.of(words)
    if request.help:
        click.echo(HELP.rstrip())
        return
    engine = request.one("engine") or "rtl"
    if engine != "rtl":
        raise InputError(f"{request.program}: a program for threads of a tile runs on engine rtl, not on {engine!r}")
    if request.programs and _has_host(request):
        from gossamer.cli import _host_program

        sys.exit(_host_program.run(request, arguments))
    if arguments:
        raise InputError(f"{request.program}: has no host that arguments behind -- would be for")
    waves, trace, report = request.file("waves"), request.file("trace"), request.file("report")
    if request.stats_file is not None:
        _files.check_writable(request.stats_file)
    if waves is not None and waves.suffix != ".fst":
        raise InputError(f"{waves}: waves are written as FST; give a name that ends with .fst")
    views = _views(request, waves, trace)
    max_cycles = request.number("max-cycles", 1)
    watchdog = request.number("watchdog", 0)
    threads = request.number("threads", 1)
    workers = request.number("workers", 1)
    seed = request.number("seed", 0)
    for name in ("routes", "frame-loss", "cut", "seed"):
        if name in request.options and "cluster" not in request.options:
            raise InputError(f"--{name}: is for clusters; name one with --cluster")
    inputs = {0: _bytes(Path(given))} if (given := request.one("input")) is not None else {}

    from gossamer import config as configs
    from gossamer import device
    from gossamer.engines import rtl, rtl_cluster

    if waves is not None:
        from gossamer.hdl import verilate

        verilate.require_waves()
    cluster = _cluster(request)
    config = cluster.boards[0].config if cluster is not None else configs.load(request.one("config") or _CONFIG)
    one_tile = cluster is None and (request.one_tile or config.tiles == 1)
    there = config.threads_per_tile if one_tile else config.threads * (len(cluster.boards) if cluster else 1)
    if threads is not None and threads > there:
        what = "a tile" if one_tile else "a board"
        named = f"cluster {cluster.name}" if cluster else f"{what} of {config.name}"
        raise InputError(f"--threads {threads}: {named} has {there} threads")
    shown = _tile(request.one("tile"), config, cluster)
    if cluster is not None:
        tables = request.one("routes")
        plan = rtl_cluster.Plan(cluster, rtl_cluster.tables(cluster, tables) if tables else None)
        cut = request.options.get("cut", [])
        rtl_cluster.cuts(plan, cut)
    image = device.build(
        request.programs,
        config,
        request.options.get("define", []),
        includes=request.options.get("include", []),
        boards=plan.shape if cluster is not None else device.ALONE,
    )
    for warning in image.warnings[:_MOST_WARNINGS]:
        click.echo(visible(warning), err=True)
    if len(image.warnings) > _MOST_WARNINGS:
        click.echo(f"and {len(image.warnings) - _MOST_WARNINGS} more warnings", err=True)
    console = _Console(Path(request.program).name, image, request.raw)
    tile: Tile
    if cluster is not None:
        many = rtl_cluster.Cluster(
            plan,
            frame_loss=request.share("frame-loss"),
            cut=cut,
            seed=1 if seed is None else seed,
            workers=workers,
            tile=shown,
            **views,
        )
        console.cluster, tile = many, many
    elif one_tile:
        tile = rtl.Tile(config, **views)
    else:
        tile = rtl.Board(config, workers=workers, tile=shown, **views)
    with tile:
        _load(tile, image)
        try:
            done = tile.run(
                threads or tile.threads,
                max_cycles=max_cycles,
                watchdog=rtl.WATCHDOG if watchdog is None else watchdog,
                inputs=inputs,
                on_line=console.line,
                on_emit=console.emit,
                on_trap=console.trap,
                on_message=console.message,
                on_progress=console.progress,
                on_event=console.event,
            )
        finally:
            console.clear()
            for note in tile.notes:
                click.echo(note, err=True)
    if request.stats:
        about = _statistics(request.program, config, done, console.cluster)
        if request.stats_file is None:
            click.echo(_table(config, done, console.cluster))
        else:
            text = (json.dumps(about, indent=1) + "\n").encode()
            _files.whole(request.stats_file, lambda file: file.write(text))
    if report is not None:
        page = _report(request.program, config, done, console.cluster)
        _files.whole(report, lambda file: file.write(page.encode()))

    def tiles(threads: Iterable[int]) -> str:
        if console.cluster is not None:
            return console.cluster.on_boards(threads)
        return "" if one_tile else rtl.on_tiles(threads, config.threads_per_tile, config.mesh.width)

    _judge(request.program, image, done, tiles, _down(done, console.cluster))


def _has_host(request: _Request) -> bool:
    from gossamer import hostprograms

    return hostprograms.is_one(request.programs, request.options.get("include", []))


def _views(request: _Request, waves: Path | None, trace: Path | None) -> dict[str, Any]:
    """How a machine is to be watched, as its arguments."""
    from gossamer.engines import rtl

    least, size = request.number("least-wait", 0), request.number("trace-size", 1)
    return {
        "program": request.program,
        "waves": waves,
        "trace": trace,
        "least_wait": rtl.LEAST_WAIT if least is None else least,
        "trace_bytes": rtl.TRACE_BYTES if size is None else size * 1_000_000,
    }


def _cluster(request: _Request) -> Cluster | None:
    """The cluster that is asked for, None for a board or a tile."""
    name = request.one("cluster")
    if name is None:
        return None
    if request.one("config") is not None:
        raise InputError(f"--config: cluster {name} names the configuration of its boards; leave this out")
    if request.one_tile:
        raise InputError("--one-tile: is not for clusters; leave out --cluster")
    from gossamer import config as configs

    return configs.load_cluster(name)


def _tile(text: str | None, config: Config, cluster: Cluster | None) -> int:
    """The number of a tile that is given as column and row, in a cluster behind the name of its board."""
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


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _load(tile: Tile, image: Image) -> None:
    """Loads a program, with a bar where that takes long."""
    with progress.bar(sum(part.size for part in image.segments) + 4 * len(image.instructions), "loading", "B") as bar:
        done = 0

        def show(now: int, _: int) -> None:
            nonlocal done
            bar.update(now - done)
            done = now

        tile.load_image(image, on_progress=show)


def visible(text: str) -> str:
    """Text without what a terminal would obey: control characters other than tabs, as escapes."""
    return "".join(_ESCAPES.get(c, c) for c in text)


_ESCAPES = {chr(code): f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}
_ESCAPES |= {chr(code): f"\\u{code:04x}" for code in (*range(0x2028, 0x202F), *range(0x2066, 0x206A))}
_ESCAPES |= {"\r": "\\r"}
del _ESCAPES["\t"]
"""The controls of ASCII and Latin-1, line separators, and what turns the direction of text."""


class _Console:
    """What is shown while a program runs: its output on stdout, traps and progress on stderr."""

    def __init__(self, name: str, image: Image, raw: bool = False) -> None:
        self.name = name
        self._raw = raw
        self._image = image
        self._shown = False
        self._last = (time.monotonic(), 0)
        self.cluster: SimulatedCluster | None = None
        """Whose threads have a place to be named beside their numbers."""

    def _who(self, thread: int) -> str:
        return str(thread) if self.cluster is None else f"{thread} {self.cluster.place(thread)}"

    def line(self, thread: int, text: str, more: bool) -> None:
        """A line of a thread; one that is too long is broken, and says so with a backslash."""
        self.clear()
        text = text if self._raw else visible(text)
        sys.stdout.write(f"[{self._who(thread)}] {text}{chr(92) if more else ''}\n")
        sys.stdout.flush()

    def message(self, message: Message) -> None:
        """A message to the host, as words."""
        self.clear()
        words = struct.unpack(f"<{len(message.data) // 4}I", message.data)
        sys.stdout.write(f"[host] message {' '.join(f'{word:08x}' for word in words)}\n")
        sys.stdout.flush()

    def emit(self, thread: int, word: int) -> None:
        """A word that a thread wrote to ``emit``."""
        self.clear()
        sys.stdout.write(f"[{self._who(thread)}] emit {word:#010x}\n")
        sys.stdout.flush()

    def trap(self, trap: Trap) -> None:
        self.clear()
        said = trap.words(self._image.where, self._image.instruction)
        who = trap.who if trap.thread < 0 else self._who(trap.thread)
        click.echo(f"[{who}] trap: {visible(said)}", err=True)

    def event(self, event: Event) -> None:
        """What a board told by itself, but for links that come up."""
        if self.cluster is None or event.what == "link_up":
            return
        self.clear()
        click.echo(visible(self.cluster.event_words(event)), err=True)

    def progress(self, cycle: int, instructions: int) -> None:
        if not sys.stderr.isatty():
            return
        now = time.monotonic()
        speed = (cycle - self._last[1]) / max(1e-3, now - self._last[0]) / 1e3
        self._last = (now, cycle)
        sys.stderr.write(f"\r{self.name}: {cycle:,} cycles, {instructions:,} instructions, {speed:,.0f} kHz \x1b[K")
        sys.stderr.flush()
        self._shown = True

    def clear(self) -> None:
        """Takes the progress off the screen."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False


def _statistics(program: str, config: Config, run: Run, cluster: SimulatedCluster | None = None) -> dict[str, Any]:
    tiles = run.tiles or [run.counters]
    cores = config.mailbox.cores_per_mailbox * len(tiles)
    count = dict(run.counters)
    accesses = count["hits"] + count["misses"]
    return {
        "engine": "rtl",
        "config": config.name,
        "program": program,
        "threads": run.threads,
        "tiles": len(tiles),
        "cores": cores,
        "end": run.reason,
        "cycles": run.cycles,
        "instructions": run.instructions,
        "instructions_per_cycle": run.instructions / max(1, run.cycles),
        "utilisation": run.instructions / max(1, run.cycles * cores),
        "cache": {
            "hits": count["hits"],
            "misses": count["misses"],
            "writebacks": count["writebacks"],
            "hit_share": count["hits"] / accesses if accesses else None,
        },
        "mailbox": {name: count[name] for name in ("sent", "received", "flits_out", "flits_in")},
        "fpu_operations": count["fpu"],
        "exit_codes": {str(thread): code for thread, code in sorted(run.codes.items())},
        "traps": [
            {"thread": trap.thread, "cause": trap.name, "pc": trap.pc, "value": trap.value} for trap in run.traps
        ],
        "by_tile": [_of_tile(number, tile, config, cluster) for number, tile in enumerate(tiles)],
        **(_of_network(run, cluster) if cluster is not None else {}),
        "seconds": run.seconds,
        "kilohertz": run.cycles / max(1e-9, run.seconds) / 1e3,
    }


def _of_tile(
    number: int, counters: Mapping[str, int], config: Config, cluster: SimulatedCluster | None
) -> dict[str, Any]:
    board, tile = divmod(number, config.tiles)
    where = {"board": cluster.plan.cluster.boards[board].name} if cluster is not None else {}
    return {**where, "tile": [tile % config.mesh.width, tile // config.mesh.width], **counters}


def _of_network(run: Run, cluster: SimulatedCluster) -> dict[str, Any]:
    """Counters by board and link."""
    plan = cluster.plan
    return {
        "cluster": plan.cluster.name,
        "by_board": [
            {"board": board.name, **counters} for board, counters in zip(plan.cluster.boards, run.boards, strict=False)
        ],
        "by_link": [
            {"board": plan.cluster.boards[board].name, "link": plan.links_of(board)[link], **counters}
            for (board, link), counters in run.links.items()
        ],
        "events": [cluster.event_words(event) for event in run.events],
    }


def _rows(config: Config, run: Run, cluster: SimulatedCluster | None = None) -> list[tuple[str, str, str]]:
    """The most telling figures: name, value, note."""
    about = _statistics("", config, run, cluster)
    cache, mailbox = about["cache"], about["mailbox"]
    hit_share = "-" if cache["hit_share"] is None else f"{cache['hit_share']:.3f}"
    micros = run.cycles / config.board.clock_mhz
    return [
        ("cycles", f"{run.cycles:,}", f"{micros:,.1f} us at {config.board.clock_mhz:g} MHz"),
        ("instructions", f"{run.instructions:,}", ""),
        ("instructions a cycle", f"{about['instructions_per_cycle']:.3f}", f"{about['cores']} cores"),
        ("utilisation", f"{about['utilisation']:.3f}", "share of the cycles of all cores that issued an instruction"),
        ("cache hits", f"{cache['hits']:,}", f"{hit_share} of all accesses"),
        ("cache misses", f"{cache['misses']:,}", ""),
        ("lines written back", f"{cache['writebacks']:,}", ""),
        ("messages sent", f"{mailbox['sent']:,}", ""),
        ("messages delivered", f"{mailbox['received']:,}", "once for each thread that got one"),
        ("flits out, in", f"{mailbox['flits_out']:,}, {mailbox['flits_in']:,}", "to and from other tiles"),
        ("floating-point operations", f"{about['fpu_operations']:,}", ""),
        ("simulated at", f"{about['kilohertz']:,.0f} kHz", f"{run.seconds:.3f} s"),
    ]


def _report(program: str, config: Config, run: Run, cluster: SimulatedCluster | None) -> str:
    """The page of a run."""
    from gossamer import reporting

    assert run.seen is not None
    cables, boards, places = [], ["board"], [(0.0, 0.0)]
    if cluster is not None:
        plan = cluster.plan
        boards = [board.name for board in plan.cluster.boards]
        known = [(board.x, board.y) for board in plan.cluster.boards]
        placed = [(float(x), float(y or 0)) for x, y in known if x is not None]
        places = placed if len(placed) == len(boards) else reporting.ring(len(boards))
        rate = config.links.rate_mbps / 8 / config.board.clock_mhz
        for from_board, link, to_board, to_link, _ in plan.wires({}):
            counters = run.links.get((from_board, link))
            if counters is not None:
                ends = plan.links_of(from_board)[link], to_board, plan.links_of(to_board)[to_link]
                cables.append(reporting.Cable(from_board, *ends, counters, rate, config.links.overhead_bytes))
    return reporting.page(
        reporting.Page(
            title=f"{program} on {f'cluster {cluster.plan.cluster.name}' if cluster is not None else config.name}",
            figures=[("threads", f"{run.threads:,}", ""), ("end", run.reason, ""), *_rows(config, run, cluster)],
            seen=run.seen,
            counters=run.tiles,
            cables=cables,
            boards=boards,
            places=places,
            notes=[cluster.event_words(event) for event in run.events] if cluster is not None else [],
        )
    )


def _table(config: Config, run: Run, cluster: SimulatedCluster | None = None) -> str:
    about = _statistics("", config, run, cluster)
    rows = _rows(config, run, cluster)
    width = max(len(value) for _, value, _ in rows)
    what = f"a board of {config.name}, {about['tiles']} tiles" if about["tiles"] > 1 else f"one tile of {config.name}"
    if cluster is not None:
        what = f"cluster {about['cluster']}, {cluster.plan.boards} boards of {config.name}, {about['tiles']} tiles"
    lines = [f"rtl engine, {what}: {run.threads} threads"]
    lines += [f"  {name:<26} {value:>{width}}  {note}".rstrip() for name, value, note in rows]
    if cluster is not None and run.links:
        lines.append(f"  {'link':<20} {'packets out':>12} {'in':>10} {'bytes out':>12} {'resent':>8} {'damaged':>8}")
        for one in about["by_link"]:
            name = f"{one['board']}:{one['link']}"
            numbers = [one[key] for key in ("tx_packets", "rx_packets", "tx_bytes", "resends", "damaged")]
            widths = (12, 10, 12, 8, 8)
            lines.append(f"  {name:<20} " + " ".join(f"{n:>{w},}" for n, w in zip(numbers, widths, strict=True)))
    return "\n".join(lines)


def _down(run: Run, cluster: SimulatedCluster | None) -> str:
    """The links that went down and did not come up again, as the end of a sentence."""
    state: dict[str, bool] = {}
    for event in run.events:
        if cluster is not None and event.what in ("link_up", "link_down", "link_restarted"):
            cable = cluster.plan.cable_at(event.board, event.unit)
            if cable is not None:
                state[cluster.plan.cable_name(cable)] = event.what == "link_down"
    down = [name for name, is_down in state.items() if is_down]
    return f"; link {', '.join(down)} {'is' if len(down) == 1 else 'are'} down" if down else ""


def _judge(program: str, image: Image, run: Run, tiles: Tiles = lambda threads: "", down: str = "") -> None:
    """Raises what the end of the run comes to; nothing if all is well. ``tiles`` says where threads are."""
    from gossamer.engines.rtl import ranges, who_waits

    for line in who_waits(run.still, image.where, tiles):
        click.echo(visible(line), err=True)
    trapped = {trap.thread for trap in run.traps}
    failed = {thread: code for thread, code in sorted(run.codes.items()) if code}
    waiting = {one.thread for one in run.still}
    ended = [f"{_threads(trapped)} trapped"] if trapped else []
    ended += [_failed(failed)] if failed else []
    also = "".join(f"; {what}" for what in ended) + down
    if run.reason == "max-cycles":
        count = f"{len(run.still)} of {run.threads} threads"
        raise RunDied(f"{program}: {count} had not ended after {run.cycles:,} cycles{also}")
    if run.reason == "deadlock":
        who = f"all threads that run ({ranges(waiting)}) wait for messages"
        raise RunDied(f"{program}: deadlock: {who}, and none is on its way{also}")
    if run.reason == "stuck":
        who = f"{_threads(waiting)} had not ended" if waiting else "all threads had ended, but not all had said so"
        raise RunDied(
            f"{program}: stuck: no instruction and no output for long, after {run.cycles:,} cycles; {who}{also}"
        )
    if trapped:
        raise RunDied(f"{program}: {'; '.join(ended)}")
    if failed:
        raise AnswerNo(f"{program}: {_failed(failed)}")


def _failed(codes: Mapping[int, int]) -> str:
    """Threads that ended with another code than 0, with their codes."""
    from gossamer.engines.rtl import ranges

    told = [f"{thread} with {_signed(code)}" for thread, code in list(codes.items())[:_MOST_CODES]]
    more = f" and {len(codes) - _MOST_CODES} more" if len(codes) > _MOST_CODES else ""
    if len(set(codes.values())) == 1:
        told, more = [f"{ranges(codes)} with {_signed(next(iter(codes.values())))}"], ""
    return f"thread{'s' if len(codes) > 1 else ''} {', '.join(told)}{more} ended, not with 0"


def _threads(numbers: set[int]) -> str:
    from gossamer.engines.rtl import ACCELERATOR, ranges

    accelerator, threads = ACCELERATOR in numbers, numbers - {ACCELERATOR}
    named = [f"thread{'s' if len(threads) > 1 else ''} {ranges(threads)}"] if threads else []
    return " and ".join(named + ["the accelerator"] * accelerator)


def _signed(code: int) -> int:
    return code - (1 << 32) if code >> 31 else code
