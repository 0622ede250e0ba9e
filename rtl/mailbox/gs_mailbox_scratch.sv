// SPDX-License-Identifier: Apache-2.0

/// Scratchpad of a mailbox: a 32-bit port for the cores, one flit read and one flit written, all in one cycle.
///
/// Three ports from two-port RAM: even and odd flits of all slots are in two banks. One port of each bank serves the
/// cores, which never wait; the other serves flits. A flit read never waits, so a message is read without a pause; a
/// flit write waits for a flit read in the same bank. Messages alternate between the banks, so two messages that
/// collide proceed in parallel after one cycle.
///
///     data are valid two clock edges after the request on the cores' port, and three for flits, whose banks have a
///     register at their inputs
module gs_mailbox_scratch #(
  /// slots of the tile, a power of two
  parameter  int unsigned Slots     = 1024,
  /// flits that a slot can hold, a power of two; one: slots alternate between the banks
  parameter  int unsigned SlotFlits = 4,
  localparam int unsigned LinW      = $clog2(Slots * SlotFlits)
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  /// cores: one word
  input  logic            core_valid_i,
  input  logic            core_we_i,
  input  logic [3:0]      core_strb_i,
  input  logic [LinW+1:0] core_word_i,
  input  logic [31:0]     core_wdata_i,
  output logic [31:0]     core_rdata_o,
  /// a flit is read
  input  logic            out_valid_i,
  input  logic [LinW-1:0] out_flit_i,
  output logic [127:0]    out_data_o,
  /// a flit is written
  input  logic            in_valid_i,
  output logic            in_ready_o,
  input  logic [LinW-1:0] in_flit_i,
  input  logic [127:0]    in_data_i
);
  localparam int unsigned Banks = 2;
  localparam int unsigned RowW = LinW - 1;

  if (LinW < 2 || Slots * SlotFlits != 1 << LinW) begin : gen_illegal_slots
    $fatal(1, "gs_mailbox_scratch: %0d slots of %0d flits; both must be powers of two, in all at least 4 flits", Slots,
           SlotFlits);
  end

  logic core_bank, out_bank, in_bank;
  assign core_bank  = core_word_i[2];
  assign out_bank   = out_flit_i[0];
  assign in_bank    = in_flit_i[0];
  assign in_ready_o = !(out_valid_i && out_bank == in_bank);

  logic [127:0] in_data_q;
  always_ff @(posedge clk_i) in_data_q <= in_data_i;

  logic [127:0] core_row[Banks];
  logic [127:0] out_row[Banks];

  for (genvar b = 0; b < int'(Banks); b++) begin : gen_bank
    logic core_here, out_here, in_here, flit_q, write_q;
    logic [RowW-1:0] row_q;
    assign core_here = core_valid_i && core_bank == 1'(b);
    assign out_here  = out_valid_i && out_bank == 1'(b);
    assign in_here   = in_valid_i && in_bank == 1'(b) && in_ready_o;

    always_ff @(posedge clk_i) begin
      flit_q  <= rst_ni && (out_here || in_here);
      write_q <= !out_here;
      row_q   <= out_here ? out_flit_i[LinW-1:1] : in_flit_i[LinW-1:1];
    end

    gs_ram_tdp #(
      .Width   (128),
      .Depth   (1 << RowW),
      .ByteBits(8),
      .Latency (2)
    ) u_ram (
      .clk_i,
      .a_en_i   (core_here),
      .a_we_i   (core_we_i),
      .a_strb_i (16'(core_strb_i) << {core_word_i[1:0], 2'b00}),
      .a_addr_i (core_word_i[LinW+1:3]),
      .a_wdata_i({4{core_wdata_i}}),
      .a_rdata_o(core_row[b]),
      .b_en_i   (flit_q),
      .b_we_i   (write_q),
      .b_strb_i ('1),
      .b_addr_i (row_q),
      .b_wdata_i(in_data_q),
      .b_rdata_o(out_row[b])
    );
  end

  // Bank and lane of the data at the outputs now, by the cycle of the request.
  logic [2:0] core_lane_b_q, core_lane_c_q;
  logic out_bank_1_q, out_bank_2_q, out_bank_3_q;

  always_ff @(posedge clk_i) begin
    core_lane_b_q <= core_word_i[2:0];
    core_lane_c_q <= core_lane_b_q;
    out_bank_1_q  <= out_bank;
    out_bank_2_q  <= out_bank_1_q;
    out_bank_3_q  <= out_bank_2_q;
  end

  logic [255:0] core_rows;
  assign core_rows    = {core_row[1], core_row[0]};
  assign core_rdata_o = core_rows[core_lane_c_q*32+:32];
  assign out_data_o   = out_row[out_bank_3_q];
endmodule
