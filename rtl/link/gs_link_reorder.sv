// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// The receiver's window: which frames are received, in which buffers, and which one is decoded next.
///
///     read ... (wait for the decoder) ... | want: the next in order | (some are received, after a gap: the map) ...
///
/// A frame after a gap is kept only if another buffer stays free. So the frame that fills the gap always finds a
/// buffer, and the link cannot deadlock. The sender resends a dropped frame.
module gs_link_reorder
  import gs_link_pkg::*;
#(
  /// the sender's window, a power of two, 2 to 64
  parameter  int unsigned Window    = 64,
  /// buffers, 2 to Window
  parameter  int unsigned Buffers   = 16,
  /// words of a buffer
  parameter  int unsigned BodyWords = 185,
  localparam int unsigned WordsW    = $clog2(BodyWords + 1),
  localparam int unsigned BufferW   = $clog2(Buffers)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// a session begins
  input  logic               clear_i,
  // A good data frame of this session.
  input  logic               frame_i,
  input  seq_t               seq_i,
  input  logic [WordsW-1:0]  words_i,
  /// its body is in the buffer
  input  logic               stored_i,
  /// the frame is dropped
  output logic               dropped_o,
  /// the buffer that is being written
  output logic               buffer_valid_o,
  output logic [BufferW-1:0] buffer_o,
  // Reported to the other end.
  output seq_t               want_o,
  output slots_t             map_o,
  // The frame to be decoded.
  output logic               read_valid_o,
  output logic [BufferW-1:0] read_buffer_o,
  output logic [WordsW-1:0]  read_words_o,
  /// the frame is decoded
  input  logic               read_done_i
);
  if (Buffers < 2 || Buffers > Window || Window > Slots) begin : gen_illegal_buffers
    $fatal(1, "gs_link_reorder: Buffers is %0d; it must be 2 to Window (%0d)", Buffers, Window);
  end

  localparam int unsigned PtrW = $clog2(Window);

  seq_t want_q, read_q;
  // Received frames after a gap, by their numbers modulo Window.
  logic [Window-1:0] map_q, map_d;
  logic [Buffers-1:0] free_q, free_d, next_free;
  logic [BufferW-1:0] buffer_q, next_buffer;
  logic buffer_valid_q, keep, in_order, step;
  logic [BufferW+WordsW-1:0] entry;

  assign in_order = seq_i == want_q;
  assign keep     = frame_i && stored_i && buffer_valid_q
                    && seq_t'(seq_i - want_q) < seq_t'(Window) && seq_t'(seq_i - read_q) < seq_t'(Window)
                    && !map_q[seq_i[PtrW-1:0]] && (in_order || free_q != '0);
  // A kept frame is in order now; one such frame a cycle.
  assign step     = map_q[want_q[PtrW-1:0]];

  assign dropped_o      = frame_i && !keep;
  assign buffer_valid_o = buffer_valid_q;
  assign buffer_o       = buffer_q;
  assign want_o         = want_q;
  assign read_valid_o   = read_q != want_q;

  // In the map that is sent, all frames of the window have numbers modulo Slots.
  always_comb begin
    for (int unsigned n = 0; n < Slots; n++) begin
      map_o[n] = map_q[n%Window] && (n / Window) % (Slots / Window) ==
                 (32'(want_q[SlotW-1:0]) / Window + 32'((n % Window) < (32'(want_q) % Window))) % (Slots / Window);
    end
  end

  always_comb begin
    next_buffer = '0;
    next_free   = free_q & (~free_q + 1'b1);
    for (int unsigned i = 0; i < Buffers; i++) if (next_free[i]) next_buffer |= BufferW'(i);
    free_d = free_q;
    if (read_done_i) free_d[read_buffer_o] = 1'b1;
    if (keep || !buffer_valid_q) free_d = free_d & ~next_free;
    map_d = map_q;
    if (keep && !in_order) map_d[seq_i[PtrW-1:0]] = 1'b1;
    if (step) map_d[want_q[PtrW-1:0]] = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      want_q         <= '0;
      read_q         <= '0;
      map_q          <= '0;
      free_q         <= '1 << 1;
      buffer_q       <= '0;
      buffer_valid_q <= 1'b1;
    end else begin
      if (step || (keep && in_order)) want_q <= want_q + 1'b1;
      if (read_done_i) read_q <= read_q + 1'b1;
      map_q  <= map_d;
      free_q <= free_d;
      if (keep || !buffer_valid_q) begin
        buffer_q       <= next_buffer;
        buffer_valid_q <= free_q != '0;
      end
    end
  end

  // The buffer of each frame, and the words of its body.
  gs_ram_sdp #(
    .Width  (BufferW + WordsW),
    .Depth  (Window),
    .Latency(0),
    .Style  ("distributed")
  ) u_entries (
    .clk_i,
    .we_i   (keep),
    .wstrb_i(1'b1),
    .waddr_i(seq_i[PtrW-1:0]),
    .wdata_i({buffer_q, words_i}),
    .re_i   (1'b1),
    .raddr_i(read_q[PtrW-1:0]),
    .rdata_o(entry)
  );
  assign {read_buffer_o, read_words_o} = entry;

  `GS_ASSERT_NOW(only_received_frames_are_decoded, !read_done_i || read_valid_o)
  `GS_ASSERT_NOW(write_buffer_is_not_free, !buffer_valid_q || !free_q[buffer_q])
  `GS_ASSERT_NOW(read_buffer_is_not_free, !read_valid_o || !free_q[read_buffer_o])
  `GS_ASSERT_NOW(in_order_frame_is_not_on_the_map, !(frame_i && in_order && keep && step))
endmodule
