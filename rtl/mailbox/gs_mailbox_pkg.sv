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

  /// The value that a load gives: the addressed part of a word, extended.
  function automatic logic [31:0] load_value(logic [31:0] word, logic [2:0] funct3, logic [1:0] offset);
    logic [15:0] half;
    logic [7:0] part;
    half = offset[1] ? word[31:16] : word[15:0];
    part = offset[0] ? half[15:8] : half[7:0];
    if (funct3[1]) load_value = word;
    else if (funct3[0]) load_value = {{16{half[15] && !funct3[2]}}, half};
    else load_value = {{24{part[7] && !funct3[2]}}, part};
  endfunction

  /// The bytes of a word that a store writes.
  function automatic logic [3:0] store_strobe(logic [1:0] size, logic [1:0] offset);
    if (size[1]) store_strobe = 4'b1111;
    else if (size[0]) store_strobe = offset[1] ? 4'b1100 : 4'b0011;
    else store_strobe = 4'b0001 << offset;
  endfunction

  /// A store's data at every place where they may belong.
  function automatic logic [31:0] store_data(logic [31:0] data, logic [1:0] size);
    if (size[1]) store_data = data;
    else if (size[0]) store_data = {2{data[15:0]}};
    else store_data = {4{data[7:0]}};
  endfunction
endpackage
