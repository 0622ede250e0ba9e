// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Requests from the pipeline to the tile, the FPU and the divider.
///
///     Resolve --> Send --> [ X queue ] --> memory, CSRs of the tile, traps
///                     `--> [ F queue ] --> FPU
///                                    `---> divider
///               `--> last request of each thread, which control inspects
///
/// Each thread has a slot in both queues, so the pipeline never stalls.
module gs_core_requests
  import gs_core_pkg::*;
#(
  /// hardware threads, 2 to 32, a power of two
  parameter  int unsigned ThreadsPerCore = 16,
  /// bits of a word's address in the instruction memory
  parameter  int unsigned PcW            = 11,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore)
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // Resolve: an instruction, its request, the results of gs_core_resolve
  input  logic            resolve_valid_i,
  input  logic [TidW-1:0] resolve_tid_i,
  input  logic            resolve_x_i,
  input  logic            resolve_f_i,
  input  resolve_t        resolve_i,
  input  logic [31:0]     resolve_sum_i,
  input  logic [31:0]     resolve_instr_i,
  input  logic [31:0]     resolve_data2_i,
  input  logic [31:0]     resolve_data3_i,
  input  logic [PcW:0]    resolve_pc_i,
  input  logic            resolve_taken_i,
  input  logic            resolve_trap_i,
  input  logic [3:0]      resolve_cause_i,
  // Send: requests that enter the queues
  output logic            send_x_o,
  output x_req_t          send_x_req_o,
  output logic [TidW-1:0] send_x_tid_o,
  output logic            send_f_o,
  output logic            send_divides_o,
  output logic [TidW-1:0] send_f_tid_o,
  // Control inspects a thread: whether a request of it enters a queue in this cycle; in the next one, its last request,
  // unless one has entered
  input  logic            inspect_i,
  input  logic [TidW-1:0] inspect_tid_i,
  output logic            inspect_sends_o,
  output asked_t          inspect_asked_o,
  // Requests
  output logic            x_valid_o,
  input  logic            x_ready_i,
  output logic [TidW-1:0] x_tid_o,
  output x_req_t          x_req_o,
  output logic            f_valid_o,
  input  logic            f_ready_i,
  output logic [TidW-1:0] f_tid_o,
  output f_req_t          f_req_o,
  // Divider: a result is available, and is taken; data in the second cycle after that, 0 in all others
  output logic            div_valid_o,
  output logic [TidW-1:0] div_tid_o,
  input  logic            div_take_i,
  output logic [31:0]     send_div_data_o
);
  typedef struct packed {
    logic [TidW-1:0] tid;
    x_req_t          req;
  } x_entry_t;

  typedef struct packed {
    logic [TidW-1:0] tid;
    f_req_t          req;
  } f_entry_t;

  logic send_x_q, send_f_q;
  logic unused_rest;

  assign unused_rest = ^resolve_i;

  x_entry_t send_x_entry_q, x_entry;
  f_entry_t send_f_entry_q, f_entry;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      send_x_q <= 1'b0;
      send_f_q <= 1'b0;
    end else begin
      send_x_q <= resolve_x_i || (resolve_valid_i && resolve_trap_i);
      send_f_q <= resolve_f_i;
    end
    // Load only for instructions that send a request or may trap.
    if (resolve_x_i || resolve_i.stop || resolve_i.branch || resolve_i.jal || resolve_i.jalr) begin
      send_x_entry_q.tid        <= resolve_tid_i;
      send_x_entry_q.req.op     <= resolve_trap_i ? XTrap : (resolve_i.csr ? XCsr : (resolve_i.store ? XStore : XLoad));
      send_x_entry_q.req.funct3 <= resolve_i.xfunct3;
      send_x_entry_q.req.addr   <= resolve_trap_i ? {2'b00, resolve_cause_i, 26'({resolve_pc_i, 2'b00})}
                                                  : resolve_sum_i;
      // The sum is 0 for an instruction that stops, and the instruction word is 0 unless it is illegal.
      send_x_entry_q.req.data   <= resolve_trap_i ? (resolve_sum_i | resolve_instr_i) : resolve_data2_i;
      // A branch's target is not fully known here; a branch traps only if it is taken.
      if (resolve_i.branch && resolve_taken_i) send_x_entry_q.req.data <= '0;
    end
    if (resolve_f_i) begin
      send_f_entry_q.tid    <= resolve_tid_i;
      send_f_entry_q.req.op <= resolve_i.fop;
      send_f_entry_q.req.rm <= resolve_i.rm;
      send_f_entry_q.req.a  <= resolve_sum_i;
      send_f_entry_q.req.b  <= resolve_data2_i;
      send_f_entry_q.req.c  <= resolve_data3_i;
    end
  end

  assign send_x_o       = send_x_q;
  assign send_x_req_o   = send_x_entry_q.req;
  assign send_x_tid_o   = send_x_entry_q.tid;
  assign send_f_o       = send_f_q;
  assign send_divides_o = send_f_entry_q.req.op[4:3] == OpDivide[4:3];
  assign send_f_tid_o   = send_f_entry_q.tid;

  // The last request of each thread. A CSR's address leaves space for the low bits of its data.
  logic sends;
  logic [TidW-1:0] send_tid;
  asked_t send_asked;
  assign sends    = send_x_q || send_f_q;
  assign send_tid = send_f_q ? send_f_entry_q.tid : send_x_entry_q.tid;
  always_comb begin
    send_asked = '{kind: asked_e'({1'b0, send_x_entry_q.req.op}), addr: send_x_entry_q.req.addr};
    if (send_x_entry_q.req.op == XCsr) send_asked.addr[13:12] = send_x_entry_q.req.data[1:0];
    if (send_f_q) send_asked.kind = send_divides_o ? AskedDivide : AskedFloat;
  end

  gs_ram_sdp #(
    .Width($bits(asked_t)),
    .Depth(ThreadsPerCore),
    .Style("block")
  ) u_asked (
    .clk_i,
    .we_i   (sends),
    .wstrb_i(1'b1),
    .waddr_i(send_tid),
    .wdata_i(send_asked),
    .re_i   (inspect_i && !inspect_sends_o),
    .raddr_i(inspect_tid_i),
    .rdata_o(inspect_asked_o)
  );
  assign inspect_sends_o = sends && send_tid == inspect_tid_i;

  logic f_out_valid, f_out_ready, div_ready, f_out_div;
  logic unused_x_ready, unused_f_ready;
  logic [$clog2(ThreadsPerCore+1)-1:0] unused_x_count, unused_f_count;

  gs_fifo #(
    .data_t(x_entry_t),
    .Depth (ThreadsPerCore),
    .Block (1'b1)
  ) u_x_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i (send_x_q),
    .in_ready_o (unused_x_ready),
    .in_data_i  (send_x_entry_q),
    .out_valid_o(x_valid_o),
    .out_ready_i(x_ready_i),
    .out_data_o (x_entry),
    .count_o    (unused_x_count)
  );

  gs_fifo #(
    .data_t(f_entry_t),
    .Depth (ThreadsPerCore),
    .Block (1'b1)
  ) u_f_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i (send_f_q),
    .in_ready_o (unused_f_ready),
    .in_data_i  (send_f_entry_q),
    .out_valid_o(f_out_valid),
    .out_ready_i(f_out_ready),
    .out_data_o (f_entry),
    .count_o    (unused_f_count)
  );

  assign x_tid_o     = x_entry.tid;
  assign x_req_o     = x_entry.req;
  assign f_tid_o     = f_entry.tid;
  assign f_req_o     = f_entry.req;
  assign f_out_div   = f_entry.req.op[4:3] == OpDivide[4:3];
  assign f_valid_o   = f_out_valid && !f_out_div;
  assign f_out_ready = f_out_div ? div_ready : f_ready_i;

  gs_core_div #(
    .TidW(TidW)
  ) u_div (
    .clk_i,
    .rst_ni,
    .valid_i    (f_out_valid && f_out_div),
    .ready_o    (div_ready),
    .tid_i      (f_entry.tid),
    .dividend_i (f_entry.req.a),
    .divisor_i  (f_entry.req.b),
    .negative_i (f_entry.req.rm[1]),
    .remainder_i(f_entry.req.rm[2]),
    .done_o     (div_valid_o),
    .tid_o      (div_tid_o),
    .take_i     (div_take_i),
    .data_o     (send_div_data_o)
  );

  `GS_ASSERT_NOW(no_queue_overflows, (unused_x_ready || !send_x_q) && (unused_f_ready || !send_f_q))
  `GS_ASSERT_NOW(last_request_is_not_read_while_it_is_written, !u_asked.collides)
  `GS_ASSERT_NOW(an_instruction_sends_one_request, !(send_x_q && send_f_q))
endmodule
