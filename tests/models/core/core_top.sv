// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// A core with its instruction memory, its own FPU, and the counter of its instructions; the harness emulates the rest
/// of the tile.
module core_top
  import gs_core_pkg::*;
  import gs_decode_pkg::*;
#(
  /// threads of the core
  parameter  int unsigned ThreadsPerCore = 16,
  /// words of instruction memory
  parameter  int unsigned InstrWords     = 32768,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore),
  localparam int unsigned PcW            = $clog2(InstrWords)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      iwr_valid_i,
  input  logic [31:0]               iwr_addr_i,
  input  logic [31:0]               iwr_data_i,
  output logic                      x_valid_o,
  input  logic                      x_ready_i,
  output logic [7:0]                x_op_o,
  output logic [7:0]                x_funct3_o,
  output logic [7:0]                x_tid_o,
  output logic [31:0]               x_addr_o,
  output logic [31:0]               x_data_o,
  input  logic                      rsp_valid_i,
  output logic                      rsp_ready_o,
  input  logic [7:0]                rsp_tid_i,
  input  logic [31:0]               rsp_data_i,
  // Stalls the FPU's requests and responses.
  input  logic                      f_stall_i,
  // Control: an operation of gs_thread_pkg
  input  logic                      ctl_valid_i,
  output logic                      ctl_ready_o,
  input  logic [3:0]                ctl_op_i,
  input  logic [7:0]                ctl_tid_i,
  input  logic [31:0]               ctl_instr_i,
  output logic                      ctl_allowed_o,
  output logic                      issue_o,
  // An instruction was counted; request for a count, and its response
  output logic                      counted_o,
  input  logic                      instret_ask_i,
  input  logic [7:0]                instret_tid_i,
  input  logic                      instret_high_i,
  output logic                      instret_valid_o,
  output logic [31:0]               instret_o,
  // Events of this cycle
  output logic                      retire_o,
  output logic [7:0]                retire_tid_o,
  output logic [31:0]               retire_pc_o,
  output logic [31:0]               retire_instr_o,
  output logic                      write_o,
  output logic [7:0]                write_tid_o,
  output logic [7:0]                write_reg_o,
  output logic [31:0]               write_data_o,
  output logic [7:0]                state_o[ThreadsPerCore]
);
  typedef struct packed {
    logic            core;
    logic [TidW-1:0] tid;
    logic [31:0]     data;
    logic [4:0]      flags;
  } f_rsp_t;

  logic en, we, f_valid, f_ready, f_rsp_valid, f_rsp_ready, f_unit_ready;
  logic [PcW-1:0] addr;
  logic [31:0] wdata, rdata;
  logic rom_en;
  logic [DecodeW-1:0] rom_addr;
  logic [CtlW-1:0] rom_word, unused_word;
  x_req_t x_req;
  f_req_t f_req;
  rsp_t rsp;
  logic [TidW-1:0] x_tid, f_tid, rsp_tid;
  f_rsp_t f_rsp;
  logic [TidW-1:0] counted_tid;
  logic [31:0] unused_rdata;
  logic unused_tid, unused_trapped, unused_park, waits;
  logic [15:0] pc;
  asked_t asked;
  logic [TidW-1:0] unused_park_tid;

  gs_core #(
    .ThreadsPerCore(ThreadsPerCore),
    .InstrWords    (InstrWords)
  ) u_core (
    .clk_i,
    .rst_ni,
    .imem_en_o   (en),
    .imem_we_o   (we),
    .imem_addr_o (addr),
    .imem_wdata_o(wdata),
    .imem_rdata_i(rdata),
    .rom_en_o    (rom_en),
    .rom_addr_o  (rom_addr),
    .rom_word_i  (rom_word),
    .iwr_valid_i,
    .iwr_write_i (1'b1),
    .iwr_addr_i  (iwr_addr_i[PcW-1:0]),
    .iwr_data_i,
    .x_valid_o,
    .x_ready_i,
    .x_tid_o     (x_tid),
    .x_req_o     (x_req),
    .f_valid_o   (f_valid),
    .f_ready_i   (f_ready),
    .f_tid_o     (f_tid),
    .f_req_o     (f_req),
    .rsp_valid_i (f_rsp_ready && f_rsp_valid || rsp_ready_o && rsp_valid_i),
    .rsp_tid_i   (rsp_tid),
    .rsp_i       (rsp),
    .ctl_valid_i,
    .ctl_ready_o,
    .ctl_op_i    (gs_thread_pkg::thread_op_e'(ctl_op_i)),
    .ctl_tid_i   (ctl_tid_i[TidW-1:0]),
    .ctl_instr_i,
    .ctl_allowed_o,
    .ctl_trapped_o(unused_trapped),
    .ctl_pc_o    (pc),
    .ctl_waits_o (waits),
    .ctl_asked_o (asked),
    .park_o      (unused_park),
    .park_tid_o  (unused_park_tid),
    .issue_o,
    .retire_o    (counted_o),
    .retire_tid_o(counted_tid)
  );

  gs_decode_rom u_rom (
    .clk_i,
    .a_en_i  (rom_en),
    .a_addr_i(rom_addr),
    .a_word_o(rom_word),
    .b_en_i  (1'b0),
    .b_addr_i('0),
    .b_word_o(unused_word)
  );

  gs_instr_mem #(
    .InstrWords(InstrWords)
  ) u_imem (
    .clk_i,
    .a_en_i   (en),
    .a_we_i   (we),
    .a_addr_i (addr),
    .a_wdata_i(wdata),
    .a_rdata_o(rdata),
    .b_en_i   (1'b0),
    .b_we_i   (1'b0),
    .b_addr_i ('0),
    .b_wdata_i('0),
    .b_rdata_o(unused_rdata)
  );

  gs_instret #(
    .Cores         (1),
    .ThreadsPerCore(ThreadsPerCore)
  ) u_instret (
    .clk_i,
    .rst_ni,
    .retire_i    (counted_o),
    .retire_tid_i(counted_tid),
    .ask_i       (instret_ask_i),
    .hold_i      (instret_ask_i),
    .ask_thread_i(instret_tid_i[TidW-1:0]),
    .ask_high_i  (instret_high_i),
    .valid_o     (instret_valid_o),
    .value_o     (instret_o)
  );

  // The FPU sleeps as in a tile.
  logic f_clk, f_busy;
  gs_clock_gate u_f_gate (.clk_i, .rst_ni, .busy_i(f_busy), .clk_o(f_clk));

  gs_fpu #(
    .NCores        (1),
    .ThreadsPerCore(ThreadsPerCore)
  ) u_fpu (
    .clk_i      (f_clk),
    .rst_ni,
    .f_valid_i  (f_valid && !f_stall_i),
    .f_ready_o  (f_unit_ready),
    .f_req_i    ({f_req.op, f_req.rm, f_tid, f_req.a, f_req.b, f_req.c}),
    .rsp_valid_o(f_rsp_valid),
    .rsp_ready_i(f_rsp_ready),
    .rsp_o      (f_rsp),
    .busy_o     (f_busy)
  );

  // The harness selects whether its responses have priority.
  assign f_ready     = f_unit_ready && !f_stall_i;
  assign f_rsp_ready = !(f_stall_i && rsp_valid_i);
  assign rsp_ready_o = f_stall_i || !f_rsp_valid;

  always_comb begin
    rsp_tid = f_rsp.tid;
    rsp     = '{data: f_rsp.data, flags: f_rsp.flags};
    if (!f_rsp_valid || !f_rsp_ready) begin
      rsp_tid = rsp_tid_i[TidW-1:0];
      rsp     = '{data: rsp_data_i, flags: '0};
    end
  end

  assign x_op_o         = 8'(x_req.op);
  assign x_funct3_o     = 8'(x_req.funct3);
  assign x_tid_o        = 8'(x_tid);
  assign x_addr_o       = x_req.addr;
  assign x_data_o       = x_req.data;
  assign retire_o       = u_core.u_trace.sim_retire;
  assign retire_tid_o   = u_core.u_trace.sim_retire_tid;
  assign retire_pc_o    = u_core.u_trace.sim_pc[retire_tid_o[TidW-1:0]];
  assign retire_instr_o = u_core.u_trace.sim_instr[retire_tid_o[TidW-1:0]];
  assign write_o        = u_core.u_trace.sim_write;
  assign write_tid_o    = u_core.u_trace.sim_write_tid;
  assign write_reg_o    = u_core.u_trace.sim_write_reg;
  assign write_data_o   = u_core.u_trace.sim_write_data;
  assign state_o        = u_core.u_trace.sim_state;

  // An inspected thread that waits, by the trace: state 2 is a request to the tile, 3 the FPU, 4 the divider.
  logic [TidW-1:0] ctl_tid;
  logic inspects, inspects_q, request_q;
  // An injected instruction leaves the pc at the one before which the thread is parked. A divide that issues again has
  // itself as its next instruction.
  logic [ThreadsPerCore-1:0] injected_q;
  logic [7:0] kind, kind_q;
  logic [31:0] request_addr, request_addr_q;
  logic [1:0] request_data_q;
  assign ctl_tid  = ctl_tid_i[TidW-1:0];
  assign inspects = ctl_valid_i && ctl_ready_o && state_o[ctl_tid] inside {8'd2, 8'd3, 8'd4}
      && gs_thread_pkg::thread_op_e'(ctl_op_i) inside {gs_thread_pkg::ThreadHalt, gs_thread_pkg::ThreadResume,
                                                       gs_thread_pkg::ThreadReportParked,
                                                       gs_thread_pkg::ThreadCheckIdle};
  assign kind = (state_o[ctl_tid] == 8'd2) ? u_core.u_trace.sim_xop[ctl_tid] : state_o[ctl_tid] + 8'd1;
  assign request_addr = u_core.u_trace.sim_xaddr[ctl_tid];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) injected_q <= '0;
    else if (ctl_valid_i && ctl_ready_o && ctl_allowed_o) begin
      unique case (gs_thread_pkg::thread_op_e'(ctl_op_i))
        gs_thread_pkg::ThreadInject: injected_q[ctl_tid] <= 1'b1;
        gs_thread_pkg::ThreadStart, gs_thread_pkg::ThreadResume: injected_q[ctl_tid] <= 1'b0;
        default: ;
      endcase
    end
    inspects_q     <= inspects && rst_ni;
    request_q      <= state_o[ctl_tid] == 8'd2;
    kind_q         <= kind;
    request_addr_q <= request_addr;
    request_data_q <= u_core.u_trace.sim_xdata[ctl_tid][1:0];
  end
  `GS_ASSERT_NOW(inspected_thread_waits, !inspects || waits)
  `GS_ASSERT_NOW(inspected_pc_is_that_of_the_instruction_after_the_request,
                 !inspects || kind == 8'd3 || injected_q[ctl_tid]
                 || (kind == 8'd5 && 32'({pc, 2'b00}) == u_core.u_trace.sim_pc[ctl_tid])
                 || 32'({pc, 2'b00}) == u_core.u_trace.sim_pc[ctl_tid] + 32'd4)
  `GS_ASSERT_NOW(inspected_kind_is_that_of_the_request, !inspects_q || 8'(asked.kind) == kind_q)
  `GS_ASSERT_NOW(inspected_address_is_that_of_the_request,
                 !inspects_q || !request_q || kind_q == 8'd2 || asked.addr == request_addr_q)
  `GS_ASSERT_NOW(inspected_register_is_that_of_the_request,
                 !inspects_q || !request_q || kind_q != 8'd2
                 || asked.addr[13:0] == {request_data_q, request_addr_q[11:0]})
  assign unused_tid     = ^{f_rsp.core, rsp_tid_i, ctl_tid_i, instret_tid_i, iwr_addr_i};
endmodule
