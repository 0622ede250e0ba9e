// SPDX-License-Identifier: Apache-2.0

/// Decodes a thread's request to the control unit: the actions that it needs, and whether it traps.
module gs_control_decode
  import gs_control_pkg::*;
  import gs_core_pkg::*;
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  to_control_t        req_i,
  /// a uart byte waits for this thread
  input  logic               got_i,
  input  logic [7:0]         got_byte_i,
  output plan_t              plan_o
);
  logic [11:0] csr;
  logic reads, writes, is_trap, known, far_thread, bad_address;

  assign csr         = req_i.addr[11:0];
  assign is_trap     = req_i.op == XTrap;
  assign writes      = req_i.op == XCsr && req_i.funct3[0];
  assign reads       = req_i.op == XCsr && req_i.funct3[1];
  assign known       = csr_unit(csr) == CsrUnitControl && (!reads || csr_readable(csr))
                    && (!writes || csr_writable(csr));
  assign far_thread  = req_i.data >= 32'(ThreadsPerCore);
  assign bad_address = req_i.data >= 32'(4 * InstrWords) || req_i.data[1:0] != 2'd0;

  always_comb begin
    plan_o          = '{kind: ReportTrap, default: '0};
    plan_o.got      = got_i;
    plan_o.got_byte = got_byte_i;
    unique case (csr)
      CsrInstret, CsrInstretHigh: plan_o.instret = 1'b1;
      CsrInstrAddress: begin
        plan_o.instr_address = writes;
        // Its memory's output arrives late in a cycle: a read waits for the next cycle.
        plan_o.counter       = reads;
        plan_o.traps         = writes && bad_address;
        plan_o.cause         = TrapBadInstrAddress;
      end
      CsrInstrWrite: plan_o.iwr = writes;
      CsrThreadStart: begin
        plan_o.start  = writes;
        plan_o.report = writes;
        plan_o.kind   = ReportStarted;
        plan_o.traps  = writes && far_thread;
        // Also the cause if the thread is already running
        plan_o.cause  = TrapBadThread;
      end
      CsrThreadStop: begin
        plan_o.report = writes;
        plan_o.ends   = writes;
        plan_o.kind   = ReportStopped;
      end
      CsrEmit: begin
        plan_o.report = writes;
        plan_o.kind   = ReportEmit;
      end
      CsrDebugValue: begin
        plan_o.report = writes;
        plan_o.kind   = ReportDebugValue;
      end
      CsrUartPut: begin
        plan_o.report = writes;
        plan_o.kind   = ReportUart;
      end
      CsrUartGet: begin
        plan_o.report = got_i;
        plan_o.kind   = ReportTaken;
      end
      CsrPerfControl: plan_o.perf_control = writes;
      CsrCycleHigh, CsrPerfHits, CsrPerfMisses, CsrPerfWritebacks, CsrPerfIdle, CsrPerfIdleHigh, CsrPerfCycles,
      CsrPerfCyclesHigh: plan_o.counter = 1'b1;
      default: ;
    endcase
    if (is_trap) begin
      plan_o.traps = 1'b1;
      plan_o.cause = req_i.addr[31:26];
    end else if (!known) begin
      plan_o.traps       = 1'b1;
      plan_o.trap_is_csr = 1'b1;
      plan_o.cause       = TrapBadRegister;
    end
    plan_o.trap_has_pc = is_trap && req_i.addr[25:0] != PcUnknown;
    if (plan_o.traps) begin
      plan_o.ends          = 1'b1;
      plan_o.report        = 1'b1;
      plan_o.kind          = ReportTrap;
      plan_o.start         = 1'b0;
      plan_o.instr_address = 1'b0;
      plan_o.iwr           = 1'b0;
      plan_o.counter       = 1'b0;
      plan_o.instret       = 1'b0;
      plan_o.perf_control  = 1'b0;
    end
  end

  logic unused;
  assign unused = ^{req_i.funct3[2], req_i.thread};
endmodule
