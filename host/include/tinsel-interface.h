// SPDX-License-Identifier: Apache-2.0
/// What of tinsel.h is for hosts too: addresses, and where a thread's memory is. The other functions are those of
/// threads, and a host that calls one does not get through the assembler.
#pragma once

#include <stdio.h>

// Output functions are those of C.
#define GOSSAMER_IO_H
#define GOSSAMER_KEEP_PUTS
#include "../../device/include/tinsel.h"
