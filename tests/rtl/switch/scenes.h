// SPDX-License-Identifier: Apache-2.0
/// What the tests of the switch share beside their bench.
#pragma once

#include "harness.h"

namespace switch_test {

/// Boards 0..9 (5 is this one) over the links, hosts 0 and 1, a board by an entry of each virtual channel.
void wire(Bench& b);

/// Steady flows, `rounds` random sets of them: none waits for ever.
void fair(uint64_t seed, uint64_t rounds);

}  // namespace switch_test
