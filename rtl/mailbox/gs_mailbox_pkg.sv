// SPDX-License-Identifier: Apache-2.0

/// What a mailbox, its users and its parts share.
package gs_mailbox_pkg;
  /// what a request asks for
  typedef enum logic [1:0] {
    MailboxLoad  = 2'd0,
    MailboxStore = 2'd1,
    MailboxCsr   = 2'd2
  } mailbox_op_e;

  /// Request of a thread. Its answer is one response, or one trap and no response.
  typedef struct packed {
    mailbox_op_e op;
    /// load and store: as in the instruction; CSR: bit 0 write, bit 1 the old value is wanted
    logic [2:0]  funct3;
    /// thread in the tile
    logic [5:0]  thread;
    /// address in the thread's address space, or the number of the CSR
    logic [31:0] addr;
    /// what to store, unshifted, or to write
    logic [31:0] data;
  } mailbox_req_t;

  /// Response: loads are aligned and extended.
  typedef struct packed {
    logic [5:0]  thread;
    logic [31:0] data;
  } mailbox_rsp_t;

  /// Why a thread got no response.
  typedef struct packed {
    logic [5:0]  thread;
    logic [5:0]  cause;
    /// what the trap is about: an address, a length, a destination, the number of a CSR
    logic [31:0] addr;
  } mailbox_trap_t;

  /// What a request is, once its CSR number is decoded.
  typedef enum logic [3:0] {
    ActLoad,
    ActStore,
    /// a CSR that is only state: answer what it holds, perhaps write it
    ActState,
    ActSend,
    ActRelease,
    ActReceive,
    ActWait,
    ActIdle,
    /// from inside: end the wait of a thread
    ActWake,
    ActIllegal
  } act_e;

  /// Which state a CSR access is about.
  typedef enum logic [2:0] {
    StateNone,
    StateSlot,
    StateLength,
    StateMaskLow,
    StateMaskHigh,
    StateCanSend,
    StateCanReceive,
    StateIdle
  } state_e;

  /// What the accounting of slots is asked for.
  typedef enum logic [1:0] {
    /// does the thread hold the slot?
    RefCheck,
    /// the thread is done with the slot
    RefRelease,
    /// a message in the slot is for these threads
    RefHold,
    /// start-up: nobody holds the slot
    RefFree
  } ref_op_e;
endpackage
