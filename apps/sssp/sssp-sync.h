// SPDX-License-Identifier: Apache-2.0
/// Shortest paths in time steps; apps/sssp/sssp.h has both.
#pragma once

#define SSSP_SYNC
#include "sssp.h"
