// SPDX-License-Identifier: Apache-2.0

/// One direction of a wire between two MACs, for simulation: line rate, the bytes that a MAC adds, flight time, faults.
///
/// The wire accepts words at the line rate and delivers each word when its last bit has arrived. Faults are drawn once
/// per frame from its own random number generator, so a run is reproducible from its seed. A damaged frame arrives
/// with one bit inverted: half of these frames with the MAC's error flag, half without, as if the MAC's checksum had
/// missed the error.
module gs_mac_model #(
  /// line rate [bits in 1,000 cycles]
  parameter int unsigned BitsPerKilocycle = 40_000,
  /// flight time [cycles, 1 or more]
  parameter int unsigned Flight           = 100,
  /// preamble before a frame; checksum and gap after it [bytes]
  parameter int unsigned Preamble         = 8,
  parameter int unsigned Trailer          = 16,
  /// seed of the random numbers
  parameter int unsigned Seed             = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  /// varies the seed, so that the wires of one model draw different numbers; read in reset
  input  logic [31:0] seed_i = '0,
  /// probability that a frame is lost, and that it is damaged, in units of 2^-20
  input  logic [20:0] loss_i,
  input  logic [20:0] damage_i,
  /// the wire is cut
  input  logic        cut_i,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [63:0] data_i,
  input  logic [7:0]  keep_i,
  input  logic        last_i,
  output logic        valid_o,
  output logic [63:0] data_o,
  output logic [7:0]  keep_o,
  output logic        last_o,
  output logic        error_o,
  /// frames that were lost or cut, and frames that were damaged
  output logic [31:0] lost_o,
  output logic [31:0] damaged_o
);
  // A power of two that holds all words in flight.
  localparam int unsigned Depth = 32'd1 << $clog2(Flight + 64);
  localparam int unsigned PtrW = $clog2(Depth);

  typedef struct packed {
    logic [31:0] due;
    logic [63:0] data;
    logic [7:0]  keep;
    logic        last;
    logic        error;
  } item_t;

  item_t item, head;
  item_t queue_q[Depth];
  logic [PtrW-1:0] wptr_q, rptr_q;
  logic [31:0] now_q, lost_q, damaged_q;
  // Bits that are not yet sent, in thousandths.
  logic [31:0] debt_q, cost, all;
  logic [63:0] random_q, random_a, random_b, random_d;
  logic begun_q, drop_q, drop, lose, damage, corrupt_q, unflagged_q, accept;
  logic [5:0] word_q, bad_word_q, bad_bit_q;

  assign random_a = random_q ^ (random_q << 13);
  assign random_b = random_a ^ (random_a >> 7);
  assign random_d = random_b ^ (random_b << 17);

  assign ready_o = debt_q < BitsPerKilocycle;
  assign accept  = valid_i && ready_o;
  assign lose    = 21'(random_q[19:0]) < loss_i;
  assign damage  = 21'(random_q[39:20]) < damage_i;
  assign drop    = begun_q ? drop_q : lose;

  always_comb begin
    cost = begun_q ? 32'd0 : 32'(Preamble) * 32'd8000;
    for (int i = 0; i < 8; i++) if (keep_i[i]) cost += 32'd8000;
    all = cost + (last_i ? 32'(Trailer) * 32'd8000 : 32'd0);
  end

  always_comb begin
    // A word arrives after all words before it and itself are sent, the last one after the MAC's checksum.
    item.due   = now_q + Flight + (debt_q + cost + (last_i ? 32'd32_000 : 32'd0)) / BitsPerKilocycle;
    item.data  = data_i;
    item.keep  = keep_i;
    item.last  = last_i;
    item.error = last_i && corrupt_q && !unflagged_q;
    if (!begun_q && damage && random_q[44:41] == '0) item.data[random_q[50:45]] = !data_i[random_q[50:45]];
    if (begun_q && corrupt_q && word_q == bad_word_q) item.data[bad_bit_q] = !data_i[bad_bit_q];
    // The error is in the checksum at the latest.
    if (last_i && corrupt_q && bad_word_q >= word_q) begin
      item.data[{1'b0, bad_bit_q[4:0]}] = !data_i[{1'b0, bad_bit_q[4:0]}];
    end
    if (cut_i) begin
      item.last  = 1'b1;
      item.error = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      now_q     <= '0;
      debt_q    <= '0;
      begun_q   <= 1'b0;
      wptr_q    <= '0;
      rptr_q    <= '0;
      lost_q    <= '0;
      damaged_q <= '0;
      random_q  <= {32'h9E37_79B9, (Seed ^ seed_i) | 32'd1};
    end else begin
      now_q  <= now_q + 1'b1;
      debt_q <= ((debt_q > BitsPerKilocycle) ? debt_q - BitsPerKilocycle : 32'd0);
      if (accept) begin
        debt_q   <= (debt_q + all > BitsPerKilocycle) ? debt_q + all - BitsPerKilocycle : 32'd0;
        random_q <= random_d;
        begun_q  <= !last_i;
        if (!begun_q) begin
          drop_q      <= lose;
          corrupt_q   <= damage && !lose;
          unflagged_q <= random_q[40];
          word_q      <= 6'd1;
          bad_word_q  <= {2'd0, random_q[44:41]};
          bad_bit_q   <= random_q[50:45];
          if (lose) lost_q <= lost_q + 1'b1;
          else if (damage) damaged_q <= damaged_q + 1'b1;
        end else begin
          if (word_q != '1) word_q <= word_q + 1'b1;
        end
        // If the wire is cut during a frame, its first part arrives, as a damaged frame.
        if (cut_i) begin
          drop_q <= 1'b1;
          if (!(begun_q && drop_q)) lost_q <= lost_q + 1'b1;
        end
        if (!drop && !(cut_i && !begun_q)) begin
          queue_q[wptr_q] <= item;
          wptr_q          <= wptr_q + 1'b1;
        end
      end
      if (valid_o) rptr_q <= rptr_q + 1'b1;
    end
  end

  assign head      = queue_q[rptr_q];
  assign valid_o   = wptr_q != rptr_q && 32'(now_q - head.due) < 32'h8000_0000;
  assign data_o    = head.data;
  assign keep_o    = head.keep;
  assign last_o    = head.last;
  assign error_o   = head.error;
  assign lost_o    = lost_q;
  assign damaged_o = damaged_q;
endmodule
