// SPDX-License-Identifier: Apache-2.0
// Assertions. All of them are active under Verilator (--assert), the immediate ones also in formal proofs (FORMAL
// defined); synthesis ignores them. All of them use the clock `clk_i` of their module and are disabled in its reset
// `rst_ni`. A name states the property, in words with underscores: a failure prints it.
//
//   `GS_ASSERT(name, property)         a concurrent property; `|->`, `|=>`, `$stable`, `$past` may be used
//   `GS_ASSERT_NOW(name, expression)   an expression that holds at every clock edge: also proved
//   `GS_ASSERT_HOLD(name, valid, ready, data)   a waiting payload is stable: also proved
//   `GS_ASSUME(name, property)         as GS_ASSERT, about inputs: not proved
//   `GS_ASSUME_NOW(name, expression)   an assumption for the solver; checked under Verilator
//   `GS_ASSUME_HOLD(name, valid, ready, data)   as GS_ASSERT_HOLD, about an input stream
//   `GS_COVER(name, property)          counts under Verilator with coverage
//   `GS_COVER_NOW(name, expression)    the same; a proof must also reach it
//
// Where assertions are active, GS_ASSERTIONS is defined: for signals that only assertions read.
//
// Assumptions belong in the outermost module of a proof. A block asserts its requirements on its environment: an
// assumption inside the block would hide faults of the environment.
`ifndef GS_ASSERT_SVH
`define GS_ASSERT_SVH

`ifdef VERILATOR
`define GS_ASSERTIONS
`elsif FORMAL
`define GS_ASSERTIONS
`endif

`ifdef VERILATOR

`define GS_ASSERT(NAME, PROPERTY) \
  NAME: assert property (@(posedge clk_i) disable iff (!rst_ni) PROPERTY) \
    else $error("%m: assertion failed");
`define GS_ASSERT_NOW(NAME, EXPRESSION) `GS_ASSERT(NAME, EXPRESSION)
`define GS_ASSERT_HOLD(NAME, VALID, READY, DATA) \
  `GS_ASSERT(NAME, (VALID) && !(READY) |=> (VALID) && $stable(DATA))
`define GS_ASSUME(NAME, PROPERTY) `GS_ASSERT(NAME, PROPERTY)
`define GS_ASSUME_NOW(NAME, EXPRESSION) `GS_ASSERT(NAME, EXPRESSION)
`define GS_ASSUME_HOLD(NAME, VALID, READY, DATA) `GS_ASSERT_HOLD(NAME, VALID, READY, DATA)
`define GS_COVER(NAME, PROPERTY) \
  NAME: cover property (@(posedge clk_i) disable iff (!rst_ni) PROPERTY);
`define GS_COVER_NOW(NAME, EXPRESSION) `GS_COVER(NAME, EXPRESSION)

`elsif FORMAL

`define GS_ASSERT(NAME, PROPERTY)
`define GS_ASSERT_NOW(NAME, EXPRESSION) \
  always_ff @(posedge clk_i) if (rst_ni) NAME: assert (EXPRESSION);
`define GS_ASSERT_HOLD(NAME, VALID, READY, DATA) \
  always_ff @(posedge clk_i) \
    if (rst_ni && $past(rst_ni) && $past((VALID) && !(READY))) NAME: assert ((VALID) && $stable(DATA));
`define GS_ASSUME(NAME, PROPERTY)
`define GS_ASSUME_NOW(NAME, EXPRESSION) \
  always_ff @(posedge clk_i) if (rst_ni) NAME: assume (EXPRESSION);
`define GS_ASSUME_HOLD(NAME, VALID, READY, DATA) \
  always_ff @(posedge clk_i) \
    if (rst_ni && $past(rst_ni) && $past((VALID) && !(READY))) NAME: assume ((VALID) && $stable(DATA));
`define GS_COVER(NAME, PROPERTY)
`define GS_COVER_NOW(NAME, EXPRESSION) \
  always_ff @(posedge clk_i) if (rst_ni) NAME: cover (EXPRESSION);

`else

`define GS_ASSERT(NAME, PROPERTY)
`define GS_ASSERT_NOW(NAME, EXPRESSION)
`define GS_ASSERT_HOLD(NAME, VALID, READY, DATA)
`define GS_ASSUME(NAME, PROPERTY)
`define GS_ASSUME_NOW(NAME, EXPRESSION)
`define GS_ASSUME_HOLD(NAME, VALID, READY, DATA)
`define GS_COVER(NAME, PROPERTY)
`define GS_COVER_NOW(NAME, EXPRESSION)

`endif
`endif
