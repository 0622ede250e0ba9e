# SPDX-License-Identifier: Apache-2.0
"""All tables of a hardware configuration, and the values derived from them.

A derived value is a property whose docstring ends with its unit in brackets; `config show` prints the docstring, and
the generators copy it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from gossamer.config import constants
from gossamer.config._sections import (
    NO_LINKS,
    NO_MATCH,
    NO_STREAM,
    BoardSection,
    CacheSection,
    CoreSection,
    FpuSection,
    LinksSection,
    MailboxSection,
    MatchSection,
    MemorySection,
    MeshSection,
    RouterSection,
    Section,
    StreamSection,
    SwitchSection,
)

_REMOVED = "removed, because no hardware reads it; delete the table"


def log2(value: int) -> int:
    """Bits of an index of `value` things: 0 for one thing."""
    return (value - 1).bit_length()


class Parameters(Section):
    """The values of a configuration file, checked one by one. Tables of optional units may be omitted."""

    former_keys: ClassVar[Mapping[str, str]] = {"shell": _REMOVED}

    description: str = Field(description="one line about the configuration")
    base: str | None = Field(default=None, description="the configuration that this one changes")
    board: BoardSection = Field(description="board and part")
    core: CoreSection = Field(description="cores")
    fpu: FpuSection = Field(description="floating-point units")
    cache: CacheSection = Field(description="data caches")
    mailbox: MailboxSection = Field(description="mailboxes")
    mesh: MeshSection = Field(description="mesh of tiles")
    router: RouterSection = Field(description="multicast router")
    memory: MemorySection = Field(description="memories")
    switch: SwitchSection = Field(description="board switch")
    links: LinksSection = Field(description="links between boards", default=NO_LINKS)
    stream: StreamSection = Field(description="streaming ports", default=NO_STREAM)
    match: MatchSection = Field(description="match engine", default=NO_MATCH)

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
        """Sets of a cache, over all threads [sets]"""
        return self.cache.sets_per_thread * self.threads_per_cache

    @property
    def cache_bytes(self) -> int:
        """Data size of a cache [bytes]"""
        return self.cache_sets * self.cache.ways * self.cache.line_bytes

    @property
    def instr_words(self) -> int:
        """Size of an instruction memory [words]"""
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
    def local_ports(self) -> int:
        """Local ports of the board's switch (board_port), after the mesh's exits and the links [ports]"""
        return self.match_port + (1 if self.match.on_board else 0)

    @property
    def match_port(self) -> int:
        """Local port of the match engines at the board, if it has any (board_port) [port]"""
        return constants.enumeration("board_port")["match"] - (0 if self.stream.ports else 1)

    @property
    def switch_ports(self) -> int:
        """Ports of the board's switch, if all links are connected [ports]"""
        return self.router.mesh_ports + self.link_count + self.local_ports

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
        """Command clock of the DRAM, the unit of its timings [MHz]"""
        return self.memory.dram.rate_mts // (1 if self.memory.dram.kind == "sdr" else 2)

    @property
    def dram_burst_bytes(self) -> int:
        """Data of one DRAM burst [bytes]"""
        return self.memory.dram.bus_bits // 8 * self.memory.dram.burst_length

    @property
    def dram_mbytes_per_s(self) -> int:
        """Peak bandwidth of all DRAM together [MB/s]"""
        return self.memory.dram.count * self.memory.dram.rate_mts * self.memory.dram.bus_bits // 8

    @property
    def sram_mbytes_per_s(self) -> int:
        """Peak bandwidth of all SRAM together, reads and writes [MB/s]"""
        return self.memory.sram.count * self.memory.sram.clock_mhz * 4 * self.memory.sram.data_bits // 8

    @property
    def link_bits_per_kilocycle(self) -> int:
        """Capacity of each direction of a link in 1,000 core cycles [bits]"""
        return round(self.links.rate_mbps * 1000 / self.board.clock_mhz)

    @property
    def list_entries_each(self) -> int:
        """Entries of one list of the match engine [entries]"""
        return self.match.list_entries // self.match.lists

    @property
    def match_ranks(self) -> int:
        """Threads that a match engine serves: of a tile, or of its share of the board's tiles [threads]"""
        if not self.match.on_board:
            return self.threads_per_tile
        bits = self.log2_threads_per_tile + self.log2_mesh_width + self.log2_mesh_height
        return (1 << bits) // self.match.on_board

    @property
    def match_receives(self) -> int:
        """Posted receives that a match engine can hold [entries]"""
        return self.match.list_entries * 3 // 8

    @property
    def match_eager(self) -> int:
        """Unexpected messages of senders with credit that it can hold, over all senders [entries]"""
        return self.match.list_entries // 2

    @property
    def match_announced(self) -> int:
        """Unexpected messages without credit that it can hold [entries]"""
        return self.match.list_entries // 8

    @property
    def match_window(self) -> int:
        """Packets of it to one thread that await the thread's acknowledgement, at most [packets]"""
        return max(1, min(self.mailbox.queue_depth // 2, 128))

    @property
    def log2_threads_per_core(self) -> int:
        """Width of a thread's index in its core [bits]"""
        return log2(self.core.threads_per_core)

    @property
    def log2_threads_per_tile(self) -> int:
        """Width of a thread's index in its tile [bits]"""
        return log2(self.threads_per_tile)

    @property
    def log2_cores_per_mailbox(self) -> int:
        """Width of a core's index in its tile [bits]"""
        return log2(self.mailbox.cores_per_mailbox)

    @property
    def log2_instr_words(self) -> int:
        """Width of an instruction address [bits]"""
        return log2(self.instr_words)

    @property
    def log2_mesh_width(self) -> int:
        """Width of a tile's x coordinate [bits]"""
        return log2(self.mesh.width)

    @property
    def log2_mesh_height(self) -> int:
        """Width of a tile's y coordinate [bits]"""
        return log2(self.mesh.height)

    @property
    def log2_slot_bytes(self) -> int:
        """Width of an offset in a message slot [bits]"""
        return log2(self.mailbox.slot_bytes)

    @property
    def log2_slots_per_tile(self) -> int:
        """Width of a slot's index in its mailbox [bits]"""
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
        """Width of a set index [bits]"""
        return log2(self.cache_sets)

    @property
    def log2_ways(self) -> int:
        """Width of a way index [bits]"""
        return log2(self.cache.ways)

    @property
    def log2_dram_total_bytes(self) -> int:
        """Width of an address in the board's DRAM [bits]"""
        return log2(self.dram_total_bytes)

    @property
    def log2_link_count(self) -> int:
        """Width of a link index [bits]"""
        return log2(max(1, self.link_count))
