// SPDX-License-Identifier: Apache-2.0
/// PageRank of one who always starts over at the same vertices, in double precision.
#pragma once

#define PAGERANK_REAL double
#define PAGERANK_PERSONAL
#include "pagerank.h"
