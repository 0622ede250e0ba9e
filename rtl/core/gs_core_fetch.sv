// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Fetch: the pc of each thread, and the instruction at that pc or the one that control injects.
///
///     Pick: pc --> Fetch: address --> Word: instruction --> Decode --> Read --> Operand: pc
///      ^-------------------------------------------------------- Resolve: next pc --'
module gs_core_fetch #(
  /// hardware threads, 2 to 32, a power of two
  parameter  int unsigned ThreadsPerCore = 16,
  /// words of the instruction memory, a power of two
  parameter  int unsigned InstrWords     = 2048,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore),
  localparam int unsigned PcW            = $clog2(InstrWords)
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // A port of gs_instr_mem
  output logic            imem_en_o,
  output logic            imem_we_o,
  output logic [PcW-1:0]  imem_addr_o,
  output logic [31:0]     imem_wdata_o,
  input  logic [31:0]     imem_rdata_i,
  // Access to the instruction memory: takes a fetch slot
  input  logic            iwr_valid_i,
  input  logic            iwr_write_i,
  input  logic [PcW-1:0]  iwr_addr_i,
  input  logic [31:0]     iwr_data_i,
  // Pick: the thread that issues; it starts from pc 0; it executes control's instruction
  input  logic [TidW-1:0] pick_tid_i,
  input  logic            pick_start_i,
  input  logic            pick_inject_i,
  input  logic [31:0]     ctl_instr_i,
  // Stages that hold an instruction
  input  logic            fetch_valid_i,
  input  logic            word_valid_i,
  input  logic            decode_valid_i,
  input  logic            read_valid_i,
  // The second pass of a divide; bit PcW of a pc is set if it ran past the end of the instruction memory.
  output logic            fetch_again_o,
  // The thread in Fetch: its next pc; its last instruction has sent a request
  output logic [PcW:0]    fetch_pc_o,
  output logic            fetch_asks_o,
  output logic [31:0]     decode_instr_o,
  output logic            decode_again_o,
  output logic [PcW:0]    decode_pc_o,
  output logic            operand_inject_o,
  output logic            operand_again_o,
  output logic [PcW:0]    operand_pc_o,
  // Resolve: the thread's next pc
  input  logic            resolve_valid_i,
  input  logic [TidW-1:0] resolve_tid_i,
  input  logic            resolve_again_i,
  input  logic            resolve_asks_i,
  input  logic [PcW:0]    resolve_pc_i
);
  // A thread's next pc; `again` requests a divide's second pass.
  typedef struct packed {
    logic         again;
    logic [PcW:0] pc;
  } thread_pc_t;

  thread_pc_t pick_pc, fetch_pc_q, word_pc_q, decode_pc_q, read_pc_q, operand_pc_q, resolve_pc;
  // The thread's last instruction has sent a request.
  logic pick_asks, fetch_asks_q;

  assign resolve_pc = '{again: resolve_again_i, pc: resolve_pc_i};

  gs_ram_sdp #(
    .Width  (1 + $bits(thread_pc_t)),
    .Depth  (ThreadsPerCore),
    .Latency(0),
    .Style  ("distributed")
  ) u_pcs (
    .clk_i,
    .we_i   (resolve_valid_i),
    .wstrb_i(1'b1),
    .waddr_i(resolve_tid_i),
    .wdata_i({resolve_asks_i, resolve_pc}),
    .re_i   (1'b1),
    .raddr_i(pick_tid_i),
    .rdata_o({pick_asks, pick_pc})
  );

  // Fetch
  logic fetch_we_q, fetch_inject_q, word_inject_q, decode_inject_q, read_inject_q, operand_inject_q;
  logic [31:0] fetch_write_q, fetch_given_q, word_given_q, decode_instr_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) fetch_we_q <= 1'b0;
    else fetch_we_q <= iwr_valid_i && iwr_write_i;
    fetch_inject_q <= pick_inject_i;
    fetch_pc_q  <= pick_pc;
    fetch_asks_q <= pick_asks;
    if (iwr_valid_i) fetch_pc_q.pc[PcW-1:0] <= iwr_addr_i;
    else if (pick_start_i) fetch_pc_q <= '0;
    fetch_write_q  <= iwr_data_i;
    if (pick_inject_i) fetch_given_q <= ctl_instr_i;
    if (fetch_inject_q) word_given_q <= fetch_given_q;
  end

  assign imem_en_o    = 1'b1;
  assign imem_we_o    = fetch_we_q;
  assign imem_addr_o  = fetch_pc_q.pc[PcW-1:0];
  assign imem_wdata_o = fetch_write_q;

  // Stages without an instruction keep their old contents, which no logic reads.
  always_ff @(posedge clk_i) begin
    {word_inject_q, decode_inject_q, read_inject_q, operand_inject_q} <=
        {fetch_inject_q, word_inject_q, decode_inject_q, read_inject_q};
    if (fetch_valid_i) word_pc_q <= fetch_pc_q;
    if (word_valid_i) begin
      decode_pc_q <= word_pc_q;
      decode_instr_q <= word_inject_q ? word_given_q : imem_rdata_i;
    end
    if (decode_valid_i) read_pc_q <= decode_pc_q;
    if (read_valid_i) operand_pc_q <= read_pc_q;
  end

  assign fetch_again_o    = fetch_pc_q.again;
  assign fetch_pc_o       = fetch_pc_q.pc;
  assign fetch_asks_o     = fetch_asks_q;
  assign decode_instr_o   = decode_instr_q;
  assign decode_again_o   = decode_pc_q.again;
  assign decode_pc_o      = decode_pc_q.pc;
  assign operand_inject_o = operand_inject_q;
  assign operand_again_o  = operand_pc_q.again;
  assign operand_pc_o     = operand_pc_q.pc;

  `GS_ASSERT(no_instruction_is_read_by_a_write, fetch_we_q |=> !word_valid_i || word_inject_q)
endmodule
