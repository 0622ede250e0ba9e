// SPDX-License-Identifier: Apache-2.0
/// Heat without barriers; apps/heat/heat.h has both.
#pragma once

#define HEAT_GALS
#include "heat.h"
