// SPDX-License-Identifier: Apache-2.0

/// The memory benchmark with whole tiles: real cores run a compiled program that increments arrays. Ports and
/// results are those of gs_mem_bench, whose harness drives it; the program's own number of passes counts.
///
/// Every tile's loader gets the same packets, which contain the program: `+flits=FILE`; then the debug bus starts all
/// threads. Tiles are numbered row by row; there is no network.
module gs_mem_tiles
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
#(
  /// 0: the DRAM receives requests in order of arrival
  parameter bit          Scheduler = 1'b1,
  /// maximum number of flits in the file
  parameter int unsigned MostFlits = 4096
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  int unsigned passes_i,
  /// totals over the board: lines fetched, lines written back, instructions
  output logic [63:0] fills_o,
  output logic [63:0] writebacks_o,
  output logic [63:0] instructions_o,
  output logic        all_done_o,
  output logic        any_done_o
);
  if (TileCaches != 1 || Tiles != DramCount * CachesPerDram) begin : gen_illegal_caches
    $fatal(1, "gs_mem_tiles: TileCaches is %0d, and a DRAM has %0d of %0d tiles; each tile must have its own",
           TileCaches, CachesPerDram, Tiles);
  end

  logic     [DramCount-1:0][CachesPerDram-1:0] taken, all_done, any_done;
  mem_rsp_t [DramCount-1:0][CachesPerDram-1:0] responses;
  logic [Tiles-1:0][TileCores-1:0] issue;

  // Flits for every tile's loader, 24 bytes each, with the last byte first
  logic [191:0] flits[MostFlits];
  int length;
  initial begin
    automatic string name;
    automatic int file;
    if (!$value$plusargs("flits=%s", name)) $fatal(1, "gs_mem_tiles: +flits=FILE is missing");
    file = $fopen(name, "rb");
    if (file == 0) $fatal(1, "gs_mem_tiles: cannot read %s", name);
    length = $fread(flits, file) / 24;
    $fclose(file);
  end

  for (genvar p = 0; p < DramCount; p++) begin : gen_port
    logic     [CachesPerDram-1:0] req_valid, req_ready, rsp_valid, rsp_ready;
    mem_req_t [CachesPerDram-1:0] req;
    mem_rsp_t [CachesPerDram-1:0] rsp;

    gs_sim_memory #(
      .PortCaches (CachesPerDram),
      .ThreadW    (MemIdW),
      .Scheduler  (Scheduler),
      .cache_req_t(mem_req_t),
      .cache_rsp_t(mem_rsp_t)
    ) u_memory (
      .clk_i, .rst_ni,
      .req_valid_i(req_valid), .req_ready_o(req_ready), .req_i(req),
      .rsp_valid_o(rsp_valid), .rsp_ready_i(rsp_ready), .rsp_o(rsp)
    );

    for (genvar c = 0; c < CachesPerDram; c++) begin : gen_tile
      localparam int unsigned Tile = p * CachesPerDram + c;
      int unsigned at_q;
      logic [7:0] wait_q;
      logic [1:0] told_q;
      logic feeds, starts, takes, begun_q;
      logic [3:0] net_in_ready;
      logic [ThreadW:0] started;
      logic unused_dbg_out, unused_started;
      logic [3:0] unused_net_out;
      logic [7:0] unused_dbg_data;
      gs_idle_pkg::idle_status_t unused_idle;
      flit_t unused_flit;

      // After the tile has cleared its memories.
      assign feeds  = wait_q == '1 && at_q < 32'(length);
      // After the load of the program, two bytes on the debug bus start all threads.
      assign starts = wait_q == '1 && !feeds && !u_tile.load_busy && told_q != 2'd2;
      always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
          at_q    <= '0;
          wait_q  <= '0;
          told_q  <= '0;
          begun_q <= 1'b0;
        end else begin
          if (wait_q != '1) wait_q <= wait_q + 8'd1;
          if (feeds && net_in_ready[VnetRequest]) begin
            at_q <= at_q + 32'd1;
            // The loader has accepted all flits before threads start.
            if (at_q + 32'd1 == 32'(length)) wait_q <= '0;
          end
          if (starts && takes) told_q <= told_q + 2'd1;
          if (started == (ThreadW + 1)'(1 << ThreadW)) begun_q <= 1'b1;
        end
      end
      assign all_done[p][c] = begun_q && started == '0;
      assign any_done[p][c] = begun_q && started != (ThreadW + 1)'(1 << ThreadW);

      gs_tile #(
        .Alone(1'b1)
      ) u_tile (
        .clk_i,
        .rst_ni,
        .board_i        ('0),
        .tile_y_i       (4'(Tile / MeshWidth)),
        .tile_x_i       (4'(Tile % MeshWidth)),
        .host_i         ({EndpointHost, 29'd0}),
        .job_i          ('0),
        .dbg_in_valid_i (starts),
        .dbg_in_data_i  (told_q[0] ? 8'(ThreadsPerTile) : DebugCommandStartFirst),
        .dbg_in_ready_o (takes),
        .dbg_out_valid_o(unused_dbg_out),
        .dbg_out_data_o (unused_dbg_data),
        .dbg_out_ready_i(1'b1),
        .mem_req_valid_o(req_valid[c]),
        .mem_req_ready_i(req_ready[c]),
        .mem_req_o      (req[c]),
        .mem_rsp_valid_i(rsp_valid[c]),
        .mem_rsp_ready_o(rsp_ready[c]),
        .mem_rsp_i      (rsp[c]),
        .net_in_valid_i (4'(feeds) << VnetRequest),
        .net_in_ready_o (net_in_ready),
        .net_in_i       (flits[at_q[$clog2(MostFlits)-1:0]][$bits(flit_t)-1:0]),
        .net_out_valid_o(unused_net_out),
        .net_out_ready_i('1),
        .net_out_o      (unused_flit),
        .cluster_i      ('{routers: 1'b0, boards: 13'd1, hosts: 13'd1}),
        .idle_o         (unused_idle),
        .started_o      (unused_started),
        .idle_command_i ('0)
      );
      assign started     = u_tile.started;
      logic unused_networks;
      assign unused_networks = ^net_in_ready;
      assign issue[Tile] = u_tile.issue;

      assign taken[p][c] = rsp_valid[c] && rsp_ready[c];
      assign responses[p][c]  = rsp[c];
    end
  end

  gs_mem_totals #(
    .Caches   (DramCount * CachesPerDram),
    .Cores    (Tiles * TileCores),
    .mem_rsp_t(mem_rsp_t)
  ) u_totals (
    .clk_i, .rst_ni,
    .rsp_taken_i(taken), .rsp_i(responses), .issue_i(issue),
    .fills_o, .writebacks_o, .instructions_o
  );
  assign all_done_o = all_done == '1;
  assign any_done_o = any_done != '0;

  logic unused_passes;
  assign unused_passes = ^passes_i;
endmodule
