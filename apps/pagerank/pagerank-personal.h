// SPDX-License-Identifier: Apache-2.0
/// Personalised PageRank, whose walk always restarts at the same vertices, in double precision.
#pragma once

#define PAGERANK_REAL double
#define PAGERANK_PERSONAL
#include "pagerank.h"
