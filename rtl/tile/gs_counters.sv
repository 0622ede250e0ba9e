// SPDX-License-Identifier: Apache-2.0

/// Wide event counters in one small RAM.
///
/// Each counter has a narrow accumulator; one counter a cycle is visited, and its accumulator added to its word in the
/// RAM. So a value is up to Slots cycles old, and nothing is lost.
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
  logic [IdxW-1:0] visit_q, write_q;
  logic write_valid_q, write_clear_q;
  logic [AccW-1:0] write_add_q;
  logic [63:0] old, sum, read_value;

  gs_ram_sdp #(
    .Width(64), .Depth(Slots), .Latency(0), .Style("distributed")
  ) u_sum (
    .clk_i,
    .we_i   (write_valid_q && (write_clear_q || write_add_q != '0)),
    .wstrb_i(1'b1),
    .waddr_i(write_q),
    .wdata_i(sum),
    .re_i   (1'b1),
    .raddr_i(write_q),
    .rdata_o(old)
  );

  gs_ram_sdp #(
    .Width(64), .Depth(Slots), .Latency(0), .Style("distributed")
  ) u_copy (
    .clk_i,
    .we_i   (write_valid_q && (write_clear_q || write_add_q != '0)),
    .wstrb_i(1'b1),
    .waddr_i(write_q),
    .wdata_i(sum),
    .re_i   (1'b1),
    .raddr_i(idx_i),
    .rdata_o(read_value)
  );

  assign sum = write_clear_q ? '0 : old + 64'(write_add_q);

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
      clear_q       <= '1;
      visit_q       <= '0;
      write_valid_q <= 1'b0;
    end else begin
      visit_q       <= visit_q + IdxW'(1);
      write_valid_q <= 1'b1;
      clear_q       <= (clear_q & ~(Slots'(1) << visit_q)) | clear_i;
    end
    write_q       <= visit_q;
    write_add_q   <= acc[visit_q];
    write_clear_q <= clear_q[visit_q];
    value_o       <= read_value;
  end
endmodule
