// SPDX-License-Identifier: Apache-2.0
/// PageRank in double precision, for answers to more than six digits.
#pragma once

#define PAGERANK_REAL double
#include "pagerank.h"
