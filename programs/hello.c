// SPDX-License-Identifier: Apache-2.0
// Every thread prints its number and address. See docs/programs/hello.md.

#include <gossamer/device.h>
#include <stdio.h>
#include <tinsel.h>

int main(void) {
  printf("hello from thread %u of %u, address 0x%08x\n", (unsigned)gossamerThread(), (unsigned)gossamerThreads(),
         (unsigned)tinselId());
  return 0;
}
