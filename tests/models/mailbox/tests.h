// SPDX-License-Identifier: Apache-2.0
// The tests of the mailbox that the program in main.cc runs by name.
#pragma once

#include <cstdint>

namespace mailbox_test {

/// Each rule by itself.
void directed(uint64_t seed);
/// Threads that wait for idle, messages and ends of sends, in each relevant cycle.
void waiting(uint64_t seed);
/// Threads that do anything that is allowed, in any order, against a model of messages and slots.
void random_traffic(uint64_t seed, uint64_t operations);
/// Flits out and in at once, and distributed pointers: rates, printed as JSON.
void rates(uint64_t seed);
/// Barriers that reduce words.
void reductions(uint64_t seed);
void network(uint64_t seed);
void fuzz(uint64_t seed, uint64_t rounds);

}  // namespace mailbox_test
