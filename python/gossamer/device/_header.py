# SPDX-License-Identifier: Apache-2.0
"""The configuration for device software: ``gossamer/device_config.h`` and the memory map.

C, C++ and assembly include the header, so it contains macros only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gossamer.config import constants
from gossamer.errors import InputError

if TYPE_CHECKING:
    from gossamer.config import Config

ALONE = (1, 1)
"""Columns and rows of boards of a single board."""
_WINDOW = 1 << 31
"""Size of the address window of the threads' partitions in bytes."""
_DIRECT = 1 << 30
"""Size of the address window of directly mapped DRAM in bytes."""
_MOST_STACK = 64 << 10


class Part(tuple[int, int]):
    """Columns and rows of the boards of a job that uses a subset of a cluster."""

    numbers: tuple[int, ...]
    """The cluster's index of each board, by the job's index."""

    def __new__(cls, columns: int, rows: int, numbers: Sequence[int]) -> Part:
        part = super().__new__(cls, (columns, rows))
        part.numbers = tuple(numbers)
        assert len(part.numbers) == columns * rows
        return part


@dataclass(frozen=True)
class MemoryMap:
    """Location of a program's memory and of its threads' private memory; sizes in bytes, byte addresses."""

    instr_bytes: int
    """Instruction memory, from address 0."""
    data_base: int
    data_bytes: int
    """Size of the memory for constants and variables of the program."""
    partition_base: int
    partition_bytes: int
    """Size of a thread's partition in the upper half of the DRAM."""
    stack_bytes: int
    """Size of the stack with the guard at its lower end; thread-local variables are above it, the heap is below it."""
    sram_thread_bytes: int
    """Size of a thread's partition of the SRAM; 0 for none."""
    threads_per_dram: int


def ceil_log2(value: int) -> int:
    return (value - 1).bit_length()


def memory_map(config: Config) -> MemoryMap:
    """The memory map of a configuration; InputError if the DRAM is too small for programs."""
    dram, sram = config.memory.dram, config.memory.sram
    users = config.threads_per_cache * config.cache.caches_per_dram
    half = dram.bytes // 2
    partition = min(_WINDOW, half) >> ceil_log2(users)
    # The multicast router's tables occupy the upper end of the lower half's directly mapped window.
    data = min(_DIRECT, half) - config.router.table_bytes
    stack = min(partition // 4, _MOST_STACK)
    if data <= 0 or stack < 2 * constants.value("guard_bytes"):
        raise InputError(f"{config.name}: a DRAM of {dram.bytes} bytes is too small for programs of {users} threads")
    values = constants.package("").values
    return MemoryMap(
        instr_bytes=config.core.instr_mem_bytes,
        data_base=values["dram_base"].value,
        data_bytes=data,
        partition_base=values["partition_base"].value,
        partition_bytes=partition,
        stack_bytes=stack,
        sram_thread_bytes=sram.bytes * sram.count // dram.count // users // 16 * 16,
        threads_per_dram=users,
    )


def header(config: Config, boards: tuple[int, int] = ALONE) -> str:
    """The text of ``gossamer/device_config.h`` for a cluster with these columns and rows of boards."""
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        f"/// Configuration {config.name} for the overlay's programs.",
        "// Generated from config/; edit the files there.",
        "#pragma once",
    ]
    for title, macros in (
        ("Gossamer's names", _own(config, boards)),
        ("Tinsel's names", _tinsel(config, boards)),
    ):
        lines += ["", f"// {title}."]
        lines += [f"#define {name} {value}" for name, value in macros]
    return "\n".join(lines) + "\n"


def _hex(value: int) -> str:
    return f"0x{value:X}"


