/* SPDX-License-Identifier: Apache-2.0 */
/* Exit codes of the command and of programs that run under it, for C and C++. They equal config/constants/command.toml;
   host/src/simulator.cc compares them with the generated constants. */
#ifndef GOSSAMER_CORE_EXIT_CODES_H_
#define GOSSAMER_CORE_EXIT_CODES_H_

enum {
  GS_EXIT_DONE = 0,
  GS_EXIT_NO = 1,           /* the answer is no: a failed test, a difference, a bound not met */
  GS_EXIT_INPUT = 2,        /* the input or the environment is wrong */
  GS_EXIT_DIED = 4,         /* the run aborted: a rank, a board, a watchdog */
  GS_EXIT_BUG = 70,         /* a bug of Gossamer */
  GS_EXIT_INTERRUPTED = 130 /* Ctrl-C */
};

#endif
