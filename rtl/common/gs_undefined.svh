// SPDX-License-Identifier: Apache-2.0
// Values that hardware does not define, for simulation: random, from the simulator's seed. A constant, or the value
// that the simulator happens to have, would hide a design that depends on it.
//
//   `GS_UNDEFINED(width)   a pattern of 32 bits, repeated to so many bits, 1 to 1,024; another one at every evaluation
//   `GS_COLLISION(width, old, new)   the result of a read during a write: such a pattern, or each bit from either word.
//                          The latter resembles both words, so that a tag or a valid bit may match.
`ifndef GS_UNDEFINED_SVH
`define GS_UNDEFINED_SVH

// Only where GS_UNDEFINED_READS is defined: neither synthesis nor proofs, nor the netlists of mutants, know $urandom.
`ifndef SYNTHESIS
`ifndef FORMAL
`define GS_UNDEFINED_READS
`define GS_UNDEFINED(WIDTH) WIDTH'({32{$urandom}})
`define GS_COLLISION(WIDTH, OLD, NEW) \
    (((OLD) == (NEW) || ($urandom & 32'd1) == '0) ? `GS_UNDEFINED(WIDTH) : \
     ((OLD) ^ (((OLD) ^ (NEW)) & `GS_UNDEFINED(WIDTH))))
`endif
`endif

`endif
