# SPDX-License-Identifier: Apache-2.0
"""The schema of a hardware configuration: every knob, its unit, range and meaning.

The descriptions here are the documentation: `config show` prints them and the
generators copy them into the SystemVerilog package and the C++ header. Names
in parentheses are the papers' own.

A value that follows from others is a property whose docstring ends with its
unit in brackets; those are printed and generated too.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from gossamer.config import constants
from gossamer.config._checks import complaints
from gossamer.config._source import extra


def impossible(keys: str, message: str) -> PydanticCustomError:
    """The error of values that are fine one by one and impossible together.

    `keys` are the values that it takes, the one that the message is about first.
    """
    paths = [tuple(int(part) if part.isdigit() else part for part in key.split(".")) for key in keys.split()]
    # The message is final; the cast is for a type that wants a literal template.
    return PydanticCustomError("combination", cast(Any, message), {"keys": paths})


def knob(doc: str, unit: str = "", *, ge: int | None = None, le: int | None = None, pow2: bool = False) -> Any:
    """A required value with its meaning, unit and range."""
    return Field(description=doc, ge=ge, le=le, json_schema_extra={"unit": unit, "pow2": pow2})


class Section(BaseModel):
    """A table of a configuration file. Immutable; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @model_validator(mode="after")
    def _powers_of_two(self) -> Section:
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if extra(field).get("pow2") and value & (value - 1):
                below = 1 << (value.bit_length() - 1)
                raise impossible(name, f"is {value}, must be a power of two ({below} or {below * 2})")
        return self


class BoardSection(Section):
    """The board and the part that the design is built for."""

    name: str = knob("board that this is built for; `sim` for none")
    part: str = knob("FPGA part, as its tools spell it; empty for none")
    clock_mhz: float = knob("clock of tiles and fabric", "MHz", ge=1, le=1000)


class CoreSection(Section):
    """Barrel-scheduled RV32IMF core."""

    threads_per_core: int = knob("hardware threads of a core (ThreadsPerCore)", "threads", ge=2, le=32, pow2=True)
    instr_mem_bytes: int = knob("instruction memory (BytesPerInstrMem)", "bytes", ge=1024, le=131072, pow2=True)
    cores_per_instr_mem: int = knob("cores that share one instruction memory", "cores", ge=1, le=2, pow2=True)


class FpuSection(Section):
    """Single-precision unit, shared by cores."""

    cores_per_fpu: int = knob("cores that share one FPU (CoresPerFPU)", "cores", ge=1, le=64, pow2=True)


class CacheSection(Section):
    """Non-blocking write-back data cache, partitioned by thread."""

    cores_per_cache: int = knob("cores that share one cache (CoresPerDCache)", "cores", ge=1, le=64, pow2=True)
    caches_per_dram: int = knob("caches that share one DRAM (DCachesPerDRAM)", "caches", ge=1, le=64)
    ways: int = knob("lines of a set", "lines", ge=1, le=16, pow2=True)
    sets_per_thread: int = knob("sets that a thread has to itself", "sets", ge=1, le=64, pow2=True)
    line_bytes: int = knob("bytes of a line", "bytes", ge=16, le=128, pow2=True)
    inflight: int = knob("requests to memory that a cache keeps open", "requests", ge=1, le=256)


class MailboxSection(Section):
    """Message memory of a tile; the cores around one mailbox are a tile."""

    cores_per_mailbox: int = knob("cores of a tile (CoresPerMailbox)", "cores", ge=1, le=32, pow2=True)
    flit_bytes: int = knob("payload of a flit (BytesPerFlit)", "bytes", ge=4, le=64, pow2=True)
    max_flits: int = knob("longest message (MaxFlitsPerMsg)", "flits", ge=1, le=16)
    slot_bytes: int = knob("room of one message slot", "bytes", ge=16, le=1024, pow2=True)
    slots_per_thread: int = knob(
        "message slots for each thread of the tile (MsgSlotsPerThread)", "slots", ge=2, le=64, pow2=True
    )
    queue_depth: int = knob("messages that can wait for one thread", "messages", ge=1, le=1024, pow2=True)


