// SPDX-License-Identifier: Apache-2.0
/// Shared by the tests of the switch, in addition to their bench.
#pragma once

#include "harness.h"

namespace switch_test {

/// Fills the table: boards 0..9 (5 is this one) over the links, both virtual channels; hosts 0 and 1.
void fill_table(Bench& b);

/// Steady flows, `rounds` random sets of them: none starves.
void fair(uint64_t seed, uint64_t rounds);

}  // namespace switch_test
