// SPDX-License-Identifier: Apache-2.0

/// One direction of a wire between two MACs, for simulation: line rate, what the MAC adds to a frame, flight, faults.
///
/// It takes words at the line rate and gives each when its last bit has arrived. Faults are drawn once a frame from a
/// generator of random numbers of its own, so a run is the same for the same seed. A damaged frame comes with one bit
/// inverted: half of these with the MAC's error, half without, as if its check sum had missed it.
module gs_mac_model #(
  /// line rate [bits in 1,000 cycles]
  parameter int unsigned BitsPerKilocycle = 40_000,
  /// flight [cycles, 1 or more]
  parameter int unsigned Flight           = 100,
  /// preamble before a frame; check sum and gap behind it [bytes]
  parameter int unsigned Preamble         = 8,
  parameter int unsigned Behind           = 16,
  /// where the random numbers begin
  parameter int unsigned Seed             = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  /// so that wires of one model draw other numbers; read in reset
  input  logic [31:0] seed_i = '0,
  /// frames that are lost, and that are damaged, of 2^20
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
  /// frames that were lost or cut, and damaged
  output logic [31:0] lost_o,
  output logic [31:0] damaged_o
);
  // A power of two that holds all words of a flight.
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
  // Bits that are not sent yet, in thousandths.
  logic [31:0] debt_q, cost, all;
  logic [63:0] random_q, random_a, random_b, random_d;
  logic begun_q, drop_q, drop, lose, harm, harmed_q, hides_q, some;
  logic [5:0] place_q, at_q, bit_q;

  assign random_a = random_q ^ (random_q << 13);
  assign random_b = random_a ^ (random_a >> 7);
  assign random_d = random_b ^ (random_b << 17);

  assign ready_o = debt_q < BitsPerKilocycle;
  assign some    = valid_i && ready_o;
  assign lose    = 21'(random_q[19:0]) < loss_i;
  assign harm    = 21'(random_q[39:20]) < damage_i;
  assign drop    = begun_q ? drop_q : lose;

  always_comb begin
    cost = begun_q ? 32'd0 : 32'(Preamble) * 32'd8000;
    for (int i = 0; i < 8; i++) if (keep_i[i]) cost += 32'd8000;
    all = cost + (last_i ? 32'(Behind) * 32'd8000 : 32'd0);
  end

  always_comb begin
    // It arrives when all before it and itself are sent; the last word when the MAC has seen its check sum.
    item.due   = now_q + Flight + (debt_q + cost + (last_i ? 32'd32_000 : 32'd0)) / BitsPerKilocycle;
    item.data  = data_i;
    item.keep  = keep_i;
    item.last  = last_i;
    item.error = last_i && harmed_q && !hides_q;
    if (!begun_q && harm && random_q[44:41] == '0) item.data[random_q[50:45]] = !data_i[random_q[50:45]];
    if (begun_q && harmed_q && place_q == at_q) item.data[bit_q] = !data_i[bit_q];
    // At the latest in the check sum.
    if (last_i && harmed_q && at_q >= place_q) item.data[{1'b0, bit_q[4:0]}] = !data_i[{1'b0, bit_q[4:0]}];
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
      if (some) begin
        debt_q   <= (debt_q + all > BitsPerKilocycle) ? debt_q + all - BitsPerKilocycle : 32'd0;
        random_q <= random_d;
        begun_q  <= !last_i;
        if (!begun_q) begin
          drop_q   <= lose;
          harmed_q <= harm && !lose;
          hides_q  <= random_q[40];
          place_q  <= 6'd1;
          at_q     <= {2'd0, random_q[44:41]};
          bit_q    <= random_q[50:45];
          if (lose) lost_q <= lost_q + 1'b1;
          else if (harm) damaged_q <= damaged_q + 1'b1;
        end else begin
          if (place_q != '1) place_q <= place_q + 1'b1;
        end
        // Of a frame that is cut in two the first half arrives, as damaged.
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
