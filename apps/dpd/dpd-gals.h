// SPDX-License-Identifier: Apache-2.0
/// Dissipative particle dynamics without barriers; apps/dpd/dpd.h has both.
#pragma once

#define DPD_GALS
#include "dpd.h"
