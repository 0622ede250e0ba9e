// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// One direction of an edge, as a barrier sees its streaming ports: both ends open their channels, and one element is
/// transferred. Every handshake and the transfer itself may take any number of cycles.
module prove_barrier_channel (
  input  logic       clk_i,
  input  logic       rst_ni,
  /// permits in this cycle: opening to send, pushing, opening to receive, arriving
  input  logic [3:0] may_i,
  input  logic       send_open_valid_i,
  output logic       send_open_ready_o,
  input  logic       push_valid_i,
  output logic       push_ready_o,
  input  logic       recv_open_valid_i,
  output logic       recv_open_ready_o,
  output logic       pop_valid_o,
  input  logic       pop_ready_i
);
  logic send_open_q, recv_open_q, delivers;
  logic [1:0] in_flight_q, delivered_q;
  assign send_open_ready_o = !send_open_q && may_i[0];
  assign push_ready_o = send_open_q && may_i[1];
  assign recv_open_ready_o = !recv_open_q && may_i[2];
  assign pop_valid_o = recv_open_q && delivered_q != '0;
  assign delivers = in_flight_q != '0 && may_i[3];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      send_open_q <= 1'b0;
      recv_open_q <= 1'b0;
      in_flight_q <= '0;
      delivered_q <= '0;
    end else begin
      if (send_open_valid_i && send_open_ready_o) send_open_q <= 1'b1;
      else if (push_valid_i && push_ready_o) send_open_q <= 1'b0;
      if (recv_open_valid_i && recv_open_ready_o) recv_open_q <= 1'b1;
      else if (pop_valid_o && pop_ready_i) recv_open_q <= 1'b0;
      in_flight_q <= in_flight_q + 2'(push_valid_i && push_ready_o) - 2'(delivers);
      delivered_q <= delivered_q + 2'(delivers) - 2'(pop_valid_o && pop_ready_i);
    end
  end
endmodule

/// Proof of gs_stream_barrier: three ranks in a row, the first is the root. No rank is released before all have
/// arrived, whatever the ports do, and barriers complete.
module prove_barrier
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
(
  input logic            clk_i,
  input logic            rst_ni,
  input logic [2:0]      arrive_i,
  input logic [2:0]      release_i,
  /// by edge and direction
  input logic [3:0][3:0] may_i
);
  localparam int unsigned Edges = 2;
  // Rank 0 has rank 1 at its edge 0, rank 1 rank 0 and rank 2 at its edges, rank 2 rank 1 at its edge 0.
  localparam tree_entry_t [2:0] Entries = '{
    '{group: '0, root: 1'b0, parent: '0, children: '0},
    '{group: '0, root: 1'b0, parent: '0, children: 8'b10},
    '{group: '0, root: 1'b1, parent: '0, children: 8'b01}
  };
  logic [2:0] arrive_valid, arrive_ready, release_valid, fault;
  logic [2:0][Edges-1:0] send_open_valid, send_open_ready, push_valid, push_ready;
  logic [2:0][Edges-1:0] recv_open_valid, recv_open_ready, pop_valid, pop_ready;
  logic [2:0][2:0] arrived_q, released_q;
  logic written_q;

  always_ff @(posedge clk_i) written_q <= rst_ni;
  assign arrive_valid = written_q ? arrive_i : '0;
  for (genvar r = 0; r < 3; r++) begin : gen_rank
    send_open_t [Edges-1:0] unused_send;
    watch_t [Edges-1:0] unused_watch;
    recv_open_t [Edges-1:0] unused_recv;
    logic [Edges-1:0][7:0] unused_data;
    gs_stream_barrier #(
      .Edges(Edges),
      .Bytes(1),
      .Ranks(4)
    ) u_barrier (
      .clk_i,
      .rst_ni,
      .clear_i          (1'b0),
      .tree_we_i        (!written_q),
      .tree_root_i      ('0),
      .tree_entry_i     (Entries[r]),
      .edges_i          ('0),
      .fault_o          (fault[r]),
      .arrive_valid_i   (arrive_valid[r]),
      .arrive_ready_o   (arrive_ready[r]),
      .own_i            (8'(r)),
      .release_valid_o  (release_valid[r]),
      .release_ready_i  (release_i[r]),
      .watch_o          (unused_watch),
      .send_open_valid_o(send_open_valid[r]),
      .send_open_ready_i(send_open_ready[r]),
      .send_open_o      (unused_send),
      .push_valid_o     (push_valid[r]),
      .push_ready_i     (push_ready[r]),
      .push_data_o      (unused_data),
      .recv_open_valid_o(recv_open_valid[r]),
      .recv_open_ready_i(recv_open_ready[r]),
      .recv_open_o      (unused_recv),
      .pop_valid_i      (pop_valid[r]),
      .pop_ready_o      (pop_ready[r])
    );
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        arrived_q[r]  <= '0;
        released_q[r] <= '0;
      end else begin
        arrived_q[r]  <= arrived_q[r] + 3'(arrive_valid[r] && arrive_ready[r]);
        released_q[r] <= released_q[r] + 3'(release_valid[r] && release_i[r]);
      end
    end
    for (genvar s = 0; s < 3; s++) begin : gen_other
      // The two numbers differ by at most two.
      `GS_ASSERT_NOW(released_only_after_all_arrived, 3'(arrived_q[s] - released_q[r]) <= 3'd2)
      `GS_ASSERT_NOW(release_valid_only_after_all_arrived, !release_valid[r] || arrived_q[s] != released_q[r])
    end
  end

`define EDGE(NUMBER, FROM, FROM_EDGE, TO, TO_EDGE) \
  prove_barrier_channel u_edge``NUMBER ( \
    .clk_i, \
    .rst_ni, \
    .may_i            (may_i[NUMBER]), \
    .send_open_valid_i(send_open_valid[FROM][FROM_EDGE]), \
    .send_open_ready_o(send_open_ready[FROM][FROM_EDGE]), \
    .push_valid_i     (push_valid[FROM][FROM_EDGE]), \
    .push_ready_o     (push_ready[FROM][FROM_EDGE]), \
    .recv_open_valid_i(recv_open_valid[TO][TO_EDGE]), \
    .recv_open_ready_o(recv_open_ready[TO][TO_EDGE]), \
    .pop_valid_o      (pop_valid[TO][TO_EDGE]), \
    .pop_ready_i      (pop_ready[TO][TO_EDGE]) \
  );
  `EDGE(0, 0, 0, 1, 0)
  `EDGE(1, 1, 0, 0, 0)
  `EDGE(2, 1, 1, 2, 0)
  `EDGE(3, 2, 0, 1, 1)
  for (genvar r = 0; r < 3; r += 2) begin : gen_end
    assign send_open_ready[r][1] = 1'b0;
    assign push_ready[r][1] = 1'b0;
    assign recv_open_ready[r][1] = 1'b0;
    assign pop_valid[r][1] = 1'b0;
  end

  `GS_ASSERT_NOW(no_fault, fault == '0)
  `GS_COVER_NOW(all_released_once, &{released_q[0][0], released_q[1][0], released_q[2][0]})
  `GS_COVER_NOW(one_rank_at_next_barrier, released_q[0] == 3'd1 && arrived_q[0] == 3'd2 && released_q[2] == '0)
  `GS_COVER_NOW(all_released_twice, released_q[0] == 3'd2 && released_q[1] == 3'd2 && released_q[2] == 3'd2)
endmodule
