# SPDX-License-Identifier: Apache-2.0
"""The machine library (``src/machine``) through its C interface: all that a host does to boards."""

from __future__ import annotations

import ctypes
import enum
import functools
import struct
from collections.abc import Callable, Sequence
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gossamer import builds, diagnostics
from gossamer.config import constants
from gossamer.errors import GossamerError, InputError, RunDied
from gossamer.paths import INCLUDE, ROOT

EACH_TILE = 0xFFFF_FFFF
"""Tile number that means every tile."""
BOARD_UNIT = 31
"""Unit number of a board's own counters."""
NO_JOB = 31
"""The job number of tiles, and of packets, without a job."""
_FLAGS = ("-std=c++20", "-O2", "-fPIC", "-Wall", "-Wextra")
_INPUT, _DIED, _DISCONNECTED = -1, -2, -3


class Kind(enum.IntEnum):
    """Kinds of records (sim/host/records.h), and of decoded packets (src/machine/api.h)."""

    LINE = 1
    EMIT = 2
    STOPPED = 3
    TRAP = 4
    REPLY = 5
    DONE = 6
    END = 7
    PROGRESS = 9
    PAUSED = 13
    NOTE = 20
    WATCH = 21
    QUEUES = 22
    LOADED = 32
    MESSAGE = 33
    EVENT = 34
    FAULT = 35


class Record(NamedTuple):
    """What boards or their simulator have sent (gs_machine_record)."""

    kind: int
    flags: int
    thread: int
    what: int
    unit: int
    cycle: int
    value: int
    payload: bytes

    def words(self) -> list[int]:
        """The payload as 32-bit words."""
        return list(struct.unpack(f"<{len(self.payload) // 4}I", self.payload))


@dataclass(frozen=True)
class Reply:
    """A reply of a loader."""

    op: int
    tag: int
    status: int
    address: int
    length: int
    data: bytes
    cycle: int
    """Cycle of arrival."""

    @property
    def rejection(self) -> str:
        """The reason of a rejection, by its name in config/; empty if the request was accepted."""
        values = constants.enumeration("rejection").values
        return next((name for name, value in values.items() if value == self.status), "")


@dataclass(frozen=True)
class Message:
    """A message of a thread or an accelerator to the host."""

    cycle: int
    host: int
    job: int
    epoch: int
    data: bytes


@dataclass(frozen=True)
class Event:
    """An event that a board reported."""

    board: int
    what: str
    """Name of the event in ``board_event``."""
    unit: int
    value: int
    cycle: int

    @classmethod
    def of(cls, board: int, what: int, unit: int, value: int, cycle: int) -> Event:
        """The event with the number ``what``."""
        values = constants.enumeration("board_event").values
        name = next((name for name, number in values.items() if number == what), f"event {what}")
        return cls(board, name, unit, value, cycle)


class _Record(ctypes.Structure):
    """struct gs_machine_record."""

    _fields_ = [
        *((name, c_uint32) for name in ("kind", "flags", "thread", "what", "unit", "bytes")),
        ("cycle", c_uint64),
        ("value", c_uint64),
        ("data", c_void_p),
    ]

    def copy(self) -> Record:
        """The record with a copy of its data."""
        payload = ctypes.string_at(self.data, self.bytes) if self.bytes else b""
        return Record(self.kind, self.flags, self.thread, self.what, self.unit, self.cycle, self.value, payload)


class _Hooks(ctypes.Structure):
    """struct gs_machine_hooks, with functions of Python itself."""

    _fields_ = [(name, c_void_p) for name in ("release", "acquire", "interrupted")]


