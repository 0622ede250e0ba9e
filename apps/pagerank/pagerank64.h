// SPDX-License-Identifier: Apache-2.0
/// PageRank in double precision, for results with more than six correct digits.
#pragma once

#define PAGERANK_REAL double
#include "pagerank.h"
