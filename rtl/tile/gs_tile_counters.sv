// SPDX-License-Identifier: Apache-2.0

/// What a tile counts: for the host since reset, and for threads what they start, stop and clear.
module gs_tile_counters
  import gs_control_pkg::*;
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                 clk_i,
  input  logic                 rst_ni,
  /// a pulse: what the counters of a core shall do
  input  logic                 control_i,
  input  perf_command_e        command_i,
  input  logic [CoreW-1:0]     core_i,
  // Events of this cycle
  input  logic [TileCores-1:0] issue_i,
  input  logic [3:0]           hits_i,
  input  logic [3:0]           misses_i,
  input  logic [3:0]           writebacks_i,
  input  logic [3:0]           sent_i,
  input  logic [3:0]           received_i,
  input  logic                 flit_out_i,
  input  logic                 flit_in_i,
  input  logic [3:0]           fpu_i,
  input  logic [3:0]           refused_i,
  /// cycles since reset
  output logic [63:0]          cycles_o,
  /// one word of the counters after the other
  output logic [SlotW-1:0]     slot_o,
  output logic                 high_o,
  output logic [31:0]          word_o
);
  if (TileCores > 8) begin : gen_illegal_cores
    $fatal(1, "gs_tile_counters: a tile has %0d cores; it can have 8", TileCores);
  end

  // So many bits have the events of a cycle.
  localparam logic [2:0] CoresW = 3'($clog2(TileCores + 1));
  localparam logic [2:0] CachesW = 3'($clog2(TileCaches + 1));
  localparam logic [2:0] FpuW = 3'($clog2(TileCores + 1));

  function automatic logic [CounterSlots-1:0][2:0] widths();
    widths = '0;
    widths[DebugCounterInstructions[SlotW-1:0]] = CoresW;
    widths[DebugCounterIdle[SlotW-1:0]]         = CoresW;
    widths[DebugCounterHits[SlotW-1:0]]         = CachesW;
    widths[DebugCounterMisses[SlotW-1:0]]       = CachesW;
    widths[DebugCounterWritebacks[SlotW-1:0]]   = CachesW;
    widths[DebugCounterSent[SlotW-1:0]]         = 3'd4;
    widths[DebugCounterReceived[SlotW-1:0]]     = 3'd4;
    widths[DebugCounterFlitsOut[SlotW-1:0]]     = 3'd1;
    widths[DebugCounterFlitsIn[SlotW-1:0]]      = 3'd1;
    widths[DebugCounterFpu[SlotW-1:0]]          = FpuW;
    widths[DebugCounterRefused[SlotW-1:0]]      = 3'd2;
    widths[SlotHits]                            = CachesW;
    widths[SlotMisses]                          = CachesW;
    widths[SlotWritebacks]                      = CachesW;
    for (int unsigned c = 0; c < TileCores; c++) widths[32'(SlotIdle)+c] = 3'd1;
  endfunction

  logic [63:0] cycles_q;
  logic [TileCores-1:0] counting_q, idle_q;
  logic [3:0] issued_q;
  logic cache_counts;
  logic [CounterSlots-1:0][3:0] inc;
  logic [CounterSlots-1:0] clear_q, clear_d;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cycles_q   <= '0;
      counting_q <= '0;
      clear_q    <= '0;
    end else begin
      cycles_q <= cycles_q + 64'd1;
      clear_q  <= clear_d;
      for (int unsigned c = 0; c < TileCores; c++) begin
        if (control_i && core_i == CoreW'(c)) begin
          if (command_i == PerfCommandStart) counting_q[c] <= 1'b1;
          if (command_i == PerfCommandStop) counting_q[c] <= 1'b0;
        end
      end
    end
    idle_q   <= ~issue_i;
    issued_q <= 4'($countones(issue_i));
  end

  always_comb begin
    clear_d = '0;
    if (control_i && command_i == PerfCommandClear) begin
      clear_d[SlotHits]       = 1'b1;
      clear_d[SlotMisses]     = 1'b1;
      clear_d[SlotWritebacks] = 1'b1;
      clear_d[SlotIdle+SlotW'(core_i)] = 1'b1;
    end
  end

  // A cache is shared: any core that counts lets it count.
  assign cache_counts = counting_q != '0;

  always_comb begin
    inc = '0;
    inc[DebugCounterInstructions[SlotW-1:0]] = issued_q;
    inc[DebugCounterIdle[SlotW-1:0]]         = 4'(TileCores) - issued_q;
    inc[DebugCounterHits[SlotW-1:0]]         = hits_i;
    inc[DebugCounterMisses[SlotW-1:0]]       = misses_i;
    inc[DebugCounterWritebacks[SlotW-1:0]]   = writebacks_i;
    inc[DebugCounterSent[SlotW-1:0]]         = sent_i;
    inc[DebugCounterReceived[SlotW-1:0]]     = received_i;
    inc[DebugCounterFlitsOut[SlotW-1:0]]     = 4'(flit_out_i);
    inc[DebugCounterFlitsIn[SlotW-1:0]]      = 4'(flit_in_i);
    inc[DebugCounterFpu[SlotW-1:0]]          = fpu_i;
    inc[DebugCounterRefused[SlotW-1:0]]      = refused_i;
    if (cache_counts) begin
      inc[SlotHits]       = hits_i;
      inc[SlotMisses]     = misses_i;
      inc[SlotWritebacks] = writebacks_i;
    end
    for (int unsigned c = 0; c < TileCores; c++) inc[32'(SlotIdle)+c] = 4'(idle_q[c] && counting_q[c]);
  end

  gs_counters #(
    .Slots    (CounterSlots),
    .IncWidths(widths())
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
endmodule