class MeshSection(Section):
    """Dimension-ordered mesh of tiles on the chip."""

    width: int = knob("tiles in a row", "tiles", ge=1, le=16)
    height: int = knob("rows of tiles", "tiles", ge=1, le=16)
    buffer_flits: int = knob("room of a router's input, for each virtual network", "flits", ge=2, le=256)


class RouterSection(Section):
    """Programmable multicast router of the board, with tables in the board's memory."""

    mesh_ports: int = knob("columns of the mesh that it joins, from x = 0", "ports", ge=1, le=16)
    buffer_flits: int = knob("flits that wait in an expander while records are fetched", "flits", ge=4, le=1024)
    beat_bytes: int = knob("bytes of one beat of routing records", "bytes", ge=16, le=128, pow2=True)
    table_bytes: int = knob("memory kept for routing tables", "bytes", ge=4096, le=1 << 32, pow2=True)


class DramSection(Section):
    """DRAM; timings count cycles of its command clock (half the data rate; all of it for sdr)."""

    kind: Literal["sdr", "ddr3", "ddr4"] = knob("what memory it is")
    count: int = knob("independent memories, each with its own data bus", "memories", ge=1, le=16)
    bytes: int = knob("size of each", "bytes", ge=1 << 20, le=1 << 36, pow2=True)
    bus_bits: int = knob("width of each data bus", "bits", ge=8, le=512, pow2=True)
    rate_mts: int = knob("data rate of a pin", "MT/s", ge=10, le=6400)
    burst_length: int = knob("transfers of a burst", "transfers", ge=1, le=16, pow2=True)
    banks: int = knob("banks of each memory, bank groups counted together", "banks", ge=1, le=64, pow2=True)
    row_bytes: int = knob("row of a bank, over the whole bus", "bytes", ge=256, le=65536, pow2=True)
    cl: int = knob("read command to first data (CL)", "cycles", ge=1, le=64)
    cwl: int = knob("write command to first data (CWL)", "cycles", ge=0, le=64)
    rcd: int = knob("activate to read or write (tRCD)", "cycles", ge=1, le=64)
    rp: int = knob("precharge to activate (tRP)", "cycles", ge=1, le=64)
    ras: int = knob("activate to precharge (tRAS)", "cycles", ge=1, le=128)
    rrd: int = knob("activate to activate of another bank (tRRD)", "cycles", ge=1, le=64)
    faw: int = knob("window for four activates (tFAW)", "cycles", ge=1, le=128)
    wr: int = knob("last write data to precharge (tWR)", "cycles", ge=1, le=64)
    wtr: int = knob("last write data to read command (tWTR)", "cycles", ge=1, le=64)
    rtp: int = knob("read to precharge (tRTP)", "cycles", ge=1, le=64)
    rfc: int = knob("refresh to activate (tRFC)", "cycles", ge=1, le=2048)
    refi: int = knob("refresh to refresh (tREFI)", "cycles", ge=64, le=65536)
    port_bytes: int = knob("bytes a cycle between each memory and the caches", "bytes", ge=1, le=128, pow2=True)
    controller_latency: int = knob(
        "core cycles through the controller, both ways together, beside the memory's own",
        "cycles",
        ge=0,
        le=256,
    )


class SramSection(Section):
    """QDR SRAM: separate read and write buses, both at both clock edges."""

    count: int = knob("memories; 0 for none", "memories", ge=0, le=16)
    bytes: int = knob("size of each", "bytes", ge=1024, le=1 << 30, pow2=True)
    data_bits: int = knob("data width each way, parity not counted", "bits", ge=8, le=128, pow2=True)
    clock_mhz: int = knob("clock; two transfers a cycle each way", "MHz", ge=1, le=1200)
    read_latency: int = knob("core cycles from request to data", "cycles", ge=1, le=64)


class MemorySection(Section):
    """Memory beside the FPGA."""

    dram: DramSection = Field(description="DRAM of the board")
    sram: SramSection = Field(
        description="SRAM of the board",
        default=SramSection(count=0, bytes=1024, data_bits=8, clock_mhz=1, read_latency=1),
    )


