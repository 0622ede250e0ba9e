// SPDX-License-Identifier: Apache-2.0
/// PageRank that divides a score among the out-edges in proportion to their weights, in double precision.
#pragma once

#define PAGERANK_REAL double
#define PAGERANK_WEIGHTED
#include "pagerank.h"
