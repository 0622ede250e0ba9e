// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Event counters of a tile: those for the host count since reset; threads start, stop and clear their own.
module gs_tile_counters
  import gs_control_pkg::*;
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                 clk_i,
  input  logic                 rst_ni,
  /// pulse: a command for the counters of a core
  input  logic                 control_i,
  input  perf_command_e        command_i,
  input  logic [CoreW-1:0]     core_i,
  input  events_t              events_i,
  /// cycles since reset, the low word
  output logic [31:0]          cycles_o,
  /// the scan over the counters: counter, high word, value
  output logic [SlotW-1:0]     slot_o,
  output logic                 high_o,
  output logic [31:0]          word_o
);
  if (TileCores > 8) begin : gen_illegal_cores
    $fatal(1, "gs_tile_counters: TileCores is %0d; it must be at most 8", TileCores);
  end

  // Maximum events in a cycle; an FPU starts one operation.
  function automatic logic [CounterSlots-1:0][3:0] max_events();
    max_events                                      = '0;
    max_events[DebugCounterCycles[SlotW-1:0]]       = 4'd1;
    max_events[DebugCounterInstructions[SlotW-1:0]] = 4'(TileCores);
    max_events[DebugCounterIdle[SlotW-1:0]]         = 4'(TileCores);
    max_events[DebugCounterHits[SlotW-1:0]]         = 4'(TileCaches);
    max_events[DebugCounterMisses[SlotW-1:0]]       = 4'(TileCaches);
    max_events[DebugCounterWritebacks[SlotW-1:0]]   = 4'(TileCaches);
    max_events[DebugCounterSent[SlotW-1:0]]         = 4'd1;
    max_events[DebugCounterReceived[SlotW-1:0]]     = 4'd1;
    max_events[DebugCounterFlitsOut[SlotW-1:0]]     = 4'd1;
    max_events[DebugCounterFlitsIn[SlotW-1:0]]      = 4'd1;
    max_events[DebugCounterFpu[SlotW-1:0]]          = 4'(TileFpus);
    // One of the loader, one of the mailbox, two of the switch
    max_events[DebugCounterRefused[SlotW-1:0]]      = 4'd4;
    max_events[SlotHits]                            = 4'(TileCaches);
    max_events[SlotMisses]                          = 4'(TileCaches);
    max_events[SlotWritebacks]                      = 4'(TileCaches);
    for (int unsigned c = 0; c < TileCores; c++) begin
      max_events[32'(SlotIdle)+c]   = 4'd1;
      max_events[32'(SlotCycles)+c] = 4'd1;
    end
  endfunction

  function automatic logic [CounterSlots-1:0] clearable();
    clearable                 = '0;
    clearable[SlotHits]       = 1'b1;
    clearable[SlotMisses]     = 1'b1;
    clearable[SlotWritebacks] = 1'b1;
    for (int unsigned c = 0; c < TileCores; c++) begin
      clearable[32'(SlotIdle)+c]   = 1'b1;
      clearable[32'(SlotCycles)+c] = 1'b1;
    end
  endfunction

  localparam logic [CounterSlots-1:0][3:0] MaxEvents = max_events();

  logic [31:0] cycles_q;
  // The cycles of a core count from reset on, because a program may read them without a start.
  logic [TileCores-1:0] counting_q, timing_q, idle_q;
  // The units are far away: their events are registered and counted one cycle later.
  events_t events_q;
  logic [3:0] issued_q;
  logic cache_counts;
  logic [CounterSlots-1:0][3:0] inc;
  logic [CounterSlots-1:0] clear_q, clear_d;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cycles_q   <= '0;
      counting_q <= '0;
      timing_q   <= '1;
      clear_q    <= '0;
    end else begin
      cycles_q <= cycles_q + 32'd1;
      clear_q  <= clear_d;
      for (int unsigned c = 0; c < TileCores; c++) begin
        if (control_i && core_i == CoreW'(c)) begin
          if (command_i == PerfCommandStart) {counting_q[c], timing_q[c]} <= '1;
          if (command_i == PerfCommandStop) {counting_q[c], timing_q[c]} <= '0;
        end
      end
    end
    events_q <= events_i;
    idle_q   <= ~events_q.issue;
    issued_q <= 4'($countones(events_q.issue));
  end

  always_comb begin
    clear_d = '0;
    if (control_i && command_i == PerfCommandClear) begin
      clear_d[SlotHits]       = 1'b1;
      clear_d[SlotMisses]     = 1'b1;
      clear_d[SlotWritebacks] = 1'b1;
      clear_d[SlotIdle+SlotW'(core_i)]   = 1'b1;
      clear_d[SlotCycles+SlotW'(core_i)] = 1'b1;
    end
  end

  // A cache is shared: its counters run while those of any core run.
  assign cache_counts = counting_q != '0;

  always_comb begin
    inc = '0;
    inc[DebugCounterCycles[SlotW-1:0]]       = 4'd1;
    inc[DebugCounterInstructions[SlotW-1:0]] = issued_q;
    inc[DebugCounterIdle[SlotW-1:0]]         = 4'(TileCores) - issued_q;
    inc[DebugCounterHits[SlotW-1:0]]         = events_q.hits;
    inc[DebugCounterMisses[SlotW-1:0]]       = events_q.misses;
    inc[DebugCounterWritebacks[SlotW-1:0]]   = events_q.writebacks;
    inc[DebugCounterSent[SlotW-1:0]]         = 4'(events_q.sent);
    inc[DebugCounterReceived[SlotW-1:0]]     = 4'(events_q.received);
    inc[DebugCounterFlitsOut[SlotW-1:0]]     = 4'(events_q.flit_out);
    inc[DebugCounterFlitsIn[SlotW-1:0]]      = 4'(events_q.flit_in);
    inc[DebugCounterFpu[SlotW-1:0]]          = events_q.fpu;
    inc[DebugCounterRefused[SlotW-1:0]]      = events_q.rejected;
    if (cache_counts) begin
      inc[SlotHits]       = events_q.hits;
      inc[SlotMisses]     = events_q.misses;
      inc[SlotWritebacks] = events_q.writebacks;
    end
    for (int unsigned c = 0; c < TileCores; c++) begin
      inc[32'(SlotIdle)+c]   = 4'(idle_q[c] && counting_q[c]);
      inc[32'(SlotCycles)+c] = 4'(timing_q[c]);
    end
  end

  gs_counters #(
    .Slots    (CounterSlots),
    .MaxEvents(MaxEvents),
    .Clearable(clearable())
  ) u_counters (
    .clk_i,
    .rst_ni,
    .inc_i  (inc),
    .clear_i(clear_q),
    .idx_o  (slot_o),
    .high_o,
    .word_o
  );

  assign cycles_o = cycles_q;

  for (genvar i = 0; i < int'(CounterSlots); i++) begin : gen_checks
    `GS_ASSERT_NOW(events_never_exceed_the_declared_maximum, inc[i] <= MaxEvents[i])
  end
endmodule
