# SPDX-License-Identifier: Apache-2.0
"""The tables of a hardware configuration: every key, its unit, range and meaning.

The descriptions here are the reference documentation: `config show` prints them, and the generators copy them into
the SystemVerilog package and the C++ header. Names in parentheses are those of the papers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from gossamer.config._source import extra


def inconsistent(keys: str, message: str) -> PydanticCustomError:
    """The error for values that are valid alone but not together.

    `keys` are the keys involved, separated by blanks; the message is about the first.
    """
    paths = [tuple(int(part) if part.isdigit() else part for part in key.split(".")) for key in keys.split()]
    # The message is final; the cast satisfies a signature that requires a literal template.
    return PydanticCustomError("combination", cast(Any, message), {"keys": paths})


def knob(
    doc: str, unit: str = "", *, ge: int | None = None, le: int | None = None, pow2: bool = False, default: Any = ...
) -> Any:
    """A value with its meaning, unit and range; required if it has no default."""
    return Field(default, description=doc, ge=ge, le=le, json_schema_extra={"unit": unit, "pow2": pow2})


class Section(BaseModel):
    """A table of a configuration file. Immutable; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    former_keys: ClassVar[Mapping[str, str]] = {}
    """Keys of earlier versions, each with what to do about it; the error for such a key says so."""

    @model_validator(mode="after")
    def _powers_of_two(self) -> Section:
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if extra(field).get("pow2") and value & (value - 1):
                below = 1 << (value.bit_length() - 1)
                raise inconsistent(name, f"is {value}, must be a power of two ({below} or {below * 2})")
        return self


class BoardSection(Section):
    """The board and the FPGA part that the design targets."""

    name: str = knob("name of the board; `sim` for simulation only")
    part: str = knob("FPGA part number as the vendor's tools spell it; empty for simulation only")
    clock_mhz: float = knob("clock of tiles and fabric", "MHz", ge=1, le=1000)


class CoreSection(Section):
    """Barrel-scheduled RV32IMF core."""

    threads_per_core: int = knob("hardware threads of a core (ThreadsPerCore)", "threads", ge=2, le=32, pow2=True)
    instr_mem_bytes: int = knob(
        "size of an instruction memory (BytesPerInstrMem)", "bytes", ge=1024, le=131072, pow2=True
    )
    cores_per_instr_mem: int = knob("cores that share one instruction memory", "cores", ge=1, le=2, pow2=True)


class FpuSection(Section):
    """Single-precision unit, shared by cores."""

    cores_per_fpu: int = knob("cores that share one FPU (CoresPerFPU)", "cores", ge=1, le=64, pow2=True)


class CacheSection(Section):
    """Non-blocking write-back data cache, partitioned by thread."""

    cores_per_cache: int = knob("cores that share one cache (CoresPerDCache)", "cores", ge=1, le=64, pow2=True)
    caches_per_dram: int = knob("caches that share one DRAM (DCachesPerDRAM)", "caches", ge=1, le=64)
    ways: int = knob("associativity: lines of a set", "lines", ge=1, le=16, pow2=True)
    sets_per_thread: int = knob("sets of each thread's partition", "sets", ge=1, le=64, pow2=True)
    line_bytes: int = knob("line size", "bytes", ge=16, le=128, pow2=True)
    inflight: int = knob("outstanding memory requests of a cache", "requests", ge=1, le=256)


class MailboxSection(Section):
    """Message memory of a tile; the cores that share a mailbox form a tile."""

    cores_per_mailbox: int = knob("cores of a tile (CoresPerMailbox)", "cores", ge=1, le=32, pow2=True)
    flit_bytes: int = knob("payload of a flit (BytesPerFlit)", "bytes", ge=4, le=64, pow2=True)
    max_flits: int = knob("longest message (MaxFlitsPerMsg)", "flits", ge=1, le=16)
    slot_bytes: int = knob("size of a message slot", "bytes", ge=16, le=1024, pow2=True)
    slots_per_thread: int = knob(
        "message slots for each thread of the tile (MsgSlotsPerThread)", "slots", ge=2, le=64, pow2=True
    )
    queue_depth: int = knob("depth of a thread's receive queue", "messages", ge=1, le=1024, pow2=True)


class MeshSection(Section):
    """Dimension-ordered mesh of tiles on the chip."""

    width: int = knob("tiles in a row", "tiles", ge=1, le=16)
    height: int = knob("rows of tiles", "tiles", ge=1, le=16)
    buffer_flits: int = knob("input buffer of a mesh router, for each virtual network", "flits", ge=2, le=256)


class RouterSection(Section):
    """Programmable multicast router of the board, with tables in the board's memory."""

    former_keys: ClassVar[Mapping[str, str]] = {
        "beat_bytes": "removed, because no hardware reads it; delete the line",
    }

    mesh_ports: int = knob("mesh columns that the router connects to, from x = 0", "ports", ge=1, le=16)
    buffer_flits: int = knob("flits that wait in an expander while records are fetched", "flits", ge=4, le=1024)
    table_bytes: int = knob("memory reserved for routing tables", "bytes", ge=4096, le=1 << 32, pow2=True)


