// SPDX-License-Identifier: Apache-2.0

/// The decoder's opcode table (gs_decode_pkg) for two cores, with one port for each. A word is valid one edge after its
/// address, and is held while the port is not enabled.
module gs_decode_rom
  import gs_decode_pkg::*;
(
  input  logic               clk_i,
  input  logic               a_en_i,
  input  logic [DecodeW-1:0] a_addr_i,
  output logic [CtlW-1:0]    a_word_o,
  input  logic               b_en_i,
  input  logic [DecodeW-1:0] b_addr_i,
  output logic [CtlW-1:0]    b_word_o
);
  // A read-only memory. Its words are a separate constant because not every tool can call functions in a memory's
  // initial block.
  localparam table_t Words = decode_table();
  (* rom_style = "block" *)
  logic [CtlW-1:0] rom[DecodeWords];
  initial for (int unsigned i = 0; i < DecodeWords; i++) rom[i] = Words[i];

  always_ff @(posedge clk_i) begin
    if (a_en_i) a_word_o <= rom[a_addr_i];
    if (b_en_i) b_word_o <= rom[b_addr_i];
  end
endmodule