def _own(config: Config, boards: tuple[int, int]) -> Iterator[tuple[str, str]]:
    shared = constants.package("")
    place = memory_map(config)
    for name, value in shared.enums["csr"].values.items():
        yield f"GS_CSR_{name.upper()}", _hex(value)
    for name, value in shared.enums["perf_command"].values.items():
        yield f"GS_PERF_{name.upper()}", str(value)
    for name, value in shared.enums["reduce_op"].values.items():
        yield f"GS_REDUCE_{name.upper()}", str(value)
    for name, value in shared.enums["match_packet"].values.items():
        yield f"GS_MATCH_PACKET_{name.upper()}", _hex(value)
    yield "GS_MATCH_IN_TILES", str(int(config.match.in_tiles))
    yield "GS_MATCH_ON_BOARD", str(config.match.on_board)
    yield "GS_MATCH_RANKS", str(config.match_ranks)
    yield "GS_MATCH_DMA", str(int(config.match.dma))
    yield "GS_MATCH_RECEIVES", str(config.match_receives)
    yield "GS_MATCH_EAGER", str(config.match_eager)
    yield "GS_MATCH_ANNOUNCED", str(config.match_announced)
    yield "GS_MATCH_WINDOW", str(config.match_window)
    thread = shared.layouts["address_thread"]
    # In a program's address the fields are adjacent, without gaps (rtl/fabric/gs_address_pkg.sv).
    lsb = 0
    for name, bits in (
        ("thread", config.log2_threads_per_tile),
        ("tile_x", config.log2_mesh_width),
        ("tile_y", config.log2_mesh_height),
        ("board", thread.field("board").bits),
    ):
        yield f"GS_ADDRESS_{name.upper()}_LSB", str(lsb)
        yield f"GS_ADDRESS_{name.upper()}_BITS", str(bits)
        lsb += bits
    endpoint = shared.enums["endpoint"]
    for name in ("tile", "key", "host", "accelerator", "match"):
        layout = shared.layouts.get(f"address_{name}", thread)  # the kind has the same position in all layouts
        yield f"GS_ADDRESS_{name.upper()}", _hex(layout.pack(kind=endpoint[name])) + "u"
    yield "GS_ADDRESS_HOST_LSB", str(shared.layouts["address_host"].field("host").lsb)
    yield "GS_ADDRESS_MATCH_BOARD_LSB", str(shared.layouts["address_match"].field("board").lsb)
    yield "GS_CACHE_FLUSH_ALL", "0xFFFFFFFFu"
    yield "GS_SCRATCHPAD_BASE", _hex(shared.values["scratchpad_base"].value)
    yield "GS_SCRATCHPAD_BYTES", str(config.scratchpad_bytes)
    yield "GS_SRAM_BASE", _hex(shared.values["sram_base"].value)
    yield "GS_SRAM_THREAD_BYTES", str(place.sram_thread_bytes)
    yield "GS_DRAM_BASE", _hex(place.data_base)
    yield "GS_PARTITION_BASE", _hex(place.partition_base)
    yield "GS_PARTITION_BYTES", str(place.partition_bytes)
    yield "GS_LOG_PARTITION_BYTES", str(ceil_log2(place.partition_bytes))
    yield "GS_STACK_BYTES", str(place.stack_bytes)
    yield "GS_THREADS_PER_DRAM", str(place.threads_per_dram)
    yield "GS_LOG_THREADS_PER_DRAM", str(ceil_log2(place.threads_per_dram))
    yield "GS_THREADS_PER_TILE", str(config.threads_per_tile)
    yield "GS_LOG_THREADS_PER_TILE", str(config.log2_threads_per_tile)
    yield "GS_TILES", str(config.tiles)
    yield "GS_MESH_WIDTH", str(config.mesh.width)
    yield "GS_MAX_THREADS", str(config.threads)
    yield "GS_BOARDS_WIDTH", str(boards[0])
    yield "GS_BOARDS_HEIGHT", str(boards[1])
    if isinstance(boards, Part):
        first = boards.numbers[0]
        if boards.numbers == tuple(range(first, first + len(boards.numbers))):
            yield "GS_BOARD_FIRST", str(first)
        else:
            yield "GS_BOARD_NUMBERS", f"{{{', '.join(map(str, boards.numbers))}}}"
    yield "GS_LOG_SLOT_BYTES", str(config.log2_slot_bytes)
    yield "GS_LOG_SLOTS_PER_THREAD", str(ceil_log2(config.mailbox.slots_per_thread))
    yield "GS_FLIT_BYTES", str(config.mailbox.flit_bytes)
    yield "GS_MAX_FLITS", str(config.mailbox.max_flits)
    yield "GS_LINE_BYTES", str(config.cache.line_bytes)
    yield "GS_CLOCK_HZ", str(config.clock_hz)


