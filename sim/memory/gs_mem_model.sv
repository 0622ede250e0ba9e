// SPDX-License-Identifier: Apache-2.0

/// A simulated memory in C++: a DRAM with its controller and a checker of every command (gs_dram_controller.h), or a
/// QDR SRAM (gs_sram_model.h). A violated rule ends the simulation.
module gs_mem_model #(
  /// "dram" or "sram"
  parameter string       Kind      = "dram",
  /// settings of that kind for gs_mem_dpi.cc, as "key=value key=value"
  parameter string       Settings  = "",
  /// line and beat [bytes]
  parameter int unsigned LineBytes = 32,
  parameter int unsigned PortBytes = 32,
  /// payloads: GS_MEM_TYPES
  parameter type         mem_req_t = logic,
  parameter type         mem_rsp_t = logic
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
    $fatal(1, "gs_mem_model: LineBytes (%0d) or PortBytes (%0d) is above 128", LineBytes, PortBytes);
  end

  import "DPI-C" function chandle gs_mem_new(input string kind, input string name, input string settings);
  import "DPI-C" function int gs_mem_tick(input chandle model, input longint unsigned cycle);
  import "DPI-C" function void gs_mem_put(
    input chandle model, input longint unsigned cycle, input int flags, input longint unsigned address, input int id,
    input bit [1023:0] data
  );
  import "DPI-C" function int gs_mem_get(input chandle model, output int id, output bit [1023:0] data);

  localparam int unsigned Has = 1, Busy = 2, Broken = 3;

  chandle           model;
  longint unsigned  cycle;
  logic             ready_q, busy_q, valid_q;
  mem_rsp_t         rsp_q;

  initial model = gs_mem_new(Kind, $sformatf("%m"), Settings);

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
        gs_mem_put(model, cycle, {30'd0, req_i.last, req_i.write}, 64'(req_i.addr), 32'(req_i.id), beat);
      end
      if (rsp_ready_i) valid_q <= 1'b0;
      // While no request is queued the model's time stops, and advances later.
      if (busy_q || (req_valid_i && ready_q)) begin
        state = gs_mem_tick(model, cycle);
        if (state[Broken]) $fatal(1, "%m: the memory's rules were violated");
        if (state[Has] && (!valid_q || rsp_ready_i)) begin
          flags = 2'(gs_mem_get(model, id, beat));
          valid_q <= 1'b1;
          if (id >> $bits(rsp_q.id) != 0) $fatal(1, "%m: a response without a request");
          rsp_q   <= '{ack: flags[0], last: flags[1], id: ($bits(rsp_q.id))'(id), data: ($bits(rsp_q.data))'(beat)};
        end
        ready_q <= state[0];
        busy_q  <= state[Busy];
      end
    end
  end
  // A memory has a single address space.
  logic unused;
  assign unused = req_i.space;
endmodule
