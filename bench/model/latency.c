// SPDX-License-Identifier: Apache-2.0
// Latencies that the RTL fixes, of one thread or of all, measured with the thread's cycle counter: one line per
// latency, its name and cycles. config/model/timing.toml holds the values; tests/system/test_model_rtl.py compares.
#include <stdio.h>
#include <tinsel.h>

#define R4(x) x x x x
#define R16(x) R4(x) R4(x) R4(x) R4(x)
#define MEASURE(name, text)                                                                           \
  do {                                                                                                \
    uint32_t i0 = tinselInstrCount(), begin = tinselCycleCount();                                     \
    __asm__ volatile(R16(text) : : "r"(p), "r"(q) : "t0", "t1", "t2", "ft0", "ft1", "ft2", "memory"); \
    uint32_t end = tinselCycleCount(), i1 = tinselInstrCount();                                       \
    __asm__ volatile("" : : : "memory");                                                              \
    printf("%s %d %d\n", name, (int)(end - begin), (int)(i1 - i0));                                   \
  } while (0)

static uint32_t data[64] __attribute__((aligned(64)));
static char big[1 << 20] __attribute__((aligned(4096)));

static uint32_t walk(volatile char* from, uint32_t step, uint32_t count, int write) {
  uint32_t begin = tinselCycleCount();
  for (uint32_t i = 0; i < count; ++i) {
    if (write) {
      *(volatile uint32_t*)(from + i * step) = i;
    } else {
      (void)*(volatile uint32_t*)(from + i * step);
    }
  }
  return (tinselCycleCount() - begin) / count;
}

int main(void) {
  if (tinselId() != 0) return 0;
  volatile uint32_t* p = data;
  volatile uint32_t* q = (volatile uint32_t*)tinselSendSlot();
  p[0] = 1;
  uint32_t sink;
  (void)sink;
  MEASURE("empty", "");
  MEASURE("alu", "addi t0, t0, 1\n");
  MEASURE("load", "lw t0, 0(%0)\n");
  MEASURE("store", "sw t0, 0(%0)\n");
  MEASURE("loads", R4("lw t0, 0(%0)\n"));
  MEASURE("stores", R4("sw t0, 0(%0)\n"));
  MEASURE("slot_load", "lw t0, 0(%1)\n");
  MEASURE("slot_store", "sw t0, 0(%1)\n");
  MEASURE("mailbox", "csrr t0, 0xCC1\n");
  MEASURE("mailbox_write", "csrw 0x803, x0\n");
  MEASURE("control", "csrr t0, 0xC02\n");
  MEASURE("fpu_long", "fadd.s ft0, ft0, ft0\n");
  MEASURE("fpu_short", "flt.s t0, ft0, ft0\n");
  // A quotient of special values takes less.
  __asm__ volatile("li t0, 0x40490fdb\n fmv.w.x ft1, t0\n li t0, 0x3f9df3b6\n fmv.w.x ft2, t0" : : : "t0");
  MEASURE("fpu_divide", "fdiv.s ft0, ft1, ft2\n");
  MEASURE("mul", "mul t0, t0, t0\n");
  MEASURE("div", "divu t0, t0, t0\n");
  MEASURE("branch", "beq x0, x0, 1f\n1:\n");
  volatile char* sram = (volatile char*)tinselHeapBaseSRAM();
  printf("walk_hit %d\n", (int)walk((volatile char*)data, 0, 64, 0));
  printf("dram_read %d\n", (int)walk(big, 32, 1024, 0));
  printf("dram_row %d\n", (int)walk(big, 4128, 250, 0));
  printf("dram_write %d\n", (int)walk(big, 32, 1024, 1));
  printf("dram_write_row %d\n", (int)walk(big, 4128, 250, 1));
  printf("sram_read %d\n", (int)walk(sram, 32, 500, 0));
  printf("sram_write %d\n", (int)walk(sram, 32, 500, 1));
  // A message to itself.
  uint32_t begin = tinselCycleCount();
  for (int i = 0; i < 32; ++i) {
    tinselWaitUntil(TINSEL_CAN_SEND);
    tinselSend((int)tinselId(), tinselSendSlot());
    tinselWaitUntil(TINSEL_CAN_RECV);
    tinselFree(tinselRecv());
  }
  printf("self_message %d\n", (int)(tinselCycleCount() - begin) / 32);
  begin = tinselCycleCount();
  for (int i = 0; i < 32; ++i) {
    tinselSend((int)tinselId(), tinselSendSlot());
    tinselWaitUntil(TINSEL_CAN_SEND);
    tinselWaitUntil(TINSEL_CAN_RECV);
    tinselFree(tinselRecv());
  }
  printf("send_busy %d\n", (int)(tinselCycleCount() - begin) / 32);
  return 0;
}
