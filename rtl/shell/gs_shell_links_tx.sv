// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Frames of the role's links, which become link frames to their peers (docs/hardware/shell.md, "Links").
///
///     role --> a FIFO per link --> pieces --> place of gs_shell_tx (payload, then headers)
///
/// A link frame gets all complete frames that its link has when it is made, up to `shell_link_bytes`. It is made as
/// soon as the line could send it: so a link that is idle sends at once, and a busy one fills its link frames.
module gs_shell_links_tx #(
  /// virtual links, 1 to 4
  parameter int unsigned Links     = 4,
  /// logarithm of the bytes that a link's FIFO holds
  parameter int unsigned BytesLog2 = 11,
  /// logarithm of the complete frames that it holds
  parameter int unsigned FramesLog2 = 7,
  /// logarithm of a place's words
  parameter int unsigned PlaceLog2 = 9
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic [47:0]          mac_i,
  /// EtherType of link frames
  input  logic [15:0]          type_i,
  /// a run exists; otherwise frames of the role are dropped
  input  logic                 run_i,
  /// links with a peer: those without drop their frames
  input  logic [Links-1:0]     bound_i,
  /// the link gets a peer: its frames are numbered from 1
  input  logic [Links-1:0]     bind_i,
  // Words of the peer: see gs_shell_links
  output logic [3:0]           table_addr_o,
  input  logic [31:0]          table_data_i,
  /// words of the peer are read: they must not change
  output logic                 reads_table_o,
  // From the role: a byte a cycle; a frame has 16,383 bytes at most, and frames do not interleave
  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic [7:0]           data_i,
  input  logic                 last_i,
  input  logic [1:0]           dest_i,
  // The place of the next frame to send: claimed, granted in the same cycle, taken until send_o or a reset of taken_o
  output logic                 claim_o,
  input  logic                 grant_i,
  output logic                 taken_o,
  output logic                 write_o,
  input  logic                 ready_i,
  output logic [PlaceLog2-1:0] addr_o,
  output logic [31:0]          data_o,
  output logic                 send_o,
  output logic [15:0]          bytes_o
);
  import gossamer_shell_pkg::*;
  import gs_shell_frame_pkg::*;

  localparam int unsigned LinkW    = Links > 1 ? $clog2(Links) : 1;
  localparam int unsigned PieceHead = 2;
  localparam logic [15:0] Most     = 16'(ShellLinkBytes);
  /// bytes on the wire in addition to the payload: headers, checksum, preamble, gap
  localparam logic [15:0] Around   = 16'(HeadBytes + 24);
  /// bytes that may wait for the line when a link frame is begun: the longest takes about so long to become ready
  localparam logic [15:0] Ahead    = 16'd1536;
  typedef logic [LinkW-1:0]      link_t;
  typedef logic [BytesLog2:0]    at_t;
  typedef logic [FramesLog2:0]   frame_at_t;
  typedef logic [13:0]           length_t;

  // ------------------------------------------------------------------------------------------------ frames of the role
  at_t       wr_q[Links], rd_q[Links];
  frame_at_t in_q[Links], out_q[Links];   // complete frames: come in, gone
  length_t   length_q[Links];             // bytes of the frame that comes in
  logic [Links-1:0] middle_q, drop_q;     // a frame is coming in; the rest of it is dropped
  link_t     to;
  logic      known, holds, take, lost;
  assign to    = link_t'(dest_i);
  assign known = dest_i < 2'(Links - 1) || dest_i == 2'(Links - 1);
  assign holds = run_i && known && bound_i[to] && !drop_q[to];
  logic full;
  assign full    = (at_t'(wr_q[to] - rd_q[to]) >> BytesLog2) != '0 ||
                   (frame_at_t'(in_q[to] - out_q[to]) >> FramesLog2) != '0;
  assign ready_o = !holds || !full;
  assign take    = valid_i && holds && !full;
  assign lost    = valid_i && !holds;

  logic [7:0]             fifo_byte;
  logic                   fetch;
  logic [LinkW+BytesLog2-1:0] fetch_at;
  gs_ram_sdp #(
    .Width(8),
    .Depth(Links > 1 ? (1 << LinkW) << BytesLog2 : 2 << BytesLog2),
    .Style("block")
  ) i_bytes (
    .clk_i,
    .we_i   (take),
    .wstrb_i(1'b1),
    .waddr_i({to, wr_q[to][BytesLog2-1:0]}),
    .wdata_i(data_i),
    .re_i   (fetch),
    .raddr_i(fetch_at),
    .rdata_o(fifo_byte)
  );

  logic    look;
  link_t   link_q;
  length_t frame_bytes;
  gs_ram_sdp #(
    .Width(14),
    .Depth(Links > 1 ? (1 << LinkW) << FramesLog2 : 2 << FramesLog2),
    .Style("block")
  ) i_lengths (
    .clk_i,
    .we_i   (take && last_i),
    .wstrb_i(1'b1),
    .waddr_i({to, in_q[to][FramesLog2-1:0]}),
    .wdata_i(length_q[to] + 14'd1),
    .re_i   (look),
    .raddr_i({link_q, out_q[link_q][FramesLog2-1:0]}),
    .rdata_o(frame_bytes)
  );

  // ------------------------------------------------------------------------------------------------ choice
  typedef enum logic [3:0] {Idle, Claim, Look, Size, Piece, Head0, Head1, Bytes, Flush, Read, Header, Send} state_e;
  state_e      state_q;
  logic [15:0] debt_q;           // bytes that the line has not sent yet, as far as this block knows
  logic [Links-1:0] wish, grant;
  link_t       choice;
  length_t     part_q[Links];    // bytes of the first frame that are sent
  at_t         held;             // bytes of the link
  always_comb begin
    for (int unsigned l = 0; l < Links; l++) begin
      // A frame that is longer than a link frame is sent before it is complete.
      wish[l] = run_i && bound_i[l] && (in_q[l] != out_q[l] || 16'(at_t'(wr_q[l] - rd_q[l])) > Most - 16'(PieceHead));
    end
  end
  gs_arbiter #(
    .N(Links)
  ) i_arbiter (
    .clk_i,
    .rst_ni,
    .req_i    (wish),
    .gnt_o    (grant),
    .idx_o    (choice),
    .advance_i(state_q == Idle && wish != '0 && debt_q < Ahead)
  );

  // ------------------------------------------------------------------------------------------------ pieces
  logic [15:0] at_q;             // bytes of the payload so far
  logic [15:0] room;
  logic        complete_q;       // the first frame is complete
  length_t     rest, piece_q, left_q;
  logic        first_q, last_q, alive;
  assign alive = run_i && bound_i[link_q];
  assign room  = Most - at_q - 16'(PieceHead);
  assign rest  = frame_bytes - part_q[link_q];
  assign held  = wr_q[link_q] - rd_q[link_q];
  assign look  = state_q == Look;

  // Bytes come a cycle after they are asked for, and are collected to words.
  logic        issue, issued_q, from_fifo_q, pending_q;
  logic [7:0]  head_q, byte_now;
  logic [31:0] word_q;
  logic [23:0] part_word_q;
  logic [1:0]  lane_q;
  logic [PlaceLog2-1:0] word_at_q;
  logic        can_issue, flush;
  assign can_issue = !pending_q || ready_i;
  assign issue     = can_issue && (state_q == Head0 || state_q == Head1 || state_q == Bytes);
  assign fetch     = issue && state_q == Bytes;
  assign fetch_at  = {link_q, rd_q[link_q][BytesLog2-1:0]};
  assign byte_now  = from_fifo_q ? fifo_byte : head_q;
  assign flush     = state_q == Flush && !issued_q && !pending_q && lane_q != '0;

  // ------------------------------------------------------------------------------------------------ headers
  logic [4:0]  header_q;         // the next word
  logic [31:0] kept_q, header;
  logic [31:0] sent_q[Links];
  logic        header_write;
  assign header_write  = state_q == Header && !header_q[4];
  // Words 0 to 3 of the peer: number of the link and upper part of the address, its lower part, identity.
  assign reads_table_o = state_q == Read || state_q == Header;
  always_comb begin
    table_addr_o = {2'(link_q), 2'd0};
    case (header_q[3:0])
      4'd0, 4'd1: if (state_q == Header) table_addr_o = {2'(link_q), 2'd1};
      4'd10:   table_addr_o = {2'(link_q), 2'd2};
      4'd11:   table_addr_o = {2'(link_q), 2'd3};
      default: ;
    endcase
    case (header_q[3:0])
      4'd0:    header = {kept_q[15:0], table_data_i[31:16]};
      4'd1:    header = {table_data_i[15:0], mac_i[47:32]};
      4'd2:    header = mac_i[31:0];
      4'd3:    header = {type_i, 4'(ShellVersion), 12'd0};
      4'd4:    header = {8'(ShellKindLinkFrame), 8'd0, at_q};
      4'd5:    header = sent_q[link_q] + 32'd1;
      4'd9:    header = {16'd0, kept_q[31:16]};
      4'd10, 4'd11: header = table_data_i;
      default: header = '0;
    endcase
  end

  assign claim_o = state_q == Claim;
  assign taken_o = state_q != Idle && state_q != Claim;
  assign write_o = pending_q || header_write;
  assign addr_o  = pending_q ? word_at_q : PlaceLog2'(header_q[3:0]);
  assign data_o  = pending_q ? word_q : swap(header);
  assign send_o  = state_q == Send && alive;
  assign bytes_o = at_q;

  always_ff @(posedge clk_i) begin
    if (debt_q != '0) debt_q <= debt_q - 16'd1;
    issued_q    <= issue;
    from_fifo_q <= state_q == Bytes;
    case (state_q)
      Idle: begin
        link_q    <= choice;
        at_q      <= '0;
        lane_q    <= '0;
        word_at_q <= PlaceLog2'(HeadBytes / 4 - 1);
        header_q  <= '0;
        if (wish != '0 && debt_q < Ahead) state_q <= Claim;
      end
      Claim: if (grant_i) state_q <= Look;
      Look: begin
        complete_q <= in_q[link_q] != out_q[link_q];
        state_q    <= Size;
      end
      Size: begin
        // Only a frame that exceeds the rest is cut: its last piece must have a byte.
        first_q <= part_q[link_q] == '0;
        last_q  <= complete_q && 16'(rest) <= room;
        piece_q <= complete_q && 16'(rest) <= room ? rest : length_t'(room);
        state_q <= complete_q || 16'(held) > room ? Head0 : Flush;
      end
      Head0: if (issue) begin
        head_q  <= {first_q, last_q, piece_q[13:8]};
        state_q <= Head1;
      end
      Head1: if (issue) begin
        head_q  <= piece_q[7:0];
        left_q  <= piece_q;
        state_q <= Bytes;
      end
      Bytes: if (issue) begin
        left_q <= left_q - 14'd1;
        if (left_q == 14'd1) state_q <= Piece;
      end
      Piece: begin
        at_q    <= at_q + 16'(PieceHead) + 16'(piece_q);
        // The next piece has a byte at least.
        state_q <= last_q && room > 16'(piece_q) + 16'(PieceHead) && frame_at_t'(in_q[link_q] - out_q[link_q]) > 1
                   ? Look : Flush;
      end
      Flush: if (!issued_q && !pending_q && lane_q == '0) state_q <= Read;
      Read: begin
        kept_q  <= table_data_i;
        state_q <= Header;
      end
      Header: begin
        if (header_write && ready_i && !pending_q) header_q <= header_q + 5'd1;
        if (header_q[4]) state_q <= Send;
      end
      default: state_q <= Idle;
    endcase
    if (send_o) debt_q <= debt_q + at_q + Around;
    // Words
    if (pending_q && ready_i) pending_q <= 1'b0;
    if (issued_q) begin
      lane_q <= lane_q + 2'd1;
      case (lane_q)
        2'd0: part_word_q[7:0]   <= byte_now;
        2'd1: part_word_q[15:8]  <= byte_now;
        2'd2: part_word_q[23:16] <= byte_now;
        default: begin
          word_q    <= {byte_now, part_word_q};
          pending_q <= 1'b1;
          word_at_q <= word_at_q + 1'b1;
        end
      endcase
    end
    if (flush) begin
      word_q    <= {8'd0, part_word_q};
      pending_q <= 1'b1;
      word_at_q <= word_at_q + 1'b1;
      lane_q    <= '0;
    end
    if (!alive && taken_o) begin
      state_q   <= Idle;
      pending_q <= 1'b0;
      issued_q  <= 1'b0;
    end
    if (!rst_ni) begin
      state_q   <= Idle;
      pending_q <= 1'b0;
      issued_q  <= 1'b0;
      debt_q    <= '0;
    end
  end

  for (genvar l = 0; l < Links; l++) begin : gen_link
    logic comes, works;
    assign comes = take && to == link_t'(l);
    assign works = link_q == link_t'(l);
    always_ff @(posedge clk_i) begin
      if (comes) begin
        wr_q[l]     <= wr_q[l] + 1'b1;
        length_q[l] <= last_i ? '0 : length_q[l] + 14'd1;
        if (last_i) in_q[l] <= in_q[l] + 1'b1;
      end
      if (fetch && works) rd_q[l] <= rd_q[l] + 1'b1;
      if (state_q == Piece && works) begin
        part_q[l] <= last_q ? '0 : part_q[l] + piece_q;
        if (last_q) out_q[l] <= out_q[l] + 1'b1;
      end
      if (send_o && works) sent_q[l] <= sent_q[l] + 32'd1;
      if (bind_i[l]) sent_q[l] <= '0;
      // The frame in which bytes were lost is lost as a whole: of the part in the FIFO, the end is missing.
      if (valid_i && ready_o && known && to == link_t'(l)) begin
        middle_q[l] <= !last_i;
        if (last_i) drop_q[l] <= 1'b0;
        else if (lost) drop_q[l] <= 1'b1;
      end
      if (!run_i || !bound_i[l]) begin
        wr_q[l]     <= '0;
        rd_q[l]     <= '0;
        in_q[l]     <= '0;
        out_q[l]    <= '0;
        length_q[l] <= '0;
        part_q[l]   <= '0;
        if (middle_q[l] && !(valid_i && last_i && to == link_t'(l))) drop_q[l] <= 1'b1;
      end
      if (!rst_ni || !run_i) begin
        middle_q[l] <= 1'b0;
        drop_q[l]   <= 1'b0;
      end
    end
    `GS_ASSERT_NOW(no_byte_is_read_before_it_came, !(fetch && works) || wr_q[l] != rd_q[l])
    `GS_ASSERT_NOW(a_frame_has_a_length, !comes || last_i || length_q[l] != 14'h3FFE)
  end

  logic unused;
  assign unused = ^grant;

  `GS_ASSERT_NOW(a_payload_fits, !send_o || at_q <= Most)
  `GS_ASSERT_NOW(a_word_is_written_before_the_next, !(issued_q && lane_q == 2'd3) || !pending_q || ready_i)
  `GS_ASSERT_NOW(bytes_are_not_read_while_they_are_written, !i_bytes.collides)
  `GS_ASSERT_NOW(lengths_are_not_read_while_they_are_written, !i_lengths.collides || !complete_q)
endmodule
