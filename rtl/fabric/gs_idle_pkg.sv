// SPDX-License-Identifier: Apache-2.0

/// What endpoints and idle detection tell each other (docs/hardware/idle.md).
package gs_idle_pkg;
  /// Words that a barrier reduces
  localparam int unsigned IdleWords = 2;
  /// Bits of them that travel within a board in a cycle
  localparam int unsigned IdleChunk = 8;

  /// What was given to a barrier: words, and the operation on each.
  typedef struct packed {
    logic [IdleWords-1:0]      given;
    logic [IdleWords-1:0][1:0] op;
  } idle_given_t;

  /// A packet that a tile has refused, for one cycle; `why` is job only for a message of another job.
  typedef struct packed {
    logic                   valid;
    gossamer_pkg::refusal_e why;
    logic [4:0]             job;
  } idle_refusal_t;

  /// State of an endpoint; all fields but the chunk were taken in the same cycle.
  typedef struct packed {
    /// no thread of it can go on by itself and nothing is under way inside
    logic        idle;
    /// all its waiting threads voted yes
    logic        vote;
    /// a thread of it is started
    logic        started;
    /// epoch that it is in
    logic [1:0]  epoch;
    /// messages that it has sent and received since reset, modulo 2^32
    logic [31:0] sent;
    logic [31:0] received;
    /// words given in this epoch
    idle_given_t given;
    /// 1: `chunk` is the next of its words, in the order of `scan_last` (idle_command_t)
    logic        chunk_valid;
    logic [IdleChunk-1:0] chunk;
    /// of a tile: what its mailbox refuses, and what it refuses beside
    idle_refusal_t [1:0] refusals;
  } idle_status_t;

  /// What a board tells its endpoints, all in the same cycle.
  typedef struct packed {
    /// one cycle: all threads in idle go on, and learn whether all voted yes; the next epoch begins
    logic        release_all;
    logic        agreed;
    /// colour of messages that are sent from now on
    logic        wave;
    /// one cycle: give the words, those of `op` as reduce_order says
    logic        scan;
    logic [IdleWords-1:0][1:0] op;
    /// results, ahead of the release: words from the lowest chunk on
    logic        chunk_valid;
    logic [IdleChunk-1:0] chunk;
    /// one cycle: the endpoint gets a job. Epoch, counts and words begin anew; none of its threads is started
    logic        clear;
  } idle_command_t;

  /// The endpoints of a board in one cycle, or some of them.
  typedef struct packed {
    logic        idle;
    logic        vote;
    logic        started;
    logic [31:0] count;
    idle_given_t given;
    logic        chunk_valid;
    logic [IdleChunk-1:0] chunk;
  } idle_cut_t;

  /// What a board, or a tree of boards, reports.
  typedef struct packed {
    /// messages sent less those received, modulo 2^32
    logic [31:0] count;
    logic        vote;
    logic        started;
    /// a message was received that its sender sent behind its own cut
    logic        late;
    idle_given_t given;
    logic [IdleWords-1:0][63:0] words;
  } idle_total_t;

  /// What the root decides, for one cycle: a release, or another wave.
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

  /// Chunks of this operation go from the highest to the lowest, all others the other way.
  function automatic logic reduce_from_high(logic [1:0] op);
    return op inside {gossamer_pkg::ReduceOpMin, gossamer_pkg::ReduceOpMax};
  endfunction

  /// What changes no result.
  function automatic logic [63:0] reduce_nothing(logic [1:0] op);
    case (op)
      gossamer_pkg::ReduceOpMin: return {1'b0, {63{1'b1}}};
      gossamer_pkg::ReduceOpMax: return {1'b1, 63'd0};
      default:                   return '0;
    endcase
  endfunction

  /// Two words of 64 bits in one.
  function automatic logic [63:0] reduce(logic [1:0] op, logic [63:0] a, logic [63:0] b);
    case (op)
      gossamer_pkg::ReduceOpMin: return ($signed(a) < $signed(b)) ? a : b;
      gossamer_pkg::ReduceOpMax: return ($signed(a) < $signed(b)) ? b : a;
      gossamer_pkg::ReduceOpOr:  return a | b;
      default:                   return a + b;
    endcase
  endfunction
endpackage
