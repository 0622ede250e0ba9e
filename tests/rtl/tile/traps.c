// SPDX-License-Identifier: Apache-2.0
// Every thread executes another illegal action; the last one still completes its work.
#include <io.h>
#include <stdint.h>
#include <tinsel.h>

static uint32_t load(uint32_t address) { return *(volatile uint32_t*)(uintptr_t)address; }
static void store(uint32_t address) { *(volatile uint32_t*)(uintptr_t)address = 1; }

int main(void) {
  uint32_t me = tinselId() & (TinselThreadsPerMailbox - 1);
  switch (me) {
    case 0: __asm__ volatile(".word 0xffffffff"); break;
    case 1: __asm__ volatile("ebreak"); break;
    case 2: __asm__ volatile("ecall"); break;
    case 3: load(0x40000002); break;
    case 4: store(0x40000001); break;
    case 5: load(0x8); break;
    case 6: store(0x3ffffffc); break;
    case 7: ((void (*)(void))(uintptr_t)0x80000)(); break;
    case 8: ((void (*)(void))(uintptr_t)0x6)(); break;
    case 9:
      GS_CSR_WRITE(GS_CSR_GUARD, 0x40011040);
      load(0x40010ffc);  // the block before is not a guard
      load(0x40012000);  // nor is the block after
      store(0x40011ffc);
      break;
    case 10: tinselSend(tinselId(), (volatile char*)tinselSendSlot() + 4); break;
    case 11: GS_CSR_WRITE(GS_CSR_SEND_LENGTH, 4); break;
    case 12: tinselSend(tinselToAddr(0, 0, 1, 0, 0, 0), tinselSendSlot()); break;
    case 13: tinselRecv(); break;
    case 14: __asm__ volatile("csrrs x0, 0x801, sp"); break;  // bits of a tile's register cannot be set
    default:
      // A null pointer and the end of each window are unmapped; the windows' last words are mapped.
      store(0x40000000 + TinselTestDirectBytes - 4);
      load(0x80000000 + TinselTestHalfBytes - 4);
      load(0x10000000 + TinselTestSramBytes - 4);
      printf("all well\n");
      load(0x10000000 + TinselTestSramBytes);
  }
  return 3;
}
