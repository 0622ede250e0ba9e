// SPDX-License-Identifier: Apache-2.0

/// Types that the modules of the control unit share.
package gs_control_pkg;
  import gs_tile_pkg::*;
  import gossamer_pkg::*;

  /// bits of a program counter in words: an address of the instruction memory, or its end
  localparam int unsigned PcWordW = Log2InstrWords + 1;

  /// Kind of a thread's report to the host.
  typedef enum logic [2:0] {
    ReportUart, ReportTaken, ReportStarted, ReportEmit, ReportDebugValue, ReportStopped, ReportTrap
  } report_kind_e;

  /// A report's code on the debug bus.
  function automatic debug_report_e code_of(input report_kind_e kind);
    unique case (kind)
      ReportUart: return DebugReportUart;
      ReportTaken: return DebugReportTaken;
      ReportStarted: return DebugReportStarted;
      ReportEmit: return DebugReportEmit;
      ReportDebugValue: return DebugReportDebugValue;
      ReportStopped: return DebugReportStopped;
      default: return DebugReportTrap;
    endcase
  endfunction

  /// Whether the thread waits until its report has been sent. A thread that has ended does not.
  function automatic logic report_answers(input report_kind_e kind);
    return kind != ReportStopped && kind != ReportTrap;
  endfunction

  typedef struct packed {
    report_kind_e       kind;
    logic [ThreadW-1:0] thread;
    logic [5:0]         about;     // trap: its cause; started: the other thread
    logic               pc_known;
    logic [PcWordW-1:0] pc;
    logic [31:0]        data;
  } report_t;

  /// A report is queued as two words: all fields but its data, then its data.
  localparam int unsigned HeadW = $bits(report_t) - 32;
  localparam int unsigned ReportWordW = (HeadW > 32) ? HeadW : 32;
  typedef logic [ReportWordW-1:0] report_word_t;

  /// The actions that a thread's request needs, decoded before its execution.
  typedef struct packed {
    logic       traps;
    logic       trap_is_csr;  // the trap's value is the number of a register
    logic       trap_has_pc;
    logic [5:0] cause;
    logic       ends;         // the thread ends: thread_stop, or a trap
    logic       report;       // the response, if any, is sent after the report
    report_kind_e kind;
    logic       start;
    logic       instr_address;
    logic       iwr;
    logic       counter;
    logic       instret;
    logic       perf_control;
    logic       got;          // uart_get: a byte is available
    logic [7:0] got_byte;
  } plan_t;

  /// Indices of the counters: those of the debug bus first, then the counters that threads read and clear.
  localparam int unsigned DebugCounters = 32'(DebugCounterRefused) + 1;
  localparam int unsigned CounterSlots = DebugCounters + 3 + 2 * TileCores;
  localparam int unsigned SlotW = $clog2(CounterSlots);
  localparam logic [SlotW-1:0] SlotHits = SlotW'(DebugCounters);
  localparam logic [SlotW-1:0] SlotMisses = SlotW'(DebugCounters + 1);
  localparam logic [SlotW-1:0] SlotWritebacks = SlotW'(DebugCounters + 2);
  /// the first core's idle counter; those of the other cores follow
  localparam logic [SlotW-1:0] SlotIdle = SlotW'(DebugCounters + 3);
  /// the first core's cycle counter; those of the other cores follow
  localparam logic [SlotW-1:0] SlotCycles = SlotW'(DebugCounters + 3 + TileCores);
endpackage
