// SPDX-License-Identifier: Apache-2.0

/// Types that a mailbox, its users and its submodules share.
package gs_mailbox_pkg;
  /// operation of a request
  typedef enum logic [1:0] {
    MailboxLoad  = 2'd0,
    MailboxStore = 2'd1,
    MailboxCsr   = 2'd2
  } mailbox_op_e;

  /// Request of a thread. Its answer is one response, or one trap without a response.
  typedef struct packed {
    mailbox_op_e op;
    /// load and store: as in the instruction; CSR: bit 0 write, bit 1 return the old value
    logic [2:0]  funct3;
    /// thread in the tile
    logic [5:0]  thread;
    /// address in the thread's address space, or the number of the CSR
    logic [31:0] addr;
    /// data to store, unshifted, or to write
    logic [31:0] data;
  } mailbox_req_t;

  /// Response: loads are aligned and extended.
  typedef struct packed {
    logic [5:0]  thread;
    logic [31:0] data;
  } mailbox_rsp_t;

  /// A trap: the request of a thread failed.
  typedef struct packed {
    logic [5:0]  thread;
    logic [5:0]  cause;
    /// subject of the trap: an address, a length, a destination, the number of a CSR
    logic [31:0] addr;
  } mailbox_trap_t;

  /// Action of a request, once its CSR number is decoded.
  typedef enum logic [3:0] {
    ActLoad,
    ActStore,
    /// a CSR that is plain state: return its value, and write it if requested
    ActState,
    ActSend,
    ActRelease,
    ActReceive,
    ActWait,
    ActIdle,
    /// contributes the word in the thread's masks to the barrier
    ActReduce,
    ActIllegal,
    /// internal: end the wait of a thread if its event has occurred
    ActWake,
    /// internal: the end of a send whose slot was released meanwhile
    ActEnd
  } act_e;

  /// State that a CSR access refers to.
  typedef enum logic [3:0] {
    StateNone,
    StateSlot,
    StateLength,
    StateMaskLow,
    StateMaskHigh,
    StateCanSend,
    StateCanReceive,
    StateIdle,
    /// half of a barrier's result
    StateReduced
  } state_e;

  /// Route by which a message leaves the mailbox.
  typedef enum logic [1:0] {
    /// to threads of this tile
    RouteLocal,
    /// the mailbox network
    RouteNet,
    /// all other virtual networks
    RouteFar
  } route_e;

  /// A decoded request.
  typedef struct packed {
    act_e                     act;
    state_e                   state;
    logic                     write;
    /// the operand (written value, destination, slot to release) is valid
    logic                     ok;
    /// the trap if it is not
    logic [5:0]               cause;
    /// a send: kind of its head flit (body: no head flit), and its route
    gossamer_pkg::flit_kind_e kind;
    route_e                   route;
  } decoded_t;

  localparam int unsigned Routes = 3;

  /// Number of ones in six bits, written so that each bit of the result is a table.
  function automatic logic [2:0] bit_count_of_six(logic [5:0] bits);
    logic sum_low, sum_high, both, carry_low, carry_high;
    sum_low    = ^bits[2:0];
    sum_high   = ^bits[5:3];
    carry_low  = (bits[0] & bits[1]) | (bits[2] & (bits[0] ^ bits[1]));
    carry_high = (bits[3] & bits[4]) | (bits[5] & (bits[3] ^ bits[4]));
    both       = sum_low & sum_high;
    return {(carry_low & carry_high) | (both & (carry_low ^ carry_high)), carry_low ^ carry_high ^ both,
            sum_low ^ sum_high};
  endfunction

  /// Number of ones in each group of twelve of 64 bits.
  function automatic logic [5:0][3:0] bit_counts(logic [63:0] bits);
    logic [71:0] padded;
    padded = 72'(bits);
    for (int unsigned i = 0; i < 6; i++) begin
      bit_counts[i] = 4'(bit_count_of_six(padded[12*i+:6])) + 4'(bit_count_of_six(padded[12*i+6+:6]));
    end
  endfunction

  /// Sum of the results of bit_counts: number of ones in the 64 bits.
  function automatic logic [6:0] bit_count(logic [5:0][3:0] twelves);
    logic [2:0][4:0] pairs;
    for (int unsigned i = 0; i < 3; i++) pairs[i] = 5'(twelves[2*i]) + 5'(twelves[2*i+1]);
    return 7'(pairs[0]) + 7'(pairs[1]) + 7'(pairs[2]);
  endfunction
endpackage
