// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Reads and writes of a tile's instruction memories: threads have priority over the loader.
///
/// Each access uses a fetch slot of its memory. Accesses are at least two cycles apart, so that the loader never blocks
/// a core's issue.
///
///     requests ->[ access ]-> core, C0 ->[ C1: address ]-> memory ->[ word ]-> loader
module gs_instr_access
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                       clk_i,
  input  logic                       rst_ni,
  /// writes of a thread, to one memory
  input  logic [InstrMems-1:0]       thread_valid_i,
  output logic                       thread_ready_o,
  input  logic [Log2InstrWords-1:0]  thread_addr_i,
  input  logic [31:0]                thread_data_i,
  /// accesses of the loader: a write to each memory whose bit is set, or a read of one memory. Words are returned in
  /// the order of the reads, 4 cycles later
  input  logic [InstrMems-1:0]       load_valid_i,
  output logic                       load_ready_o,
  input  instr_access_t              load_i,
  output logic                       load_rvalid_o,
  output logic [31:0]                load_rdata_o,
  /// the first core of each memory
  output logic [InstrMems-1:0]       iwr_valid_o,
  output instr_access_t              iwr_o,
  input  logic [InstrMems-1:0][31:0] imem_rdata_i
);
  logic [InstrMems-1:0] valid_q, valid_d;
  logic from_thread;
  instr_access_t access_q;
  logic [31:0] word, rdata_q;
  logic free;
  // A read in C1, in which the memory receives its address, and in C2, in which the word is valid
  logic [InstrMems-1:0] c1_read_q, c2_read_q;
  logic rvalid_q;

  assign free           = valid_q == '0;
  assign from_thread    = thread_valid_i != '0;
  assign thread_ready_o = free;
  assign load_ready_o   = free && !from_thread;
  assign valid_d        = from_thread ? thread_valid_i : load_valid_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q   <= '0;
      c1_read_q <= '0;
      c2_read_q <= '0;
      rvalid_q  <= 1'b0;
    end else begin
      valid_q   <= free ? valid_d : '0;
      c1_read_q <= access_q.write ? '0 : valid_q;
      c2_read_q <= c1_read_q;
      rvalid_q  <= c2_read_q != '0;
    end
    if (free) access_q <= from_thread ? '{write: 1'b1, addr: thread_addr_i, data: thread_data_i} : load_i;
    rdata_q <= word;
  end

  always_comb begin
    word = '0;
    for (int unsigned i = 0; i < InstrMems; i++) if (c2_read_q[i]) word |= imem_rdata_i[i];
  end

  assign iwr_valid_o   = valid_q;
  assign iwr_o         = access_q;
  assign load_rvalid_o = rvalid_q;
  assign load_rdata_o  = rdata_q;

  `GS_ASSERT_NOW(read_is_of_at_most_one_memory, $countones(c2_read_q) <= 1)
endmodule
