// SPDX-License-Identifier: Apache-2.0
/// Heat without barriers; heat.h has both versions.
#pragma once

#define HEAT_GALS
#include "heat.h"
