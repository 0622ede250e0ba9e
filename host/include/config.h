// SPDX-License-Identifier: Apache-2.0
/// The Tinsel* macros of the simulated configuration, for hosts and for threads.
#pragma once

#include <gossamer/device_config.h>
