// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of the sender's and the receiver's window together: every frame is delivered once and in order, whatever is
/// lost.
///
/// Frames and answers pass through two wires that keep order and may lose anything at any time: a sent frame may arrive
/// in any later cycle, before the frames after it, or never. Each wire holds two. The contents of a frame are its true
/// number (not modulo a power of two), which the hardware does not see.
module prove_window
  import gs_link_pkg::*;
#(
  parameter int unsigned Window  = 4,
  parameter int unsigned Buffers = 2,
  /// frames that a wire holds
  parameter int unsigned Wire    = 2
) (
  input logic       clk_i,
  input logic       rst_ni,
  /// a new frame is available; the sender sends it, or a lost one if any; or only an answer is sent
  input logic       offer_i,
  input logic       send_i,
  input logic       answer_i,
  /// the first item of each wire arrives, or is lost
  input logic       arrive_i,
  input logic       lose_i,
  input logic       back_i,
  input logic       lose_back_i,
  /// the frame at the decoder is decoded
  input logic       done_i
);
  typedef struct packed {
    logic        data;
    seq_t        seq;
    logic [15:0] number;
    stamp_t      stamp;
  } frame_t;

  typedef struct packed {
    seq_t        want;
    slots_t      map;
    stamp_t      echo;
    logic [15:0] want_number;
  } answer_t;

  // ------------------------------------------------------------------ sender

  seq_t next, lost_seq;
  logic space, lost, free, waiting, send, fresh, again, arrived, answered;
  logic full, back_full, put, put_back, get, get_back;
  logic [$clog2(Window)-1:0] free_slot;
  stamp_t stamp_q, echo_q;
  frame_t out, in;
  answer_t answer, acknowledged;
  // True numbers: of the next frame, of the base, of each slot.
  logic [15:0] next_number_q, base_number_q;
  logic [15:0] number_q[Window];

  assign again = send_i && lost;
  assign fresh = send_i && !lost && offer_i && space;
  assign send  = again || fresh;
  assign out   = '{data: send, seq: again ? lost_seq : next,
                   number: again ? number_q[lost_seq[$clog2(Window)-1:0]] : next_number_q, stamp: stamp_q};

  gs_link_window #(
    .Window(Window)
  ) u_window (
    .clk_i,
    .rst_ni,
    .clear_i      (1'b0),
    .ack_valid_i  (answered),
    .acknowledge_i(acknowledged.want),
    .map_i        (acknowledged.map),
    .echo_i       (acknowledged.echo),
    .next_o       (next),
    .space_o      (space),
    .send_i       (send && !full),
    .send_new_i   (fresh),
    .send_seq_i   (out.seq),
    .stamp_i      (stamp_q),
    .lost_o       (lost),
    .lost_seq_o   (lost_seq),
    .free_o       (free),
    .free_slot_o  (free_slot),
    .waiting_o    (waiting)
  );

  // ------------------------------------------------------------------- wires

  frame_t wire_q[Wire];
  answer_t back_q[Wire];
  logic [1:0] held_q, back_held_q;

  assign full         = held_q == 2'(Wire);
  assign back_full    = back_held_q == 2'(Wire);
  assign put          = (send || (send_i && answer_i)) && !full;
  assign put_back     = answer_i && !back_full;
  assign get          = held_q != '0 && arrive_i;
  assign get_back     = back_held_q != '0 && back_i;
  assign in           = wire_q[0];
  assign acknowledged = back_q[0];
  assign arrived      = get && !lose_i;
  assign answered     = get_back && !lose_back_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      held_q        <= '0;
      back_held_q   <= '0;
      stamp_q       <= '0;
      next_number_q <= '0;
      base_number_q <= '0;
      echo_q        <= '0;
    end else begin
      held_q      <= held_q + 2'(put) - 2'(get);
      back_held_q <= back_held_q + 2'(put_back) - 2'(get_back);
      if (put) stamp_q <= stamp_q + 1'b1;
      if (send && !full && fresh) begin
        next_number_q                         <= next_number_q + 1'b1;
        number_q[next[$clog2(Window)-1:0]]    <= next_number_q;
      end
      if (free) base_number_q <= base_number_q + 1'b1;
      if (arrived) echo_q <= in.stamp;
    end
    for (int i = 0; i < int'(Wire); i++) begin
      if (get && i + 1 < int'(Wire)) begin
        wire_q[i] <= wire_q[i+1];
      end
      if (put && held_q - 2'(get) == 2'(i)) wire_q[i] <= out;
      if (get_back && i + 1 < int'(Wire)) back_q[i] <= back_q[i+1];
      if (put_back && back_held_q - 2'(get_back) == 2'(i)) back_q[i] <= answer;
    end
  end

  // ---------------------------------------------------------------- receiver

  logic dropped, buffer_valid, read_valid, keep;
  logic [$clog2(Buffers)-1:0] buffer, read_buffer;
  logic [7:0] unused_words;
  seq_t want;
  slots_t map;
  // The frame that each buffer holds; the frame to be decoded next; the next frame wanted.
  logic [15:0] held_number_q[Buffers];
  logic [15:0] read_number_q, want_number_q;

  gs_link_reorder #(
    .Window   (Window),
    .Buffers  (Buffers),
    .BodyWords(255)
  ) u_order (
    .clk_i,
    .rst_ni,
    .clear_i       (1'b0),
    .frame_i       (arrived && in.data),
    .seq_i         (in.seq),
    .words_i       (8'd1),
    .stored_i      (buffer_valid),
    .dropped_o     (dropped),
    .buffer_valid_o(buffer_valid),
    .buffer_o      (buffer),
    .want_o        (want),
    .map_o         (map),
    .read_valid_o  (read_valid),
    .read_buffer_o (read_buffer),
    .read_words_o  (unused_words),
    .read_done_i   (read_valid && done_i)
  );

  assign keep   = arrived && in.data && !dropped;
  assign answer = '{want: want, map: map, echo: echo_q, want_number: want_number_q};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_number_q <= '0;
      want_number_q <= '0;
    end else begin
      if (read_valid && done_i) read_number_q <= read_number_q + 1'b1;
      if (u_order.step || (keep && u_order.in_order)) want_number_q <= want_number_q + 1'b1;
    end
    if (keep) held_number_q[buffer] <= in.number;
  end

  // The properties: the decoded frame is the next one, and every acknowledged frame was received.
  `GS_ASSERT_NOW(frames_are_decoded_once_and_in_order, !read_valid || held_number_q[read_buffer] == read_number_q)
  `GS_ASSERT_NOW(frames_are_released_only_after_arrival, 16'(want_number_q - base_number_q) <= 16'(Window))
  `GS_ASSERT_NOW(only_sent_frames_have_arrived, 16'(next_number_q - want_number_q) <= 16'(Window))

  `GS_COVER_NOW(frame_is_resent, again && !full)
  `GS_COVER_NOW(gap_is_filled, u_order.step && want_number_q != '0)
  `GS_COVER_NOW(window_is_full, offer_i && !space)
  `GS_COVER_NOW(frame_finds_no_buffer, dropped && !buffer_valid)
  `GS_COVER_NOW(three_frames_are_decoded, read_number_q == 16'd3)

  logic unused;
  assign unused = ^{free_slot, waiting};
endmodule
