// SPDX-License-Identifier: Apache-2.0
/// A stand-in for the simulated tile, behavioural and without timing: RV32IM threads that take turns, with just enough
/// of a mailbox and of a loader, behind debug bus and network.
/// Tests of the `rtl` engine run on it what the hardware never does: wrong answers,
/// lost threads, silence (+fault=N). It shares nothing with the hardware but the generated package.
module gs_sim_tile
  import gossamer_pkg::*;
(
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       dbg_in_valid_i,
    input  logic [7:0] dbg_in_data_i,
    output logic       dbg_in_ready_o,
    output logic       dbg_out_valid_o,
    output logic [7:0] dbg_out_data_o,
    input  logic       dbg_out_ready_i,
    input  logic [3:0] net_in_valid_i,
    output logic [3:0] net_in_ready_o,
    input  flit_t      net_in_i,
    output logic [3:0] net_out_valid_o,
    output flit_t      net_out_o
);
  localparam int unsigned T = ThreadsPerTile;
  localparam int unsigned Slots = SlotsPerThread;

  /// What is wrong with it: 0 nothing, 1 wrong identity, 2 no bytes taken, 3 threads get lost,
  /// 4 never knows the pc of a trap, 5 an unknown report, 6 loads are never answered,
  /// 7 it dies of an assertion, 8 trapped threads are dead, 9 its loader does not answer, 10 it rejects the image
  int unsigned fault;
  initial if ($value$plusargs("fault=%d", fault) == 0) fault = 0;

  logic [31:0] imem[InstrWords];
  logic [31:0] mem[int unsigned];
  logic [31:0] x[T*32];
  logic [31:0] pc[T];
  logic [2:0] state[T];
  logic [1:0] xop[T];
  logic [31:0] xaddr[T], xdata[T];
  logic [31:0] slot[T], len[T];
  logic [15:0] input_byte[T];
  logic [7:0] arrived[T][$];
  logic [Slots-1:0] owned[T];
  logic [63:0] issued[CoresPerMailbox];
  logic [63:0] cycles, messages;

  logic [7:0] out[$];
  logic [7:0] packet[8];
  int unsigned got, turn, started;
  flit_t net_out[$];
  load_header_t load;
  logic loading;
  logic [31:0] load_at;

  assign dbg_in_ready_o = rst_ni && fault != 2;
  assign net_in_ready_o = {4{rst_ni}};

  function automatic void load_word(input logic [31:0] at, input logic [31:0] word);
    if (load.op == LoadOpWriteInstr) imem[at[$clog2(InstrWords)+1:2]] = word;
    else mem[at] = word;
  endfunction

  function automatic void load_reply();
    flit_t flit;
    logic [31:0] left, at;
    if (fault == 9) return;
    left = load.length;
    at = load.address;
    do begin
      flit = '{kind: FlitKindHeader, last: 1'b1, vnet: VnetReply, dest: load.reply, default: '0};
      if (load.op == LoadOpRead) begin
        flit.payload = load_header_t'{address: at, op: LoadOpRead, default: '0};
        flit.last = 1'b0;
        net_out.push_back(flit);
        flit.kind = FlitKindBody;
        for (int i = 0; i < 16 && left != 0; i++) begin
          for (int w = 0; w < 4; w++) flit.payload[32*w+:32] = memory(at + 32'(4 * w));
          at = at + 32'd16;
          left = left - 32'd16;
          flit.last = i == 15 || left == 0;
          net_out.push_back(flit);
        end
      end else begin
        flit.payload = load_header_t'{
          address: at, op: load.op, status: fault == 10 ? RejectionAddress : 4'd0, default: '0};
        net_out.push_back(flit);
        left = '0;
      end
    end while (left != 0);
  endfunction

  function automatic void load_flit();
    if (!loading) begin
      load = load_header_t'(net_in_i.payload);
      load_at = load.address;
      if (load.op == LoadOpFill)
        for (logic [31:0] i = 0; i < load.length; i += 4) if (mem.exists(load_at + i)) mem.delete(load_at + i);
    end else begin
      for (int w = 0; w < 4; w++) load_word(load_at + 32'(4 * w), net_in_i.payload[32*w+:32]);
      load_at = load_at + 32'd16;
    end
    loading = !net_in_i.last;
    if (net_in_i.last && load.reply != 0) load_reply();
  endfunction

  function automatic void put32(input logic [31:0] word);
    for (int i = 0; i < 4; i++) out.push_back(word[8*i+:8]);
  endfunction

  function automatic void report(input logic [7:0] code, input int unsigned t, input logic [31:0] word);
    out.push_back(code);
    out.push_back(8'(t));
    put32(word);
  endfunction

  function automatic void trap(input int unsigned t, input trap_e cause, input logic [31:0] value);
    state[t] = 3'd0;
    out.push_back(DebugReportTrap);
    out.push_back(8'(t));
    out.push_back(8'(cause));
    put32(fault == 4 || fault == 8 ? 32'hFFFF_FFFF : pc[t]);
    put32(value);
    pc[t] = pc[t] + 32'd4;
  endfunction

  function automatic logic [31:0] memory(input logic [31:0] a);
    return mem.exists({a[31:2], 2'b00}) ? mem[{a[31:2], 2'b00}] : 32'd0;
  endfunction

  function automatic logic mapped(input logic [31:0] a);
    return (a >= ScratchpadBase && a < ScratchpadBase + ScratchpadBytes) || a >= DramBase;
  endfunction

  function automatic void start(input int unsigned t);
    state[t] = 3'd1;
    pc[t] = 32'd0;
    owned[t] = '0;
  endfunction

  /// A CSR access; false if the thread has to wait and do it again.
  function automatic logic access(input int unsigned t, input logic [11:0] csr, input logic writes,
                                  input logic [31:0] value, output logic [31:0] result);
    int unsigned to, free;
    logic [31:0] from;
    result = 32'd0;
    case (csr)
      CsrThreadId: result = 32'(t);
      CsrThreads: result = started;
      CsrCycle: result = cycles[31:0];
      CsrCanSend: result = 32'd1;
      CsrCanReceive: result = 32'(arrived[t].size() != 0);
      CsrSendSlot: begin if (writes) slot[t] = value; result = slot[t]; end
      CsrSendLength: begin if (writes) len[t] = value; result = len[t]; end
      CsrSendDest: begin
        to = int'(value[5:0]);
        if (value[31:29] != EndpointThread || to >= T) begin
          trap(t, TrapBadDestination, value);
          return 1'b1;
        end
        free = Slots;
        for (int unsigned s = 2; s < Slots; s++) if (!owned[to][s]) free = s;
        if (free == Slots) return 1'b0;
        owned[to][free] = 1'b1;
        arrived[to].push_back(8'(free));
        messages = messages + 64'd1;
        from = slot[t];
        for (int unsigned i = 0; i < MailboxSlotBytes; i += 4)
          mem[ScratchpadBase+(to*Slots+free)*MailboxSlotBytes+i] = memory(from + i);
      end
      CsrReceive: begin
        if (arrived[t].size() == 0) begin
          trap(t, TrapNothingToReceive, 32'd0);
          return 1'b1;
        end
        result = ScratchpadBase + (t * Slots + int'(arrived[t].pop_front())) * MailboxSlotBytes;
      end
      CsrRelease: owned[t][$clog2(Slots)'((value - ScratchpadBase) / MailboxSlotBytes)] = 1'b0;
      CsrWait: begin
        if (!value[0] && arrived[t].size() == 0) return 1'b0;
        result = value;
      end
      CsrUartPut: begin
        out.push_back(DebugReportUart);
        out.push_back(8'(t));
        out.push_back(value[7:0]);
        result = 32'd1;
      end
      CsrUartGet: begin
        result = 32'(input_byte[t]);
        if (input_byte[t][8]) begin
          out.push_back(DebugReportTaken);
          out.push_back(8'(t));
        end
        input_byte[t] = '0;
      end
      CsrThreadStart: begin
        to = t / ThreadsPerCore * ThreadsPerCore + int'(value);
        out.push_back(DebugReportStarted);
        out.push_back(8'(to));
        start(to);
      end
      CsrThreadStop: begin
        report(DebugReportStopped, t, value);
        state[t] = 3'd0;
      end
      CsrDebugValue: report(DebugReportDebugValue, t, value);
      CsrEmit: report(DebugReportEmit, t, value);
      CsrGuard, CsrFcsr, CsrFrm, CsrFflags: ;
      default: trap(t, TrapIllegalInstruction, 32'(csr));
    endcase
    return 1'b1;
  endfunction

  function automatic logic [31:0] alu(input logic [2:0] f3, input logic alt, input logic m, input logic [31:0] a,
                                      input logic [31:0] b);
    logic signed [63:0] sa, sb;
    sa = 64'($signed(a));
    sb = 64'($signed(b));
    if (m) begin
      case (f3)
        3'd0: return a * b;
        3'd1: return 32'((sa * sb) >>> 32);
        3'd2: return 32'((sa * $signed({32'd0, b})) >>> 32);
        3'd3: return 32'(({32'd0, a} * {32'd0, b}) >> 32);
        3'd4: return b == 0 ? '1 : 32'(sa / sb);
        3'd5: return b == 0 ? '1 : a / b;
        3'd6: return b == 0 ? a : 32'(sa % sb);
        default: return b == 0 ? a : a % b;
      endcase
    end
    case (f3)
      3'd0: return alt ? a - b : a + b;
      3'd1: return a << b[4:0];
      3'd2: return 32'(sa < sb);
      3'd3: return 32'(a < b);
      3'd4: return a ^ b;
      3'd5: return alt ? 32'($signed(a) >>> b[4:0]) : a >> b[4:0];
      3'd6: return a | b;
      default: return a & b;
    endcase
  endfunction

  /// One instruction of a thread; an injected one leaves the pc alone unless it jumps.
  function automatic void step(input int unsigned t, input logic [31:0] i, input logic injected);
    logic [31:0] a, b, r, next, at;
    logic [4:0] rd;
    logic writes, taken;
    rd = i[11:7];
    a = x[t*32+int'(i[19:15])];
    b = x[t*32+int'(i[24:20])];
    r = 32'd0;
    next = injected ? pc[t] : pc[t] + 32'd4;
    writes = 1'b1;
    case (i[6:0])
      7'h37: r = {i[31:12], 12'd0};
      7'h17: r = pc[t] + {i[31:12], 12'd0};
      7'h6F: begin r = pc[t] + 4; next = pc[t] + {{12{i[31]}}, i[19:12], i[20], i[30:21], 1'b0}; end
      7'h67: begin r = pc[t] + 4; next = (a + {{20{i[31]}}, i[31:20]}) & ~32'd1; end
      7'h63: begin
        writes = 1'b0;
        case (i[14:12])
          3'd0, 3'd1: taken = a == b;
          3'd4, 3'd5: taken = $signed(a) < $signed(b);
          default: taken = a < b;
        endcase
        if (taken != i[12]) next = pc[t] + {{20{i[31]}}, i[7], i[30:25], i[11:8], 1'b0};
      end
      7'h03: begin
        at = a + {{20{i[31]}}, i[31:20]};
        xop[t] = 2'd0;
        xaddr[t] = at;
        if (fault == 6) begin state[t] = 3'd2; return; end
        if (!mapped(at)) begin trap(t, TrapLoadFault, at); return; end
        r = memory(at) >> (8 * at[1:0]);
        case (i[14:12])
          3'd0: r = 32'($signed(r[7:0]));
          3'd1: r = 32'($signed(r[15:0]));
          3'd4: r = 32'(r[7:0]);
          3'd5: r = 32'(r[15:0]);
          default: ;
        endcase
      end
      7'h23: begin
        writes = 1'b0;
        at = a + {{20{i[31]}}, i[31:25], i[11:7]};
        if (!mapped(at)) begin trap(t, TrapStoreFault, at); return; end
        r = memory(at);
        case (i[14:12])
          3'd0: r[8*at[1:0]+:8] = b[7:0];
          3'd1: r[8*at[1:0]+:16] = b[15:0];
          default: r = b;
        endcase
        mem[{at[31:2], 2'b00}] = r;
      end
      7'h13: r = alu(i[14:12], i[30] && i[14:12] == 3'd5, 1'b0, a, {{20{i[31]}}, i[31:20]});
      7'h33: r = alu(i[14:12], i[30], i[25], a, b);
      7'h0F: writes = 1'b0;
      7'h73: begin
        if (i[14:12] == 3'd0) begin
          trap(t, i[20] ? TrapBreakpoint : TrapEnvironmentCall, 32'd0);
          return;
        end
        // The thread asks first and gets its answer at its next turn, as in the hardware.
        if (state[t] == 3'd1 && !injected) begin
          state[t] = 3'd2;
          xop[t] = 2'd2;
          xaddr[t] = 32'(i[31:20]);
          xdata[t] = i[14] ? 32'(i[19:15]) : a;
          return;
        end
        if (!access(t, i[31:20], i[13:12] == 2'd1 || i[19:15] != 5'd0, i[14] ? 32'(i[19:15]) : a, r)) begin
          state[t] = 3'd2;
          return;
        end
        if (state[t] == 3'd0 && !injected) return;
      end
      default: begin trap(t, TrapIllegalInstruction, i); return; end
    endcase
    if (writes && rd != 5'd0) x[t*32+int'(rd)] = r;
    pc[t] = next;
    if (!injected) state[t] = 3'd1;
  endfunction

  function automatic void command();
    int unsigned t;
    t = int'(packet[1]);
    case (packet[0])
      DebugCommandPing: begin
        out.push_back(DebugReportIdentity);
        put32(DebugMagic);
        put32(32'd0);
        out.push_back(8'(DebugVersion));
        out.push_back(8'(fault == 1 ? T + 1 : T));
        out.push_back(8'(ThreadsPerCore));
        out.push_back(8'd1);
        if (fault == 5) out.push_back(8'h0F);
      end
      DebugCommandStartFirst: begin started = t; for (int unsigned i = 0; i < t; i++) start(i); end
      DebugCommandStart: start(t);
      DebugCommandFlush: begin
        out.push_back(DebugReportFlushed);
        out.push_back(packet[1]);
      end
      DebugCommandReadCounter: begin
        out.push_back(DebugReportCounter);
        out.push_back(packet[1]);
        case (packet[1])
          DebugCounterCycles: begin put32(cycles[31:0]); put32(cycles[63:32]); end
          DebugCounterSent: begin put32(messages[31:0]); put32(messages[63:32]); end
          default: begin put32(32'd0); put32(32'd0); end
        endcase
      end
      DebugCommandUart: input_byte[t] = {8'd1, packet[2]};
      DebugCommandInject: if (fault != 8) step(t, {packet[5], packet[4], packet[3], packet[2]}, 1'b1);
      default: ;
    endcase
  endfunction

  always @(posedge clk_i) begin
    dbg_out_valid_o <= 1'b0;
    if (!rst_ni) begin
      for (int unsigned t = 0; t < T; t++) begin
        state[t] = 3'd0;
        x[t*32] = 32'd0;
        owned[t] = '0;
        input_byte[t] = '0;
      end
      for (int unsigned c = 0; c < CoresPerMailbox; c++) issued[c] = '0;
      cycles = '0;
      messages = '0;
      got = 0;
      turn = 0;
      loading = 1'b0;
      net_out_valid_o <= '0;
    end else begin
      if (net_in_valid_i[VnetRequest]) load_flit();
      net_out_valid_o <= '0;
      if (net_out.size() != 0) begin
        net_out_valid_o <= 4'b0001 << VnetReply;
        net_out_o <= net_out.pop_front();
      end
      cycles = cycles + 64'd1;
      if (fault == 7 && cycles[13]) $fatal(1, "the model has had enough");
      if (dbg_in_valid_i && dbg_in_ready_o) begin
        packet[got] = dbg_in_data_i;
        got = got + 1;
        if (got > int'(packet[0][7:4])) begin
          got = 0;
          command();
        end
      end
      turn = (turn + 1) % T;
      if (state[turn] == 3'd1 || (state[turn] == 3'd2 && xop[turn] == 2'd2)) begin
        if (state[turn] == 3'd1) issued[turn/ThreadsPerCore] = issued[turn/ThreadsPerCore] + 64'd1;
        if (fault == 3 && cycles[13]) state[turn] = 3'd0;
        else step(turn, imem[pc[turn][$clog2(InstrWords)+1:2]], 1'b0);
      end
      if (out.size() != 0 && dbg_out_ready_i) begin
        dbg_out_valid_o <= 1'b1;
        dbg_out_data_o <= out.pop_front();
      end
    end
  end

  for (genvar c = 0; c < CoresPerMailbox; c++) begin : gen_core
    gs_standin_core #(.Core(c)) u_core (.clk_i);
  end
endmodule

/// What the engine reads of a core.
module gs_standin_core
  import gossamer_pkg::*;
#(
    /// Number of the core in the tile
    parameter int unsigned Core = 0
) (
    input logic clk_i
);
  logic [2:0] sim_state[ThreadsPerCore]  /*verilator public_flat_rd*/;
  logic [31:0] sim_pc[ThreadsPerCore]  /*verilator public_flat_rd*/;
  logic [1:0] sim_xop[ThreadsPerCore]  /*verilator public_flat_rd*/;
  logic [31:0] sim_xaddr[ThreadsPerCore]  /*verilator public_flat_rd*/;
  logic [31:0] sim_xdata[ThreadsPerCore]  /*verilator public_flat_rd*/;
  logic [63:0] sim_issued  /*verilator public_flat_rd*/;

  always @(posedge clk_i) begin
    for (int unsigned i = 0; i < ThreadsPerCore; i++) begin
      sim_state[i] <= gs_sim_tile.state[Core*ThreadsPerCore+i];
      sim_pc[i] <= gs_sim_tile.pc[Core*ThreadsPerCore+i];
      sim_xop[i] <= gs_sim_tile.xop[Core*ThreadsPerCore+i];
      sim_xaddr[i] <= gs_sim_tile.xaddr[Core*ThreadsPerCore+i];
      sim_xdata[i] <= gs_sim_tile.xdata[Core*ThreadsPerCore+i];
    end
    sim_issued <= gs_sim_tile.issued[Core];
  end
endmodule
