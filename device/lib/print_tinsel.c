// SPDX-License-Identifier: Apache-2.0
// printf of programs for Tinsel's code: a second copy of print.c, so that other programs' printf stays small.
#define GS_TINSEL 1
#include "print.c"
