// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Packets between the host and the streams of the role, with their numbers, acknowledgements and credits
/// (docs/hardware/shell.md, "Messages"). Each stream and direction has 32 slots in memory.
///
///     frame -> gs_shell_fast -> writer -> slot -> reader -> queue -> role       (deliver)
///     role -> gs_shell_packets -> writer -> slot -> reader -> place -> frame    (store, send)
///                                             \-- the slot is free when the host acknowledges its packet
///
/// A job moves one packet from its slot, or sends a credit; storing a packet of the role runs at the same time. The
/// firmware begins and ends runs and decides when packets are sent again.
module gs_shell_messages #(
  /// logarithm of the words of the ring of gs_shell_packets
  parameter  int unsigned WordsLog2  = 10,
  /// cycles from one credit to the next; acknowledgements in packets have no limit
  parameter  int unsigned CreditWait = 2048,
  /// bytes of a slot's address: stream, direction, slot, byte
  localparam int unsigned AreaW      = 22
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // Firmware
  /// begins a run: all numbers begin again. Only while busy_o is 0
  input  logic                 start_i,
  input  logic                 stop_i,
  /// all packets of a stream that are not acknowledged are sent again
  input  logic                 resend_i,
  input  logic [1:0]           resend_stream_i,
  /// words of the headers of the run's packets; word 0 has the frame's first byte in the highest bits
  input  logic                 header_set_i,
  input  logic [3:0]           header_at_i,
  input  logic [31:0]          header_i,
  /// clears events
  input  logic [7:0]           clear_i,
  /// by stream, since they were cleared: packets sent in the upper half, acknowledged in the lower half
  output logic [7:0]           events_o,
  /// streams with packets that are sent and not acknowledged
  output logic [3:0]           pending_o,
  output logic                 enabled_o,
  output logic                 busy_o,
  /// counts since the reset: frames handled, packets accepted, frames sent
  output logic [15:0]          handled_o,
  output logic [31:0]          accepted_o,
  output logic [31:0]          sent_o,
  /// streams of the role, at most 4; the most bytes of a packet
  input  logic [2:0]           streams_i,
  input  logic [15:0]          most_i,
  // A received packet or credit of the run (gs_shell_fast); valid for two cycles before frame_i
  input  logic                 frame_i,
  input  logic                 frame_packet_i,
  input  logic [1:0]           frame_stream_i,
  input  logic [31:0]          frame_seq_i,
  input  logic [31:0]          frame_acknowledge_i,
  input  logic [15:0]          frame_bytes_i,
  /// with frame_i: the packet is the next one and has a slot; the writer copies it there
  output logic                 frame_write_o,
  output logic [AreaW-1:0]     frame_to_o,
  // Writer of memory: a request for a packet of the role, and the end of any write
  output logic                 store_valid_o,
  input  logic                 store_ready_i,
  output logic [WordsLog2-1:0] store_from_o,
  output logic [AreaW-1:0]     store_to_o,
  output logic [15:0]          store_bytes_o,
  input  logic                 written_i,
  // Packets of the role
  input  logic                 packet_valid_i,
  output logic                 packet_ready_o,
  input  logic [WordsLog2-1:0] packet_start_i,
  input  logic [15:0]          packet_bytes_i,
  input  logic [7:0]           packet_dest_i,
  // Reader of memory
  output logic                 read_valid_o,
  input  logic                 read_ready_i,
  output logic [AreaW-1:0]     read_at_o,
  output logic [15:0]          read_bytes_o,
  output logic                 read_to_role_o,
  input  logic                 read_ended_i,
  // Role: the queue to it is empty; streams for which it accepts a packet; a packet without bytes
  input  logic                 role_stop_i,
  input  logic                 queue_empty_i,
  input  logic [3:0]           wanted_i,
  output logic [1:0]           dest_o,
  output logic                 empty_packet_o,
  // Place of the next frame to send: it is taken from place_taken_o until send_o
  input  logic                 place_free_i,
  output logic                 place_taken_o,
  output logic                 place_write_o,
  input  logic                 place_ready_i,
  output logic [3:0]           place_addr_o,
  output logic [31:0]          place_data_o,
  output logic                 send_o,
  output logic [15:0]          send_bytes_o
);
  import gossamer_shell_pkg::*;

  localparam int unsigned Streams   = 4;
  localparam int unsigned SlotsLog2 = 5;
  localparam logic [SlotsLog2:0] Slots = (SlotsLog2 + 1)'(1 << SlotsLog2);
  localparam int unsigned WaitW = $clog2(CreditWait + 1);
  typedef logic [1:0]         stream_t;
  typedef logic [SlotsLog2:0] count_t;

  // Of each stream: the next number to accept, accepted packets that the role has not got; the first number that the
  // host has not acknowledged, packets in slots from it on, and those of them that are sent.
  logic [31:0] expected_q[Streams], first_q[Streams];
  count_t      in_held_q[Streams], out_held_q[Streams], out_sent_q[Streams];
  logic [Streams-1:0] owes_q, sent_q, retired_q;   // a credit is due; events
  logic        enabled_q;
  logic [15:0] handled_q;
  logic [31:0] accepted_q, frames_q;
  assign enabled_o  = enabled_q;
  assign events_o   = {sent_q, retired_q};
  assign handled_o  = handled_q;
  assign accepted_o = accepted_q;
  assign sent_o     = frames_q;

  // ---------------------------------------------------------------------------------------------- received frames
  // Sums of the frame that is judged. Its stream's numbers change only with frame_i.
  logic        next_q, gone_good_q;
  count_t      gone_q;
  logic [31:0] gone;
  assign gone = frame_acknowledge_i - first_q[frame_stream_i];
  always_ff @(posedge clk_i) begin
    next_q      <= frame_packet_i && frame_seq_i == expected_q[frame_stream_i];
    gone_q      <= gone[SlotsLog2:0];
    gone_good_q <= gone <= 32'(out_held_q[frame_stream_i]);
  end
  logic accept, retire;
  assign accept        = frame_i && next_q && in_held_q[frame_stream_i] != Slots;
  assign retire        = frame_i && gone_good_q;
  assign frame_write_o = accept && frame_bytes_i != '0;
  assign frame_to_o    = {frame_stream_i, 1'b0, frame_seq_i[SlotsLog2-1:0], 14'd0};

  // The last accepted packet is not in memory yet.
  logic    writing_q;
  stream_t writing_stream_q;
  always_ff @(posedge clk_i) begin
    if (written_i) writing_q <= 1'b0;
    if (frame_write_o) begin
      writing_q        <= 1'b1;
      writing_stream_q <= frame_stream_i;
    end
    if (!rst_ni) writing_q <= 1'b0;
  end

  // ---------------------------------------------------------------------------------------------- bytes of packets
  logic               bytes_write, look;
  logic [SlotsLog2+2:0] bytes_at, look_at;
  logic [15:0]        bytes_new, bytes_held;
  gs_ram_sdp #(
    .Width(16),
    .Depth(2 * Streams << SlotsLog2),
    .Style("block")
  ) i_bytes (
    .clk_i,
    .we_i   (bytes_write),
    .wstrb_i(1'b1),
    .waddr_i(bytes_at),
    .wdata_i(bytes_new),
    .re_i   (look),
    .raddr_i(look_at),
    .rdata_o(bytes_held)
  );

  // ---------------------------------------------------------------------------------------------- store
  typedef enum logic [1:0] {Wait, Ask, Write, Push} store_e;
  store_e  store_q;
  stream_t store_stream_q;
  logic [SlotsLog2-1:0] store_slot_q;
  logic    known, full, push, drop;
  assign known = packet_dest_i < 8'(streams_i) && packet_bytes_i <= most_i;
  assign full  = out_held_q[packet_dest_i[1:0]] == Slots;
  // A packet of no stream of the role, or longer than a frame, is dropped.
  assign drop  = store_q == Wait && enabled_q && packet_valid_i && !known;
  assign push  = store_q == Push && !role_stop_i && !frame_i && !look;
  assign packet_ready_o = drop || push;
  assign store_valid_o  = store_q == Ask && !role_stop_i && enabled_q;
  assign store_from_o   = packet_start_i;
  assign store_to_o     = {store_stream_q, 1'b1, store_slot_q, 14'd0};
  assign store_bytes_o  = packet_bytes_i;
  always_ff @(posedge clk_i) begin
    case (store_q)
      Wait: begin
        store_stream_q <= packet_dest_i[1:0];
        if (enabled_q && packet_valid_i && known && !full && !role_stop_i) store_q <= packet_bytes_i == '0 ? Push : Ask;
      end
      Ask: begin
        if (store_ready_i) store_q <= Write;
        if (role_stop_i || !enabled_q) store_q <= Wait;
      end
      // The role's reset empties the ring: then the packet is none.
      Write: if (written_i) store_q <= role_stop_i ? Wait : Push;
      default: if (push || role_stop_i) store_q <= Wait;
    endcase
    // Acknowledgements move the first number and the count by the same.
    store_slot_q <= SlotsLog2'(first_q[packet_dest_i[1:0]]) + SlotsLog2'(out_held_q[packet_dest_i[1:0]]);
    if (!rst_ni) store_q <= Wait;
  end

  always_comb begin
    bytes_write = accept || push;
    bytes_at    = {store_stream_q, 1'b1, store_slot_q};
    bytes_new   = packet_bytes_i;
    if (accept) begin
      bytes_at  = {frame_stream_i, 1'b0, frame_seq_i[SlotsLog2-1:0]};
      bytes_new = frame_bytes_i;
    end
  end

  // ---------------------------------------------------------------------------------------------- jobs
  typedef enum logic [2:0] {Idle, Number, Look, Size, Move, Done} job_e;
  typedef enum logic [1:0] {Deliver, Send, Credit} kind_e;
  job_e                 state_q;
  kind_e                kind_q;
  stream_t              stream_q;
  logic [31:0]          number_q, acknowledge_q;
  logic [15:0]          bytes_q;
  logic                 asked_q, read_q;         // the reader has the job; it has ended
  logic [4:0]           word_q;                  // the next word of the header
  logic [WaitW-1:0]     credit_wait_q;

  logic [3*Streams-1:0] wish, grant;
  logic [3:0]           choice;
  logic                 choose;
  always_comb begin
    for (int unsigned s = 0; s < Streams; s++) begin
      automatic count_t stored;
      stored = in_held_q[s] - count_t'(writing_q && writing_stream_q == stream_t'(s));
      wish[s]             = stored != '0 && wanted_i[s] && queue_empty_i;
      wish[Streams+s]     = out_sent_q[s] < out_held_q[s] && place_free_i;
      wish[2*Streams+s]   = owes_q[s] && credit_wait_q == '0 && place_free_i;
    end
    if (state_q != Idle || !enabled_q || role_stop_i) wish = '0;
  end
  assign choose = wish != '0;
  gs_arbiter #(
    .N(3 * Streams)
  ) i_arbiter (
    .clk_i,
    .rst_ni,
    .req_i    (wish),
    .gnt_o    (grant),
    .idx_o    (choice),
    .advance_i(choose)
  );

  logic begins, delivered, header, ended;
  // What is acknowledged while the job is chosen is not sent.
  assign begins        = state_q == Number && (kind_q != Send || out_sent_q[stream_q] < out_held_q[stream_q]);
  assign delivered     = state_q == Done && kind_q == Deliver;
  assign header        = state_q == Move && kind_q != Deliver && !word_q[4];
  assign ended         = (read_q || bytes_q == '0) && (kind_q == Deliver || word_q[4]);
  // A credit has no bytes: its slot may be the one that a packet is being accepted into.
  assign look          = state_q == Look && kind_q != Credit;
  assign look_at       = {stream_q, kind_q == Send, number_q[SlotsLog2-1:0]};
  assign read_valid_o  = state_q == Move && bytes_q != '0 && !asked_q;
  assign read_at_o     = {look_at, 14'd0};
  assign read_bytes_o  = bytes_q;
  assign read_to_role_o = kind_q == Deliver;
  assign dest_o         = stream_q;
  assign empty_packet_o = delivered && bytes_q == '0;
  assign place_taken_o  = state_q != Idle && kind_q != Deliver;
  assign place_write_o  = header;
  assign place_addr_o   = word_q[3:0];
  assign send_o         = state_q == Done && kind_q != Deliver;
  assign send_bytes_o   = bytes_q;
  assign busy_o         = state_q != Idle || store_q != Wait || writing_q;

  logic [31:0] template_word, word;
  gs_ram_sdp #(
    .Width  (32),
    .Depth  (16),
    .Latency(0),
    .Style  ("distributed")
  ) i_header (
    .clk_i,
    .we_i   (header_set_i),
    .wstrb_i(1'b1),
    .waddr_i(header_at_i),
    .wdata_i(header_i),
    .re_i   (1'b1),
    .raddr_i(word_q[3:0]),
    .rdata_o(template_word)
  );
  always_comb begin
    case (word_q[3:0])
      4'd4: word = {kind_q == Send ? ShellKindPacket : ShellKindCredit, 8'd0, bytes_q};
      4'd5: word = number_q;
      4'd9: word = 32'(stream_q);
      4'd12: word = acknowledge_q;
      4'd8, 4'd13, 4'd14, 4'd15: word = '0;
      default: word = template_word;
    endcase
  end
  assign place_data_o = gs_shell_frame_pkg::swap(word);

  always_ff @(posedge clk_i) begin
    case (state_q)
      Idle: begin
        asked_q <= 1'b0;
        read_q  <= 1'b0;
        word_q  <= '0;
        if (choose) begin
          state_q  <= Number;
          stream_q <= choice[1:0];
          kind_q   <= kind_e'(choice[3:2]);
        end
      end
      Number: begin
        state_q       <= begins ? Look : Idle;
        acknowledge_q <= expected_q[stream_q];
        case (kind_q)
          Deliver: number_q <= expected_q[stream_q] - 32'(in_held_q[stream_q]);
          Send:    number_q <= first_q[stream_q] + 32'(out_sent_q[stream_q]);
          // The first number that is not accepted yet
          default: number_q <= expected_q[stream_q] + 32'(Slots - in_held_q[stream_q]);
        endcase
      end
      Look: state_q <= Size;
      Size: begin
        state_q <= Move;
        bytes_q <= kind_q == Credit ? '0 : bytes_held;
      end
      Move: begin
        if (read_valid_o && read_ready_i) asked_q <= 1'b1;
        if (asked_q && read_ended_i) read_q <= 1'b1;
        if (header && place_ready_i) word_q <= word_q + 5'd1;
        if (ended) state_q <= Done;
      end
      default: state_q <= Idle;
    endcase
    if (begins && kind_q == Credit) credit_wait_q <= WaitW'(CreditWait);
    else if (credit_wait_q != '0) credit_wait_q <= credit_wait_q - 1'b1;
    if (!rst_ni) begin
      state_q       <= Idle;
      credit_wait_q <= '0;
    end
  end

  // ---------------------------------------------------------------------------------------------- numbers
  for (genvar s = 0; s < Streams; s++) begin : gen_stream
    logic framed, jobs, retires, accepts, gives;
    assign framed  = frame_stream_i == stream_t'(s);
    assign jobs    = stream_q == stream_t'(s);
    assign retires = retire && framed;
    assign accepts = accept && framed;
    assign gives   = delivered && jobs;
    assign pending_o[s] = out_sent_q[s] != '0;
    always_ff @(posedge clk_i) begin
      in_held_q[s] <= in_held_q[s] + count_t'(accepts) - count_t'(gives);
      if (accepts) expected_q[s] <= expected_q[s] + 32'd1;
      out_held_q[s] <= out_held_q[s] + count_t'(push && store_stream_q == stream_t'(s)) - (retires ? gone_q : '0);
      if (begins && jobs && kind_q == Send) out_sent_q[s] <= out_sent_q[s] + 1'b1;
      if (retires) begin
        first_q[s] <= first_q[s] + 32'(gone_q);
        // A packet whose sending begins in this cycle is sent again, unless it is acknowledged.
        out_sent_q[s] <= out_sent_q[s] > gone_q ? out_sent_q[s] - gone_q : '0;
      end
      if (resend_i && resend_stream_i == stream_t'(s)) out_sent_q[s] <= '0;
      if (clear_i[s]) retired_q[s] <= 1'b0;
      if (clear_i[Streams+s]) sent_q[s] <= 1'b0;
      if (retires && gone_q != '0) retired_q[s] <= 1'b1;
      if (begins && jobs && kind_q == Send) sent_q[s] <= 1'b1;
      if (begins && jobs && kind_q == Credit) owes_q[s] <= 1'b0;
      if (gives || (frame_i && frame_packet_i && framed)) owes_q[s] <= 1'b1;
      if (start_i) begin
        expected_q[s] <= 32'd1;
        first_q[s]    <= 32'd1;
        in_held_q[s]  <= '0;
        out_held_q[s] <= '0;
        out_sent_q[s] <= '0;
        owes_q[s]     <= 1'b0;
        sent_q[s]     <= 1'b0;
        retired_q[s]  <= 1'b0;
      end
    end
    `GS_ASSERT_NOW(packets_have_slots, !enabled_q || (in_held_q[s] <= Slots && out_held_q[s] <= Slots))
    `GS_ASSERT_NOW(only_held_packets_are_sent, !enabled_q || out_sent_q[s] <= out_held_q[s])
  end
  always_ff @(posedge clk_i) begin
    if (start_i) enabled_q <= 1'b1;
    if (stop_i) enabled_q <= 1'b0;
    handled_q  <= handled_q + 16'(frame_i);
    accepted_q <= accepted_q + 32'(accept);
    frames_q   <= frames_q + 32'(send_o);
    if (!rst_ni) begin
      enabled_q  <= 1'b0;
      handled_q  <= '0;
      accepted_q <= '0;
      frames_q   <= '0;
    end
  end

  logic unused;
  assign unused = ^grant;

  `GS_ASSERT_NOW(a_run_begins_idle, !start_i || !busy_o)
  `GS_ASSERT_NOW(bytes_are_not_read_while_they_are_written, !i_bytes.collides)
endmodule
