/* SPDX-License-Identifier: Apache-2.0 */
/* A processor with a match engine (gs_match_axi): a clean start, receives, a message for each, a probe, a cancel, and
 * the engine's counters.
 *
 *     cc -I include examples/match/host.c -o match && ./match /dev/uio0
 */
#include <stdio.h>

#include "gossamer/match/axi.h"

static int expect(const char *what, struct gs_match_result got, enum gs_match_status status, uint32_t partner) {
  printf("%-32s status %d partner %u source %u tag %u\n", what, (int)got.status, got.partner, got.source, got.tag);
  return got.status == status && (status == GS_MATCH_WAITING || got.partner == partner) ? 0 : 1;
}

/* 0 if all answers follow MPI's rules. */
int match_example(const struct gs_match_bus *bus) {
  const uint32_t seed[4] = {0x9E3779B9u, 0x7F4A7C15u, 0xF39CC060u, 0x5CEDC834u};
  struct gs_match_request any = {GS_MATCH_POST, 1, 0, 0, 0, 0, 1, 0, 7, 100, 0};
  struct gs_match_request from3 = {GS_MATCH_POST, 0, 0, 0, 0, 0, 1, 3, 7, 101, 0};
  struct gs_match_request message = {GS_MATCH_ARRIVE, 0, 0, 0, 0, 16, 1, 3, 7, 200, 0};
  struct gs_match_request probe = {GS_MATCH_PROBE, 1, 1, 0, 0, 0, 1, 0, 0, 300, 0};
  struct gs_match_request cancel = {GS_MATCH_CANCEL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  struct gs_match_request clear = {GS_MATCH_CLEAR, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  struct gs_match_request count = {GS_MATCH_COUNT, 0, 0, 0, 0, 0, 0, 0, GS_MATCH_DELIVERED, 400, 0};
  struct gs_match_result waits;
  int wrong = 0;
  if (gs_match_open(bus, seed)) {
    fprintf(stderr, "there is no match engine at this address\n");
    return 1;
  }
  wrong += expect("whatever was left is dropped", gs_match_do(bus, &clear), GS_MATCH_MATCHED, 0);
  wrong += expect("a receive from anybody", gs_match_do(bus, &any), GS_MATCH_WAITING, 0);
  wrong += expect("a receive from rank 3", gs_match_do(bus, &from3), GS_MATCH_WAITING, 0);
  wrong += expect("a message: the first receive", gs_match_do(bus, &message), GS_MATCH_MATCHED, 100);
  message.handle = 201;
  wrong += expect("a message: the second receive", gs_match_do(bus, &message), GS_MATCH_MATCHED, 101);
  message.handle = 202;
  wrong += expect("a message that nobody expects", gs_match_do(bus, &message), GS_MATCH_WAITING, 0);
  wrong += expect("a probe finds it", gs_match_do(bus, &probe), GS_MATCH_MATCHED, 202);
  probe.op = GS_MATCH_TAKE;
  wrong += expect("a matched probe takes it", gs_match_do(bus, &probe), GS_MATCH_MATCHED, 202);
  wrong += expect("and nothing is left", gs_match_do(bus, &probe), GS_MATCH_NONE, 0);
  from3.now = 1;
  wrong += expect("a receive that does not wait", gs_match_do(bus, &from3), GS_MATCH_FULL, 0);
  from3.now = 0;
  from3.handle = 102;
  waits = gs_match_do(bus, &from3);
  cancel.handle = 102;
  cancel.tag = waits.partner;
  wrong += expect("a receive is taken back", gs_match_do(bus, &cancel), GS_MATCH_MATCHED, 0);
  wrong += expect("but once", gs_match_do(bus, &cancel), GS_MATCH_NONE, 0);
  wrong += expect("messages delivered to rank 0", gs_match_do(bus, &count), GS_MATCH_MATCHED, 3);
  count.tag = GS_MATCH_WAITED;
  wrong += expect("receives of it that waited", gs_match_do(bus, &count), GS_MATCH_MATCHED, 3);
  return wrong;
}

#ifndef GS_MATCH_NO_MAIN
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static uint32_t read_register(void *context, uint32_t offset) { return ((volatile uint32_t *)context)[offset / 4]; }

static void write_register(void *context, uint32_t offset, uint32_t value) {
  ((volatile uint32_t *)context)[offset / 4] = value;
}

int main(int argc, char **argv) {
  struct gs_match_bus bus = {0, read_register, write_register};
  int device;
  if (argc != 2) {
    fprintf(stderr, "usage: match DEVICE (a UIO device whose first mapping is the engine's registers)\n");
    return 2;
  }
  device = open(argv[1], O_RDWR | O_SYNC);
  if (device >= 0) bus.context = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);
  if (device < 0 || bus.context == MAP_FAILED) {
    perror(argv[1]);
    return 2;
  }
  return match_example(&bus) ? 1 : 0;
}
#endif
