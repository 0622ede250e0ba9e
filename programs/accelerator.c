// SPDX-License-Identifier: Apache-2.0
// The tile's accelerator sums an array of every thread; thread 0 requests the sums and checks them.

#include <gossamer/device.h>
#include <stdio.h>
#include <tinsel.h>

#ifndef COUNT
#define COUNT 64
#endif

/// A request to the accelerator gs_acc_sum, one flit.
typedef struct {
  uint32_t address;  ///< of the first word to sum
  uint32_t count;    ///< words
  uint32_t reply;    ///< thread that the sum goes to
  uint32_t mark;     ///< returned with the sum
} Request;

/// Its answer, one flit.
typedef struct {
  uint32_t sum;
  uint32_t count;
  uint32_t failed;  ///< 1 if a word could not be read
  uint32_t mark;
} Answer;

/// Contents of a thread's array.
static uint32_t word(uint32_t thread, uint32_t i) { return (thread + 1) * 1000003u + i * i; }

static void ask(uint32_t thread) {
  tinselWaitUntil(TINSEL_CAN_SEND);
  volatile Request* request = tinselSendSlot();
  request->address = gossamerHeapBase(thread);
  request->count = COUNT;
  request->reply = tinselId();
  request->mark = thread;
  tinselSend((int)tinselAccId(0, 0, 0, 0), request);
}

int main(void) {
  const uint32_t me = gossamerThread();
  volatile uint32_t* array = tinselHeapBase();
  for (uint32_t i = 0; i < COUNT; ++i) array[i] = word(me, i);
  tinselCacheFlush();  // into memory, where the accelerator reads it
  tinselIdle(1);       // until all threads have done so

  int wrong = 0;
  if (me == 0) {
    tinselSetLen(1);
    for (uint32_t thread = 0; thread < gossamerThreads(); ++thread) {
      const uint32_t begin = tinselCycleCount();
      ask(thread);
      tinselWaitUntil(TINSEL_CAN_RECV);
      volatile Answer* answer = tinselRecv();
      const uint32_t cycles = tinselCycleCount() - begin;
      uint32_t right = 0;
      for (uint32_t i = 0; i < COUNT; ++i) right += word(thread, i);
      wrong += answer->sum != right || answer->count != COUNT || answer->mark != thread;
      printf("array %u: %u words, sum %08x, %u cycles\n", (unsigned)answer->mark, (unsigned)answer->count,
             (unsigned)answer->sum, (unsigned)cycles);
      tinselFree(answer);
    }
  }
  tinselIdle(1);
  return wrong;
}
