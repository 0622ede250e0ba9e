// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// The multicast router of one channel: a queue, the records of its keys, copies.
///
///     flits -> queue -> copies -> flits
///          \-> keys -> records ---^
///                      memory
///
/// A packet whose head flit is a key is replaced by copies, one for each record of the key; all other packets pass. The
/// records of a message are fetched while earlier messages are copied.
module gs_multicast_engine
  import gs_multicast_pkg::*;
  import gossamer_pkg::*;
#(
  /// flits that can be queued while records are fetched; a power of two
  parameter  int unsigned QueueFlits = RouterBufferFlits,
  /// log2 of the beats in the cache of records
  parameter  int unsigned CacheW     = 9,
  /// log2 of the beats that are prefetched
  parameter  int unsigned SlotW      = 4,
  /// flits of a payload; a power of two
  parameter  int unsigned MaxFlits   = MaxPayloadFlits,
  /// initial credits of the sender
  parameter  int unsigned Window     = 8,
  /// bits of a tag at the memory; not to be set
  localparam int unsigned TagW       = SlotW + 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic [11:0]          board_i,
  /// colour of the messages that this board sends, by job
  input  logic [31:0]          wave_i,
  /// records in memory have changed
  input  logic                 flush_i,
  input  logic                 in_valid_i,
  input  flit_t                in_i,
  output logic                 in_credit_o,
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output flit_t                out_o,
  // Memory: a read of a beat, answered in any order
  output logic                 req_valid_o,
  input  logic                 req_ready_i,
  output logic [BeatAddrW-1:0] req_beat_o,
  output logic [TagW-1:0]      req_tag_o,
  input  logic                 rsp_valid_i,
  output logic                 rsp_ready_o,
  input  logic [TagW-1:0]      rsp_tag_i,
  input  beat_t                rsp_i,
  // For idle detection: a message has arrived, a copy is made, a message is consumed; their jobs
  output logic                 entered_o,
  output job_tag_t             entered_tag_o,
  output logic                 sent_o,
  output logic                 received_o,
  output job_tag_t             sent_tag_o,
  output job_tag_t             received_tag_o,
  // Events that are counted: invalid records and messages, lookups of records, cache hits
  output faults_t              bad_o,
  output logic                 lookup_o,
  output logic                 hit_o,
  /// no flit is inside
  output logic                 empty_o,
  /// the engine has work without further inputs
  output logic                 busy_o
);
  // ---------------------------------------------------------------- queue
  logic queue_valid, queue_ready, inside_q, is_key, key_free, copies_empty, records_busy;
  logic unused_queue_ready;
  flit_t queue_flit;
  logic [$clog2(QueueFlits+1)-1:0] unused_count;

  gs_fifo #(
    .data_t(flit_t),
    .Depth (QueueFlits)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i (in_valid_i),
    .in_ready_o (unused_queue_ready),
    .in_data_i  (in_i),
    .out_valid_o(queue_valid),
    .out_ready_i(queue_ready),
    .out_data_o (queue_flit),
    .count_o    (unused_count)
  );
  gs_credit_return #(
    .Depth (QueueFlits),
    .Window(Window)
  ) u_credit_return (
    .clk_i,
    .rst_ni,
    .enters_i(in_valid_i),
    .leaves_i(queue_valid && queue_ready),
    .allow_i (1'b1),
    .credit_o(in_credit_o)
  );

  // Keys overtake their messages. A message with a key has at least two flits; one without a payload has no copies.
  localparam int unsigned Keys = QueueFlits / 2 + 1;
  logic key_ready, next_valid;
  route_key_t key, next_key;
  logic [$clog2(Keys+1)-1:0] unused_keys;
  assign key = in_i.payload[31:0];
  assign is_key = in_valid_i && !inside_q && in_i.kind == FlitKindKey && key.beats != '0 && !in_i.last;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) inside_q <= 1'b0;
    else if (in_valid_i) inside_q <= !in_i.last;
  end
  gs_fifo #(
    .data_t(route_key_t),
    .Depth (Keys)
  ) u_keys (
    .clk_i,
    .rst_ni,
    .in_valid_i (is_key),
    .in_ready_o (key_free),
    .in_data_i  (key),
    .out_valid_o(next_valid),
    .out_ready_i(key_ready),
    .out_data_o (next_key),
    .count_o    (unused_keys)
  );

  // -------------------------------------------------------------- records
  logic [1:0] keys_valid, keys_ready, beat_valid, beat_ready;
  route_key_t keys[2];
  beat_t beat[2];
  logic indirect_valid;
  route_key_t indirect;
  assign keys_valid = {indirect_valid, next_valid};
  assign key_ready = keys_ready[0];
  assign keys[0] = next_key;
  assign keys[1] = indirect;

  gs_multicast_records #(
    .CacheW(CacheW),
    .SlotW (SlotW)
  ) u_records (
    .clk_i,
    .rst_ni,
    .flush_i,
    .key_valid_i (keys_valid),
    .key_ready_o (keys_ready),
    .key_i       (keys),
    .beat_valid_o(beat_valid),
    .beat_ready_i(beat_ready),
    .beat_o      (beat),
    .req_valid_o,
    .req_ready_i,
    .req_beat_o,
    .req_tag_o,
    .rsp_valid_i,
    .rsp_ready_o,
    .rsp_tag_i,
    .rsp_i,
    .lookup_o,
    .hit_o,
    .busy_o      (records_busy)
  );

  // --------------------------------------------------------------- copies
  gs_multicast_replicator #(.MaxFlits(MaxFlits)) u_copies (
    .clk_i,
    .rst_ni,
    .board_i,
    .wave_i,
    .in_valid_i      (queue_valid),
    .in_ready_o      (queue_ready),
    .in_i            (queue_flit),
    .beat_valid_i    (beat_valid),
    .beat_ready_o    (beat_ready),
    .beat_i          (beat),
    .indirect_valid_o(indirect_valid),
    .indirect_ready_i(keys_ready[1]),
    .indirect_o      (indirect),
    .out_valid_o,
    .out_ready_i,
    .out_o,
    .sent_o,
    .received_o,
    .sent_tag_o,
    .received_tag_o,
    .bad_o,
    .empty_o         (copies_empty)
  );
  assign empty_o = copies_empty && !queue_valid;
  assign busy_o = !empty_o || next_valid || records_busy;

  always_ff @(posedge clk_i) begin
    entered_o     <= rst_ni && in_valid_i && !inside_q && in_i.kind == FlitKindKey;
    entered_tag_o <= '{job: in_i.job, epoch: in_i.epoch};
  end

  `GS_ASSERT_NOW(key_queue_has_space, !is_key || key_free)
endmodule
