// SPDX-License-Identifier: Apache-2.0
// Services of the control unit for threads: starting others, writing instructions, counting, bytes from the host.
#include <io.h>
#include <stdint.h>
#include <tinsel.h>

static volatile uint32_t* const board = (volatile uint32_t*)0x00100000;  // slot 0 of thread 0

__attribute__((noinline)) static int answer(void) {
  int value;
  __asm__ volatile("patch: addi %0, x0, 41" : "=r"(value));
  return value;
}

int main(void) {
  uint32_t me = tinselId();
  if (me == 1) {  // started by thread 0, which waits for this word
    board[0] = 77;
    return 5;
  }
  board[0] = 0;
  int before = answer();
  uint32_t at;
  __asm__ volatile("lla %0, patch" : "=r"(at));
  uint32_t rd = 0;  // the register that the compiler chose is in the instruction, which threads cannot read
  __asm__ volatile("la %0, patched" : "=r"(rd));
  tinselWriteInstr(at, *(volatile uint32_t*)(uintptr_t)rd);
  printf("%d %d\n", before, answer());

  tinselCreateThread(1);
  while (board[0] != 77) {
  }
  printf("thread 1 ran\n");

  tinselPerfCountReset();
  tinselPerfCountStart();
  volatile uint32_t* heap = tinselHeapBase();
  for (int i = 0; i < 16; i++) heap[i] = i;  // two lines of 32 bytes, less than a thread's partition of any cache
  for (int i = 0; i < 16; i++) heap[i]++;
  tinselPerfCountStop();
  uint32_t hits = tinselHitCount(), misses = tinselMissCount();
  for (int i = 0; i < 16; i++) heap[i]++;
  printf("%u %u %d\n", hits, misses, hits == tinselHitCount());
  uint32_t begun = tinselCycleCount();
  printf("%d\n", tinselCycleCount() - begun < 200);

  char text[16];
  int n = 0;
  while (n < 5) {
    uint32_t got = tinselUartTryGet();
    if (got & 0x100) text[n++] = (char)got;
  }
  text[n] = 0;
  printf("got %s\n", text);
  tinselEmit(0x12345678);
  return 0;
}

__asm__(".section .rodata\n.balign 4\npatched: addi a0, x0, 42\n.text");
