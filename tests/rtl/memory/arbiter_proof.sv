// SPDX-License-Identifier: Apache-2.0

/// Proof of gs_mem_arbiter: bursts never interleave, and while an input waits no other one begins two bursts.
///
/// The proof watches any one input. All other behaviour is unconstrained: arrival of beats, length of bursts, ready;
/// waiting beats are stable.
module arbiter_proof #(
  localparam int unsigned N = 3
) (
  input logic         clk_i,
  input logic [N-1:0] valid_i,
  input logic [N-1:0] last_i,
  input logic         ready_i,
  input logic [1:0]   watched_i
);
  logic started_q = 1'b0;
  logic rst_ni;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic [1:0] watched_q;
  logic [N-1:0] valid, last, ready;
  logic [2:0] data[N], out_data;
  logic out_valid;
  always_ff @(posedge clk_i) if (!rst_ni) watched_q <= (watched_i == 2'd3) ? 2'd0 : watched_i;

  // A waiting beat is stable.
  logic [N-1:0] waits_q, was_last_q;
  always_ff @(posedge clk_i) begin
    waits_q    <= rst_ni ? valid & ~ready : '0;
    was_last_q <= last;
  end
  assign valid = valid_i | waits_q;
  assign last  = (last_i & ~waits_q) | (was_last_q & waits_q);
  for (genvar i = 0; i < int'(N); i++) begin : gen_data
    assign data[i] = {last[i], 2'(i)};
  end

  gs_mem_arbiter #(
    .N     (N),
    .data_t(logic [2:0])
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .in_valid_i (valid),
    .in_ready_o (ready),
    .in_last_i  (last),
    .in_data_i  (data),
    .out_valid_o(out_valid),
    .out_ready_i(ready_i),
    .out_data_o (out_data)
  );

  // The burst in progress, and the bursts that others have begun since the watched input began to wait.
  logic inside_q, transfer, begins;
  logic [1:0] owner_q;
  logic [N-1:0][1:0] passed_q;
  assign transfer = out_valid && ready_i;
  assign begins   = transfer && !inside_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      passed_q <= '0;
    end else begin
      if (transfer) inside_q <= !out_data[2];
      if (transfer) owner_q <= out_data[1:0];
      for (int unsigned i = 0; i < N; i++) begin
        if (!valid[watched_q] || ready[watched_q]) passed_q[i] <= '0;
        else if (begins && out_data[1:0] == 2'(i)) passed_q[i] <= passed_q[i] + 2'd1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      output_beat_is_valid: assert (!out_valid || (32'(out_data[1:0]) < N && valid[out_data[1:0]]));
      beat_is_from_one_input: assert (ready == (transfer ? N'(1) << out_data[1:0] : '0));
      output_is_valid_if_an_input_may_send: assert (out_valid || (inside_q ? !valid[owner_q] : valid == '0));
      bursts_never_interleave: assert (!inside_q || !out_valid || out_data[1:0] == owner_q);
      no_input_begins_two_bursts: assert ((passed_q & {N{2'b10}}) == '0);
      c_all_others_pass: cover ($countones(passed_q) == int'(N) - 1 && ready[watched_q]);
      c_a_long_burst: cover (inside_q && transfer && !out_data[2] && waits_q[watched_q] && owner_q != watched_q);
    end
  end

`ifdef INDUCTION
  // Invariants that relate its registers to the model: the order of the inputs.
  logic [N-1:0] ahead, open;
  assign ahead = u_arbiter.u_arbiter.ahead_q;
  assign open  = u_arbiter.open_q;
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (32'(watched_q) < N);
      assert (!inside_q || 32'(owner_q) < N);
      assert (open == (inside_q ? N'(1) << owner_q : '1));
      assert (!inside_q || ahead == {N{1'b1}} << owner_q);
      assert (passed_q[watched_q] == '0);
      assert (waits_q[watched_q] || passed_q == '0);
    end
  end
  for (genvar i = 0; i < int'(N); i++) begin : gen_order
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        if (i + 1 < int'(N)) assert (!ahead[i] || ahead[i+1]);
        assert (passed_q[i] == '0 || (inside_q && owner_q == 2'(i)) || ahead[watched_q] > ahead[i]
                || (ahead[watched_q] == ahead[i] && watched_q < 2'(i)));
      end
    end
  end
`endif
endmodule
