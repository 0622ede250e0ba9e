# SPDX-License-Identifier: Apache-2.0
"""What vertices are mapped to: boards with tiles with threads, and the memories that these use."""

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
    """Threads are numbered board by board and on a board tile by tile, row by row."""

    config: Config
    boards: int = 1
    tiles: int = 0
    """Tiles of a board; 0: all that the configuration has."""
    hops: Numbers | None = field(default=None, repr=False, compare=False)
    """Links from each board to each other; None: not known, all are alike."""

    @property
    def board_tiles(self) -> int:
        """Tiles of a board that take part."""
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
        """Numbers of threads on their board."""
        return threads % (self.board_tiles * self.tile_threads)

    def addresses(self, threads: Numbers) -> Numbers:
        """Addresses of threads as programs have them: thread, column, row and board without gaps."""
        config = self.config
        thread, tile = threads % self.tile_threads, threads // self.tile_threads
        board, its = tile // self.board_tiles, tile % self.board_tiles
        column, row = its % config.mesh.width, its // config.mesh.width
        at_row = config.log2_threads_per_tile + config.log2_mesh_width
        at_board = at_row + config.log2_mesh_height
        return thread | column << config.log2_threads_per_tile | row << at_row | board << at_board

    def tile_addresses(self, tiles: Numbers) -> Numbers:
        """Addresses of tiles as a register takes them that sends to several threads of one."""
        kind = constants.layout("address_tile").pack(kind=constants.enumeration("endpoint")["tile"])
        return kind | self.addresses(tiles * self.tile_threads)

    @property
    def memory_end(self) -> int:
        """First address behind what programs may use of a DRAM."""
        place = memory_map(self.config)
        return place.data_base + place.data_bytes

    @property
    def sram(self) -> tuple[int, int]:
        """First address of the SRAM beside a DRAM, and its end; both the same where there is none."""
        sram = self.config.memory.sram
        base = int(constants.everything().values["sram_base"].value)
        return base, base + sram.bytes * sram.count // self.config.memory.dram.count


__all__ = ["Machine", "Numbers"]
