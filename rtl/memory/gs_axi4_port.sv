// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Bridge from a memory stream to an AXI4 master, for real controllers: a line is one burst.
///
/// All bursts have the same AXI id, so the responses of each direction arrive in order, and two queues store the ids of
/// the stream. A write is acknowledged by its response (B): AXI provides no other ordering of reads and writes.
///
///     requests ->+--[ AW ]--> AW     ids of writes ->[ queue ]-> with B --+
///                +--[ W  ]--> W                                           +--> responses
///                +--[ AR ]--> AR     ids of reads  ->[ queue ]-> with R --+
module gs_axi4_port #(
  /// bits of an id of the stream
  parameter  int unsigned IdW         = 9,
  /// bytes of a line and of a beat
  parameter  int unsigned LineBytes   = 64,
  parameter  int unsigned PortBytes   = 32,
  /// outstanding bursts of each direction, 2 or more
  parameter  int unsigned Outstanding = 32,
  /// bits of an AXI id, and the id
  parameter  int unsigned AxiIdW      = 4,
  parameter  logic [AxiIdW-1:0] AxiId = '0,
  /// bits of an AXI address, and the memory's base address
  parameter  int unsigned AxiAddrW    = 32,
  parameter  logic [AxiAddrW-1:0] Base = '0,
  /// payloads: GS_MEM_TYPES(PortBytes, IdW, any)
  parameter  type         mem_req_t   = logic,
  parameter  type         mem_rsp_t   = logic,
  /// not to be set
  localparam int unsigned DataW       = 8 * PortBytes
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 req_valid_i,
  output logic                 req_ready_o,
  input  mem_req_t             req_i,
  output logic                 rsp_valid_o,
  input  logic                 rsp_ready_i,
  output mem_rsp_t             rsp_o,
  /// the memory responded with an error; the thread gets the data of that response
  output logic                 error_o,
  // AXI4
  output logic                 awvalid_o,
  input  logic                 awready_i,
  output logic [AxiIdW-1:0]    awid_o,
  output logic [AxiAddrW-1:0]  awaddr_o,
  output logic [7:0]           awlen_o,
  output logic [2:0]           awsize_o,
  output logic [1:0]           awburst_o,
  output logic                 wvalid_o,
  input  logic                 wready_i,
  output logic [DataW-1:0]     wdata_o,
  output logic [PortBytes-1:0] wstrb_o,
  output logic                 wlast_o,
  input  logic                 bvalid_i,
  output logic                 bready_o,
  input  logic [AxiIdW-1:0]    bid_i,
  input  logic [1:0]           bresp_i,
  output logic                 arvalid_o,
  input  logic                 arready_i,
  output logic [AxiIdW-1:0]    arid_o,
  output logic [AxiAddrW-1:0]  araddr_o,
  output logic [7:0]           arlen_o,
  output logic [2:0]           arsize_o,
  output logic [1:0]           arburst_o,
  input  logic                 rvalid_i,
  output logic                 rready_o,
  input  logic [AxiIdW-1:0]    rid_i,
  input  logic [DataW-1:0]     rdata_i,
  input  logic [1:0]           rresp_i,
  input  logic                 rlast_i
);
  if (LineBytes % PortBytes != 0 || LineBytes / PortBytes > 256) begin : gen_illegal_line
    $fatal(1, "gs_axi4_port: LineBytes (%0d) is not 1 to 256 beats of PortBytes (%0d)", LineBytes, PortBytes);
  end

  localparam logic [7:0] Len = 8'(LineBytes / PortBytes - 1);
  localparam logic [2:0] Size = 3'($clog2(PortBytes));
  localparam logic [1:0] Incr = 2'b01;
  localparam int unsigned CountW = $clog2(Outstanding + 1);

  typedef struct packed {
    logic             last;
    logic [DataW-1:0] data;
  } beat_t;

  // A beat is accepted when every register and queue that it needs has free space.
  logic first_q, take;
  logic aw_valid, aw_ready, w_valid, w_ready, ar_valid, ar_ready;
  logic wid_valid, wid_ready, rid_valid, rid_ready;
  logic wid_pop, rid_pop, wid_outstanding, rid_outstanding;
  logic [IdW-1:0] wid, rid;
  logic [CountW-1:0] unused_wids, unused_rids;
  logic [AxiAddrW-1:0] address;
  beat_t w_out;

  assign address     = Base + AxiAddrW'(req_i.addr);
  assign req_ready_o = req_i.write ? (w_ready && (!first_q || (aw_ready && wid_ready))) : (ar_ready && rid_ready);
  assign take        = req_valid_i && req_ready_o;
  assign w_valid     = take && req_i.write;
  assign aw_valid    = take && req_i.write && first_q;
  assign wid_valid   = aw_valid;
  assign ar_valid    = take && !req_i.write;
  assign rid_valid   = ar_valid;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (take) first_q <= req_i.last;
  end

  gs_skid #(
    .data_t(logic [AxiAddrW-1:0])
  ) u_aw (
    .clk_i,
    .rst_ni,
    .in_valid_i (aw_valid),
    .in_ready_o (aw_ready),
    .in_data_i  (address),
    .out_valid_o(awvalid_o),
    .out_ready_i(awready_i),
    .out_data_o (awaddr_o)
  );

  gs_skid #(
    .data_t(beat_t)
  ) u_w (
    .clk_i,
    .rst_ni,
    .in_valid_i (w_valid),
    .in_ready_o (w_ready),
    .in_data_i  ('{last: req_i.last, data: req_i.data}),
    .out_valid_o(wvalid_o),
    .out_ready_i(wready_i),
    .out_data_o (w_out)
  );

  gs_skid #(
    .data_t(logic [AxiAddrW-1:0])
  ) u_ar (
    .clk_i,
    .rst_ni,
    .in_valid_i (ar_valid),
    .in_ready_o (ar_ready),
    .in_data_i  (address),
    .out_valid_o(arvalid_o),
    .out_ready_i(arready_i),
    .out_data_o (araddr_o)
  );

  gs_fifo #(
    .data_t(logic [IdW-1:0]),
    .Depth (Outstanding)
  ) u_write_ids (
    .clk_i,
    .rst_ni,
    .in_valid_i (wid_valid),
    .in_ready_o (wid_ready),
    .in_data_i  (req_i.id),
    .out_valid_o(wid_outstanding),
    .out_ready_i(wid_pop),
    .out_data_o (wid),
    .count_o    (unused_wids)
  );

  gs_fifo #(
    .data_t(logic [IdW-1:0]),
    .Depth (Outstanding)
  ) u_read_ids (
    .clk_i,
    .rst_ni,
    .in_valid_i (rid_valid),
    .in_ready_o (rid_ready),
    .in_data_i  (req_i.id),
    .out_valid_o(rid_outstanding),
    .out_ready_i(rid_pop),
    .out_data_o (rid),
    .count_o    (unused_rids)
  );

  assign awid_o    = AxiId;
  assign awlen_o   = Len;
  assign awsize_o  = Size;
  assign awburst_o = Incr;
  assign arid_o    = AxiId;
  assign arlen_o   = Len;
  assign arsize_o  = Size;
  assign arburst_o = Incr;
  assign wdata_o   = w_out.data;
  assign wlast_o   = w_out.last;
  assign wstrb_o   = '1;

  // Responses: a read's beats are not interleaved with acknowledgements.
  logic     [1:0] in_ready;
  mem_rsp_t       in_data[2];
  logic           joined_valid, joined_ready;
  mem_rsp_t       joined;

  assign in_data[0] = '{ack: 1'b0, last: rlast_i, id: rid, data: rdata_i};
  assign in_data[1] = '{ack: 1'b1, last: 1'b1, id: wid, data: '0};
  assign rready_o   = in_ready[0];
  assign bready_o   = in_ready[1];
  assign rid_pop    = rvalid_i && rready_o && rlast_i;
  assign wid_pop    = bvalid_i && bready_o;

  gs_mem_arbiter #(
    .N     (2),
    .data_t(mem_rsp_t)
  ) u_rsp_arbiter (
    .clk_i,
    .rst_ni,
    .in_valid_i ({bvalid_i, rvalid_i}),
    .in_ready_o (in_ready),
    .in_last_i  ({1'b1, rlast_i}),
    .in_data_i  (in_data),
    .out_valid_o(joined_valid),
    .out_ready_i(joined_ready),
    .out_data_o (joined)
  );

  gs_skid #(
    .data_t(mem_rsp_t)
  ) u_rsp (
    .clk_i,
    .rst_ni,
    .in_valid_i (joined_valid),
    .in_ready_o (joined_ready),
    .in_data_i  (joined),
    .out_valid_o(rsp_valid_o),
    .out_ready_i(rsp_ready_i),
    .out_data_o (rsp_o)
  );

  // An error is 2 (SLVERR) or 3 (DECERR).
  assign error_o = (rvalid_i && rready_o && rresp_i[1]) || (bvalid_i && bready_o && bresp_i[1]);

  // All ids are the same and are not checked. Exclusive accesses are not used.
  logic unused;
  assign unused = ^{bid_i, rid_i, bresp_i[0], rresp_i[0], req_i.space};

  `GS_ASSUME_NOW(read_response_has_an_outstanding_read, !rvalid_i || rid_outstanding)
  `GS_ASSUME_NOW(write_response_has_an_outstanding_write, !bvalid_i || wid_outstanding)
  `GS_ASSERT_HOLD(aw_is_stable_while_it_waits, awvalid_o, awready_i, awaddr_o)
  `GS_ASSERT_HOLD(w_is_stable_while_it_waits, wvalid_o, wready_i, {wdata_o, wlast_o})
  `GS_ASSERT_HOLD(ar_is_stable_while_it_waits, arvalid_o, arready_i, araddr_o)
endmodule
