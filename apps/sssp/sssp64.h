// SPDX-License-Identifier: Apache-2.0
/// Shortest paths with 64-bit weights and lengths, which realistic graph files cannot overflow.
#pragma once

#define SSSP_NAME "sssp64"
#define SSSP_WEIGHT int64_t
#define SSSP_DISTANCE uint64_t
#include "sssp.h"
