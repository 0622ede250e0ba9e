// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// The sender's window: which frames are unacknowledged, and which of these are lost.
///
///           acknowledged | base ... (sent, some of them named by the map) ... | next: may be sent up to base + Window
///
/// The wire keeps order, and every sent frame has its own stamp. So a frame is certainly lost if the other end has
/// received a frame with a later stamp and neither acknowledges nor names this one. The only timer needed is one that
/// sends a frame when nothing else is sent: the other end returns its stamp.
module gs_link_window
  import gs_link_pkg::*;
#(
  /// unacknowledged frames in flight, at most; a power of two, 2 to 64
  parameter  int unsigned Window = 64,
  localparam int unsigned PtrW   = $clog2(Window)
) (
  input  logic   clk_i,
  input  logic   rst_ni,
  /// a session begins
  input  logic   clear_i,
  // Acknowledgement from the other end.
  input  logic   ack_valid_i,
  input  seq_t   acknowledge_i,
  input  slots_t map_i,
  input  stamp_t echo_i,
  // New frames.
  /// number of the next frame
  output seq_t   next_o,
  /// the window is not full
  output logic   space_o,
  // Sent frames.
  /// a data frame is sent, new or again, with this stamp
  input  logic   send_i,
  input  logic   send_new_i,
  input  seq_t   send_seq_i,
  input  stamp_t stamp_i,
  /// the frame `lost_seq_o` is lost
  output logic   lost_o,
  output seq_t   lost_seq_o,
  // Frames that no longer need to be kept, one a cycle.
  output logic   free_o,
  output logic [PtrW-1:0] free_slot_o,
  /// some frame is not acknowledged
  output logic   waiting_o
);
  if (Window < 2 || Window > Slots || (Window & (Window - 1)) != 0) begin : gen_illegal_window
    $fatal(1, "gs_link_window: Window is %0d; it must be a power of two, 2 to %0d", Window, Slots);
  end

  seq_t base_q, next_q, want_q, scan_q, lost_seq_q;
  slots_t map_q;
  stamp_t echo_q, stamp_scan;
  logic ack_seen_q, lost_q, sensible, in_flight, is_lost;

  // An acknowledgement of a frame that was never sent cannot belong to this session.
  assign sensible   = seq_t'(acknowledge_i - base_q) <= seq_t'(next_q - base_q);
  assign next_o     = next_q;
  assign free_o     = base_q != want_q;
  assign free_slot_o = base_q[PtrW-1:0];
  assign waiting_o  = base_q != next_q;
  assign lost_o     = lost_q;
  assign lost_seq_o = lost_seq_q;

  gs_ram_sdp #(
    .Width  (StampW),
    .Depth  (Window),
    .Latency(0),
    .Style  ("distributed")
  ) u_stamps (
    .clk_i,
    .we_i   (send_i),
    .wstrb_i(1'b1),
    .waddr_i(send_seq_i[PtrW-1:0]),
    .wdata_i(stamp_i),
    .re_i   (1'b1),
    .raddr_i(scan_q[PtrW-1:0]),
    .rdata_o(stamp_scan)
  );

  // One frame a cycle is examined. Its stamp is not later than the echo if their difference is in the lower half.
  stamp_t age;
  assign age     = echo_q - stamp_scan;
  assign in_flight  = seq_t'(scan_q - want_q) < seq_t'(next_q - want_q);
  assign is_lost = ack_seen_q && in_flight && !map_q[scan_q[SlotW-1:0]] && !age[StampW-1];

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      base_q     <= '0;
      next_q     <= '0;
      want_q     <= '0;
      scan_q     <= '0;
      map_q      <= '0;
      ack_seen_q <= 1'b0;
      lost_q     <= 1'b0;
    end else begin
      if (ack_valid_i && sensible) begin
        want_q     <= acknowledge_i;
        map_q      <= map_i;
        echo_q     <= echo_i;
        ack_seen_q <= 1'b1;
      end
      if (free_o) base_q <= base_q + 1'b1;
      if (send_i && send_new_i) next_q <= next_q + 1'b1;
      // The scan stays at a lost frame until it is resent and has a new stamp.
      if (!in_flight) scan_q <= want_q;
      else if (!is_lost) scan_q <= scan_q + 1'b1;
      lost_q <= is_lost && !(ack_valid_i && sensible) && !send_i;
    end
    lost_seq_q <= scan_q;
  end

  // The frame that is opened now is the next one to be sent.
  assign space_o = seq_t'(next_q - base_q) < seq_t'(Window);

  `GS_ASSERT_NOW(at_most_window_frames_are_unacknowledged, seq_t'(next_q - base_q) <= seq_t'(Window))
  `GS_ASSERT_NOW(only_sent_frames_are_acknowledged, seq_t'(want_q - base_q) <= seq_t'(next_q - base_q))
  `GS_ASSERT_NOW(new_frame_has_the_next_number, !send_i || !send_new_i || send_seq_i == next_q)
  `GS_ASSERT_NOW(new_frame_is_within_the_window, !send_i || !send_new_i || space_o)
endmodule
