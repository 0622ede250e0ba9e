// SPDX-License-Identifier: Apache-2.0
/// PageRank that divides a score among the out-edges by their weights, in double precision.
#pragma once

#define PAGERANK_REAL double
#define PAGERANK_WEIGHTED
#include "pagerank.h"
