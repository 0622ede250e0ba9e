// SPDX-License-Identifier: Apache-2.0

/// The decoder's opcode table: an instruction's index, its control signals, and the functions that compute the table.
///
/// gs_decode_rom stores the table in block RAM. gs_core_decode reads it, and checks the instruction bits that the index
/// does not contain.
package gs_decode_pkg;
  import gs_core_pkg::OpDivide;

  /// Control signals of an instruction: a word of the table.
  typedef struct packed {
    logic       illegal;   // the instruction does not exist
    logic       chk_op7;   // bits 31 and 29:26 must be 0
    logic       chk_30;    // bit 30 must be 0
    logic       chk_fmt;   // bits 26:25 must be 0: single precision
    logic       chk_rs2;   // bits 24:21 must be 0
    logic       chk_sys;   // ecall, ebreak: bits 31:21, rs1 and rd must be 0
    logic       rounds;    // funct3 is a rounding mode
    logic       csr;       // csrr*
    logic       mem;       // load or store
    logic       store;     // store
    logic       fpu;       // operation for the FPU
    logic [4:0] fop;       // the FPU's operation; for a divide: bit 0 = signed, bit 1 = remainder
    logic       div;       // divide or remainder
    logic       a_pc;      // operand A is the pc
    logic       a_zero;    // operand A is 0
    logic       b_imm;     // operand B is the immediate
    logic       b_zero;    // operand B is 0
    logic       sub_30;    // subtract if bit 30 is set
    logic       sub;       // subtract
    logic       logical;   // result is and, or, xor
    logic       sum;       // the adder's sum is the result, or an address
    logic       mul_lo;    // result is the low half of the product
    logic       mul_hi;    // result is the high half of the product
    logic       mul_a;     // multiplicand is signed; a shift: if bit 30 is set
    logic       mul_b;     // multiplier is signed
    logic       shift;     // multiplier is a power of two
    logic       branch;
    logic       slt;       // result is the comparison
    logic       jal;
    logic       jalr;
    logic       rd_write;  // writes a register
    logic       rd_fp;     // that register is a floating-point one
  } ctl_t;

  localparam int unsigned CtlW = $bits(ctl_t);

  /// Words of the table.
  localparam int unsigned DecodeWords = 1024;
  localparam int unsigned DecodeW = $clog2(DecodeWords);

  /// Index of an instruction in the table: {1, funct5, funct3, bit 20} for OP-FP,
  /// {0, opcode[6:2], funct3, bit 25 or (SYSTEM) bit 20} for the others.
  function automatic logic [DecodeW-1:0] decode_index(
      input logic [4:0] opcode, input logic [4:0] funct5, input logic [2:0] funct3, input logic bit25,
      input logic bit20);
    logic op_fp;
    op_fp = opcode == 5'b10100;
    return {op_fp, op_fp ? funct5 : opcode, funct3, opcode[4] ? bit20 : bit25};
  endfunction

  /// The table's word for OP-FP instructions.
  function automatic ctl_t decode_fp(input logic [4:0] funct5, input logic [2:0] funct3, input logic bit20);
    ctl_t ctl;
    ctl          = '0;
    ctl.fpu      = 1'b1;
    ctl.chk_fmt  = 1'b1;
    ctl.sum      = 1'b1;
    ctl.b_zero   = 1'b1;
    ctl.rd_write = 1'b1;
    ctl.rd_fp    = 1'b1;
    case (funct5)
      5'b00000: {ctl.rounds, ctl.fop} = {1'b1, 5'd0};
      5'b00001: {ctl.rounds, ctl.fop} = {1'b1, 5'd1};
      5'b00010: {ctl.rounds, ctl.fop} = {1'b1, 5'd2};
      5'b00011: {ctl.rounds, ctl.fop} = {1'b1, 5'd7};
      5'b01011: begin
        {ctl.rounds, ctl.chk_rs2, ctl.fop} = {1'b1, 1'b1, 5'd8};
        ctl.illegal = bit20;
      end
      5'b00100: begin
        ctl.fop     = 5'd9 + {2'd0, funct3};
        ctl.illegal = funct3 > 3'd2;
      end
      5'b00101: begin
        ctl.fop     = 5'd12 + {2'd0, funct3};
        ctl.illegal = funct3 > 3'd1;
      end
      5'b10100: begin
        ctl.fop     = 5'd16 - {2'd0, funct3};
        ctl.rd_fp   = 1'b0;
        ctl.illegal = funct3 > 3'd2;
      end
      5'b11000: begin
        {ctl.rounds, ctl.chk_rs2, ctl.fop} = {1'b1, 1'b1, 5'd18 + {4'd0, bit20}};
        ctl.rd_fp = 1'b0;
      end
      5'b11010: {ctl.rounds, ctl.chk_rs2, ctl.fop} = {1'b1, 1'b1, 5'd20 + {4'd0, bit20}};
      5'b11100: begin
        // funct3 0 moves bits, by adding 0; 1 classifies.
        ctl.chk_rs2 = 1'b1;
        ctl.fop     = 5'd17;
        ctl.fpu     = funct3[0];
        ctl.rd_fp   = 1'b0;
        ctl.illegal = funct3 > 3'd1 || bit20;
      end
      5'b11110: begin
        ctl.chk_rs2 = 1'b1;
        ctl.fpu     = 1'b0;
        ctl.illegal = funct3 != 3'd0 || bit20;
      end
      default: ctl.illegal = 1'b1;
    endcase
    if (ctl.rounds && (funct3 == 3'd5 || funct3 == 3'd6)) ctl.illegal = 1'b1;
    return ctl;
  endfunction

  /// The table's word for integer instructions and floating-point ones other than OP-FP. `more` is bit 25; for SYSTEM
  /// it is bit 20.
  function automatic ctl_t decode_main(input logic [4:0] opcode, input logic [2:0] funct3, input logic more);
    ctl_t ctl;
    logic is_imm;
    ctl          = '0;
    is_imm       = opcode == 5'b00100;
    case (opcode)
      5'b00000, 5'b00001: begin  // LOAD, LOAD-FP
        {ctl.mem, ctl.sum, ctl.b_imm, ctl.rd_write} = 4'b1111;
        ctl.rd_fp   = opcode[0];
        ctl.illegal = opcode[0] ? funct3 != 3'd2 : (funct3 == 3'd3 || funct3 > 3'd5);
      end
      5'b01000, 5'b01001: begin  // STORE, STORE-FP
        {ctl.mem, ctl.store, ctl.sum, ctl.b_imm} = 4'b1111;
        ctl.illegal = opcode[0] ? funct3 != 3'd2 : funct3 > 3'd2;
      end
      5'b00011: ctl.illegal = funct3 > 3'd1;  // MISC-MEM: a fence has no effect
      5'b00100, 5'b01100: begin  // OP-IMM, OP
        ctl.b_imm    = is_imm;
        ctl.rd_write = 1'b1;
        if (!is_imm && more) begin
          {ctl.chk_op7, ctl.chk_30} = 2'b11;
          ctl.mul_lo = funct3 == 3'd0;
          ctl.mul_hi = funct3 inside {3'd1, 3'd2, 3'd3};
          ctl.mul_a  = funct3 inside {3'd1, 3'd2};
          ctl.mul_b  = funct3 == 3'd1;
          if (funct3[2]) begin
            {ctl.div, ctl.sum, ctl.b_zero} = 3'b111;
            ctl.fop = OpDivide | {3'd0, funct3[1], !funct3[0]};
          end
        end else begin
          ctl.chk_op7 = !is_imm;
          ctl.chk_30  = !is_imm && funct3 != 3'd0 && funct3 != 3'd5;
          case (funct3)
            3'd0: begin
              ctl.sum    = 1'b1;
              ctl.sub_30 = !is_imm;
            end
            3'd1, 3'd5: begin
              ctl.shift   = 1'b1;
              ctl.chk_op7 = 1'b1;
              ctl.chk_30  = funct3 == 3'd1;
              ctl.mul_lo  = funct3 == 3'd1;
              ctl.mul_hi  = funct3 == 3'd5;
              ctl.mul_a   = funct3 == 3'd5;
              ctl.illegal = is_imm && more;
            end
            3'd2, 3'd3: {ctl.sub, ctl.slt} = 2'b11;
            default: ctl.logical = 1'b1;
          endcase
        end
      end
      5'b00101, 5'b01101: begin  // AUIPC, LUI
        {ctl.sum, ctl.b_imm, ctl.rd_write} = 3'b111;
        ctl.a_pc   = !opcode[3];
        ctl.a_zero = opcode[3];
      end
      5'b10000, 5'b10001, 5'b10010, 5'b10011: begin  // fused multiply-add
        {ctl.fpu, ctl.chk_fmt, ctl.rounds, ctl.sum, ctl.b_zero, ctl.rd_write, ctl.rd_fp} = '1;
        ctl.fop     = 5'd3 + {3'd0, opcode[1:0]};
        ctl.illegal = funct3 == 3'd5 || funct3 == 3'd6;
      end
      5'b11000: begin  // BRANCH
        {ctl.branch, ctl.sub} = 2'b11;
        ctl.illegal = funct3 inside {3'd2, 3'd3};
      end
      5'b11001: begin  // JALR
        {ctl.jalr, ctl.sum, ctl.b_imm, ctl.rd_write} = 4'b1111;
        ctl.illegal = funct3 != 3'd0;
      end
      5'b11011: {ctl.jal, ctl.a_pc, ctl.sum, ctl.b_imm, ctl.rd_write} = '1;  // JAL
      5'b11100: begin  // SYSTEM
        ctl.chk_sys = funct3 == 3'd0;
        ctl.illegal = funct3 == 3'd4;
        if (funct3[1:0] != 2'd0) {ctl.csr, ctl.sum, ctl.a_zero, ctl.b_imm, ctl.rd_write} = '1;
      end
      default: ctl.illegal = 1'b1;
    endcase
    return ctl;
  endfunction

  /// One word of the table. The word of an illegal instruction has no other bit set.
  function automatic ctl_t decode(input logic [9:0] index);
    ctl_t ctl;
    ctl = index[9] ? decode_fp(index[8:4], index[3:1], index[0]) : decode_main(index[8:4], index[3:1], index[0]);
    if (ctl.illegal) begin
      ctl         = '0;
      ctl.illegal = 1'b1;
    end
    return ctl;
  endfunction

  typedef logic [DecodeWords-1:0][CtlW-1:0] table_t;

  /// All words of the table.
  function automatic table_t decode_table();
    table_t words;
    for (int unsigned i = 0; i < DecodeWords; i++) words[i] = decode(10'(i));
    return words;
  endfunction
endpackage
