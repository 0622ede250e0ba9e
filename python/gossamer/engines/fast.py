# SPDX-License-Identifier: Apache-2.0
"""The ``fast`` engine: programs for threads, executed instruction by instruction in this process (``src/fast``).

    with Fast(config.load("tiny")) as board:
        board.load_image(device.build("prog.c", board.config))
        run = board.run(board.threads, on_line=print)

Used like ``rtl_cluster.Cluster``. What each thread executes is exact, and so are cache hits, misses and messages, given
the order in which messages are delivered; cycles are estimates (docs/engine-fast.md).
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer import native
from gossamer.config import constants
from gossamer.engines import _model_machine
from gossamer.engines._machine import Event, Message
from gossamer.engines._rtl_diagnostics import Trap, parse_queues, parse_unfinished
from gossamer.engines._rtl_plan import Job, Plan
from gossamer.engines._rtl_simulator import LineHandler, Run, silent
from gossamer.engines.rtl import NetworkCounters
from gossamer.engines.rtl_cluster import Cluster
from gossamer.errors import InputError, RunDied
from gossamer.paths import CONFIG

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from gossamer.config import Cluster as ClusterFile
    from gossamer.config import Config

NAME = "fast"
UNSUPPORTED = (
    "waves", "trace", "trace-size", "least-wait", "tile", "workers", "ranks", "frame-loss", "cut", "seed", "report",
    "next-routes",
)  # fmt: skip
"""Options of the engine ``rtl`` that need its signals, links or processes."""

Order = Mapping[int, Sequence[tuple[int, int]]]
"""For each receiver its messages in the order of delivery: sender, and the message's number among the sender's. Match
engines have numbers after those of all threads, as senders and as receivers; they may be left out."""

COMMIT = np.dtype(
    [("reg", "u1"), ("stored", "u1"), ("zero", "<u2")]
    + [(name, "<u4") for name in ("pc", "instr", "value", "address", "data")]
)
"""A finished instruction: the register that it wrote (32 and above: floating-point; 255: none), bytes that it stored,
its address and word, the value of the register, the address of a load or store, the data of a store."""
Commits = np.ndarray[tuple[int], np.dtype[np.void]]

_RUNS, _DONE, _DEADLOCK, _STUCK, _UNSUPPORTED = range(5)
_BYTE, _EMIT, _STOPPED, _TRAP, _MESSAGE, _STARTED, _DELIVERY, _TILE_DROPPED, _MATCH_DROPPED = range(9)
_RECORD = struct.Struct("<IIQIIII")
_REASONS = {_DONE: "done", _DEADLOCK: "deadlock", _STUCK: "stuck"}
_LONGEST_LINE = 1024
"""Characters of a line, as in the simulator (sim/host/tile_host.h)."""
_STEPS = 40_000
"""Steps of tiles between two looks at signals: some 50 ms."""
_HELD = 16
"""Bytes of a record of a queue that is not empty."""
_MOST_HELD = 4096
_FOREVER = (1 << 64) - 1

_TIMES = (
    "issue", "load", "store", "slot", "mailbox", "control", "fpu_long", "fpu_short", "fpu_divide", "divide",
    "dram_miss", "sram_miss", "write_back", "sram_write_back", "dram_line", "sram_line",
    "local_message", "mesh_message", "hop", "send_busy", "barrier", "release", "words", "link", "link_flit",
    "begin", "begin_thread", "end", "to_router", "router", "from_router", "text", "report", "relay", "trap",
    "own_unit", "tile_unit", "board_unit", "from_unit", "unit_tile", "from_board_unit",
    "dma_begin", "dma_packet", "dma_far", "dma_mesh", "dma_reply", "ready",
)  # fmt: skip
_FRACTIONS = ("dram_line", "sram_line", "link_flit", "report", "relay", "trap")
"""Times in 1/256 cycles."""


_RESET, _BANKED_BITS = 6, 0x1_0000
"""Cycles from reset until a mailbox begins to initialize its slots; bits above which it initializes four a cycle."""


class _Timing(ctypes.Structure):
    """struct gs_fast_timing."""

    _fields_ = [(name, c_uint32) for name in _TIMES]


class _Config(ctypes.Structure):
    """struct gs_fast_config."""

    _fields_ = [
        *((name, c_uint32) for name in (
            "boards", "tiles", "width", "cores", "core_threads", "cache_cores", "fpu_cores", "instr_cores",
            "instr_words", "ways", "sets", "line", "flit", "max_flits", "slot", "slots", "queue", "memories",
            "half_bits", "partition_bits", "direct_bits",
        )),
        ("dram", c_uint64),
        ("sram", c_uint64),
        ("next_board", c_void_p),
        ("next_link", c_void_p),
        ("links", c_uint32),
        ("depth", c_void_p),
        ("neighbour", c_void_p),
        *((name, c_uint32) for name in (
            "exits", "match_in_tiles", "match_on_board", "dma", "match_ranks", "match_cam", "match_entries",
            "match_receives", "match_eager", "match_announced", "match_window",
        )),
        ("job_of", c_void_p),
        ("jobs", c_uint32),
        ("timing", _Timing),
    ]  # fmt: skip


_COUNTERS = (
    "instructions", "hits", "misses", "writebacks", "sent", "received", "flits_out", "flits_in", "fpu", "refused",
    "retired",
)  # fmt: skip
"""Fields of struct gs_fast_counters."""

_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "new": (c_void_p, [POINTER(_Config)]),
    "free": (None, [c_void_p]),
    "code": (None, [c_void_p, c_uint32, c_char_p, c_size_t]),
    "write": (c_int, [c_void_p, c_uint32, c_uint32, c_char_p, c_size_t]),
    "read": (c_int, [c_void_p, c_uint32, c_uint32, POINTER(c_uint8), c_size_t]),
    "input": (None, [c_void_p, c_uint32, c_char_p, c_size_t]),
    "order": (None, [c_void_p, c_void_p, c_size_t]),
    "record_deliveries": (None, [c_void_p]),
    "keep_commits": (None, [c_void_p, c_size_t]),
    "commits": (c_void_p, [c_void_p, c_uint32, POINTER(c_size_t)]),
    "start": (None, [c_void_p, POINTER(c_uint32), c_uint64]),
    "run": (c_int, [c_void_p, c_uint64, c_uint64]),
    "cycle": (c_uint64, [c_void_p]),
    "first": (c_uint64, [c_void_p]),
    "instructions": (c_uint64, [c_void_p]),
    "records": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "counters_of": (None, [c_void_p, POINTER(c_uint64)]),
    "unfinished_of": (c_size_t, [c_void_p, c_char_p]),
    "held_of": (c_size_t, [c_void_p, c_char_p, c_size_t]),
    "reason": (c_char_p, [c_void_p, POINTER(c_uint32), POINTER(c_uint32)]),
}


@functools.cache
def _library() -> dict[str, Any]:
    found = {}
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(native.lib(), f"gs_fast_{name}")
        function.restype, function.argtypes = result, arguments
        found[name] = function
    return found


@functools.cache
def _own_times() -> dict[str, dict[str, float]]:
    """The constants of config/model/fast.toml, by section and name."""
    with open(CONFIG / "model" / "fast.toml", "rb") as file:
        return tomllib.load(file)


def _times(config: Config) -> _Timing:
    """The latencies and rates of a configuration: those of the timing model, and of reports."""
    constant = _model_machine.constants_of_timing()
    own = _own_times()
    its = _model_machine.timing(config) | constant["report"] | own["run"] | own["router"] | own["unit"]
    its["link"] = config.links.flight_cycles + own["link"]["latency"]
    threads = config.mailbox.cores_per_mailbox * config.core.threads_per_core
    bits = threads * threads * config.mailbox.slots_per_thread
    # rtl/mailbox/gs_mailbox_slot_refcount.sv: a cycle for each bit, or for four in a large mailbox
    its |= {"ready": _RESET + (bits // 4 if bits >= _BANKED_BITS else bits)}
    return _Timing(**{name: round(its[name] * (256 if name in _FRACTIONS else 1)) for name in _TIMES})


class Fast(Cluster):
    """The boards of a cluster, or one board, in this process; a context manager. ``order`` replays the deliveries of
    another run. ``commits`` is how many instructions of each thread are kept for ``committed``. ``jobs`` share the
    boards, as in ``Cluster``. Raises InputError if the memories of the boards do not fit in the address space."""

    def __init__(
        self,
        cluster: ClusterFile | Config | Plan,
        *,
        order: Order | None = None,
        commits: int = 0,
        deliveries: bool = False,
        jobs: Sequence[Job] = (),
    ) -> None:
        self.plan = plan = cluster if isinstance(cluster, Plan) else Plan(cluster)
        self.config = config = plan.config
        self.tiles = config.tiles * plan.boards
        self._board_tiles, self._tiles_of_memory = config.tiles, config.tiles // config.memory.dram.count
        self.jobs = tuple(jobs) or (Job(plan.cluster.name, tuple(range(plan.boards))),)
        self._shared, self._loading = bool(jobs), 0
        self._job_of = {board: job for job, its in enumerate(self.jobs) for board in its.boards}
        self._files, self._ran, self.notes = {}, False, []
        self.deliveries: list[tuple[int, int, int]] = []
        """Receiver, sender and number of each delivered message, if they are recorded (``Order``)."""
        self._lib = _library()
        boards = plan.boards
        its_load = _model_machine.constants_of_timing()["load"]
        self._loaded = boards * (its_load["board"] + config.tiles * its_load["tile"])
        self._loaded += its_load["first_board"] + config.tiles * its_load["first_tile"]
        next_board, next_link = np.zeros((boards, boards), np.uint32), np.zeros((boards, boards), np.uint32)
        depth = np.zeros(boards, np.uint32)
        for at in range(boards):
            for to in range(boards):
                if at != to:
                    next_board[at, to] = plan.route(at, to)[1]
                    next_link[at, to] = plan.link(at, int(plan.tables.port[at, to]))
        if boards > 1:
            tree = plan.tree(plan.middle())
            for board in tree.boards():
                if board in tree.parent:
                    depth[board] = depth[tree.parent[board]] + 1
        neighbour = np.full((boards, max(1, plan.links)), 0xFFFFFFFF, np.uint32)
        for from_board, link, to_board, *_ in plan.wires({}):
            neighbour[from_board, link] = to_board
        # Boards without a job have one of their own, without threads.
        job_of = np.array([self._job_of.get(board, len(self.jobs)) for board in range(boards)], np.uint32)
        dram, sram, match = config.memory.dram, config.memory.sram, config.match
        bits = min(32, (dram.bytes - 1).bit_length())
        its = _Config(
            boards=boards, tiles=config.tiles, width=config.mesh.width, cores=config.mailbox.cores_per_mailbox,
            core_threads=config.core.threads_per_core, cache_cores=config.cache.cores_per_cache,
            fpu_cores=config.fpu.cores_per_fpu, instr_cores=config.core.cores_per_instr_mem,
            instr_words=config.instr_words, ways=config.cache.ways, sets=config.cache.sets_per_thread,
            line=config.cache.line_bytes, flit=config.mailbox.flit_bytes, max_flits=config.mailbox.max_flits,
            slot=config.mailbox.slot_bytes, slots=config.mailbox.slots_per_thread, queue=config.mailbox.queue_depth,
            memories=dram.count, half_bits=bits - 1,
            partition_bits=(config.cache.caches_per_dram * config.threads_per_cache - 1).bit_length(),
            direct_bits=min(30, bits), dram=1 << bits, sram=sram.count // dram.count * sram.bytes,
            next_board=next_board.ctypes.data, next_link=next_link.ctypes.data, links=plan.links,
            depth=depth.ctypes.data, neighbour=neighbour.ctypes.data, exits=config.router.mesh_ports,
            match_in_tiles=int(match.in_tiles), match_on_board=match.on_board, dma=int(match.in_tiles and match.dma),
            match_ranks=config.match_ranks, match_cam=match.cam_entries, match_entries=match.list_entries,
            match_receives=config.match_receives, match_eager=config.match_eager,
            match_announced=config.match_announced, match_window=config.match_window,
            job_of=job_of.ctypes.data, jobs=len(self.jobs) + 1,
            timing=_times(config),
        )  # fmt: skip
        self._machine = self._lib["new"](ctypes.byref(its))
        if not self._machine:
            raise InputError(
                f"{plan.cluster.name}: the memories of {boards} board{'' if boards == 1 else 's'} do not fit in this "
                "process; use fewer boards"
            )
        if deliveries:
            self._lib["record_deliveries"](self._machine)
        if commits:
            self._lib["keep_commits"](self._machine, commits)
        if order is not None:
            words: list[int] = []
            # Match engines have numbers after those of the threads.
            for receiver in range(max(self.threads, 1 + max(order, default=0))):
                messages = order.get(receiver, ())
                words += [len(messages), *(word for message in messages for word in message)]
            array = np.array(words, np.uint32)
            self._lib["order"](self._machine, array.ctypes.data, len(array))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Frees the boards."""
        if self._machine:
            self._lib["free"](self._machine)
        self._machine = None

    # ---- Memory ----

    def load(
        self,
        instructions: Sequence[int],
        segments: Iterable[tuple[int, bytes]] = (),
        symbols: Iterable[tuple[int, int, str]] = (),
        *,
        zeroes: Iterable[tuple[int, int]] = (),
        on_progress: Callable[[int, int], object] = silent,
    ) -> None:
        """Loads instructions at address 0, and data at physical addresses, as ``Tile.load``."""
        words = np.asarray(instructions, dtype="<u4")
        capacity = self.config.instr_words
        segments, zeroes = list(segments), list(zeroes)
        if len(words) > capacity:
            raise InputError(f"the program has {len(words)} instructions, {len(words) - capacity} more than fit")
        self._lib["code"](self._machine, self._loading, words.tobytes(), len(words))
        for address, data in segments:
            self.write(address, data)
        for address, size in zeroes:
            for memory in self._memories:
                self._write_at(memory, address, None, size)
        its = _model_machine.constants_of_timing()["load"]
        size, zeroed = sum(len(data) for _, data in segments), sum(size for _, size in zeroes)
        self._loaded += its["word"] * len(words) + its["byte"] * size + its["zero"] * zeroed
        on_progress(words.nbytes, words.nbytes)

    @property
    def _memories(self) -> list[int]:
        """The memories of the boards of the job that is loaded."""
        each = self.config.memory.dram.count
        return [board * each + memory for board in self.jobs[self._loading].boards for memory in range(each)]

    def _write_at(self, memory: int, address: int, data: bytes | None, size: int) -> None:
        if self._lib["write"](self._machine, memory, address, data, size) < 0:
            raise InputError(f"{size} bytes at {address:#010x}: there is no memory at this address")

    def write(self, address: int, data: bytes) -> None:
        """Writes all DRAMs of the job that is loaded, or their SRAMs."""
        for memory in self._memories:
            self._write_at(memory, address, data, len(data))

    def write_memory(self, memory: int, address: int, data: bytes) -> None:
        self._write_at(memory, address, data, len(data))

    def read_memory(self, memory: int, address: int, size: int) -> bytes:
        found = (c_uint8 * size)()
        if self._lib["read"](self._machine, memory, address, found, size) < 0:
            raise InputError(f"{size} bytes at {address:#010x}: there is no memory at this address")
        return bytes(found)

    def read(self, address: int, words: int, *, board: int = 0) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
        """Words of a board's first memory, after writing back the threads' caches."""
        memory = board * self.config.memory.dram.count
        return np.frombuffer(self.read_memory(memory, address, 4 * words), np.uint32)

    # ---- Runs ----

    def job_of(self, thread: int) -> int:
        """The job of a thread, by its number in the cluster."""
        return self._job_of[thread // self.config.threads]

    def committed(self, thread: int) -> Commits:
        """The first instructions that a thread has finished, an array of COMMIT."""
        count = c_size_t()
        found = self._lib["commits"](self._machine, thread, ctypes.byref(count))
        return np.frombuffer(ctypes.string_at(found, COMMIT.itemsize * count.value) if count.value else b"", COMMIT)

    def _counters(self) -> list[dict[str, int]]:
        size = len(_COUNTERS)
        values = (c_uint64 * (self.tiles * size))()
        self._lib["counters_of"](self._machine, values)
        return [dict(zip(_COUNTERS, values[at : at + size], strict=True)) for at in range(0, len(values), size)]

    def _network_counters(self, before: NetworkCounters | None = None) -> NetworkCounters:
        return {}, []

    def run(
        self,
        threads: int,
        *,
        max_cycles: int | None = None,
        watchdog: int = 0,
        inputs: Mapping[int, bytes] | None = None,
        on_line: LineHandler = silent,
        on_emit: Callable[[int, int], object] = silent,
        on_trap: Callable[[Trap], object] = silent,
        on_progress: Callable[[int, int], object] = silent,
        on_message: Callable[[Message], object] = silent,
        on_event: Callable[[Event], object] = silent,
        pauses: Sequence[tuple[int, Callable[[], object]]] = (),
    ) -> Run:
        """As ``Tile.run``. A thread that waits never delays the end of a run, so ``watchdog`` has no effect."""
        if not 1 <= threads <= self.threads:
            raise InputError(f"{threads} thread{'' if threads == 1 else 's'}: {self._label()} has {self.threads}")
        for thread, data in (inputs or {}).items():
            self._lib["input"](self._machine, thread, data, len(data))
        before = self._counters()
        started = self._started(threads)
        seen = _Records(self, on_line, on_emit, on_trap, on_message, on_event)
        begun = time.perf_counter()
        self._lib["start"](self._machine, (c_uint32 * len(started))(*started), round(self._loaded))
        first = seen.first = self._lib["first"](self._machine)
        until = first + max_cycles if max_cycles else _FOREVER
        while (state := self._lib["run"](self._machine, until, max(1, _STEPS // self.tiles))) == _RUNS:
            seen.take()
            cycle = self._lib["cycle"](self._machine)
            on_progress(cycle, self._lib["instructions"](self._machine))
            if cycle >= until:
                break
        seen.take(last=True)
        self._ran = True
        if state == _UNSUPPORTED:
            who, pc = c_uint32(), c_uint32()
            why = self._lib["reason"](self._machine, ctypes.byref(who), ctypes.byref(pc)).decode()
            raise RunDied(f"thread {who.value} {why} (pc {pc.value:#x}), which engine fast cannot; use --engine rtl")
        seconds = time.perf_counter() - begun
        cycles = min(self._lib["cycle"](self._machine), until) - first
        tiles = []
        for early, late in zip(before, self._counters(), strict=True):
            counters = {name: late[name] - early[name] for name in late if name != "retired"}
            cores = self.config.mailbox.cores_per_mailbox
            counters |= {"cycles": cycles, "idle": cores * cycles - counters["instructions"]}
            tiles.append({name: counters[name] for name in constants.enumeration("debug_counter").values})
        unfinished = ctypes.create_string_buffer(20 * self.threads)
        count = self._lib["unfinished_of"](self._machine, unfinished)
        held = ctypes.create_string_buffer(_HELD * _MOST_HELD)
        queues = self._lib["held_of"](self._machine, held, _MOST_HELD) if state == _DEADLOCK else 0
        total = {name: cycles if name == "cycles" else sum(tile[name] for tile in tiles) for name in tiles[0]}
        return Run(
            reason=_REASONS.get(state, "max-cycles"),
            threads=sum(started),
            cycles=cycles,
            instructions=total["instructions"],
            counters=total,
            codes=seen.codes,
            ends=seen.ends,
            traps=seen.traps,
            unfinished=parse_unfinished(unfinished.raw[: 20 * count]),
            messages=seen.messages,
            events=seen.events,
            seconds=seconds,
            tiles=tiles,
            queues=parse_queues(held.raw[: _HELD * queues]),
            retired=sum(tile["retired"] for tile in self._counters()) - sum(tile["retired"] for tile in before),
            engine=NAME,
        )


class _Records:
    """What threads have reported in a run."""

    def __init__(
        self,
        machine: Fast,
        line: LineHandler,
        emit: Callable[[int, int], object],
        trap: Callable[[Trap], object],
        message: Callable[[Message], object],
        event: Callable[[Event], object],
    ) -> None:
        self._machine, self._line, self._emit, self._trap, self._message = machine, line, emit, trap, message
        self._event = event
        self._text: dict[int, bytearray] = {}
        self.codes: dict[int, int] = {}
        self.ends: dict[int, int] = {}
        self.traps: list[Trap] = []
        self.messages: list[Message] = []
        self.events: list[Event] = []
        self.first = 0

    def take(self, last: bool = False) -> None:
        """Dispatches the records since the last call; with ``last`` also lines without an end."""
        count = c_size_t()
        data = self._machine._lib["records"](self._machine._machine, ctypes.byref(count))
        raw = ctypes.string_at(data, _RECORD.size * count.value) if count.value else b""
        at = 0
        while at < len(raw):
            kind, thread, cycle, value, pc, address, dropped = _RECORD.unpack_from(raw, at)
            at += _RECORD.size
            if kind == _BYTE:
                self._byte(thread, value & 0xFF)
            elif kind == _EMIT:
                self._emit(thread, value)
            elif kind == _STOPPED:
                self._flush(thread)
                self.codes[thread], self.ends[thread] = value, cycle - self.first
            elif kind == _TRAP:
                self._flush(thread)
                self.traps.append(Trap(thread, cycle, value, pc, address))
                self.ends[thread] = cycle - self.first
                self._trap(self.traps[-1])
            elif kind == _MESSAGE:
                self.messages.append(Message(cycle, 0, self._machine.job_of(thread), 0, raw[at : at + value]))
                at += -(-value // _RECORD.size) * _RECORD.size
                self._message(self.messages[-1])
            elif kind == _DELIVERY:
                self._machine.deliveries.append((thread, pc, address))
            elif kind in (_TILE_DROPPED, _MATCH_DROPPED):
                self._drop(kind == _MATCH_DROPPED, thread, cycle, {"why": value, "job": address, "count": dropped}, pc)
        for thread in list(self._text) if last else ():
            self._flush(thread)

    def _drop(self, matches: bool, thread: int, cycle: int, fields: dict[str, int], rank: int) -> None:
        """Reports the drop of a message by the tile of a thread, or by the match engine of a rank of its board."""
        config = self._machine.config
        tile = thread // config.threads_per_tile % config.tiles
        x, y = tile % config.mesh.width, tile // config.mesh.width
        what, layout = ("match_dropped", "match_drop") if matches else ("tile_dropped", "tile_drop")
        fields |= {"rank": rank} if matches else {"tile_x": x, "tile_y": y}
        value = constants.layout(layout).pack(**fields)
        self.events.append(Event(thread // config.threads, what, 0, value, cycle))
        self._event(self.events[-1])

    def _byte(self, thread: int, byte: int) -> None:
        if byte == 10:
            self._show(thread, False)
            return
        text = self._text.setdefault(thread, bytearray())
        text.append(byte)
        if len(text) == _LONGEST_LINE:
            self._show(thread, True)

    def _show(self, thread: int, more: bool) -> None:
        self._line(thread, self._text.pop(thread, bytearray()).decode(errors="backslashreplace"), more)

    def _flush(self, thread: int) -> None:
        if thread in self._text:
            self._show(thread, False)


__all__ = ["NAME", "UNSUPPORTED", "Fast", "Order"]
