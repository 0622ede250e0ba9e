// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// A small RV32I processor for control: one instruction at a time, little endian, no CSRs, no interrupts.
///
/// Program and data share one RAM at address 0. Loads and stores from 8000_0000 on are requests on the I/O port. An
/// instruction takes three cycles; four for branches and loads; more for shifts and I/O:
///
///     Start --> Write --> Decode --> Execute --+-----------> Write --> Decode of the next instruction
///                                      |       +-> Branch ---->|
///                                      |       +-> Shift ..--->|       a cycle for each 8 bits, then for each bit
///                                      |       +-> Access ---->|       load; a store to RAM ends here
///                                      |       |     +-> Io .->|       until io_ready_i
///                                      +-------+-----+---------+--> Trap
///
/// Decode reads the registers; Execute computes, and reads the RAM: the operand of a load, or the next instruction;
/// Write writes the register. Illegal instructions, ECALL, EBREAK, CSR instructions, misaligned or unmapped accesses,
/// and jumps to a misaligned or unmapped address have no effect on RAM and I/O: the processor stops until reset. FENCE
/// does nothing, because accesses are in order. A store to the program takes effect after the next instruction.
module gs_rv32 #(
  /// bytes of RAM: a power of two, from 256 to 1,048,576
  parameter  int unsigned RamBytes  = 16384,
  /// address of the first instruction: a multiple of 4 below RamBytes
  parameter  int unsigned ResetPc   = 0,
  localparam int unsigned WordAddrW = $clog2(RamBytes) - 2
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // RAM, accessed in every cycle
  /// bytes to write; 0 for a read
  output logic [3:0]           mem_strb_o,
  output logic [WordAddrW-1:0] mem_addr_o,
  output logic [31:0]          mem_wdata_o,
  /// the word that was read in the cycle before
  input  logic [31:0]          mem_rdata_i,
  // I/O; a request is stable until it is ready
  output logic                 io_valid_o,
  input  logic                 io_ready_i,
  output logic [31:0]          io_addr_o,
  output logic                 io_write_o,
  /// bytes of the word that are accessed, also for a read
  output logic [3:0]           io_strb_o,
  output logic [31:0]          io_wdata_o,
  /// the word at the address, valid with io_ready_i
  input  logic [31:0]          io_rdata_i,
  /// 1 from a trap until reset
  output logic                 trap_o,
  /// address of the instruction that trapped; otherwise that of the current one
  output logic [31:0]          trap_pc_o
);
  localparam int unsigned AddrW = WordAddrW + 2;

  if (RamBytes != 1 << AddrW || RamBytes < 256 || RamBytes > 1 << 20) begin : gen_illegal_size
    $fatal(1, "gs_rv32: RamBytes is %0d; it must be a power of two from 256 to 1048576", RamBytes);
  end
  if (ResetPc >= RamBytes || ResetPc % 4 != 0) begin : gen_illegal_pc
    $fatal(1, "gs_rv32: ResetPc is %0d; it must be a multiple of 4 below RamBytes (%0d)", ResetPc, RamBytes);
  end

  typedef enum logic [3:0] {Start, Decode, Execute, Branch, Shift, Access, Io, Write, Trap} state_e;
  state_e state_q, state_d;

  // Opcodes without their lowest two bits, which are 11.
  localparam logic [4:0] OpLoad = 5'h00, OpFence = 5'h03, OpImm = 5'h04, OpAuipc = 5'h05, OpStore = 5'h08;
  localparam logic [4:0] OpReg = 5'h0C, OpLui = 5'h0D, OpBranch = 5'h18, OpJalr = 5'h19, OpJal = 5'h1B;

  // a_q and b_q are the operands.
  logic [31:0] ir_q, a_q, b_q, res_q, data_q;
  logic [WordAddrW-1:0] pc_q;
  logic [4:0] amount_q;
  logic less_q, jumps_q, subtract_q, sum_q, bitwise_q;
  // An instruction ends, and the next one is at mem_rdata_i.
  logic retires;

  logic [4:0] opcode;
  logic [2:0] funct3;
  logic is_load, is_store, is_branch, is_jump, is_alu, is_shift;
  assign opcode    = ir_q[6:2];
  assign funct3    = ir_q[14:12];
  assign is_load   = opcode == OpLoad;
  assign is_store  = opcode == OpStore;
  assign is_branch = opcode == OpBranch;
  assign is_jump   = opcode == OpJal || opcode == OpJalr;
  assign is_alu    = opcode == OpImm || opcode == OpReg;
  assign is_shift  = is_alu && funct3[1:0] == 2'b01;

  logic reg_write;
  logic [31:0] reg_wdata, reg_a, reg_b;
  gs_ram_sdp #(
    .Width  (32),
    .Depth  (32),
    .Latency(0),
    .Style  ("distributed")
  ) u_regs_a (
    .clk_i,
    .we_i   (reg_write),
    .wstrb_i(1'b1),
    .waddr_i(ir_q[11:7]),
    .wdata_i(reg_wdata),
    .re_i   (1'b1),
    .raddr_i(ir_q[19:15]),
    .rdata_o(reg_a)
  );
  gs_ram_sdp #(
    .Width  (32),
    .Depth  (32),
    .Latency(0),
    .Style  ("distributed")
  ) u_regs_b (
    .clk_i,
    .we_i   (reg_write),
    .wstrb_i(1'b1),
    .waddr_i(ir_q[11:7]),
    .wdata_i(reg_wdata),
    .re_i   (1'b1),
    .raddr_i(ir_q[24:20]),
    .rdata_o(reg_b)
  );

  // Start writes 0 to x0: it is the end of a load of 0.
  always_ff @(posedge clk_i) begin
    if (retires) ir_q <= mem_rdata_i;
    if (!rst_ni) ir_q <= 32'h0000_0003;
  end

  // SYSTEM has no legal instruction here.
  logic legal, funct7_0, funct7_20;
  assign funct7_0  = ir_q[31:25] == 7'h00;
  assign funct7_20 = ir_q[31:25] == 7'h20;
  always_comb begin
    unique case (opcode)
      OpLui, OpAuipc, OpJal: legal = 1'b1;
      OpJalr, OpFence:       legal = funct3 == 3'd0;
      OpBranch:              legal = funct3[2:1] != 2'b01;
      OpLoad:                legal = funct3[1:0] != 2'b11 && funct3 != 3'd6;
      OpStore:               legal = funct3 < 3'd3;
      OpImm:                 legal = funct3[1:0] != 2'b01 || funct7_0 || (funct3[2] && funct7_20);
      OpReg:                 legal = funct7_0 || ((funct3 == 3'd0 || funct3 == 3'd5) && funct7_20);
      default:               legal = 1'b0;
    endcase
    if (ir_q[1:0] != 2'b11) legal = 1'b0;
  end

  // Operands, and what the result is; in Execute, the operands of Branch, which computes the target.
  logic [31:0] immediate;
  always_comb begin
    immediate = {{21{ir_q[31]}}, ir_q[30:20]};
    if (is_store || is_branch) immediate[4:0] = ir_q[11:7];
    if (is_branch) begin
      immediate[11] = ir_q[7];
      immediate[0]  = 1'b0;
    end
    if (opcode == OpJal) begin
      immediate[19:11] = {ir_q[19:12], ir_q[20]};
      immediate[0]     = 1'b0;
    end
    if (opcode == OpLui || opcode == OpAuipc) immediate = {ir_q[31:12], 12'd0};
  end
  always_ff @(posedge clk_i) begin
    if (state_q == Decode || state_q == Execute) begin
      a_q        <= (opcode == OpLui) ? '0 : reg_a;
      b_q        <= immediate;
      subtract_q <= 1'b0;
      sum_q      <= !is_alu || funct3 == 3'd0;
      bitwise_q  <= is_alu && (funct3[2] || is_shift);
      if (opcode == OpAuipc || opcode == OpJal || state_q == Execute) a_q <= 32'({pc_q, 2'b00});
      if (state_q == Decode && (opcode == OpReg || is_branch)) begin
        b_q        <= reg_b;
        subtract_q <= is_branch || ir_q[30] || funct3[1];
      end
      // SLTI, SLTIU
      if (state_q == Decode && opcode == OpImm) subtract_q <= funct3[1];
    end
  end

  logic is_unsigned, less;
  logic [31:0] sum, bitwise, result;
  assign sum         = a_q + (b_q ^ {32{subtract_q}}) + 32'(subtract_q);
  assign is_unsigned = is_branch ? funct3[1] : funct3[0];
  // Operands of one sign have a difference without overflow.
  assign less        = (a_q[31] == b_q[31]) ? sum[31] : a_q[31] ^ is_unsigned;

  always_comb begin
    unique case (funct3[1:0])
      2'd0:    bitwise = a_q ^ b_q;
      2'd1:    bitwise = a_q;  // to be shifted
      2'd2:    bitwise = a_q | b_q;
      default: bitwise = a_q & b_q;
    endcase
    result = sum_q ? sum : bitwise_q ? bitwise : 32'(less);
  end

  logic by_8, fill;
  logic [31:0] shifted;
  assign by_8 = amount_q[4:3] != '0;
  assign fill = ir_q[30] && res_q[31];
  always_comb begin
    unique case ({funct3[2], by_8})
      2'b00:   shifted = {res_q[30:0], 1'b0};
      2'b01:   shifted = {res_q[23:0], 8'd0};
      2'b10:   shifted = {fill, res_q[31:1]};
      default: shifted = {{8{fill}}, res_q[31:8]};
    endcase
  end

  // In Branch, res_q is the difference of the operands.
  logic taken;
  assign taken = (funct3[2] ? less_q : res_q == '0) ^ funct3[0];

  always_ff @(posedge clk_i) begin
    if (state_q == Execute) begin
      amount_q <= b_q[4:0];
      less_q   <= less;
      jumps_q  <= is_jump;
    end
    if (state_q == Execute || state_q == Branch) res_q <= result;
    if (state_q == Branch) jumps_q <= taken;
    if (state_q == Shift && amount_q != '0) begin
      res_q <= shifted;
      if (by_8) amount_q[4:3] <= amount_q[4:3] - 2'd1;
      else amount_q[2:0] <= amount_q[2:0] - 3'd1;
    end
    // The first instruction is the target of a jump.
    if (!rst_ni) begin
      res_q   <= ResetPc;
      jumps_q <= 1'b1;
    end
  end

  // Loads and stores, at address res_q.
  logic is_io, faults;
  logic [3:0] strobe;
  assign is_io  = res_q[31];
  assign faults = (!is_io && res_q[30:AddrW] != '0) || (funct3[1] && res_q[1]) || (funct3[1:0] != '0 && res_q[0]);
  assign strobe = gs_word_pkg::store_strobe(funct3[1:0], res_q[1:0]);
  always_ff @(posedge clk_i) begin
    data_q <= (state_q == Io) ? io_rdata_i : mem_rdata_i;
    if (!rst_ni) data_q <= '0;
  end

  assign io_valid_o = state_q == Io;
  assign io_addr_o  = res_q;
  assign io_write_o = is_store;
  assign io_strb_o  = strobe;
  assign io_wdata_o = gs_word_pkg::store_data(reg_b, funct3[1:0]);

  // The next instruction: at res_q, or after the current one.
  logic bad_target;
  logic [WordAddrW:0] following;
  assign following  = {1'b0, pc_q} + (WordAddrW + 1)'(1);
  assign bad_target = jumps_q ? res_q[31:AddrW] != '0 || res_q[1] : following[WordAddrW];
  always_ff @(posedge clk_i) if (retires) pc_q <= jumps_q ? res_q[AddrW-1:2] : following[WordAddrW-1:0];

  // Execute reads the RAM before it is known whether the address is one of the RAM, and drops the word if it is not.
  logic at_sum, at_res, stores;
  assign at_sum      = (state_q == Execute) ? is_load || is_jump : state_q == Branch && taken;
  assign at_res      = state_q == Start || (state_q == Access && is_store);
  assign stores      = state_q == Access && is_store && !is_io && !faults;
  assign mem_addr_o  = at_sum ? sum[AddrW-1:2] : at_res ? res_q[AddrW-1:2] : following[WordAddrW-1:0];
  assign mem_strb_o  = stores ? strobe : '0;
  assign mem_wdata_o = io_wdata_o;
  assign retires     = (state_q == Write || stores) && !bad_target;

  // Neither FENCE, stores nor branches have a result. x0 stays 0.
  always_comb begin
    reg_write = state_q == Start || (state_q == Write && ir_q[11:7] != '0);
    if (is_store || is_branch || opcode == OpFence) reg_write = 1'b0;
    reg_wdata = is_jump ? 32'({following, 2'b00}) : res_q;
    if (is_load) reg_wdata = gs_word_pkg::load_value(data_q, funct3, res_q[1:0]);
  end

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Start:  state_d = Write;
      Decode: state_d = Execute;
      Execute: begin
        if (!legal) state_d = Trap;
        else if (is_branch) state_d = Branch;
        else if (is_load || is_store) state_d = Access;
        else if (is_shift) state_d = Shift;
        else state_d = Write;
      end
      Branch:  state_d = Write;
      Shift:   if (amount_q[4:1] == '0 || amount_q == 5'd8) state_d = Write;
      Access:  state_d = faults ? Trap : is_io ? Io : is_load ? Write : bad_target ? Trap : Decode;
      Io:      if (io_ready_i) state_d = Write;
      Write:   state_d = bad_target ? Trap : Decode;
      default: state_d = Trap;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Start;
    else state_q <= state_d;
  end

  assign trap_o    = state_q == Trap;
  assign trap_pc_o = 32'({pc_q, 2'b00});

  `GS_ASSERT_HOLD(io_request_waits_until_it_is_ready, io_valid_o, io_ready_i,
                  {io_addr_o, io_write_o, io_strb_o, io_wdata_o})
  `GS_ASSERT_NOW(io_addresses_are_in_the_upper_half, !io_valid_o || io_addr_o[31])
  `GS_ASSERT(a_trap_lasts_until_reset, trap_o |=> trap_o && $stable(trap_pc_o) && mem_strb_o == '0)
endmodule
