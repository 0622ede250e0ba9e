// SPDX-License-Identifier: Apache-2.0
`include "gs_undefined.svh"

// Memory primitives of ECP5 and Cyclone V whose models in Yosys are black boxes or cannot be simulated, as their data
// sheets define them, in the modes that Yosys selects. What a data sheet leaves undefined is random.

/// Block RAM of ECP5 (FPGA-TN-02204): 1,024 words of 18 bits, or 512 of 36 with one port that writes and one that
/// reads.
///
/// A port that is not enabled keeps its output. While a port writes, its output keeps its value (NORMAL). A read of a
/// word that the other port writes is undefined, as are the contents after two writes.
module DP16KD #(
  parameter DATA_WIDTH_A = 18,
  parameter DATA_WIDTH_B = 18,
  parameter REGMODE_A = "NOREG",
  parameter REGMODE_B = "NOREG",
  parameter RESETMODE = "SYNC",
  parameter ASYNC_RESET_RELEASE = "SYNC",
  parameter CSDECODE_A = "0b000",
  parameter CSDECODE_B = "0b000",
  parameter CLKAMUX = "CLKA",
  parameter CLKBMUX = "CLKB",
  parameter WRITEMODE_A = "NORMAL",
  parameter WRITEMODE_B = "NORMAL",
  parameter GSR = "AUTO"
) (
  input  DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1,
  input  DIA0, ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
  input  CEA, OCEA, CLKA, WEA, RSTA, CSA2, CSA1, CSA0,
  output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1,
  output DOA0,
  input  DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1,
  input  DIB0, ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
  input  CEB, OCEB, CLKB, WEB, RSTB, CSB2, CSB1, CSB0,
  output DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1,
  output DOB0
);
  localparam bit Wide = DATA_WIDTH_A == 36;
  if (!(DATA_WIDTH_A inside {9, 18, 36}) || !(DATA_WIDTH_B inside {9, 18, 36}) ||
      (Wide || DATA_WIDTH_B == 36) && DATA_WIDTH_A != DATA_WIDTH_B) begin : gen_illegal_width
    $fatal(1, "DP16KD: widths of %0d and %0d are not modelled", DATA_WIDTH_A, DATA_WIDTH_B);
  end
  if (REGMODE_A != "NOREG" || REGMODE_B != "NOREG" || RESETMODE != "SYNC" || CLKAMUX != "CLKA" || CLKBMUX != "CLKB" ||
      WRITEMODE_A != "NORMAL" || WRITEMODE_B != "NORMAL") begin : gen_illegal_mode
    $fatal(1, "DP16KD: this mode is not modelled");
  end

  logic [8:0] bytes[2048];
  logic [13:0] ada, adb;
  logic [17:0] dia, dib;
  logic [35:0] a_in, b_in, a_q, b_q;
  assign ada = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
  assign adb = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};
  assign dia = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2,
                DIA1, DIA0};
  assign dib = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2,
                DIB1, DIB0};
  assign a_in = {dib, dia};
  assign b_in = {18'd0, dib};

  // First byte of the word at a port's address, and the bytes of it that are written.
  function automatic int unsigned first(logic [13:0] address, int unsigned width);
    return width == 36 ? 4 * 32'(address[13:5]) : width == 18 ? 2 * 32'(address[13:4]) : 32'(address[13:3]);
  endfunction
  function automatic logic [3:0] strobes(logic [13:0] address, int unsigned width);
    return width == 36 ? address[3:0] : width == 18 ? {2'd0, address[1:0]} : 4'd1;
  endfunction

  int unsigned a_first, b_first;
  logic [3:0] a_writes, b_writes;
  logic a_on, b_on, meet;
  assign a_first  = first(ada, DATA_WIDTH_A);
  assign b_first  = first(adb, DATA_WIDTH_B);
  assign a_on     = CEA && {CSA2, CSA1, CSA0} == '0;
  assign b_on     = CEB && {CSB2, CSB1, CSB0} == '0;
  assign a_writes = a_on && WEA ? strobes(ada, DATA_WIDTH_A) : '0;
  assign b_writes = b_on && WEB ? strobes(adb, DATA_WIDTH_B) : '0;
  assign meet     = a_first < b_first + DATA_WIDTH_B / 9 && b_first < a_first + DATA_WIDTH_A / 9;

  always @(posedge CLKA) begin
    for (int unsigned i = 0; i < DATA_WIDTH_A / 9; i++) begin
      if (a_writes[i]) bytes[a_first+i] <= a_in[9*i+:9];
      if (a_on && !WEA) a_q[9*i+:9] <= bytes[a_first+i];
    end
    for (int unsigned i = 0; i < DATA_WIDTH_B / 9; i++) begin
      if (b_writes[i]) bytes[b_first+i] <= b_in[9*i+:9];
      if (b_on && !WEB) b_q[9*i+:9] <= bytes[b_first+i];
    end
    if (a_on && !WEA && meet && b_writes != '0) a_q <= `GS_UNDEFINED(36);
    if (b_on && !WEB && meet && a_writes != '0) b_q <= `GS_UNDEFINED(36);
    if (RSTA) a_q <= '0;
    if (RSTB) b_q <= '0;
  end

  // A word of 36 bits is read through the outputs of both ports.
  assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1,
          DOA0} = Wide ? b_q[17:0] : a_q[17:0];
  assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1,
          DOB0} = Wide ? b_q[35:18] : b_q[17:0];
endmodule

/// Block RAM of Cyclone V (CV-5V2, embedded memory blocks): one port writes, one reads, in one clock.
///
/// A port that is not enabled keeps its output. A read of a word that is written is undefined ("don't care" of
/// mixed-port reads during writes).
module MISTRAL_M10K #(
  parameter INIT = 0,
  parameter CFG_ABITS = 10,
  parameter CFG_DBITS = 10
) (
  input                        CLK1,
  input        [CFG_ABITS-1:0] A1ADDR,
  input        [CFG_DBITS-1:0] A1DATA,
  input                        A1EN,
  input        [CFG_ABITS-1:0] B1ADDR,
  output logic [CFG_DBITS-1:0] B1DATA,
  input                        B1EN
);
  logic [CFG_DBITS-1:0] words[1 << CFG_ABITS];
  // The write enable of all modes but that of 40 bits is active at 0.
  logic writes;
  assign writes = CFG_DBITS == 40 ? A1EN : !A1EN;
  always @(posedge CLK1) begin
    if (writes) words[A1ADDR] <= A1DATA;
    if (B1EN) B1DATA <= writes && A1ADDR == B1ADDR ? `GS_UNDEFINED(CFG_DBITS) : words[B1ADDR];
  end
endmodule
