// SPDX-License-Identifier: Apache-2.0
/// Dissipative particle dynamics without barriers; dpd.h has both versions.
/// Example graph: gen:cube:width=10,height=10,depth=10,neighbours=26,around=yes
#pragma once

#define DPD_GALS
#include "dpd.h"
