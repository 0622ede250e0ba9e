// SPDX-License-Identifier: Apache-2.0
/// Shortest paths in single precision, which the overlay computes in hardware.
#pragma once

#define SSSP_NAME "sssp-float"
#define SSSP_WEIGHT float
#define SSSP_DISTANCE float
#include "sssp.h"
