// SPDX-License-Identifier: Apache-2.0
/// Parts of fabric_test that have their own file.
#pragma once

#include <cstdint>

/// Random runs of two jobs and two hosts; probabilities of loss and damage in units of 2^-20.
void idle_test(uint64_t seed, uint64_t runs, unsigned loss);
