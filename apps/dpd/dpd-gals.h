// SPDX-License-Identifier: Apache-2.0
/// Dissipative particle dynamics without barriers; dpd.h has both versions.
#pragma once

#define DPD_GALS
#include "dpd.h"
