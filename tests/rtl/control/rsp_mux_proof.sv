// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_tile_rsp_mux: every accepted response reaches its core once and unchanged, in the order of its bus; a
/// core receives at most one a cycle, and a response waits for at most one of the other bus.
///
/// The model is the response on each bus. The tile has two cores; each bus has two units.
module rsp_mux_proof
  import gs_tile_pkg::*;
(
  input logic          clk_i,
  input logic          rst_ni,
  input logic    [3:0] in_valid_i,
  input answer_t [3:0] in_i
);
  logic [3:0] in_ready;
  answer_t in[4], out[TileCores];
  logic [TileCores-1:0] out_valid;
  for (genvar u = 0; u < 4; u++) begin : gen_in
    assign in[u] = in_i[u];
    `GS_ASSUME_HOLD(response_is_stable_while_it_waits, in_valid_i[u], in_ready[u], in_i[u])
  end

  gs_tile_rsp_mux u_respond (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_o (in_ready),
    .in_i       (in),
    .out_valid_o(out_valid),
    .out_o      (out)
  );

  // ---- The model ----
  logic [1:0] some_q, takes, waits, waited_q;
  answer_t answer_q[2];
  logic [TileCores-1:0] due_q;
  answer_t due_answer_q[TileCores];
  logic same, first_q = 1'b1;
  assign same = some_q == '1 && answer_q[0].thread[ThreadW-1:TidW] == answer_q[1].thread[ThreadW-1:TidW];
  assign waits = u_respond.waits;
  for (genvar b = 0; b < 2; b++) begin : gen_takes
    assign takes[b] = (in_valid_i[2*b+:2] & in_ready[2*b+:2]) != '0;
  end

  always_ff @(posedge clk_i) begin
    first_q <= 1'b0;
    due_q   <= '0;
    if (!rst_ni) begin
      some_q   <= '0;
      waited_q <= '0;
    end else begin
      waited_q <= waits;
      for (int unsigned b = 0; b < 2; b++) begin
        if (some_q[b] && !waits[b]) begin
          some_q[b] <= 1'b0;
          due_q[answer_q[b].thread[ThreadW-1:TidW]]        <= 1'b1;
          due_answer_q[answer_q[b].thread[ThreadW-1:TidW]] <= answer_q[b];
        end
        for (int unsigned u = 0; u < 2; u++) begin
          if (in_valid_i[2*b+u] && in_ready[2*b+u]) begin
            some_q[b]   <= 1'b1;
            answer_q[b] <= in_i[2*b+u];
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (first_q) assume (!rst_ni);
  end

  for (genvar b = 0; b < 2; b++) begin : gen_bus
    always_ff @(posedge clk_i) begin
      if (rst_ni && !first_q) begin
        bus_accepts_one_response_a_cycle: assert ((in_valid_i[2*b+:2] & in_ready[2*b+:2]) != 2'b11);
        no_response_is_overwritten: assert (!(takes[b] && some_q[b] && waits[b]));
        response_waits_at_most_once: assert (!(waits[b] && waited_q[b]));
        bus_advances_unless_it_waits: assert (waits[b] || in_valid_i[2*b+:2] == '0 || takes[b]);
        bus_valid_matches_the_model: assert (u_respond.bus_valid_q[b] == some_q[b]);
        bus_data_match_the_model: assert (!some_q[b] || u_respond.bus_q[b] == answer_q[b]);
      end
    end
  end
  for (genvar c = 0; c < int'(TileCores); c++) begin : gen_core
    always_ff @(posedge clk_i) begin
      if (rst_ni && !first_q) begin
        core_receives_each_response_once: assert (out_valid[c] == due_q[c] && (!due_q[c] || out[c] == due_answer_q[c]));
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni && !first_q) begin
      exactly_one_bus_waits_in_a_conflict: assert (same ? (waits == 2'b01 || waits == 2'b10) : waits == '0);
      buses_alternate_in_conflicts: assert (waited_q == '0 || u_respond.prefer_b_q == waited_q[1]);
      c_twice: cover (same && waited_q[0] && waits[1]);
      c_both: cover (out_valid == '1);
    end
  end
endmodule
