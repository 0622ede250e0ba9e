// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Received link frames: checks the peer and the order of a frame in the ring, and passes the pieces of its payload to
/// the role, a byte a cycle (docs/hardware/shell.md, "Links").
///
/// A frame of the role's link may be divided over several link frames. Its bytes are passed on as they come; if a later
/// piece is missing, the frame ends with an error, as a MAC reports a damaged frame. Frames of different links may
/// interleave. There is no back-pressure: the role accepts a byte in each cycle.
module gs_shell_links_rx #(
  /// virtual links, 1 to 4
  parameter  int unsigned Links     = 4,
  /// logarithm of the ring's words
  parameter  int unsigned WordsLog2 = 12
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic [47:0]          mac_i,
  /// a run exists; otherwise payloads are dropped
  input  logic                 run_i,
  /// links with a peer
  input  logic [Links-1:0]     bound_i,
  /// the link gets a peer: its frames are numbered from 1
  input  logic [Links-1:0]     bind_i,
  // Words of the peer: see gs_shell_links
  output logic [3:0]           table_addr_o,
  input  logic [31:0]          table_data_i,
  // A link frame of the right EtherType, version and kind; held until done_o
  input  logic                 frame_i,
  input  logic [WordsLog2-1:0] start_i,
  input  logic [15:0]          bytes_i,
  output logic                 done_o,
  // Read port of the ring; data in the cycle after the grant
  output logic                 read_valid_o,
  input  logic                 read_ready_i,
  output logic [WordsLog2-1:0] read_addr_o,
  input  logic [31:0]          read_data_i,
  // To the role
  output logic                 valid_o,
  output logic [7:0]           data_o,
  output logic                 last_o,
  output logic                 error_o,        ///< with last_o: the frame is damaged, and this byte is none
  output logic [1:0]           dest_o,
  // Events, one cycle each
  output logic                 wrong_peer_o,
  output logic                 late_o,
  output logic                 malformed_o
);
  import gs_shell_frame_pkg::*;

  typedef enum logic [2:0] {Idle, Header, Judge, Number, Pieces, Close} state_e;
  typedef enum logic [1:0] {Head0, Head1, Check, Bytes} phase_e;

  // ------------------------------------------------------------------------------------------------ header
  // The words in the order in which they are read: the number of the link comes first, since it selects the peer.
  localparam int unsigned Asked = 8;
  function automatic logic [3:0] word_of(logic [2:0] step);
    case (step)
      3'd0: return 4'd9;         // link
      3'd1: return 4'd8;         // its upper half
      3'd2: return 4'd0;         // destination
      3'd3: return 4'd1;         // destination, source
      3'd4: return 4'd2;         // source
      3'd5: return 4'd10;        // identity
      3'd6: return 4'd11;
      default: return 4'd5;      // number
    endcase
  endfunction

  state_e      state_q;
  logic [3:0]  step_q;           // the next word to read
  logic [2:0]  at_q;             // that of the word in read_data_i, if coming_q
  logic        coming_q, ask;
  logic        own_q, peer_q;    // the words so far have this board's address, and are the peer's
  logic [1:0]  link_q;
  logic [31:0] number_q;
  logic [31:0] word;
  assign word         = swap(read_data_i);
  // Steps 3 to 6 compare with words 0 to 3 of the peer.
  assign table_addr_o = {link_q, at_q[1:0] - 2'd3};

  logic [31:0] received_q[Links];
  logic [31:0] distance_q;       // from the last number
  logic        bound_q, open_q;  // of this frame's link: it has a peer; a frame to the role is not complete
  logic [Links-1:0] opens_q;
  logic [3:0]  bound;
  assign bound = 4'(bound_i);

  // ------------------------------------------------------------------------------------------------ payload
  phase_e      phase_q;
  logic [15:0] left_q;           // bytes of the payload that are not consumed
  logic [15:0] unread_q;         // words that are not asked for
  logic [WordsLog2-1:0] at_word_q;
  logic [31:0] now_q, next_q;
  logic [2:0]  now_left_q;       // bytes in now_q
  logic        next_valid_q, asked_q, first_q, last_q, skip_q, close_q;
  logic [13:0] piece_q;          // bytes of the piece that are not consumed

  logic consume, byte_valid, piece_wrong, wrong_head, emit;
  assign byte_valid  = state_q == Pieces && now_left_q != '0;
  assign consume     = byte_valid && phase_q != Check && !close_q;
  // A head is two bytes; the piece has a byte at least and ends within the payload.
  assign wrong_head  = phase_q == Head0 && left_q == 16'd1;
  assign piece_wrong = phase_q == Check && (piece_q == '0 || 16'(piece_q) > left_q);
  assign emit        = consume && phase_q == Bytes && !skip_q;

  assign ask          = (state_q == Header && step_q != 4'(Asked)) ||
                        (state_q == Pieces && unread_q != '0 && !asked_q && !next_valid_q);
  assign read_valid_o = ask;
  assign read_addr_o  = state_q == Header ? start_i + WordsLog2'(word_of(step_q[2:0])) : at_word_q;

  // A frame to the role that cannot be completed ends with an error.
  logic close;
  assign close   = (state_q == Close || (state_q == Pieces && close_q)) && open_q;
  assign valid_o = emit || close;
  assign data_o  = now_q[7:0];
  assign last_o  = close || (last_q && piece_q == 14'd1);
  assign error_o = close;
  assign dest_o  = link_q;

  // The end of the frame
  logic judged_wrong, judged_late, ends;
  assign judged_wrong = state_q == Judge && own_q && !(peer_q && bound_q);
  assign judged_late  = state_q == Number && ($signed(distance_q) <= 0);
  assign wrong_peer_o = judged_wrong;
  assign late_o       = judged_late;
  assign malformed_o  = state_q == Pieces && !close_q && ((wrong_head && byte_valid) || piece_wrong);
  always_comb begin
    case (state_q)
      Judge:   ends = !own_q || judged_wrong;
      Number:  ends = judged_late || !run_i;
      Pieces:  ends = !run_i || (left_q == '0 && phase_q == Head0 && !close_q);
      default: ends = state_q == Close;
    endcase
  end
  assign done_o       = ends;

  always_ff @(posedge clk_i) begin
    coming_q <= state_q == Header && ask && read_ready_i;
    at_q     <= step_q[2:0];
    asked_q  <= state_q == Pieces && ask && read_ready_i;
    case (state_q)
      Idle: begin
        step_q <= '0;
        own_q  <= 1'b1;
        peer_q <= 1'b1;
        if (frame_i && !coming_q) state_q <= Header;
      end
      Header: begin
        if (ask && read_ready_i) step_q <= step_q + 4'd1;
        if (coming_q) begin
          case (at_q)
            3'd0: begin
              link_q <= word[1:0];
              if (word >= 32'(Links)) peer_q <= 1'b0;
            end
            3'd1: if (word != '0) peer_q <= 1'b0;
            3'd2: if (word != mac_i[47:16]) own_q <= 1'b0;
            3'd3: begin
              if (word[31:16] != mac_i[15:0]) own_q <= 1'b0;
              if (word[15:0] != table_data_i[15:0]) peer_q <= 1'b0;
            end
            3'd7: begin
              number_q <= word;
              state_q  <= Judge;
            end
            default: if (word != table_data_i) peer_q <= 1'b0;
          endcase
        end
        bound_q <= bound[link_q];
      end
      Judge: begin
        state_q    <= ends ? Idle : Number;
        distance_q <= number_q - received_q[link_q];
        open_q     <= opens_q[link_q];
      end
      Number: begin
        if (!judged_late) received_q[link_q] <= number_q;
        state_q      <= ends ? Idle : Pieces;
        // A link frame before this one is missing, or it is the first one since the link was bound.
        close_q      <= distance_q != 32'd1 || number_q == 32'd1;
        phase_q      <= Head0;
        left_q       <= bytes_i;
        unread_q     <= (bytes_i + 16'd3) >> 2;
        at_word_q    <= start_i + WordsLog2'(HeadBytes / 4);
        now_left_q   <= '0;
        next_valid_q <= 1'b0;
        asked_q      <= 1'b0;
      end
      Pieces: begin
        if (ask && read_ready_i) begin
          unread_q  <= unread_q - 16'd1;
          at_word_q <= at_word_q + 1'b1;
        end
        if (close_q) begin
          close_q <= 1'b0;
          open_q  <= 1'b0;
        end else begin
          case (phase_q)
            Head0: if (consume) begin
              {first_q, last_q, piece_q[13:8]} <= now_q[7:0];
              phase_q <= Head1;
              if (wrong_head) state_q <= Close;
            end
            Head1: if (consume) begin
              piece_q[7:0] <= now_q[7:0];
              phase_q      <= Check;
            end
            Check: begin
              // The begin of a frame is missing, or the end of the one before.
              skip_q  <= !first_q && !open_q;
              close_q <= first_q && open_q;
              phase_q <= Bytes;
              if (piece_wrong) state_q <= Close;
              if (piece_wrong) close_q <= 1'b0;
            end
            default: if (consume) begin
              piece_q <= piece_q - 14'd1;
              if (!skip_q) open_q <= !(last_q && piece_q == 14'd1);
              if (piece_q == 14'd1) phase_q <= Head0;
            end
          endcase
        end
        if (ends) state_q <= Idle;
      end
      default: begin
        state_q <= Idle;
        open_q  <= 1'b0;
      end
    endcase
    // A word's bytes; the next word is asked for while they are consumed.
    if (state_q == Pieces) begin
      if (consume) begin
        left_q     <= left_q - 16'd1;
        now_q      <= now_q >> 8;
        now_left_q <= now_left_q - 3'd1;
      end
      if (now_left_q == '0 || (consume && now_left_q == 3'd1)) begin
        if (next_valid_q || asked_q) begin
          now_q        <= next_valid_q ? next_q : read_data_i;
          now_left_q   <= 3'd4;
          next_valid_q <= 1'b0;
        end
      end else if (asked_q) begin
        next_q       <= read_data_i;
        next_valid_q <= 1'b1;
      end
    end
    if (ends && (state_q == Pieces || state_q == Close)) opens_q[link_q] <= open_q && state_q == Pieces;
    for (int unsigned l = 0; l < Links; l++) begin
      if (bind_i[l]) received_q[l] <= '0;
    end
    if (!run_i) opens_q <= '0;
    if (!rst_ni) begin
      state_q  <= Idle;
      coming_q <= 1'b0;
      asked_q  <= 1'b0;
      opens_q  <= '0;
    end
  end

  `GS_ASSERT_NOW(a_frame_is_held_until_it_is_done, state_q == Idle || frame_i)
  `GS_ASSERT_NOW(no_piece_exceeds_the_payload, !(state_q == Pieces && phase_q == Bytes) || 16'(piece_q) <= left_q)
endmodule
