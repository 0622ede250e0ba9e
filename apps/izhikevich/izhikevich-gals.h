// SPDX-License-Identifier: Apache-2.0
/// Spiking neurons without barriers; izhikevich.h has both versions.
#pragma once

#define IZHIKEVICH_GALS
#include "izhikevich.h"