class LinksSection(Section):
    """Reliable links to other boards, over frames that may be lost."""

    names: tuple[str, ...] = Field(
        strict=False,
        max_length=16,
        description="a name for each link, as cables use it; directions if it is made for meshes",
    )
    rate_mbps: int = knob("line rate each way", "Mb/s", ge=10, le=400_000)
    flight_cycles: int = knob(
        "core cycles from last bit in to last bit out, wire and transceivers", "cycles", ge=1, le=65536
    )
    overhead_bytes: int = knob(
        "line time lost around a frame: preamble, addresses if sent, check sum, gap", "bytes", ge=0, le=128
    )
    frame_bytes: int = knob("longest frame, without that overhead", "bytes", ge=32, le=9000)
    window_frames: int = knob("frames sent before the first must be acknowledged", "frames", ge=1, le=32768, pow2=True)


class StreamSection(Section):
    """Streaming ports (SMI)."""

    ports: int = knob("streaming ports of the board; 0 for none", "ports", ge=0, le=256)
    packet_bytes: int = knob("network packet with its header", "bytes", ge=16, le=256, pow2=True)
    fifo_packets: int = knob("packets that a port's FIFO holds", "packets", ge=2, le=4096, pow2=True)
    poll: int = knob("packets read from one source before the next is looked at (R)", "packets", ge=1, le=256)
    credits: int = knob("elements of a reduction in flight, and the buffer at its root (C)", "elements", ge=1, le=65536)


class MatchSection(Section):
    """MPI match engine: posted receives and unexpected messages."""

    cam_entries: int = knob("entries searched in one cycle; 0 for no engine", "entries", ge=0, le=1024)
    lists: int = knob("lists behind the first level, searched side by side", "lists", ge=1, le=256, pow2=True)
    list_entries: int = knob("entries of all lists together, for each queue", "entries", ge=1, le=1 << 20, pow2=True)
    in_tiles: bool = knob("an engine in the accelerator slot of each tile")
    dma: bool = knob("a DMA engine beside each engine: payloads of long messages")


class ShellSection(Section):
    """Raw Ethernet towards the host."""

    vendor_id: int = knob("vendor that discovery announces", "", ge=0, le=0xFFFF)
    product_id: int = knob("product that discovery announces", "", ge=0, le=0xFFFF)
    macs: int = knob("Ethernet ports that the shell answers on; 0 for no shell", "ports", ge=0, le=2)
    rate_mbps: int = knob("line rate of such a port", "Mb/s", ge=10, le=400_000)
    window_frames: int = knob("frames sent before the first must be acknowledged", "frames", ge=1, le=32768, pow2=True)


# What stands for a table that a configuration leaves out: none of it, and the least of everything else.
_NO_LINKS = LinksSection(names=(), rate_mbps=10, flight_cycles=1, overhead_bytes=0, frame_bytes=9000, window_frames=1)
_NO_STREAMS = StreamSection(ports=0, packet_bytes=32, fifo_packets=2, poll=1, credits=1)
_NO_MATCH = MatchSection(cam_entries=0, lists=1, list_entries=1, in_tiles=False, dma=False)
_NO_SHELL = ShellSection(vendor_id=0, product_id=0, macs=0, rate_mbps=10, window_frames=1)


