// SPDX-License-Identifier: Apache-2.0

/// Simulated DRAM with its controller and a checker of every command; see gs_dram_controller.h.
/// A broken rule ends the simulation.
module gs_dram_model #(
  /// 1 if data move at both clock edges
  parameter bit              DoubleRate        = 1'b1,
  /// size, row, burst: bytes, bytes, transfers
  parameter longint unsigned Bytes             = 64'h1_0000_0000,
  parameter int unsigned     RowBytes          = 8192,
  parameter int unsigned     BurstLength       = 8,
  parameter int unsigned     Banks             = 8,
  parameter int unsigned     BusBits           = 64,
  /// timings, in cycles of the command clock
  parameter int unsigned     Cl                = 11,
  parameter int unsigned     Cwl               = 8,
  parameter int unsigned     Rcd               = 11,
  parameter int unsigned     Rp                = 11,
  parameter int unsigned     Ras               = 28,
  parameter int unsigned     Rrd               = 5,
  parameter int unsigned     Faw               = 24,
  parameter int unsigned     Wr                = 12,
  parameter int unsigned     Wtr               = 6,
  parameter int unsigned     Rtp               = 6,
  parameter int unsigned     Rfc               = 208,
  parameter int unsigned     Refi              = 6240,
  /// data rate of a pin [MT/s], and the design's clock [kHz]
  parameter int unsigned     RateMts           = 1600,
  parameter int unsigned     CoreKhz           = 250_000,
  /// through the controller, both ways together [cycles of the design]
  parameter int unsigned     ControllerLatency = 20,
  /// line and beat [bytes]
  parameter int unsigned     LineBytes         = 32,
  parameter int unsigned     PortBytes         = 32,
  /// bytes after which the next bank follows; 1 if the row's number is folded into the bank's: as in the scheduler
  parameter int unsigned     BankBytes         = 1024,
  parameter bit              BankHash          = 1'b1,
  /// payloads: GS_MEM_TYPES
  parameter type             mem_req_t         = logic,
  parameter type             mem_rsp_t         = logic
) (
  input  logic     clk_i,
  input  logic     rst_ni,
  input  logic     req_valid_i,
  output logic     req_ready_o,
  input  mem_req_t req_i,
  output logic     rsp_valid_o,
  input  logic     rsp_ready_i,
  output mem_rsp_t rsp_o
);
  if (LineBytes > 128 || PortBytes > 128) begin : gen_illegal_line
    $fatal(1, "gs_dram_model: LineBytes (%0d) or PortBytes (%0d) is above 128", LineBytes, PortBytes);
  end

  import "DPI-C" function chandle gs_dram_new(input string name, input string settings);
  import "DPI-C" function int gs_dram_tick(input chandle model, input longint unsigned cycle);
  import "DPI-C" function void gs_dram_put(
    input chandle model, input longint unsigned cycle, input int flags, input longint unsigned address, input int id,
    input bit [1023:0] data
  );
  import "DPI-C" function int gs_dram_get(input chandle model, output int id, output bit [1023:0] data);

  localparam string Settings = {
    $sformatf("double_rate=%0d bytes=%0d bus_bytes=%0d burst_length=%0d banks=%0d row_bytes=%0d ",
              DoubleRate, Bytes, BusBits / 8, BurstLength, Banks, RowBytes),
    $sformatf("cl=%0d cwl=%0d rcd=%0d rp=%0d ras=%0d rrd=%0d faw=%0d ", Cl, Cwl, Rcd, Rp, Ras, Rrd, Faw),
    $sformatf("wr=%0d wtr=%0d rtp=%0d rfc=%0d refi=%0d ", Wr, Wtr, Rtp, Rfc, Refi),
    $sformatf("dram_khz=%0d core_khz=%0d ", DoubleRate ? RateMts * 500 : RateMts * 1000, CoreKhz),
    $sformatf("controller_latency=%0d line_bytes=%0d port_bytes=%0d bank_bytes=%0d bank_hash=%0d",
              ControllerLatency, LineBytes, PortBytes, BankBytes, BankHash)
  };
  localparam int unsigned Has = 1, Busy = 2, Broken = 3;

  chandle           model;
  longint unsigned  cycle;
  logic             ready_q, busy_q, valid_q;
  mem_rsp_t         rsp_q;

  initial model = gs_dram_new($sformatf("%m"), Settings);

  assign req_ready_o = ready_q;
  assign rsp_valid_o = valid_q;
  assign rsp_o       = rsp_q;

  always @(posedge clk_i) begin
    automatic int state, id;
    automatic bit [1:0] flags;
    automatic bit [1023:0] beat;
    cycle <= cycle + 1;
    if (!rst_ni) begin
      cycle   <= '0;
      ready_q <= 1'b0;
      busy_q  <= 1'b1;
      valid_q <= 1'b0;
    end else begin
      if (req_valid_i && ready_q) begin
        beat = 1024'(req_i.data);
        gs_dram_put(model, cycle, {30'd0, req_i.last, req_i.write}, 64'(req_i.addr), 32'(req_i.id), beat);
      end
      if (rsp_ready_i) valid_q <= 1'b0;
      // While nothing is queued time stands still in there, and is made up for later.
      if (busy_q || (req_valid_i && ready_q)) begin
        state = gs_dram_tick(model, cycle);
        if (state[Broken]) $fatal(1, "%m: the memory's rules were broken");
        if (state[Has] && (!valid_q || rsp_ready_i)) begin
          flags = 2'(gs_dram_get(model, id, beat));
          valid_q <= 1'b1;
          if (id >> $bits(rsp_q.id) != 0) $fatal(1, "%m: an answer that nobody asked for");
          rsp_q   <= '{ack: flags[0], last: flags[1], id: ($bits(rsp_q.id))'(id), data: ($bits(rsp_q.data))'(beat)};
        end
        ready_q <= state[0];
        busy_q  <= state[Busy];
      end
    end
  end
  // All of it is one space.
  logic unused;
  assign unused = req_i.space;
endmodule
