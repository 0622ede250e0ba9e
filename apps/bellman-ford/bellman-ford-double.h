// SPDX-License-Identifier: Apache-2.0
/// Shortest paths with weights of either sign, in double precision; bellman-ford.h describes the method.
#pragma once

#define BELLMAN_FORD_NUMBER double
#include "bellman-ford.h"
