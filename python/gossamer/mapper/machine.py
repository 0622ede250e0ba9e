# SPDX-License-Identifier: Apache-2.0
"""The machine that vertices are mapped to: boards, tiles, threads, and the memories that threads use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gossamer.config import constants
from gossamer.device._header import memory_map

if TYPE_CHECKING:
    from gossamer.config import Config

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Machine:
    """A machine. Threads are numbered board by board, and on a board tile by tile in row-major order."""

    config: Config
    boards: int = 1
    tiles: int = 0
    """Tiles of a board; 0: all tiles of the configuration."""
    hops: Numbers | None = field(default=None, repr=False, compare=False)
    """[board, board]: links of the route; None: unknown, all distances count as equal."""
    numbers: tuple[int, ...] = ()
    """The number of each board in addresses; empty: their order."""

    @property
    def board_tiles(self) -> int:
        """Tiles of a board that run vertices."""
        return self.tiles or self.config.tiles

    @property
    def tile_threads(self) -> int:
        """Threads of a tile."""
        return self.config.threads_per_tile

    @property
    def threads(self) -> int:
        """All threads."""
        return self.boards * self.board_tiles * self.tile_threads

    @property
    def memories(self) -> int:
        """DRAMs of all boards, numbered board by board."""
        return self.boards * self._drams

    @property
    def _drams(self) -> int:
        return min(self.config.memory.dram.count, self.board_tiles)

    def memory_of(self, threads: Numbers) -> Numbers:
        """The DRAM that each of these threads uses."""
        tile = threads // self.tile_threads
        board, its = tile // self.board_tiles, tile % self.board_tiles
        return board * self._drams + its // -(-self.board_tiles // self._drams)

    def on_board(self, threads: Numbers) -> Numbers:
        """The numbers of these threads on their boards."""
        return threads % (self.board_tiles * self.tile_threads)

    def addresses(self, threads: Numbers) -> Numbers:
        """Addresses of threads in programs: thread, column, row and board in adjacent bit fields."""
        config = self.config
        thread, tile = threads % self.tile_threads, threads // self.tile_threads
        board, its = tile // self.board_tiles, tile % self.board_tiles
        column, row = its % config.mesh.width, its // config.mesh.width
        at_row = config.log2_threads_per_tile + config.log2_mesh_width
        at_board = at_row + config.log2_mesh_height
        if self.numbers:
            board = np.asarray(self.numbers, np.int64)[board]
        return thread | column << config.log2_threads_per_tile | row << at_row | board << at_board

    def tile_addresses(self, tiles: Numbers) -> Numbers:
        """Addresses of tiles for the register that sends to several threads of a tile."""
        kind = constants.layout("address_tile").pack(kind=constants.enumeration("endpoint")["tile"])
        return kind | self.addresses(tiles * self.tile_threads)

    @property
    def memory_end(self) -> int:
        """End address of the part of a DRAM that programs may use."""
        data = memory_map(self.config)
        return data.data_base + data.data_bytes

    @property
    def sram(self) -> tuple[int, int]:
        """Begin and end address of the SRAM of a DRAM's tiles; equal if it has no SRAM."""
        sram = self.config.memory.sram
        base = int(constants.everything().values["sram_base"].value)
        return base, base + sram.bytes * sram.count // self.config.memory.dram.count


__all__ = ["Machine", "Numbers"]
