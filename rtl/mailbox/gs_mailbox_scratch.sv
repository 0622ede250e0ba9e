// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Scratchpad of a mailbox: a 32-bit port for the cores, a flit out and a flit in, all in one cycle.
///
/// Three ports out of RAM with two: the flits are spread over banks, so that the flits of a slot are in different
/// banks by turns, and neighbouring slots begin in different banks. One port of each bank is the cores', which
/// never wait; the other is for flits. Two flits that meet in a bank take turns, and after that they
/// are in different banks for the rest of their messages.
///
///     flit f of slot s -> bank (f ^ s) mod Banks
///     data come two clock edges after the request on the cores' port, and three for flits, whose banks have a
///     register in front: who goes where is found out late
module gs_mailbox_scratch #(
  /// slots of the tile, a power of two
  parameter  int unsigned Slots     = 1024,
  /// flits that a slot has room for, a power of two
  parameter  int unsigned SlotFlits = 4,
  /// banks, 2 or 4
  parameter  int unsigned Banks     = 2,
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
  /// flits that are read
  input  logic            out_valid_i,
  output logic            out_ready_o,
  input  logic [LinW-1:0] out_flit_i,
  output logic [127:0]    out_data_o,
  /// flits that are written
  input  logic            in_valid_i,
  output logic            in_ready_o,
  input  logic [LinW-1:0] in_flit_i,
  input  logic [127:0]    in_data_i
);
  localparam int unsigned BankW = $clog2(Banks);
  localparam int unsigned RowW = LinW - BankW;
  // Where the slot's number begins in a flit's, but never within the bits that name the bank: they must not cancel.
  localparam int unsigned SlotFlitsW = $clog2(SlotFlits);
  localparam int unsigned Fold = (SlotFlitsW > BankW) ? SlotFlitsW : BankW;

  if (Banks != 2 && Banks != 4) begin : gen_illegal_banks
    $fatal(1, "gs_mailbox_scratch: Banks is %0d; it is 2 or 4", Banks);
  end
  if (LinW < Fold + BankW || Slots * SlotFlits != 1 << LinW) begin : gen_illegal_slots
    $fatal(1, "gs_mailbox_scratch: %0d slots of %0d flits; powers of two, and more than the banks", Slots, SlotFlits);
  end

  logic [BankW-1:0] core_bank, out_bank, in_bank;
  assign core_bank = core_word_i[2+:BankW] ^ core_word_i[2+Fold+:BankW];
  assign out_bank  = out_flit_i[BankW-1:0] ^ out_flit_i[Fold+:BankW];
  assign in_bank   = in_flit_i[BankW-1:0] ^ in_flit_i[Fold+:BankW];

  // Who wins when two flits meet: by turns.
  logic in_first_q, meet;
  assign meet        = out_valid_i && in_valid_i && out_bank == in_bank;
  assign out_ready_o = !(meet && in_first_q);
  assign in_ready_o  = !(meet && !in_first_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) in_first_q <= 1'b0;
    else if (meet) in_first_q <= !in_first_q;
  end

  logic [127:0] in_data_q;
  always_ff @(posedge clk_i) in_data_q <= in_data_i;

  logic [127:0] core_bank_data[Banks];
  logic [127:0] out_bank_data[Banks];

  for (genvar b = 0; b < int'(Banks); b++) begin : gen_bank
    logic core_here, out_here, in_here, flit_q, write_q;
    logic [RowW-1:0] row_q;
    assign core_here = core_valid_i && core_bank == BankW'(b);
    assign out_here  = out_valid_i && out_bank == BankW'(b) && out_ready_o;
    assign in_here   = in_valid_i && in_bank == BankW'(b) && in_ready_o;

    always_ff @(posedge clk_i) begin
      flit_q  <= rst_ni && (out_here || in_here);
      write_q <= in_here;
      row_q   <= in_here ? in_flit_i[LinW-1-:RowW] : out_flit_i[LinW-1-:RowW];
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
      .a_addr_i (core_word_i[LinW+1-:RowW]),
      .a_wdata_i({4{core_wdata_i}}),
      .a_rdata_o(core_bank_data[b]),
      .b_en_i   (flit_q),
      .b_we_i   (write_q),
      .b_strb_i ('1),
      .b_addr_i (row_q),
      .b_wdata_i(in_data_q),
      .b_rdata_o(out_bank_data[b])
    );
  end

  // Bank and lane of what comes out now.
  logic [BankW-1:0] core_bank_1_q, core_bank_2_q, out_bank_1_q, out_bank_2_q, out_bank_3_q;
  logic [1:0] lane_1_q, lane_2_q;

  always_ff @(posedge clk_i) begin
    core_bank_1_q <= core_bank;
    core_bank_2_q <= core_bank_1_q;
    lane_1_q      <= core_word_i[1:0];
    lane_2_q      <= lane_1_q;
    out_bank_1_q  <= out_bank;
    out_bank_2_q  <= out_bank_1_q;
    out_bank_3_q  <= out_bank_2_q;
  end

  logic [127:0] core_row;
  assign core_row     = core_bank_data[core_bank_2_q];
  assign core_rdata_o = core_row[lane_2_q*32+:32];
  assign out_data_o   = out_bank_data[out_bank_3_q];
endmodule