_BYTES, _M = c_char_p, c_void_p
_FUNCTIONS = {
    "error": (c_char_p, []),
    "new": (c_void_p, [c_int, c_int, c_char_p, POINTER(_Hooks)]),
    "free": (None, [_M]),
    "open": (c_int, [_M, c_char_p]),
    "configure": (c_int, [_M]),
    "send_queued": (c_int, [_M]),
    "keep_requests": (None, [_M]),
    "requests": (c_void_p, [_M, POINTER(c_size_t)]),
    "exchange": (c_int, [_M, _BYTES, c_size_t, c_uint32]),
    "ask": (c_int, [_M, c_uint32, _BYTES, c_size_t, c_uint32]),
    "results": (POINTER(_Record), [_M]),
    "counters": (c_int, [_M, POINTER(c_uint32), c_size_t, POINTER(c_uint64)]),
    "read_register": (c_int, [_M, *[c_uint32] * 5, POINTER(c_uint64)]),
    "write_register": (c_int, [_M, *[c_uint32] * 5, c_uint64]),
    "write_registers": (c_int, [_M, POINTER(c_uint64), c_size_t]),
    "tile_counters": (c_int, [_M, POINTER(c_uint64)]),
    "drained": (c_int, [_M]),
    "update": (c_int, [_M, c_char_p]),
    "flush_records": (c_int, [_M]),
    "write": (c_int, [_M, c_uint32, c_uint32, c_void_p, c_size_t]),
    "write_all": (c_int, [_M, c_uint32, c_uint32, c_void_p, c_size_t]),
    "fill_all": (c_int, [_M, c_uint32, c_uint32, c_uint64]),
    "read": (c_int, [_M, c_uint32, c_uint32, POINTER(c_uint8), c_size_t]),
    "write_code": (c_int, [_M, c_uint32, _BYTES, c_size_t]),
    "flush": (c_int, [_M, POINTER(c_uint32), c_size_t]),
    "halt": (c_int, [_M]),
    "resume": (c_int, [_M]),
    "registers": (c_int, [_M, c_uint32, POINTER(c_uint32)]),
    "add_input": (c_int, [_M, c_uint32, _BYTES, c_size_t]),
    "symbols": (c_int, [_M, _BYTES, c_size_t]),
    "run": (c_int, [_M, POINTER(c_uint32), c_size_t, c_uint64, c_uint64]),
    "pause": (c_int, [_M, c_uint64]),
    "continue": (c_int, [_M]),
    "stop": (c_int, [_M]),
    "watch": (c_int, [_M]),
    "next": (c_int, [_M, POINTER(_Record)]),
    "decode": (c_int, [_BYTES, c_size_t, POINTER(_Record)]),
}


def _failed(said: str, log: Path) -> InputError:
    first = diagnostics.first_error(said, ROOT)
    return InputError(f"building the machine library failed: {first} (all of it in {log})")


@dataclass(frozen=True)
class Compilation:
    """How the library is compiled: the same for every configuration, so that the objects are shared."""

    sources: tuple[Path, ...]
    flags: tuple[str, ...]

    @property
    def tag(self) -> str:
        """Changes with sources and flags."""
        return builds.tag(*map(str, self.sources), *self.flags)

    def steps(self, plan: builds.Plan) -> list[str]:
        """The steps of a folder; they must be its first, because objects are numbered."""
        return [plan.compile(path, self.flags) for path in self.sources]


def compilation() -> Compilation:
    """The sources and flags of the library."""
    from gossamer.config import _generate

    own = builds.header("machine-constants", "gossamer/config.h", _generate.package_cpp(""))
    include = (own, INCLUDE, ROOT / "sim" / "host", ROOT / "src")
    sources = sorted((ROOT / "src" / "machine").glob("*.cc"))
    return Compilation(tuple(sources), (*_FLAGS, *(f"-I{path}" for path in include)))


@functools.cache
def _library() -> ctypes.PyDLL:
    """The library, built if necessary. Calls keep Python's lock; the library releases it while it blocks."""
    own = compilation()

    def steps(plan: builds.Plan) -> None:
        plan.link("libmachine.so", own.steps(plan), ["-shared", "-pthread"])

    folder = builds.kept(f"machine-{own.tag}", steps, _failed, title="building the machine library")
    found = ctypes.PyDLL(str(folder / "libmachine.so"))
    for call, (result, arguments) in _FUNCTIONS.items():
        function = getattr(found, f"gs_machine_{call}")
        function.restype, function.argtypes = result, arguments
    return found


def _hooks() -> _Hooks:
    """On a signal whose handler raises, the call fails with that exception, which Python raises when it returns."""
    names = ("PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_CheckSignals")
    return _Hooks(*(ctypes.cast(getattr(ctypes.pythonapi, name), c_void_p).value for name in names))


