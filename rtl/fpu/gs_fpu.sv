// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Floating-point unit shared by several cores: IEEE 754 single precision as RISC-V's F extension defines it.
///
/// One operation starts each cycle. A separate unit iterates on divides and roots, one at a time. Results may return
/// out of order: each carries the core and thread of its request, and a thread has one operation in flight.
///
///     f_req_i[0] --+                  +-> short (compare, sign, class) ---> queue --+
///     f_req_i[1] --+--> register 0 ---+                                             +--> skid --> rsp_o
///     f_req_i[n] --+                  +-> fma 1 2 3 4 5 6 7 8 9 10 11 12 -----------+
///                                          |  ^ rounds the quotient in an empty slot
///                                          +-> divide, root
///
/// When the receiver stalls, every stage but the iteration stalls. A short operation leaves an empty slot in the
/// pipeline, and its result leaves the queue no later than with that slot. The queue has more slots than the pipeline,
/// so it never fills.
module gs_fpu
  import gs_fpu_pkg::*;
#(
  /// cores that share the unit, 1 or more
  parameter  int unsigned NCores         = 4,
  /// threads of a core, 2 to 64
  parameter  int unsigned ThreadsPerCore = 16,
  localparam int unsigned TidW           = (ThreadsPerCore > 1) ? $clog2(ThreadsPerCore) : 1,
  localparam int unsigned CoreW          = (NCores > 1) ? $clog2(NCores) : 1,
  /// request: operation, rounding mode (0 to 4), thread of the core, operands; not to be set
  parameter  type         f_req_t        = struct packed {
    logic [4:0]      op;
    logic [2:0]      rm;
    logic [TidW-1:0] tid;
    logic [31:0]     a;
    logic [31:0]     b;
    logic [31:0]     c;
  },
  /// response: core and thread of the request, result, flags to accrue; not to be set
  parameter  type         f_rsp_t        = struct packed {
    logic [CoreW-1:0] core;
    logic [TidW-1:0]  tid;
    logic [31:0]      data;
    logic [4:0]       flags;
  }
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic   [NCores-1:0] f_valid_i,
  output logic   [NCores-1:0] f_ready_o,
  input  f_req_t [NCores-1:0] f_req_i,
  output logic                rsp_valid_o,
  input  logic                rsp_ready_i,
  output f_rsp_t              rsp_o,
  /// an operation is in flight, or was within the last dozen cycles in which the pipeline advanced
  output logic                busy_o
);
  localparam int unsigned IdW = CoreW + TidW;

  if (NCores < 1) begin : gen_illegal_cores
    $fatal(1, "gs_fpu: NCores is 0; it must be 1 core or more");
  end
  if (ThreadsPerCore < 1 || ThreadsPerCore > 64) begin : gen_illegal_threads
    $fatal(1, "gs_fpu: ThreadsPerCore is %0d; it must be 1 to 64", ThreadsPerCore);
  end

  typedef struct packed {
    logic [IdW-1:0] id;
    logic [31:0]    data;
    logic           invalid;
  } short_t;

  // The pipeline advances.
  logic en;

  // ---- select a request

  logic [NCores-1:0] requests, grant, are_short, are_slow;
  logic [CoreW-1:0]  core;
  logic              accept, slow_blocked_q, slow_soon, slow_fire;
  logic              valid0_q, short0_q, slow0_q;
  logic [CoreW-1:0]  core0_q;
  f_req_t            chosen, s0_q;
  logic              slow_entering, slow_busy;

  // A second divide or root waits without blocking other cores' operations. It is blocked for one cycle more than
  // necessary. Only granted requests enter, so that arbitration does not synchronize with the divider.
  always_ff @(posedge clk_i) begin
    slow_blocked_q <= rst_ni && (slow_busy || slow_entering || (valid0_q && slow0_q)
                                 || (accept && (grant & are_slow) != '0));
  end
  // A quotient that waits for rounding gets an empty slot.
  assign accept = en && !(slow_soon && !slow_fire);

  always_comb begin
    for (int unsigned i = 0; i < NCores; i++) begin
      // Decoded before the selection, because the grant arrives late in the cycle.
      are_short[i] = is_short(f_req_i[i].op);
      are_slow[i]  = is_slow(f_req_i[i].op);
      requests[i]  = f_valid_i[i] && !(slow_blocked_q && are_slow[i]);
    end
    f_ready_o = accept ? grant : '0;
    chosen    = '0;
    for (int unsigned i = 0; i < NCores; i++) if (grant[i]) chosen |= f_req_i[i];
  end

  gs_arbiter #(.N(NCores)) u_arbiter (
    .clk_i,
    .rst_ni,
    .req_i    (requests),
    .gnt_o    (grant),
    .idx_o    (core),
    .advance_i(accept)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid0_q <= 1'b0;
    else if (en) valid0_q <= accept && requests != '0;
    if (accept && requests != '0) begin
      s0_q     <= chosen;
      core0_q  <= core;
      short0_q <= (grant & are_short) != '0;
      slow0_q  <= (grant & are_slow) != '0;
    end
  end

  // ---- short operations

  logic   short_valid, short_out_valid, short_out_ready;
  short_t short_in, short_out;

  gs_fpu_noncomp #(.IdW(IdW)) u_short (
    .clk_i,
    .rst_ni,
    .en_i     (en),
    .valid_i  (valid0_q && short0_q),
    .op_i     (s0_q.op),
    .id_i     ({core0_q, s0_q.tid}),
    .a_i      (s0_q.a),
    .b_i      (s0_q.b),
    .valid_o  (short_valid),
    .id_o     (short_in.id),
    .data_o   (short_in.data),
    .invalid_o(short_in.invalid)
  );

  logic       short_ready;
  logic [4:0] short_count;

  gs_fifo #(.data_t(short_t), .Depth(16)) u_short_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i (short_valid && en),
    .in_ready_o (short_ready),
    .in_data_i  (short_in),
    .out_valid_o(short_out_valid),
    .out_ready_i(short_out_ready),
    .out_data_o (short_out),
    .count_o    (short_count)
  );

  // ---- arithmetic

  logic               slow_start, slow_sqrt, slow_done, slow_sticky, slow_take;
  logic signed [9:0]  slow_exponent, quotient_exponent;
  logic        [23:0] slow_a, slow_b;
  logic        [25:0] slow_q;
  logic               slow_sent_q;
  logic               fma_valid;
  logic [IdW-1:0]     fma_id;
  logic [31:0]        fma_data;
  flags_t             fma_flags;

  // A result re-enters the pipeline once, in the first free slot.
  assign slow_fire = en && slow_done && !slow_sent_q && !(valid0_q && !short0_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) slow_sent_q <= 1'b0;
    else slow_sent_q <= slow_done && !slow_take && (slow_sent_q || slow_fire);
  end

  gs_fpu_fma #(.IdW(IdW)) u_fma (
    .clk_i,
    .rst_ni,
    .en_i           (en),
    .valid_i        (valid0_q && !short0_q),
    .op_i           (s0_q.op),
    .rm_i           (s0_q.rm),
    .id_i           ({core0_q, s0_q.tid}),
    .a_i            (s0_q.a),
    .b_i            (s0_q.b),
    .c_i            (s0_q.c),
    .slow_start_o   (slow_start),
    .slow_entering_o(slow_entering),
    .slow_sqrt_o    (slow_sqrt),
    .slow_exponent_o(slow_exponent),
    .slow_a_o       (slow_a),
    .slow_b_o       (slow_b),
    .slow_valid_i   (slow_fire),
    .slow_exponent_i(quotient_exponent),
    .slow_q_i       (slow_q),
    .slow_sticky_i  (slow_sticky),
    .slow_take_o    (slow_take),
    .valid_o        (fma_valid),
    .id_o           (fma_id),
    .data_o         (fma_data),
    .flags_o        (fma_flags)
  );

  logic slow_soon_raw;

  gs_fpu_divsqrt u_divsqrt (
    .clk_i,
    .rst_ni,
    .start_i   (slow_start),
    .sqrt_i    (slow_sqrt),
    .exponent_i(slow_exponent),
    .a_i       (slow_a),
    .b_i       (slow_b),
    .busy_o    (slow_busy),
    .soon_o    (slow_soon_raw),
    .done_o    (slow_done),
    .exponent_o(quotient_exponent),
    .q_o       (slow_q),
    .sticky_o  (slow_sticky),
    .take_i    (slow_take)
  );

  assign slow_soon = slow_soon_raw && !slow_sent_q;

  // ---- results

  f_rsp_t out;

  assign short_out_ready = en && !fma_valid;

  always_comb begin
    if (fma_valid) out = f_rsp_t'({fma_id, fma_data, fma_flags});
    else out = f_rsp_t'({short_out.id, short_out.data, short_out.invalid, 4'b0});
  end

  gs_skid #(.data_t(f_rsp_t)) u_skid (
    .clk_i,
    .rst_ni,
    .in_valid_i (fma_valid || short_out_valid),
    .in_ready_o (en),
    .in_data_i  (out),
    .out_valid_o(rsp_valid_o),
    .out_ready_i(rsp_ready_i),
    .out_data_o (rsp_o)
  );

  assign busy_o = f_valid_i != '0 || rsp_valid_o || slow_busy || short_out_valid || valid0_q;

  `GS_ASSERT_NOW(short_result_queue_never_fills, short_ready)
  `GS_ASSERT_NOW(short_results_never_outnumber_pipeline_slots, short_count <= 5'd13)
  `GS_ASSERT_HOLD(response_is_stable_while_it_waits, rsp_valid_o, rsp_ready_i, rsp_o)
endmodule
