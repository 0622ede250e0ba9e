// SPDX-License-Identifier: Apache-2.0
/// Parts of fabric_test that have a file of their own.
#pragma once

#include <cstdint>

/// Random runs of two jobs and two hosts, frames lost and damaged of 2^20 each.
void idle_test(uint64_t seed, uint64_t runs, unsigned loss);
