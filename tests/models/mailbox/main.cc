// SPDX-License-Identifier: Apache-2.0
// mailbox MODE SEED [COUNT]: directed, waits, random OPERATIONS, rates, network, fuzz ROUNDS, reduce
#include <cstdlib>
#include <cstring>

#include "harness.h"
#include "tests.h"

int main(int argc, char** argv) {
  using namespace mailbox_test;
  if (argc < 3) return 2;
  uint64_t seed = std::strtoull(argv[2], nullptr, 10);
  // All memories and registers start with random values: a value that is not reset must not matter.
  Verilated::randReset(2);
  Verilated::randSeed(int(seed % 0x7fff'ffff) + 1);
  const uint64_t count = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 10000;
  if (!std::strcmp(argv[1], "directed")) directed(seed);
  else if (!std::strcmp(argv[1], "waits")) waiting(seed);
  else if (!std::strcmp(argv[1], "random")) random_traffic(seed, count);
  else if (!std::strcmp(argv[1], "rates")) rates(seed);
  else if (!std::strcmp(argv[1], "network")) network(seed);
  else if (!std::strcmp(argv[1], "fuzz")) fuzz(seed, count);
  else if (!std::strcmp(argv[1], "reduce")) reductions(seed);
  else return 2;
  std::puts("ok");
}
