// SPDX-License-Identifier: Apache-2.0

/// A match engine of one of three architectures, all with the same requests and completions (docs/hardware/match.md).
module gs_match
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  /// 0: hashed; 1: two-level, a CAM and linked lists
  parameter int unsigned Architecture = 0,
  /// entries of the CAM (hashed: of both queues; two-level: of each)
  parameter int unsigned CamEntries   = (MatchCamEntries > 1) ? MatchCamEntries : 2,
  /// two-level: lists that are searched in parallel, a power of two
  parameter int unsigned Lists        = MatchLists,
  /// entries after the CAM, a power of two (hashed: all, of both queues; two-level: of each)
  parameter int unsigned Entries      = (MatchListEntries > 8) ? MatchListEntries : 8,
  /// hashed: entries that one queue must leave to the other
  parameter int unsigned Reserve      = Entries / 8,
  /// ranks that the engine serves
  parameter int unsigned Ranks        = 1024,
  /// hashed: bits of the hash used instead of an all-zero seed, not all 0; they are public, so keys of one bin can be
  /// constructed
  parameter logic [127:0] DefaultSeed = 128'h243F_6A88_85A3_08D3_1319_8A2E_0370_7344
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  /// hashed: secret bits of the hash, sampled while all lists are empty; all zeros select DefaultSeed
  input  logic [127:0]      seed_i,
  input  logic              cmd_valid_i,
  output logic              cmd_ready_o,
  input  match_command_t    cmd_i,
  output logic              done_valid_o,
  input  logic              done_ready_i,
  output match_completion_t done_o,
  /// waiting receives and waiting messages
  output logic [31:0]       posts_o,
  output logic [31:0]       messages_o
);
  logic engine_rst_n, counters_rst_n, engine_cmd_valid, engine_cmd_ready, engine_done_valid, engine_done_ready;
  match_completion_t engine_done;
  gs_match_rank_counters #(.Ranks(Ranks)) u_counts (
    .clk_i,
    .rst_ni,
    .cmd_valid_i,
    .cmd_ready_o,
    .cmd_i,
    .done_valid_o,
    .done_ready_i,
    .done_o,
    .engine_rst_no      (counters_rst_n),
    .engine_cmd_valid_o (engine_cmd_valid),
    .engine_cmd_ready_i (engine_cmd_ready),
    .engine_done_valid_i(engine_done_valid),
    .engine_done_ready_o(engine_done_ready),
    .engine_done_i      (engine_done)
  );

  // A reset of one cycle reaches the engine at once, and again with the counters' register.
  assign engine_rst_n = rst_ni && counters_rst_n;

  if (Architecture == 0) begin : gen_hashed
    localparam int unsigned SeedW = $bits(match_key_t) + $clog2(Entries);
    if (DefaultSeed[SeedW-1:0] == '0) begin : gen_illegal_seed
      $fatal(1, "gs_match: the lowest %0d bits of DefaultSeed are 0; they must not all be 0", SeedW);
    end
    // An all-zero matrix would put every key into one bin.
    logic [SeedW-1:0] seed;
    assign seed = (seed_i[SeedW-1:0] == '0) ? DefaultSeed[SeedW-1:0] : seed_i[SeedW-1:0];
    gs_match_hashed #(
      .CamEntries(CamEntries),
      .Entries   (Entries),
      .Reserve   (Reserve),
      .Ranks     (Ranks)
    ) u_engine (
      .clk_i,
      .rst_ni      (engine_rst_n),
      .seed_i      (seed),
      .cmd_valid_i (engine_cmd_valid),
      .cmd_ready_o (engine_cmd_ready),
      .cmd_i,
      .done_valid_o(engine_done_valid),
      .done_ready_i(engine_done_ready),
      .done_o      (engine_done),
      .posts_o,
      .messages_o
    );
    logic unused_seed;
    assign unused_seed = ^seed_i[127:SeedW] ^ (Lists == 0);
  end else if (Architecture == 1) begin : gen_two_level
    gs_match_two_level #(
      .CamEntries(CamEntries),
      .Lists     (Lists),
      .Entries   (Entries),
      .Ranks     (Ranks)
    ) u_engine (
      .clk_i,
      .rst_ni      (engine_rst_n),
      .cmd_valid_i (engine_cmd_valid),
      .cmd_ready_o (engine_cmd_ready),
      .cmd_i,
      .done_valid_o(engine_done_valid),
      .done_ready_i(engine_done_ready),
      .done_o      (engine_done),
      .posts_o,
      .messages_o
    );
    logic unused_seed;
    assign unused_seed = ^seed_i ^ (Reserve == 0) ^ (DefaultSeed == '0);
  end else begin : gen_illegal_architecture
    $fatal(1, "gs_match: Architecture is %0d; it must be 0 (hashed) or 1 (two-level)", Architecture);
  end
endmodule
