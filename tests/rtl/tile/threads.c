// SPDX-License-Identifier: Apache-2.0
// Threads start running threads, themselves, and numbers that do not exist, and write outside of instruction memory.
// The first thread of each core still completes its work.
#include <io.h>
#include <stdint.h>
#include <tinsel.h>

static volatile uint32_t* const board = (volatile uint32_t*)0x00100000;  // the first word of each thread's first slot

int main(void) {
  uint32_t me = tinselId() & (TinselThreadsPerMailbox - 1);
  uint32_t mine = me & (TinselThreadsPerCore - 1);
  volatile uint32_t* word = board + (me & ~(TinselThreadsPerCore - 1)) * TinselTestSlotWords * TinselTestSlots;
  switch (mine) {
    case 0:  // the working thread, which others try to start
      *word = 0;
      for (uint32_t i = 0; i < 2000; i++) *word = *word + 1;
      printf("%u\n", *word);
      return 1;
    case 1: tinselCreateThread(0); break;
    case 2: tinselCreateThread(2); break;
    case 3: tinselCreateThread(TinselThreadsPerCore); break;
    case 4: tinselCreateThread(0xffffffff); break;
    case 5: tinselWriteInstr(4 * TinselTestInstrWords, 0); break;
    case 6: tinselWriteInstr(2, 0); break;
    default: __asm__ volatile("csrr zero, 0x8ff; csrr a0, 0x8ff"); break;
  }
  printf("goes on\n");
  return 2;
}
