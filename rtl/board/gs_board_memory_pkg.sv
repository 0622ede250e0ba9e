// SPDX-License-Identifier: Apache-2.0
`include "gs_mem_types.svh"

/// Payloads of a board's memory ports, which its memory controllers use.
///
/// Memories are numbered DRAM by DRAM: each DRAM, then its SRAMs.
package gs_board_memory_pkg;
  import gossamer_pkg::*;
  import gs_tile_pkg::*;

  /// SRAMs of a DRAM's port
  localparam int unsigned PortSrams = SramCount / DramCount;
  /// memories of a port, of the board
  localparam int unsigned PortMemories = 1 + PortSrams;
  localparam int unsigned Memories = DramCount * PortMemories;
  /// A port has a requester per cache, and the first port one more, for multicast records. All ports have the width of
  /// the first.
  localparam int unsigned PortIdW = MemIdW + $clog2(CachesPerDram + 1);
  /// Bytes after which the next bank follows: a line of DRAM holds at least one burst, and consecutive lines change
  /// banks before the row ends.
  localparam int unsigned BankBytes = (DramRowBytes > 1024) ? 1024 : DramRowBytes;

  `GS_MEM_TYPES(DramPortBytes, PortIdW, 32)
endpackage
