// SPDX-License-Identifier: Apache-2.0

/// Signals between endpoints and idle detection (docs/hardware/idle.md).
package gs_idle_pkg;
  /// Words that a barrier reduces
  localparam int unsigned IdleWords = 2;
  /// Bits of these words that a board transfers in a cycle
  localparam int unsigned IdleChunk = 8;

  /// The words that threads contributed to a barrier, and the operation on each.
  typedef struct packed {
    logic [IdleWords-1:0]      given;
    logic [IdleWords-1:0][1:0] op;
  } idle_given_t;

  /// A packet that a tile has rejected, a pulse of one cycle; `why` is "job" only for a message of another job.
  typedef struct packed {
    logic       valid;
    /// rejection_e, as plain bits so that a status can be assigned '0
    logic [3:0] why;
    logic [4:0] job;
  } idle_drop_t;

  /// State of an endpoint; all fields but the chunk were sampled in the same cycle.
  typedef struct packed {
    /// none of its threads can proceed without a message, and no operation is in flight in the endpoint
    logic        idle;
    /// all its waiting threads voted yes
    logic        vote;
    /// one of its threads is started
    logic        started;
    /// its current epoch
    logic [1:0]  epoch;
    /// messages that it has sent and received since reset, modulo 2^32
    logic [31:0] sent;
    logic [31:0] received;
    /// words contributed in this epoch
    idle_given_t given;
    /// 1: `chunk` is the next of its words, in the order of `scan_last` (idle_command_t)
    logic        chunk_valid;
    logic [IdleChunk-1:0] chunk;
    /// of a tile: packets that its mailbox rejects, and packets that its other blocks reject
    idle_drop_t [1:0] drops;
  } idle_status_t;

  /// Commands of a board to its endpoints, all in the same cycle.
  typedef struct packed {
    /// pulse: releases all threads in idle and returns to them whether all voted yes; the next epoch begins
    logic        release_all;
    logic        agreed;
    /// colour of messages that are sent from now on
    logic        wave;
    /// pulse: send the words, in the chunk order of each word's `op` (reduce_from_high)
    logic        scan;
    logic [IdleWords-1:0][1:0] op;
    /// results, before the release: words from the lowest chunk on
    logic        chunk_valid;
    logic [IdleChunk-1:0] chunk;
    /// pulse: the endpoint is assigned a job. Epoch, counts and words are reset; none of its threads is started
    logic        clear;
  } idle_command_t;

  /// State of all or some of a board's endpoints in one cycle.
  typedef struct packed {
    logic        idle;
    logic        vote;
    logic        started;
    logic [31:0] count;
    idle_given_t given;
    logic        chunk_valid;
    logic [IdleChunk-1:0] chunk;
  } idle_cut_t;

  /// Report of a board or of a tree of boards.
  typedef struct packed {
    /// messages sent less those received, modulo 2^32
    logic [31:0] count;
    logic        vote;
    logic        started;
    /// a message was received that its sender sent after its own cut
    logic        late;
    idle_given_t given;
    logic [IdleWords-1:0][63:0] words;
  } idle_total_t;

  /// The root's decision, a pulse of one cycle: a release, or another wave.
  typedef struct packed {
    logic        release_all;
    logic        again;
    logic        agreed;
    logic [IdleWords-1:0] given;
    logic [IdleWords-1:0][63:0] words;
  } idle_verdict_t;

  /// A message that enters the board from another one: its epoch and colour.
  typedef struct packed {
    logic       valid;
    logic [1:0] epoch;
    logic       wave;
  } idle_entry_t;

  /// Chunks of this operation are sent from the highest to the lowest, those of all others from the lowest.
  function automatic logic reduce_from_high(logic [1:0] op);
    return op inside {gossamer_pkg::ReduceOpMin, gossamer_pkg::ReduceOpMax};
  endfunction

  /// The identity element of an operation.
  function automatic logic [63:0] reduce_identity(logic [1:0] op);
    case (op)
      gossamer_pkg::ReduceOpMin: return {1'b0, {63{1'b1}}};
      gossamer_pkg::ReduceOpMax: return {1'b1, 63'd0};
      default:                   return '0;
    endcase
  endfunction

  /// Reduces two words of 64 bits to one.
  function automatic logic [63:0] reduce(logic [1:0] op, logic [63:0] a, logic [63:0] b);
    case (op)
      gossamer_pkg::ReduceOpMin: return ($signed(a) < $signed(b)) ? a : b;
      gossamer_pkg::ReduceOpMax: return ($signed(a) < $signed(b)) ? b : a;
      gossamer_pkg::ReduceOpOr:  return a | b;
      default:                   return a + b;
    endcase
  endfunction
endpackage
