// SPDX-License-Identifier: Apache-2.0

/// Wide event counters in one small RAM.
///
/// Each counter has a narrow accumulator; one counter a cycle is visited, and its accumulator added to its word in the
/// RAM. So a value is a few cycles more than Slots old at most, and nothing is lost.
///
///     visit ->[ accumulator ]-> + word ->[ sum ]-> RAM
module gs_counters #(
  /// counters, a power of two
  parameter  int unsigned Slots = 32,
  /// bits of an event count of one cycle
  parameter  int unsigned IncW  = 4,
  /// counters that anybody counts with
  parameter  logic [Slots-1:0] Used = '1,
  localparam int unsigned IdxW  = $clog2(Slots)
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  /// events of this cycle
  input  logic [IncW-1:0]             inc_i[Slots],
  /// sets a counter to 0
  input  logic [Slots-1:0]            clear_i,
  /// the value comes a cycle after the index
  input  logic [IdxW-1:0]             idx_i,
  output logic [63:0]                 value_o
);
  // All events between two visits fit.
  localparam int unsigned AccW = IncW + IdxW;

  logic [AccW-1:0] acc[Slots];
  logic [Slots-1:0] clear_q;
  logic [IdxW-1:0] visit_q, add_idx_q, write_idx_q;
  logic add_valid_q, add_clear_q, write_q;
  logic [AccW-1:0] add_q;
  logic [63:0] sum_q;
  // One port to add, one to read
  logic [1:0][IdxW-1:0] read_idx;
  logic [1:0][63:0] read_value;

  assign read_idx = {idx_i, add_idx_q};
  for (genvar i = 0; i < 2; i++) begin : gen_port
    gs_ram_sdp #(
      .Width(64), .Depth(Slots), .Latency(0), .Style("distributed")
    ) u_sum (
      .clk_i,
      .we_i   (write_q),
      .wstrb_i(1'b1),
      .waddr_i(write_idx_q),
      .wdata_i(sum_q),
      .re_i   (1'b1),
      .raddr_i(read_idx[i]),
      .rdata_o(read_value[i])
    );
  end

  for (genvar i = 0; i < int'(Slots); i++) begin : gen_slot
    if (Used[i]) begin : gen_used
      logic [AccW-1:0] acc_q;
      always_ff @(posedge clk_i) begin
        if (!rst_ni) acc_q <= '0;
        else acc_q <= ((visit_q == IdxW'(i) || clear_i[i]) ? '0 : acc_q) + AccW'(inc_i[i]);
      end
      assign acc[i] = acc_q;
    end else begin : gen_unused
      assign acc[i] = '0;
      logic unused;
      assign unused = ^inc_i[i];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      // After reset every word is cleared in its first visit.
      clear_q     <= '1;
      visit_q     <= '0;
      add_valid_q <= 1'b0;
      write_q     <= 1'b0;
    end else begin
      visit_q     <= visit_q + IdxW'(1);
      add_valid_q <= 1'b1;
      clear_q     <= (clear_q & ~(Slots'(1) << visit_q)) | clear_i;
      write_q     <= add_valid_q && (add_clear_q || add_q != '0);
    end
    add_idx_q   <= visit_q;
    add_q       <= acc[visit_q];
    add_clear_q <= clear_q[visit_q];
    write_idx_q <= add_idx_q;
    sum_q       <= add_clear_q ? '0 : read_value[0] + 64'(add_q);
    value_o     <= read_value[1];
  end
endmodule
