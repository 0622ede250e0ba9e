// SPDX-License-Identifier: Apache-2.0
/// Shortest paths in double precision, for weights with fractions.
#pragma once

#define SSSP_NAME "sssp-double"
#define SSSP_WEIGHT double
#define SSSP_DISTANCE double
#include "sssp.h"