class Config(Section):
    """A hardware configuration, checked. Tables of what a board need not have may be left out."""

    description: str = Field(description="what it is, in a line")
    base: str | None = Field(default=None, description="the configuration that this one changes")
    board: BoardSection = Field(description="board and part")
    core: CoreSection = Field(description="cores")
    fpu: FpuSection = Field(description="floating-point units")
    cache: CacheSection = Field(description="data caches")
    mailbox: MailboxSection = Field(description="mailboxes")
    mesh: MeshSection = Field(description="mesh of tiles")
    router: RouterSection = Field(description="multicast router")
    memory: MemorySection = Field(description="memories")
    links: LinksSection = Field(description="links between boards", default=_NO_LINKS)
    stream: StreamSection = Field(description="streaming ports", default=_NO_STREAMS)
    match: MatchSection = Field(description="match engine", default=_NO_MATCH)
    shell: ShellSection = Field(description="shell", default=_NO_SHELL)

    _name: str = PrivateAttr(default="unnamed")

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self._name

    # ------------------------------------------------------- derived values

    @property
    def clock_hz(self) -> int:
        """Clock of tiles and fabric [Hz]"""
        return round(self.board.clock_mhz * 1e6)

    @property
    def tiles(self) -> int:
        """Tiles of a board, one mailbox each [tiles]"""
        return self.mesh.width * self.mesh.height

    @property
    def cores(self) -> int:
        """Cores of a board [cores]"""
        return self.tiles * self.mailbox.cores_per_mailbox

    @property
    def threads(self) -> int:
        """Threads of a board [threads]"""
        return self.cores * self.core.threads_per_core

    @property
    def threads_per_tile(self) -> int:
        """Threads that share a mailbox [threads]"""
        return self.mailbox.cores_per_mailbox * self.core.threads_per_core

    @property
    def threads_per_cache(self) -> int:
        """Threads that share a cache [threads]"""
        return self.cache.cores_per_cache * self.core.threads_per_core

    @property
    def fpus(self) -> int:
        """FPUs of a board [FPUs]"""
        return self.cores // self.fpu.cores_per_fpu

    @property
    def caches(self) -> int:
        """Caches of a board [caches]"""
        return self.cores // self.cache.cores_per_cache

    @property
    def cache_sets(self) -> int:
        """Sets of a cache, those of all its threads [sets]"""
        return self.cache.sets_per_thread * self.threads_per_cache

    @property
    def cache_bytes(self) -> int:
        """Data of a cache [bytes]"""
        return self.cache_sets * self.cache.ways * self.cache.line_bytes

    @property
    def instr_words(self) -> int:
        """Instructions that an instruction memory holds [words]"""
        return self.core.instr_mem_bytes // 4

    @property
    def max_message_bytes(self) -> int:
        """Longest message [bytes]"""
        return self.mailbox.max_flits * self.mailbox.flit_bytes

    @property
    def slots_per_tile(self) -> int:
        """Message slots of a mailbox [slots]"""
        return self.mailbox.slots_per_thread * self.threads_per_tile

    @property
    def scratchpad_bytes(self) -> int:
        """Message memory of a mailbox [bytes]"""
        return self.slots_per_tile * self.mailbox.slot_bytes

    @property
    def link_count(self) -> int:
        """Links of a board [links]"""
        return len(self.links.names)

    @property
    def dram_total_bytes(self) -> int:
        """DRAM of a board [bytes]"""
        return self.memory.dram.count * self.memory.dram.bytes

    @property
    def sram_total_bytes(self) -> int:
        """SRAM of a board [bytes]"""
        return self.memory.sram.count * self.memory.sram.bytes

    @property
    def dram_clock_mhz(self) -> int:
        """Command clock of the DRAM, in which its timings count [MHz]"""
        return self.memory.dram.rate_mts // (1 if self.memory.dram.kind == "sdr" else 2)

    @property
    def dram_burst_bytes(self) -> int:
        """What one DRAM burst moves [bytes]"""
        return self.memory.dram.bus_bits // 8 * self.memory.dram.burst_length

    @property
    def dram_mbytes_per_s(self) -> int:
        """Peak of all DRAM data buses together [MB/s]"""
        return self.memory.dram.count * self.memory.dram.rate_mts * self.memory.dram.bus_bits // 8

    @property
    def sram_mbytes_per_s(self) -> int:
        """Peak of all SRAMs together, reads and writes [MB/s]"""
        return self.memory.sram.count * self.memory.sram.clock_mhz * 4 * self.memory.sram.data_bits // 8

    @property
    def link_bits_per_kilocycle(self) -> int:
        """What a link carries each way in 1,000 core cycles [bits]"""
        return round(self.links.rate_mbps * 1000 / self.board.clock_mhz)

    @property
    def stream_payload_bytes(self) -> int:
        """Payload of a stream packet [bytes]"""
        return self.stream.packet_bytes - constants.layout("stream_header").bytes

    @property
    def list_entries_each(self) -> int:
        """Entries of one list of the match engine [entries]"""
        return self.match.list_entries // self.match.lists

    @property
    def match_receives(self) -> int:
        """Receives that can wait in a tile's match engine [entries]"""
        return self.match.list_entries * 3 // 8

    @property
    def match_eager(self) -> int:
        """Messages in it whose senders have credit, all senders together [entries]"""
        return self.match.list_entries // 2

    @property
    def match_announced(self) -> int:
        """Messages without credit that can wait in it [entries]"""
        return self.match.list_entries // 8

    @property
    def match_window(self) -> int:
        """Packets of it that a thread has not said to have taken, at most [packets]"""
        return max(1, min(self.mailbox.queue_depth // 2, 128))

    @property
    def log2_threads_per_core(self) -> int:
        """Width of a thread's number in its core [bits]"""
        return log2(self.core.threads_per_core)

    @property
    def log2_threads_per_tile(self) -> int:
        """Width of a thread's number in its tile [bits]"""
        return log2(self.threads_per_tile)

    @property
    def log2_cores_per_mailbox(self) -> int:
        """Width of a core's number in its tile [bits]"""
        return log2(self.mailbox.cores_per_mailbox)

    @property
    def log2_instr_words(self) -> int:
        """Width of an instruction's address [bits]"""
        return log2(self.instr_words)

    @property
    def log2_mesh_width(self) -> int:
        """Width of a tile's x [bits]"""
        return log2(self.mesh.width)

    @property
    def log2_mesh_height(self) -> int:
        """Width of a tile's y [bits]"""
        return log2(self.mesh.height)

    @property
    def log2_slot_bytes(self) -> int:
        """Width of an offset in a message slot [bits]"""
        return log2(self.mailbox.slot_bytes)

    @property
    def log2_slots_per_tile(self) -> int:
        """Width of a slot's number in its mailbox [bits]"""
        return log2(self.slots_per_tile)

    @property
    def log2_scratchpad_bytes(self) -> int:
        """Width of an address in a mailbox [bits]"""
        return log2(self.scratchpad_bytes)

    @property
    def log2_line_bytes(self) -> int:
        """Width of an offset in a cache line [bits]"""
        return log2(self.cache.line_bytes)

    @property
    def log2_cache_sets(self) -> int:
        """Width of a set's number [bits]"""
        return log2(self.cache_sets)

    @property
    def log2_ways(self) -> int:
        """Width of a way's number [bits]"""
        return log2(self.cache.ways)

    @property
    def log2_dram_total_bytes(self) -> int:
        """Width of an address in the board's DRAM [bits]"""
        return log2(self.dram_total_bytes)

    @property
    def log2_link_count(self) -> int:
        """Width of a link's number [bits]"""
        return log2(max(1, self.link_count))

    # --------------------------------------------------------------- checks

    @model_validator(mode="after")
    def _possible(self) -> Config:
        for keys, message in complaints(self):
            raise impossible(keys, message)
        return self


def log2(value: int) -> int:
    """Bits that number `value` things: 0 for one thing."""
    return (value - 1).bit_length()


class Knob:
    """One value of a configuration, as tables and generators list it."""

    def __init__(self, path: tuple[str, ...], field: FieldInfo, value: Any) -> None:
        self.path = path
        self.key = ".".join(path)
        self.value = value
        self.unit = str(extra(field).get("unit", ""))
        self.doc = field.description or ""
        self.field = field


def knobs(config: Config) -> Iterator[Knob]:
    """All values that a file gives, in the schema's order, without description and base."""

    def walk(section: BaseModel, path: tuple[str, ...]) -> Iterator[Knob]:
        for name, field in type(section).model_fields.items():
            value = getattr(section, name)
            if isinstance(value, BaseModel):
                yield from walk(value, (*path, name))
            elif path:
                yield Knob((*path, name), field, value)

    yield from walk(config, ())


@functools.lru_cache(maxsize=1)
def derived_docs() -> dict[str, tuple[str, str]]:
    """Meaning and unit of every value that follows from others."""
    docs = {}
    for name, member in vars(Config).items():
        if isinstance(member, property) and member.__doc__ and member.__doc__.endswith("]"):
            doc, _, unit = member.__doc__[:-1].rpartition(" [")
            docs[name] = (doc, unit)
    return docs


def section_docs(config: Config) -> dict[tuple[str, ...], str]:
    """What each table of a configuration is about, by its path."""
    docs: dict[tuple[str, ...], str] = {}

    def walk(section: BaseModel, path: tuple[str, ...]) -> None:
        for name in type(section).model_fields:
            value = getattr(section, name)
            if isinstance(value, BaseModel):
                here = (*path, name)
                docs[here] = (type(value).__doc__ or "").strip()
                walk(value, here)

    walk(config, ())
    return docs
