// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Checks the tags of received frames in the ring. Frames come out in the order in which they came.
///
/// Without a session, and for kinds without a tag of the session's key, a frame passes at once as not authentic.
module gs_shell_tag #(
  /// logarithm of the ring's words
  parameter  int unsigned WordsLog2  = 12,
  /// logarithm of the frames that may wait
  parameter  int unsigned FramesLog2 = 6,
  localparam type ptr_t = logic [WordsLog2:0]
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // Frames in the ring
  input  logic                 in_valid_i,
  output logic                 in_room_o,
  input  ptr_t                 in_start_i,
  input  logic [15:0]          in_length_i,
  input  logic                 in_tagged_i,
  input  logic                 in_link_i,
  input  logic                 session_i,
  /// half of the places for frames whose tag is not known are taken
  output logic                 crowded_o,
  /// less than a quarter of them is taken
  output logic                 calm_o,
  // Read port of the ring; data in the cycle after the grant
  output logic                 read_valid_o,
  input  logic                 read_ready_i,
  output logic [WordsLog2-1:0] read_addr_o,
  input  logic [31:0]          read_data_i,
  // Hasher
  output logic                 hash_valid_o,
  input  logic                 hash_ready_i,
  output logic [31:0]          hash_word_o,
  output logic                 hash_first_o,
  output logic [31:0]          hash_count_o,
  output logic                 hash_last_o,
  input  logic                 hash_done_i,
  input  logic [7:0][31:0]     hash_h_i,
  // Frames whose tag is known
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output ptr_t                 out_start_o,
  output logic [15:0]          out_length_o,
  output logic                 out_authentic_o,
  output logic                 out_link_o
);
  import gs_shell_frame_pkg::HeadBytes;

  typedef struct packed {
    ptr_t        start;
    logic [15:0] length;
    logic        sealed;
    logic        link;
  } frame_t;
  typedef struct packed {
    ptr_t        start;
    logic [15:0] length;
    logic        authentic;
    logic        link;
  } judged_t;

  frame_t head;
  logic   head_valid, head_ready;
  logic [FramesLog2:0] waiting;
  assign crowded_o = waiting[FramesLog2] || waiting[FramesLog2-1];
  assign calm_o    = !crowded_o && !waiting[FramesLog2-2];
  gs_fifo #(
    .data_t(frame_t),
    .Depth (1 << FramesLog2)
  ) i_frames (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_o (in_room_o),
    .in_data_i  (frame_t'{start: in_start_i, length: in_length_i, sealed: in_tagged_i, link: in_link_i}),
    .out_valid_o(head_valid),
    .out_ready_i(head_ready),
    .out_data_o (head),
    .count_o    (waiting)
  );

  logic start, done, agrees, digest_ready;
  gs_shell_digest #(
    .AddrW(WordsLog2)
  ) i_digest (
    .clk_i,
    .rst_ni,
    .start_i (start),
    .ready_o (digest_ready),
    .at_i    (head.start[WordsLog2-1:0]),
    .bytes_i (head.length + 16'(HeadBytes)),
    .done_o  (done),
    .digest_o(),
    .agrees_o(agrees),
    .read_valid_o, .read_ready_i, .read_addr_o, .read_data_i,
    .hash_valid_o, .hash_ready_i, .hash_word_o, .hash_first_o, .hash_count_o, .hash_last_o, .hash_done_i, .hash_h_i
  );

  // Frames in i_digest: one is read, one or none waits for its digest
  frame_t flight;
  logic   flight_valid, unused_room;
  gs_fifo #(
    .data_t(frame_t),
    .Depth (4)
  ) i_flight (
    .clk_i,
    .rst_ni,
    .in_valid_i (start),
    .in_ready_o (unused_room),
    .in_data_i  (head),
    .out_valid_o(flight_valid),
    .out_ready_i(done),
    .out_data_o (flight),
    .count_o    ()
  );

  // A frame that is judged waits here, so that the next one's digest does not wait for the processor.
  logic                judged, unused_ready, room, pass, sealed;
  logic [FramesLog2:0] judged_held;
  judged_t             judged_data, out;
  // There is space for the frames in i_digest too.
  assign room        = judged_held < (FramesLog2 + 1)'((1 << FramesLog2) - 3);
  assign sealed      = head.sealed && session_i;
  assign pass        = head_valid && !sealed && !flight_valid && room;
  assign judged      = done || pass;
  assign start       = head_valid && sealed && digest_ready && room;
  assign head_ready  = start || pass;
  assign judged_data = done ? judged_t'{start: flight.start, length: flight.length, authentic: agrees, link: 1'b0}
                            : judged_t'{start: head.start, length: head.length, authentic: 1'b0, link: head.link};
  gs_fifo #(
    .data_t(judged_t),
    .Depth (1 << FramesLog2)
  ) i_judged (
    .clk_i,
    .rst_ni,
    .in_valid_i (judged),
    .in_ready_o (unused_ready),
    .in_data_i  (judged_data),
    .out_valid_o,
    .out_ready_i,
    .out_data_o (out),
    .count_o    (judged_held)
  );
  assign out_start_o     = out.start;
  assign out_length_o    = out.length;
  assign out_authentic_o = out.authentic;
  assign out_link_o      = out.link;

  logic unused;
  assign unused = ^{unused_room, unused_ready, flight.sealed, flight.link};

  `GS_ASSERT_NOW(a_judged_frame_has_a_place, !judged || unused_ready)
endmodule
