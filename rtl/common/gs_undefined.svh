// SPDX-License-Identifier: Apache-2.0
// Values that hardware does not define, for simulation: random, from the simulator's seed. A constant, or the value
// that the simulator happens to have, would hide a design that depends on it.
//
//   `GS_UNDEFINED(width)   a pattern of 32 bits, repeated to so many bits, 1 to 1,024; another one at every evaluation
`ifndef GS_UNDEFINED_SVH
`define GS_UNDEFINED_SVH

`ifndef SYNTHESIS
`define GS_UNDEFINED(WIDTH) WIDTH'({32{$urandom}})
`endif

`endif
