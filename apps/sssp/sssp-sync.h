// SPDX-License-Identifier: Apache-2.0
/// Shortest paths in time steps; sssp.h has both versions.
#pragma once

#define SSSP_SYNC
#include "sssp.h"