class DramSection(Section):
    """DRAM; timings count cycles of its command clock (half the data rate; the data rate itself for sdr)."""

    kind: Literal["sdr", "ddr3", "ddr4"] = knob("memory standard")
    count: int = knob("independent memories, each with its own data bus", "memories", ge=1, le=16)
    bytes: int = knob("size of each", "bytes", ge=1 << 20, le=1 << 36, pow2=True)
    bus_bits: int = knob("width of each data bus", "bits", ge=8, le=512, pow2=True)
    rate_mts: int = knob("data rate of a pin", "MT/s", ge=10, le=6400)
    burst_length: int = knob("transfers of a burst", "transfers", ge=1, le=16, pow2=True)
    banks: int = knob("banks of each memory, over all bank groups", "banks", ge=1, le=64, pow2=True)
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
        "round trip through the controller in core cycles, without the memory's own latency",
        "cycles",
        ge=0,
        le=256,
    )


class SramSection(Section):
    """QDR SRAM: separate read and write buses, both at both clock edges."""

    count: int = knob("memories; 0 for none", "memories", ge=0, le=16)
    bytes: int = knob("size of each", "bytes", ge=1024, le=1 << 30, pow2=True)
    data_bits: int = knob("width of each data bus, without parity", "bits", ge=8, le=128, pow2=True)
    clock_mhz: int = knob("clock; each bus makes two transfers a cycle", "MHz", ge=1, le=1200)
    read_latency: int = knob("core cycles from request to data", "cycles", ge=1, le=64)


class MemorySection(Section):
    """Off-chip memory of the board."""

    dram: DramSection = Field(description="DRAM of the board")
    sram: SramSection = Field(
        description="SRAM of the board",
        default=SramSection(count=0, bytes=1024, data_bits=8, clock_mhz=1, read_latency=1),
    )


class SwitchSection(Section):
    """Switch of a board: connects mesh, links, host and endpoints."""

    datapath: Literal["crossbar", "shared"] = knob(
        "crossbar: every port moves a flit a cycle; shared: one flit a cycle in all, in a third of the area"
    )


class LinksSection(Section):
    """Reliable links to other boards, over frames that may be lost."""

    names: tuple[str, ...] = Field(
        strict=False,
        max_length=16,
        description="a name for each link, as cables use it; the directions on a board made for meshes",
    )
    rate_mbps: int = knob("line rate of each direction", "Mb/s", ge=10, le=400_000)
    flight_cycles: int = knob(
        "core cycles from last bit sent to last bit received, wire and transceivers", "cycles", ge=1, le=65536
    )
    overhead_bytes: int = knob(
        "line time lost around a frame: preamble, addresses if sent, checksum, gap", "bytes", ge=0, le=128
    )
    frame_bytes: int = knob("longest frame, without that overhead", "bytes", ge=32, le=9000)
    window_frames: int = knob("frames in flight without an acknowledgement", "frames", ge=1, le=32768, pow2=True)
    datapath_bytes: Literal[2, 8] = knob(
        "width of a link between the board and its MAC; 2 carries 1 Gb/s at 62.5 MHz", "bytes"
    )


class MatchSection(Section):
    """MPI match engine: posted receives and unexpected messages."""

    former_keys: ClassVar[Mapping[str, str]] = {"mover": "renamed: dma; write dma instead of mover"}

    cam_entries: int = knob("entries searched in one cycle; 0 for no engine", "entries", ge=0, le=1024)
    lists: int = knob("lists after the first level, searched in parallel", "lists", ge=1, le=256, pow2=True)
    list_entries: int = knob("entries of all lists together, for each queue", "entries", ge=1, le=1 << 20, pow2=True)
    in_tiles: bool = knob("whether the accelerator slot of each tile holds an engine")
    on_board: int = knob(
        "engines at the board, each for an equal share of its tiles; 0 for none", "engines", ge=0, le=64, pow2=True
    )
    dma: bool = knob("whether each engine has a DMA engine for the payloads of long messages")


class StreamSection(Section):
    """Streaming ports of the board, for kernels next to its tiles."""

    ports: int = knob("streaming ports; 0 for none", "ports", ge=0, le=256)
    width_bytes: int = knob(
        "width of a port at its kernel; the widest element must fit", "bytes", ge=1, le=16, pow2=True
    )
    depth_flits: int = knob("receive buffer of a port", "flits", ge=4, le=32768, pow2=True)
    send_flits: int = knob("send buffer of a port; a packet has at most half", "flits", ge=4, le=32768, pow2=True)
    voq_flits: int = knob(
        "virtual output queue of a port for each rank, of messages that wait for their receiver; 0 for none",
        "flits", ge=0, le=4096, pow2=True,
    )  # fmt: skip
    ranks: int = knob("ranks that may request credits of a port", "ranks", ge=2, le=256, pow2=True)
    blocks: int = knob("support blocks of collectives; 0 for none", "blocks", ge=0, le=32)
    block_edges: int = knob("streaming ports of each block, to its neighbours in trees", "ports", ge=1, le=8)
    block_kinds: int = knob("collectives of the blocks: bit n is number n of smi_collective", "mask", ge=0, le=254)
    block_types: int = knob("types that the blocks reduce: bit n is number n of smi_type", "mask", ge=0, le=254)
    element_beats: bool = knob("whether a beat at a kernel is one element of the channel's type, not width_bytes bytes")


# Defaults of the tables that a configuration may omit: no such unit, and the minimum of every other value.
NO_LINKS = LinksSection(
    names=(), rate_mbps=10, flight_cycles=1, overhead_bytes=0, frame_bytes=9000, window_frames=1, datapath_bytes=8
)
NO_STREAM = StreamSection(
    ports=0, width_bytes=1, depth_flits=4, send_flits=4, voq_flits=0, ranks=2, blocks=0, block_edges=1,
    block_kinds=0, block_types=0, element_beats=False,
)  # fmt: skip
NO_MATCH = MatchSection(cam_entries=0, lists=1, list_entries=1, in_tiles=False, on_board=0, dma=False)
