// SPDX-License-Identifier: Apache-2.0

/// Types that the core's modules share: stages, requests, and the state of an instruction in Exec and Resolve.
///
/// The opcode table and an instruction's control signals are in gs_decode_pkg.
package gs_core_pkg;

  // Stages of the pipeline. A signal's name begins with its stage's: `exec_a` belongs to the instruction in Exec.
  // Up to Resolve the stage identifies an instruction's thread; after Resolve results carry the thread's number.
  localparam int unsigned PickStage = 0;     // the thread that issues; its pc
  localparam int unsigned FetchStage = 1;    // address to the instruction memory
  localparam int unsigned WordStage = 2;     // instruction word from the memory
  localparam int unsigned DecodeStage = 3;   // addresses of the registers and of the opcode table
  localparam int unsigned ReadStage = 4;     // words from the registers and the table
  localparam int unsigned OperandStage = 5;  // operands; check for illegal instructions
  localparam int unsigned ExecStage = 6;     // add, compare, logic
  localparam int unsigned ResolveStage = 7;  // jump, trap, next pc; return to the run queue
  localparam int unsigned SendStage = 8;     // requests enter their queues
  localparam int unsigned JoinStage = 9;     // results are merged
  localparam int unsigned WriteStage = 10;   // register write

  /// Operation of a request on the X stream.
  typedef enum logic [1:0] {
    XLoad  = 2'd0,
    XStore = 2'd1,
    XCsr   = 2'd2,
    XTrap  = 2'd3
  } x_op_e;

  /// A request on the X stream: memory, CSRs of the tile, traps.
  typedef struct packed {
    x_op_e       op;
    logic [2:0]  funct3;  // of a load or store; XCsr: bit 0 = write, bit 1 = read into rd
    logic [31:0] addr;    // address; XCsr: number of the CSR in [11:0]; XTrap: {cause, pc[25:0]}
    logic [31:0] data;    // data to store or write; XTrap: trap value
  } x_req_t;

  /// An operation of the FPU.
  typedef struct packed {
    logic [4:0]  op;
    logic [2:0]  rm;  // never 7
    logic [31:0] a;
    logic [31:0] b;
    logic [31:0] c;
  } f_req_t;

  /// Kind of the request that a thread has sent last, for inspection; the first four are those of x_op_e.
  typedef enum logic [2:0] {
    AskedLoad   = 3'd0,
    AskedStore  = 3'd1,
    AskedCsr    = 3'd2,
    AskedTrap   = 3'd3,
    AskedFloat  = 3'd4,
    AskedDivide = 3'd5
  } asked_e;

  /// A thread's last request: its address; XCsr: the number of the CSR in [11:0], the low bits of the data in [13:12].
  typedef struct packed {
    asked_e      kind;
    logic [31:0] addr;
  } asked_t;

  /// Response to a request or an operation.
  typedef struct packed {
    logic [31:0] data;
    logic [4:0]  flags;  // exceptions to accrue
  } rsp_t;

  /// Operation of the core's own divider, which shares the F queue: op[4:3] = 3.
  localparam logic [4:0] OpDivide = 5'd24;

  // Trap causes that the core itself detects; the ISA defines the numbers.
  localparam logic [3:0] CauseFetchMisaligned = 4'd0;
  localparam logic [3:0] CauseFetchFault = 4'd1;
  localparam logic [3:0] CauseIllegal = 4'd2;
  localparam logic [3:0] CauseBreakpoint = 4'd3;
  localparam logic [3:0] CauseCall = 4'd8;

  /// State of an instruction in Exec, apart from its operands.
  typedef struct packed {
    logic       a_sign;   // sign of operand A, or 0 for a comparison without signs
    logic       b_sign;   // sign of operand B, inverted
    logic       carry;    // carry into the adder
    logic       sum_en;   // the sum is a result, an address or a branch's difference
    logic       logical;  // the result of and, or, xor is the result
    logic       mul_lo;   // the product's low half is the result
    logic       mul_hi;   // the product's high half is the result
    logic       mul_a;    // multiplicand is signed
    logic       mul_b;    // multiplier is signed
    logic       shift;    // multiplier is a power of two
    logic       branch;
    logic       slt;
    logic       jal;
    logic       jalr;
    logic       mem;
    logic       store;
    logic       csr;
    logic       fcsr;     // changes a CSR of the core
    logic       x;        // sends a request on X, or stops
    logic       f;        // sends a request on F
    logic       stop;     // traps for any operands
    logic       illegal;  // traps as an illegal instruction
    logic       again;    // issues again: a divide's first pass whose result is negative
    logic       inject;   // control has injected it
    logic       write;    // writes register rd
    logic [5:0] rd;
    logic [3:0] cause;    // trap cause if it stops
    logic [2:0] funct3;
    logic [2:0] rm;       // of its request on F; a divide: {remainder, divisor is negative, 0}
    logic [2:0] xfunct3;  // of its request on X
    logic [4:0] fop;      // of its request on F
  } exec_t;

  /// State of an instruction in Resolve, apart from its data words.
  typedef struct packed {
    logic       less;     // A < B
    logic       equal;    // A = B
    logic       branch;   // a branch that does not stop
    logic       slt;
    logic       jal;
    logic       jalr;
    logic       mem;
    logic       store;
    logic       csr;
    logic       stop;
    logic       outside;  // a jump's target is beyond the instruction memory
    logic       offset;   // a jump's offset is not a multiple of 4
    logic       again;
    logic       counts;   // counts as finished: not a divide's first pass, not injected
    logic       mul_lo;
    logic       mul_hi;
    logic       write;
    logic [5:0] rd;
    logic [3:0] cause;
    logic [2:0] funct3;
    logic [2:0] rm;
    logic [2:0] xfunct3;
    logic [4:0] fop;
    logic [1:0] which;    // CSR of the core: 1 fflags, 2 frm, 3 both
  } resolve_t;
endpackage
