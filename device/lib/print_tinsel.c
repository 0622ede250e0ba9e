// SPDX-License-Identifier: Apache-2.0
// printf for programs that are written for the code of Tinsel: print.c again, so that nobody else's is larger for it.
#define GS_TINSEL 1
#include "print.c"