class Link:
    """A machine reached over two descriptors. Calls raise InputError, or RunDied if boards or their simulator fail."""

    def __init__(self, ends: tuple[int, int], plan: str, gone: Callable[[], GossamerError]) -> None:
        """``ends`` are those for requests and for records, ``plan`` is the text of src/machine/plan.h; ``gone`` makes
        the error for a process at their other end that has ended."""
        self._lib, self._hooks, self._gone = _library(), _hooks(), gone
        self._machine = self._lib.gs_machine_new(*ends, plan.encode(), ctypes.byref(self._hooks))
        if not self._machine:
            raise self._error(_INPUT)

    def close(self) -> None:
        """Frees the machine; the descriptors stay open."""
        if self._machine:
            self._lib.gs_machine_free(self._machine)
        self._machine = None

    def _error(self, code: int) -> GossamerError:
        reason = self._lib.gs_machine_error().decode(errors="replace")
        if code == _DISCONNECTED:
            return self._gone()
        return InputError(reason) if code == _INPUT else RunDied(reason)

    def call(self, name: str, *arguments: object) -> int:
        """Calls ``gs_machine_NAME``."""
        code: int = getattr(self._lib, f"gs_machine_{name}")(self._machine, *arguments)
        if code < 0:
            raise self._error(code)
        return code

    def _results(self, count: int) -> list[Record]:
        found = self._lib.gs_machine_results(self._machine)
        return [found[at].copy() for at in range(count)]

    def exchange(self, flits: bytes, replies: int) -> list[Reply]:
        """Sends flits into the network and waits for ``replies`` replies of loaders."""
        found = self._results(self.call("exchange", flits, len(flits), replies))
        return [Reply(one.what, one.unit, one.flags, one.value, one.thread, one.payload, one.cycle) for one in found]

    def ask(self, commands: bytes, replies: int, tile: int = EACH_TILE) -> list[bytes]:
        """Sends debug commands to a tile, and waits for ``replies`` reports."""
        return [one.payload for one in self._results(self.call("ask", tile, commands, len(commands), replies))]

    def counters(self, keys: Sequence[tuple[int, int, int]]) -> list[int]:
        """Counters by board, unit and number."""
        flat = [number for key in keys for number in key]
        values = (c_uint64 * len(keys))()
        self.call("counters", (c_uint32 * len(flat))(*flat), len(keys), values)
        return list(values)

    def read_register(self, board: int, block: str, unit: int, number: int, job: int = NO_JOB) -> int:
        """A register of a board's block (``register_block``), read by a packet of a job."""
        value = c_uint64()
        place = constants.enumeration("register_block")[block], unit, number
        self.call("read_register", board, job, *place, ctypes.byref(value))
        return value.value

    def write_register(self, board: int, block: str, unit: int, number: int, value: int, job: int = NO_JOB) -> None:
        """Writes such a register; only packets of the job that owns the unit may."""
        self.call("write_register", board, job, constants.enumeration("register_block")[block], unit, number, value)

    def write_registers(self, writes: Sequence[tuple[int, int, int, int]]) -> None:
        """Writes registers: board, job, address (``register_address``) and value of each."""
        flat = [number for write in writes for number in write]
        self.call("write_registers", (c_uint64 * len(flat))(*flat), len(writes))

    def tile_counters(self, tiles: int) -> list[dict[str, int]]:
        """The counters of each tile by name."""
        names = list(constants.enumeration("debug_counter").values)
        values = (c_uint64 * (tiles * len(names)))()
        self.call("tile_counters", values)
        return [dict(zip(names, values[at : at + len(names)], strict=True)) for at in range(0, len(values), len(names))]

    def read(self, tile: int, address: int, size: int) -> bytes:
        """Bytes of the memory of a tile."""
        data = (c_uint8 * size)()
        self.call("read", tile, address, data, size)
        return bytes(data)

    def flush(self, threads: int) -> list[int]:
        """Writes back all caches; returns those of ``threads`` threads that run."""
        found = (c_uint32 * threads)()
        return found[: self.call("flush", found, threads)]

    def registers(self, thread: int) -> list[int]:
        """x1 to x31 of a parked or trapped thread."""
        values = (c_uint32 * 31)()
        self.call("registers", thread, values)
        return list(values)

    def run(self, threads: Sequence[int], most: int, watchdog: int) -> None:
        """Starts threads on each board; ``next`` returns what they send."""
        self.call("run", (c_uint32 * len(threads))(*threads), len(threads), most, watchdog)

    def next(self) -> Record:
        """The next record of a run."""
        record = _Record()
        self.call("next", ctypes.byref(record))
        return record.copy()

    def requests(self) -> bytes:
        """All requests since ``keep_requests``."""
        count = c_size_t()
        data = self._lib.gs_machine_requests(self._machine, ctypes.byref(count))
        return ctypes.string_at(data, count.value) if count.value else b""

    def keep_requests(self) -> None:
        """From now on keeps a copy of all requests, for replay to another simulator."""
        self._lib.gs_machine_keep_requests(self._machine)


def decode(flits: bytes) -> Record:
    """A packet to a host; its kind is ``REPLY_OR_ANSWER`` for replies of loaders and answers of control units."""
    record = _Record()
    if _library().gs_machine_decode(flits, len(flits), ctypes.byref(record)) < 0:
        raise RunDied(f"a board has sent a packet that is not valid: {flits[:32].hex()}")
    return record.copy()


REPLY_OR_ANSWER = Kind.LOADED

__all__ = [
    "BOARD_UNIT",
    "EACH_TILE",
    "NO_JOB",
    "REPLY_OR_ANSWER",
    "Event",
    "Kind",
    "Link",
    "Message",
    "Record",
    "Reply",
    "decode",
]
