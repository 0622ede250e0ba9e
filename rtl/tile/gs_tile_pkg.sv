// SPDX-License-Identifier: Apache-2.0
`include "gs_cache_types.svh"
`include "gs_mem_types.svh"

/// Types of the streams between cores, units and router of a tile, in the widths of the configuration.
package gs_tile_pkg;
  import gossamer_pkg::*;

  /// cores of a tile
  localparam int unsigned TileCores = CoresPerMailbox;
  /// bits of a thread's number in its core
  localparam int unsigned TidW = Log2ThreadsPerCore;
  /// bits of a core's number in its tile, 1 or more
  localparam int unsigned CoreW = (TileCores > 1) ? $clog2(TileCores) : 1;
  /// bits of a thread's number in its tile: core, then thread of the core
  localparam int unsigned ThreadW = Log2ThreadsPerTile;
  /// cores of the tile that share a cache, and caches of the tile
  localparam int unsigned CoresACache = (CoresPerCache < TileCores) ? CoresPerCache : TileCores;
  localparam int unsigned TileCaches = TileCores / CoresACache;
  /// cores of the tile that share an FPU, and FPUs of the tile
  localparam int unsigned CoresAnFpu = (CoresPerFpu < TileCores) ? CoresPerFpu : TileCores;
  localparam int unsigned TileFpus = TileCores / CoresAnFpu;
  /// instruction memories of the tile
  localparam int unsigned CoresAMemory = (CoresPerInstrMem < TileCores) ? CoresPerInstrMem : TileCores;
  localparam int unsigned InstrMems = TileCores / CoresAMemory;
  /// threads that share a cache of the tile
  localparam int unsigned CacheThreads = CoresACache * ThreadsPerCore;
  localparam int unsigned CacheThreadW = $clog2(CacheThreads);

  /// threads that share one DRAM, and the bits that number them
  localparam int unsigned DramThreads = CachesPerDram * ThreadsPerCache;
  localparam int unsigned PartitionW = $clog2(DramThreads);
  /// bits of an address in a tile's DRAM, at most 32
  localparam int unsigned DramW = ($clog2(DramBytes) > 32) ? 32 : $clog2(DramBytes);
  /// bytes of SRAM that a tile can access: its share of the board's
  localparam int unsigned SramReach = SramCount / DramCount * SramBytes;

  // The address map of loads and stores.
  //
  //     window                    target
  //     SramBase                  SRAM
  //     DramBase                  DRAM, lower 1 GB
  //     PartitionBase {p, l, b}   DRAM, upper half, at most 2 GB, {l, p, b}: line l of all threads p is contiguous
  localparam int unsigned DirectW = (DramW > 30) ? 30 : DramW;
  localparam int unsigned HalfW = DramW - 1;

  /// Whether an address is mapped to memory.
  function automatic logic is_mapped(logic [31:0] addr);
    if (addr[31]) return {1'b0, addr[30:0]} < 32'd1 << HalfW;
    if (addr[30]) return {2'b00, addr[29:0]} < 32'd1 << DirectW;
    return SramReach != 0 && addr[31:28] == SramBase[31:28] && {4'h0, addr[27:0]} < 32'(SramReach);
  endfunction

  /// Whether an address of memory is in SRAM, and not in DRAM.
  function automatic logic is_sram(logic [31:30] addr);
    return addr == 2'b00;
  endfunction

  /// Physical address of an address of memory, in its space.
  function automatic logic [31:0] physical(logic [31:0] addr);
    if (addr[31]) begin
      return 32'd1 << HalfW
           | 32'(addr[HalfW-PartitionW-1:Log2LineBytes]) << (Log2LineBytes + PartitionW)
           | 32'(addr[HalfW-1-:PartitionW]) << Log2LineBytes
           | 32'(addr[Log2LineBytes-1:0]);
    end
    return addr[30] ? {2'b00, addr[29:0]} : {4'h0, addr[27:0]};
  endfunction

  /// operations of a thread's requests to its tile
  import gs_core_pkg::x_op_e, gs_core_pkg::XLoad, gs_core_pkg::XStore, gs_core_pkg::XCsr, gs_core_pkg::XTrap;
  export gs_core_pkg::x_op_e, gs_core_pkg::XLoad, gs_core_pkg::XStore, gs_core_pkg::XCsr, gs_core_pkg::XTrap;

  /// A request: load and store with RISC-V's funct3; for a CSR funct3[0] means write, funct3[1] means read, and addr is
  /// the CSR's number; for a trap addr is {cause, pc[25:0]}, with pc all ones if it is not known.
  typedef struct packed {
    x_op_e              op;
    logic [2:0]         funct3;
    logic [ThreadW-1:0] thread;
    logic [31:0]        addr;
    logic [31:0]        data;
  } request_t;

  /// The response to a request.
  typedef struct packed {
    logic [ThreadW-1:0] thread;
    logic [31:0]        data;
    logic [4:0]         flags;
  } answer_t;

  /// A request after decoding of its unit; guarded: its address is in the thread's guard block.
  typedef struct packed {
    x_op_e              op;
    logic [2:0]         funct3;
    logic               guarded;
    logic [ThreadW-1:0] thread;
    logic [31:0]        addr;
    logic [31:0]        data;
  } routed_t;

  /// A request at a cache, with a physical address.
  typedef struct packed {
    logic                    flush;
    logic                    flush_all;
    logic                    store;
    logic [2:0]              funct3;
    logic [CacheThreadW-1:0] thread;
    logic                    space;
    logic [31:0]             addr;
    logic [31:0]             data;
  } to_cache_t;

  /// A request at the mailbox: address in the scratchpad, or a register's number.
  localparam int unsigned PadW = ($clog2(ScratchpadBytes) > 12) ? $clog2(ScratchpadBytes) : 12;
  typedef struct packed {
    x_op_e              op;
    logic [2:0]         funct3;
    logic [ThreadW-1:0] thread;
    logic [PadW-1:0]    addr;
    logic [31:0]        data;
  } to_mailbox_t;

  /// A request at the control unit: a register access, or a trap.
  typedef struct packed {
    x_op_e              op;
    logic [2:0]         funct3;
    logic [ThreadW-1:0] thread;
    logic [31:0]        addr;
    logic [31:0]        data;
  } to_control_t;

  /// A unit's report of a request that it cannot execute; the thread gets no response.
  typedef struct packed {
    logic [ThreadW-1:0] thread;
    logic [5:0]         cause;
    logic [31:0]        addr;
  } late_trap_t;

  /// An operation for an FPU, and its result; `core` is the index among the cores that share the FPU.
  typedef struct packed {
    logic [4:0]      op;
    logic [2:0]      rm;
    logic [TidW-1:0] tid;
    logic [31:0]     a;
    logic [31:0]     b;
    logic [31:0]     c;
  } f_req_t;
  localparam int unsigned FpuCoreW = (CoresAnFpu > 1) ? $clog2(CoresAnFpu) : 1;
  typedef struct packed {
    logic [FpuCoreW-1:0] core;
    logic [TidW-1:0]     tid;
    logic [31:0]         data;
    logic [4:0]          flags;
  } f_rsp_t;

  `GS_CACHE_TYPES(CacheThreadW, 32)

  /// bits of an id on a tile's memory streams: the top bit marks accesses that bypass the cache
  localparam int unsigned MemIdW = 1 + ((CacheThreadW > 5) ? CacheThreadW : 5);
  localparam logic [MemIdW-1:0] DirectId = MemIdW'(1 << (MemIdW - 1));
  /// id of the accelerator's accesses
  localparam logic [MemIdW-1:0] AcceleratorId = DirectId | MemIdW'(16);
  `GS_MEM_TYPES(DramPortBytes, MemIdW, 32)

  /// An operation on a thread of a core, and the instruction to inject (gs_thread_pkg).
  typedef struct packed {
    gs_thread_pkg::thread_op_e op;
    logic [TidW-1:0]           tid;
    logic [31:0]               instr;
  } thread_ctl_t;

  import gs_core_pkg::asked_t;
  export gs_core_pkg::asked_t;
  /// A core's answer to an operation that inspects a thread: pc in words, the last instruction sent a request, both in
  /// the cycle of `ready`; the request, one cycle later.
  typedef struct packed {
    logic [15:0] pc;
    logic        waits;
    asked_t      asked;
  } inspected_t;

  /// An access to a word of an instruction memory.
  typedef struct packed {
    logic                      write;
    logic [Log2InstrWords-1:0] addr;
    logic [31:0]               data;
  } instr_access_t;

  /// Request for a count of finished instructions (gs_instret): valid until the response; the count is 0 without hold.
  typedef struct packed {
    logic               valid;
    logic               hold;
    logic [ThreadW-1:0] thread;
    logic               high;
  } instret_ask_t;

  /// Events of one cycle, for the counters: a bit for each core that issues, and the number of each other event.
  typedef struct packed {
    logic [TileCores-1:0] issue;
    logic [3:0]           hits;
    logic [3:0]           misses;
    logic [3:0]           writebacks;
    logic [3:0]           fpu;
    logic [3:0]           rejected;
    logic                 sent;
    logic                 received;
    logic                 flit_out;
    logic                 flit_in;
  } events_t;

  /// pc of a trap whose pc is not known to the unit that reports it
  localparam logic [25:0] PcUnknown = '1;
endpackage