def _tinsel(config: Config, boards: tuple[int, int]) -> Iterator[tuple[str, str]]:
    core, cache, box, mesh, memory = config.core, config.cache, config.mailbox, config.mesh, config.memory
    place = memory_map(config)
    flit, slot = box.flit_bytes, box.max_flits * box.flit_bytes
    beat = memory.dram.port_bytes
    # Bits of a thread's index on its board: more than the threads need if a side of the mesh is not a power of two.
    board_bits = config.log2_threads_per_tile + config.log2_mesh_width + config.log2_mesh_height
    sizes = {
        "ThreadsPerCore": core.threads_per_core,
        "InstrsPerCore": config.instr_words,
        "BytesPerWord": 4,
        "BytesPerInstrMem": core.instr_mem_bytes,
        "CoresPerInstrMem": core.cores_per_instr_mem,
        "CoresPerFPU": config.fpu.cores_per_fpu,
        "CoresPerDCache": cache.cores_per_cache,
        "DCachesPerDRAM": cache.caches_per_dram,
        "CoresPerDRAM": cache.cores_per_cache * cache.caches_per_dram,
        "ThreadsPerDCache": config.threads_per_cache,
        "ThreadsPerDRAM": place.threads_per_dram,
        "BytesPerBeat": beat,
        "WordsPerBeat": beat // 4,
        "BeatsPerLine": max(1, cache.line_bytes // beat),
        "BeatsPerDRAM": memory.dram.bytes // beat,
        "LinesPerDRAM": memory.dram.bytes // cache.line_bytes,
        "BytesPerLine": cache.line_bytes,
        "WordsPerLine": cache.line_bytes // 4,
        "DCacheNumWays": cache.ways,
        "DCacheSetsPerThread": cache.sets_per_thread,
        "CoresPerMailbox": box.cores_per_mailbox,
        "ThreadsPerMailbox": config.threads_per_tile,
        "BytesPerFlit": flit,
        "WordsPerFlit": flit // 4,
        "MaxFlitsPerMsg": box.max_flits,
        "BytesPerMsg": slot,
        "WordsPerMsg": slot // 4,
        "MsgSlotsPerThread": box.slots_per_thread,
        "MsgsPerThread": box.slots_per_thread,
        "MsgsPerMailbox": config.slots_per_tile,
        "MailboxMeshXLen": mesh.width,
        "MailboxMeshYLen": mesh.height,
        "MailboxesPerBoard": config.tiles,
        "CoresPerBoard": config.cores,
        "ThreadsPerBoard": config.threads,
        "DCachesPerBoard": config.caches,
        "DRAMsPerBoard": memory.dram.count,
        "BytesPerDRAM": memory.dram.bytes,
        "BytesPerDRAMPartition": place.partition_bytes,
        "SRAMsPerBoard": memory.sram.count,
        "BytesPerSRAM": memory.sram.bytes,
        "BytesPerSRAMPartition": place.sram_thread_bytes,
        # All boards count as one box.
        "MeshXLenWithinBox": boards[0],
        "MeshYLenWithinBox": boards[1],
        "BoardsPerBox": boards[0] * boards[1],
        "BoxMeshXLen": 1,
        "BoxMeshYLen": 1,
        "MaxThreads": 1 << board_bits + sum(map(ceil_log2, boards)),
    }
    for name, size in sizes.items():
        yield f"Tinsel{name}", f"{size}u" if size >= 1 << 31 else str(size)
        if name == "ThreadsPerBoard":
            yield "TinselLogThreadsPerBoard", str(board_bits)
        elif size and size & (size - 1) == 0:
            yield f"TinselLog{name}", str(size.bit_length() - 1)
    # Tinsel's alternative spellings of the same values.
    yield "TinselDCacheLogNumWays", "TinselLogDCacheNumWays"
    yield "TinselDCacheLogSetsPerThread", "TinselLogDCacheSetsPerThread"
    yield "TinselMailboxMeshXBits", str(config.log2_mesh_width)
    yield "TinselMailboxMeshYBits", str(config.log2_mesh_height)
    for axis, length in zip("XY", boards, strict=True):
        bits = str(ceil_log2(length))
        yield f"TinselMesh{axis}Bits", bits
        yield f"TinselMesh{axis}BitsWithinBox", bits
    yield "TinselSharedInstrMem", str(int(core.cores_per_instr_mem > 1))
    # Programs start at address 0 of instruction memory, because no boot loader occupies it.
    yield "TinselMaxBootImageBytes", "0"
    yield "TinselEnablePerfCount", "1"
    known = constants.package("").values
    latencies = [value.value for name, value in known.items() if re.fullmatch(r"fpu_\w+_latency", name)]
    yield "TinselFPUOpMaxLatency", str(max(latencies))
    # Address of the multicast router's tables in a program's address space.
    yield "TinselPOLiteProgRouterBase", _hex(place.data_base + place.data_bytes)
    yield "TinselPOLiteProgRouterLength", str(config.router.table_bytes)
    yield "TinselProgRouterMaxBurst", str((1 << constants.layout("route_key").field("beats").bits) - 1)
    yield "TinselDRAMBase", _hex(place.data_base)
    yield "TinselClockFreq", str(config.clock_hz // 1_000_000)
