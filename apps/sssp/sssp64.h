// SPDX-License-Identifier: Apache-2.0
/// Shortest paths with weights and lengths of 64 bits: nothing that a file can hold overflows them soon.
#pragma once

#define SSSP_NAME "sssp64"
#define SSSP_WEIGHT int64_t
#define SSSP_DISTANCE uint64_t
#include "sssp.h"
