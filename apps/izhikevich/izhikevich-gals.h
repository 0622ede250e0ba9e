// SPDX-License-Identifier: Apache-2.0
/// Spiking neurons without barriers; apps/izhikevich/izhikevich.h has both.
#pragma once

#define IZHIKEVICH_GALS
#include "izhikevich.h"
